//! `js/stats.js` of Gatling's report: the figures that its pages show, as an object of JavaScript, whose outer names
//! have no quotes. `index.html` itself holds no figure.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{Comma, count, leading};
use crate::tools::text::Text;

/// Reads one group or request, which begins at its `stats: {`, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let begins = |line: &str| line.starts_with("stats: {") || line.starts_with("\"stats\": {");
    let near = |i: usize| text.at(i).contains("\"numberOfRequests\": {");
    if !begins(text.at(at)) || !(at + 1..at + 4).any(near) {
        return None;
    }
    let mut entry = Entry::new(Tool::Gatling, text, at);
    // The first one of a file is of all requests.
    entry.row.is_part = document.rows.iter().any(|row| row.tool == Some(Tool::Gatling));
    let (end, mut next, mut key) = (text.end(at), at, String::new());
    let mut groups: Vec<f64> = Vec::new();
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        if next > at && begins(line) {
            break;
        }
        next += 1;
        let Some((name, value)) = line.split_once(':') else {
            entry.take(number);
            if key == "meanNumberOfRequestsPerSecond" && line.starts_with('}') {
                break;
            }
            continue;
        };
        let (name, value) =
            (name.trim().trim_matches('"'), value.trim().trim_end_matches(',').trim_matches('"'));
        entry.take(number);
        match (key.as_str(), name) {
            (_, _) if value.starts_with('{') => name.clone_into(&mut key),
            ("stats", "name") => value.clone_into(&mut entry.row.label),
            (group, "count") if group.starts_with("group") => {
                groups.extend(count(value, number).map(|figure| figure.value));
            }
            (key, "total" | "ok" | "ko") => {
                let key = key.to_owned();
                figure(&mut entry, &key, name, value, (number, line));
            }
            _ => {}
        }
    }
    if groups.len() >= 3 {
        let line = entry.row.lines.1;
        let sum: f64 = groups.iter().sum();
        let all = Figure::exact(sum, format!("{sum} in all groups"), line);
        entry.other("all groups", Some(all), (line, ""));
    }
    entry.finish(document).then_some(next)
}

fn figure(entry: &mut Entry, key: &str, which: &str, value: &str, place: (u32, &str)) {
    // Nothing of that kind: `-`.
    if value == "-" {
        return;
    }
    let measure = match (key, which) {
        ("numberOfRequests", "total") => Measure::Requests,
        ("numberOfRequests", "ko") => Measure::Errors,
        ("numberOfRequests", "ok") => {
            entry.other("ok", count(value, place.0), place);
            return;
        }
        ("minResponseTime", "total") => Measure::Min,
        ("maxResponseTime", "total") => Measure::Max,
        ("meanResponseTime", "total") => Measure::Mean,
        ("standardDeviation", "total") => Measure::StdDev,
        ("percentiles1", "total") => Measure::Percentile(5_000),
        ("percentiles2", "total") => Measure::Percentile(7_500),
        ("percentiles3", "total") => Measure::Percentile(9_500),
        ("percentiles4", "total") => Measure::Percentile(9_900),
        ("meanNumberOfRequestsPerSecond", "total") => Measure::Rate,
        _ => return,
    };
    let read = leading(value, Comma::Groups).filter(|(_, rest)| rest.is_empty());
    let figure = read.map(|(number, _)| match measure {
        Measure::Requests | Measure::Errors => Figure::exact(number.value, value, place.0),
        Measure::Rate => {
            let figure = number.figure(1.0, "req/s", value, place.0);
            Figure { low: figure.low * 0.999, high: figure.high * 1.001, ..figure }
        }
        // Whole milliseconds, some of them cut.
        _ => {
            let ms = number.value;
            let (low, high) = ((ms - 1.0).max(0.0) * 1e-3, (ms + 1.0) * 1e-3);
            Figure { low, high, ..Figure::exact(ms * 1e-3, value, place.0) }
        }
    });
    entry.put(measure, figure, place);
}
