//! What happens in a run, in order: the live view, the run file and a replay all eat these.

use crate::record::Opened;
use crate::steered::Steered;
use plimsoll_plan::Outline;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::link::Addresses;
use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_plan::watch::Unit;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Layout;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The beginning: everything known before the first request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Unique name of this run of one machine; merging is keyed by it.
    pub origin: String,
    pub outline: Outline,
    pub environment: Environment,
    pub started_unix_ns: u64,
}

impl Opening {
    /// The addresses that connections take turns over, in the order of their series; empty: there is only one.
    pub fn taken_addresses(&self) -> &[String] {
        let all = &self.environment.addresses;
        if self.outline.link.addresses == Addresses::All && all.len() > 1 { all } else { &[] }
    }

    /// How many series there are before the load: those of the outline, and behind them those of several addresses.
    pub fn series_count(&self) -> usize {
        self.outline.series_count() + self.taken_addresses().len()
    }

    /// Their layouts, in the same order.
    pub fn layouts(&self) -> impl Iterator<Item = Layout> + '_ {
        let addresses = self.taken_addresses().iter().map(|_| Family::Address);
        self.outline.families().chain(addresses).map(|family| Layout::of(family.cells()))
    }
}

/// The machine that made the load, and its way to the target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    pub tool_version: String,
    pub host: String,
    pub kernel: String,
    pub cpu_model: String,
    /// CPUs this process may use.
    pub cpus: u32,
    /// CPUs of the machine that are switched on, this process's or not; 0: not known (older files).
    pub cpus_online: u32,
    pub memory_bytes: u64,
    /// Soft descriptor limit as found, as raised, and the hard one.
    pub nofile_soft_found: u64,
    pub nofile_soft: u64,
    pub nofile_hard: u64,
    /// Local ports that connections to one address can use.
    pub port_low: u16,
    pub port_high: u16,
    /// Addresses the name resolved to; the first is loaded.
    pub addresses: Vec<String>,
    /// Name resolution before the run, ns; 0 for a literal address.
    pub dns_ns: u64,
    /// The connection that was tried before the run, ns.
    pub first_connect_ns: u64,
    /// The address of an origin belongs to this machine.
    pub is_same_machine: bool,
    /// The ways to the origins besides the target, from number 1 on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_origins: Vec<WayThere>,
}

/// The way to one more origin.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WayThere {
    /// As those of the target, [`Environment::addresses`].
    pub addresses: Vec<String>,
    /// Name resolution before the run, ns; 0 for a literal address.
    pub dns_ns: u64,
    /// The connection that was tried before the run, ns.
    pub first_connect_ns: u64,
    /// Its address belongs to this machine.
    pub is_same_machine: bool,
}

/// One worker's use of its time over a tick or a run, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerTimes {
    pub wall_ns: u64,
    pub busy_ns: u64,
    pub busy_poll_ns: u64,
    pub idle_ns: u64,
    pub cpu_wait_ns: u64,
}

impl WorkerTimes {
    pub fn add(&mut self, other: &WorkerTimes) {
        self.wall_ns += other.wall_ns;
        self.busy_ns += other.busy_ns;
        self.busy_poll_ns += other.busy_poll_ns;
        self.idle_ns += other.idle_ns;
        self.cpu_wait_ns += other.cpu_wait_ns;
    }
}

/// One tick of one origin, all workers added up.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub interval: Arc<Interval>,
    /// By worker number.
    pub pulses: Vec<WorkerTimes>,
    /// What programs had opened by then, in the order of its numbers: for readers that remember nothing.
    pub opened: Arc<[Opened]>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The duration was over.
    Duration,
    /// The number of requests (or of iterations) was reached.
    Requests,
    /// Somebody pressed Ctrl-C (or sent SIGTERM).
    Interrupt,
    /// The same, of a run that was allowed to end early (`--stop-early-ok`).
    InterruptAllowed,
    /// The circuit breaker or another `Command`.
    Command,
    /// A threshold with `abort after` had been missed for so long.
    Threshold,
    /// All users have ended: their data ran out, or their loops are done.
    Retired,
}

impl StoppedBy {
    /// The work ran out, not the time: users without work are no sign of a service that stands still.
    pub const fn is_out_of_work(self) -> bool {
        match self {
            StoppedBy::Requests | StoppedBy::Retired => true,
            StoppedBy::Duration
            | StoppedBy::Interrupt
            | StoppedBy::InterruptAllowed
            | StoppedBy::Command
            | StoppedBy::Threshold => false,
        }
    }
}

/// The end. A record without one was cut off (killed, crashed, disk full).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    pub stopped_by: StoppedBy,
    /// From the start to the stop, ns; the last tick ends here.
    pub elapsed_ns: u64,
    /// Workers that died (a bug or a kernel refusal), with the sentence.
    pub lost_workers: Vec<String>,
}

/// Something worth a line in the timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// From the start of the run, ns.
    pub at_ns: u64,
    pub kind: NoteKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Seconds that could not be written (full disk); the totals hold them all the same.
    Gap,
    /// An interrupt, or what the tool did by itself.
    Control,
    /// Somebody paused the load, let it go on, or changed its level.
    Steered(Steered),
    /// Somebody wrote it while the run went on.
    Note,
}

/// What one monitor saw at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorSample {
    /// From the start of the run, ns: when the sample was asked for.
    pub at_ns: u64,
    /// Index in the outline's `watches`.
    pub monitor: u32,
    pub readings: Vec<Reading>,
}

/// One number of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Which part of what is watched: a process, a disk, a database. Empty: the whole.
    pub part: String,
    /// Such as `cpu`; unique within its part.
    pub metric: String,
    pub unit: Unit,
    /// The value at which there is no more to be had, where there is one.
    pub limit: Option<f64>,
    /// Finite. Of what is counted: the rate since the sample before.
    pub value: f64,
}

/// Something that a monitor found out about the system under test, such as its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub monitor: u32,
    pub name: String,
    pub value: String,
}

/// A sample that there is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedSample {
    /// From the start of the run, ns; 0 when it failed before the load.
    pub at_ns: u64,
    pub monitor: u32,
    pub why: String,
}

/// A series that a program opened while the load went on, under its number in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesOpened {
    /// They follow each other without a gap, behind those of [`Opening::series_count`].
    pub series: u32,
    pub key: Arc<SeriesKey>,
}

/// What sinks receive.
#[derive(Debug, Clone)]
pub enum RunEvent {
    Opened(Arc<Opening>),
    /// Comes before the first tick that counts in it.
    SeriesOpened(SeriesOpened),
    Ticked(Tick),
    Noted(Note),
    /// An example of what went wrong.
    FailureRecorded(FailureExample),
    /// A monitor's sample.
    MonitorSampled(MonitorSample),
    Learnt(Fact),
    SampleMissed(MissedSample),
    Ended(Ending),
}

/// A reader of a run: a file, a terminal, a replay. It listens; it can never steer.
pub trait Sink {
    fn event(&mut self, event: &RunEvent);
}
