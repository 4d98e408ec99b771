//! Intervals as pictures on one scale, which show whether they include zero.

use crate::line::Line;
use crate::style::{Look, TextStyle};

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

/// Returns the scale of the pictures, above their zero line: `-12%    0    +12%`.
pub fn scale(edge: &str, room: usize) -> Line {
    let half = room.saturating_sub(1) / 2;
    let (left, right) = (edge.replacen('+', "-", 1), edge);
    let gap = half.saturating_sub(left.chars().count());
    let blank = " ".repeat(gap);
    if gap == 0 {
        Line::of(TextStyle::Dim, &format!("{:>width$}", "0", width = half + 1))
    } else {
        Line::of(TextStyle::Dim, &format!("{left}{blank}0{blank}{right}"))
    }
}

/// Draws one interval in `columns` cells, with zero in the middle: value, low end, high end.
pub fn drawn(ends: Option<[f64; 3]>, reach: f64, columns: usize, ink: TextStyle, look: &Look) -> Line {
    let marks = if look.unicode { UNICODE } else { ASCII };
    let half = columns.saturating_sub(1) / 2;
    let mut cells = vec![' '; 2 * half + 1];
    cells[half] = marks.zero;
    let Some([at, low, high]) = ends else {
        return Line::of(TextStyle::Dim, &cells.iter().collect::<String>());
    };
    let cell = |x: f64| {
        let place = (x / reach * half as f64).round();
        (half as f64 + place.clamp(-(half as f64), half as f64)) as usize
    };
    let (from, to) = (cell(low), cell(high));
    cells[from..=to].fill(marks.line);
    // Zero stays visible inside an interval, because the question is whether the interval includes it.
    if from < half && half < to {
        cells[half] = if look.unicode { '┼' } else { '|' };
    }
    cells[from] = if low < -reach { marks.beyond_left } else { marks.left };
    // An interval that lies entirely beyond an edge has the mark of that edge.
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
    Line::of(TextStyle::Dim, before).ink(ink, inside).ink(TextStyle::Dim, behind)
}
