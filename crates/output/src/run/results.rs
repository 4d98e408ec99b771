//! Results: throughput, errors, latency, and the slowest requests over time. The default view has one row of
//! percentiles; the details have all of them.

use super::course;
use super::times::Figure;
use crate::document::{Block, Cell, Column, Fact, On, Role, Section, Table, Tone, Value};
use crate::format::{NONE, bytes, bytes_per_s, chosen_s, count, counted, quantile_name, rate_of, ratio};
use crate::words;
use plimsoll_analysis::summary::{ErrorRow, Summary};

/// For text outputs; a page has tiles and its own sections.
pub fn section(s: &Summary) -> Section {
    let fact = |label, facts| Fact::of(label, Value::Facts(facts));
    let mut facts = vec![fact("Throughput", throughput(s)).led(Tone::Note)];
    if s.totals.errors > 0 {
        let share = format!("{} ({})", count(s.totals.errors), ratio(s.totals.error_ratio));
        facts.push(fact("Errors", vec![share]).led(Tone::Fail));
    }
    let below = [fact("Iterations", iterations(s)), Fact { on: On::UNABRIDGED, ..fact("Bytes", traffic(s)) }];
    let below = below.into_iter().filter(|fact| fact.value != Value::Facts(Vec::new())).collect();
    let mut blocks = vec![
        Block::Facts(facts),
        Block::Table(Table { indent: INDENT, ..classes(failed(s)) }),
        Block::Facts(below),
        Block::Table(latency(s)).only(On::SCREEN),
    ];
    blocks.extend(course::brief(s).map(|block| block.only(On::SCREEN)));
    let aside = match s.totals.warmup_s > 0.0 {
        true => format!("excluding {} of warm-up", chosen_s(s.totals.warmup_s)),
        false => String::new(),
    };
    Section::new("results", "Results", blocks).aside(aside).indented().on(On::TEXT)
}

/// Indents below the label of a fact.
const INDENT: usize = 12;

fn throughput(s: &Summary) -> Vec<String> {
    let t = &s.totals;
    // The rate counts responses, so it is less than the requests show if some received none.
    let responses: u64 = s.status_codes.values().sum();
    let counted_in_rate = if t.errors > 0 && responses < t.requests { "responses" } else { "req" };
    let rate = rate_of(s.achieved.rate_per_s, counted_in_rate);
    // An arrival starts an iteration: if one sends several requests, the two rates are not comparable.
    let share = match (s.achieved.ratio, s.counts_iterations()) {
        (Some(share), false) => format!(" ({} of the offered rate)", ratio(share)),
        _ => String::new(),
    };
    let statuses: Vec<String> =
        s.status_codes.iter().map(|(status, n)| format!("{status}: {}", count(*n))).collect();
    let requests = format!("{} in {}", counted(t.requests, "request"), chosen_s(t.measured_s));
    let errors = (t.errors == 0).then(|| "0 errors".to_owned());
    let facts = [format!("{rate}{share}"), requests].into_iter();
    let statuses = (!statuses.is_empty()).then(|| format!("status {}", statuses.join(", ")));
    facts.chain(statuses).chain(errors).collect()
}

/// Shown only if iterations are not requests.
fn iterations(s: &Summary) -> Vec<String> {
    let t = &s.totals;
    let redirects =
        (t.redirects > 0).then(|| format!("{} followed a redirect", counted(t.redirects, "request")));
    let lost = words::iterations_lost(s);
    if t.iterations == t.requests && lost.is_empty() {
        return redirects.into_iter().collect();
    }
    let rate = match (&s.offered, s.achieved.ratio) {
        (Some(_), Some(share)) if s.counts_iterations() => format!(
            "{} ({} of the offered rate)",
            rate_of(s.achieved.iterations_per_s, "iterations"),
            ratio(share)
        ),
        // An iteration that was abandoned has ended, too.
        _ => format!("{} completed", count(t.iterations.saturating_sub(t.iterations_abandoned))),
    };
    [rate].into_iter().chain(lost).chain(redirects).collect()
}

fn traffic(s: &Summary) -> Vec<String> {
    let t = &s.totals;
    let per_s = |n: u64| if t.measured_s > 0.0 { bytes_per_s(n as f64 / t.measured_s) } else { NONE.into() };
    vec![
        format!("received {} ({})", bytes(t.bytes_in), per_s(t.bytes_in)),
        format!("bodies {}", bytes(t.body_bytes)),
        format!("sent {} ({})", bytes(t.bytes_out), per_s(t.bytes_out)),
    ]
}

fn failed(s: &Summary) -> Vec<&ErrorRow> {
    let mut sorted: Vec<&ErrorRow> = s.errors.iter().filter(|row| row.count > 0).collect();
    sorted.sort_by(|a, b| b.count.cmp(&a.count).then(a.class.cmp(&b.class)));
    sorted
}

/// The number of each fault and its meaning.
pub fn classes<'a>(failed: impl IntoIterator<Item = &'a ErrorRow>) -> Table {
    Table::of("errors", "Errors by fault", failed)
        .column(Column::number("").on(On::TERMINAL), |row| Cell::errors(row.count))
        .column(Column::text("fault").brief(""), |row| Value::Code(row.class.name().into()).into())
        .column(Column::text("side").brief("").role(Role::Soft), |row| Cell::text(words::side(row.side)))
        .column(Column::number("count").on(On::FULL), |row| Cell::count(row.count))
        .column(Column::text("meaning").brief("").role(Role::Soft).wrapped(), |row| Cell::text(row.sentence))
        .done()
}

/// One line of the brief table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Response,
    Interval,
    Service,
}

/// Percentiles alongside each other, including those that a threshold names.
fn latency(s: &Summary) -> Table {
    const ALWAYS: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
    let is_always = |q: f64| ALWAYS.iter().any(|one| (q - one).abs() < 1e-9);
    let is_judged =
        |q: f64| s.thresholds.iter().any(|t| t.subject.ends_with(&format!(" {}", quantile_name(q))));
    let known = s.response_time.percentiles.iter().map(|p| p.q);
    let mut all: Vec<f64> = known.filter(|q| is_always(*q) || is_judged(*q)).collect();
    all.sort_by(f64::total_cmp);
    let has_times = s.response_time.count + s.response_time.censored > 0;
    let mut lines = vec![Line::Response, Line::Interval, Line::Service];
    // Lower bounds have no intervals.
    let has_interval = |q: &f64| match words::percentile(&s.response_time, *q) {
        words::Shown::Fact(p) => !p.is_lower_bound,
        _ => false,
    };
    lines.retain(|line| has_times && (*line != Line::Interval || all.iter().any(has_interval)));
    let figures = all.into_iter().map(Figure::Quantile).chain([Figure::Max, Figure::Mean]);
    let mut table =
        Table::of("latency", "Latency", &lines).column(Column::text("Latency").role(Role::Soft), |line| {
            Cell::text(match line {
                Line::Response => "  response",
                Line::Interval => "  95% CI",
                Line::Service => "  service",
            })
        });
    for figure in figures {
        let column = Column::number(figure.name());
        table = table.column(column, move |line| match line {
            Line::Response => figure.of(&s.response_time),
            Line::Interval => figure.brief_interval(&s.response_time),
            Line::Service => figure.of(&s.service_time),
        });
    }
    table.done()
}

/// The main results of a page.
pub fn tiles(s: &Summary) -> Section {
    Section::new("results", "Results", vec![Block::Tiles(super::tiles::tiles(s))])
}
