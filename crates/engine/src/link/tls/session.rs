//! One connection's TLS, independent of how its bytes are transferred.
//!
//! rustls decrypts in place and reports how many bytes it has finished with. It may need bytes again that it has
//! decrypted already (a handshake message in several records), so unfinished bytes are kept as it left them. All other
//! bytes stay in the caller's buffers, and an idle channel owns none.

use super::{Setup, TlsFault};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError, UnbufferedStatus,
    WriteTraffic,
};
use rustls::{HandshakeKind, ProtocolVersion};
use std::sync::Arc;

/// A record's header, and the most that a record adds to its data: header, explicit nonce of 8 and tag of 16 (RFC
/// 5288), type of 1 (RFC 8446, section 5.2), rounded up.
const HEADER: usize = 5;
const OVERHEAD: usize = 32;
/// Most data in one record (RFC 8446, section 5.1).
const RECORD: usize = 1 << 14;

/// One connection. After an error, the channel is dead, but the bytes in `out` (an alert) should still be sent.
pub struct Channel {
    connection: UnbufferedClientConnection,
    /// Received bytes that are still needed; almost always without capacity.
    kept: Vec<u8>,
    /// Number of bytes at the end of `kept` that belong to an incomplete record.
    tail: usize,
    /// The first byte has arrived, and it belongs to TLS.
    greeted: bool,
    ready: bool,
    closed: bool,
    /// The client's close_notify has been written.
    closing: bool,
    /// An error has been reported. rustls must not read again after that: it would look for a handshake message in
    /// bytes that are gone.
    dead: bool,
}

/// The negotiated parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a> {
    /// 12 or 13.
    pub version: u8,
    /// As IANA names it, e.g. `TLS13_AES_256_GCM_SHA384`.
    pub suite: &'static str,
    pub resumed: bool,
    /// Absent: the server chose none.
    pub alpn: Option<&'a [u8]>,
}

/// The action to take once application data may be written.
enum Then<'a> {
    Rest,
    Seal(&'a [u8]),
    Close,
}

impl Channel {
    /// Begins the handshake; the ClientHello is appended to `out`.
    ///
    /// # Errors
    /// Returns only `Internal` errors: nothing has been sent to the server yet.
    pub fn new(setup: &Setup, out: &mut Vec<u8>) -> Result<Channel, TlsFault> {
        Channel::of_client(setup, 0, out)
    }

    /// Like [`Channel::new`], with the certificate of a client; numbers beyond the last begin again.
    ///
    /// # Errors
    /// Returns only `Internal` errors.
    pub fn of_client(setup: &Setup, client: usize, out: &mut Vec<u8>) -> Result<Channel, TlsFault> {
        let config = Arc::clone(setup.config_of(client));
        let connection =
            UnbufferedClientConnection::new(config, setup.name.clone()).map_err(|e| TlsFault::of(&e))?;
        let mut channel = Channel {
            connection,
            kept: Vec::new(),
            tail: 0,
            greeted: false,
            ready: false,
            closed: false,
            closing: false,
            dead: false,
        };
        channel.turn(&mut [], &mut Vec::new(), out, Then::Rest)?;
        Ok(channel)
    }

    /// Takes ciphertext of any length, which is overwritten; appends plaintext to `plain` and bytes to send (handshake,
    /// alerts) to `out`. Bytes after the peer's close_notify are ignored (RFC 8446, section 6.1).
    ///
    /// # Errors
    /// After an error, the channel is dead; `plain` contains the data before it, and `out` may contain an alert. The
    /// caller must judge an end of the connection without [`Channel::is_closed`]: only HTTP can tell whether something
    /// is missing.
    pub fn feed(
        &mut self,
        cipher: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), TlsFault> {
        if self.dead {
            return Err(dead());
        }
        if !self.greeted && !self.greet(cipher)? {
            return Ok(());
        }
        let mut rest = cipher;
        // Copy only the bytes that complete one record to the kept ones: the other records are decrypted in place.
        while !self.kept.is_empty() && !rest.is_empty() && !self.closed {
            let wanting = lacking(&self.kept[self.kept.len() - self.tail..]);
            let (more, others) = rest.split_at_mut(wanting.min(rest.len()));
            rest = others;
            self.kept.extend_from_slice(more);
            self.tail += more.len();
            let record = &self.kept[self.kept.len() - self.tail..];
            if record.len() >= HEADER && lacking(record) == 0 {
                self.tail = 0;
            }
            let mut kept = std::mem::take(&mut self.kept);
            let used = self.turn(&mut kept, plain, out, Then::Rest)?;
            self.keep(kept, used);
        }
        if rest.is_empty() || self.closed {
            return Ok(());
        }
        let tail = unfinished(rest);
        let used = self.turn(rest, plain, out, Then::Rest)?;
        let left = rest.get(used..).unwrap_or_default();
        if !left.is_empty() && !self.closed {
            self.kept.reserve_exact(left.len() + lacking(&left[left.len() - tail..]));
            self.kept.extend_from_slice(left);
            self.tail = tail;
        }
        Ok(())
    }

    /// Encrypts application data of any length and appends the records to `out`. If the server requested new keys, the
    /// response to that goes first.
    ///
    /// # Errors
    /// Returns `Internal` before [`Channel::is_ready`], after [`Channel::close`], and when the keys are used up.
    pub fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsFault> {
        if self.dead {
            return Err(dead());
        }
        if !self.ready || self.closing {
            let when = if self.closing { "after the end" } else { "before the handshake is complete" };
            return Err(TlsFault::internal(format!("application data {when} of a TLS connection")));
        }
        self.write(Then::Seal(plain), out)
    }

    /// Returns whether the handshake is complete, so that application data may be sealed.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Returns whether the peer has said that it will send no more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Appends the client's close_notify, once. Does nothing before the handshake is complete, or if the channel is
    /// dead.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        if self.ready && !self.closing && !self.dead {
            self.closing = true;
            // An error means that the channel is dead and has sent its alert already.
            let _ = self.write(Then::Close, out);
        }
    }

    /// Returns the negotiated parameters; `None` before [`Channel::is_ready`].
    pub fn facts(&self) -> Option<Facts<'_>> {
        let version = match self.connection.protocol_version()? {
            ProtocolVersion::TLSv1_3 => 13,
            _ => 12,
        };
        let suite = self.connection.negotiated_cipher_suite()?.suite().as_str()?;
        let resumed = self.connection.handshake_kind()? == HandshakeKind::Resumed;
        self.ready.then_some(Facts { version, suite, resumed, alpn: self.connection.alpn_protocol() })
    }

    /// Checks the very first bytes; returns true if they may be processed. The first byte reveals a server that does
    /// not use TLS, but naming its protocol takes a few more bytes, which usually arrive in the same segment.
    fn greet(&mut self, cipher: &[u8]) -> Result<bool, TlsFault> {
        let first = if self.kept.is_empty() { cipher } else { &self.kept };
        match first.first() {
            None => Ok(false),
            // The record types that may come first: alert and handshake (RFC 8446, section 5.1).
            Some(0x15 | 0x16) => {
                self.greeted = true;
                Ok(true)
            }
            Some(_) => {
                self.kept.extend_from_slice(cipher);
                if self.kept.len() < HEADER {
                    return Ok(false);
                }
                self.dead = true;
                Err(TlsFault::stranger(&self.kept))
            }
        }
    }

    /// Keeps the part of `kept` after `used`; holds no memory if that is empty.
    fn keep(&mut self, mut kept: Vec<u8>, used: usize) {
        if used >= kept.len() || self.closed {
            self.tail = 0;
            return;
        }
        kept.drain(..used);
        if self.tail > 0 {
            kept.reserve_exact(lacking(&kept[kept.len() - self.tail..]));
        }
        self.kept = kept;
    }

    fn write(&mut self, then: Then<'_>, out: &mut Vec<u8>) -> Result<(), TlsFault> {
        // rustls needs the unfinished bytes in every call, even if it reads nothing.
        let mut kept = std::mem::take(&mut self.kept);
        let result = self.turn(&mut kept, &mut Vec::new(), out, then);
        self.keep(kept, *result.as_ref().unwrap_or(&0));
        result.map(|_| ())
    }

    /// Runs rustls on `cipher` until it needs more; returns how many bytes of it are finished.
    fn turn(
        &mut self,
        cipher: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        then: Then<'_>,
    ) -> Result<usize, TlsFault> {
        let result = self.states(cipher, plain, out, then);
        self.dead |= result.is_err();
        result
    }

    fn states(
        &mut self,
        cipher: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        mut then: Then<'_>,
    ) -> Result<usize, TlsFault> {
        let mut used = 0;
        let error = loop {
            let UnbufferedStatus { discard, state, .. } =
                self.connection.process_tls_records(&mut cipher[used..]);
            let mut done = false;
            match state {
                Err(error) => break error,
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(|e| TlsFault::of(&e))?;
                        plain.extend_from_slice(record.payload);
                        used += record.discard;
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => encode(&mut data, out)?,
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.closed = true,
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    self.ready = true;
                    match std::mem::replace(&mut then, Then::Rest) {
                        Then::Rest => {}
                        Then::Seal(data) => encrypt(&mut traffic, data, out)?,
                        Then::Close => grow(out, OVERHEAD, |room| traffic.queue_close_notify(room))?,
                    }
                    done = true;
                }
                Ok(ConnectionState::BlockedHandshake | ConnectionState::Closed) => done = true,
                Ok(other) => return Err(TlsFault::internal(format!("unexpected TLS state `{other:?}`"))),
            }
            used += discard;
            if done {
                return Ok(used);
            }
        };
        self.last_words(out)?;
        Err(TlsFault::of(&error))
    }

    /// Writes the alert that rustls sends after an error. The error leaves the state of the bytes unclear, so rustls
    /// must not see them again: while it wants to write, it reads none.
    fn last_words(&mut self, out: &mut Vec<u8>) -> Result<(), TlsFault> {
        while self.connection.wants_write() {
            match self.connection.process_tls_records(&mut []).state {
                Ok(ConnectionState::EncodeTlsData(mut data)) => encode(&mut data, out)?,
                _ => break,
            }
        }
        Ok(())
    }
}

fn dead() -> TlsFault {
    TlsFault::internal("a TLS connection was used after an error")
}

fn encode(data: &mut EncodeTlsData<'_, ClientConnectionData>, out: &mut Vec<u8>) -> Result<(), TlsFault> {
    // A first attempt without room returns the size.
    let needed = match data.encode(&mut []) {
        Ok(_) => return Ok(()),
        Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => required_size,
        Err(e) => return Err(TlsFault::internal(format!("TLS failed on the client side: {e}"))),
    };
    let start = out.len();
    out.resize(start + needed, 0);
    match data.encode(&mut out[start..]) {
        Ok(written) => {
            out.truncate(start + written);
            Ok(())
        }
        Err(e) => Err(TlsFault::internal(format!("TLS failed on the client side: {e}"))),
    }
}

fn encrypt(
    traffic: &mut WriteTraffic<'_, ClientConnectionData>,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), TlsFault> {
    let room = data.len() + (data.len() / RECORD + 1) * OVERHEAD;
    grow(out, room, |room| traffic.encrypt(data, room))
}

/// Lets `write` append to `out`: with the estimated room, then once more with the room it asks for.
fn grow(
    out: &mut Vec<u8>,
    guess: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, EncryptError>,
) -> Result<(), TlsFault> {
    let start = out.len();
    out.resize(start + guess, 0);
    let result = match write(&mut out[start..]) {
        // The response to a request for new keys goes before the data and was not in the estimate.
        Err(EncryptError::InsufficientSize(InsufficientSizeError { required_size })) => {
            out.resize(start + required_size, 0);
            write(&mut out[start..])
        }
        other => other,
    };
    out.truncate(start + *result.as_ref().unwrap_or(&0));
    result.map(|_| ()).map_err(|e| TlsFault::internal(format!("TLS can no longer encrypt: {e}")))
}

/// Returns the number of bytes that a record lacks, as far as known: those of its header first.
fn lacking(record: &[u8]) -> usize {
    match record {
        [_, _, _, high, low, data @ ..] => {
            usize::from(u16::from_be_bytes([*high, *low])).saturating_sub(data.len())
        }
        short => HEADER - short.len(),
    }
}

/// Returns how many bytes at the end belong to an incomplete record. Call it before rustls has decrypted in place.
fn unfinished(mut records: &[u8]) -> usize {
    while let [_, _, _, high, low, data @ ..] = records {
        match data.get(usize::from(u16::from_be_bytes([*high, *low]))..) {
            Some(next) => records = next,
            None => break,
        }
    }
    records.len()
}
