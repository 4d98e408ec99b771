//! The wall clock and the names made from it: dates for people, file names and origins that nobody else
//! makes.

use crate::exit::Failure;
use crate::interrupt::Interrupts;
use std::io::Read;

/// Now, ns since 1970 UTC.
pub fn now_unix_ns() -> u64 {
    plimsoll_engine::clock::unix_ns()
}

/// `2026-11-21`, UTC.
pub fn date(unix_ns: u64) -> String {
    let (year, month, day) = civil(unix_ns / 1_000_000_000 / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2026-11-21-032042`, UTC: sorts by time and may stand in a file name.
pub fn stamp(unix_ns: u64) -> String {
    let second = unix_ns / 1_000_000_000 % 86_400;
    format!("{}-{:02}{:02}{:02}", date(unix_ns), second / 3_600, second / 60 % 60, second % 60)
}

/// Days since 1970-01-01 to a date of the Gregorian calendar. Counts in eras of 400 years (146,097 days) that
/// begin on 1 March, so that the leap day is the last day of a year and months follow one formula.
fn civil(days: u64) -> (u64, u64, u64) {
    // From 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March is month 0; five months from March on always have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Random bytes from the kernel.
///
/// # Errors
/// When the kernel's source cannot be read (a container without `/dev`).
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|e| Failure::machine(format!("`/dev/urandom` cannot be read: {e}"), None))?;
    Ok(bytes)
}

/// Waits for so long, or until somebody interrupts.
pub fn rest(ns: u64, interrupts: &Interrupts) {
    const LOOK_NS: u64 = 50_000_000;
    let mut left_ns = ns;
    while left_ns > 0 && !interrupts.happened() {
        let part_ns = left_ns.min(LOOK_NS);
        std::thread::sleep(std::time::Duration::from_nanos(part_ns));
        left_ns -= part_ns;
    }
}

/// Lower-case hexadecimal.
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
