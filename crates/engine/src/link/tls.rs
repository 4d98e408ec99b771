//! The client's side of TLS as a state machine without a socket, a clock or a thread.
//!
//! [`Wanted`] says what the user asked for; [`Setup`] is made of it once, before the load, and says every mistake in a
//! sentence; a [`Channel`] is one connection. rustls does the protocol through its unbuffered interface: its ordinary
//! one keeps buffers of its own per connection, and an idle connection would cost several times as much.

mod fault;
mod pem;
mod session;
mod setup;
mod tickets;
mod verify;

pub use fault::TlsFault;
pub use plimsoll_plan::link::Versions;
pub use session::{Channel, Facts};
pub use setup::Setup;

/// What the user asked for. PEM is given as bytes, because reading files is not the engine's business.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The name that the certificate must bear and that is sent as SNI; an IP address (with or without brackets) is
    /// checked too, but not sent (RFC 6066, section 3).
    pub server_name: String,
    /// PEM with the only authorities that are trusted; empty: the public ones that come with the program.
    pub ca_pem: Vec<Vec<u8>>,
    /// PEM with the client's certificate and its chain, leaf first.
    pub cert_pem: Option<Vec<u8>>,
    /// PEM with the client's key; absent: it is looked for in `cert_pem`.
    pub key_pem: Option<Vec<u8>>,
    /// Nothing about the server's certificate is checked.
    pub insecure: bool,
    pub versions: Versions,
    /// Reconnections may resume a session instead of doing a full handshake.
    pub resume: bool,
    /// Protocol names in order of preference, 1 to 255 bytes each; empty: the extension is not sent.
    pub alpn: Vec<Vec<u8>>,
}
