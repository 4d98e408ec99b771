//! Where sections stand: beside each other, in a frame.

use crate::line::Line;
use crate::style::{Look, TextStyle};
use crate::terminal::table::{fits_beside, side_by_side};

/// Columns that a frame takes.
pub const MARGIN: usize = 4;

/// Sections that belong together, the others beside the first as far as there is room.
pub fn arranged(mut all: Vec<Vec<Line>>, columns: usize) -> Vec<Vec<Line>> {
    if all.len() < 2 {
        return all;
    }
    let rest = all.split_off(1);
    let (first, stacked) = (all.concat(), rest.join(&Line::new()));
    if fits_beside(&first, &stacked, columns) {
        return vec![side_by_side(first, stacked, columns)];
    }
    let mut rest = rest;
    let front = match rest.first() {
        Some(second) if fits_beside(&first, second, columns) => side_by_side(first, rest.remove(0), columns),
        _ => first,
    };
    [front].into_iter().chain(arranged(rest, columns)).collect()
}

/// The heading stands in the upper edge.
pub fn framed(heading: Option<Line>, inner: Vec<Line>, columns: usize, look: &Look) -> Vec<Line> {
    let signs = look.signs();
    let [top_left, top_right, bottom_left, bottom_right] = signs.corners;
    let edge = |from: Line, corner: &str| {
        let rest = columns.saturating_sub(from.width() + 1);
        from.ink(TextStyle::Dim, &signs.rule.repeat(rest)).ink(TextStyle::Dim, corner)
    };
    let top = Line::of(TextStyle::Dim, top_left);
    let top = match heading {
        Some(heading) => top.ink(TextStyle::Dim, signs.rule).text(" ").line(heading).text(" "),
        None => top,
    };
    let side = || Line::of(TextStyle::Dim, signs.side);
    let lines = inner.into_iter().map(|line| {
        let line = side().text(" ").line(line.pad(columns.saturating_sub(MARGIN))).text(" ");
        line.line(side())
    });
    let bottom = edge(Line::of(TextStyle::Dim, bottom_left), bottom_right);
    [edge(top, top_right)].into_iter().chain(lines).chain([bottom]).collect()
}
