//! The layout of sections: below each other, or alongside each other if there is room.

use crate::line::Line;
use crate::text::table::{fits_beside, side_by_side};

/// Sections that belong together, the later ones alongside the first as far as there is room.
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
