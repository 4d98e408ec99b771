//! Connection of a monitor or of the ownership check, plain or with TLS. Every step has a deadline, so that a server
//! that hangs, trickles, or drops packets cannot block it.

use crate::reach::Deadline;
use plimsoll_engine::link::tls::{Setup, TlsFault};
use rustls::ClientConnection;
use std::fmt;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

/// A connection. Reads and writes end at the current deadline with `TimedOut` or `WouldBlock`.
pub struct Stream {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
}

struct Socket {
    socket: TcpStream,
    until: Deadline,
}

impl Stream {
    /// Takes over a connected socket and, with `tls`, does the handshake.
    ///
    /// # Errors
    /// Returns errors of the socket and of TLS (see [`refused`]).
    pub fn open(socket: TcpStream, tls: Option<&Setup>, until: Deadline) -> Result<Stream> {
        let mut socket = Socket { socket, until };
        let Some(setup) = tls else { return Ok(Stream { socket, tls: None }) };
        let mut tls = ClientConnection::new(setup.config(), setup.server_name()).map_err(Error::other)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        Ok(Stream { socket, tls: Some(Box::new(tls)) })
    }

    /// Sets the deadline of the next steps.
    pub fn until(&mut self, until: Deadline) {
        self.socket.until = until;
    }

    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns whether the other side has neither closed the connection nor sent unsolicited data. TLS allows such
    /// data: session tickets may come at any time.
    pub fn is_open(&self) -> bool {
        let looked = self.socket.socket.set_nonblocking(true).and_then(|()| {
            let seen = self.socket.socket.peek(&mut [0]);
            self.socket.socket.set_nonblocking(false).map(|()| seen)
        });
        match looked {
            Ok(Ok(seen)) => seen > 0 && self.is_tls(),
            Ok(Err(error)) => error.kind() == ErrorKind::WouldBlock,
            Err(_) => false,
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("tls", &self.is_tls()).finish_non_exhaustive()
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        match &mut self.tls {
            None => self.socket.read(into),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut self.socket).read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut self.socket).write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.tls {
            None => Ok(()),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut self.socket).flush(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            self.socket.set_read_timeout(Some(self.until.left()?))?;
            match self.socket.read(into) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        loop {
            self.socket.set_write_timeout(Some(self.until.left()?))?;
            match self.socket.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Returns the sentence of a TLS error without its hint, which is meant for the load.
pub fn refused(error: &Error) -> Option<String> {
    let fault = TlsFault::of(error.get_ref()?.downcast_ref::<rustls::Error>()?);
    Some(fault.problem().message.clone())
}
