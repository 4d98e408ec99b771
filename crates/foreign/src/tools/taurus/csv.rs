//! The file of Taurus' final statistics (`dump-csv`): a line for each label, the first without one is all of them.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{count, plain};
use crate::tools::text::Text;

/// Reads the file whose header is this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let names: Vec<&str> = text.at(at).split(',').map(str::trim).collect();
    let has = |name: &str| names.contains(&name);
    if !(has("avg_rt") && has("succ") && has("fail") && has("perc_50.0")) {
        return None;
    }
    let (end, mut next) = (text.end(at), at + 1);
    document.taken.insert(text.number(at));
    while next < end && text.at(next).split(',').count() == names.len() {
        let (line, number) = (text.at(next), text.number(next));
        let place = (number, line);
        let mut entry = Entry::new(Tool::Taurus, text, next);
        let (mut good, mut bad) = (0.0, 0.0);
        for (name, value) in names.iter().zip(line.split(',').map(str::trim)) {
            let seconds = || plain(value, 1.0, "s", number);
            let measure = match *name {
                "label" => {
                    let label = if value.is_empty() { "total" } else { value };
                    label.clone_into(&mut entry.row.label);
                    entry.row.is_part = !value.is_empty();
                    continue;
                }
                "concurrency" => {
                    entry.put(Measure::Users, count(value, number), place);
                    continue;
                }
                // It is a number of samples.
                "throughput" => {
                    entry.put(Measure::Requests, count(value, number), place);
                    continue;
                }
                "succ" => {
                    good = value.parse().unwrap_or(0.0);
                    continue;
                }
                "fail" => {
                    bad = value.parse().unwrap_or(0.0);
                    entry.put(Measure::Errors, count(value, number), place);
                    continue;
                }
                "avg_rt" => Measure::Mean,
                "stdev_rt" => Measure::StdDev,
                "avg_lt" => Measure::FirstByteMean,
                "avg_ct" => Measure::ConnectMean,
                name => {
                    if let Some(share) = name.strip_prefix("perc_").and_then(|share| share.parse().ok()) {
                        entry.percentile(share, seconds(), place);
                    }
                    continue;
                }
            };
            entry.put(measure, seconds(), place);
        }
        entry.other("successful", Some(Figure::exact(good, format!("{good}"), number)), place);
        if !entry.has(Measure::Requests) {
            let all = Figure::exact(good + bad, format!("{}", good + bad), number);
            entry.put(Measure::Requests, Some(all), place);
        }
        entry.finish(document);
        next += 1;
    }
    (next > at + 1).then_some(next)
}
