//! One row per named request. A page shows them in their groups, with all of their values, and scenarios and groups
//! below.

use super::tree::{Node, tree};
use super::{max, mean, parts, percentile, printable_ns};
use crate::document::{Block, Cell, Column, Mark, On, Role, Section, Table, Tone, Value, sentence};
use crate::format::{NONE, bytes, bytes_f64, chosen_ns, count, ratio};
use crate::words;
use plimsoll_analysis::picture::{Picture, Spark};
use plimsoll_analysis::summary::{GroupRow, SeriesRow, Summary, Times};
use plimsoll_chart::spark;
use plimsoll_plan::Fault;

/// In text outputs, a single request would only repeat the results above.
pub fn section(s: &Summary, picture: &Picture) -> Section {
    let section = |blocks| Section::new("requests", "Requests", blocks).indented();
    let below = |title: &str, section: Section| {
        let title = Block::Heading(title.into());
        [title].into_iter().chain(section.blocks).map(|block| block.only(On::HTML)).collect::<Vec<Block>>()
    };
    let groups = || if s.groups.is_empty() { Vec::new() } else { below("Groups", parts::groups(s)) };
    if s.requests.is_empty() {
        return section(groups());
    }
    let drawn = Lines::of(s, picture);
    let on_page = |role, text: String| sentence(role, text).only(On::HTML);
    let mut lead =
        "Response time of each request. Scroll right for more columns; the names stay in view.".to_owned();
    if s.requests.len() > SPARKS && !drawn.is_empty() {
        lead += &format!(" Charts show the {SPARKS} most frequent requests over time.");
    }
    let mut blocks = vec![on_page(Role::Lead, lead), Block::Table(table(s, &drawn))];
    if s.requests.iter().any(|row| is_bad(s, row)) {
        blocks.push(on_page(Role::Faint, rule(s)));
    }
    if has_apdex(s) {
        let said = "Apdex: the share of requests within the limit T of their threshold, plus half of those within 4 T; \
                    failures count as slower. It does not affect the verdict. ≥: the times of failures are unknown, so \
                    this is a lower bound.";
        blocks.push(on_page(Role::Faint, said.into()));
    }
    blocks.extend(too_few(s.requests.iter().map(|row| &row.response_time)));
    if s.by_origin.len() > 1 {
        blocks.extend(below("Origins", parts::by_origin(s)));
    }
    if s.scenarios.len() > 1 {
        blocks.extend(below("Scenarios", parts::scenarios(s)));
    }
    blocks.extend(groups());
    section(blocks).aside("response time")
}

/// A note below a table of a page with percentiles, if any is missing for lack of samples.
fn too_few<'a>(mut all: impl Iterator<Item = &'a Times>) -> Option<Block> {
    let lacks = |times: &Times| times.count > 0 && times.percentiles.iter().any(|p| !p.has_enough_samples);
    let (p99, p999) = (count(1_000), count(10_000));
    let said = format!(
        "{NONE}: too few samples. A percentile needs 10 / (1 - p) samples: {p99} for p99, {p999} for p99.9."
    );
    all.any(lacks).then(|| sentence(Role::Faint, said).only(On::HTML))
}

/// The most important columns follow the name directly, because a window shows ten of twenty columns.
fn table(s: &Summary, drawn: &Lines) -> Table {
    let nodes = tree(s);
    let times = |q: f64| move |node: &Node| percentile(node.times(), q);
    let finished = |node: &Node| Cell::count(node.requests());
    // A group has no values of these.
    let own = |node: &Node, cell: &dyn Fn(&SeriesRow) -> Cell| match node {
        Node::Request(_, row) => cell(row),
        Node::Group(_) => Cell::text(""),
    };
    let page = |head: &str| Column::number(head).on(On::HTML);
    let mut table = Table::of("requests", "Requests", nodes.iter().map(|(node, _)| node))
        .column(Column::text("request").brief(""), |node| name(s, node))
        .column(Column::number("requests").on(On::TEXT), finished)
        .column(page("throughput"), |node| Value::Rate(node.rate_per_s()).into())
        .column(Column::number("errors"), errors)
        .column(Column::number("throughput").on(On::MARKDOWN), |node| Value::Rate(node.rate_per_s()).into())
        .column(page("error rate"), |node| super::share(node.requests(), node.errors()))
        .column(Column::number("p50"), times(0.5))
        .column(Column::number("p99"), times(0.99))
        .column(Column::number("max").on(On::TEXT), |node| max(node.times()));
    for (head, lines) in drawn.drawn() {
        table = table.column(Column::text(head).on(On::HTML), |node| match node {
            // The picture is SVG whose texts are already escaped.
            Node::Request(at, _) => Value::Drawn(lines.get(*at).cloned().unwrap_or_default()).into(),
            Node::Group(_) => Cell::text(""),
        });
    }
    if has_apdex(s) {
        table = table.column(page("apdex"), |node| own(node, &apdex));
    }
    let bytes_in = |row: &SeriesRow| Cell::number(bytes(row.bytes_in), Some(row.bytes_in as f64));
    let body = |row: &SeriesRow| {
        Cell::number(row.body_mean_bytes.map_or_else(|| NONE.into(), bytes_f64), row.body_mean_bytes)
    };
    // The mean next to the minimum: its distance shows the tail.
    table
        .column(page("requests"), finished)
        .column(page("min"), |node| Cell::nanoseconds(node.times().min_ns))
        .column(page("mean"), |node| mean(node.times()))
        .column(page("p75"), times(0.75))
        .column(page("p90"), times(0.9))
        .column(page("p95"), times(0.95))
        .column(page("p99.9"), times(0.999))
        .column(page("max"), |node| max(node.times()))
        .column(page("std dev"), |node| {
            node.times().std_dev_ns.map_or(Value::Missing, Value::Nanoseconds).into()
        })
        .column(page("service p50"), |node| own(node, &|row| percentile(&row.service_time, 0.5)))
        .column(page("service p99"), |node| own(node, &|row| percentile(&row.service_time, 0.99)))
        .column(page("received"), |node| own(node, &bytes_in))
        .column(page("mean body"), |node| own(node, &body))
        .worst_first(Node::errors, |node, q| printable_ns(node.times(), q))
        .marked(|node| match node {
            Node::Group(_) => Some(Mark::Part),
            Node::Request(_, row) => is_bad(s, row).then_some(Mark::Bad),
        })
        .on(|node| if s.requests.len() < 2 || matches!(node, Node::Group(_)) { On::HTML } else { On::ALL })
        .below(|at| nodes.get(at).map(|(_, place)| place.clone()).filter(|_| !s.groups.is_empty()))
        .done()
}

impl Node<'_> {
    fn times(&self) -> &Times {
        match self {
            Node::Group(GroupRow { response_time, .. })
            | Node::Request(_, SeriesRow { response_time, .. }) => response_time,
        }
    }

    fn requests(&self) -> u64 {
        match self {
            Node::Group(GroupRow { requests, .. }) | Node::Request(_, SeriesRow { requests, .. }) => {
                *requests
            }
        }
    }

    fn errors(&self) -> u64 {
        match self {
            Node::Group(GroupRow { errors, .. }) | Node::Request(_, SeriesRow { errors, .. }) => *errors,
        }
    }

    fn rate_per_s(&self) -> f64 {
        match self {
            Node::Group(GroupRow { rate_per_s, .. }) | Node::Request(_, SeriesRow { rate_per_s, .. }) => {
                *rate_per_s
            }
        }
    }
}

fn name(s: &Summary, node: &Node) -> Cell {
    let row = match node {
        Node::Group(group) => return Cell::text(group.name.rsplit(" / ").next().unwrap_or_default()),
        Node::Request(_, row) => row,
    };
    let tags: Vec<String> = row.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let asides = [
        row.scenario.clone().filter(|_| s.scenarios.len() > 1).unwrap_or_default(),
        tags.join(", "),
        if row.is_stream { "stream: its times cover its whole life".into() } else { String::new() },
    ];
    let asides: Vec<String> = asides.into_iter().filter(|text| !text.is_empty()).collect();
    let cell = Cell::text(&row.name).aside(Tone::Note, asides.join("; "));
    cell.tail(Tone::Note, if row.is_stream { "(stream)" } else { "" })
}

/// Returns the number of failures with their classes, the most frequent first.
fn errors(node: &Node) -> Cell {
    let cell = Cell::errors(node.errors());
    let Node::Request(_, row) = node else { return cell };
    let mut classes: Vec<(&Fault, &u64)> = row.errors_by_class.iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let describe = |(class, n): (&Fault, &u64)| match *n == row.errors {
        true => class.name().to_owned(),
        false => format!("{} {}", class.name(), count(*n)),
    };
    classes.into_iter().map(describe).fold(cell, |cell, describe| cell.aside(Tone::Note, describe))
}

/// Two digits after the decimal point, with its T, as in the specification.
fn apdex(row: &SeriesRow) -> Cell {
    let Some(apdex) = &row.apdex else { return Value::Missing.into() };
    let limit = format!("T {}", chosen_ns(apdex.target_ns));
    Cell::number(words::apdex(apdex), Some(apdex.index)).aside(Tone::Note, limit)
}

/// Returns whether a request has its own limit, or all have one.
fn has_apdex(s: &Summary) -> bool {
    s.requests.iter().any(|row| row.apdex.is_some())
}

/// Failures above this share are marked, unless a threshold sets another limit; the findings raise them as a caution.
const FAILED_MAX: f64 = 0.01;

/// Returns the maximum error rate of the run, if it has such a limit.
fn errors_max(s: &Summary) -> Option<f64> {
    s.thresholds.iter().find(|t| t.subject == "error_rate").map(|t| t.limit)
}

/// Returns whether it missed its own threshold, or failed more often than the run allows.
fn is_bad(s: &Summary, row: &SeriesRow) -> bool {
    let own = format!("request: {}}}", row.name);
    let missed = s.thresholds.iter().any(|t| t.is_missed() && t.subject.contains(&own));
    missed || row.errors as f64 > errors_max(s).unwrap_or(FAILED_MAX) * row.requests as f64
}

/// Returns the meaning of a bar next to a name.
fn rule(s: &Summary) -> String {
    let most = match errors_max(s) {
        Some(limit) => format!("its error rate exceeds the limit of {}", ratio(limit)),
        None => format!("its error rate exceeds {} (the run has no limit)", ratio(FAILED_MAX)),
    };
    format!("A red bar: this request missed a threshold, or {most}.")
}

/// Maximum number of requests with a drawn timeline: two lines for each of hundreds would make a large file.
const SPARKS: usize = 50;

/// The timelines of requests as small lines, each from 0 to its maximum.
struct Lines {
    /// By request; empty if nothing is drawn.
    rates: Vec<String>,
    p99s: Vec<String>,
}

impl Lines {
    /// Draws those of the most frequent requests.
    fn of(s: &Summary, picture: &Picture) -> Lines {
        let mut busy: Vec<usize> = (0..s.requests.len()).collect();
        busy.sort_by_key(|at| std::cmp::Reverse(s.requests.get(*at).map_or(0, |row| row.requests)));
        busy.truncate(SPARKS);
        let own = |at: usize| picture.sparks.iter().find(|spark| spark.request == at && busy.contains(&at));
        let all = |color: u8, said: &str, of: fn(&Spark) -> Vec<Option<f64>>| -> Vec<String> {
            let line = |at| own(at).map(|one| spark(&of(one), color, said)).unwrap_or_default();
            (0..s.requests.len()).map(line).collect()
        };
        let rates = |one: &Spark| one.rate_per_s.iter().map(|rate| Some(*rate)).collect();
        let p99s = |one: &Spark| one.p99_ns.iter().map(|ns| ns.map(|ns| ns as f64)).collect();
        Lines { rates: all(0, "rate over time", rates), p99s: all(1, "p99 over time", p99s) }
    }

    /// Returns the columns in which anything is drawn, with their headers.
    fn drawn(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let both = [("rate over time", &self.rates), ("p99 over time", &self.p99s)];
        both.into_iter().filter(|(_, lines)| lines.iter().any(|svg| !svg.is_empty()))
    }

    fn is_empty(&self) -> bool {
        self.drawn().next().is_none()
    }
}
