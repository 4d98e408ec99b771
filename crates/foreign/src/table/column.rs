//! What a column is, by its name in the many spellings that reports use.

use super::unit::{self, Kind};
use crate::model::Measure;
use std::borrow::Cow;

/// A recognised column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    pub measure: Measure,
    pub kind: Kind,
    /// The unit that the header gives, for cells without one: size, and size for powers of 1,024.
    pub unit: Option<(f64, f64)>,
}

/// `95 percentile response time`, `#samples`, `Avg (ms)`, `KB/sec`. None: not one of the known quantities.
pub fn column(header: &str) -> Option<Column> {
    let header = &*in_english(header);
    let lower = header.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || "%/.#σ".contains(c)))
        .map(|w| w.trim_matches('.'))
        .filter(|w| !w.is_empty())
        .collect();
    let has = |names: &[&str]| words.iter().any(|w| names.contains(w));
    let part = |names: &[&str]| names.iter().any(|n| lower.contains(n));
    let (measure, kind) = measure(header, &words, &has, &part)?;
    let unit = header_unit(header, measure, kind, &words);
    Some(Column { measure, kind, unit })
}

/// Names of columns in other languages, longer ones first.
const NAMES: &[(&str, &str)] = &[
    ("平均响应时间", "mean response time"),
    ("平均延迟", "mean latency"),
    ("最大响应时间", "max response time"),
    ("响应时间", "response time"),
    ("并发连接数", "connections"),
    ("并发用户数", "users"),
    ("并发数", "concurrency"),
    ("协程数", "concurrency"),
    ("总请求数", "requests"),
    ("总请求", "requests"),
    ("请求数", "requests"),
    ("错误率", "error rate"),
    ("失败率", "failure rate"),
    ("失败数", "failed"),
    ("失败", "failed"),
    ("taxa falha", "failure rate"),
    ("taxa de erro", "error rate"),
    ("falhas", "failures"),
    ("usuários", "users"),
    ("usuarios", "users"),
    ("mediana", "median"),
    ("média", "mean"),
    ("ошибки", "errors"),
];

/// The heading with its known name in English.
fn in_english(header: &str) -> Cow<'_, str> {
    let lower = header.to_lowercase();
    let ascii = header.is_ascii();
    match NAMES.iter().filter(|(name, _)| !ascii || name.is_ascii()).find(|(name, _)| lower.contains(name)) {
        Some((name, english)) if header.contains(name) => header.replace(name, english).into(),
        Some((name, english)) => lower.replace(name, english).into(),
        None => header.into(),
    }
}

/// Words of statistics; beside them a column of times may hold [`ABOUT_TIME`], units and nothing else: `max queue`,
/// `p99 CPU`, `mean rate` and `p99 SLO` are no times of the row.
const STATISTICS: &[&str] = &[
    "average",
    "avg",
    "mean",
    "median",
    "med",
    "min",
    "minimum",
    "max",
    "maximum",
    "std",
    "stdev",
    "stddev",
    "dev",
    "dev.",
    "deviation",
    "standard",
    "sd",
    "σ",
    "sigma",
    "percentile",
    "percentiles",
    "line",
    "pct",
    "perc",
    "%ile",
    "quantile",
    "pctl",
    "th",
    "p",
    "%",
    "overall",
    "arithmetic",
];
const ABOUT_TIME: &[&str] = &[
    "latency",
    "latencies",
    "lat",
    "time",
    "times",
    "response",
    "responses",
    "resp",
    "duration",
    "durations",
    "elapsed",
    "delay",
    "rt",
    "rtt",
    "ttfb",
    "first",
    "byte",
    "waiting",
    "connect",
    "connecting",
    "connection",
    "service",
    "request",
    "req",
    "http",
    "round",
    "trip",
    "roundtrip",
    "processing",
    "page",
    "load",
    "total",
    "query",
    "transaction",
    "sample",
    "answer",
    "reply",
    "wait",
];
const LINKS: &[&str] =
    &["of", "the", "in", "per", "a", "all", "to", "for", "and", "by", "across", "concurrent"];
/// A column of rates holds these and a unit.
const ABOUT_RATE: &[&str] = &[
    "rate",
    "achieved",
    "actual",
    "measured",
    "observed",
    "request",
    "requests",
    "req",
    "throughput",
    "mean",
    "average",
    "avg",
    "per",
    "second",
    "sec",
    "s",
    "min",
    "minute",
    "of",
    "the",
    "arrival",
    "service",
];
/// What is asked for, or how far a figure spreads, is not the figure.
const OTHER_THAN_MEASURED: &[&str] = &[
    "max",
    "maximum",
    "min",
    "minimum",
    "peak",
    "stdev",
    "stddev",
    "std",
    "deviation",
    "sd",
    "ci",
    "interval",
    "confidence",
    "threshold",
    "target",
    "goal",
    "slo",
    "sla",
    "limit",
    "offered",
    "requested",
    "error",
    "errors",
    "failed",
    "failures",
    "margin",
];

/// `95% interval`, `max rate`, `goal`: beside a figure, and not the figure.
pub fn is_bound(header: &str) -> bool {
    header.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| OTHER_THAN_MEASURED.contains(&w))
}

/// The name of a column or row of what should be.
pub fn is_goal(name: &str) -> bool {
    const GOALS: [&str; 20] = [
        "target",
        "targets",
        "goal",
        "goals",
        "slo",
        "slos",
        "sla",
        "threshold",
        "thresholds",
        "budget",
        "objective",
        "目标值",
        "目标",
        "阈值",
        "目標",
        "목표",
        "objetivo",
        "ziel",
        "цель",
        "порог",
    ];
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // `Target rate` is what was offered, and `target` alone a host.
    let known = column(name).is_some();
    !known && words.any(|word| GOALS.contains(&word)) && lower.split_whitespace().count() <= 4
}

fn is_time_unit(word: &str) -> bool {
    unit::parse(word, word == "s").is_some_and(|u| u.kind == Kind::Time)
}

/// All words are known to be about a time; at most one of them is a number, that of the percentile.
fn is_of_time(words: &[&str]) -> bool {
    let figures = words.iter().filter(|w| w.contains(|c: char| c.is_ascii_digit())).count();
    let known = |w: &&str| {
        STATISTICS.contains(w)
            || ABOUT_TIME.contains(w)
            || LINKS.contains(w)
            || is_time_unit(w)
            || w.contains(|c: char| c.is_ascii_digit())
    };
    // `requests` are counted, `avg request (ms)` is a time.
    figures <= 1 && words.iter().all(known)
}

/// `rate`, `achieved (req/s)`, `rate_per_s`.
fn is_of_rate(words: &[&str]) -> bool {
    let rate = |w: &&str| unit::parse(w, false).is_some_and(|u| u.kind == Kind::PerS);
    let named = words.iter().any(|w| ["rate", "achieved"].contains(w));
    named && !words.contains(&"max") && words.iter().all(|w| ABOUT_RATE.contains(w) || rate(w))
}

fn measure(
    header: &str,
    words: &[&str],
    has: &dyn Fn(&[&str]) -> bool,
    part: &dyn Fn(&[&str]) -> bool,
) -> Option<(Measure, Kind)> {
    use Kind::{Bytes, BytesPerS, PerS, Percent, Plain, Time};
    let failing = part(&["error", "fail"]) || has(&["ko", "err", "errs", "err%"]);
    let share = has(&["%", "pct", "ratio", "percent"])
        || part(&["(%)", "error rate", "%error", "error%", "err%", "failure rate"]);
    let of_time = is_of_time(words);
    let per_s = part(&["/s", "/min", "per s", "_per_s"]);
    let stated = |names: &[&str]| has(names) && of_time;
    let odd = has(OTHER_THAN_MEASURED);
    let bytes_per_s = header
        .split(|c: char| c.is_whitespace() || "()[],;".contains(c))
        .any(|p| unit::parse(p, false).is_some_and(|u| u.kind == Kind::BytesPerS));
    if failing && per_s && !share {
        return None;
    }
    if let Some(p) = percentile(words).filter(|_| !failing && of_time) {
        let measure = if has(&["connect", "connecting"]) {
            Measure::ConnectPercentile(p)
        } else {
            Measure::Percentile(p)
        };
        return Some((measure, Time));
    }
    Some(match () {
        () if failing && share => (Measure::ErrorRatio, Percent),
        () if failing && has(&["connect", "connection"]) => (Measure::ConnectErrors, Plain),
        () if failing && has(&["length"]) => (Measure::LengthErrors, Plain),
        () if failing && !part(&["type", "message"]) => (Measure::Errors, Plain),
        () if has(&["timeouts", "timeout"]) && words.len() <= 2 => (Measure::TimeoutErrors, Plain),
        () if part(&["non-2xx", "non 2xx", "non2xx"]) => (Measure::Non2xx, Plain),
        () if part(&["keep-alive req", "keep alive req"]) => (Measure::KeepAliveRequests, Plain),
        () if part(&["std", "deviation"]) || has(&["sd", "σ", "sigma"]) => {
            return of_time.then_some((Measure::StdDev, Time));
        }
        () if bytes_per_s
            || part(&[
                "kb/s",
                "mb/s",
                "bytes/s",
                "kib/s",
                "mib/s",
                "gb/s",
                "mbit/s",
                "kb per sec",
                "mb per sec",
            ]) =>
        {
            (if part(&["sent"]) { Measure::BytesSentPerS } else { Measure::BytesPerS }, BytesPerS)
        }
        () if part(&["target", "offered", "requested"]) && part(&["rate", "rps", "req/s", "/s"]) => {
            (Measure::OfferedRate, PerS)
        }
        () if part(&["per thread"]) && part(&["req"]) => (Measure::ThreadRateMean, PerS),
        () if part(&["throughput", "/sec", "/s)", "req/s", "per second", "hits/s"])
            || has(&["rps", "tps", "qps", "requests/s"]) =>
        {
            return (!odd).then_some((Measure::Rate, PerS));
        }
        () if is_of_rate(words) => (Measure::Rate, PerS),
        () if part(&["reply", "response", "body", "avg bytes", "avg. bytes", "document"])
            && part(&["byte", "size", "length"]) =>
        {
            (Measure::BodyBytes, Bytes)
        }
        () if part(&["transferred", "bytes read", "total bytes", "data received"]) => {
            (Measure::BytesTotal, Bytes)
        }
        () if has(&["duration"]) && !words.iter().any(|w| STATISTICS.contains(w) && *w != "min") => {
            (Measure::Duration, Time)
        }
        () if stated(&["average", "avg", "mean"]) && has(&["connect", "connecting", "connection"]) => {
            (Measure::ConnectMean, Time)
        }
        () if stated(&["average", "avg", "mean"]) && part(&["ttfb", "first byte", "waiting"]) => {
            (Measure::FirstByteMean, Time)
        }
        () if has(&["across"]) && of_time => return None,
        () if stated(&["average", "avg", "mean"]) => (Measure::Mean, Time),
        () if stated(&["median", "med"]) => (Measure::Percentile(5_000), Time),
        // `time (min)` may be the shortest or some minutes.
        () if has(&["min"]) && words == ["time", "min"] => return None,
        () if stated(&["min", "minimum"]) => (Measure::Min, Time),
        () if stated(&["max", "maximum"]) => (Measure::Max, Time),
        // A share, spread or bound of something else.
        () if has(&["average", "avg", "mean", "median"])
            && !has(&["cpu", "memory", "mem", "users", "vus"]) =>
        {
            return None;
        }
        () if percentile(words).is_some() => return None,
        () if has(&["cpu"]) => (Measure::Cpu, Percent),
        () if has(&["memory", "ram", "mem", "rss"]) && !share => (Measure::MemoryBytes, Bytes),
        () if has(&[
            "concurrency",
            "concurrent",
            "users",
            "connections",
            "clients",
            "vus",
            "vu",
            "conns",
        ]) || words == ["c"]
            || part(&["user count"]) =>
        {
            return (!has(&["min", "minimum"])).then_some((Measure::Users, Plain));
        }
        () if has(&["threads", "thread"]) => (Measure::Users, Plain),
        () if has(&["servers", "server", "instances", "replicas", "nodes", "pods"])
            && !part(&["name", "type"]) =>
        {
            (Measure::Servers, Plain)
        }
        () if has(&["slaves", "generators", "injectors", "vms"]) => (Measure::Generators, Plain),
        () if has(&["loops"]) => (Measure::Loops, Plain),
        () if has(&["ramp", "rampup"]) => (Measure::RampUp, Time),
        () if words == ["completed"]
            || words == ["n"]
            || has(&["samples", "#samples", "requests", "#requests", "reqs", "hits"])
            || part(&["sample count", "request count"]) =>
        {
            return (!odd && !has(&["per"])).then_some((Measure::Requests, Plain));
        }
        () => return None,
    })
}

/// `90%`, `p(90)`, `p99.9`, `95th`, `99 percentile`, in ten-thousandths.
pub fn percentile(words: &[&str]) -> Option<u16> {
    let named = words
        .iter()
        .any(|w| w.contains("percentile") || ["line", "pct", "perc", "%ile", "quantile"].contains(w));
    words.iter().enumerate().find_map(|(i, word)| {
        let next = words.get(i + 1).copied().unwrap_or("");
        let before = i.checked_sub(1).and_then(|b| words.get(b)).copied().unwrap_or("");
        let core = word.trim_start_matches(['p', 'q']);
        let marked_before = core.len() < word.len() || before == "p" || before == "pct";
        let core = core.trim_end_matches("%ile");
        let bare =
            core.trim_end_matches('%').trim_end_matches("th").trim_end_matches("st").trim_end_matches("rd");
        let marked =
            marked_before || bare.len() < core.len() || named || next.starts_with('%') || next == "th";
        let value: f64 = bare.parse().ok()?;
        (marked && value > 0.0 && value < 100.0).then(|| (value * 100.0).round() as u16)
    })
}

/// The last unit in the header of the kind that the quantity needs: `Avg response time (ms)`, `Throughput [req/s]`.
fn header_unit(header: &str, measure: Measure, kind: Kind, words: &[&str]) -> Option<(f64, f64)> {
    let separated = |c: char| c.is_whitespace() || "()[],;_".contains(c);
    let mut at = 0;
    let mut found = None;
    for piece in header.split(separated) {
        let before = header[..at].trim_end_matches([' ', '_']);
        at += piece.len();
        at += header[at..].chars().next().map_or(0, char::len_utf8);
        // `Latency/ms`.
        let piece = if kind == Kind::Time { piece.rsplit('/').next().unwrap_or(piece) } else { piece };
        let minutes = ["min", "mins", "minute", "minutes"].contains(&piece.to_lowercase().as_str());
        // `Min` names a measure; minutes stand in brackets or behind a comma, and beside another word for the least.
        let named = measure == Measure::Min && !words.contains(&"minimum");
        let apart = before.ends_with(['(', '[', ',']) && !named;
        let length = matches!(measure, Measure::Duration | Measure::RampUp);
        if minutes && kind == Kind::Time && !(apart || length) {
            continue;
        }
        if let Some(u) = unit::parse(piece, piece == "s" || piece == "h").filter(|u| u.kind == kind) {
            found = Some(u);
        }
    }
    match (found, kind) {
        (Some(u), _) => Some((u.size, u.size_binary)),
        (None, Kind::PerS) => {
            let lower = header.to_lowercase();
            let minute = lower.contains("/min") || lower.contains("per min");
            Some(if minute { (1.0 / 60.0, 1.0 / 60.0) } else { (1.0, 1.0) })
        }
        (None, Kind::BytesPerS) => {
            let lower = header.to_lowercase();
            ["kb", "mb", "gb"]
                .iter()
                .zip([1, 2, 3])
                .find(|(n, _)| lower.contains(*n))
                .map_or(Some((1.0, 1.0)), |(_, e)| Some((1e3f64.powi(e), 1024f64.powi(e))))
        }
        (None, Kind::Percent) => Some((0.01, 0.01)),
        (None, Kind::Plain | Kind::Bytes) => Some((1.0, 1.0)),
        (None, _) => None,
    }
}
