//! A cluster in simulated time: agents with load generators that report numbered events, a coordinator, and a network
//! between them that delays, loses, repeats, and cuts.

use crate::fixture::{identity, task};
use plimsoll_cluster::agent::{self, Agent, Report};
use plimsoll_cluster::coordinator::{self, Coordinator, Done, News, OnLoss};
use plimsoll_cluster::envelope::MemorySpool;
use plimsoll_cluster::event_codec::{Decoded, Encoder, decode};
use plimsoll_cluster::message::{Beat, ClockOffset, Order};
use plimsoll_record::event::{Ending, Note, NoteKind, RunEvent, StoppedBy};
use plimsoll_testkit::made_up::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// What the network does to messages.
#[derive(Debug, Clone, Default)]
pub struct Weather {
    /// Of 100 messages.
    pub lost: u64,
    pub repeated: u64,
    pub delay_max_ns: u64,
    /// Times at which nothing arrives anywhere; it arrives afterwards, as with a server that is stopped.
    pub stalls: Vec<Range<u64>>,
    /// Times at which an agent is cut off: what is sent is lost.
    pub cuts: Vec<(usize, Range<u64>)>,
    /// Agents that are killed.
    pub kills: Vec<(usize, u64)>,
}

/// A run in the simulator.
pub struct Conditions {
    pub agents: usize,
    pub seconds: u64,
    pub weather: Weather,
    pub on_loss: OnLoss,
    /// When the user interrupts.
    pub stop_ns: Option<u64>,
    pub lines: Vec<(u64, String)>,
    /// An agent whose load generator ends without a load.
    pub failing: Option<usize>,
    /// The script of this agent ends the test after this second.
    pub ends_test: Option<(usize, u64)>,
    /// The coordinator is killed and started again at these times, with the envelopes that it had.
    pub down: Option<Range<u64>>,
    /// An agent, and the second in which its results are too large for a message.
    pub too_large_at: Option<(usize, u64)>,
    pub seed: u64,
}

impl Conditions {
    pub fn new(agents: usize, seconds: u64, seed: u64) -> Self {
        Conditions {
            agents,
            seconds,
            weather: Weather { delay_max_ns: 5 * MS, ..Weather::default() },
            on_loss: OnLoss::Continue,
            stop_ns: None,
            lines: Vec::new(),
            failing: None,
            ends_test: None,
            down: None,
            too_large_at: None,
            seed,
        }
    }
}

/// What came of it.
pub struct Outcome {
    pub done: Option<Done>,
    /// Events that the load generator of each agent reported.
    pub reported: Vec<Vec<String>>,
    /// Events that the coordinator handed out for it.
    pub received: Vec<Vec<String>>,
    pub news: Vec<(u64, News)>,
    /// When each load began, on the true clock.
    pub begun_ns: Vec<Option<u64>>,
    /// Lines that reached each load generator, except for the stages of the run.
    pub lines: Vec<Vec<String>>,
    pub end_ns: u64,
    /// Agents that work for no run afterwards.
    pub free: usize,
    /// Messages that the network lost, repeated, or held back.
    pub faults: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum What {
    ToAgent(usize, String),
    ToCoordinator(Vec<u8>),
    BeatToCoordinator(String),
    Reported(usize, u64),
    FilesReady(usize),
    Clock(usize, String),
    Look,
    Stop,
    Kill(usize),
    Line(String),
    TooLarge(usize),
    Restart,
}

struct Generator {
    reports: BTreeMap<u64, Report>,
    next: u64,
    stopped: bool,
    loading: bool,
    is_over: bool,
}

struct World {
    queue: BinaryHeap<Reverse<(u64, u64, What)>>,
    order: u64,
    random: Random,
    weather: Weather,
    generators: Vec<Generator>,
    offsets: Vec<i64>,
    alive: Vec<bool>,
    outcome: Outcome,
    seconds: u64,
    failing: Option<usize>,
    ends_test: Option<(usize, u64)>,
}

fn event(text: &str) -> RunEvent {
    RunEvent::Noted(Note { at_ns: 0, kind: NoteKind::Note, text: text.to_owned() })
}

fn text_of(event: &RunEvent) -> String {
    match event {
        RunEvent::Noted(note) => note.text.clone(),
        RunEvent::Ended(_) => "ended".into(),
        _ => "other".into(),
    }
}

impl World {
    fn at(&mut self, at_ns: u64, what: What) {
        self.order += 1;
        self.queue.push(Reverse((at_ns, self.order, what)));
    }

    /// Sends a message through the network.
    fn send(&mut self, now_ns: u64, agent: usize, what: impl Fn() -> What) {
        let is_cut = |(of, when): &(usize, Range<u64>)| *of == agent && when.contains(&now_ns);
        if self.weather.cuts.iter().any(is_cut) || self.random.below(100) < self.weather.lost {
            self.outcome.faults += 1;
            return;
        }
        let copies = 1 + u64::from(self.random.below(100) < self.weather.repeated);
        self.outcome.faults += copies - 1;
        for _ in 0..copies {
            let at_ns = now_ns + 1 + self.random.below(self.weather.delay_max_ns.max(1));
            let stall = self.weather.stalls.iter().find(|when| when.contains(&at_ns));
            self.outcome.faults += u64::from(stall.is_some());
            let at_ns = stall.map_or(at_ns, |when| when.end + self.random.below(MS));
            self.at(at_ns, what());
        }
    }

    fn report(&mut self, at_ns: u64, agent: usize, report: Report) {
        let generator = &mut self.generators[agent];
        let number = generator.next;
        generator.next += 1;
        generator.reports.insert(number, report);
        self.at(at_ns, What::Reported(agent, number));
    }

    fn event(&mut self, at_ns: u64, agent: usize, event: &RunEvent, is_tick: bool) {
        self.report(at_ns, agent, Report::Event(Encoder::default().encode(event), is_tick));
    }

    /// Ends the load of an agent.
    fn end(&mut self, now_ns: u64, agent: usize) {
        let ending = Ending { stopped_by: StoppedBy::Duration, elapsed_ns: 1, lost_workers: Vec::new() };
        self.event(now_ns, agent, &RunEvent::Ended(ending), false);
        let is_first = agent == 0;
        match is_first {
            true => self.report(now_ns, agent, Report::Ended),
            false => self.exit(now_ns, agent, true),
        }
    }

    fn exit(&mut self, now_ns: u64, agent: usize, ran: bool) {
        let said = if ran { String::new() } else { "error: connection refused\nhelp: start it\n".into() };
        self.report(now_ns, agent, Report::Exited { code: i32::from(!ran), ran, said });
    }

    fn line(&mut self, now_ns: u64, agent: usize, line: &str) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        match value["do"].as_str().unwrap() {
            "seat" => self.report(now_ns + 20 * MS, agent, Report::Ready),
            "begin" => {
                let here_ns = value["at_ns"].as_u64().unwrap();
                let true_ns = (here_ns as i64 - self.offsets[agent]) as u64;
                let true_ns = true_ns.max(now_ns);
                self.outcome.begun_ns[agent] = Some(true_ns);
                let begin_ns = (true_ns as i64 + self.offsets[agent]) as u64;
                self.report(true_ns, agent, Report::Begun { begin_ns });
                self.generators[agent].loading = true;
                let own = self.ends_test.filter(|(of, _)| *of == agent).map(|(_, second)| second);
                for second in 1..=own.unwrap_or(self.seconds) {
                    let event = event(&format!("{agent}: second {second}"));
                    self.event(true_ns + second * S, agent, &event, true);
                }
                match own {
                    Some(second) => {
                        self.report(true_ns + second * S, agent, Report::EndedTest);
                        self.at(true_ns + second * S + MS, What::Reported(agent, u64::MAX));
                    }
                    None => self.at(true_ns + self.seconds * S + MS, What::Reported(agent, u64::MAX)),
                }
            }
            "tear_down" => self.exit(now_ns + 30 * MS, agent, true),
            "stop" => {
                let generator = &mut self.generators[agent];
                if std::mem::replace(&mut generator.stopped, true) || generator.is_over {
                    return;
                }
                match generator.loading {
                    true => self.end(now_ns + 10 * MS, agent),
                    false => self.exit(now_ns + 10 * MS, agent, false),
                }
            }
            _ => self.outcome.lines[agent].push(line.to_owned()),
        }
    }
}

/// Runs until the coordinator is done, or for an hour.
pub fn run(conditions: Conditions) -> Outcome {
    let count = conditions.agents;
    let mut random = Random::new(conditions.seed);
    let offsets: Vec<i64> = (0..count).map(|_| random.below(1 << 50) as i64).collect();
    let mut agents: Vec<Agent<MemorySpool>> = (0..count).map(|at| Agent::new(identity(at))).collect();
    let begin_ns = 100 * S;
    let tasks = || (0..count).map(|at| (identity(at), task(at + 1, count))).collect::<Vec<_>>();
    let mut coordinator = Coordinator::new("run", tasks(), conditions.on_loss, begin_ns);
    let down = conditions.down.map(|down| down.start + begin_ns..down.end + begin_ns);
    // What a killed coordinator leaves: the common start, and its envelopes.
    let (mut common_ns, mut journal) = (None, Vec::<Vec<u8>>::new());
    let generator =
        |_| Generator { reports: BTreeMap::new(), next: 0, stopped: false, loading: false, is_over: false };
    let mut world = World {
        queue: BinaryHeap::new(),
        order: 0,
        random,
        generators: (0..count).map(generator).collect(),
        offsets,
        alive: vec![true; count],
        outcome: Outcome {
            done: None,
            reported: vec![Vec::new(); count],
            received: vec![Vec::new(); count],
            news: Vec::new(),
            begun_ns: vec![None; count],
            lines: vec![Vec::new(); count],
            end_ns: 0,
            free: 0,
            faults: 0,
        },
        seconds: conditions.seconds,
        failing: conditions.failing,
        ends_test: conditions.ends_test,
        weather: conditions.weather,
    };
    world.at(begin_ns, What::Look);
    for (at, when_ns) in world.weather.kills.clone() {
        world.at(begin_ns + when_ns, What::Kill(at));
    }
    let moved = |when: &Range<u64>| when.start + begin_ns..when.end + begin_ns;
    world.weather.stalls = world.weather.stalls.iter().map(moved).collect();
    world.weather.cuts = world.weather.cuts.iter().map(|(at, when)| (*at, moved(when))).collect();
    if let Some((at, second)) = conditions.too_large_at {
        world.at(begin_ns + second * S, What::TooLarge(at));
    }
    if let Some(down) = &down {
        world.at(down.end, What::Restart);
    }
    if let Some(stop_ns) = conditions.stop_ns {
        world.at(begin_ns + stop_ns, What::Stop);
    }
    for (at_ns, line) in conditions.lines {
        world.at(begin_ns + at_ns, What::Line(line));
    }
    let mut done_ns = None;
    while let Some(Reverse((now_ns, _, what))) = world.queue.pop() {
        // Some time for the last messages.
        if now_ns > begin_ns + 3_600 * S || done_ns.is_some_and(|done_ns| now_ns > done_ns + S) {
            break;
        }
        let mut to_agents: Vec<(usize, agent::Input)> = Vec::new();
        let mut to_coordinator: Vec<coordinator::Input> = Vec::new();
        match what {
            What::ToAgent(at, order) => {
                let order: Order = serde_json::from_str(&order).unwrap();
                to_agents.push((at, agent::Input::Ordered(order)));
            }
            What::ToCoordinator(bytes) => to_coordinator.push(coordinator::Input::Envelope(bytes)),
            What::BeatToCoordinator(beat) => {
                let beat: Beat = serde_json::from_str(&beat).unwrap();
                to_coordinator.push(coordinator::Input::Beat(Box::new(beat)));
            }
            What::Reported(at, u64::MAX) => {
                if !world.generators[at].stopped && world.alive[at] {
                    world.end(now_ns, at);
                }
            }
            What::Reported(at, number) => {
                let report = world.generators[at].reports.remove(&number).unwrap();
                let generator = &mut world.generators[at];
                let is_dead = !world.alive[at];
                if let Report::Event(bytes, _) = &report {
                    // After the end of the load, there are no more seconds.
                    if generator.is_over || is_dead {
                        continue;
                    }
                    let Decoded::Event(event) = decode(bytes).unwrap() else { panic!("a tick") };
                    generator.is_over |= matches!(event, RunEvent::Ended(_));
                    world.outcome.reported[at].push(text_of(&event));
                }
                to_agents.push((at, agent::Input::Reported(report)));
            }
            What::FilesReady(at) => to_agents.push((at, agent::Input::FilesReady)),
            What::Clock(at, run) => {
                let offset_ns = -world.offsets[at];
                let clock = ClockOffset { offset_ns, bound_ns: 50_000 };
                to_agents.push((at, agent::Input::ClockMeasured { run, clock }));
            }
            What::Look => {
                to_agents.extend((0..count).map(|at| (at, agent::Input::Tick)));
                to_coordinator.push(coordinator::Input::Tick);
                world.at(now_ns + 50 * MS, What::Look);
            }
            What::Stop => to_coordinator.push(coordinator::Input::Stop),
            What::Line(line) => to_coordinator.push(coordinator::Input::Steer(line)),
            What::Kill(at) => world.alive[at] = false,
            What::Restart => {
                let common_ns = common_ns.expect("the load had begun");
                coordinator = Coordinator::resumed("run", tasks(), conditions.on_loss, now_ns, common_ns);
                world.outcome.received = vec![Vec::new(); count];
                to_coordinator
                    .extend(std::mem::take(&mut journal).into_iter().map(coordinator::Input::Envelope));
            }
            What::TooLarge(at) => {
                let input = agent::Input::TooLarge { bytes: 2_000_000, max_bytes: 1 << 20 };
                to_agents.push((at, input));
            }
        }
        for (at, input) in to_agents {
            if !world.alive[at] {
                continue;
            }
            let here_ns = (now_ns as i64 + world.offsets[at]) as u64;
            for output in agents[at].step(here_ns, input) {
                match output {
                    agent::Output::Beat(beat) => {
                        let text = serde_json::to_string(&beat).unwrap();
                        world.send(now_ns, at, || What::BeatToCoordinator(text.clone()));
                    }
                    agent::Output::Envelope { bytes, .. } => {
                        world.send(now_ns, at, || What::ToCoordinator(bytes.clone()));
                    }
                    agent::Output::Fetch { .. } => world.at(now_ns + 3 * MS, What::FilesReady(at)),
                    agent::Output::MeasureClock { run } => world.at(now_ns + 2 * MS, What::Clock(at, run)),
                    agent::Output::Start { .. } => match world.failing == Some(at) {
                        true => world.exit(now_ns + 20 * MS, at, false),
                        false => {
                            let setup = (at == 0).then(|| "c2V0dXA=".to_owned());
                            world.report(now_ns + 20 * MS, at, Report::Prepared { setup });
                        }
                    },
                    agent::Output::Line(line) => world.line(now_ns, at, &line),
                    agent::Output::Kill => world.generators[at].is_over = true,
                    agent::Output::CleanUp { .. } => {}
                }
            }
        }
        if done_ns.is_some() {
            continue;
        }
        if down.as_ref().is_some_and(|down| down.contains(&now_ns)) {
            continue;
        }
        for input in to_coordinator {
            if let coordinator::Input::Envelope(bytes) = &input {
                journal.push(bytes.clone());
            }
            for output in coordinator.step(now_ns, input).unwrap() {
                match output {
                    coordinator::Output::Order { agent, order } => {
                        let at: usize = agent.strip_prefix("agent-").unwrap().parse().unwrap();
                        let text = serde_json::to_string(&order).unwrap();
                        world.send(now_ns, at, || What::ToAgent(at, text.clone()));
                    }
                    coordinator::Output::Event { part, event } => {
                        world.outcome.received[part].push(text_of(&event));
                    }
                    coordinator::Output::Samples { .. } => panic!("a load without samples has sent some"),
                    coordinator::Output::Ticked { .. } => panic!("the load generators report notes"),
                    coordinator::Output::News(news) => {
                        if let News::Begins { at_ns } = news {
                            common_ns = Some(at_ns);
                        }
                        world.outcome.news.push((now_ns - begin_ns, news));
                    }
                }
            }
        }
        if let Some(done) = coordinator.done() {
            world.outcome.done = Some(done);
            world.outcome.end_ns = now_ns - begin_ns;
            done_ns = Some(now_ns);
            // The order to become free goes out with the next step.
            for output in coordinator.step(now_ns, coordinator::Input::Tick).unwrap() {
                if let coordinator::Output::Order { agent, order } = output {
                    let at: usize = agent.strip_prefix("agent-").unwrap().parse().unwrap();
                    let text = serde_json::to_string(&order).unwrap();
                    world.send(now_ns, at, || What::ToAgent(at, text.clone()));
                }
            }
        }
    }
    world.outcome.free = agents.iter().filter(|agent| agent.run().is_none()).count();
    world.outcome
}
