//! Numbers as text, for sentences and tables: the evidence of cautions and of the verdict must match the tables digit
//! for digit.
//!
//! Measured numbers have three significant digits, so that a printed number is never off by more than 0.5%. Counts are
//! exact, and configured durations have no trailing zeros.

use crate::calendar;
use crate::threshold::FigureUnit;
use crate::watch::Unit;

/// Shown if there is no number.
pub const NONE: &str = "-";

/// Formats a duration: `812 µs`, `8.14 ms`, `1.32 s`, `2m 05s`. Nanoseconds below 1 µs are exact.
pub fn duration_ns(ns: u64) -> String {
    if ns < 1_000 { format!("{ns} ns") } else { duration_f64_ns(ns as f64) }
}

/// Formats a mean or a deviation, in ns.
pub fn duration_f64_ns(ns: f64) -> String {
    if !ns.is_finite() {
        return NONE.into();
    }
    if ns == 0.0 {
        return "0 ns".into();
    }
    // From 100 s, a second is within 0.5%. Between 60 and 100 s it is not, so those stay `75.2 s`.
    if exponent(ns) >= 11 {
        return clock(ns);
    }
    let (scale, unit) = time_unit(ns);
    format!("{} {unit}", three(ns / scale))
}

/// Formats a configured duration (a bucket edge, a run length) without trailing zeros: `10 s`.
pub fn chosen_ns(ns: u64) -> String {
    let text = duration_ns(ns);
    text.split_once(' ').map_or(text.clone(), |(number, unit)| {
        if ns < 1_000 || exponent(ns as f64) >= 11 {
            text.clone()
        } else {
            format!("{} {unit}", trimmed(number))
        }
    })
}

/// Formats a number for manual checks: four significant digits, or all digits before the point, without trailing
/// zeros: `277.8`, `3,333`, `12`.
pub fn trimmed_value(x: f64) -> String {
    if !x.is_finite() {
        return NONE.into();
    }
    let decimals = (3 - exponent(x)).clamp(0, 9) as usize;
    let text = format!("{x:.decimals$}");
    match text.split_once('.') {
        Some((whole, part)) => match part.trim_end_matches('0') {
            "" => grouped(whole),
            part => format!("{}.{part}", grouped(whole)),
        },
        None => grouped(&text),
    }
}

/// Formats a rate: `4,812/s`, `81.4/s`, `0.125/s`.
pub fn rate_per_s(rate: f64) -> String {
    if rate.is_finite() { format!("{}/s", quantity(rate)) } else { NONE.into() }
}

/// Formats a rate with its noun: `4,812 requests/s`, `100 arrivals/s`.
pub fn rate_of(rate: f64, what: &str) -> String {
    format!("{} {what}/s", quantity(rate))
}

/// Formats an exact count: `72,180`.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Formats a count with its noun: `1 attempt`, `44 attempts`. The plural of the noun must end in s.
pub fn counted(n: u64, word: &str) -> String {
    format!("{} {word}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Formats a number that is not a count, such as a mean of connections: `98.7`, `1,234`.
pub fn quantity(x: f64) -> String {
    if !x.is_finite() { NONE.into() } else { three(x) }
}

/// Formats a percentage: `0.3%`, `48%`, `99.97%`. It has one decimal below 10%, and none above. Rounding never reaches
/// 0% or 100%: smaller values are `<0.1%`, and values near 100% have as many decimals as the difference needs.
pub fn ratio(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match percent.abs() {
        p if !p.is_finite() => NONE.into(),
        p if p > 0.0 && p < 0.05 => "<0.1%".into(),
        p if p < 9.95 => percent_with(percent, 1),
        p if p > 99.0 && p < 100.0 => percent_with(percent, decimals_below_100(p, 1)),
        _ => percent_with(percent, 0),
    }
}

/// Formats a percentage that decides a threshold, with two significant digits: `0.056%`, `3.3%`, `48%`. Above 90%,
/// these are digits of the difference to 100%: `98.5%`.
pub fn decisive_ratio(ratio: f64) -> String {
    decisive_ratio_with(ratio, 2)
}

fn decisive_ratio_with(ratio: f64, digits: i32) -> String {
    let percent = ratio * 100.0;
    match percent.abs() {
        p if !p.is_finite() => NONE.into(),
        p if p > 90.0 && p < 100.0 => percent_with(percent, decimals_below_100(p, digits)),
        p => percent_with(percent, (digits - 1 - exponent(p)).clamp(0, MOST_DECIMALS) as usize),
    }
}

/// More decimals than any number of requests needs.
const MOST_DECIMALS: i32 = 10;

/// Returns the decimals that show `digits` digits of the difference to 100.
fn decimals_below_100(percent: f64, digits: i32) -> usize {
    (digits - 1 - exponent(100.0 - percent)).clamp(0, MOST_DECIMALS) as usize
}

fn percent_with(percent: f64, decimals: usize) -> String {
    let text = format!("{percent:.decimals$}");
    // 99.99999999999 has too many digits to show, but is not 100%.
    let text = if percent < 100.0 && text.starts_with("100") { "99.9999999999".into() } else { text };
    format!("{}%", grouped(trimmed(&text)))
}

/// Formats bytes in decimal units, as networks do: `683 kB`, `1.21 GB`.
pub fn bytes_f64(n: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    if !n.is_finite() {
        return NONE.into();
    }
    if n == 0.0 {
        return "0 B".into();
    }
    let step = exponent(n).div_euclid(3).clamp(0, UNITS.len() as i32 - 1);
    format!("{} {}", three(n / 1e3f64.powi(step)), UNITS[step as usize])
}

/// Formats a byte rate: `1.21 GB/s`.
pub fn bytes_per_s(n: f64) -> String {
    if n.is_finite() { format!("{}/s", bytes_f64(n)) } else { NONE.into() }
}

/// Formats a monitor's number in its unit: `1.87 cores`, `97%`, `412 MB`, `1,204/s`, `17`, `12.4 ms`.
pub fn watched(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Cores if value == 1.0 => "1 core".into(),
        // Limits are usually whole numbers.
        Unit::Cores if value.fract() == 0.0 => format!("{} cores", trimmed_value(value)),
        Unit::Cores => format!("{} cores", quantity(value)),
        Unit::Share => ratio(value),
        Unit::Bytes => bytes_f64(value),
        Unit::BytesPerS => bytes_per_s(value),
        Unit::PerS => rate_per_s(value),
        Unit::Count => trimmed_value(value),
        Unit::Seconds => duration_f64_ns(value * 1e9),
    }
}

/// Formats a date and time: `2026-11-22 03:44:01 UTC`.
pub fn utc(unix_ns: u64) -> String {
    calendar::utc(unix_ns).strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Formats a number next to its limit, with as many digits as needed to show on which side of the limit it is, so that
/// rounding never moves it across.
pub fn figure_against(value: f64, limit: f64, unit: FigureUnit) -> String {
    let is_clear = |text: &String| {
        let (number, scale) = read_back(text, unit);
        number.is_none_or(|x| (x * scale).total_cmp(&limit) == value.total_cmp(&limit))
    };
    let plain = figure(value, unit);
    if !value.is_finite() || is_clear(&plain) {
        return plain;
    }
    let with = |digits: i32| match unit {
        FigureUnit::Nanoseconds => {
            let (scale, name) = time_unit(limit);
            format!("{} {name}", significant(value / scale, digits))
        }
        FigureUnit::Ratio => decisive_ratio_with(value, digits),
        FigureUnit::PerSecond => format!("{}/s", significant(value, digits)),
        FigureUnit::Count | FigureUnit::Number => significant(value, digits),
    };
    (3..=17).map(with).find(is_clear).unwrap_or(plain)
}

/// Returns the number in a formatted text, and its unit; `None` for minutes and seconds.
fn read_back(text: &str, unit: FigureUnit) -> (Option<f64>, f64) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "-.,".contains(c))).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let scale = match (unit, rest.trim()) {
        (FigureUnit::Nanoseconds, "ns") => 1.0,
        (FigureUnit::Nanoseconds, "µs") => 1e3,
        (FigureUnit::Nanoseconds, "ms") => 1e6,
        (FigureUnit::Nanoseconds, "s") => 1e9,
        (FigureUnit::Nanoseconds, _) => return (None, 1.0),
        (FigureUnit::Ratio, _) => 0.01,
        (FigureUnit::PerSecond | FigureUnit::Count | FigureUnit::Number, _) => 1.0,
    };
    (number.replace(',', "").parse().ok(), scale)
}

/// Formats at least `digits` significant digits, and all digits before the point.
fn significant(x: f64, digits: i32) -> String {
    let decimals = (digits - 1 - exponent(x)).max(0) as usize;
    grouped(&format!("{x:.decimals$}"))
}

/// Formats the value of a threshold in the unit of its subject.
pub fn figure(value: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::Nanoseconds => duration_f64_ns(value),
        FigureUnit::Ratio => decisive_ratio(value),
        FigureUnit::PerSecond => rate_per_s(value),
        FigureUnit::Count => grouped(&format!("{value:.0}")),
        FigureUnit::Number if value.fract() == 0.0 => grouped(&format!("{value:.0}")),
        FigureUnit::Number => format!("{value:.3}").trim_end_matches('0').to_owned(),
    }
}

/// Returns the name of a quantile: `p50`, `p99.9`.
pub fn quantile_name(q: f64) -> String {
    format!("p{}", trimmed(&format!("{:.6}", q * 100.0)))
}

/// Formats minutes and seconds, and hours if there are any.
fn clock(ns: f64) -> String {
    let total_s = (ns / 1e9).round() as u64;
    let (h, m, s) = (total_s / 3_600, total_s / 60 % 60, total_s % 60);
    if h > 0 { format!("{h}h {m:02}m {s:02}s") } else { format!("{m}m {s:02}s") }
}

/// Returns the length in ns and the name of the unit for a duration.
pub fn time_unit(ns: f64) -> (f64, &'static str) {
    match exponent(ns) {
        ..3 => (1.0, "ns"),
        3..6 => (1e3, "µs"),
        6..9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// Returns the power of ten of `x` after rounding to three digits, so that 999.6 counts as 1.00e3.
pub fn exponent(x: f64) -> i32 {
    format!("{x:.2e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// Formats three significant digits, and all digits before the point.
pub fn three(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let decimals = (2 - exponent(x)).max(0) as usize;
    grouped(&format!("{x:.decimals$}"))
}

/// Removes trailing zeros after the point.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Adds commas between thousands.
fn grouped(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, decimals) = rest.find('.').map_or((rest, ""), |at| rest.split_at(at));
    let mut out = String::from(sign);
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + decimals
}

/// Formats a configured duration in seconds, as [`chosen_ns`] does.
pub fn chosen_s(seconds: f64) -> String {
    chosen_ns((seconds.max(0.0) * 1e9).round() as u64)
}

/// Formats bytes in decimal units, as networks do: `683 kB`, `1.21 GB`. Bytes below 1 kB are exact.
pub fn bytes(n: u64) -> String {
    if n < 1_000 { format!("{n} B") } else { bytes_f64(n as f64) }
}

/// Returns whether a character can move a cursor or reverse the direction of the text around it.
pub fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(u32::from(c), 0x061c | 0x200e..=0x200f | 0x2028..=0x202e | 0x2066..=0x2069)
}
