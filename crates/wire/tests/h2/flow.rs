//! Windows in both directions (RFC 9113 sections 5.2 and 6.9).

use super::peer::*;
use plimsoll_wire::h2::{Ask, Config, Event, Limits, Malformed, code};

const POST: Ask = Ask { has_body: true, ..GET };

/// Returns how much body the frames have, and whether the last one ends its stream.
fn body(sent: &[Sent]) -> (usize, bool) {
    assert!(sent.iter().all(|(kind, _, _, payload)| *kind == DATA && payload.len() <= 16_384));
    let bytes = sent.iter().map(|(_, _, _, payload)| payload.len()).sum();
    (bytes, sent.last().is_some_and(|(_, flags, _, _)| flags & END_STREAM != 0))
}

impl Client {
    /// Writes and returns what was taken and what was sent.
    fn write(&mut self, stream: u32, bytes: usize, ends: bool) -> (usize, (usize, bool)) {
        self.out.clear();
        let taken = self.session.write(stream, &vec![b'x'; bytes], ends, &mut self.out);
        (taken, body(&self.sent()))
    }

    fn writable(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.session.next_writable()).map(|(stream, _)| stream).collect()
    }
}

#[test]
fn a_body_is_cut_into_frames_and_ends_its_stream() {
    let mut client = Client::settled();
    let stream = client.open(POST).unwrap();
    assert_eq!(client.write(stream, 40_000, false), (40_000, (40_000, false)));
    assert_eq!(client.write(stream, 0, false), (0, (0, false)));
    assert_eq!(client.write(stream, 100, true), (100, (100, true)));
    assert_eq!(client.write(stream, 100, true), (100, (0, false)), "it is complete");
    let other = client.open(POST).unwrap();
    assert_eq!(client.write(other, 0, true), (0, (0, true)), "an end needs no window");
}

#[test]
fn a_body_waits_for_the_window_of_its_stream() {
    let mut client = Client::settled();
    client.feed(&number(WINDOW_UPDATE, 0, 1 << 20)).unwrap();
    let stream = client.open(POST).unwrap();
    assert_eq!(client.write(stream, 70_000, true), (65_535, (65_535, false)));
    assert_eq!(client.writable(), [0; 0]);
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, 0, 1)]), Ok(vec![]), "the connection's was open");
    let events = client.events_of(&[number(WINDOW_UPDATE, stream, 4000)]);
    assert_eq!(events, Ok(vec![Event::Writable]));
    assert_eq!(client.writable(), [stream]);
    assert_eq!(client.writable(), [0; 0], "once");
    assert_eq!(client.write(stream, 4465, true), (4000, (4000, false)));
    client.feed(&number(WINDOW_UPDATE, stream, 465)).unwrap();
    assert_eq!(client.write(stream, 465, true), (465, (465, true)));
    // If no body waits, an update is not an event.
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, stream, 1)]), Ok(vec![]));
}

#[test]
fn bodies_share_the_window_of_the_connection_in_rotation() {
    let mut client = Client::settled();
    let streams: Vec<u32> = (0..3).map(|tag| client.open(Ask { tag, ..POST }).unwrap()).collect();
    assert_eq!(client.write(streams[0], 60_000, true), (60_000, (60_000, true)));
    assert_eq!(client.write(streams[1], 60_000, true).0, 5535);
    assert_eq!(client.write(streams[2], 60_000, true).0, 0);
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, streams[1], 10)]), Ok(vec![Event::Writable]));
    assert_eq!(client.writable(), [0; 0], "the connection has no window");
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, 0, 10)]), Ok(vec![Event::Writable]));
    assert_eq!(client.session.next_writable(), Some((streams[1], 1)));
    assert_eq!(client.write(streams[1], 5, false).0, 5);
    assert_eq!(client.session.next_writable(), Some((streams[2], 2)));
    assert_eq!(client.session.next_writable(), None);
    // While the window is open, an update is not an event.
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, 0, 10)]), Ok(vec![]));
}

#[test]
fn a_small_window_of_the_connection_goes_round() {
    let mut client = Client::settled();
    let streams: Vec<u32> = (0..3).map(|tag| client.open(Ask { tag, ..POST }).unwrap()).collect();
    for stream in &streams {
        client.write(*stream, 65_535, false);
    }
    let mut order = vec![client.write(streams[0], 1, false).0 as u32];
    for _ in 0..6 {
        client.feed(&number(WINDOW_UPDATE, 0, 10)).unwrap();
        let (stream, _) = client.session.next_writable().unwrap();
        assert_eq!(client.write(stream, 100, false).0, 10);
        order.push(stream);
    }
    // The first stream has used up its own window.
    let (b, c) = (streams[1], streams[2]);
    assert_eq!(order, [0, b, c, b, c, b, c]);
}

#[test]
fn a_new_initial_window_applies_to_open_streams_and_may_make_theirs_negative() {
    let mut client = Client::settled();
    client.feed(&number(WINDOW_UPDATE, 0, 1 << 20)).unwrap();
    let stream = client.open(POST).unwrap();
    assert_eq!(client.write(stream, 1000, false).0, 1000);
    client.feed(&settings(&[(4, 500)])).unwrap();
    assert_eq!(client.write(stream, 1000, true).0, 0, "the window is -500");
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, stream, 500)]), Ok(vec![]));
    assert_eq!(client.writable(), [0; 0], "the window is 0");
    client.feed(&number(WINDOW_UPDATE, stream, 1)).unwrap();
    assert_eq!(client.writable(), [stream]);
    assert_eq!(client.write(stream, 1000, true).0, 1);
    assert_eq!(client.events_of(&[settings(&[(4, 700)])]), Ok(vec![Event::Settings]));
    assert_eq!(client.writable(), [stream]);
    assert_eq!(client.write(stream, 1000, true).0, 200);
    let next = client.open(POST).unwrap();
    assert_eq!(client.write(next, 1000, true).0, 700);
}

#[test]
fn windows_above_their_maximum_are_refused() {
    let mut client = Client::settled();
    let stream = client.open(POST).unwrap();
    client.out.clear();
    client.feed(&number(WINDOW_UPDATE, stream, 0x7fff_ffff - 65_535)).unwrap();
    let events = client.events_of(&[number(WINDOW_UPDATE, stream, 1)]).unwrap();
    assert!(matches!(events[..], [Event::Refused { why: Malformed::StreamWindow, .. }]));
    assert_eq!(client.sent(), [(RST_STREAM, 0, stream, code::FLOW_CONTROL_ERROR.to_be_bytes().to_vec())]);
    client.feed(&number(WINDOW_UPDATE, 0, 0x7fff_ffff - 65_535)).unwrap();
    assert_eq!(client.feed(&number(WINDOW_UPDATE, 0, 1)), Err(Malformed::ConnectionWindow));

    let mut client = Client::settled();
    let stream = client.open(POST).unwrap();
    client.feed(&number(WINDOW_UPDATE, stream, 1)).unwrap();
    assert_eq!(client.feed(&settings(&[(4, 0x7fff_ffff)])), Err(Malformed::SettingWindow));
    assert_eq!(Client::settled().feed(&settings(&[(4, 0x8000_0000)])), Err(Malformed::SettingWindow));
    assert_eq!(Client::settled().feed(&settings(&[(4, 0x7fff_ffff)])), Ok(()));
}

#[test]
fn updates_of_zero_are_refused_and_those_of_closed_streams_ignored() {
    let mut client = Client::settled();
    let stream = client.open(POST).unwrap();
    let events = client.events_of(&[number(WINDOW_UPDATE, stream, 0)]).unwrap();
    assert!(matches!(events[..], [Event::Refused { why: Malformed::StreamUpdate, .. }]));
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, stream, 0)]), Ok(vec![]));
    // The highest bit is reserved.
    assert_eq!(client.events_of(&[number(WINDOW_UPDATE, 0, 0x8000_0001)]), Ok(vec![]));
    assert_eq!(client.feed(&number(WINDOW_UPDATE, 0, 0x8000_0000)), Err(Malformed::ConnectionUpdate));
}

/// Returns a client with these windows whose SETTINGS are acknowledged, and a stream with a head.
fn receiving(stream_window: u32, connection_window: u32) -> (Client, u32) {
    let config = Config { stream_window, connection_window, ..Config::default() };
    let mut client = Client::new(config, Limits::default());
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    client.feed(&frame(SETTINGS, ACK, 0, b"")).unwrap();
    let stream = client.open(GET).unwrap();
    client.feed(&frame(HEADERS, END_HEADERS, stream, OK)).unwrap();
    client.out.clear();
    (client, stream)
}

fn updates(client: &mut Client) -> Vec<(u32, u32)> {
    let number = |payload: &[u8]| u32::from_be_bytes(payload.try_into().unwrap());
    let update = |(kind, _, stream, payload): Sent| {
        assert_eq!(kind, WINDOW_UPDATE);
        (stream, number(&payload))
    };
    client.sent().into_iter().map(update).collect()
}

#[test]
fn a_stream_gets_its_window_back_when_half_of_it_is_used() {
    let (mut client, stream) = receiving(1000, 1 << 20);
    client.feed(&frame(DATA, 0, stream, &[0; 499])).unwrap();
    assert_eq!(updates(&mut client), []);
    client.feed(&frame(DATA, 0, stream, &[0; 1])).unwrap();
    assert_eq!(updates(&mut client), [(stream, 500)]);
    // Padding is part of it.
    client.feed(&frame(DATA, PADDED, stream, &[&[200], &[0; 600][..]].concat())).unwrap();
    assert_eq!(updates(&mut client), [(stream, 601)]);
    // The last frame needs none.
    client.feed(&frame(DATA, END_STREAM, stream, &[0; 900])).unwrap();
    assert_eq!(updates(&mut client), []);
}

#[test]
fn the_connection_gets_its_window_back_once_when_it_settles() {
    let (mut client, stream) = receiving(1 << 30, 100_000);
    for _ in 0..3 {
        client.feed(&frame(DATA, 0, stream, &[0; 16_000])).unwrap();
    }
    client.session.settle(&mut client.out);
    assert_eq!(updates(&mut client), []);
    client.feed(&frame(DATA, 0, stream, &[0; 16_000])).unwrap();
    assert_eq!(updates(&mut client), []);
    client.session.settle(&mut client.out);
    assert_eq!(updates(&mut client), [(0, 64_000)]);
    client.session.settle(&mut client.out);
    assert_eq!(updates(&mut client), []);
}

#[test]
fn data_of_abandoned_streams_still_counts_for_the_connection() {
    let (mut client, stream) = receiving(1 << 30, 100_000);
    client.session.cancel(stream, code::CANCEL, &mut client.out).unwrap();
    client.out.clear();
    for _ in 0..4 {
        client.feed(&frame(DATA, PADDED, stream, &[&[100], &[0; 15_999][..]].concat())).unwrap();
    }
    client.session.settle(&mut client.out);
    assert_eq!(updates(&mut client), [(0, 64_000)]);
}

#[test]
fn more_data_than_a_window_allows_is_refused() {
    let (mut client, stream) = receiving(1000, 1 << 20);
    let events = client.events_of(&[frame(DATA, 0, stream, &[0; 1001])]).unwrap();
    assert!(matches!(events[..], [Event::Refused { why: Malformed::StreamFlow, .. }]));
    assert_eq!(client.sent(), [(RST_STREAM, 0, stream, code::FLOW_CONTROL_ERROR.to_be_bytes().to_vec())]);

    let (mut client, stream) = receiving(1 << 30, 65_535);
    for _ in 0..3 {
        client.feed(&frame(DATA, 0, stream, &[0; 16_384])).unwrap();
    }
    client.feed(&frame(DATA, 0, stream, &[0; 16_383])).unwrap();
    assert_eq!(client.feed(&frame(DATA, 0, stream, &[0; 1])), Err(Malformed::ConnectionFlow));
}

#[test]
fn a_server_that_has_not_acknowledged_the_settings_may_use_the_usual_window() {
    let config = Config { stream_window: 1000, ..Config::default() };
    let mut client = Client::new(config, Limits::default());
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    let stream = client.open(GET).unwrap();
    client.feed(&frame(HEADERS, END_HEADERS, stream, OK)).unwrap();
    let events = client.events_of(&[
        frame(DATA, 0, stream, &[0; 16_000]),
        frame(SETTINGS, ACK, 0, b""),
        frame(DATA, 0, stream, &[0; 1000]),
        frame(DATA, 0, stream, &[0; 1001]),
    ]);
    let events = events.unwrap();
    assert!(matches!(events[1..], [Event::Refused { why: Malformed::StreamFlow, .. }]), "{events:?}");
}
