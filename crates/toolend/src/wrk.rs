//! The text of wrk 4.1.0.
//!
//! `Latency` counts from the send, with the correction that wrk applies to it: if a response took more than twice the
//! mean time between the requests of a connection, it adds the requests that would have been sent meanwhile. The
//! differences: `Req/Sec` is the rate of whole seconds divided by the number of threads (wrk samples each thread every
//! 100 ms), and `read` counts every request without a response that is not in one of the other three counts.

use crate::figures::{CONNECTING, Figures, middle};
use plimsoll_lines::wrk::Wrk;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use std::fmt::Write;

/// Values that wrk records of each thread: a rate above this one is not counted.
const RATE_MAX_PER_S: u64 = 10_000_000;

/// Returns the whole text, from the header that wrk prints before the test.
pub fn text(figures: &Figures, line: &Wrk) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, figures, line);
    out
}

fn write_text(out: &mut String, figures: &Figures, line: &Wrk) -> std::fmt::Result {
    let requests = figures.responses();
    let elapsed_us = figures.elapsed_ns / 1_000;
    let (elapsed_s, bytes) = (figures.elapsed_s(), figures.sum(SeriesSum::BytesIn) as f64);
    writeln!(out, "Running {} test @ {}", units(line.duration_s as f64, &SECONDS, 0), line.url)?;
    writeln!(out, "  {} threads and {} connections", line.threads, line.connections)?;
    writeln!(out, "  Thread Stats{:>6}{:>11}{:>8}{:>12}", "Avg", "Stdev", "Max", "+/- Stdev")?;
    let latency = latency_us(figures, line.connections, line.timeout_ns);
    write_stats(out, "Latency", &Stats::of(&latency), time_us)?;
    write_stats(out, "Req/Sec", &rates(figures, line.threads), metric)?;
    if line.has_latency {
        writeln!(out, "  Latency Distribution")?;
        for percent in [50, 75, 90, 99] {
            let rank = (f64::from(percent) / 100.0 * latency.count() as f64 + 0.5).round() as u64;
            let value = latency.value_at_rank(rank).unwrap_or(0);
            writeln!(out, "{percent:>7}%{}", padded(&time_us(value as f64), 10))?;
        }
    }
    writeln!(out, "  {requests} requests in {}, {}B read", time_us(elapsed_us as f64), binary(bytes))?;
    let Errors { connect, read, write, timeout, status } = Errors::of(figures);
    if connect + read + write + timeout > 0 {
        writeln!(out, "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}")?;
    }
    if status > 0 {
        writeln!(out, "  Non-2xx or 3xx responses: {status}")?;
    }
    let per_s = |n: f64| if elapsed_s > 0.0 { n / elapsed_s } else { 0.0 };
    writeln!(out, "Requests/sec: {:>9.2}", per_s(requests as f64))?;
    writeln!(out, "Transfer/sec: {:>10}B", binary(per_s(bytes)))
}

/// Returns the service times in us, corrected as wrk does (`stats_correct`). Those of the timeout and above are not
/// recorded.
pub fn latency_us(figures: &Figures, connections: u64, timeout_ns: u64) -> Hist {
    let mut all = Hist::on_demand();
    let timeout_us = timeout_ns / 1_000;
    for (value_us, count) in microseconds(figures.hist(SeriesHist::Service)) {
        if value_us <= timeout_us {
            all.record_n(value_us, count);
        }
    }
    let of_each = figures.responses() / connections.max(1);
    let Some(expected_us) = (figures.elapsed_ns / 1_000).checked_div(of_each).filter(|us| *us > 0) else {
        return all;
    };
    let mut added = Hist::on_demand();
    for (low, high, count) in all.buckets() {
        let value_us = middle(low, high, &all);
        let mut missing_us = if value_us >= 2 * expected_us { value_us - expected_us } else { 0 };
        while missing_us > expected_us {
            added.record_n(missing_us, count);
            missing_us -= expected_us;
        }
    }
    all.merge(&added);
    all
}

/// Returns the values of a histogram of ns in us, with their counts.
fn microseconds(hist: &Hist) -> impl Iterator<Item = (u64, u64)> + '_ {
    hist.buckets().map(|(low, high, count)| (middle(low, high, hist) / 1_000, count))
}

/// A distribution, and its line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// In ascending order, with their counts.
    pub values: Vec<(u64, u64)>,
    pub mean: f64,
    pub std_dev: f64,
    max: u64,
    /// Share of the values that are at most one standard deviation from the mean; not a number without values.
    within: f64,
}

/// The numbers of a run that scripts get.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    pub duration_us: u64,
    pub completed: u64,
    pub bytes: u64,
    pub errors: Errors,
    /// us
    pub latency: Stats,
    /// Requests per second of a thread.
    pub rates: Stats,
}

/// Failed requests as wrk counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errors {
    pub connect: u64,
    pub read: u64,
    pub write: u64,
    pub timeout: u64,
    /// Responses with a status of 400 and above.
    pub status: u64,
}

/// Returns the numbers of a run.
pub fn numbers(figures: &Figures, line: &Wrk) -> Numbers {
    Numbers {
        duration_us: figures.elapsed_ns / 1_000,
        completed: figures.responses(),
        bytes: figures.sum(SeriesSum::BytesIn),
        errors: Errors::of(figures),
        latency: Stats::of(&latency_us(figures, line.connections, line.timeout_ns)),
        rates: rates(figures, line.threads),
    }
}

impl Errors {
    fn of(figures: &Figures) -> Errors {
        let all: u64 = figures.without_response().map(|(_, count)| count).sum();
        let (connect, write) = (figures.failed(CONNECTING), figures.failed(&[Fault::ClientSendRefused]));
        let timeout = figures.failed(&[Fault::Timeout]);
        let refused = figures.statuses().filter(|(status, _)| *status > 399);
        Errors {
            connect,
            read: all.saturating_sub(connect + write + timeout),
            write,
            timeout,
            status: refused.map(|(_, count)| count).sum(),
        }
    }
}

impl Stats {
    fn of(hist: &Hist) -> Stats {
        let values = hist.buckets().map(|(low, high, count)| (middle(low, high, hist), count));
        Stats::of_values(values.collect())
    }

    fn of_values(values: Vec<(u64, u64)>) -> Stats {
        let pairs = || values.iter().map(|(value, count)| (*value as f64, *count as f64));
        let count: f64 = pairs().map(|(_, count)| count).sum();
        let mean = match count {
            0.0 => 0.0,
            _ => pairs().map(|(value, count)| value * count).sum::<f64>() / count,
        };
        let squares: f64 = pairs().map(|(value, count)| (value - mean).powi(2) * count).sum();
        let std_dev = if count < 2.0 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        let near: f64 =
            pairs().filter(|(value, _)| (value - mean).abs() <= std_dev).map(|(_, count)| count).sum();
        let max = values.last().map_or(0, |(value, _)| *value);
        Stats { mean, std_dev, max, within: near / count, values }
    }
}

/// Returns the rates of a thread: those of the seconds, in whole requests per second.
fn rates(figures: &Figures, threads: u64) -> Stats {
    // A last part of a second is too short for a rate.
    let is_long = |length_ns: u64| length_ns >= 100_000_000;
    let seconds = figures.seconds.iter().filter(|second| is_long(second.length_ns));
    let rate = |second: &crate::Second| {
        (second.responses() as f64 * 1e9 / second.length_ns as f64 / threads.max(1) as f64) as u64
    };
    // wrk takes no sample of an interval without requests.
    let mut rates: Vec<u64> = seconds.map(rate).filter(|rate| (1..=RATE_MAX_PER_S).contains(rate)).collect();
    rates.sort_unstable();
    let alike = rates.chunk_by(|a, b| a == b);
    Stats::of_values(alike.filter_map(|part| Some((*part.first()?, part.len() as u64))).collect())
}

fn write_stats(out: &mut String, name: &str, stats: &Stats, unit: fn(f64) -> String) -> std::fmt::Result {
    let Stats { mean, std_dev, max, within, .. } = stats;
    let cells =
        [padded(&unit(*mean), 8), padded(&unit(*std_dev), 10), padded(&unit(*max as f64), 9)].concat();
    match within.is_nan() {
        // As printf does.
        true => writeln!(out, "    {name:<10}{cells}{:>8}%", "-nan"),
        false => writeln!(out, "    {name:<10}{cells}{:>8.2}%", within * 100.0),
    }
}

/// Returns a value so that its digits align, whether its unit has none, one, or two letters.
fn padded(value: &str, width: usize) -> String {
    let letters = value.bytes().rev().take(2);
    let letters = letters.filter(u8::is_ascii_alphabetic).count();
    let pad = 2 - letters;
    let width = width - pad;
    format!("{value:>width$.width$}{}", &"  "[..pad])
}

struct Units {
    scale: f64,
    base: &'static str,
    /// The last unit is never used.
    larger: &'static [&'static str],
}

const MICROSECONDS: Units = Units { scale: 1_000.0, base: "us", larger: &["ms", "s"] };
const SECONDS: Units = Units { scale: 60.0, base: "s", larger: &["m", "h"] };
const BINARY: Units = Units { scale: 1_024.0, base: "", larger: &["K", "M", "G", "T", "P"] };
const METRIC: Units = Units { scale: 1_000.0, base: "", larger: &["k", "M", "G", "T", "P"] };

fn units(mut value: f64, of: &Units, decimals: usize) -> String {
    let mut unit = of.base;
    // 0.85 of the next unit is shown in it.
    for next in &of.larger[..of.larger.len() - 1] {
        if value < of.scale * 0.85 {
            break;
        }
        value /= of.scale;
        unit = next;
    }
    format!("{value:.decimals$}{unit}")
}

fn time_us(value_us: f64) -> String {
    match value_us >= 1e6 {
        true => units(value_us / 1e6, &SECONDS, 2),
        false => units(value_us, &MICROSECONDS, 2),
    }
}

fn metric(value: f64) -> String {
    units(value, &METRIC, 2)
}

fn binary(bytes: f64) -> String {
    units(bytes, &BINARY, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_units_of_wrk() {
        let table = [
            (units(10.0, &SECONDS, 0), "10s"),
            (units(60.0, &SECONDS, 0), "1m"),
            (units(7_200.0, &SECONDS, 0), "120m"),
            (time_us(45.0), "45.00us"),
            (time_us(900.0), "0.90ms"),
            (time_us(999_930.0), "999.93ms"),
            (time_us(1_000_000.0), "1.00s"),
            (time_us(5_060_000.0), "5.06s"),
            (metric(920.0), "0.92k"),
            (metric(704.88), "704.88"),
            (binary(46.0 * 1_048_576.0), "46.00M"),
        ];
        for (written, expected) in table {
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn values_align_by_their_digits() {
        assert_eq!(padded("1.49ms", 8), "  1.49ms");
        assert_eq!(padded("30.58k", 8), " 30.58k ");
        assert_eq!(padded("9.61", 8), "  9.61  ");
    }
}
