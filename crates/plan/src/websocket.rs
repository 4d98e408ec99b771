//! WebSockets: how they open and close, and how their messages are accounted for.

use crate::answer::{Check, Extract};
use crate::stream::{Place, Stream};

/// A WebSocket, which begins with the response to its request.
#[derive(Debug, Clone, Default)]
pub struct WebSocket {
    /// When it ends, and how received messages are accounted for: its events are the messages of the server. It does
    /// not reconnect.
    pub stream: Stream,
    /// Whether the step that opens it lasts until it closes. Otherwise, the following steps use it.
    pub is_awaited: bool,
    /// Names that the client offers, in order of preference.
    pub subprotocols: Vec<String>,
    pub compression: Option<Compression>,
    /// How a received message is matched with the one that it responds to; `None` if only [`Expectation`]s are.
    pub correlation: Option<Correlation>,
    pub expectations: Vec<Expectation>,
}

/// permessage-deflate (RFC 7692).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// Whether both sides may refer to earlier messages, which takes about 350 KiB for each socket.
    pub context_takeover: bool,
}

/// How a received message is matched with the one that it responds to.
#[derive(Debug, Clone, PartialEq)]
pub enum Correlation {
    /// The next message responds to the oldest one without a response.
    Next,
    /// Both contain the same ID at this place.
    Id(Place),
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    #[default]
    Text,
    Binary,
}

/// A message that a step waits for. It has a check, which fails if none is received in time.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// The name of its check; unique among the checks of a request.
    pub name: String,
    /// Messages of the other kind do not match.
    pub content: Option<Content>,
    /// What the message must be, with the message as the body.
    pub checks: Vec<Check>,
    /// Values of the message that matched. A message that lacks one does not match.
    pub extracts: Vec<Extract>,
    /// The longest wait, ns; `None` means the timeout of the plan.
    pub within_ns: Option<u64>,
    /// Whether the iteration continues without the message.
    pub go_on_after_failure: bool,
}

/// The code of a close frame that a step sends.
pub const NORMAL_CLOSE: u16 = 1000;

/// Longest payload of a ping, bytes (RFC 6455 section 5.5).
pub const PING_BYTES_MAX: usize = 125;

/// Longest reason of a close frame, bytes (RFC 6455 section 5.5).
pub const REASON_BYTES_MAX: usize = 123;
