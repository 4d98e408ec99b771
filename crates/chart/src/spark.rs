//! A line without axes for a table cell: it shows the shape, and the cells next to it show the numbers.

use super::svg::{Path, escape};

/// Most points that a line of this size can show.
const POINTS: usize = 60;
const WIDE: f64 = 100.0;
const HIGH: f64 = 20.0;

/// Draws values from 0 to the highest one; gaps stay gaps. `said` is the text for screen readers. Returns an empty text
/// if fewer than two values are known.
pub fn spark(values: &[Option<f64>], color: u8, said: &str) -> String {
    let by = values.len().div_ceil(POINTS).max(1);
    let number = |y: &Option<f64>| y.filter(|y| y.is_finite());
    let highest = |part: &[Option<f64>]| part.iter().filter_map(number).reduce(f64::max);
    let pooled: Vec<Option<f64>> = values.chunks(by).map(highest).collect();
    let most = pooled.iter().flatten().copied().fold(0.0, f64::max);
    if pooled.iter().flatten().count() < 2 {
        return String::new();
    }
    let mut path = Path::default();
    let step = WIDE / (pooled.len() - 1).max(1) as f64;
    let mut part: Vec<(f64, f64)> = Vec::new();
    for (at, y) in pooled.iter().map(Some).chain([None]).enumerate() {
        match y.copied().flatten() {
            Some(y) => {
                let share = if most > 0.0 { (y / most).clamp(0.0, 1.0) } else { 0.0 };
                part.push((at as f64 * step, HIGH - 1.0 - (HIGH - 2.0) * share));
            }
            None => {
                if let [(x, y)] = part.as_slice() {
                    part = vec![(x - 0.5, *y), (x + 0.5, *y)];
                }
                path.polyline(&part);
                part.clear();
            }
        }
    }
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" role=\"img\"><title>{}</title>\
         <path class=\"s{}\" d=\"{}\"/></svg>",
        escape(said),
        color % 8,
        path.d()
    )
}
