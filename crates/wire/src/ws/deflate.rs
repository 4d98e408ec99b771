//! permessage-deflate (RFC 7692): each message is a deflate stream without its last four bytes.

use super::{CONTROL_BYTES_MAX, Kind, Malformed, Shared, write_frame};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// What both sides have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether the client starts each message with an empty window, and so does the server. Without context, all
    /// sockets of a worker share one compressor: a compressor takes about 300 KiB, a decompressor about 45 KiB.
    pub client_no_context: bool,
    pub server_no_context: bool,
}

/// The bytes that a sender removes from the end of a message (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bits of the largest window of deflate, which is that of the compressor.
const WINDOW_BITS_MAX: u8 = 15;
/// Room for more decompressed bytes.
const STEP_BYTES: usize = 4096;

/// The decompression of one socket.
#[derive(Debug)]
pub(super) struct Inflate {
    no_context: bool,
    own: Option<Decompress>,
}

impl Inflate {
    pub fn new(terms: Terms) -> Inflate {
        Inflate { no_context: terms.server_no_context, own: None }
    }

    /// Decompresses a message into `shared.plain`.
    ///
    /// # Errors
    /// Returns an error if the bytes are not deflate, or the message is longer than the limit.
    pub fn inflate(&mut self, packed: &[u8], shared: &mut Shared) -> Result<(), Malformed> {
        let Shared { plain, inflate, message_bytes_max, .. } = shared;
        let own = if self.no_context { inflate } else { &mut self.own };
        let inflate = own.get_or_insert_with(|| Decompress::new(false));
        plain.clear();
        plain.shrink_to(Shared::KEPT_BYTES_MAX);
        let done = [packed, &TAIL]
            .into_iter()
            .try_for_each(|part| decompress(inflate, part, *message_bytes_max, plain));
        if self.no_context || done.is_err() {
            inflate.reset(false);
        }
        done
    }
}

/// Data shared by all sockets of one worker that write.
#[derive(Debug, Default)]
pub struct SharedWriter {
    /// The last compressed message.
    packed: Vec<u8>,
    deflate: Option<Compress>,
}

/// The writing half of one open socket. It holds memory only for compression with context.
#[derive(Debug, Default)]
pub struct Writer {
    terms: Option<Terms>,
    window: Window,
    own: Option<Box<Compress>>,
}

/// The window that the server keeps for the client's messages, if it is smaller than that of the compressor
/// (`client_max_window_bits`). The compressor has one size, so its dictionary is emptied as often as that window is
/// full: no distance is then longer than the window.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// 0: that of the compressor.
    bytes: u16,
    /// Bytes since the dictionary was emptied.
    filled: u16,
}

impl Window {
    /// Returns the next part of a message, and how it is flushed.
    fn take(&mut self, rest: usize) -> (usize, FlushCompress) {
        if self.bytes == 0 {
            return (rest, FlushCompress::Sync);
        }
        let room = usize::from(self.bytes - self.filled);
        if rest < room {
            // Less than the room, which fits in 16 bits.
            self.filled += rest as u16;
            return (rest, FlushCompress::Sync);
        }
        self.filled = 0;
        (room, FlushCompress::Full)
    }
}

impl Writer {
    /// Creates the writing half, with the terms of compression, if it was agreed on.
    pub const fn new(terms: Option<Terms>) -> Writer {
        Writer { terms, window: Window { bytes: 0, filled: 0 }, own: None }
    }

    /// Keeps to a window of the client of this many bits ([`super::client_window`]).
    #[must_use]
    pub const fn within(mut self, window_bits: Option<u8>) -> Writer {
        if let Some(bits) = window_bits
            && bits < WINDOW_BITS_MAX
        {
            self.window.bytes = 1 << bits;
        }
        self
    }

    /// Appends a whole message, or a control frame, which is cut at its longest payload.
    pub fn write(
        &mut self,
        kind: Kind,
        payload: &[u8],
        mask: [u8; 4],
        shared: &mut SharedWriter,
        out: &mut Vec<u8>,
    ) {
        match self.terms {
            _ if kind.is_control() => {
                write_frame(kind, false, &payload[..payload.len().min(CONTROL_BYTES_MAX)], mask, out);
            }
            None => write_frame(kind, false, payload, mask, out),
            Some(terms) => {
                self.deflate(terms, payload, shared);
                write_frame(kind, true, &shared.packed, mask, out);
            }
        }
    }

    /// Compresses a message into `shared.packed`.
    fn deflate(&mut self, terms: Terms, plain: &[u8], shared: &mut SharedWriter) {
        let SharedWriter { packed, deflate } = shared;
        // The fastest level: the load generator should spend its time on sending.
        let make = || Compress::new(Compression::fast(), false);
        let deflate = match terms.client_no_context {
            true => deflate.get_or_insert_with(make),
            false => self.own.get_or_insert_with(|| Box::new(make())),
        };
        packed.clear();
        packed.shrink_to(Shared::KEPT_BYTES_MAX);
        let mut rest = plain;
        loop {
            let (bytes, flush) = self.window.take(rest.len());
            let (part, later) = rest.split_at(bytes);
            compress(deflate, part, flush, packed);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        if packed.ends_with(&TAIL) {
            packed.truncate(packed.len() - TAIL.len());
        }
        if terms.client_no_context {
            deflate.reset();
            self.window.filled = 0;
        }
    }
}

fn compress(deflate: &mut Compress, mut rest: &[u8], flush: FlushCompress, packed: &mut Vec<u8>) {
    loop {
        packed.reserve(STEP_BYTES.max(rest.len() / 2));
        let before = deflate.total_in();
        // A compressor accepts any input: the only error is a stream that has ended, and none ends here.
        let done = deflate.compress_vec(rest, packed, flush);
        rest = &rest[(deflate.total_in() - before) as usize..];
        if done.is_err() || (rest.is_empty() && packed.len() < packed.capacity()) {
            return;
        }
    }
}

fn decompress(
    inflate: &mut Decompress,
    mut rest: &[u8],
    most: usize,
    plain: &mut Vec<u8>,
) -> Result<(), Malformed> {
    loop {
        if plain.len() == plain.capacity() {
            plain.reserve(STEP_BYTES.max(rest.len().min(most)));
        }
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let status = inflate.decompress_vec(rest, plain, FlushDecompress::Sync);
        let status = status.map_err(|_| Malformed::Deflate)?;
        rest = &rest[(inflate.total_in() - read) as usize..];
        let is_stuck = inflate.total_in() == read && inflate.total_out() == written;
        if plain.len() > most {
            return Err(Malformed::TooLong);
        }
        if status == Status::StreamEnd {
            // A sender may end its stream (section 7.2.3.4); the next block begins a new one.
            inflate.reset(false);
        }
        if rest.is_empty() && plain.len() < plain.capacity() {
            return Ok(());
        }
        if is_stuck && status != Status::StreamEnd {
            return Err(Malformed::Deflate);
        }
    }
}
