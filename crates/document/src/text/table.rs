//! Aligned columns.

use crate::line::Line;
use crate::style::Look;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of cells; columns are as wide as their widest cell.
#[derive(Debug)]
pub struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<Line>>,
}

/// Blanks between two columns.
const GAP: usize = 2;

impl Table {
    pub fn new(aligns: &[Align]) -> Table {
        Table { aligns: aligns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; surplus cells are dropped.
    pub fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// Returns the lines, at most `columns` wide. The first column is truncated, because names may be of any length,
    /// and values must not be truncated.
    pub fn lines(&self, columns: usize, look: &Look) -> Vec<Line> {
        let mut widths: Vec<usize> = (0..self.aligns.len())
            .map(|at| self.rows.iter().filter_map(|row| row.get(at)).map(Line::width).max().unwrap_or(0))
            .collect();
        let total: usize = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if let Some(first) = widths.first_mut() {
            *first = first.saturating_sub(total.saturating_sub(columns)).max(8.min(*first));
        }
        self.rows.iter().map(|row| self.line(row, &widths, look).cut(columns, look)).collect()
    }

    fn line(&self, row: &[Line], widths: &[usize], look: &Look) -> Line {
        let mut out = Line::new();
        for (at, (cell, (width, align))) in row.iter().zip(widths.iter().zip(&self.aligns)).enumerate() {
            if at > 0 {
                out = out.text(&" ".repeat(GAP));
            }
            let cell = cell.clone().cut(*width, look);
            out = out.line(if *align == Align::Left { cell.pad(*width) } else { cell.pad_left(*width) });
        }
        out
    }
}

/// Blanks between two blocks.
const BETWEEN: usize = 4;

fn block_width(block: &[Line]) -> usize {
    block.iter().map(Line::width).max().unwrap_or(0)
}

/// Returns whether [`side_by_side`] would find room.
pub fn fits_beside(left: &[Line], right: &[Line], columns: usize) -> bool {
    block_width(left) + BETWEEN + block_width(right) <= columns
}

/// Returns two blocks alongside each other if they fit, otherwise below each other with a blank line in between.
pub fn side_by_side(left: Vec<Line>, right: Vec<Line>, columns: usize) -> Vec<Line> {
    if right.is_empty() || left.is_empty() {
        return if left.is_empty() { right } else { left };
    }
    let left_width = block_width(&left);
    if !fits_beside(&left, &right, columns) {
        return left.into_iter().chain([Line::new()]).chain(right).collect();
    }
    let height = left.len().max(right.len());
    let mut right = right.into_iter();
    let mut left = left.into_iter();
    (0..height)
        .map(|_| {
            let (l, r) = (left.next().unwrap_or_default(), right.next().unwrap_or_default());
            if r.width() == 0 { l } else { l.pad(left_width + BETWEEN).line(r) }
        })
        .collect()
}
