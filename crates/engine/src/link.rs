//! A link: a socket and its protocol session. A request over it is a separate [`Exchange`](crate::exchange::Exchange);
//! an idle link costs only its own bytes.
//!
//! [`tls`] is the optional layer between the socket and the session.

mod multiplex;
mod openings;
mod session;
pub mod tls;

use crate::driver::Socket;
pub(crate) use multiplex::{Multiplex, OUT_MAX, Outgoing, Pipe};
pub(crate) use openings::Openings;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::RequestId;
pub(crate) use session::Session;

/// No link, exchange, user, or sleep: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No socket.
    Closed,
    /// No socket yet: the host is being looked up; an exchange waits for it.
    Resolving,
    /// The socket is connecting; an exchange waits for it.
    Connecting,
    /// The header of the PROXY protocol or the handshake with a proxy is in progress; an exchange waits for it.
    Tunneling,
    /// The TLS handshake is in progress; an exchange waits for it.
    Handshaking,
    /// Requests can be sent over the socket.
    Open,
}

/// How bytes get from the session to the socket. It is known before the socket exists, and reads and sends branch on
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    Sealed,
}

/// What the peer has reported about its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Speaks,
    /// It will send no more.
    Closed,
    /// A send failed with a reset, which the kernel reports only once: a later read looks like an ordinary end.
    Reset,
}

/// TLS on a link.
pub(crate) struct Secured {
    pub channel: tls::Channel,
    /// Ciphertext that the kernel has not taken yet; almost always without memory.
    pub unsent: Vec<u8>,
    /// Start of the handshake.
    pub begun_ns: u64,
}

/// A socket and its session. Two cache lines: ten thousand of them are visited in random order.
pub(crate) struct Link {
    pub session: Session,
    /// While resolving, connecting, or handshaking: the time when that began, the last two together. While idle: the
    /// time since when.
    pub since_ns: u64,
    pub tls: Option<Box<Secured>>,
    pub socket: Socket,
    /// Incremented at every close, so that an event of the previous socket is not applied to this one.
    pub generation: u32,
    /// HTTP/1: the exchange in progress, including one that waits for the link; `NONE` if idle.
    pub exchange: u32,
    /// The request of the last exchange: bytes that arrive while none is in progress are counted there.
    pub request: RequestId,
    /// The next link held by the same user.
    pub next: u32,
    /// Index of its target address, counted over all origins.
    pub address: u32,
    /// Requests sent on this socket.
    pub served: u32,
    pub retransmits_seen: u32,
    /// The low-water mark while a large body arrives, bytes; 0: the kernel's default.
    pub low_water: u32,
    /// The target's origin; it never changes, because requests to another origin have separate links.
    pub origin: OriginId,
    pub state: State,
    pub way: Way,
    pub peer: Peer,
    /// Bytes arrived before the first request was sent.
    pub early: bool,
    /// The last response counted as a failure.
    pub failed: bool,
    /// Its share of an event-loop iteration was used up: it waits in the worker's list for more.
    pub unread: bool,
    /// How often the read size was halved because one read took longer than a share.
    pub read_shift: u8,
    /// Consecutive failed attempts to connect.
    pub failures: u8,
}

impl Link {
    pub fn new(origin: OriginId, session: Session) -> Link {
        Link {
            origin,
            session,
            since_ns: 0,
            tls: None,
            socket: -1,
            generation: 0,
            exchange: NONE,
            request: 0,
            next: NONE,
            address: 0,
            served: 0,
            retransmits_seen: 0,
            low_water: 0,
            state: State::Closed,
            way: Way::Plain,
            peer: Peer::Speaks,
            early: false,
            failed: false,
            unread: false,
            read_shift: 0,
            failures: 0,
        }
    }

    /// Returns whether its host is unknown, or TCP, the tunnel of a proxy, or TLS is not established yet.
    pub fn is_opening(&self) -> bool {
        matches!(self.state, State::Resolving | State::Connecting | State::Tunneling | State::Handshaking)
    }

    /// Returns whether it is open, and the server has not sent the settings of HTTP/2.
    pub fn is_unsettled(&self) -> bool {
        match &self.session {
            Session::H1(_) => false,
            Session::H2(multiplex) => self.state == State::Open && multiplex.is_unsettled(),
        }
    }

    /// Returns whether it is open and has no exchange.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        let has_exchange = match &self.session {
            Session::H1(_) => self.exchange != NONE,
            Session::H2(multiplex) => !multiplex.is_at_rest(),
        };
        self.state == State::Open && !has_exchange
    }

    /// Returns whether the peer will send no more.
    pub fn is_peer_closed(&self) -> bool {
        self.peer != Peer::Speaks
    }

    /// Notes that the peer will send no more; an earlier reset of a send stays known.
    pub fn peer_closes(&mut self) {
        if self.peer == Peer::Speaks {
            self.peer = Peer::Closed;
        }
    }

    /// Returns the token of this socket's events.
    pub fn token(&self, id: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(id)
    }
}

#[cfg(test)]
mod tests {
    use super::Link;

    #[test]
    fn a_link_is_two_cache_lines() {
        assert_eq!(size_of::<Link>(), 128);
    }
}
