//! The result of a search: the capacity, the load curve, and the steps of the search. JSON is the result itself, and
//! `next`.

mod csv;
mod next;
mod progress;
mod report;

pub use csv::{COLUMNS, csv};
pub(crate) use next::hints;
pub use progress::step_line;
pub(crate) use report::{NamedAnswer, cautions, curves, describe_answer, describe_steps, steps};

use crate::document::{self, Document, Role, Section, Sentence, Tone};
use crate::format::{NONE, count, duration_ns, rate_of, rate_per_s, ratio, rough_ns};
use crate::next::{self as hint, NextRows};
use crate::style::Look;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::summary::Bottleneck;
use plimsoll_experiment::search::next::{Reason, Step};
use plimsoll_experiment::search::{
    Answer, Capacity, Deciding, IntervalKind, Point, Reading, Shape, Standing, StepRow,
};
use plimsoll_plan::experiment::Purpose;
use serde::Serialize;

/// The report for a terminal.
pub fn terminal(answer: &Answer, look: &Look) -> String {
    document::terminal(&report(answer), look)
}

/// The report as CommonMark with tables.
pub fn markdown(answer: &Answer) -> String {
    document::markdown(&report(answer))
}

fn report(answer: &Answer) -> Document {
    let all = [NamedAnswer { name: String::new(), answer, files: Vec::new() }];
    let results = Section::new("search", "Results", describe_steps(answer)).indented();
    let [why, next] = hint::sections(hints(answer));
    Document {
        tone: Tone::Note,
        name: Sentence::new(Role::Plain, ""),
        head: vec![describe_answer(answer)],
        sections: vec![why, next, results, curves(&all), steps(&all), cautions(&all)],
    }
}

/// The result as one JSON document, with reasons and steps under `next`.
///
/// # Errors
/// Returns an error if it contains a value that JSON cannot express.
pub fn json(answer: &Answer) -> Result<String, crate::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(flatten)]
        answer: &'a Answer,
        next: NextRows<Reason<'a>, Step<'a>>,
    }
    crate::json::document(&Document { answer, next: next::rows(answer) })
}

/// A level in the unit of the search, for a table: `1,200/s`, `40`.
pub(crate) fn level(value: f64, users: bool) -> String {
    if users { count(value.max(0.0).round() as u64) } else { rate_per_s(value) }
}

fn value(reading: Option<Reading>) -> String {
    reading.map_or_else(|| NONE.into(), |r| crate::format::quantile(r.quantile()))
}

/// A percentile, if it has enough samples to be shown.
fn printable(reading: Option<Reading>) -> Option<Reading> {
    reading.filter(|r| r.quantile().value_ns().is_some())
}

/// Whether a percentile of the result is hidden for lack of samples.
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
    ratio(share)
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Baseline => "baseline",
        Purpose::Bracket => "bracket",
        Purpose::Bisect => "bisect",
        Purpose::Confirm => "confirm",
        Purpose::Ladder => "ladder",
    }
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Gradual => "latency rises gradually",
        Shape::Jump => "latency or errors jump between two tested levels",
        Shape::Cliff => "latency or errors jump within a few percent of load",
        Shape::Retrograde => "throughput falls as the load rises",
        Shape::Flat => "nothing changes up to the highest level",
        Shape::Unknown => "unknown: too few levels",
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

/// The result of a step in a few words.
fn outcome(step: &StepRow) -> String {
    match &step.limited_by {
        Some(by) => format!("excluded: {}", by.title),
        None => match step.standing {
            Standing::Met => "met".into(),
            Standing::Undecided => "undecided".into(),
            Standing::Missed if step.is_unstable => "missed, backlog grew".into(),
            Standing::Missed => "missed".into(),
        },
    }
}

/// Load generator health in the runs near the capacity, from the worst of them.
fn generator(deciding: &Deciding) -> String {
    let worst = &deciding.generator;
    let mut parts = Vec::new();
    if let Some(late) = worst.schedule_lag_p99_ns {
        parts.push(format!("schedule lag p99 {}", rough_ns(late)));
    }
    parts.push(format!("workers busy {}", ratio(worst.busy_ratio)));
    parts.push(format!("waiting for CPU {}", ratio(worst.cpu_wait_ratio)));
    if worst.stalled_ns > 0 {
        parts.push(format!("stalled for {}", duration_ns(worst.stalled_ns)));
    }
    parts.push(crate::format::counted(worst.retransmits, "retransmit"));
    let runs = crate::format::counted(deciding.runs as u64, "run");
    format!("{} (worst of {runs} near the capacity)", parts.join(", "))
}

/// The codes of cautions: `late_sends, cpu_steal`.
pub(crate) fn codes(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.code()).collect::<Vec<_>>().join(", ")
}

/// `9,480 arrivals/s (95% CI 9,390–9,560)`.
pub(crate) fn capacity(found: &Capacity, users: bool) -> String {
    let named = |at: f64| if users { format!("{} users", level(at, true)) } else { rate_of(at, "arrivals") };
    let bare = |at: f64| level(at, users).trim_end_matches("/s").to_owned();
    let [low, high] = found.interval.map(bare);
    match (found.is_lower_bound, found.interval_kind) {
        (true, _) => format!("≥ {}", named(found.level())),
        (_, IntervalKind::Bracket) => {
            format!("between {low} (met) and {} (missed)", named(found.interval[1]))
        }
        (_, IntervalKind::Confidence95) => format!("{} (95% CI {low}–{high})", named(found.level())),
    }
}

/// The results below the sentence, each with its label.
fn facts(answer: &Answer) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(found) = &answer.capacity {
        facts.push(("capacity", capacity(found, answer.is_users)));
        facts.push(("method", found.basis.clone()));
        if let Some(by) = &found.limiting_threshold {
            facts.push(("limited by", by.clone()));
        }
    }
    if let Some(refusal) = &answer.refusal {
        facts.push(("stopped", format!("{} ({})", refusal.sentence, refusal.kind.code())));
    }
    if let Some(resource) = &answer.bottleneck {
        facts.push(("bottleneck", bottleneck(resource)));
    }
    if let Some(knee) = &answer.knee {
        let p50 = duration_ns(knee.p50_ns);
        facts.push(("knee", format!("{}, p50 {p50} ({})", level(knee.level, answer.is_users), knee.method)));
    }
    if let Some(floor) = answer.unloaded_p50_ns {
        facts.push(("unloaded", format!("p50 {}", duration_ns(floor))));
    }
    if answer.capacity.is_some() {
        facts.push(("above capacity", shape(answer.shape).into()));
    }
    if !answer.skipped_thresholds.is_empty() {
        let skipped = answer.skipped_thresholds.join(", ");
        facts.push(("ignored", format!("{skipped} (any low load misses it)")));
    }
    if let Some(deciding) = &answer.deciding_runs {
        facts.push(("load generator", generator(deciding)));
    }
    let spent = crate::format::chosen_s(answer.elapsed_s);
    facts
        .push(("duration", format!("{spent}, {}", crate::format::counted(answer.steps.len() as u64, "run"))));
    facts
}

/// `api: cpu (...)`, or why it is unknown.
pub(crate) fn bottleneck(one: &Bottleneck) -> String {
    match one {
        Bottleneck::Saturated { .. } => one.to_string(),
        Bottleneck::NoneWatched => "unknown: no monitored resource was saturated".into(),
        Bottleneck::NotKnown => "unknown: the monitors have no data".into(),
    }
}
