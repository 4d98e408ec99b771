//! Instants as text, in UTC. No library of dates is needed for this: the civil calendar is a page of integer sums.

use plimsoll_plan::value::TimeFormat;

const DAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// An instant taken apart.
struct Civil {
    year: u64,
    /// From 1.
    month: u64,
    /// From 1.
    day: u64,
    /// From 1.
    day_of_year: u64,
    /// 0 is Sunday.
    weekday: u64,
    hour: u64,
    minute: u64,
    second: u64,
    millisecond: u64,
}

impl Civil {
    /// The proleptic Gregorian date, after `civil_from_days` in Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms" (2014). Years there begin with March, so that the leap day is the last of its year; an era is 400
    /// of them, 146,097 days. 719,468 days lie between 0000-03-01 and 1970-01-01.
    fn new(unix_ns: u64) -> Civil {
        let seconds = unix_ns / 1_000_000_000;
        let (days, clock) = (seconds / 86_400, seconds % 86_400);
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        // 1,460 days are four years less their leap day, 36,524 a century: what is taken off are the leap days so far.
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // March to July and August to December are 153 days each: the months are a straight line of slope 153/5.
        let month_from_march = (5 * from_march + 2) / 153;
        let day = from_march - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        // January and February are the last 59 (60) days of the year before, counted from March: day 306 is 1 January.
        let day_of_year =
            if from_march >= 306 { from_march - 305 } else { from_march + 60 + u64::from(leap) };
        Civil {
            year,
            month,
            day,
            day_of_year,
            // 1970-01-01 was a Thursday.
            weekday: (days + 4) % 7,
            hour: clock / 3_600,
            minute: clock / 60 % 60,
            second: clock % 60,
            millisecond: unix_ns / 1_000_000 % 1_000,
        }
    }
}

/// Appends the instant `unix_ns` (nanoseconds since 1970) as `format` says.
pub fn write_time(unix_ns: u64, format: &TimeFormat, out: &mut Vec<u8>) {
    match format {
        TimeFormat::Iso => pattern(b"%Y-%m-%dT%H:%M:%S.%LZ", &Civil::new(unix_ns), out),
        TimeFormat::Unix => number(unix_ns / 1_000_000_000, 1, out),
        TimeFormat::UnixMs => number(unix_ns / 1_000_000, 1, out),
        TimeFormat::UnixNs => number(unix_ns, 1, out),
        TimeFormat::Http => http(&Civil::new(unix_ns), out),
        TimeFormat::Pattern(signs) => pattern(signs.as_bytes(), &Civil::new(unix_ns), out),
    }
}

fn http(civil: &Civil, out: &mut Vec<u8>) {
    // proof: a weekday is below 7 and a month from 1 to 12 by the arithmetic above.
    out.extend_from_slice(DAYS[civil.weekday as usize]);
    pattern(b", %d ", civil, out);
    out.extend_from_slice(MONTHS[civil.month as usize - 1]);
    pattern(b" %Y %H:%M:%S GMT", civil, out);
}

fn pattern(signs: &[u8], civil: &Civil, out: &mut Vec<u8>) {
    let mut rest = signs;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let sign = rest.get(at + 1).copied();
        match sign {
            Some(b'Y') => number(civil.year, 4, out),
            Some(b'm') => number(civil.month, 2, out),
            Some(b'd') => number(civil.day, 2, out),
            Some(b'H') => number(civil.hour, 2, out),
            Some(b'M') => number(civil.minute, 2, out),
            Some(b'S') => number(civil.second, 2, out),
            Some(b'L') => number(civil.millisecond, 3, out),
            Some(b'j') => number(civil.day_of_year, 3, out),
            // `%%`; `TimeFormat::parse` lets no other sign through.
            _ => out.push(b'%'),
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
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
