//! What failed: classes, statuses, checks, and examples as they were kept, secrets taken out.

use crate::format::{chosen_ns, ratio};
use crate::html::piece::prose;
use crate::html::table::{Cell, Column, Row, number, table, text};
use crate::words;
use maud::{Markup, html};
use plimsoll_analysis::summary::{CheckRow, ErrorRow, SampleRow, SeriesRow, Summary};

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
            @if !failed.is_empty() { div { h3 { "Classes" } (classes(&failed)) } }
            @if !s.statuses.is_empty() { div { h3 { "Statuses" } (statuses(s)) } }
        }
        @if let Some(table) = by_request(s) { h3 { "By request" } (table) }
        @if s.client.faults.iter().any(|row| row.count > 0) {
            p.faint { "Failures on the client's side are faults of the load generator and never count as errors." }
        }
        @if !s.samples.is_empty() { h3 { "Examples" } (samples(s)) }
    })
}

fn classes(failed: &[&ErrorRow]) -> Markup {
    let row = |row: &&ErrorRow| {
        Row::new(vec![
            Cell::Markup(html! { code { (row.class) } }),
            Cell::text(words::side(row.side)),
            Cell::count(row.count),
            Cell::text(row.sentence),
        ])
    };
    let rows: Vec<Row> = failed.iter().map(row).collect();
    table(
        "errors",
        "Failures by class",
        &[text("class"), text("side"), number("count"), text("meaning")],
        &rows,
    )
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
    let there: Vec<&str> = s.errors.iter().map(|row| row.class).filter(|class| is_there(class)).collect();
    let row = |row: &&SeriesRow| {
        let counts = there.iter().map(|class| match row.errors_by_class.get(class) {
            Some(n) => Cell::count(*n),
            None => Cell::number("", None),
        });
        Row::new(std::iter::once(Cell::text(&row.name)).chain(counts).collect())
    };
    let rows: Vec<Row> = all.iter().take(FAILING).map(row).collect();
    let columns: Vec<Column> =
        std::iter::once(text("request")).chain(there.iter().copied().map(number)).collect();
    Some(html! {
        (table("failing", "Failures by request and class", &columns, &rows))
        @if all.len() > FAILING {
            p.faint { "and " (all.len() - FAILING) " requests more, each with its classes in the table of requests" }
        }
    })
}

fn statuses(s: &Summary) -> Markup {
    let all: u64 = s.statuses.values().sum();
    let row = |(status, n): (&String, &u64)| {
        let share = *n as f64 / all.max(1) as f64;
        Row::new(vec![Cell::text(status), Cell::count(*n), Cell::number(ratio(share), Some(share))])
    };
    let rows: Vec<Row> = s.statuses.iter().map(row).collect();
    table("statuses", "Answers by status", &[text("status"), number("answers"), number("share")], &rows)
}

/// Examples that say the same, as one: the first of them, how many there are, and when the last was.
struct Alike<'a> {
    first: &'a SampleRow,
    count: usize,
    last_ns: u64,
}

fn alike(all: &[SampleRow]) -> Vec<Alike<'_>> {
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
    let all = alike(&s.samples);
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

/// Checks, those that failed most first, as the summary brings them.
pub fn checks(s: &Summary) -> Option<Markup> {
    if s.checks.is_empty() {
        return None;
    }
    let row = |check: &CheckRow| {
        let share = (check.made > 0).then(|| check.failed as f64 / check.made as f64);
        let row = Row::new(vec![
            Cell::text(&check.name),
            Cell::text(&check.request),
            Cell::count(check.made),
            Cell::count(check.failed),
            Cell::number(share.map_or_else(|| crate::format::NONE.into(), ratio), share),
        ]);
        if check.failed > 0 { row.marked("bad") } else { row }
    };
    let rows: Vec<Row> = s.checks.iter().map(row).collect();
    let columns = [text("check"), text("request"), number("made"), number("failed"), number("failed share")];
    Some(table("checks", "Checks", &columns, &rows))
}
