//! A connection inside TLS with a proxy: all its bytes are sealed, even if TLS with the server has sealed them already.
//! The reader and the writer of the connection see none of it.

use super::{Channel, TlsFault};

/// The outer TLS of one connection, after its handshake.
pub struct Enclosure {
    channel: Channel,
    /// Opened bytes; those before `at` are read.
    plain: Vec<u8>,
    at: usize,
    /// Sealed bytes that have not been sent.
    unsent: Vec<u8>,
}

impl Enclosure {
    /// Begins after the handshake; `plain` and `unsent` are what it has left over.
    pub fn new(channel: Channel, plain: Vec<u8>, unsent: Vec<u8>) -> Enclosure {
        Enclosure { channel, plain, at: 0, unsent }
    }

    /// Moves opened bytes into `into`; returns their number.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let n = into.len().min(self.plain.len() - self.at);
        into[..n].copy_from_slice(&self.plain[self.at..self.at + n]);
        self.at += n;
        if self.at == self.plain.len() {
            // An idle connection holds no memory.
            (self.plain, self.at) = (Vec::new(), 0);
        }
        n
    }

    /// Opens received bytes, which are overwritten.
    ///
    /// # Errors
    /// Returns an error after which the connection cannot be used; opened bytes before it can be read.
    pub fn open(&mut self, cipher: &mut [u8]) -> Result<(), TlsFault> {
        self.channel.feed(cipher, &mut self.plain, &mut self.unsent)
    }

    /// Seals bytes.
    ///
    /// # Errors
    /// Returns an error after which the connection cannot be used.
    pub fn seal(&mut self, bytes: &[u8]) -> Result<(), TlsFault> {
        self.channel.seal(bytes, &mut self.unsent)
    }

    /// Seals the farewell.
    pub fn close(&mut self) {
        self.channel.close(&mut self.unsent);
    }

    /// Returns whether the proxy sends no more.
    pub fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    /// Returns the sealed bytes that have not been sent.
    pub fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// Removes the first `n` sealed bytes, which are sent.
    pub fn sent(&mut self, n: usize) {
        match n == self.unsent.len() {
            true => self.unsent = Vec::new(),
            false => drop(self.unsent.drain(..n)),
        }
    }
}

impl std::fmt::Debug for Enclosure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enclosure")
            .field("plain_bytes", &(self.plain.len() - self.at))
            .field("unsent_bytes", &self.unsent.len())
            .finish_non_exhaustive()
    }
}
