//! autocannon: two tables drawn with lines (in old versions with spaces), and `9k requests in 3.05s, 2.14 MB read`.
//! Its first line is that of wrk; the second tells them apart.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, Comma, count, leading, with_unit};
use crate::tools::text::Text;

/// Reads the report that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let running = text.at(at).strip_prefix("Running ").is_some_and(|rest| rest.contains(" @ "));
    let users = (at + 1..at + 3).find(|i| connections(text.at(*i)).is_some());
    let table = |i: usize| cells(text.at(i)).first().is_some_and(|cell| *cell == "Stat");
    let begins = running && users.is_some();
    if !begins && !table(at) {
        return None;
    }
    let mut entry = Entry::new(Tool::Autocannon, text, at);
    let mut asked = None;
    if let Some((command, line)) = text.command(at, "autocannon") {
        asked = rates(&command, line);
        entry.word("command", command, line);
    }
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    let mut columns: Vec<String> = Vec::new();
    while next < end && strangers < 8 {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && line.starts_with("Running ") {
            break;
        }
        next += 1;
        let known = line.is_empty() || take_line(&mut entry, line, number, &mut columns);
        strangers = if known { 0 } else { strangers + 1 };
        if line.ends_with("errors") || line.contains(" errors (") {
            break;
        }
    }
    if let Some((figure, of_each)) = asked {
        let users = entry.row.figures.get(&Measure::Users).map_or(1.0, |users| users.value);
        let offered = figure.value * if of_each { users } else { 1.0 };
        let place = (figure.line, "");
        entry.put(Measure::OfferedRate, Some(Figure::exact(offered, figure.written, place.0)), place);
    }
    sent(&mut entry);
    let url = entry.row.words.get("url").map(|word| word.text.clone()).unwrap_or_default();
    entry.label(&url, "connections");
    if entry.row.label.is_empty() {
        "autocannon".clone_into(&mut entry.row.label);
    }
    entry.finish(document).then_some(next)
}

/// `566k requests in 30.2s` are those that were sent. With errors, fewer were answered, as the rate tells.
fn sent(entry: &mut Entry) {
    let figure = |measure| entry.row.figures.get(&measure).cloned();
    let failed = figure(Measure::Errors).is_some_and(|failed| failed.value > 0.0);
    let answered =
        figure(Measure::Rate).zip(figure(Measure::Duration)).map(|(rate, time)| rate.low * time.low);
    if let (true, Some(answered), Some(sent)) =
        (failed, answered, entry.row.figures.get_mut(&Measure::Requests))
    {
        sent.low = sent.low.min(answered);
    }
}

/// What the command asks for per second: `--overallRate` of all connections, `--connectionRate` of each (true).
fn rates(command: &str, line: u32) -> Option<(Figure, bool)> {
    const FLAGS: [(&str, bool); 4] =
        [("--overallRate", false), ("-r", false), ("--connectionRate", true), ("-R", true)];
    let words: Vec<&str> = command.split_whitespace().collect();
    FLAGS.iter().find_map(|(flag, of_each)| {
        let at = words.iter().position(|word| word == flag)?;
        Some((count(words.get(at + 1)?, line)?, *of_each))
    })
}

/// `10 connections`, `10 connections with 8 pipelining factor`.
fn connections(line: &str) -> Option<(&str, Option<&str>)> {
    let (users, rest) = line.split_once(" connections")?;
    let factor =
        rest.trim().strip_prefix("with ").and_then(|rest| rest.split_once(" pipelining")).map(|(n, _)| n);
    (count(users, 0).is_some() && !rest.contains("total")).then_some((users, factor))
}

/// Cells of a row, between bars or between gaps of two spaces.
fn cells(line: &str) -> Vec<&str> {
    if line.contains('│') {
        return line.trim_matches('│').split('│').map(str::trim).collect();
    }
    const NAMES: [&str; 3] = ["Latency (ms)", "Req/Sec", "Bytes/Sec"];
    match NAMES.iter().find(|name| line.starts_with(*name)) {
        Some(name) => [&line[..name.len()]].into_iter().chain(values(&line[name.len()..])).collect(),
        None => line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect(),
    }
}

/// `1.32 MB 429 kB  2.07 MB`: numbers with their units, between which there may be one space only.
fn values(text: &str) -> Vec<&str> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for part in text.split(' ') {
        let (from, to) = (at, at + part.len());
        at = to + 1;
        let is_unit = part.starts_with(char::is_alphabetic) && part != "NaN";
        match found.last_mut() {
            _ if part.is_empty() => {}
            Some((_, end)) if is_unit => *end = to,
            _ => found.push((from, to)),
        }
    }
    found.into_iter().map(|(from, to)| &text[from..to]).collect()
}

fn take_line(entry: &mut Entry, line: &str, number: u32, columns: &mut Vec<String>) -> bool {
    let place = (number, line);
    if let Some((planned, url)) = line.strip_prefix("Running ").and_then(|rest| rest.split_once(" @ ")) {
        entry.word("url", url, number);
        let planned = planned.trim_end_matches(" test");
        if planned.ends_with('s') {
            entry.other("planned duration", with_unit(planned, number, number::time_unit), place);
        }
        entry.take(number);
        return true;
    }
    if let Some((users, factor)) = connections(line) {
        let users = count(users, number);
        let each = factor.and_then(|factor| count(factor, number));
        let figure = match (users, each) {
            (Some(users), Some(each)) => {
                let written = format!("{} x {}", users.written, each.written);
                Some(Figure::exact(users.value * each.value, written, number))
            }
            (users, _) => users,
        };
        entry.put(Measure::Users, figure, place);
        return true;
    }
    if line.starts_with(['┌', '├', '└', '─']) {
        entry.take(number);
        return true;
    }
    let row = cells(line);
    match row[..] {
        // Statuses have a table as well.
        ["Stat", ..] | ["Code", "Count"] => {
            *columns = row.iter().map(|cell| (*cell).to_owned()).collect();
            entry.take(number);
            true
        }
        [name, ref values @ ..] if !columns.is_empty() && values.len() + 1 == columns.len() => {
            for (column, value) in columns[1..].iter().zip(values) {
                cell(entry, name, column, value, place);
            }
            true
        }
        _ => tail(entry, line, number),
    }
}

fn cell(entry: &mut Entry, name: &str, column: &str, value: &str, place: (u32, &str)) {
    // Old versions have the unit in the name, `Latency (ms)`, and `0.55` below it.
    let in_ms = name.contains("(ms)") && value.parse::<f64>().is_ok();
    let time = || match in_ms {
        true => number::plain(value, 1e-3, "ms", place.0),
        false => with_unit(value, place.0, number::time_unit),
    };
    let kind = name.split(' ').next().unwrap_or(name);
    match (kind, column) {
        ("Latency", "Avg") => {
            entry.put(Measure::Mean, time().map(around), place);
        }
        ("Latency", "Stdev") => {
            entry.put(Measure::StdDev, time().map(around), place);
        }
        ("Latency", "Max") => {
            entry.put(Measure::Max, time().map(around), place);
        }
        ("Latency", share) if share.ends_with('%') => {
            let share = share.trim_end_matches('%').parse::<f64>().unwrap_or(f64::NAN);
            entry.percentile(share, time().map(around), place);
        }
        ("Req/Sec", "Avg") => {
            let figure = leading(value, Comma::Groups).map(|(n, _)| n.figure(1.0, "req/s", value, place.0));
            entry.put(Measure::Rate, figure, place);
        }
        ("Bytes/Sec", "Avg") => {
            entry.put(Measure::BytesPerS, with_unit(value, place.0, number::decimal_size), place);
        }
        (status, "Count") => entry.other(format!("status {status}"), count(value, place.0), place),
        _ => entry.take(place.0),
    }
}

/// `9k requests in 3.05s, 2.14 MB read`, `3k 2xx responses, 5 non 2xx responses`, `12 errors (3 timeouts)`.
fn tail(entry: &mut Entry, line: &str, number: u32) -> bool {
    let place = (number, line);
    let metric = |text: &str| {
        let (n, rest) = leading(text, Comma::Groups)?;
        let unit = number::metric(rest.trim())?;
        let rounded = unit > 1.0;
        Some(if rounded { n.figure(unit, "", text, number) } else { Figure::exact(n.value, text, number) })
    };
    if let Some((requests, rest)) = line.split_once(" requests in ") {
        entry.put(Measure::Requests, metric(requests), place);
        let (duration, size) = rest.split_once(", ").unwrap_or((rest, ""));
        entry.put(Measure::Duration, with_unit(duration, number, number::time_unit), place);
        let size = size.trim_end_matches("read").trim();
        entry.put(Measure::BytesTotal, with_unit(size, number, number::decimal_size), place);
        return true;
    }
    if line.ends_with("responses") {
        for part in line.split(", ") {
            let Some((value, name)) = part.split_once(' ') else { continue };
            match name {
                "non 2xx responses" => {
                    entry.put(Measure::Non2xx, metric(value), place);
                }
                _ => entry.other(name, metric(value), place),
            }
        }
        return true;
    }
    if let Some((errors, rest)) = line.split_once(" errors") {
        entry.put(Measure::Errors, metric(errors), place);
        if let Some((timeouts, _)) = rest.trim().trim_start_matches('(').split_once(" timeouts") {
            entry.put(Measure::TimeoutErrors, metric(timeouts), place);
        }
        return true;
    }
    const KNOWN: [&str; 3] = ["Req/Bytes counts", "# of samples:", "running ["];
    let known = KNOWN.iter().any(|start| line.starts_with(start)) || line.ends_with("workers");
    if known {
        entry.take(number);
    }
    known
}

/// Times are whole milliseconds before they are averaged: a clock of one millisecond to each side.
fn around(figure: Figure) -> Figure {
    Figure { low: (figure.low - 1e-3).max(0.0), high: figure.high + 1e-3, ..figure }
}
