//! The false door: a network and a clock made of numbers, so that a test of the worker is exact and takes no time.
//!
//! Time stands still except in [`Door::wait`], which jumps to the next thing that happens. Readiness follows epoll's
//! edge-triggered rules: each arrival of bytes, end or room is reported once, with everything true at that moment.
//! Sockets are numbered upwards and never used twice, so that an event of a closed one cannot hit another by luck.

mod door;
mod net;

pub use door::SimDoor;

use super::TcpFacts;
use net::{SimEvent, State};
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// What a scripted server is asked.
#[derive(Debug)]
pub struct SimRequest<'a> {
    /// Connections are numbered from 0 in the order of their attempts.
    pub connection: u64,
    /// Requests before this one on this connection, and on all.
    pub number: u64,
    pub total: u64,
    /// When its last byte arrived at the server.
    pub now_ns: u64,
    pub bytes: &'a [u8],
}

/// What happens to a connection attempt.
#[derive(Debug, Clone, Copy)]
pub enum Connect {
    /// Established after one round trip and this long.
    Accept { after_ns: u64 },
    /// As `Accept`, and the server sends these bytes unasked at once, and closes if told so.
    Greet { bytes: &'static [u8], close: bool },
    /// Refused after one round trip.
    Refuse,
    /// No answer, ever.
    Never,
    /// The machine itself says no, at once.
    Errno(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Stay,
    Close,
    Reset,
}

/// An answer in pieces, each so many ns after the one before; then the connection stays or goes.
#[derive(Debug, Clone)]
pub struct Answer {
    pieces: Vec<(u64, Vec<u8>)>,
    then: Then,
}

impl Answer {
    /// Nothing at all.
    pub fn silence() -> Answer {
        Answer { pieces: Vec::new(), then: Then::Stay }
    }

    /// A plain answer of two body bytes.
    pub fn ok(after_ns: u64) -> Answer {
        Answer::silence().piece(after_ns, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }

    pub fn piece(mut self, after_ns: u64, bytes: &[u8]) -> Answer {
        self.pieces.push((after_ns, bytes.to_vec()));
        self
    }

    pub fn then(mut self, then: Then) -> Answer {
        self.then = then;
        self
    }
}

/// The other side.
pub trait Server {
    fn connect(&mut self, _connection: u64, _now_ns: u64) -> Connect {
        Connect::Accept { after_ns: 0 }
    }

    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer;

    /// Bytes as they arrive, for a server that does not speak plain HTTP/1; `None`: requests are cut out of them and
    /// shown to [`Server::answer`].
    fn heard(&mut self, _connection: u64, _bytes: &[u8]) -> Option<Answer> {
        None
    }
}

impl<F: FnMut(&SimRequest<'_>) -> Answer> Server for F {
    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer {
        self(asked)
    }
}

/// How the network and the machine behave.
#[derive(Debug, Clone)]
pub struct SimConditions {
    /// One way, ns.
    pub latency_ns: u64,
    /// Each reading of the clock, and each other call, takes this long, ns.
    pub clock_cost_ns: u64,
    pub call_cost_ns: u64,
    /// The kernel takes at most this many bytes until a round trip has acknowledged them.
    pub send_window: usize,
    /// (at, for): the machine does nothing for a while; in order of time.
    pub stalls: Vec<(u64, u64)>,
    /// What TCP says of every connection.
    pub facts: TcpFacts,
}

impl Default for SimConditions {
    fn default() -> SimConditions {
        SimConditions {
            latency_ns: 0,
            clock_cost_ns: 0,
            call_cost_ns: 0,
            send_window: usize::MAX,
            stalls: Vec::new(),
            facts: TcpFacts::default(),
        }
    }
}

/// How often each call was made, and how many sockets there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    pub open: u64,
    pub send: u64,
    pub recv: u64,
    pub discard: u64,
    pub wait: u64,
    pub close: u64,
    pub open_now: u64,
    pub open_max: u64,
}

/// The network as a test holds it; the door is the worker's side of it.
#[derive(Clone)]
pub struct Network {
    state: Rc<RefCell<State>>,
}

impl Network {
    pub fn new(begin_ns: u64, nature: SimConditions, server: impl Server + 'static) -> Network {
        let state = State::new(begin_ns, nature, Box::new(server));
        Network { state: Rc::new(RefCell::new(state)) }
    }

    pub fn door(&self) -> SimDoor {
        SimDoor { state: Rc::clone(&self.state), ready: Vec::new() }
    }

    pub fn now_ns(&self) -> u64 {
        self.state.borrow().now_ns
    }

    pub fn calls(&self) -> Calls {
        self.state.borrow().calls
    }

    /// Where every attempt to connect went, and from where, in their order.
    pub fn opened(&self) -> Vec<(SocketAddr, Option<IpAddr>)> {
        self.state.borrow().opened.clone()
    }

    /// Wakes the worker at `at_ns`, as another thread would.
    pub fn wake_at(&self, at_ns: u64) {
        self.state.borrow_mut().later(at_ns, SimEvent::Wake);
    }
}
