//! When it went wrong: failures that came in a short stretch, spikes and their pace, and whether the load itself rose
//! just then.

use super::{Reason, missed};
use crate::summary::{Outcome, Second, Spike, Summary};
use plimsoll_plan::load::Load;
use serde::Serialize;

/// A stretch with this share of all failures has most of them ...
const MOST: f64 = 0.6;
/// ... and where it is no longer than this share of the run, it is news.
const STRETCH: f64 = 0.1;
/// Fewer failures come together by chance.
const MIN_FAILURES: u64 = 10;
/// A profile of more stages is a recording, and goes up and down from second to second.
const STAGES_MOST: usize = 40;
/// Factor above which a spike is reported even if every threshold was met.
const SPIKE_FACTOR: u64 = 10;

/// Most failures came in a short stretch.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Burst {
    /// From the start of the run.
    pub from_s: f64,
    pub to_s: f64,
    pub failed_requests: u64,
    /// None came at another time.
    pub is_all: bool,
}

/// The load rose just before.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LoadRise {
    /// Arrivals a second, or users.
    pub to: f64,
    /// Arrivals; otherwise users.
    pub is_open: bool,
}

/// The longest spike began as the load rose.
#[derive(Debug, Clone, Serialize)]
pub struct SlowSinceRise {
    pub from_s: f64,
    pub slow_s: f64,
    pub measured_s: f64,
    pub load: LoadRise,
    pub peak_p95_ns: u64,
    pub baseline_p95_ns: u64,
    /// When the other spikes began, s.
    pub others_from_s: Vec<f64>,
}

/// Moments in which it was slow.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SlowSpikes {
    pub spikes: usize,
    /// Beginning of the first one, from the start of the run.
    pub first_from_s: f64,
    /// The time from one to the next, where they keep it; s.
    pub pace_s: Option<f64>,
    pub slow_s: f64,
    pub measured_s: f64,
    /// Of the highest.
    pub peak_p95_ns: u64,
    pub baseline_p95_ns: u64,
}

/// `None`: they did not come together.
pub(super) fn burst(s: &Summary) -> Option<Burst> {
    let seconds: Vec<&Second> = s.timeline.iter().filter(|second| !second.is_warmup).collect();
    let all: u64 = seconds.iter().map(|second| second.errors).sum();
    let wanted = (all as f64 * MOST).ceil() as u64;
    let end_s = |second: &Second| second.from_s + second.length_s;
    // The shortest stretch with as many: its first second moves on as long as enough is left.
    let (mut first, mut n, mut best) = (0, 0u64, None::<(f64, f64, u64)>);
    for last in &seconds {
        n += last.errors;
        while let Some(begin) = seconds.get(first).filter(|begin| n - begin.errors >= wanted) {
            n -= begin.errors;
            first += 1;
        }
        if let Some(begin) = seconds.get(first).filter(|_| n >= wanted) {
            let (from_s, to_s) = (begin.from_s, end_s(last));
            if best.is_none_or(|(from, to, _)| to_s - from_s < to - from) {
                best = Some((from_s, to_s, n));
            }
        }
    }
    let (from_s, to_s, failed) = best.filter(|_| all >= MIN_FAILURES)?;
    let is_short = to_s - from_s <= STRETCH * s.totals.measured_s;
    is_short.then_some(Burst { from_s, to_s, failed_requests: failed, is_all: failed == all })
}

/// Whether the load rose within two seconds of the beginning of a spike.
pub fn load_rise(s: &Summary, spike: &Spike) -> Option<LoadRise> {
    let profile = s.plan.load.profile();
    if s.plan.workloads.len() > 1 || profile.stages.len() > STAGES_MOST {
        return None;
    }
    let level = |at_s: f64| profile.level_at((at_s.max(0.0) * 1e9) as u64);
    let (before, to) = (level(spike.from_s - 2.0), level(spike.from_s + 1.0));
    let is_open = match s.plan.load {
        Load::Open { .. } => true,
        Load::Closed { .. } => false,
    };
    (to > before * 1.01).then_some(LoadRise { to, is_open })
}

/// That the time is lost in a few moments and their pace, or since the load rose; where a threshold on times was
/// missed, or where it is too much to be passed over.
pub(super) fn spikes(s: &Summary) -> Option<Reason<'static>> {
    let highest = s.spikes.iter().max_by_key(|spike| spike.peak_p95_ns)?;
    let is_loud = highest.peak_p95_ns >= SPIKE_FACTOR.saturating_mul(highest.baseline_p95_ns);
    if !(missed(s, "response_time") || is_loud && s.verdict.result == Outcome::Pass) {
        return None;
    }
    let measured_s = s.totals.measured_s;
    let longest = s.spikes.iter().max_by(|a, b| a.slow_s.total_cmp(&b.slow_s))?;
    if let Some(load) = load_rise(s, longest) {
        let others = s.spikes.iter().filter(|one| !std::ptr::eq(*one, longest));
        return Some(Reason::SlowSinceRise(SlowSinceRise {
            from_s: longest.from_s,
            slow_s: longest.slow_s,
            measured_s,
            load,
            peak_p95_ns: longest.peak_p95_ns,
            baseline_p95_ns: longest.baseline_p95_ns,
            others_from_s: others.map(|one| one.from_s).collect(),
        }));
    }
    let slow_s: f64 = s.spikes.iter().map(|spike| spike.slow_s).sum();
    // A period of more than half of the run is not a point in time.
    if slow_s * 2.0 > measured_s {
        return None;
    }
    Some(Reason::Spikes(SlowSpikes {
        spikes: s.spikes.len(),
        first_from_s: s.spikes.first().map_or(0.0, |spike| spike.from_s),
        pace_s: pace_s(s),
        slow_s,
        measured_s,
        peak_p95_ns: highest.peak_p95_ns,
        baseline_p95_ns: highest.baseline_p95_ns,
    }))
}

/// The time from one spike to the next, s, where all of three or more keep it to a second, which is how finely their
/// beginnings are known on either side.
pub(super) fn pace_s(s: &Summary) -> Option<f64> {
    let mut gaps_s: Vec<f64> =
        s.spikes.windows(2).filter_map(|two| Some(two.last()?.from_s - two.first()?.from_s)).collect();
    gaps_s.sort_by(f64::total_cmp);
    let (least, most) = (gaps_s.first()?, gaps_s.last()?);
    let mean_s = gaps_s.iter().sum::<f64>() / gaps_s.len() as f64;
    (gaps_s.len() >= 2 && most - least <= 1.0 && mean_s >= 2.0).then(|| mean_s.round())
}
