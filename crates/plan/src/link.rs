//! Connection settings: addresses, TLS, reuse.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

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

/// Connection settings that every report may show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    pub reuse: Reuse,
    /// Number of requests after which the client closes a connection.
    pub requests_per_connection: Option<u32>,
    /// Whether requests use HTTP/1.0.
    pub http10: bool,
    pub addresses: Addresses,
    /// Host names with the addresses to use instead of resolving them.
    pub resolve: Vec<(String, IpAddr)>,
    /// Local addresses, round-robin over connections; if empty, the kernel chooses.
    pub source_addresses: Vec<IpAddr>,
    /// `https`.
    pub tls: Option<Tls>,
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
    /// Whether sessions are resumed if the server offers it.
    pub resume: bool,
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
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate authorities; if empty, the public ones.
    pub ca: Vec<Vec<u8>>,
    pub certificate: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
}

impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsFiles {{ ca: {}, certificate: {} }}", self.ca.len(), self.certificate.is_some())
    }
}
