//! How long it took: both distributions with their intervals, bands, and what the time was spent on.

use crate::document::{self, Cell, Column, Section, Table, Value, alone};
use crate::format::{at_least, count, counted, quantile_name};
use crate::html::piece;
use crate::run;
use maud::{Markup, html};
use plimsoll_analysis::picture::{Picture, Slice};
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;

/// A section that stands below a heading of the page's own.
pub fn markup(section: &Section) -> Markup {
    document::body(section, &[]).unwrap_or_default()
}

pub fn body(s: &Summary, charts: &[Chart]) -> Option<Markup> {
    let drawn = piece::charts(charts, &["spectrum", "distribution", "spectrum-requests"]);
    Some(html! {
        p.lead {
            "Response time counts from the instant at which a request was due, service time from its send. Both are of "
            "the same requests"
            @if s.totals.warmup_s > 0.0 { ", those of the warm-up left out" }
            "."
        }
        div.pair.broad {
            div {
                h3 { "Percentiles" } (markup(&run::times::percentiles(s)))
                @if let Some(said) = counts(s) { p.faint { (said) } }
            }
            @if !s.bands.is_empty() { div { h3 { "Bands of the response time" } (markup(&run::times::bands(s))) } }
        }
        @if let Some(drawn) = drawn { (drawn) }
    })
}

/// Why the tables of a page count differently, in one place: of what failed or was cut off not all times are known.
fn counts(s: &Summary) -> Option<String> {
    let (answered, cut_off, finished) = (s.response_time.count, s.response_time.censored, s.totals.requests);
    if !s.streams.is_empty() || cut_off == 0 && answered == finished {
        return None;
    }
    let mut told =
        format!("{} finished, {} of them with a whole answer", counted(finished, "request"), count(answered));
    if cut_off > 0 {
        let stop = match s.totals.in_flight_at_stop {
            0 => String::new(),
            _ => " or, not finished, at the stop".into(),
        };
        told +=
            &format!("; {} cut off at the time-out{stop}: only known to be longer", counted(cut_off, "time"));
    }
    if answered.saturating_add(cut_off) < finished {
        told += "; the rest failed without an answer and have no time";
    }
    Some(format!("{told}."))
}

/// What the time was spent on, and what the slowest requests waited for.
pub fn phases(s: &Summary, picture: &Picture, charts: &[Chart]) -> Option<Markup> {
    let p = &s.phases;
    let all = [&p.connection_wait, &p.connect, &p.send_stall, &p.first_byte, &p.body];
    if all.iter().all(|short| short.count == 0) && p.dns_ns == 0 && picture.slices.is_empty() {
        return None;
    }
    Some(html! {
        @if let Some(drawn) = piece::charts(charts, &["phases"]) { (drawn) }
        @if !picture.slices.is_empty() { h3 { "By how slow they were" } (slices(picture)) }
        h3 { "Parts" }
        @if let Some(parts) = document::body(&run::times::phases(s), charts) { (parts) }
    })
}

fn slices(picture: &Picture) -> Markup {
    let name = |slice: &Slice| match (slice.from_q <= 0.0, slice.to_q >= 1.0) {
        (true, true) => "all".to_owned(),
        (true, false) => format!("up to {}", quantile_name(slice.to_q)),
        (false, true) => format!("above {}", quantile_name(slice.from_q)),
        (false, false) => format!("{} to {}", quantile_name(slice.from_q), quantile_name(slice.to_q)),
    };
    let least = |slice: &Slice| match slice.cut_off {
        0 => Value::Nanoseconds(slice.response_ns).into(),
        _ => Cell::number(at_least(slice.response_ns.round() as u64), Some(slice.response_ns)),
    };
    let cut_off: u64 = picture.slices.iter().map(|slice| slice.cut_off).sum();
    let table = Table::of("slices", "What the slowest requests waited for", &picture.slices)
        .column(Column::text("requests by response time"), |slice| Cell::text(name(slice)))
        .column(Column::number("requests"), |slice| Cell::count(slice.requests))
        .column(Column::number("mean"), least)
        .column(Column::number("wait"), |slice| Value::Nanoseconds(slice.wait_ns).into())
        .column(Column::number("first byte"), |slice| Value::Nanoseconds(slice.first_byte_ns).into())
        .column(Column::number("body"), |slice| Value::Nanoseconds(slice.body_ns).into());
    html! {
        (alone(&table.done()))
        @if cut_off > 0 {
            p.faint { ">=: " (count(cut_off)) " of them were cut off, and count with the time until then." }
        }
    }
}
