//! Curves of letters: enough to show a pause, a ramp, or a drift.

use super::ink_of_tone;
use crate::line::{Line, width};
use crate::style::{Look, TextStyle};
use crate::text::chart::{resample, spark};
use crate::{Axis, Course};

/// Room for the highest value after a line, such as ` 4,812/s`.
const SCALE: usize = 16;

pub fn lines(all: &[Course], axis: Option<&Axis>, columns: usize, look: &Look) -> Vec<Line> {
    let from = all.iter().map(|course| width(&course.label)).max().unwrap_or(0) + 2;
    let cells = columns.saturating_sub(from + SCALE);
    let mut drawn = 0;
    let mut out = Vec::new();
    for course in all {
        let text = spark(&resample(&course.values, cells, course.pool), course.top, look);
        drawn = width(&text);
        let ink = course.tone.map_or(TextStyle::Dim, ink_of_tone);
        let line = Line::of(TextStyle::Dim, &course.label).pad(from).ink(ink, &text);
        out.push(line.text(" ").ink(TextStyle::Dim, &course.scale).cut(columns, look));
    }
    out.extend(axis.map(|axis| scale(axis, from, from + drawn)));
    out
}

/// Returns both ends, and the mark if there is room between them.
fn scale(axis: &Axis, from: usize, to: usize) -> Line {
    let [start, end] = &axis.ends;
    let mut line = Line::new().pad(from).ink(TextStyle::Dim, start);
    if let Some((share, said)) = axis.mark {
        let at = from + ((to - from) as f64 * share) as usize;
        let mark = format!("^ {said}");
        if at > line.width() && at + width(&mark) + 2 + width(end) <= to {
            line = line.pad(at).ink(TextStyle::Dim, &mark);
        }
    }
    let column = to.saturating_sub(width(end)).max(line.width() + 1);
    line.pad(column).ink(TextStyle::Dim, end)
}
