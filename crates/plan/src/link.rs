//! How connections are made and kept: addresses, TLS, reuse.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// When a connection is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reuse {
    /// Each user keeps its own.
    #[default]
    User,
    /// Users share the idle ones of their worker; the last one used goes first.
    Pool,
    /// Each iteration begins without one.
    Iteration,
    /// One request each, asked for by `Connection: close`.
    Request,
}

/// Which of the addresses behind a name are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Addresses {
    /// The first.
    #[default]
    First,
    /// Connections take turns over all of them.
    All,
}

/// How to connect, as every report may show it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    pub reuse: Reuse,
    /// Closed by us after so many requests.
    pub requests_per_connection: Option<u32>,
    /// Requests say HTTP/1.0.
    pub http10: bool,
    pub addresses: Addresses,
    /// Host names with the address to use instead of asking the resolver.
    pub resolve: Vec<(String, IpAddr)>,
    /// Connections take turns over these local addresses; none: the kernel chooses.
    pub source_addresses: Vec<IpAddr>,
    /// `https`.
    pub tls: Option<Tls>,
}

/// TLS as asked for. File contents are in [`TlsFiles`], which no report shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tls {
    /// The name to be verified and sent as SNI; the target's host unless said otherwise.
    pub server_name: String,
    /// Nothing is verified.
    pub insecure: bool,
    pub versions: Versions,
    /// Sessions are resumed where the server offers it.
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

/// Certificates and keys as read from their files (PEM).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Own certificate authorities; none: the public ones.
    pub ca: Vec<Vec<u8>>,
    pub certificate: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
}

impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsFiles {{ ca: {}, certificate: {} }}", self.ca.len(), self.certificate.is_some())
    }
}
