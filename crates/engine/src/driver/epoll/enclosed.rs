//! Sockets inside TLS with a proxy. To the worker, they are like all others: it sends and receives plain bytes.

use super::{Errno, Io, Socket};
use crate::link::tls::Enclosure;
use crate::sys::socket;
use std::collections::HashMap;

/// Sealed bytes of one call of `recv`: a record, and its head.
const READ_BYTES: usize = 16 << 10;

/// Most bytes that are sealed at a time: what the kernel does not take of them waits in memory.
const SEAL_BYTES: usize = 64 << 10;

/// What the kernel never reports for TCP: the proxy broke TLS.
pub const BROKEN: Errno = Errno(libc::EPROTO);

#[derive(Debug, Default)]
pub struct Enclosed {
    sockets: HashMap<Socket, Enclosure>,
    /// Received bytes before they are opened.
    cipher: Vec<u8>,
}

impl Enclosed {
    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    pub fn has(&self, socket: Socket) -> bool {
        !self.sockets.is_empty() && self.sockets.contains_key(&socket)
    }

    pub fn add(&mut self, socket: Socket, enclosure: Enclosure) {
        self.cipher.resize(READ_BYTES, 0);
        self.sockets.insert(socket, enclosure);
        self.push(socket);
    }

    /// Says goodbye to the proxy and forgets the socket, whose number may be used again.
    pub fn end(&mut self, socket: Socket) {
        if let Some(mut enclosure) = self.sockets.remove(&socket) {
            enclosure.close();
            // The connection ends, whether the proxy gets this or not.
            let _ = send_unsent(socket, &mut enclosure);
        }
    }

    /// Sends what the kernel takes of sealed bytes. An error appears with the next call that sends or receives.
    pub fn push(&mut self, socket: Socket) {
        if let Some(enclosure) = self.sockets.get_mut(&socket) {
            let _ = send_unsent(socket, enclosure);
        }
    }

    /// Takes bytes, but none while earlier ones wait for the kernel: its next edge announces that it has room.
    pub fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io {
        let Some(enclosure) = self.sockets.get_mut(&socket) else { return socket::send(socket, bytes) };
        match send_unsent(socket, enclosure) {
            Io::Done(_) => {}
            other => return other,
        }
        let bytes = &bytes[..bytes.len().min(SEAL_BYTES)];
        if bytes.is_empty() {
            return Io::Done(0);
        }
        if enclosure.seal(bytes).is_err() {
            return Io::Failed(BROKEN);
        }
        match send_unsent(socket, enclosure) {
            Io::Failed(errno) => Io::Failed(errno),
            Io::Done(_) | Io::WouldBlock => Io::Done(bytes.len()),
        }
    }

    /// Fills the buffer. As with a plain socket, less than the whole buffer means that the kernel has no more.
    pub fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io {
        let Some(enclosure) = self.sockets.get_mut(&socket) else { return socket::recv(socket, buffer) };
        let mut filled = enclosure.read(buffer);
        if filled == 0 && enclosure.is_closed() {
            return Io::Done(0);
        }
        while filled < buffer.len() {
            let end = match socket::recv(socket, &mut self.cipher) {
                Io::Done(0) => Io::Done(0),
                Io::Done(n) => match enclosure.open(&mut self.cipher[..n]) {
                    Ok(()) if enclosure.is_closed() => Io::Done(0),
                    Ok(()) => {
                        // Keys that the proxy changes are acknowledged.
                        let _ = send_unsent(socket, enclosure);
                        filled += enclosure.read(&mut buffer[filled..]);
                        continue;
                    }
                    Err(_) => Io::Failed(BROKEN),
                },
                other => other,
            };
            filled += enclosure.read(&mut buffer[filled..]);
            // Bytes before an end are read first; the next call meets the end once more.
            return if filled > 0 { Io::Done(filled) } else { end };
        }
        Io::Done(filled)
    }
}

/// Sends sealed bytes; `Done` if none are left.
fn send_unsent(socket: Socket, enclosure: &mut Enclosure) -> Io {
    while !enclosure.unsent().is_empty() {
        match socket::send(socket, enclosure.unsent()) {
            Io::Done(n) => enclosure.sent(n),
            other => return other,
        }
    }
    Io::Done(0)
}
