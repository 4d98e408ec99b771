//! One row per named request, in its group; below, scenarios and groups as a whole.

use super::times::{max, mean, nanoseconds, quantile, too_few_note};
use super::tree::{Node, tree};
use crate::figure::spark;
use crate::format::{bytes, bytes_f64, chosen_ns, count, maybe_f64_ns, rate_per_s, ratio};
use crate::html::table::{Cell, Column, Row, number, table, text};
use crate::words;
use maud::{Markup, PreEscaped, html};
use plimsoll_record::picture::Picture;
use plimsoll_record::summary::{GroupRow, PartRow, SeriesRow, Summary, Times};

pub fn body(s: &Summary, picture: &Picture) -> Option<Markup> {
    if s.requests.is_empty() {
        return None;
    }
    let nodes = tree(s);
    let busy = busiest(s);
    let rows: Vec<Row> = nodes
        .into_iter()
        .map(|(node, place)| {
            let (mut row, sparks) = match node {
                Node::Group(group) => (group_row(s, group).marked("part"), None),
                Node::Request(at, request) if busy.contains(&at) => {
                    (request_row(s, request), courses(picture, at))
                }
                Node::Request(_, request) => (request_row(s, request), None),
            };
            if !picture.sparks.is_empty() {
                row.cells.splice(1..1, sparks.unwrap_or_else(|| [Cell::text(""), Cell::text("")]));
            }
            row.place = (!s.groups.is_empty()).then_some(place);
            row
        })
        .collect();
    Some(html! {
        p.lead {
            "Response time of each request. A narrow window moves the table sideways."
            @if s.requests.len() > SPARKS && !picture.sparks.is_empty() {
                " The " (SPARKS) " that were sent most have their course drawn."
            }
        }
        (table("requests", "Requests", &columns(s, picture), &rows))
        @if has_apdex(s) {
            p.faint {
                "Apdex: of its finished requests the share that took no longer than the limit T of its threshold, and \
                half of those that took up to four times as long; a failure counts as slower. It judges nothing here. "
                ">=: which of its times were those of failures is not known, and this is the least."
            }
        }
        @if let Some(note) = too_few_note(s.requests.iter().map(|row| &row.response_time)) { (note) }
        @if s.scenarios.len() > 1 { h3 { "Scenarios" } (scenarios(s)) }
        @if !s.groups.is_empty() {
            h3 { "Groups" }
            p.lead { "A passage is the way through a group as a whole, thinking included." }
            (groups(s))
        }
    })
}

/// Requests that have their course drawn: two lines for each of hundreds would be a large file.
const SPARKS: usize = 50;

/// Indices of those that were sent most.
fn busiest(s: &Summary) -> Vec<usize> {
    let mut all: Vec<usize> = (0..s.requests.len()).collect();
    all.sort_by_key(|at| std::cmp::Reverse(s.requests.get(*at).map_or(0, |row| row.requests)));
    all.truncate(SPARKS);
    all
}

/// Some request has one limit of its own, or all have one.
fn has_apdex(s: &Summary) -> bool {
    s.requests.iter().any(|row| row.apdex.is_some())
}

fn columns(s: &Summary, picture: &Picture) -> Vec<Column<'static>> {
    let mut all = vec![text("request")];
    // Beside the name: behind twenty columns nobody sees them.
    if !picture.sparks.is_empty() {
        all.extend(["rate over time", "p99 over time"].map(text));
    }
    all.extend(["finished", "ok", "errors", "error share", "rate"].map(number));
    if has_apdex(s) {
        all.push(number("apdex"));
    }
    all.extend(["min", "p50", "mean", "p75", "p90", "p95", "p99", "p99.9", "max", "sd"].map(number));
    all.extend(["service p50", "service p99", "received", "mean body"].map(number));
    all
}

/// Its course as two small lines, each from 0 to its highest value.
fn courses(picture: &Picture, request: usize) -> Option<[Cell; 2]> {
    let own = picture.sparks.iter().find(|spark| spark.request == request)?;
    let rate: Vec<Option<f64>> = own.rate_per_s.iter().map(|rate| Some(*rate)).collect();
    let p99: Vec<Option<f64>> = own.p99_ns.iter().map(|ns| ns.map(|ns| ns as f64)).collect();
    // Every text in the picture is escaped where it is written.
    Some(
        [spark(&rate, 0, "rate over time"), spark(&p99, 1, "p99 over time")]
            .map(|svg| Cell::Markup(PreEscaped(svg))),
    )
}

fn request_row(s: &Summary, row: &SeriesRow) -> Row {
    let tags: Vec<String> = row.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let aside = [
        row.scenario.clone().filter(|_| s.scenarios.len() > 1).unwrap_or_default(),
        tags.join(", "),
        if row.stream { "stream: its times are its whole life".into() } else { String::new() },
    ];
    let asides: Vec<&str> = aside.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    let name = html! { (row.name) @if !asides.is_empty() { small { (asides.join("; ")) } } };
    let mut cells = vec![Cell::Markup(name)];
    let [finished, ok, _, share, rate] = counts(row.requests, row.errors, row.rate_per_s);
    cells.extend([finished, ok, errors(row), share, rate]);
    if has_apdex(s) {
        cells.push(apdex(row));
    }
    cells.extend(distribution(&row.response_time));
    cells.push(quantile(&row.service_time, 0.5));
    cells.push(quantile(&row.service_time, 0.99));
    cells.push(Cell::number(bytes(row.bytes_in), Some(row.bytes_in as f64)));
    let body = row.body_mean_bytes.map_or_else(|| crate::format::NONE.into(), bytes_f64);
    cells.push(Cell::number(body, row.body_mean_bytes));
    let line = Row::new(cells);
    if is_bad(s, row) { line.marked("bad") } else { line }
}

/// Two digits behind the point, with its T, as the specification writes it.
fn apdex(row: &SeriesRow) -> Cell {
    let Some(apdex) = &row.apdex else { return Cell::number(crate::format::NONE, None) };
    let text = html! {
        (words::apdex(apdex))
        small { "T " (chosen_ns(apdex.target_ns)) }
    };
    Cell::Valued(text, Some(apdex.index))
}

/// Whether it missed a threshold of its own, or failed more often than the run may; without a limit any failure tells.
fn is_bad(s: &Summary, row: &SeriesRow) -> bool {
    let own = format!("request: {}}}", row.name);
    let missed = s.thresholds.iter().any(|t| !t.met && t.what.contains(&own));
    let limit = s.thresholds.iter().find(|t| t.what == "errors").map_or(0.0, |t| t.limit);
    missed || row.errors as f64 > limit * row.requests as f64
}

/// How many failed, and of which classes, the most frequent first.
fn errors(row: &SeriesRow) -> Cell {
    let mut classes: Vec<(&&str, &u64)> = row.errors_by_class.iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let text = html! {
        (count(row.errors))
        @for (class, n) in classes { small { (class) @if *n != row.errors { " " (count(*n)) } } }
    };
    Cell::Valued(text, Some(row.errors as f64))
}

/// A group's requests, those of the groups in it included.
fn group_row(s: &Summary, group: &GroupRow) -> Row {
    let mut cells = vec![Cell::text(group.name.rsplit(" / ").next().unwrap_or_default())];
    cells.extend(counts(group.requests, group.errors, group.rate_per_s));
    if has_apdex(s) {
        cells.push(Cell::text(""));
    }
    cells.extend(distribution(&group.response_time));
    // Of these a group has no figure of its own.
    cells.extend([(); 4].map(|()| Cell::text("")));
    Row::new(cells)
}

/// Finished, in order, failed, their share, and the rate.
fn counts(requests: u64, errors: u64, rate: f64) -> [Cell; 5] {
    let share = (requests > 0).then(|| errors as f64 / requests as f64);
    [
        Cell::count(requests),
        Cell::count(requests.saturating_sub(errors)),
        Cell::count(errors),
        Cell::number(share.map_or_else(|| crate::format::NONE.into(), ratio), share),
        Cell::number(rate_per_s(rate), Some(rate)),
    ]
}

/// The mean beside the median: how far it lies off tells of the tail.
fn distribution(times: &Times) -> Vec<Cell> {
    let mut cells = vec![nanoseconds(times.min_ns), quantile(times, 0.5), mean(times)];
    cells.extend([0.75, 0.9, 0.95, 0.99, 0.999].map(|q| quantile(times, q)));
    cells.push(max(times));
    cells.push(Cell::number(maybe_f64_ns(times.std_dev_ns), times.std_dev_ns));
    cells
}

fn scenarios(s: &Summary) -> Markup {
    let row = |part: &PartRow| {
        let mut cells = vec![Cell::text(&part.name)];
        cells.extend(counts(part.requests, part.errors, part.rate_per_s));
        cells.extend([0.5, 0.99].map(|q| quantile(&part.response_time, q)));
        cells.push(max(&part.response_time));
        Row::new(cells)
    };
    let rows: Vec<Row> = s.scenarios.iter().map(row).collect();
    let mut columns = vec![text("scenario")];
    columns.extend(["finished", "ok", "errors", "error share", "rate", "p50", "p99", "max"].map(number));
    table("scenarios", "Scenarios", &columns, &rows)
}

fn groups(s: &Summary) -> Markup {
    let row = |group: &GroupRow| {
        let passage = &group.passage;
        Row::new(vec![
            Cell::text(&group.name),
            Cell::count(group.passages),
            Cell::count(group.requests),
            Cell::count(group.errors),
            quantile(passage, 0.5),
            quantile(passage, 0.99),
            max(passage),
        ])
    };
    let rows: Vec<Row> = s.groups.iter().map(row).collect();
    let columns = [
        text("group"),
        number("passages"),
        number("requests"),
        number("errors"),
        number("passage p50"),
        number("passage p99"),
        number("passage max"),
    ];
    table("groups", "Groups", &columns, &rows)
}
