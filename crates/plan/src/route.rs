//! How connections reach the origins if not directly over TCP: through a proxy, by a Unix domain socket, from a certain
//! network interface, or with a header that names another client.

use crate::Problem;
use crate::request::{redacted_url, url};
use crate::value::Secret;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The route of all connections of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Route {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// The path of the Unix domain socket on which the service listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<String>,
    /// The header that is sent first on each connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_protocol: Option<ProxyProtocol>,
    /// The network interface of all connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

impl Route {
    pub fn is_direct(&self) -> bool {
        *self == Route::default()
    }
}

/// The protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProxyKind {
    /// Requests for plain HTTP in their absolute form; tunnels (`CONNECT`) for everything else.
    Http,
    /// The same inside TLS.
    Https,
    /// The load generator resolves names.
    Socks5,
    /// The proxy resolves names.
    Socks5h,
}

/// A proxy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    pub kind: ProxyKind,
    pub host: String,
    pub port: u16,
    /// Not in run files and reports.
    #[serde(skip)]
    pub login: Option<Login>,
    /// Whether the plan has a login, for reports.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_login: bool,
}

/// User name and password of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub user: Secret,
    pub password: Secret,
}

impl Proxy {
    /// Returns whether it is an HTTP proxy, which forwards requests and opens tunnels by `CONNECT`.
    pub fn is_http(&self) -> bool {
        matches!(self.kind, ProxyKind::Http | ProxyKind::Https)
    }

    /// Returns its URL without the login.
    pub fn url(&self) -> String {
        let scheme = match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Https => "https",
            ProxyKind::Socks5 => "socks5",
            ProxyKind::Socks5h => "socks5h",
        };
        format!("{scheme}://{}", self.authority())
    }

    /// Returns host and port.
    pub fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// The PROXY protocol: a header with the addresses of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyProtocol {
    pub version: ProxyProtocolVersion,
    /// Client addresses to claim, round-robin over connections; if empty, the connection's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_addresses: Vec<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProxyProtocolVersion {
    /// One line of text.
    V1,
    /// Binary.
    V2,
}

/// The usual ports of SOCKS (RFC 1928) and of HTTP over TLS.
const SOCKS_PORT: u16 = 1080;
const TLS_PORT: u16 = 443;

/// Parses the URL of a proxy, such as `http://user:password@127.0.0.1:3128`, `https://proxy.test`, or
/// `socks5h://127.0.0.1`.
///
/// # Errors
/// Returns an error if the URL is invalid or the kind of proxy is not supported.
pub fn proxy(text: &str) -> Result<Proxy, Problem> {
    const EXAMPLE: &str = "write `http://HOST:PORT`, `https://HOST`, `socks5://HOST`, or `socks5h://HOST`";
    let text = text.trim();
    let shown = redacted_url(text);
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(Problem::new(format!("missing scheme of the proxy `{shown}`"), EXAMPLE));
    };
    let kind = match scheme.to_ascii_lowercase().as_str() {
        "http" => ProxyKind::Http,
        "socks5" => ProxyKind::Socks5,
        "socks5h" => ProxyKind::Socks5h,
        "https" => ProxyKind::Https,
        other => return Err(Problem::new(format!("unsupported kind of proxy `{other}`"), EXAMPLE)),
    };
    let parsed = url(&format!("http://{rest}")).map_err(|problem| {
        // The message names the URL with the scheme by which it was parsed.
        let message = problem.message.rsplit_once(": ").map_or(&problem.message[..], |(_, why)| why);
        Problem::new(format!("invalid proxy `{shown}`: {message}"), EXAMPLE)
    })?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !matches!(&rest[authority.len()..], "" | "/") {
        return Err(Problem::new(format!("a proxy has no path: `{shown}`"), EXAMPLE));
    }
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_port = host_and_port.rsplit_once(']').map_or(host_and_port, |(_, rest)| rest).contains(':');
    let port = match (has_port, kind) {
        (true, _) => parsed.target.port,
        (false, ProxyKind::Socks5 | ProxyKind::Socks5h) => SOCKS_PORT,
        (false, ProxyKind::Https) => TLS_PORT,
        // 80, 1080, 3128, and 8080 are all usual.
        (false, ProxyKind::Http) => {
            let message = format!("missing port of the proxy `{shown}`");
            return Err(Problem::new(message, "write it, such as `http://127.0.0.1:3128`"));
        }
    };
    let login = parsed.credentials.map(|text| {
        let (user, password) = text.split_once(':').unwrap_or((&text, ""));
        Login { user: Secret::new(user), password: Secret::new(password) }
    });
    if let Some(Login { user, password }) = &login {
        let is_long = |text: &Secret| text.reveal().len() > usize::from(u8::MAX);
        let is_empty = user.reveal().is_empty();
        if matches!(kind, ProxyKind::Socks5 | ProxyKind::Socks5h)
            && (is_empty || is_long(user) || is_long(password))
        {
            let message = format!("invalid login of the proxy `{shown}`: SOCKS5 allows 1–255 bytes");
            return Err(Problem::new(message, "write `socks5://USER:PASSWORD@HOST`"));
        }
    }
    let has_login = login.is_some();
    Ok(Proxy { kind, host: parsed.target.host, port, login, has_login })
}

/// Most bytes of the path of a Unix domain socket (unix(7); the last byte of 108 ends it).
const PATH_BYTES_MAX: usize = 107;

/// Checks the path of a Unix domain socket.
///
/// # Errors
/// Returns an error if it is empty or too long for the kernel.
pub fn unix_socket(path: &str) -> Result<String, Problem> {
    if path.is_empty() || path.contains('\0') {
        return Err(Problem::new("invalid path of a Unix socket", "write a path such as `/run/app.sock`"));
    }
    if path.len() > PATH_BYTES_MAX {
        let message =
            format!("path of a Unix socket too long: {} bytes of at most {PATH_BYTES_MAX}", path.len());
        return Err(Problem::new(message, "make a symbolic link with a shorter path, and use that"));
    }
    Ok(path.to_owned())
}

/// Parses a version of the PROXY protocol.
///
/// # Errors
/// Returns an error if it is neither `v1` nor `v2`.
pub fn proxy_protocol(text: &str) -> Result<ProxyProtocolVersion, Problem> {
    match text.trim() {
        "v1" => Ok(ProxyProtocolVersion::V1),
        "v2" => Ok(ProxyProtocolVersion::V2),
        other => Err(Problem::plain(format!(
            "unknown version of the PROXY protocol `{other}`: expected `v1` or `v2`"
        ))),
    }
}

/// Checks the name of a network interface.
///
/// # Errors
/// Returns an error if no interface can have this name (netdevice(7)).
pub fn interface(text: &str) -> Result<String, Problem> {
    let is_name = |c: char| c.is_ascii_graphic() && c != '/' && c != ':';
    if text.is_empty() || text.len() > 15 || !text.chars().all(is_name) {
        let message = format!("invalid name of a network interface `{text}`");
        return Err(Problem::new(message, "write a name such as `eth0`; `ip link` lists them"));
    }
    Ok(text.to_owned())
}
