//! WebSocket for a client (RFC 6455), with permessage-deflate (RFC 7692): bytes in, messages out, frames to send.
//!
//! ```
//! use plimsoll_wire::ws::{Incoming, Kind, Session, Shared, SharedWriter, Writer};
//!
//! let mut out = Vec::new();
//! Writer::new(None).write(Kind::Text, b"hello", [1, 2, 3, 4], &mut SharedWriter::default(), &mut out);
//! assert_eq!(out[..2], [0x81, 0x85], "a whole text message, masked");
//! let (mut session, mut shared) = (Session::new(None), Shared::new(1024));
//! let mut seen = Vec::new();
//! session.feed(b"\x81\x02hi", &mut shared, &mut |message| {
//!     if let Incoming::Text(text) = message {
//!         seen.extend_from_slice(text);
//!     }
//! })?;
//! assert_eq!(seen, b"hi");
//! # Ok::<(), plimsoll_wire::ws::Malformed>(())
//! ```
//!
//! A message that arrives in one piece is read in place. Only a partial message is copied, into a buffer that returns
//! to [`Shared`] at its end: ten thousand quiet sockets hold ten thousand small structs and nothing else.

pub mod close;
mod deflate;
mod frame;
mod handshake;
mod malformed;
mod session;

pub use deflate::{SharedWriter, Terms, Writer};
pub use frame::{CONTROL_BYTES_MAX, Kind, apply_mask, write_frame};
pub use handshake::{
    ACCEPT_BYTES, KEY_BYTES, Offer, Rejected, Response, accept_of, check, check_choice,
    check_choice_of_window, check_upgrade, client_window, key_of, terms_of,
};
pub use malformed::Malformed;
pub use session::{Closing, Incoming, Session};

use flate2::Decompress;

/// Data shared by all sockets of one worker that read: the limit, spare buffers, and the decompression of sockets that
/// keep no context between messages.
#[derive(Debug)]
pub struct Shared {
    /// Longest message accepted, decompressed; bytes.
    message_bytes_max: usize,
    spares: Vec<Vec<u8>>,
    /// The last decompressed message.
    plain: Vec<u8>,
    inflate: Option<Decompress>,
}

impl Shared {
    /// Most buffers kept, and the longest kept, in bytes: a burst of split or huge messages must not hold its memory
    /// for the rest of a run.
    const KEPT_MAX: usize = 16;
    const KEPT_BYTES_MAX: usize = 64 * 1024;

    /// Creates shared data; nothing is allocated before it is needed.
    pub const fn new(message_bytes_max: usize) -> Shared {
        Shared { message_bytes_max, spares: Vec::new(), plain: Vec::new(), inflate: None }
    }

    fn lend(&mut self) -> Vec<u8> {
        self.spares.pop().unwrap_or_default()
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        let is_kept = (1..=Shared::KEPT_BYTES_MAX).contains(&buffer.capacity());
        if is_kept && self.spares.len() < Shared::KEPT_MAX {
            buffer.clear();
            self.spares.push(buffer);
        }
    }
}
