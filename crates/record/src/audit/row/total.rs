//! A row `Total` among the rows of its table, or of the summary it stands in: counts of parts add up.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::audit::Certainty::{Likely, Proved};
use crate::foreign::{Figure, Measure, Row};

const NAMES: [&str; 6] = ["total", "totals", "sum", "overall", "all", "all requests"];

struct Sum<'a> {
    measure: Measure,
    figure: &'a Figure,
    total: Span,
    parts: Span,
    largest: Span,
    figures: Vec<&'a Figure>,
}

fn is_total(row: &Row) -> bool {
    NAMES.contains(&row.label.trim().to_lowercase().as_str())
}

/// The rows that a total is of: those of its table, or of the same tool directly before and behind it.
fn sums<'a>(s: &Subject<'a>) -> Vec<Sum<'a>> {
    if !is_total(s.row) {
        return Vec::new();
    }
    let rows = &s.document.rows;
    let Some(at) = rows.iter().position(|row| std::ptr::eq(row, s.row)) else { return Vec::new() };
    let beside = |row: &&Row| row.tool == s.row.tool && row.table == s.row.table && !is_total(row);
    // A second total ends the group: several tables of one tool may follow each other.
    let parts: Vec<&Row> = match s.row.table {
        Some(_) => rows.iter().filter(beside).collect(),
        None => {
            let before: Vec<&Row> = rows[..at].iter().rev().take_while(beside).collect();
            if before.is_empty() { rows[at + 1..].iter().take_while(beside).collect() } else { before }
        }
    };
    if parts.len() < 2 {
        return Vec::new();
    }
    let of = |measure: Measure| {
        let (figure, total) = s.get(measure)?;
        let mut sum = Span::exact(0.0);
        let mut largest = Span::exact(0.0);
        let mut figures = vec![figure];
        for row in &parts {
            let part = row.figures.get(&measure)?;
            let span = Span::of(part)?.at_least_zero();
            sum = sum.plus(span);
            if span.low > largest.low {
                largest = span;
            }
            figures.push(part);
        }
        Some(Sum { measure, figure, total, parts: sum, largest, figures })
    };
    [Measure::Requests, Measure::Errors].into_iter().filter_map(of).collect()
}

/// largest part <= total <= sum of the parts.
pub(super) fn total_between(s: &Subject) -> Option<Hit> {
    let sum = sums(s).into_iter().find(|x| x.total.above(x.parts) || x.largest.above(x.total))?;
    let what = say::measure(sum.measure);
    let line = format!(
        "sum of the parts {}, largest {}, stated {}",
        say::number(sum.parts.said),
        say::number(sum.largest.said),
        say::number(sum.total.said)
    );
    let sentence = format!("the total of {what} cannot be that of its parts");
    let hit = Hit::new(Proved, "totals cannot be those of their parts", sentence);
    Some(hit.line(line).at(sum.figures).advice("add the parts up again; a part may be missing in the table"))
}

/// total = sum of the parts, where it lies below: parts may hold each other.
pub(super) fn total_is_the_sum(s: &Subject) -> Option<Hit> {
    let sum = sums(s).into_iter().find(|x| x.parts.above(x.total) && !x.largest.above(x.total))?;
    let what = say::measure(sum.measure);
    let line =
        format!("sum of the parts {} > {} stated", say::number(sum.parts.said), say::number(sum.total.said));
    let sentence = format!("the parts have more {what} than the total");
    let hit = Hit::new(Likely, "parts have more than the total", sentence).line(line).at([sum.figure]);
    let why = "transaction controllers stand among the parts and are not counted in the total";
    Some(hit.why(why).advice("mark rows that contain other rows"))
}
