//! Cautions about a comparison: reasons why two sides are not comparable, or less than they appear, each derived from
//! the figures that show it.

use super::Pair;
use super::types::{Basis, CompareOptions, Compared, Doubt, RTT_BOUND, Side, short_names};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::experiment::Figure;
use plimsoll_plan::phrase::{
    bytes_f64, bytes_per_s, chosen_s, counted, duration_ns, quantity, rate_of, ratio,
};
use std::collections::BTreeSet;

/// Bytes per second that agree within this share while rates differ are a property of the network, not of the sides.
const SAME_BYTES: f64 = 0.05;
/// Bytes per request that differ by more mean different responses.
const OTHER_SIZE: f64 = 0.05;
/// A median within this many round trips consists almost entirely of the network.
const NEAR_FLOOR: f64 = 1.25;
/// Measurement periods that differ by a larger factor were not planned alike.
const OTHER_LENGTH: f64 = 1.5;
/// From this share of failures up, times describe failures.
const FAILING: f64 = 0.10;

/// Returns all cautions, the most severe first.
pub fn doubts(pair: &Pair<'_>, figures: &[Compared], asked: &CompareOptions) -> Vec<Doubt> {
    let (a, b) = (pair.a, pair.b);
    let found = [
        nothing(a, b),
        inconclusive(a, b),
        levels(a, b),
        settings(a, b),
        link(a, b, asked),
        generator(a, b, figures),
        targets(a, b),
        failing(a, b),
        way(a, b),
        one_run(a, b, figures),
        outliers(a, b),
        sizes(a, b),
        cut_off(figures),
        lengths(a, b),
        too_few(figures),
    ];
    let mut doubts: Vec<Doubt> = found.into_iter().flatten().collect();
    doubts.sort_by_key(|doubt| doubt.severity);
    doubts
}

/// The order in which two sides ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Interleaved,
    /// All runs of one side before all runs of the other.
    Apart,
    /// Start times are missing.
    Unknown,
}

pub fn order(a: &[Digest], b: &[Digest]) -> Order {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|run| run.started_unix_ns == 0) {
        return Order::Unknown;
    }
    let ends = |runs: &[Digest]| {
        let starts = || runs.iter().map(|run| run.started_unix_ns);
        (starts().min().unwrap_or(0), starts().max().unwrap_or(0))
    };
    let ((first_a, last_a), (first_b, last_b)) = (ends(a), ends(b));
    if last_a < first_b || last_b < first_a { Order::Apart } else { Order::Interleaved }
}

/// Returns the short names of the sides for which `holds` is true.
fn sides(a: &Side, b: &Side, holds: impl Fn(&Side) -> bool) -> Vec<String> {
    let named = [a, b].into_iter().zip(short_names(&a.name, &b.name));
    named.filter(|(side, _)| holds(side)).map(|(_, name)| format!("`{name}`")).collect()
}

/// Returns the short names of the sides for which `holds` is true for any run.
fn who(a: &Side, b: &Side, holds: impl Fn(&Digest) -> bool) -> Vec<String> {
    sides(a, b, |side| side.runs.iter().any(&holds))
}

fn nothing(a: &Side, b: &Side) -> Option<Doubt> {
    let is_empty = |side: &Side| !side.runs.iter().any(|run| run.blocks.iter().any(|b| b.requests > 0));
    let empty = sides(a, b, is_empty);
    if empty.is_empty() {
        return None;
    }
    Some(Doubt::new(
        "nothing_measured",
        Severity::Inconclusive,
        "nothing was measured",
        format!("no request completed for {}", empty.join(" and ")),
        "check that the target responds, then rerun",
    ))
}

/// Cautions whose effect on a figure has a size and a direction: [`super::bounds`] compares it with the difference.
const SIZED: [Kind; 5] = [
    Kind::LateSends,
    Kind::ClientStalled,
    Kind::ClientCpuWait,
    Kind::ClientCpuSaturated,
    Kind::TooFewSamples,
];

/// Inconclusive runs whose cautions have an effect of unknown size.
fn inconclusive(a: &Side, b: &Side) -> Option<Doubt> {
    let heavy = |run: &Digest| -> BTreeSet<&'static str> {
        let own =
            run.cautions.iter().filter(|c| c.severity == Severity::Inconclusive && !SIZED.contains(&c.kind));
        own.map(|caution| caution.kind.code()).collect()
    };
    let of = |run: &Digest| !heavy(run).is_empty();
    let who = who(a, b, of);
    if who.is_empty() {
        return None;
    }
    let runs = || a.runs.iter().chain(&b.runs);
    let count = runs().filter(|run| of(run)).count() as u64;
    let codes: BTreeSet<&str> = runs().flat_map(heavy).collect();
    let codes = codes.into_iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "{} of {} {} cautions of unknown effect ({codes}), so the results decide nothing",
        counted(count, "run"),
        who.join(" and "),
        if count == 1 { "has" } else { "have" }
    );
    Some(Doubt::new(
        "inconclusive_side",
        Severity::Inconclusive,
        "runs are inconclusive",
        text,
        "resolve these cautions, then rerun both sides",
    ))
}

fn levels(a: &Side, b: &Side) -> Option<Doubt> {
    let first = a.runs.first().or(b.runs.first())?.level;
    let same = |level: Level| match (first, level) {
        (Level::Users(x), Level::Users(y)) | (Level::Rate(x), Level::Rate(y)) => {
            (x - y).abs() <= 1e-6 * x.abs()
        }
        _ => false,
    };
    let other = a.runs.iter().chain(&b.runs).map(|run| run.level).find(|level| !same(*level))?;
    let describe = |level: Level| match level {
        Level::Users(n) => format!("{} users", quantity(n)),
        Level::Rate(n) => rate_of(n, "arrivals"),
    };
    Some(Doubt::new(
        "levels_differ",
        Severity::Inconclusive,
        "the runs used different loads",
        format!("{} and {}", describe(first), describe(other)),
        "rerun both sides at the same load",
    ))
}

/// Several settings that differ between the sides, or within one.
fn settings(a: &Side, b: &Side) -> Option<Doubt> {
    let of = |side: &Side| -> BTreeSet<(String, String)> {
        let all = side.runs.iter().filter_map(|run| run.cell.as_ref()).flat_map(|cell| &cell.settings);
        all.map(|setting| (setting.parameter.clone(), setting.value.clone())).collect()
    };
    let (of_a, of_b) = (of(a), of(b));
    // A single run has no settings, so they are unknown; its load is compared anyway.
    if of_a.is_empty() || of_b.is_empty() {
        return None;
    }
    let axes: BTreeSet<&str> = of_a.symmetric_difference(&of_b).map(|(axis, _)| axis.as_str()).collect();
    if axes.len() < 2 {
        return None;
    }
    let axes: Vec<String> = axes.into_iter().map(|axis| format!("`{axis}`")).collect();
    Some(Doubt::new(
        "settings_differ",
        Severity::Inconclusive,
        "several settings differ",
        format!("{}, so the cause of a difference is ambiguous", axes.join(" and ")),
        "vary one setting at a time",
    ))
}

fn targets(a: &Side, b: &Side) -> Option<Doubt> {
    let targets: BTreeSet<&str> = a.runs.iter().chain(&b.runs).map(|run| run.target.as_str()).collect();
    let has_variant =
        |run: &Digest| run.cell.as_ref().is_some_and(|c| c.settings.iter().any(|s| s.parameter == "variant"));
    // Variants may have different targets.
    if targets.len() < 2 || a.runs.iter().chain(&b.runs).all(has_variant) {
        return None;
    }
    let targets: Vec<String> = targets.into_iter().map(|target| format!("`{target}`")).collect();
    Some(Doubt::new(
        "targets_differ",
        Severity::Warning,
        "the targets differ",
        format!("{}, so the difference may come from the target", targets.join(" and ")),
        "to compare versions, run both on the same target",
    ))
}

/// Returns requests, received bytes, and seconds of a side.
fn sums(side: &Side) -> (f64, f64, f64) {
    side.runs.iter().fold((0.0, 0.0, 0.0), |(requests, bytes, seconds), run| {
        (
            requests + run.requests as f64,
            bytes + run.bytes_in_per_s * run.measured_s,
            seconds + run.measured_s,
        )
    })
}

fn apart_by(x: f64, y: f64) -> Option<f64> {
    let quotient = (y / x).ln();
    quotient.is_finite().then_some(quotient)
}

/// Equal bytes per second at unequal rates: something limits the bytes. Smaller responses then arrive more often, so
/// the comparison would rank response sizes.
fn link(a: &Side, b: &Side, asked: &CompareOptions) -> Option<Doubt> {
    let (a_sums, b_sums) = (sums(a), sums(b));
    let bytes = apart_by(a_sums.1 / a_sums.2, b_sums.1 / b_sums.2)?;
    let rates = apart_by(a_sums.0 / a_sums.2, b_sums.0 / b_sums.2)?;
    let full = |side: &Side| {
        side.runs.iter().any(|run| run.cautions.iter().any(|c| c.kind == Kind::NetworkSaturated))
    };
    let is_flat = bytes.abs() < SAME_BYTES
        && rates.abs() > (3.0 * bytes.abs()).max(SAME_BYTES).max(asked.min_difference_ratio);
    let is_closed = a.runs.iter().chain(&b.runs).all(|run| matches!(run.level, Level::Users(_)));
    let is_link = (is_flat && is_closed) || (full(a) && full(b));
    if !is_link {
        return None;
    }
    let of = |(requests, bytes, seconds): (f64, f64, f64)| {
        format!("{} ({} per request)", bytes_per_s(bytes / seconds), bytes_f64(bytes / requests))
    };
    let names = short_names(&a.name, &b.name);
    let text = format!(
        "`{}` received {}, `{}` received {}: a link or a proxy is the limit, so the two cannot be ranked",
        names[0],
        of(a_sums),
        names[1],
        of(b_sums)
    );
    Some(Doubt::new(
        "network_saturated",
        Severity::Inconclusive,
        "the network was saturated",
        text,
        "run the load generator closer to the target, or compare responses of the same size",
    ))
}

/// Cautions that the load generator may have affected the results.
const OURS: [Kind; 13] = [
    Kind::ClientFdLimit,
    Kind::ClientPortsExhausted,
    Kind::ClientOutOfMemory,
    Kind::ClientSendRefused,
    Kind::ClientLimit,
    Kind::OriginRefused,
    Kind::InvalidRequest,
    Kind::ClientStalled,
    Kind::ClientCpuSaturated,
    Kind::OfferedRateMissed,
    Kind::LateSends,
    Kind::LittlesLaw,
    Kind::ClientCpuWait,
];

fn generator(a: &Side, b: &Side, figures: &[Compared]) -> Option<Doubt> {
    let bound = |run: &Digest| run.cautions.iter().any(|caution| OURS.contains(&caution.kind));
    let who = who(a, b, bound);
    let all = a.runs.iter().chain(&b.runs).flat_map(|run| &run.cautions).map(|caution| caution.kind);
    let codes: BTreeSet<&str> = all.filter(|kind| OURS.contains(kind)).map(Kind::code).collect();
    let codes = codes.into_iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
    if who.is_empty() {
        return None;
    }
    let doubted: Vec<&str> =
        figures.iter().filter(|row| row.is_doubtful).map(|row| row.figure.as_str()).collect();
    let outcome = match doubted.as_slice() {
        [] => "no verdict depends on it".to_owned(),
        open => format!("this may explain the differences of {}", open.join(", ")),
    };
    Some(Doubt::new(
        "generator_bound",
        Severity::Warning,
        "the load generator may have affected the results",
        format!("{} ({codes}); {outcome}", who.join(" and ")),
        "free CPU on the load generator (move the target, stop other programs), then rerun both sides",
    ))
}

/// Medians at the round trip: a distant client, or a single user, measures the network.
fn way(a: &Side, b: &Side) -> Option<Doubt> {
    let near = |run: &Digest| match (run.service_time.p50_ns, run.rtt_min_ns) {
        (Some(p50), Some(floor)) if floor > 0 => p50 as f64 <= NEAR_FLOOR * floor as f64,
        _ => false,
    };
    let all = |side: &Side| !side.runs.is_empty() && side.runs.iter().all(near);
    if !all(a) || !all(b) {
        return None;
    }
    let p50 = a.runs.iter().filter_map(|run| run.service_time.p50_ns).max().unwrap_or(0);
    let floor = a.runs.iter().filter_map(|run| run.rtt_min_ns).min().unwrap_or(0);
    Some(Doubt::new(
        RTT_BOUND,
        Severity::Warning,
        "the round trip hides the service time",
        format!("p50 is {} with a round trip of {}", duration_ns(p50), duration_ns(floor)),
        "run the load generator closer to the target, or raise the load",
    ))
}

fn failing(a: &Side, b: &Side) -> Option<Doubt> {
    let who = who(a, b, |run| run.error_ratio >= FAILING);
    let worst = a.runs.iter().chain(&b.runs).map(|run| run.error_ratio).fold(0.0, f64::max);
    if who.is_empty() {
        return None;
    }
    Some(Doubt::new(
        "failing",
        Severity::Warning,
        "many requests failed",
        format!("up to {} of {}, so their times describe failures", ratio(worst), who.join(" and ")),
        "fix the failures, then rerun",
    ))
}

fn one_run(a: &Side, b: &Side, figures: &[Compared]) -> Option<Doubt> {
    let single = sides(a, b, |side| side.runs.len() == 1);
    if single.is_empty() {
        return None;
    }
    let how = if figures.iter().any(|row| row.basis == Basis::Assumed) {
        format!("a variation of {} is assumed", ratio(super::ASSUMED_BETWEEN))
    } else {
        "the variation of the other side is assumed".into()
    };
    let verb = if single.len() == 1 { "has" } else { "have" };
    Some(Doubt::new(
        "one_run",
        Severity::Warning,
        "run-to-run variation is unknown",
        format!("{} {verb} one run; {how}", single.join(" and ")),
        "repeat both sides at least three times, interleaved",
    ))
}

fn outliers(a: &Side, b: &Side) -> Option<Doubt> {
    if a.runs.len() + b.runs.len() < 3 || order(&a.runs, &b.runs) != Order::Apart {
        return None;
    }
    let starts = |side: &Side| side.runs.iter().map(|run| run.started_unix_ns).min().unwrap_or(0);
    let [a_name, b_name] = short_names(&a.name, &b.name);
    let (first, second) = if starts(a) < starts(b) { (a_name, b_name) } else { (b_name, a_name) };
    Some(Doubt::new(
        "not_interleaved",
        Severity::Warning,
        "the runs were not interleaved",
        format!(
            "all runs of `{first}` preceded those of `{second}`, so a drift of the machine looks like a change"
        ),
        "interleave the runs (`variants` and `repeat` in a file)",
    ))
}

fn sizes(a: &Side, b: &Side) -> Option<Doubt> {
    let (a_sums, b_sums) = (sums(a), sums(b));
    let (of_a, of_b) = (a_sums.1 / a_sums.0, b_sums.1 / b_sums.0);
    if apart_by(of_a, of_b)?.abs() <= OTHER_SIZE {
        return None;
    }
    Some(Doubt::new(
        "response_sizes_differ",
        Severity::Warning,
        "response sizes differ",
        format!("{} and {} per request, including headers", bytes_f64(of_a), bytes_f64(of_b)),
        "check that both sides do the same work",
    ))
}

fn lengths(a: &Side, b: &Side) -> Option<Doubt> {
    let all = || a.runs.iter().chain(&b.runs).map(|run| run.measured_s);
    let (least, most) = all().fold((f64::INFINITY, 0.0f64), |(low, high), s| (low.min(s), high.max(s)));
    if !(least.is_finite() && most > OTHER_LENGTH * least) {
        return None;
    }
    Some(Doubt::new(
        "lengths_differ",
        Severity::Note,
        "the runs differ in length",
        format!("{} to {}", chosen_s(least), chosen_s(most)),
        "use one duration for all runs",
    ))
}

fn cut_off(figures: &[Compared]) -> Option<Doubt> {
    let bounded = |row: &&Compared| row.a_is_lower_bound || row.b_is_lower_bound;
    let names: Vec<&str> = figures.iter().filter(bounded).map(|row| row.figure.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let verb = if names.len() == 1 { "is a lower bound" } else { "are lower bounds" };
    Some(Doubt::new(
        "times_cut_off",
        Severity::Warning,
        "the longest times are unknown",
        format!("requests timed out or were in flight at the end, so {} {verb}", names.join(", ")),
        "raise `--timeout`, or run longer",
    ))
}

fn too_few(figures: &[Compared]) -> Option<Doubt> {
    let is_sampled = |row: &Compared| matches!(row.kind, Figure::Percentile { .. } | Figure::ErrorRate);
    let bare = |row: &&Compared| row.has_too_few() && is_sampled(row);
    let names: Vec<&str> = figures.iter().filter(bare).map(|row| row.figure.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    Some(Doubt::new(
        "too_few_samples",
        Severity::Note,
        "too few samples",
        format!("{} cannot be compared", names.join(", ")),
        "run longer",
    ))
}
