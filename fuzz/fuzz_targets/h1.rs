//! A response over HTTP/1 gives the same result in one piece and in two, for any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_wire::h1::{Ask, Head, Limits, Session, Shared, Sink};

#[derive(Default, PartialEq, Debug)]
struct Seen {
    heads: Vec<u16>,
    body: Vec<u8>,
}

impl Sink for Seen {
    const READS: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.heads.push(head.status);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// How it ended, as text, and what was seen of it; nothing of what a refused answer was cut off from.
fn exchange(ask: Ask, pieces: &[&[u8]]) -> (String, Option<Seen>) {
    let (mut session, mut seen) = (Session::new(), Seen::default());
    let mut shared = Shared::new(Limits::default());
    session.submit(ask);
    for piece in pieces {
        match session.feed(piece, &mut shared, &mut seen) {
            Ok(fed) => {
                assert!(fed.consumed <= piece.len());
                if let Some(answer) = fed.done {
                    return (format!("{answer:?}"), Some(seen));
                }
            }
            Err(malformed) => return (format!("{malformed:?}"), None),
        }
    }
    (format!("{:?}", session.eof()), Some(seen))
}

fuzz_target!(|data: &[u8]| {
    let [how, cut, bytes @ ..] = data else { return };
    let ask = Ask { head_only: how & 1 != 0, http10: how & 2 != 0, close: how & 4 != 0 };
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    assert_eq!(exchange(ask, &[bytes]), exchange(ask, &[first, second]));
});
