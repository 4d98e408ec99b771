//! `ab`, its report. `Time per request (mean)` is no measured mean: it is users x duration / requests. The measured one
//! stands in the table, in whole milliseconds; `Waiting` begins after the request was sent, `Total` with the connect.

use crate::model::{Document, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::number::{self, Comma, count, leading, plain};
use crate::tools::text::Text;

const KIB: f64 = 1_024.0;

/// Reads the report that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if !begins(text, at) {
        return None;
    }
    let mut entry = Entry::new(Tool::Ab, text, at);
    if let Some((command, line)) = text.command(at, "ab") {
        entry.word("command", command, line);
    }
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    let mut table = Table::default();
    let mut rate = false;
    while next < end && strangers < 12 {
        let (line, number) = (text.at(next), text.number(next));
        // A second run in the same block begins with its banner or, where that was cut off, with its first fact.
        let again = line.starts_with("This is ApacheBench") || line.starts_with("Server Software:");
        if again && next > at && entry.has(Measure::Users) {
            break;
        }
        next += 1;
        rate |= line.starts_with("Requests per second:");
        let known = line.is_empty()
            || fact(&mut entry, line, number)
            || table.line(&mut entry, line, number)
            || decoration(&mut entry, line, number);
        strangers = if known { 0 } else { strangers + 1 };
        if line.ends_with("(longest request)") {
            break;
        }
    }
    if !rate && !entry.row.figures.is_empty() {
        let line = entry.row.lines.1;
        entry.note_oddity(line, "ab", "the output of ab stops before `Requests per second`");
    }
    let done = entry.has(Measure::Requests);
    if done && !entry.has(Measure::KeepAliveRequests) {
        let line = entry.row.lines.1;
        entry.word("keep_alive", "off", line);
    }
    let path = entry.row.words.get("path").map(|word| word.text.clone()).unwrap_or_default();
    entry.label(&path, "connections");
    entry.finish(document).then_some(next)
}

/// The banner can be missing in a report, and so can all facts above the table of phases.
fn begins(text: &Text, at: usize) -> bool {
    let line = text.at(at);
    let is_table = |line: &str| line == "Connection Times (ms)";
    // ab's rate of bytes is the line above that table.
    let is_end = line.starts_with("Transfer rate:") && line.contains("[Kbytes/sec]");
    if is_table(line) || is_end && (at + 1..at + 4).any(|i| is_table(text.at(i))) {
        return true;
    }
    let is_fact = |line: &str| ["Document Path:", "Concurrency Level:"].iter().any(|k| line.starts_with(k));
    line.starts_with("This is ApacheBench")
        || line.starts_with("Server Software:")
        || line.starts_with("Server Hostname:")
        || is_fact(line)
        // Some quote the lines that matter to them.
        || line.starts_with("Requests per second:")
            && (at + 1..at + 3).any(|i| text.at(i).starts_with("Time per request:"))
        || line.starts_with("Complete requests:")
            && (at + 1..at + 12).any(|i| text.at(i).starts_with("Requests per second:"))
}

/// Lines of the form `Name:   value [unit] (remark)`.
fn fact(entry: &mut Entry, line: &str, number: u32) -> bool {
    let Some((name, rest)) = line.split_once(':') else { return false };
    let rest = rest.trim();
    let place = (number, line);
    let value = rest.split_whitespace().next().unwrap_or("");
    let measure = match name {
        "Server Software" | "Server Hostname" | "Server Port" | "Document Path" | "SSL/TLS Protocol"
        | "Server Temp Key" | "TLS Server Name" => {
            let key = name.strip_prefix("Document ").unwrap_or(name).to_lowercase().replace([' ', '/'], "_");
            entry.take(number);
            entry.word(&key, rest, number);
            return true;
        }
        // With `-l` the length is not compared, and `Variable` stands here.
        "Document Length" if rest == "Variable" => {
            entry.take(number);
            entry.word("body_length", "not compared (`-l`)", number);
            return true;
        }
        "Document Length" => Measure::BodyBytes,
        "Concurrency Level" => Measure::Users,
        "Complete requests" => Measure::Requests,
        "Failed requests" => Measure::Errors,
        "Write errors" => Measure::WriteErrors,
        "Non-2xx responses" => Measure::Non2xx,
        "Keep-Alive requests" => {
            entry.word("keep_alive", "on", number);
            Measure::KeepAliveRequests
        }
        "Total transferred" => Measure::BytesTotal,
        "Total body sent" | "Total POSTed" | "Total PUT" | "Total PATCHed" => Measure::BytesSentTotal,
        "HTML transferred" => {
            entry.other("html transferred", count(value, number), place);
            return true;
        }
        "Time taken for tests" => {
            entry.put(Measure::Duration, plain(value, 1.0, "s", number), place);
            return true;
        }
        "Requests per second" => {
            entry.put(Measure::Rate, plain(value, 1.0, "req/s", number), place);
            return true;
        }
        "Time per request" => {
            let figure = plain(value, 1e-3, "ms", number);
            match rest.contains("across all concurrent") {
                true => entry.put(Measure::TimePerRequestAll, figure, place),
                false => entry.put(Measure::TimePerRequestUsers, figure, place),
            };
            return true;
        }
        "Transfer rate" => {
            entry.put(Measure::BytesPerS, plain(value, KIB, "KB/s", number), place);
            return true;
        }
        "(Connect" => {
            failures(entry, line, number);
            return true;
        }
        _ => return false,
    };
    entry.put(measure, count(value, number), place);
    true
}

/// `(Connect: 0, Receive: 0, Length: 3100, Exceptions: 0)`: `Length` is any answer of another length than the first.
fn failures(entry: &mut Entry, line: &str, number: u32) {
    for part in line.trim_matches(['(', ')', ' ']).split(',') {
        let Some((kind, value)) = part.split_once(':') else { continue };
        let measure = match kind.trim() {
            "Connect" => Measure::ConnectErrors,
            "Receive" => Measure::ReadErrors,
            "Length" => Measure::LengthErrors,
            "Exceptions" => Measure::ExceptionErrors,
            _ => continue,
        };
        entry.put(measure, count(value, number), (number, line));
    }
}

/// The two tables: phases by minimum, mean, deviation, median, maximum; and percentiles.
#[derive(Default)]
struct Table {
    /// `-S` leaves out the median and the deviation.
    short: bool,
    percentiles: bool,
}

impl Table {
    fn line(&mut self, entry: &mut Entry, line: &str, number: u32) -> bool {
        if line.starts_with("min") && line.contains("max") {
            self.short = !line.contains("median");
            entry.take(number);
            return true;
        }
        if line.starts_with("Percentage of the requests served") {
            self.percentiles = true;
            entry.take(number);
            return true;
        }
        if self.percentiles && line.contains('%') {
            return percentile(entry, line, number);
        }
        let Some((name, rest)) = line.split_once(':') else { return false };
        if !["Connect", "Processing", "Waiting", "Total"].contains(&name) {
            return false;
        }
        let values: Vec<&str> = rest.split_whitespace().collect();
        let columns: &[&str] = match (values.len(), self.short) {
            (5, _) => &["min", "mean", "sd", "median", "max"],
            (3, _) => &["min", "mean", "max"],
            _ => &[],
        };
        if columns.is_empty() {
            entry.note_oddity(number, line, "not the columns of ab's table of connection times");
        }
        for (column, value) in columns.iter().zip(values) {
            let figure = plain(value, 1e-3, "ms", number);
            match phase(name, column) {
                Some(measure) => {
                    entry.put(measure, figure, (number, line));
                }
                None => entry.other(format!("{} {column}", name.to_lowercase()), figure, (number, line)),
            }
        }
        true
    }
}

fn phase(name: &str, column: &str) -> Option<Measure> {
    Some(match (name, column) {
        ("Connect", "min") => Measure::ConnectMin,
        ("Connect", "mean") => Measure::ConnectMean,
        ("Connect", "median") => Measure::ConnectMedian,
        ("Connect", "max") => Measure::ConnectMax,
        ("Processing", "mean") => Measure::ProcessingMean,
        ("Processing", "median") => Measure::ProcessingMedian,
        ("Waiting", "mean") => Measure::FirstByteMean,
        ("Waiting", "median") => Measure::FirstByteMedian,
        ("Total", "min") => Measure::Min,
        ("Total", "mean") => Measure::Mean,
        ("Total", "sd") => Measure::StdDev,
        ("Total", "median") => Measure::Percentile(5_000),
        ("Total", "max") => Measure::Max,
        _ => return None,
    })
}

/// `  95%     12`, ` 100%     43 (longest request)`.
fn percentile(entry: &mut Entry, line: &str, number: u32) -> bool {
    let Some((share, rest)) = line.split_once('%') else { return false };
    let Some((share, "")) = leading(share, Comma::Point) else { return false };
    let value = rest.trim_end_matches("(longest request)");
    // The table of phases says the median and the maximum as well: both are kept, to be compared.
    let figure = plain(value, 1e-3, "ms", number);
    if measure_of(share.value).is_some_and(|measure| entry.has(measure)) {
        entry.other(format!("listed p{}", share.value), figure, (number, line));
    } else {
        entry.percentile(share.value, figure, (number, line));
    }
    entry.take(number);
    true
}

fn decoration(entry: &mut Entry, line: &str, number: u32) -> bool {
    const KNOWN: [&str; 8] = [
        "This is ApacheBench",
        "Copyright 1996",
        "Licensed to The Apache",
        "Benchmarking ",
        "Completed ",
        "Finished ",
        "Connection Times (ms)",
        "Send request failed",
    ];
    if let Some(version) = line.strip_prefix("This is ApacheBench, Version ") {
        entry.word("version", version.split_whitespace().next().unwrap_or(version), number);
    }
    // `-p` adds two lines under the transfer rate: sent, and both together.
    if let Some(value) = line.strip_suffix("kb/s sent") {
        entry.put(Measure::BytesSentPerS, plain(value, KIB, "KB/s", number), (number, line));
        return true;
    }
    let known = KNOWN.iter().any(|start| line.starts_with(start))
        || ["kb/s total", "..done"].iter().any(|end| line.ends_with(end));
    if known {
        entry.take(number);
    }
    known || [number::count(line, number).is_some(), line.starts_with("WARNING:")].contains(&true)
}
