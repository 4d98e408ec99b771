//! One connection of one worker, and the one exchange that HTTP/1 allows on it at a time.

use crate::driver::Socket;
use crate::link::tls::Link;
use plimsoll_plan::Fault;
use plimsoll_plan::program::{BodyUse, RequestId, StepId};
use plimsoll_wire::h1::{Ask, Session};
use plimsoll_wire::sse;

/// No user is attached.
pub const NOBODY: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No socket, nothing to do.
    Closed,
    /// A socket on its way; an exchange waits for it.
    Connecting,
    /// A socket whose TLS handshake is under way; an exchange waits for it.
    Handshaking,
    /// A socket without an exchange.
    Idle,
    /// The kernel did not take the whole request yet.
    Sending,
    /// Sent; the answer is awaited.
    Waiting,
    /// No socket: the attempt failed, and its user comes back at the deadline.
    Pausing,
}

/// TLS on a connection.
pub struct Secured {
    pub link: Link,
    /// Ciphertext that the kernel has not taken yet; without memory nearly always.
    pub unsent: Vec<u8>,
}

/// An answer that is a stream of events.
pub struct OpenStream {
    pub parser: sse::Parser,
    pub status: u16,
    /// When the last event came; 0: none has.
    pub last_event_ns: u64,
}

impl OpenStream {
    /// Its head said that it begins.
    pub fn is_accepted(&self) -> bool {
        (200..300).contains(&self.status)
    }
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
    /// The next connection that the same program uses.
    pub next: u32,
    /// From the send, ns; 0: the plan's.
    pub timeout_ns: u64,
    /// Bytes of the request that the kernel has taken.
    pub written: u32,
    /// Requests sent on this socket.
    pub served: u32,
    pub retransmits_seen: u32,
    /// The low-water mark while a large body comes in, bytes; 0: the kernel's own.
    pub low_water: u32,
    pub state: State,
    pub ask: Ask,
    pub body: BodyUse,
    /// The program says whether the answer is a failure.
    pub judged: bool,
    /// The program has been shown the head.
    pub head_shown: bool,
    /// The stream is to be ended by us, as soon as it has begun.
    pub cancelled: bool,
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
    /// Of those, the bytes of the head.
    pub kept_head: u32,
    /// A request that was rendered for this exchange and is not wholly sent.
    #[allow(clippy::box_collection)]
    pub out: Option<Box<Vec<u8>>>,
    pub tls: Option<Box<Secured>>,
    pub stream: Option<Box<OpenStream>>,
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
            next: NOBODY,
            timeout_ns: 0,
            written: 0,
            served: 0,
            retransmits_seen: 0,
            low_water: 0,
            state: State::Closed,
            ask: Ask { head_only: false, http10: false, close: false },
            body: BodyUse::Discard,
            judged: false,
            head_shown: false,
            cancelled: false,
            fault: Fault::Refused,
            failures: 0,
            peer_closed: false,
            reset: false,
            kept: None,
            kept_head: 0,
            out: None,
            tls: None,
            stream: None,
        }
    }

    /// A request is on its way or being answered.
    pub fn in_flight(&self) -> bool {
        matches!(self.state, State::Sending | State::Waiting)
    }

    /// The body, or the head, is for somebody's eyes.
    pub fn keeps_body(&self) -> bool {
        matches!(self.body, BodyUse::Keep | BodyUse::Decide | BodyUse::Stream)
    }

    /// The token of this socket's events.
    pub fn token(&self, id: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(id)
    }
}
