//! A TCP connection that a monitor may wait for: every step of one look shares one deadline, so that a server that
//! hangs, drips or drops packets costs a sample and never the next one.

use super::probe::{PATIENCE, Trouble};
use plimsoll_engine::clock::now_ns;
use plimsoll_plan::policy::{Neighbour, neighbour};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The end of one look. Part of [`PATIENCE`] is kept back for what comes after the answer: the kernel wakes a time-out
/// late, and the answer has to be read.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at_ns: u64,
}

impl Deadline {
    /// For a look that begins now.
    pub fn of_a_look() -> Deadline {
        Deadline { at_ns: now_ns() + (PATIENCE * 7 / 8).as_nanos() as u64 }
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

    pub fn shown(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// A connection without delay of small writes. Every address of the name has its share of the time.
    ///
    /// # Errors
    /// One sentence: nobody listens, the name leads nowhere, or it takes too long.
    pub fn connect(&self, until: Deadline) -> Result<TcpStream, Trouble> {
        let addresses = self.addresses(until)?;
        let mut last = std::io::Error::from(ErrorKind::NotFound);
        for (done, address) in addresses.iter().enumerate() {
            let share = until.left().map_err(|_| self.trouble("connect to", &last))?;
            let share = share / (addresses.len() - done) as u32;
            match TcpStream::connect_timeout(address, share) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(|error| self.trouble("connect to", &error))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(self.trouble("connect to", &last))
    }

    /// The resolver has no time-out that we could set, so it is asked on a thread that may be left behind.
    pub fn addresses(&self, until: Deadline) -> Result<Vec<SocketAddr>, Trouble> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return self.allowed(vec![SocketAddr::new(ip, self.port)]);
        }
        let unresolved = |why: &str| Trouble(format!("cannot resolve `{}`: {why}", self.host));
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
    fn allowed(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Trouble> {
        match found.iter().any(|address| neighbour(address.ip()) == Neighbour::Forbidden) {
            true => Err(Trouble(format!(
                "`{}` is never asked: it is a service of a cloud for its own",
                self.host
            ))),
            false => Ok(found),
        }
    }

    /// `cannot VERB PLACE: WHY`.
    pub fn trouble(&self, verb: &str, error: &std::io::Error) -> Trouble {
        Trouble(format!("cannot {verb} `{}`: {}", self.shown(), words(error)))
    }
}

/// The next bytes, behind those that `into` has; how many there were, 0 at the end of the stream.
///
/// # Errors
/// Those of the socket; `TimedOut` at the deadline.
pub fn read_some(stream: &mut TcpStream, into: &mut Vec<u8>, until: Deadline) -> std::io::Result<usize> {
    let mut block = [0; 16_384];
    loop {
        stream.set_read_timeout(Some(until.left()?))?;
        match stream.read(&mut block) {
            Ok(n) => {
                into.extend_from_slice(&block[..n]);
                return Ok(n);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// All of it.
///
/// # Errors
/// Those of the socket; `TimedOut` at the deadline.
pub fn write_all(stream: &mut TcpStream, mut bytes: &[u8], until: Deadline) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(until.left()?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What went wrong, without the numbers that the standard library appends.
pub fn words(error: &std::io::Error) -> String {
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
