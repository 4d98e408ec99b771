//! Distributions of response times, per second and in total: bands, plateaus, and pauses that percentiles do not show.

use super::{not_drawn, over_time, per_s, time_limits};
use crate::format::{chosen_s, count, counted, ratio};
use plimsoll_analysis::picture::{Heat as Seen, Picture};
use plimsoll_analysis::summary::{Second, Summary};
use plimsoll_chart::{Axis, Chart, Form, Heat, Panel, Scale, Series, Unit};

/// Columns of the distribution.
const BARS: usize = 60;

/// Two heat maps look the same if at most this share of the times lies in different cells.
const ALIKE: f64 = 0.01;

/// Returns the share of the times that lie in a different cell of the second heat map; `None` if they differ in cells
/// or times.
fn moved(a: &Seen, b: &Seen) -> Option<f64> {
    let sum = |seen: &Seen| seen.counts.iter().flatten().sum::<u64>();
    if a.from_s != b.from_s || a.edges_ns != b.edges_ns || a.counts.len() != b.counts.len() {
        return None;
    }
    let rows = a.edges_ns.len();
    let columns = a.counts.iter().zip(&b.counts);
    let of = |column: &[u64], row: usize| column.get(row).copied().unwrap_or(0);
    let apart: u64 =
        columns.flat_map(|(a, b)| (0..rows).map(move |row| of(a, row).abs_diff(of(b, row)))).sum();
    // A moved time is missing in one cell and surplus in another.
    (sum(a) > 0 && sum(a) == sum(b)).then(|| apart as f64 / 2.0 / sum(a) as f64)
}

/// Returns the heat map of response times, and of service times if it looks different; none without times.
pub fn heats(s: &Summary, p: &Picture, rows: &[Second]) -> Vec<Chart> {
    let of = |id: &str, title: &str, what: &str, seen: &Seen| {
        let total: u64 = seen.counts.iter().flatten().sum();
        if total == 0 || seen.edges_ns.len() < 2 {
            return None;
        }
        let mut chart = over_time(id, title, s, p);
        let width = seen.from_s.get(1).unwrap_or(&seen.to_s) - seen.from_s.first().unwrap_or(&0.0);
        chart.subtitle = format!(
            "{} in {} columns of {}{}",
            counted(total, "time"),
            count(seen.from_s.len() as u64),
            chosen_s(width),
            not_drawn(seen.cut_off.iter().sum())
        );
        chart.help = "Each cell counts the requests that completed in that period after that time; darker cells \
                      count more. Two horizontal bands are two kinds of responses; a vertical streak is a pause."
            .into();
        chart.xs = seen.from_s.clone();
        chart.x.to = Some(seen.to_s.max(chart.x.to.unwrap_or(0.0)));
        let y = Axis::new(what, Unit::Nanoseconds).scaled(Scale::Log);
        let mut panel = Panel::new("heat", y, Vec::new());
        panel.heat =
            Some(Heat { edges: seen.edges_ns.clone(), counts: seen.counts.clone(), what: "times".into() });
        if what == "response time" {
            panel.limits = time_limits(s);
        }
        chart.panels.push(panel);
        chart.panels.extend(failures(rows));
        Some(chart)
    };
    let mut response = of("heat", "Response times over time", "response time", &p.response_heat);
    let twin = moved(&p.response_heat, &p.service_heat).filter(|share| *share <= ALIKE);
    if let (Some(chart), Some(share)) = (&mut response, twin) {
        let how = match share > 0.0 {
            true => format!("{} of them in a different cell", ratio(share)),
            false => "all in the same cells".into(),
        };
        chart.subtitle.push_str(&format!("; service times look the same ({how})"));
        return response.into_iter().collect();
    }
    let service = of("heat-service", "Service times over time", "service time", &p.service_heat);
    response.into_iter().chain(service).collect()
}

fn failures(rows: &[Second]) -> Option<Panel> {
    let x = rows.iter().map(|row| row.from_s + row.length_s / 2.0).collect();
    let y = rows.iter().map(|row| per_s(row.errors, row)).collect();
    let series = Series::new("errors", "failures", 1, Form::Bars, y).at(x).highest();
    let has_any = rows.iter().any(|row| row.errors > 0);
    has_any.then(|| Panel::new("errors", Axis::new("failures", Unit::PerSecond), vec![series]))
}

/// Columns of the measurement period.
fn measured(s: &Summary, seen: &Seen) -> impl Iterator<Item = usize> {
    let warmup_s = s.totals.warmup_s;
    (0..).zip(&seen.from_s).filter(move |(_, from_s)| **from_s >= warmup_s - 1e-6).map(|(at, _)| at)
}

/// Times of the measurement period that are in no cell.
pub fn cut_off(s: &Summary, p: &Picture) -> u64 {
    measured(s, &p.response_heat).filter_map(|at| p.response_heat.cut_off.get(at)).sum()
}

/// Returns the number of requests by duration, without the warm-up.
pub fn distribution(s: &Summary, p: &Picture) -> Option<Chart> {
    let seen = &p.response_heat;
    let rows = seen.edges_ns.len().checked_sub(1)?;
    let mut sums = vec![0u64; rows];
    for at in measured(s, seen) {
        let Some(column) = seen.counts.get(at) else { continue };
        sums.iter_mut().zip(column).for_each(|(sum, n)| *sum += n);
    }
    let first = sums.iter().position(|n| *n > 0)?;
    let last = sums.iter().rposition(|n| *n > 0)? + 1;
    let width = (last - first).div_ceil(BARS).max(1);
    let edge = |at: usize| seen.edges_ns.get(at.min(rows)).copied().unwrap_or(1.0).max(1.0);
    let bins: Vec<(f64, f64, u64)> = (first..last)
        .step_by(width)
        // The last column is as wide as the others; otherwise, its bar would be too small.
        .map(|at| (edge(at), edge(at + width), sums[at..(at + width).min(last)].iter().sum()))
        .collect();
    let (from, to) = (bins.first()?.0, bins.last()?.1);
    let axis = Axis::new("response time", Unit::Nanoseconds).scaled(Scale::Log).between(from, to);
    let mut chart = Chart::new("distribution", "Distribution of response times", axis);
    let total: u64 = bins.iter().map(|(.., n)| n).sum();
    chart.subtitle =
        format!("{} in the measurement period{}", counted(total, "time"), not_drawn(cut_off(s, p)));
    chart.help =
        "Columns are equally wide on a logarithmic axis. Several peaks are several kinds of responses."
            .into();
    // The center on that axis.
    chart.xs = bins.iter().map(|(from, to, _)| (from * to).sqrt()).collect();
    let y = bins.iter().map(|(.., n)| Some(*n as f64)).collect();
    let series = vec![Series::new("requests", "times", 0, Form::Bars, y)];
    chart.panels.push(Panel::new("requests", Axis::new("times", Unit::Count), series));
    Some(chart)
}
