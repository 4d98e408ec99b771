//! Gatling's statistics at the end of a run: `> request count   10000 (OK=9990 KO=10)` and, since 3.10, the same as
//! columns between bars. Below them, how the times are distributed.

use crate::model::{Document, Figure, Measure, Tool};
use crate::tools::entry::{Entry, measure_of};
use crate::tools::number::{Comma, leading};
use crate::tools::text::Text;

/// Reads the statistics that begin at this line, and gives the line after them.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    // The mark in front of each line is that of a quotation, and was taken off.
    let begins = |line: &str| {
        let rest = line.trim_start_matches("> ").strip_prefix("request count").unwrap_or("");
        rest.trim_start_matches([' ', '|']).starts_with(|c: char| c.is_ascii_digit())
    };
    let titled = text.at(at).contains("Global Information") && begins(text.at(at + 1));
    if !(titled || begins(text.at(at))) {
        return None;
    }
    let mut entry = Entry::new(Tool::Gatling, text, at);
    let (end, mut next, mut strangers, mut errors) = (text.end(at), at, 0, false);
    while next < end && strangers < 4 {
        let (line, number) = (text.at(next), text.number(next));
        if next > at + usize::from(titled) && begins(line) {
            break;
        }
        next += 1;
        let is_frame = line.starts_with(['-', '=']);
        // `status.find.is(200), but actually found 403   4962 (99,24%)`, and the rest of a long line.
        errors = if is_frame { line.contains("Errors") } else { errors && !line.is_empty() };
        if is_frame || errors {
            entry.take(number);
        }
        let known = line.is_empty() || is_frame || errors || quantity(&mut entry, line, number);
        strangers = if known { 0 } else { strangers + 1 };
    }
    share(&mut entry);
    "Gatling".clone_into(&mut entry.row.label);
    entry.finish(document).then_some(next)
}

/// The three numbers of a line: total, OK, KO.
fn numbers(rest: &str, line: u32) -> Vec<Option<Figure>> {
    let bare = rest.replace("OK=", " ").replace("KO=", " ").replace(['(', ')', '|'], " ");
    let values = bare.split_whitespace().filter(|part| !part.ends_with("%)") && *part != "%");
    let figure = |value: &str| {
        let (number, after) = leading(value, Comma::Groups).filter(|(_, after)| after.is_empty())?;
        let exact = number.digits == 0;
        Some(if exact {
            Figure::exact(number.value, value, line)
        } else {
            number.figure(1.0, after, value, line)
        })
    };
    values.map(figure).collect()
}

fn quantity(entry: &mut Entry, line: &str, number: u32) -> bool {
    let rest = line.trim_start_matches("> ");
    // The name ends where two spaces or a bar begin the values.
    let cut = rest.find("  ").into_iter().chain(rest.find('|')).min().unwrap_or(rest.len());
    let (name, values) = rest.split_at(cut);
    let (name, place) = (name.trim(), (number, line));
    let all = numbers(values, number);
    let first = || all.first().cloned().flatten();
    let time = || first().map(milliseconds);
    // `(OK=9990 KO=10)`; the columns of version 3.13 have percentiles of their own.
    if values.contains("(OK=") && name != "request count" {
        for (kind, at) in [("ok", 1), ("ko", 2)] {
            // `KO=-`: there is none.
            if let Some(Some(figure)) = all.get(at) {
                entry.other(format!("{kind} {name}"), Some(figure.clone()), place);
            }
        }
    }
    let bare = name.trim_end_matches("(ms)").trim_end_matches("(rps)").trim();
    match bare {
        "request count" => {
            entry.put(Measure::Requests, first(), place);
            entry.other("ok", all.get(1).cloned().flatten(), place);
            entry.put(Measure::Errors, all.get(2).cloned().flatten(), place);
        }
        "min response time" => {
            entry.put(Measure::Min, time(), place);
        }
        "max response time" => {
            entry.put(Measure::Max, time(), place);
        }
        "mean response time" => {
            entry.put(Measure::Mean, time(), place);
        }
        "std deviation" | "response time std deviation" => {
            entry.put(Measure::StdDev, time(), place);
        }
        "mean requests/sec" | "mean throughput" => {
            let rate = first().map(|f| Figure { low: f.value * 0.999, high: f.value * 1.001, ..f });
            entry.put(Measure::Rate, rate, place);
        }
        _ if bare.starts_with("response time ") && bare.ends_with("percentile") => {
            let share: String = bare.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            if let Some(measure) = share.parse().ok().and_then(measure_of) {
                entry.put(measure, time(), place);
            }
        }
        // `t < 800 ms   9800 ( 98%)`, `failed   10 (0.1%)`.
        _ if bare.starts_with("t ") || bare.contains("< t") || bare.contains("<= t") || bare == "failed" => {
            entry.other(format!("group {bare}"), first(), place);
        }
        _ => return false,
    }
    true
}

/// Cut or rounded, by version.
pub(super) fn milliseconds(figure: Figure) -> Figure {
    let (low, high) = ((figure.value - 1.0).max(0.0) * 1e-3, (figure.value + 1.0) * 1e-3);
    Figure { value: figure.value * 1e-3, low, high, ..figure }
}

/// The name of a line of the console.
pub fn line_of(measure: Measure) -> Option<String> {
    Some(match measure {
        Measure::Min => "min response time".to_owned(),
        Measure::Max => "max response time".to_owned(),
        Measure::Mean => "mean response time".to_owned(),
        Measure::StdDev => "std deviation".to_owned(),
        Measure::Rate => "mean requests/sec".to_owned(),
        Measure::Percentile(p) => format!("response time {}th percentile", f64::from(p) / 100.0),
        _ => return None,
    })
}

/// The groups hold every request.
fn share(entry: &mut Entry) {
    let groups: Vec<f64> = entry
        .row
        .others
        .iter()
        .filter(|(name, _)| name.starts_with("group "))
        .map(|(_, f)| f.value)
        .collect();
    if groups.len() >= 4 {
        let sum: f64 = groups.iter().sum();
        let line = entry.row.lines.1;
        entry
            .row
            .others
            .insert("all groups".into(), Figure::exact(sum, format!("{sum} in all groups"), line));
    }
}
