//! Requests whose responses are streams of server-sent events: when they end, and how their events are accounted for.

use crate::script::Node;

#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// Time after the opening at which the client closes the stream; `None` leaves this to the server, or to the end of
    /// the run.
    pub for_ns: Option<u64>,
    /// Number of events after which the client closes the stream.
    pub events: Option<u64>,
    /// Time without an event after which the stream has failed.
    pub idle_ns: Option<u64>,
    /// The interval at which a healthy stream sends events; the first comes one interval after the opening.
    pub every_ns: Option<u64>,
    /// The place of the sequence number, which increases by one with every event.
    pub sequence: Option<Place>,
    /// The place of the event's timestamp (Unix time), from which its age on arrival is measured.
    pub made_at: Option<(Place, TimeUnit)>,
    /// Number of times to reopen the stream with `Last-Event-ID` after the server has closed it.
    pub reconnects: u32,
    /// Steps of the same user while the stream is open. The stream stays open after the last of them.
    pub beside: Vec<Node>,
    /// The side that must close the stream; otherwise it has failed.
    pub closed_by: Option<Closer>,
}

/// A place in an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// The `id:` field.
    Id,
    /// JSONPath into the data.
    Json(String),
    /// First group of a regular expression on the data.
    Regex(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closer {
    Server,
    Client,
}
