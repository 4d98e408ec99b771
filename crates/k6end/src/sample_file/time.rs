//! Times of samples.

use super::target::TimeFormat;
use jiff::Timestamp;

/// Returns a time, ns since 1970, as text.
pub(super) fn text(unix_ns: u64, format: TimeFormat) -> String {
    match format {
        TimeFormat::Seconds => (unix_ns / 1_000_000_000).to_string(),
        TimeFormat::Milliseconds => (unix_ns / 1_000_000).to_string(),
        TimeFormat::Microseconds => (unix_ns / 1_000).to_string(),
        TimeFormat::Nanoseconds => unix_ns.to_string(),
        TimeFormat::Rfc3339 => rfc3339(unix_ns - unix_ns % 1_000_000_000),
        TimeFormat::Rfc3339Nano => rfc3339(unix_ns),
    }
}

/// RFC 3339, in UTC, with as many digits as are needed.
pub(super) fn rfc3339(unix_ns: u64) -> String {
    Timestamp::from_nanosecond(i128::from(unix_ns)).map_or_else(|_| String::new(), |time| time.to_string())
}
