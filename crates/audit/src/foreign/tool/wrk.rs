//! wrk and wrk2. Sizes are binary (`KB` is 1,024 bytes), latencies were made longer by a correction that assumes a
//! fixed interval (`stats_correct` in wrk), and errors are printed only when there were any.

use super::entry::Entry;
use super::number::{self, count, leading, percent, with_unit};
use super::text::Text;
use crate::foreign::model::{Document, Measure, Tool};

/// Reads the output that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if running(text.at(at)).is_none() && threads(text.at(at)).is_none() {
        return None;
    }
    let mut entry = Entry::new(Tool::Wrk, text, at);
    if let Some((command, line)) = text.command(at, "wrk").or_else(|| text.command(at, "wrk2")) {
        // wrk2 prints nowhere what it was asked for, its command does.
        if let Some((_, rate)) = command.split_once("-R") {
            let rate = rate.split_whitespace().next().unwrap_or("");
            entry.put(Measure::OfferedRate, with_unit(rate, line, number::metric), (line, &command));
        }
        entry.word("command", command, line);
    }
    let (end, mut next, mut corrected) = (text.end(at), at, true);
    let mut whole = false;
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && running(line).is_some() || entry.has(Measure::Users) && threads(line).is_some() {
            break;
        }
        next += 1;
        if line.contains("Uncorrected Latency") {
            corrected = false;
        }
        take_line(&mut entry, line, number, corrected);
        if line.starts_with("Transfer/sec:") {
            whole = true;
            break;
        }
    }
    if !whole {
        entry.note_oddity(
            text.number(next - 1),
            text.at(next - 1),
            "the output of wrk stops before `Transfer/sec`",
        );
    }
    let url = entry.row.words.get("url").map(|word| word.text.clone()).unwrap_or_default();
    entry.label(&url, "connections");
    if whole && !entry.row.words.contains_key("errors") {
        let line = entry.row.lines.1;
        entry.word("errors", "none printed: wrk prints them only when there were any", line);
    }
    entry.finish(document).then_some(next)
}

fn take_line(entry: &mut Entry, line: &str, number: u32, corrected: bool) {
    let place = (number, line);
    let columns: Vec<&str> = line.split_whitespace().collect();
    if let Some((planned, url)) = running(line) {
        entry.word("url", url, number);
        entry.other("planned duration", with_unit(planned, number, number::time_unit), place);
    } else if let Some((threads, connections)) = threads(line) {
        entry.put(Measure::GeneratorThreads, count(threads, number), place);
        entry.put(Measure::Users, count(connections, number), place);
    } else if let ["Latency", mean, deviation, max, within] = columns[..] {
        entry.word("latency", "corrected by wrk for a fixed interval: not raw samples", number);
        statistics(entry, [mean, deviation, max, within], LATENCY, number::time_unit, place);
    } else if let ["Req/Sec", mean, deviation, max, within] = columns[..] {
        statistics(entry, [mean, deviation, max, within], THREAD_RATE, number::metric, place);
    } else if let Some(rest) = line.strip_prefix("Requests/sec:") {
        entry.put(Measure::Rate, number::plain(rest, 1.0, "req/s", number), place);
    } else if let Some(rest) = line.strip_prefix("Transfer/sec:") {
        entry.put(Measure::BytesPerS, with_unit(rest, number, number::binary_size), place);
    } else if let Some(rest) = line.strip_prefix("Socket errors:") {
        socket_errors(entry, rest, place);
    } else if let Some(rest) = line.strip_prefix("Non-2xx or 3xx responses:") {
        entry.word("errors", "printed", number);
        entry.put(Measure::Non2xx, count(rest, number), place);
    } else if let Some((requests, rest)) = line.split_once(" requests in ") {
        let (duration, size) = rest.split_once(", ").unwrap_or((rest, ""));
        entry.put(Measure::Requests, count(requests, number), place);
        entry.put(Measure::Duration, with_unit(duration, number, number::time_unit), place);
        let size = size.trim_end_matches("read").trim();
        entry.put(Measure::BytesTotal, with_unit(size, number, number::binary_size), place);
    } else if let [share, value] = columns[..]
        && let Some(share) = share.strip_suffix('%')
        && let Some((share, "")) = leading(share, number::Comma::Point)
    {
        let figure = with_unit(value, number, number::time_unit);
        match corrected {
            true => entry.percentile(share.value, figure, place),
            false => entry.other(format!("uncorrected p{}", share.value), figure, place),
        }
    } else if is_decoration(line, &columns) {
        entry.take(number);
    }
}

const LATENCY: [Measure; 4] = [Measure::Mean, Measure::StdDev, Measure::Max, Measure::WithinStdDev];
const THREAD_RATE: [Measure; 3] =
    [Measure::ThreadRateMean, Measure::ThreadRateStdDev, Measure::ThreadRateMax];

fn statistics<const N: usize>(
    entry: &mut Entry,
    columns: [&str; 4],
    measures: [Measure; N],
    unit: fn(&str) -> Option<f64>,
    (number, line): (u32, &str),
) {
    for (column, measure) in columns.into_iter().zip(measures) {
        let figure = match measure {
            Measure::WithinStdDev => percent(column, number),
            _ => with_unit(column, number, unit),
        };
        // `-nan%` is what wrk prints when nothing was answered.
        entry.put(measure, figure, (number, line));
    }
    if N == 3 {
        entry.other("req/sec within one deviation", percent(columns[3], number), (number, line));
    }
}

fn socket_errors(entry: &mut Entry, rest: &str, (number, line): (u32, &str)) {
    entry.word("errors", "printed", number);
    for part in rest.split(',') {
        let Some((kind, value)) = part.trim().split_once(' ') else { continue };
        let measure = match kind {
            "connect" => Measure::ConnectErrors,
            "read" => Measure::ReadErrors,
            "write" => Measure::WriteErrors,
            "timeout" => Measure::TimeoutErrors,
            _ => continue,
        };
        entry.put(measure, count(value, number), (number, line));
    }
}

/// `Running 15s test @ URL`: duration and address.
fn running(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("Running ")?.split_once(" test @ ")
}

/// `10 threads and 300 connections`.
fn threads(line: &str) -> Option<(&str, &str)> {
    let (threads, connections) = line.split_once(" threads and ")?;
    let connections = connections.strip_suffix("connections")?.trim();
    (count(threads, 0).is_some() && count(connections, 0).is_some()).then_some((threads, connections))
}

/// Titles, and the spectrum of wrk2, whose every line is a number that the distribution above says as well.
fn is_decoration(line: &str, columns: &[&str]) -> bool {
    const TITLES: [&str; 9] = [
        "Thread Stats",
        "Latency Distribution",
        "Thread calibration:",
        "Initialised",
        "Detailed Percentile spectrum",
        "Value   Percentile",
        "#[",
        "-----",
        "Thread ",
    ];
    TITLES.iter().any(|title| line.starts_with(title))
        || (3..=4).contains(&columns.len())
            && columns.iter().all(|column| *column == "inf" || column.parse::<f64>().is_ok())
}
