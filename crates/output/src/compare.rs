//! A comparison, for people, for pull requests and for machines.
//!
//! All four renderers show one [`Comparison`]: the sentence first, then every figure with its interval, then what
//! speaks against believing it.

mod junit;
mod next;
mod report;
mod several;
pub(crate) mod xml;

pub use junit::junit;
pub(crate) use next::{Rows, rows};
pub(crate) use report::{line, report};

use crate::document::{self, Document, Role, Sentence};
use crate::format::{NONE, counted, figure};
use crate::html::Page;
use crate::style::Look;
use plimsoll_chart::Chart;
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{Compared, Comparison, Overall, Peaks, Verdict, change};
use plimsoll_plan::threshold::FigureUnit;
use serde_json::Value;

/// One comparison for a terminal.
pub fn terminal(c: &Comparison, look: &Look) -> String {
    document::terminal(&report(c, None, ""), look)
}

/// What the gate says, rule by rule: those that hold only when somebody wrote them.
pub fn gated(c: &Comparison, gated: &Gated, look: &Look) -> String {
    document::terminal(
        &Document { head: report::gate(c, gated), sections: Vec::new(), ..report(c, None, "") },
        look,
    )
}

/// In a pull request: the verdict, the figures, the doubts of each.
pub fn markdown(comparisons: &[Comparison]) -> String {
    written(comparisons, |_, verdict, body| format!("{verdict}\n{body}"))
}

/// The same for the summary of a workflow: the verdicts at a glance, everything else folded.
pub fn github_summary(comparisons: &[Comparison]) -> String {
    written(comparisons, |c, verdict, body| {
        let doubts =
            if c.doubts.is_empty() { "no doubts".into() } else { counted(c.doubts.len() as u64, "doubt") };
        let summary = format!("{}, {doubts}", counted(c.figures.len() as u64, "figure"));
        // Without the blank line what follows would be taken for HTML.
        format!("{verdict}\n<details>\n<summary>{summary}</summary>\n\n{body}\n</details>\n")
    })
}

fn written(all: &[Comparison], each: impl Fn(&Comparison, &str, &str) -> String) -> String {
    let mut parts = vec!["## Comparison\n".to_owned()];
    if all.is_empty() {
        parts.push("Nothing was compared.\n".into());
    }
    for c in all {
        let mut body = report(c, None, "");
        let head = body.head.drain(..1).collect();
        let verdict =
            Document { head, sections: Vec::new(), tone: body.tone, name: Sentence::new(Role::Plain, "") };
        parts.push(each(c, &document::markdown(&verdict), &document::markdown(&body)));
    }
    parts.join("\n")
}

/// The page of comparisons, one or several; `gates` are what the gate says of each. `charts` are those of
/// [`crate::figure::of_comparison`], of several with `-1`, `-2` behind their ids; `json` is what `--json` prints.
pub fn page(all: &[Comparison], gates: &[Gated], mut charts: Vec<Chart>, json: Value) -> Page {
    // A picture that stands alone says the sentence; here it stands above.
    let is_said = |chart: &Chart| all.iter().any(|one| one.sentence == chart.subtitle);
    charts.iter_mut().filter(|chart| is_said(chart)).for_each(|chart| chart.subtitle.clear());
    let (title, report) = match all {
        [one] => {
            let [a, b] = one.short_names();
            (format!("{}: {b} against {a}", overall(one.verdict)), report(one, gates.first(), ""))
        }
        many => (
            format!("{} comparisons", crate::format::count(many.len() as u64)),
            several::several(many, gates),
        ),
    };
    document::page("comparison", title, &report, charts, json)
}

/// The word of a whole comparison, about B.
fn overall(verdict: Overall) -> &'static str {
    match verdict {
        Overall::Faster => "FASTER",
        Overall::Slower => "SLOWER",
        Overall::FewerErrors => "FEWER ERRORS",
        Overall::MoreErrors => "MORE ERRORS",
        Overall::Mixed => "MIXED",
        Overall::Equivalent => "NO DIFFERENCE",
        Overall::Inconclusive => "CANNOT TELL",
    }
}

/// The word of a figure, about B.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::Fewer => "fewer",
        Verdict::More => "more",
        Verdict::Equivalent => "no difference",
        Verdict::Inconclusive => "cannot tell",
    }
}

/// The word with what bounds it: `no difference > 3.10%`, `cannot tell, 4 more repeats`.
fn long_word(row: &Compared) -> String {
    match (row.verdict, row.difference_bound, row.more_repeats) {
        (Verdict::Equivalent, Some(most), _) => {
            format!("no difference > {}", change(most, row.scale).trim_start_matches('+'))
        }
        (Verdict::Inconclusive, ..) if row.is_doubtful => "cannot tell beside the load generator".into(),
        (Verdict::Inconclusive, _, Some(1)) => "cannot tell, 1 more repeat".into(),
        (Verdict::Inconclusive, _, Some(more)) => format!("cannot tell, {more} more repeats"),
        (verdict, ..) => word(verdict).into(),
    }
}

/// Both sides of a row; a percentile with too few samples on one of them is none.
fn values(row: &Compared) -> [String; 2] {
    match row.has_too_few() {
        true => [NONE.into(), NONE.into()],
        false => [value(row.a, row.a_is_lower_bound, row.unit), value(row.b, row.b_is_lower_bound, row.unit)],
    }
}

fn value(value: Option<f64>, at_least: bool, unit: FigureUnit) -> String {
    let text = value.map_or_else(|| NONE.into(), |value| figure(value, unit));
    if at_least { format!(">= {text}") } else { text }
}

pub(crate) fn maybe_change(row: &Compared, of: Option<f64>) -> String {
    of.map_or_else(|| NONE.into(), |x| change(x, row.scale))
}

/// `-1.2% to +4.5%`.
fn interval(row: &Compared) -> String {
    match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{} to {}", change(low, row.scale), change(high, row.scale)),
        _ => NONE.into(),
    }
}

/// Three digits behind the point are more than a p-value knows.
fn p_value(p: Option<f64>) -> String {
    match p {
        None => NONE.into(),
        Some(p) if p < 0.001 => "< 0.001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

/// A peak of each side, as text: it has no interval, so nothing is said of the difference.
fn peaks(row: &Peaks) -> [String; 2] {
    [row.a, row.b]
        .map(|peak| peak.map_or_else(|| NONE.into(), |peak| plimsoll_plan::phrase::watched(peak, row.unit)))
}

/// What the gate says in a few words.
fn gate_word(gated: &Gated, c: &Comparison) -> String {
    let all = gated.rules.len() as u64;
    let broken = gated.rules.iter().filter(|rule| rule.result == Passage::Fail).count() as u64;
    let word = match (gated.result, c.blocking().map(|doubt| doubt.code)) {
        (Passage::Pass, _) => "gate passed: no rule is broken",
        (Passage::Fail, _) => {
            let verb = if broken == 1 { "is" } else { "are" };
            let of = crate::format::counted(all, "rule");
            return format!("gate not passed: {} of {of} {verb} broken", crate::format::count(broken));
        }
        // Repeats of runs that cannot be compared would not help.
        (_, Some("levels_differ")) => "gate undecided: runs of the same load are needed",
        (_, Some("settings_differ")) => "gate undecided: runs of the same settings are needed",
        (_, Some(_)) => "gate undecided: these runs cannot be compared",
        (_, None) => "gate undecided: more repeats have to tell",
    };
    word.into()
}

/// What the spectra of both sides count, and why that may be more than the requests that ended.
pub(crate) fn times(c: &Comparison, a: u64, b: u64) -> String {
    use crate::format::count;
    let all = format!("{} and {} response times", count(a), count(b));
    match (a.saturating_sub(c.a.requests), b.saturating_sub(c.b.requests)) {
        (0, 0) => all,
        (of_a, of_b) => {
            let [of_a, of_b] = [of_a, of_b].map(count);
            format!(
                "{all}; {of_a} and {of_b} of them are of requests that had not ended and count as far as they went"
            )
        }
    }
}

/// How it was made, as one line.
fn footing(c: &Comparison) -> String {
    use crate::format::{count, ratio};
    let runs = if c.a.runs == c.b.runs {
        format!("{} of each side", counted(c.a.runs as u64, "run"))
    } else {
        format!("{} against {}", counted(c.b.runs as u64, "run"), count(c.a.runs as u64))
    };
    format!(
        "{runs}, {} and {} requests; {} intervals; {} adjusted together; differences up to {} are not worth naming; \
         seed {}",
        count(c.a.requests),
        count(c.b.requests),
        ratio(c.confidence),
        counted(c.p_values_count as u64, "figure"),
        ratio(c.min_difference_ratio),
        c.seed
    )
}
