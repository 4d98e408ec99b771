//! rewrk: `Benchmarking 100 connections @ URL for 10 second(s)`, then latencies, requests, and transfer.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{self, count, plain, with_unit};
use crate::tools::text::Text;

/// Reads the report that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let (users, rest) = text.at(at).strip_prefix("Benchmarking ")?.split_once(" connections @ ")?;
    let mut entry = Entry::new(Tool::Rewrk, text, at);
    let place = (text.number(at), text.at(at));
    entry.put(Measure::Users, count(users, place.0), place);
    let (url, duration) = rest.split_once(" for ").unwrap_or((rest, ""));
    entry.word("url", url, place.0);
    let planned = with_unit(duration.trim_end_matches("(s)"), place.0, number::time_unit);
    entry.put(Measure::Duration, planned, place);
    let (end, mut next, mut strangers) = (text.end(at), at + 1, 0);
    while next < end && strangers < 5 {
        let (line, number) = (text.at(next), text.number(next));
        if line.starts_with("Benchmarking ") || line.starts_with("Beginning round") {
            break;
        }
        next += 1;
        let known = line.is_empty() || take_line(&mut entry, line, number, text.at(next.saturating_sub(2)));
        strangers = if known { 0 } else { strangers + 1 };
    }
    entry.label(url, "connections");
    entry.finish(document).then_some(next)
}

fn take_line(entry: &mut Entry, line: &str, number: u32, above: &str) -> bool {
    let place = (number, line);
    if let Some((requests, rate)) = line.split_once("Req/Sec:") {
        let requests = requests.trim_start_matches("Total:").trim();
        entry.put(Measure::Requests, count(requests, number), place);
        entry.put(Measure::Rate, plain(rate, 1.0, "req/s", number), place);
        return true;
    }
    if let Some((size, rate)) = line.split_once("Transfer Rate:") {
        let size = size.trim_start_matches("Total:").trim();
        entry.put(Measure::BytesTotal, with_unit(size, number, number::binary_size), place);
        let rate = rate.trim().trim_end_matches("/Sec");
        entry.put(Measure::BytesPerS, with_unit(rate, number, number::binary_size), place);
        return true;
    }
    // `75 Errors: connection closed`: one line for each kind, of requests that are not in the total.
    if let Some((errors, _)) = line.split_once(" Errors: ") {
        let before = entry.row.figures.get(&Measure::Errors).map_or(0.0, |f| f.value);
        let all = count(errors, number)
            .map(|f| Figure::exact(before + f.value, format!("{}", before + f.value), number));
        entry.row.figures.remove(&Measure::Errors);
        entry.put(Measure::Errors, all, place);
        return true;
    }
    let columns: Vec<&str> = line.split_whitespace().collect();
    if above.starts_with("Avg") && columns.len() == 4 {
        for (value, measure) in
            columns.iter().zip([Measure::Mean, Measure::StdDev, Measure::Min, Measure::Max])
        {
            entry.put(measure, with_unit(value, number, number::time_unit), place);
        }
        return true;
    }
    let known = ["Latencies:", "Requests:", "Transfer:", "Avg", "+ -", "|"]
        .iter()
        .any(|start| line.starts_with(start));
    if known {
        entry.take(number);
    }
    known
}
