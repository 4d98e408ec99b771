//! One cell of a table: a number with or without unit, a spread, a pair of rate and time, or nothing.

use super::number::{Commas, Number, is_ambiguous, numbers, numbers_with};
use super::unit::Kind;
use crate::model::Figure;

/// What is known about a column's bare numbers.
#[derive(Debug, Clone, Copy)]
pub struct Clue {
    pub kind: Kind,
    pub unit: Option<(f64, f64)>,
    /// Nobody states the unit: it was inferred from the size of the figures.
    pub guessed: bool,
}

/// The first number of a cell.
pub fn number(text: &str, line: u32) -> Option<Number> {
    numbers(text, line).into_iter().next()
}

/// The same where the whole table says how commas are meant.
pub fn number_with(text: &str, line: u32, commas: Commas) -> Option<Number> {
    numbers_with(text, line, commas).into_iter().next()
}

/// How commas are meant in all these cells; the second of a pair: the column counts whole things.
pub fn commas<'a>(cells: impl Iterator<Item = (&'a str, bool)>) -> Commas {
    let (mut open, mut groups, mut decimal) = (false, false, false);
    for (text, counts) in cells {
        for run in text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')) {
            // `,16005` lacks the digits before its point.
            decimal |= run.starts_with(',') && run.len() > 1 && text.trim_start().starts_with(run);
            let run = run.trim_matches(['.', ',']);
            let Some(comma) = run.rfind(',') else {
                // `12.5`; `1.250` may be either.
                groups |= run.split_once('.').is_some_and(|(_, d)| d.len() != 3 && !d.contains('.'));
                continue;
            };
            let several = run.matches(',').count() > 1;
            let point = run.rfind('.');
            if several || point.is_some_and(|p| p > comma) {
                groups = true;
            } else if point.is_some() || !is_ambiguous(run) {
                decimal = true;
            } else {
                // Of requests and users there are no thousandths.
                groups |= counts;
                open = true;
            }
        }
    }
    match (open, groups, decimal) {
        (_, false, true) => Commas::Decimal,
        (true, false, false) => Commas::Open,
        (_, true, false) => Commas::Groups,
        // Both at once: each number by its own look.
        _ => Commas::Each,
    }
}

/// The number behind the first: `12 (0.5%)`.
pub fn second(text: &str, line: u32, commas: Commas) -> Option<Number> {
    numbers_with(text, line, commas).into_iter().nth(1)
}

/// The deviation of `35±7` or `35 +/- 7`.
pub fn spread(text: &str, line: u32, commas: Commas) -> Option<Number> {
    let (_, behind) = text.split_once('±').or_else(|| text.split_once("+/-"))?;
    number_with(behind, line, commas)
}

/// Nothing but a number and perhaps its unit.
pub fn is_bare(text: &str) -> bool {
    numbers(text, 0).first().is_some_and(|n| n.start <= 1 && n.end >= text.trim_end().len())
}

/// `1.2/3.4/5.6 ms` as so many cells, each with the unit of the last. None: it does not have so many numbers.
pub fn parts(text: &str, count: usize) -> Option<Vec<String>> {
    let cells: Vec<&str> = text.split('/').map(str::trim).collect();
    let last = *cells.last()?;
    let unit = last.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',').trim();
    let plain = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let all = cells.len() == count && count > 1 && cells.iter().all(|text| is_bare(text));
    let with_unit = |text: &&str| {
        if plain(text) { format!("{text} {unit}").trim().to_owned() } else { (*text).to_owned() }
    };
    all.then(|| cells.iter().map(with_unit).collect())
}

/// `< 200 ms`, `≥ 99%`: what a figure should be.
pub fn is_bound(text: &str) -> bool {
    let text = text.trim_matches(['*', '`', ' ']);
    text.starts_with(['<', '>', '≤', '≥', '＜', '＞']) && text.contains(|c: char| c.is_ascii_digit())
}

/// A cell that says that there is no value.
pub fn is_nothing(text: &str) -> bool {
    matches!(
        text.trim().to_lowercase().as_str(),
        "" | "-" | "--" | "n/a" | "na" | "none" | "nan" | "\u{2013}" | "\u{2014}"
    )
}

/// The figure in canonical units. None: its unit is of another kind, or it is a time and nobody says in what.
pub fn in_unit(number: &Number, clue: &Clue) -> Option<Figure> {
    if number.kind == clue.kind {
        return Some(number.figure.clone());
    }
    // A rate of bytes in a column of bytes, a time in a column of counts: something else is meant.
    if number.kind != Kind::Plain {
        return None;
    }
    let (size, size_binary) = clue.unit?;
    if clue.kind == Kind::Plain || size == 1.0 && size_binary == 1.0 && clue.kind == Kind::Bytes {
        return Some(number.figure.clone());
    }
    let mut figure = number.figure.clone();
    // Counted as exact before the column was known: it is a measured quantity, rounded or cut.
    let half = 0.5 * 10f64.powi(-number.decimals);
    let above = if number.decimals == 0 { 1.0 } else { half };
    if figure.low == figure.high {
        figure.low -= half;
        figure.high += above;
    }
    figure.value *= size;
    figure.low *= size;
    figure.high *= size_binary;
    Some(figure)
}

/// `920.6 @ 413 ms`: per second, and a time (in ms unless said).
pub fn pair(text: &str, line: u32) -> Option<(Figure, Figure)> {
    let (left, right) = text.split_once('@')?;
    let rate =
        in_unit(&number(left, line)?, &Clue { kind: Kind::PerS, unit: Some((1.0, 1.0)), guessed: false })?;
    let time =
        in_unit(&number(right, line)?, &Clue { kind: Kind::Time, unit: Some((1e-3, 1e-3)), guessed: false })?;
    Some((rate, time))
}

/// Spaces and apostrophes that separate groups of three digits are left out: `12 345`, `1'234'567`. Only if the whole
/// cell is one number, because in a sentence they separate figures.
pub fn ungrouped(text: &str) -> Option<String> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || is_gap(c) || c == '.' || c == ',')).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let number = number.trim_end_matches(is_gap);
    let whole = number.split(['.', ',']).next().unwrap_or(number);
    let groups: Vec<&str> = whole.split(is_gap).collect();
    let first = groups.first().map_or(0, |g| g.len());
    let fits = groups.len() > 1 && (1..=3).contains(&first) && groups[1..].iter().all(|g| g.len() == 3);
    let behind = &number[whole.len()..];
    let plain = !behind.contains(is_gap) && behind.matches(['.', ',']).count() <= 1;
    (fits && plain && !rest.contains(|c: char| c.is_ascii_digit()))
        .then(|| format!("{}{behind} {}", groups.concat(), rest.trim()).trim_end().to_owned())
}

fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’' | '_')
}

/// Letters after a bare number that are an unknown unit: `3 lunas` is not a time in seconds.
pub fn has_unknown_unit(text: &str, number: &Number) -> bool {
    const REMARKS: &[&str] = &["avg", "mean", "max", "min", "total", "about", "approx", "ca"];
    let rest = text.get(number.end..).unwrap_or("").trim_start();
    let word: String = rest.chars().take_while(|c| c.is_alphabetic()).collect();
    // `95%请求的响应时间` describes a percentile.
    if rest.starts_with('%') {
        return true;
    }
    !word.is_empty() && !REMARKS.contains(&word.to_lowercase().as_str())
}
