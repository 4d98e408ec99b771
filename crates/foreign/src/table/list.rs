//! Lists of figures, one on each line behind its name, as small tools print their results: `Average request time:
//! 0.25s`, `Requests per second       56.52 [#/sec]`, `- **p95**: 120 ms`. One list is one row.

use super::cell;
use super::column::column;
use super::grid::Grid;
use super::number::Number;
use super::unit::Kind;
use crate::model::Measure;
use std::collections::BTreeSet;

/// A list as a table with one row, and the lines that it takes.
pub struct List {
    pub grid: Grid,
    pub lines: Vec<u32>,
}

/// What is understood of one line.
struct Entry {
    line: u32,
    name: String,
    value: String,
    measure: Measure,
}

/// Longest title of a group within a list.
const TITLE: usize = 60;
/// A list with fewer figures is a sentence that was cut into lines.
const LEAST: usize = 3;

/// All lists in lines that nothing else took.
pub fn read(text: &str, taken: &BTreeSet<u32>) -> Vec<List> {
    let mut lists = Vec::new();
    let (mut open, mut lines) = (Vec::new(), Vec::new());
    // The line above a list may say the unit of its times: `Latency (ms):`.
    let mut above = "";
    for (number, raw) in (1..).zip(text.lines()) {
        let line = item(raw.trim_matches(['>', ' ', '\t']));
        match pair(line).filter(|_| !taken.contains(&number)) {
            Some((name, value)) => {
                lines.push(number);
                open.extend(entry(&name, value, above, number));
            }
            // A gap does not end a list, any other line does.
            None if line.is_empty() && !lines.is_empty() => {}
            None => {
                // A title of a group of figures does not end the list either.
                if !(line.ends_with(':') && line.len() < TITLE && !open.is_empty()) {
                    lists.extend(list(std::mem::take(&mut open), std::mem::take(&mut lines)));
                }
                if !line.is_empty() {
                    above = line;
                }
            }
        }
    }
    lists.extend(list(open, lines));
    lists
}

/// Without the mark of a list and of bold letters: `- **p95:** 120 ms`.
fn item(line: &str) -> &str {
    ["- ", "* ", "• ", "+ ", "└ ", "├ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
        .trim()
}

/// `Name: value`, `Name = value`, `name - value`, or both in columns.
fn pair(line: &str) -> Option<(String, &str)> {
    // The longest name may leave one space only.
    let close = || line.rsplit_once(' ').filter(|(name, _)| column(name).is_some());
    let (name, value) = line
        .split_once(':')
        .or_else(|| line.split_once(" = "))
        .or_else(|| line.split_once('='))
        .or_else(|| line.split_once(" - "))
        .or_else(|| line.split_once("  "))
        .or_else(|| line.split_once('\t'))
        .or_else(close)?;
    let marks = ['*', '`', '_', ' ', '.', '\t'];
    let (name, value) = (name.trim_matches(marks), value.trim_start_matches(['*', '`', ' ', '~', '≈', '\t']));
    let value = value.trim_end_matches(['*', '`', ' ', '.', ',', ';']);
    let is_share = name.starts_with(|c: char| c.is_ascii_digit()) && name.ends_with(['%', ')']);
    let is_name = name.starts_with(|c: char| c.is_alphanumeric())
        && (name.contains(char::is_alphabetic) || is_share)
        && name.split_whitespace().count() <= 6
        && !name.contains(['|', '{', '"', '=']);
    // More than a number with its unit is a sentence, or a line of a table; a remark in brackets is none.
    let words = value.split('(').next().unwrap_or(value).split_whitespace().count();
    let is_value = value.starts_with(|c: char| c.is_ascii_digit()) && words <= 4;
    (is_name && is_value).then(|| (name.trim_end_matches(')').to_owned(), value))
}

fn entry(name: &str, value: &str, above: &str, line: u32) -> Option<Entry> {
    let lower = name.to_lowercase();
    // What succeeded is neither the count of requests nor that of failures.
    if lower.starts_with("success") {
        return None;
    }
    let known = [
        (["fastest", "shortest"].as_slice(), "min time"),
        (&["slowest", "longest"], "max time"),
        (&["time taken for tests", "total time", "elapsed time", "time elapsed"], "duration"),
    ];
    let name =
        known.iter().find(|(names, _)| names.contains(&lower.as_str())).map_or(name, |(_, name)| *name);
    let own = column(name)?;
    // `278.75 [ms] (mean)`.
    let value = value.split('(').next().unwrap_or(value).replace(['[', ']'], "");
    let number: Number = cell::number(&value, line)?;
    let mut name = name.to_owned();
    if own.kind == Kind::Time && own.unit.is_none() && number.kind != Kind::Time {
        // A time without a unit is not read, unless the line above the list states one in brackets.
        let unit = above.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(unit, _)| unit)?;
        name = format!("{name} ({unit})");
        column(&name)?.unit?;
    }
    Some(Entry { line, name, value: value.trim().to_owned(), measure: own.measure })
}

/// A result has a time or a rate, and says at least three things.
fn list(entries: Vec<Entry>, lines: Vec<u32>) -> Option<List> {
    let mut known = BTreeSet::new();
    let entries: Vec<Entry> = entries.into_iter().filter(|entry| known.insert(entry.measure)).collect();
    let is_result = |m: &Measure| {
        matches!(m, Measure::Rate | Measure::Mean | Measure::Min | Measure::Max | Measure::Percentile(_))
    };
    let first = entries.first()?.line;
    if entries.len() < LEAST || entries.iter().filter(|entry| is_result(&entry.measure)).count() < 2 {
        return None;
    }
    let column = |of: fn(&Entry) -> String| -> Vec<String> {
        [String::new()].into_iter().chain(entries.iter().map(of)).collect()
    };
    let cell_lines = [first].into_iter().chain(entries.iter().map(|entry| entry.line)).collect();
    let header = column(|entry| entry.name.clone());
    let row = column(|entry| entry.value.clone());
    let grid = Grid { header, header_line: first, rows: vec![(first, row)], cell_lines, ..Grid::default() };
    Some(List { grid, lines })
}
