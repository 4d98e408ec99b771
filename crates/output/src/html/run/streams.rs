//! What lasts: streams of events, connections, TLS.

use super::times::{max, nanoseconds, percentile_cell, quantile};
use crate::format::{count, ratio};
use crate::html::piece::{self, figure};
use crate::html::table::{self, Cell, Row, number, table, text};
use crate::words;
use maud::{Markup, html};
use plimsoll_analysis::summary::{Short, StreamRow, Summary};
use plimsoll_chart::Chart;

pub fn body(s: &Summary, charts: &[Chart]) -> Option<Markup> {
    if s.streams.is_empty() {
        return None;
    }
    Some(html! {
        @if let Some(drawn) = piece::charts(charts, &["streams"]) { (drawn) }
        @for (at, row) in s.streams.iter().enumerate() { (one(at, row)) }
        p.faint {
            "Gap: between two events of a stream. "
            "Age: from the instant that an event says it was made, by both clocks."
        }
    })
}

fn one(at: usize, row: &StreamRow) -> Markup {
    let ways = [
        ("how they ended".to_owned(), html! { (words::ends(row).join(", ")) }),
        ("what came".to_owned(), html! { (words::events(row).join("; ")) }),
    ];
    let rows: Vec<Row> = words::stream_times(row)
        .map(|(label, times)| {
            Row::new(vec![
                Cell::text(label),
                quantile(times, 0.5),
                quantile(times, 0.99),
                max(times),
                Cell::count(times.count),
            ])
        })
        .collect();
    let columns = [text("time"), number("p50"), number("p99"), number("max"), number("samples")];
    html! {
        h3 { (row.name) }
        (table::facts(&ways))
        (table(&format!("stream-{at}"), &format!("Times of the stream {}", row.name), &columns, &rows))
    }
}

/// Connections from the start on, warm-up included: one is made once and used to the end.
pub fn connections(s: &Summary) -> Option<Markup> {
    let c = &s.client.connections;
    if c.attempts == 0 {
        return None;
    }
    let exact = |n: u64| figure(&count(n), Some(n as f64));
    let mut facts: Vec<(String, Markup)> = vec![
        ("attempts".into(), exact(c.attempts)),
        ("opened".into(), exact(c.opened)),
        ("at most at once".into(), exact(c.peak)),
        ("requests on a used one".into(), exact(c.reused_requests)),
        ("closed by the server".into(), exact(c.closed_by_server)),
        ("closed by us".into(), exact(c.closed_by_us)),
        ("closed by a failure".into(), exact(c.closed_by_fault)),
        ("open at the stop".into(), exact(c.open_at_stop)),
    ];
    if let (Some(p50), Some(max)) = (c.requests_per_connection_p50, c.requests_per_connection_max) {
        facts.push(("requests on one".into(), html! { "p50 " (exact(p50)) ", max " (exact(max)) }));
    }
    if c.redirects_elsewhere > 0 {
        facts.push(("redirects elsewhere".into(), html! { (exact(c.redirects_elsewhere)) ", not followed" }));
    }
    if let Some(tls) = &s.tls {
        let resumed = format!("{} ({})", count(tls.resumed), ratio(tls.resumed_share));
        facts.push(("TLS handshakes".into(), exact(tls.handshakes)));
        facts.push(("of these resumed".into(), figure(&resumed, Some(tls.resumed as f64))));
    }
    let mut times: Vec<(&str, &Short)> =
        vec![("connect", &s.phases.connect), ("smoothed RTT, delayed ACKs included", &s.client.rtt)];
    times.extend(s.tls.as_ref().map(|tls| ("TLS handshake", &tls.handshake)));
    let rows: Vec<Row> = times
        .into_iter()
        .filter(|(_, short)| short.count > 0)
        .map(|(label, short)| {
            Row::new(vec![
                Cell::text(label),
                percentile_cell(short.quantile(0.5)),
                percentile_cell(short.quantile(0.99)),
                nanoseconds(short.max_ns),
                Cell::count(short.count),
            ])
        })
        .collect();
    let columns = [text("time"), number("p50"), number("p99"), number("max"), number("samples")];
    Some(html! {
        div.pair {
            div { (table::facts(&facts)) }
            @if !rows.is_empty() {
                div { h3 { "Times" } (table("connections", "Times of connections", &columns, &rows)) }
            }
        }
    })
}
