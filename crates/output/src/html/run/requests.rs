//! One row per named request, in its group; below, scenarios and groups as a whole.

use super::times::{max, mean, nanoseconds, quantile, too_few_note};
use super::tree::{Node, tree};
use crate::format::{bytes, bytes_f64, chosen_ns, count, maybe_f64_ns, rate_per_s, ratio};
use crate::html::table::{Cell, Column, Row, number, table, text};
use crate::words;
use maud::{Markup, PreEscaped, html};
use plimsoll_analysis::picture::{Picture, Spark};
use plimsoll_analysis::summary::{GroupRow, PartRow, SeriesRow, Summary, Times};
use plimsoll_chart::spark;

pub fn body(s: &Summary, picture: &Picture) -> Option<Markup> {
    if s.requests.is_empty() {
        return None;
    }
    let nodes = tree(s);
    let lines = Lines::of(s, picture);
    let rows: Vec<Row> = nodes
        .into_iter()
        .map(|(node, place)| {
            let mut row = match node {
                Node::Group(group) => group_row(s, group, &lines).marked("part"),
                Node::Request(at, request) => request_row(s, at, request, &lines),
            };
            row.place = (!s.groups.is_empty()).then_some(place);
            row
        })
        .collect();
    let marked = s.requests.iter().any(|row| is_bad(s, row));
    Some(html! {
        p.lead {
            "Response time of each request. Further columns stand to the right: the table moves sideways, its names "
            "stay."
            @if s.requests.len() > SPARKS && !lines.is_empty() {
                " The " (SPARKS) " that were sent most have their course drawn."
            }
        }
        (table("requests", "Requests", &columns(s, &lines), &rows))
        @if marked { p.faint { (rule(s)) } }
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

/// What a reader looks for stands right behind the name, because of twenty columns a window shows ten.
fn columns(s: &Summary, lines: &Lines) -> Vec<Column<'static>> {
    let mut all = vec![text("request")];
    all.extend(["rate", "errors", "error share", "p50", "p99"].map(number));
    all.extend(lines.heads().map(text));
    if has_apdex(s) {
        all.push(number("apdex"));
    }
    all.extend(["finished", "min", "mean", "p75", "p90", "p95", "p99.9", "max", "sd"].map(number));
    all.extend(["service p50", "service p99", "received", "mean body"].map(number));
    all
}

/// The courses of requests as small lines, each from 0 to its highest value.
struct Lines {
    /// By request; empty where nothing is drawn.
    rates: Vec<String>,
    p99s: Vec<String>,
}

impl Lines {
    fn of(s: &Summary, picture: &Picture) -> Lines {
        let busy = busiest(s);
        let own = |at: usize| {
            let spark = picture.sparks.iter().find(|spark| spark.request == at);
            spark.filter(|_| busy.contains(&at))
        };
        let line = |at: usize, colour: u8, said: &str, of: fn(&Spark) -> Vec<Option<f64>>| {
            own(at).map(|one| spark(&of(one), colour, said)).unwrap_or_default()
        };
        let all = 0..s.requests.len();
        Lines {
            rates: all.clone().map(|at| line(at, 0, "rate over time", rates)).collect(),
            p99s: all.map(|at| line(at, 1, "p99 over time", p99s)).collect(),
        }
    }

    /// Those columns in which anything is drawn, with their heads.
    fn drawn(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let both = [("rate over time", &self.rates), ("p99 over time", &self.p99s)];
        both.into_iter().filter(|(_, lines)| lines.iter().any(|svg| !svg.is_empty()))
    }

    fn heads(&self) -> impl Iterator<Item = &'static str> {
        self.drawn().map(|(head, _)| head)
    }

    fn is_empty(&self) -> bool {
        self.drawn().next().is_none()
    }

    /// Of a request; `None`: of a group, which has none.
    fn cells(&self, request: Option<usize>) -> impl Iterator<Item = Cell> {
        self.drawn().map(move |(_, lines)| {
            // Every text in the picture is escaped where it is written.
            let svg = request.and_then(|at| lines.get(at)).filter(|svg| !svg.is_empty());
            svg.map_or_else(|| Cell::text(""), |svg| Cell::Markup(PreEscaped(svg.clone())))
        })
    }
}

fn rates(one: &Spark) -> Vec<Option<f64>> {
    one.rate_per_s.iter().map(|rate| Some(*rate)).collect()
}

fn p99s(one: &Spark) -> Vec<Option<f64>> {
    one.p99_ns.iter().map(|ns| ns.map(|ns| ns as f64)).collect()
}

fn request_row(s: &Summary, at: usize, row: &SeriesRow, lines: &Lines) -> Row {
    let tags: Vec<String> = row.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let aside = [
        row.scenario.clone().filter(|_| s.scenarios.len() > 1).unwrap_or_default(),
        tags.join(", "),
        if row.stream { "stream: its times are its whole life".into() } else { String::new() },
    ];
    let asides: Vec<&str> = aside.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    let name = html! { (row.name) @if !asides.is_empty() { small { (asides.join("; ")) } } };
    let mut cells = vec![Cell::Markup(name), rate(row.rate_per_s), errors(row)];
    cells.push(share(row.requests, row.errors));
    cells.extend([0.5, 0.99].map(|q| quantile(&row.response_time, q)));
    cells.extend(lines.cells(Some(at)));
    if has_apdex(s) {
        cells.push(apdex(row));
    }
    cells.push(Cell::count(row.requests));
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

/// Failures beyond this share are marked where no threshold sets another; the findings tell them as a doubt.
const FAILED_MAX: f64 = 0.01;

/// The share of failures that the run may have at most, where it has such a limit.
fn errors_max(s: &Summary) -> Option<f64> {
    s.thresholds.iter().find(|t| t.what == "errors").map(|t| t.limit)
}

/// Whether it missed a threshold of its own, or failed more often than the run may.
fn is_bad(s: &Summary, row: &SeriesRow) -> bool {
    let own = format!("request: {}}}", row.name);
    let missed = s.thresholds.iter().any(|t| t.is_missed() && t.what.contains(&own));
    missed || row.errors as f64 > errors_max(s).unwrap_or(FAILED_MAX) * row.requests as f64
}

/// What a bar beside a name means.
fn rule(s: &Summary) -> String {
    let most = match errors_max(s) {
        Some(limit) => format!("more of it failed than the {} that the run may have", ratio(limit)),
        None => format!("more than {} of it failed (the run has no limit on errors)", ratio(FAILED_MAX)),
    };
    format!("A red bar: a threshold on this request was missed, or {most}.")
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
fn group_row(s: &Summary, group: &GroupRow, lines: &Lines) -> Row {
    let mut cells = vec![Cell::text(group.name.rsplit(" / ").next().unwrap_or_default())];
    cells.extend([rate(group.rate_per_s), Cell::count(group.errors), share(group.requests, group.errors)]);
    cells.extend([0.5, 0.99].map(|q| quantile(&group.response_time, q)));
    cells.extend(lines.cells(None));
    if has_apdex(s) {
        cells.push(Cell::text(""));
    }
    cells.push(Cell::count(group.requests));
    cells.extend(distribution(&group.response_time));
    // Of these a group has no figure of its own.
    cells.extend([(); 4].map(|()| Cell::text("")));
    Row::new(cells)
}

fn rate(per_s: f64) -> Cell {
    Cell::number(rate_per_s(per_s), Some(per_s))
}

/// How many of those that finished failed.
fn share(requests: u64, errors: u64) -> Cell {
    let share = (requests > 0).then(|| errors as f64 / requests as f64);
    Cell::number(share.map_or_else(|| crate::format::NONE.into(), ratio), share)
}

/// Beside the p50 and p99 at the front. The mean beside the least: how far it lies off tells of the tail.
fn distribution(times: &Times) -> Vec<Cell> {
    let mut cells = vec![nanoseconds(times.min_ns), mean(times)];
    cells.extend([0.75, 0.9, 0.95, 0.999].map(|q| quantile(times, q)));
    cells.push(max(times));
    cells.push(Cell::number(maybe_f64_ns(times.std_dev_ns), times.std_dev_ns));
    cells
}

fn scenarios(s: &Summary) -> Markup {
    let row = |part: &PartRow| {
        let mut cells = vec![Cell::text(&part.name), rate(part.rate_per_s), Cell::count(part.errors)];
        cells.push(share(part.requests, part.errors));
        cells.extend([0.5, 0.99].map(|q| quantile(&part.response_time, q)));
        cells.extend([max(&part.response_time), Cell::count(part.requests)]);
        Row::new(cells)
    };
    let rows: Vec<Row> = s.scenarios.iter().map(row).collect();
    let mut columns = vec![text("scenario")];
    columns.extend(["rate", "errors", "error share", "p50", "p99", "max", "finished"].map(number));
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
