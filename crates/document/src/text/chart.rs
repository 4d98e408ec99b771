//! Bars and sparklines of letters.

use crate::line::Line;
use crate::style::{Look, Signs, TextStyle};

/// Returns a bar of `cells` columns filled to `share` (0..=1, clamped). A share above 0 is always visible.
pub fn bar(share: f64, cells: usize, ink: TextStyle, look: &Look) -> Line {
    let signs = look.signs();
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let steps = signs.parts.len();
    let mut filled = (share * (cells * steps) as f64).round() as usize;
    if share > 0.0 {
        filled = filled.max(1).min(cells * steps);
    }
    let mut text = signs.parts[steps - 1].repeat(filled / steps);
    let part = filled % steps;
    if part > 0 {
        text.push_str(signs.parts[part - 1]);
    }
    let used = filled.div_ceil(steps);
    Line::of(ink, &text).ink(TextStyle::Dim, &signs.empty.repeat(cells - used))
}

/// How values that share a cell are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    Mean,
    /// For values that must stay visible next to others: a slow second, an error.
    Highest,
}

/// Distributes `values` over at most `cells` cells: several values per cell if there are more, and several equal cells
/// per value (up to four) if there are far fewer.
pub fn resample(values: &[Option<f64>], cells: usize, pool: Pool) -> Vec<Option<f64>> {
    const WIDEST: usize = 4;
    if values.is_empty() || cells == 0 {
        return Vec::new();
    }
    if values.len() <= cells {
        let each = (cells / values.len()).min(WIDEST);
        return values.iter().flat_map(|v| std::iter::repeat_n(*v, each)).collect();
    }
    (0..cells)
        .map(|cell| {
            let range = cell * values.len() / cells..(cell + 1) * values.len() / cells;
            let known: Vec<f64> = values[range].iter().filter_map(|v| *v).collect();
            match pool {
                Pool::Mean if !known.is_empty() => Some(known.iter().sum::<f64>() / known.len() as f64),
                Pool::Mean => None,
                Pool::Highest => known.into_iter().reduce(f64::max),
            }
        })
        .collect()
}

/// Returns one letter per value, from 0 at the bottom to `top`.
pub fn spark(values: &[Option<f64>], top: f64, look: &Look) -> String {
    let signs = look.signs();
    values.iter().map(|value| value.map_or(signs.gap, |v| height(v, top, signs))).collect()
}

fn height(value: f64, top: f64, signs: &Signs) -> &'static str {
    let steps = signs.heights.len();
    let share = if top > 0.0 && value.is_finite() { (value / top).clamp(0.0, 1.0) } else { 0.0 };
    // The lowest letter means 0 and values near it, the highest the top itself.
    signs.heights[((share * (steps - 1) as f64).round() as usize).min(steps - 1)]
}

/// Returns the highest of the values, or 0.
pub fn top(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().copied().filter(|v| v.is_finite()).fold(0.0, f64::max)
}
