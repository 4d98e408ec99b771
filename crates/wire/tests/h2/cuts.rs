//! A network may split bytes anywhere: events, replies, and what programs see must not depend on it. Nor may they
//! depend on whether a head was recognized or decoded.

use super::chatter::Server;
use super::peer::*;
use crate::common::random::{Random, cases};
use plimsoll_wire::h2::{Ask, Config, Event, Limits, Malformed};

/// Everything that came of some bytes.
#[derive(Debug, PartialEq)]
struct Outcome {
    fed: Result<(), Malformed>,
    events: Vec<Event>,
    out: Vec<u8>,
    seen: Seen,
}

/// Feeds pieces to a client with eight streams. Each round of pieces settles at its end, and streams that are done are
/// replaced, as a worker does.
fn outcome<'a>(ask: Ask, config: Config, rounds: impl IntoIterator<Item = Vec<&'a [u8]>>) -> Outcome {
    let limits = Limits { overhead_frames_max: 60, ..Limits::default() };
    let mut client = Client::new(config, limits);
    client.session.start(&mut client.out);
    client.feed(&settings(&[])).unwrap();
    let mut tag = 0;
    let mut fed = Ok(());
    for pieces in rounds {
        while client.session.open_streams() < 8 {
            if client.open(Ask { tag, has_body: tag % 5 == 4, ..ask }).is_none() {
                break;
            }
            tag += 1;
        }
        fed = pieces.into_iter().try_for_each(|piece| client.feed(piece));
        if fed.is_err() {
            break;
        }
        client.session.settle(&mut client.out);
        while client.session.take_unprocessed().is_some() {}
    }
    // Parts of a body may be reported once, often, or with the end of their stream; the sink shows whether they are
    // the same.
    client.events.retain(|event| !matches!(event, Event::Data { .. }));
    Outcome { fed, events: client.events, out: client.out, seen: client.seen }
}

fn config(random: &mut Random) -> Config {
    Config {
        streams: 20,
        stream_window: random.pick(&[100, 1000, 1 << 30]),
        connection_window: random.pick(&[65_535, 1 << 30]),
        header_table_bytes: random.pick(&[0, 100, 4096]),
        ..Config::default()
    }
}

#[test]
fn random_frames_in_random_cuts_give_the_same() {
    cases(4000, |random| {
        let config = config(random);
        let mut server = Server::new(8);
        let mut rounds = Vec::new();
        for _ in 0..1 + random.below(12) {
            let mut bytes = server.frames(random);
            if random.one_in(12) {
                random.mutate(&mut bytes, &[0, 1, 4, 5, 8, 9, 0x88, 0xff], &[0x40, 0x3f, 0xe1, 0x1f]);
            }
            rounds.push(bytes);
            server.opened += random.below(3) as u32;
        }
        let whole = outcome(GET, config, rounds.iter().map(|bytes| vec![&bytes[..]]));
        for _ in 0..3 {
            let cut = rounds.iter().map(|bytes| random.pieces(bytes)).collect::<Vec<_>>();
            assert_eq!(outcome(GET, config, cut), whole);
        }
        // Without a reader, equal heads are recognized; with one, each is decoded.
        let unread = Ask { reads_head: false, ..GET };
        let cut = rounds.iter().map(|bytes| random.pieces(bytes)).collect::<Vec<_>>();
        let recognized = outcome(unread, config, cut);
        assert_eq!((recognized.fed, recognized.events, recognized.out), (whole.fed, whole.events, whole.out));
        assert_eq!(recognized.seen.bodies, whole.seen.bodies);
    });
}

#[test]
fn random_bytes_never_panic_and_end_alike_in_any_cut() {
    cases(4000, |random| {
        let len = random.below(300);
        let byte = |random: &mut Random| {
            let any = random.next() as u8;
            random.pick(&[0, 0, 0, 1, 4, 5, 8, 9, any])
        };
        let bytes: Vec<u8> = (0..len).map(|_| byte(random)).collect();
        let config = config(random);
        let whole = outcome(GET, config, [vec![&bytes[..]]]);
        assert_eq!(outcome(GET, config, [random.pieces(&bytes)]), whole);
    });
}

/// One frame of every type and with every flag, as far as they follow each other on one connection.
fn samples() -> Vec<u8> {
    let head = block("200", &[("content-type", "text/plain"), ("content-length", "5")]);
    [
        settings(&[(3, 50), (4, 1000)]),
        frame(SETTINGS, ACK, 0, b""),
        frame(PING, 0, 0, b"12345678"),
        frame(HEADERS, END_HEADERS, 1, &block("103", &[("link", "<a>")])),
        frame(HEADERS, END_HEADERS, 1, &head),
        frame(DATA, 0, 1, b"he"),
        frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 9]),
        frame(DATA, PADDED | END_STREAM, 1, &[2, b'l', b'l', b'o', 0, 0]),
        frame(HEADERS, PADDED | PRIORITIZED | END_HEADERS, 3, &[&[1, 0, 0, 0, 0, 7][..], OK, &[0]].concat()),
        frame(DATA, 0, 3, b""),
        frame(DATA, PADDED, 3, &[0]),
        frame(DATA, PADDED, 3, &[1, 0]),
        frame(HEADERS, END_STREAM, 3, b""),
        frame(CONTINUATION, 0, 3, b""),
        frame(CONTINUATION, END_HEADERS, 3, &field("grpc-status", "0")),
        frame(PRIORITY, 0, 5, &[0; 5]),
        frame(HEADERS, END_HEADERS, 5, &[0x88, 0x40, 1, b'x', 1, b'y']),
        frame(RST_STREAM, 0, 5, &[0, 0, 0, 8]),
        frame(DATA, 0, 5, b"late"),
        frame(HEADERS, ALONE, 7, &[0x88, 0xbe]),
        frame(HEADERS, ALONE, 9, &[0x88, 0xbe]),
        frame(HEADERS, ALONE, 11, &block("200", &[("content-length", "1")])),
        frame(99, 0xff, 3, b"unknown"),
        frame(GOAWAY, 0, 0, &[0, 0, 0, 13, 0, 0, 0, 0, b'b', b'y', b'e']),
        frame(HEADERS, END_HEADERS, 13, &block("200", &[("Bad", "x")])),
        frame(PUSH_PROMISE, END_HEADERS, 13, &[0, 0, 0, 2, 0x82]),
    ]
    .concat()
}

#[test]
fn every_type_of_frame_cut_in_two_anywhere_gives_the_same() {
    let bytes = samples();
    let config = Config { streams: 20, ..Config::default() };
    let whole = outcome(GET, config, [vec![&bytes[..]]]);
    assert_eq!(whole.fed, Err(Malformed::Push), "the last frame is reached");
    assert!(whole.events.len() >= 12, "{:?}", whole.events);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(outcome(GET, config, [vec![first, second]]), whole, "cut at {at}");
    }
    assert_eq!(outcome(GET, config, [bytes.chunks(1).collect()]), whole);
    for from in (0..bytes.len()).step_by(7) {
        for to in (from..bytes.len()).step_by(5) {
            let pieces = vec![&bytes[..from], &bytes[from..to], &bytes[to..]];
            assert_eq!(outcome(GET, config, [pieces]), whole, "cut at {from} and {to}");
        }
    }
}
