//! The report of a search: the verdict, the results, the load curve, every step, and cautions.

use super::{errors, facts, hides, level, outcome, printable, purpose, value, verdict, with_bounds};
use crate::document::{Block, Cell, Column, Fact, Finding, Findings, Form, Heading, On, Role, Section};
use crate::document::{Table, Tone, Value, Verdict, sentence};
use crate::experiment::RunFile;
use crate::format::{chosen_s, count, counted, duration_ns, ratio};
use crate::words;
use plimsoll_experiment::search::{Answer, Point, Raised, Reading, Standing, StepRow};
use plimsoll_plan::experiment::Purpose;

/// The result of one of several searches.
pub(crate) struct NamedAnswer<'a> {
    /// The name of its settings; empty if it is the only one.
    pub name: String,
    pub answer: &'a Answer,
    /// The run files in order.
    pub files: Vec<&'a RunFile>,
}

/// A terminal of at least this width shows intervals in the table.
const WIDE: usize = 100;

/// The sentence, for a report that does not start with a verdict.
pub(crate) fn describe_answer(answer: &Answer) -> Block {
    let tone = if answer.capacity.is_some() { Tone::Note } else { Tone::Doubt };
    let (word, form) = (String::new(), Heading::Answer);
    Block::Verdict(Verdict { tone, word, sentence: answer.sentence.clone(), form })
}

/// The results of a search.
pub(crate) fn describe_steps(answer: &Answer) -> Vec<Block> {
    let mut lines: Vec<Fact> =
        facts(answer).into_iter().map(|(label, fact)| Fact::new(label, fact)).collect();
    let more = |label, text| Fact { on: On::HTML, ..Fact::new(label, text) };
    if answer.refusal.is_none() {
        lines.push(more("ended", ended(answer)));
    }
    lines.extend(confirmation(answer).map(|text| more("confirmed", text)));
    vec![Block::Facts(lines)]
}

/// The cautions of the runs near the capacity.
pub(crate) fn cautions(all: &[NamedAnswer]) -> Section {
    let found = all.iter().flat_map(|one| {
        let deciding = one.answer.deciding_runs.iter();
        deciding
            .flat_map(|deciding| deciding.cautions.iter().map(|raised| caution(one, raised, deciding.runs)))
    });
    let blocks = vec![Block::Findings(Findings { form: Form::Doubt, all: found.collect() })];
    Section::new("cautions", "Cautions", blocks).indented().on(On::TEXT)
}

fn caution(of: &NamedAnswer, raised: &Raised, runs: usize) -> Finding {
    let place = if of.name.is_empty() { String::new() } else { format!("{}: ", of.name) };
    let share = format!("{place}{} of {} near the capacity", raised.runs, counted(runs as u64, "run"));
    let evidence = match raised.evidence.is_empty() {
        true => share,
        false => format!("{share}, first: {}", raised.evidence),
    };
    Finding {
        code: raised.kind.code().into(),
        evidence: vec![evidence],
        advice: raised.kind.advice().into(),
        ..Finding::new(Tone::from(raised.severity), words::weight(raised.severity), &raised.title)
    }
}

/// Why the search ended.
fn ended(answer: &Answer) -> String {
    match &answer.capacity {
        Some(found) if found.is_lower_bound => "the highest allowed level was met".into(),
        Some(_) => format!("at the requested precision (±{})", ratio(answer.precision_ratio)),
        None => "without a capacity".into(),
    }
}

/// The results of the repeats below, at, and above the capacity, level by level.
fn confirmation(answer: &Answer) -> Option<String> {
    let mut levels: Vec<(f64, u64, u64)> = Vec::new();
    for step in answer.steps.iter().filter(|s| s.purpose == Purpose::Confirm && s.limited_by.is_none()) {
        let met = u64::from(step.is_met);
        match levels.iter_mut().find(|(level, ..)| *level == step.level) {
            Some((_, all, good)) => (*all, *good) = (*all + 1, *good + met),
            None => levels.push((step.level, 1, met)),
        }
    }
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let say = |(at, all, met): &(f64, u64, u64)| {
        format!("{}: {} of {} met", level(*at, answer.is_users), count(*met), count(*all))
    };
    (!levels.is_empty()).then(|| levels.iter().map(say).collect::<Vec<_>>().join("; "))
}

/// The load curve: levels in rising order, with repeats pooled.
pub(crate) fn curves(all: &[NamedAnswer]) -> Section {
    let tables = (1..).zip(all).map(|(number, one)| curve(one, format!("curve-{number}")));
    let mut blocks: Vec<Block> = tables.collect();
    if all.iter().any(|one| hides(one.answer)) {
        blocks.push(sentence(Role::Soft, words::DASH).only(On::TEXT));
    }
    Section::new("curve", "Load curve", blocks).indented()
}

fn captioned(title: &str, of: &str) -> String {
    if of.is_empty() { title.to_owned() } else { format!("{title}: {of}") }
}

fn unit(answer: &Answer) -> &'static str {
    if answer.is_users { "users" } else { "offered" }
}

fn curve(told: &NamedAnswer, id: String) -> Block {
    let answer = told.answer;
    let times = || answer.curve.iter().filter_map(|p| printable(p.p99)).map(|r| r.value_ns);
    let (least, most) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let time = |of: fn(&Point) -> Option<Reading>, show: fn(Option<Reading>) -> String| {
        move |p: &Point| Cell::number(show(of(p)), raw(of(p)))
    };
    let bar = |p: &Point| {
        // Times in an overload are a hundred times longer: only a logarithmic scale shows both.
        let share = printable(p.p99).map_or(0.0, |r| log_share(r.value_ns, least, most));
        Cell::from(Value::Bar(share)).toned(tone(p))
    };
    let narrow = |head: &str| Column::number(head).on(On::TERMINAL).windows(0..WIDE);
    let wide = |head: &str| Column::number(head).windows(WIDE..usize::MAX);
    let table = Table::of(id, captioned("Load curve", &told.name), &answer.curve)
        .column(Column::number(unit(answer)).role(Role::Strong), |p| {
            Cell::number(level(p.level, answer.is_users), Some(p.level))
        })
        .column(Column::number("achieved"), |p| {
            Cell::number(level(p.achieved_rate_per_s, false), Some(p.achieved_rate_per_s))
        })
        .column(narrow("p50"), time(|p| p.p50, value))
        .column(wide("p50 (95% CI)"), time(|p| p.p50, with_bounds))
        .column(narrow("p99"), time(|p| p.p99, value))
        .column(wide("p99 (95% CI)"), time(|p| p.p99, with_bounds))
        .column(Column::number("errors"), |p| Cell::number(errors(p.error_ratio), Some(p.error_ratio)))
        .column(Column::number("runs").on(On::FULL), |p| Cell::count(p.runs))
        .column(Column::text("thresholds"), |p| Cell::status(tone(p), verdict(p)))
        .column(Column::picture(format!("p99, log to {}", duration_ns(most)), 6, 24), bar);
    Block::Table(table.done())
}

/// The share of a bar: half of the smallest value is empty, the largest is full.
fn log_share(ns: u64, least: u64, most: u64) -> f64 {
    let (ns, least, most) = (ns.max(1) as f64, (least.max(1) as f64) / 2.0, most.max(1) as f64);
    (ns / least).ln() / (most / least).ln()
}

fn raw(reading: Option<Reading>) -> Option<f64> {
    printable(reading).map(|reading| reading.value_ns as f64)
}

fn tone(point: &Point) -> Tone {
    match (point.met_runs, point.undecided_runs, point.runs) {
        (met, _, runs) if met == runs => Tone::Pass,
        (0, 0, _) => Tone::Fail,
        _ => Tone::Doubt,
    }
}

pub(super) fn tone_of(step: &StepRow) -> Tone {
    match (&step.limited_by, step.standing) {
        (Some(_), _) | (None, Standing::Undecided) => Tone::Doubt,
        (None, Standing::Met) => Tone::Pass,
        (None, Standing::Missed) => Tone::Fail,
    }
}

/// Every run of the search, in order.
pub(crate) fn steps(all: &[NamedAnswer]) -> Section {
    let tables = (1..).zip(all).map(|(number, one)| rows(one, format!("steps-{number}")));
    Section::new("steps", "Search steps", tables.collect()).on(On::FULL)
}

fn rows(told: &NamedAnswer, id: String) -> Block {
    let answer = told.answer;
    // Files and steps are both in the order of the runs.
    let is_whole = told.files.len() == answer.steps.len();
    let file = |step: &StepRow| {
        let at = answer.steps.iter().position(|one| one.run_index == step.run_index);
        let file = at.filter(|_| is_whole).and_then(|at| told.files.get(at));
        file.map_or_else(|| Cell::text(""), |file| file.cell())
    };
    let at = |step: &StepRow| {
        let users = answer.is_users || step.purpose == Purpose::Baseline;
        Cell::number(level(step.level, users), Some(step.level))
    };
    let table = Table::of(id, captioned("Search steps", &told.name), &answer.steps)
        .column(Column::number("run"), |step| Cell::count(step.run_index + 1))
        .column(Column::text("purpose"), |step| Cell::text(purpose(step.purpose)))
        .column(Column::number("length").on(On::HTML), |step| {
            Cell::number(chosen_s(step.length_s), Some(step.length_s))
        })
        .column(Column::number(unit(answer)), at)
        .column(Column::number("achieved"), |step| {
            Cell::number(level(step.achieved_rate_per_s, false), Some(step.achieved_rate_per_s))
        })
        .column(Column::number("p50"), |step| Cell::number(value(step.p50), raw(step.p50)))
        .column(Column::number("p99"), |step| Cell::number(value(step.p99), raw(step.p99)))
        .column(Column::number("errors"), |step| {
            Cell::number(errors(step.error_ratio), Some(step.error_ratio))
        })
        .column(Column::text("result"), |step| Cell::status(tone_of(step), outcome(step)))
        .column(Column::text("cautions"), |step| Cell::text(super::codes(&step.cautions)))
        .column(Column::text("file").on(On::HTML), file);
    Block::Table(table.done())
}
