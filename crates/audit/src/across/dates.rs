//! A stated duration beside the dates of its beginning and its end.

use super::say::{self, Out};
use crate::Certainty::Likely;
use crate::foreign::model::Document;

/// By how much a duration may differ from the dates for reasons that no figure shows.
const OFF: f64 = 0.02;
/// Words of a line whose date begins a run, and of one whose date ends it.
const BEGINS: [&str; 4] = ["start", "began", "begin", "from"];
const ENDS: [&str; 5] = ["finish", "end", "stop", "until", "completed"];
/// A sentence with a duration is about the run if it has one of these.
const RUNS: [&str; 7] = ["run", "test", "soak", "duration", "lasted", "load", "long"];

#[derive(Debug, Clone, Copy)]
struct Stated {
    line: u32,
    low_s: f64,
    high_s: f64,
}

/// What one part of a text says, up to the next heading.
#[derive(Default)]
struct Part {
    begins: Vec<(u32, f64)>,
    ends: Vec<(u32, f64)>,
    durations: Vec<(Stated, String)>,
}

/// last - first timestamp = the duration of the text, or of the file of samples beside it.
pub fn duration_differs(documents: &[Document], out: &mut Out) {
    for document in documents.iter().filter(|d| !d.text.is_empty()) {
        let mut parts = vec![Part::default()];
        for (line, number) in document.text.lines().zip(1_u32..) {
            if line.starts_with('#') {
                parts.push(Part::default());
            }
            if let Some(part) = parts.last_mut() {
                take(part, line, number);
            }
        }
        for part in &parts {
            judge(document, part, out);
        }
        beside_samples(documents, document, &parts, out);
    }
}

fn judge(document: &Document, part: &Part, out: &mut Out) {
    let ([(first, from)], [(last, to)], [(stated, words)]) =
        (&part.begins[..], &part.ends[..], &part.durations[..])
    else {
        return;
    };
    differs(document, to - from, (*stated, words), &[*first, *last], out);
}

/// The only file of samples that was given with a report tells how long the run took.
fn beside_samples(documents: &[Document], report: &Document, parts: &[Part], out: &mut Out) {
    let with_samples = |d: &&Document| d.rows.iter().any(|row| row.samples.is_some());
    let files: Vec<&Document> = documents.iter().filter(with_samples).collect();
    let stated: Vec<_> = parts.iter().flat_map(|part| &part.durations).collect();
    let ([file], [(stated, words)]) = (&files[..], &stated[..]) else { return };
    if std::ptr::eq(*file, report) {
        return;
    }
    let samples = file.rows.iter().filter_map(|row| row.samples.as_ref());
    let (from, to) = samples
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), s| (from.min(s.first_s), to.max(s.last_s)));
    differs(report, to - from, (*stated, words), &[], out);
}

fn differs(
    document: &Document,
    length_s: f64,
    (stated, words): (Stated, &str),
    lines: &[u32],
    out: &mut Out,
) {
    let (low_s, high_s) = (stated.low_s * (1.0 - OFF), stated.high_s * (1.0 + OFF));
    if !length_s.is_finite() || length_s <= 0.0 || (low_s..=high_s).contains(&length_s) {
        return;
    }
    let sentence =
        format!("the run is said to take {words}, and its timestamps are {} apart", say::time(length_s));
    let mut saying = out
        .say(Likely, sentence)
        .line(format!("last - first timestamp = {}, stated {words}", say::time(length_s)))
        .explained("the run ended early, or the duration is the planned one")
        .advise("state the time from the first request to the last response")
        .at(document, stated.line, words);
    for line in lines {
        saying =
            saying.at(document, *line, document.text.lines().nth(*line as usize - 1).unwrap_or("").trim());
    }
}

fn take(part: &mut Part, line: &str, number: u32) {
    // An entry of a log begins and ends something else than the run.
    if line.trim_start().starts_with('{') {
        return;
    }
    let lower = line.to_lowercase();
    let dates = dates(&lower);
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match dates[..] {
        [from, to] if to > from => {
            part.begins.push((number, from));
            part.ends.push((number, to));
        }
        [date] if has(&BEGINS) && !has(&ENDS) => part.begins.push((number, date)),
        [date] if has(&ENDS) && !has(&BEGINS) => part.ends.push((number, date)),
        [] if has(&RUNS) => part.durations.extend(duration(&lower, number)),
        _ => {}
    }
}

/// The only number of hours or days of a line: `60 hour`, `60-hour`, `2 days`. Shorter ones are of many things.
fn duration(line: &str, number: u32) -> Option<(Stated, String)> {
    const UNITS: [(&str, f64); 7] = [
        ("hours", 3_600.0),
        ("hour", 3_600.0),
        ("hrs", 3_600.0),
        ("hr", 3_600.0),
        ("h", 3_600.0),
        ("days", 86_400.0),
        ("day", 86_400.0),
    ];
    let words: Vec<&str> = line
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let unit = |text: &str| UNITS.iter().find(|(name, _)| *name == text).map(|(_, size)| *size);
    let read = |at: usize| -> Option<(Stated, String)> {
        let word = words[at];
        let end = word.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(word.len());
        let (digits, own) = word.split_at(end);
        let (name, unit_s) = match unit(own) {
            Some(size) => (own, size),
            None if own.is_empty() => words.get(at + 1).and_then(|next| Some((*next, unit(next)?)))?,
            None => return None,
        };
        let value: f64 = digits.parse().ok()?;
        let half = 0.5 * 10f64.powi(-(digits.split_once('.').map_or(0, |(_, part)| part.len()) as i32));
        let (low_s, high_s) = ((value - half) * unit_s, (value + half) * unit_s);
        Some((Stated { line: number, low_s, high_s }, format!("{digits} {name}")))
    };
    let mut found = (0..words.len()).filter_map(read);
    found.next().filter(|_| found.next().is_none())
}

/// Seconds of each `2026-11-27 18:03:59` (or with `/`, `T`, without seconds) of a line, on one clock.
fn dates(line: &str) -> Vec<f64> {
    let bytes = line.as_bytes();
    let digits = |from: usize, count: usize| -> Option<i64> {
        let text = line.get(from..from + count)?;
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let is = |at: usize, marks: &[u8]| bytes.get(at).is_some_and(|b| marks.contains(b));
    let read = |at: usize| -> Option<f64> {
        let begins = at == 0 || !bytes[at - 1].is_ascii_digit();
        let marked = is(at + 4, b"-/") && is(at + 7, b"-/") && is(at + 10, b" t") && is(at + 13, b":");
        if !(begins && marked) {
            return None;
        }
        let (year, month, day) = (digits(at, 4)?, digits(at + 5, 2)?, digits(at + 8, 2)?);
        let (hour, minute) = (digits(at + 11, 2)?, digits(at + 14, 2)?);
        let second = if is(at + 16, b":") { digits(at + 17, 2)? } else { 0 };
        Some((days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second) as f64)
    };
    (0..bytes.len()).filter_map(read).collect()
}

/// Days since 1970-01-01 of the Gregorian calendar, by years that begin in March (Hinnant, *chrono-compatible low-level
/// date algorithms*).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
