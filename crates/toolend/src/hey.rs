//! The text of hey 0.1.5.
//!
//! Times count from the start of a request, before its connection is opened; with a rate (`-q`), from the send. The
//! differences: `DNS+dialup` does not include lookups, which are made once before the test; `req write` is the time
//! until the kernel has taken a request that it did not take at once; and errors are named as plimsoll does.

use crate::figures::{Figures, OTHER_STATUS, at_index, extremes_s};
use plimsoll_lines::hey::Hey;
use plimsoll_plan::metric::{RunHist, SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use std::fmt::Write;

/// Steps of the histogram after its first bar.
const STEPS: u32 = 10;
const PERCENTS: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];

/// Returns the whole text.
pub fn text(figures: &Figures, line: &Hey) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, figures, line);
    out
}

fn write_text(out: &mut String, figures: &Figures, line: &Hey) -> std::fmt::Result {
    let times = figures.hist(if line.has_rate { SeriesHist::Service } else { SeriesHist::Response });
    let errors: Vec<_> = figures.without_response().collect();
    let failed: u64 = errors.iter().map(|(_, count)| count).sum();
    let [fastest_s, mean_s, slowest_s] = extremes_s(times);
    let elapsed_s = figures.elapsed_s();
    let rate = (figures.responses() + failed) as f64 / elapsed_s;
    writeln!(out, "\nSummary:\n  Total:\t{elapsed_s:.4} secs")?;
    writeln!(out, "  Slowest:\t{slowest_s:.4} secs")?;
    writeln!(out, "  Fastest:\t{fastest_s:.4} secs")?;
    match times.is_empty() {
        true => writeln!(out, "  Average:\t NaN secs")?,
        false => writeln!(out, "  Average:\t{mean_s:.4} secs")?,
    }
    writeln!(out, "  Requests/sec:\t{rate:.4}")?;
    // The blanks at the end of this line are those of its template.
    write!(out, "  ")?;
    let bytes = figures.sum(SeriesSum::BodyBytes);
    if bytes > 0 {
        let of_each = bytes.checked_div(times.count()).unwrap_or(0);
        write!(out, "\n  Total data:\t{bytes} bytes\n  Size/request:\t{of_each} bytes")?;
    }
    writeln!(out, "\n\nResponse time histogram:")?;
    write_histogram(out, times)?;
    write!(out, "\n\nLatency distribution:")?;
    for percent in PERCENTS.iter().filter(|_| !times.is_empty()) {
        // The first index whose share of the values reaches the percentage; without one, hey prints zeros.
        let index = (percent * times.count()).div_ceil(100);
        match index < times.count() {
            true => write!(out, "\n  {percent}%% in {:.4} secs", at_index(times, index) as f64 / 1e9)?,
            false => write!(out, "\n  0%% in 0.0000 secs")?,
        }
    }
    writeln!(out, "\n\nDetails (average, fastest, slowest):")?;
    for (name, hist) in [
        ("DNS+dialup", &figures.connection_times()),
        ("DNS-lookup", &of_all(figures.run_hist(RunHist::Dns), times)),
        ("req write", &of_all(figures.run_hist(RunHist::SendBlocked), times)),
        ("resp wait", figures.hist(SeriesHist::FirstByte)),
        ("resp read", figures.hist(SeriesHist::Body)),
    ] {
        let [fastest_s, mean_s, slowest_s] = extremes_s(hist);
        let mean = if times.is_empty() { " NaN".to_owned() } else { format!("{mean_s:.4}") };
        writeln!(out, "  {name}:\t{mean} secs, {fastest_s:.4} secs, {slowest_s:.4} secs")?;
    }
    write!(out, "\nStatus code distribution:")?;
    for (status, count) in figures.statuses() {
        match status {
            OTHER_STATUS => write!(out, "\n  [other]\t{count} responses")?,
            _ => write!(out, "\n  [{status}]\t{count} responses")?,
        }
    }
    writeln!(out, "\n")?;
    if !errors.is_empty() {
        write!(out, "Error distribution:")?;
        for (fault, count) in errors {
            write!(out, "\n  [{count}]\t{}", fault.sentence())?;
        }
    }
    writeln!(out, "\n")
}

/// Returns times of some requests as those of all: 0 for the others.
fn of_all(some: &Hist, all: &Hist) -> Hist {
    let mut hist = some.clone();
    hist.record_n(0, all.count().saturating_sub(some.count()));
    hist
}

fn write_histogram(out: &mut String, times: &Hist) -> std::fmt::Result {
    let (Some(min), Some(max)) = (times.min(), times.max()) else { return Ok(()) };
    let edges = (0..=STEPS).map(|step| min + (max - min) * u64::from(step) / u64::from(STEPS));
    let mut below = 0;
    let bars: Vec<(u64, u64)> = edges
        .map(|edge| {
            let up_to = times.count_at_most(edge);
            (edge, up_to - std::mem::replace(&mut below, up_to))
        })
        .collect();
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
    for (edge, count) in bars {
        let length = (count * 40 + most / 2).checked_div(most).unwrap_or(0);
        writeln!(out, "  {:.3} [{count}]\t|{}", edge as f64 / 1e9, "■".repeat(length as usize))?;
    }
    Ok(())
}
