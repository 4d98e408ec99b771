//! HTTP/2 over TLS: a second listener whose connections speak nothing else, by ALPN `h2`. A layer between the socket
//! and the [`Wire`](super::wire::Wire), without a runtime: bytes in, bytes out.

use super::Multiplex;
use crate::error::Error;
use crate::flags::TlsOptions;
use crate::listener;
use crate::server::Server;
use crate::server::slots::Stage;
use crate::timers::Task;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::server::ServerConnection;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Maximum plain bytes that are sealed at a time.
const SEAL_MOST: usize = 64 << 10;

/// The listener for TLS.
pub(in crate::server) struct Front {
    listener: OwnedFd,
    pub(in crate::server) address: SocketAddr,
    config: Arc<ServerConfig>,
}

impl Front {
    pub(in crate::server) fn open(options: &TlsOptions, backlog: u64) -> Result<Self, Error> {
        let unusable = |path: &Path, why: String| {
            Error::wrong(format!("cannot use `{}` for TLS: {why}", path.display()))
        };
        let chain = CertificateDer::pem_file_iter(&options.certificate)
            .and_then(Iterator::collect)
            .map_err(|error| unusable(&options.certificate, error.to_string()))?;
        let key = PrivateKeyDer::from_pem_file(&options.key)
            .map_err(|error| unusable(&options.key, error.to_string()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_no_client_auth())
            .and_then(|builder| builder.with_single_cert(chain, key))
            .map_err(|error| unusable(&options.certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        let (listener, address) = listener::open(options.listen, backlog)?;
        Ok(Front { listener, address, config: Arc::new(config) })
    }
}

impl Server {
    /// Waits for connections with TLS; edge-triggered, because [`Server::accept_tls`] accepts all that wait.
    pub(in crate::server) fn arm_tls(&mut self, token: u64) -> Result<(), Error> {
        let Some(front) = &self.tls else { return Ok(()) };
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&self.epoll, &front.listener, EventData::new_u64(token), flags)
            .map_err(Error::machine("wait for connections with TLS"))
    }

    pub(in crate::server) fn accept_tls(&mut self, now: u64) -> Result<(), Error> {
        loop {
            let Some(front) = &self.tls else { return Ok(()) };
            let config = front.config.clone();
            let socket = match accept_with(&front.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    self.recorder.counters.accept_errors += 1;
                    self.timers.push(now + crate::server::ACCEPT_REST_NS, Task::AcceptAgain);
                    return Ok(());
                }
                Err(errno) => return Err(Error::machine("accept a connection with TLS")(errno)),
            };
            let Some(key) = self.take_in(socket, now)? else { continue };
            let session = ServerConnection::new(config)
                .map_err(|error| Error::wrong(format!("cannot speak TLS: {error}")))?;
            let mut multiplex = Multiplex::new(&self.settings.service.http2);
            multiplex.tls = Some(Box::new(Seal::new(session)));
            if let Some(connection) = self.slots.get(key) {
                connection.stage = Stage::Multiplexed;
                connection.http2 = Some(Box::new(multiplex));
            }
        }
    }
}

/// One connection's TLS.
pub(super) struct Seal {
    session: ServerConnection,
    /// Sealed; the socket has taken the first `sent` bytes.
    output: Vec<u8>,
    sent: usize,
    /// Plain bytes in the output.
    plain: usize,
}

/// The progress of a write to the socket.
pub(super) enum Took {
    Part,
    /// Everything sealed was written; it had this many plain bytes.
    All(usize),
}

impl Seal {
    fn new(mut session: ServerConnection) -> Self {
        session.set_buffer_limit(None);
        Seal { session, output: Vec::new(), sent: 0, plain: 0 }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.session.is_handshaking()
    }

    /// Decrypts received bytes and appends them to `plain`; returns true if the client announced its end.
    pub(super) fn receive(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<bool, rustls::Error> {
        let mut ended = false;
        while !bytes.is_empty() {
            // Memory can be read; a failure here means that no more is accepted, which the next step reports.
            let taken = self.session.read_tls(&mut bytes).unwrap_or(0);
            let processed = self.session.process_new_packets();
            self.collect();
            let state = processed?;
            ended |= state.peer_has_closed();
            // It reports that no more bytes are available, which is the usual end.
            let _ = self.session.reader().read_to_end(plain);
            if taken == 0 {
                break;
            }
        }
        Ok(ended)
    }

    /// Seals plain bytes if nothing else waits; returns the bytes for the socket.
    pub(super) fn seal(&mut self, plain: &[u8]) -> &[u8] {
        let piece = &plain[..plain.len().min(SEAL_MOST)];
        if self.is_open() && self.output.is_empty() && !piece.is_empty() {
            // Memory without a limit takes everything.
            let _ = self.session.writer().write_all(piece);
            self.plain = piece.len();
            self.collect();
        }
        self.unsent()
    }

    /// Announces the end.
    pub(super) fn end(&mut self) {
        self.session.send_close_notify();
        self.collect();
    }

    pub(super) fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    pub(super) fn took(&mut self, bytes: usize) -> Took {
        self.sent += bytes;
        if self.sent < self.output.len() {
            return Took::Part;
        }
        self.output.clear();
        self.sent = 0;
        Took::All(std::mem::take(&mut self.plain))
    }

    fn collect(&mut self) {
        while self.session.wants_write() {
            // Memory can be written.
            let _ = self.session.write_tls(&mut self.output);
        }
    }
}
