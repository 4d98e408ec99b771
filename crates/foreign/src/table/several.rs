//! HTTP/2 streams and pipelining put several requests on one connection at once: its number is then no bound of what is
//! in flight. Rows that say how many get the product; for others the connections stay a quantity without a meaning.

use super::column::column;
use crate::model::{Claim, Document, Figure, Measure, Row, Table};

const SAID: &[&str] = &[
    "pipelining",
    "pipelined",
    "multiplex",
    "http/2",
    "http2",
    "http/3",
    "h2load",
    "concurrent streams",
    "streams on each",
    "streams per",
    "grpc",
    "quic",
];
const CELLS: &[&str] = &["h2", "h2c", "h3", "http/2", "http/2.0", "http2", "http/3", "grpc", "quic", "spdy"];

/// Whether the text around speaks of several requests on one connection.
pub fn is_said(text: &str) -> bool {
    let lower = text.to_lowercase();
    SAID.iter().any(|w| lower.contains(w))
}

/// Looks at all tables from the given one on.
pub fn mark(document: &mut Document, first: usize) {
    let said: Vec<Vec<String>> =
        document.prose.iter().filter(|s| is_said(&s.text)).map(|s| s.headings.clone()).collect();
    for at in first..document.tables.len() {
        let table = &document.tables[at];
        // Said in this section, in one above it or in one below.
        let near = said.iter().any(|h| h.starts_with(&table.headings) || table.headings.starts_with(h));
        let all = near || is_said(&table.caption) || table.columns.iter().any(|c| is_said(c));
        let names: Vec<String> = table.columns.iter().map(|c| c.to_lowercase()).collect();
        for row in table.rows.clone() {
            if let Some(row) = document.rows.get_mut(row) {
                mark_row(row, &names, all);
            }
        }
    }
}

fn mark_row(row: &mut Row, names: &[String], all: bool) {
    let many =
        |name: &str| ["streams", "stream", "pipelin", "requests in flight"].iter().any(|w| name.contains(w));
    let each = row.others.iter().find(|(k, f)| many(k) && f.value >= 1.0).map(|(_, f)| f.clone());
    let cells = || row.words.values().map(|w| w.text.to_lowercase());
    let own = cells().any(|c| CELLS.contains(&c.trim()));
    let one = cells().any(|c| ["http/1.1", "http/1.0", "h1"].contains(&c.trim()));
    let Some(users) = row.figures.get(&Measure::Users).cloned() else { return };
    if let Some(each) = each {
        let written = format!("{} x {}", users.written, each.written);
        let product = Figure {
            value: users.value * each.value,
            low: users.low * each.low,
            high: users.high * each.high,
            written,
            ..users
        };
        row.figures.insert(Measure::Users, product);
    } else if own || all && !one {
        row.figures.remove(&Measure::Users);
        let name = names.iter().find(|n| column(n).is_some_and(|c| c.measure == Measure::Users));
        row.others.insert(name.cloned().unwrap_or_else(|| "connections".into()), users);
    }
}

/// Users of this table are stated, but not how many requests each has in flight.
pub fn is_open(document: &Document, table: &Table) -> bool {
    let rows = || table.rows.iter().filter_map(|i| document.rows.get(*i));
    let hidden = |r: &Row| {
        let mut users = r.others.keys().filter(|k| column(k).is_some_and(|c| c.measure == Measure::Users));
        users.next().is_some()
    };
    let describe = |c: &Claim| is_said(&c.text);
    rows().any(hidden) || table.around.iter().any(describe) || is_said(&table.caption)
}
