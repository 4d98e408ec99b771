//! HTTP/2 for a client (RFC 9113): opens streams, reads frames in any pieces, and reports one event at a time.
//!
//! ```
//! use plimsoll_wire::h2::{Ask, Config, Event, Request, Session, Shared, Writer};
//!
//! let (mut shared, mut out) = (Shared::default(), Vec::new());
//! let mut session = Session::new(Config::default());
//! session.start(&mut out);
//! let mut block = Vec::new();
//! let mut writer = Writer::new(&mut block, "http", "localhost");
//! writer.line::<()>("GET", |out| Ok(out.extend_from_slice(b"/"))).expect("the target cannot fail");
//! writer.end();
//! let ask = Ask { tag: 7, ..Ask::default() };
//! let stream = session.open(ask, Request::Block(&block), &mut out).expect("the first stream has room");
//! // The server's SETTINGS, and a response with status 204 that ends the stream.
//! let mut bytes = &b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x05\0\0\0\x01\x89"[..];
//! let mut status = 0;
//! while !bytes.is_empty() {
//!     let fed = session.feed(bytes, &mut shared, &mut (), &mut out)?;
//!     bytes = &bytes[fed.consumed..];
//!     if let Some(Event::Done { tag: 7, answer, .. }) = fed.event {
//!         status = answer.status;
//!     }
//! }
//! session.settle(&mut out);
//! assert_eq!((stream, status), (1, 204));
//! # Ok::<(), plimsoll_wire::h2::Malformed>(())
//! ```
//!
//! A stream fails alone if only its own response is invalid ([`Event::Refused`]); everything else that the server must
//! not send ends the connection with a [`Malformed`]. Deviations that cannot change where a response ends are accepted.

mod frame;
mod head;
mod malformed;
mod memo;
mod read;
mod request;
mod response;
mod session;
mod settings;
mod streams;
mod write;
mod writer;

pub use crate::h1::Answer;
pub use head::Head;
pub use malformed::{Malformed, code};
pub use request::{Prepared, Request, connect_from_http1, from_http1};
pub use session::Session;
pub use writer::Writer;

use crate::hpack;

/// Limits above which a response or a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest head as text in the form of HTTP/1, bytes. A header block may have as many bytes in its coded form.
    pub head_bytes_max: usize,
    /// Most fields in one head.
    pub fields_max: usize,
    /// Most interim responses (1xx) before the final one.
    pub informational_max: u8,
    /// All trailers of one response together, as text, bytes.
    pub trailer_bytes_max: usize,
    /// Most frames that bring no response further (PING, SETTINGS, WINDOW_UPDATE, RST_STREAM, empty DATA, empty
    /// CONTINUATION, unknown types, and frames for closed streams), in excess of those that do. Each
    /// [`Session::settle`] takes [`Limits::FREE_PER_SETTLE`] of them back, so that only a flood reaches the limit.
    pub overhead_frames_max: u32,
}

impl Limits {
    /// Frames without progress that a wake-up may bring without coming closer to the limit.
    pub const FREE_PER_SETTLE: u32 = 100;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head_bytes_max: 65_536,
            fields_max: 128,
            informational_max: 16,
            trailer_bytes_max: 16 * 1024,
            overhead_frames_max: 10_000,
        }
    }
}

/// The properties of a connection that its owner chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Most streams at a time, 1 to 2^20; the server may allow fewer.
    pub streams: u32,
    /// Receive window of each stream, bytes; 1 to 2^31 - 1.
    pub stream_window: u32,
    /// Receive window of the connection, bytes; 65,535 to 2^31 - 1.
    pub connection_window: u32,
    /// Largest table for the server's header compression, bytes; at most 65,536.
    pub header_table_bytes: u32,
    /// Largest frame that the server may send, bytes of its payload; 16,384 to 2^24 - 1.
    pub frame_bytes_max: u32,
    /// Number of the first stream; odd. A connection that was upgraded from HTTP/1 begins with 3.
    pub first_stream: u32,
}

impl Default for Config {
    /// Windows of 2^30 - 1, so that flow control never delays a response.
    fn default() -> Config {
        Config {
            streams: 100,
            stream_window: (1 << 30) - 1,
            connection_window: (1 << 30) - 1,
            header_table_bytes: 4096,
            frame_bytes_max: 16_384,
            first_stream: 1,
        }
    }
}

impl Config {
    /// Windows of 6 MiB and 15 MiB and a table of 64 KiB, as Chromium has them.
    pub fn browser() -> Config {
        Config {
            stream_window: 6 << 20,
            connection_window: 15 << 20,
            header_table_bytes: 65_536,
            ..Config::default()
        }
    }
}

/// Data shared by all sessions of one worker: the limits, and buffers for heads. One thread owns it; a session may be
/// fed with any `Shared` at any time.
#[derive(Debug, Default)]
pub struct Shared {
    limits: Limits,
    scratch: hpack::Scratch,
    text: Vec<u8>,
    spares: Vec<Vec<u8>>,
    memo: memo::Memo,
}

impl Shared {
    /// Most spare buffers kept: a burst of split heads must not hold its memory for the rest of a run.
    const SPARES_MAX: usize = 16;

    /// Creates empty buffers; nothing is allocated before the first response.
    pub fn new(limits: Limits) -> Shared {
        // Sizes of heads have 32 bits.
        let head_bytes_max = limits.head_bytes_max.min(1 << 28);
        Shared { limits: Limits { head_bytes_max, ..limits }, ..Shared::default() }
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
    /// The caller's number, returned with each event of the stream.
    pub tag: u32,
    /// The method is HEAD: the response has no body, even if its head declares one.
    pub head_only: bool,
    /// A body follows with [`Session::write`]; otherwise the head ends the request.
    pub has_body: bool,
    /// The sink receives the final head, and the trailers.
    pub reads_head: bool,
    /// The sink receives the body, and its parts are events. [`Session::read_body`] changes it later.
    pub reads_body: bool,
    /// It is an extended CONNECT (RFC 8441). Once the server accepts it (2xx), the stream carries bytes in both
    /// directions, and each side ends its own. A refusal ends the client's direction.
    pub is_tunnel: bool,
}

/// The consumer of the responses of a connection; `()` reads nothing. It is called only for streams that asked for it.
pub trait Sink {
    /// Receives a final head, once per response and before any body.
    fn head(&mut self, _tag: u32, _head: &Head<'_>) {}
    /// Receives the next bytes of a body, without padding. Called any number of times, never with an empty slice.
    fn body(&mut self, _tag: u32, _bytes: &[u8]) {}
    /// Receives the fields after a body; the response is done with them.
    fn trailers(&mut self, _tag: u32, _trailers: &Head<'_>) {}
}

impl Sink for () {}

/// The result of one call of [`Session::feed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Bytes taken. Without an event, these are all.
    pub consumed: usize,
    /// The event that the last consumed byte completed.
    pub event: Option<Event>,
}

/// A change on a connection that its owner acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The server's settings apply: [`Session::room`] may have changed, and blocked bodies may continue.
    Settings,
    /// An interim response (1xx) arrived.
    Interim { stream: u32, tag: u32, status: u16 },
    /// The final head arrived, and the response continues.
    Head { stream: u32, tag: u32, status: u16 },
    /// A part of a body that the stream reads was passed to the sink.
    Data { stream: u32, tag: u32 },
    /// The response is complete, perhaps with its head ([`Event::Head`] is not reported then) or with trailers. If the
    /// body of the request was not complete, it need not be sent any more.
    Done { stream: u32, tag: u32, answer: Answer },
    /// The server has ended its direction of a tunnel, perhaps with its last bytes. The stream stays open until
    /// [`Session::write`] ends that of the client.
    HalfClosed { stream: u32, tag: u32, answer: Answer },
    /// The server ended the stream. With [`code::REFUSED_STREAM`] it has not processed the request.
    Reset { stream: u32, tag: u32, code: u32, answer: Answer },
    /// The response is invalid; the stream was reset, and the connection continues.
    Refused { stream: u32, tag: u32, why: Malformed, answer: Answer },
    /// The server accepts no more streams: [`Session::room`] stays 0. It has not processed the streams above
    /// `last_stream`; [`Session::take_unprocessed`] returns them.
    GoAway { last_stream: u32, code: u32 },
    /// A window was opened: [`Session::next_writable`] returns the streams that may continue.
    Writable,
}

/// The meaning of a close by the peer at this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eof {
    /// The server closed before its SETTINGS: it does not speak HTTP/2, or did not accept the connection.
    BeforeSettings,
    /// No stream was open: an idle connection was closed.
    Idle,
    /// No stream was open, and GOAWAY had announced the close.
    Drained,
    /// Streams were open; [`Session::take_open`] returns them.
    Streams,
    /// Streams were open although GOAWAY had announced the close.
    Cut,
}

/// A stream that ended without a complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub stream: u32,
    pub tag: u32,
    /// Whether anything was received for it.
    pub started: bool,
    /// The part of the response received so far.
    pub answer: Answer,
}
