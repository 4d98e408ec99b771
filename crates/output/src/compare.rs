//! A comparison for the terminal, Markdown, pages, and JUnit XML: each shows one [`Comparison`], the verdict first.

mod junit;
mod next;
mod report;
mod several;
pub(crate) mod xml;

pub use junit::junit;
pub(crate) use next::{Rows, rows};
pub(crate) use report::{line, report};

use crate::document::{self, Document, Role, Sentence};
use crate::format::{NONE, counted};
use crate::html::Page;
use crate::style::Look;
use plimsoll_chart::Chart;
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{
    Compared, Comparison, Overall, Peaks, Scale, Verdict, bound_text, change, chosen_change,
    difference_texts, value_texts,
};
use serde_json::Value;

/// One comparison for a terminal.
pub fn terminal(c: &Comparison, look: &Look) -> String {
    document::terminal(&report(c, None, ""), look)
}

/// One comparison with the result of a gate, rule by rule, for a terminal.
pub fn gated(c: &Comparison, gated: &Gated, look: &Look) -> String {
    document::terminal(&report(c, Some(gated), ""), look)
}

/// For a pull request: the report of each.
pub fn markdown(comparisons: &[Comparison]) -> String {
    written(comparisons, |_, verdict, body| format!("{verdict}\n{body}"))
}

/// For the summary of a workflow: the verdicts at a glance, everything else folded.
pub fn github_summary(comparisons: &[Comparison]) -> String {
    written(comparisons, |c, verdict, body| {
        let doubts = if c.doubts.is_empty() {
            "no cautions".into()
        } else {
            counted(c.doubts.len() as u64, "caution")
        };
        let summary = format!("{}, {doubts}", counted(c.figures.len() as u64, "metric"));
        // Without the blank line, Markdown would treat the body as HTML.
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

/// The page of one or several comparisons; `gates` are the results of the gate. `charts` come from
/// [`crate::figure::of_comparison`], for several comparisons with `-1`, `-2` after their ids; `json` is the output of
/// `--json`.
pub fn page(all: &[Comparison], gates: &[Gated], mut charts: Vec<Chart>, json: Value) -> Page {
    // The sentence is a chart's subtitle only where the chart appears alone.
    let is_said = |chart: &Chart| all.iter().any(|one| one.sentence == chart.subtitle);
    charts.iter_mut().filter(|chart| is_said(chart)).for_each(|chart| chart.subtitle.clear());
    let (title, report) = match all {
        [one] => {
            let [a, b] = one.short_names();
            (format!("{}: {b} vs. {a}", overall(one.verdict)), report(one, gates.first(), ""))
        }
        many => (
            format!("{} comparisons", crate::format::count(many.len() as u64)),
            several::several(many, gates),
        ),
    };
    document::page("comparison", title, &report, charts, json)
}

/// The word for the verdict on B.
fn overall(verdict: Overall) -> &'static str {
    match verdict {
        Overall::Faster => "FASTER",
        Overall::Slower => "SLOWER",
        Overall::FewerErrors => "FEWER ERRORS",
        Overall::MoreErrors => "MORE ERRORS",
        Overall::Mixed => "MIXED",
        Overall::Equivalent => "EQUIVALENT",
        Overall::Inconclusive => "INCONCLUSIVE",
    }
}

/// The word for the verdict on one metric of B.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::Fewer => "fewer",
        Verdict::More => "more",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// The word with its bound: `equivalent (within 3.1%)`, `inconclusive: 4 more repeats`.
fn long_word(c: &Comparison, row: &Compared) -> String {
    match (row.verdict, row.difference_bound, row.more_repeats) {
        (Verdict::Equivalent, Some(most), _) => {
            format!("equivalent (within {})", bound_text(most, row.scale, smallest(c, row)))
        }
        (Verdict::Inconclusive, ..) if row.is_doubtful => "inconclusive: load generator".into(),
        (Verdict::Inconclusive, ..) if row.has_too_few() => "inconclusive: too few samples".into(),
        (Verdict::Inconclusive, _, Some(more)) => {
            format!("inconclusive: {}", counted(u64::from(more), "more repeat"))
        }
        (verdict, ..) => word(verdict).into(),
    }
}

/// The smallest difference of interest for this row.
fn smallest(c: &Comparison, row: &Compared) -> f64 {
    match row.scale {
        Scale::Ratio => c.min_difference_ratio,
        Scale::Points => c.min_error_difference_ratio,
    }
}

/// Both sides of a row; without enough samples there are no values.
fn values(row: &Compared) -> [String; 2] {
    if row.has_too_few() { [NONE.into(), NONE.into()] } else { value_texts(row) }
}

/// The change of a row and its interval, `+12%` and `+9% to +15%`; no end is rounded to the smallest difference of
/// interest.
fn differences(c: &Comparison, row: &Compared) -> [String; 2] {
    let smallest = smallest(c, row);
    match difference_texts(row, &[smallest, -smallest]) {
        Some([difference, low, high]) => [difference, format!("{low} to {high}")],
        None => [maybe_change(row, row.difference), NONE.into()],
    }
}

pub(crate) fn maybe_change(row: &Compared, of: Option<f64>) -> String {
    of.map_or_else(|| NONE.into(), |x| change(x, row.scale))
}

/// A p-value is not known to more than three decimals.
fn p_value(p: Option<f64>) -> String {
    match p {
        None => NONE.into(),
        Some(p) if p < 0.001 => "< 0.001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

/// The peak of each side as text.
fn peaks(row: &Peaks) -> [String; 2] {
    [row.a, row.b]
        .map(|peak| peak.map_or_else(|| NONE.into(), |peak| plimsoll_plan::phrase::watched(peak, row.unit)))
}

/// The result of the gate in a few words.
fn gate_word(gated: &Gated, c: &Comparison) -> String {
    let all = gated.rules.len() as u64;
    let broken = gated.rules.iter().filter(|rule| rule.result == Passage::Fail).count() as u64;
    let word = match (gated.result, c.blocking().map(|doubt| doubt.code)) {
        (Passage::Pass, _) => "gate passed",
        (Passage::Fail, _) => {
            return format!("gate failed: {} of {}", crate::format::count(broken), counted(all, "rule"));
        }
        // More repeats of runs that cannot be compared would not help.
        (_, Some("levels_differ")) => "gate inconclusive: the runs used different loads",
        (_, Some("settings_differ")) => "gate inconclusive: several settings differ",
        (_, Some(_)) => "gate inconclusive: these runs cannot be compared",
        (_, None) => "gate inconclusive: more repeats can decide",
    };
    word.into()
}

/// The number of times in the distributions of both sides, and why it may exceed the number of completed requests.
pub(crate) fn times(c: &Comparison, a: u64, b: u64) -> String {
    use crate::format::count;
    let all = format!("{} and {} response times", count(a), count(b));
    match (a.saturating_sub(c.a.requests), b.saturating_sub(c.b.requests)) {
        (0, 0) => all,
        (of_a, of_b) => {
            let [of_a, of_b] = [of_a, of_b].map(count);
            format!(
                "{all}; {of_a} and {of_b} of them from requests in flight at the end, counted as lower bounds"
            )
        }
    }
}

/// `5 runs each`, `5 runs vs. 1`.
fn runs(c: &Comparison) -> String {
    let (a, b) = (c.a.runs as u64, c.b.runs as u64);
    if a == b { format!("{} each", counted(a, "run")) } else { format!("{} vs. {a}", counted(b, "run")) }
}

/// The method, in one line.
fn method(c: &Comparison) -> String {
    format!(
        "{} confidence intervals; p-values of {} adjusted together (Holm); smallest difference of interest {}; \
         seed {}.",
        crate::format::ratio(c.confidence),
        counted(c.p_values_count as u64, "metric"),
        chosen_change(c.min_difference_ratio, Scale::Ratio),
        c.seed
    )
}
