//! The comparison on a terminal: the sentence, a line for each figure, the doubts.

use super::next::hints;
use super::picture::{NARROWEST, WIDEST, picture, reach};
use super::{footing, gate_word, interval, long_word, maybe_change, overall, peaks, values, word};
use crate::format::ratio;
use crate::line::{Line, wrap, write_all};
use crate::style::{Ink, Look};
use crate::terminal::table::{Align, Table};
use plimsoll_analysis::summary::Weight;
use plimsoll_experiment::compare::gate::{Gated, Passage};
use plimsoll_experiment::compare::{Compared, Comparison, Overall, Verdict, change};

/// Between columns of a table.
const GAP: usize = 2;

/// See the module.
pub fn terminal(c: &Comparison, look: &Look) -> String {
    let columns = look.columns();
    let mut lines = head(c, columns);
    lines.extend(why(c, columns));
    lines.push(Line::new());
    lines.extend(figures(c, columns, look));
    lines.extend(watched(c, columns, look));
    if !c.doubts.is_empty() {
        lines.push(Line::new());
    }
    for doubt in &c.doubts {
        let (sign, ink) = match doubt.weight {
            Weight::Inconclusive => (look.signs().bad, Ink::Bad),
            Weight::Warning => (look.signs().warn, Ink::Warn),
            Weight::Note => (look.signs().note, Ink::Dim),
        };
        for (at, part) in wrap(&doubt.sentence, columns - 2).iter().enumerate() {
            let front = if at == 0 { Line::of(ink, sign) } else { Line::new().text("  ") };
            lines.push(front.text(part));
        }
    }
    lines.push(Line::new());
    lines.extend(wrap(&footing(c), columns).iter().map(|part| Line::of(Ink::Dim, part)));
    write_all(&lines, look)
}

fn head(c: &Comparison, columns: usize) -> Vec<Line> {
    let ink = match c.verdict {
        Overall::Faster | Overall::FewerErrors | Overall::NoDifference => Ink::BadgeGood,
        Overall::Slower | Overall::MoreErrors => Ink::BadgeBad,
        Overall::Mixed | Overall::CannotTell => Ink::BadgeWarn,
    };
    let mut lines = vec![Line::of(ink, &format!(" {} ", overall(c.verdict)))];
    lines.extend(wrap(&c.sentence, columns).iter().map(|part| Line::of(Ink::Strong, part)));
    lines
}

/// Reasons and steps; the first of each kind names it.
fn why(c: &Comparison, columns: usize) -> Vec<Line> {
    const LABEL: usize = 6;
    let mut lines = Vec::new();
    let mut last = "";
    for hint in hints(c, None) {
        let name = if hint.is_next { "next" } else { "why" };
        for part in wrap(&hint.text, columns.saturating_sub(LABEL)) {
            let label = if last == name { "" } else { name };
            lines.push(Line::of(Ink::Accent, label).pad(LABEL).text(&part));
            last = name;
        }
    }
    lines
}

fn figures(c: &Comparison, columns: usize, look: &Look) -> Vec<Line> {
    if c.figures.is_empty() {
        return Vec::new();
    }
    let cells = |head: &str, of: &dyn Fn(&Compared) -> Line| -> Vec<Line> {
        std::iter::once(Line::of(Ink::Dim, head)).chain(c.figures.iter().map(of)).collect()
    };
    let text = |text: String| Line::new().text(&text);
    // Names of sides may be long; the sentence has them whole.
    let short = |name: &str| Line::of(Ink::Dim, name).cut(12, look);
    let with = |head: Line, mut column: Vec<Line>| {
        column[0] = head;
        column
    };
    let names = |short: bool| {
        cells("", &|row| text(if short { row.figure.replace("_time ", " ") } else { row.figure.clone() }))
    };
    let a = with(short(c.short_names()[0]), cells("", &|row| text(values(row)[0].clone())));
    let b = with(short(c.short_names()[1]), cells("", &|row| text(values(row)[1].clone())));
    let shift = cells("change", &|row| Line::of(ink(c, row.verdict), &maybe_change(row, row.difference)));
    let ends = cells(&format!("{} interval", ratio(c.confidence)), &|row| text(interval(row)));
    let brief = cells("verdict", &|row| Line::of(ink(c, row.verdict), word(row.verdict)));
    let long = cells("verdict", &|row| Line::of(ink(c, row.verdict), &long_word(row)));

    let width = |column: &[Line]| column.iter().map(Line::width).max().unwrap_or(0) + GAP;
    let fixed = width(&a) + width(&b) + width(&shift) + width(&brief);
    let name = names(fixed + width(&names(false)) - GAP > columns);
    let needed = width(&name) + fixed;
    let left = columns.saturating_sub(needed);
    // What goes in first: the picture, then the numbers of the interval, then what bounds a verdict.
    let more = width(&long) - width(&brief);
    let fits = |extra: usize| left >= extra + NARROWEST;
    let with_ends = fits(width(&ends));
    let taken = if with_ends { width(&ends) } else { 0 };
    let with_long = fits(taken + more);
    let room = left.saturating_sub(taken + if with_long { more } else { 0 }).min(WIDEST);
    let mut table: Vec<(Align, Vec<Line>)> =
        vec![(Align::Left, name), (Align::Right, a), (Align::Right, b), (Align::Right, shift)];
    if with_ends {
        table.push((Align::Right, ends));
    }
    if room >= NARROWEST {
        let reach = reach(c);
        let drawn = cells("", &|row| picture(row, reach, room, ink(c, row.verdict), look));
        let edge = change(reach, plimsoll_experiment::compare::Scale::Ratio);
        table.push((Align::Left, with(scale(&edge, room), drawn)));
    }
    table.push((Align::Left, if with_long { long } else { brief }));

    let mut out = Table::new(&table.iter().map(|(align, _)| *align).collect::<Vec<_>>());
    for row in 0..=c.figures.len() {
        out.row(table.iter().map(|(_, column)| column[row].clone()).collect());
    }
    out.lines(columns, look)
}

/// What was watched, below the figures: no change and no verdict, because a peak has no interval.
fn watched(c: &Comparison, columns: usize, look: &Look) -> Vec<Line> {
    if c.watched.is_empty() {
        return Vec::new();
    }
    let dim = |text: &str| Line::of(Ink::Dim, text);
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(vec![
        dim("watched"),
        dim(c.short_names()[0]).cut(12, look),
        dim(c.short_names()[1]).cut(12, look),
    ]);
    for row in &c.watched {
        let [a, b] = peaks(row);
        table.row(vec![Line::new().text(&row.what), Line::new().text(&a), Line::new().text(&b)]);
    }
    std::iter::once(Line::new()).chain(table.lines(columns, look)).collect()
}

/// What the edges of the pictures stand for, over the zero line: `-12 %    0    +12 %`.
fn scale(edge: &str, room: usize) -> Line {
    let half = room.saturating_sub(1) / 2;
    let right = edge.to_owned();
    let left = right.replacen('+', "-", 1);
    let gap = half.saturating_sub(left.chars().count());
    let text = format!("{left}{}0{}{right}", " ".repeat(gap), " ".repeat(gap));
    if gap == 0 {
        Line::of(Ink::Dim, &format!("{:>width$}", "0", width = half + 1))
    } else {
        Line::of(Ink::Dim, &text)
    }
}

/// Of runs that cannot be compared nothing is good or bad.
fn ink(c: &Comparison, verdict: Verdict) -> Ink {
    match verdict {
        _ if c.blocking().is_some() => Ink::Plain,
        _ if verdict.is_worse() => Ink::Bad,
        _ if verdict.is_better() => Ink::Good,
        Verdict::CannotTell => Ink::Warn,
        _ => Ink::Plain,
    }
}

/// What the gate says, rule by rule: those that hold only when somebody wrote them.
pub fn gated(c: &Comparison, gated: &Gated, look: &Look) -> String {
    let signs = look.signs();
    let mut lines = Vec::new();
    for rule in &gated.rules {
        let (sign, ink) = match rule.passage {
            Passage::Pass => (signs.ok, Ink::Good),
            Passage::Inconclusive => (signs.warn, Ink::Warn),
            Passage::NotCompared => (signs.note, Ink::Dim),
            Passage::Fail => (signs.bad, Ink::Bad),
        };
        let head = Line::of(ink, sign).text(" ").text(&rule.text);
        let room = look.columns().saturating_sub(4);
        lines.push(head.cut(look.columns(), look));
        lines.extend(wrap(&rule.evidence, room).iter().map(|text| Line::new().pad(4).ink(Ink::Dim, text)));
    }
    let ink = match gated.passage {
        Passage::Pass => Ink::Good,
        Passage::NotCompared | Passage::Inconclusive => Ink::Warn,
        Passage::Fail => Ink::Bad,
    };
    lines.insert(0, Line::of(ink, &gate_word(gated, c)));
    write_all(&lines, look)
}
