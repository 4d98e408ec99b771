//! A server's frames over HTTP/2 come out the same in one piece and in two, whether equal heads are recognized or
//! each one is decoded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_wire::h2::{Ask, Config, Event, Head, Request, Session, Shared, Sink};

#[derive(Default, PartialEq, Debug)]
struct Seen {
    heads: Vec<Vec<u8>>,
    bodies: Vec<(u32, u8)>,
}

impl Sink for Seen {
    fn head(&mut self, tag: u32, head: &Head<'_>) {
        assert_eq!(head.iter().count(), head.raw().windows(2).filter(|end| end == b"\r\n").count() - 2);
        self.heads.push([&tag.to_be_bytes(), head.raw()].concat());
    }

    fn body(&mut self, tag: u32, bytes: &[u8]) {
        self.bodies.extend(bytes.iter().map(|byte| (tag, *byte)));
    }

    fn trailers(&mut self, tag: u32, trailers: &Head<'_>) {
        self.heads.push([&tag.to_be_bytes(), trailers.raw()].concat());
    }
}

/// The events, as text, without those that depend on the pieces; the bytes to send; and what was seen.
fn exchange(config: Config, reads_head: bool, pieces: &[&[u8]]) -> (String, Vec<u8>, Seen) {
    let (mut session, mut shared) = (Session::new(config), Shared::default());
    let (mut seen, mut out, mut events) = (Seen::default(), Vec::new(), String::new());
    session.start(&mut out);
    // The server's settings are known to be valid, so that every input reaches the frames after them.
    let settled = session.feed(b"\0\0\0\x04\0\0\0\0\0", &mut shared, &mut seen, &mut out);
    assert!(settled.is_ok());
    for tag in 0..8 {
        let ask = Ask { tag, head_only: tag == 7, has_body: tag == 6, reads_head, reads_body: true };
        // `:method: GET`, `:scheme: http`, `:path: /`.
        session.open(ask, Request::Block(b"\x82\x86\x84"), &mut out);
    }
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            match session.feed(rest, &mut shared, &mut seen, &mut out) {
                Ok(fed) => {
                    assert!(fed.consumed <= rest.len() && (fed.event.is_some() || fed.consumed == rest.len()));
                    rest = &rest[fed.consumed..];
                    if let Some(event) = fed.event.filter(|event| !matches!(event, Event::Data { .. })) {
                        events.push_str(&format!("{event:?}\n"));
                    }
                }
                Err(malformed) => return (format!("{events}{malformed:?}"), out, seen),
            }
        }
    }
    session.settle(&mut out);
    (events, out, seen)
}

fuzz_target!(|data: &[u8]| {
    let [how, cut, bytes @ ..] = data else { return };
    let config = Config {
        streams: 8,
        stream_window: if how & 1 == 0 { 1 << 30 } else { 100 },
        header_table_bytes: if how & 2 == 0 { 4096 } else { 64 },
        ..Config::default()
    };
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let whole = exchange(config, true, &[bytes]);
    assert_eq!(exchange(config, true, &[first, second]), whole);
    let unread = exchange(config, false, &[bytes]);
    assert_eq!((unread.0, unread.1, unread.2.bodies), (whole.0, whole.1, whole.2.bodies));
});
