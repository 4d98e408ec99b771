//! One HTTP/2 connection: the library with its end of the wire, the waker that it gets for a runtime, and the streams.

use super::begin::Upload;
use super::tls::Seal;
use super::wire::{Io, Wire};
use crate::http2::Http2;
use crate::timers::Key;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Builder, Connection, Handshake, SendResponse};
use http::Request;
use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Limit of resets and small frames, beyond which the library assumes an attack. It is high, so that the ruler is not
/// the limit.
const PLENTY: usize = 1 << 30;
/// Streams that were reset, remembered for what is still on its way to them.
const RESETS_REMEMBERED: usize = 10_000;

pub(super) type Accepted = (Request<RecvStream>, SendResponse<Bytes>);

/// The library's request to be polled again.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) enum State {
    Opening(Handshake<Io, Bytes>),
    Open(Connection<Io, Bytes>),
    /// The ruler has sent its last byte and waits for the client's end.
    Over,
}

/// The result of polling the library.
pub(super) enum Polled {
    Pending,
    Accepted(Box<Accepted>),
    /// The connection ends; true when the client broke a rule.
    Ended(bool),
}

/// One HTTP/2 connection.
pub(in crate::server) struct Multiplex {
    pub(super) state: State,
    pub(super) wire: Rc<RefCell<Wire>>,
    woken: Arc<Woken>,
    pub(super) waker: Waker,
    /// Requests that are not complete.
    pub(super) uploads: Vec<Upload>,
    /// Those that are, by the number of their stream.
    pub(super) streams: HashMap<u32, Key>,
    /// Streams beyond the last of a GOAWAY; dropping them would reset them.
    pub(super) beyond: Vec<Accepted>,
    pub(super) requests: u64,
    /// None over plain TCP.
    pub(super) tls: Option<Box<Seal>>,
}

impl Multiplex {
    pub(super) fn new(settings: &Http2) -> Self {
        let wire = Rc::new(RefCell::new(Wire::new()));
        let mut builder = Builder::new();
        builder
            .initial_window_size(settings.initial_window)
            .initial_connection_window_size(settings.connection_window)
            .max_frame_size(settings.max_frame)
            .max_concurrent_reset_streams(RESETS_REMEMBERED)
            .max_pending_accept_reset_streams(PLENTY)
            .max_local_error_reset_streams(None)
            .data_frame_budget(PLENTY);
        if let Some(most) = settings.max_streams {
            builder.max_concurrent_streams(most);
        }
        let woken = Arc::new(Woken::default());
        Multiplex {
            state: State::Opening(builder.handshake(Io(wire.clone()))),
            wire,
            waker: Waker::from(woken.clone()),
            woken,
            uploads: Vec::new(),
            streams: HashMap::new(),
            beyond: Vec::new(),
            requests: 0,
            tls: None,
        }
    }

    /// Returns the next bytes for the socket; TLS seals them first.
    pub(super) fn to_send<'a>(tls: &'a mut Option<Box<Seal>>, wire: &'a Wire) -> &'a [u8] {
        match tls {
            Some(tls) => tls.seal(wire.unsent()),
            None => wire.unsent(),
        }
    }

    pub(super) fn has_unsent(&self) -> bool {
        let plain = !self.wire.borrow().unsent().is_empty();
        match &self.tls {
            Some(tls) => !tls.unsent().is_empty() || (plain && tls.is_open()),
            None => plain,
        }
    }

    /// Decrypts received TLS; returns None if it is invalid.
    pub(super) fn opened(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut plain = Vec::new();
        let mut wire = self.wire.borrow_mut();
        let tls = self.tls.as_mut()?;
        let was_open = tls.is_open();
        let received = tls.receive(bytes, &mut plain);
        if !was_open && tls.is_open() {
            (wire.counts.handshakes, wire.counts.connections) = (1, 1);
        }
        match received {
            Ok(ended) => wire.at_end |= ended,
            Err(_) if !was_open => {
                wire.counts.handshakes_failed = 1;
                return None;
            }
            Err(_) => return None,
        }
        Some(plain)
    }

    /// Returns true if no stream is open.
    pub(in crate::server) fn is_idle(&self) -> bool {
        self.streams.is_empty() && self.uploads.is_empty()
    }

    /// Polls the library, which reads, writes, and returns new requests.
    pub(super) fn poll(&mut self) -> Polled {
        self.woken.0.store(false, Ordering::Relaxed);
        let mut context = Context::from_waker(&self.waker);
        if let State::Opening(handshake) = &mut self.state {
            match Pin::new(handshake).poll(&mut context) {
                Poll::Ready(Ok(connection)) => self.state = State::Open(connection),
                Poll::Ready(Err(error)) => return Polled::Ended(broke_a_rule(&error)),
                Poll::Pending => return Polled::Pending,
            }
        }
        match &mut self.state {
            State::Open(connection) => match connection.poll_accept(&mut context) {
                Poll::Ready(Some(Ok(accepted))) => Polled::Accepted(Box::new(accepted)),
                Poll::Ready(Some(Err(error))) => Polled::Ended(broke_a_rule(&error)),
                Poll::Ready(None) => Polled::Ended(false),
                Poll::Pending => Polled::Pending,
            },
            State::Opening(_) => Polled::Pending,
            State::Over => {
                self.wire.borrow_mut().discard_input();
                Polled::Pending
            }
        }
    }

    pub(super) fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::Relaxed)
    }
}

/// Neither the end of the bytes nor a GOAWAY of the client breaks a rule.
fn broke_a_rule(error: &h2::Error) -> bool {
    !error.is_io() && !error.is_remote()
}
