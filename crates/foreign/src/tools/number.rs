//! Numbers as tools write them: units glued on or not, points or commas, rounded or cut off. The range that is left
//! open by the last digit goes with the value, because a finding must survive it.

use crate::model::Figure;

/// A number without its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    pub value: f64,
    /// Digits after the point; negative where an exponent says so.
    pub digits: i32,
    /// Its point is a comma.
    pub comma: bool,
}

/// Whether a comma in front of three digits separates thousands (counts) or is a point (measurements).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comma {
    Groups,
    Point,
}

/// The number at the beginning of `text`, and what follows.
pub fn leading(text: &str, comma: Comma) -> Option<(Number, &str)> {
    let body = text.trim_start();
    let signed = usize::from(body.starts_with(['-', '+']));
    let span = body.get(signed..)?.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let mut end = span.map_or(body.len(), |span| signed + span);
    // A full stop or comma of the sentence is not part of its number.
    while end > signed && body.get(..end)?.ends_with(['.', ',']) {
        end -= 1;
    }
    let mut written = body.get(..end)?.to_owned();
    if !written.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_comma = decimal_comma(&written, comma);
    written = match is_comma {
        true => written.replace('.', "").replace(',', "."),
        false => written.replace(',', ""),
    };
    let mut digits = written.split_once('.').map_or(0, |(_, after)| i32::try_from(after.len()).unwrap_or(99));
    let mut rest = body.get(end..)?;
    // Go and JSON write small and large numbers as `1e-05`.
    if let Some((exponent, after)) = exponent(rest) {
        written.push_str(&format!("e{exponent}"));
        digits -= exponent;
        rest = after;
    }
    let value: f64 = written.parse().ok().filter(|value: &f64| value.is_finite())?;
    Some((Number { value, digits, comma: is_comma }, rest))
}

fn decimal_comma(written: &str, comma: Comma) -> bool {
    let Some((before, after)) = written.rsplit_once(',') else { return false };
    match (written.find('.'), written.find(',')) {
        (Some(point), Some(comma)) => point < comma && !after.contains('.'),
        _ => {
            let whole = before.trim_start_matches(['-', '+']);
            let grouped = after.len() == 3 && whole != "0" && !whole.is_empty();
            !before.contains(',') && (comma == Comma::Point || !grouped)
        }
    }
}

fn exponent(rest: &str) -> Option<(i32, &str)> {
    let body = rest.strip_prefix(['e', 'E'])?;
    let signed = usize::from(body.starts_with(['-', '+']));
    let end =
        body.get(signed..)?.find(|c: char| !c.is_ascii_digit()).map_or(body.len(), |span| signed + span);
    let value =
        body.get(..end)?.trim_start_matches('+').parse::<i32>().ok().filter(|value| value.abs() < 400)?;
    Some((value, body.get(end..)?))
}

impl Number {
    /// In the canonical unit, of which one of the written is `unit`.
    pub fn figure(self, unit: f64, name: &str, written: &str, line: u32) -> Figure {
        let mut figure = Figure::rounded(self.value, self.digits, unit, written.trim(), line);
        figure.unit = name.to_owned();
        figure
    }
}

/// A figure whose text is one number and its unit, which `size` knows. An unknown unit gives nothing.
pub fn with_unit(text: &str, line: u32, size: impl Fn(&str) -> Option<f64>) -> Option<Figure> {
    let (number, rest) = leading(text, Comma::Point)?;
    let name = rest.trim();
    Some(number.figure(size(name)?, name, text, line))
}

/// A count: exact, thousands perhaps in groups.
pub fn count(text: &str, line: u32) -> Option<Figure> {
    let (number, rest) = leading(text, Comma::Groups)?;
    rest.trim().is_empty().then(|| Figure::exact(number.value, text.trim(), line))
}

/// A number without a unit, of which one is `unit` in the canonical unit, called `name`.
pub fn plain(text: &str, unit: f64, name: &str, line: u32) -> Option<Figure> {
    let (number, rest) = leading(text, Comma::Point)?;
    rest.trim().is_empty().then(|| number.figure(unit, name, text, line))
}

/// `12.50%` as 0.125.
pub fn percent(text: &str, line: u32) -> Option<Figure> {
    with_unit(text, line, |unit| (unit == "%").then_some(0.01))
}

/// Seconds in one unit of time.
pub fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        // Micro sign and Greek mu look the same and are not.
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "secs" | "seconds" | "second" => 1.0,
        "m" | "min" => 60.0,
        "h" | "hr" | "hour" => 3_600.0,
        _ => return None,
    })
}

/// Bytes in one unit where `KB` means 1,024 (wrk, ab, hey, JMeter).
pub fn binary_size(unit: &str) -> Option<f64> {
    size(unit, 1_024.0)
}

/// Bytes in one unit where `kB` means 1,000 (k6).
pub fn decimal_size(unit: &str) -> Option<f64> {
    size(unit, 1_000.0)
}

fn size(unit: &str, base: f64) -> Option<f64> {
    let unit = unit.trim_end_matches("ytes").trim_end_matches("yte");
    // IEC prefixes say what they are.
    let (letters, base) = match unit.strip_suffix("iB") {
        Some(prefix) => (prefix, 1_024.0),
        None => (unit.strip_suffix(['B', 'b']).unwrap_or(unit), base),
    };
    let power = match letters {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(base.powi(power))
}

/// Units of a bare number: none, thousands, millions.
pub fn metric(unit: &str) -> Option<f64> {
    Some(match unit {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    })
}

/// A duration in Go's notation, `1h2m3.45s`: seconds, the unit of its last part, digits of that part.
pub fn go_duration(text: &str) -> Option<(f64, f64, i32)> {
    let (mut rest, mut sum, mut last) = (text.trim(), 0.0, None);
    while !rest.is_empty() {
        let (number, after) = leading(rest, Comma::Point)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit = time_unit(after.get(..end)?.trim())?;
        sum += number.value * unit;
        last = Some((unit, number.digits));
        rest = after.get(end..)?;
    }
    let (unit, digits) = last?;
    sum.is_finite().then_some((sum, unit, digits))
}

/// The same as a figure: the last digit is rounded.
pub fn go_time(text: &str, line: u32) -> Option<Figure> {
    let (value, unit, digits) = go_duration(text)?;
    let half = 0.5 * 10f64.powi(-digits) * unit;
    Some(Figure {
        value,
        low: value - half,
        high: value + half,
        written: text.trim().to_owned(),
        unit: String::new(),
        line,
    })
}

/// `hh:mm:ss` to the second.
pub fn clock(text: &str, line: u32) -> Option<Figure> {
    let mut value = 0.0;
    for part in text.split(':') {
        value = value * 60.0 + f64::from(part.trim().parse::<u32>().ok()?);
    }
    text.contains(':').then(|| Figure::rounded(value, 0, 1.0, text.trim(), line))
}
