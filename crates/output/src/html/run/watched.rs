//! The system under test: what was known of it, what monitors saw, and what their numbers say together.

use super::describe;
use crate::document::{Block, Fact, Value};
use crate::format::chosen_s;
use crate::html::piece;
use crate::watched::{environment, findings, is_watched};
use crate::{run, words};
use maud::{Markup, html};
use plimsoll_analysis::summary::{MonitorRow, Summary};
use plimsoll_chart::Chart;

/// Figures of one monitor that stand in the open; a machine with many disks has hundreds.
const OPEN: usize = 12;

pub fn body(s: &Summary, charts: &[Chart]) -> Option<Markup> {
    if !is_watched(s) {
        return None;
    }
    let ids: Vec<&str> =
        charts.iter().map(|c| c.id.as_str()).filter(|id| id.starts_with("monitors-")).collect();
    let of = |of: String| if of.is_empty() { "the file says".into() } else { of };
    let told: Vec<Fact> =
        environment(s).into_iter().map(|(whose, text)| Fact::of(of(whose), Value::Text(text))).collect();
    let findings = findings(s);
    Some(html! {
        @if !findings.is_empty() {
            ul.lines { @for text in findings { li { (text) } } }
            @if any_correlation(s) { p.faint { "What moved together is no cause: both may follow a third." } }
        }
        @if let Some(drawn) = piece::charts(charts, &ids) { (drawn) }
        @if !told.is_empty() { h3 { "What is known of it" } (describe(Block::Facts(told))) }
        @for (at, monitor) in s.monitors.iter().enumerate() { (one(s, at, monitor)) }
        @if let Some(window) = &s.raw_window { p.faint { (window.sentence) } }
    })
}

fn any_correlation(s: &Summary) -> bool {
    s.monitors.iter().any(|monitor| monitor.rows.iter().any(|row| row.with_p99.is_some()))
}

fn one(s: &Summary, at: usize, monitor: &MonitorRow) -> Markup {
    let host = s.origins.get(monitor.origin as usize).filter(|_| s.origins.len() > 1);
    let caption = format!("What the monitor {} saw", monitor.name);
    let figures = run::watched::table(format!("monitor-{at}"), caption, [monitor].into_iter());
    let figures = describe(figures);
    let said = words::watches(&monitor.name, &monitor.kind, &monitor.of);
    let said: Vec<&str> = [said.as_str(), host.map_or("", |row| &row.host)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    html! {
        h3 { (monitor.name) @if !said.is_empty() { " " span.word { (said.join(", ")) } } }
        @if monitor.rows.is_empty() {
            p { "nothing: " (run::watched::why(monitor)) }
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
