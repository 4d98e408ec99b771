//! HTTP/1.0 and HTTP/1.1 as a client sees them: one request out, one answer in, again and again.
//!
//! ```
//! use plimsoll_wire::h1::{Ask, Limits, Session, Shared};
//!
//! let mut shared = Shared::new(Limits::default());
//! let mut session = Session::new();
//! session.submit(Ask::default());
//! let fed = session.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", &mut shared, &mut ())?;
//! let answer = fed.done.expect("the answer is whole");
//! assert_eq!((answer.status, answer.body_bytes, answer.reusable), (200, 2, true));
//! # Ok::<(), plimsoll_wire::h1::Malformed>(())
//! ```
//!
//! The rules are those of RFC 9110 and RFC 9112; where servers in the field are laxer than the rules and the
//! laxness cannot change where an answer ends, it is accepted. Where it could, the answer is refused with a
//! [`Malformed`] of its own.

mod body;
mod check;
mod framing;
mod head;
mod heads;
mod malformed;
mod request;
mod session;
mod writer;

pub use check::{check_header, check_method, check_target};
pub use head::Head;
pub use malformed::Malformed;
pub use request::{Body, Field, Request, RequestHead, fields, own_close, render};
pub use session::Session;
pub use writer::Writer;

/// How much of an answer is read before it is refused. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest head, from the status line to the empty line. At most `u32::MAX`.
    pub head_bytes_max: usize,
    /// Most header lines in one head. Above 128, a head that differs from the ones before it allocates.
    pub headers_max: usize,
    /// Most interim answers (1xx) before the final one.
    pub informational_max: u8,
    /// Longest chunk-size line with its extensions, without its line end.
    pub chunk_line_bytes_max: usize,
    /// All trailer lines of one answer together, line ends included.
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

/// What all sessions of one worker share: the limits, the heads seen last, and spare buffers for heads that
/// arrive in pieces. Owned by one thread; a session may be fed with any `Shared` at any time.
#[derive(Debug)]
pub struct Shared {
    limits: Limits,
    heads: heads::Heads,
    spares: Vec<Vec<u8>>,
}

impl Shared {
    /// Spare buffers kept at most: a burst of split heads must not hold its memory for the rest of a run.
    const SPARES_MAX: usize = 16;

    /// Empty templates; nothing is allocated before the first answer.
    pub fn new(limits: Limits) -> Shared {
        // Offsets into a head are kept in 32 bits.
        let head_bytes_max = limits.head_bytes_max.min(u32::MAX as usize);
        Shared {
            limits: Limits { head_bytes_max, ..limits },
            heads: heads::Heads::default(),
            spares: Vec::new(),
        }
    }

    /// The limits in force.
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

/// What the owner is about to send, as far as it changes how the answer is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// The method is HEAD: the answer has no body whatever its head says.
    pub head_only: bool,
    /// The request line says HTTP/1.0: the connection stays open only if the answer says so.
    pub http10: bool,
    /// The request says `Connection: close`.
    pub close: bool,
}

/// Where an answer goes when somebody looks at it; `()` looks at nothing and costs nothing.
pub trait Sink {
    /// Whether anything is looked at. When false neither method is called.
    const READS: bool;
    /// The final head (or that of a 101), once per answer and before any body. Interim answers are not shown.
    fn head(&mut self, _head: &Head<'_>) {}
    /// The next payload bytes, without chunk framing. Called any number of times, never with nothing.
    fn body(&mut self, _bytes: &[u8]) {}
}

impl Sink for () {
    const READS: bool = false;
}

/// One finished answer. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 101, or 200 and above; three digits.
    pub status: u16,
    /// The final head with its empty line; interim answers are not in it.
    pub head_bytes: u32,
    /// Payload after the chunk framing is taken away; content codings (gzip) are left as they are.
    pub body_bytes: u64,
    /// Everything received for this answer: interim answers, head, framing, payload, trailers.
    pub wire_bytes: u64,
    /// Whether another request may be sent on this connection.
    pub reusable: bool,
}

/// What one call of [`Session::feed`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Bytes that belong to the current answer; the rest stays with the caller.
    pub consumed: usize,
    /// The answer, if it ended with the last consumed byte.
    pub done: Option<Answer>,
}

/// What the next byte of an answer belongs to, as far as it should be complete soon after it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A head, interim or final, that began behind so many bytes of the answer.
    Head(u64),
    /// A line that opens a chunk, or the trailers, that began behind so many bytes of the answer.
    ChunkLine(u64),
    /// A body, which may take as long as the answer; or nothing is awaited, or nothing of it has come.
    Body,
}

/// What it means that the other side closed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eof {
    /// Nothing was awaited: an idle connection was closed.
    Idle,
    /// The close was the end of a body without a length. Never reusable.
    Complete(Answer),
    /// A request is out and not one byte came back.
    BeforeHead,
    /// Some bytes came (perhaps whole interim answers), but no whole final head.
    InHead,
    /// The body is shorter than the head or the chunks promised.
    InBody,
}
