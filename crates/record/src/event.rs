//! Events of a run in order, as the live view, the run file, and a replay receive them.

use crate::record::Opened;
use crate::steered::Steered;
use plimsoll_plan::Outline;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::link::Addresses;
use plimsoll_plan::origin::{Origin, OriginId};
use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_plan::watch::Unit;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Layout;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Start of a run: everything known before the first request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Unique name of this run of one machine, by which runs are merged.
    pub origin: String,
    pub outline: Outline,
    pub environment: Environment,
    pub started_unix_ns: u64,
}

impl Opening {
    /// Returns the addresses over which connections rotate, in the order of their series: those of all origins, as soon
    /// as one has several; empty if each has only one.
    pub fn taken_addresses(&self) -> Vec<&str> {
        let more = self.environment.more_origins.iter().map(|way| &way.addresses);
        let all: Vec<&Vec<String>> = std::iter::once(&self.environment.addresses).chain(more).collect();
        match self.outline.link.addresses == Addresses::All && all.iter().any(|own| own.len() > 1) {
            true => all.into_iter().flatten().map(String::as_str).collect(),
            false => Vec::new(),
        }
    }

    /// Returns the number of series before the load: those of the outline, then those of several addresses.
    pub fn series_count(&self) -> usize {
        self.outline.series_count() + self.taken_addresses().len()
    }

    /// Returns the layouts of these series, in the same order.
    pub fn layouts(&self) -> impl Iterator<Item = Layout> + '_ {
        let addresses = std::iter::repeat_n(Family::Address, self.taken_addresses().len());
        self.outline.families().chain(addresses).map(|family| Layout::of(family.cells()))
    }
}

/// The load generator's machine, and its path to the target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    pub tool_version: String,
    pub host: String,
    /// Random name of the boot of the kernel. Processes with the same one share a machine, also in containers; empty if
    /// unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub boot_id: String,
    pub kernel: String,
    pub cpu_model: String,
    /// CPUs that this process may use.
    pub cpus: u32,
    /// Online CPUs of the machine, usable by this process or not; 0 if unknown (older files).
    pub cpus_online: u32,
    pub memory_bytes: u64,
    /// Limits of open files: soft as found, soft as raised, and hard.
    pub nofile_soft_found: u64,
    pub nofile_soft: u64,
    pub nofile_hard: u64,
    /// Ephemeral ports for connections to one address.
    pub port_low: u16,
    pub port_high: u16,
    /// Addresses of the name; the first is loaded.
    pub addresses: Vec<String>,
    /// Duration of name resolution before the run, ns; 0 for a literal address.
    pub dns_ns: u64,
    /// Duration of the trial connection before the run, ns.
    pub first_connect_ns: u64,
    /// Whether the address of an origin belongs to this machine.
    pub is_same_machine: bool,
    /// Paths to the origins besides the target, from number 1 on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_origins: Vec<WayThere>,
    /// The agent that sent the load, if a coordinator led it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentOutline>,
}

impl Environment {
    /// Returns what two load generators have in common only if they share a machine.
    pub fn machine(&self) -> &str {
        if self.boot_id.is_empty() { &self.host } else { &self.boot_id }
    }
}

/// An agent, as the coordinator knew it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentOutline {
    pub name: String,
    /// Labels by name, such as `region`.
    pub labels: BTreeMap<String, String>,
    /// Delay of its load after the common start, ns, within `clock_bound_ns`.
    pub start_delay_ns: u64,
    /// Bound of the difference between its clock and the coordinator's, ns.
    pub clock_bound_ns: u64,
}

/// The path to an additional origin, of the plan or found during the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WayThere {
    /// Addresses of the name, as in [`Environment::addresses`].
    pub addresses: Vec<String>,
    /// Duration of name resolution before the run, ns; 0 for a literal address.
    pub dns_ns: u64,
    /// Duration of the trial connection before the run, ns.
    pub first_connect_ns: u64,
    /// Whether its address belongs to this machine.
    pub is_same_machine: bool,
}

/// One worker's time by use, over a tick or a run, ns.
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

/// One tick of one origin, summed over its workers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub interval: Arc<Interval>,
    /// By worker number.
    pub pulses: Vec<WorkerTimes>,
    /// Series that programs had opened by then, in order of their numbers, for readers without state.
    pub opened: Arc<[Opened]>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The duration was reached.
    Duration,
    /// The number of requests or iterations was reached.
    Requests,
    /// Interrupted by SIGINT, SIGTERM, or SIGHUP.
    Interrupt,
    /// Interrupted, in a run that may end early (`--stop-early-ok`).
    InterruptAllowed,
    /// Stopped by the circuit breaker or another `Command`.
    Command,
    /// A threshold with `abort after` was missed for that long.
    Threshold,
    /// All users have ended: their data is exhausted, or their iterations are done.
    Retired,
}

impl StoppedBy {
    /// Returns whether the work, not the time, was exhausted; users without work do not indicate a stalled service.
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

/// End of a run. A record without it was cut off (killed, crashed, disk full).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    pub stopped_by: StoppedBy,
    /// Time from start to stop, ns; the last tick ends here.
    pub elapsed_ns: u64,
    /// Reasons why workers died (a bug, or refused by the kernel).
    pub lost_workers: Vec<String>,
}

/// An entry of the timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Time since the start of the run, ns.
    pub at_ns: u64,
    pub kind: NoteKind,
    pub text: String,
}

/// What a load that an interrupt ended says.
pub const INTERRUPTED: &str = "interrupted";

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Seconds that could not be written (full disk); the totals include them.
    Gap,
    /// An interrupt, or an automatic action.
    Control,
    /// The load was paused, resumed, or changed manually.
    Steered(Steered),
    /// A note that the user added during the run.
    Note,
}

/// Readings of one monitor at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MonitorSample {
    /// Time of the sample since the start of the run, ns.
    pub at_ns: u64,
    /// Index in the outline's `watches`.
    pub monitor: u32,
    pub readings: Vec<Reading>,
}

/// One number of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Part of the system: a process, a disk, a database. Empty for the whole.
    pub part: String,
    /// Name such as `cpu`, unique within its part.
    pub metric: String,
    pub unit: Unit,
    /// Value at which the resource is exhausted, if there is one.
    pub limit: Option<f64>,
    /// Finite value; for counters, the rate since the previous sample.
    pub value: f64,
}

/// A fact about the system under test, such as its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub monitor: u32,
    pub name: String,
    pub value: String,
}

/// A sample that could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedSample {
    /// Time since the start of the run, ns; 0 before the load.
    pub at_ns: u64,
    pub monitor: u32,
    pub why: String,
}

/// A series that a program opened during the load, with its number in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesOpened {
    /// Number of the series; numbers continue after [`Opening::series_count`] without a gap.
    pub series: u32,
    pub key: Arc<SeriesKey>,
}

/// An origin that was found during the run, because a program asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OriginOpened {
    /// Its number; those of a run continue after those of the plan without a gap.
    pub number: OriginId,
    pub origin: Origin,
    pub way: WayThere,
}

/// Event that sinks receive.
#[derive(Debug, Clone)]
pub enum RunEvent {
    Opened(Arc<Opening>),
    /// Precedes the first tick that counts in the series.
    SeriesOpened(SeriesOpened),
    /// Precedes the first tick that counts requests to the origin. Those found by the setup follow the opening.
    OriginOpened(OriginOpened),
    Ticked(Tick),
    Noted(Note),
    /// An example of a failure.
    FailureRecorded(FailureExample),
    /// A sample of a monitor.
    MonitorSampled(MonitorSample),
    Learnt(Fact),
    SampleMissed(MissedSample),
    Ended(Ending),
}

/// A reader of a run: a file, a terminal, a replay. It never affects the run.
pub trait Sink {
    fn event(&mut self, event: &RunEvent);
}
