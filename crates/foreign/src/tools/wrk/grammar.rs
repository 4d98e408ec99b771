//! wrk and wrk2. Sizes are binary (`KB` is 1,024 bytes), latencies were made longer by a correction that assumes a
//! fixed interval (`stats_correct` in wrk), and errors are printed only when there were any.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, count, leading, percent, with_unit};
use crate::tools::text::Text;

/// Reads the output that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let titles = |line: &str| line.starts_with("Thread Stats") && line.ends_with("+/- Stdev");
    if running(text.at(at)).is_none() && threads(text.at(at)).is_none() && !titles(text.at(at)) {
        return None;
    }
    report(text, at, document)
}

/// The end of an output whose beginning is cut off.
pub fn read_end(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let line = text.at(at);
    (line.contains(" requests in ") && line.ends_with(" read")).then_some(())?;
    report(text, at, document)
}

fn report(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let mut entry = Entry::new(Tool::Wrk, text, at);
    let mut pipeline = None;
    if let Some((command, line)) = text.command(at, "wrk").or_else(|| text.command(at, "wrk2")) {
        // wrk2 prints nowhere what it was asked for, its command does.
        if let Some(rate) = option(&command, "-R").or_else(|| option(&command, "--rate")) {
            entry.row.tool = Some(Tool::Wrk2);
            entry.put(Measure::OfferedRate, with_unit(rate, line, number::metric), (line, &command));
        }
        if command.contains("pipeline") {
            pipeline = Some(command.split_whitespace().next_back().and_then(|last| count(last, line)));
        }
        entry.word("command", command, line);
    }
    let (end, mut next, mut corrected) = (text.end(at), at, true);
    let (mut whole, mut no_rate, mut has_p99) = (false, false, false);
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && running(line).is_some() || entry.has(Measure::Users) && threads(line).is_some() {
            break;
        }
        next += 1;
        if line.starts_with("Thread calibration:") || line.contains("Recorded Latency") {
            entry.row.tool = Some(Tool::Wrk2);
        }
        no_rate |= line.starts_with("Req/Sec") && line.contains("-nan");
        if line.contains("Uncorrected Latency") {
            corrected = false;
        }
        // Forks of wrk2 print p99 in the column of the maximum.
        has_p99 |= line.starts_with("Thread Stats") && line.contains(" 99% ");
        take_line(&mut entry, line, number, corrected);
        if has_p99 && line.starts_with("Latency  ") {
            entry.row.tool = Some(Tool::Wrk2);
            if let Some(p99) = entry.row.figures.remove(&Measure::Max) {
                entry.row.figures.insert(Measure::Percentile(9_900), p99);
            }
        }
        if has_p99 && line.starts_with("Req/Sec") {
            entry.row.figures.remove(&Measure::ThreadRateMax);
        }
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
    // Runs that end before the calibration have no rate per thread, of which wrk has one whenever it has a response.
    let answered = entry.row.figures.get(&Measure::Requests).is_some_and(|n| n.value > 0.0);
    if no_rate && answered {
        entry.row.tool = Some(Tool::Wrk2);
    }
    pipelined(&mut entry, pipeline);
    if entry.row.tool == Some(Tool::Wrk2) {
        definitions_of_wrk2(&mut entry);
    }
    if whole && !entry.row.words.contains_key("errors") {
        let line = entry.row.lines.1;
        entry.word("errors", "none printed: wrk prints them only when there were any", line);
    }
    entry.finish(document).then_some(next)
}

/// `-R40000`, `-R 40000`, `--rate 40000`.
fn option<'a>(command: &'a str, flag: &str) -> Option<&'a str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag)? {
        "" => words.get(at + 1).copied(),
        own => Some(own.trim_start_matches('=')),
    })
}

/// Several requests on each connection: their number stands last in the command, or nowhere.
fn pipelined(entry: &mut Entry, pipeline: Option<Option<Figure>>) {
    let Some(each) = pipeline else { return };
    let users = entry.row.figures.get(&Measure::Users).cloned();
    match each.filter(|each| each.value >= 1.0).zip(users) {
        Some((each, users)) => {
            let written = format!("{} x {}", users.written, each.written);
            let product = Figure::exact(users.value * each.value, written, users.line);
            entry.row.figures.insert(Measure::Users, product);
        }
        None => {
            let line = entry.row.lines.0;
            entry.word("pipelined", "an unknown number of requests", line);
        }
    }
}

/// wrk2 keeps three significant digits: a value of its spectrum is the upper end of a bucket, and may exceed `Max`.
fn definitions_of_wrk2(entry: &mut Entry) {
    const RESOLUTION: f64 = 1e-3;
    if let Some(max) = entry.row.figures.get_mut(&Measure::Max) {
        max.high *= 1.0 + RESOLUTION;
    }
    if let Some(word) = entry.row.words.get_mut("latency") {
        "from the intended send (wrk2)".clone_into(&mut word.text);
    }
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
