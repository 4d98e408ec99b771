//! Durations, rates, sizes and shares as people type them, and the sentence for each way to get one wrong.

use crate::Problem;

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Parses `250ms`, `1.5s`, `2m`, `1h`, `500us`, `100ns`, or sums such as `1m30s`. Result in nanoseconds.
///
/// # Errors
/// A sentence saying what was found and what was expected; a number without a unit is refused, because `10`
/// means seconds to one tool and milliseconds to the next.
pub fn duration_ns(text: &str) -> Result<u64, Problem> {
    const EXPECTED: &str = "expected a number with a unit, such as `250ms`, `10s`, `1m30s` or `2h`";
    let text = text.trim();
    if text.is_empty() {
        return Err(Problem::new("an empty duration", EXPECTED));
    }
    let mut rest = text;
    let mut total = 0f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 =
            rest[..digits].parse().map_err(|_| Problem::new(format!("`{text}` is no duration"), EXPECTED))?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let scale = match &rest[..letters] {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" | "sec" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            "" => return Err(Problem::new(format!("`{text}` has no unit"), EXPECTED)),
            unit => return Err(Problem::new(format!("`{unit}` is no unit of time in `{text}`"), EXPECTED)),
        };
        total += number * scale;
        rest = &rest[letters..];
    }
    // A year bounds every duration: nothing longer is meant, and u64 nanoseconds cannot overflow.
    if !total.is_finite() || total > 366.0 * 86_400e9 {
        return Err(Problem::plain(format!("`{text}` is longer than a year")));
    }
    Ok(total.round() as u64)
}

/// Parses `100/s`, `6000/m`, `2.5/s`, `1k/s`, or a bare number (per second). Result per second, finite and > 0.
///
/// # Errors
/// A sentence for anything else, zero and negative numbers included.
pub fn rate_per_s(text: &str) -> Result<f64, Problem> {
    const EXPECTED: &str = "expected a rate such as `100/s`, `2.5/s` or `6000/m`";
    let text = text.trim();
    let (number, scale) = match text.split_once('/') {
        None => (text, 1.0),
        Some((n, "s" | "sec")) => (n, 1.0),
        Some((n, "m" | "min")) => (n, 60.0),
        Some((n, "h")) => (n, 3600.0),
        Some((_, unit)) => {
            return Err(Problem::new(format!("`{unit}` is no unit of time in `{text}`"), EXPECTED));
        }
    };
    match self::number(number.trim()) {
        Some(n) if n.is_finite() && n > 0.0 => Ok(n / scale),
        Some(_) => Err(Problem::new(format!("a rate of `{text}` sends nothing"), EXPECTED)),
        None => Err(Problem::new(format!("`{text}` is no rate"), EXPECTED)),
    }
}

/// Parses `1000`, `1k`, `1.5M` or `1e3`: `k` is a thousand, `M` a million.
///
/// # Errors
/// Returns a sentence for anything that is not a whole number of 0 or more.
pub fn count(text: &str) -> Result<u64, Problem> {
    let text = text.trim();
    if let Ok(whole) = text.parse() {
        return Ok(whole);
    }
    match number(text) {
        // Above 2^53 a float no longer tells neighbors apart.
        Some(n) if n >= 0.0 && n.fract() == 0.0 && n <= 9e15 => Ok(n as u64),
        _ => Err(Problem::new(
            format!("invalid whole number `{text}`"),
            "expected one such as `1000`, `1k` or `1e3`",
        )),
    }
}

/// A number with an optional `k` or `M`.
fn number(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    // `inf` and `nan` are numbers to the parser of floats.
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let n: f64 = digits.parse().ok().filter(|_| plain)?;
    // 1.1 times 1000 is a rounding off the whole number that was meant.
    let scaled = n * scale;
    let whole = scaled.round();
    Some(if (scaled - whole).abs() < 1e-9 * scaled.abs() { whole } else { scaled })
}

/// Parses `683481`, `64k`, `1.5MiB`, `2mb`. Result in bytes; `k`, `m`, `g` are powers of 1,024.
///
/// # Errors
/// A sentence for anything that is no size.
pub fn size_bytes(text: &str) -> Result<u64, Problem> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let scale = match lower[digits..].trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        _ => {
            return Err(Problem::new(
                format!("`{text}` is no size"),
                "expected bytes such as `683481`, `64k` or `2m`",
            ));
        }
    };
    let number: f64 = lower[..digits].parse().map_err(|_| {
        Problem::new(format!("`{text}` is no size"), "expected bytes such as `683481`, `64k` or `2m`")
    })?;
    Ok((number * scale).round() as u64)
}

/// Parses `0.1%`, `99%` or a plain ratio such as `0.001`. Result as a ratio.
///
/// # Errors
/// A sentence for anything that is no ratio.
pub fn ratio(text: &str) -> Result<f64, Problem> {
    let text = text.trim();
    let (number, scale) = match text.strip_suffix('%') {
        Some(n) => (n.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 => Ok(n / scale),
        _ => Err(Problem::new(
            format!("`{text}` is no ratio"),
            "expected a per cent such as `0.1%` or a number such as `0.001`",
        )),
    }
}

/// Parses `1/2`: (which part, of how many), counted from 1.
///
/// # Errors
/// A sentence when the form is wrong, a number is zero, or the part exceeds the whole.
pub fn share(text: &str) -> Result<(u32, u32), Problem> {
    let parsed =
        text.split_once('/').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    match parsed {
        Some((part, of)) if part >= 1 && part <= of => Ok((part, of)),
        Some((part, of)) => Err(Problem::new(
            format!("`{part}/{of}` is no share"),
            "the first of two machines is `1/2`, the other `2/2`",
        )),
        None => Err(Problem::new(
            format!("`{text}` is no share"),
            "the first of two machines is `1/2`, the other `2/2`",
        )),
    }
}
