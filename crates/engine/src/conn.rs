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
    /// What the parser is in the middle of.
    pub unfinished: Option<u64>,
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
    /// When the part of the answer that has begun (its head, a chunk line) must be complete; 0: none has.
    pub part_until_ns: u64,
    /// Where in the answer that part begins.
    pub part_at: u64,
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
    /// Bytes were there before its first request was sent.
    pub early: bool,
    /// The last answer counted as a failure.
    pub failed: bool,
    /// Its share of a turn was used up: it waits in the worker's list for more.
    pub unread: bool,
    /// How often the size of a read was halved, because what came in one read took more than a share of time.
    pub read_shift: u8,
    /// A send met a reset, which the kernel reports once: what is read afterwards looks like an ordinary end.
    pub reset: bool,
    /// The body goes here when its step wants it; boxed, because nearly every connection has none.
    #[allow(clippy::box_collection)]
    pub kept: Option<Box<Vec<u8>>>,
    /// There was no memory to keep the rest.
    pub short: bool,
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
            part_until_ns: 0,
            part_at: 0,
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
            early: false,
            failed: false,
            unread: false,
            read_shift: 0,
            reset: false,
            kept: None,
            short: false,
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

    /// When to look at it next, at the latest; 0: never.
    pub fn due_ns(&self) -> u64 {
        match (self.deadline_ns, self.part_until_ns) {
            (deadline_ns, 0) => deadline_ns,
            (0, part_ns) => part_ns,
            (deadline_ns, part_ns) => deadline_ns.min(part_ns),
        }
    }

    /// The body, or the head, is for somebody's eyes.
    pub fn keeps_body(&self) -> bool {
        matches!(self.body, BodyUse::Keep | BodyUse::Decide | BodyUse::Stream)
    }

    /// A stream of events has begun on it.
    pub fn is_streaming(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.is_accepted())
    }

    /// The token of this socket's events.
    pub fn token(&self, id: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(id)
    }
}
