//! Numbers in the arithmetic of a finding: five digits, so that a reader can follow the calculation with what is
//! written in the report; the three digits of our own reports would round away the difference that is the finding.

use super::span::Span;
use crate::foreign::{Measure, Tool};

/// `207.71 ms`, `1.35 s`, `29m 57s` is said as `1797 s`: one unit can be multiplied by hand.
pub(super) fn time(seconds: f64) -> String {
    let size = seconds.abs();
    let (scale, unit) = match size {
        0.0 => (1.0, "s"),
        s if s < 1e-3 => (1e6, "µs"),
        s if s < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", number(seconds * scale))
}

/// Five digits without zeros at the end, thousands apart: `521.24`, `53,374`, `0.33344`.
pub(super) fn number(x: f64) -> String {
    if !x.is_finite() {
        return if x > 0.0 { "any number".into() } else { "no number".into() };
    }
    if x != 0.0 && (x.abs() >= 1e15 || x.abs() < 1e-9) {
        return format!("{x:.4e}");
    }
    let digits_before = if x == 0.0 { 1 } else { x.abs().log10().floor() as i32 + 1 };
    let decimals = (5 - digits_before).clamp(0, 12) as usize;
    let text = format!("{x:.decimals$}");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    let whole = thousands(whole);
    if part.is_empty() { whole } else { format!("{whole}.{part}") }
}

/// `108`, `2.31`: three digits are enough for a result that nobody calculates on with.
pub(super) fn about(x: f64) -> String {
    if !x.is_finite() || x == 0.0 || x.abs() >= 1e6 || x.abs() < 1e-6 {
        return number(x);
    }
    let decimals = (2 - x.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{x:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.is_empty() { thousands(whole) } else { format!("{}.{part}", thousands(whole)) }
}

/// `1.30 x`, `12%`.
pub(super) fn percent(share: f64) -> String {
    format!("{}%", about(share * 100.0))
}

/// What rounding leaves open of a result: `107.7 to 108.9`, or one number where both ends read the same.
pub(super) fn range(span: Span, say: fn(f64) -> String) -> String {
    let (low, high) = (say(span.low), say(span.high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// `p95`, `p99.9`.
pub(super) fn percentile(ten_thousandths: u16) -> String {
    if ten_thousandths == 5_000 {
        return "the median".into();
    }
    format!("p{}", number(f64::from(ten_thousandths) / 100.0))
}

/// How the tool's users call what has one request in flight at most.
pub(super) fn users(tool: Option<Tool>) -> &'static str {
    tool.map_or("users", |tool| tool.definitions().users)
}

/// A measure in a sentence.
pub(super) fn measure(measure: Measure) -> String {
    match measure {
        Measure::Mean => "the mean".into(),
        Measure::Min => "the minimum".into(),
        Measure::Max => "the maximum".into(),
        Measure::StdDev => "the standard deviation".into(),
        Measure::Percentile(p) => percentile(p),
        Measure::ConnectMean => "the mean time to connect".into(),
        Measure::ConnectMin => "the shortest time to connect".into(),
        Measure::ConnectMax => "the longest time to connect".into(),
        Measure::ConnectMedian => "the median time to connect".into(),
        Measure::ConnectPercentile(p) => format!("{} of the time to connect", percentile(p)),
        Measure::FirstByteMean => "the mean time to the first byte".into(),
        Measure::FirstByteMedian => "the median time to the first byte".into(),
        Measure::ProcessingMean => "the mean processing time".into(),
        Measure::ProcessingMedian => "the median processing time".into(),
        Measure::ThreadRateMean => "the mean rate per thread".into(),
        Measure::ThreadRateStdDev => "the deviation of the rate per thread".into(),
        Measure::ThreadRateMax => "the highest rate per thread".into(),
        Measure::ErrorRatio => "the share of errors".into(),
        Measure::WithinStdDev => "the share within one deviation".into(),
        Measure::KeepAliveRequests => "keep-alive requests".into(),
        Measure::Non2xx => "answers other than 2xx".into(),
        Measure::LengthErrors => "length errors".into(),
        Measure::BytesPerS => "bytes per second".into(),
        Measure::TimePerRequestAll => "the time per request over all concurrent requests".into(),
        other => words(&format!("{other:?}")),
    }
}

/// `Requests` to `requests`, `MemoryBytes` to `memory bytes`.
fn words(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// `a, b and c`; of more than eight the number of those left out.
pub(super) fn list(items: &[String]) -> String {
    const SHOWN: usize = 8;
    match items {
        [] => String::new(),
        [one] => one.clone(),
        _ if items.len() > SHOWN => {
            format!("{} and {} more", items[..SHOWN].join(", "), items.len() - SHOWN)
        }
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

fn thousands(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
