//! Servers that break the protocol: each costs the connection or one stream, with its own reason.

use super::peer::*;
use plimsoll_wire::h2::{Ask, Config, Event, Limits, Malformed, code};

/// Feeds frames to a client with two open streams, 1 and 3, of which 1 has its head; then a response for stream 3.
/// Returns why the connection or stream 1 was refused.
fn refused(frames: &[Vec<u8>]) -> Option<Malformed> {
    let mut client = Client::settled();
    assert_eq!(client.open_all(2), [1, 3]);
    client.feed(&frame(HEADERS, END_HEADERS, 1, OK)).unwrap();
    client.out.clear();
    let fed = client.events_of(frames);
    let why = match fed {
        Err(why) => {
            assert!(!why.is_stream());
            return Some(why);
        }
        Ok(events) => events.iter().find_map(|event| match event {
            Event::Refused { stream: 1, why, .. } => Some(*why),
            _ => None,
        }),
    };
    if let Some(why) = why {
        assert!(why.is_stream());
        let resets: Vec<Sent> = client.sent().into_iter().filter(|sent| sent.0 == RST_STREAM).collect();
        assert_eq!(resets, [(RST_STREAM, 0, 1, why.code().to_be_bytes().to_vec())]);
        // The connection continues.
        let events = client.events_of(&[frame(HEADERS, ALONE, 3, OK)]).unwrap();
        assert!(matches!(events[..], [Event::Done { stream: 3, .. }]));
    }
    why
}

#[test]
fn every_broken_connection_has_its_reason() {
    let literal = field("a", "b");
    let cases: Vec<(&str, Vec<Vec<u8>>, Malformed)> = vec![
        ("a frame above 16 KiB", vec![frame(DATA, 0, 1, &[0; 16_385])], Malformed::FrameTooLarge),
        ("an unknown frame above 16 KiB", vec![frame(99, 0, 0, &[0; 16_385])], Malformed::FrameTooLarge),
        ("PING of 7 bytes", vec![frame(PING, 0, 0, &[0; 7])], Malformed::FrameLength),
        ("PING of 9 bytes", vec![frame(PING, 0, 0, &[0; 9])], Malformed::FrameLength),
        ("RST_STREAM of 3 bytes", vec![frame(RST_STREAM, 0, 1, &[0; 3])], Malformed::FrameLength),
        ("WINDOW_UPDATE of 5 bytes", vec![frame(WINDOW_UPDATE, 0, 1, &[0; 5])], Malformed::FrameLength),
        ("GOAWAY of 7 bytes", vec![frame(GOAWAY, 0, 0, &[0; 7])], Malformed::FrameLength),
        ("half a setting", vec![frame(SETTINGS, 0, 0, &[0; 3])], Malformed::FrameLength),
        ("an acknowledgment with a setting", vec![frame(SETTINGS, ACK, 0, &[0; 6])], Malformed::FrameLength),
        ("padded DATA without a length", vec![frame(DATA, PADDED, 1, b"")], Malformed::FrameLength),
        ("padded HEADERS without a length", vec![frame(HEADERS, PADDED, 3, b"")], Malformed::FrameLength),
        ("half a priority", vec![frame(HEADERS, PRIORITIZED | 4, 3, &[0; 4])], Malformed::FrameLength),
        ("DATA of nothing but padding", vec![frame(DATA, PADDED, 1, &[3, 0, 0])], Malformed::FramePadding),
        (
            "HEADERS with too much padding",
            vec![frame(HEADERS, PADDED | 4, 3, &[2, 0x88])],
            Malformed::FramePadding,
        ),
        ("DATA on stream 0", vec![frame(DATA, 0, 0, b"x")], Malformed::FrameStream),
        ("HEADERS on stream 0", vec![frame(HEADERS, 4, 0, OK)], Malformed::FrameStream),
        ("RST_STREAM on stream 0", vec![number(RST_STREAM, 0, 0)], Malformed::FrameStream),
        ("SETTINGS on a stream", vec![frame(SETTINGS, 0, 1, b"")], Malformed::FrameStream),
        ("PING on a stream", vec![frame(PING, 0, 1, &[0; 8])], Malformed::FrameStream),
        ("GOAWAY on a stream", vec![frame(GOAWAY, 0, 1, &[0; 8])], Malformed::FrameStream),
        ("DATA of a stream to come", vec![frame(DATA, 0, 5, b"x")], Malformed::UnknownStream),
        ("HEADERS of a stream to come", vec![frame(HEADERS, 4, 5, OK)], Malformed::UnknownStream),
        ("HEADERS of a stream of the server", vec![frame(HEADERS, 4, 2, OK)], Malformed::UnknownStream),
        ("RST_STREAM of a stream to come", vec![number(RST_STREAM, 7, 8)], Malformed::UnknownStream),
        ("an update of a stream to come", vec![number(WINDOW_UPDATE, 7, 8)], Malformed::UnknownStream),
        (
            "PING within a head",
            vec![frame(HEADERS, 0, 3, OK), frame(PING, 0, 0, &[0; 8])],
            Malformed::BlockInterrupted,
        ),
        (
            "another stream's continuation",
            vec![frame(HEADERS, 0, 3, OK), frame(CONTINUATION, 4, 1, b"")],
            Malformed::BlockInterrupted,
        ),
        (
            "an unknown frame within a head",
            vec![frame(HEADERS, 0, 3, OK), frame(99, 0, 0, b"")],
            Malformed::BlockInterrupted,
        ),
        (
            "DATA within a head",
            vec![frame(HEADERS, 0, 3, OK), frame(DATA, 0, 3, b"x")],
            Malformed::BlockInterrupted,
        ),
        ("CONTINUATION of nothing", vec![frame(CONTINUATION, 4, 3, OK)], Malformed::StrayContinuation),
        (
            "CONTINUATION after the end of a head",
            vec![frame(HEADERS, 4, 3, OK), frame(CONTINUATION, 4, 3, b"")],
            Malformed::StrayContinuation,
        ),
        ("a push", vec![frame(PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x82])], Malformed::Push),
        ("a server that accepts pushes", vec![settings(&[(2, 1)])], Malformed::SettingValue),
        ("small frames", vec![settings(&[(5, 16_383)])], Malformed::SettingValue),
        ("large frames", vec![settings(&[(5, 1 << 24)])], Malformed::SettingValue),
        ("a CONNECT setting of 2", vec![settings(&[(8, 2)])], Malformed::SettingValue),
        ("a CONNECT setting taken back", vec![settings(&[(8, 1), (8, 0)])], Malformed::SettingValue),
        ("a window of 2^31", vec![settings(&[(4, 1 << 31)])], Malformed::SettingWindow),
        ("an update of 0", vec![number(WINDOW_UPDATE, 0, 0)], Malformed::ConnectionUpdate),
        ("an update beyond 2^31", vec![number(WINDOW_UPDATE, 0, 0x7fff_ffff)], Malformed::ConnectionWindow),
        ("index 0", vec![frame(HEADERS, 4, 3, &[0x80])], Malformed::Compression),
        ("an index beyond the table", vec![frame(HEADERS, 4, 3, &[0xbe])], Malformed::Compression),
        ("half a field", vec![frame(HEADERS, 4, 3, &literal[..3])], Malformed::Compression),
        ("a table above the limit", vec![frame(HEADERS, 4, 3, &[0x3f, 0xe2, 0x1f])], Malformed::Compression),
        (
            "a broken head of a closed stream",
            vec![frame(HEADERS, ALONE, 3, OK), frame(HEADERS, 4, 3, &[0xbe])],
            Malformed::Compression,
        ),
    ];
    assert!(cases.len() >= 25);
    for (what, frames, why) in cases {
        assert_eq!(refused(&frames), Some(why), "{what}");
    }
}

#[test]
fn every_broken_response_costs_its_stream_alone() {
    let trailers = |flags, block: &[u8]| vec![frame(HEADERS, flags, 1, block)];
    let cases: Vec<(&str, Vec<Vec<u8>>, Malformed)> = vec![
        ("a second head", trailers(END_HEADERS, OK), Malformed::SecondHead),
        ("trailers that continue", trailers(END_HEADERS, &field("a", "b")), Malformed::SecondHead),
        ("a status in trailers", trailers(ALONE, OK), Malformed::PseudoField),
        ("an upper-case trailer", trailers(ALONE, &field("A", "b")), Malformed::FieldBytes),
        ("a connection's trailer", trailers(ALONE, &field("upgrade", "x")), Malformed::ConnectionField),
        (
            "large trailers",
            trailers(ALONE, &field("a", &"b".repeat(100)).repeat(157)),
            Malformed::HeadTooLarge,
        ),
        ("an update of 0", vec![number(WINDOW_UPDATE, 1, 0)], Malformed::StreamUpdate),
        ("an update beyond 2^31", vec![number(WINDOW_UPDATE, 1, 0x7fff_ffff)], Malformed::StreamWindow),
    ];
    for (what, frames, why) in cases {
        assert_eq!(refused(&frames), Some(why), "{what}");
    }
}

/// Returns why a head is refused that is the first of its stream.
fn head(flags: u8, block: &[u8]) -> Option<Malformed> {
    let mut client = Client::settled();
    let stream = client.open(GET).unwrap();
    client.out.clear();
    let events = client.events_of(&[frame(HEADERS, flags, stream, block)]).unwrap();
    let [Event::Refused { why, .. }] = events[..] else { return None };
    assert_eq!(client.sent(), [(RST_STREAM, 0, stream, why.code().to_be_bytes().to_vec())]);
    assert!(client.seen.heads.is_empty());
    Some(why)
}

#[test]
fn every_broken_head_has_its_reason() {
    let with = |name: &str, value: &str| block("200", &[(name, value)]);
    for (what, block, why) in [
        ("nothing", vec![], Malformed::Status),
        ("no status", field("a", "b"), Malformed::Status),
        ("two statuses", [OK, OK].concat(), Malformed::Status),
        ("a status of two digits", field(":status", "20"), Malformed::Status),
        ("a status of four digits", field(":status", "2000"), Malformed::Status),
        ("a status below 100", field(":status", "099"), Malformed::Status),
        ("a status of letters", field(":status", "2xx"), Malformed::Status),
        ("an empty status", field(":status", ""), Malformed::Status),
        ("101", field(":status", "101"), Malformed::Status),
        ("a status after a field", [field("a", "b"), OK.to_vec()].concat(), Malformed::PseudoField),
        ("a request's field", [OK, &[0x84][..]].concat(), Malformed::PseudoField),
        ("an unknown pseudo-field", [OK.to_vec(), field(":x", "y")].concat(), Malformed::PseudoField),
        ("an upper-case name", with("Date", "x"), Malformed::FieldBytes),
        ("an empty name", with("", "x"), Malformed::FieldBytes),
        ("a space in a name", with("a b", "x"), Malformed::FieldBytes),
        ("a colon in a name", with("a:b", "x"), Malformed::FieldBytes),
        ("a line end in a name", with("a\r\nb", "x"), Malformed::FieldBytes),
        ("a byte above ASCII in a name", with("gr\u{f6}\u{df}e", "x"), Malformed::FieldBytes),
        ("a line feed in a value", with("a", "x\nb: y"), Malformed::FieldBytes),
        ("a carriage return in a value", with("a", "x\ry"), Malformed::FieldBytes),
        ("a zero byte in a value", with("a", "x\0y"), Malformed::FieldBytes),
        ("Transfer-Encoding", with("transfer-encoding", "chunked"), Malformed::ConnectionField),
        ("Connection", with("connection", "close"), Malformed::ConnectionField),
        ("Keep-Alive", with("keep-alive", "timeout=5"), Malformed::ConnectionField),
        ("Proxy-Connection", with("proxy-connection", "close"), Malformed::ConnectionField),
        ("Upgrade", with("upgrade", "h2c"), Malformed::ConnectionField),
        ("a length of letters", with("content-length", "x"), Malformed::BadLength),
        ("an empty length", with("content-length", ""), Malformed::BadLength),
        ("a negative length", with("content-length", "-1"), Malformed::BadLength),
        ("a length beyond 63 bits", with("content-length", "9223372036854775808"), Malformed::BadLength),
        (
            "two lengths",
            block("200", &[("content-length", "1"), ("content-length", "2")]),
            Malformed::BadLength,
        ),
        ("two lengths in one field", with("content-length", "1, 2"), Malformed::BadLength),
    ] {
        assert_eq!(head(END_HEADERS, &block), Some(why), "{what}");
    }
    assert_eq!(head(ALONE, &block("103", &[])), Some(Malformed::NoHead));
    // The first fault wins.
    let two = [with("a", "\0"), field("upgrade", "x"), field(":c", "d")].concat();
    assert_eq!(head(END_HEADERS, &two), Some(Malformed::FieldBytes));
}

#[test]
fn deviations_that_change_no_end_are_accepted() {
    for (name, value) in [
        ("a", " x "),
        ("a", ""),
        ("a", "x\ty\u{1}"),
        ("content-length", " 7"),
        ("content-length", "7, 7"),
        ("te", "gzip"),
        ("host", "x"),
        ("!#$%&'*+-.^_`|~", "x"),
    ] {
        assert_eq!(head(END_HEADERS, &block("200", &[(name, value)])), None, "{name}: {value}");
    }
    assert_eq!(refused(&[frame(HEADERS, ALONE, 1, &field("content-length", "any"))]), None, "a trailer");
    for status in ["299", "599", "999"] {
        assert_eq!(head(END_HEADERS, &block(status, &[])), None);
    }
}

#[test]
fn a_body_without_a_head_is_refused() {
    let mut client = Client::settled();
    let streams = client.open_all(2);
    let events = client.events_of(&[
        frame(DATA, 0, streams[0], b"body"),
        frame(HEADERS, END_HEADERS, streams[1], &block("100", &[])),
        frame(DATA, END_STREAM, streams[1], b""),
    ]);
    let why = events.unwrap().into_iter().filter_map(|event| match event {
        Event::Refused { why, .. } => Some(why),
        _ => None,
    });
    assert_eq!(why.collect::<Vec<_>>(), [Malformed::NoHead; 2]);
}

#[test]
fn the_first_frame_must_be_settings() {
    for (bytes, why) in [
        (frame(PING, 0, 0, &[0; 8]), Malformed::Preface),
        (frame(SETTINGS, ACK, 0, b""), Malformed::Preface),
        (frame(HEADERS, ALONE, 1, OK), Malformed::Preface),
        (goaway(0, code::HTTP_1_1_REQUIRED), Malformed::Preface),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Malformed::Http1),
        (b"HTTP/1.0 200 OK\r\n\r\n".to_vec(), Malformed::Http1),
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), Malformed::Preface),
    ] {
        let mut client = Client::new(Config::default(), Limits::default());
        client.session.start(&mut client.out);
        client.open(Ask::default()).unwrap();
        assert_eq!(client.feed(&bytes), Err(why));
    }
}

#[test]
fn reasons_are_numbered_in_order_and_each_says_something_else() {
    for (at, malformed) in Malformed::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(malformed.number()), at + 1);
        assert_eq!(malformed.to_string(), malformed.sentence());
        assert_ne!(malformed.code(), code::NO_ERROR);
        let same = Malformed::ALL.into_iter().filter(|other| other.sentence() == malformed.sentence());
        assert_eq!(same.count(), 1, "{malformed:?}");
    }
    let of_streams = Malformed::ALL.iter().filter(|malformed| malformed.is_stream());
    assert_eq!(
        of_streams.map(|malformed| malformed.number()).collect::<Vec<_>>(),
        (19..=31).collect::<Vec<_>>()
    );
    assert!(Malformed::StreamFlow.is_stream() && !Malformed::Flood.is_stream());
}
