//! Numbers in events: sequence numbers, and instants as text.

use plimsoll_plan::stream::TimeUnit;

/// A whole number that is not negative, spaces around it allowed.
pub(super) fn sequence_number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if digits { str::from_utf8(text).ok()?.parse().ok() } else { None }
}

/// Nanoseconds since 1970 of an instant in `unit`, with or without a fraction. Read digit by digit: a `f64` of today's
/// Unix time is only good to some 200 ns.
pub(super) fn unix_ns(text: &[u8], unit: TimeUnit) -> Option<u64> {
    let unit_ns = match unit {
        TimeUnit::Seconds => 1_000_000_000,
        TimeUnit::Milliseconds => 1_000_000,
        TimeUnit::Microseconds => 1000,
        TimeUnit::Nanoseconds => 1u64,
    };
    let text = text.trim_ascii();
    if text.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        // Only encoders of floating-point numbers write `1.7e9`.
        let ns = str::from_utf8(text).ok()?.parse::<f64>().ok()? * unit_ns as f64;
        return (0.0..u64::MAX as f64).contains(&ns).then_some(ns as u64);
    }
    let point = text.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = point.map_or((text, &b""[..]), |at| (&text[..at], &text[at + 1..]));
    let mut ns = sequence_number(whole)?.checked_mul(unit_ns)?;
    let mut place_ns = unit_ns;
    for digit in fraction {
        place_ns /= 10;
        ns = ns.checked_add(u64::from(char::from(*digit).to_digit(10)?) * place_ns)?;
    }
    Some(ns)
}
