//! The options of a search, and the length that a step needs.

use super::answer::Answer;
use super::probe::Probe;
use super::trial::Trial;
use plimsoll_plan::experiment::{Purpose, Step, Until};

/// Minimum length of a step in ns, however fast the service is.
const SHORTEST_NS: f64 = 5e9;
/// Maximum length of a step in ns, unless the user chooses another.
const LONGEST_NS: f64 = 120e9;
/// Requests in a full step, in units of 1 / precision^2. Near saturation, about 100 / w^2 requests determine a
/// crossing to within w, regardless of its slope: a steeper share needs less precision but comes in longer bursts, and
/// both effects cancel. A dozen steps reach that number.
const SAMPLES: f64 = 8.0;
const SECOND: f64 = 1e9;
const WHOLE_NS: u64 = 1_000_000_000;
/// Minimum length of a step with its warm-up, and of its measurement period, in ns, however little time there is.
const LEAST_STEP_NS: u64 = 4_000_000_000;
const LEAST_MEASURED_NS: u64 = 3_000_000_000;
/// Default length of a ladder's step in ns.
const LADDER_NS: u64 = 15_000_000_000;

/// A search. Levels are arrivals per second, or users.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacitySearch {
    /// Levels are users of the closed model, in whole numbers.
    pub users: bool,
    /// First level; `None`: derived from the unloaded response time.
    pub from: Option<f64>,
    /// Highest allowed level.
    pub to: f64,
    /// A ladder instead of a search.
    pub step: Option<Step>,
    /// End of a ladder; `None`: when a threshold is missed.
    pub stop_when: Option<Until>,
    /// Measured length of a full step in ns; `None`: as long as the limits require.
    pub step_duration_ns: Option<u64>,
    /// Requested half width of the interval, as a ratio (0.001..0.5).
    pub precision: f64,
    /// Minimum number of confirming runs below, at, and above the estimate.
    pub confirm: u32,
    /// Median of the unloaded response time in ns; `None`: a run of one user measures it.
    pub floor_ns: Option<u64>,
    /// Largest limit of a time among the thresholds, in ns.
    pub longest_limit_ns: Option<u64>,
    /// Maximum duration of all runs with their warm-ups and rests, in ns.
    pub max_time_ns: Option<u64>,
    /// Seed of the order of confirming runs.
    pub seed: u64,
}

impl Default for CapacitySearch {
    fn default() -> Self {
        CapacitySearch {
            users: false,
            from: None,
            to: 1e6,
            step: None,
            stop_when: None,
            step_duration_ns: None,
            precision: 0.02,
            confirm: 2,
            floor_ns: None,
            longest_limit_ns: None,
            max_time_ns: None,
            seed: 1,
        }
    }
}

/// The next action of the driver.
#[derive(Debug, Clone)]
pub enum Move {
    /// Run this, append its trial, and ask again.
    Try(Probe),
    Done(Box<Answer>),
}

impl CapacitySearch {
    /// Returns the options with every number in its range, because the search must end for any input.
    pub(super) fn sane(&self) -> CapacitySearch {
        let usual = CapacitySearch::default();
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let mut to = if positive(self.to) { self.to.min(1e9) } else { usual.to };
        if self.users {
            to = to.floor().max(1.0);
        }
        let lowest = self.lowest(to);
        CapacitySearch {
            to,
            from: self.from.filter(|x| positive(*x)).map(|x| x.clamp(lowest, to)),
            precision: if positive(self.precision) {
                self.precision.clamp(0.001, 0.5)
            } else {
                usual.precision
            },
            confirm: self.confirm.clamp(1, 10),
            ..self.clone()
        }
    }

    fn lowest(&self, to: f64) -> f64 {
        if self.users { 1.0 } else { to.min(0.1) }
    }

    /// Returns the lowest level: one user, or one arrival in ten seconds (less only if `to` is).
    pub fn min_level(&self) -> f64 {
        self.lowest(self.to)
    }

    /// Returns the nearest valid level.
    pub(super) fn level(&self, level: f64) -> f64 {
        let level = if self.users { level.round() } else { level };
        let level = if level.is_nan() { self.min_level() } else { level };
        level.clamp(self.min_level(), self.to)
    }

    fn limit_s(&self) -> f64 {
        self.longest_limit_ns.map_or(0.0, |ns| ns as f64 / SECOND)
    }

    /// Returns how long the queue of a service near its capacity remembers, in seconds.
    ///
    /// In heavy traffic (M/M/1: relaxation about 2 / (mu (1 - rho)^2), and a p99 of L at mu - lambda = ln(100) / L),
    /// that is about 0.2 L^2 lambda. Levels closer to saturation than `precision` are not needed: there it is 2 /
    /// (lambda precision^2), doubled for safety.
    fn memory_s(&self, level: f64, floor_ns: Option<u64>) -> f64 {
        let limit = self.limit_s();
        let rate = match (self.users, floor_ns) {
            // Users wait for their responses, so the queue is never longer than the number of users.
            (true, _) => return limit.min(5.0),
            (false, _) => level.max(1e-3),
        };
        (0.2 * limit * limit * rate).min(4.0 / (rate * self.precision * self.precision)).min(30.0)
    }

    /// Returns warm-up and length of a step that can decide, in ns.
    ///
    /// Above the capacity by a share w, a backlog grows by w seconds per second, so a limit of L is missed only after
    /// L / w seconds, and twice that distinguishes it from chance. A p99 needs its thousand samples.
    pub(super) fn full_ns(&self, level: f64, floor_ns: Option<u64>) -> (u64, u64) {
        let memory = self.memory_s(level, floor_ns);
        let rate = self.rate_at(level, floor_ns);
        let bursts = SAMPLES / (rate * self.precision * self.precision);
        let wanted = bursts.max(2.0 * self.limit_s() / self.precision).max(2_000.0 / rate);
        let length =
            self.step_duration_ns.unwrap_or((wanted * SECOND).ceil().clamp(SHORTEST_NS, LONGEST_NS) as u64);
        let warmup = (1.5 * memory).clamp(1.0, 30.0).ceil() * SECOND;
        self.affordable(warmup as u64, whole_seconds(length), 8)
    }

    /// Returns warm-up and length of a step that only brackets the capacity, in ns.
    pub(super) fn short_ns(&self, level: f64, floor_ns: Option<u64>) -> (u64, u64) {
        let wanted = (3.0 * self.limit_s()).max(300.0 / self.rate_at(level, floor_ns));
        self.affordable(1_000_000_000, whole_seconds((wanted * SECOND).clamp(3e9, 12e9) as u64), 10)
    }

    /// Shortens a step that would take more than one of `parts` of the whole time: a result from a few short steps is
    /// valid, a result from a single long one is luck. A chosen length is kept.
    fn affordable(&self, warmup_ns: u64, length_ns: u64, parts: u64) -> (u64, u64) {
        let Some(max_time_ns) = self.max_time_ns.filter(|_| self.step_duration_ns.is_none()) else {
            return (warmup_ns, length_ns);
        };
        let most_ns = (max_time_ns / parts).max(LEAST_STEP_NS);
        if warmup_ns.saturating_add(length_ns) <= most_ns {
            return (warmup_ns, length_ns);
        }
        let warmup_ns = warmup_ns.min(most_ns / 4).max(SECOND as u64);
        (
            warmup_ns,
            length_ns.min(most_ns.saturating_sub(warmup_ns) / WHOLE_NS * WHOLE_NS).max(LEAST_MEASURED_NS),
        )
    }

    /// Returns the probe, shortened if only `left_ns` remains; `None` if that is too short for any probe.
    pub(super) fn fitted(&self, probe: Probe, left_ns: u64) -> Option<Probe> {
        if probe.total_ns() <= left_ns {
            return Some(probe);
        }
        if self.step_duration_ns.is_some() || self.step.is_some() || probe.purpose == Purpose::Baseline {
            return None;
        }
        let room_ns = left_ns.checked_sub(probe.rest_ns)?;
        let warmup_ns = probe.warmup_ns.min(room_ns / 4).max(WHOLE_NS);
        let length_ns = room_ns.checked_sub(warmup_ns)? / WHOLE_NS * WHOLE_NS;
        (length_ns >= LEAST_MEASURED_NS).then_some(Probe { warmup_ns, length_ns, ..probe })
    }

    /// Returns warm-up and length of a step of a ladder, in ns.
    pub(super) fn ladder_ns(&self) -> (u64, u64) {
        (1_000_000_000, self.step_duration_ns.unwrap_or(LADDER_NS).max(1_000_000_000))
    }

    fn rate_at(&self, level: f64, floor_ns: Option<u64>) -> f64 {
        let each_s = floor_ns.map_or(0.01, |ns| (ns as f64 / SECOND).max(1e-6));
        if self.users { level / each_s } else { level.max(1e-3) }
    }

    /// Returns the unloaded median: as given, or from a run of one user without failures. It is the service time,
    /// because waiting for the previous response is not part of the service.
    pub(super) fn floor(&self, history: &[Trial]) -> Option<u64> {
        let floors = || history.iter().filter(|t| t.probe.purpose == Purpose::Baseline && t.is_unloaded());
        let time = |t: &Trial| match (t.service_p50_ns, t.response_p50_ns) {
            (Some(service), Some(response)) => Some(service.min(response)),
            (service, response) => service.or(response),
        };
        self.floor_ns.or_else(|| floors().next_back().and_then(time))
    }
}

/// Rounds up to whole seconds, because blocks are seconds.
fn whole_seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000).max(1).saturating_mul(1_000_000_000)
}
