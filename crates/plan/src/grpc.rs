//! Calls of gRPC methods: the message to send, the types of the response, and statuses.
//!
//! A front end compiles schemas and resolves all names, so that a script needs only numbers: a message is a tree of
//! fields with numbers, and a response is read by a table of types.

mod method;
mod protocol;
mod scalar;
mod status;
mod types;

pub use method::{Method, Schemas};
pub use protocol::Protocol;
pub use scalar::{Coded, Scalar, Unfit};
pub use status::{Codes, Status};
pub use types::{EnumType, Field, Kind, Label, Message, MessageForm, Types};

use crate::value::Text;
use std::sync::Arc;

/// A call, as a part of a request. A call that sends a stream of messages is open as a WebSocket is; see
/// [`crate::script::Ask::websocket`].
#[derive(Debug, Clone)]
pub struct Call {
    pub protocol: Protocol,
    /// The messages that are sent with the request, in order; exactly one, unless the client streams.
    pub messages: Vec<Vec<Piece>>,
    /// How many times all of them are sent.
    pub rounds: u32,
    /// Messages that steps send while the call is open, by number.
    pub later: Vec<Vec<Piece>>,
    /// Whether messages are compressed (gzip).
    pub is_compressed: bool,
    /// All types of the schema.
    pub types: Arc<Types>,
    /// The type of the messages to send, an index into the messages of `types`.
    pub request: usize,
    /// Whether the server responds with one message, not with a stream of them.
    pub has_one_response: bool,
    /// The type of the response, an index into the messages of `types`.
    pub response: usize,
    /// Statuses that are not failures.
    pub expect: Codes,
}

/// A field of a message to send.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Field {
        number: u32,
        /// Its path in the message, for diagnostics and failure examples.
        path: String,
        scalar: Scalar,
        text: Text,
    },
    Message {
        number: u32,
        /// Whether it is written between two keys instead of with its length.
        is_group: bool,
        pieces: Vec<Piece>,
    },
}

/// Returns the value of `grpc-timeout`: at most eight digits and a unit. What does not fit exactly is rounded down.
pub fn timeout(ns: u64) -> String {
    const UNITS: [(u64, char); 6] = [
        (3_600_000_000_000, 'H'),
        (60_000_000_000, 'M'),
        (1_000_000_000, 'S'),
        (1_000_000, 'm'),
        (1_000, 'u'),
        (1, 'n'),
    ];
    let fits = |unit: u64| ns / unit < 100_000_000;
    let exact = UNITS.iter().find(|(unit, _)| ns.is_multiple_of(*unit) && fits(*unit));
    let (unit, sign) = exact.or(UNITS.iter().rev().find(|(unit, _)| fits(*unit))).unwrap_or(&UNITS[0]);
    format!("{}{sign}", ns / unit)
}

#[cfg(test)]
mod tests {
    use super::timeout;

    #[test]
    fn a_timeout_has_at_most_eight_digits() {
        let cases = [
            (2_000_000_000, "2S"),
            (250_000_000, "250m"),
            (1_500, "1500n"),
            (90_000_000_000, "90S"),
            (7_200_000_000_000, "2H"),
            (100_000_000_001, "100000m"),
            (u64::MAX, "5124095H"),
        ];
        for (ns, text) in cases {
            assert_eq!(timeout(ns), text);
        }
    }
}
