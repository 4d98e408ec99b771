//! Times before and after now, in a time zone: `${now(%Y-%m-%d, +3d, Europe/Berlin)}`.

use super::TimeFormat;
use crate::Problem;
use jiff::tz::{Offset, TimeZone};

/// A time relative to now, and how it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    pub format: TimeFormat,
    pub shift: Shift,
    /// `None` means UTC.
    pub zone: Option<Zone>,
}

/// A time zone as written, and its rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    pub name: String,
    pub rules: TimeZone,
}

/// A distance in time. Months, then days, are those of the calendar in the time zone, so that `+1d` keeps the time of
/// day when clocks change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shift {
    pub months: i32,
    pub days: i32,
    pub ms: i64,
}

/// Longest distance of each unit: calendars and clocks stay in their range.
const YEARS_MAX: i64 = 1_000;

impl Shift {
    pub fn is_none(self) -> bool {
        self == Shift::default()
    }

    /// Returns whether a text begins like a distance.
    pub fn is_meant(text: &str) -> bool {
        let mut signs = text.chars();
        matches!(signs.next(), Some('+' | '-'))
            && signs.next().is_some_and(|sign| sign.is_ascii_digit())
            && !text.contains(':')
    }

    /// Parses a distance such as `+3d`, `-90m`, or `+1y2mo`.
    ///
    /// # Errors
    /// Returns an error that names an unknown unit, or a distance that is too long.
    pub fn parse(text: &str) -> Result<Shift, Problem> {
        const HINT: &str = "write a sign, a number, and a unit, such as `+3d` or `-90m` (`y`, `mo`, `w`, `d`, `h`, \
                            `m`, `s`, `ms`)";
        let wrong = || Problem::new(format!("invalid time difference `{text}`"), HINT);
        let (sign, mut rest) = match text.split_at_checked(1) {
            Some(("+", rest)) => (1, rest.trim_start()),
            Some(("-", rest)) => (-1, rest.trim_start()),
            _ => return Err(wrong()),
        };
        let mut shift = Shift::default();
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
            let unit = &rest[digits..];
            let end = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
            let per_year: i64 = match &unit[..end] {
                "y" => 1,
                "mo" => 12,
                "w" => 53,
                "d" => 366,
                "h" => 366 * 24,
                "m" | "min" => 366 * 24 * 60,
                "s" => 366 * 24 * 3_600,
                "ms" => 366 * 24 * 3_600_000,
                _ => return Err(wrong()),
            };
            if number > per_year * YEARS_MAX {
                let message = format!("`{text}` is longer than 1,000 years");
                return Err(Problem::new(message, "write a shorter time difference"));
            }
            // proof: 1,000 years are 12,000 months, 366,000 days, and 2^45 ms.
            let whole = (sign * number) as i32;
            match &unit[..end] {
                "y" => shift.months += 12 * whole,
                "mo" => shift.months += whole,
                "w" => shift.days += 7 * whole,
                "d" => shift.days += whole,
                "h" => shift.ms += sign * number * 3_600_000,
                "m" | "min" => shift.ms += sign * number * 60_000,
                "s" => shift.ms += sign * number * 1_000,
                _ => shift.ms += sign * number,
            }
            rest = &unit[end..];
        }
        let limit = YEARS_MAX as i32;
        if shift.months.abs() > 12 * limit || shift.days.abs() > 366 * limit {
            let message = format!("`{text}` is longer than 1,000 years");
            return Err(Problem::new(message, "write a shorter time difference"));
        }
        Ok(shift)
    }

    /// Returns the distance as an expression writes it.
    pub fn describe(self) -> String {
        let all = [(i64::from(self.months), "mo"), (i64::from(self.days), "d"), (self.ms, "ms")];
        let sign = if all.iter().any(|(number, _)| *number < 0) { "-" } else { "+" };
        let parts = all.iter().filter(|(number, _)| *number != 0);
        sign.to_owned() + &parts.map(|(number, unit)| format!("{}{unit}", number.abs())).collect::<String>()
    }
}

impl Zone {
    /// Returns whether a text looks like a time zone: `UTC`, `Europe/Berlin`, `+02:00`.
    pub fn is_meant(text: &str) -> bool {
        let is_offset = text.starts_with(['+', '-']) && text.contains(':');
        text == "UTC" || is_offset || text.contains('/') && !text.contains('%')
    }

    /// Parses a name of the IANA database or an offset.
    ///
    /// # Errors
    /// Returns an error for an unknown name and for an invalid offset.
    pub fn parse(text: &str) -> Result<Zone, Problem> {
        let rules = match text.starts_with(['+', '-']) {
            true => offset(text),
            false => TimeZone::get(text).ok(),
        };
        match rules {
            Some(rules) => Ok(Zone { name: text.to_owned(), rules }),
            None => Err(Problem::new(
                format!("unknown time zone `{text}`"),
                "write a name such as `Europe/Berlin`, an offset such as `+02:00`, or `UTC`",
            )),
        }
    }
}

fn offset(text: &str) -> Option<TimeZone> {
    let (hours, minutes) = text[1..].split_once(':')?;
    let whole = |text: &str, most: i32| {
        let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<i32>().ok()).flatten().filter(|number| *number <= most)
    };
    let seconds = whole(hours, 23)? * 3_600 + whole(minutes, 59)? * 60;
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Some(TimeZone::fixed(Offset::from_seconds(sign * seconds).ok()?))
}

impl Moment {
    /// Parses the arguments of `${now(FORMAT, SHIFT, ZONE)}`. A pattern may contain commas.
    ///
    /// # Errors
    /// Returns an error that names the invalid argument.
    pub fn parse(arguments: &[String]) -> Result<Moment, Problem> {
        let (mut shift, mut zone) = (None, None);
        let mut rest = arguments;
        while let Some((last, before)) = rest.split_last() {
            if shift.is_none() && Shift::is_meant(last) {
                shift = Some(Shift::parse(last)?);
            } else if zone.is_none() && Zone::is_meant(last) {
                zone = Some(Zone::parse(last)?);
            } else {
                break;
            }
            rest = before;
        }
        let format = TimeFormat::parse(&rest.join(", "))?;
        if zone.is_some() && !matches!(format, TimeFormat::Iso | TimeFormat::Pattern(_)) {
            return Err(Problem::new(
                "a time zone does not change this format",
                "remove the time zone, or write a pattern such as `%Y-%m-%d %H:%M`",
            ));
        }
        Ok(Moment { format, shift: shift.unwrap_or_default(), zone })
    }
}
