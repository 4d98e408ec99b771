//! Instants and calendar dates. All dates are in UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

/// Returns date and time of an instant, in ns since 1970.
pub fn utc(unix_ns: u64) -> DateTime {
    // proof: 2^64 ns end in the year 2554, and a `Timestamp` reaches the year 9999.
    Offset::UTC.to_datetime(Timestamp::from_nanosecond(unix_ns.into()).unwrap_or_default())
}

/// Returns the midnight at which a day begins, in seconds since 1970. Returns `None` for a date that does not exist, or
/// is outside the years -9999 to 9999.
pub fn midnight_unix_s(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    Some(Offset::UTC.to_timestamp(date.into()).ok()?.as_second())
}
