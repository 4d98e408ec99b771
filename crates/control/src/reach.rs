//! Hosts and connections to them. All steps share one deadline, so that a server that hangs, trickles, or drops
//! packets costs one sample and never the next.

use crate::stream::{Stream, refused};
use plimsoll_engine::clock::now_ns;
use plimsoll_engine::link::tls::Setup;
use plimsoll_plan::policy::{AddressClass, address_class};
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Why a sample is missing: one lower-case sentence without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorError(pub String);

impl fmt::Display for MonitorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MonitorError {}

/// Common end of all steps.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at_ns: u64,
}

impl Deadline {
    /// Returns the deadline after a duration from now.
    pub fn after(patience: Duration) -> Deadline {
        let ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        Deadline { at_ns: now_ns().saturating_add(ns) }
    }

    /// Returns the remaining time. No time left is an error, because the kernel treats 0 as infinite.
    ///
    /// # Errors
    /// Returns `TimedOut`.
    pub fn left(self) -> std::io::Result<Duration> {
        match self.at_ns.saturating_sub(now_ns()) {
            0 => Err(ErrorKind::TimedOut.into()),
            left => Ok(Duration::from_nanos(left)),
        }
    }
}

/// A host (a name, or an address without brackets) and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub host: String,
    pub port: u16,
}

impl Place {
    /// Parses `host`, `host:port`, or `[::1]:port`; the default port applies if there is none.
    pub fn parse(text: &str, default: u16) -> Option<Place> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        // A second colon outside brackets would make the port ambiguous.
        let strange = |c: char| c.is_whitespace() || c.is_control() || "/@[]".contains(c);
        if host.is_empty() || host.contains(strange) || (host.contains(':') && !text.starts_with('[')) {
            return None;
        }
        let port = port.map_or(Some(default), |port| port.parse().ok())?;
        Some(Place { host: host.to_owned(), port })
    }

    pub fn describe(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Opens a connection to one of its addresses, including the handshake if `tls` is set.
    ///
    /// # Errors
    /// Returns one sentence if nothing listens, the name does not resolve, or the deadline passes.
    pub fn open(&self, tls: Option<&Setup>, until: Deadline) -> Result<Stream, MonitorError> {
        let addresses = self.addresses(until)?;
        let opened = connect(&addresses, until).and_then(|socket| Stream::open(socket, tls, until));
        opened.map_err(|error| self.trouble("connect to", &error))
    }

    /// Resolves the name on a thread that may be abandoned, because the resolver has no configurable timeout.
    pub fn addresses(&self, until: Deadline) -> Result<Vec<SocketAddr>, MonitorError> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return self.allowed(vec![SocketAddr::new(ip, self.port)]);
        }
        let unresolved = |why: &str| MonitorError(format!("cannot resolve `{}`: {why}", self.host));
        let (tell, told) = channel();
        let place = (self.host.clone(), self.port);
        let ask = move || {
            let found = place.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            // The caller may have timed out.
            let _ = tell.send(found);
        };
        let thread = std::thread::Builder::new().name("monitor-resolve".into()).spawn(ask);
        thread.map_err(|error| unresolved(&words(&error)))?;
        let left = until.left().map_err(|error| unresolved(&words(&error)))?;
        let found = told.recv_timeout(left).map_err(|_| unresolved("no response in time"))?;
        let mut found = found.map_err(|error| unresolved(&words(&error)))?;
        // The resolver names an address once per line of the hosts file.
        found.sort_unstable();
        found.dedup();
        // Servers under test often listen on IPv4 only.
        found.sort_by_key(SocketAddr::is_ipv6);
        if found.is_empty() { Err(unresolved("the name has no address")) } else { self.allowed(found) }
    }

    /// Rejects cloud metadata services, whose responses are credentials. Public hosts were allowed before the load.
    fn allowed(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, MonitorError> {
        match found.iter().any(|address| address_class(address.ip()) == AddressClass::Forbidden) {
            true => Err(MonitorError(format!(
                "`{}` is never queried, because it is a cloud metadata service",
                self.host
            ))),
            false => Ok(found),
        }
    }

    /// Returns `cannot VERB PLACE: WHY`.
    pub fn trouble(&self, verb: &str, error: &std::io::Error) -> MonitorError {
        MonitorError(format!("cannot {verb} `{}`: {}", self.describe(), words(error)))
    }
}

/// Opens a connection without delays for small writes, giving each address its share of the time.
///
/// # Errors
/// Returns the error of the last address.
pub fn connect(addresses: &[SocketAddr], until: Deadline) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::from(ErrorKind::NotFound);
    for (done, address) in addresses.iter().enumerate() {
        let Ok(left) = until.left() else { return Err(last) };
        match TcpStream::connect_timeout(address, left / (addresses.len() - done) as u32) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Appends the next bytes to `into` and returns their number, which is 0 at the end of the stream.
///
/// # Errors
/// Returns the connection's error, or `TimedOut` at the deadline.
pub fn read_some(stream: &mut Stream, into: &mut Vec<u8>, until: Deadline) -> std::io::Result<usize> {
    let mut block = [0; 16_384];
    stream.until(until);
    let n = stream.read(&mut block)?;
    into.extend_from_slice(&block[..n]);
    Ok(n)
}

/// Writes all bytes.
///
/// # Errors
/// Returns the connection's error, or `TimedOut` at the deadline.
pub fn write_all(stream: &mut Stream, bytes: &[u8], until: Deadline) -> std::io::Result<()> {
    stream.until(until);
    stream.write_all(bytes)?;
    stream.flush()
}

/// Returns the error's message without the number that the standard library appends.
pub fn words(error: &std::io::Error) -> String {
    if let Some(sentence) = refused(error) {
        return sentence;
    }
    match error.kind() {
        // A socket's timeout is reported as "would block".
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no response in time".into(),
        ErrorKind::UnexpectedEof => "the connection was closed".into(),
        _ => {
            let text = error.to_string().to_lowercase();
            let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}
