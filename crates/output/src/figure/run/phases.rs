//! The latency breakdown from the fastest to the slowest requests: a tail that waits for a connection is a different
//! problem than one that waits for the first byte.

use super::heat::cut_off;
use super::not_drawn;
use crate::format::{counted, quantile_name};
use plimsoll_analysis::picture::{Picture, Slice};
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::{Axis, Chart, Form, Panel, Series, Unit};

pub fn phases(s: &Summary, p: &Picture) -> Option<Chart> {
    let slices: Vec<&Slice> = p.slices.iter().filter(|slice| slice.requests > 0).collect();
    if slices.is_empty() {
        return None;
    }
    let n = slices.len();
    let mut axis = Axis::new("requests from fastest to slowest", Unit::Plain).between(0.5, n as f64 + 0.5);
    axis.ticks = (1..=n).map(|k| k as f64).collect();
    axis.names = slices.iter().map(|slice| name(slice)).collect();
    let mut chart = Chart::new("phases", "Latency breakdown", axis);
    let total = slices.iter().map(|slice| slice.requests).sum();
    let not_drawn = not_drawn(cut_off(s, p));
    chart.subtitle = format!("mean time of each part, {}{not_drawn}", counted(total, "time"));
    chart.help =
        "Each column is a slice of the requests by response time, and its layers are the parts of that time. The \
         layer that grows to the right causes the tail."
            .into();
    chart.xs = (1..=n).map(|k| k as f64).collect();
    type Phase = (&'static str, &'static str, u8, fn(&Slice) -> f64);
    let phases: [Phase; 3] = [
        ("wait", "connection wait", 7, |slice| slice.wait_ns),
        ("time_to_first_byte", "TTFB", 0, |slice| slice.first_byte_ns),
        ("download", "download", 4, |slice| slice.body_ns),
    ];
    let panel = |id: &str, axis: Axis, value: &dyn Fn(&Slice, f64) -> Option<f64>| {
        let layer = |(phase, name, color, of): &Phase| {
            let y = slices.iter().map(|slice| value(slice, of(slice))).collect();
            // Its color identifies it in the second panel as well.
            let (key, name) =
                if id == "phases" { ((*phase).to_owned(), *name) } else { (format!("{phase}_ratio"), "") };
            Series::new(&key, name, *color, Form::Bars, y)
        };
        let mut panel = Panel::new(id, axis, phases.iter().map(layer).collect());
        panel.stacked = true;
        panel
    };
    chart.panels.push(panel("phases", Axis::new("mean time", Unit::Nanoseconds), &|_, ns| Some(ns)));
    // The slowest requests are so slow that the others are invisible on the same scale.
    let whole = |slice: &Slice| slice.wait_ns + slice.first_byte_ns + slice.body_ns;
    let share = |slice: &Slice, ns: f64| (whole(slice) > 0.0).then(|| ns / whole(slice));
    chart.panels.push(panel("shares", Axis::new("share of the time", Unit::Ratio).between(0.0, 1.0), &share));
    Some(chart)
}

/// Returns `up to p50`, `p50 to p90`, `above p99.9`.
pub fn name(slice: &Slice) -> String {
    match (slice.from_q <= 0.0, slice.to_q >= 1.0) {
        (true, true) => "all".into(),
        (true, false) => format!("up to {}", quantile_name(slice.to_q)),
        (false, true) => format!("above {}", quantile_name(slice.from_q)),
        _ => format!("{} to {}", quantile_name(slice.from_q), quantile_name(slice.to_q)),
    }
}
