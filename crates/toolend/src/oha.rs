//! The text and the JSON of oha 1.16.
//!
//! Times count from the start of a request, before its connection is opened; with a rate (`-q`), from the send, and
//! with `--latency-correction` from the intended start. The differences: `DNS+dialup` does not include lookups unless
//! each connection makes one; errors are named as plimsoll does; and `rps` (JSON) has the rates of whole seconds.

mod json;

pub use json::json;

use crate::figures::{Figures, OTHER_STATUS, at_index, extremes_s};
use plimsoll_lines::oha::{Oha, TIME_UNITS, TimeUnit};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use std::fmt::Write;

/// Bars of the histogram.
const BARS: u64 = 11;
/// Percentiles in hundredths of a percent.
const PERCENTILES: [u64; 9] = [1_000, 2_500, 5_000, 7_500, 9_000, 9_500, 9_900, 9_990, 9_999];

/// What oha calls the requests in flight at the end of the duration.
const DEADLINE: &str = "aborted due to deadline";

/// Returns the whole text.
pub fn text(figures: &Figures, line: &Oha) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, figures, line);
    out
}

fn times<'a>(figures: &'a Figures, line: &Oha) -> &'a Hist {
    let is_from_send = line.has_rate && !line.is_corrected;
    figures.hist(if is_from_send { SeriesHist::Service } else { SeriesHist::Response })
}

/// Returns the time of each new connection.
fn dialups(figures: &Figures) -> Hist {
    let mut hist = figures.run_hist(RunHist::Dns).clone();
    if hist.is_empty() {
        hist = figures.run_hist(RunHist::Connect).clone();
    } else {
        hist.merge(figures.run_hist(RunHist::Connect));
    }
    hist
}

/// Returns the requests without a response by their names, the most frequent first.
fn errors(figures: &Figures) -> Vec<(&'static str, u64)> {
    let failed = figures.without_response().map(|(fault, count)| (fault.sentence(), count));
    let cut_off = Some((DEADLINE, figures.run_sum(RunSum::InFlightAtEnd))).filter(|(_, count)| *count > 0);
    let mut all: Vec<_> = failed.chain(cut_off).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

/// Returns the share of responses; requests that the end of the duration cut off do not count.
fn success(figures: &Figures) -> f64 {
    let failed: u64 = figures.without_response().map(|(_, count)| count).sum();
    let responses = figures.responses();
    responses as f64 / (responses + failed) as f64
}

fn all_requests(figures: &Figures) -> u64 {
    figures.responses() + errors(figures).iter().map(|(_, count)| count).sum::<u64>()
}

fn write_text(out: &mut String, figures: &Figures, line: &Oha) -> std::fmt::Result {
    let times = times(figures, line);
    let [fastest_s, mean_s, slowest_s] = extremes_s(times);
    let fitting = || TIME_UNITS.iter().find(|unit| slowest_s > unit.seconds).copied();
    let unit = line.time_unit.or_else(fitting).unwrap_or(TIME_UNITS[TIME_UNITS.len() - 1]);
    let shown = |seconds: f64| format!("{:.4} {}", seconds / unit.seconds, unit.name);
    let (elapsed_s, bytes) = (figures.elapsed_s(), figures.sum(SeriesSum::BodyBytes));
    writeln!(out, "Summary:\n  Success rate:\t{:.2}%", 100.0 * success(figures))?;
    writeln!(out, "  Total:\t{}", shown(elapsed_s))?;
    writeln!(out, "  Slowest:\t{}", shown(slowest_s))?;
    writeln!(out, "  Fastest:\t{}", shown(fastest_s))?;
    writeln!(out, "  Average:\t{}", shown(mean_s))?;
    writeln!(out, "  Requests/sec:\t{:.4}", all_requests(figures) as f64 / elapsed_s)?;
    writeln!(out, "\n  Total data:\t{}", size(bytes))?;
    match bytes.checked_div(figures.responses()) {
        Some(each) => writeln!(out, "  Size/request:\t{}", size(each))?,
        None => writeln!(out, "  Size/request:\tNaN")?,
    }
    writeln!(out, "  Size/sec:\t{}", size((bytes as f64 / elapsed_s) as u64))?;
    writeln!(out, "\nResponse time histogram:")?;
    write_histogram(out, times, unit)?;
    writeln!(out, "\nResponse time distribution:")?;
    for percentile in PERCENTILES {
        let value_s = match times.is_empty() {
            true => f64::NAN,
            false => at_index(times, percentile * times.count() / 10_000) as f64 / 1e9,
        };
        writeln!(out, "  {:.2}% in {}", percentile as f64 / 100.0, shown(value_s))?;
    }
    writeln!(out, "\n\nDetails (average, fastest, slowest):")?;
    for (name, hist) in [("DNS+dialup", &dialups(figures)), ("DNS-lookup", figures.run_hist(RunHist::Dns))] {
        let [fastest_s, mean_s, slowest_s] = extremes_s(hist);
        writeln!(out, "  {name}:\t{}, {}, {}", shown(mean_s), shown(fastest_s), shown(slowest_s))?;
    }
    writeln!(out, "\nStatus code distribution:")?;
    let mut statuses: Vec<_> = figures.statuses().collect();
    statuses.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (status, count) in statuses {
        match status {
            OTHER_STATUS => writeln!(out, "  [other] {count} responses")?,
            _ => writeln!(out, "  [{status}] {count} responses")?,
        }
    }
    let errors = errors(figures);
    if !errors.is_empty() {
        writeln!(out, "\nError distribution:")?;
        for (name, count) in errors {
            writeln!(out, "  [{count}] {name}")?;
        }
    }
    Ok(())
}

/// Returns the upper edge (s) and the number of values of each bar.
fn bars(times: &Hist) -> Vec<(f64, u64)> {
    let (Some(min), Some(max)) = (times.min(), times.max()) else { return Vec::new() };
    let mut below = 0;
    let bar = |at: u64| {
        let edge = min + (max - min) * at / (BARS - 1);
        let up_to = if at == BARS - 1 { times.count() } else { times.count_at_most(edge) };
        (edge as f64 / 1e9, up_to - std::mem::replace(&mut below, up_to))
    };
    (0..BARS).map(bar).collect()
}

fn write_histogram(out: &mut String, times: &Hist, unit: TimeUnit) -> std::fmt::Result {
    let bars = bars(times);
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let digits = most.to_string().len();
    let whole = |seconds: f64| ((seconds / unit.seconds) as u64).to_string().len();
    let width = bars.iter().map(|(edge_s, _)| whole(*edge_s)).max().unwrap_or(0) + 4;
    for (edge_s, count) in bars {
        let indent = " ".repeat(digits - count.to_string().len());
        let length = (32.0 * (count as f64 / most as f64)) as usize;
        writeln!(
            out,
            "  {:>width$.3} {} [{count}]{indent} |{}",
            edge_s / unit.seconds,
            unit.name,
            "■".repeat(length)
        )?;
    }
    Ok(())
}

/// Returns a size in the largest binary unit in which it is at least 1.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in UNITS {
        if value < 1_024.0 {
            break;
        }
        (value, unit) = (value / 1_024.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.2} {unit}") }
}
