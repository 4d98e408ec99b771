//! The one sentence of a comparison, and the words that sentences and tables share.

use super::types::{Compared, Comparison, Overall, RTT_BOUND, Scale, Verdict};
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::experiment::{Figure, Setting};
use plimsoll_plan::phrase::{counted, figure, quantile_name, quantity, ratio};

/// `response_time p99`.
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

/// A difference with its sign: `+12.4%`, `-0.31%`; of error ratios in percentage points, `+0.12 pp`. No zeros behind
/// the point that carry no information, as in every per cent.
pub fn change(difference: f64, scale: Scale) -> String {
    let sign = if difference < 0.0 { "-" } else { "+" };
    if !difference.is_finite() {
        return plimsoll_plan::phrase::NONE.into();
    }
    let unit = if scale == Scale::Ratio { "%" } else { " pp" };
    if difference == 0.0 {
        return format!("0{unit}");
    }
    let digits = quantity(difference.abs() * 100.0);
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    format!("{sign}{digits}{unit}")
}

/// `users 10, payload big`.
pub fn cell_name(cell: &[Setting]) -> String {
    cell.iter()
        .map(|setting| format!("{} {}", setting.parameter, setting.value))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `12.1 ms against 10.4 ms, +16% (95% interval +11% to +22%)`.
pub fn evidence(row: &Compared, confidence: f64) -> String {
    let value = |x: Option<f64>, at_least: bool| {
        let text = x.map_or_else(|| plimsoll_plan::phrase::NONE.into(), |x| figure(x, row.unit));
        if at_least { format!("≥ {text}") } else { text }
    };
    let mut text =
        format!("{} against {}", value(row.b, row.b_is_lower_bound), value(row.a, row.a_is_lower_bound));
    if let (Some(difference), Some(low), Some(high)) = (row.difference, row.low, row.high) {
        text.push_str(&format!(
            ", {} ({} interval {} to {})",
            change(difference, row.scale),
            ratio(confidence),
            change(low, row.scale),
            change(high, row.scale)
        ));
    }
    text
}

pub fn sentence(c: &Comparison) -> String {
    let [a, b] = c.short_names();
    let place =
        if c.settings.is_empty() { String::new() } else { format!("at {}: ", cell_name(&c.settings)) };
    let describe = |test: fn(Verdict) -> bool| headline(c, |row| test(row.verdict));
    let because = |row: Option<&Compared>| {
        row.map_or(String::new(), |row| format!(": {} {}", row.figure, evidence(row, c.confidence)))
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
                row.map_or(String::new(), |row| format!("{} {}", row.figure, evidence(row, c.confidence)))
            };
            format!(
                "`{b}` is better than `{a}` in {}, and worse in {}",
                part(describe(Verdict::is_better)),
                part(describe(Verdict::is_worse))
            )
        }
        Overall::Equivalent => match largest(c) {
            Some(largest) => format!("no difference between `{a}` and `{b}` larger than {largest}"),
            None => format!("no difference between `{a}` and `{b}`"),
        },
        Overall::Inconclusive => inconclusive(c),
    };
    format!("{place}{body}{}", reservation(c))
}

/// A claim of which nobody knows whether another run would bear it out says so itself: it will be quoted alone.
fn reservation(c: &Comparison) -> String {
    if c.verdict == Overall::Inconclusive {
        return String::new();
    }
    let [a, b] = c.short_names();
    match (c.a.runs, c.b.runs) {
        (1, 1) => "; one run of each: how much runs differ is not known".into(),
        (1, _) => format!("; of `{a}` there is one run only"),
        (_, 1) => format!("; of `{b}` there is one run only"),
        _ => String::new(),
    }
}

/// The figure that the sentence of this comparison names; of a mixed one the worse.
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

/// The figure that a sentence names: percentiles of the response time from the highest down, then what users feel
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

/// `4.1% in any figure, and 0.03 pp in errors`.
fn largest(c: &Comparison) -> Option<String> {
    let of = |scale: Scale| {
        let all = c.figures.iter().filter(|row| row.scale == scale).filter_map(|row| row.difference_bound);
        all.max_by(f64::total_cmp).map(|x| change(x, scale).trim_start_matches('+').to_owned())
    };
    let times = of(Scale::Ratio)?;
    Some(match of(Scale::Points) {
        Some(points) => format!("{times} in any figure and {points} in the errors"),
        None => format!("{times} in any figure"),
    })
}

fn inconclusive(c: &Comparison) -> String {
    let [a, b] = c.short_names();
    if let Some(doubt) = c.doubts.iter().find(|doubt| doubt.severity == Severity::Inconclusive) {
        return format!("cannot compare `{a}` and `{b}`: {}", doubt.sentence);
    }
    let Some(row) = named(c) else {
        let hidden = c.doubts.iter().find(|doubt| doubt.code == RTT_BOUND);
        let why = hidden.map_or("nothing could be compared", |doubt| doubt.sentence.as_str());
        return format!("cannot tell `{a}` from `{b}`: {why}");
    };
    if row.is_doubtful {
        let (least, most) = (row.widened_low.unwrap_or(0.0), row.widened_high.unwrap_or(0.0));
        return format!(
            "cannot tell `{a}` from `{b}`: {} {}; with what the load generator may have done to it {} to {}",
            row.figure,
            evidence(row, c.confidence),
            change(least, row.scale),
            change(most, row.scale)
        );
    }
    // The figure that needs most decides when all are settled.
    let needs =
        c.figures.iter().filter(|row| is_open(row)).map(|row| row.more_repeats).collect::<Option<Vec<u32>>>();
    let more = match needs.and_then(|needs| needs.into_iter().max()) {
        Some(more) => {
            format!("; about {} of each side would settle it", counted(u64::from(more), "more repeat"))
        }
        None => String::new(),
    };
    format!("cannot tell `{a}` from `{b}`: {} {}{more}", row.figure, evidence(row, c.confidence))
}
