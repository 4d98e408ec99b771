//! The two files of `ab`: `-e`, percentiles in milliseconds, and `-g`, single requests for a plot. The latter is
//! sorted by `ttime` and not by time, and its clock has whole seconds: a line over it is a distribution and no
//! history.

use crate::model::{Document, Figure, Measure, Samples, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::plain;
use crate::tools::text::{Text, unread};

/// Reads the file or the block of a report that begins at this line.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    if text.at(at) == "Percentage served,Time in ms" {
        return Some(percentiles(text, at, document));
    }
    let columns: Vec<&str> = text.at(at).split_whitespace().collect();
    let is_plot = columns.first() == Some(&"starttime") && columns.contains(&"ttime");
    is_plot.then(|| plot(text, at, &columns, document))
}

fn percentiles(text: &Text, at: usize, document: &mut Document) -> usize {
    let mut entry = Entry::new(Tool::Ab, text, at);
    "ab -e".clone_into(&mut entry.row.label);
    entry.take(text.number(at));
    let (end, mut next) = (text.end(at), at + 1);
    while next < end && !text.at(next).is_empty() {
        let (line, number) = (text.at(next), text.number(next));
        let parts = line.split_once(',').and_then(|(share, value)| Some((share.parse::<f64>().ok()?, value)));
        match parts {
            Some((share, value)) => entry.percentile(share, plain(value, 1e-3, "ms", number), (number, line)),
            None => entry.note_oddity(number, line, "not `per cent,milliseconds`"),
        }
        next += 1;
    }
    entry.finish(document);
    next
}

/// Columns after the date, which has blanks itself, are found from the end.
fn plot(text: &Text, at: usize, columns: &[&str], document: &mut Document) -> usize {
    let mut entry = Entry::new(Tool::Ab, text, at);
    "ab -g".clone_into(&mut entry.row.label);
    entry.take(text.number(at));
    let from_end = |name: &str| columns.iter().rev().position(|column| *column == name);
    let (end, mut next, mut bad) = (text.end(at), at + 1, 0);
    let mut samples = Samples::default();
    let (mut connect, mut waiting) = (0.0, 0.0);
    while next < end && !text.at(next).is_empty() {
        let (line, number) = (text.at(next), text.number(next));
        let get = |name: &str| {
            let field = from_end(name).and_then(|back| line.split_whitespace().rev().nth(back));
            field
                .and_then(|field| field.parse::<f64>().ok())
                .filter(|value| value.is_finite() && *value >= 0.0)
        };
        let whole = line.split_whitespace().count() >= columns.len();
        match (get("seconds"), get("ttime")) {
            (Some(second), Some(total)) if whole => {
                let first = samples.count == 0;
                samples.count += 1;
                samples.elapsed_sum_s += total / 1e3;
                samples.first_s = if first { second } else { samples.first_s.min(second) };
                samples.last_s = samples.last_s.max(second + total / 1e3);
                connect += get("ctime").unwrap_or(0.0) / 1e3;
                waiting += get("wait").unwrap_or(0.0) / 1e3;
                samples.times.add(total / 1e3);
                entry.take(number);
            }
            _ => {
                bad += 1;
                if bad <= 5 {
                    unread(document, number, line, "not a line of ab's plot");
                }
            }
        }
        next += 1;
    }
    // Which requests were under way together, and whether runs were appended, whole seconds cannot say.
    samples.runs = 1;
    let number = text.number(at);
    entry.word("order", "sorted by `ttime`, not by time; the clock has whole seconds", number);
    if samples.count > 0 {
        let count = samples.count as f64;
        let mut put = |measure: Measure, value: f64, slack: f64| {
            let written = format!("{value:.6} (of {count} samples)");
            let figure = Figure {
                value,
                low: (value - slack).max(0.0),
                high: value + slack,
                written,
                unit: String::new(),
                line: number,
            };
            entry.put(measure, Some(figure), (number, ""));
        };
        put(Measure::Requests, count, 0.0);
        put(Measure::Mean, samples.elapsed_sum_s / count, 0.5e-3);
        put(Measure::ConnectMean, connect / count, 0.5e-3);
        put(Measure::FirstByteMean, waiting / count, 0.5e-3);
        put(Measure::Min, samples.times.at(0).map_or(0.0, |(low, _)| low), 0.5e-3);
        put(
            Measure::Max,
            samples.times.at(samples.times.len().saturating_sub(1)).map_or(0.0, |(_, high)| high),
            0.5e-3,
        );
    }
    entry.row.samples = (samples.count > 0).then_some(samples);
    entry.finish(document);
    next
}
