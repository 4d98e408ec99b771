//! The files of ab: percentiles (`-e`), and single requests (`-g`).

use super::ms;
use crate::figures::{Figures, at_index, middle};
use plimsoll_plan::calendar::utc;
use plimsoll_plan::metric::{PHASE_UNIT_NS, RunHist, SeriesHist};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_stats::Hist;
use std::fmt::Write;

/// Returns the percentiles from 0 to 100 as CSV.
pub fn csv(figures: &Figures) -> String {
    let all = figures.hist(SeriesHist::Response);
    let mut out = String::from("Percentage served,Time in ms\n");
    if all.is_empty() {
        return out;
    }
    for percent in 0..=100 {
        let value_ns = match percent {
            0 => all.min().unwrap_or(0),
            100 => all.max().unwrap_or(0),
            _ => at_index(all, (0.5 + all.count() as f64 * f64::from(percent) / 100.0) as u64),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{percent},{:.3}", value_ns as f64 / 1e6);
    }
    out
}

/// Returns a row for each response, by response time, for gnuplot. The start is that of the second in which the
/// response was received (UTC); `ctime` and `wait` are the means of the responses that took as long.
pub fn gnuplot(figures: &Figures) -> String {
    let mut rows: Vec<(u64, u64, u64)> = Vec::new();
    for second in &figures.seconds {
        let times = second.hist(SeriesHist::Response);
        let start_s = (figures.started_unix_ns + second.from_ns) / SECOND_NS;
        rows.extend(times.buckets().map(|(low, high, count)| (middle(low, high, times), start_s, count)));
    }
    rows.sort_unstable();
    let all = figures.hist(SeriesHist::Response);
    let (waits, first_bytes) =
        (figures.run_hist(RunHist::WaitByResponse), figures.run_hist(RunHist::FirstByteByResponse));
    let mut out = String::from("starttime\tseconds\tctime\tdtime\tttime\twait\n");
    for (total_ns, start_s, count) in rows {
        let connect_ns = mean_of(waits, all, total_ns).min(total_ns);
        let wait_ns = mean_of(first_bytes, all, total_ns).min(total_ns - connect_ns);
        let row = format!(
            "{}\t{start_s}\t{}\t{}\t{}\t{}\n",
            date(start_s),
            ms(connect_ns),
            ms(total_ns - connect_ns),
            ms(total_ns),
            ms(wait_ns)
        );
        (0..count).for_each(|_| out.push_str(&row));
    }
    out
}

/// Returns the mean of a phase over the responses that took about `total_ns`. The phase is recorded as sums, by
/// response time.
fn mean_of(phase: &Hist, all: &Hist, total_ns: u64) -> u64 {
    // Both have the same buckets.
    let count = |of: &Hist| {
        let mut buckets = of.buckets();
        buckets.find(|(low, high, _)| (*low..=*high).contains(&total_ns)).map_or(0, |(_, _, count)| count)
    };
    count(phase).saturating_mul(PHASE_UNIT_NS).checked_div(count(all)).unwrap_or(0)
}

/// Returns a date as the portable runtime of Apache writes it, but always in UTC.
fn date(unix_s: u64) -> String {
    utc(unix_s * SECOND_NS).strftime("%a %b %d %H:%M:%S %Y").to_string()
}
