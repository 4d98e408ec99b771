//! The machines of a merged run, side by side: their share, when they began, and whether one differs.

use super::times::nanoseconds;
use crate::format::{chosen_s, duration_f64_ns, quantity, rate_per_s};
use crate::html::table::{Cell, Row, number, table, text};
use maud::{Markup, html};
use plimsoll_record::summary::{OriginRow, Summary};

/// A p99 so many times that of the others is worth a word.
const DIFFERS: f64 = 1.5;

pub fn body(s: &Summary) -> Option<Markup> {
    if s.origins.len() < 2 {
        return None;
    }
    let first_ns = s.origins.iter().map(|origin| origin.started_unix_ns).min().unwrap_or_default();
    let rows: Vec<Row> = s.origins.iter().enumerate().map(|(at, row)| line(s, at, row, first_ns)).collect();
    let mut columns = vec![text("machine"), text("share")];
    columns
        .extend(["began later by", "lasted", "requests", "errors", "rate", "p50", "p99", "max"].map(number));
    columns.push(text("remark"));
    Some(html! {
        p.lead { "The figures of the page hold all of them; percentiles come from merged histograms, not from these." }
        (table("machines", "Machines", &columns, &rows))
    })
}

fn line(s: &Summary, at: usize, row: &OriginRow, first_ns: u64) -> Row {
    let later_ns = (row.started_unix_ns - first_ns) as f64;
    Row::new(vec![
        Cell::text(&row.host),
        Cell::text(&row.share),
        Cell::number(duration_f64_ns(later_ns), Some(later_ns)),
        Cell::number(chosen_s(row.elapsed_s), Some(row.elapsed_s)),
        Cell::count(row.requests),
        Cell::count(row.errors),
        Cell::number(rate_per_s(row.rate_per_s), Some(row.rate_per_s)),
        nanoseconds(row.p50_ns),
        nanoseconds(row.p99_ns),
        nanoseconds(row.max_ns),
        Cell::text(remark(s, at, row)),
    ])
}

/// What sets a machine apart: it was cut off, or its p99 is far above that of the fastest other one.
fn remark(s: &Summary, at: usize, row: &OriginRow) -> String {
    let mut words = Vec::new();
    if !row.complete {
        words.push("cut off".to_owned());
    }
    let others = s.origins.iter().enumerate().filter(|(other, _)| *other != at);
    let least = others.filter_map(|(_, other)| other.p99_ns).min();
    if let (Some(own), Some(least)) = (row.p99_ns, least.filter(|ns| *ns > 0)) {
        let times = own as f64 / least as f64;
        if times >= DIFFERS {
            words.push(format!("p99 {} times that of another", quantity(times)));
        }
    }
    words.join(", ")
}
