//! History of a run: its seconds as rows of charts, and the events of each new second.

use super::frame::Frame;
use plimsoll_analysis::Fresh;
use plimsoll_analysis::summary::{self, Second};
use plimsoll_chart::{Chart, Mark, MarkKind, Pool};
use plimsoll_output::figure::{self, Row};
use plimsoll_record::event::{MonitorSample, Note, NoteKind, Opening};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum number of rows sent at once; more are pooled as in a report.
const ROWS_MAX: usize = 1_800;
/// Number of new seconds from which the whole history is sent, because viewing has just begun.
const ONE_BY_ONE_MAX: usize = 3;

#[derive(Default)]
pub struct Course {
    opening: Option<Arc<Opening>>,
    rows: Vec<Row>,
    /// Tick of the last row.
    last_tick: Option<u32>,
    /// Counts of the last tick, in case it is reported again.
    last_counts: (u64, u64),
    /// Classes of failures so far.
    classes: Vec<&'static str>,
    /// Monitored metrics, each with the values that later seconds may need.
    courses: Vec<summary::Course>,
    marks: Vec<Mark>,
    requests: u64,
    errors: u64,
    tiles: Option<Value>,
    /// Number of runs in the experiment, if known.
    turns: Option<usize>,
}

impl Course {
    /// Creates a history. `turns` is the number of runs in the experiment; `None` for a single run or an unknown
    /// number.
    pub fn of(turns: Option<usize>) -> Self {
        Self { turns, ..Self::default() }
    }

    /// Takes new data and returns the events for viewers.
    pub fn take(&mut self, fresh: Fresh) -> Vec<Frame> {
        let mut frames = Vec::new();
        let is_first = fresh.opening.is_some();
        if fresh.opening.is_some() {
            self.opening = fresh.opening;
        }
        let mut is_other = is_first || fresh.seconds.len() > ONE_BY_ONE_MAX;
        for sight in &fresh.sights {
            is_other |= self.sighted(sight);
        }
        for course in &mut self.courses {
            course.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let (busy_ns, wall_ns) =
            fresh.pulses.iter().fold((0, 0), |sum, pulse| (sum.0 + pulse.busy_ns, sum.1 + pulse.wall_ns));
        let busy_ratio = (wall_ns > 0).then(|| busy_ns as f64 / wall_ns as f64);
        for (at, second) in fresh.seconds.iter().enumerate() {
            let failures: Vec<(&'static str, u64)> =
                fresh.failures.get(at).into_iter().flatten().map(|(fault, n)| (fault.name(), *n)).collect();
            for (class, _) in &failures {
                if !self.classes.contains(class) {
                    self.classes.push(class);
                    is_other = true;
                }
            }
            is_other |= self.second(second, &failures, busy_ratio);
            if !is_other {
                frames.extend(self.last());
            }
        }
        self.forget(fresh.seconds.last());
        for note in &fresh.notes {
            frames.extend(self.noted(note));
        }
        if is_other { self.whole() } else { frames }
    }

    /// Returns all charts with their data, and the last row with its tiles.
    pub fn whole(&self) -> Vec<Frame> {
        let Some(opening) = &self.opening else { return Vec::new() };
        let mut charts = figure::live(&opening.outline, &self.classes, &self.courses);
        for chart in &mut charts {
            self.fill(chart);
        }
        let turn = opening.outline.cell.as_ref().map(|cell| cell.run_index + 1);
        let told = json!({ "charts": charts, "run_number": turn, "run_count": self.turns.filter(|_| turn.is_some()) });
        let mut frames = vec![Frame::new("charts", &told)];
        frames.extend(self.last());
        frames
    }

    /// Adds a second; returns whether the charts must be resent.
    fn second(&mut self, second: &Second, failures: &[(&'static str, u64)], busy_ratio: Option<f64>) -> bool {
        let row = figure::live_row(second, failures, &self.courses);
        let is_again = self.last_tick == Some(second.tick);
        if is_again {
            self.rows.pop();
            self.requests -= self.last_counts.0;
            self.errors -= self.last_counts.1;
        }
        self.requests += second.requests;
        self.errors += second.errors;
        (self.last_tick, self.last_counts) = (Some(second.tick), (second.requests, second.errors));
        self.tiles = Some(json!({
            "rate_per_s": second.achieved_rate_per_s,
            "p50_ns": second.quantile(0.5).value_ns(),
            "p99_ns": second.quantile(0.99).value_ns(),
            "p50_is_lower_bound": second.lower_bounds.contains(&"p50_ns"),
            "p99_is_lower_bound": second.lower_bounds.contains(&"p99_ns"),
            "max_ns": second.max_ns,
            "max_is_lower_bound": second.lower_bounds.contains(&"max_ns"),
            "errors": self.errors,
            "in_flight": second.in_flight,
            "requests": self.requests,
            "elapsed_s": second.from_s + second.length_s,
            "schedule_lag_p99_ns": second.schedule_lag_p99().value_ns(),
            "busy_ratio": busy_ratio,
        }));
        self.rows.push(row);
        is_again
    }

    fn last(&self) -> Option<Frame> {
        let row = self.rows.last()?;
        Some(Frame::new("row", &json!({ "x": row.x, "values": row.values, "tiles": self.tiles })))
    }

    fn noted(&mut self, note: &Note) -> Option<Frame> {
        let kind = match note.kind {
            NoteKind::Note => MarkKind::Note,
            NoteKind::Control | NoteKind::Steered(_) | NoteKind::Gap => MarkKind::Control,
        };
        let mark = Mark { at: note.at_ns as f64 / 1e9, word: note.text.clone(), kind };
        let mut told = json!(mark);
        // The text of a gap changes as it grows; viewers identify it by time and kind.
        match self.marks.iter_mut().find(|old| old.at == mark.at && old.kind == mark.kind) {
            Some(old) if note.kind == NoteKind::Gap => {
                told["replaces"] = json!(old.word);
                *old = mark;
            }
            _ => self.marks.push(mark),
        }
        Some(Frame::new("mark", &told))
    }

    /// Returns whether a metric appeared for the first time.
    fn sighted(&mut self, sight: &MonitorSample) -> bool {
        let Some(opening) = &self.opening else { return false };
        let Some(watch) = opening.outline.monitors.get(sight.monitor as usize) else { return false };
        let mut is_new = false;
        for reading in &sight.readings {
            let point = (sight.at_ns as f64 / 1e9, reading.value);
            let known = self.courses.iter_mut().find(|course| {
                course.monitor == watch.name && course.part == reading.part && course.metric == reading.metric
            });
            match known {
                Some(course) => course.points.push(point),
                None => {
                    is_new = true;
                    self.courses.push(summary::Course {
                        generator: 0,
                        monitor: watch.name.clone(),
                        kind: watch.kind.clone(),
                        part: reading.part.clone(),
                        metric: reading.metric.clone(),
                        unit: reading.unit,
                        limit: reading.limit,
                        points: vec![point],
                    });
                }
            }
        }
        is_new
    }

    /// Drops values that are too old for any second after the last one, which may be reported again.
    fn forget(&mut self, last: Option<&Second>) {
        let Some(last) = last else { return };
        let from_s = last.from_s + last.length_s - figure::SIGHT_AGE_MAX_S;
        for course in &mut self.courses {
            course.points.retain(|(at_s, _)| *at_s >= from_s);
        }
    }

    /// Fills a chart with the rows. Several rows are pooled into one by mean or maximum, depending on the series.
    fn fill(&self, chart: &mut Chart) {
        let by = self.rows.len().div_ceil(ROWS_MAX).max(1);
        if by > 1 {
            chart.help = format!(
                "Before this page was opened, each point covers up to {by} s: the mean, or the maximum for p99, \
                 max, failures, and schedule lag."
            );
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let parts: Vec<&[Row]> = self.rows.chunks(by).collect();
        chart.xs = parts.iter().map(|part| mean(&part.iter().map(|row| row.x).collect::<Vec<_>>())).collect();
        let id = chart.id.clone();
        for panel in &mut chart.panels {
            for series in &mut panel.series {
                let y = parts.iter().map(|part| {
                    let of_row = |row: &Row| row.values.get(id.as_str())?.get(&series.id).copied();
                    let known: Vec<f64> = part.iter().filter_map(of_row).collect();
                    match series.pool {
                        _ if known.is_empty() => None,
                        Pool::Highest => known.into_iter().reduce(f64::max),
                        Pool::Mean => Some(mean(&known)),
                    }
                });
                series.y = y.collect();
            }
        }
        if id == "timeline" {
            chart.marks.clone_from(&self.marks);
        }
    }
}
