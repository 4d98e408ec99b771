//! The client side of TLS as a state machine without a socket, a clock, or a thread.
//!
//! [`Wanted`] contains the user's settings; [`Setup`] is created from it once, before the load, and reports every
//! mistake; a [`Channel`] is one connection. It uses rustls through its unbuffered interface: the ordinary one keeps
//! buffers for each connection, so an idle connection would cost several times as much.

mod enclosure;
mod fault;
mod key_log;
mod pem;
mod session;
mod setup;
mod tickets;
mod verify;

pub use enclosure::Enclosure;
pub use fault::{TlsFault, is_unknown_protocol};
pub use key_log::KeyLogFile;
pub use plimsoll_plan::link::Versions;
pub use session::{Channel, Facts};
pub use setup::Setup;

use std::sync::Arc;

/// The user's settings. PEM is passed as bytes, because the engine does not read files.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The name that the certificate must contain and that is sent as SNI; an IP address (with or without brackets) is
    /// checked too, but not sent (RFC 6066, section 3).
    pub server_name: String,
    /// PEM with the only trusted authorities; empty: the public ones that are built in.
    pub ca_pem: Vec<Vec<u8>>,
    /// PEM with the client's certificate and its chain, leaf first.
    pub cert_pem: Option<Vec<u8>>,
    /// PEM with the client's key; absent: the key is read from `cert_pem`.
    pub key_pem: Option<Vec<u8>>,
    /// PEM of more clients: the certificate with its chain, and the key. Connections choose one of all.
    pub more_clients: Vec<(Vec<u8>, Vec<u8>)>,
    /// Skips all checks of the server's certificate.
    pub insecure: bool,
    pub versions: Versions,
    /// Cipher suites to offer, by their IANA names, in order of preference; empty: all.
    pub ciphers: Vec<String>,
    /// Lets reconnections resume a session instead of doing a full handshake.
    pub resume: bool,
    /// Resumes only by the session IDs of TLS 1.2: tickets are neither requested nor kept.
    pub ignores_tickets: bool,
    /// Where the keys of all connections are written.
    pub key_log: Option<Arc<KeyLogFile>>,
    /// Protocol names in order of preference, 1 to 255 bytes each; empty: the extension is not sent.
    pub alpn: Vec<Vec<u8>>,
}
