//! The final statistics of Taurus on its console: `Samples count: 59314, 50.00% failures`, averages, percentiles, and
//! the table of labels. Lines have the prefix of its logger.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{Comma, count, leading, percent, plain};
use crate::tools::text::Text;

/// Reads the statistics that begin at this line, and gives the line after them.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let (samples, rest) = bare(text.at(at)).strip_prefix("Samples count: ")?.split_once(',')?;
    let failures = rest.trim().strip_suffix(" failures")?;
    let mut entry = Entry::new(Tool::Taurus, text, at);
    let place = (text.number(at), text.at(at));
    entry.put(Measure::Requests, count(samples, place.0), place);
    entry.put(Measure::ErrorRatio, percent(failures, place.0), place);
    for i in (at.saturating_sub(6)..at).rev() {
        if let Some(duration) = bare(text.at(i)).strip_prefix("Test duration: ") {
            let figure = crate::tools::number::clock(duration, text.number(i));
            entry.put(Measure::Duration, figure, (text.number(i), text.at(i)));
        }
    }
    let (end, mut next, mut strangers) = (text.end(at), at + 1, 0);
    let mut labels: Vec<Entry> = Vec::new();
    while next < end && strangers < 4 {
        let (line, number) = (bare(text.at(next)), text.number(next));
        if line.starts_with("Samples count:") {
            break;
        }
        next += 1;
        let known = line.is_empty()
            || averages(&mut entry, line, number)
            || percentile(&mut entry, line, number)
            || label(&mut labels, text, next - 1)
            || is_frame(line);
        if known && !line.is_empty() {
            entry.take(number);
        }
        strangers = if known { 0 } else { strangers + 1 };
    }
    "Taurus".clone_into(&mut entry.row.label);
    let is_row = entry.finish(document);
    labels.into_iter().for_each(|label| {
        label.finish(document);
    });
    is_row.then_some(next)
}

/// Without `12:30:01 INFO: `.
fn bare(line: &str) -> &str {
    line.split_once("INFO: ").map_or(line, |(_, rest)| rest).trim()
}

fn seconds(text: &str, line: u32) -> Option<Figure> {
    plain(text.trim(), 1.0, "s", line)
}

/// `Average times: total 0.001, latency 0.000, connect 0.000`.
fn averages(entry: &mut Entry, line: &str, number: u32) -> bool {
    let Some(rest) = line.strip_prefix("Average times: ") else { return false };
    for part in rest.split(", ") {
        let Some((name, value)) = part.split_once(' ') else { continue };
        let measure = match name {
            "total" => Measure::Mean,
            "latency" => Measure::FirstByteMean,
            "connect" => Measure::ConnectMean,
            _ => continue,
        };
        entry.put(measure, seconds(value, number), (number, line));
    }
    true
}

fn cells(line: &str) -> Vec<&str> {
    let inner = line.trim_matches(['│', '|', '┃']);
    inner.split(['│', '|', '┃']).map(str::trim).collect()
}

/// `│ 95.0 │ 0.022 │`, and `Percentile 95.0%: 0.022` of old versions.
fn percentile(entry: &mut Entry, line: &str, number: u32) -> bool {
    let old = line.strip_prefix("Percentile ").and_then(|rest| rest.split_once("%:"));
    let row = cells(line);
    let (share, value) = match (old, &row[..]) {
        (Some(pair), _) => pair,
        (None, [share, value]) if line.starts_with(['│', '|', '┃']) => (*share, *value),
        _ => return false,
    };
    let Some((share, "")) = leading(share.trim(), Comma::Point) else { return false };
    let value = seconds(value, number).map(counted);
    if value.is_some() {
        entry.percentile(share.value, value, (number, line));
    }
    true
}

/// Times are counted in a histogram of three digits, extremes too, and the mean is not.
fn counted(figure: Figure) -> Figure {
    const OFF: f64 = 1e-3;
    Figure { low: figure.low * (1.0 - OFF), high: figure.high * (1.0 + OFF), ..figure }
}

/// `│ /login │ OK │ 100.00% │ 0.021 │ │` of the table of labels.
fn label(labels: &mut Vec<Entry>, text: &Text, at: usize) -> bool {
    let (line, number) = (bare(text.at(at)), text.number(at));
    let row = cells(line);
    let [name, "OK" | "FAIL", share, mean, ..] = row[..] else { return false };
    let mut entry = Entry::new(Tool::Taurus, text, at);
    let good = percent(share, number);
    let failed = good.map(|good| crate::tools::vegeta::json::complement(&good));
    entry.put(Measure::ErrorRatio, failed, (number, line));
    entry.put(Measure::Mean, seconds(mean, number), (number, line));
    name.clone_into(&mut entry.row.label);
    entry.row.is_part = true;
    labels.push(entry);
    true
}

fn is_frame(line: &str) -> bool {
    const TITLES: [&str; 4] = ["Percentiles:", "Request label stats:", "Test duration:", "│ Percentile"];
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c) || "+-=| ".contains(c);
    TITLES.iter().any(|title| line.starts_with(title))
        || line.chars().all(drawn)
        || line.starts_with(['│', '|', '┃'])
}
