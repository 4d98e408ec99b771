//! The machines of a merged run, side by side: their share, when they began, and whether one differs.

use super::times::{nanoseconds, percentile_cell};
use crate::format::{NONE, chosen_s, duration_f64_ns, quantile_name, quantity, rate_per_s};
use crate::html::table::{Cell, Row, number, table, text};
use crate::words;
use maud::{Markup, html};
use plimsoll_analysis::summary::{OriginRow, Summary};

/// A p99 so many times that of the others is worth a word.
const DIFFERS: f64 = 1.5;

pub fn body(s: &Summary) -> Option<Markup> {
    if s.origins.len() < 2 {
        return None;
    }
    let first_ns = s.origins.iter().map(|origin| origin.started_unix_ns).min().unwrap_or_default();
    let rows: Vec<Row> = s.origins.iter().enumerate().map(|(at, row)| line(s, at, row, first_ns)).collect();
    let mut columns = vec![text("machine"), text("share")];
    columns.extend(["rate", "offered", "errors", "p50", "p99", "max"].map(number));
    columns.extend(["lateness p99", "lateness max", "requests", "began later by", "lasted"].map(number));
    columns.push(text("remark"));
    Some(html! {
        p.lead { "The figures of the page hold all of them; percentiles come from merged histograms, not from these." }
        (table("machines", "Machines", &columns, &rows))
        @for said in words::apart(s) { p { (said) } }
        @if s.origins.iter().any(|row| row.apart.is_some()) { (beside(s)) }
    })
}

fn line(s: &Summary, at: usize, row: &OriginRow, first_ns: u64) -> Row {
    let later_ns = (row.started_unix_ns - first_ns) as f64;
    Row::new(vec![
        Cell::text(&row.host),
        Cell::text(&row.share),
        rate(Some(row.rate_per_s)),
        rate(row.offered_rate_per_s),
        Cell::count(row.errors),
        percentile_cell(row.quantile(0.5)),
        percentile_cell(row.quantile(0.99)),
        percentile_cell(row.longest()),
        percentile_cell(row.lateness.quantile(0.99)),
        nanoseconds(row.lateness.max_ns),
        Cell::count(row.requests),
        Cell::number(duration_f64_ns(later_ns), Some(later_ns)),
        Cell::number(chosen_s(row.elapsed_s), Some(row.elapsed_s)),
        Cell::text(remark(s, at, row)),
    ])
}

fn rate(per_s: Option<f64>) -> Cell {
    Cell::number(per_s.map_or_else(|| NONE.into(), rate_per_s), per_s)
}

/// What sets a machine apart: it was cut off, or its times are not those of the others; where too little was measured
/// for the test, that its p99 is far above that of the fastest other one.
fn remark(s: &Summary, at: usize, row: &OriginRow) -> String {
    let mut words = Vec::new();
    if !row.complete {
        words.push("cut off".to_owned());
    }
    if let Some(apart) = &row.apart {
        words.extend(Some(apart.sentence.clone()).filter(|said| !said.is_empty()));
        if apart.ratios.iter().any(|ratio| ratio.q == 0.99) {
            return words.join(", ");
        }
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

/// The test, with its numbers.
fn beside(s: &Summary) -> Markup {
    let ratios = s
        .origins
        .iter()
        .flat_map(|row| row.apart.iter().flat_map(move |a| a.ratios.iter().map(move |r| (row, r))));
    let rows: Vec<Row> = ratios
        .map(|(row, r)| {
            Row::new(vec![
                Cell::text(&row.host),
                Cell::text(quantile_name(r.q)),
                Cell::number(quantity(r.ratio), Some(r.ratio)),
                Cell::number(quantity(r.low), Some(r.low)),
                Cell::number(quantity(r.high), Some(r.high)),
                Cell::count(r.stretches),
            ])
        })
        .collect();
    let mut columns = vec![text("machine"), text("response time")];
    columns.extend(["times that of the others", "at least", "at most", "stretches compared"].map(number));
    html! {
        h3 { "Beside the others" }
        p.lead {
            "Stretches of the same time are compared in pairs (t-test of the logarithms, 95 % interval of all rows \
            together). A machine differs where 1 lies outside the interval and the difference is 5 % or more."
        }
        (table("machines-apart", "Times of each machine beside those of the others", &columns, &rows))
    }
}
