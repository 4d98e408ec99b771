//! Ends before the end of a response: GOAWAY, resets, abandoned streams, closed connections.

use super::peer::*;
use plimsoll_wire::h2::{Ask, Config, Eof, Event, Limits, Malformed, code};

#[test]
fn goaway_ends_the_room_and_names_the_streams_that_were_not_processed() {
    let mut client = Client::settled();
    let streams = client.open_all(4);
    let last_stream = streams[1];
    let code = code::NO_ERROR;
    assert_eq!(client.events_of(&[goaway(last_stream, 0)]), Ok(vec![Event::GoAway { last_stream, code }]));
    assert_eq!((client.session.room(), client.open(GET)), (0, None));
    assert!(client.session.is_draining());
    let mut unprocessed = Vec::new();
    while let Some(of) = client.session.take_unprocessed() {
        assert!(!of.started);
        unprocessed.push((of.stream, of.tag));
    }
    unprocessed.sort_unstable();
    assert_eq!(unprocessed, [(streams[2], 2), (streams[3], 3)]);
    // The others end as usual, and the connection is not used for more.
    let events = client.events_of(&[
        frame(HEADERS, ALONE, streams[0], OK),
        frame(HEADERS, END_HEADERS, streams[1], OK),
        frame(DATA, END_STREAM, streams[1], b"x"),
    ]);
    let events = events.unwrap();
    let done = events.iter().filter_map(|event| match event {
        Event::Done { tag, answer, .. } => Some((*tag, answer.reusable)),
        _ => None,
    });
    assert_eq!(done.collect::<Vec<_>>(), [(0, false), (1, false)]);
    assert_eq!(client.session.eof(), Eof::Drained);
}

#[test]
fn a_notice_of_goaway_keeps_all_streams_and_a_second_one_names_the_last() {
    let mut client = Client::settled();
    let streams = client.open_all(3);
    client.feed(&goaway(0x7fff_ffff, 0)).unwrap();
    assert_eq!((client.session.take_unprocessed(), client.session.room()), (None, 0));
    client.feed(&goaway(streams[1], 0)).unwrap();
    assert_eq!(client.session.take_unprocessed().map(|of| of.stream), Some(streams[2]));
    assert_eq!(client.session.take_unprocessed(), None);
    // A number that is raised again does not bring a stream back.
    let last_stream = streams[1];
    let events = client.events_of(&[goaway(streams[2], code::ENHANCE_YOUR_CALM)]);
    assert_eq!(events, Ok(vec![Event::GoAway { last_stream, code: code::ENHANCE_YOUR_CALM }]));
}

#[test]
fn streams_opened_just_before_a_goaway_arrived_are_not_processed() {
    let mut client = Client::settled();
    let streams = client.open_all(50);
    client.feed(&goaway(0, 0)).unwrap();
    let taken = std::iter::from_fn(|| client.session.take_unprocessed()).count();
    assert_eq!((taken, client.session.open_streams()), (streams.len(), 0));
    assert_eq!(client.session.eof(), Eof::Drained);
}

#[test]
fn goaway_may_say_more() {
    let mut client = Client::settled();
    let payload = [&1u32.to_be_bytes()[..], &11u32.to_be_bytes(), b"too many pings"].concat();
    let events = client.events_of(&[frame(GOAWAY, 0, 0, &payload)]);
    assert_eq!(events, Ok(vec![Event::GoAway { last_stream: 1, code: code::ENHANCE_YOUR_CALM }]));
}

#[test]
fn a_reset_ends_its_stream_alone_with_what_arrived() {
    let mut client = Client::settled();
    let streams = client.open_all(2);
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, streams[0], OK),
        frame(DATA, 0, streams[0], b"half"),
        number(RST_STREAM, streams[0], code::INTERNAL_ERROR),
        number(RST_STREAM, streams[1], code::REFUSED_STREAM),
    ]);
    let events = events.unwrap();
    let [_, _, Event::Reset { tag: 0, code: 2, answer, .. }, Event::Reset { tag: 1, code: 7, .. }] =
        events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((answer.status, answer.body_bytes, answer.reusable), (200, 4, true));
    assert_eq!((client.session.open_streams(), client.session.room()), (0, 100));
    // Late frames of both are ignored.
    let late = [frame(DATA, 0, streams[0], b"late"), number(RST_STREAM, streams[1], 8)];
    assert_eq!(client.events_of(&late), Ok(vec![]));
}

#[test]
fn an_abandoned_stream_is_reset_and_its_late_frames_keep_the_connection_in_step() {
    let mut client = Client::settled();
    let streams = client.open_all(2);
    client
        .feed(&[frame(HEADERS, END_HEADERS, streams[0], OK), frame(DATA, 0, streams[0], b"ha")].concat())
        .unwrap();
    client.out.clear();
    let answer = client.session.cancel(streams[0], code::CANCEL, &mut client.out).unwrap();
    assert_eq!((answer.status, answer.body_bytes), (200, 2));
    assert_eq!(client.sent(), [(RST_STREAM, 0, streams[0], 8u32.to_be_bytes().to_vec())]);
    assert_eq!(client.session.cancel(streams[0], code::CANCEL, &mut client.out), None);
    // A late head inserts a field into the table, which a later head of another stream reads.
    let insert = [&[0x40][..], &field("x-late", "1")[1..]].concat();
    let events = client.events_of(&[
        frame(DATA, 0, streams[0], b"lf"),
        frame(HEADERS, ALONE, streams[0], &insert),
        frame(HEADERS, ALONE, streams[1], &[0x88, 0xbe]),
    ]);
    assert!(matches!(events.unwrap()[..], [Event::Done { tag: 1, .. }]));
    assert_eq!(client.seen.heads.last().unwrap().1, "HTTP/2 200\r\nx-late: 1\r\n\r\n");
}

#[test]
fn a_stream_abandoned_within_a_frame_is_walked_to_its_end() {
    let mut client = Client::settled();
    let streams = client.open_all(2);
    client.feed(&frame(HEADERS, END_HEADERS, streams[0], OK)).unwrap();
    let data = frame(DATA, END_STREAM, streams[0], &[b'x'; 100]);
    client.feed(&data[..50]).unwrap();
    client.session.cancel(streams[0], code::CANCEL, &mut client.out).unwrap();
    let rest = [&data[50..], &frame(HEADERS, ALONE, streams[1], OK)].concat();
    let events = client.events_of(&[rest]).unwrap();
    assert!(matches!(events[..], [Event::Done { tag: 1, .. }]));
    assert_eq!(client.seen.body(0).len(), 41);
}

#[test]
fn a_refused_response_costs_its_stream_alone() {
    let mut client = Client::settled();
    let streams = client.open_all(2);
    client.out.clear();
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, streams[0], &block("200", &[("Upper", "x")])),
        frame(DATA, END_STREAM, streams[0], b"late"),
        frame(HEADERS, ALONE, streams[1], OK),
    ]);
    let events = events.unwrap();
    let [Event::Refused { tag: 0, why: Malformed::FieldBytes, .. }, Event::Done { tag: 1, .. }] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(client.sent(), [(RST_STREAM, 0, streams[0], code::PROTOCOL_ERROR.to_be_bytes().to_vec())]);
    assert_eq!(client.seen.heads.len(), 1);
}

#[test]
fn a_close_means_what_was_open() {
    let mut fresh = Client::new(Config::default(), Limits::default());
    fresh.session.start(&mut fresh.out);
    assert_eq!(fresh.session.eof(), Eof::BeforeSettings);
    fresh.open(GET).unwrap();
    assert_eq!(fresh.session.eof(), Eof::BeforeSettings);

    let mut client = Client::settled();
    assert_eq!(client.session.eof(), Eof::Idle);
    client.open_all(2);
    assert_eq!(client.session.eof(), Eof::Streams);
    client.feed(&goaway(3, 0)).unwrap();
    assert_eq!(client.session.eof(), Eof::Cut);
}

#[test]
fn a_lost_connection_returns_its_streams_with_what_arrived() {
    let mut client = Client::settled();
    let streams = client.open_all(3);
    client.feed(&frame(HEADERS, END_HEADERS, streams[1], OK)).unwrap();
    client.feed(&frame(DATA, 0, streams[1], b"ha")).unwrap();
    client.feed(&frame(HEADERS, END_HEADERS, streams[2], &block("103", &[]))).unwrap();
    assert_eq!(client.session.progress(streams[1]).map(|answer| answer.body_bytes), Some(2));
    assert_eq!(client.session.progress(99), None);
    let mut lost: Vec<_> = std::iter::from_fn(|| client.session.take_open()).collect();
    lost.sort_by_key(|of| of.tag);
    let started: Vec<_> = lost.iter().map(|of| (of.tag, of.started, of.answer.status)).collect();
    assert_eq!(started, [(0, false, 0), (1, true, 200), (2, true, 0)]);
    assert_eq!(client.session.open_streams(), 0);
}

#[test]
fn a_fault_stays_and_the_streams_are_still_there_to_take() {
    let mut client = Client::settled();
    client.open_all(2);
    client.out.clear();
    let fault = Err(Malformed::FrameStream);
    assert_eq!(client.feed(&frame(DATA, 0, 0, b"x")), fault);
    assert_eq!(client.feed(&frame(PING, 0, 0, &[0; 8])), fault);
    assert_eq!((client.session.room(), client.open(GET)), (0, None));
    assert!(client.session.is_draining());
    client.session.settle(&mut client.out);
    assert_eq!(client.out, b"");
    client.session.close(Malformed::FrameStream.code(), &mut client.out);
    assert_eq!(client.sent(), [(GOAWAY, 0, 0, vec![0, 0, 0, 0, 0, 0, 0, 1])]);
    assert_eq!(std::iter::from_fn(|| client.session.take_open()).count(), 2);
}

#[test]
fn an_own_goaway_ends_the_room() {
    let mut client = Client::settled();
    let stream = client.open(GET).unwrap();
    client.out.clear();
    client.session.close(code::NO_ERROR, &mut client.out);
    assert_eq!(client.sent(), [(GOAWAY, 0, 0, vec![0; 8])]);
    assert_eq!((client.session.room(), client.session.take_unprocessed()), (0, None));
    let events = client.events_of(&[frame(HEADERS, ALONE, stream, OK)]).unwrap();
    assert!(matches!(events[..], [Event::Done { .. }]));
}

#[test]
fn a_stale_number_changes_nothing() {
    let mut client = Client::settled();
    let stream = client.open(Ask { has_body: true, ..GET }).unwrap();
    client.feed(&number(RST_STREAM, stream, 7)).unwrap();
    client.out.clear();
    // Its slot is used again by another stream only 128 streams later; the number tells them apart.
    for _ in 0..127 {
        let next = client.open(GET).unwrap();
        client.feed(&frame(HEADERS, ALONE, next, OK)).unwrap();
    }
    let other = client.open(Ask { has_body: true, ..GET }).unwrap();
    assert_eq!(other, stream + 256);
    client.out.clear();
    assert_eq!(client.session.cancel(stream, code::CANCEL, &mut client.out), None);
    assert_eq!(client.session.write(stream, b"x", true, &mut client.out), 1);
    assert_eq!((client.session.progress(stream), client.out.len()), (None, 0));
    assert!(client.session.progress(other).is_some());
}
