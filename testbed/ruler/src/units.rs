//! Reading quantities: `500us`, `64k`, `0.1`, `on`, and percent-encoded text.

/// Reads a duration such as `250ns`, `500us`, `1.5ms`, `2s`, `1m`, or `0`, in nanoseconds.
///
/// # Errors
/// Returns a sentence that says what is expected.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "" if number.trim_start_matches('0').is_empty() && !number.is_empty() => 1.0,
        _ => return Err(format!("invalid duration `{text}`: expected for example 500us, 5ms, or 1s")),
    };
    match number.parse::<f64>() {
        // A century in nanoseconds still leaves room to add it to any reading of the clock.
        Ok(value) if value >= 0.0 && value * scale < 3e18 => Ok((value * scale).round() as u64),
        _ => Err(format!("invalid duration `{text}`: expected for example 500us, 5ms, or 1s")),
    }
}

/// Reads a count of bytes such as `683481`, `64k` (65,536) or `1m` (1,048,576).
///
/// # Errors
/// Returns a sentence that says what is expected.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    let (number, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let value = number.parse::<u64>().ok().and_then(|value| value.checked_mul(scale));
    match value {
        Some(bytes) if bytes <= 1 << 40 => Ok(bytes),
        _ => Err(format!("invalid size `{text}`: expected for example 683481, 64k, or 1m (at most 1024g)")),
    }
}

/// Reads a probability from 0 to 1.
///
/// # Errors
/// Returns a sentence that says what is expected.
pub fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(format!("invalid probability `{text}`: expected a number from 0 to 1")),
    }
}

/// Reads a whole number within `least..=most`.
///
/// # Errors
/// Returns a sentence that says what is expected.
pub fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("invalid number `{text}`: expected a whole number from {least} to {most}")),
    }
}

/// Reads a switch: `1`, `on`, `true`, `yes`, or the opposite.
///
/// # Errors
/// Returns a sentence that says what is expected.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "on" | "true" | "yes" => Ok(true),
        "0" | "off" | "false" | "no" => Ok(false),
        _ => Err(format!("invalid value `{text}`: expected 1 or 0")),
    }
}

/// Decodes percent-encoding, and `+` for a space, as in the query of a URL.
///
/// # Errors
/// Returns a sentence if a `%` is not followed by two hexadecimal digits, or if the result is not UTF-8.
pub fn percent_decoded(text: &[u8]) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digit = |at: usize| after.get(at).and_then(|&byte| (byte as char).to_digit(16));
                let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                    return Err("invalid query: `%` must be followed by two hexadecimal digits".into());
                };
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| "invalid query: it must decode to UTF-8".into())
}
