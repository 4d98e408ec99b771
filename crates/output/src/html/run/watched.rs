//! The system under test: what was known of it, what monitors saw, and what their numbers say together.

use crate::format::{NONE, chosen_s, ratio};
use crate::html::piece;
use crate::html::table::{self, Cell, Row, number, table, text};
use crate::watched::{environment, findings, is_watched};
use crate::words;
use maud::{Markup, html};
use plimsoll_analysis::summary::{MetricRow, MonitorRow, Summary};
use plimsoll_chart::Chart;
use plimsoll_plan::phrase::watched as shown;

/// Figures of one monitor that stand in the open; a machine with many disks has hundreds.
const OPEN: usize = 12;

pub fn body(s: &Summary, charts: &[Chart]) -> Option<Markup> {
    if !is_watched(s) {
        return None;
    }
    let ids: Vec<&str> =
        charts.iter().map(|c| c.id.as_str()).filter(|id| id.starts_with("monitors-")).collect();
    let told: Vec<(String, Markup)> = environment(s)
        .into_iter()
        .map(|(of, text)| (if of.is_empty() { "the file says".into() } else { of }, html! { (text) }))
        .collect();
    let findings = findings(s);
    Some(html! {
        @if !findings.is_empty() {
            ul.lines { @for text in findings { li { (text) } } }
            @if any_correlation(s) { p.faint { "What moved together is no cause: both may follow a third." } }
        }
        @if let Some(drawn) = piece::charts(charts, &ids) { (drawn) }
        @if !told.is_empty() { h3 { "What is known of it" } (table::facts(&told)) }
        @for (at, monitor) in s.monitors.iter().enumerate() { (one(s, at, monitor)) }
        @if let Some(window) = &s.raw_window { p.faint { (window.sentence) } }
    })
}

fn any_correlation(s: &Summary) -> bool {
    s.monitors.iter().any(|monitor| monitor.rows.iter().any(|row| row.with_p99.is_some()))
}

fn one(s: &Summary, at: usize, monitor: &MonitorRow) -> Markup {
    let host = s.origins.get(monitor.origin as usize).filter(|_| s.origins.len() > 1);
    let rows: Vec<Row> = monitor.rows.iter().map(row).collect();
    let columns = [
        text("number"),
        number("mean"),
        number("peak"),
        number("at"),
        number("last"),
        number("limit"),
        number("peak of limit"),
        number("with p99"),
    ];
    let caption = format!("What the monitor {} saw", monitor.name);
    let figures = table(&format!("monitor-{at}"), &caption, &columns, &rows);
    let said = words::watches(&monitor.name, &monitor.kind, &monitor.of);
    let said: Vec<&str> = [said.as_str(), host.map_or("", |row| &row.host)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    html! {
        h3 { (monitor.name) @if !said.is_empty() { " " span.word { (said.join(", ")) } } }
        @if monitor.rows.is_empty() {
            p { "nothing: " (monitor.first_lapse.as_ref().map_or("no sample", |lapse| lapse.why.as_str())) }
        } @else if monitor.rows.len() > OPEN {
            details { summary { (monitor.rows.len()) " numbers" } (figures) }
        } @else {
            (figures)
        }
        @if monitor.lapses > 0 && !monitor.rows.is_empty() {
            p.faint {
                (crate::format::counted(monitor.lapses, "sample")) " missing"
                @if let Some(first) = &monitor.first_lapse { ", the first at " (chosen_s(first.at_s)) ": " (first.why) }
            }
        }
    }
}

fn row(row: &MetricRow) -> Row {
    let part = if row.part.is_empty() { String::new() } else { format!("{}: ", row.part) };
    let name = format!("{part}{}", row.metric.replace('_', " "));
    let line = Row::new(vec![
        Cell::text(name),
        Cell::number(shown(row.mean, row.unit), Some(row.mean)),
        Cell::number(shown(row.max, row.unit), Some(row.max)),
        Cell::number(chosen_s((row.max_at_s * 10.0).round() / 10.0), Some(row.max_at_s)),
        Cell::number(shown(row.last, row.unit), Some(row.last)),
        Cell::number(row.limit.map_or_else(|| NONE.into(), |limit| shown(limit, row.unit)), row.limit),
        Cell::number(row.usage_peak.map_or_else(|| NONE.into(), ratio), row.usage_peak),
        Cell::number(
            row.with_p99.as_ref().map_or_else(|| NONE.into(), |with| format!("{:.2}", with.rho)),
            row.with_p99.as_ref().map(|with| with.rho),
        ),
    ]);
    // At its limit for half of the measured seconds, as in the terminal.
    if row.at_limit_ratio.is_some_and(|share| share >= crate::watched::FULL) {
        line.marked("bad")
    } else {
        line
    }
}
