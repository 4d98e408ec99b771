//! Connection settings: addresses, TLS, reuse.

use crate::address::WeightedAddress;
use crate::route::Route;
use crate::{Problem, unit};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;

/// When connections are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reuse {
    /// Each user keeps its connections.
    #[default]
    User,
    /// Users share the idle connections of their worker; the most recently used one goes first.
    Pool,
    /// Each iteration opens new connections.
    Iteration,
    /// Each connection serves one request, with `Connection: close`.
    Request,
}

/// Which addresses of a host name are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Addresses {
    /// The first address.
    #[default]
    First,
    /// All addresses, round-robin over connections.
    All,
}

/// When the host of an origin is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dns {
    /// Once, before the load.
    #[default]
    Once,
    /// Before each connection as well, regardless of the lifetime (TTL) of the last answer.
    EachConnection,
}

impl Dns {
    pub fn is_once(&self) -> bool {
        *self == Dns::Once
    }
}

/// The HTTP version that a plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Http {
    /// Over TLS, the version that the server chooses by ALPN (RFC 7301) before the load; otherwise HTTP/1.1.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    #[serde(rename = "1.0")]
    V10,
    #[serde(rename = "1.1")]
    V11,
    /// HTTP/2: over TLS by ALPN, over plain text by prior knowledge (RFC 9113, section 3.3).
    #[serde(rename = "2")]
    V2,
}

/// How much an HTTP/2 server may send before the client has read it (RFC 9113, section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Window {
    /// 1 GiB for each stream and each connection: the client never limits the server.
    #[default]
    Large,
    /// 6 MiB for each stream and 15 MiB for each connection, as browsers do.
    Browser,
    /// This many bytes for each stream and each connection.
    Bytes(u32),
}

/// The most users that can share one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 10_000;

/// Largest and smallest window, in bytes (RFC 9113, section 6.5.2). Below the smallest, bodies would crawl.
const WINDOW_BYTES: std::ops::RangeInclusive<u64> = 1_024..=0x7fff_ffff;

/// Parses a number of users that share a connection.
///
/// # Errors
/// Returns an error if it is not a whole number from 1 to [`STREAMS_MAX`].
pub fn streams(text: &str) -> Result<u32, Problem> {
    match unit::count(text).ok().and_then(|n| u32::try_from(n).ok()) {
        Some(n @ 1..=STREAMS_MAX) => Ok(n),
        _ => Err(Problem::plain(format!("invalid number of streams `{text}`: expected 1–{STREAMS_MAX}"))),
    }
}

/// Parses the number of requests that are in flight on a pipelined connection.
///
/// # Errors
/// Returns an error if it is not a whole number from 2 to [`STREAMS_MAX`].
pub fn pipeline(text: &str) -> Result<u32, Problem> {
    match unit::count(text).ok().and_then(|n| u32::try_from(n).ok()) {
        Some(n @ 2..=STREAMS_MAX) => Ok(n),
        _ => Err(Problem::plain(format!("invalid depth of a pipeline `{text}`: expected 2–{STREAMS_MAX}"))),
    }
}

/// Parses a window: `large`, `browser`, or a size.
///
/// # Errors
/// Returns an error if it is neither a known word nor a size that HTTP/2 allows.
pub fn window(text: &str) -> Result<Window, Problem> {
    match text.trim() {
        "large" => Ok(Window::Large),
        "browser" => Ok(Window::Browser),
        size => match unit::size_bytes(size) {
            Ok(bytes) if WINDOW_BYTES.contains(&bytes) => Ok(Window::Bytes(bytes as u32)),
            _ => Err(Problem::new(
                format!("invalid window `{text}`"),
                "write `large`, `browser`, or a size from `1k` to `2047m`",
            )),
        },
    }
}

/// Connection settings that every report may show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    pub reuse: Reuse,
    /// Number of requests after which the client closes a connection.
    pub requests_per_connection: Option<u32>,
    /// The version that the plan asks for.
    pub http: Http,
    /// Whether connections to the target speak HTTP/2; known once the server has answered before the load.
    pub is_http2: bool,
    /// Users that share a connection, each with its own streams (HTTP/2), or one request each (pipelining); 1 to
    /// [`STREAMS_MAX`].
    pub streams: u32,
    /// HTTP/1.1: the users of a connection send their requests without waiting for the responses to those before them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_pipelined: bool,
    pub window: Window,
    pub addresses: Addresses,
    /// The addresses of the target, instead of resolving its host; `addresses` is then [`Addresses::All`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weighted: Vec<WeightedAddress>,
    #[serde(skip_serializing_if = "Dns::is_once")]
    pub dns: Dns,
    /// Host names with the addresses to use instead of resolving them.
    pub resolve: Vec<(String, IpAddr)>,
    /// Local addresses, round-robin over connections; if empty, the kernel chooses.
    pub source_addresses: Vec<IpAddr>,
    #[serde(skip_serializing_if = "Route::is_direct")]
    pub route: Route,
    /// `https`.
    pub tls: Option<Tls>,
}

impl Link {
    /// Returns whether a host is a name that the resolver is asked for.
    pub fn is_looked_up(&self, host: &str) -> bool {
        let bare = host.trim_matches(['[', ']']);
        bare.parse::<IpAddr>().is_err() && !self.resolve.iter().any(|(own, _)| own.eq_ignore_ascii_case(host))
    }
}

impl Default for Link {
    fn default() -> Link {
        Link {
            reuse: Reuse::default(),
            requests_per_connection: None,
            http: Http::default(),
            is_http2: false,
            streams: 1,
            is_pipelined: false,
            window: Window::default(),
            addresses: Addresses::default(),
            weighted: Vec::new(),
            dns: Dns::default(),
            resolve: Vec::new(),
            source_addresses: Vec::new(),
            route: Route::default(),
            tls: None,
        }
    }
}

/// TLS settings. File contents are in [`TlsFiles`], which no report shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tls {
    /// The name to verify and to send as SNI; by default the host of the target.
    pub server_name: String,
    /// Whether certificate verification is off.
    pub insecure: bool,
    pub versions: Versions,
    /// Offered cipher suites by their IANA names, in order of preference; empty: all of [`crate::cipher::CIPHERS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ciphers: Vec<String>,
    /// Whether sessions are resumed if the server offers it.
    pub resume: bool,
    /// Whether sessions are resumed only by their ID, as TLS 1.2 can, and tickets are ignored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignores_tickets: bool,
}

impl Tls {
    /// Sets how sessions are resumed.
    pub fn set_resumption(&mut self, resumption: Resumption) {
        (self.resume, self.ignores_tickets) = match resumption {
            Resumption::Off => (false, false),
            Resumption::On => (true, false),
            Resumption::SessionId => (true, true),
        };
    }
}

/// How TLS sessions are resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// Each handshake is a full one.
    Off,
    /// By tickets, or in TLS 1.2 by session IDs if the server sends no ticket.
    On,
    /// By session IDs of TLS 1.2 (RFC 5246), without tickets.
    SessionId,
}

/// Parses how TLS sessions are resumed.
///
/// # Errors
/// Returns an error if the text is none of the words.
pub fn resumption(text: &str) -> Result<Resumption, Problem> {
    match text.trim() {
        "true" => Ok(Resumption::On),
        "false" => Ok(Resumption::Off),
        "session_id" => Ok(Resumption::SessionId),
        _ => Err(Problem::new(
            format!("invalid session resumption `{text}`"),
            "write `true`, `false`, or `session_id` (TLS 1.2 without tickets)",
        )),
    }
}

/// Parses the versions of TLS to offer: one, or the lowest and the highest.
///
/// # Errors
/// Returns an error if one is not supported.
pub fn versions(text: &str) -> Result<Versions, Problem> {
    match text.trim() {
        "1.2-1.3" => Ok(Versions::Both),
        "1.2" | "1.2-1.2" => Ok(Versions::Tls12),
        "1.3" | "1.3-1.3" => Ok(Versions::Tls13),
        other => {
            let is_old = |end: &str| matches!(end, "1.0" | "1.1");
            let message = match other.split('-').find(|end| is_old(end)) {
                Some(old) => format!("TLS {old} is not supported: RFC 8996 forbids it"),
                None => format!("invalid TLS versions `{other}`"),
            };
            Err(Problem::new(message, "write `1.2`, `1.3`, or `1.2-1.3`"))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Versions {
    #[default]
    #[serde(rename = "1.2-1.3")]
    Both,
    #[serde(rename = "1.2")]
    Tls12,
    #[serde(rename = "1.3")]
    Tls13,
}

/// Certificates and keys from their files (PEM).
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct TlsFiles {
    /// Certificate authorities; if empty, the public ones.
    pub ca: Vec<Vec<u8>>,
    /// Client certificates with their keys; connections choose one.
    pub clients: Vec<ClientFiles>,
    /// A file to which the keys of all connections are written.
    pub key_log: Option<PathBuf>,
}

/// A client certificate and its key.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct ClientFiles {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsFiles {{ ca: {}, clients: {} }}", self.ca.len(), self.clients.len())
    }
}
