//! What a search found: the answer, the curve, the steps.
//!
//! The sentence comes first and is the answer's own; the curve shows how sure it is, the steps how it was found.
//! JSON is the answer itself, and `next`.

mod csv;
mod next;
mod progress;
mod report;

pub use csv::{COLUMNS, csv};
pub use progress::step_line;
pub(crate) use report::{NamedAnswer, curves, describe_answer, describe_steps, next, steps};

use crate::document::{self, Document, On, Role, Section, Sentence, Tone};
use crate::format::{NONE, count, duration_ns, rate_per_s, ratio};
use crate::next::NextRows;
use crate::style::Look;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::summary::Severity;
use plimsoll_experiment::search::next::{Reason, Step};
use plimsoll_experiment::search::{
    Answer, Deciding, IntervalKind, Point, Raised, Reading, RefusalKind, Shape, Standing, StepRow,
};
use plimsoll_plan::experiment::Purpose;
use serde::Serialize;

/// The answer as a whole, ended by a line feed.
pub fn terminal(answer: &Answer, look: &Look) -> String {
    document::terminal(&report(answer), look)
}

/// The sentence, the facts, the curve and the steps, as CommonMark with tables.
pub fn markdown(answer: &Answer) -> String {
    document::markdown(&report(answer))
}

fn report(answer: &Answer) -> Document {
    let all = [NamedAnswer { name: String::new(), answer, files: Vec::new() }];
    Document {
        tone: Tone::Note,
        name: Sentence::new(Role::Plain, ""),
        head: vec![describe_answer(answer), next(answer)],
        sections: vec![
            Section::new("search", "The search", describe_steps(answer)).titled(On::HTML),
            curves(&all),
            steps(&all),
        ],
    }
}

/// The answer as one JSON document, and under `next` why it is so and what to do; a line break at the end.
///
/// # Errors
/// When it holds something that JSON cannot express.
pub fn json(answer: &Answer) -> Result<String, crate::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(flatten)]
        answer: &'a Answer,
        next: NextRows<Reason<'a>, Step<'a>>,
    }
    crate::json::document(&Document { answer, next: next::rows(answer) })
}

/// A level in the unit of the search: `1,200/s`, `40`.
pub(crate) fn level(value: f64, users: bool) -> String {
    if users { count(value.max(0.0).round() as u64) } else { rate_per_s(value) }
}

fn value(reading: Option<Reading>) -> String {
    reading.map_or_else(|| NONE.into(), |r| crate::format::quantile(r.quantile()))
}

/// What may be told of it.
fn printable(reading: Option<Reading>) -> Option<Reading> {
    reading.filter(|r| r.quantile().value_ns().is_some())
}

/// Whether a percentile of the answer is hidden because it has too few samples.
fn hides(answer: &Answer) -> bool {
    let points = answer.curve.iter().flat_map(|point| [point.p50, point.p99]);
    let steps = answer.steps.iter().flat_map(|step| [step.p50, step.p99]);
    points.chain(steps).flatten().any(|reading| !reading.has_enough_samples)
}

fn with_bounds(reading: Option<Reading>) -> String {
    printable(reading)
        .map_or_else(|| NONE.into(), |r| crate::format::interval(r.value_ns, r.low_ns, r.high_ns))
}

fn errors(share: f64) -> String {
    if share == 0.0 { "0".into() } else { ratio(share) }
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Baseline => "one user",
        Purpose::Bracket => "enclose",
        Purpose::Bisect => "halve",
        Purpose::Confirm => "confirm",
        Purpose::Ladder => "ladder",
    }
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Gradual => "times climb gradually with the load",
        Shape::Jump => "times or errors jump between two levels, and what lies between was not run",
        Shape::Cliff => "times or errors jump within a few per cent of load",
        Shape::Retrograde => "more load gets fewer answers",
        Shape::Flat => "nothing changes up to the highest level",
        Shape::Unknown => "too few levels to tell the shape",
    }
}

/// `met`, `missed`, `undecided`, `3 of 4 met, 1 undecided`.
fn verdict(point: &Point) -> String {
    match (point.met_runs, point.undecided_runs, point.runs) {
        (met, _, runs) if met == runs => "met".into(),
        (_, undecided, runs) if undecided == runs => "undecided".into(),
        (0, 0, _) => "missed".into(),
        (met, 0, runs) => format!("{met} of {runs} met"),
        (met, undecided, runs) => format!("{met} of {runs} met, {undecided} undecided"),
    }
}

/// What a step amounts to, in a word or two.
fn outcome(step: &StepRow) -> String {
    match &step.limited_by {
        Some(by) => format!("held back: {}", by.title),
        None => match step.standing {
            Standing::Met => "met".into(),
            Standing::Undecided => "undecided".into(),
            Standing::Missed if step.is_unstable => "missed, backlog grows".into(),
            Standing::Missed => "missed".into(),
        },
    }
}

/// What the load generator says of itself in the runs that decided; of them the worst.
fn generator(deciding: &Deciding) -> String {
    let worst = &deciding.generator;
    let mut parts = Vec::new();
    if let Some(late) = worst.schedule_lag_p99_ns {
        parts.push(format!("sends late by {} (p99)", duration_ns(late)));
    }
    parts.push(format!("workers busy {}", ratio(worst.busy_ratio)));
    parts.push(format!("waiting for CPU {}", ratio(worst.cpu_wait_ratio)));
    if worst.stalled_ns > 0 {
        parts.push(format!("stalled for {}", duration_ns(worst.stalled_ns)));
    }
    parts.push(crate::format::counted(worst.retransmits, "retransmit"));
    let runs = crate::format::counted(deciding.runs as u64, "run");
    format!("{}; worst of the {runs} near the answer", parts.join(", "))
}

/// Cautions by their codes: `late_sends, steal`.
pub(crate) fn codes(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.code()).collect::<Vec<_>>().join(", ")
}

/// The cautions of the runs that decided, one sentence each: `requests were sent late (3 of 9 runs, first: ...)`.
fn cautions(answer: &Answer) -> Vec<(Severity, String)> {
    let Some(deciding) = &answer.deciding_runs else { return Vec::new() };
    let runs = crate::format::counted(deciding.runs as u64, "run");
    let describe = |one: &Raised| {
        let evidence =
            if one.evidence.is_empty() { String::new() } else { format!(", first: {}", one.evidence) };
        (one.severity, format!("{} ({} of {runs}{evidence}; `{}`)", one.title, one.runs, one.kind.code()))
    };
    deciding.cautions.iter().map(describe).collect()
}

/// The facts below the sentence, each with its label.
fn facts(answer: &Answer) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(refusal) = &answer.refusal {
        let label = if refusal.kind == RefusalKind::MaxTimeReached { "stopped" } else { "refused" };
        facts.push((label, format!("{} ({})", refusal.sentence, refusal.kind.code())));
    }
    if let Some(capacity) = &answer.capacity {
        let [low, high] = capacity.interval.map(|bound| level(bound, answer.is_users));
        let (what, kind) = match (capacity.is_lower_bound, answer.style) {
            (true, _) => ("at least", String::new()),
            _ if capacity.interval_kind == IntervalKind::Bracket => {
                ("last met", format!(", first missed {high}"))
            }
            _ => ("capacity", format!(", 95% interval {low} to {high}")),
        };
        facts.push((what, format!("{}{kind}", level(capacity.level(), answer.is_users))));
        facts.push(("from", capacity.basis.clone()));
        if let Some(by) = &capacity.limiting_threshold {
            facts.push(("first missed", by.clone()));
        }
    }
    if let Some(resource) = &answer.bottleneck {
        facts.push(("ran out", resource.to_string()));
    }
    if let Some(deciding) = &answer.deciding_runs {
        facts.push(("generator", generator(deciding)));
    }
    facts.push(("shape", shape(answer.shape).into()));
    if let Some(knee) = &answer.knee {
        let p50 = duration_ns(knee.p50_ns);
        facts.push(("knee", format!("{}, p50 {p50} ({})", level(knee.level, answer.is_users), knee.method)));
    }
    if let Some(floor) = answer.unloaded_p50_ns {
        facts.push(("unloaded", format!("p50 {}", duration_ns(floor))));
    }
    if !answer.skipped_thresholds.is_empty() {
        facts.push(("not used", format!("{}: any low load misses it", answer.skipped_thresholds.join(", "))));
    }
    let spent = crate::format::chosen_s(answer.elapsed_s);
    facts.push(("took", format!("{} in {spent}", crate::format::counted(answer.steps.len() as u64, "run"))));
    facts
}
