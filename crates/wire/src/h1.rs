//! HTTP/1.0 and HTTP/1.1 for a client: sends one request, reads one response, and repeats.
//!
//! ```
//! use plimsoll_wire::h1::{Ask, Limits, Session, Shared};
//!
//! let mut shared = Shared::new(Limits::default());
//! let mut session = Session::new();
//! session.submit(Ask::default());
//! let fed = session.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", &mut shared, &mut ())?;
//! let answer = fed.done.expect("the response is complete");
//! assert_eq!((answer.status, answer.body_bytes, answer.reusable), (200, 2, true));
//! # Ok::<(), plimsoll_wire::h1::Malformed>(())
//! ```
//!
//! The rules are those of RFC 9110 and RFC 9112. Deviations of real servers are accepted if they cannot change where a
//! response ends; otherwise, the response is refused with a specific [`Malformed`].

pub(crate) mod body;
mod check;
pub(crate) mod framing;
mod head;
mod heads;
mod malformed;
mod request;
mod session;
mod writer;

pub use check::{check_header, check_method, check_target};
pub use head::Head;
pub use malformed::Malformed;
pub use request::{
    Body, Field, Request, RequestHead, body_at, fields, has_line, own_close, put_chunks, render,
    render_accepting,
};
pub use session::Session;
pub use writer::Writer;

/// Limits above which a response is refused. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest head, from the status line to the empty line. At most `u32::MAX`.
    pub head_bytes_max: usize,
    /// Most header lines in one head. Above 128, a head that differs from the previous ones allocates.
    pub headers_max: usize,
    /// Most interim responses (1xx) before the final one.
    pub informational_max: u8,
    /// Longest chunk-size line with its extensions, without its line end.
    pub chunk_line_bytes_max: usize,
    /// All trailer lines of one response together, including line ends.
    pub trailer_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head_bytes_max: 65_536,
            headers_max: 128,
            informational_max: 16,
            chunk_line_bytes_max: 4096,
            trailer_bytes_max: 16 * 1024,
        }
    }
}

/// Data shared by all sessions of one worker: the limits, the most recent heads, and spare buffers for heads that
/// arrive in pieces. One thread owns it; a session may be fed with any `Shared` at any time.
#[derive(Debug)]
pub struct Shared {
    limits: Limits,
    heads: heads::Heads,
    spares: Vec<Vec<u8>>,
}

impl Shared {
    /// Most spare buffers kept: a burst of split heads must not hold its memory for the rest of a run.
    const SPARES_MAX: usize = 16;

    /// Creates empty templates; nothing is allocated before the first response.
    pub fn new(limits: Limits) -> Shared {
        // Offsets into a head have 32 bits.
        let head_bytes_max = limits.head_bytes_max.min(u32::MAX as usize);
        Shared {
            limits: Limits { head_bytes_max, ..limits },
            heads: heads::Heads::default(),
            spares: Vec::new(),
        }
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() > 0 && self.spares.len() < Shared::SPARES_MAX {
            buffer.clear();
            self.spares.push(buffer);
        }
    }
}

/// The properties of a request that change how its response is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// The method is HEAD: the response has no body, even if its head declares one.
    pub head_only: bool,
    /// The request line says HTTP/1.0: the connection stays open only if the response says so.
    pub http10: bool,
    /// The request contains `Connection: close`.
    pub close: bool,
}

/// The consumer of a response; `()` reads nothing and costs nothing.
pub trait Sink {
    /// Whether anything is read. If false, neither method is called.
    const READS: bool;
    /// Receives the final head (or that of a 101), once per response and before any body. Interim responses are not
    /// passed on.
    fn head(&mut self, _head: &Head<'_>) {}
    /// Receives the next payload bytes, without chunk framing. Called any number of times, never with an empty slice.
    fn body(&mut self, _bytes: &[u8]) {}
}

impl Sink for () {
    const READS: bool = false;
}

/// One finished response. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 101, or 200 and above; three digits.
    pub status: u16,
    /// The final head with its empty line, without interim responses.
    pub head_bytes: u32,
    /// Payload without the chunk framing; content codings (gzip) are not decoded.
    pub body_bytes: u64,
    /// Everything received for this response: interim responses, head, framing, payload, trailers.
    pub wire_bytes: u64,
    /// Whether another request may be sent on this connection.
    pub reusable: bool,
}

/// The result of one call of [`Session::feed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Bytes that belong to the current response; the rest stays with the caller.
    pub consumed: usize,
    /// The response, if it ended with the last consumed byte.
    pub done: Option<Answer>,
}

/// The part of a response that contains the next byte, if that part should be complete soon after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A head, interim or final, that began after this many bytes of the response.
    Head(u64),
    /// A line that opens a chunk, or the trailers, which began after this many bytes of the response.
    ChunkLine(u64),
    /// A body, which may take as long as the response; or no response is expected, or nothing of it has arrived.
    Body,
}

/// The meaning of a close by the peer at this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eof {
    /// No response was expected: an idle connection was closed.
    Idle,
    /// The close was the end of a body without a length. Never reusable.
    Complete(Answer),
    /// A request was sent, and not one byte was received.
    BeforeHead,
    /// Some bytes were received (perhaps complete interim responses), but no complete final head.
    InHead,
    /// The body is shorter than its head or its chunks declared.
    InBody,
}
