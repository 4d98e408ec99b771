//! What was measured: totals, errors, statuses, bytes, and the two distributions side by side.

use super::{heading, indented};
use crate::format::{NONE, at_least, chosen_s, quantile_name};
use crate::format::{
    bounds, bytes, bytes_per_s, count, duration_ns, maybe_f64_ns, maybe_ns, rate_per_s, ratio,
};
use crate::line::{Line, flow, wrap};
use crate::style::{Ink, Look};
use crate::terminal::table::{Align, Table};
use crate::words::{self, Shown};
use plimsoll_analysis::summary::{Summary, Times};

const LABEL: usize = 10;

pub fn totals(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    let t = &s.totals;
    let mut lines = vec![heading("figures", "the warm-up left out")];
    if t.warmup_s <= 0.0 {
        lines = vec![heading("figures", "")];
    }
    let mut requests = vec![
        Line::of(Ink::Strong, &rate_per_s(s.achieved.rate_per_s)),
        Line::new().text(&format!("{} requests in {}", count(t.requests), chosen_s(t.measured_s))),
    ];
    if t.iterations != t.requests {
        requests.push(Line::new().text(&format!("{} iterations", count(t.iterations))));
    }
    requests.extend(words::iterations_lost(s).iter().map(|fact| Line::new().text(fact)));
    if t.redirects > 0 {
        requests.push(Line::new().text(&format!("{} followed a redirect", count(t.redirects))));
    }
    labelled("requests", requests, look, columns, &mut lines);
    let ink = if t.errors > 0 { Ink::Bad } else { Ink::Strong };
    let share = if t.errors > 0 { format!(" ({})", ratio(t.error_ratio)) } else { String::new() };
    labelled("errors", vec![Line::of(ink, &count(t.errors)).text(&share)], look, columns, &mut lines);
    lines.extend(error_rows(s, look, columns));
    if !s.statuses.is_empty() {
        let statuses =
            s.statuses.iter().map(|(status, n)| Line::new().text(&format!("{status} {}", so_many(*n, look))));
        labelled("statuses", statuses.collect(), look, columns, &mut lines);
    }
    let per_s = |n: u64| if t.measured_s > 0.0 { bytes_per_s(n as f64 / t.measured_s) } else { NONE.into() };
    let traffic = vec![
        Line::new().text(&format!("in {} ({})", bytes(t.bytes_in), per_s(t.bytes_in))),
        Line::new().text(&format!("bodies {}", bytes(t.body_bytes))),
        Line::new().text(&format!("out {} ({})", bytes(t.bytes_out), per_s(t.bytes_out))),
    ];
    labelled("bytes", traffic, look, columns, &mut lines);
    lines
}

/// `× 72,180`
fn so_many(n: u64, look: &Look) -> String {
    format!("{} {}", look.signs().times, count(n))
}

/// A line of facts behind a label, flowing on below themselves.
fn labelled(label: &str, facts: Vec<Line>, look: &Look, columns: usize, lines: &mut Vec<Line>) {
    for (at, line) in flow(facts, columns - 2 - LABEL, look).into_iter().enumerate() {
        let front = Line::of(Ink::Dim, if at == 0 { label } else { "" }).pad(LABEL);
        lines.push(indented(front.line(line)));
    }
}

/// Count, class, side and what it means, the commonest first.
fn error_rows(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    let mut sorted: Vec<_> = s.errors.iter().filter(|row| row.count > 0).collect();
    sorted.sort_by(|a, b| b.count.cmp(&a.count).then(a.class.cmp(b.class)));
    let mut table = Table::new(&[Align::Right, Align::Left, Align::Left]);
    for row in &sorted {
        table.row(vec![
            Line::of(Ink::Bad, &count(row.count)),
            Line::new().text(row.class),
            Line::of(Ink::Dim, words::side(row.side)),
        ]);
    }
    let mut lines = Vec::new();
    let indent = 2 + LABEL;
    let rows = table.lines(columns - indent, look);
    let width = rows.iter().map(Line::width).max().unwrap_or(0);
    // Where there is no room for a sentence beside the figures, the class has to be enough.
    let room = columns.saturating_sub(indent + width + 2);
    for (row, line) in sorted.iter().zip(rows) {
        let sentence = if room >= 24 { wrap(row.sentence, room) } else { vec![String::new()] };
        for (at, part) in sentence.iter().enumerate() {
            let front = if at == 0 { line.clone() } else { Line::new() };
            lines.push(Line::new().pad(indent).line(front.pad(width + 2)).ink(Ink::Dim, part));
        }
    }
    lines
}

/// Response time and service time, every percentile with its interval or with the reason why it is not printed.
pub fn times(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    let (response, service) = (&s.response_time, &s.service_time);
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Left]);
    let dim = |text: &str| Line::of(Ink::Dim, text);
    table.row(vec![dim(""), dim("response"), dim("service"), dim("95 % interval")]);
    let mut plain = |label: &str, response: String, service: String| {
        table.row(vec![dim(label), Line::new().text(&response), Line::new().text(&service), Line::new()]);
    };
    plain("min", maybe_ns(response.min_ns), maybe_ns(service.min_ns));
    for q in percentiles(response, service) {
        let (shown, interval) = cell(response, q);
        let strong = if (q - 0.99).abs() < 1e-9 { Ink::Strong } else { Ink::Plain };
        let service = Line::of(strong, &cell(service, q).0);
        table.row(vec![dim(&quantile_name(q)), Line::of(strong, &shown), service, dim(&interval)]);
    }
    let mut plain = |label: &str, response: String, service: String| {
        table.row(vec![dim(label), Line::new().text(&response), Line::new().text(&service), Line::new()]);
    };
    plain("max", words::max(response), words::max(service));
    plain("mean", words::mean(response), words::mean(service));
    plain("sd", maybe_f64_ns(response.std_dev_ns), maybe_f64_ns(service.std_dev_ns));
    plain("samples", count(response.count), count(service.count));
    if response.censored + service.censored > 0 {
        plain("cut off", count(response.censored), count(service.censored));
    }
    let mut lines = vec![heading("times", "the interval is the response's")];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines
}

/// The percentiles that the summary brings, of either distribution, in rising order.
fn percentiles(response: &Times, service: &Times) -> Vec<f64> {
    let mut all: Vec<f64> = response.percentiles.iter().chain(&service.percentiles).map(|p| p.q).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    all
}

/// The figure and its interval; with too few samples no figure but the reason.
fn cell(times: &Times, q: f64) -> (String, String) {
    match words::percentile(times, q) {
        Shown::Fact(p) if p.at_least => (at_least(p.value_ns), String::new()),
        Shown::Fact(p) => {
            (duration_ns(p.value_ns), bounds(p.value_ns, p.low_ns, p.high_ns).unwrap_or_default())
        }
        Shown::TooFew(has, needs) => (NONE.into(), words::too_few(has, needs)),
        Shown::Missing => (NONE.into(), String::new()),
    }
}
