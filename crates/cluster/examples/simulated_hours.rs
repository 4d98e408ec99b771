//! The coordinator's part of a load in simulated time, for `cargo xtask bench agents`: played agents, the coordinator,
//! the sum of all agents, and a run file of each part. `simulated_hours AGENTS SERIES REQUESTS SECONDS BATCH FOLDER`
//! prints a line per tenth of the time: the second, the CPU per envelope, and the resident memory.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "../tests/fixture.rs"]
mod fixture;

use fixture::{identity, task};
use plimsoll_cluster::agent::{self, Agent, Report};
use plimsoll_cluster::coordinator::{self, Coordinator, News, OnLoss};
use plimsoll_cluster::envelope::MemorySpool;
use plimsoll_cluster::event_codec::Encoder;
use plimsoll_cluster::message::ClockOffset;
use plimsoll_cluster::whole::Whole;
use plimsoll_record::event::RunEvent;
use plimsoll_record::run_file::{PartWriter, Refused};
use plimsoll_stats::interval::Interval;
use plimsoll_testkit::made_up::{self, Random};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

type Failed = Box<dyn std::error::Error>;

const SECOND_NS: u64 = 1_000_000_000;
/// Different seconds of an agent.
const SECONDS_KEPT: usize = 16;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.as_slice() {
        [agents, series, requests, seconds, batch, folder] => {
            run([agents, series, requests, seconds, batch], Path::new(folder))
        }
        _ => Err("usage: simulated_hours AGENTS SERIES REQUESTS SECONDS BATCH FOLDER".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

struct World {
    now_ns: u64,
    agents: Vec<Agent<MemorySpool>>,
    coordinator: Coordinator,
    encoder: Encoder,
    whole: Whole,
    writers: Vec<PartWriter>,
    /// What is on its way to the agents, and to the coordinator.
    to_agents: VecDeque<(usize, agent::Input)>,
    to_coordinator: VecDeque<coordinator::Input>,
    common_ns: Option<u64>,
    /// Seconds of the load as a whole that were shown.
    shown: u32,
    /// CPU time of the coordinator's part.
    spent_ns: u64,
    envelopes: u32,
}

fn run(numbers: [&String; 5], folder: &Path) -> Result<(), Failed> {
    let [agents, series, requests, seconds, batch] = numbers;
    let (count, series, requests): (u32, usize, u64) = (agents.parse()?, series.parse()?, requests.parse()?);
    let (seconds, batch): (u32, u32) = (seconds.parse()?, batch.parse()?);
    let opening = made_up::opening("whole", series);
    let path = |at: u32| -> PathBuf { folder.join(format!("{at}.plim")) };
    let writer = |at: u32| {
        let opening = made_up::opening(&format!("part-{at}"), series);
        PartWriter::new(&path(at), &opening, batch, at % batch.max(1) + 1)
    };
    let tasks = (0..count).map(|at| (identity(at as usize), task(at as usize + 1, count as usize))).collect();
    let mut world = World {
        now_ns: SECOND_NS,
        agents: (0..count).map(|at| Agent::new(identity(at as usize))).collect(),
        coordinator: Coordinator::new("run", tasks, OnLoss::Continue, SECOND_NS),
        whole: Whole::new(&opening.outline, count as usize, true),
        writers: (0..count).map(writer).collect(),
        encoder: Encoder::default(),
        to_agents: VecDeque::new(),
        to_coordinator: VecDeque::new(),
        common_ns: None,
        shown: 0,
        spent_ns: 0,
        envelopes: 0,
    };
    let mut random = Random::new(1);
    let mut intervals: Vec<Interval> =
        (0..SECONDS_KEPT).map(|_| made_up::interval(0, series, requests, &mut random)).collect();
    world.start(&opening)?;
    println!("second cpu_us_per_envelope rss_kib");
    for second in 0..seconds {
        world.now_ns += SECOND_NS;
        let interval = &mut intervals[second as usize % SECONDS_KEPT];
        interval.tick = second;
        let event = world.encoder.encode(&made_up::tick(interval.clone()));
        for at in 0..count as usize {
            let report = Report::Event(event.clone(), true);
            world.to_agents.push_back((at, agent::Input::Reported(report)));
        }
        world.settle()?;
        if (second + 1) % (seconds / 9).max(1) == 0 {
            let us = world.spent_ns as f64 / 1e3 / f64::from(world.envelopes.max(1));
            println!("{} {us:.1} {}", second + 1, rss_kib()?);
            (world.spent_ns, world.envelopes) = (0, 0);
        }
    }
    if world.shown != seconds {
        return Err(format!("{} of {seconds} seconds were shown", world.shown).into());
    }
    Ok(())
}

/// Returns the CPU time of this thread.
fn cpu_ns() -> Result<u64, Failed> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no CPU time is reported")?.parse()?)
}

fn rss_kib() -> Result<u64, Failed> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory is reported")?;
    Ok(line.split_whitespace().next().ok_or("no memory is reported")?.parse()?)
}

fn refused(why: Refused) -> String {
    format!("a part is not written: {why:?}")
}

impl World {
    /// Leads the agents to the start of the load.
    fn start(&mut self, opening: &plimsoll_record::event::Opening) -> Result<(), Failed> {
        while self.common_ns.is_none_or(|at_ns| self.now_ns < at_ns) {
            self.now_ns += SECOND_NS / 20;
            self.settle()?;
        }
        let begin_ns = self.now_ns;
        for at in 0..self.agents.len() {
            let opened = RunEvent::Opened(Arc::new(opening.clone()));
            for report in [Report::Begun { begin_ns }, Report::Event(self.encoder.encode(&opened), false)] {
                self.to_agents.push_back((at, agent::Input::Reported(report)));
            }
        }
        self.settle()
    }

    /// Lets everything arrive that is on its way.
    fn settle(&mut self) -> Result<(), Failed> {
        self.to_agents.extend((0..self.agents.len()).map(|at| (at, agent::Input::Tick)));
        self.to_coordinator.push_back(coordinator::Input::Tick);
        while !self.to_agents.is_empty() || !self.to_coordinator.is_empty() {
            while let Some((at, input)) = self.to_agents.pop_front() {
                self.agent(at, input);
            }
            let before_ns = cpu_ns()?;
            while let Some(input) = self.to_coordinator.pop_front() {
                self.envelopes += u32::from(matches!(input, coordinator::Input::Envelope(_)));
                self.coordinator(input)?;
            }
            self.spent_ns += cpu_ns()? - before_ns;
        }
        Ok(())
    }

    fn agent(&mut self, at: usize, input: agent::Input) {
        for output in self.agents[at].step(self.now_ns, input) {
            let reported = |report| (at, agent::Input::Reported(report));
            match output {
                agent::Output::Beat(beat) => self.to_coordinator.push_back(coordinator::Input::Beat(beat)),
                agent::Output::Envelope { bytes, .. } => {
                    self.to_coordinator.push_back(coordinator::Input::Envelope(bytes));
                }
                agent::Output::Fetch { .. } => self.to_agents.push_back((at, agent::Input::FilesReady)),
                agent::Output::MeasureClock { run } => {
                    let clock = ClockOffset { offset_ns: 0, bound_ns: 50_000 };
                    self.to_agents.push_back((at, agent::Input::ClockMeasured { run, clock }));
                }
                agent::Output::Start { .. } => {
                    self.to_agents.push_back(reported(Report::Prepared { setup: None }));
                }
                agent::Output::Line(line) if line.contains("seat") => {
                    self.to_agents.push_back(reported(Report::Ready));
                }
                agent::Output::Line(_) | agent::Output::Kill | agent::Output::CleanUp { .. } => {}
            }
        }
    }

    fn coordinator(&mut self, input: coordinator::Input) -> Result<(), Failed> {
        for output in self.coordinator.step(self.now_ns, input)? {
            match output {
                coordinator::Output::Order { agent, order } => {
                    let at: usize = agent.trim_start_matches("agent-").parse()?;
                    self.to_agents.push_back((at, agent::Input::Ordered(order)));
                }
                coordinator::Output::Event { part, event } => {
                    self.writers[part].event(&event).map_err(refused)?;
                    self.whole.event(part, &event);
                }
                coordinator::Output::Samples { .. } => {
                    return Err("a load without samples has sent some".into());
                }
                coordinator::Output::Ticked { part, tick } => {
                    let effect = self.whole.tick(part, &tick)?;
                    self.writers[part].tick(tick).map_err(refused)?;
                    let ticks = effect.events.iter().filter(|event| matches!(event, RunEvent::Ticked(_)));
                    self.shown += ticks.count() as u32;
                }
                coordinator::Output::News(News::Begins { at_ns }) => self.common_ns = Some(at_ns),
                coordinator::Output::News(_) => {}
            }
        }
        Ok(())
    }
}
