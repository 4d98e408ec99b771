//! Gates: rules such as `response_time p99 < +5%` for what a change may cost, judged on a comparison.
//!
//! A rule passes if the whole interval of the difference lies within its limit. It fails if the whole interval lies
//! beyond the limit and the difference is certain among all that are compared. Otherwise it is inconclusive, and more
//! repeats can decide it.

use super::sentence::{bound_text, chosen_change, evidence_at, figure_name};
pub use super::types::Rule;
use super::types::{Compared, Comparison, Overall, RTT_BOUND, Scale};
use plimsoll_plan::Problem;
use plimsoll_plan::experiment::{Expectation, Figure};
use plimsoll_plan::phrase::{count, quantity};
use plimsoll_plan::threshold::Subject;
use serde::Serialize;

/// The rules of a gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    /// If empty: no figure may be worse with certainty by more than the smallest difference of interest.
    pub allow: Vec<Rule>,
}

/// The result of a gate or of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Passage {
    /// A default rule on a figure with too few samples: it has no effect on the result.
    NotCompared,
    Pass,
    Inconclusive,
    Fail,
}

/// All rules on one comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Gated {
    /// FAIL outranks INCONCLUSIVE, which outranks PASS: one failed rule decides.
    pub result: Passage,
    pub rules: Vec<Ruled>,
}

/// One rule on one comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Ruled {
    pub text: String,
    pub result: Passage,
    /// The numbers that decided it.
    pub evidence: String,
}

impl Rule {
    /// Parses `response_time p99 < +5%`, `throughput > -3%`, `error_rate < +0.1%`.
    ///
    /// # Errors
    /// Returns the problem, and the expected form.
    pub fn parse(text: &str) -> Result<Rule, Problem> {
        const EXPECTED: &str = "expected a rule such as `response_time p99 < +5%`, `throughput > -3%`, or \
                                `error_rate < +0.1%`";
        let wrong = |what: &str| Problem::new(format!("{what} in `{text}`"), EXPECTED);
        let at = text.find(['<', '>']).ok_or_else(|| wrong("missing `<` or `>`"))?;
        let (name, rest) = text.split_at(at);
        let below = rest.starts_with('<');
        let limit = rest[1..].trim_start_matches('=').trim();
        // Expectations use the same figure names, so they share one parser.
        let figure =
            Expectation::parse(&format!("b raises {}", name.trim())).map(|e| e.figure).map_err(|_| {
                let unknown = format!("unknown metric `{}`", name.trim());
                match Subject::renamed(name.trim()) {
                    Some(subject) => Problem::new(
                        format!("{unknown} in `{text}`"),
                        format!("did you mean `{}`?", subject.name()),
                    ),
                    None => wrong(&unknown),
                }
            })?;
        if figure == Figure::Capacity {
            return Err(wrong("`capacity` cannot be compared between runs"));
        }
        let percent =
            limit.strip_suffix('%').and_then(|n| n.trim().parse::<f64>().ok()).filter(|n| n.is_finite());
        let percent = percent.ok_or_else(|| wrong(&format!("invalid percentage `{limit}`")))?;
        if percent <= -100.0 {
            return Err(wrong(&format!("nothing can fall by {}%", quantity(-percent))));
        }
        // Throughput must stay up, everything else must stay down.
        if below == matches!(figure, Figure::Throughput) {
            let sign = if below { "throughput > -3%" } else { "response_time p99 < +5%" };
            return Err(Problem::new(
                format!("`{text}` would pass a regression"),
                format!("reverse the rule, as in `{sign}`; {EXPECTED}"),
            ));
        }
        Ok(Rule { text: text.trim().into(), figure, limit: percent / 100.0, below })
    }

    /// Returns the percentile of the rule's figure, if it is one.
    pub fn quantile(&self) -> Option<f64> {
        match self.figure {
            Figure::Percentile { q, .. } => Some(q),
            Figure::Capacity | Figure::Throughput | Figure::ErrorRate | Figure::Mean => None,
        }
    }

    /// Whether the rule is about this figure.
    pub fn names(&self, kind: Figure) -> bool {
        figure_name(self.figure) == figure_name(kind)
    }

    fn judge(&self, comparison: &Comparison) -> Ruled {
        let ruled = |passage, evidence: String| Ruled { text: self.text.clone(), result: passage, evidence };
        if let Some(doubt) = comparison.blocking() {
            return ruled(Passage::Inconclusive, doubt.finding());
        }
        let Some(row) = comparison.figures.iter().find(|row| self.names(row.kind)) else {
            let name = figure_name(self.figure);
            return ruled(
                Passage::Inconclusive,
                format!("{name} was not compared; add it to `--percentiles`"),
            );
        };
        let (Some(low), Some(high)) = (row.widened_low, row.widened_high) else {
            return ruled(Passage::Inconclusive, format!("{} has too few samples", row.figure));
        };
        let (holds, broken) = match self.below {
            true => (high <= self.limit, low > self.limit),
            false => (low >= self.limit, high < self.limit),
        };
        // If only B is a lower bound, the true difference is larger than the interval shows; if only A is, it is
        // smaller.
        let (up, down) =
            (row.b_is_lower_bound && !row.a_is_lower_bound, row.a_is_lower_bound && !row.b_is_lower_bound);
        let is_exact = !row.a_is_lower_bound && !row.b_is_lower_bound;
        let (safe, worse) = if self.below { (down, up) } else { (up, down) };
        // One source of truth: a rule never fails on a figure that the table calls inconclusive.
        let passage = match (holds, broken && row.verdict.is_worse()) {
            (true, _) if is_exact || safe => Passage::Pass,
            (_, true) if is_exact || worse => Passage::Fail,
            _ => Passage::Inconclusive,
        };
        ruled(passage, evidence_at(row, comparison.confidence, self.limit))
    }
}

/// Judges a comparison.
pub fn gate(comparison: &Comparison, gate: &Gate) -> Gated {
    let rules: Vec<Ruled> = if gate.allow.is_empty() {
        comparison.figures.iter().map(|row| by_default(comparison, row)).collect()
    } else {
        gate.allow.iter().map(|rule| rule.judge(comparison)).collect()
    };
    let worst = rules.iter().map(|rule| rule.result).max();
    // A caution that hides all differences at once belongs to no single figure.
    let is_hidden = gate.allow.is_empty()
        && comparison.verdict == Overall::Inconclusive
        && comparison.doubts.iter().any(|doubt| doubt.code == RTT_BOUND);
    // If no figure was compared, nothing can pass.
    let is_open = is_hidden || worst.is_none_or(|worst| worst == Passage::NotCompared);
    let least = if is_open { Passage::Inconclusive } else { Passage::Pass };
    Gated { result: worst.unwrap_or(Passage::Inconclusive).max(least), rules }
}

/// The default rule: FAIL if the figure is worse with certainty by more than the smallest difference of interest, and
/// INCONCLUSIVE if it may hide such a difference.
fn by_default(comparison: &Comparison, row: &Compared) -> Ruled {
    let worth = if row.scale == Scale::Points {
        comparison.min_error_difference_ratio
    } else {
        comparison.min_difference_ratio
    };
    let evidence = || evidence_at(row, comparison.confidence, if is_rate(row) { -worth } else { worth });
    let is_large = row.difference.is_some_and(|d| d.abs() > worth);
    let may_be_worse = may_be_worse(row, worth) && !row.verdict.is_better();
    let (passage, evidence) = match comparison.blocking() {
        Some(doubt) => (Passage::Inconclusive, doubt.finding()),
        None if row.verdict.is_worse() && is_large => (Passage::Fail, evidence()),
        None if row.has_too_few() || (row.is_spotless() && may_be_worse) => {
            (Passage::NotCompared, too_few(comparison, row))
        }
        None if may_be_worse => (Passage::Inconclusive, evidence()),
        None => (Passage::Pass, evidence()),
    };
    let text = format!("{} at most {} worse", row.figure, chosen_change(worth, row.scale));
    Ruled { text, result: passage, evidence }
}

fn is_rate(row: &Compared) -> bool {
    matches!(row.kind, Figure::Throughput)
}

/// Whether B may be worse by more than the smallest difference of interest. Improvements do not matter.
fn may_be_worse(row: &Compared, worth: f64) -> bool {
    match (row.widened_low, row.widened_high) {
        _ if row.b_is_lower_bound => true,
        (Some(least), Some(most)) => (if is_rate(row) { -least } else { most }) > worth,
        _ => row.difference_bound.is_none_or(|x| x > worth),
    }
}

fn too_few(comparison: &Comparison, row: &Compared) -> String {
    match row.difference_bound.filter(|_| row.is_spotless() && row.difference.is_some()) {
        Some(most) => format!(
            "no errors in {} and {} requests: they differ by at most {}",
            count(comparison.a.requests),
            count(comparison.b.requests),
            bound_text(most, row.scale, comparison.min_error_difference_ratio)
        ),
        None => format!("not compared: {} has too few samples", row.figure),
    }
}
