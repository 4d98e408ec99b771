//! Dates and times as text, in UTC. The calendar is that of `jiff`; the format is that of the experiment file. Writing
//! allocates nothing.

use jiff::civil::DateTime;
use plimsoll_plan::calendar::utc;
use plimsoll_plan::value::TimeFormat;

const DAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Appends the instant `unix_ns` (nanoseconds since 1970) as `format` says.
pub fn write_time(unix_ns: u64, format: &TimeFormat, out: &mut Vec<u8>) {
    match format {
        TimeFormat::Iso => pattern(b"%Y-%m-%dT%H:%M:%S.%LZ", utc(unix_ns), out),
        TimeFormat::Unix => number(unix_ns / 1_000_000_000, 1, out),
        TimeFormat::UnixMs => number(unix_ns / 1_000_000, 1, out),
        TimeFormat::UnixNs => number(unix_ns, 1, out),
        TimeFormat::Http => http(utc(unix_ns), out),
        TimeFormat::Pattern(signs) => pattern(signs.as_bytes(), utc(unix_ns), out),
    }
}

fn http(civil: DateTime, out: &mut Vec<u8>) {
    // proof: the offset of a weekday is below 7, and a month goes from 1 to 12.
    out.extend_from_slice(DAYS[civil.weekday().to_sunday_zero_offset() as usize]);
    pattern(b", %d ", civil, out);
    out.extend_from_slice(MONTHS[civil.month() as usize - 1]);
    pattern(b" %Y %H:%M:%S GMT", civil, out);
}

fn pattern(signs: &[u8], civil: DateTime, out: &mut Vec<u8>) {
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
            // `%%`; `TimeFormat::parse` lets no other sign through.
            _ => out.push(b'%'),
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// A part of a date after 1970: never negative.
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
