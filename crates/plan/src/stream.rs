//! A request whose answer is a stream of server-sent events: when it ends, and how its events are accounted for.

use crate::script::Node;

#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// We close it after this long (from the open); `None`: when the server does, or at the stop.
    pub for_ns: Option<u64>,
    /// We close it after so many events.
    pub events: Option<u64>,
    /// The stream failed when there was no event for so long.
    pub idle_ns: Option<u64>,
    /// Events that a healthy stream delivers while open: one every so often, the first one period after the open.
    pub every_ns: Option<u64>,
    /// Where the number of an event is, which rises by one from event to event.
    pub sequence: Option<Place>,
    /// Where the instant of its making is (Unix time); its age on arrival is measured.
    pub made_at: Option<(Place, TimeUnit)>,
    /// Opened again this often after the server has closed it, with `Last-Event-ID`.
    pub reconnects: u32,
    /// What the same user does while the stream is open; the stream is not closed when it is through.
    pub beside: Vec<Node>,
    /// The end that is expected: the stream has failed when it ended otherwise.
    pub closed_by: Option<Closer>,
}

/// Where in an event.
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
