//! What failed: classes, statuses, checks, and examples as they were kept, secrets taken out.

use crate::document::{Cell, Column, Table, Value, alone};
use crate::format::chosen_ns;
use crate::html::piece::prose;
use crate::run::figures::classes;
use maud::{Markup, html};
use plimsoll_analysis::summary::{ErrorRow, SampleRow, SeriesRow, Summary};

/// More of them are in the JSON document: a page is to be read.
const SAMPLES: usize = 30;

pub fn body(s: &Summary) -> Option<Markup> {
    let failed: Vec<&ErrorRow> =
        s.errors.iter().chain(&s.client.faults).filter(|row| row.count > 0).collect();
    if failed.is_empty() && s.statuses.len() < 2 && s.samples.is_empty() {
        return None;
    }
    Some(html! {
        div.pair {
            @if !failed.is_empty() { div { h3 { "Classes" } (alone(&classes(failed.iter().copied()))) } }
            @if !s.statuses.is_empty() { div { h3 { "Statuses" } (statuses(s)) } }
        }
        @if let Some(table) = by_request(s) { h3 { "By request" } (table) }
        @if s.client.faults.iter().any(|row| row.count > 0) {
            p.faint { "Failures on the client's side are faults of the load generator and never count as errors." }
        }
        @if !s.samples.is_empty() { h3 { "Examples" } (samples(s)) }
    })
}

/// Rows of the table below; there may be hundreds of requests, and the table of requests has them all.
const FAILING: usize = 30;

/// Which request failed how, those that failed most first; of a single request the classes say it already.
fn by_request(s: &Summary) -> Option<Markup> {
    let mut all: Vec<&SeriesRow> = s.requests.iter().filter(|row| !row.errors_by_class.is_empty()).collect();
    if s.requests.len() < 2 || all.is_empty() {
        return None;
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.errors_by_class.values().sum::<u64>()));
    let is_there = |class: &str| all.iter().any(|row| row.errors_by_class.contains_key(class));
    let shown = all.iter().copied().take(FAILING);
    let mut table = Table::of("failing", "Failures by request and class", shown)
        .column(Column::text("request"), |row| Cell::text(&row.name));
    for class in s.errors.iter().map(|row| row.class).filter(|class| is_there(class)) {
        table = table.column(Column::number(class), |row| match row.errors_by_class.get(class) {
            Some(n) => Cell::count(*n),
            None => Cell::text(""),
        });
    }
    Some(html! {
        (alone(&table.done()))
        @if all.len() > FAILING {
            p.faint { "and " (all.len() - FAILING) " requests more, each with its classes in the table of requests" }
        }
    })
}

fn statuses(s: &Summary) -> Markup {
    let all: u64 = s.statuses.values().sum();
    let rows: Vec<(&String, &u64)> = s.statuses.iter().collect();
    let table = Table::of("statuses", "Answers by status", &rows)
        .column(Column::text("status"), |(status, _)| Cell::text(*status))
        .column(Column::number("answers"), |(_, n)| Cell::count(**n))
        .column(Column::number("share"), |(_, n)| Value::Share(**n as f64 / all.max(1) as f64).into());
    alone(&table.done())
}

/// Examples that say the same, as one: the first of them, how many there are, and when the last was.
struct Alike<'a> {
    first: &'a SampleRow,
    count: usize,
    last_ns: u64,
}

fn group_identical(all: &[SampleRow]) -> Vec<Alike<'_>> {
    let mut out: Vec<Alike> = Vec::new();
    let is_alike = |a: &SampleRow, b: &SampleRow| {
        let (one, other) = (&a.sample, &b.sample);
        (a.origin == b.origin && one.status == other.status)
            && (one.check == other.check && one.request == other.request)
            && (one.found == other.found && one.excerpt == other.excerpt)
    };
    for row in all {
        let at_ns = row.sample.at_ns;
        match out.iter_mut().find(|one| is_alike(one.first, row)) {
            Some(one) => (one.count, one.last_ns) = (one.count + 1, one.last_ns.max(at_ns)),
            None => out.push(Alike { first: row, count: 1, last_ns: at_ns }),
        }
    }
    out
}

fn samples(s: &Summary) -> Markup {
    let all = group_identical(&s.samples);
    html! {
        ul.samples {
            @for Alike { first: SampleRow { sample, origin }, count, last_ns } in all.iter().take(SAMPLES) {
                li {
                    p {
                        b { (sample.check) } " in " b { (sample.request) }
                        " at " (chosen_ns(sample.at_ns))
                        @if sample.status > 0 { ", status " (sample.status) }
                        @if s.origins.len() > 1 { ", " (host(s, origin)) }
                        @if *count > 1 {
                            span.word { "; " (count) " alike, the last at " (chosen_ns(*last_ns)) }
                        }
                    }
                    @if !sample.found.is_empty() { p { (prose(&sample.found)) } }
                    @if !sample.excerpt.trim().is_empty() {
                        details open { summary { "The beginning of the answer" } pre.excerpt { (sample.excerpt) } }
                    }
                }
            }
        }
        @if all.len() > SAMPLES {
            p.faint { "and " (all.len() - SAMPLES) " more, in the JSON document" }
        }
    }
}

/// The machine that a sample comes from.
fn host<'a>(s: &'a Summary, origin: &'a str) -> &'a str {
    s.origins.iter().find(|row| row.origin == origin).map_or(origin, |row| &row.host)
}
