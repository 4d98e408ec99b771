//! How long it took: both distributions with their intervals, bands, and the parts of a request's time.

use super::{max, mean, percentile};
use crate::document::{Block, Cell, Column, On, Role, Section, Table, Value, sentence};
use crate::format::{bounds, duration_ns, quantile_name};
use crate::words::{self, Shown};
use plimsoll_analysis::summary::{Band, Short, Summary, Times};

/// A row of the percentiles.
#[derive(Clone, Copy)]
enum Figure {
    Min,
    Quantile(f64),
    Max,
    Mean,
    Sd,
    Samples,
    CutOff,
}

impl Figure {
    fn name(self) -> String {
        match self {
            Figure::Min => "min".into(),
            Figure::Quantile(q) => quantile_name(q),
            Figure::Max => "max".into(),
            Figure::Mean => "mean".into(),
            Figure::Sd => "sd".into(),
            Figure::Samples => "samples".into(),
            Figure::CutOff => "cut off".into(),
        }
    }

    fn of(self, times: &Times) -> Cell {
        match self {
            Figure::Min => Cell::nanoseconds(times.min_ns),
            Figure::Quantile(q) => percentile(times, q).strong((q - 0.99).abs() < 1e-9),
            Figure::Max => max(times),
            Figure::Mean => mean(times),
            Figure::Sd => times.std_dev_ns.map_or(Value::Missing, Value::Nanoseconds).into(),
            Figure::Samples => Cell::count(times.count),
            Figure::CutOff => Cell::count(times.censored),
        }
    }

    /// The interval of a percentile, or the reason why there is none.
    fn interval(self, times: &Times) -> Cell {
        let Figure::Quantile(q) = self else { return Cell::text("") };
        Cell::text(match words::percentile(times, q) {
            Shown::Fact(p) if !p.at_least => bounds(p.value_ns, p.low_ns, p.high_ns).unwrap_or_default(),
            Shown::TooFew(has, needs) => words::too_few(has, needs),
            _ => String::new(),
        })
    }
}

/// Response time and service time, every percentile with its interval or with the reason why it is not printed.
pub fn percentiles(s: &Summary) -> Section {
    let (response, service) = (&s.response_time, &s.service_time);
    let mut all: Vec<f64> = response.percentiles.iter().chain(&service.percentiles).map(|p| p.q).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let quantiles = all.into_iter().map(Figure::Quantile);
    let rest = [Figure::Max, Figure::Mean, Figure::Sd, Figure::Samples];
    let cut_off = (response.censored + service.censored > 0).then_some(Figure::CutOff);
    let figures: Vec<Figure> =
        [Figure::Min].into_iter().chain(quantiles).chain(rest).chain(cut_off).collect();
    let bounds_of = |on| Column { is_number: true, ..Column::text("95 % interval").on(on).role(Role::Soft) };
    let table = Table::of("times", "Response and service time", &figures)
        .column(Column::text("figure").brief("").role(Role::Soft), |figure| Cell::text(figure.name()))
        .column(Column::number("response time").brief("response"), |figure| figure.of(response))
        .column(bounds_of(On::HTML), |figure| figure.interval(response))
        .column(bounds_of(On::MARKDOWN), |figure| figure.interval(response))
        .column(Column::number("service time").brief("service"), |figure| figure.of(service))
        .column(bounds_of(On::HTML), |figure| figure.interval(service))
        .column(bounds_of(On::TERMINAL), |figure| figure.interval(response));
    let section = Section::new("times", "Times", vec![Block::Table(table.done())]).brief("times");
    section.aside("the interval is the response's").indented()
}

/// The mean is exact, the percentile is its bucket's, which is a 128th wide: of times that are all alike one may lie a
/// hair above the other.
pub fn is_skewed(times: &Times) -> bool {
    let told = matches!(words::percentile(times, 0.95), Shown::Fact(_));
    let is_above = |(mean, p95): (f64, u64)| mean > p95 as f64 * (1.0 + 1.0 / 128.0);
    told && times.mean_ns.zip(times.p95_ns).is_some_and(is_above)
}

/// Share of the answered requests by how long they took, and how many were cut off; an empty band stays, so that two
/// reports can be laid side by side.
pub fn bands(s: &Summary) -> Section {
    let mut below = None;
    let mut rows: Vec<(String, Option<f64>, u64)> = Vec::new();
    let named = |band: &Band| {
        let name = words::band(band.up_to_ns, below);
        below = band.up_to_ns.or(below);
        (name, Some(band.ratio), band.count)
    };
    rows.extend(s.bands.iter().map(named));
    if s.bands_cut_off > 0 && !rows.is_empty() {
        rows.push(("cut off".into(), None, s.bands_cut_off));
    }
    let or_nothing = |value: Option<Value>| value.map_or_else(|| Cell::text(""), Cell::from);
    let table = Table::of("bands", "Bands of the response time", &rows)
        .column(Column::right("response time").brief("").role(Role::Soft), |(name, ..)| Cell::text(name))
        .column(Column::picture("share", 12, 12).brief("").on(On::DRAWN), |(_, share, _)| {
            or_nothing(share.map(Value::Bar))
        })
        .column(Column::number("share").brief(""), |(_, share, _)| or_nothing(share.map(Value::Share)))
        .column(Column::number("requests").brief("").role(Role::Soft), |(.., n)| Cell::count(*n));
    let section = Section::new("bands", "Bands", vec![Block::Table(table.done())]).brief("bands");
    section.aside("of the response time").indented()
}

/// Parts of a request's time, each over its own samples: only some requests connect, only some wait. Parts that never
/// happened are left out.
pub fn phases(s: &Summary) -> Section {
    let p = &s.phases;
    let all: [(&str, &str, &Short); 5] = [
        ("wait for a connection", "wait", &p.connection_wait),
        ("connect", "connect", &p.connect),
        ("send stall", "send stall", &p.send_stall),
        ("first byte", "first byte", &p.first_byte),
        ("body", "body", &p.body),
    ];
    let known = all.iter().filter(|(.., short)| short.count > 0);
    let table = Table::of("phases", "Parts of a request's time", known)
        .column(Column::text("part").on(On::HTML), |(name, ..)| Cell::text(*name))
        .column(Column::text("").on(On::TERMINAL).role(Role::Soft), |(_, name, _)| Cell::text(*name))
        .column(Column::number("mean").on(On::HTML), |(.., short)| {
            short.mean_ns.map_or(Value::Missing, Value::Nanoseconds).into()
        })
        .column(Column::number("p50"), |(.., short)| Cell::quantile(short.quantile(0.5)))
        .column(Column::number("p99"), |(.., short)| Cell::quantile(short.quantile(0.99)))
        .column(Column::number("max"), |(.., short)| Cell::nanoseconds(short.max_ns))
        .column(Column::number("samples").role(Role::Soft), |(.., short)| Cell::count(short.count));
    let dns = match p.dns_ns {
        0 => String::new(),
        ns => duration_ns(ns),
    };
    let said = "Each part has samples of its own: only some requests connect, only some wait.";
    let (once, aside) = match dns.as_str() {
        "" => (String::new(), String::new()),
        dns => (format!(" The name was resolved once, in {dns}."), format!("DNS once, {dns}")),
    };
    let table = Block::Table(table.done());
    let blocks = vec![table, sentence(Role::Faint, format!("{said}{once}")).only(On::HTML)];
    Section::new("phases", "Phases", blocks).brief("phases").aside(aside).indented().on(On::DRAWN)
}
