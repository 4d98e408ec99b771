//! Dates and times as text, in UTC unless a moment has a time zone. The calendar and the time zones are those of
//! `jiff`; the format is that of the experiment file. Writing allocates nothing.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, ZonedDateTime};
use plimsoll_plan::calendar::utc;
use plimsoll_plan::value::{Moment, TimeFormat};

const DAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Appends the instant `unix_ns` (nanoseconds since 1970) as `format` says.
pub fn write_time(unix_ns: u64, format: &TimeFormat, out: &mut Vec<u8>) {
    match format {
        TimeFormat::Iso => pattern(b"%Y-%m-%dT%H:%M:%S.%LZ", utc(unix_ns), 0, out),
        TimeFormat::Unix => number(unix_ns / 1_000_000_000, 1, out),
        TimeFormat::UnixMs => number(unix_ns / 1_000_000, 1, out),
        TimeFormat::UnixNs => number(unix_ns, 1, out),
        TimeFormat::Http => http(utc(unix_ns), out),
        TimeFormat::Pattern(signs) => pattern(signs.as_bytes(), utc(unix_ns), 0, out),
    }
}

/// Appends a time before or after the instant `unix_ns`, in a time zone.
pub fn write_moment(unix_ns: u64, moment: &Moment, out: &mut Vec<u8>) {
    let zone = moment.zone.as_ref().map_or(TimeZone::UTC, |zone| zone.rules.clone());
    // proof: 2^64 ns after 1970 are in the year 2554.
    let now = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default().to_zoned_datetime(zone);
    let moved = shifted(&now, moment).unwrap_or(now);
    let unix = moved.timestamp();
    let civil = moved.datetime();
    let offset_s = moved.offset().seconds();
    match &moment.format {
        TimeFormat::Iso => {
            pattern(b"%Y-%m-%dT%H:%M:%S.%L", civil, offset_s, out);
            match moment.zone.is_some() {
                true => offset(offset_s, true, out),
                false => out.push(b'Z'),
            }
        }
        TimeFormat::Unix => signed(unix.as_second().into(), out),
        TimeFormat::UnixMs => signed(unix.as_millisecond().into(), out),
        TimeFormat::UnixNs => signed(unix.as_nanosecond(), out),
        TimeFormat::Http => http(civil, out),
        TimeFormat::Pattern(signs) => pattern(signs.as_bytes(), civil, offset_s, out),
    }
}

/// Months and days move the date, then the rest moves the clock. A day that the month lacks becomes its last day.
fn shifted(now: &ZonedDateTime, moment: &Moment) -> Option<ZonedDateTime> {
    let shift = moment.shift;
    let calendar = Span::new().try_months(shift.months).ok()?.try_days(shift.days).ok()?;
    now.checked_add(calendar).ok()?.checked_add(SignedDuration::from_millis(shift.ms)).ok()
}

/// Appends `+02:00`, or `+0200`.
fn offset(seconds: i32, colon: bool, out: &mut Vec<u8>) {
    out.push(if seconds < 0 { b'-' } else { b'+' });
    let minutes = u64::from(seconds.unsigned_abs() / 60);
    number(minutes / 60, 2, out);
    if colon {
        out.push(b':');
    }
    number(minutes % 60, 2, out);
}

fn signed(value: i128, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    // proof: years have four digits, so 64 bits hold all nanoseconds of the next 500 years; later ones are cut there.
    number(value.unsigned_abs().try_into().unwrap_or(u64::MAX), 1, out);
}

/// Appends a duration in milliseconds with three decimals.
pub(super) fn milliseconds(ns: u64, out: &mut Vec<u8>) {
    let us = ns.saturating_add(500) / 1_000;
    number(us / 1_000, 1, out);
    out.push(b'.');
    number(us % 1_000, 3, out);
}

fn http(civil: DateTime, out: &mut Vec<u8>) {
    // proof: the offset of a weekday is below 7, and a month goes from 1 to 12.
    out.extend_from_slice(DAYS[civil.weekday().to_sunday_zero_offset() as usize]);
    pattern(b", %d ", civil, 0, out);
    out.extend_from_slice(MONTHS[civil.month() as usize - 1]);
    pattern(b" %Y %H:%M:%S GMT", civil, 0, out);
}

fn pattern(signs: &[u8], civil: DateTime, offset_s: i32, out: &mut Vec<u8>) {
    let mut rest = signs;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let sign = rest.get(at + 1).copied();
        match sign {
            Some(b'Y') => part(civil.year(), 4, out),
            Some(b'm') => part(civil.month().into(), 2, out),
            Some(b'd') => part(civil.day().into(), 2, out),
            Some(b'H') => part(civil.hour().into(), 2, out),
            Some(b'M') => part(civil.minute().into(), 2, out),
            Some(b'S') => part(civil.second().into(), 2, out),
            Some(b'L') => part(civil.millisecond(), 3, out),
            Some(b'j') => part(civil.day_of_year(), 3, out),
            Some(b'z') => offset(offset_s, false, out),
            // `%%`; `TimeFormat::parse` lets no other sign through.
            _ => out.push(b'%'),
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// A part of a date: years before 0 are out of reach of a time difference.
fn part(value: i16, width: usize, out: &mut Vec<u8>) {
    number(value.unsigned_abs().into(), width, out);
}

/// Appends `value` in decimal, with zeros in front up to `width` digits.
pub(super) fn number(value: u64, width: usize, out: &mut Vec<u8>) {
    // 2^64 has 20 digits.
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut rest = value;
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[at.min(digits.len() - width)..]);
}
