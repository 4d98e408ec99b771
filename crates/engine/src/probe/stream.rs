//! The stream of a trial connection, opened as the load opens its own: by a Unix domain socket, a network interface, a
//! proxy, and with the header of the PROXY protocol.

use super::{Peer, ProbeError, classify};
use crate::link::tls::{Channel, Enclosure, Setup};
use crate::route::Route;
use crate::sys::{Errno, socket};
use plimsoll_wire::h1::{Limits, Shared};
use std::io::{Error, ErrorKind, Read, Result as IoResult, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A blocking stream with a timeout for each read and write.
#[derive(Debug)]
pub struct Stream {
    kind: Kind,
    /// TLS with a proxy, once it is established.
    outer: Option<Enclosure>,
    /// Bytes of the server that came with the end of a proxy's handshake.
    early: Vec<u8>,
}

#[derive(Debug)]
enum Kind {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Opens a connection to the server, through all that is before it.
    ///
    /// # Errors
    /// Returns an error, classified by the side that caused it.
    pub fn open(peer: Peer<'_>, timeout: Duration) -> Result<Stream, ProbeError> {
        let kind = connected(peer, timeout).map_err(|e| classify(&e))?;
        let limited = match &kind {
            Kind::Tcp(tcp) => {
                tcp.set_read_timeout(Some(timeout)).and_then(|()| tcp.set_write_timeout(Some(timeout)))
            }
            Kind::Unix(unix) => {
                unix.set_read_timeout(Some(timeout)).and_then(|()| unix.set_write_timeout(Some(timeout)))
            }
        };
        limited.map_err(|e| ProbeError::Other(e.to_string()))?;
        let mut stream = Stream { kind, outer: None, early: Vec::new() };
        if let Some(setup) = peer.route.and_then(|route| route.outer.as_ref()) {
            stream.enclose(setup)?;
        }
        match peer.route {
            Some(route) if route.has_opening() => stream.tunnel(route, peer)?,
            _ => {}
        }
        Ok(stream)
    }

    /// Establishes TLS with the proxy.
    fn enclose(&mut self, setup: &Setup) -> Result<(), ProbeError> {
        let failed =
            |why: &dyn std::fmt::Display| of_proxy(&format!("the TLS handshake with it failed: {why}"));
        let (mut out, mut plain, mut buffer) = (Vec::new(), Vec::new(), vec![0; 16_384]);
        let mut channel =
            Channel::new(setup, &mut out).map_err(|refused| failed(&refused.problem().message))?;
        loop {
            self.write_all(&out).map_err(|e| classify(&e))?;
            out.clear();
            if channel.is_ready() {
                self.outer = Some(Enclosure::new(channel, plain, Vec::new()));
                return Ok(());
            }
            let n = self.read(&mut buffer).map_err(|e| match classify(&e) {
                ProbeError::TimedOut => of_proxy("it did not respond"),
                other => other,
            })?;
            if n == 0 {
                return Err(failed(&"it closed the connection"));
            }
            if let Err(refused) = channel.feed(&mut buffer[..n], &mut plain, &mut out) {
                // The alert tells the proxy why; it does not matter if it cannot be sent.
                let _ = self.write_all(&out);
                return Err(failed(&refused.problem().message));
            }
        }
    }

    fn tunnel(&mut self, route: &Route, peer: Peer<'_>) -> Result<(), ProbeError> {
        let local = match &self.kind {
            Kind::Tcp(tcp) => tcp.local_addr().ok(),
            Kind::Unix(_) => None,
        };
        let (mut out, mut shared, mut buffer) = (Vec::new(), Shared::new(Limits::default()), vec![0; 16_384]);
        let handshake = route.begin(0, (local, peer.address), &mut out);
        let broken = |e: Error| classify(&e);
        self.write_all(&out).map_err(broken)?;
        let Some(mut handshake) = handshake else { return Ok(()) };
        loop {
            let n = self.read(&mut buffer).map_err(|e| match classify(&e) {
                ProbeError::TimedOut => of_proxy("it did not respond"),
                other => other,
            })?;
            if n == 0 {
                return Err(of_proxy("it closed the connection during the handshake"));
            }
            out.clear();
            let fed = handshake.feed(&buffer[..n], &mut shared, &mut out).map_err(|refused| {
                let is_about_credentials = refused.is_about_credentials();
                ProbeError::Proxy { why: refused.to_string(), is_about_credentials }
            })?;
            if fed.is_done {
                self.early = buffer[fed.consumed..n].to_vec();
                return Ok(());
            }
            self.write_all(&out).map_err(broken)?;
        }
    }
}

impl Read for Kind {
    fn read(&mut self, into: &mut [u8]) -> IoResult<usize> {
        match self {
            Kind::Tcp(tcp) => tcp.read(into),
            Kind::Unix(unix) => unix.read(into),
        }
    }
}

impl Write for Kind {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        match self {
            Kind::Tcp(tcp) => tcp.write(bytes),
            Kind::Unix(unix) => unix.write(bytes),
        }
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

fn of_proxy(why: &str) -> ProbeError {
    ProbeError::Proxy { why: why.to_owned(), is_about_credentials: false }
}

fn connected(peer: Peer<'_>, timeout: Duration) -> IoResult<Kind> {
    let of_errno = |errno: Errno| match errno.0 {
        libc::ETIMEDOUT => Error::from(ErrorKind::TimedOut),
        number => Error::from_raw_os_error(number),
    };
    let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    match peer.route {
        Some(Route { unix_socket: Some(path), .. }) => {
            let fd = socket::connect_unix(path).map_err(of_errno)?;
            Ok(Kind::Unix(socket::connected(fd, timeout_ms).map_err(of_errno)?.into()))
        }
        Some(Route { interface: Some(interface), .. }) => {
            let fd = socket::connect(peer.address, None, Some(interface), None).map_err(of_errno)?;
            Ok(Kind::Tcp(socket::connected(fd, timeout_ms).map_err(of_errno)?.into()))
        }
        _ => TcpStream::connect_timeout(&peer.address, timeout).map(Kind::Tcp),
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> IoResult<usize> {
        if !self.early.is_empty() {
            let n = self.early.len().min(into.len());
            into[..n].copy_from_slice(&self.early[..n]);
            self.early.drain(..n);
            return Ok(n);
        }
        let Some(outer) = &mut self.outer else { return self.kind.read(into) };
        loop {
            let n = outer.read(into);
            if n > 0 || outer.is_closed() || into.is_empty() {
                return Ok(n);
            }
            let mut cipher = vec![0; 16_384];
            let n = self.kind.read(&mut cipher)?;
            if n == 0 {
                return Ok(0);
            }
            outer.open(&mut cipher[..n]).map_err(|refused| Error::other(refused.to_string()))?;
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        let Some(outer) = &mut self.outer else { return self.kind.write(bytes) };
        outer.seal(bytes).map_err(|refused| Error::other(refused.to_string()))?;
        let n = outer.unsent().len();
        self.kind.write_all(outer.unsent())?;
        outer.sent(n);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}
