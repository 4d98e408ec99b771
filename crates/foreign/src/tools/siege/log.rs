//! The file to which siege adds a line for each run: `Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time, ...`.

use super::grammar;
use crate::model::{Document, Measure, Tool};
use crate::tools::entry::Entry;
use crate::tools::number::{count, plain};
use crate::tools::text::Text;

/// A measure, its size, and its unit.
type Meaning = (Measure, f64, &'static str);

const COLUMNS: [(&str, Option<Meaning>); 9] = [
    ("Trans", None),
    ("Elap Time", Some((Measure::Duration, 1.0, "s"))),
    ("Data Trans", Some((Measure::BytesTotal, grammar::MB, "MB"))),
    ("Resp Time", Some((Measure::Mean, 1.0, "s"))),
    ("Trans Rate", Some((Measure::Rate, 1.0, "/s"))),
    ("Throughput", Some((Measure::BytesPerS, grammar::MB, "MB/s"))),
    ("Concurrent", None),
    ("OKAY", None),
    ("Failed", None),
];

/// Reads the lines below this header, and gives the line after them.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    let names: Vec<&str> = text.at(at).split(',').map(str::trim).collect();
    let known = COLUMNS.iter().map(|(name, _)| *name);
    if names.first() != Some(&"Date & Time") || !names.iter().skip(1).copied().eq(known) {
        return None;
    }
    let (end, mut next, mut any) = (text.end(at), at + 1, false);
    document.taken.insert(text.number(at));
    while next < end {
        let (line, number) = (text.at(next), text.number(next));
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        // A line with a mark in stars stands between runs.
        if cells.len() != names.len() && !line.starts_with("****") {
            break;
        }
        next += 1;
        if cells.len() != names.len() {
            continue;
        }
        let mut entry = Entry::new(Tool::Siege, text, next - 1);
        let place = (number, line);
        for ((name, quantity), value) in COLUMNS.iter().zip(&cells[1..]) {
            match (quantity, *name) {
                (Some((measure, unit, called)), _) => {
                    entry.put(*measure, plain(value, *unit, called, number), place);
                }
                (None, "Trans") => {
                    entry.put(Measure::Requests, count(value, number), place);
                }
                (None, "Failed") => {
                    entry.put(Measure::Errors, count(value, number), place);
                }
                (None, "OKAY") => entry.other("successful transactions", count(value, number), place),
                _ => entry.other("concurrency", plain(value, 1.0, "", number), place),
            }
        }
        grammar::unsuccessful(&mut entry);
        entry.row.label = format!("siege, {}", cells[0]);
        any |= entry.finish(document);
    }
    any.then_some(next)
}
