//! Intervals as pictures on one scale: whether they reach over zero is seen before any number is read.

use crate::line::Line;
use crate::style::{Ink, Look};
use plimsoll_experiment::compare::{Compared, Comparison, Scale};

/// Narrower pictures show nothing.
pub const NARROWEST: usize = 11;
/// Wider ones show no more.
pub const WIDEST: usize = 41;
/// Changes beyond this are cut at the edge, or one wild p99 would squeeze all the others into one cell.
const FURTHEST: f64 = 0.5;

struct Marks {
    left: char,
    right: char,
    line: char,
    at: char,
    zero: char,
    beyond_left: char,
    beyond_right: char,
}

const UNICODE: Marks =
    Marks {
        left: '├', right: '┤', line: '─', at: '●', zero: '│', beyond_left: '◂', beyond_right: '▸'
    };
const ASCII: Marks =
    Marks { left: '[', right: ']', line: '-', at: '*', zero: '|', beyond_left: '<', beyond_right: '>' };

/// What the edges of all pictures stand for: the furthest end of an interval, within limits.
pub fn reach(c: &Comparison) -> f64 {
    let ratios = c.figures.iter().filter(|row| row.scale == Scale::Ratio);
    let ends = ratios.flat_map(|row| [row.low, row.high]).flatten().map(f64::abs).filter(|x| x.is_finite());
    let least = if c.worth.is_finite() && c.worth > 0.0 { 1.2 * c.worth } else { 0.01 };
    ends.fold(least, f64::max).min(FURTHEST.max(least))
}

/// One interval in `columns` cells, zero in the middle; errors have no place on this scale.
pub fn picture(row: &Compared, reach: f64, columns: usize, ink: Ink, look: &Look) -> Line {
    let marks = if look.unicode { UNICODE } else { ASCII };
    let half = columns.saturating_sub(1) / 2;
    let mut cells = vec![' '; 2 * half + 1];
    cells[half] = marks.zero;
    let (Scale::Ratio, Some(at), Some(low), Some(high)) = (row.scale, row.difference, row.low, row.high)
    else {
        return Line::of(Ink::Dim, &cells.iter().collect::<String>());
    };
    let cell = |x: f64| {
        let place = (x / reach * half as f64).round();
        (half as f64 + place.clamp(-(half as f64), half as f64)) as usize
    };
    let (from, to) = (cell(low), cell(high));
    cells[from..=to].fill(marks.line);
    // Zero stays visible inside an interval: that is the question.
    if from < half && half < to {
        cells[half] = if look.unicode { '┼' } else { '|' };
    }
    cells[from] = if low < -reach { marks.beyond_left } else { marks.left };
    // What lies beyond an edge as a whole has that edge's mark, whichever edge it is.
    match (high < -reach, high > reach || low > reach) {
        (true, _) => {}
        (_, true) => cells[to] = marks.beyond_right,
        _ => cells[to] = marks.right,
    }
    if at.abs() <= reach {
        cells[cell(at)] = marks.at;
    }
    if half < from || half > to {
        cells[half] = marks.zero;
    }
    let text: String = cells.iter().collect();
    let (before, rest) = text.split_at(text.char_indices().nth(from).map_or(text.len(), |(at, _)| at));
    let (inside, behind) =
        rest.split_at(rest.char_indices().nth(to + 1 - from).map_or(rest.len(), |(at, _)| at));
    Line::of(Ink::Dim, before).ink(ink, inside).ink(Ink::Dim, behind)
}
