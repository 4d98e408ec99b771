//! JSON of programs that are not known: an object whose keys name quantities (`p99_ms`, `requestsPerSec`) is a table
//! with one row. A time whose key states no unit is not read.

use super::column::column;
use super::grid::{self, Grid};
use super::unit::Kind;
use crate::model::{Document, Measure};
use crate::tools::json::Object;
use std::collections::BTreeSet;

/// Objects within objects that are looked into.
const DEPTH: usize = 4;
/// Fewer known figures do not make a result.
const LEAST: usize = 3;

/// Adds a row for each object that has enough known quantities.
pub fn read(object: &Object, document: &mut Document) {
    rows(object, "", 0, document);
}

struct Cell {
    name: String,
    value: String,
    line: u32,
    measure: Measure,
}

fn rows(object: &Object, label: &str, depth: usize, document: &mut Document) {
    let own = cells(object, "");
    // `{"rps": 10, "latency_ms": {"p50": 1}}` is one row, `{"GET /": {...}, "GET /b": {...}}` has one for each.
    let parts = || object.objects().flat_map(|(key, part)| cells(&part, key));
    let mut all: Vec<Cell> = cells(object, "");
    if !own.is_empty() || object.objects().any(|(key, _)| column(&spelled(key)).is_some() || is_of_times(key))
    {
        all.extend(parts());
    }
    let mut known = BTreeSet::new();
    all.retain(|cell| known.insert(cell.measure));
    let is_result = |cell: &&Cell| {
        use Measure as M;
        matches!(cell.measure, M::Rate | M::Mean | M::Min | M::Max | M::Percentile(_))
    };
    if all.len() >= LEAST && all.iter().filter(is_result).count() >= 2 {
        let name =
            ["name", "label", "endpoint", "scenario", "test"].iter().find_map(|key| object.string(key));
        let title = name.unwrap_or_else(|| label.to_owned());
        let first = all.first().map_or(object.line, |cell| cell.line);
        let column = |of: fn(&Cell) -> String, own: String| -> Vec<String> {
            [own].into_iter().chain(all.iter().map(of)).collect()
        };
        let grid = Grid {
            header: column(|cell| cell.name.clone(), String::new()),
            header_line: first,
            rows: vec![(first, column(|cell| cell.value.clone(), title))],
            cell_lines: [first].into_iter().chain(all.iter().map(|cell| cell.line)).collect(),
            ..Grid::default()
        };
        grid::take(&grid, document);
        return;
    }
    if depth == DEPTH {
        return;
    }
    let keys: Vec<String> = object.keys().map(str::to_owned).collect();
    for key in keys {
        match object.object(&key) {
            Some(part) => rows(&part, &key, depth + 1, document),
            None => object.members(&key).iter().for_each(|part| rows(part, &key, depth + 1, document)),
        }
    }
}

/// Figures of one object whose names are known, with the name of what they are in.
fn cells(object: &Object, within: &str) -> Vec<Cell> {
    object.keys().filter_map(|key| cell(object, within, key)).collect()
}

fn cell(object: &Object, within: &str, key: &str) -> Option<Cell> {
    let value = object.string(key).or_else(|| object.number(key, 1.0, "").map(|figure| figure.written))?;
    if !value.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let name = spelled(&format!("{within} {key}"));
    let name = if name.contains("http req ") { format!("{name} (ms)") } else { name };
    let column = column(name.trim())?;
    let number = super::cell::number(&value, 0)?;
    let is_bare = column.kind == Kind::Time && column.unit.is_none() && number.kind != Kind::Time;
    (!is_bare).then(|| Cell {
        name: name.trim().to_owned(),
        value,
        line: object.line_of(key),
        measure: column.measure,
    })
}

/// A group of times in any unit.
fn is_of_times(key: &str) -> bool {
    let name = spelled(key);
    ["latency", "latencies", "response time", "duration", "percentiles"]
        .iter()
        .any(|word| name.contains(word))
}

/// `avgLatencyMs` and `avg_latency_ms` as words.
fn spelled(key: &str) -> String {
    let mut name = String::new();
    let mut before = ' ';
    for c in key.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            name.push(' ');
        }
        name.push(if c == '_' || c == '-' || c == '.' && !before.is_ascii_digit() { ' ' } else { c });
        before = c;
    }
    let name = name.to_lowercase();
    // `reqPerSec`, `requests per sec`.
    name.replace(" per sec", "/sec").replace("/second", "/sec").replace("/secs", "/sec")
}
