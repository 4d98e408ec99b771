//! A simulated engine for one user: virtual time, responses from a closure, and a record of all events.
#![allow(dead_code)]

use plimsoll_plan::Fault;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{HistCell, RunSum, SumCell};
use plimsoll_plan::program::{
    At, BodyUse, Count, Ended, Event, Outbox, Payload, Phases, Program, Reply, RequestId, Step, StepId, Wake,
};

pub const MS: u64 = 1_000_000;
/// 2026-01-31T12:00:00Z
pub const UNIX_NS: u64 = 1_769_860_800_000_000_000;

/// The response of the simulated service to one request.
#[derive(Clone, Debug, Default)]
pub struct Served {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    pub after_ns: u64,
    pub fault: Option<Fault>,
    /// For a stream: time after the head in ns, id, data.
    pub events: Vec<(u64, String, String)>,
    /// For a stream: time from the head to the end by the server, in ns.
    pub end_ns: Option<u64>,
}

impl Served {
    pub fn status(status: u16) -> Served {
        Served { status, after_ns: MS, ..Served::default() }
    }

    pub fn ok(body: &str) -> Served {
        Served { body: body.into(), ..Served::status(200) }
    }

    pub fn header(mut self, name: &str, value: &str) -> Served {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub fn after(mut self, ns: u64) -> Served {
        self.after_ns = ns;
        self
    }

    pub fn fault(fault: Fault) -> Served {
        Served { fault: Some(fault), after_ns: MS, ..Served::default() }
    }
}

/// A future event.
#[derive(Debug)]
enum Ahead {
    Slept(StepId),
    Head(Step, Served),
    Event(StepId, String, String),
    Reply(Step, Served),
    /// The reply to a stream that the program has closed.
    Closed(Step, Served),
}

impl Ahead {
    fn id(&self) -> StepId {
        match self {
            Ahead::Slept(id) | Ahead::Event(id, ..) => *id,
            Ahead::Head(step, _) | Ahead::Reply(step, _) | Ahead::Closed(step, _) => step.id,
        }
    }
}

type Service = Box<dyn FnMut(&str) -> Served>;

pub struct Engine {
    pub now_ns: u64,
    program: Box<dyn Program>,
    service: Service,
    out: Outbox,
    ahead: Vec<(u64, u64, Ahead)>,
    serial: u64,
    /// Every request as text, with the time of its send.
    pub sent: Vec<(u64, String)>,
    pub steps: Vec<Step>,
    pub counts: Vec<Count>,
    pub samples: Vec<FailureExample>,
    /// Failures that the engine would count: its own faults, and those that the program reports.
    pub failures: Vec<(RequestId, Fault)>,
    pub retired: bool,
    /// The delay before the next iteration.
    rest_ns: u64,
    iteration: u64,
}

impl Engine {
    pub fn new(program: Box<dyn Program>, service: impl FnMut(&str) -> Served + 'static) -> Engine {
        Engine {
            now_ns: 0,
            program,
            service: Box::new(service),
            out: Outbox::default(),
            ahead: Vec::new(),
            serial: 0,
            sent: Vec::new(),
            steps: Vec::new(),
            counts: Vec::new(),
            samples: Vec::new(),
            failures: Vec::new(),
            retired: false,
            rest_ns: 0,
            iteration: 0,
        }
    }

    /// Runs one iteration, from its start until nothing is outstanding.
    pub fn iterate(&mut self) {
        self.begin();
        while self.step() {}
    }

    /// Runs `count` iterations, or fewer if the user retires.
    pub fn iterations(&mut self, count: u32) {
        for _ in 0..count {
            if self.retired {
                return;
            }
            self.iterate();
        }
    }

    pub fn begin(&mut self) {
        assert!(self.ahead.is_empty(), "an iteration starts after the previous one");
        let iteration = self.iteration;
        self.iteration += 1;
        self.now_ns += std::mem::take(&mut self.rest_ns);
        self.wake(None, Wake::Begin { user: 0, iteration, number: None });
    }

    /// Interrupts the iteration: nothing that it has begun is answered.
    pub fn interrupt(&mut self) {
        self.ahead.clear();
        self.wake(None, Wake::Interrupted);
    }

    /// Runs until a point in time.
    pub fn run_until(&mut self, until_ns: u64) {
        while self.ahead.iter().any(|(at, ..)| *at <= until_ns) {
            self.step();
        }
        self.now_ns = until_ns;
    }

    /// Runs the next event; returns false if nothing is outstanding.
    pub fn step(&mut self) -> bool {
        let Some(next) = (0..self.ahead.len()).min_by_key(|i| (self.ahead[*i].0, self.ahead[*i].1)) else {
            return false;
        };
        let (at_ns, _, ahead) = self.ahead.remove(next);
        self.now_ns = self.now_ns.max(at_ns);
        match ahead {
            Ahead::Slept(id) => self.wake(None, Wake::Slept { id }),
            Ahead::Event(id, event_id, data) => {
                let event_id = (!event_id.is_empty()).then_some(event_id.as_bytes());
                let event = Event { id, name: b"", data: data.as_bytes(), event_id };
                self.wake(None, Wake::Event(event));
            }
            Ahead::Head(step, served) => {
                let head = head_of(&served);
                for (after_ns, id, data) in &served.events {
                    self.later(*after_ns, Ahead::Event(step.id, id.clone(), data.clone()));
                }
                let open = (200..300).contains(&served.status);
                if let Some(end_ns) = served.end_ns.or((!open).then_some(0)) {
                    self.later(end_ns, Ahead::Reply(step, Served { events: Vec::new(), ..served.clone() }));
                } else {
                    // It stays open until one side closes it.
                    self.later(u64::MAX / 2, Ahead::Reply(step, served.clone()));
                }
                self.wake(
                    None,
                    Wake::Head { id: step.id, status: served.status, head: Head::new(head.as_bytes()) },
                );
            }
            Ahead::Reply(step, served) => self.reply(step, &served, Ended::Server),
            Ahead::Closed(step, served) => self.reply(step, &served, Ended::Client),
        }
        true
    }

    fn reply(&mut self, step: Step, served: &Served, ended: Ended) {
        self.ahead.retain(|(.., ahead)| ahead.id() != step.id);
        let head = head_of(served);
        let answered = served.fault.is_none();
        let keeps = step.body == BodyUse::Keep && answered;
        let heads = answered && !matches!(step.body, BodyUse::Discard | BodyUse::Stream);
        let reply = Reply {
            phases: Phases { first_byte_ns: served.after_ns, ..Phases::default() },
            id: step.id,
            status: if answered { served.status } else { 0 },
            fault: served.fault,
            head: Head::new(if heads { head.as_bytes() } else { b"" }),
            body: if keeps { &served.body } else { b"" },
            body_bytes: served.body.len() as u64,
            trailers: Head::default(),
            ended: (answered && step.body == BodyUse::Stream).then_some(ended),
        };
        if let Some(fault) = served.fault {
            self.failures.push((step.request, fault));
        }
        self.wake(Some(step.request), Wake::Reply(reply));
    }

    fn wake(&mut self, replied: Option<RequestId>, wake: Wake<'_>) {
        let at = At { run_ns: self.now_ns, unix_ns: UNIX_NS + self.now_ns };
        self.out.clear();
        self.program.resume(at, wake, &mut self.out);
        let mut out = std::mem::take(&mut self.out);
        self.counts.append(&mut out.counts);
        self.samples.append(&mut out.samples);
        self.retired |= out.retired;
        self.rest_ns = out.rest_ns;
        if let Some(fault) = out.failure {
            self.failures.push((replied.expect("only a response can fail"), fault));
        }
        // In the order of the real engine: a wake cancels only steps that began before it.
        for id in out.cancels.drain(..) {
            self.cancel(id);
        }
        for (id, ns) in out.sleeps.drain(..) {
            self.is_new(id);
            self.later(ns, Ahead::Slept(id));
        }
        for step in out.steps.drain(..) {
            self.send(step, &out.arena);
        }
        self.out = out;
    }

    fn send(&mut self, step: Step, arena: &[u8]) {
        self.is_new(step.id);
        let Payload::Rendered { begin, end } = step.payload else { panic!("a script renders its requests") };
        let text = String::from_utf8_lossy(&arena[begin as usize..end as usize]).into_owned();
        let served = (self.service)(&text);
        self.sent.push((self.now_ns, text));
        self.steps.push(step);
        let ahead = match (step.body, served.fault) {
            (BodyUse::Stream, None) => Ahead::Head(step, served.clone()),
            _ => Ahead::Reply(step, served.clone()),
        };
        self.later(served.after_ns, ahead);
    }

    fn is_new(&self, id: StepId) {
        assert!(self.ahead.iter().all(|(.., ahead)| ahead.id() != id), "step {id} is outstanding already");
    }

    fn later(&mut self, ns: u64, ahead: Ahead) {
        self.serial += 1;
        self.ahead.push((self.now_ns.saturating_add(ns), self.serial, ahead));
    }

    /// A sleep ends without a wake, a stream with a reply; a request, and a stream without a head, ends by itself.
    fn cancel(&mut self, id: StepId) {
        let is_request = self.ahead.iter().any(|(.., ahead)| match ahead {
            Ahead::Head(step, _) => step.id == id,
            Ahead::Reply(step, _) => step.id == id && step.body != BodyUse::Stream,
            _ => false,
        });
        if is_request {
            return;
        }
        let stream = self.ahead.iter().find_map(|(.., ahead)| match ahead {
            Ahead::Reply(step, served) if step.id == id => Some((*step, served.clone())),
            _ => None,
        });
        let before = self.ahead.len();
        self.ahead.retain(|(.., ahead)| ahead.id() != id);
        assert!(self.ahead.len() < before, "step {id} is not outstanding and cannot be cancelled");
        if let Some((step, served)) = stream {
            self.later(0, Ahead::Closed(step, served));
        }
    }

    /// Ends the run: streams get a notice, everything else is dropped.
    pub fn stop(&mut self) {
        for (.., ahead) in std::mem::take(&mut self.ahead) {
            if let Ahead::Reply(step, served) = ahead
                && step.body == BodyUse::Stream
            {
                self.reply(step, &served, Ended::Stop);
            }
        }
    }

    /// The request lines in the order of their sends, without the version.
    pub fn lines(&self) -> Vec<&str> {
        self.sent.iter().map(|(_, text)| text.split(" HTTP/").next().unwrap_or("")).collect()
    }

    pub fn sum(&self, series: RequestId, what: impl SumCell) -> u64 {
        let of = |count: &Count| match count {
            Count::Sum(s, w, n) if (*s, *w) == (series, what.cell()) => *n,
            _ => 0,
        };
        self.counts.iter().map(of).sum()
    }

    pub fn run_sum(&self, what: RunSum) -> u64 {
        let of = |count: &Count| match count {
            Count::Run(w, n) if *w == what => *n,
            _ => 0,
        };
        self.counts.iter().map(of).sum()
    }

    pub fn hist(&self, series: RequestId, what: impl HistCell) -> Vec<u64> {
        let of = |count: &Count| match count {
            Count::Hist(s, w, n) if (*s, *w) == (series, what.cell()) => Some(*n),
            _ => None,
        };
        self.counts.iter().filter_map(of).collect()
    }
}

fn head_of(served: &Served) -> String {
    format!("HTTP/1.1 {} X\r\n{}\r\n", served.status, served.head)
}
