//! bombardier: `Bombarding URL for 10s using 125 connection(s)`, statistics by columns, and a list of statuses.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, Comma, count, leading, plain, with_unit};
use crate::tools::text::Text;

/// Reads the report that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let line = bare(text.at(at));
    let begins = line.starts_with("Bombarding ") && line.contains("connection(s)");
    let statistics = |i: usize| {
        let below = (i + 1..i + 3).map(|next| text.at(next)).find(|line| !line.is_empty());
        bare(text.at(i)).starts_with("Statistics")
            && below.is_some_and(|line| line.starts_with("Reqs/sec"))
            && text.at(i).contains("Stdev")
    };
    if !(begins && (at..at + 10).any(statistics) || statistics(at)) {
        return None;
    }
    let mut entry = Entry::new(Tool::Bombardier, text, at);
    if let Some((command, line)) = text.command(at, "bombardier") {
        entry.word("command", command, line);
    }
    let (end, mut next, mut strangers, mut answers) = (text.end(at), at, 0, 0.0);
    let mut code_line = None;
    while next < end && strangers < 4 {
        let (line, number) = (bare(text.at(next)), text.number(next));
        if next > at && line.starts_with("Bombarding ") {
            break;
        }
        next += 1;
        let known = line.is_empty() || take_line(&mut entry, line, number);
        if line.contains("xx - ") || line.starts_with("others - ") {
            answers += codes(&mut entry, line, number);
            code_line = Some(number);
        }
        strangers = if known { 0 } else { strangers + 1 };
        if line.starts_with("Throughput:") {
            break;
        }
    }
    if let Some(line) = code_line {
        let count = Figure::exact(answers, format!("{answers}"), line);
        entry.put(Measure::Requests, Some(count), (line, ""));
        let sum = |names: &[&str]| {
            names.iter().filter_map(|n| entry.row.others.get(*n)).map(|f| f.value).sum::<f64>()
        };
        let (other, failed) = (sum(&["status 4xx", "status 5xx"]), sum(&["status others"]));
        entry.put(Measure::Non2xx, Some(Figure::exact(other, format!("{other}"), line)), (line, ""));
        entry.put(Measure::Errors, Some(Figure::exact(failed, format!("{failed}"), line)), (line, ""));
    }
    let url = entry.row.words.get("url").map(|word| word.text.clone()).unwrap_or_default();
    entry.label(&url, "connections");
    if entry.row.label.is_empty() {
        "bombardier".clone_into(&mut entry.row.label);
    }
    entry.finish(document).then_some(next)
}

/// Without a picture in front and emphasis: `:clock1: Statistics ...`, `&#x1F53C; Throughput: **8.11MB/s**`.
fn bare(line: &str) -> &str {
    let picture = |word: &str| {
        word.len() > 2 && (word.starts_with(':') && word.ends_with(':') || word.starts_with("&#"))
    };
    match line.split_once(' ') {
        Some((word, rest)) if picture(word) => rest.trim_start(),
        _ => line,
    }
}

fn take_line(entry: &mut Entry, line: &str, number: u32) -> bool {
    let place = (number, line);
    let columns: Vec<&str> = line.split_whitespace().collect();
    match columns[..] {
        // `Bombarding URL for 3s using 5 connection(s)`, `with 1000 request(s) using ...`.
        ["Bombarding", url, word, value, .., users, "connection(s)"] => {
            entry.word("url", url, number);
            entry.put(Measure::Users, count(users, number), place);
            match word {
                "for" => {
                    entry.put(Measure::Duration, number::go_time(value, number), place);
                }
                _ => entry.other("planned requests", count(value, number), place),
            }
        }
        ["Reqs/sec", mean, deviation, max] => {
            entry.put(Measure::Rate, plain(mean, 1.0, "req/s", number), place);
            entry.other("deviation of the rate", plain(deviation, 1.0, "req/s", number), place);
            entry.other("highest rate", plain(max, 1.0, "req/s", number), place);
        }
        ["Latency", mean, deviation, max] => {
            for (measure, value) in [(Measure::Mean, mean), (Measure::StdDev, deviation), (Measure::Max, max)]
            {
                entry.put(measure, with_unit(value, number, number::time_unit), place);
            }
        }
        [share, value] if share.ends_with('%') => {
            let Some((share, _)) = leading(share, Comma::Point) else { return false };
            entry.percentile(share.value, with_unit(value, number, number::time_unit), place);
        }
        ["Throughput:", value] => {
            let value = value.trim_matches('*').trim_end_matches("/s");
            entry.put(Measure::BytesPerS, with_unit(value, number, number::decimal_size), place);
        }
        _ => {
            const KNOWN: [&str; 8] = [
                "Statistics",
                "Latency Distribution",
                "HTTP codes:",
                "Done!",
                "[",
                "1xx",
                "others",
                "Errors:",
            ];
            let known = KNOWN.iter().any(|start| line.starts_with(start)) || line.contains(" - ");
            if known {
                entry.take(number);
            }
            return known;
        }
    }
    true
}

/// `1xx - 0, 2xx - 62217, ...` and `others - 0`.
fn codes(entry: &mut Entry, line: &str, number: u32) -> f64 {
    let mut sum = 0.0;
    for (name, value) in line.split(',').filter_map(|part| part.trim().split_once(" - ")) {
        let value = count(value, number);
        sum += value.as_ref().map_or(0.0, |f| f.value);
        entry.other(format!("status {name}"), value, (number, line));
    }
    sum
}
