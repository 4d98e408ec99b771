//! A run boiled down for the analyses that look at several runs: figures, and the blocks of time that say how much they
//! would differ in another run.

mod bottleneck;
mod make;
mod spectrum;

pub use bottleneck::bottleneck_of;
pub use make::{digest, digest_with};
pub use spectrum::merged_spectrum;

use super::facts::ratio;
use crate::caution::Kind;
use crate::summary::{Bottleneck, Caution, Outcome, SaturatedResource, Severity, ThresholdResult, Times};
use plimsoll_plan::experiment::CellOutline;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::StoppedBy;
use plimsoll_stats::Hist;
use serde::Serialize;

/// See the module. All but `blocks` is taken from the run's summary and agrees with it to the digit.
#[derive(Debug, Clone)]
pub struct Digest {
    pub name: String,
    pub target: String,
    /// `None` for a single run.
    pub cell: Option<CellOutline>,
    pub level: Level,
    pub outcome: Outcome,
    pub thresholds: Vec<ThresholdResult>,
    pub cautions: Vec<Caution>,
    /// The record has its end and all its seconds.
    pub complete: bool,
    /// Length of the measured part, s.
    pub measured_s: f64,
    pub requests: u64,
    pub errors: u64,
    pub error_ratio: f64,
    /// Requests that failed below HTTP, on the network's or the server's side.
    pub socket_errors: u64,
    /// Failures on this machine's side.
    pub client_faults: u64,
    /// Open model only.
    pub offered_rate_per_s: Option<f64>,
    /// Finished requests per second.
    pub rate_per_s: f64,
    /// Completed iterations per second, to compare with an offered rate.
    pub iterations_per_s: f64,
    pub response_time: Times,
    pub service_time: Times,
    /// Mean number of requests in flight, measured.
    pub in_flight_mean: f64,
    /// Bytes received per second.
    pub bytes_in_per_s: f64,
    pub rtt_min_ns: Option<u64>,
    pub connect_p50_ns: Option<u64>,
    pub first_byte_mean_ns: Option<f64>,
    pub body_mean_ns: Option<f64>,
    /// `None`: the run was cut off.
    pub stopped_by: Option<StoppedBy>,
    /// Unix time of the beginning, ns: which run came first.
    pub started_unix_ns: u64,
    /// The seconds of the measured part in their order, of several machines added up by tick.
    pub blocks: Vec<Block>,
    /// What monitors saw. The default: there were none.
    pub watched: Watching,
    /// Mean response times request by request, streams apart; empty where there is one request only.
    pub by_request: Vec<RequestMean>,
    /// What the load generator says of itself.
    pub generator: Generator,
}

/// The health of the load generator in a few figures; of several machines and workers the worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Generator {
    /// p99 of how late requests were sent, ns.
    pub schedule_lag_p99_ns: Option<u64>,
    /// Share of the time in which a worker was runnable without a CPU.
    pub cpu_wait_ratio: f64,
    pub busy_ratio: f64,
    /// Time of unintended stalls of a worker, ns.
    pub stalled_ns: u64,
    pub retransmits: u64,
}

impl Generator {
    /// The worse of two in each figure; what is counted is added up.
    pub fn worst(&self, other: &Generator) -> Generator {
        Generator {
            schedule_lag_p99_ns: self.schedule_lag_p99_ns.max(other.schedule_lag_p99_ns),
            cpu_wait_ratio: self.cpu_wait_ratio.max(other.cpu_wait_ratio),
            busy_ratio: self.busy_ratio.max(other.busy_ratio),
            stalled_ns: self.stalled_ns.saturating_add(other.stalled_ns),
            retransmits: self.retransmits.saturating_add(other.retransmits),
        }
    }
}

/// The mean response time of one request: of several runs it is found from means and counts alone.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMean {
    /// `scenario: name` where a scenario is named.
    pub name: String,
    pub samples: u64,
    pub mean_ns: f64,
}

/// What is kept of a run's monitors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watching {
    /// Figures of the whole of what each monitor watched, and of single parts where there is no whole.
    pub seen: Vec<Seen>,
    /// As in the summary.
    pub saturated: Vec<SaturatedResource>,
    /// As `bottleneck` of the summary; `None` without monitors.
    pub bottleneck: Option<Bottleneck>,
}

/// One number of one monitor over a run, or over the runs of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen {
    pub monitor: String,
    pub kind: String,
    /// Empty: the whole.
    pub part: String,
    pub metric: String,
    pub unit: Unit,
    pub mean: f64,
    pub peak: f64,
    pub limit: Option<f64>,
    /// The mean as a share of the limit.
    pub usage_ratio: Option<f64>,
}

impl Digest {
    /// The run is in doubt as a whole. That a percentile of a threshold had too few samples is no such doubt: intervals
    /// know how many samples there were, and other figures had enough.
    pub fn is_doubtful(&self) -> bool {
        let mut heavy =
            self.cautions.iter().filter(|caution| caution.severity == Severity::Inconclusive).peekable();
        let only_few = heavy.peek().is_some() && heavy.all(|caution| caution.kind == Kind::TooFewSamples);
        self.outcome == Outcome::Inconclusive && !only_few
    }
}

/// Names under which monitors tell the CPU time of what they watch; the first that one has is the one that is shown.
pub const CPU_NAMES: [&str; 2] = ["cpu", "cpu_main_thread"];

/// As [`CPU_NAMES`], of memory.
pub const MEMORY_NAMES: [&str; 6] = ["rss", "memory", "memory_rss", "memory_used", "heap_used", "heap_alloc"];

/// CPU and memory of each monitor that has them, each under the first of its names, as tables show them:
/// `api cpu peak`, `api rss peak`.
pub fn sizes(seen: &[Seen]) -> Vec<(String, &Seen)> {
    let mut monitors: Vec<&str> = Vec::new();
    for one in seen.iter().filter(|one| one.part.is_empty()) {
        if !monitors.contains(&one.monitor.as_str()) {
            monitors.push(&one.monitor);
        }
    }
    let mut out = Vec::new();
    for monitor in monitors {
        let own = || seen.iter().filter(|one| one.part.is_empty() && one.monitor == monitor);
        for (names, word) in [(&CPU_NAMES[..], "cpu"), (&MEMORY_NAMES[..], "memory")] {
            let found = names.iter().find_map(|name| own().find(|one| one.metric == *name));
            if let Some(one) = found {
                let word = if one.metric == "rss" { "rss" } else { word };
                out.push((format!("{monitor} {word} peak"), one));
            }
        }
    }
    out
}

/// The configured load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// Closed model: most users.
    Users(f64),
    /// Open model: highest arrivals per second.
    Rate(f64),
}

impl Level {
    pub fn value(self) -> f64 {
        match self {
            Level::Users(n) | Level::Rate(n) => n,
        }
    }
}

/// One stretch of a run, usually a second.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// From the start of the run, ns.
    pub from_ns: u64,
    pub length_ns: u64,
    pub offered: u64,
    pub requests: u64,
    pub errors: u64,
    pub bytes_in: u64,
    /// Mean over the block.
    pub in_flight: f64,
    /// Times from the intended start, those cut off at their bounds.
    pub response: Hist,
    pub service: Hist,
}

impl Block {
    /// Adds a block that follows.
    pub fn extend(&mut self, next: &Block) {
        let (mine, theirs) = (self.length_ns as f64, next.length_ns as f64);
        self.in_flight = ratio(self.in_flight * mine + next.in_flight * theirs, mine + theirs);
        self.length_ns += next.length_ns;
        self.offered += next.offered;
        self.requests += next.requests;
        self.errors += next.errors;
        self.bytes_in += next.bytes_in;
        self.response.merge(&next.response);
        self.service.merge(&next.service);
    }
}

/// Returns at most `most` blocks with the content of all of `blocks`; adjacent blocks are merged, because a thousand
/// resamplings of an hour of seconds would take too long.
pub fn coarser(blocks: &[Block], most: usize) -> Vec<Block> {
    let width = blocks.len().div_ceil(most.max(1)).max(1);
    let merge = |part: &[Block]| {
        let mut sum = part.first().cloned().unwrap_or_default();
        part.iter().skip(1).for_each(|next| sum.extend(next));
        sum
    };
    blocks.chunks(width).map(merge).collect()
}
