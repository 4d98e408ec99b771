//! The report of a comparison: verdict, gate, reasons, next steps, every metric with its interval, cautions, method.

use super::next::hints;
use super::{differences, gate_word, long_word, method, overall, p_value, peaks, runs, values, word};
use crate::document::{
    Block, Cell, Column, Document, Finding, Findings, Form, Heading, On, Role, Setting, VerdictParts,
};
use crate::document::{
    Section, Sentence, Spread, Table, Tile, Tone, Value, Verdict as VerdictLine, sentence,
};
use crate::format::{count, counted, ratio};
use crate::{next, words};
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{
    Compared, Comparison, Moved, Overall, Scale, SideFacts, Verdict, cell_name, change,
};

/// The report of one comparison; `suffix` follows the ids of its charts.
pub(crate) fn report(c: &Comparison, gated: Option<&Gated>, suffix: &str) -> Document {
    let [a, b] = c.short_names();
    let mut head = vec![Block::Verdict(VerdictLine {
        tone: tone(c.verdict),
        word: overall(c.verdict).into(),
        sentence: c.sentence.clone(),
        form: Heading::Badge,
    })];
    head.push(Block::Setting(setting(c)).only(On::TEXT));
    head.extend(gated.map(|gated| gate_badge(c, gated).only(On::HTML)));
    head.push(Block::Tiles(vec![side("A", a, &c.a), side("B", b, &c.b)]));
    let charts = |stem: &str| vec![Block::Charts(vec![format!("{stem}{suffix}")])];
    let section = |id, title, blocks| Section::new(id, title, blocks).indented();
    let mut gate = section("gate", "Gate", gated.map(|gated| rules(c, gated)).unwrap_or_default());
    gate.aside =
        gated.map(|gated| gate_word(gated, c).trim_start_matches("gate ").to_owned()).unwrap_or_default();
    let [why, steps] = next::sections(hints(c, gated));
    Document {
        tone: gated.map_or(Tone::Doubt, |gated| gate_tone(gated.result)),
        name: Sentence::new(Role::Plain, b).soft(" vs. ", a),
        head,
        sections: vec![
            gate,
            why,
            steps,
            section("difference", "Difference", charts("delta")),
            section("figures", "Results", vec![figures(c)]),
            section("spectra", "Latency distributions", charts("spectra")),
            section("requests", "Requests", requests(c)).on(On::HTML),
            section("watched", "System under test", watched(c)),
            section("doubts", "Cautions", vec![doubts(c)]),
            section("method", "Method", vec![sentence(Role::Quiet, method(c))]),
        ],
    }
}

/// What was compared, and how much of it.
fn setting(c: &Comparison) -> Setting {
    let [a, b] = c.short_names();
    let mut facts = vec![runs(c)];
    if !c.settings.is_empty() {
        facts.insert(0, cell_name(&c.settings));
    }
    let requests = [&c.b, &c.a].map(|side| count(side.requests)).join(" vs. ");
    facts.push(format!("{requests} requests"));
    Setting {
        name: format!("{b} vs. {a}"),
        target: String::new(),
        facts,
        details: Vec::new(),
        more: Vec::new(),
    }
}

/// The verdict in one line.
pub(crate) fn line(c: &Comparison) -> VerdictParts {
    (tone(c.verdict), overall(c.verdict), c.sentence.clone())
}

/// What the verdict means for a release of B.
pub(super) fn tone(verdict: Overall) -> Tone {
    match verdict {
        Overall::Faster | Overall::FewerErrors | Overall::Equivalent => Tone::Pass,
        Overall::Slower | Overall::MoreErrors => Tone::Fail,
        Overall::Mixed | Overall::Inconclusive => Tone::Doubt,
    }
}

pub(super) fn gate_tone(passage: Passage) -> Tone {
    match passage {
        Passage::Pass => Tone::Pass,
        Passage::NotCompared | Passage::Inconclusive => Tone::Doubt,
        Passage::Fail => Tone::Fail,
    }
}

pub(super) fn gate_badge(c: &Comparison, gated: &Gated) -> Block {
    Block::Badge(gate_tone(gated.result), gate_word(gated, c), String::new())
}

/// The short name, with the path of the file in small print.
fn side(label: &str, short: &str, side: &SideFacts) -> Tile {
    let (runs, requests) = (counted(side.runs as u64, "run"), counted(side.requests, "request"));
    let path = if short == side.name { "" } else { &side.name };
    Tile::new(label, Value::Text(short.into()))
        .with(format!("{runs}, {requests}, {}", side.target))
        .with(path)
}

fn figures(c: &Comparison) -> Block {
    let [a, b] = c.short_names();
    let place = if c.settings.is_empty() { String::new() } else { format!(" at {}", cell_name(&c.settings)) };
    let reach = reach(c);
    let is_told = |row: &Compared| row.verdict.is_worse() || row.verdict.is_better();
    let spread = |row: &Compared| {
        let ends = || Some([row.difference?, row.low?, row.high?]);
        let ends = if row.scale == Scale::Ratio { ends() } else { None };
        Cell::from(Value::Spread(Spread { reach, edge: change(reach, Scale::Ratio), ends }))
            .toned(tone_of(c, row))
    };
    let value = |at: usize, raw: fn(&Compared) -> Option<f64>| {
        move |row: &Compared| Cell::number(&values(row)[at], raw(row).filter(|_| !row.has_too_few()))
    };
    let at = |position: usize| move |row: &Compared| differences(c, row)[position].clone();
    let (change_text, interval_text) = (at(0), at(1));
    let table = Table::of("figures", format!("{b} vs. {a}{place}"), &c.figures)
        .column(Column::text("metric").brief(""), |row| {
            Cell::text(&row.figure).brief(row.figure.replace("_time ", " "))
        })
        .column(Column::number(a).narrow(SIDE), value(0, |row| row.a))
        .column(Column::number(b).narrow(SIDE), value(1, |row| row.b))
        .column(Column::number("change"), |row| {
            let cell = Cell::number(change_text(row), row.difference);
            cell.toned(tone_of(c, row)).bold(is_told(row))
        })
        .column(Column::right(format!("{} CI", ratio(c.confidence))).optional(), |row| {
            Cell::text(interval_text(row))
        })
        .column(Column::number("p (Holm)").on(On::FULL), |row| {
            Cell::number(p_value(row.p_adjusted), row.p_adjusted)
        })
        .column(Column::picture("", NARROWEST, WIDEST), spread)
        .column(Column::text("verdict"), |row| {
            Cell::status(tone_of(c, row), long_word(c, row)).brief(word(row.verdict)).bold(is_told(row))
        });
    Block::Table(table.done())
}

/// Columns for the name of a side: the sentence has the full name.
const SIDE: usize = 12;
/// Narrower pictures show nothing, wider ones nothing more.
const NARROWEST: usize = 11;
const WIDEST: usize = 41;
/// Larger changes are cut off at the edge; otherwise one extreme p99 would squeeze all others into one cell.
const FURTHEST: f64 = 0.5;

/// Returns the value at the edges of all pictures: the farthest end of an interval, within limits.
fn reach(c: &Comparison) -> f64 {
    let ratios = c.figures.iter().filter(|row| row.scale == Scale::Ratio);
    let ends = ratios.flat_map(|row| [row.low, row.high]).flatten().map(f64::abs).filter(|x| x.is_finite());
    let least = if c.min_difference_ratio.is_finite() && c.min_difference_ratio > 0.0 {
        1.2 * c.min_difference_ratio
    } else {
        0.01
    };
    ends.fold(least, f64::max).min(FURTHEST.max(least))
}

fn tone_of(c: &Comparison, row: &Compared) -> Tone {
    // If the runs cannot be compared, nothing is good or bad.
    if c.blocking().is_some() {
        return Tone::Doubt;
    }
    match row.verdict {
        Verdict::Faster | Verdict::Higher | Verdict::Fewer => Tone::Pass,
        Verdict::Slower | Verdict::Lower | Verdict::More => Tone::Fail,
        Verdict::Inconclusive => Tone::Doubt,
        Verdict::Equivalent => Tone::Note,
    }
}

fn doubts(c: &Comparison) -> Block {
    let finding = |doubt: &plimsoll_experiment::compare::Doubt| Finding {
        code: doubt.code.into(),
        evidence: vec![doubt.evidence.clone()],
        advice: doubt.action.into(),
        ..Finding::new(Tone::from(doubt.severity), words::weight(doubt.severity), doubt.title)
    };
    Block::Findings(Findings { form: Form::Doubt, all: c.doubts.iter().map(finding).collect() })
}

/// Every rule with the numbers that decided it.
fn rules(c: &Comparison, gated: &Gated) -> Vec<Block> {
    let all = gated.rules.iter().map(|rule| {
        let (tone, word) = match rule.result {
            Passage::Pass => (Tone::Pass, "passed"),
            Passage::NotCompared => (Tone::Doubt, "not compared"),
            Passage::Inconclusive => (Tone::Doubt, "inconclusive"),
            Passage::Fail => (Tone::Fail, "failed"),
        };
        let (code, evidence) = (rule.text.clone(), vec![rule.evidence.clone()]);
        Finding { code, evidence, ..Finding::new(tone, word, "") }
    });
    vec![
        gate_badge(c, gated).only(On::HTML),
        Block::Findings(Findings { form: Form::Line, all: all.collect() }),
    ]
}

/// Further requests hardly changed.
const REQUESTS: usize = 50;

fn requests(c: &Comparison) -> Vec<Block> {
    if c.requests.is_empty() {
        return Vec::new();
    }
    let [a, b] = c.short_names();
    let change_of =
        |row: &Moved| Cell::number(change(row.difference(), Scale::Ratio), Some(row.difference()));
    let table = Table::of("requests", "Mean response time by request", c.requests.iter().take(REQUESTS))
        .column(Column::text("request"), |row| Cell::text(&row.name))
        .column(Column::number(a), |row| Value::Nanoseconds(row.a_mean_ns).into())
        .column(Column::number(b), |row| Value::Nanoseconds(row.b_mean_ns).into())
        .column(Column::number("change"), change_of)
        .column(Column::number("samples A"), |row| Cell::count(row.a_samples))
        .column(Column::number("samples B"), |row| Cell::count(row.b_samples));
    let lead = "Mean response times, largest change first, without requests that have fewer than 100 samples on a \
                side. They have no intervals: use them to see where to look.";
    let mut blocks = vec![sentence(Role::Lead, lead), Block::Table(table.done())];
    let left = c.requests.len().saturating_sub(REQUESTS) as u64;
    if left > 0 {
        blocks.push(sentence(Role::Soft, format!("and {} with a smaller change", counted(left, "request"))));
    }
    blocks
}

/// Peaks of monitored metrics; a peak has no interval, so there is no change and no verdict.
fn watched(c: &Comparison) -> Vec<Block> {
    if c.peaks.is_empty() {
        return Vec::new();
    }
    let [a, b] = c.short_names();
    let table = Table::of("watched", "Peaks of monitored metrics", &c.peaks)
        .column(Column::text("peak"), |row| Cell::text(&row.metric))
        .column(Column::number(a).narrow(SIDE), |row| Cell::number(&peaks(row)[0], row.a))
        .column(Column::number(b).narrow(SIDE), |row| Cell::number(&peaks(row)[1], row.b));
    let lead = "A peak is one second of one run. It has no interval, so the difference is not judged.";
    vec![sentence(Role::Lead, lead).only(On::HTML), Block::Table(table.done())]
}

/// `2 SLOWER, 1 EQUIVALENT`, in order of first occurrence.
pub(super) fn tally(all: &[Comparison]) -> String {
    let mut of: Vec<(Overall, u64)> = Vec::new();
    for one in all {
        match of.iter_mut().find(|(verdict, _)| *verdict == one.verdict) {
            Some((_, n)) => *n += 1,
            None => of.push((one.verdict, 1)),
        }
    }
    let told: Vec<String> =
        of.iter().map(|(verdict, n)| format!("{} {}", count(*n), overall(*verdict))).collect();
    told.join(", ")
}
