//! The sentence of a comparison, and the words that sentences and tables share.

use super::types::{Compared, Comparison, Overall, RTT_BOUND, Scale, Verdict};
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::experiment::{Figure, Setting};
use plimsoll_plan::phrase::{NONE, count, counted, exponent, figure, quantile_name, ratio};
use std::cmp::Ordering;

/// The name in tables and rules: `response_time p99`.
pub fn figure_name(kind: Figure) -> String {
    match kind {
        Figure::Capacity => "capacity".into(),
        Figure::Throughput => "throughput".into(),
        Figure::ErrorRate => "error_rate".into(),
        Figure::Mean => "response_time mean".into(),
        Figure::Percentile { q, service } => {
            format!("{} {}", if service { "service_time" } else { "response_time" }, quantile_name(q))
        }
    }
}

/// The name in a sentence: `p99 response time`.
pub fn figure_phrase(kind: Figure) -> String {
    match kind {
        Figure::Capacity => "capacity".into(),
        Figure::Throughput => "throughput".into(),
        Figure::ErrorRate => "error rate".into(),
        Figure::Mean => "mean response time".into(),
        Figure::Percentile { q, service } => {
            format!("{} {} time", quantile_name(q), if service { "service" } else { "response" })
        }
    }
}

/// A difference with its sign and two significant digits: `+12%`, `-0.31%`; of error ratios in percentage points,
/// `+0.12 pp`.
pub fn change(difference: f64, scale: Scale) -> String {
    let [text] = changes([difference], scale, &[]);
    text
}

/// Several differences with the same number of decimals: two significant digits of the largest, and more where one of
/// them would otherwise read as 0 or as one of the `limits`.
pub fn changes<const N: usize>(all: [f64; N], scale: Scale, limits: &[f64]) -> [String; N] {
    const MOST: usize = 10;
    let shown = |decimals: usize| all.map(|x| format!("{:.decimals$}", x * 100.0));
    let is_at = |text: &str, limit: f64| text.parse::<f64>().is_ok_and(|x| (x - limit * 100.0).abs() < 1e-9);
    let is_clear = |text: &String, x: f64| {
        let other = |limit: &f64| (x - limit).abs() < 1e-12 || !is_at(text, *limit);
        !x.is_finite() || other(&0.0) && limits.iter().all(other)
    };
    let largest = all.iter().map(|x| x.abs() * 100.0).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let least = if largest > 0.0 { (1 - exponent(largest)).clamp(0, MOST as i32) as usize } else { 0 };
    let enough = |decimals: &usize| shown(*decimals).iter().zip(all).all(|(text, x)| is_clear(text, x));
    let mut decimals = (least..=MOST).find(enough).unwrap_or(MOST);
    // A last digit that is 0 in all of them says nothing.
    while decimals > 0
        && shown(decimals).iter().zip(all).all(|(text, x)| !x.is_finite() || text.ends_with('0'))
    {
        decimals -= 1;
    }
    let unit = if scale == Scale::Ratio { "%" } else { " pp" };
    let text = |x: f64| {
        let percent = x.abs() * 100.0;
        let sign = match x.partial_cmp(&0.0) {
            Some(Ordering::Less) => "-",
            Some(Ordering::Greater) => "+",
            Some(Ordering::Equal) | None => "",
        };
        let digits = match decimals {
            _ if x == 0.0 => "0".into(),
            0 if (1e3..1e15).contains(&percent) => count(percent.round() as u64),
            _ => format!("{percent:.decimals$}"),
        };
        if x.is_finite() { format!("{sign}{digits}{unit}") } else { NONE.into() }
    };
    all.map(text)
}

/// A chosen difference, with all of its digits: `5%`, `12.5%`, `0.1 pp`.
pub fn chosen_change(difference: f64, scale: Scale) -> String {
    let digits = format!("{:.9}", difference * 100.0);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}{}", if scale == Scale::Ratio { "%" } else { " pp" })
}

/// `users 10, payload big`.
pub fn cell_name(cell: &[Setting]) -> String {
    cell.iter()
        .map(|setting| format!("{} {}", setting.parameter, setting.value))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The values of A and B as text; a lower bound has its sign.
pub fn value_texts(row: &Compared) -> [String; 2] {
    [(row.a, row.a_is_lower_bound), (row.b, row.b_is_lower_bound)].map(|(value, is_lower_bound)| {
        let text = value.map_or_else(|| NONE.into(), |value| figure(value, row.unit));
        if is_lower_bound { format!("≥ {text}") } else { text }
    })
}

/// The difference and the ends of its interval, with the same number of decimals.
pub fn difference_texts(row: &Compared, limits: &[f64]) -> Option<[String; 3]> {
    Some(changes([row.difference?, row.low?, row.high?], row.scale, limits))
}

/// `12.1 ms vs. 10.4 ms, +16% (95% CI +11% to +22%)`.
pub fn evidence(row: &Compared, confidence: f64) -> String {
    let [a, b] = value_texts(row);
    format!("{b} vs. {a}{}", with_change(row, confidence, &[]))
}

/// The same next to a limit: no figure is rounded to it.
pub fn evidence_at(row: &Compared, confidence: f64, limit: f64) -> String {
    let [a, b] = value_texts(row);
    format!("{b} vs. {a}{}", with_change(row, confidence, &[limit]))
}

/// `, +16% (95% CI +11% to +22%)`; empty where nothing was compared.
fn with_change(row: &Compared, confidence: f64, limits: &[f64]) -> String {
    difference_texts(row, limits).map_or_else(String::new, |[difference, low, high]| {
        format!(", {difference} ({} CI {low} to {high})", ratio(confidence))
    })
}

/// The sentence of a comparison, which can be quoted on its own.
pub fn sentence(c: &Comparison) -> String {
    let [a, b] = c.short_names();
    let place =
        if c.settings.is_empty() { String::new() } else { format!("at {}, ", cell_name(&c.settings)) };
    let describe = |test: fn(Verdict) -> bool| headline(c, |row| test(row.verdict));
    let because = |row: Option<&Compared>| {
        let is = |row: &Compared| format!(": {} is {}", figure_phrase(row.kind), evidence(row, c.confidence));
        row.map_or_else(String::new, is)
    };
    let body = match c.verdict {
        Overall::Slower => format!("`{b}` is slower than `{a}`{}", because(describe(Verdict::is_worse))),
        Overall::Faster => format!("`{b}` is faster than `{a}`{}", because(describe(Verdict::is_better))),
        Overall::MoreErrors => {
            format!("`{b}` fails more often than `{a}`{}", because(describe(Verdict::is_worse)))
        }
        Overall::FewerErrors => {
            format!("`{b}` fails less often than `{a}`{}", because(describe(Verdict::is_better)))
        }
        Overall::Mixed => {
            let part = |row: Option<&Compared>| {
                row.map_or_else(String::new, |row| {
                    let [a, b] = value_texts(row);
                    let change = with_change(row, c.confidence, &[]);
                    format!("{} to {b} from {a}{change}", figure_phrase(row.kind))
                })
            };
            format!(
                "compared with `{a}`, `{b}` improves {}, but worsens {}",
                part(describe(Verdict::is_better)),
                part(describe(Verdict::is_worse))
            )
        }
        Overall::Equivalent => match largest(c) {
            Some(largest) => format!("`{b}` and `{a}` are equivalent: they differ by {largest}"),
            None => format!("`{b}` and `{a}` are equivalent"),
        },
        Overall::Inconclusive => inconclusive(c),
    };
    format!("{place}{body}{}", reservation(c))
}

/// With single runs, the sentence itself says that another run may differ, because it is quoted alone.
fn reservation(c: &Comparison) -> String {
    if c.verdict == Overall::Inconclusive {
        return String::new();
    }
    let [a, b] = c.short_names();
    match (c.a.runs, c.b.runs) {
        (1, 1) => "; each has one run, so run-to-run variation is unknown".into(),
        (1, _) => format!("; `{a}` has only one run"),
        (_, 1) => format!("; `{b}` has only one run"),
        _ => String::new(),
    }
}

/// Returns the figure in the sentence of this comparison; for a mixed one, the one that worsened.
pub fn named(c: &Comparison) -> Option<&Compared> {
    match c.verdict {
        Overall::Slower | Overall::MoreErrors | Overall::Mixed => headline(c, |row| row.verdict.is_worse()),
        Overall::Faster | Overall::FewerErrors => headline(c, |row| row.verdict.is_better()),
        Overall::Equivalent => None,
        Overall::Inconclusive if c.blocking().is_some() => None,
        Overall::Inconclusive => headline(c, |row| row.is_doubtful).or_else(|| headline(c, is_open)),
    }
}

fn is_open(row: &Compared) -> bool {
    row.verdict == Verdict::Inconclusive && row.difference.is_some() && !row.has_too_few()
}

/// Returns the figure for a sentence: percentiles of the response time from the highest down, then what users notice
/// less.
fn headline(c: &Comparison, test: impl Fn(&Compared) -> bool) -> Option<&Compared> {
    let weight = |row: &&Compared| match row.kind {
        Figure::Percentile { q, service: false } => 3.0 + q,
        Figure::Mean => 3.0,
        Figure::Percentile { q, service: true } => 1.0 + q,
        Figure::Throughput | Figure::Capacity => 1.0,
        Figure::ErrorRate => 0.0,
    };
    c.figures.iter().filter(|row| test(row)).max_by(|x, y| weight(x).total_cmp(&weight(y)))
}

/// `at most 4.1%, and in error rate by at most 0.03 pp`.
fn largest(c: &Comparison) -> Option<String> {
    let of = |scale: Scale, limit: f64| {
        let all = c.figures.iter().filter(|row| row.scale == scale).filter_map(|row| row.difference_bound);
        all.max_by(f64::total_cmp).map(|x| bound_text(x, scale, limit))
    };
    let times = of(Scale::Ratio, c.min_difference_ratio)?;
    Some(match of(Scale::Points, c.min_error_difference_ratio) {
        Some(points) => format!("at most {times}, and in error rate by at most {points}"),
        None => format!("at most {times}"),
    })
}

/// The bound of a difference, without a sign, and never rounded to the smallest difference of interest.
pub fn bound_text(bound: f64, scale: Scale, limit: f64) -> String {
    let [text] = changes([bound.abs()], scale, &[limit]);
    text.trim_start_matches('+').to_owned()
}

fn inconclusive(c: &Comparison) -> String {
    let [a, b] = c.short_names();
    if let Some(doubt) = c.doubts.iter().find(|doubt| doubt.severity == Severity::Inconclusive) {
        return format!("`{b}` cannot be compared with `{a}`: {}", doubt.title);
    }
    let Some(row) = named(c) else {
        let hidden = c.doubts.iter().find(|doubt| doubt.code == RTT_BOUND);
        let why = hidden.map_or("no metric could be compared", |doubt| doubt.title);
        return format!("`{b}` cannot be compared with `{a}`: {why}");
    };
    let undecided = format!(
        "it is undecided whether `{b}` differs from `{a}`: {} is {}",
        figure_phrase(row.kind),
        evidence(row, c.confidence)
    );
    if row.is_doubtful {
        let [low, high] =
            changes([row.widened_low.unwrap_or(0.0), row.widened_high.unwrap_or(0.0)], row.scale, &[]);
        return format!("{undecided}; including possible effects of the load generator, {low} to {high}");
    }
    // The figure that needs the most repeats decides when all are settled.
    let needs =
        c.figures.iter().filter(|row| is_open(row)).map(|row| row.more_repeats).collect::<Option<Vec<u32>>>();
    match needs.and_then(|needs| needs.into_iter().max()) {
        Some(more) => {
            let more = counted(u64::from(more), "more repeat");
            format!("{undecided}; about {more} of each side would decide")
        }
        None => undecided,
    }
}
