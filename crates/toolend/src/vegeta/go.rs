//! Durations as Go writes them.

const UNITS_NS: [u64; 6] = [3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1_000_000, 1_000, 1];

/// Rounds a duration to the unit below its largest one, as the text of Vegeta does.
pub fn rounded(ns: u64) -> u64 {
    let pairs = UNITS_NS.iter().zip(&UNITS_NS[1..]);
    let next = pairs.into_iter().find(|(unit, _)| ns >= **unit).map_or(1, |(_, next)| *next);
    (ns + next / 2) / next * next
}

/// Returns `1h2m3.5s`, `1.5s`, `12.345ms`, `1.5µs`, or `0s`.
pub fn duration(ns: u64) -> String {
    match ns {
        0 => "0s".to_owned(),
        1..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}µs", fraction(ns, 1_000, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", fraction(ns, 1_000_000, 6)),
        _ => {
            let (minutes, rest) = (ns / 60_000_000_000, ns % 60_000_000_000);
            let seconds = fraction(rest, 1_000_000_000, 9);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// Returns `ns / unit` without zeros at the end of its fraction.
fn fraction(ns: u64, unit: u64, digits: usize) -> String {
    let (whole, rest) = (ns / unit, ns % unit);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{}", format!("{rest:0digits$}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        let table = [
            (0, "0s"),
            (15, "15ns"),
            (1_504, "1.504µs"),
            (30_494_913, "30.495ms"),
            (19_990_004_321, "19.99s"),
            (20_002_464_113, "20.002s"),
            (90_500_000_000, "1m31s"),
            (3_723_000_000_000, "1h2m0s"),
        ];
        for (ns, expected) in table {
            assert_eq!(duration(rounded(ns)), expected);
        }
        assert_eq!(duration(3_723_500_000_000), "1h2m3.5s");
    }
}
