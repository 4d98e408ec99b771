//! What a connection begins with, and how many streams it may open.

use super::peer::*;
use plimsoll_wire::h2::{Ask, Config, Event, Limits, Malformed, Request, code};

fn started(config: Config) -> (Client, Vec<Sent>) {
    let mut client = Client::new(config, Limits::default());
    client.session.start(&mut client.out);
    assert!(client.out.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    let sent = client.sent();
    (client, sent)
}

fn pairs(payload: &[u8]) -> Vec<(u16, u32)> {
    let pair = |bytes: &[u8]| {
        (u16::from_be_bytes([bytes[0], bytes[1]]), u32::from_be_bytes(bytes[2..].try_into().unwrap()))
    };
    payload.chunks(6).map(pair).collect()
}

#[test]
fn a_connection_begins_with_the_preface_the_settings_and_its_window() {
    let (_, sent) = started(Config::default());
    let [(SETTINGS, 0, 0, payload), (WINDOW_UPDATE, 0, 0, update)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(pairs(payload), [(2, 0), (4, (1 << 30) - 1)]);
    assert_eq!(update[..], ((1u32 << 30) - 1 - 65_535).to_be_bytes());
}

#[test]
fn a_browser_has_its_windows_and_its_table() {
    let (_, sent) = started(Config::browser());
    let [(SETTINGS, 0, 0, payload), (WINDOW_UPDATE, 0, 0, update)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(pairs(payload), [(1, 65_536), (2, 0), (4, 6 << 20)]);
    assert_eq!(update[..], 15_663_105u32.to_be_bytes());
}

#[test]
fn settings_that_are_the_default_are_not_sent() {
    let config = Config {
        stream_window: 65_535,
        connection_window: 1,
        header_table_bytes: 0,
        frame_bytes_max: 1 << 20,
        ..Config::default()
    };
    let (_, sent) = started(config);
    let [(SETTINGS, 0, 0, payload)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(pairs(payload), [(1, 0), (2, 0), (5, 1 << 20)]);
}

#[test]
fn one_stream_is_open_until_the_server_has_sent_its_settings() {
    let (mut client, _) = started(Config::default());
    assert_eq!((client.session.room(), client.session.is_settled()), (1, false));
    assert_eq!(client.open(GET), Some(1));
    assert_eq!((client.session.room(), client.open(GET)), (0, None));
    assert_eq!(client.events_of(&[settings(&[(3, 4)])]), Ok(vec![Event::Settings]));
    assert_eq!((client.session.room(), client.session.streams_max()), (3, Some(4)));
    assert_eq!(client.session.own_room(), 99);
    assert_eq!(client.sent().last(), Some(&(SETTINGS, ACK, 0, Vec::new())));
}

#[test]
fn the_smaller_of_both_limits_counts_and_a_later_one_applies_at_once() {
    let mut client = Client::settled();
    assert_eq!((client.session.room(), client.session.streams_max()), (100, None));
    client.feed(&settings(&[(3, 1000)])).unwrap();
    assert_eq!(client.session.room(), 100);
    client.feed(&settings(&[(3, 2)])).unwrap();
    let streams = client.open_all(2);
    assert_eq!(client.open(GET), None);
    // Fewer than are open already.
    client.feed(&settings(&[(3, 1)])).unwrap();
    assert_eq!(client.session.room(), 0);
    client.feed(&frame(HEADERS, ALONE, streams[0], OK)).unwrap();
    assert_eq!(client.session.room(), 0);
    client.feed(&frame(HEADERS, ALONE, streams[1], OK)).unwrap();
    assert_eq!(client.session.room(), 1);
    client.feed(&settings(&[(3, 0)])).unwrap();
    assert_eq!(client.session.room(), 0);
}

#[test]
fn a_number_whose_slot_is_still_held_is_left_out() {
    let mut client = Client::new(Config { streams: 4, ..Config::default() }, Limits::default());
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    let long = client.open(GET).unwrap();
    let mut opened = Vec::new();
    for _ in 0..20 {
        let stream = client.open(GET).unwrap();
        client.feed(&frame(HEADERS, ALONE, stream, OK)).unwrap();
        opened.push(stream);
    }
    // Eight slots, one of which is held: each eighth number is left out.
    let skipped: Vec<u32> = (3..opened[19]).step_by(2).filter(|id| !opened.contains(id)).collect();
    assert_eq!((long, skipped), (1, vec![17, 33]));
    // A number that was left out counts as closed: late frames for it are ignored.
    assert_eq!(client.events_of(&[number(RST_STREAM, 17, code::CANCEL)]), Ok(vec![]));
    client.feed(&frame(HEADERS, ALONE, long, OK)).unwrap();
    assert_eq!(client.session.open_streams(), 0);
}

#[test]
fn numbers_run_out_and_then_there_is_no_room() {
    let config = Config { first_stream: 0x7fff_fffb, ..Config::default() };
    let mut client = Client::new(config, Limits::default());
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    assert_eq!(client.open_all(3), [0x7fff_fffb, 0x7fff_fffd, 0x7fff_ffff]);
    assert_eq!((client.session.room(), client.open(GET)), (0, None));
    assert!(client.session.is_draining());
    let events = client.events_of(&[frame(HEADERS, ALONE, 0x7fff_ffff, OK)]).unwrap();
    assert!(matches!(events[..], [Event::Done { .. }]));
}

#[test]
fn a_request_is_one_frame_or_continues_in_more() {
    let mut client = Client::settled();
    for (len, frames) in [(100, 1), (16_384, 1), (16_385, 2), (40_000, 3)] {
        let block = vec![b'x'; len];
        let ask = Ask { has_body: len == 40_000, ..GET };
        let stream = client.session.open(ask, Request::Block(&block), &mut client.out).unwrap();
        let sent = client.sent();
        assert_eq!(sent.len(), frames, "{len}");
        let last = frames - 1;
        for (at, (kind, flags, of, payload)) in sent.iter().enumerate() {
            let end = if at == last { END_HEADERS } else { 0 };
            let ends = if at == 0 && !ask.has_body { END_STREAM } else { 0 };
            let expected = if at == 0 { HEADERS } else { CONTINUATION };
            assert_eq!((*kind, *flags, *of), (expected, end | ends, stream));
            assert!(payload.len() <= 16_384);
        }
        let bytes = sent.into_iter().flat_map(|(_, _, _, payload)| payload);
        assert_eq!(bytes.collect::<Vec<_>>(), block);
    }
}

#[test]
fn settings_are_acknowledged_and_unknown_ones_ignored() {
    let mut client = Client::settled();
    let many = settings(&[(6, 1), (9, 7), (0xf000, 5), (5, 1 << 23), (2, 0), (1, 0)]);
    assert_eq!(client.events_of(&[many]), Ok(vec![Event::Settings]));
    assert_eq!(client.sent(), [(SETTINGS, ACK, 0, Vec::new())]);
    assert_eq!(client.events_of(&[frame(SETTINGS, ACK, 0, b"")]), Ok(vec![]));
    assert_eq!(client.sent(), []);
}

#[test]
fn of_two_table_sizes_the_smaller_one_counts() {
    for sizes in [[(1, 100), (1, 4096)], [(1, 4096), (1, 100)]] {
        let mut client = Client::settled();
        client.feed(&settings(&sizes)).unwrap();
        client.out.clear();
        client.open(GET).unwrap();
        assert_eq!(client.sent()[0].3[..2], [0x3f, 100 - 31]);
    }
}

#[test]
fn an_acknowledged_table_size_must_be_confirmed_by_the_next_head() {
    let connected = || {
        let config = Config { header_table_bytes: 100, ..Config::default() };
        let mut client = Client::new(config, Limits::default());
        client.session.start(&mut client.out);
        client.feed(&settings(&[])).unwrap();
        client.open_all(3);
        client
    };
    let head = |stream, block: &[u8]| frame(HEADERS, ALONE, stream, block);
    let mut client = connected();
    assert_eq!(client.feed(&head(1, OK)), Ok(()), "the server may not know the size yet");
    client.feed(&frame(SETTINGS, ACK, 0, b"")).unwrap();
    // The head is equal to the one before it, and yet it is not the same.
    assert_eq!(client.feed(&head(3, OK)), Err(Malformed::Compression));
    let mut client = connected();
    client.feed(&frame(SETTINGS, ACK, 0, b"")).unwrap();
    assert_eq!(client.feed(&head(1, &[0x3f, 100 - 31, 0x88])), Ok(()));
    assert_eq!(client.feed(&head(3, OK)), Ok(()));
    assert_eq!(client.feed(&head(5, &[0x3f, 101 - 31, 0x88])), Err(Malformed::Compression));
}

#[test]
fn connect_with_a_protocol_is_allowed_by_a_setting() {
    let mut client = Client::settled();
    assert!(!client.session.allows_connect());
    client.feed(&settings(&[(8, 0)])).unwrap();
    assert!(!client.session.allows_connect());
    client.feed(&settings(&[(8, 1)])).unwrap();
    assert!(client.session.allows_connect());
}

#[test]
fn pings_are_answered_with_their_own_bytes() {
    let mut client = Client::settled();
    assert_eq!(client.events_of(&[frame(PING, 0, 0, b"12345678")]), Ok(vec![]));
    assert_eq!(client.sent(), [(PING, ACK, 0, b"12345678".to_vec())]);
    client.feed(&frame(PING, ACK, 0, b"12345678")).unwrap();
    assert_eq!(client.sent(), []);
}

#[test]
fn frames_without_a_meaning_are_skipped() {
    let mut client = Client::settled();
    let stream = client.open(GET).unwrap();
    client.out.clear();
    let events = client.events_of(&[
        frame(PRIORITY, 0, stream, &[0, 0, 0, 0, 16]),
        frame(PRIORITY, 0, 99, b"any length"),
        frame(10, 0xff, 77, &[1; 3000]),
        frame(0xff, 0, 0, b""),
        frame(HEADERS, ALONE, stream, OK),
    ]);
    assert!(matches!(events.unwrap()[..], [Event::Done { .. }]));
    assert_eq!(client.sent(), []);
}

#[test]
fn a_session_takes_little_memory() {
    assert!(size_of::<plimsoll_wire::h2::Session>() <= 400, "{}", size_of::<plimsoll_wire::h2::Session>());
}
