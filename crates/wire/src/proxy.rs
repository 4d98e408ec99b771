//! Proxies between a client and its server: the handshake by which a proxy opens a tunnel (`CONNECT` of HTTP, SOCKS5),
//! and the header by which a proxy names its client to the server (PROXY protocol).
//!
//! ```
//! use plimsoll_wire::h1::{Limits, Shared};
//! use plimsoll_wire::proxy::{Handshake, connect};
//!
//! let mut shared = Shared::new(Limits::default());
//! let mut out = Vec::new();
//! let mut handshake = Handshake::connect(&connect("shop.test:443", None, "plimsoll"), &mut out);
//! assert!(out.starts_with(b"CONNECT shop.test:443 HTTP/1.1\r\n"));
//! let fed = handshake.feed(b"HTTP/1.1 200 OK\r\n\r\nhello", &mut shared, &mut out)?;
//! assert_eq!((fed.is_done, fed.consumed), (true, 19));
//! # Ok::<(), plimsoll_wire::proxy::Refused>(())
//! ```

mod preface;
mod socks;

use crate::h1::{Ask, Malformed, Session, Shared};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use preface::{Version, preface};
use socks::Socks;
pub use socks::{Destination, SocksRequest};
use std::fmt;

/// Returns a `CONNECT` request for a tunnel (RFC 9110, section 9.3.6). `authority` contains the port.
pub fn connect(authority: &str, authorization: Option<&str>, user_agent: &str) -> Box<[u8]> {
    let mut text = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(value) = authorization {
        text.push_str(&format!("Proxy-Authorization: {value}\r\n"));
    }
    text.push_str(&format!("User-Agent: {user_agent}\r\n\r\n"));
    text.into_bytes().into()
}

/// Returns the value of a field for basic authentication (RFC 7617).
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Appends a request as a proxy forwards it (RFC 9112, section 3.2.2): `prefix`, scheme and authority, before its
/// target, and `fields` before its own. The target `*` is the prefix alone (section 3.2.4).
pub fn forwarded(request: &[u8], prefix: &str, fields: &[u8], out: &mut Vec<u8>) {
    let target = request.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let end = request.iter().position(|byte| *byte == b'\n').map_or(request.len(), |at| at + 1);
    let (line, rest) = request.split_at(end);
    let (method, after) = line.split_at(target.min(end));
    out.extend_from_slice(method);
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(after.strip_prefix(b"*").unwrap_or(after));
    out.extend_from_slice(fields);
    out.extend_from_slice(rest);
}

/// A handshake in progress. The caller sends what is appended to `out`, and feeds what it receives.
#[derive(Debug)]
pub struct Handshake(Kind);

#[derive(Debug)]
enum Kind {
    Connect(Session),
    Socks(Socks),
}

/// The result of one call of [`Handshake::feed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    /// Bytes that belong to the handshake; the rest comes from the server.
    pub consumed: usize,
    /// Whether the tunnel is open.
    pub is_done: bool,
}

impl Handshake {
    /// Begins a handshake with an HTTP proxy by a request from [`connect`].
    pub fn connect(request: &[u8], out: &mut Vec<u8>) -> Handshake {
        out.extend_from_slice(request);
        let mut session = Session::new();
        // A tunnel begins after the head, as the response to HEAD ends there: its length is ignored.
        session.submit(Ask { head_only: true, ..Ask::default() });
        Handshake(Kind::Connect(session))
    }

    /// Begins a handshake with a SOCKS5 proxy.
    pub fn socks(request: &SocksRequest, out: &mut Vec<u8>) -> Handshake {
        Handshake(Kind::Socks(Socks::new(request, out)))
    }

    /// Reads the next bytes, in any pieces, and appends what must be sent to `out`.
    ///
    /// # Errors
    /// Returns why the proxy opens no tunnel; the connection cannot be used any further.
    pub fn feed(&mut self, bytes: &[u8], shared: &mut Shared, out: &mut Vec<u8>) -> Result<Fed, Refused> {
        match &mut self.0 {
            Kind::Connect(session) => {
                let fed = session.feed(bytes, shared, &mut ()).map_err(Refused::Malformed)?;
                match fed.done {
                    None => Ok(Fed { consumed: fed.consumed, is_done: false }),
                    Some(answer) if answer.status / 100 == 2 => {
                        Ok(Fed { consumed: fed.consumed, is_done: true })
                    }
                    Some(answer) => Err(Refused::Status(answer.status)),
                }
            }
            Kind::Socks(socks) => socks.feed(bytes, out),
        }
    }

    /// Returns memory to the worker; to be called when the handshake has ended.
    pub fn end(self, shared: &mut Shared) {
        match self.0 {
            Kind::Connect(mut session) => session.reset(shared),
            Kind::Socks(_) => {}
        }
    }
}

/// Why a proxy opened no tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The status of an HTTP proxy.
    Status(u16),
    /// The reply of a SOCKS5 proxy (RFC 1928, section 6).
    Reply(u8),
    /// The SOCKS5 proxy accepts none of the offered ways to authenticate; whether a password was offered.
    NoMethod { had_password: bool },
    /// The SOCKS5 proxy rejected user name and password (RFC 1929).
    Password,
    /// The response is not HTTP.
    Malformed(Malformed),
    /// The response is not SOCKS5.
    NotSocks,
}

impl Refused {
    /// Returns whether the proxy wants other credentials. Some proxies answer 401 to a wrong password, which only
    /// servers should do.
    pub fn is_about_credentials(self) -> bool {
        matches!(self, Refused::Status(401 | 407) | Refused::NoMethod { .. } | Refused::Password)
    }

    /// Returns whether the other side is no such proxy.
    pub fn is_malformed(self) -> bool {
        matches!(self, Refused::Malformed(_) | Refused::NotSocks)
    }
}

/// A sentence that begins with `it`, the proxy.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Status(status @ (401 | 407)) => {
                write!(f, "it requires other credentials (status {status})")
            }
            Refused::Status(status) => write!(f, "it refused to open a tunnel (status {status})"),
            Refused::Reply(reply) => {
                write!(f, "it refused to open a tunnel (SOCKS5 reply {reply}: {})", socks::meaning(*reply))
            }
            Refused::NoMethod { had_password: false } => {
                f.write_str("it requires a user name and a password")
            }
            Refused::NoMethod { had_password: true } => {
                f.write_str("it does not accept a user name and a password")
            }
            Refused::Password => f.write_str("it rejected the user name or the password"),
            Refused::Malformed(_) => f.write_str("its response is not HTTP"),
            Refused::NotSocks => f.write_str("its response is not SOCKS5"),
        }
    }
}

impl std::error::Error for Refused {}
