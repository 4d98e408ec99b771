//! Many agents in one process, for `cargo xtask bench agents`: the agents are those of `plimsoll_cluster`, on a real
//! NATS server, and only their load generators are played. `played_agents URL AGENTS SERIES REQUESTS SECONDS`: in each
//! of `SECONDS`, each agent reports `SERIES` series with `REQUESTS` requests. It serves one run, and prints a line for
//! each instant that matters, with the time since 1970 in nanoseconds.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

use plimsoll_cluster::agent::{Agent, Input, Output, Report};
use plimsoll_cluster::bus::{Access, Bus, Heard};
use plimsoll_cluster::clock::{EXCHANGES, Exchange, best};
use plimsoll_cluster::envelope::MemorySpool;
use plimsoll_cluster::event_codec::Encoder;
use plimsoll_cluster::message::{self, Identity, PROTOCOL};
use plimsoll_cluster::signature::{self, Opened};
use plimsoll_cluster::subject;
use plimsoll_record::event::{Opening, RunEvent};
use plimsoll_stats::interval::Interval;
use plimsoll_testkit::made_up::{self, Random};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

type Failed = Box<dyn std::error::Error>;

/// Time after which the agents look at their timers, as the real ones do.
const LOOK_NS: u64 = 50_000_000;
/// Threads that measure clocks; each of the real agents has its own.
const CLOCKS: usize = 16;
const SECOND_NS: u64 = 1_000_000_000;
/// Different seconds; a load of an hour needs no more memory than one of a minute.
const SECONDS_KEPT: usize = 16;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.as_slice() {
        [url, agents, series, requests, seconds] => run(url, [agents, series, requests, seconds]),
        _ => Err("usage: played_agents URL AGENTS SERIES REQUESTS SECONDS".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

/// What happens at a time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Look(usize),
    Begin(usize),
    Tick(usize, u32),
    End(usize),
}

enum Happened {
    Heard(Heard),
    Step(usize, Input),
}

/// All agents of this process.
struct PlayedAgents {
    agents: Vec<Agent<MemorySpool>>,
    bus: Bus,
    due: BinaryHeap<Reverse<(u64, Due)>>,
    /// Agents that wait for a measurement of their clocks, and for which run.
    clocks: Sender<(usize, String)>,
    opening: Arc<Opening>,
    encoder: Encoder,
    intervals: Vec<Interval>,
    /// The newest second in encoded form: all agents report the same.
    second: (u32, Vec<u8>),
    seconds: u32,
    begun: bool,
    /// Agents that have served a run.
    released: usize,
}

fn name(at: usize) -> String {
    format!("p{at}")
}

/// Returns the monotonic time of this process, ns.
fn now_ns() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    // Not 0, which would be "never" for a state machine.
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + SECOND_NS
}

fn say(what: &str) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    println!("{what} {}", since.as_nanos());
}

fn run(url: &str, numbers: [&String; 4]) -> Result<(), Failed> {
    let [agents, series, requests, seconds] = numbers;
    let (count, series): (usize, usize) = (agents.parse()?, series.parse()?);
    let (requests, seconds): (u64, u32) = (requests.parse()?, seconds.parse()?);
    let access = Access {
        url: url.to_owned(),
        inbox: subject::inbox("played"),
        name: "played".into(),
        ..Access::default()
    };
    let (sender, heard) = channel();
    let bus = Bus::connect(access, sender).map_err(|problem| problem.message)?;
    let (to, happened) = channel();
    let forward = to.clone();
    std::thread::spawn(move || heard.into_iter().try_for_each(|one| forward.send(Happened::Heard(one))));
    let (clocks, asked) = channel::<(usize, String)>();
    let asked = Arc::new(Mutex::new(asked));
    for _ in 0..CLOCKS {
        let (asked, bus, to) = (Arc::clone(&asked), bus.clone(), to.clone());
        std::thread::spawn(move || measure_clocks(&asked, &bus, &to));
    }
    bus.subscribe(&subject::orders("*"));
    bus.subscribe(subject::ROLL_CALL);
    let mut random = Random::new(1);
    let agent = |at: usize| {
        Agent::new(Identity {
            name: name(at),
            instance: format!("i{at}"),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            host: "host".into(),
            cpus: 2,
            open_files: 1 << 20,
            labels: BTreeMap::new(),
            turn: 0,
        })
    };
    let mut crowd = PlayedAgents {
        agents: (0..count).map(agent).collect(),
        bus,
        due: BinaryHeap::new(),
        clocks,
        opening: Arc::new(made_up::opening("played", series)),
        encoder: Encoder::default(),
        intervals: (0..SECONDS_KEPT).map(|_| made_up::interval(0, series, requests, &mut random)).collect(),
        second: (u32::MAX, Vec::new()),
        seconds,
        begun: false,
        released: 0,
    };
    let indexes: HashMap<String, usize> = (0..count).map(|at| (subject::orders(&name(at)), at)).collect();
    // Not all in the same instant, as those of different machines.
    let now = now_ns();
    for at in 0..count {
        crowd.due.push(Reverse((now + LOOK_NS * at as u64 / count as u64, Due::Look(at))));
    }
    say("ready");
    while crowd.released < count {
        let until_ns = crowd.due.peek().map_or(0, |Reverse((at_ns, _))| *at_ns);
        match happened.recv_timeout(Duration::from_nanos(until_ns.saturating_sub(now_ns()))) {
            Ok(Happened::Step(at, input)) => crowd.step(at, input),
            Ok(Happened::Heard(Heard::Message(message))) if message.subject == subject::ROLL_CALL => {
                (0..count).for_each(|at| crowd.step(at, Input::RollCall));
            }
            Ok(Happened::Heard(Heard::Message(message))) => {
                let Some(at) = indexes.get(&message.subject).copied() else { continue };
                if let Some(Opened::Accepted(order)) = signature::open(&message.payload, &name(at), None) {
                    crowd.step(at, Input::Ordered(order));
                }
            }
            Ok(Happened::Heard(Heard::Change(change))) => eprintln!("{change:?}"),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("the bus has ended".into()),
        }
        crowd.time();
    }
    say("released");
    crowd.bus.close();
    Ok(())
}

fn measure_clocks(
    asked: &Mutex<std::sync::mpsc::Receiver<(usize, String)>>,
    bus: &Bus,
    to: &Sender<Happened>,
) {
    loop {
        let next = match asked.lock() {
            Ok(asked) => asked.recv(),
            Err(_) => return,
        };
        let Ok((at, run)) = next else { return };
        let exchange = |_| {
            let asked_ns = now_ns();
            let answer = bus.request(&subject::clock(&run), Vec::new(), Duration::from_secs(1)).ok()?;
            let answer_ns = u64::from_le_bytes(answer.try_into().ok()?);
            Some(Exchange { asked_ns, answer_ns, heard_ns: now_ns() })
        };
        let exchanges: Vec<Exchange> = (0..EXCHANGES).filter_map(exchange).collect();
        if let Some(clock) = best(&exchanges)
            && to.send(Happened::Step(at, Input::ClockMeasured { run, clock })).is_err()
        {
            return;
        }
    }
}

impl PlayedAgents {
    /// Does everything whose time has come.
    fn time(&mut self) {
        while let Some(Reverse((at_ns, _))) = self.due.peek()
            && *at_ns <= now_ns()
        {
            let Some(Reverse((at_ns, due))) = self.due.pop() else { return };
            match due {
                Due::Look(at) => {
                    self.due.push(Reverse((at_ns + LOOK_NS, Due::Look(at))));
                    self.step(at, Input::Tick);
                }
                Due::Begin(at) => {
                    if !std::mem::replace(&mut self.begun, true) {
                        say("begun");
                    }
                    self.step(at, Input::Reported(Report::Begun { begin_ns: at_ns }));
                    self.report(at, &RunEvent::Opened(Arc::clone(&self.opening)), false);
                    self.due.push(Reverse((at_ns + SECOND_NS, Due::Tick(at, 0))));
                }
                Due::Tick(at, number) => {
                    let event = self.encoded(number);
                    self.step(at, Input::Reported(Report::Event(event, true)));
                    let next = number + 1;
                    let due = if next < self.seconds { Due::Tick(at, next) } else { Due::End(at) };
                    self.due.push(Reverse((at_ns + SECOND_NS * u64::from(next < self.seconds), due)));
                }
                Due::End(at) => self.end(at, 0),
            }
        }
    }

    fn encoded(&mut self, number: u32) -> Vec<u8> {
        if self.second.0 != number {
            let interval: &mut Interval = &mut self.intervals[number as usize % SECONDS_KEPT];
            interval.tick = number;
            self.second = (number, self.encoder.encode(&made_up::tick(interval.clone())));
        }
        self.second.1.clone()
    }

    fn report(&mut self, at: usize, event: &RunEvent, is_tick: bool) {
        let bytes = self.encoder.encode(event);
        self.step(at, Input::Reported(Report::Event(bytes, is_tick)));
    }

    fn end(&mut self, at: usize, code: i32) {
        self.report(at, &made_up::ending(u64::from(self.seconds)), false);
        self.step(at, Input::Reported(Report::Ended));
        self.step(at, Input::Reported(Report::Exited { code, ran: true, said: String::new() }));
    }

    fn step(&mut self, at: usize, input: Input) {
        let outputs = self.agents[at].step(now_ns(), input);
        for output in outputs {
            match output {
                Output::Beat(beat) => self.bus.publish(subject::beat(&name(at)), message::encode(&beat)),
                Output::Envelope { run, bytes } => {
                    self.bus.publish(subject::envelopes(&name(at), &run), bytes);
                }
                // The files of a load are fetched by real agents only.
                Output::Fetch { .. } => self.step(at, Input::FilesReady),
                // The threads live as long as this process.
                Output::MeasureClock { run } => drop(self.clocks.send((at, run))),
                Output::Start { .. } => self.step(at, Input::Reported(Report::Prepared { setup: None })),
                Output::Line(line) => self.line(at, &line),
                Output::Kill => self
                    .step(at, Input::Reported(Report::Exited { code: -9, ran: false, said: String::new() })),
                Output::CleanUp { .. } => self.released += 1,
            }
        }
    }

    fn line(&mut self, at: usize, line: &str) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        match value["do"].as_str() {
            Some("seat") => self.step(at, Input::Reported(Report::Ready)),
            Some("begin") => {
                let at_ns = value["at_ns"].as_u64().unwrap_or_default();
                self.due.push(Reverse((at_ns, Due::Begin(at))));
            }
            _ => {}
        }
    }
}
