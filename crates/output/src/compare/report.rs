//! A comparison as a report: the sentence, every figure with its interval, what speaks against believing it, what a
//! gate makes of it, and how it was made.

use super::next::hints;
use super::{footing, gate_word, interval, long_word, maybe_change, overall, p_value, peaks, values, word};
use crate::document::{
    Block, Cell, Column, Document, Finding, Findings, Form, Heading, Hint, On, Role, VerdictParts,
};
use crate::document::{
    Section, Sentence, Spread, Table, Tile, Tone, Value, Verdict as VerdictLine, sentence,
};
use crate::format::{count, counted, ratio};
use crate::words;
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{
    Compared, Comparison, Moved, Overall, Scale, SideFacts, Verdict, cell_name, change,
};

/// The report of one comparison; `suffix` stands behind the ids of its charts.
pub(crate) fn report(c: &Comparison, gated: Option<&Gated>, suffix: &str) -> Document {
    let [a, b] = c.short_names();
    let mut head = vec![Block::Verdict(VerdictLine {
        tone: tone(c.verdict),
        word: overall(c.verdict).into(),
        sentence: c.sentence.clone(),
        form: Heading::Badge,
    })];
    head.extend(gated.map(|gated| Block::Badge(gate_tone(gated.result), gate_word(gated, c), String::new())));
    head.push(Block::Hints(next(c, gated)));
    head.push(Block::Tiles(vec![side("A", a, &c.a), side("B", b, &c.b)]));
    let charts = |stem: &str| vec![Block::Charts(vec![format!("{stem}{suffix}")])];
    let section = |id, title, blocks| Section::new(id, title, blocks).titled(On::HTML);
    Document {
        tone: gated.map_or(Tone::Doubt, |gated| gate_tone(gated.result)),
        name: Sentence::new(Role::Plain, b).soft(" against ", a),
        head,
        sections: vec![
            section("difference", "The difference", charts("delta")),
            section("figures", "Every figure", vec![figures(c)]),
            section("spectra", "Times of both sides", charts("spectra")),
            section("doubts", "What speaks against believing it", vec![doubts(c)]),
            section("gate", "The gate", gated.map(|gated| gate(c, gated)).unwrap_or_default()).on(On::HTML),
            section("requests", "Request by request", requests(c)).on(On::HTML),
            section("watched", "What was watched", watched(c)),
            section("method", "How it was made", vec![sentence(Role::Quiet, format!("{}.", footing(c)))]),
        ],
    }
}

/// Its verdict in a line.
pub(crate) fn line(c: &Comparison) -> VerdictParts {
    (tone(c.verdict), overall(c.verdict), c.sentence.clone())
}

/// What a verdict about B means to whoever wants to ship it.
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

pub(super) fn next(c: &Comparison, gated: Option<&Gated>) -> Vec<Hint> {
    let hint = |hint: crate::next::Hint| hint.into_block(None);
    hints(c, gated).into_iter().map(hint).collect()
}

/// The short name is what one looks for; the path of a file stands small below it.
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
    let table = Table::of("figures", format!("{b} against {a}{place}"), &c.figures)
        .column(Column::text("figure").brief(""), |row| {
            Cell::text(&row.figure).brief(row.figure.replace("_time ", " "))
        })
        .column(Column::number(a).narrow(SIDE), value(0, |row| row.a))
        .column(Column::number(b).narrow(SIDE), value(1, |row| row.b))
        .column(Column::number("change"), |row| {
            let cell = Cell::number(maybe_change(row, row.difference), row.difference);
            cell.toned(tone_of(c, row)).bold(is_told(row))
        })
        .column(Column::right(format!("{} interval", ratio(c.confidence))).optional(), |row| {
            Cell::text(interval(row))
        })
        .column(Column::number("p (Holm)").on(On::FULL), |row| {
            Cell::number(p_value(row.p_adjusted), row.p_adjusted)
        })
        .column(Column::picture("", NARROWEST, WIDEST), spread)
        .column(Column::text("verdict"), |row| {
            Cell::status(tone_of(c, row), long_word(row)).brief(word(row.verdict)).bold(is_told(row))
        });
    Block::Table(table.done())
}

/// Of the name of a side: the sentence has it whole.
const SIDE: usize = 12;
/// Narrower pictures show nothing, wider ones no more.
const NARROWEST: usize = 11;
const WIDEST: usize = 41;
/// Changes beyond this are cut at the edge, or one wild p99 would squeeze all the others into one cell.
const FURTHEST: f64 = 0.5;

/// What the edges of all pictures stand for: the furthest end of an interval, within limits.
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
    // Of runs that cannot be compared nothing is good or bad.
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
        ..Finding::new(Tone::from(doubt.severity), words::weight(doubt.severity), &doubt.sentence)
    };
    Block::Findings(Findings { form: Form::Line, all: c.doubts.iter().map(finding).collect() })
}

/// Every rule with the numbers that decided it.
pub(super) fn gate(c: &Comparison, gated: &Gated) -> Vec<Block> {
    let all = gated.rules.iter().map(|rule| {
        let (tone, word) = match rule.result {
            Passage::Pass => (Tone::Pass, "holds"),
            Passage::NotCompared => (Tone::Doubt, "not compared"),
            Passage::Inconclusive => (Tone::Doubt, "cannot tell"),
            Passage::Fail => (Tone::Fail, "broken"),
        };
        let (code, evidence) = (rule.text.clone(), vec![rule.evidence.clone()]);
        Finding { code, evidence, ..Finding::new(tone, word, "") }
    });
    let said = Block::Badge(gate_tone(gated.result), gate_word(gated, c), String::new());
    vec![said, Block::Findings(Findings { form: Form::Line, all: all.collect() })]
}

/// Beyond these are requests that hardly moved.
const REQUESTS: usize = 50;

fn requests(c: &Comparison) -> Vec<Block> {
    if c.requests.is_empty() {
        return Vec::new();
    }
    let [a, b] = c.short_names();
    let change_of =
        |row: &Moved| Cell::number(change(row.difference(), Scale::Ratio), Some(row.difference()));
    let table = Table::of("requests", "Mean response times by request", c.requests.iter().take(REQUESTS))
        .column(Column::text("request"), |row| Cell::text(&row.name))
        .column(Column::number(a), |row| Value::Nanoseconds(row.a_mean_ns).into())
        .column(Column::number(b), |row| Value::Nanoseconds(row.b_mean_ns).into())
        .column(Column::number("change"), change_of)
        .column(Column::number("samples A"), |row| Cell::count(row.a_samples))
        .column(Column::number("samples B"), |row| Cell::count(row.b_samples));
    let lead = "Mean response times, the request that moved furthest first; those with fewer than 100 samples on a \
                side are left out. They have no interval: they say where to look.";
    let mut blocks = vec![sentence(Role::Lead, lead), Block::Table(table.done())];
    let left = c.requests.len().saturating_sub(REQUESTS) as u64;
    if left > 0 {
        blocks.push(sentence(Role::Soft, format!("and {} that moved less", counted(left, "request"))));
    }
    blocks
}

/// No change and no verdict, because a peak has no interval.
fn watched(c: &Comparison) -> Vec<Block> {
    if c.peaks.is_empty() {
        return Vec::new();
    }
    let [a, b] = c.short_names();
    let table = Table::of("watched", "Peaks of what was watched", &c.peaks)
        .column(Column::text("peak of"), |row| Cell::text(&row.metric))
        .column(Column::number(a).narrow(SIDE), |row| Cell::number(&peaks(row)[0], row.a))
        .column(Column::number(b).narrow(SIDE), |row| Cell::number(&peaks(row)[1], row.b));
    let lead = "A peak is one second of one run: it has no interval, so nothing is said of the difference.";
    vec![sentence(Role::Lead, lead).only(On::HTML), Block::Table(table.done())]
}

/// `2 SLOWER, 1 NO DIFFERENCE`, in the order in which they first come.
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
