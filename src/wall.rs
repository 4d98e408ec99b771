//! Wall clock and what is derived from it: dates, unique file names, and random bytes.

use crate::exit::Failure;
use crate::interrupt::Interrupts;
use plimsoll_plan::calendar;
use std::io::Read;

/// Returns the time in ns since 1970 UTC.
pub fn now_unix_ns() -> u64 {
    plimsoll_engine::clock::unix_ns()
}

/// Formats a date in UTC: `2026-11-21`.
pub fn date(unix_ns: u64) -> String {
    calendar::utc(unix_ns).strftime("%Y-%m-%d").to_string()
}

/// Formats a time in UTC that sorts by name and is valid in file names: `2026-11-21-032042`.
pub fn stamp(unix_ns: u64) -> String {
    calendar::utc(unix_ns).strftime("%Y-%m-%d-%H%M%S").to_string()
}

/// Formats an instant in UTC: `2026-11-21T03:20:42Z`.
pub fn instant(unix_ns: u64) -> String {
    calendar::utc(unix_ns).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns random bytes from the kernel.
///
/// # Errors
/// Returns an error if `/dev/urandom` cannot be read, as in a container without `/dev`.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|e| Failure::machine(format!("cannot read `/dev/urandom`: {e}"), None))?;
    Ok(bytes)
}

/// Waits for a duration or until an interrupt.
pub fn rest(ns: u64, interrupts: &Interrupts) {
    const LOOK_NS: u64 = 50_000_000;
    let mut left_ns = ns;
    while left_ns > 0 && !interrupts.happened() {
        let part_ns = left_ns.min(LOOK_NS);
        std::thread::sleep(std::time::Duration::from_nanos(part_ns));
        left_ns -= part_ns;
    }
}

/// Formats bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_hold_across_leap_days_and_centuries() {
        let day_ns = 86_400_000_000_000;
        for (day, expected) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_778, "2026-11-21"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day * day_ns), expected);
        }
        assert_eq!(stamp(20_778 * day_ns + 12_042_999_999_999), "2026-11-21-032042");
    }
}
