//! The beginning of a run that is not like the rest: where it ends, and the run without it.

use super::Finding;
use plimsoll_analysis::digest::{Block, Digest};
use plimsoll_analysis::{Belief, ratio, times};
use plimsoll_plan::phrase::{count, counted, duration_f64_ns, quantity, ratio as percent};
use plimsoll_stats::Hist;
use plimsoll_stats::maths::steady::{State, mser5};
use serde::Serialize;

/// A beginning is cut off only when it differs from the rest by this share: the heuristic always finds some cut.
const DIFFERS: f64 = 0.03;

/// Where the steady state begins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steady {
    /// Of the run's clock, ns; the start of the first block that counts.
    pub from_ns: u64,
    pub is_reached: bool,
    /// One sentence that may be quoted.
    pub sentence: String,
}

/// Judges the mean service time and the rate, second by second; the later of the two decides.
pub fn steady_from(digest: &Digest) -> Steady {
    let blocks = &digest.blocks;
    let begin_ns = blocks.first().map_or(0, |b| b.from_ns);
    let not = |sentence: String| Steady { from_ns: begin_ns, is_reached: false, sentence };
    // The last second is often a part of one.
    let whole = match blocks.split_last() {
        Some((last, rest)) if rest.first().is_some_and(|b| last.length_ns < b.length_ns) => rest,
        _ => &blocks[..],
    };
    let series =
        [("mean time", means(whole), duration_f64_ns as fn(f64) -> String), ("rate", rates(whole), quantity)];
    let mut cut = 0;
    let mut change = String::new();
    for (name, values, text) in series {
        let found = mser5(&values);
        match found.state {
            State::TooShort => {
                return not(format!("{} s are too few to tell a beginning from the rest", whole.len()));
            }
            State::StillSettling => {
                return not(format!(
                    "steady state not reached: the {name} is still settling at half of the run"
                ));
            }
            State::Drifts { change_ratio } => {
                let way = if change_ratio > 0.0 { "rises" } else { "falls" };
                return not(format!(
                    "steady state not reached: the {name} {way} by {} over the rest of the run",
                    percent(change_ratio.abs())
                ));
            }
            State::Changes { change_ratio } => {
                return not(format!(
                    "steady state not reached: the {name} changes its level by {} later on",
                    percent(change_ratio.abs())
                ));
            }
            State::Steady => {
                let (first, rest) = values.split_at(found.at);
                let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
                let (before, after) = (mean(first), mean(rest));
                if found.at > cut && (before - after).abs() > DIFFERS * after.abs() {
                    cut = found.at;
                    change = format!("{name} {} before, {} behind", text(before), text(after));
                }
            }
        }
    }
    if cut == 0 {
        return Steady { from_ns: begin_ns, is_reached: true, sentence: "steady from the beginning".into() };
    }
    let from_ns = whole.get(cut).map_or(begin_ns, |b| b.from_ns);
    let from_s = quantity(from_ns.saturating_sub(begin_ns) as f64 / 1e9);
    Steady { from_ns, is_reached: true, sentence: format!("steady after {from_s} s: {change}") }
}

/// Seconds without an answer take the figure of the one before.
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

/// The run from its steady state on, its figures made again of the blocks that remain; as it is when the state is not
/// reached or begins at once. What blocks do not hold stays as it was: verdict and thresholds (of the whole run),
/// phases, failures by kind. Times that were cut off count as finished at their bounds.
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
    // Iterations are not in the blocks: they are as many per request as in the whole run.
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

/// Runs that were to be cut at their steady state and have none.
pub(super) fn findings(digests: &[Digest], out: &mut Vec<Finding>) {
    let all: Vec<Steady> = digests.iter().map(steady_from).filter(|steady| !steady.is_reached).collect();
    if let Some(first) = all.first() {
        out.push(Finding {
            code: "unsteady_start",
            sentence: format!(
                "{} of {} reached no steady state, and count from their beginning",
                count(all.len() as u64),
                counted(digests.len() as u64, "run")
            ),
            evidence: first.sentence.clone(),
            advice: "run longer; what still changes at half of a run has no mean that another run would find"
                .into(),
        });
    }
}
