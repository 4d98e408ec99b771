//! That the service was gone, as sentences: when, how it failed, whether it came back, and where to look.

use super::quoted;
use crate::format::{chosen_ns, count, counted};
use plimsoll_analysis::next::Gone;
use plimsoll_analysis::summary::{PartKind, Summary};

/// To the nearest 0.1 s.
fn instant(at_s: f64) -> String {
    match (at_s.max(0.0) * 10.0).round() as u64 {
        0 => "0 s".into(),
        tenths => chosen_ns(tenths * 100_000_000),
    }
}

/// `The service was down from 3.1 s to the end; it did not recover. All 40 failures then: nothing listens on the port
/// (`connection_refused`).`
pub(super) fn describe(gone: &Gone<'_>) -> String {
    let longest = gone.outage;
    let who = match gone.part {
        None if is_stall(gone) => return stall(gone),
        None => "The service was down".to_owned(),
        Some(part) => match part.kind {
            PartKind::Address => format!("Address {} was down while others responded,", quoted(part.name)),
            PartKind::Request => format!("Request {} never succeeded while others did,", quoted(part.name)),
        },
    };
    let end = if longest.is_open_ended { "the end".into() } else { instant(longest.to_s) };
    let back = match longest.is_open_ended {
        true => "it did not recover",
        false => "then it recovered",
    };
    let more = match gone.outages {
        1 => String::new(),
        n => format!(" (the longest of {n} outages)"),
    };
    let how = how(gone).map_or(String::new(), |how| format!(" {how}"));
    format!("{who} from {} to {end}{more}; {back}.{how}", instant(longest.from_s))
}

/// Nothing failed: requests waited, and got their responses late or, at the end, not at all.
fn is_stall(gone: &Gone<'_>) -> bool {
    gone.part.is_none() && gone.outage.failed_requests == 0
}

/// `The service stalled from 6 s to 8 s: requests waited, and then received their responses.`
fn stall(gone: &Gone<'_>) -> String {
    let outage = gone.outage;
    let more = match gone.outages {
        1 => String::new(),
        n => format!(" (the longest of {n} stalls)"),
    };
    let from = instant(outage.from_s);
    match outage.is_open_ended {
        true => format!("The service stalled from {from} to the end{more}: requests received no response."),
        false => format!(
            "The service stalled from {from} to {}{more}: requests waited, and then received their responses.",
            instant(outage.to_s)
        ),
    }
}

/// How requests failed meanwhile; of a part it is only known how many did.
fn how(gone: &Gone<'_>) -> Option<String> {
    let outage = gone.outage;
    if outage.failed_requests == 0 {
        return Some("Requests received no response.".into());
    }
    if gone.part.is_some() {
        return None;
    }
    let first = outage.failures.first()?;
    let told = match first.status {
        Some(status) => format!("status {status}"),
        None => first.class.sentence().to_owned(),
    };
    let all: u64 = outage.failures.iter().map(|one| one.count).sum();
    let of = match all == first.count {
        true => format!("All {} then", counted(all, "failure")),
        false => format!("{} of {} then", count(first.count), counted(all, "failure")),
    };
    Some(format!("{of}: {told} (`{}`).", first.class.name()))
}

/// The time of day in UTC at this point of the run: `14:03:27`.
fn clock(started_unix_ns: u64, at_s: f64) -> String {
    let at_ns = started_unix_ns.saturating_add((at_s.max(0.0) * 1e9) as u64);
    let at_s = (at_ns.saturating_add(500_000_000) / 1_000_000_000) % 86_400;
    format!("{:02}:{:02}:{:02}", at_s / 3_600, at_s / 60 % 60, at_s % 60)
}

/// Where to look first.
pub(super) fn look(s: &Summary, gone: &Gone<'_>) -> String {
    let at = instant(gone.outage.from_s);
    let status = gone.outage.failures.first().and_then(|one| one.status);
    let target = quoted(&s.target);
    match (gone.part, status) {
        (Some(part), _) => match part.kind {
            PartKind::Address => format!(
                "Check that the server runs and listens on {}, and read its log from {at} of the run.",
                quoted(part.name)
            ),
            PartKind::Request => {
                format!("Search the server's log for request {} at {at} of the run.", quoted(part.name))
            }
        },
        (None, Some(status)) => format!(
            "Search the logs of the server and of any proxy in front of it for status {status} at {at} of the run."
        ),
        (None, None) => {
            let at = match s.generators.iter().map(|one| one.started_unix_ns).min() {
                Some(started_ns) if started_ns > 0 => {
                    format!("{} UTC ({at} into the run)", clock(started_ns, gone.outage.from_s))
                }
                _ => format!("{at} of the run"),
            };
            match is_stall(gone) && !gone.outage.is_open_ended {
                true => format!(
                    "Find what paused {target} at {at}: garbage collection, a lock, or a checkpoint. No request \
                     failed, so it probably did not restart."
                ),
                false => {
                    format!("Read the log of {target} at {at}: did it exit, restart, or stop responding?")
                }
            }
        }
    }
}
