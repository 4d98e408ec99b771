//! Locust's tables at the end of a run: requests by name with `Aggregated` below, and percentiles of the same names.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::number::{Comma, count, leading, plain};
use crate::tools::text::Text;
use std::collections::BTreeMap;

/// Reads the tables that begin at this line, and gives the line after them.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if !is_header(text.at(at)) {
        return None;
    }
    let (end, mut next) = (text.end(at), at + 1);
    let mut entries: Vec<(String, Entry)> = Vec::new();
    let mut total = false;
    while next < end && !total {
        let (line, number) = (text.at(next), text.number(next));
        next += 1;
        if line.is_empty() || rule(line) {
            total |= line.is_empty() && !entries.is_empty();
            continue;
        }
        let Some((name, entry)) = row(text, next - 1, line, number) else { break };
        total = name.starts_with("Aggregated") || name.starts_with("Total");
        entries.push((name, entry));
    }
    let after = percentiles(text, next, end, &mut entries);
    if let Some((_, last)) = entries.last_mut() {
        (at..after).filter(|i| !text.at(*i).is_empty()).for_each(|i| last.take(text.number(i)));
    }
    let many = entries.len() > 1;
    let mut any = false;
    for (name, mut entry) in entries {
        let is_total = name.starts_with("Aggregated") || name.starts_with("Total");
        entry.row.label = if is_total { "Total".to_owned() } else { name };
        entry.row.is_part = many && !is_total;
        any |= entry.finish(document);
    }
    any.then_some(after)
}

fn is_header(line: &str) -> bool {
    ["# reqs", "# fails", "|", "req/s"].iter().all(|word| line.contains(word))
}

fn rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| matches!(c, '-' | '|' | '+'))
}

/// `GET /   1234  0(0.00%) |  12  1  200  8 |  123.40  0.00`. Versions have the bars in different places, and old ones
/// print no times of the total.
fn row(text: &Text, at: usize, line: &str, number: u32) -> Option<(String, Entry)> {
    let bare = line.replace('|', " ");
    let words: Vec<&str> = bare.split_whitespace().collect();
    let failures = words.iter().position(|word| word.ends_with("%)") && word.contains('('))?;
    let (name, values) = (words.get(..failures.checked_sub(1)?)?, words.get(failures + 1..)?);
    let mut entry = Entry::new(Tool::Locust, text, at);
    let place = (number, line);
    entry.put(Measure::Requests, count(words[failures - 1], number), place);
    let (failed, share) = words[failures].split_once('(')?;
    entry.put(Measure::Errors, count(failed, number), place);
    let share = share.trim_end_matches([')', '%']);
    entry.put(Measure::ErrorRatio, plain(share, 0.01, "%", number), place);
    let measures = [Measure::Mean, Measure::Min, Measure::Max, Measure::Percentile(5_000)];
    let times = if values.len() > measures.len() { measures.len() } else { 0 };
    for (value, measure) in values[..times].iter().zip(measures) {
        entry.put(measure, plain(value, 1e-3, "ms", number).map(|f| steps(f, measure)), place);
    }
    entry.put(Measure::Rate, values.get(times).and_then(|rate| plain(rate, 1.0, "req/s", number)), place);
    Some((name.join(" "), entry))
}

/// Whole milliseconds, cut; percentiles of two digits.
fn steps(figure: Figure, measure: Measure) -> Figure {
    let step = match (measure, figure.value) {
        (Measure::Percentile(_), v) if v >= 10.0 => 1.0,
        (Measure::Percentile(_), v) if v >= 1.0 => 0.1,
        (Measure::Percentile(_), v) if v >= 0.1 => 0.01,
        _ => 1e-3,
    };
    Figure { low: (figure.value - step).max(0.0), high: figure.value + step, ..figure }
}

/// `Type Name  50% 66% 75% 80% 90% 95% 98% 99% 99.9% 99.99% 100% # reqs` and a row for each name.
fn percentiles(text: &Text, from: usize, end: usize, entries: &mut [(String, Entry)]) -> usize {
    let near =
        (from..end.min(from + 6)).find(|i| text.at(*i).contains("50%") && text.at(*i).contains("# reqs"));
    let Some(header) = near else { return from };
    let shares: Vec<f64> =
        text.at(header).split_whitespace().filter_map(|word| word.strip_suffix('%')?.parse().ok()).collect();
    let places: BTreeMap<String, usize> =
        entries.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    let mut next = header + 1;
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        let bare = line.replace('|', " ");
        let words: Vec<&str> = bare.split_whitespace().collect();
        if rule(line) {
            next += 1;
            continue;
        }
        let Some(split) = words.len().checked_sub(shares.len() + 1) else { break };
        let (name, values) = words.split_at(split);
        let Some(at) = places.get(&name.join(" ")) else { break };
        let entry = &mut entries[*at].1;
        for (share, value) in shares.iter().zip(values) {
            let figure = leading(value, Comma::Groups).map(|(n, _)| n.figure(1e-3, "ms", value, number));
            if let Some(measure) = measure_of(*share).filter(|m| !entry.has(*m)) {
                entry.put(measure, figure.map(|f| steps(f, measure)), (number, line));
            }
        }
        next += 1;
    }
    next
}
