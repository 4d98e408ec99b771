//! HPACK, the header compression of HTTP/2 (RFC 7541): a decoder for responses, and an encoder for requests.
//!
//! ```
//! use plimsoll_wire::hpack::{Decoder, Scratch};
//!
//! let mut decoder = Decoder::new(4096);
//! let mut seen = Vec::new();
//! decoder.decode(b"\x88", &mut Scratch::default(), |name, value| {
//!     seen.push((name.to_vec(), value.to_vec()));
//!     true
//! })?;
//! assert_eq!(seen, [(b":status".to_vec(), b"200".to_vec())]);
//! # Ok::<(), plimsoll_wire::hpack::Error>(())
//! ```
//!
//! The decoder borrows its fields and allocates nothing in the steady state. The encoder inserts only fields that
//! requests repeat, each once per connection and none beyond the table's size, so nothing is ever evicted; all other
//! fields are literals that fit any connection.

mod decode;
mod encode;
mod huffman;
mod integer;
mod table;

pub use decode::{Decoder, Error, Scratch};
pub use encode::{Encoder, FieldId, Fields, literal};

pub(crate) use decode::Inserting;
pub(crate) use encode::{literal_name, set_length};
