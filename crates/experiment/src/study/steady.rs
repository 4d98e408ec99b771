//! The steady state of a run: where it starts, and the run without the part before it.

use super::Finding;
use plimsoll_analysis::digest::{Block, Digest};
use plimsoll_analysis::{Belief, ratio, times};
use plimsoll_plan::phrase::{chosen_ns, count, counted, duration_f64_ns, rate_per_s, ratio as percent};
use plimsoll_stats::Hist;
use plimsoll_stats::maths::steady::{State, mser5};
use serde::Serialize;

/// The start is excluded only if it differs from the rest by at least this share: the heuristic always finds some
/// cut.
const DIFFERS: f64 = 0.03;

/// The start of the steady state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steady {
    /// Time in the run, in ns: the start of the first block that counts.
    pub from_ns: u64,
    pub is_reached: bool,
    /// A sentence that can be quoted on its own.
    pub sentence: String,
}

/// Finds the steady state of the mean service time and of the throughput, second by second; the later one counts.
pub fn steady_from(digest: &Digest) -> Steady {
    let blocks = &digest.blocks;
    let begin_ns = blocks.first().map_or(0, |b| b.from_ns);
    let not = |sentence: String| Steady { from_ns: begin_ns, is_reached: false, sentence };
    // The last second is often incomplete.
    let whole = match blocks.split_last() {
        Some((last, rest)) if rest.first().is_some_and(|b| last.length_ns < b.length_ns) => rest,
        _ => &blocks[..],
    };
    let series = [
        ("mean time", means(whole), duration_f64_ns as fn(f64) -> String),
        ("throughput", rates(whole), rate_per_s),
    ];
    let mut cut = 0;
    let mut change = String::new();
    for (name, values, text) in series {
        let found = mser5(&values);
        match found.state {
            State::TooShort => {
                return not(format!("too few seconds to find a steady state: {}", whole.len()));
            }
            State::StillSettling => {
                return not(format!(
                    "steady state not reached: {name} was still settling at half of the run"
                ));
            }
            State::Drifts { change_ratio } => {
                let way = if change_ratio > 0.0 { "rises" } else { "falls" };
                return not(format!(
                    "steady state not reached: {name} {way} by {} over the rest of the run",
                    percent(change_ratio.abs())
                ));
            }
            State::Changes { change_ratio } => {
                return not(format!(
                    "steady state not reached: {name} changes its level by {} later",
                    percent(change_ratio.abs())
                ));
            }
            State::Steady => {
                let (first, rest) = values.split_at(found.at);
                let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
                let (before, after) = (mean(first), mean(rest));
                if found.at > cut && (before - after).abs() > DIFFERS * after.abs() {
                    cut = found.at;
                    change = format!("{name} {} before, {} after", text(before), text(after));
                }
            }
        }
    }
    if cut == 0 {
        return Steady { from_ns: begin_ns, is_reached: true, sentence: "steady from the start".into() };
    }
    let from_ns = whole.get(cut).map_or(begin_ns, |b| b.from_ns);
    let from = chosen_ns(from_ns.saturating_sub(begin_ns));
    Steady { from_ns, is_reached: true, sentence: format!("steady after {from}: {change}") }
}

/// Seconds without a response repeat the previous value.
fn means(blocks: &[Block]) -> Vec<f64> {
    let mut last = blocks.iter().find_map(|b| b.service.mean()).unwrap_or(f64::NAN);
    let mut next = |b: &Block| {
        last = b.service.mean().unwrap_or(last);
        last
    };
    blocks.iter().map(&mut next).collect()
}

fn rates(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().map(|b| ratio(b.requests as f64, b.length_ns as f64 / 1e9)).collect()
}

/// Returns the run from its steady state, with its figures computed again from the remaining blocks; unchanged if the
/// steady state was not reached, or starts immediately. Everything without blocks stays unchanged: verdict and
/// thresholds (of the whole run), the latency breakdown, failures by kind. Censored times count as completed at their
/// bounds.
pub fn without_beginning(mut digest: Digest) -> Digest {
    let steady = steady_from(&digest);
    let first = digest.blocks.iter().position(|b| b.from_ns >= steady.from_ns).unwrap_or(0);
    if !steady.is_reached || first == 0 {
        return digest;
    }
    digest.blocks.drain(..first);
    let mut all = Block { response: Hist::on_demand(), service: Hist::on_demand(), ..Block::default() };
    digest.blocks.iter().for_each(|block| all.extend(block));
    let seconds = all.length_ns as f64 / 1e9;
    let rate = ratio(all.requests as f64, seconds);
    // Blocks have no iterations: their ratio to requests is that of the whole run.
    digest.iterations_per_s *= ratio(rate, digest.rate_per_s);
    digest.rate_per_s = rate;
    digest.offered_rate_per_s = digest.offered_rate_per_s.map(|_| ratio(all.offered as f64, seconds));
    digest.measured_s = seconds;
    digest.requests = all.requests;
    digest.errors = all.errors;
    digest.error_ratio = ratio(all.errors as f64, all.requests as f64);
    digest.in_flight_mean = all.in_flight;
    digest.bytes_in_per_s = ratio(all.bytes_in as f64, seconds);
    let none = Hist::on_demand();
    for (times_of, hist) in
        [(&mut digest.response_time, &all.response), (&mut digest.service_time, &all.service)]
    {
        let (censored, bent) = (times_of.censored, times_of.mean_is_lower_bound);
        *times_of = times(hist, &none, Belief::LikeTheOthers);
        (times_of.censored, times_of.mean_is_lower_bound, times_of.max_is_lower_bound) =
            (censored, bent, bent);
        if bent {
            times_of.std_dev_ns = None;
        }
    }
    digest
}

/// Reports runs that should be trimmed to their steady state and have none.
pub(super) fn findings(digests: &[Digest], out: &mut Vec<Finding>) {
    let all: Vec<Steady> = digests.iter().map(steady_from).filter(|steady| !steady.is_reached).collect();
    if let Some(first) = all.first() {
        out.push(Finding {
            code: "unsteady_start",
            sentence: format!(
                "{} of {} reached no steady state and count from their start",
                count(all.len() as u64),
                counted(digests.len() as u64, "run")
            ),
            evidence: first.sentence.clone(),
            advice: "run longer: the mean of a run that still changes cannot be reproduced".into(),
        });
    }
}
