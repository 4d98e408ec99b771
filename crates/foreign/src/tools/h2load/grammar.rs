//! h2load of nghttp2: `finished in 268.89ms, 7438.01 req/s, 575.61KB/s` and the lines below it. Sizes are binary.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, count, plain, with_unit};
use crate::tools::text::Text;

/// Reads the result that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let rest = text.at(at).strip_prefix("finished in ")?;
    // Up to version 0.7, the duration has commas: `0 sec, 385 millisec and 851 microsec`.
    let (rest, bytes) = rest.rsplit_once(", ")?;
    let (duration, rate) = rest.rsplit_once(", ").filter(|(_, rate)| rate.ends_with(" req/s"))?;
    let mut entry = Entry::new(Tool::H2load, text, at);
    let place = (text.number(at), text.at(at));
    let spelled = || {
        let short = duration.replace("millisec", "ms").replace("microsec", "us").replace("sec", "s");
        number::go_time(&short.replace(" and ", " ").replace([',', ' '], ""), place.0)
    };
    entry.put(Measure::Duration, number::go_time(duration, place.0).or_else(spelled), place);
    entry.put(Measure::Rate, plain(rate.trim_end_matches(" req/s"), 1.0, "req/s", place.0), place);
    entry.put(
        Measure::BytesPerS,
        with_unit(&bytes.trim_end_matches("/s").replace(" kbytes", "KB"), place.0, number::binary_size),
        place,
    );
    if let Some((clients, place)) = clients(text, at) {
        entry.put(Measure::Users, Some(clients), place);
    }
    if let Some((command, line)) = text.command(at, "h2load") {
        entry.word("command", command, line);
    }
    let (end, mut next) = (text.end(at), at + 1);
    while next < end && !text.at(next).is_empty() {
        if !line(&mut entry, text.at(next), text.number(next)) {
            break;
        }
        next += 1;
    }
    timed(&mut entry);
    entry.label("", "clients");
    if entry.row.label.is_empty() {
        "h2load".clone_into(&mut entry.row.label);
    }
    entry.finish(document).then_some(next)
}

/// `spawning thread #0: 10 total client(s). 2000 total requests`, a line for each thread with the clients of its own.
fn clients<'a>(text: &'a Text, at: usize) -> Option<(Figure, (u32, &'a str))> {
    const ABOVE: usize = 200;
    let above = (at.saturating_sub(ABOVE)..at).rev().take_while(|i| !text.at(*i).starts_with("finished in "));
    let of_threads: Vec<(usize, Figure)> = above
        .filter_map(|i| {
            let (clients, _) = text.at(i).split_once(" total client(s)")?;
            Some((i, count(clients.rsplit(' ').next()?, text.number(i))?))
        })
        .collect();
    let (i, first) = of_threads.last()?;
    let place = (text.number(*i), text.at(*i));
    if of_threads.len() == 1 {
        return Some((first.clone(), place));
    }
    let all: f64 = of_threads.iter().map(|(_, clients)| clients.value).sum();
    Some((Figure::exact(all, format!("{all}, of {} threads", of_threads.len()), place.0), place))
}

/// A run for a stated time takes its rate over that time, in whole seconds; `finished in` has warm-up and end as well.
fn timed(entry: &mut Entry) {
    let figure = |measure| entry.row.figures.get(&measure);
    let (Some(done), Some(rate), Some(whole)) =
        (figure(Measure::Requests), figure(Measure::Rate), figure(Measure::Duration))
    else {
        return;
    };
    let failed = figure(Measure::Errors).map_or(0.0, |failed| failed.value);
    let seconds = (done.value - failed) / rate.value;
    let is_whole = seconds >= 1.0 && (seconds - seconds.round()).abs() < 1e-3 * seconds;
    // A warm-up is a part of the time that is measured, and so is what was in flight at the end.
    if is_whole && (seconds.round()..1.3 * seconds + 1.0).contains(&whole.low) {
        let written = format!("{:.0} s, by the rate", seconds.round());
        let own = Figure::exact(seconds.round(), written, whole.line);
        let all = entry.row.figures.insert(Measure::Duration, own);
        let line = entry.row.lines.0;
        entry.other("finished in", all, (line, ""));
    }
}

/// Returns whether requests were abandoned with their connection: these failed, but were not done.
fn has_abandoned(values: &str) -> bool {
    let of = |wanted: &str| {
        let mut parts = values.split(',').filter_map(|part| part.trim().split_once(' '));
        parts.find(|(_, name)| *name == wanted).and_then(|(value, _)| value.parse::<u64>().ok())
    };
    let (Some(total), Some(done)) = (of("total"), of("done")) else { return false };
    let ended = of("succeeded").zip(of("failed")).map(|(succeeded, failed)| succeeded.saturating_add(failed));
    done < total && ended == Some(total) && of("errored").is_some_and(|errored| errored > 0)
}

/// `min max mean sd +/- sd`; version 1.66 puts `median p95 p99` in front of the mean.
const COLUMNS: [&str; 4] = ["min", "max", "mean", "sd"];
const COLUMNS_1_66: [&str; 7] = ["min", "max", "median", "p95", "p99", "mean", "sd"];

/// The times of a line by their columns, without the share within one deviation.
fn columns(values: &str) -> Vec<(&'static str, &str)> {
    let values: Vec<&str> = values.split_whitespace().collect();
    let names = if values.len() > 5 { COLUMNS_1_66.as_slice() } else { COLUMNS.as_slice() };
    names.iter().copied().zip(values).collect()
}

fn times(values: &str, number: u32) -> impl Iterator<Item = (&'static str, Option<Figure>)> {
    columns(values).into_iter().map(move |(name, value)| (name, with_unit(value, number, number::time_unit)))
}

fn line(entry: &mut Entry, line: &str, number: u32) -> bool {
    let place = (number, line);
    if line.starts_with("min") && line.contains("max") {
        entry.take(number);
        return true;
    }
    let Some((name, values)) = line.split_once(':') else { return false };
    match name.trim() {
        "requests" => {
            let whole = if has_abandoned(values) { "total" } else { "done" };
            for part in values.split(',') {
                let Some((value, name)) = part.trim().split_once(' ') else { continue };
                match name {
                    _ if name == whole => {
                        entry.put(Measure::Requests, count(value, number), place);
                    }
                    "errored" => {
                        entry.put(Measure::Errors, count(value, number), place);
                        entry.other(name, count(value, number), place);
                    }
                    _ => entry.other(name, count(value, number), place),
                }
            }
        }
        "status codes" => {
            let mut failed = 0.0;
            for part in values.split(',') {
                let Some((value, name)) = part.trim().split_once(' ') else { continue };
                let answers = count(value, number);
                failed +=
                    answers.as_ref().filter(|_| ["4xx", "5xx"].contains(&name)).map_or(0.0, |f| f.value);
                entry.other(format!("status {name}"), answers, place);
            }
            entry.put(Measure::Non2xx, Some(Figure::exact(failed, format!("{failed}"), number)), place);
        }
        // `traffic: 154.78KB (158490) total, ...`.
        "traffic" => {
            // Up to version 1.3: `1026625 bytes total`.
            let old = values.trim().split_once(" bytes total").map(|(value, _)| value);
            let exact = values.split_once('(').and_then(|(_, rest)| Some(rest.split_once(')')?.0));
            entry.put(Measure::BytesTotal, old.or(exact).and_then(|value| count(value, number)), place);
        }
        "time for request" | "request" => {
            for (column, figure) in times(values, number) {
                let measure = match column {
                    "min" => Measure::Min,
                    "max" => Measure::Max,
                    "median" => Measure::Percentile(5_000),
                    "p95" => Measure::Percentile(9_500),
                    "p99" => Measure::Percentile(9_900),
                    "mean" => Measure::Mean,
                    _ => Measure::StdDev,
                };
                entry.put(measure, figure, place);
            }
            if let Some(share) = values.split_whitespace().next_back().filter(|share| share.ends_with('%')) {
                entry.put(Measure::WithinStdDev, number::percent(share, number), place);
            }
        }
        "time for connect" | "connect" => {
            for (column, figure) in times(values, number) {
                let measure = match column {
                    "min" => Measure::ConnectMin,
                    "max" => Measure::ConnectMax,
                    "median" => Measure::ConnectMedian,
                    "p95" => Measure::ConnectPercentile(9_500),
                    "p99" => Measure::ConnectPercentile(9_900),
                    "mean" => Measure::ConnectMean,
                    _ => {
                        entry.other("connect sd", figure, place);
                        continue;
                    }
                };
                entry.put(measure, figure, place);
            }
        }
        // It counts from the beginning of a connection, so it is not a part of a request's time.
        "time to 1st byte" | "TTFB" => {
            for (column, figure) in times(values, number) {
                entry.other(format!("first byte of a connection {column}"), figure, place);
            }
        }
        "UDP datagram" | "min RTT" | "smoothed RTT" | "packets sent" | "packets recv" | "packets lost"
        | "GRO packets" => entry.take(number),
        "req/s" => {
            for (column, value) in columns(values) {
                let figure = plain(value, 1.0, "req/s", number);
                entry.other(format!("rate of a client {column}"), figure, place);
            }
        }
        _ => return false,
    }
    true
}
