//! The text of ab 2.3, and its files of percentiles (`-e`) and of single requests (`-g`).
//!
//! `Connect`, `Processing`, `Waiting`, and `Total` are the time of the connection, the service time, the time to first
//! byte, and the response time. The differences: the record has no headers of responses, so `Server Software` is empty;
//! the document length is the most frequent one (ab: the first), and lengths in one bucket of the histogram count as
//! equal unless they are the shortest or the longest; requests that timed out, which end the test in ab, count as
//! `Exceptions`; and the rows of `-g` are made from histograms.

mod files;
mod html;

pub use files::{csv, gnuplot};

use crate::figures::{CONNECTING, Figures, at_index, middle};
use plimsoll_lines::ab::Ab;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use std::fmt::Write;

/// Percentiles of the table at the end.
const PERCENTS: [u64; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// Failures that end a connection without a whole response, which ab sees as a wrong length.
const CLOSED: &[Fault] = &[Fault::StaleConnection, Fault::ClosedBeforeResponse, Fault::ClosedMidResponse];

/// Returns the whole text, from the line that ab prints before the test.
pub fn text(figures: &Figures, line: &Ab, banner: &str) -> String {
    let mut out = String::from(banner);
    // Writing to a string cannot fail.
    let _ = write_start(&mut out, line);
    let counts = Counts::of(figures, line);
    let _ = match &line.html {
        Some(look) => html::write(&mut out, figures, &counts, line, look),
        None => write_text(&mut out, figures, &counts, line),
    };
    out
}

/// The counts of ab.
struct Counts {
    complete: u64,
    connect: u64,
    receive: u64,
    length: u64,
    exceptions: u64,
    /// Bytes of the document.
    document: u64,
    not_2xx: u64,
    kept_alive: u64,
}

impl Counts {
    fn of(figures: &Figures, line: &Ab) -> Counts {
        let all: u64 = figures.without_response().map(|(_, count)| count).sum();
        let (connect, receive) = (figures.failed(CONNECTING), figures.failed(&[Fault::ConnectionReset]));
        let closed = figures.failed(CLOSED);
        let (document, others) = lengths(figures.hist(SeriesHist::BodySize));
        let others = if line.any_length { 0 } else { others };
        let not_2xx = figures.statuses().filter(|(status, _)| !(200..300).contains(status));
        let responses = figures.responses();
        Counts {
            complete: responses + all - connect,
            connect,
            receive,
            length: closed + others,
            exceptions: all - connect - receive - closed,
            document,
            not_2xx: not_2xx.map(|(_, count)| count).sum(),
            kept_alive: responses.saturating_sub(figures.run_sum(RunSum::ClosedByServer)),
        }
    }

    fn failed(&self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

/// Returns the most frequent length, and the number of responses with another one.
fn lengths(sizes: &Hist) -> (u64, u64) {
    let most = sizes.buckets().max_by_key(|(_, _, count)| *count);
    most.map_or((0, 0), |(low, high, count)| (middle(low, high, sizes), sizes.count() - count))
}

fn write_start(out: &mut String, line: &Ab) -> std::fmt::Result {
    if line.html.is_some() {
        if !line.has_progress() {
            out.push_str("..done\n");
        }
        return Ok(());
    }
    write!(out, "Benchmarking {} ", line.host)?;
    if let Some((host, port)) = &line.proxy {
        write!(out, "[through {host}:{port}] ")?;
    }
    // The progress, and the end of the test after it, are printed to standard error.
    out.push_str(if line.has_progress() { "(be patient)\n" } else { "(be patient).....done\n" });
    Ok(())
}

fn write_text(out: &mut String, figures: &Figures, counts: &Counts, line: &Ab) -> std::fmt::Result {
    writeln!(out, "\n\nServer Software:        ")?;
    writeln!(out, "Server Hostname:        {}", line.host)?;
    writeln!(out, "Server Port:            {}", line.port)?;
    writeln!(out, "\nDocument Path:          {}", line.path)?;
    match line.any_length {
        true => writeln!(out, "Document Length:        Variable")?,
        false => writeln!(out, "Document Length:        {} bytes", counts.document)?,
    }
    writeln!(out, "\nConcurrency Level:      {}", line.concurrency)?;
    writeln!(out, "Time taken for tests:   {:.3} seconds", figures.elapsed_s())?;
    writeln!(out, "Complete requests:      {}", counts.complete)?;
    writeln!(out, "Failed requests:        {}", counts.failed())?;
    if counts.failed() > 0 {
        let Counts { connect, receive, length, exceptions, .. } = counts;
        writeln!(
            out,
            "   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"
        )?;
    }
    let unsent = figures.failed(&[Fault::ClientSendRefused]);
    if unsent > 0 {
        writeln!(out, "Write errors:           {unsent}")?;
    }
    if counts.not_2xx > 0 {
        writeln!(out, "Non-2xx responses:      {}", counts.not_2xx)?;
    }
    if line.has_keep_alive {
        writeln!(out, "Keep-Alive requests:    {}", counts.kept_alive)?;
    }
    let (received, sent) = (figures.sum(SeriesSum::BytesIn), figures.sum(SeriesSum::BytesOut));
    writeln!(out, "Total transferred:      {received} bytes")?;
    if line.has_body {
        writeln!(out, "Total body sent:        {sent}")?;
    }
    writeln!(out, "HTML transferred:       {} bytes", figures.sum(SeriesSum::BodyBytes))?;
    write_rates(out, figures, counts, line, [received, sent])?;
    if counts.complete > 0 && !figures.hist(SeriesHist::Response).is_empty() {
        write_times(out, figures, line)?;
    }
    Ok(())
}

fn write_rates(
    out: &mut String,
    figures: &Figures,
    counts: &Counts,
    line: &Ab,
    [received, sent]: [u64; 2],
) -> std::fmt::Result {
    let (taken_s, complete) = (figures.elapsed_s(), counts.complete as f64);
    if taken_s <= 0.0 || counts.complete == 0 {
        return Ok(());
    }
    let each_ms = taken_s * 1_000.0 / complete;
    let kib_per_s = |bytes: u64| bytes as f64 / 1_024.0 / taken_s;
    writeln!(out, "Requests per second:    {:.2} [#/sec] (mean)", complete / taken_s)?;
    writeln!(out, "Time per request:       {:.3} [ms] (mean)", line.concurrency as f64 * each_ms)?;
    writeln!(out, "Time per request:       {each_ms:.3} [ms] (mean, across all concurrent requests)")?;
    writeln!(out, "Transfer rate:          {:.2} [Kbytes/sec] received", kib_per_s(received))?;
    if line.has_body {
        writeln!(out, "                        {:.2} kb/s sent", kib_per_s(sent))?;
        writeln!(out, "                        {:.2} kb/s total", kib_per_s(received + sent))?;
    }
    Ok(())
}

/// A row of the table, in whole ms except for the deviation.
struct Times {
    min: u64,
    mean: u64,
    std_dev: f64,
    median: u64,
    max: u64,
}

impl Times {
    fn of(hist: &Hist) -> Times {
        let count = hist.count();
        // ab divides by n - 1.
        let sample = if count > 1 { (count as f64 / (count - 1) as f64).sqrt() } else { 0.0 };
        Times {
            min: ms(hist.min().unwrap_or(0)),
            mean: ms(hist.mean().unwrap_or(0.0) as u64),
            std_dev: hist.std_dev().unwrap_or(0.0) * sample / 1e6,
            median: ms(hist.value_at_rank((count / 2 + 1).min(count)).unwrap_or(0)),
            max: ms(hist.max().unwrap_or(0)),
        }
    }
}

/// Rounds ns to ms.
fn ms(ns: u64) -> u64 {
    (ns + 500_000) / 1_000_000
}

fn write_times(out: &mut String, figures: &Figures, line: &Ab) -> std::fmt::Result {
    let connections = figures.connection_times();
    let rows = [
        ("Connect:", "the initial connection time", Times::of(&connections)),
        ("Processing:", "the processing time", Times::of(figures.hist(SeriesHist::Service))),
        ("Waiting:", "the waiting time", Times::of(figures.hist(SeriesHist::FirstByte))),
        ("Total:", "the total time", Times::of(figures.hist(SeriesHist::Response))),
    ];
    writeln!(out, "\nConnection Times (ms)")?;
    if line.has_confidence {
        writeln!(out, "              min  mean[+/-sd] median   max")?;
        for (name, _, Times { min, mean, std_dev, median, max }) in &rows {
            writeln!(out, "{name:<12}{min:>5} {mean:>4} {std_dev:>5.1} {median:>6} {max:>7}")?;
        }
        for (_, what, times) in &rows {
            let apart = times.mean.abs_diff(times.median) as f64;
            if apart > 2.0 * times.std_dev {
                writeln!(
                    out,
                    "ERROR: The median and mean for {what} are more than twice the standard\n       deviation \
                     apart. These results are NOT reliable."
                )?;
            } else if apart > times.std_dev {
                writeln!(
                    out,
                    "WARNING: The median and mean for {what} are not within a normal deviation\n        These \
                     results are probably not that reliable."
                )?;
            }
        }
    } else {
        writeln!(out, "              min   avg   max")?;
        for (name, _, Times { min, mean, max, .. }) in &rows {
            writeln!(out, "{name:<12}{min:>5} {mean:>5}{max:>5}")?;
        }
    }
    let all = figures.hist(SeriesHist::Response);
    if line.has_percentiles && all.count() > 1 {
        writeln!(out, "\nPercentage of the requests served within a certain time (ms)")?;
        for percent in PERCENTS {
            match percent {
                100 => writeln!(out, " 100%  {:>5} (longest request)", ms(all.max().unwrap_or(0)))?,
                _ => writeln!(out, "  {percent}%  {:>5}", ms(at_index(all, all.count() * percent / 100)))?,
            }
        }
    }
    Ok(())
}
