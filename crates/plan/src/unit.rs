//! Parses durations, rates, sizes, and shares as users type them, with an error message for each mistake.

use crate::Problem;

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Parses `250ms`, `1.5s`, `2m`, `1h`, `500us`, `100ns`, or sums such as `1m30s`. Returns nanoseconds.
///
/// # Errors
/// Returns an error if the text is invalid. A number without a unit is rejected, because `10` means seconds to some
/// tools and milliseconds to others.
pub fn duration_ns(text: &str) -> Result<u64, Problem> {
    const EXPECTED: &str = "write a duration such as `250ms`, `10s`, `1m30s`, or `2h`";
    let text = text.trim();
    if text.is_empty() {
        return Err(Problem::new("empty duration", EXPECTED));
    }
    // Spaces are rejected only at the end, so that other mistakes are found first.
    let packed: String = text.split_whitespace().collect();
    let mut rest = packed.as_str();
    let mut total = 0f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits]
            .parse()
            .map_err(|_| Problem::new(format!("invalid duration `{text}`"), EXPECTED))?;
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
            "" => {
                let hint = format!("write `{packed}s` for seconds, or `{packed}ms` for milliseconds");
                return Err(Problem::new(format!("missing unit in duration `{text}`"), hint));
            }
            unit => {
                return Err(Problem::new(format!("unknown unit `{unit}` in duration `{text}`"), EXPECTED));
            }
        };
        total += number * scale;
        rest = &rest[letters..];
    }
    if packed != text {
        let spaces = if text.split_whitespace().count() == 2 { "space" } else { "spaces" };
        let message = format!("invalid duration `{text}`: remove the {spaces}");
        return Err(Problem::new(message, format!("write `{packed}`")));
    }
    // The maximum of a year keeps u64 nanoseconds from overflowing.
    if !total.is_finite() || total > 366.0 * 86_400e9 {
        return Err(Problem::new(format!("duration `{text}` is longer than a year"), EXPECTED));
    }
    Ok(total.round() as u64)
}

/// Parses `100/s`, `6000/m`, `2.5/s`, `1k/s`, or a number without a unit (per second). Returns a finite rate per second
/// above 0.
///
/// # Errors
/// Returns an error for anything else, including 0 and negative numbers.
pub fn rate_per_s(text: &str) -> Result<f64, Problem> {
    const EXPECTED: &str = "write a rate such as `100/s`, `2.5/s`, or `6000/m`";
    let text = text.trim();
    let (number, scale) = match text.split_once('/') {
        None => (text, 1.0),
        Some((n, "s" | "sec")) => (n, 1.0),
        Some((n, "m" | "min")) => (n, 60.0),
        Some((n, "h")) => (n, 3600.0),
        Some((_, unit)) => {
            return Err(Problem::new(format!("unknown unit `{unit}` in rate `{text}`"), EXPECTED));
        }
    };
    match self::number(number.trim()) {
        Some(n) if n.is_finite() && n > 0.0 => Ok(n / scale),
        Some(_) => Err(Problem::new(format!("rate `{text}` must be above 0"), EXPECTED)),
        None => Err(Problem::new(format!("invalid rate `{text}`"), EXPECTED)),
    }
}

/// Parses `1000`, `1k`, `1.5M` or `1e3`: `k` is a thousand, `M` a million.
///
/// # Errors
/// Returns an error for anything that is not a whole number of 0 or more.
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
            "write a number such as `1000`, `1k`, or `1e3`",
        )),
    }
}

/// Parses a number with an optional `k` or `M`.
fn number(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    // The parser of floats accepts `inf` and `nan`.
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let n: f64 = digits.parse().ok().filter(|_| plain)?;
    // The product 1.1 × 1000 has a rounding error.
    let scaled = n * scale;
    let whole = scaled.round();
    Some(if (scaled - whole).abs() < 1e-9 * scaled.abs() { whole } else { scaled })
}

/// Parses `683481`, `64k`, `1.5MiB`, or `2mb`. Returns bytes; `k`, `m`, and `g` are powers of 1,024.
///
/// # Errors
/// Returns an error if the text is not a size.
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
                format!("invalid size `{text}`"),
                "write a number of bytes such as `683481`, `64k`, or `2m`",
            ));
        }
    };
    let number: f64 = lower[..digits].parse().map_err(|_| {
        let hint = "write a number of bytes such as `683481`, `64k`, or `2m`";
        Problem::new(format!("invalid size `{text}`"), hint)
    })?;
    Ok((number * scale).round() as u64)
}

/// Parses `0.1%`, `99%`, or a ratio such as `0.001`. Returns a ratio.
///
/// # Errors
/// Returns an error if the text is neither a percentage nor a ratio.
pub fn ratio(text: &str) -> Result<f64, Problem> {
    let text = text.trim();
    let (number, scale) = match text.strip_suffix('%') {
        Some(n) => (n.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 => Ok(n / scale),
        _ => Err(Problem::new(
            format!("invalid share `{text}`"),
            "write a percentage such as `0.1%`, or a ratio such as `0.001`",
        )),
    }
}

/// Parses a shard such as `1/2`. Returns its number, starting at 1, and the number of shards.
///
/// # Errors
/// Returns an error if the form is invalid, a number is 0, or the shard exceeds the number of shards.
pub fn share(text: &str) -> Result<(u32, u32), Problem> {
    let parsed =
        text.split_once('/').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    match parsed {
        Some((part, of)) if part >= 1 && part <= of => Ok((part, of)),
        Some((part, of)) => Err(Problem::new(
            format!("invalid shard `{part}/{of}`"),
            "write `1/2` on the first of two machines, and `2/2` on the other",
        )),
        None => Err(Problem::new(
            format!("invalid shard `{text}`"),
            "write `1/2` on the first of two machines, and `2/2` on the other",
        )),
    }
}
