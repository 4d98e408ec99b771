//! Latency spikes in the timeline, and how long the service took to come back to its baseline.

use super::timeline::Moment;
use crate::caution::Doubts;
use crate::summary::Spike;
use plimsoll_plan::load::Profile;
use plimsoll_stats::Hist;

/// A tick with fewer samples has no p95 of its own (it is the slowest one): its median has to be slow.
const FEW: u64 = 20;
/// A baseline is the median of at least so many ticks.
const BASELINE_TICKS: u64 = 3;

/// All spikes outside the warm-up. The baseline of one is the median p95 of the ordinary ticks before it.
pub(super) fn spikes(moments: &[Moment], load: &Profile, doubts: &Doubts) -> Vec<Spike> {
    let measured: Vec<&Moment> = moments.iter().filter(|m| !m.second.warmup).collect();
    let mut spikes = Vec::new();
    // A histogram is a running median without sorting; nine hours have 32,400 ticks.
    let mut ordinary = Hist::on_demand();
    let mut at = 0;
    while at < measured.len() {
        let baseline = ordinary.quantile(0.5).filter(|_| ordinary.count() >= BASELINE_TICKS);
        match baseline.filter(|b| is_slow(measured[at], *b, doubts)) {
            Some(baseline) => {
                let (spike, next) = spike(&measured, at, baseline, load, doubts);
                spikes.push(spike);
                at = next;
            }
            None => {
                if let Some(p95) = measured[at].p95_ns {
                    ordinary.record(p95);
                }
                at += 1;
            }
        }
    }
    spikes
}

/// A single answer this long in a tick of fast ones is a stop that began before it.
const STOP_NS: u64 = 200_000_000;

fn is_slow(moment: &Moment, baseline: u64, doubts: &Doubts) -> bool {
    // Requests under way, and not one of them ended: the service stands still.
    if moment.second.requests == 0 && moment.in_flight_ns > 0 {
        return true;
    }
    let longest = moment.second.max_ns.unwrap_or(0);
    if longest > STOP_NS && longest as f64 > baseline as f64 * 10.0 * doubts.spike_baselines {
        return true;
    }
    let figure = if moment.samples < FEW { moment.second.p50_ns } else { moment.p95_ns };
    figure.is_some_and(|p| {
        p as f64 > baseline as f64 * doubts.spike_baselines
            && p > baseline.saturating_add(doubts.spike_more_ns)
    })
}

/// The spike that begins at `from`, and where to look on.
fn spike(
    measured: &[&Moment],
    from: usize,
    baseline: u64,
    load: &Profile,
    doubts: &Doubts,
) -> (Spike, usize) {
    let is_back = |m: &&Moment| {
        !is_slow(m, baseline, doubts)
            && m.p95_ns.is_some_and(|p| p as f64 <= baseline as f64 * doubts.recovered_baselines)
    };
    // Back for good: this second and the next, if there is one.
    let back = (from + 1..measured.len())
        .find(|at| is_back(&measured[*at]) && measured.get(at + 1).is_none_or(is_back));
    let end = back.unwrap_or(measured.len());
    let first = &measured[from].second;
    // The longest answer that ended in the first slow tick was under way since then.
    let since_s = first.from_s + first.length_s - first.max_ns.unwrap_or(0) as f64 / 1e9;
    let from_s =
        if first.max_ns.is_some_and(|max| max > STOP_NS) { since_s.min(first.from_s) } else { first.from_s };
    let from_s = from_s.max(0.0);
    let slow_s =
        measured[from..end].iter().filter(|m| is_slow(m, baseline, doubts)).map(|m| m.second.length_s).sum();
    let recovered_after_s = back.map(|at| {
        let back_s = measured[at].second.from_s;
        back_s - drop_between(load, from_s, back_s).unwrap_or(from_s)
    });
    let peak = measured[from..end].iter().filter_map(|m| m.p95_ns).max().unwrap_or(baseline);
    // A stop that so few requests met that no p95 shows it.
    let longest = measured[from..end].iter().filter_map(|m| m.second.max_ns).max().unwrap_or(0);
    let hidden = (peak as f64) < baseline as f64 * doubts.spike_baselines;
    let peak = if hidden { peak.max(longest) } else { peak };
    (Spike { from_s, slow_s, baseline_p95_ns: baseline, peak_p95_ns: peak, recovered_after_s }, end)
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
