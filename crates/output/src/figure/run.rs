//! Charts of one run: its timeline, distributions of times, the latency breakdown, and monitored metrics.

pub mod course;
mod heat;
mod phases;
mod spectrum;
mod streams;
pub mod watched;

pub use spectrum::{chart as spectrum_chart, line as spectrum_line};

use crate::format::count;
use plimsoll_analysis::picture::{Moment, MomentKind, Picture};
use plimsoll_analysis::summary::{Second, Standing, Summary, ThresholdResult};
use plimsoll_chart::{Axis, Chart, Limit, Mark, MarkKind, Stretch, StretchKind, Unit};
use plimsoll_plan::threshold::FigureUnit;

/// Fewer rows than this are not a timeline.
const ROWS: usize = 3;

/// Returns all charts that the run has data for, in the order of a page.
pub fn of_run(s: &Summary, p: &Picture) -> Vec<Chart> {
    let rows = if p.rows.is_empty() { &s.timeline } else { &p.rows };
    let mut out = Vec::new();
    if rows.len() >= ROWS {
        out.push(course::timeline(s, p, rows));
        out.extend(streams::streams(s, p, rows));
        out.extend(heat::heats(s, p, rows));
    }
    out.extend(spectrum::spectrum(s, p));
    out.extend(spectrum::of_requests(s, p));
    out.extend(heat::distribution(s, p));
    out.extend(phases::phases(s, p));
    if rows.len() >= ROWS {
        out.extend(watched::monitors(s, p));
    }
    out
}

/// The axis that all charts of the group `time` share.
pub fn time_axis(s: &Summary) -> Axis {
    let end_s = s.timeline.last().map_or(1.0, |t| t.from_s + t.length_s);
    let seen_s = s.courses.iter().flat_map(|c| c.points.last()).map(|(at, _)| *at).fold(0.0, f64::max);
    // A monitor's last sample comes shortly after the last request; the axis ends with the load.
    let end_s = if end_s > 0.0 { end_s } else { seen_s };
    // A truncated run has no ticks up to its planned end and must not look complete.
    let end_s = s.gaps.iter().map(|gap| gap.to_s).filter(|to_s| to_s.is_finite()).fold(end_s, f64::max);
    Axis::new("time from the start of the run", Unit::Seconds).between(0.0, end_s)
}

/// Returns a chart over the time of the run, with its events.
fn over_time(id: &str, title: impl Into<String>, s: &Summary, p: &Picture) -> Chart {
    let mut chart = Chart::new(id, title, time_axis(s));
    chart.group = "time".into();
    chart.stretches = stretches(s);
    // Gaps and spikes have their own background.
    let is_mark = |m: &&Moment| !matches!(m.kind, MomentKind::Gap | MomentKind::Spike);
    chart.marks = p.moments.iter().filter(is_mark).map(mark).collect();
    chart
}

fn stretches(s: &Summary) -> Vec<Stretch> {
    let mut out = Vec::new();
    if s.totals.warmup_s > 0.0 {
        let word = "warm-up".to_owned();
        out.push(Stretch { from: 0.0, to: s.totals.warmup_s, word, kind: StretchKind::Warmup });
    }
    let gap = |g: &plimsoll_analysis::summary::Gap| Stretch {
        from: g.from_s,
        to: g.to_s,
        // The other machines reported all the time.
        word: if s.generators.len() > 1 { format!("no data of {}", g.generator) } else { "no data".into() },
        kind: StretchKind::Gap,
    };
    out.extend(s.gaps.iter().map(gap));
    out.extend(s.spikes.iter().map(|spike| Stretch {
        from: spike.from_s,
        to: spike.to_s,
        word: "slow".into(),
        kind: StretchKind::Spike,
    }));
    // Drawn as a failure, and named by its kind.
    out.extend(s.availability.outages.iter().map(|outage| Stretch {
        from: outage.from_s,
        to: outage.to_s,
        word: "outage".into(),
        kind: StretchKind::Spike,
    }));
    out
}

fn mark(moment: &Moment) -> Mark {
    let kind = match moment.kind {
        MomentKind::Stage => MarkKind::Stage,
        MomentKind::Note => MarkKind::Note,
        MomentKind::Control | MomentKind::Gap => MarkKind::Control,
        MomentKind::Change | MomentKind::Spike | MomentKind::Outage => MarkKind::Change,
    };
    Mark { at: moment.at_s, word: moment.text.clone(), kind }
}

/// Returns thresholds on response times of all requests.
fn time_limits(s: &Summary) -> Vec<Limit> {
    let of_all = s.thresholds.iter().filter(|t| {
        t.unit == FigureUnit::Nanoseconds
            && t.subject.starts_with("response_time")
            && !t.subject.contains('{')
    });
    of_all.map(limit).collect()
}

/// Returns missed thresholds on percentiles of single requests, which are drawn at their own values.
fn missed_limits(s: &Summary) -> impl Iterator<Item = Limit> + '_ {
    let is_quantile = |what: &str| {
        let last = what.rsplit(' ').next().and_then(|word| word.strip_prefix('p'));
        last.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
    };
    let missed = s.thresholds.iter().filter(move |t| {
        t.is_missed()
            && t.unit == FigureUnit::Nanoseconds
            && t.subject.starts_with("response_time{")
            && is_quantile(&t.subject)
    });
    missed.map(limit)
}

fn limit(t: &ThresholdResult) -> Limit {
    Limit {
        value: t.limit,
        word: t.text.clone(),
        met: (t.standing != Standing::Undecided).then_some(t.is_met),
    }
}

/// Returns text after the number of drawn times that names the number of censored ones; empty if there are none.
fn not_drawn(cut_off: u64) -> String {
    match cut_off {
        0 => String::new(),
        n => format!("; not drawn: {} that timed out or were in flight at the end", count(n)),
    }
}

/// Returns the centers of the rows, and one more in each gap between them, which has no value.
#[derive(Default)]
pub struct Rows<'a> {
    at: Vec<(f64, Option<(usize, &'a Second)>)>,
}

impl Rows<'_> {
    pub fn of(rows: &[Second]) -> Rows<'_> {
        let mut at: Vec<(f64, Option<(usize, &Second)>)> = Vec::new();
        let mut end_s: Option<f64> = None;
        for (number, row) in rows.iter().enumerate() {
            if let Some(end_s) = end_s.filter(|end_s| row.from_s > end_s + 0.5 * row.length_s.max(1e-9)) {
                at.push(((end_s + row.from_s) / 2.0, None));
            }
            at.push((middle_s(row), Some((number, row))));
            end_s = Some(row.from_s + row.length_s);
        }
        Rows { at }
    }

    pub fn xs(&self) -> Vec<f64> {
        self.at.iter().map(|(x, _)| *x).collect()
    }

    pub fn values(&self, of: impl Fn(&Second) -> Option<f64>) -> Vec<Option<f64>> {
        self.numbered(|_, row| of(row))
    }

    /// Calls a function with each row and its number among the existing rows.
    pub fn numbered(&self, of: impl Fn(usize, &Second) -> Option<f64>) -> Vec<Option<f64>> {
        self.at.iter().map(|(_, row)| row.and_then(|(number, row)| of(number, row))).collect()
    }
}

/// Returns the extent of a row: the first and the last second may be partial.
pub fn middle_s(row: &Second) -> f64 {
    row.from_s + row.length_s / 2.0
}

/// Returns a count of a row as a rate.
pub fn per_s(n: u64, row: &Second) -> Option<f64> {
    (row.length_s > 0.0).then(|| n as f64 / row.length_s)
}
