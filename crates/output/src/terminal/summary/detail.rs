//! Where the time went: bands, phases, spikes, and the tables of requests and of machines where there are several.

use super::choice::{choose, told_ns};
use super::{heading, indented};
use crate::format::{chosen_s, count, duration_ns, maybe_ns, quantile, rate_per_s, ratio};
use crate::line::{Line, wrap};
use crate::style::{Ink, Look};
use crate::terminal::chart::bar;
use crate::terminal::table::{Align, Table};
use crate::words;
use plimsoll_analysis::summary::{Short, Summary, Times};

const BAR: usize = 12;

/// Share of the answered requests by how long they took, and how many were cut off; an empty band stays, so that
/// two reports can be laid side by side.
pub fn bands(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.bands.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&[Align::Right, Align::Left, Align::Right, Align::Right]);
    let mut below = None;
    for band in &s.bands {
        table.row(vec![
            Line::of(Ink::Dim, &words::band(band.up_to_ns, below)),
            bar(band.ratio, BAR, Ink::Accent, look),
            Line::new().text(&ratio(band.ratio)),
            Line::of(Ink::Dim, &count(band.count)),
        ]);
        below = band.up_to_ns.or(below);
    }
    if s.bands_cut_off > 0 {
        let dim = |text: &str| Line::of(Ink::Dim, text);
        table.row(vec![dim("cut off"), Line::new(), Line::new(), dim(&count(s.bands_cut_off))]);
    }
    let mut lines = vec![heading("bands", "of the response time")];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines
}

/// Parts of a request's time, each over its own samples: only some requests connect, only some wait. Parts that never
/// happened are left out.
pub fn phases(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    let p = &s.phases;
    let rows: [(&str, &Short); 5] = [
        ("wait", &p.connection_wait),
        ("connect", &p.connect),
        ("send stall", &p.send_stall),
        ("first byte", &p.first_byte),
        ("body", &p.body),
    ];
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right]);
    let dim = |text: &str| Line::of(Ink::Dim, text);
    table.row(vec![dim(""), dim("p50"), dim("p99"), dim("max"), dim("samples")]);
    for (label, short) in rows.into_iter().filter(|(_, short)| short.count > 0) {
        table.row(vec![
            dim(label),
            Line::new().text(&quantile(short.quantile(0.5))),
            Line::new().text(&quantile(short.quantile(0.99))),
            Line::new().text(&maybe_ns(short.max_ns)),
            dim(&count(short.count)),
        ]);
    }
    let dns = if p.dns_ns > 0 { format!("DNS once, {}", duration_ns(p.dns_ns)) } else { String::new() };
    if dns.is_empty() && rows.iter().all(|(_, short)| short.count == 0) {
        return Vec::new();
    }
    let mut lines = vec![heading("phases", &dns)];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines
}

/// When it was slow, how slow against before, and whether it came back.
pub fn spikes(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    const SHOWN: usize = 5;
    if s.spikes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("spikes", "seconds whose p95 stood out")];
    for spike in s.spikes.iter().take(SHOWN) {
        let back = words::back(spike);
        let text = format!(
            "at {} for {}: p95 {} against {}, {back}",
            chosen_s(spike.from_s),
            chosen_s(spike.slow_s),
            duration_ns(spike.peak_p95_ns),
            duration_ns(spike.baseline_p95_ns)
        );
        lines.extend(wrap(&text, columns - 2).iter().map(|l| indented(Line::new().text(l))));
    }
    lines.extend(more(s.spikes.len(), SHOWN));
    lines.into_iter().map(|line| line.cut(columns, look)).collect()
}

/// One line per named request; a single one would only repeat the figures above.
pub fn requests(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.requests.len() < 2 {
        return Vec::new();
    }
    let dim = |text: &str| Line::of(Ink::Dim, text);
    let mut table =
        Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right]);
    table.row(vec![dim(""), dim("requests"), dim("errors"), dim("p50"), dim("p99"), dim("max")]);
    let choice = choose(&s.requests, |row| row.errors, |row, q| told_ns(&row.response_time, q));
    for row in &choice.rows {
        table.row(vec![
            Line::new().text(&row.name).ink(Ink::Dim, if row.stream { " (stream)" } else { "" }),
            Line::new().text(&count(row.requests)),
            errors(row.errors),
            percentile(&row.response_time, 0.5),
            percentile(&row.response_time, 0.99),
            Line::new().text(&words::max(&row.response_time)),
        ]);
    }
    let mut lines = vec![heading("requests", "response time")];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines.extend(choice.rest(columns));
    lines
}

/// One line per machine of a merged run. Their percentiles stand beside the merged ones, which come from merged
/// histograms and not from these.
pub fn origins(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if s.origins.len() < 2 {
        return Vec::new();
    }
    let dim = |text: &str| Line::of(Ink::Dim, text);
    let mut table = Table::new(&[
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
    ]);
    let head = ["", "share", "requests", "rate", "errors", "p50", "p99", "max", "late p99"];
    table.row(head.into_iter().map(dim).collect());
    let choice = choose(&s.origins, |row| row.errors, |row, q| if q < 0.9 { row.p50_ns } else { row.p99_ns });
    for row in &choice.rows {
        let cut_off = if row.complete { "" } else { " (cut off)" };
        table.row(vec![
            Line::new().text(&row.host).ink(Ink::Warn, cut_off),
            dim(&row.share),
            Line::new().text(&count(row.requests)),
            Line::new().text(&rate_per_s(row.rate_per_s)),
            errors(row.errors),
            Line::new().text(&quantile(row.quantile(0.5))),
            Line::new().text(&quantile(row.quantile(0.99))),
            Line::new().text(&quantile(row.longest())),
            Line::new().text(&quantile(row.lateness.quantile(0.99))),
        ]);
    }
    let mut lines = vec![heading("machines", "the figures above hold all of them")];
    lines.extend(table.lines(columns - 2, look).into_iter().map(indented));
    lines.extend(choice.rest(columns));
    for said in words::apart(s) {
        lines.extend(wrap(&said, columns - 2).iter().map(|part| indented(Line::new().text(part))));
    }
    lines
}

pub(super) fn errors(n: u64) -> Line {
    Line::of(if n > 0 { Ink::Bad } else { Ink::Plain }, &count(n))
}

pub(super) fn percentile(times: &Times, q: f64) -> Line {
    Line::new().text(&quantile(times.quantile(q)))
}

pub(super) fn more(all: usize, shown: usize) -> Option<Line> {
    (all > shown)
        .then(|| indented(Line::of(Ink::Dim, &format!("and {} more, in the JSON document", all - shown))))
}
