//! The timeline of a run: rates, times, requests in flight, errors by class, bytes, and schedule lag.

use super::{Rows, over_time, per_s, time_limits};
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Second, Summary, drawn_quantile};
use plimsoll_chart::{Axis, Chart, Form, Panel, Scale, Series, Unit};

/// If the longest time is this many times the median, a linear axis would show only the longest.
const LOG_FROM: f64 = 50.0;

pub fn timeline(s: &Summary, p: &Picture, rows: &[Second]) -> Chart {
    let mut chart = over_time("timeline", "Timeline", s, p);
    chart.subtitle = s.time_range.as_ref().map(|w| w.sentence.clone()).unwrap_or_default();
    chart.help =
        "All panels share one time axis. If the rate falls below the offered rate, or times rise while the rate \
         stays level, the service was saturated."
            .into();
    let at = Rows::of(rows);
    chart.xs = at.xs();
    let shape = Shape {
        has_offer: s.offered.is_some(),
        counts_iterations: s.counts_iterations(),
        has_users: rows.iter().any(|t| t.users > 0.0),
        has_errors: rows.iter().any(|t| t.good_rate_per_s < t.achieved_rate_per_s),
        is_over: true,
    };
    let mut latency = latency(&at);
    // If seconds have too few samples for p99, the highest percentile with enough samples replaces it.
    if drawn_quantile(rows) == Some(0.95)
        && let Some(slow) = latency.series.iter_mut().find(|series| series.id == "p99")
    {
        slow.y = at.values(|t| t.quantile(0.95).value_ns().map(|ns| ns as f64));
        (slow.id, slow.name) = ("p95".into(), "p95".into());
    }
    let (middle, longest) = (s.response_time.p50_ns.unwrap_or(0), s.response_time.max_ns.unwrap_or(0));
    if middle > 0 && longest as f64 / middle as f64 > LOG_FROM {
        latency.y.scale = Scale::Log;
    }
    latency.limits = time_limits(s);
    let failed = |class: usize, row: usize| p.failures.get(row).and_then(|all| all.get(class)).copied();
    let all = [
        Some(rate(&shape, &at)).filter(has_values),
        Some(latency).filter(has_values),
        iterations(&shape, &at).filter(has_values),
        Some(in_flight(&shape, &at)).filter(any),
        Some(connections(&at)).filter(any),
        // Streams are shown by the number of open ones.
        Some(opened(&at)).filter(|_| rows.iter().filter(|t| t.connections_opened > 0).count() > 2),
        Some(errors(&p.classes, &failed, &at)).filter(any),
        Some(bytes(&at)).filter(any),
        Some(schedule_lag(&at)).filter(has_values),
    ];
    chart.panels = all.into_iter().flatten().collect();
    chart
}

/// The facts that determine which lines exist.
pub struct Shape {
    /// Open model.
    pub has_offer: bool,
    /// See [`Summary::counts_iterations`].
    pub counts_iterations: bool,
    pub has_users: bool,
    pub has_errors: bool,
    /// The run has ended.
    pub is_over: bool,
}

/// Omits a panel without values.
fn has_values(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.y.iter().flatten().any(|y| y.is_finite()))
}

/// Omits a panel of zeros if zero is expected.
fn any(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.y.iter().flatten().any(|y| *y > 0.0))
}

/// Returns the offered, achieved, and good rates. If the last two are equal, one line says so.
pub fn rate(shape: &Shape, at: &Rows) -> Panel {
    let mut series = Vec::new();
    if shape.has_offer && !shape.counts_iterations {
        series.push(offered(at));
    }
    if shape.has_errors {
        let good = at.values(|t| Some(t.good_rate_per_s));
        series.push(Series::new("good", "successful", 2, Form::Line, good));
    }
    let name = if shape.is_over && !shape.has_errors { "achieved, all successful" } else { "achieved" };
    // Drawn last, so that the others are visible only where they differ.
    let achieved = at.values(|t| Some(t.achieved_rate_per_s));
    series.push(Series::new("achieved", name, 0, Form::Line, achieved));
    Panel::new("rate", Axis::new("requests", Unit::PerSecond), series)
}

fn offered(at: &Rows) -> Series {
    Series::new("offered", "offered", 7, Form::Dashed, at.values(|t| t.offered_rate_per_s))
}

/// Arrivals that start several requests are not comparable with single requests, so they have their own panel.
pub fn iterations(shape: &Shape, at: &Rows) -> Option<Panel> {
    let axis = Axis::new("iterations", Unit::PerSecond);
    (shape.has_offer && shape.counts_iterations).then(|| Panel::new("iterations", axis, vec![offered(at)]))
}

pub fn latency(at: &Rows) -> Panel {
    let times = |of: fn(&Second) -> Option<u64>| at.values(|t| of(t).map(|ns| ns as f64));
    // A percentile of too few samples is not a point of a line; the longest time is one of any number.
    let series = vec![
        Series::new("p50", "p50", 0, Form::Line, times(|t| t.quantile(0.5).value_ns())),
        Series::new("p90", "p90", 4, Form::Line, times(|t| t.quantile(0.9).value_ns())),
        Series::new("p99", "p99", 1, Form::Line, times(|t| t.quantile(0.99).value_ns())).highest(),
        Series::new("max", "max", 3, Form::Dots, times(|t| t.max_ns)).highest(),
    ];
    Panel::new("latency", Axis::new("response time", Unit::Nanoseconds), series)
}

pub fn in_flight(shape: &Shape, at: &Rows) -> Panel {
    let mut series =
        vec![Series::new("in_flight", "in flight", 0, Form::Line, at.values(|t| Some(t.in_flight)))];
    if shape.has_users {
        series.push(Series::new("users", "users", 7, Form::Dashed, at.values(|t| Some(t.users))));
    }
    let waiting = at.values(|t| t.waiting_peak.map(|n| n as f64));
    if waiting.iter().flatten().any(|n| *n > 0.0) {
        series.push(Series::new("waiting", "waiting for a connection", 3, Form::Line, waiting).highest());
    }
    Panel::new("in_flight", Axis::new("in flight", Unit::Count), series)
}

pub fn connections(at: &Rows) -> Panel {
    let open = at.values(|t| Some(t.connections_open as f64));
    let label = "connections open";
    let series = vec![Series::new("open", label, 0, Form::Line, open)];
    Panel::new("connections", Axis::new(label, Unit::Count), series)
}

pub fn opened(at: &Rows) -> Panel {
    let opened = at.values(|t| per_s(t.connections_opened, t));
    let label = "connections opened";
    let series = vec![Series::new("opened", label, 1, Form::Line, opened).highest()];
    Panel::new("opened", Axis::new(label, Unit::PerSecond), series)
}

/// Returns one layer for each class of failures that occurred, or one for all without classes. `failed` returns the
/// number of a class in a row.
pub fn errors(classes: &[&str], failed: &dyn Fn(usize, usize) -> Option<u64>, at: &Rows) -> Panel {
    let mut series = Vec::new();
    for (class, name) in classes.iter().enumerate() {
        let rates = at.numbered(|row, t| per_s(failed(class, row)?, t));
        // A live view knows its classes before their values.
        if rates.is_empty() || rates.iter().flatten().any(|rate| *rate > 0.0) {
            let color = COLOURS[series.len() % COLOURS.len()];
            series.push(Series::new(name, name.replace('_', " "), color, Form::Bars, rates).highest());
        }
    }
    if series.is_empty() {
        let all = at.values(|t| per_s(t.errors, t));
        series.push(Series::new("errors", "failures", 1, Form::Bars, all).highest());
    }
    let mut panel = Panel::new("errors", Axis::new("failures", Unit::PerSecond), series);
    panel.stacked = true;
    panel
}

/// Warm colors first, because these are failures.
const COLOURS: [u8; 7] = [1, 3, 4, 6, 5, 2, 0];

pub fn bytes(at: &Rows) -> Panel {
    let series = vec![
        Series::new("bytes_in", "received", 0, Form::Line, at.values(|t| per_s(t.bytes_in, t))),
        Series::new("bytes_out", "sent", 1, Form::Line, at.values(|t| per_s(t.bytes_out, t))),
    ];
    Panel::new("bytes", Axis::new("bytes", Unit::BytesPerSecond), series)
}

/// The failures of the load generator.
pub fn schedule_lag(at: &Rows) -> Panel {
    let late = at.values(|t| t.schedule_lag_p99_ns.map(|ns| ns as f64));
    let label = "schedule lag p99";
    let series = vec![Series::new("schedule_lag_p99", label, 5, Form::Line, late).highest()];
    Panel::new("schedule_lag", Axis::new(label, Unit::Nanoseconds), series)
}
