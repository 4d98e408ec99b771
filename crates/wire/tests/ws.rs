//! WebSocket: frames, messages, compression, and the handshake, as RFC 6455 and RFC 7692 require.

mod compression;
mod differential;
mod frames;
mod handshake;
mod invalid;

use crate::common::random::Random;
use plimsoll_wire::ws::{Closing, Incoming, Malformed, Session, Shared, Terms};

/// A message as a test compares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(u16, String),
}

pub fn text(text: &str) -> Seen {
    Seen::Text(text.to_owned())
}

fn describe(message: Incoming<'_>) -> Seen {
    let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the session has checked it");
    match message {
        Incoming::Text(bytes) => Seen::Text(string(bytes)),
        Incoming::Binary(bytes) => Seen::Binary(bytes.to_vec()),
        Incoming::Ping(bytes) => Seen::Ping(bytes.to_vec()),
        Incoming::Pong(bytes) => Seen::Pong(bytes.to_vec()),
        Incoming::Close(Closing { code, reason }) => Seen::Close(code, string(reason)),
    }
}

/// What a session makes of bytes: the messages, and the refusal if there is one.
pub type Outcome = (Vec<Seen>, Option<Malformed>);

pub const LIMIT: usize = 1 << 20;

/// Feeds `pieces` to a fresh session.
pub fn fed<'a>(terms: Option<Terms>, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let (mut session, mut shared) = (Session::new(terms), Shared::new(LIMIT));
    let mut all = Vec::new();
    for piece in pieces {
        let fed = session.feed(piece, &mut shared, &mut |message| all.push(describe(message)));
        if let Err(malformed) = fed {
            return (all, Some(malformed));
        }
    }
    (all, None)
}

/// Feeds `bytes` whole, byte by byte, and in random pieces; all must have the same outcome.
pub fn outcome(terms: Option<Terms>, bytes: &[u8]) -> Outcome {
    let whole = fed(terms, [bytes]);
    assert_eq!(fed(terms, bytes.chunks(1)), whole, "byte by byte: {}", bytes.escape_ascii());
    let mut random = Random::new(bytes.len() as u64);
    for _ in 0..20 {
        let pieces = random.pieces(bytes);
        assert_eq!(fed(terms, pieces.iter().copied()), whole, "{pieces:?}");
    }
    whole
}

/// Returns a frame of a server: the first byte as given, the payload unmasked.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        len @ 0..=125 => bytes.push(len as u8),
        len @ 126..=0xffff => {
            bytes.push(126);
            bytes.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            bytes.push(127);
            bytes.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns the messages of bytes that must be valid.
pub fn messages(bytes: &[u8]) -> Vec<Seen> {
    let (seen, refused) = outcome(None, bytes);
    assert_eq!(refused, None, "{}", bytes.escape_ascii());
    seen
}
