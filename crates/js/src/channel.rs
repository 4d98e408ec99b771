//! WebSockets and streams of events that scripts open: `k6/ws`, `k6/websockets`, `k6/x/sse`.
//!
//! A channel is one of either. What arrives on it is kept until the script takes it: a function that blocks takes it
//! with `channelNext`, and the event loop passes it to the sink of a channel that has one.

mod open;
mod wake;

pub use open::Opening;
pub use wake::{event, head, interrupted, message, reached, reply, slept};

use crate::host::Host;
use crate::vu::{Arrived, Vu};
use plimsoll_plan::Fault;
use plimsoll_plan::program::{MessageKind, RequestId, StepId};
use plimsoll_quickjs::Value;
use plimsoll_script::watch::{Ledger, Watch};
use plimsoll_wire::ws::close;
use std::collections::VecDeque;

/// Pings that wait for their pong: more than a server leaves unanswered unless it answers none.
const PINGS_MAX: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Socket,
    Events,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Waits for its origin.
    Reaching,
    /// The request is sent.
    Opening,
    Open,
    /// The script has closed it, or its head was not accepted.
    Closing,
    /// Nothing takes what arrives: the iteration has left it.
    Left,
    Ended,
}

/// What has arrived on a channel.
pub enum News {
    Open,
    Text(String),
    Binary(Vec<u8>),
    Ping,
    Pong,
    Event {
        id: String,
        name: String,
        data: String,
    },
    /// A timer of the socket has expired.
    Timer(StepId),
    End(End),
}

/// The end of a channel.
pub struct End {
    /// What went wrong; empty if nothing did.
    pub error: String,
    /// The code of the close frame, or 1006 if there was none.
    pub code: u16,
    pub reason: String,
    pub was_clean: bool,
}

/// A WebSocket, or a stream of events.
pub struct Channel {
    /// As the modules know it.
    pub number: u32,
    pub kind: Kind,
    pub opening: Opening,
    pub status: u16,
    /// The head of the response.
    pub head: Vec<u8>,
    pub error: String,
    /// The function that the event loop calls with what arrives.
    pub sink: Option<Value>,
    phase: Phase,
    /// The step in progress: the wait for an origin, or the request.
    step: StepId,
    series: Option<RequestId>,
    ledger: Ledger,
    watch: Option<Watch>,
    fault: Option<Fault>,
    is_redirect: bool,
    /// Code and reason of the close frame that was received, and the code of the one that was sent.
    received: Option<(u16, String)>,
    sent_code: Option<u16>,
    /// Payloads and times of pings without a pong, the oldest first, ns.
    pings: VecDeque<(Vec<u8>, u64)>,
    pings_sent: u64,
    timers: Vec<StepId>,
    queue: VecDeque<News>,
}

impl Channel {
    /// Returns a channel that is not started.
    pub fn new(number: u32, kind: Kind, opening: Opening, ledger: Ledger, sink: Option<Value>) -> Channel {
        Channel {
            number,
            kind,
            opening,
            status: 0,
            head: Vec::new(),
            error: String::new(),
            sink,
            phase: Phase::Reaching,
            step: StepId::MAX,
            series: None,
            ledger,
            watch: None,
            fault: None,
            is_redirect: false,
            received: None,
            sent_code: None,
            pings: VecDeque::new(),
            pings_sent: 0,
            timers: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    /// Keeps what has arrived; returns whether the fiber can continue.
    fn push(&mut self, vu: &Vu, news: News) -> bool {
        if self.phase == Phase::Left {
            return false;
        }
        self.queue.push_back(news);
        match self.sink {
            Some(_) => vu.arrive(StepId::MAX, Arrived::News(self.number)),
            None => vu.awaited_channel.get() == Some(self.number),
        }
    }

    /// Takes the oldest of what has arrived.
    pub fn pop(&mut self) -> Option<News> {
        self.queue.pop_front()
    }

    /// Ends it: nothing follows. Returns whether the fiber can continue.
    fn end(&mut self, host: &Host, vu: &Vu, error: String, was_clean: bool) -> bool {
        self.end_timers(host);
        let (code, reason) = match (self.received.take(), self.sent_code) {
            (Some(received), _) => received,
            (None, Some(sent)) => (sent, String::new()),
            (None, None) => (close::ABNORMAL, String::new()),
        };
        self.error.clone_from(&error);
        let can_continue = self.push(vu, News::End(End { error, code, reason, was_clean }));
        self.phase = Phase::Ended;
        can_continue
    }

    fn end_timers(&mut self, host: &Host) {
        for step in self.timers.drain(..) {
            host.cancel(step);
        }
    }

    /// Sends a message; returns false if the socket is not open.
    pub fn send(&mut self, host: &Host, kind: MessageKind, payload: &[u8]) -> bool {
        if self.phase != Phase::Open {
            return false;
        }
        host.out.borrow_mut().send(self.step, kind, payload);
        true
    }

    /// Sends a ping with a number; returns false if the socket is not open.
    pub fn ping(&mut self, host: &Host) -> bool {
        let payload = self.pings_sent.to_string().into_bytes();
        if !self.send(host, MessageKind::Ping, &payload) {
            return false;
        }
        self.pings_sent += 1;
        self.pings.push_back((payload, host.at.get().run_ns));
        if self.pings.len() > PINGS_MAX {
            self.pings.pop_front();
        }
        true
    }

    /// Begins the end of a channel, for the script; its reply completes it.
    pub fn close(&mut self, host: &Host, vu: &Vu, code: u16, reason: &str) {
        match (self.phase, self.kind) {
            (Phase::Open, Kind::Socket) => {
                self.send(host, MessageKind::Close(code), reason.as_bytes());
                self.sent_code = Some(code);
            }
            (Phase::Open, Kind::Events) => {
                host.cancel(self.step);
            }
            (Phase::Reaching | Phase::Opening, _) => {
                let is_unsent = host.cancel(self.step) || self.phase == Phase::Reaching;
                self.error = "closed before the connection was established".to_owned();
                if is_unsent {
                    let error = self.error.clone();
                    self.end(host, vu, error, false);
                    return;
                }
            }
            (Phase::Closing | Phase::Left | Phase::Ended, _) => return,
        }
        self.phase = Phase::Closing;
    }

    /// Begins a timer of the socket; returns its number.
    pub fn timer(&mut self, host: &Host, vu: &Vu, delay_ns: u64) -> StepId {
        let step = vu.step();
        host.out.borrow_mut().sleep(step, delay_ns);
        self.timers.push(step);
        step
    }

    /// Leaves it at the end of the iteration, or of the function that opened it. Returns whether its reply is to come.
    fn leave(&mut self, host: &Host) -> bool {
        self.end_timers(host);
        self.queue.clear();
        self.sink = None;
        let is_over = match (self.phase, self.kind) {
            (Phase::Open, Kind::Socket) => {
                self.send(host, MessageKind::Close(close::GOING_AWAY), b"");
                false
            }
            (Phase::Open, Kind::Events) | (Phase::Opening | Phase::Reaching, _) => {
                host.cancel(self.step) || self.phase == Phase::Reaching
            }
            (Phase::Closing | Phase::Left, _) => false,
            (Phase::Ended, _) => true,
        };
        self.phase = Phase::Left;
        !is_over
    }

    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }
}

impl Vu {
    /// Passes a channel to a function; `None` if it has ended and was released.
    pub fn with_channel<R>(&self, number: u32, act: impl FnOnce(&mut Channel) -> R) -> Option<R> {
        self.channels.borrow_mut().iter_mut().find(|one| one.number == number).map(act)
    }

    /// Leaves a channel, which closes it.
    pub fn release_channel(&self, host: &Host, number: u32) {
        self.channels.borrow_mut().retain_mut(|one| one.number != number || one.leave(host));
    }

    /// Leaves all channels.
    pub fn release_channels(&self, host: &Host) {
        self.channels.borrow_mut().retain_mut(|one| one.leave(host));
    }
}
