//! The answer on a terminal: sentence, facts, curve with bars, and one line a run while the search is on.

use super::next::hints;
use super::{cautions, errors, facts, hides, level, outcome, purpose, shown, value, verdict, with_bounds};
use crate::format::{chosen_s, duration_ns};
use crate::line::{Line, wrap, write_all};
use crate::style::{Ink, Look};
use crate::terminal::chart::bar;
use crate::terminal::table::{Align, Table};
use plimsoll_analysis::summary::Weight;
use plimsoll_experiment::search::{Answer, Point, Standing, StepRow};
use plimsoll_plan::experiment::Purpose;

/// Columns of a bar, at most; narrower windows have shorter ones, and none below the least.
const BAR: usize = 24;
const LEAST_BAR: usize = 6;
/// From this width on the intervals stand in the table too.
const WIDE: usize = 100;
const LABEL: usize = 14;

/// The answer as a whole, ended by a line feed.
pub fn terminal(answer: &Answer, look: &Look) -> String {
    let columns = look.columns();
    let ink = if answer.capacity.is_some() { Ink::Strong } else { Ink::Warn };
    let mut lines: Vec<Line> =
        wrap(&answer.sentence, columns).iter().map(|part| Line::of(ink, part)).collect();
    let mut last = "";
    for hint in hints(answer) {
        let name = if hint.is_next { "next" } else { "why" };
        for part in wrap(&hint.text, columns - LABEL) {
            let label = if last == name { "" } else { name };
            lines.push(Line::of(Ink::Accent, label).pad(LABEL).text(&part));
            last = name;
        }
    }
    lines.push(Line::new());
    for (label, fact) in facts(answer) {
        for (at, part) in wrap(&fact, columns - LABEL).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            lines.push(Line::of(Ink::Dim, label).pad(LABEL).text(part));
        }
    }
    for (weight, text) in cautions(answer) {
        let (sign, ink) = match weight {
            Weight::Inconclusive => (look.signs().bad, Ink::Bad),
            Weight::Warning => (look.signs().warn, Ink::Warn),
            Weight::Note => (look.signs().note, Ink::Dim),
        };
        for (at, part) in wrap(&text, columns - LABEL - 2).iter().enumerate() {
            let front =
                if at == 0 { Line::new().pad(LABEL).ink(ink, sign) } else { Line::new().pad(LABEL + 2) };
            lines.push(front.text(part));
        }
    }
    if !answer.curve.is_empty() {
        lines.push(Line::new());
        lines.extend(curve(answer, columns, look));
    }
    if hides(answer) {
        lines.extend(wrap(crate::words::DASH, columns).iter().map(|part| Line::of(Ink::Dim, part)));
    }
    write_all(&lines, look)
}

fn curve(answer: &Answer, columns: usize, look: &Look) -> Vec<Line> {
    let wide = columns >= WIDE;
    let mut aligns = vec![Align::Right; 5];
    aligns.push(Align::Left);
    let mut table = Table::new(&aligns);
    let dim = |text: &str| Line::of(Ink::Dim, text);
    let unit = if answer.users { "users" } else { "offered" };
    let times = if wide { ["p50 (95 %)", "p99 (95 %)"] } else { ["p50", "p99"] };
    table.row(vec![
        dim(unit),
        dim("achieved"),
        dim(times[0]),
        dim(times[1]),
        dim("errors"),
        dim("thresholds"),
    ]);
    for point in &answer.curve {
        let show = if wide { with_bounds } else { value };
        table.row(vec![
            Line::of(Ink::Strong, &level(point.level, answer.users)),
            Line::new().text(&level(point.achieved_rate_per_s, false)),
            Line::new().text(&show(point.p50)),
            Line::new().text(&show(point.p99)),
            Line::new().text(&errors(point.error_ratio)),
            Line::of(ink_of(point), &verdict(point)),
        ]);
    }
    let lines = table.lines(columns, look);
    let widest = lines.iter().map(Line::width).max().unwrap_or(0);
    let room = columns.saturating_sub(widest + 2).min(BAR);
    if room < LEAST_BAR {
        return lines;
    }
    let top = answer.curve.iter().filter_map(|p| shown(p.p99)).map(|r| r.value_ns).max().unwrap_or(0);
    let head = format!("p99, full: {}", duration_ns(top));
    let bars =
        std::iter::once(Line::of(Ink::Dim, &head).cut(room, look)).chain(answer.curve.iter().map(|point| {
            // Times of an overload are a hundred times those below: only a logarithm shows both.
            let share = shown(point.p99).map_or(0.0, |r| log_share(r.value_ns, lowest(answer), top));
            bar(share, room, ink_of(point), look)
        }));
    lines.into_iter().zip(bars).map(|(line, bar)| line.pad(widest + 2).line(bar)).collect()
}

fn lowest(answer: &Answer) -> u64 {
    answer.curve.iter().filter_map(|p| shown(p.p99)).map(|r| r.value_ns).min().unwrap_or(0)
}

/// Half of the smallest is an empty bar, the largest a full one.
fn log_share(ns: u64, least: u64, most: u64) -> f64 {
    let (ns, least, most) = (ns.max(1) as f64, (least.max(1) as f64) / 2.0, most.max(1) as f64);
    (ns / least).ln() / (most / least).ln()
}

fn ink_of(point: &Point) -> Ink {
    match (point.met, point.undecided, point.runs) {
        (met, _, runs) if met == runs => Ink::Good,
        (0, 0, _) => Ink::Bad,
        _ => Ink::Warn,
    }
}

/// One line for a run that has just ended, without a line feed: what was tried, what came of it.
pub fn step_line(step: &StepRow, users: bool, look: &Look) -> String {
    let signs = look.signs();
    let (sign, ink) = match (&step.limited_by, step.standing) {
        (Some(_), _) | (None, Standing::Undecided) => (signs.warn, Ink::Warn),
        (None, Standing::Met) => (signs.ok, Ink::Good),
        (None, Standing::Missed) => (signs.bad, Ink::Bad),
    };
    let floor = step.purpose == Purpose::Floor;
    let unit = if users && !floor { " users" } else { "" };
    let what = if floor { "1 user".into() } else { format!("{}{unit}", level(step.level, users)) };
    // What matters most stands in front: a narrow window cuts the rest.
    let facts = [
        outcome(step),
        format!("p99 {}", value(step.p99)),
        format!("errors {}", errors(step.error_ratio)),
        format!("achieved {}", level(step.achieved_rate_per_s, false)),
        format!("p50 {}", value(step.p50)),
    ];
    let line = Line::of(Ink::Dim, &format!("{:>3} ", step.turn + 1))
        .ink(ink, sign)
        .text(" ")
        .line(Line::of(Ink::Strong, &what).pad(12))
        .line(Line::of(Ink::Dim, &format!("{} {}", purpose(step.purpose), chosen_s(step.length_s))).pad(14))
        .text(&facts.join(signs.between));
    let mut out = String::new();
    line.cut(look.columns(), look).write(look, &mut out);
    out
}
