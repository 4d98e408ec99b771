//! When it went wrong: failures that came in a short stretch, spikes and their pace, and whether the load itself rose
//! just then.

use super::{COURSE, Hint, missed, why};
use crate::format::{chosen_s, count, counted, duration_ns, quantity};
use plimsoll_analysis::summary::{Outcome, Second, Spike, Summary};
use plimsoll_plan::load::Load;

/// A stretch with this share of all failures has most of them ...
const MOST: f64 = 0.6;
/// ... and where it is no longer than this share of the run, it is news.
const STRETCH: f64 = 0.1;
/// Fewer failures come together by chance.
const FEW: u64 = 10;
/// A profile of more stages is a recording, and goes up and down from second to second.
const STAGES_MOST: usize = 40;
/// A spike so high is told though every threshold was met.
const LOUD: u64 = 10;

/// `of all failures 700 came between 2m 30s and 2m 36s`; `None`: they did not come together.
pub(super) fn burst(s: &Summary) -> Option<String> {
    let seconds: Vec<&Second> = s.timeline.iter().filter(|second| !second.warmup).collect();
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
    let (from_s, to_s, n) = best.filter(|_| all >= FEW)?;
    let is_short = to_s - from_s <= STRETCH * s.totals.measured_s;
    let [from, to] = [from_s, to_s].map(instant);
    is_short.then(|| match n == all {
        true => format!("all came between {from} and {to}"),
        false => format!("of all failures {} came between {from} and {to}", count(n)),
    })
}

/// A point in time; the beginning is `0 s`, as other ends are in seconds.
fn instant(at_s: f64) -> String {
    if at_s <= 0.0 { "0 s".into() } else { chosen_s(at_s) }
}

/// `as the load rose to 320 arrivals/s`, where it did within two seconds of the beginning.
pub(crate) fn with_load(s: &Summary, spike: &Spike) -> Option<String> {
    let profile = s.plan.load.profile();
    if s.plan.lanes.len() > 1 || profile.stages.len() > STAGES_MOST {
        return None;
    }
    let level = |at_s: f64| profile.level_at((at_s.max(0.0) * 1e9) as u64);
    let (before, now) = (level(spike.from_s - 2.0), level(spike.from_s + 1.0));
    let what = match s.plan.load {
        Load::Open { .. } => "arrivals/s",
        Load::Closed { .. } => "users",
    };
    (now > before * 1.01).then(|| format!("as the load rose to {} {what}", quantity(now)))
}

/// That the time is lost in a few moments and their pace, or since the load rose; where a threshold on times was
/// missed, or where it is too much to be passed over.
pub(super) fn spikes(s: &Summary) -> Option<Hint> {
    let highest = s.spikes.iter().max_by_key(|spike| spike.peak_p95_ns)?;
    let is_loud = highest.peak_p95_ns >= LOUD.saturating_mul(highest.baseline_p95_ns);
    if !(missed(s, "response_time") || is_loud && s.verdict.result == Outcome::Pass) {
        return None;
    }
    let whole = chosen_s(s.totals.measured_s);
    let longest = s.spikes.iter().max_by(|a, b| a.slow_s.total_cmp(&b.slow_s))?;
    if let Some(rose) = with_load(s, longest) {
        let (peak, rest) = (duration_ns(longest.peak_p95_ns), duration_ns(longest.baseline_p95_ns));
        let (from, slow) = (instant(longest.from_s), chosen_s(longest.slow_s));
        let others: Vec<String> = s
            .spikes
            .iter()
            .filter(|one| !std::ptr::eq(*one, longest))
            .map(|one| instant(one.from_s))
            .collect();
        let others = match others.as_slice() {
            [] => String::new(),
            [one] => format!(" Another spike began at {one}."),
            [first, ..] => format!(" Of {} more spikes the first began at {first}.", others.len()),
        };
        let text = format!(
            "It became slow at {from}, {rose}: for {slow} of {whole}, p95 up to {peak} and {rest} before.{others}"
        );
        return Some(why(text, COURSE));
    }
    let slow_s: f64 = s.spikes.iter().map(|spike| spike.slow_s).sum();
    // Most of the run is no moment.
    if slow_s * 2.0 > s.totals.measured_s {
        return None;
    }
    let (peak, rest) = (duration_ns(highest.peak_p95_ns), duration_ns(highest.baseline_p95_ns));
    let when = match (&s.spikes[..], pace_s(s)) {
        ([one], _) => format!("once, from {} on", instant(one.from_s)),
        (all, Some(pace_s)) => format!("in {}, one about every {}", spikes_of(all.len()), chosen_s(pace_s)),
        (all, None) => {
            let first = all.first().map_or(0.0, |spike| spike.from_s);
            format!("in {}, the first at {}", spikes_of(all.len()), instant(first))
        }
    };
    let slow = chosen_s(slow_s);
    let text = format!("It was slow {when}: {slow} of {whole}, p95 up to {peak} there and {rest} otherwise.");
    Some(why(text, COURSE))
}

fn spikes_of(n: usize) -> String {
    counted(n as u64, "spike")
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
