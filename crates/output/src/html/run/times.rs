//! How long it took: both distributions with their intervals, bands, and what the time was spent on.

use crate::format::{
    NONE, at_least, bounds, count, counted, duration_ns, maybe_f64_ns, maybe_ns, quantile_name, ratio,
};
use crate::html::piece;
use crate::html::table::{Cell, Row, number, table, text};
use crate::words::{self, Shown};
use maud::{Markup, html};
use plimsoll_analysis::picture::{Picture, Slice};
use plimsoll_analysis::summary::{Quantile, Short, Summary, Times};
use plimsoll_chart::Chart;

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
            div { h3 { "Percentiles" } (percentiles(s)) @if let Some(said) = counts(s) { p.faint { (said) } } }
            @if !s.bands.is_empty() { div { h3 { "Bands of the response time" } (bands(s)) } }
        }
        @if let Some(drawn) = drawn { (drawn) }
    })
}

/// A percentile as a cell: with too few samples there is none.
pub fn quantile(times: &Times, q: f64) -> Cell {
    match words::percentile(times, q) {
        Shown::Fact(p) if p.at_least => Cell::number(at_least(p.value_ns), Some(p.value_ns as f64)),
        Shown::Fact(p) => Cell::number(duration_ns(p.value_ns), Some(p.value_ns as f64)),
        _ => Cell::number(NONE, None),
    }
}

pub fn nanoseconds(ns: Option<u64>) -> Cell {
    Cell::number(maybe_ns(ns), ns.map(|ns| ns as f64))
}

/// A percentile by the rule of every output; where it may not be told there is nothing to sort by either.
pub fn percentile_cell(quantile: Quantile) -> Cell {
    Cell::number(crate::format::quantile(quantile), quantile.value_ns().map(|ns| ns as f64))
}

pub fn max(times: &Times) -> Cell {
    Cell::number(words::max(times), times.max_ns.map(|ns| ns as f64))
}

pub fn mean(times: &Times) -> Cell {
    let text = html! {
        (words::mean(times))
        // A few very long times draw the mean above nearly all requests: it describes none of them.
        @if is_skewed(times) { small.low { "mean above p95" } }
    };
    Cell::Valued(text, times.mean_ns)
}

/// The mean is exact, the percentile is its bucket's, which is a 128th wide: of times that are all alike one may lie a
/// hair above the other.
pub fn is_skewed(times: &Times) -> bool {
    let told = matches!(words::percentile(times, 0.95), Shown::Fact(_));
    let is_above = |(mean, p95): (f64, u64)| mean > p95 as f64 * (1.0 + 1.0 / 128.0);
    told && times.mean_ns.zip(times.p95_ns).is_some_and(is_above)
}

fn percentiles(s: &Summary) -> Markup {
    let (response, service) = (&s.response_time, &s.service_time);
    let columns = [
        text("figure"),
        number("response time"),
        number("95 % interval"),
        number("service time"),
        number("95 % interval"),
    ];
    let plain = |label: &str, response: Cell, service: Cell| {
        Row::new(vec![Cell::text(label), response, Cell::text(""), service, Cell::text("")])
    };
    let mut rows = vec![plain("min", nanoseconds(response.min_ns), nanoseconds(service.min_ns))];
    for q in quantiles(response, service) {
        rows.push(Row::new(vec![
            Cell::text(quantile_name(q)),
            quantile(response, q),
            Cell::text(interval(response, q)),
            quantile(service, q),
            Cell::text(interval(service, q)),
        ]));
    }
    let sd = |times: &Times| Cell::number(maybe_f64_ns(times.std_dev_ns), times.std_dev_ns);
    rows.push(plain("max", max(response), max(service)));
    rows.push(plain("mean", mean(response), mean(service)));
    rows.push(plain("sd", sd(response), sd(service)));
    rows.push(plain("samples", Cell::count(response.count), Cell::count(service.count)));
    if response.censored + service.censored > 0 {
        rows.push(plain("cut off", Cell::count(response.censored), Cell::count(service.censored)));
    }
    table("times", "Response and service time", &columns, &rows)
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

/// The percentiles that the summary brings, of either distribution, in rising order.
fn quantiles(response: &Times, service: &Times) -> Vec<f64> {
    let mut all: Vec<f64> = response.percentiles.iter().chain(&service.percentiles).map(|p| p.q).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    all
}

/// The interval of a percentile, or the reason why there is none.
fn interval(times: &Times, q: f64) -> String {
    match words::percentile(times, q) {
        Shown::Fact(p) if !p.at_least => bounds(p.value_ns, p.low_ns, p.high_ns).unwrap_or_default(),
        Shown::TooFew(has, needs) => words::too_few(has, needs),
        _ => String::new(),
    }
}

fn bands(s: &Summary) -> Markup {
    let mut rows = Vec::new();
    let mut below = None;
    for band in &s.bands {
        rows.push(Row::new(vec![
            Cell::text(words::band(band.up_to_ns, below)),
            Cell::Markup(super::trust::meter(band.ratio)),
            Cell::number(ratio(band.ratio), Some(band.ratio)),
            Cell::count(band.count),
        ]));
        below = band.up_to_ns.or(below);
    }
    if s.bands_cut_off > 0 {
        let cut_off = Cell::count(s.bands_cut_off);
        rows.push(Row::new(vec![Cell::text("cut off"), Cell::text(""), Cell::text(""), cut_off]));
    }
    let columns = [text("response time"), text("share"), number("share"), number("requests")];
    table("bands", "Bands of the response time", &columns, &rows)
}

/// What the time was spent on, and what the slowest requests waited for.
pub fn phases(s: &Summary, picture: &Picture, charts: &[Chart]) -> Option<Markup> {
    let p = &s.phases;
    let all: [(&str, &Short); 5] = [
        ("wait for a connection", &p.connection_wait),
        ("connect", &p.connect),
        ("send stall", &p.send_stall),
        ("first byte", &p.first_byte),
        ("body", &p.body),
    ];
    let known: Vec<(&str, &Short)> = all.into_iter().filter(|(_, short)| short.count > 0).collect();
    if known.is_empty() && p.dns_ns == 0 && picture.slices.is_empty() {
        return None;
    }
    let row = |(label, short): &(&str, &Short)| {
        Row::new(vec![
            Cell::text(*label),
            Cell::number(maybe_f64_ns(short.mean_ns), short.mean_ns),
            percentile_cell(short.quantile(0.5)),
            percentile_cell(short.quantile(0.99)),
            nanoseconds(short.max_ns),
            Cell::count(short.count),
        ])
    };
    let rows: Vec<Row> = known.iter().map(row).collect();
    let columns =
        [text("part"), number("mean"), number("p50"), number("p99"), number("max"), number("samples")];
    Some(html! {
        @if let Some(drawn) = piece::charts(charts, &["phases"]) { (drawn) }
        @if !picture.slices.is_empty() { h3 { "By how slow they were" } (slices(picture)) }
        h3 { "Parts" }
        (table("phases", "Parts of a request's time", &columns, &rows))
        p.faint {
            "Each part has samples of its own: only some requests connect, only some wait."
            @if p.dns_ns > 0 { " The name was resolved once, in " (duration_ns(p.dns_ns)) "." }
        }
    })
}

fn slices(picture: &Picture) -> Markup {
    let ns = |ns: f64| Cell::number(maybe_f64_ns(Some(ns)), Some(ns));
    let least = |slice: &Slice| match slice.cut_off {
        0 => ns(slice.response_ns),
        _ => Cell::number(at_least(slice.response_ns.round() as u64), Some(slice.response_ns)),
    };
    let cut_off: u64 = picture.slices.iter().map(|slice| slice.cut_off).sum();
    let rows: Vec<Row> = picture
        .slices
        .iter()
        .map(|slice| {
            let name = match (slice.from_q <= 0.0, slice.to_q >= 1.0) {
                (true, true) => "all".to_owned(),
                (true, false) => format!("up to {}", quantile_name(slice.to_q)),
                (false, true) => format!("above {}", quantile_name(slice.from_q)),
                (false, false) => format!("{} to {}", quantile_name(slice.from_q), quantile_name(slice.to_q)),
            };
            Row::new(vec![
                Cell::text(name),
                Cell::count(slice.requests),
                least(slice),
                ns(slice.wait_ns),
                ns(slice.first_byte_ns),
                ns(slice.body_ns),
            ])
        })
        .collect();
    let columns = [
        text("requests by response time"),
        number("requests"),
        number("mean"),
        number("wait"),
        number("first byte"),
        number("body"),
    ];
    html! {
        (table("slices", "What the slowest requests waited for", &columns, &rows))
        @if cut_off > 0 {
            p.faint { ">=: " (count(cut_off)) " of them were cut off, and count with the time until then." }
        }
    }
}

/// Said once below a table with percentiles in it, if any is missing for lack of samples.
pub fn too_few_note<'a>(mut all: impl Iterator<Item = &'a Times>) -> Option<Markup> {
    let lacks = |times: &Times| times.count > 0 && times.percentiles.iter().any(|p| !p.enough_samples);
    all.any(lacks).then(|| {
        html! {
            p.faint {
                (NONE) " : too few samples. A percentile needs 10 / (1 - p): p99 " (count(1_000)) ", p99.9 "
                (count(10_000)) "."
            }
        }
    })
}
