//! loadtest of npm, with and without the logger's prefix of its older versions. Percentiles and the maximum are cut to
//! whole milliseconds, completed requests include the failed ones, and `Agent: none` is a connection per request.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, count, plain, with_unit};
use crate::tools::text::Text;

/// Reads the report that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let first = bare(text.at(at));
    let near = |name: &str| (at..text.end(at).min(at + 14)).any(|i| bare(text.at(i)).starts_with(name));
    let begins = first.starts_with("Target URL:")
        || first.starts_with("Completed requests:") && near("Mean latency:")
        || ["Max time (s):", "Max requests:", "Concurrent clients:"]
            .iter()
            .any(|name| first.starts_with(name))
            && near("Completed requests:")
        || progress(first) && text.at(at) != first;
    if !begins {
        return None;
    }
    let mut entry = Entry::new(Tool::Loadtest, text, at);
    let command = text.command(at, "loadtest");
    if let Some((command, line)) = command {
        entry.word("command", command, line);
    }
    let (end, mut next, mut strangers, mut whole) = (text.end(at), at, 0, false);
    while next < end && strangers < 6 {
        let (line, number) = (bare(text.at(next)), text.number(next));
        if line.starts_with("Target URL:") && entry.row.words.contains_key("url") {
            break;
        }
        next += 1;
        let known = line.is_empty() || take_line(&mut entry, line, number);
        strangers = if known { 0 } else { strangers + 1 };
        // The logger's prefix stands in front of empty lines as well.
        if !text.at(next - 1).is_empty() && known {
            entry.take(number);
        }
        whole |= line.contains("(longest request)");
        // Failures by code follow after an empty line, and then the next run.
        if whole
            && line.is_empty()
            && !(next..next + 4).any(|i| is_code(bare(text.at(i))) || progress(bare(text.at(i))))
        {
            break;
        }
    }
    if !whole && entry.has(Measure::Requests) {
        let line = entry.row.lines.1;
        entry.note_oddity(line, "loadtest", "the report of loadtest stops before its longest request");
    }
    rate_of_command(&mut entry);
    let url = entry.row.words.get("url").map(|word| word.text.clone()).unwrap_or_default();
    entry.label(&url, "clients");
    of_cores(&mut entry);
    entry.finish(document).then_some(next)
}

/// `loadtest --rps 120 URL` above an excerpt without the lines that repeat it.
fn rate_of_command(entry: &mut Entry) {
    let Some(command) = entry.row.words.get("command").filter(|_| !entry.has(Measure::OfferedRate)) else {
        return;
    };
    let (text, line) = (command.text.clone(), command.line);
    let mut words = text.split_whitespace();
    if words.any(|word| word == "--rps")
        && let Some(rate) = words.next()
    {
        entry.put(Measure::OfferedRate, plain(rate, 1.0, "req/s", line), (line, ""));
    }
}

/// Each core runs all clients (`lib/cluster.js`), and the report repeats the number of one.
fn of_cores(entry: &mut Entry) {
    let cores = entry.row.figures.get(&Measure::GeneratorThreads).map_or(1.0, |cores| cores.value);
    let Some(clients) = entry.row.figures.get(&Measure::Users).filter(|_| cores > 1.0).cloned() else {
        return;
    };
    let line = clients.line;
    let all = Figure::exact(clients.value * cores, format!("{} x {cores}", clients.written), line);
    entry.row.figures.insert(Measure::Users, all);
    entry.other("clients of a core", Some(clients), (line, ""));
}

/// Without `[date] INFO`.
fn bare(line: &str) -> &str {
    let rest = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(line, |(_, rest)| rest.trim_start());
    ["INFO", "WARN", "ERROR"].iter().find_map(|level| rest.strip_prefix(level)).map_or(rest, str::trim)
}

/// `Requests: 120 (12%), requests per second: 24, mean latency: 3.1 ms`.
fn progress(line: &str) -> bool {
    line.starts_with("Requests: ") && line.contains("requests per second:")
}

/// `404:   500 errors`.
fn is_code(line: &str) -> bool {
    line.split_once(':').is_some_and(|(_, rest)| rest.trim().ends_with("errors"))
}

fn take_line(entry: &mut Entry, line: &str, number: u32) -> bool {
    let place = (number, line);
    if progress(line) || line.starts_with("Percentage of") || line.starts_with("Errors:") {
        return true;
    }
    if let Some((share, value)) = line.split_once('%')
        && let Ok(share) = share.trim().parse::<f64>()
    {
        entry.percentile(share, cut_ms(value.trim_end_matches("(longest request)"), number), place);
        return true;
    }
    let Some((name, value)) = line.split_once(':') else { return false };
    // A quoted output may have marks in a line: `Total errors: 971 👈`, `**Mean latency: 13.6 ms**`.
    let value = value.trim_matches(|c: char| !(c.is_alphanumeric() || "/)".contains(c)));
    if is_code(line) {
        let errors = value.trim_end_matches("errors");
        entry.other(format!("status {name}"), count(errors, number), place);
        return true;
    }
    let (measure, figure) = match name {
        "Target URL" => {
            entry.word("url", value, number);
            return true;
        }
        "Agent" => {
            let on = if value == "none" { "off" } else { "on" };
            entry.word("keep_alive", on, number);
            return true;
        }
        "Target rps" | "Requests per second" if !entry.has(Measure::Requests) && value.is_empty() => {
            return true;
        }
        "Target rps" => (Measure::OfferedRate, plain(value, 1.0, "req/s", number)),
        "Concurrency level" | "Concurrent clients" => (Measure::Users, count(value, number)),
        "Completed requests" => (Measure::Requests, count(value, number)),
        "Total errors" => (Measure::Errors, count(value, number)),
        // Newer versions take the time from a clock of milliseconds and drop trailing zeros.
        "Total time" => (Measure::Duration, with_unit(value, number, number::time_unit).map(to_the_ms)),
        "Effective rps" => (Measure::Rate, plain(value, 1.0, "req/s", number)),
        // The older version says what was asked for under the same name, before the results.
        "Requests per second" if !entry.has(Measure::Duration) => {
            (Measure::OfferedRate, plain(value, 1.0, "req/s", number))
        }
        "Requests per second" => (Measure::Rate, plain(value, 1.0, "req/s", number)),
        "Mean latency" => (Measure::Mean, with_unit(value, number, number::time_unit).map(to_a_tenth)),
        "Minimum latency" => (Measure::Min, cut_ms(value, number)),
        "Maximum latency" => (Measure::Max, cut_ms(value, number)),
        "Max requests" => {
            entry.other("max requests", count(value, number), place);
            return true;
        }
        "Max time (s)" => {
            entry.other("planned duration", plain(value, 1.0, "s", number), place);
            return true;
        }
        "Running on cores" => (Measure::GeneratorThreads, count(value, number)),
        _ => return false,
    };
    entry.put(measure, figure, place);
    true
}

fn cut_ms(text: &str, line: u32) -> Option<Figure> {
    // Its only unit: `10120 m` is a line that was cut, and no minutes.
    if !text.trim_end().ends_with("ms") {
        return None;
    }
    let mut figure = with_unit(text, line, number::time_unit)?;
    (figure.low, figure.high) = (figure.value, figure.value + 1e-3);
    Some(figure)
}

/// `4 ms` is a mean of 3.95 to 4.05: the zero behind the point is not printed.
fn to_a_tenth(figure: Figure) -> Figure {
    Figure { low: figure.value - 0.05e-3, high: figure.value + 0.05e-3, ..figure }
}

fn to_the_ms(figure: Figure) -> Figure {
    Figure { low: figure.value - 1e-3, high: figure.value + 1e-3, ..figure }
}
