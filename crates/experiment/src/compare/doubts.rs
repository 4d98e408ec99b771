//! Why two sides may not be comparable, or less than they look: each doubt from the figures that show it.

use super::Pair;
use super::types::{Basis, CompareOptions, Compared, Doubt, RTT_BOUND, Side, short_names};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::experiment::Figure;
use plimsoll_plan::phrase::{counted, duration_ns, quantity, rate_per_s, ratio};
use std::collections::BTreeSet;

/// Bytes per second that agree to this, while rates do not, are a property of the way and not of the sides.
const SAME_BYTES: f64 = 0.05;
/// Bytes per request that differ by more are other answers.
const OTHER_SIZE: f64 = 0.05;
/// A median within this many round trips is the way to the target and hardly anything else.
const NEAR_FLOOR: f64 = 1.25;
/// Measured parts that differ by more than this are not of one design.
const OTHER_LENGTH: f64 = 1.5;
/// From this share of failures on, times are those of failures.
const FAILING: f64 = 0.10;

/// All doubts, the heaviest first.
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

fn doubt(code: &'static str, weight: Severity, sentence: String) -> Option<Doubt> {
    Some(Doubt { code, severity: weight, sentence })
}

/// In which order two sides ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Interleaved,
    /// All of one before all of the other.
    Apart,
    /// Times are missing.
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

/// The sides of which something holds, by their short names.
fn sides(a: &Side, b: &Side, holds: impl Fn(&Side) -> bool) -> Vec<String> {
    let named = [a, b].into_iter().zip(short_names(&a.name, &b.name));
    named.filter(|(side, _)| holds(side)).map(|(_, name)| format!("`{name}`")).collect()
}

/// The sides of which something holds for a run.
fn who(a: &Side, b: &Side, holds: impl Fn(&Digest) -> bool) -> Vec<String> {
    sides(a, b, |side| side.runs.iter().any(&holds))
}

fn nothing(a: &Side, b: &Side) -> Option<Doubt> {
    let is_empty = |side: &Side| !side.runs.iter().any(|run| run.blocks.iter().any(|b| b.requests > 0));
    let empty = sides(a, b, is_empty);
    if empty.is_empty() {
        return None;
    }
    doubt(
        "nothing_measured",
        Severity::Inconclusive,
        format!("nothing was measured of {}", empty.join(" and ")),
    )
}

/// Cautions that say how far a figure may be off, and which way: [`super::bounds`] holds them against the difference.
const SIZED: [Kind; 5] = [
    Kind::LateSends,
    Kind::ClientStalled,
    Kind::ClientCpuWait,
    Kind::ClientCpuSaturated,
    Kind::TooFewSamples,
];

/// Runs in doubt for what has no size.
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
        "{} of {} {} in doubt ({codes}), and nobody knows by how much: such figures decide nothing",
        counted(count, "run"),
        who.join(" and "),
        if count == 1 { "is" } else { "are" }
    );
    doubt("inconclusive_side", Severity::Inconclusive, text)
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
        Level::Rate(n) => rate_per_s(n),
    };
    let text = format!("the runs stood under different loads ({} and {})", describe(first), describe(other));
    doubt("levels_differ", Severity::Inconclusive, text)
}

/// Settings that the runs of one side do not share, and those in which the sides differ.
fn settings(a: &Side, b: &Side) -> Option<Doubt> {
    let of = |side: &Side| -> BTreeSet<(String, String)> {
        let all = side.runs.iter().filter_map(|run| run.cell.as_ref()).flat_map(|cell| &cell.settings);
        all.map(|setting| (setting.parameter.clone(), setting.value.clone())).collect()
    };
    let (of_a, of_b) = (of(a), of(b));
    // A run of its own has no settings; what it was set to is then not known, and the level is compared anyway.
    if of_a.is_empty() || of_b.is_empty() {
        return None;
    }
    let axes: BTreeSet<&str> = of_a.symmetric_difference(&of_b).map(|(axis, _)| axis.as_str()).collect();
    if axes.len() < 2 {
        return None;
    }
    let axes: Vec<String> = axes.into_iter().map(|axis| format!("`{axis}`")).collect();
    let text = format!(
        "the sides differ in {}: nobody can tell which of them made the difference",
        axes.join(" and ")
    );
    doubt("settings_differ", Severity::Inconclusive, text)
}

fn targets(a: &Side, b: &Side) -> Option<Doubt> {
    let targets: BTreeSet<&str> = a.runs.iter().chain(&b.runs).map(|run| run.target.as_str()).collect();
    let has_variant =
        |run: &Digest| run.cell.as_ref().is_some_and(|c| c.settings.iter().any(|s| s.parameter == "variant"));
    // Variants are different targets by design.
    if targets.len() < 2 || a.runs.iter().chain(&b.runs).all(has_variant) {
        return None;
    }
    let targets: Vec<String> = targets.into_iter().map(|target| format!("`{target}`")).collect();
    let text = format!(
        "the targets differ ({}): the comparison is of these, not of two versions of one",
        targets.join(", ")
    );
    doubt("targets_differ", Severity::Warning, text)
}

/// Requests, bytes and seconds of a side.
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

/// Equal bytes per second at unequal rates: something carries so many bytes and no more. The smaller answers come more
/// often, and that ranks the answers.
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
    let per = |s: (f64, f64, f64)| format!("{} B", quantity(s.1 / s.0));
    let names = short_names(&a.name, &b.name);
    let text = format!(
        "both sides moved the same bytes per second ({} and {} MB/s) in answers of {} and {}: a link or a proxy is the \
         limit, and this pair cannot rank `{}` and `{}`",
        quantity(a_sums.1 / a_sums.2 / 1e6),
        quantity(b_sums.1 / b_sums.2 / 1e6),
        per(a_sums),
        per(b_sums),
        names[0],
        names[1]
    );
    doubt("network_saturated", Severity::Inconclusive, text)
}

/// Cautions that the load generator was in the way.
const OURS: [Kind; 11] = [
    Kind::ClientFdLimit,
    Kind::ClientPortsExhausted,
    Kind::ClientOutOfMemory,
    Kind::ClientSendRefused,
    Kind::ClientLimit,
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
        [] => "no verdict below rests on that".to_owned(),
        open => format!("the differences of {} are no larger than that may be", open.join(", ")),
    };
    doubt(
        "generator_bound",
        Severity::Warning,
        format!("the load generator may have been in the way of {} ({codes}): {outcome}", who.join(" and ")),
    )
}

/// Medians at the round trip: a client far away, or one user, measures the way.
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
    let text = format!(
        "half of the answers took hardly longer than the way to the target and back (p50 {}, round trip {}): what the \
         sides themselves need is hidden behind it",
        duration_ns(p50),
        duration_ns(floor)
    );
    doubt(RTT_BOUND, Severity::Warning, text)
}

fn failing(a: &Side, b: &Side) -> Option<Doubt> {
    let who = who(a, b, |run| run.error_ratio >= FAILING);
    let worst = a.runs.iter().chain(&b.runs).map(|run| run.error_ratio).fold(0.0, f64::max);
    if who.is_empty() {
        return None;
    }
    let text = format!(
        "up to {} of the requests of {} failed: their times are those of failures",
        ratio(worst),
        who.join(" and ")
    );
    doubt("failing", Severity::Warning, text)
}

fn one_run(a: &Side, b: &Side, figures: &[Compared]) -> Option<Doubt> {
    let single = sides(a, b, |side| side.runs.len() == 1);
    if single.is_empty() {
        return None;
    }
    let how = if figures.iter().any(|row| row.basis == Basis::Assumed) {
        format!("{} are assumed", ratio(super::ASSUMED_BETWEEN))
    } else {
        "that of the other side is taken".into()
    };
    let verb = if single.len() == 1 { "has" } else { "have" };
    let text = format!(
        "{} {verb} one run: how much runs differ is not known, {how}; repeat each side, best in turns",
        single.join(" and ")
    );
    doubt("one_run", Severity::Warning, text)
}

fn outliers(a: &Side, b: &Side) -> Option<Doubt> {
    if a.runs.len() + b.runs.len() < 3 || order(&a.runs, &b.runs) != Order::Apart {
        return None;
    }
    let starts = |side: &Side| side.runs.iter().map(|run| run.started_unix_ns).min().unwrap_or(0);
    let [a_name, b_name] = short_names(&a.name, &b.name);
    let (first, second) = if starts(a) < starts(b) { (a_name, b_name) } else { (b_name, a_name) };
    let text = format!(
        "all runs of `{first}` came before all of `{second}`: a drift of the machine cannot be told from the \
         change; run them in turns"
    );
    doubt("not_interleaved", Severity::Warning, text)
}

fn sizes(a: &Side, b: &Side) -> Option<Doubt> {
    let (a_sums, b_sums) = (sums(a), sums(b));
    let (of_a, of_b) = (a_sums.1 / a_sums.0, b_sums.1 / b_sums.0);
    if apart_by(of_a, of_b)?.abs() <= OTHER_SIZE {
        return None;
    }
    let text = format!(
        "answers differ in size ({} B and {} B a request, headers included): do both sides do the same work?",
        quantity(of_a),
        quantity(of_b)
    );
    doubt("response_sizes_differ", Severity::Warning, text)
}

fn lengths(a: &Side, b: &Side) -> Option<Doubt> {
    let all = || a.runs.iter().chain(&b.runs).map(|run| run.measured_s);
    let (least, most) = all().fold((f64::INFINITY, 0.0f64), |(low, high), s| (low.min(s), high.max(s)));
    if !(least.is_finite() && most > OTHER_LENGTH * least) {
        return None;
    }
    let text = format!("the runs are of different lengths ({} s to {} s)", quantity(least), quantity(most));
    doubt("lengths_differ", Severity::Note, text)
}

fn cut_off(figures: &[Compared]) -> Option<Doubt> {
    let bounded = |row: &&Compared| row.a_is_lower_bound || row.b_is_lower_bound;
    let names: Vec<&str> = figures.iter().filter(bounded).map(|row| row.figure.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let text =
        format!("times were cut off, so that {} are lower bounds: raise the time-out", names.join(", "));
    doubt("times_cut_off", Severity::Warning, text)
}

fn too_few(figures: &[Compared]) -> Option<Doubt> {
    let is_sampled = |row: &Compared| matches!(row.kind, Figure::Percentile { .. } | Figure::ErrorRate);
    let bare = |row: &&Compared| row.has_too_few() && is_sampled(row);
    let names: Vec<&str> = figures.iter().filter(bare).map(|row| row.figure.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let text = format!("too few samples to compare {}: run longer", names.join(", "));
    doubt("too_few_samples", Severity::Note, text)
}
