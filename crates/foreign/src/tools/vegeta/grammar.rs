//! vegeta's text report. Its titles name the columns, which changed from version to version. The rate is what was
//! sent per second of the attack; the throughput counts successful answers per second of attack and wait.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::number::{self, count, percent, plain};
use crate::tools::text::Text;
use crate::tools::vegeta::json::complement;

/// Reads the report or the histogram that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if text.at(at).starts_with("Bucket ") && text.at(at).ends_with("Histogram") {
        return histogram(text, at, document);
    }
    let (name, columns, _) = titled(text.at(at))?;
    if !(name == "Requests" && columns.contains(&"total")) {
        return None;
    }
    let mut entry = Entry::new(Tool::Vegeta, text, at);
    "vegeta".clone_into(&mut entry.row.label);
    if let Some((rate, line)) =
        (at.saturating_sub(4)..at).rev().find_map(|i| Some((asked_rate(text.at(i))?, i)))
    {
        let place = (text.number(line), text.at(line));
        entry.other("rate of the command", plain(rate, 1.0, "/s", place.0), place);
    }
    let (end, mut next, mut whole) = (text.end(at), at, false);
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && line.starts_with("Requests ") {
            break;
        }
        match titled(line) {
            Some((name, columns, values)) => {
                entry.take(number);
                whole |= name == "Status Codes";
                quantity(&mut entry, name, &columns, values, (number, line));
            }
            None if line.starts_with("Error Set:") => {
                entry.take(number);
                let errors: Vec<&str> = (next + 1..end)
                    .map(|i| text.at(i))
                    .take_while(|error| !error.is_empty())
                    .take(50)
                    .collect();
                if !errors.is_empty() {
                    entry.word("errors", errors.join("; "), number);
                }
                next += 1 + errors.len();
                (1..=errors.len()).for_each(|back| entry.take(text.number(next - back)));
                break;
            }
            None if line.is_empty() => {}
            None => break,
        }
        next += 1;
    }
    if !whole {
        let line = entry.row.lines.1;
        entry.note_oddity(line, "vegeta", "the report of vegeta stops before its status codes");
    }
    let line = entry.row.lines.0;
    entry.word("rate", "of successful answers only", line);
    entry.finish(document).then_some(next)
}

/// `vegeta attack -rate=6000 -duration=20s`, also below a pipe; a rate per minute is left out.
fn asked_rate(line: &str) -> Option<&str> {
    let (_, flags) = line.split_once("vegeta attack ")?;
    let words: Vec<&str> = flags.split('|').next()?.split_whitespace().collect();
    let rate = words.iter().enumerate().find_map(|(at, word)| {
        match word.trim_start_matches('-').strip_prefix("rate")? {
            "" => words.get(at + 1).copied(),
            own => own.strip_prefix('='),
        }
    })?;
    let rate = rate.strip_suffix("/s").or_else(|| rate.strip_suffix("/1s")).unwrap_or(rate);
    rate.parse::<f64>().is_ok_and(|rate| rate > 0.0).then_some(rate)
}

/// `vegeta report -type=hist`: `[0s,     5ms]  120   60.00%  ####`. It says how many, and between which bounds.
fn histogram(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let mut entry = Entry::new(Tool::Vegeta, text, at);
    "vegeta, histogram".clone_into(&mut entry.row.label);
    entry.take(text.number(at));
    let (end, mut next, mut sum) = (text.end(at), at + 1, 0.0);
    while next < end && text.at(next).starts_with('[') {
        let (line, number) = (text.at(next), text.number(next));
        let bucket = line.split_once(']').and_then(|(bounds, rest)| Some((bounds.get(1..)?, rest)));
        let figure = bucket.and_then(|(_, rest)| count(rest.split_whitespace().next()?, number));
        sum += figure.as_ref().map_or(0.0, |figure| figure.value);
        let bounds = bucket.map_or("", |(bounds, _)| bounds).split_whitespace().collect::<Vec<_>>().join(" ");
        entry.other(format!("answers in [{bounds}]"), figure, (number, line));
        next += 1;
    }
    if sum > 0.0 {
        let number = text.number(at);
        entry.put(
            Measure::Requests,
            Some(Figure::exact(sum, format!("{sum} in all buckets"), number)),
            (number, ""),
        );
    }
    entry.finish(document).then_some(next)
}

/// `Latencies     [min, mean, 50, 90, 95, 99, max]  1.0ms, 2.0ms, ...`.
fn titled(line: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (name, rest) = line.split_once('[')?;
    let (columns, values) = rest.split_once(']')?;
    const NAMES: [&str; 7] =
        ["Requests", "Duration", "Latencies", "Bytes In", "Bytes Out", "Success", "Status Codes"];
    let name = name.trim();
    NAMES.contains(&name).then(|| (name, columns.split(',').map(str::trim).collect(), values.trim()))
}

fn quantity(entry: &mut Entry, name: &str, columns: &[&str], values: &str, place: (u32, &str)) {
    let line = place.0;
    if name == "Status Codes" {
        entry.word("status_codes", values.split_whitespace().collect::<Vec<_>>().join(" "), line);
        for (code, answers) in values.split_whitespace().filter_map(|pair| pair.split_once(':')) {
            entry.other(format!("status {code}"), count(answers, line), place);
        }
        return;
    }
    let parts: Vec<&str> = values.split(", ").collect();
    if parts.len() != columns.len() {
        entry.note_oddity(line, place.1, "as many values as columns were expected");
        return;
    }
    for (column, value) in columns.iter().zip(parts) {
        let time = || number::go_time(value, line);
        let rate = || plain(value, 1.0, "1/s", line);
        let (measure, figure) = match (name, *column) {
            ("Requests", "total") => (Some(Measure::Requests), count(value, line)),
            ("Requests", "rate") => (Some(Measure::OfferedRate), rate()),
            ("Requests", "throughput") => (Some(Measure::Rate), rate()),
            ("Duration", "total") => (Some(Measure::Duration), time()),
            ("Duration", _) => (None, time()),
            ("Latencies", "min") => (Some(Measure::Min), time()),
            ("Latencies", "mean") => (Some(Measure::Mean), time()),
            ("Latencies", "max") => (Some(Measure::Max), time()),
            ("Latencies", share) => (share.parse().ok().and_then(measure_of), time()),
            ("Bytes In", "total") => (Some(Measure::BytesTotal), count(value, line)),
            ("Bytes In", "mean") => (Some(Measure::BodyBytes), plain(value, 1.0, "B", line)),
            ("Bytes Out", "total") => (Some(Measure::BytesSentTotal), count(value, line)),
            ("Success", _) => {
                (Some(Measure::ErrorRatio), percent(value, line).map(|share| complement(&share)))
            }
            _ => (None, plain(value, 1.0, "", line)),
        };
        match measure {
            Some(measure) => {
                entry.put(measure, figure, place);
            }
            None => entry.other(format!("{} {column}", name.to_lowercase()), figure, place),
        }
    }
}
