//! The simulated door: a network and a clock made of numbers, so that a test of the worker is exact and takes no time.
//!
//! Time advances only in [`Door::wait`], which jumps to the next event. Readiness follows epoll's edge-triggered rules:
//! each arrival of bytes, an end, or room is reported once, with all flags that apply at that moment. Sockets are
//! numbered upwards and never reused, so an event of a closed socket cannot match another one by chance.

mod door;
mod net;

pub use door::SimDoor;

use super::TcpFacts;
use net::{SimEvent, State};
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// A request as the scripted server sees it.
#[derive(Debug)]
pub struct SimRequest<'a> {
    /// Connections are numbered from 0 in the order of their attempts.
    pub connection: u64,
    /// The number of earlier requests on this connection, and on all.
    pub number: u64,
    pub total: u64,
    /// The time when its last byte arrived at the server.
    pub now_ns: u64,
    pub bytes: &'a [u8],
}

/// The result of a connection attempt.
#[derive(Debug, Clone, Copy)]
pub enum Connect {
    /// Established after one round trip and this delay.
    Accept { after_ns: u64 },
    /// As `Accept`, but the server sends these bytes immediately, before any request, and closes if `close` is set.
    Greet { bytes: &'static [u8], close: bool },
    /// Refused after one round trip.
    Refuse,
    /// Never completes.
    Never,
    /// The client's machine refuses immediately.
    Errno(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Stay,
    Close,
    Reset,
}

/// A response in pieces, each this many ns after the previous one; then the connection stays open or closes.
#[derive(Debug, Clone)]
pub struct Answer {
    pieces: Vec<(u64, Vec<u8>)>,
    then: Then,
    is_apart: bool,
}

impl Answer {
    /// Creates an empty response.
    pub fn silence() -> Answer {
        Answer { pieces: Vec::new(), then: Then::Stay, is_apart: false }
    }

    /// Creates a plain response with a body of two bytes.
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

    /// Sends each piece this many ns after the request, without waiting for earlier responses of the connection, as the
    /// streams of HTTP/2 do. The end follows the last of these pieces.
    pub fn interleave(mut self) -> Answer {
        self.is_apart = true;
        self
    }
}

/// The server's side.
pub trait Server {
    fn connect(&mut self, _connection: u64, _now_ns: u64) -> Connect {
        Connect::Accept { after_ns: 0 }
    }

    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer;

    /// Handles bytes as they arrive, for a server that does not speak plain HTTP/1; `None`: requests are extracted from
    /// them and passed to [`Server::answer`].
    fn heard(&mut self, _connection: u64, _now_ns: u64, _bytes: &[u8]) -> Option<Answer> {
        None
    }
}

impl<F: FnMut(&SimRequest<'_>) -> Answer> Server for F {
    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer {
        self(asked)
    }
}

/// The behavior of the network and the machine.
#[derive(Debug, Clone)]
pub struct SimConditions {
    /// One way, ns.
    pub latency_ns: u64,
    /// Duration of each clock reading, and of each other call, ns.
    pub clock_cost_ns: u64,
    pub call_cost_ns: u64,
    /// The kernel takes at most this many bytes until a round trip has acknowledged them.
    pub send_window: usize,
    /// (at, for): periods in which the machine stalls; in order of time.
    pub stalls: Vec<(u64, u64)>,
    /// TCP facts reported for every connection.
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

/// The number of calls of each kind, and the number of sockets.
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

/// The network as used by a test; the door is the worker's side of it.
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

    /// Returns the target and the source of every connection attempt, in order.
    pub fn opened(&self) -> Vec<(SocketAddr, Option<IpAddr>)> {
        self.state.borrow().opened.clone()
    }

    /// Wakes the worker at `at_ns`, as another thread would.
    pub fn wake_at(&self, at_ns: u64) {
        self.state.borrow_mut().later(at_ns, SimEvent::Wake);
    }
}
