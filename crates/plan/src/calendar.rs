//! Instants and the calendar: everything that is shown, written or read is UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

/// Date and time of an instant, ns since 1970.
pub fn utc(unix_ns: u64) -> DateTime {
    // proof: 2^64 ns end in the year 2554, and an instant reaches to the year 9999.
    Offset::UTC.to_datetime(Timestamp::from_nanosecond(unix_ns.into()).unwrap_or_default())
}

/// Midnight at which a day begins, seconds since 1970. `None` for a date that the calendar does not have, or beyond the
/// years -9999 to 9999.
pub fn midnight_unix_s(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    Some(Offset::UTC.to_timestamp(date.into()).ok()?.as_second())
}
