//! The text of loadtest 8: its progress every five seconds, and its result.
//!
//! The difference: responses with a status of 400 and above count as errors under their status (loadtest 8 prints -1
//! for all).

use crate::figures::{Figures, OTHER_STATUS, middle};
use plimsoll_lines::loadtest::Loadtest;
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use std::fmt::Write;

/// Seconds between two lines of progress.
const PROGRESS_S: usize = 5;

/// Returns the whole text. `clients` is the number of clients, `cores` that of the workers.
pub fn text(figures: &Figures, line: &Loadtest, clients: u64, cores: u32) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    if !line.is_quiet {
        let _ = write_progress(&mut out, figures, line);
    }
    let _ = write_result(&mut out, figures, line, clients, cores);
    out
}

fn write_progress(out: &mut String, figures: &Figures, line: &Loadtest) -> std::fmt::Result {
    let (mut all, mut all_errors) = (0, 0);
    for part in figures.seconds.chunks(PROGRESS_S) {
        let length_ns: u64 = part.iter().map(|second| second.length_ns).sum();
        // The last part ends with the test, before its line would be printed.
        if length_ns < PROGRESS_S as u64 * 1_000_000_000 {
            break;
        }
        let mut times = Hist::on_demand();
        part.iter().for_each(|second| times.merge(second.hist(SeriesHist::Response)));
        let requests: u64 = part.iter().map(|second| second.sum(SeriesSum::Finished)).sum();
        let errors: u64 = part.iter().map(|second| second.sum(SeriesSum::Failed)).sum();
        (all, all_errors) = (all + requests, all_errors + errors);
        let share = line
            .max_requests
            .map_or_else(String::new, |max| format!(" ({}%)", (100.0 * all as f64 / max as f64).round()));
        let rate = (requests as f64 * 1e9 / length_ns as f64).round();
        let mean_ms = tenths(times.mean().unwrap_or(0.0) / 1e6);
        writeln!(out, "Requests: {all}{share}, requests per second: {rate}, mean latency: {mean_ms} ms")?;
        if all_errors > 0 {
            let percent = tenths(100.0 * all_errors as f64 / all as f64);
            writeln!(
                out,
                "Errors: {errors}, accumulated errors: {all_errors}, {percent}% of total requests"
            )?;
        }
    }
    Ok(())
}

fn write_result(
    out: &mut String,
    figures: &Figures,
    line: &Loadtest,
    clients: u64,
    cores: u32,
) -> std::fmt::Result {
    let times = figures.hist(SeriesHist::Response);
    let errors = errors(figures);
    let failed: u64 = figures.without_response().map(|(_, count)| count).sum();
    let requests = figures.responses() + failed;
    let elapsed_s = (figures.elapsed_ns / 1_000_000) as f64 / 1e3;
    writeln!(out, "\nTarget URL:          {}", line.url)?;
    match (line.max_requests, line.max_seconds) {
        (Some(max), _) => writeln!(out, "Max requests:        {max}")?,
        (None, Some(max)) => writeln!(out, "Max time (s):        {max}")?,
        (None, None) => {}
    }
    if let Some(rate_per_s) = line.rate_per_s {
        writeln!(out, "Target rps:          {}", rate_per_s.floor())?;
    }
    writeln!(out, "Concurrent clients:  {clients}")?;
    if cores > 1 {
        writeln!(out, "Running on cores:    {cores}")?;
    }
    writeln!(out, "Agent:               {}", if line.has_keep_alive { "keepalive" } else { "none" })?;
    writeln!(out, "\nCompleted requests:  {requests}")?;
    writeln!(out, "Total errors:        {}", errors.iter().map(|(_, count)| count).sum::<u64>())?;
    writeln!(out, "Total time:          {elapsed_s} s")?;
    match times.mean() {
        Some(mean_ns) => writeln!(out, "Mean latency:        {} ms", tenths(mean_ns / 1e6))?,
        None => writeln!(out, "Mean latency:        NaN ms")?,
    }
    writeln!(out, "Effective rps:       {}", (requests as f64 / elapsed_s).round())?;
    writeln!(out, "\nPercentage of requests served within a certain time")?;
    for percent in [50, 90, 95, 99] {
        match whole_ms_above(times, f64::from(percent) / 100.0 * requests as f64) {
            Some(value) => writeln!(out, "  {percent}%      {value} ms")?,
            None => writeln!(out, "  {percent}%      false ms")?,
        }
    }
    writeln!(out, " 100%      {} ms (longest request)", times.max().unwrap_or(0) / 1_000_000)?;
    if !errors.is_empty() {
        out.push('\n');
        for (name, count) in &errors {
            let pad = " ".repeat(4_usize.saturating_sub(name.len()).max(1));
            writeln!(out, " {pad}{name}:   {count} errors")?;
        }
    }
    Ok(())
}

/// Returns the errors by status; loadtest has one code for all requests without a response.
fn errors(figures: &Figures) -> Vec<(String, u64)> {
    let of_status =
        |status: u16| if status == OTHER_STATUS { "other".to_owned() } else { status.to_string() };
    let refused = figures.statuses().filter(|(status, _)| *status >= 400 || *status == OTHER_STATUS);
    let refused = refused.map(|(status, count)| (of_status(status), count));
    let failed: u64 = figures.without_response().map(|(_, count)| count).sum();
    let failed = Some(("-1".to_owned(), failed)).filter(|(_, count)| *count > 0);
    refused.chain(failed).collect()
}

/// Returns the first whole ms with more than `count` values at or below it.
fn whole_ms_above(times: &Hist, count: f64) -> Option<u64> {
    let mut seen = 0;
    let mut buckets = times.buckets().map(|(low, high, count)| (middle(low, high, times) / 1_000_000, count));
    buckets.find_map(|(ms, of_bucket)| {
        seen += of_bucket;
        (seen as f64 > count).then_some(ms)
    })
}

/// Rounds to a tenth, and writes a whole number without a fraction, as JavaScript does.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
