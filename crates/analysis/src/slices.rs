//! What requests waited for, from the fastest to the slowest: the mean time in each phase, slice by slice of the
//! distribution of response times. A mean over all hides that the slowest hundredth waits for something else.

use super::cells::Cells;
use super::times::stands;
use plimsoll_plan::metric::{PHASE_UNIT_NS, RunHist, SeriesHist};
use plimsoll_record::record::{RunRecord, requests_total};
use plimsoll_stats::{Hist, Tally};
use serde::Serialize;
use std::collections::BTreeMap;

/// Where one slice gives way to the next.
const EDGES: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 0.999];

/// A slice with fewer requests is merged with the adjacent slice.
const REQUESTS_LEAST: f64 = 10.0;

/// A stretch of the distribution, and the mean time that its requests spent in each phase, ns. Of the times that were
/// cut off it has those that a [`Heat`](crate::picture::Heat) has in its cells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct Slice {
    /// From this quantile to that: 0.99 to 1 are the slowest hundredth.
    pub from_q: f64,
    pub to_q: f64,
    pub requests: u64,
    /// Those of them whose time is only known to be longer: the means are the least then.
    pub cut_off: u64,
    pub response_ns: f64,
    /// From the instant when it was due to the send: what the client (or its users' connections) made it wait.
    pub wait_ns: f64,
    /// From the send to the first byte of the answer.
    pub first_byte_ns: f64,
    /// From the first byte to the last.
    pub body_ns: f64,
}

/// Requests and the sums of their phases, ns.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    requests: f64,
    /// Those of them that were cut off.
    longer: f64,
    /// Cut off among faster ones: no requests of this slice, though their phases are in its sums.
    cut_off: f64,
    wait_ns: f64,
    first_byte_ns: f64,
    body_ns: f64,
}

/// Returns the slices of the measured part, summed over all machines; none for files without phases by response time.
/// Times that were cut off by a timeout, or after the longest completed one, count with their known part. A bucket of
/// equal times at an edge is split in proportion.
pub fn slices(record: &RunRecord) -> Vec<Slice> {
    let mut run = Tally::on_demand(plimsoll_record::record::RUN_LAYOUT);
    let mut all = Tally::on_demand(plimsoll_record::record::SERIES_LAYOUT);
    let mut timeout_ns = u64::MAX;
    for origin in record.generators.values() {
        timeout_ns = timeout_ns.min(origin.opening.outline.timeout_ns);
        run.merge(&origin.totals.run);
        all.merge(&requests_total(&origin.opening.outline, &origin.opened, &origin.totals));
    }
    slices_of(&run, &all, timeout_ns)
}

/// The same from the run-wide numbers and those of all requests.
pub(super) fn slices_of(run: &Tally, all: &Tally, timeout_ns: u64) -> Vec<Slice> {
    let buckets = buckets(run, all, timeout_ns);
    let total: f64 = buckets.iter().map(|sum| sum.requests).sum();
    let has_phases = buckets.iter().any(|sum| sum.wait_ns + sum.first_byte_ns + sum.body_ns > 0.0);
    if total <= 0.0 || !has_phases {
        return Vec::new();
    }
    // There must be enough requests above an edge; the first slice always exists.
    let is_wide = |q: &f64| *q == 0.0 || (1.0 - q) * total >= REQUESTS_LEAST - 1e-6;
    let froms: Vec<f64> = EDGES.into_iter().filter(is_wide).collect();
    let tos = froms.iter().copied().skip(1).chain([1.0]);
    froms.iter().copied().zip(tos).map(|(from_q, to_q)| slice(&buckets, total, from_q, to_q)).collect()
}

/// By response time, rising.
fn buckets(run: &Tally, all: &Tally, timeout_ns: u64) -> Vec<Sum> {
    let mut by_low: BTreeMap<u64, Sum> = BTreeMap::new();
    let mut add = |hist: &Hist, to: fn(&mut Sum) -> &mut f64, unit: f64| {
        for (low, _, n) in hist.buckets() {
            *to(by_low.entry(low).or_default()) += n as f64 * unit;
        }
    };
    add(all.hist(SeriesHist::Response), |sum| &mut sum.requests, 1.0);
    let unit_ns = PHASE_UNIT_NS as f64;
    add(run.spread(RunHist::WaitByResponse), |sum| &mut sum.wait_ns, unit_ns);
    add(run.spread(RunHist::FirstByteByResponse), |sum| &mut sum.first_byte_ns, unit_ns);
    add(run.spread(RunHist::BodyByResponse), |sum| &mut sum.body_ns, unit_ns);
    let stands = stands(all.hist(SeriesHist::Response), timeout_ns);
    for (low, high, n) in all.hist(SeriesHist::ResponseCensored).buckets() {
        let sum = by_low.entry(low).or_default();
        match stands(high) {
            true => (sum.requests, sum.longer) = (sum.requests + n as f64, sum.longer + n as f64),
            false => sum.cut_off += n as f64,
        }
    }
    by_low.into_values().collect()
}

fn slice(buckets: &[Sum], total: f64, from_q: f64, to_q: f64) -> Slice {
    let (from, to) = (from_q * total, to_q * total);
    let (mut seen, mut sum) = (0.0, Sum::default());
    for bucket in buckets.iter().filter(|bucket| bucket.requests > 0.0) {
        let inside = (to.min(seen + bucket.requests) - from.max(seen)).max(0.0);
        let part = inside / (bucket.requests + bucket.cut_off);
        sum.requests += inside;
        sum.longer += bucket.longer * inside / bucket.requests;
        sum.wait_ns += bucket.wait_ns * part;
        sum.first_byte_ns += bucket.first_byte_ns * part;
        sum.body_ns += bucket.body_ns * part;
        seen += bucket.requests;
    }
    let mean = |ns: f64| if sum.requests > 0.0 { ns / sum.requests } else { 0.0 };
    let [wait_ns, first_byte_ns, body_ns] = [sum.wait_ns, sum.first_byte_ns, sum.body_ns].map(mean);
    Slice {
        from_q,
        to_q,
        // Between rounded edges, so that all slices together are all requests.
        requests: (to.round() - from.round()) as u64,
        cut_off: sum.longer.round() as u64,
        // Their sum, so that a bar of the three is as long as it says.
        response_ns: wait_ns + first_byte_ns + body_ns,
        wait_ns,
        first_byte_ns,
        body_ns,
    }
}
