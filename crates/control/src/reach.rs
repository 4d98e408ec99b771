//! Hosts and the way to them: all steps share one deadline, so that a server that hangs, drips or drops packets costs a
//! sample and never the next one.

use crate::stream::{Stream, refused};
use plimsoll_engine::clock::now_ns;
use plimsoll_engine::link::tls::Setup;
use plimsoll_plan::policy::{Neighbour, neighbour};
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Why there is no sample: one sentence, lower case, with what was tried in backticks. No secret may stand in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorError(pub String);

impl fmt::Display for MonitorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MonitorError {}

/// The end of all steps.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at_ns: u64,
}

impl Deadline {
    /// So long from now.
    pub fn after(patience: Duration) -> Deadline {
        let ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        Deadline { at_ns: now_ns().saturating_add(ns) }
    }

    /// What is left; an error when nothing is, because the kernel takes 0 for "for ever".
    ///
    /// # Errors
    /// `TimedOut`.
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
    /// `host`, `host:port`, `[::1]:port`. Without a port: `default`. Nothing when it is none of these.
    pub fn parse(text: &str, default: u16) -> Option<Place> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        // A second colon outside of brackets would make it unclear where the port begins.
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

    /// A connection to one of its addresses; with `tls`, after the handshake.
    ///
    /// # Errors
    /// One sentence: nobody listens, the name leads nowhere, or it takes too long.
    pub fn open(&self, tls: Option<&Setup>, until: Deadline) -> Result<Stream, MonitorError> {
        let addresses = self.addresses(until)?;
        let opened = connect(&addresses, until).and_then(|socket| Stream::open(socket, tls, until));
        opened.map_err(|error| self.trouble("connect to", &error))
    }

    /// The resolver has no time-out that we could set, so it is asked on a thread that may be left behind.
    pub fn addresses(&self, until: Deadline) -> Result<Vec<SocketAddr>, MonitorError> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return self.allowed(vec![SocketAddr::new(ip, self.port)]);
        }
        let unresolved = |why: &str| MonitorError(format!("cannot resolve `{}`: {why}", self.host));
        let (tell, told) = channel();
        let place = (self.host.clone(), self.port);
        let ask = move || {
            let found = place.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            // Whoever asked may have lost patience.
            let _ = tell.send(found);
        };
        let thread = std::thread::Builder::new().name("monitor-resolve".into()).spawn(ask);
        thread.map_err(|error| unresolved(&words(&error)))?;
        let left = until.left().map_err(|error| unresolved(&words(&error)))?;
        let found = told.recv_timeout(left).map_err(|_| unresolved("no answer in time"))?;
        let mut found = found.map_err(|error| unresolved(&words(&error)))?;
        // The resolver names an address once per line of the hosts file.
        found.sort_unstable();
        found.dedup();
        // Servers under test mostly listen on the old protocol only.
        found.sort_by_key(SocketAddr::is_ipv6);
        if found.is_empty() { Err(unresolved("no address for it")) } else { self.allowed(found) }
    }

    /// Public hosts were permitted before the load, as it was; but nobody watches a cloud's metadata service, whose
    /// answers are credentials.
    fn allowed(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, MonitorError> {
        match found.iter().any(|address| neighbour(address.ip()) == Neighbour::Forbidden) {
            true => Err(MonitorError(format!(
                "`{}` is never asked: it is a service of a cloud for its own",
                self.host
            ))),
            false => Ok(found),
        }
    }

    /// `cannot VERB PLACE: WHY`.
    pub fn trouble(&self, verb: &str, error: &std::io::Error) -> MonitorError {
        MonitorError(format!("cannot {verb} `{}`: {}", self.describe(), words(error)))
    }
}

/// A connection without delay of small writes. Every address has its share of the time.
///
/// # Errors
/// That of the last address.
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

/// The next bytes, behind those that `into` has; how many there were, 0 at the end of the stream.
///
/// # Errors
/// Those of the connection; `TimedOut` at the deadline.
pub fn read_some(stream: &mut Stream, into: &mut Vec<u8>, until: Deadline) -> std::io::Result<usize> {
    let mut block = [0; 16_384];
    stream.until(until);
    let n = stream.read(&mut block)?;
    into.extend_from_slice(&block[..n]);
    Ok(n)
}

/// All of it.
///
/// # Errors
/// Those of the connection; `TimedOut` at the deadline.
pub fn write_all(stream: &mut Stream, bytes: &[u8], until: Deadline) -> std::io::Result<()> {
    stream.until(until);
    stream.write_all(bytes)?;
    stream.flush()
}

/// What went wrong, without the numbers that the standard library appends.
pub fn words(error: &std::io::Error) -> String {
    if let Some(sentence) = refused(error) {
        return sentence;
    }
    match error.kind() {
        // A time-out of a socket is reported as "would block".
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no answer in time".into(),
        ErrorKind::UnexpectedEof => "the connection was closed".into(),
        _ => {
            let text = error.to_string().to_lowercase();
            let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}
