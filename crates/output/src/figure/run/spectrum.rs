//! Complete distributions over percentiles: response and service time of all requests, and one line for each request.

use super::{missed_limits, time_limits};
use crate::format::{count, counted, quantile_name};
use plimsoll_analysis::picture::{Picture, Point, Spectrum};
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::{Axis, Chart, Form, Panel, Scale, Series, Unit};

/// Maximum number of distinguishable lines in one panel.
pub const LINES: usize = 7;
/// Minimum number of times: below it, a single one makes the tail, and the table has them.
const TIMES: u64 = 10;
/// If the highest value is this many times the lowest, a linear axis shows only the highest.
const LOG_FROM: f64 = 200.0;

pub fn spectrum(s: &Summary, p: &Picture) -> Option<Chart> {
    let all = p.spectra.first().filter(|all| all.request.is_empty() && !all.response.is_empty())?;
    if all.response_count < TIMES {
        return None;
    }
    let mut series =
        vec![line("response", "response time", 0, Form::Line, &all.response, all.response_samples())];
    if !all.service.is_empty() {
        series.push(line("service", "service time", 2, Form::Dashed, &all.service, all.service_samples()));
    }
    let mut chart = chart("spectrum", "Response times by percentile", series);
    chart.subtitle =
        format!("{} and {}", samples(all.response_count, "response"), samples(all.service_count, "service"));
    if all.censored > 0 {
        let cut_off = counted(all.censored, "time");
        chart.subtitle.push_str(&format!("; {cut_off} counted as lower bounds"));
    }
    if let Some(from) = all.at_least_from {
        chart.subtitle.push_str(&format!("; lower bounds from {} up", quantile_name(from)));
    }
    chart.help = "The slowest requests are on the right: each step covers a tenth of the remaining requests. \
                  Response time starts at the intended start time, service time at the send; the area between is \
                  waiting."
        .into();
    chart.panels[0].limits = time_limits(s);
    Some(chart)
}

fn samples(n: u64, what: &str) -> String {
    format!("{} {what} time{}", count(n), if n == 1 { "" } else { "s" })
}

/// Returns one line for each of the most frequent named requests.
pub fn of_requests(s: &Summary, p: &Picture) -> Option<Chart> {
    let named: Vec<&Spectrum> = p.spectra.iter().filter(|one| !one.request.is_empty()).collect();
    // The curve of a single time would be a point at p0.
    let has_line = |one: &&&Spectrum| one.response_samples() > 1 && !one.response.is_empty();
    let shown: Vec<&Spectrum> = named.iter().filter(has_line).take(LINES).copied().collect();
    if shown.len() < 2 {
        return None;
    }
    let lines = shown.iter().enumerate().map(|(at, one)| {
        let name = match &one.scenario {
            Some(scenario) => format!("{scenario}: {}", one.request),
            None => one.request.clone(),
        };
        line(
            &format!("request-{}", at + 1),
            &name,
            at as u8,
            Form::Line,
            &one.response,
            one.response_samples(),
        )
    });
    let mut chart = chart("spectrum-requests", "Response times by request", lines.collect());
    chart.panels[0].limits = missed_limits(s).collect();
    // The chart only has the most frequent requests; the table has all that were sent.
    let all = s.requests.iter().filter(|row| !row.is_stream).count().max(named.len());
    chart.subtitle = match all - shown.len() {
        0 => format!("{} requests", shown.len()),
        more => format!("the {} most frequent requests; {more} more are in the table", shown.len()),
    };
    Some(chart)
}

pub fn chart(id: &str, title: &str, series: Vec<Series>) -> Chart {
    let most = |of: &dyn Fn(&Series) -> f64| series.iter().map(of).fold(0.0, f64::max);
    let highest = most(&|one| one.y.iter().flatten().copied().fold(0.0, f64::max));
    let lowest =
        series.iter().filter_map(|one| one.y.iter().flatten().next()).copied().fold(f64::INFINITY, f64::min);
    let scale = if lowest > 0.0 && highest / lowest > LOG_FROM { Scale::Log } else { Scale::Linear };
    let to = most(&|one| one.x.iter().flatten().copied().fold(0.0, f64::max));
    let x = Axis::new("percentile", Unit::Quantile).scaled(Scale::Nines).between(0.0, to.max(0.9));
    let mut chart = Chart::new(id, title, x);
    let y = Axis::new("response time", Unit::Nanoseconds).scaled(scale);
    chart.panels.push(Panel::new("times", y, series));
    chart
}

/// The longest of n times, completed or censored, is at 1 - 1/n, because the axis has no place for 1.
pub fn line(id: &str, name: &str, color: u8, form: Form, points: &[Point], n: u64) -> Series {
    let end = 1.0 - 1.0 / n.max(1) as f64;
    let x = points.iter().map(|point| point.q.min(end)).collect();
    let y = points.iter().map(|point| Some(point.value_ns as f64)).collect();
    Series::new(id, name, color, form, y).at(x).highest()
}
