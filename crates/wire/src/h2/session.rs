//! The client's state of one connection: its streams, its windows, and where in a frame the next byte is.

use super::frame::{Frame, HEAD_BYTES};
use super::head::Facts;
use super::streams::{STREAMS_MAX, Streams, WINDOW_MAX, is};
use super::{Answer, Config, Eof, Limits, Malformed, Unfinished};
use crate::hpack::{Decoder, Encoder};

/// The state of one connection: about 240 bytes, and 48 for each slot of a stream.
///
/// First [`start`](Session::start), then any mixture of [`open`](Session::open), [`write`](Session::write),
/// [`feed`](Session::feed), and [`cancel`](Session::cancel), which append to the bytes to send; and
/// [`settle`](Session::settle) before they are sent. After a [`Malformed`], the connection is lost:
/// [`take_open`](Session::take_open) returns its streams, and [`close`](Session::close) tells the server why.
#[derive(Debug)]
pub struct Session {
    pub(super) streams: Streams,
    pub(super) decoder: Decoder,
    pub(super) encoder: Encoder,
    pub(super) memo: Option<Box<Memo>>,
    /// A frame, or a header block, that arrived in pieces.
    pub(super) gathered: Vec<u8>,
    pub(super) reading: Reading,
    pub(super) flow: Flow,
    pub(super) config: Config,
    pub(super) server: Server,
    /// Frames that may still come without progress.
    pub(super) overhead: u32,
    pub(super) failed: Option<Malformed>,
}

/// The last header block that referred to the table and left it as it was: an equal one means the same, as long as
/// nothing changes the table. This is exact. Blocks that do not depend on the table are remembered for all connections
/// of a worker ([`super::memo`]).
#[derive(Debug)]
pub(super) struct Memo {
    pub block: Vec<u8>,
    pub facts: Facts,
    pub changes: u64,
}

/// The position in the incoming frames.
#[derive(Debug)]
pub(super) struct Reading {
    pub phase: Phase,
    pub frame: Frame,
    /// Bytes of the head of a frame, and how many of them arrived.
    pub head: [u8; HEAD_BYTES],
    pub have: u8,
    /// Remaining bytes of this phase.
    pub left: u32,
    /// Bytes of padding after a body.
    pub padding: u8,
    /// The stream of an open header block, or 0; whether the block ends the stream, and its bytes so far with the
    /// frames' heads.
    pub block_stream: u32,
    pub block_ends: bool,
    pub block_bytes: u32,
    /// Of the last event: the code of a reset or GOAWAY or the status of an interim head, and why a stream was refused.
    pub code: u32,
    pub why: Malformed,
}

/// The meaning of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    FrameHead,
    /// The length of the padding of a DATA frame.
    PaddingLength,
    /// The body of a DATA frame, and its padding.
    Data,
    /// A frame that is read as a whole.
    Whole,
    /// A frame without meaning.
    Skip,
}

/// The windows of the connection, and the initial ones of its streams.
#[derive(Debug)]
pub(super) struct Flow {
    /// Bytes that the server allows the client to send.
    pub send_window: i64,
    /// Bytes received and not returned to the server's window.
    pub owed: u32,
    /// The server's SETTINGS_INITIAL_WINDOW_SIZE.
    pub initial: i32,
}

/// What is known of the server.
#[derive(Debug)]
pub(super) struct Server {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    pub streams_max: u32,
    /// The last stream that it processes.
    pub last_stream: u32,
    pub has_settings: bool,
    /// It has acknowledged the client's SETTINGS.
    pub has_acknowledged: bool,
    pub allows_connect: bool,
    pub is_leaving: bool,
}

impl Reading {
    /// Returns the bytes of an open header block, of which `gathered` are held.
    #[inline]
    pub fn block_len(&self, gathered: usize) -> usize {
        if self.block_stream == 0 { 0 } else { gathered }
    }
}

impl Session {
    /// Creates the session of a new connection. Values of `config` out of range are brought into it.
    pub fn new(config: Config) -> Session {
        let window_max = WINDOW_MAX as u32;
        let config = Config {
            streams: config.streams.clamp(1, STREAMS_MAX),
            stream_window: config.stream_window.clamp(1, window_max),
            // The window of a connection begins with 65,535 and cannot be reduced (RFC 9113 section 6.9.2).
            connection_window: config.connection_window.clamp(65_535, window_max),
            header_table_bytes: config.header_table_bytes.min(65_536),
            frame_bytes_max: config.frame_bytes_max.clamp(16_384, (1 << 24) - 1),
            first_stream: config.first_stream,
        };
        Session {
            streams: Streams::new(config.streams, config.first_stream),
            decoder: Decoder::new(config.header_table_bytes),
            encoder: Encoder::new(),
            memo: None,
            gathered: Vec::new(),
            reading: Reading {
                phase: Phase::FrameHead,
                frame: Frame::default(),
                head: [0; HEAD_BYTES],
                have: 0,
                left: 0,
                padding: 0,
                block_stream: 0,
                block_ends: false,
                block_bytes: 0,
                code: 0,
                why: Malformed::NoHead,
            },
            flow: Flow { send_window: 65_535, owed: 0, initial: 65_535 },
            config,
            server: Server {
                streams_max: u32::MAX,
                last_stream: u32::MAX,
                has_settings: false,
                has_acknowledged: false,
                allows_connect: false,
                is_leaving: false,
            },
            overhead: 0,
            failed: None,
        }
    }

    /// Returns how many streams may be opened now. Before the server's SETTINGS, one stream at a time is open: servers
    /// refuse those above a limit that the client does not know yet.
    #[inline]
    pub fn room(&self) -> u32 {
        if self.server.is_leaving || self.failed.is_some() || self.streams.is_exhausted() {
            return 0;
        }
        let most =
            if self.server.has_settings { self.config.streams.min(self.server.streams_max) } else { 1 };
        most.saturating_sub(self.streams.open())
    }

    /// Returns how many streams the owner's own limit permits, regardless of the server's limit.
    pub fn own_room(&self) -> u32 {
        self.config.streams.saturating_sub(self.streams.open())
    }

    /// Returns the number of open streams.
    #[inline]
    pub fn open_streams(&self) -> u32 {
        self.streams.open()
    }

    /// Returns the server's SETTINGS_MAX_CONCURRENT_STREAMS; `None` if it has not set a limit.
    pub fn streams_max(&self) -> Option<u32> {
        (self.server.streams_max < u32::MAX).then_some(self.server.streams_max)
    }

    /// Returns whether the server's SETTINGS arrived.
    pub fn is_settled(&self) -> bool {
        self.server.has_settings
    }

    /// Returns whether `:protocol` may be used in a CONNECT request (RFC 8441).
    pub fn allows_connect(&self) -> bool {
        self.server.allows_connect
    }

    /// Returns whether no more streams can be opened: after GOAWAY, after a [`Malformed`], or because all numbers are
    /// used up. The connection should be closed when its last stream ends.
    pub fn is_draining(&self) -> bool {
        self.server.is_leaving || self.failed.is_some() || self.streams.is_exhausted()
    }

    /// Returns the part of a response received so far; `None` if the stream is not open.
    pub fn progress(&self, stream: u32) -> Option<Answer> {
        self.streams.peek(stream).map(|stream| stream.answer(false))
    }

    /// Changes whether the sink receives the rest of the stream's body.
    pub fn read_body(&mut self, stream: u32, reads: bool) {
        if let Some(stream) = self.streams.get(stream) {
            stream.flags &= !is::READS_BODY;
            stream.flags |= if reads { is::READS_BODY } else { 0 };
        }
    }

    /// Closes a stream that the server has not processed according to its GOAWAY, and returns it; call it until it
    /// returns `None`. The request may be retried on another connection.
    pub fn take_unprocessed(&mut self) -> Option<Unfinished> {
        let last = self.server.last_stream;
        if !self.server.is_leaving {
            return None;
        }
        self.take(|id| id > last)
    }

    /// Closes any open stream and returns it, after the connection was lost; call it until it returns `None`.
    pub fn take_open(&mut self) -> Option<Unfinished> {
        self.take(|_| true)
    }

    fn take(&mut self, wanted: impl Fn(u32) -> bool) -> Option<Unfinished> {
        let stream = self.streams.find(|stream| wanted(stream.id))?;
        self.streams.free(stream.id);
        Some(stream.unfinished())
    }

    /// Returns the meaning of a close by the peer now.
    pub fn eof(&self) -> Eof {
        match (self.streams.open() > 0, self.server.is_leaving) {
            _ if !self.server.has_settings => Eof::BeforeSettings,
            (false, false) => Eof::Idle,
            (false, true) => Eof::Drained,
            (true, false) => Eof::Streams,
            (true, true) => Eof::Cut,
        }
    }

    /// Counts a frame without progress.
    #[inline]
    pub(super) fn charge(&mut self, limits: &Limits) -> Result<(), Malformed> {
        self.overhead += 1;
        if self.overhead > limits.overhead_frames_max { Err(Malformed::Flood) } else { Ok(()) }
    }

    /// Counts progress of a stream.
    #[inline]
    pub(super) fn credit(&mut self, frames: u32) {
        self.overhead = self.overhead.saturating_sub(frames);
    }
}
