//! Each limit is exact, and each can be changed.

use super::peer::*;
use plimsoll_wire::h2::{Config, Event, Limits, Malformed};

/// Returns why a response to one request is refused under `limits`.
fn refused(limits: Limits, frames: &[Vec<u8>]) -> Option<Malformed> {
    let mut client = Client::new(Config::default(), limits);
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    client.open(GET).unwrap();
    match client.events_of(frames) {
        Err(why) => Some(why),
        Ok(events) => events.iter().find_map(|event| match event {
            Event::Refused { why, .. } => Some(*why),
            _ => None,
        }),
    }
}

/// Returns a block of a head that is `len` bytes of text.
fn head_of(mut len: usize) -> Vec<u8> {
    // The status line and the empty line.
    len -= 14;
    let mut bytes = OK.to_vec();
    while len > 0 {
        let line = if len > 120 { 100 } else { len };
        bytes.extend(field("x", &"y".repeat(line - 5)));
        len -= line;
    }
    bytes
}

/// Returns a head in frames of at most 16 KiB.
fn in_frames(block: &[u8]) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = block.chunks(16_384).collect();
    let last = parts.len() - 1;
    let part = |(at, part): (usize, &&[u8])| {
        let end = if at == last { END_HEADERS } else { 0 };
        match at {
            0 => frame(HEADERS, END_STREAM | end, 1, part),
            _ => frame(CONTINUATION, end, 1, part),
        }
    };
    parts.iter().enumerate().map(part).collect()
}

#[test]
fn the_defaults_are_as_documented() {
    let limits = Limits::default();
    assert_eq!((limits.head_bytes_max, limits.fields_max, limits.informational_max), (65_536, 128, 16));
    assert_eq!((limits.trailer_bytes_max, limits.overhead_frames_max), (16_384, 10_000));
    let config = Config::default();
    assert_eq!((config.streams, config.stream_window), (100, (1 << 30) - 1));
    assert_eq!((config.connection_window, config.header_table_bytes), ((1 << 30) - 1, 4096));
}

#[test]
fn a_head_may_be_as_long_as_its_limit() {
    let many = Limits { fields_max: 100_000, ..Limits::default() };
    assert_eq!(refused(many, &in_frames(&head_of(65_536))), None);
    assert_eq!(refused(many, &in_frames(&head_of(65_537))), Some(Malformed::HeadTooLarge));
    let small = Limits { head_bytes_max: 100, ..many };
    assert_eq!(refused(small, &in_frames(&head_of(100))), None);
    assert_eq!(refused(small, &in_frames(&head_of(101))), Some(Malformed::HeadTooLarge));
}

#[test]
fn fields_are_counted() {
    let with = |count: usize| [OK.to_vec(), field("x", "y").repeat(count)].concat();
    assert_eq!(refused(Limits::default(), &in_frames(&with(128))), None);
    assert_eq!(refused(Limits::default(), &in_frames(&with(129))), Some(Malformed::HeadTooLarge));
    let few = Limits { fields_max: 2, ..Limits::default() };
    assert_eq!(refused(few, &in_frames(&with(2))), None);
    assert_eq!(refused(few, &in_frames(&with(3))), Some(Malformed::HeadTooLarge));
}

#[test]
fn trailers_have_their_own_limit() {
    let trailers = |len: usize| {
        vec![frame(HEADERS, END_HEADERS, 1, OK), frame(HEADERS, ALONE, 1, &field("x", &"y".repeat(len - 7)))]
    };
    let small = Limits { trailer_bytes_max: 50, ..Limits::default() };
    assert_eq!(refused(small, &trailers(50)), None);
    assert_eq!(refused(small, &trailers(51)), Some(Malformed::HeadTooLarge));
}

#[test]
fn interim_responses_are_counted() {
    let after = |count: usize| {
        let mut frames = vec![frame(HEADERS, END_HEADERS, 1, &block("103", &[])); count];
        frames.push(frame(HEADERS, ALONE, 1, OK));
        frames
    };
    assert_eq!(refused(Limits::default(), &after(16)), None);
    assert_eq!(refused(Limits::default(), &after(17)), Some(Malformed::TooManyInformational));
    let none = Limits { informational_max: 0, ..Limits::default() };
    assert_eq!(refused(none, &after(0)), None);
    assert_eq!(refused(none, &after(1)), Some(Malformed::TooManyInformational));
}

#[test]
fn a_block_of_more_coded_bytes_than_a_head_may_have_costs_the_connection() {
    let bytes = |len: usize| in_frames(&field("x", "yy").repeat(len / 6)[..len / 6 * 6]);
    let many = Limits { fields_max: 100_000, ..Limits::default() };
    assert_eq!(refused(many, &bytes(65_536)), Some(Malformed::HeadTooLarge), "it is decoded");
    assert_eq!(refused(many, &bytes(65_542)), Some(Malformed::HeadBomb));
}

#[test]
fn a_small_block_of_a_huge_head_costs_its_stream_and_a_monstrous_one_the_connection() {
    // A field of 3,000 bytes, and many references to it.
    let bomb = |times: usize| {
        let mut bytes = vec![0x88, 0x40, 1, b'x', 0x7f, 0xb9, 0x16];
        bytes.extend([b'y'; 127 + 0x39 + 0x16 * 128]);
        bytes.extend(vec![0xbe; times]);
        bytes
    };
    let many = Limits { fields_max: 100_000, ..Limits::default() };
    assert_eq!(refused(many, &in_frames(&bomb(10))), None);
    assert_eq!(refused(many, &in_frames(&bomb(30))), Some(Malformed::HeadTooLarge));
    assert_eq!(refused(many, &in_frames(&bomb(1000))), Some(Malformed::HeadBomb));
    // The same with a number of fields, and with pseudo-fields.
    let fields = [OK.to_vec(), vec![0x88; 5000]].concat();
    assert_eq!(refused(Limits::default(), &in_frames(&fields)), Some(Malformed::HeadBomb));
}

/// Kinds of floods: a name, and one frame.
fn floods() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("PING", frame(PING, 0, 0, &[0; 8])),
        ("PING acknowledgments", frame(PING, ACK, 0, &[0; 8])),
        ("SETTINGS", settings(&[(3, 100)])),
        ("SETTINGS acknowledgments", frame(SETTINGS, ACK, 0, b"")),
        ("WINDOW_UPDATE", number(WINDOW_UPDATE, 0, 1)),
        ("GOAWAY", goaway(1, 0)),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0; 5])),
        ("unknown frames", frame(77, 0, 0, b"")),
        ("empty DATA", frame(DATA, 0, 1, b"")),
        ("resets of a closed stream", number(RST_STREAM, 3, 0)),
        ("heads of a closed stream", frame(HEADERS, ALONE, 3, OK)),
        ("DATA of a closed stream", frame(DATA, 0, 3, b"x")),
    ]
}

/// Returns a client with a stream 1 whose head arrived, and a stream 3 that is done.
fn flooded(limits: Limits) -> Client {
    let mut client = Client::new(Config::default(), limits);
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    client.open_all(2);
    client.feed(&frame(HEADERS, END_HEADERS, 1, OK)).unwrap();
    client.feed(&frame(HEADERS, ALONE, 3, OK)).unwrap();
    client.session.settle(&mut client.out);
    client
}

#[test]
fn a_flood_without_progress_ends_the_connection() {
    let limits = Limits { overhead_frames_max: 50, ..Limits::default() };
    for (what, flood) in floods() {
        let mut client = flooded(limits);
        assert_eq!(client.feed(&flood.repeat(50)), Ok(()), "{what}");
        assert_eq!(client.feed(&flood), Err(Malformed::Flood), "{what}");
    }
    let mut client = flooded(limits);
    client.open(GET).unwrap();
    client.session.settle(&mut client.out);
    client.feed(&frame(HEADERS, 0, 5, OK)).unwrap();
    let empty = frame(CONTINUATION, 0, 5, b"");
    assert_eq!(client.feed(&empty.repeat(50)), Ok(()));
    assert_eq!(client.feed(&empty), Err(Malformed::Flood), "empty CONTINUATION");
}

#[test]
fn frames_between_wake_ups_or_between_data_are_no_flood() {
    let limits = Limits { overhead_frames_max: 50, ..Limits::default() };
    for (what, frame_of_flood) in floods() {
        let mut client = flooded(limits);
        for _ in 0..100 {
            assert_eq!(client.feed(&frame_of_flood.repeat(40)), Ok(()), "{what}");
            client.session.settle(&mut client.out);
        }
        for _ in 0..1000 {
            let pair = [frame_of_flood.clone(), frame(DATA, 0, 1, b"x")].concat();
            assert_eq!(client.feed(&pair), Ok(()), "{what}");
        }
    }
}

#[test]
fn each_exchange_may_bring_some_frames_of_overhead() {
    let limits = Limits { overhead_frames_max: 50, ..Limits::default() };
    let exchanges = |overhead: usize| {
        let mut client = flooded(limits);
        (0..1000).try_for_each(|_| {
            let stream = client.open(GET).unwrap();
            let ping = frame(PING, ACK, 0, &[0; 8]).repeat(overhead);
            client.feed(&[ping, frame(HEADERS, ALONE, stream, OK)].concat())
        })
    };
    assert_eq!(exchanges(4), Ok(()));
    assert_eq!(exchanges(5), Err(Malformed::Flood));
}

#[test]
fn an_upload_may_be_answered_with_many_updates() {
    let limits = Limits { overhead_frames_max: 50, ..Limits::default() };
    let mut client = flooded(limits);
    let stream = client.open(plimsoll_wire::h2::Ask { has_body: true, ..GET }).unwrap();
    for _ in 0..1000 {
        client.out.clear();
        assert_eq!(client.session.write(stream, &[0; 1000], false, &mut client.out), 1000);
        let updates = [number(WINDOW_UPDATE, 0, 1000), number(WINDOW_UPDATE, stream, 1000)].concat();
        assert_eq!(client.feed(&updates), Ok(()));
    }
}
