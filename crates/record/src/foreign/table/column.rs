//! What a column is, by its name in the many spellings that reports use.

use super::unit::{self, Kind};
use crate::foreign::model::Measure;

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
    let lower = header.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || "%/.#σ".contains(c)))
        .map(|w| w.trim_matches('.'))
        .filter(|w| !w.is_empty())
        .collect();
    let has = |names: &[&str]| words.iter().any(|w| names.contains(w));
    let part = |names: &[&str]| names.iter().any(|n| lower.contains(n));
    let (measure, kind) = measure(&words, &has, &part)?;
    let unit = header_unit(header, kind);
    Some(Column { measure, kind, unit })
}

fn measure(
    words: &[&str],
    has: &dyn Fn(&[&str]) -> bool,
    part: &dyn Fn(&[&str]) -> bool,
) -> Option<(Measure, Kind)> {
    use Kind::{Bytes, BytesPerS, PerS, Percent, Plain, Time};
    let failing = part(&["error", "fail"]) || has(&["ko", "err", "errs"]);
    let share = has(&["%", "pct", "ratio", "percent"])
        || part(&["(%)", "error rate", "%error", "error%", "failure rate"]);
    let about_time =
        part(&["latency", "response time", "resp", "time", "percentile", "line", "duration", "elapsed"]);
    if let Some(p) = percentile(words).filter(|_| !failing && !has(&["cpu", "mem", "memory"])) {
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
        () if part(&["std", "deviation"]) || has(&["sd", "σ", "sigma"]) => (Measure::StdDev, Time),
        () if part(&[
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
            (Measure::Rate, PerS)
        }
        () if part(&["reply", "response", "body", "avg bytes", "avg. bytes", "document"])
            && part(&["byte", "size", "length"]) =>
        {
            (Measure::BodyBytes, Bytes)
        }
        () if part(&["transferred", "bytes read", "total bytes", "data received"]) => {
            (Measure::BytesTotal, Bytes)
        }
        () if has(&["average", "avg", "mean"]) && part(&["connect"]) => (Measure::ConnectMean, Time),
        () if has(&["average", "avg", "mean"]) && part(&["ttfb", "first byte", "waiting"]) => {
            (Measure::FirstByteMean, Time)
        }
        () if has(&["average", "avg", "mean"]) && !part(&["byte", "cpu", "mem", "size"]) => {
            (Measure::Mean, Time)
        }
        () if has(&["median", "med"]) => (Measure::Percentile(5_000), Time),
        () if has(&["min", "minimum"]) => (Measure::Min, Time),
        () if has(&["max", "maximum"]) && (about_time || words.len() <= 2) => (Measure::Max, Time),
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
        ]) || words == ["c"] =>
        {
            (Measure::Users, Plain)
        }
        () if has(&["threads", "thread"]) => (Measure::Users, Plain),
        () if has(&["servers", "server", "instances", "replicas", "nodes", "pods"])
            && !part(&["name", "type"]) =>
        {
            (Measure::Servers, Plain)
        }
        () if has(&["slaves", "generators", "injectors", "vms"]) => (Measure::Generators, Plain),
        () if has(&["loops"]) => (Measure::Loops, Plain),
        () if has(&["duration"]) => (Measure::Duration, Time),
        () if has(&["ramp", "rampup"]) => (Measure::RampUp, Time),
        () if has(&["samples", "#samples", "requests", "#requests", "reqs", "hits"])
            || part(&["sample count", "request count"]) =>
        {
            (Measure::Requests, Plain)
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
fn header_unit(header: &str, kind: Kind) -> Option<(f64, f64)> {
    let pieces = header.split(|c: char| c.is_whitespace() || "()[],;".contains(c)).filter(|p| !p.is_empty());
    let found = pieces.filter_map(|p| unit::parse(p, p == "s" || p == "h")).rfind(|u| u.kind == kind);
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
