//! PASS, FAIL or INCONCLUSIVE, in one sentence that may be quoted.

use super::cells::Cells;
use super::facts::Facts;
use super::watched::is_listening;
use crate::caution::Kind;
use crate::event::{Note, NoteKind, StoppedBy};
use crate::phrase::{chosen_ns, count, counted, duration_ns, figure, quantile_name, quantity, rate_of};
use crate::steered::Steered;
use crate::summary::{
    Achieved, Caution, FigureUnit, Judged, Offered, Outcome, Pressure, Times, Verdict, Weight,
};
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::threshold::Threshold;

/// INCONCLUSIVE beats FAIL beats PASS.
pub(super) fn verdict(
    facts: &Facts,
    cautions: &[Caution],
    thresholds: &[Judged],
    offered: Option<&Offered>,
    achieved: &Achieved,
    response: &Times,
    pressure: &[Pressure],
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
    // A machine that shared the load may have been stopped by its own part of the figures, which together are good.
    let was_stopped = facts.stopped_by() == Some(StoppedBy::Threshold);
    // What the stop left without enough samples is no reason, unless it may have been what stopped the run.
    let is_reason = |(rule, judged): &(&Threshold, &Judged)| {
        let left_out = was_stopped && judged.too_few_samples && rule.abort_after_ns.is_none();
        !judged.met && !left_out
    };
    let rules = facts.plan.thresholds.iter().zip(thresholds);
    let missed: Vec<&Judged> = rules.filter(is_reason).map(|(_, judged)| judged).collect();
    if !missed.is_empty() {
        let each: Vec<String> = missed.iter().map(|t| missed_text(t)).collect();
        return Verdict {
            result: Outcome::Fail,
            sentence: format!("FAIL: {}{}", each.join("; "), gave_out(cautions, pressure)),
            because: missed.iter().map(|t| t.text.clone()).collect(),
        };
    }
    if was_stopped {
        let mut notes = facts.machines.iter().flat_map(|m| &m.origin.notes);
        let ends = |note: &&Note| note.kind == NoteKind::Control && Steered::of(note).is_none();
        let told = notes.rfind(ends).map(|note| note.text.clone());
        let why = told.unwrap_or_else(|| "stopped by a threshold".into());
        return Verdict { result: Outcome::Fail, sentence: format!("FAIL: {why}"), because: vec![why] };
    }
    Verdict { result: Outcome::Pass, sentence: pass(facts, offered, achieved, response), because: Vec::new() }
}

/// What gave out first on the way or at the service, where something says so; doubts that name a cause come before a
/// resource that stood at its limit, which may have been there by right.
fn gave_out(cautions: &[Caution], pressure: &[Pressure]) -> String {
    const CAUSES: [(Kind, &str); 4] = [
        (Kind::DescriptorsShort, "file descriptors"),
        (Kind::ListenOverflowed, "the listen backlog"),
        (Kind::Throttled, "the CPU quota"),
        (Kind::LinkFull, "the link"),
    ];
    // Its counters are of the whole machine: without the run's own evidence it may be another server's.
    let is_ours = |kind: Kind| {
        kind != Kind::ListenOverflowed || pressure.iter().any(|told| is_listening(&told.kind, &told.metric))
    };
    let raised = |kind: Kind| cautions.iter().find(|c| c.code == kind.code() && is_ours(kind));
    let cause = CAUSES.iter().find_map(|(kind, what)| Some((raised(*kind)?, *what)));
    match (cause, pressure.first()) {
        (Some((caution, what)), _) => format!("; what gave out first: {what} ({})", caution.evidence),
        (None, Some(first)) => format!("; what gave out first: {} ({})", first.what, first.evidence),
        (None, None) => String::new(),
    }
}

fn pass(facts: &Facts, offered: Option<&Offered>, achieved: &Achieved, response: &Times) -> String {
    let what = match offered {
        None => rate_of(achieved.rate_per_s, "requests"),
        // An arrival starts a sequence: requests are not to be held against it.
        Some(offered) if facts.counts_iterations() => format!(
            "offered {}, achieved {} and {}",
            rate_of(offered.rate_per_s, "arrivals"),
            rate_of(achieved.iterations_rate_per_s, "iterations"),
            rate_of(achieved.rate_per_s, "requests")
        ),
        Some(offered) => format!(
            "{} of {} offered requests/s",
            quantity(achieved.rate_per_s),
            quantity(offered.rate_per_s)
        ),
    };
    // The highest of the two that enough samples stand behind.
    let told = [0.99, 0.5]
        .into_iter()
        .find_map(|q| response.percentiles.iter().find(|p| p.q == q && p.enough_samples));
    let slow = match told {
        Some(p) => {
            let at_least = if p.at_least { ">= " } else { "" };
            format!(" with {} {at_least}{}", quantile_name(p.q), duration_ns(p.value_ns))
        }
        None => String::new(),
    };
    let errors = match facts.all.sum(SeriesSum::Failed) {
        0 => "no errors".into(),
        n => format!("{} of {}", counted(n, "error"), count(facts.finished())),
    };
    format!("PASS: {what}{slow} and {errors} over {}", chosen_ns(facts.measured_ns))
}

/// `errors 2.1 % (threshold errors == 0%)`, `errors 12 % from 3 s to 13 s (threshold errors < 5% over 10s)`
fn missed_text(judged: &Judged) -> String {
    let subject = &judged.what;
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
    let when = judged.window.map_or(String::new(), |window| {
        let [from, to] = [window.from_s, window.to_s].map(|s| chosen_ns((s * 1e9).round() as u64));
        format!(" from {from} to {to}")
    });
    format!("{subject} {at_least}{shown}{when} (threshold {})", judged.text)
}
