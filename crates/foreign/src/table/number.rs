//! Finds the numbers in a piece of text, with their units and with the range that their rounding leaves open. Numbers
//! that are parts of names (`p95`, `c5.large`, `1.10.3`, `2020-01-17`) are no figures and are passed over.

use super::unit::{self, Kind, Unit};
use crate::model::Figure;

/// A number in a text, in canonical units.
#[derive(Debug, Clone)]
pub struct Number {
    pub figure: Figure,
    pub kind: Kind,
    /// Digits behind the point; with `figure.written` enough to say how exact it is.
    pub decimals: i32,
    /// Byte range of digits and unit.
    pub start: usize,
    pub end: usize,
}

/// How commas between digits are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Commas {
    /// By the look of each number: three digits behind it are a group.
    #[default]
    Each,
    /// They separate groups of three.
    Groups,
    /// They are decimal, and points separate groups.
    Decimal,
    /// Nothing around says which: both readings are inside of the range.
    Open,
}

/// All numbers from left to right.
pub fn numbers(text: &str, line: u32) -> Vec<Number> {
    numbers_with(text, line, Commas::Each)
}

/// The same with what is known about commas.
pub fn numbers_with(text: &str, line: u32, commas: Commas) -> Vec<Number> {
    let mut found: Vec<Number> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|i| i + at) {
        let (digits_end, value) = digits(text, start, commas);
        at = digits_end.max(start + 1);
        // `.07771` of JMeter's tables, `,16005` of a locale.
        let point = leading_point(text, start);
        let value = if point < start { fraction(text, start, digits_end) } else { value };
        let start = point;
        // `29m57s`: the seconds continue the minutes.
        let continues = found.last().is_some_and(|n| n.end == start && n.kind == Kind::Time);
        let Some((value, decimals)) = value.filter(|_| continues || free_standing(text, start)) else {
            at = skip_name(text, at);
            continue;
        };
        let negative =
            text[..start].ends_with('-') && text[..start - 1].chars().next_back().is_none_or(|c| c == ' ');
        let value = if negative { -value } else { value };
        match with_unit(text, start, digits_end, value, decimals, line) {
            Some(mut number) => {
                at = number.end.max(at);
                if commas == Commas::Open && is_ambiguous(&text[start..digits_end]) {
                    // 1,234 may be 1.234.
                    number.figure.low /= 1e3;
                }
                push_or_join(text, &mut found, number);
            }
            None => at = skip_name(text, at),
        }
    }
    found
}

/// A digit begins a figure unless it continues a word, a version, a date or a path.
fn free_standing(text: &str, start: usize) -> bool {
    let mut before = text[..start].chars().rev();
    match before.next() {
        None => true,
        Some(c) if c.is_alphanumeric() || c == '_' => false,
        // `v1/15` and `//15` are paths, `100/30` is a division.
        Some('/') => before.next().is_none_or(|c| c.is_ascii_digit() || c == ' '),
        Some('.' | ',' | ':') => before.next().is_none_or(|c| !c.is_alphanumeric()),
        Some('-' | '\u{2013}') => before.next().is_none_or(|c| !c.is_alphanumeric()),
        Some('#' | '$') => false,
        Some(_) => true,
    }
}

/// Where a number begins whose digits before the point were left out: at its point, otherwise at its first digit. A
/// comma serves as a point only at the very beginning, since in a sentence it separates.
fn leading_point(text: &str, start: usize) -> usize {
    let mut before = text[..start].char_indices().rev();
    let Some((at, c)) = before.next() else { return start };
    let apart = match before.next() {
        None => matches!(c, '.' | ','),
        Some((_, c_before)) => c == '.' && (c_before.is_whitespace() || "([|<>=~+-".contains(c_before)),
    };
    if apart { at } else { start }
}

/// The digits after such a point.
fn fraction(text: &str, start: usize, end: usize) -> Option<(f64, i32)> {
    let digits = &text[start..end];
    let value = format!("0.{digits}").parse().ok().filter(|_| digits.len() <= 20)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then_some((value, digits.len() as i32))
}

/// `100→1000`, `5..10`, `100 -> 1000`: two ends, of which none is the figure.
fn is_range(rest: &str) -> bool {
    const MARKS: [&str; 9] = ["→", "⇒", "->", "=>", "..", "…", "~", "–", "—"];
    let tight = rest.trim_start_matches(' ');
    let spaced = tight.len() < rest.len();
    MARKS.iter().any(|mark| {
        let apart = spaced && ["–", "—", "~"].contains(mark);
        tight
            .strip_prefix(mark)
            .is_some_and(|after| !apart && after.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// The same from the second number's side.
fn ends_a_range(before: &str) -> bool {
    let before = before.trim_end_matches(' ');
    ["→", "⇒", "->", "=>", "..", "…", "~"].iter().any(|mark| {
        before.strip_suffix(mark).is_some_and(|first| {
            first.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '%')
                && first.contains(|c: char| c.is_ascii_digit())
        })
    })
}

fn skip_name(text: &str, at: usize) -> usize {
    text[at..].find(|c: char| !(c.is_alphanumeric() || "._-:".contains(c))).map_or(text.len(), |i| i + at)
}

/// End of the digits, and their value with the number of decimals unless they are a version or a clock time.
fn digits(text: &str, start: usize, commas_are: Commas) -> (usize, Option<(f64, i32)>) {
    let bytes = text.as_bytes();
    let mut end = start;
    while end < bytes.len()
        && (bytes[end].is_ascii_digit()
            || (matches!(bytes[end], b'.' | b',') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)))
    {
        end += 1;
    }
    let run = &text[start..end];
    // Longer than any figure that a double holds to the unit: an identifier.
    if run.len() > 24 {
        return (end, None);
    }
    let groups_of_three = |separator| {
        let parts: Vec<&str> = run.split(separator).collect();
        let (first, last) = (parts.first().map_or(0, |p| p.len()), parts.last().map_or(0, |p| p.len()));
        let middle = |size: usize| parts[1..parts.len() - 1].iter().all(|p| p.len() == size);
        // Groups of three; in India the last three digits and pairs above them: `12,34,567`.
        let indian = separator == ',' && parts.len() > 2 && first <= 2 && middle(2);
        (1..=3).contains(&first) && parts[0] != "0" && last == 3 && (middle(3) || indian)
    };
    let (points, commas) = (run.matches('.').count(), run.matches(',').count());
    let decimal = commas_are == Commas::Decimal;
    let plain = match (points, commas) {
        (_, 0..=1)
            if decimal && points + commas > 0 && (points == 0 || groups_of_three_before_comma(run)) =>
        {
            run.replace('.', "").replace(',', ".")
        }
        (0, 0) | (1, 0) => run.to_owned(),
        (0, _) if groups_of_three(',') => run.replace(',', ""),
        (0, 1) => run.replace(',', "."),
        (_, 0) if groups_of_three('.') => run.replace('.', ""),
        (1, _) if run.rfind('.') > run.rfind(',') => run.replace(',', ""),
        (_, 1) if run.rfind(',') > run.rfind('.') => run.replace('.', "").replace(',', "."),
        _ => return (end, None),
    };
    let decimals = plain.split_once('.').map_or(0, |(_, d)| d.len() as i32);
    (end, plain.parse::<f64>().ok().filter(|v| v.is_finite()).map(|v| (v, decimals)))
}

/// `1,234`: not `1,23`, `0,125`, `1,234,567` or `1,234.5`.
pub fn is_ambiguous(run: &str) -> bool {
    let Some((whole, behind)) = run.split_once(',') else { return false };
    whole.len() <= 3
        && !whole.starts_with('0')
        && behind.len() == 3
        && behind.bytes().all(|b| b.is_ascii_digit())
}

/// `1.250,4` and `1.250`.
fn groups_of_three_before_comma(run: &str) -> bool {
    let whole = run.split(',').next().unwrap_or(run);
    let mut parts = whole.split('.');
    parts.next().is_some_and(|p| (1..=3).contains(&p.len())) && parts.all(|p| p.len() == 3)
}

fn with_unit(text: &str, start: usize, end: usize, value: f64, decimals: i32, line: u32) -> Option<Number> {
    let rest = &text[end..];
    if let Some((seconds, length)) = clock(value, decimals, rest) {
        let end = end + length;
        let decimals = text[start..end].split_once('.').map_or(0, |(_, part)| part.len() as i32);
        let mut figure = Figure::rounded(seconds, decimals, 1.0, &text[start..end], line);
        figure.unit = "h:m:s".into();
        return Some(Number { figure, kind: Kind::Time, decimals, start, end });
    }
    let attached = rest.chars().next().is_some_and(|c| !c.is_whitespace());
    // `76-bytes`, `5-minute`.
    let hyphen = rest.starts_with('-') && rest[1..].starts_with(char::is_alphabetic);
    let skip = if hyphen { 1 } else { rest.len() - rest.trim_start_matches([' ', '\u{a0}']).len() };
    let after = &rest[skip..];
    let word_end = after.find(|c: char| !(c.is_alphabetic() || "%/×".contains(c))).unwrap_or(after.len());
    let word = after[..word_end].trim_end_matches('/');
    let next_digit = after[word.len()..].starts_with(|c: char| c.is_ascii_digit());
    let unit = unit::parse(word, attached && !hyphen || hyphen && word.len() > 1);
    if let Some(u) = unit.filter(|_| !word.is_empty() && (!next_digit || u_time(unit))) {
        let stop = end + skip + word.len();
        return Some(build(text, start, stop, value, decimals, line, u, word));
    }
    // Letters directly behind the digits that are no unit make it a name: `5xx`, `8b`, `64bit`.
    if attached && !hyphen && rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    // `1-5`, `2020-01`, `20:52`: ranges, dates, times of day.
    if is_range(rest) || ends_a_range(&text[..start]) {
        return None;
    }
    if rest.starts_with(['-', ':']) && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(size) = unit::is_rate_phrase(&rest[skip..]) {
        let u = Unit { kind: Kind::PerS, size, size_binary: size };
        return Some(build(text, start, end, value, decimals, line, u, "requests per second"));
    }
    let u = Unit { kind: Kind::Plain, size: 1.0, size_binary: 1.0 };
    Some(build(text, start, end, value, decimals, line, u, ""))
}

fn u_time(unit: Option<Unit>) -> bool {
    unit.is_some_and(|u| u.kind == Kind::Time)
}

#[allow(clippy::too_many_arguments)]
fn build(
    text: &str,
    start: usize,
    end: usize,
    value: f64,
    decimals: i32,
    line: u32,
    u: Unit,
    word: &str,
) -> Number {
    let written = text[start..end].trim();
    let whole = u.kind == Kind::Plain && decimals == 0 && u.size == 1.0;
    let mut figure = if whole {
        Figure::exact(value, written, line)
    } else {
        Figure::rounded(value, decimals, u.size, written, line)
    };
    // Whole numbers of a unit are as often cut as rounded: `98 ms` may be 98.9.
    if !whole && decimals == 0 && u.size < 1e3 && matches!(u.kind, Kind::Time | Kind::PerS | Kind::Percent) {
        figure.high += 0.5 * u.size;
    }
    figure.high *= u.size_binary / u.size;
    figure.unit = word.to_owned();
    Number { figure, kind: u.kind, decimals, start, end }
}

/// `00:20:13` and `00:00:00.775` are lengths; `20:52` is a time of day and no figure. The second of the pair is the
/// length of the text behind the hours.
fn clock(value: f64, decimals: i32, rest: &str) -> Option<(f64, usize)> {
    let two = |s: &str| {
        s.get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_digit())).and_then(|d| d.parse::<f64>().ok())
    };
    let minutes = two(rest.strip_prefix(':')?)?;
    let seconds = two(rest.get(3..)?.strip_prefix(':')?)?;
    let digits = rest
        .get(6..)
        .and_then(|tail| tail.strip_prefix('.'))
        .map_or("", |tail| tail.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
    let part = format!("0.{digits}0").parse::<f64>().unwrap_or(0.0);
    let length = 6 + if digits.is_empty() { 0 } else { digits.len() + 1 };
    (decimals == 0 && minutes < 60.0 && seconds < 60.0)
        .then_some((value * 3600.0 + minutes * 60.0 + seconds + part, length))
}

/// `9 hours & 20 mins` is one length.
fn push_or_join(text: &str, found: &mut Vec<Number>, number: Number) {
    if let Some(last) = found.last_mut() {
        let between = text[last.end..number.start].trim();
        let smaller = last.figure.unit != number.figure.unit;
        let long =
            last.figure.value >= 60.0 && number.figure.value < last.figure.value || last.figure.value == 0.0;
        let joined = matches!(
            between,
            "" | "&" | "and" | "&amp;" | "," | "und" | "et" | "y" | "e" | "en" | "i" | "и" | "dan"
        ) && last.decimals == 0;
        if joined && smaller && long && last.kind == Kind::Time && number.kind == Kind::Time {
            let half = (number.figure.high - number.figure.value, number.figure.value - number.figure.low);
            last.figure.value += number.figure.value;
            last.figure.high = last.figure.value + half.0;
            last.figure.low = last.figure.value - half.1;
            last.figure.written = text[last.start..number.end].trim().to_owned();
            last.figure.unit = number.figure.unit;
            last.end = number.end;
            return;
        }
    }
    found.push(number);
}
