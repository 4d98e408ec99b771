//! siege, both layouts: `Transactions: 9073 hits` and, since 4.0.5, an object `{ "transactions": 9073, ... }` whose
//! names are the same.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{Comma, leading};
use crate::tools::text::Text;

pub(super) const MB: f64 = 1_048_576.0;

/// Reads the result that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let first = field(text.at(at)).filter(|(name, _)| name == "transactions")?;
    let near = |name: &str| (at + 1..at + 8).any(|i| field(text.at(i)).is_some_and(|(own, _)| own == name));
    if leading(first.1, Comma::Groups).is_none() || !(near("availability") || near("transaction rate")) {
        return None;
    }
    let mut entry = Entry::new(Tool::Siege, text, at);
    if let Some((command, line)) = text.command(at, "siege") {
        entry.word("command", command, line);
    }
    let (end, mut next, mut strangers) = (text.end(at), at, 0);
    while next < end && strangers < 3 {
        let (line, number) = (text.at(next), text.number(next));
        let known = line.is_empty()
            || field(line).is_some_and(|(name, value)| quantity(&mut entry, &name, value, (number, line)));
        if next > at && field(line).is_some_and(|(name, _)| name == "transactions") {
            break;
        }
        strangers = if known { 0 } else { strangers + 1 };
        next += 1;
        if line.to_lowercase().contains("shortest") {
            break;
        }
    }
    unsuccessful(&mut entry);
    "siege".clone_into(&mut entry.row.label);
    entry.finish(document).then_some(next)
}

/// `Elapsed time:   2.77 secs` and `"elapsed_time": 2.77,`.
fn field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim_matches(['"', ' ', '\t', '{']).to_lowercase().replace('_', " ");
    Some((name, value.trim().trim_end_matches([',', '}']).trim()))
}

fn quantity(entry: &mut Entry, name: &str, value: &str, place: (u32, &str)) -> bool {
    let of = |unit: f64, called: &str| {
        leading(value, Comma::Point).map(|(number, _)| number.figure(unit, called, value, place.0))
    };
    let whole = || {
        leading(value, Comma::Groups)
            .map(|(number, rest)| Figure::exact(number.value, value.trim_end_matches(rest), place.0))
    };
    let (measure, figure) = match name {
        "transactions" => (Measure::Requests, whole()),
        "failed transactions" => (Measure::Errors, whole()),
        "elapsed time" => (Measure::Duration, of(1.0, "s")),
        "data transferred" => (Measure::BytesTotal, of(MB, "MB")),
        "response time" => (Measure::Mean, of(time(value), "s")),
        "transaction rate" => (Measure::Rate, of(1.0, "/s")),
        "throughput" => (Measure::BytesPerS, of(MB, "MB/s")),
        "longest transaction" => (Measure::Max, of(time(value), "s")),
        "shortest transaction" => (Measure::Min, of(time(value), "s")),
        "availability" => {
            entry.other("availability", of(0.01, "%"), place);
            return true;
        }
        "concurrency" => {
            entry.other("concurrency", of(1.0, ""), place);
            return true;
        }
        "successful transactions" => {
            entry.other("successful transactions", whole(), place);
            return true;
        }
        _ => return false,
    };
    entry.put(measure, figure, place);
    true
}

/// Version 4.1.6 and later print milliseconds.
fn time(value: &str) -> f64 {
    if value.ends_with("ms") { 1e-3 } else { 1.0 }
}

/// Transactions without success got the status of an error or a redirect, which siege follows as one more transaction.
/// Only a run without any success leaves no doubt which.
pub(super) fn unsuccessful(entry: &mut Entry) {
    let all = entry.row.figures.get(&Measure::Requests).cloned();
    let good = entry.row.others.get("successful transactions").cloned();
    let (Some(all), Some(good)) = (all, good) else { return };
    if good.value == 0.0 && all.value > 0.0 {
        let written = format!("{} - {}", all.written, good.written);
        entry.row.figures.insert(Measure::Non2xx, Figure::exact(all.value, written, good.line));
    }
}
