//! Dates as Java's `SimpleDateFormat` and `DateTimeFormatter` write and read them, in English.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use std::fmt::Write as _;

/// Returns the time zone of this machine, as Java chooses it: `TZ`, then `/etc/localtime`, then UTC.
pub fn machine_zone() -> TimeZone {
    let named = |name: &str| TimeZone::get(name.trim_start_matches(':')).ok();
    let variable = std::env::var("TZ").ok().filter(|name| !name.is_empty());
    if let Some(zone) = variable.as_deref().and_then(named) {
        return zone;
    }
    let link = std::fs::read_link("/etc/localtime").ok();
    let name = link.as_ref().and_then(|path| path.to_str()).and_then(|path| path.split_once("zoneinfo/"));
    name.and_then(|(_, name)| named(name)).unwrap_or(TimeZone::UTC)
}

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A piece of a pattern: a letter with its repetitions, or a text.
enum Piece {
    Field(char, usize),
    Text(String),
}

/// Splits a pattern. Letters are fields, `'...'` is a text, and `''` a quote.
fn pieces(pattern: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut signs = pattern.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\'' => {
                let mut text = String::new();
                if signs.peek() == Some(&'\'') {
                    signs.next();
                    text.push('\'');
                } else {
                    while let Some(sign) = signs.next() {
                        if sign == '\'' {
                            if signs.peek() != Some(&'\'') {
                                break;
                            }
                            signs.next();
                        }
                        text.push(sign);
                    }
                }
                all.push(Piece::Text(text));
            }
            letter if letter.is_ascii_alphabetic() => {
                let mut count = 1;
                while signs.peek() == Some(&letter) {
                    signs.next();
                    count += 1;
                }
                all.push(Piece::Field(letter, count));
            }
            other => all.push(Piece::Text(other.to_string())),
        }
    }
    all
}

/// Returns a letter of a pattern that this module does not write.
pub fn unknown_letter(pattern: &str) -> Option<char> {
    pieces(pattern).into_iter().find_map(|piece| match piece {
        Piece::Field(letter, _) if !"GyuMLdDEaHhKkmsSnAzZXxV".contains(letter) => Some(letter),
        _ => None,
    })
}

/// Appends an instant as a pattern shows it.
pub fn write(pattern: &str, at: &ZonedDateTime, out: &mut String) {
    for piece in pieces(pattern) {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Field(letter, count) => field(letter, count, at, out),
        }
    }
}

fn field(letter: char, count: usize, at: &ZonedDateTime, out: &mut String) {
    let hour = i64::from(at.hour());
    let number = match letter {
        'G' => return out.push_str("AD"),
        'y' | 'u' if count == 2 => i64::from(at.year()).rem_euclid(100),
        'y' | 'u' => i64::from(at.year()),
        'M' | 'L' if count >= 3 => return named(MONTHS[at.month() as usize - 1], count, out),
        'M' | 'L' => i64::from(at.month()),
        'd' => i64::from(at.day()),
        'D' => i64::from(at.day_of_year()),
        'E' => {
            // proof: the offset of a weekday is below 7.
            return named(DAYS[at.weekday().to_monday_zero_offset() as usize], count, out);
        }
        'a' => return out.push_str(if hour < 12 { "AM" } else { "PM" }),
        'H' => hour,
        'k' if hour == 0 => 24,
        'k' => hour,
        'K' => hour % 12,
        'h' if hour % 12 == 0 => 12,
        'h' => hour % 12,
        'm' => i64::from(at.minute()),
        's' => i64::from(at.second()),
        'S' => {
            // Java's newer formatter reads `S` as a fraction; with three letters, both agree.
            let digits = format!("{:09}", at.subsec_nanosecond());
            out.push_str(&digits[..count.min(9)]);
            return;
        }
        'n' => i64::from(at.subsec_nanosecond()),
        'A' => {
            let seconds = (hour * 60 + i64::from(at.minute())) * 60 + i64::from(at.second());
            seconds * 1000 + i64::from(at.millisecond())
        }
        'z' | 'V' => {
            let name = at.time_zone().iana_name();
            let short = || at.strftime("%Z").to_string();
            return out.push_str(&match (letter, name) {
                ('V', Some(name)) => name.to_owned(),
                _ => short(),
            });
        }
        'Z' => return offset(at, count >= 5, false, out),
        'X' => return offset(at, count >= 3, true, out),
        'x' => return offset(at, count >= 3, false, out),
        _ => return,
    };
    // Writing to a string cannot fail.
    let _ = write!(out, "{number:0count$}");
}

fn named(name: &str, count: usize, out: &mut String) {
    out.push_str(if count >= 4 { name } else { &name[..3] });
}

fn offset(at: &ZonedDateTime, has_colon: bool, has_z: bool, out: &mut String) {
    let seconds = at.offset().seconds();
    if has_z && seconds == 0 {
        return out.push('Z');
    }
    let minutes = seconds.unsigned_abs() / 60;
    let sign = if seconds < 0 { '-' } else { '+' };
    let colon = if has_colon { ":" } else { "" };
    // Writing to a string cannot fail.
    let _ = write!(out, "{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60);
}

/// Reads a text as a pattern describes it. Missing fields are those of the beginning of the current year.
pub fn read(pattern: &str, text: &str, zone: &TimeZone, now: &ZonedDateTime) -> Option<ZonedDateTime> {
    let (mut year, mut month, mut day) = (now.year(), 1, 1);
    let (mut hour, mut minute, mut second, mut nanosecond) = (0i8, 0i8, 0i8, 0i32);
    let (mut is_pm, mut offset_s) = (None, None);
    let mut rest = text;
    let all = pieces(pattern);
    for (at, piece) in all.iter().enumerate() {
        let (letter, count) = match piece {
            Piece::Text(text) => {
                rest = rest.strip_prefix(text.as_str())?;
                continue;
            }
            Piece::Field(letter, count) => (*letter, *count),
        };
        // A number is as long as its field if another field follows directly.
        let is_tight = matches!(all.get(at + 1), Some(Piece::Field(..)));
        let mut number = || -> Option<i64> {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let digits = if is_tight { digits.min(count) } else { digits };
            let value = rest.get(..digits)?.parse().ok()?;
            rest = &rest[digits..];
            Some(value)
        };
        match letter {
            'y' | 'u' => {
                let value = number()?;
                year = i16::try_from(if count == 2 { 2000 + value } else { value }).ok()?;
            }
            'M' | 'L' if count >= 3 => {
                let found = MONTHS.iter().position(|name| {
                    let name = if count == 3 { &name[..3] } else { name };
                    rest.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
                })?;
                rest = &rest[if count == 3 { 3 } else { MONTHS[found].len() }..];
                month = found as i8 + 1;
            }
            'M' | 'L' => month = i8::try_from(number()?).ok()?,
            'd' => day = i8::try_from(number()?).ok()?,
            'H' | 'K' => hour = i8::try_from(number()?).ok()?,
            'k' | 'h' => hour = i8::try_from(number()? % if letter == 'k' { 24 } else { 12 }).ok()?,
            'm' => minute = i8::try_from(number()?).ok()?,
            's' => second = i8::try_from(number()?).ok()?,
            'S' => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(9);
                let fraction = format!("{:0<9}", rest.get(..digits)?);
                nanosecond = fraction.parse().ok()?;
                rest = &rest[digits..];
            }
            'a' => {
                let half = rest.get(..2)?.to_ascii_uppercase();
                is_pm = Some(half == "PM");
                rest = &rest[2..];
            }
            'E' => {
                let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                rest = &rest[letters..];
            }
            'Z' | 'X' | 'x' => {
                if let Some(after) = rest.strip_prefix('Z') {
                    (rest, offset_s) = (after, Some(0));
                    continue;
                }
                let sign = if rest.starts_with('-') { -1 } else { 1 };
                let body = rest.get(1..)?;
                let digits: String = body.chars().filter(char::is_ascii_digit).take(4).collect();
                let width = body.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(body.len());
                let hours: i32 = digits.get(..2)?.parse().ok()?;
                let minutes: i32 = digits
                    .get(2..)
                    .filter(|text| !text.is_empty())
                    .map_or(Some(0), |text| text.parse().ok())?;
                offset_s = Some(sign * (hours * 3600 + minutes * 60));
                rest = &body[width..];
            }
            _ => return None,
        }
    }
    match is_pm {
        Some(true) if hour < 12 => hour += 12,
        _ => {}
    }
    let civil = DateTime::new(year, month, day, hour, minute, second, nanosecond).ok()?;
    let zone = match offset_s {
        Some(seconds) => TimeZone::fixed(jiff::tz::Offset::from_seconds(seconds).ok()?),
        None => zone.clone(),
    };
    civil.to_zoned_datetime(zone).ok()
}

/// Returns an instant in a time zone.
pub fn at(unix_ns: u64, zone: &TimeZone) -> ZonedDateTime {
    // proof: 2^64 ns after 1970 are in the year 2554.
    Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default().to_zoned_datetime(zone.clone())
}
