//! The reports of Vegeta 12: text, JSON, histogram, and plot of percentiles.
//!
//! Latencies count from the intended start of a request. The differences: `attack` is the planned time from the first
//! send to the last, `wait` is the mean response time if the last response came before the end of the planned duration,
//! statuses have the usual phrases instead of those that the server sent, and other errors are named as plimsoll does.

mod go;
mod json;

pub use json::json;

use crate::figures::{Figures, OTHER_STATUS};
use go::{duration, rounded};
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_plan::status;
use plimsoll_stats::Hist;
use std::fmt::Write;

/// The numbers of all reports.
struct Attack {
    requests: u64,
    rate: f64,
    throughput: f64,
    duration_ns: u64,
    wait_ns: u64,
    success: f64,
    bytes_in: u64,
    /// Bytes of request bodies: Vegeta does not count heads.
    bytes_out: u64,
    statuses: Vec<(String, u64)>,
    errors: Vec<String>,
}

impl Attack {
    fn of(figures: &Figures) -> Attack {
        let planned_ns = figures.planned_ns.unwrap_or(u64::MAX).min(figures.elapsed_ns);
        let (duration_ns, wait_ns) = spans(figures, planned_ns);
        let failed: u64 = figures.without_response().map(|(_, count)| count).sum();
        let requests = figures.responses() + failed;
        let usual = figures.statuses().filter(|(status, _)| (200..400).contains(status));
        let usual: u64 = usual.map(|(_, count)| count).sum();
        let per_s = |count: u64, ns: u64| if ns > 0 { count as f64 * 1e9 / ns as f64 } else { 0.0 };
        let mut statuses: Vec<(String, u64)> = Vec::new();
        if failed > 0 {
            statuses.push(("0".to_owned(), failed));
        }
        statuses.extend(figures.statuses().map(|(status, count)| match status {
            OTHER_STATUS => ("other".to_owned(), count),
            _ => (status.to_string(), count),
        }));
        let refused = figures.statuses().filter(|(status, _)| !(200..400).contains(status));
        let refused = refused.map(|(status, _)| format!("{status} {}", status::phrase(status)));
        let faults = figures.without_response().map(|(fault, _)| fault.sentence().to_owned());
        Attack {
            requests,
            rate: per_s(requests, duration_ns),
            throughput: per_s(usual, duration_ns + wait_ns),
            duration_ns,
            wait_ns,
            success: if requests > 0 { usual as f64 / requests as f64 } else { 0.0 },
            bytes_in: figures.sum(SeriesSum::BodyBytes),
            bytes_out: figures.body_bytes_out,
            statuses,
            errors: refused.chain(faults).collect(),
        }
    }
}

/// Returns the time from the first send to the last, and the time from there to the last response, ns.
fn spans(figures: &Figures, planned_ns: u64) -> (u64, u64) {
    let attack_ns = planned_ns.saturating_sub(figures.interval_ns.unwrap_or(0));
    let wait_ns = match figures.elapsed_ns > planned_ns {
        true => figures.elapsed_ns - attack_ns,
        // The last response came before the end of the duration: a usual one.
        false => latencies(figures).mean().unwrap_or(0.0) as u64,
    };
    (attack_ns, wait_ns.min(figures.elapsed_ns - attack_ns))
}

/// Returns the text.
pub fn text(figures: &Figures) -> String {
    let attack = Attack::of(figures);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, &attack, latencies(figures));
    out
}

fn latencies(figures: &Figures) -> &Hist {
    figures.hist(SeriesHist::Response)
}

fn write_text(out: &mut String, attack: &Attack, times: &Hist) -> std::fmt::Result {
    let shown = |ns: u64| duration(rounded(ns));
    let at = |q: f64| times.quantile(q).unwrap_or(0);
    let total_ns = attack.duration_ns + attack.wait_ns;
    let each = |bytes: u64| if attack.requests > 0 { bytes as f64 / attack.requests as f64 } else { 0.0 };
    let mean_ns = times.mean().unwrap_or(0.0) as u64;
    let values =
        [times.min().unwrap_or(0), mean_ns, at(0.5), at(0.9), at(0.95), at(0.99), times.max().unwrap_or(0)];
    let codes = attack.statuses.iter().map(|(status, count)| format!("{status}:{count}  "));
    let rows = [
        ("Requests", "[total, rate, throughput]", {
            format!("{}, {:.2}, {:.2}", attack.requests, attack.rate, attack.throughput)
        }),
        ("Duration", "[total, attack, wait]", {
            [total_ns, attack.duration_ns, attack.wait_ns].map(shown).join(", ")
        }),
        ("Latencies", "[min, mean, 50, 90, 95, 99, max]", values.map(shown).join(", ")),
        ("Bytes In", "[total, mean]", format!("{}, {:.2}", attack.bytes_in, each(attack.bytes_in))),
        ("Bytes Out", "[total, mean]", format!("{}, {:.2}", attack.bytes_out, each(attack.bytes_out))),
        ("Success", "[ratio]", format!("{:.2}%", attack.success * 100.0)),
        ("Status Codes", "[code:count]", codes.collect()),
    ];
    for (name, fields, values) in rows {
        writeln!(out, "{name:<14}{fields:<34}{values}")?;
    }
    writeln!(out, "Error Set:")?;
    attack.errors.iter().try_for_each(|error| writeln!(out, "{error}"))
}

/// Returns the histogram; `edges_ns` begins with 0.
pub fn histogram(figures: &Figures, edges_ns: &[u64]) -> String {
    let times = latencies(figures);
    let mut rows = vec![["Bucket".to_owned(), String::new(), "#".to_owned(), "%".to_owned()]];
    let mut bars = vec!["Histogram".to_owned()];
    for (count, low, high) in counts(times, edges_ns) {
        let ratio = if times.is_empty() { 0.0 } else { count as f64 / times.count() as f64 };
        let high = high.map_or_else(|| "+Inf".to_owned(), duration);
        rows.push([
            format!("[{},", duration(low)),
            format!("{high}]"),
            count.to_string(),
            format!("{:.2}%", ratio * 100.0),
        ]);
        bars.push("#".repeat((ratio * 75.0) as usize));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0) + 2;
    let widths = [width(0), width(1), width(2), width(3)];
    let mut out = String::new();
    for (row, bar) in rows.iter().zip(&bars) {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(out, "{cell:<width$}");
        }
        let _ = writeln!(out, "{bar}");
    }
    out
}

/// Returns count, lower edge, and upper edge of each bucket.
fn counts<'a>(times: &'a Hist, edges_ns: &'a [u64]) -> impl Iterator<Item = (u64, u64, Option<u64>)> + 'a {
    let below = |edge: u64| if edge == 0 { 0 } else { times.count_at_most(edge - 1) };
    edges_ns.iter().enumerate().map(move |(at, low)| {
        let high = edges_ns.get(at + 1).copied();
        let up_to = high.map_or(times.count(), below);
        (up_to - below(*low), *low, high)
    })
}

/// Returns percentiles in the format of HdrHistogram plots.
pub fn hdr_plot(figures: &Figures) -> String {
    let times = latencies(figures);
    let mut rows = vec![["Value(ms)", "Percentile", "TotalCount"].map(str::to_owned)];
    let mut last = vec!["1/(1-Percentile)".to_owned()];
    for q in quantiles() {
        let value_ns = times.quantile(q).unwrap_or(0);
        let count = (q * times.count() as f64 + 0.5) as u64;
        rows.push([format!("{:.6}", value_ns as f64 / 1e6), format!("{q:.6}"), count.to_string()]);
        last.push(format!("{:.6}", if q < 1.0 { 1.0 / (1.0 - q) } else { 1e7 }));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0) + 2;
    let widths = [width(0), width(1), width(2)];
    let mut out = String::new();
    for (row, last) in rows.iter().zip(&last) {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(out, "{cell:<width$}");
        }
        let _ = writeln!(out, "{last}");
    }
    out
}

/// Returns the quantiles of the plot: steps that halve with each power of two of `1 / (1 - q)`, rounded to six digits,
/// as HdrHistogram prints them with five steps for each half.
fn quantiles() -> Vec<f64> {
    let mut all: Vec<f64> = [0.0, 0.1, 0.2, 0.3, 0.4].to_vec();
    let mut rest = 0.5;
    while rest > 1e-6 {
        all.extend((0..5).map(|step| 1.0 - rest * (1.0 - f64::from(step) / 10.0)));
        rest /= 2.0;
    }
    let mut all: Vec<f64> = all.into_iter().map(|q| (q * 1e6).round() / 1e6).filter(|q| *q < 1.0).collect();
    all.dedup();
    all.push(1.0);
    all
}
