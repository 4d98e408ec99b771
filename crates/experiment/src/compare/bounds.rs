//! How far the load generator may have moved the figures of a side: the effect of each caution with a size, and its
//! direction.
//!
//! A difference that exceeds the possible effect on both sides is reported. Cautions without a size (an incomplete
//! record, a missed offered rate) still prevent a verdict, see [`super::doubts`].

use super::table::Counts;
use super::types::Side;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Digest;
use plimsoll_plan::experiment::Figure;

/// The possible error of a figure, on the logarithmic scale: the true value is at most `down` lower and `up` higher.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Off {
    pub down: f64,
    pub up: f64,
}

/// The share of a request's time that its worker waited for CPU is at most this multiple of the share of the run: waits
/// come in bunches, and slow requests coincide with them.
const BUNCHED: f64 = 2.0;
/// Upper limit of the share of a time that the load generator can explain: some of it is always the service's.
const MOST: f64 = 0.95;

/// Returns the possible error of a figure, from the most affected run. `response` and `service` are the times of the
/// side.
pub fn off(kind: Figure, side: &Side, response: &Counts, service: &Counts) -> Off {
    let raised = |kind: Kind| side.runs.iter().any(|run| run.cautions.iter().any(|c| c.kind == kind));
    let worst = |of: &dyn Fn(&Digest) -> f64| side.runs.iter().map(of).fold(0.0, f64::max);
    let mut off = Off::default();
    if [Kind::ClientCpuWait, Kind::ClientCpuSaturated].into_iter().any(raised) {
        let share = worst(&|run| run.generator.cpu_wait_ratio).clamp(0.0, MOST);
        match kind {
            // Users that wait for their worker send less often; arrivals do not depend on it.
            Figure::Throughput => off.up += -(1.0 - share).ln(),
            Figure::ErrorRate | Figure::Capacity => {}
            Figure::Mean => off.down += -(1.0 - share).ln(),
            Figure::Percentile { .. } => off.down += -(1.0 - (BUNCHED * share).min(MOST)).ln(),
        }
    }
    if raised(Kind::ClientStalled) {
        // Worst case: everything in the stalls was slow only because of them, so the true value is the same quantile of
        // the rest.
        let share =
            worst(&|run| run.generator.stalled_ns as f64 / 1e9 / run.measured_s.max(1e-9)).clamp(0.0, MOST);
        match kind {
            Figure::Throughput => off.up += -(1.0 - share).ln(),
            Figure::ErrorRate | Figure::Capacity => {}
            Figure::Mean => {
                off.down += fallen(response, mean_without(response, share), response.merged.mean())
            }
            Figure::Percentile { q, service: is_service } => {
                let counts = if is_service { service } else { response };
                let at = |q: f64| counts.merged.quantile(q).map(|v| v as f64);
                off.down += fallen(counts, at(q * (1.0 - share)), at(q));
            }
        }
    }
    if raised(Kind::LateSends) {
        let late = worst(&|run| run.generator.schedule_lag_p99_ns.unwrap_or(0) as f64);
        let less = |now: Option<f64>, least: Option<f64>| {
            now.map(|now| (now - late).max(least.unwrap_or(0.0).min(now)))
        };
        match kind {
            // Response time counts from the intended start time and contains the schedule lag; service time does not.
            Figure::Mean => {
                let now = response.merged.mean();
                off.down += fallen(response, less(now, service.merged.mean()), now);
            }
            Figure::Percentile { q, service: false } => {
                let now = response.merged.quantile(q).map(|v| v as f64);
                let least = service.merged.quantile(q).map(|v| v as f64);
                off.down += fallen(response, less(now, least), now);
            }
            Figure::Capacity
            | Figure::Throughput
            | Figure::ErrorRate
            | Figure::Percentile { service: true, .. } => {}
        }
    }
    off
}

/// Returns the logarithm of the largest possible decrease of a figure.
fn fallen(counts: &Counts, to: Option<f64>, from: Option<f64>) -> f64 {
    let least = counts.merged.min().unwrap_or(1).max(1) as f64;
    match (to, from) {
        (Some(to), Some(from)) if from > 0.0 => (from / to.max(least).min(from)).ln().max(0.0),
        _ => 0.0,
    }
}

/// Returns the mean without the slowest of this share.
fn mean_without(counts: &Counts, share: f64) -> Option<f64> {
    let all = counts.merged.count() as f64;
    let mut left = all * (1.0 - share);
    let (mut sum, mut n) = (0.0, 0.0);
    for (low, high, count) in counts.merged.buckets() {
        let taken = left.min(count as f64);
        sum += taken * f64::midpoint(low as f64, high as f64);
        n += taken;
        left -= taken;
        if left <= 0.0 {
            break;
        }
    }
    (n > 0.0).then(|| sum / n)
}
