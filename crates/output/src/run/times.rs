//! How long it took: both distributions with their intervals, buckets, and the parts of a request's time.

use super::{max, mean, percentile};
use crate::document::{Block, Cell, Column, On, Role, Room, Section, Table, Value, sentence};
use crate::format::{at_least, bounds, count, counted, duration_ns, quantile_name};
use crate::words::{self, Shown};
use plimsoll_analysis::picture::{Picture, Slice};
use plimsoll_analysis::summary::{Bucket, Short, Summary, Times};

/// A figure of a distribution.
#[derive(Clone, Copy)]
pub enum Figure {
    Min,
    Quantile(f64),
    Max,
    Mean,
    Sd,
    Samples,
    CutOff,
}

impl Figure {
    pub fn name(self) -> String {
        match self {
            Figure::Min => "min".into(),
            Figure::Quantile(q) => quantile_name(q),
            Figure::Max => "max".into(),
            Figure::Mean => "mean".into(),
            Figure::Sd => "std dev".into(),
            Figure::Samples => "samples".into(),
            Figure::CutOff => "timed out".into(),
        }
    }

    pub fn of(self, times: &Times) -> Cell {
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

    /// The interval of a percentile; empty where there is none.
    pub fn brief_interval(self, times: &Times) -> Cell {
        match self {
            Figure::Quantile(q) if matches!(words::percentile(times, q), Shown::Fact(_)) => {
                self.interval(times)
            }
            _ => Cell::text(""),
        }
    }

    /// The interval of a percentile, or the reason why there is none.
    fn interval(self, times: &Times) -> Cell {
        let Figure::Quantile(q) = self else { return Cell::text("") };
        Cell::text(match words::percentile(times, q) {
            Shown::Fact(p) if !p.is_lower_bound => {
                bounds(p.value_ns, p.low_ns, p.high_ns).unwrap_or_default()
            }
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
    let bounds_of = |on| Column { is_number: true, ..Column::text("95% CI").on(on).role(Role::Soft) };
    let table = Table::of("times", "Response and service time", &figures)
        .column(Column::text("figure").brief("").role(Role::Soft), |figure| Cell::text(figure.name()))
        .column(Column::number("response time").brief("response"), |figure| figure.of(response))
        .column(bounds_of(On::HTML), |figure| figure.interval(response))
        .column(bounds_of(On::MARKDOWN), |figure| figure.interval(response))
        .column(Column::number("service time").brief("service"), |figure| figure.of(service))
        .column(bounds_of(On::HTML), |figure| figure.interval(service))
        .column(bounds_of(On::TERMINAL), |figure| figure.interval(response));
    let section = Section::new("latency", "Latency", vec![Block::Table(table.done())]);
    section.aside("95% CI of the response time").indented()
}

/// Returns a table of several distributions, a row for each.
pub fn named_times(id: String, title: String, times: &[(&str, &Times)]) -> Table {
    Table::of(id, title, times)
        .column(Column::text("time").brief("").role(Role::Soft), |(label, _)| Cell::text(*label))
        .column(Column::number("p50"), |(_, times)| percentile(times, 0.5))
        .column(Column::number("p99"), |(_, times)| percentile(times, 0.99))
        .column(Column::number("max"), |(_, times)| max(times))
        .column(Column::number("samples").role(Role::Soft), |(_, times)| Cell::count(times.count))
        .done()
}

/// The mean is exact, the percentile is its bucket's, which is a 128th wide: of times that are all alike one may lie a
/// hair above the other.
pub fn is_skewed(times: &Times) -> bool {
    let told = matches!(words::percentile(times, 0.95), Shown::Fact(_));
    let is_above = |(mean, p95): (f64, u64)| mean > p95 as f64 * (1.0 + 1.0 / 128.0);
    told && times.mean_ns.zip(times.p95_ns).is_some_and(is_above)
}

/// Share of the responses by how long they took, and how many timed out; an empty bucket stays, so that two reports can
/// be laid side by side.
pub fn buckets(s: &Summary) -> Section {
    let mut below = None;
    let mut rows: Vec<(String, Option<f64>, u64)> = Vec::new();
    let named = |band: &Bucket| {
        let name = words::band(band.up_to_ns, below);
        below = band.up_to_ns.or(below);
        (name, Some(band.ratio), band.count)
    };
    rows.extend(s.buckets.iter().map(named));
    if s.buckets_censored > 0 && !rows.is_empty() {
        rows.push(("timed out".into(), None, s.buckets_censored));
    }
    let or_nothing = |value: Option<Value>| value.map_or_else(|| Cell::text(""), Cell::from);
    let table = Table::of("buckets", "Response time buckets", &rows)
        .column(Column::right("response time").brief("").role(Role::Soft), |(name, ..)| Cell::text(name))
        .column(Column::picture("share", 12, 12).brief("").on(On::DRAWN), |(_, share, _)| {
            or_nothing(share.map(Value::Bar))
        })
        .column(Column::number("share").brief(""), |(_, share, _)| or_nothing(share.map(Value::Share)))
        .column(Column::number("requests").brief("").role(Role::Soft), |(.., n)| Cell::count(*n));
    let section = Section::new("buckets", "Buckets", vec![Block::Table(table.done())]);
    section.aside("of the response time").indented().adjacent()
}

/// Parts of a request's time, each over its own samples: only some requests connect, only some wait. Parts that never
/// happened are left out.
pub fn phases(s: &Summary) -> Section {
    let p = &s.phases;
    let all: [(&str, &str, &Short); 6] = [
        ("connection wait", "wait", &p.connection_wait),
        ("DNS lookup", "DNS", &p.dns),
        ("connect", "connect", &p.connect),
        ("send", "send", &p.send_blocked),
        ("time to first byte (TTFB)", "TTFB", &p.time_to_first_byte),
        ("download", "download", &p.download),
    ];
    let known = all.iter().filter(|(.., short)| short.count > 0);
    let table = Table::of("phases", "Latency breakdown", known)
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
    let said = "Each part has its own samples: only some requests connect, and only some wait.";
    let (once, aside) = match dns.as_str() {
        "" => (String::new(), String::new()),
        dns if p.dns.is_empty() => {
            (format!(" DNS resolved the name once, in {dns}."), format!("DNS once, {dns}"))
        }
        dns => (format!(" Before the load, DNS resolved the name in {dns}."), String::new()),
    };
    let table = Block::Table(table.done());
    let blocks = vec![table, sentence(Role::Faint, format!("{said}{once}")).only(On::HTML)];
    Section::new("phases", "Latency breakdown", blocks).aside(aside).indented().on(On::DRAWN).adjacent()
}

/// Of a page: both distributions, and their pictures.
pub fn section(s: &Summary) -> Section {
    let warm_up = if s.totals.warmup_s > 0.0 { ", excluding the warm-up" } else { "" };
    let lead = format!(
        "Response time starts at the intended start time of a request, service time at its send. Both cover the same \
         requests{warm_up}."
    );
    let mut tables = vec![vec![Block::Heading("Percentiles".into())]];
    tables[0].extend(percentiles(s).blocks);
    tables[0].extend(counts(s).map(|said| sentence(Role::Faint, said)));
    if !s.buckets.is_empty() {
        let heading = Block::Heading("Response time buckets".into());
        tables.push([heading].into_iter().chain(buckets(s).blocks).collect());
    }
    let charts = ["spectrum", "distribution", "spectrum-requests"].map(String::from);
    let tables = Block::Pair(Room::Broad, tables);
    let blocks = vec![sentence(Role::Lead, lead), tables, Block::Charts(charts.into())];
    Section::new("times", "Response times", blocks)
}

/// Why the tables of a page count differently, in one place: of what failed or was cut off not all times are known.
fn counts(s: &Summary) -> Option<String> {
    let (answered, cut_off, finished) = (s.response_time.count, s.response_time.censored, s.totals.requests);
    if !s.streams.is_empty() || cut_off == 0 && answered == finished {
        return None;
    }
    let mut told =
        format!("{} completed, {} with a whole response", counted(finished, "request"), count(answered));
    if cut_off > 0 {
        let stop = match s.totals.in_flight_at_end {
            0 => "timed out",
            _ => "timed out or were in flight at the end",
        };
        told += &format!("; {} {stop} and count as lower bounds", count(cut_off));
    }
    if answered.saturating_add(cut_off) < finished {
        told += "; the others failed without a response and have no time";
    }
    Some(format!("{told}."))
}

/// Of a page: what the time was spent on, and what the slowest requests waited for.
pub fn by_part(s: &Summary, picture: &Picture) -> Section {
    let p = &s.phases;
    let all = [&p.connection_wait, &p.dns, &p.connect, &p.send_blocked, &p.time_to_first_byte, &p.download];
    let section = |blocks| Section::new("phases", "Latency breakdown", blocks);
    if all.iter().all(|short| short.count == 0) && p.dns_ns == 0 && picture.slices.is_empty() {
        return section(Vec::new());
    }
    let mut blocks = vec![Block::Charts(vec!["phases".into()])];
    if !picture.slices.is_empty() {
        blocks.extend(slices(picture));
    }
    blocks.push(Block::Heading("Parts".into()));
    blocks.extend(phases(s).blocks);
    section(blocks)
}

fn slices(picture: &Picture) -> Vec<Block> {
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
    let table = Table::of("slices", "Latency breakdown of the slowest requests", &picture.slices)
        .column(Column::text("requests by response time"), |slice| Cell::text(name(slice)))
        .column(Column::number("requests"), |slice| Cell::count(slice.requests))
        .column(Column::number("mean"), least)
        .column(Column::number("wait"), |slice| Value::Nanoseconds(slice.wait_ns).into())
        .column(Column::number("TTFB"), |slice| Value::Nanoseconds(slice.first_byte_ns).into())
        .column(Column::number("download"), |slice| Value::Nanoseconds(slice.body_ns).into());
    let said = format!("≥: {} of them timed out and count as lower bounds.", count(cut_off));
    let said = (cut_off > 0).then(|| sentence(Role::Faint, said));
    let heading = Block::Heading("By response time".into());
    [heading, Block::Table(table.done())].into_iter().chain(said).collect()
}
