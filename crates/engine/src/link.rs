//! A link: a socket, and the session spoken on it. What is asked over it is an [`Exchange`](crate::exchange::Exchange)
//! of its own; a link without one is at rest, and costs its own bytes and an entry of the wheel.
//!
//! [`tls`] is what may lie between the socket and the session.

mod session;
pub mod tls;

use crate::driver::Socket;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::RequestId;
pub(crate) use session::Session;

/// No link, no exchange, no user, no sleep: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No socket.
    Closed,
    /// A socket on its way; an exchange waits for it.
    Connecting,
    /// A socket whose TLS handshake is under way; an exchange waits for it.
    Handshaking,
    /// A socket over which requests can be sent.
    Open,
}

/// How bytes get from the session to the socket. Known before the socket is: what a read or a send branches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    Sealed,
}

/// What the other side has said of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Speaks,
    /// It will send no more.
    Closed,
    /// A send met a reset, which the kernel reports once: what is read afterwards looks like an ordinary end.
    Reset,
}

/// TLS on a link.
pub(crate) struct Secured {
    pub channel: tls::Channel,
    /// Ciphertext that the kernel has not taken yet; without memory nearly always.
    pub unsent: Vec<u8>,
    /// When the handshake began.
    pub begun_ns: u64,
}

/// See the module. Two cache lines; ten thousand of them are walked in random order.
pub(crate) struct Link {
    pub session: Session,
    /// Connecting, handshaking: when it was opened. At rest: since when.
    pub since_ns: u64,
    pub tls: Option<Box<Secured>>,
    pub socket: Socket,
    /// Raised at every close, so that an event of the socket before is not taken for one of this.
    pub generation: u32,
    /// The one under way, one that waits for the link included; `NONE` at rest.
    pub exchange: u32,
    /// Of the last exchange: what comes when none is under way is counted there.
    pub request: RequestId,
    /// The next link that stays with the same user.
    pub next: u32,
    /// Which of the addresses it goes to, counted over all origins.
    pub address: u32,
    /// Requests sent on this socket.
    pub served: u32,
    pub retransmits_seen: u32,
    /// The low-water mark while a large body comes in, bytes; 0: the kernel's own.
    pub low_water: u32,
    /// Where it goes; for good, as requests of another origin have links of their own.
    pub origin: OriginId,
    pub state: State,
    pub way: Way,
    pub peer: Peer,
    /// Bytes were there before its first request was sent.
    pub early: bool,
    /// The last answer counted as a failure.
    pub failed: bool,
    /// Its share of a turn was used up: it waits in the worker's list for more.
    pub unread: bool,
    /// How often the size of a read was halved, because what came in one read took more than a share of time.
    pub read_shift: u8,
    /// Failed attempts to connect in a row.
    pub failures: u8,
}

impl Link {
    pub const fn new(origin: OriginId) -> Link {
        Link {
            origin,
            session: Session::new(),
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

    /// TCP or TLS is not there yet.
    pub fn is_opening(&self) -> bool {
        matches!(self.state, State::Connecting | State::Handshaking)
    }

    /// Open, and nothing is under way on it.
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Open && self.exchange == NONE
    }

    /// The other side will send no more.
    pub fn is_peer_closed(&self) -> bool {
        self.peer != Peer::Speaks
    }

    /// The other side has said that it will send no more; that a send met a reset before stays known.
    pub fn peer_closes(&mut self) {
        if self.peer == Peer::Speaks {
            self.peer = Peer::Closed;
        }
    }

    /// When to look at it next, at the latest; 0: never.
    pub fn due_ns(&self, connect_timeout_ns: u64) -> u64 {
        if self.is_opening() { self.since_ns + connect_timeout_ns } else { 0 }
    }

    /// The token of this socket's events.
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
