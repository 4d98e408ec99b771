//! Shared helpers: a sink that keeps everything, and one way to run an exchange over pieces of bytes.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod random;
pub mod samples;

use plimsoll_wire::h1::{Answer, Ask, Eof, Fed, Head, Limits, Malformed, Session, Shared, Sink};

pub const GET: Ask = Ask { head_only: false, http10: false, close: false };
pub const HEAD: Ask = Ask { head_only: true, ..GET };
pub const GET_10: Ask = Ask { http10: true, ..GET };
pub const GET_CLOSE: Ask = Ask { close: true, ..GET };

/// Everything that a sink received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub heads: Vec<SeenHead>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenHead {
    pub status: u16,
    pub minor: u8,
    pub reason: Vec<u8>,
    pub headers: Vec<(String, Vec<u8>)>,
}

impl Sink for Seen {
    const READS: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.heads.push(SeenHead {
            status: head.status,
            minor: head.minor,
            reason: head.reason.to_vec(),
            headers: head.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect(),
        });
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "a sink never receives an empty slice");
        self.body.extend_from_slice(bytes);
    }
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The response ended by itself.
    Done(Answer),
    /// The bytes ran out, and the peer closed.
    Closed(Eof),
    Refused(Malformed),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub end: End,
    /// Bytes of all pieces that belonged to the response; unknown after a refusal.
    pub consumed: Option<usize>,
    pub seen: Seen,
}

/// Submits `ask`, feeds `pieces` in order, and closes if they do not end the response.
pub fn exchange<'a>(ask: Ask, pieces: impl IntoIterator<Item = &'a [u8]>, shared: &mut Shared) -> Outcome {
    let mut seen = Seen::default();
    let (end, consumed) = exchange_into(ask, pieces, shared, &mut seen);
    if matches!(end, End::Refused(_)) {
        // The part of the body received before a fault depends only on the bytes; so do the heads.
        return Outcome { end, consumed: None, seen };
    }
    Outcome { end, consumed: Some(consumed), seen }
}

pub fn exchange_into<'a, S: Sink>(
    ask: Ask,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    shared: &mut Shared,
    sink: &mut S,
) -> (End, usize) {
    let mut session = Session::new();
    session.submit(ask);
    let mut consumed = 0;
    for piece in pieces {
        match session.feed(piece, shared, sink) {
            Ok(Fed { consumed: taken, done: Some(answer) }) => {
                assert!(taken <= piece.len() && session.is_idle() && !session.started());
                return (End::Done(answer), consumed + taken);
            }
            Ok(Fed { consumed: taken, done: None }) => {
                assert_eq!(taken, piece.len(), "an unfinished response takes all bytes");
                consumed += taken;
                assert_eq!(session.started(), consumed > 0);
            }
            Err(malformed) => {
                assert!(session.is_idle());
                return (End::Refused(malformed), consumed);
            }
        }
    }
    (End::Closed(session.eof()), consumed)
}

/// Runs the exchange in one piece with fresh shared state.
pub fn whole(ask: Ask, bytes: &[u8]) -> Outcome {
    exchange(ask, [bytes], &mut Shared::new(Limits::default()))
}

/// Returns the response that `bytes` must form, with nothing left over.
pub fn answer(ask: Ask, bytes: &[u8]) -> (Answer, Seen) {
    let outcome = whole(ask, bytes);
    let answer = match outcome.end {
        End::Done(answer) | End::Closed(Eof::Complete(answer)) => answer,
        other => panic!("{other:?} from {}", bytes.escape_ascii()),
    };
    assert_eq!(outcome.consumed, Some(bytes.len()));
    (answer, outcome.seen)
}
