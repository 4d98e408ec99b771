//! Artillery's summary report, version 2: `http.requests: ...... 300` and groups of times with one line for each.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::definitions::is_failure;
use crate::tools::entry::Entry;
use crate::tools::number::{count, plain};
use crate::tools::text::Text;

const TITLES: [&str; 2] = ["Summary report @", "Metrics for period to: "];

/// Reads the summary that begins at this line, and gives the line after it. Reports of periods are not results.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    report(text, at, document, "Summary report @").or_else(|| untitled(text, at, document))
}

/// A summary whose title was cut off, which no title of a period precedes.
fn untitled(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    /// Lines of a period.
    const ABOVE: usize = 120;
    const NAMES: [&str; 4] = ["http.codes.", "http.requests:", "http.response_time:", "errors."];
    let is_value = |line: &str| line.contains(": ....") || line == "http.response_time:";
    let is_own = |i: usize| NAMES.iter().any(|name| text.at(i).starts_with(name)) && is_value(text.at(i));
    let begins = is_own(at) && !(at > 0 && is_own(at - 1));
    let above = || (at.saturating_sub(ABOVE)..at).rev().take_while(|i| text.end(*i) == text.end(at));
    let in_period = || above().any(|i| TITLES.iter().any(|title| text.at(i).starts_with(title)));
    if !begins || in_period() {
        return None;
    }
    read_lines(text, at, at, document, false)
}

/// The same of a text that has nothing else than reports of periods.
pub fn read_period(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    report(text, at, document, "Metrics for period to: ")
}

fn report(text: &Text, at: usize, document: &mut Document, title: &str) -> Option<usize> {
    if !text.at(at).starts_with(title) {
        return None;
    }
    read_lines(text, at, at + 1, document, title == TITLES[1])
}

fn read_lines(
    text: &Text,
    at: usize,
    first: usize,
    document: &mut Document,
    is_period: bool,
) -> Option<usize> {
    let mut entry = Entry::new(Tool::Artillery, text, at);
    let (end, mut next, mut group, mut other) = (text.end(at), first, String::new(), 0.0);
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        if TITLES.iter().any(|title| line.starts_with(title)) {
            break;
        }
        next += 1;
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim_start_matches(['.', ' ', '\t']);
        if value.is_empty() {
            name.clone_into(&mut group);
            continue;
        }
        if let Some(code) = name.strip_prefix("http.codes.") {
            let answers = count(value, number);
            other += answers.as_ref().filter(|_| is_failure(code)).map_or(0.0, |f| f.value);
            entry.other(format!("status {code}"), answers, (number, line));
            continue;
        }
        quantity(&mut entry, &group, name, value, (number, line));
    }
    let line = entry.row.lines.1;
    entry.put(Measure::Non2xx, Some(Figure::exact(other, format!("{other}"), line)), (line, ""));
    entry.row.is_part = is_period;
    if entry.row.is_part { "Artillery, a period" } else { "Artillery" }.clone_into(&mut entry.row.label);
    entry.finish(document).then_some(next)
}

fn quantity(entry: &mut Entry, group: &str, name: &str, value: &str, place: (u32, &str)) {
    let number = place.0;
    // A sketch with 1% error.
    let time =
        || plain(value, 1e-3, "ms", number).map(|f| Figure { low: f.low * 0.98, high: f.high * 1.02, ..f });
    let measure = match (group, name) {
        (_, "http.requests") => Measure::Requests,
        (_, name) if name.starts_with("errors.") => {
            let own = count(value, number);
            let before = entry.row.figures.remove(&Measure::Errors).map_or(0.0, |f| f.value);
            let sum = own.as_ref().map(|f| Figure::exact(before + f.value, f.written.clone(), number));
            entry.put(Measure::Errors, sum, place);
            entry.other(name, own, place);
            return;
        }
        (_, "http.responses" | "vusers.created" | "vusers.completed" | "vusers.failed") => {
            entry.other(name, count(value, number), place);
            return;
        }
        (group, "min" | "max" | "mean" | "median" | "p95" | "p99") if class(group).is_some() => {
            entry.other(format!("{} {name}", class(group).unwrap_or("")), time(), place);
            return;
        }
        ("http.response_time", "min") => Measure::Min,
        ("http.response_time", "max") => Measure::Max,
        ("http.response_time", "mean") => Measure::Mean,
        ("http.response_time", "median") => Measure::Percentile(5_000),
        ("http.response_time", "p95") => Measure::Percentile(9_500),
        ("http.response_time", "p99") => Measure::Percentile(9_900),
        _ => return,
    };
    let figure = if measure == Measure::Requests { count(value, number) } else { time() };
    entry.put(measure, figure, place);
}

/// `2xx` of `http.response_time.2xx`: the times of one class of statuses.
pub(super) fn class(group: &str) -> Option<&str> {
    group.strip_prefix("http.response_time.").filter(|class| class.len() == 3 && class.ends_with("xx"))
}
