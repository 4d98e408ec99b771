//! Single values of options, from JSON and from text. `Ok(None)` means unset: `null`, or an empty text where k6 accepts
//! one.

use plimsoll_plan::Problem;
use serde_json::Value;

pub(crate) type Read<T> = Result<Option<T>, Problem>;

/// Longest duration, in ns: a year keeps sums within `u64`.
const DURATION_MAX_NS: f64 = 366.0 * 86_400e9;

/// What the message about a value says that plimsoll cannot provide; all others are about invalid values.
const UNSUPPORTED: &str = "not supported";

/// Returns whether a problem is about a value that plimsoll does not support.
pub(crate) fn is_unsupported(problem: &Problem) -> bool {
    problem.message.contains(UNSUPPORTED)
}

/// Returns a value as an error message shows it, cut to a readable length.
pub(crate) fn describe(value: &Value) -> String {
    const LENGTH: usize = 60;
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= LENGTH {
        return text;
    }
    format!("{}...", text.chars().take(LENGTH).collect::<String>())
}

fn expected<T>(value: &Value, what: &str) -> Read<T> {
    Err(Problem::plain(format!("invalid value `{}`: expected {what}", describe(value))))
}

/// Reads a whole number, also from text: environment variables are text.
pub(crate) fn int(value: &Value) -> Read<u64> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => int_text(text),
        Value::Number(number) => match number.as_u64() {
            Some(n) => Ok(Some(n)),
            None if number.as_i64().is_some() => expected(value, "a number of at least 0"),
            None => expected(value, "a whole number"),
        },
        other => expected(other, "a whole number"),
    }
}

/// Reads a whole number from text; an empty text is unset.
pub(crate) fn int_text(text: &str) -> Read<u64> {
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || Problem::plain(format!("invalid value `{text}`: expected a whole number"));
    text.parse().map(Some).map_err(|_| wrong())
}

/// Reads a number that fits a count of users.
pub(crate) fn users(value: &Value) -> Read<u32> {
    int(value)?.map(users_of).transpose()
}

pub(crate) fn users_of(number: u64) -> Result<u32, Problem> {
    const MOST: u64 = 1_000_000;
    if number > MOST {
        return Err(Problem::plain(format!("`{number}` is more than 1,000,000 users on one machine")));
    }
    Ok(number as u32)
}

pub(crate) fn boolean(value: &Value) -> Read<bool> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(is) => Ok(Some(*is)),
        other => expected(other, "`true` or `false`"),
    }
}

/// Reads what Go accepts as a boolean in a flag or a variable.
pub(crate) fn boolean_text(text: &str) -> Read<bool> {
    match text {
        "" => Ok(None),
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Some(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Some(false)),
        other => Err(Problem::plain(format!("invalid value `{other}`: expected `true` or `false`"))),
    }
}

pub(crate) fn string(value: &Value) -> Read<String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        other => expected(other, "a text"),
    }
}

pub(crate) fn strings(value: &Value) -> Read<Vec<String>> {
    let Value::Array(items) = value else {
        return if value.is_null() { Ok(None) } else { expected(value, "a list of texts") };
    };
    let texts = items.iter().map(|item| match item {
        Value::String(text) => Ok(text.clone()),
        other => Err(Problem::plain(format!("invalid entry `{}`: expected a text", describe(other)))),
    });
    texts.collect::<Result<_, _>>().map(Some)
}

/// Reads an object of texts.
pub(crate) fn pairs(value: &Value) -> Read<Vec<(String, String)>> {
    let Value::Object(entries) = value else {
        return if value.is_null() { Ok(None) } else { expected(value, "an object of texts") };
    };
    let texts = entries.iter().map(|(key, value)| match value {
        Value::String(text) => Ok((key.clone(), text.clone())),
        other => Err(Problem::new(
            format!("invalid value `{}` of `{key}`: expected a text", describe(other)),
            format!("write `String(...)` around the value of `{key}`"),
        )),
    });
    texts.collect::<Result<_, _>>().map(Some)
}

/// Reads a duration in ns: a number is in ms.
pub(crate) fn duration_ns(value: &Value) -> Read<u64> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => match number.as_f64() {
            Some(ms) => in_range(ms * 1e6, &number.to_string()).map(Some),
            None => expected(value, "a duration"),
        },
        Value::String(text) => duration_text_ns(text).map(Some),
        other => expected(other, "a duration such as `30s`"),
    }
}

fn in_range(ns: f64, text: &str) -> Result<u64, Problem> {
    if ns < 0.0 {
        return Err(Problem::plain(format!("invalid duration `{text}`: it must not be negative")));
    }
    if !ns.is_finite() || ns > DURATION_MAX_NS {
        return Err(Problem::plain(format!("duration `{text}` is longer than a year")));
    }
    Ok(ns.round() as u64)
}

/// Reads a duration as k6 does: Go's units and days, such as `1d2h30m`, `1.5s`, `500ms`. A number without a unit is in
/// ms.
pub fn duration_text_ns(text: &str) -> Result<u64, Problem> {
    let wrong = || {
        Problem::new(
            format!("invalid duration `{text}`"),
            "write a duration such as `30s`, `1m30s`, `500ms`, or `1d`",
        )
    };
    if let Ok(ms) = text.parse::<f64>() {
        return in_range(ms * 1e6, text);
    }
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit_ns = match &rest[..letters] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3_600e9,
            "d" => 86_400e9,
            _ => return Err(wrong()),
        };
        total += number * unit_ns;
        rest = &rest[letters..];
    }
    in_range(sign * total, text)
}

/// Returns a duration as k6 writes it: `1h0m0s`, `10m30s`, `1.5s`, `500ms`.
pub fn go_duration(ns: u64) -> String {
    let in_unit = |ns: u64, unit_ns: u64| ns as f64 / unit_ns as f64;
    match ns {
        0 => return "0s".into(),
        1..=999 => return format!("{ns}ns"),
        1_000..=999_999 => return format!("{}µs", in_unit(ns, 1_000)),
        1_000_000..=999_999_999 => return format!("{}ms", in_unit(ns, 1_000_000)),
        _ => {}
    }
    let (minutes, seconds) = (ns / MINUTE_NS, in_unit(ns % MINUTE_NS, 1_000_000_000));
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

const MINUTE_NS: u64 = 60_000_000_000;
