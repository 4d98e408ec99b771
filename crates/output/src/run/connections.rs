//! Connections from the start on, warm-up included: one is made once and used to the end; on a page.

use crate::document::{Block, Cell, Column, Fact, Room, Section, Table, Value};
use crate::format::{count, ratio};
use plimsoll_analysis::summary::{Short, Summary};

pub fn section(s: &Summary) -> Section {
    let times = times(s);
    let titled = |times| vec![Block::Heading("Times".into()), Block::Table(times)];
    let times = (!times.rows.is_empty()).then(|| titled(times));
    let all = [vec![facts(s)]].into_iter().chain(times).collect();
    let blocks = vec![Block::Pair(Room::Narrow, all)];
    Section::new(
        "connections",
        "Connections",
        if s.client.connections.attempts > 0 { blocks } else { Vec::new() },
    )
}

fn facts(s: &Summary) -> Block {
    let c = &s.client.connections;
    let exact = |label: &'static str, n: u64| Fact::of(label, Value::Count(n));
    let mut facts = vec![
        exact("attempts", c.attempts),
        exact("opened", c.opened),
        exact("peak", c.peak),
        exact("requests on reused connections", c.reused_requests),
        exact("closed by server", c.closed_by_server),
        exact("closed by client", c.closed_by_client),
        exact("closed after an error", c.closed_after_error),
        exact("open at the end", c.open_at_end),
    ];
    if let (Some(p50), Some(max)) = (c.requests_per_connection_p50, c.requests_per_connection_max) {
        facts.push(Fact::new("requests per connection", format!("p50 {}, max {}", count(p50), count(max))));
    }
    if c.redirects_cross_host > 0 {
        facts.push(Fact::new(
            "redirects to another host",
            format!("{}, not followed", count(c.redirects_cross_host)),
        ));
    }
    if c.dns_lookups_queued > 0 {
        facts.push(exact("DNS lookups that waited for a thread", c.dns_lookups_queued));
    }
    if let Some(http2) = &c.http2 {
        facts.push(exact("users per connection (HTTP/2)", http2.streams_per_connection.into()));
        facts.push(exact("closed with GOAWAY", http2.goaways));
        facts.push(exact("requests retried", http2.requests_unprocessed));
        facts.push(exact("streams reset", http2.streams_reset));
        facts.push(exact("requests that waited for a stream", http2.requests_limited_by_streams));
        facts.extend(http2.p99_design_effect.map(|effect| {
            let shown = Value::Number(format!("{effect:.1}"), Some(effect));
            Fact::of("responses per independent response, at p99", shown)
        }));
    }
    if let Some(expect) = &c.expect_continue {
        facts.push(exact("bodies sent after 100 Continue", expect.continued));
        facts.push(exact("bodies sent without 100 Continue", expect.sent_without_continue));
        facts.push(exact("requests refused before their body", expect.refused_before_body));
    }
    if let Some(tls) = &s.tls {
        let resumed = format!("{} ({})", count(tls.resumptions), ratio(tls.resumed_ratio));
        facts.push(exact("TLS handshakes", tls.handshakes));
        facts.push(Fact::of("resumed", Value::Number(resumed, Some(tls.resumptions as f64))));
    }
    Block::Facts(facts)
}

fn times(s: &Summary) -> Table {
    let mut times: Vec<(&str, &Short)> = vec![
        ("DNS lookup", &s.phases.dns),
        ("connect", &s.phases.connect),
        ("smoothed RTT, delayed ACKs included", &s.client.rtt),
    ];
    times.extend(s.tls.as_ref().map(|tls| ("TLS handshake", &tls.handshake)));
    times.retain(|(_, short)| short.count > 0);
    Table::of("connections", "Times of connections", &times)
        .column(Column::text("time"), |(label, _)| Cell::text(*label))
        .column(Column::number("p50"), |(_, short)| Cell::quantile(short.quantile(0.5)))
        .column(Column::number("p99"), |(_, short)| Cell::quantile(short.quantile(0.99)))
        .column(Column::number("max"), |(_, short)| Cell::nanoseconds(short.max_ns))
        .column(Column::number("samples"), |(_, short)| Cell::count(short.count))
        .done()
}
