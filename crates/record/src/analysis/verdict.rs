//! PASS, FAIL or INCONCLUSIVE, in one sentence that may be quoted.

use super::cells::Cells;
use super::facts::Facts;
use crate::phrase::{count, counted, duration, percent, quantile, rate};
use crate::summary::{Achieved, Caution, FigureUnit, Judged, Offered, Outcome, Times, Verdict, Weight};
use plimsoll_plan::metric::SeriesSum;

/// INCONCLUSIVE beats FAIL beats PASS.
pub(super) fn verdict(
    facts: &Facts,
    cautions: &[Caution],
    thresholds: &[Judged],
    offered: Option<&Offered>,
    achieved: &Achieved,
    response: &Times,
) -> Verdict {
    let doubts: Vec<&Caution> = cautions.iter().filter(|c| c.weight == Weight::Inconclusive).collect();
    if let Some(first) = doubts.first() {
        let more = match doubts.len() - 1 {
            0 => String::new(),
            1 => ", and one more reason".into(),
            n => format!(", and {n} more reasons"),
        };
        return Verdict {
            result: Outcome::Inconclusive,
            sentence: format!("INCONCLUSIVE: {} ({}){more}", first.title, first.evidence),
            because: doubts.iter().map(|c| c.code.to_owned()).collect(),
        };
    }
    let missed: Vec<&Judged> = thresholds.iter().filter(|t| !t.met).collect();
    if !missed.is_empty() {
        let each: Vec<String> = missed.iter().map(|t| missed_text(t)).collect();
        return Verdict {
            result: Outcome::Fail,
            sentence: format!("FAIL: {}", each.join("; ")),
            because: missed.iter().map(|t| t.text.clone()).collect(),
        };
    }
    Verdict { result: Outcome::Pass, sentence: pass(facts, offered, achieved, response), because: Vec::new() }
}

fn pass(facts: &Facts, offered: Option<&Offered>, achieved: &Achieved, response: &Times) -> String {
    let what = match offered {
        None => format!("{} requests/s", rate(achieved.rate_per_s).trim_end_matches("/s")),
        // An arrival starts a sequence: requests are not to be held against it.
        Some(offered) if facts.plan.requests.len() > 1 => format!(
            "{} arrivals/s and {} requests/s",
            rate(offered.rate_per_s).trim_end_matches("/s"),
            rate(achieved.rate_per_s).trim_end_matches("/s")
        ),
        Some(offered) => format!(
            "{} of {} offered requests/s",
            rate(achieved.rate_per_s).trim_end_matches("/s"),
            rate(offered.rate_per_s).trim_end_matches("/s")
        ),
    };
    // The highest of the two that enough samples stand behind.
    let told = [0.99, 0.5]
        .into_iter()
        .find_map(|q| response.percentiles.iter().find(|p| p.q == q && p.enough_samples));
    let slow = match told {
        Some(p) => {
            let at_least = if p.at_least { ">= " } else { "" };
            format!(" with {} {at_least}{}", quantile(p.q), duration(p.value_ns as f64))
        }
        None => String::new(),
    };
    let errors = match facts.all.sum(SeriesSum::Failed) {
        0 => "no errors".into(),
        n => format!("{} of {}", counted(n, "error"), count(facts.finished())),
    };
    format!("PASS: {what}{slow} and {errors} over {}", duration(facts.measured_ns as f64))
}

/// `errors 2.1 % (threshold errors == 0%)`
fn missed_text(judged: &Judged) -> String {
    // The text begins with what is compared: `response_time p99`, `errors`.
    let subject = judged.text.split(['<', '>', '=']).next().unwrap_or_default().trim();
    let Some(value) = judged.observed else {
        return format!("{subject} has no sample (threshold {})", judged.text);
    };
    let mut shown = figure(value, judged.unit);
    // "99 % (threshold achieved >= 99%)" would be a riddle: then every digit counts.
    if value != judged.limit && shown == figure(judged.limit, judged.unit) {
        shown = match judged.unit {
            FigureUnit::Nanoseconds => format!("{value} ns"),
            FigureUnit::Ratio => format!("{} %", value * 100.0),
            FigureUnit::PerSecond => format!("{value}/s"),
            FigureUnit::Count => value.to_string(),
        };
    }
    let at_least = if judged.at_least { "at least " } else { "" };
    format!("{subject} {at_least}{shown} (threshold {})", judged.text)
}

fn figure(value: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::Nanoseconds => duration(value),
        FigureUnit::Ratio => percent(value),
        FigureUnit::PerSecond => rate(value),
        FigureUnit::Count => count(value as u64),
    }
}
