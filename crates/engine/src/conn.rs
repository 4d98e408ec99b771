//! One connection of one worker, and the one exchange that HTTP/1 allows on it at a time.

use crate::driver::Socket;
use plimsoll_plan::Fault;
use plimsoll_plan::program::{RequestId, StepId};
use plimsoll_wire::h1::Session;

/// No user is attached.
pub const NOBODY: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No socket, nothing to do.
    Closed,
    /// A socket on its way; an exchange waits for it.
    Connecting,
    /// A socket without an exchange.
    Idle,
    /// The kernel did not take the whole request yet.
    Sending,
    /// Sent; the answer is awaited.
    Waiting,
    /// No socket: the attempt failed, and its user comes back at the deadline.
    Pausing,
}

/// Everything about a connection in one place: an idle one costs these bytes and nothing else in user memory.
pub struct Conn {
    pub session: Session,
    /// When the exchange should have begun, began (sent), and was first answered (0: not yet); ns.
    pub intended_ns: u64,
    pub sent_ns: u64,
    pub first_ns: u64,
    /// When to give up (or to come back, in `Pausing`); 0: never.
    pub deadline_ns: u64,
    /// Connecting: when that began. Idle: since when.
    pub since_ns: u64,
    pub socket: Socket,
    /// Raised at every close, so that an event of the socket before is not taken for one of this.
    pub generation: u32,
    pub user: u32,
    pub request: RequestId,
    pub step: StepId,
    /// Bytes of the request that the kernel has taken.
    pub written: u32,
    /// Requests sent on this socket.
    pub served: u32,
    pub retransmits_seen: u32,
    /// The low-water mark while a large body comes in, bytes; 0: the kernel's own.
    pub low_water: u32,
    pub state: State,
    /// Pausing: why.
    pub fault: Fault,
    /// Failed attempts to connect in a row.
    pub failures: u8,
    /// The other side has said that it will send no more.
    pub peer_closed: bool,
    /// A send met a reset, which the kernel reports once: what is read afterwards looks like an ordinary end.
    pub reset: bool,
    /// The body goes here when its step wants it; boxed, because nearly every connection has none.
    #[allow(clippy::box_collection)]
    pub kept: Option<Box<Vec<u8>>>,
}

impl Conn {
    pub const fn new() -> Conn {
        Conn {
            session: Session::new(),
            intended_ns: 0,
            sent_ns: 0,
            first_ns: 0,
            deadline_ns: 0,
            since_ns: 0,
            socket: -1,
            generation: 0,
            user: NOBODY,
            request: 0,
            step: 0,
            written: 0,
            served: 0,
            retransmits_seen: 0,
            low_water: 0,
            state: State::Closed,
            fault: Fault::Refused,
            failures: 0,
            peer_closed: false,
            reset: false,
            kept: None,
        }
    }

    /// A request is on its way or being answered.
    pub fn in_flight(&self) -> bool {
        matches!(self.state, State::Sending | State::Waiting)
    }

    /// The token of this socket's events.
    pub fn token(&self, id: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(id)
    }
}
