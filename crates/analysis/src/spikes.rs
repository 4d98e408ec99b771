//! Latency spikes in the timeline, outages among them, and how long the service took to come back to its baseline.

use super::facts::{Facts, Machine, ratio};
use super::timeline::Moment;
use crate::caution::CautionLimits;
use crate::summary::{Outage, Spike};
use plimsoll_plan::load::Profile;
use plimsoll_record::event::StoppedBy;
use plimsoll_record::steered::pauses;
use plimsoll_stats::Hist;

/// A tick with fewer samples has no p95 (it equals the maximum), so its median must be slow. And with fewer responses
/// than a quarter of these, missing responses cannot be detected.
const MIN_SAMPLES: u64 = 20;
/// Minimum number of ticks in a baseline, which is their median.
const BASELINE_TICKS: u64 = 3;
/// A single answer this long in a tick of fast ones is a stop that began before it.
const STOP_NS: u64 = 200_000_000;
/// Share of the usual responses below which the service is stalled.
const STANDSTILL: f64 = 0.1;

/// What an ordinary tick looks like: medians.
#[derive(Debug, Clone, Copy)]
struct Baseline {
    p95_ns: u64,
    answers_per_s: f64,
    busy: f64,
}

/// Ordinary ticks. A histogram is a running median without sorting; nine hours have 32,400 ticks.
struct Ordinary {
    p95_ns: Hist,
    answers_per_ks: Hist,
    busy_thousandths: Hist,
}

impl Ordinary {
    fn new() -> Self {
        Self {
            p95_ns: Hist::on_demand(),
            answers_per_ks: Hist::on_demand(),
            busy_thousandths: Hist::on_demand(),
        }
    }

    fn add(&mut self, tick: &Tick) {
        let Some(p95_ns) = tick.moment.p95_ns else { return };
        let per_s = ratio(tick.moment.answered as f64, tick.moment.second.length_s);
        self.p95_ns.record(p95_ns);
        self.answers_per_ks.record((per_s * 1e3) as u64);
        self.busy_thousandths.record((tick.busy * 1e3) as u64);
    }

    fn baseline(&self) -> Option<Baseline> {
        let median = |hist: &Hist| hist.quantile(0.5).filter(|_| hist.count() >= BASELINE_TICKS);
        Some(Baseline {
            p95_ns: median(&self.p95_ns)?,
            answers_per_s: median(&self.answers_per_ks)? as f64 / 1e3,
            busy: median(&self.busy_thousandths)? as f64 / 1e3,
        })
    }
}

/// A measured tick.
struct Tick<'a> {
    moment: &'a Moment,
    /// How many requests or users waited for the service, mean over the tick.
    busy: f64,
}

/// Returns all spikes outside of the warm-up. The baseline of a spike is the median of the ordinary ticks before it;
/// for the first seconds, of those after them.
///
/// Seconds of an outage are not a spike: without successes, there are no slow ones.
pub(super) fn spikes(
    facts: &Facts,
    moments: &[Moment],
    doubts: &CautionLimits,
    outages: &[Outage],
) -> Vec<Spike> {
    let load = facts.plan.load.profile();
    let measured = ticks(facts, moments, outages);
    let mut later = Ordinary::new();
    measured.iter().skip(BASELINE_TICKS as usize).for_each(|tick| later.add(tick));
    let later = later.baseline();
    let mut spikes: Vec<Spike> = Vec::new();
    let mut ordinary = Ordinary::new();
    let (mut at, mut free_s) = (0, measured.first().map_or(0.0, |tick| tick.moment.second.from_s));
    while at < measured.len() {
        let baseline = ordinary.baseline().or(later);
        match baseline.filter(|b| is_slow(&measured[at], b, doubts)) {
            // Timeouts end long after their cause, so they are not a second spike.
            Some(baseline) if !spikes.is_empty() && since_s(&measured[at], &baseline, doubts) < free_s => {
                at += 1
            }
            Some(baseline) => {
                let (spike, next) = spike(&measured, at, &baseline, free_s, load, doubts);
                spikes.push(spike);
                at = next;
                free_s = measured.get(at).map_or(f64::INFINITY, |tick| tick.moment.second.from_s);
            }
            None => {
                ordinary.add(&measured[at]);
                at += 1;
            }
        }
    }
    spikes
}

fn ticks<'a>(facts: &Facts, moments: &'a [Moment], outages: &[Outage]) -> Vec<Tick<'a>> {
    let measured = || moments.iter().filter(|m| !m.second.is_warmup);
    // If the number of requests ends a run, users without work are not a sign of a stall.
    let worked_until = match facts.stopped_by().is_some_and(StoppedBy::is_out_of_work) {
        true => measured().rfind(|m| m.sent > 0).map_or(0, |m| m.second.tick),
        false => u32::MAX,
    };
    // Users of a script may be thinking, and an open stream does not mean that a user waits.
    let busy = |m: &Moment| match m.second.tick < worked_until {
        _ if facts.has_streams() => 0.0,
        true if !facts.is_scripted() => m.second.in_flight.max(m.second.users),
        _ => m.second.in_flight,
    };
    let pauses = paused(facts);
    let is_paused = |m: &Moment| {
        let (from_s, to_s) = (m.second.from_s, m.second.from_s + m.second.length_s);
        let down = outages.iter().map(|outage| (outage.from_s, outage.to_s));
        pauses.iter().copied().chain(down).any(|(since_s, until_s)| from_s < until_s && to_s > since_s)
    };
    let free = measured().filter(|moment| !is_paused(moment));
    free.map(|moment| Tick { moment, busy: busy(moment) }).collect()
}

/// Periods in which a machine was paused, so missing responses are not caused by the service.
pub(super) fn paused(facts: &Facts) -> Vec<(f64, f64)> {
    facts.machines.iter().flat_map(paused_of).collect()
}

/// Those of one machine.
pub(super) fn paused_of(machine: &Machine) -> Vec<(f64, f64)> {
    let seconds = |(from_ns, to_ns)| (from_ns as f64 / 1e9, to_ns as f64 / 1e9);
    pauses(&machine.origin.notes, machine.elapsed_ns).into_iter().map(seconds).collect()
}

fn is_slow(tick: &Tick, baseline: &Baseline, doubts: &CautionLimits) -> bool {
    let (moment, p95_ns) = (tick.moment, baseline.p95_ns);
    if stands_still(tick, baseline) {
        return true;
    }
    let longest = moment.second.max_ns.unwrap_or(0);
    if longest > STOP_NS && longest as f64 > p95_ns as f64 * 10.0 * doubts.spike_baselines {
        return true;
    }
    slow_ns(tick, baseline, doubts).is_some()
}

/// The statistic that represents most responses of the tick, if it is far above the baseline.
fn slow_ns(tick: &Tick, baseline: &Baseline, doubts: &CautionLimits) -> Option<u64> {
    let (moment, p95_ns) = (tick.moment, baseline.p95_ns);
    let figure = if moment.samples < MIN_SAMPLES { moment.second.p50_ns } else { moment.p95_ns };
    figure.filter(|p| {
        *p as f64 > p95_ns as f64 * doubts.spike_baselines && *p > p95_ns.saturating_add(doubts.spike_more_ns)
    })
}

/// Returns the start of what a slow tick shows: its slow responses were in flight since then. The longest one counts
/// only if nothing else is slow; next to many slow responses, a single timeout would move the start to a time without
/// problems.
fn since_s(tick: &Tick, baseline: &Baseline, doubts: &CautionLimits) -> f64 {
    let second = &tick.moment.second;
    let longest = || second.max_ns.filter(|max| *max > STOP_NS && !stands_still(tick, baseline));
    let under_way_ns = slow_ns(tick, baseline, doubts).or_else(longest).unwrap_or(0);
    let since_s = second.from_s + second.length_s - under_way_ns as f64 / 1e9;
    since_s.min(second.from_s)
}

/// Users wait for the service, and hardly any response arrives. No p95 shows it, because it has no samples. A reduced
/// load has fewer responses too, so the expectation falls with the number of users who wait.
fn stands_still(tick: &Tick, baseline: &Baseline) -> bool {
    let load = if baseline.busy > 0.0 { (tick.busy / baseline.busy).min(1.0) } else { 1.0 };
    let expected = baseline.answers_per_s * tick.moment.second.length_s * load;
    tick.busy > 0.0
        && expected >= MIN_SAMPLES as f64 / 4.0
        && (tick.moment.answered as f64) < expected * STANDSTILL
}

/// The spike that begins at `from`, at `free_s` at the earliest, and where to look on.
fn spike(
    measured: &[Tick],
    from: usize,
    baseline: &Baseline,
    free_s: f64,
    load: &Profile,
    doubts: &CautionLimits,
) -> (Spike, usize) {
    let p95_ns = baseline.p95_ns;
    let is_calm =
        |t: &Tick| t.moment.p95_ns.is_some_and(|p| p as f64 <= p95_ns as f64 * doubts.recovered_baselines);
    let is_back = |t: &Tick| !is_slow(t, baseline, doubts) && is_calm(t);
    // Back for good: this second and the next, if there is one. A rest of a second without a sample says nothing.
    let says_nothing = |at: usize| {
        at + 1 == measured.len()
            && measured[at].moment.samples == 0
            && !is_slow(&measured[at], baseline, doubts)
    };
    let is_last = |at: usize| at >= measured.len() || says_nothing(at);
    let back = (from + 1..measured.len())
        .find(|at| is_back(&measured[*at]) && (is_last(at + 1) || is_back(&measured[at + 1])));
    let end = back.unwrap_or(measured.len());
    let slow = || measured[from..end].iter().filter(|t| is_slow(t, baseline, doubts));
    let first_s = measured[from].moment.second.from_s;
    let begun_s = slow().map(|t| since_s(t, baseline, doubts)).fold(first_s, f64::min);
    let from_s = begun_s.max(free_s.min(first_s));
    // At the end of the run the last second itself may be back, all but the answer that had waited.
    let last = (from..end).rfind(|at| !says_nothing(*at)).map(|at| &measured[at]);
    let back_s = match back {
        Some(at) => Some(measured[at].moment.second.from_s),
        None => last
            .filter(|t| is_calm(t) && !stands_still(t, baseline))
            .map(|t| t.moment.second.from_s + t.moment.second.length_s),
    };
    let recovered_after_s =
        back_s.map(|back_s| back_s - drop_between(load, from_s, back_s).unwrap_or(from_s));
    let peak = measured[from..end].iter().filter_map(|t| t.moment.p95_ns).max().unwrap_or(p95_ns);
    // A stop that so few requests met that no p95 shows it.
    let longest = measured[from..end].iter().filter_map(|t| t.moment.second.max_ns).max().unwrap_or(0);
    let hidden = (peak as f64) < p95_ns as f64 * doubts.spike_baselines;
    let spike = Spike {
        from_s,
        to_s: slow().map(|t| t.moment.second.from_s + t.moment.second.length_s).fold(from_s, f64::max),
        slow_s: slow().map(|t| t.moment.second.length_s).sum(),
        baseline_p95_ns: p95_ns,
        peak_p95_ns: if hidden { peak.max(longest) } else { peak },
        recovered_after_s,
    };
    (spike, end)
}

/// When the load began to fall from its step, if it did between the two instants: a service is given its time to
/// recover from there, not from the beginning of a step that it was never meant to stand.
fn drop_between(load: &Profile, from_s: f64, to_s: f64) -> Option<f64> {
    let (mut level, mut begin_ns, mut found) = (load.start, 0u64, None);
    for stage in &load.stages {
        let begin_s = begin_ns as f64 / 1e9;
        if stage.to < level && begin_s >= from_s && begin_s <= to_s {
            found = Some(begin_s);
        }
        (level, begin_ns) = (stage.to, begin_ns.saturating_add(stage.duration_ns));
    }
    found
}
