//! The run over time, one letter a second or a few: enough to see a pause, a ramp, a drift.

use super::{heading, indented};
use crate::format::{chosen_s, count, duration_f64_ns, rate_per_s};
use crate::line::{Line, width};
use crate::style::{Look, TextStyle};
use crate::terminal::chart::{Pool, resample, spark, top};
use crate::terminal::live::slow_times;
use plimsoll_analysis::summary::{Second, Summary};

const LABEL: usize = 10;
/// Room for the highest value behind the line, such as ` to 4,812/s`.
const SCALE: usize = 16;

/// A series of one letter for each second or a few. Rates are pooled by their mean and share a scale; times and errors
/// by their highest, so that a single bad second of an hour is still a letter.
struct Row {
    label: String,
    ink: TextStyle,
    pool: Pool,
    values: Vec<Option<f64>>,
    scale: fn(f64) -> String,
}

pub fn timeline(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    // Two points make no course.
    if s.timeline.len() < 3 {
        return Vec::new();
    }
    let values = |of: fn(&Second) -> Option<f64>| s.timeline.iter().map(of).collect::<Vec<_>>();
    let rate = |label: &str, ink, values| Row {
        label: label.into(),
        ink,
        pool: Pool::Mean,
        values,
        scale: rate_per_s,
    };
    let mut rows = Vec::new();
    if s.offered.is_some() {
        rows.push(rate("offered", TextStyle::Dim, values(|t| t.offered_rate_per_s)));
    }
    rows.push(rate("achieved", TextStyle::Accent, values(|t| Some(t.achieved_rate_per_s))));
    let (label, times) = slow_times(&s.timeline);
    let pool = Pool::Highest;
    // A run of streams alone has no response times.
    if times.iter().any(Option::is_some) {
        rows.push(Row { label, ink: TextStyle::Warn, pool, values: times, scale: duration_f64_ns });
    }
    if s.timeline.iter().any(|t| t.errors > 0) {
        let values = values(|t| (t.errors > 0).then_some(t.errors as f64));
        rows.push(Row {
            label: "errors".into(),
            ink: TextStyle::Bad,
            pool,
            values,
            scale: |n| count(n as u64),
        });
    }
    let cells = columns - 2 - LABEL - SCALE;
    // Offered and achieved are to be compared: one scale for both.
    let rates = rows.iter().filter(|row| row.pool == Pool::Mean);
    let top_rate = rates.map(|row| top(&row.values)).fold(0.0, f64::max);
    let mut lines = vec![heading("over time", "each line from 0 to the value behind it")];
    let mut drawn = 0;
    for row in rows {
        let top = if row.pool == Pool::Mean { top_rate } else { top(&row.values) };
        let text = spark(&resample(&row.values, cells, row.pool), top, look);
        drawn = width(&text);
        let line = Line::of(TextStyle::Dim, &row.label).pad(LABEL).ink(row.ink, &text).pad(LABEL + drawn);
        lines.push(indented(line.text(" ").ink(TextStyle::Dim, &(row.scale)(top)).cut(columns - 2, look)));
    }
    lines.push(indented(axis(s, drawn)));
    lines
}

/// Start, end of the warm-up, end.
fn axis(s: &Summary, drawn: usize) -> Line {
    let end_s = s.timeline.last().map_or(0.0, |t| t.from_s + t.length_s);
    let end = chosen_s(end_s);
    let line = Line::new().pad(LABEL).ink(TextStyle::Dim, "0 s");
    let line = if s.totals.warmup_s > 0.0 && end_s > 0.0 {
        let at = LABEL + (drawn as f64 * s.totals.warmup_s / end_s) as usize;
        let mark = format!("{} measured from here", "^");
        let room = LABEL + drawn;
        let fits = at + width(&mark) + width(&end) + 2 <= room && at > LABEL + 3;
        if fits { line.pad(at).ink(TextStyle::Dim, &mark) } else { line }
    } else {
        line
    };
    let column = (LABEL + drawn).saturating_sub(width(&end)).max(line.width() + 1);
    line.pad(column).ink(TextStyle::Dim, &end)
}
