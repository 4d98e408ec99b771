//! That the service was gone: when, how it failed, whether it came back, and where to look. Nothing else is blamed for
//! what went wrong meanwhile.

use super::{COURSE, Hint, quoted, step, why};
use crate::format::{chosen_ns, count, counted};
use plimsoll_analysis::summary::{Outage, PartAvailability, PartKind, Summary};

/// To the nearest 0.1 s.
fn instant(at_s: f64) -> String {
    match (at_s.max(0.0) * 10.0).round() as u64 {
        0 => "0 s".into(),
        tenths => chosen_ns(tenths * 100_000_000),
    }
}

/// One sentence for the service as a whole and one for each part that was down by itself.
pub(super) fn reasons(s: &Summary) -> Vec<Hint> {
    let whole = gone(s, None, &s.availability.outages);
    let parts = s.availability.parts.iter().filter_map(|part| gone(s, Some(part), &part.outages));
    whole.into_iter().chain(parts).map(|text| why(text, COURSE)).collect()
}

/// `The service was gone from 3.1 s to the end: 40 times nothing listens on that port (`connect_refused`).`
fn gone(s: &Summary, part: Option<&PartAvailability>, outages: &[Outage]) -> Option<String> {
    let longest = outages.iter().reduce(|a, b| if b.length_ns > a.length_ns { b } else { a })?;
    let who = match part {
        None => "The service was gone".to_owned(),
        Some(part) if part.kind == PartKind::Address => {
            format!("Address {} was gone while others were served,", quoted(&part.name))
        }
        Some(part) => format!("Request {} had no success while others had,", quoted(&part.name)),
    };
    let end = if longest.open_ended { "the end".into() } else { instant(longest.to_s) };
    let back = match longest.open_ended {
        true => "it did not come back",
        false => "then it came back",
    };
    let more = match outages.len() {
        1 => String::new(),
        n => format!(" (the longest of {n} outages)"),
    };
    let how = how(s, part, longest).map_or(String::new(), |how| format!(": {how}"));
    Some(format!("{who} from {} to {end}{more}{how}; {back}.", instant(longest.from_s)))
}

/// How requests failed meanwhile; of a part it is only known how many did.
fn how(s: &Summary, part: Option<&PartAvailability>, outage: &Outage) -> Option<String> {
    if outage.failed == 0 {
        return Some("requests waited and were not answered".into());
    }
    if part.is_some() {
        return None;
    }
    let first = outage.failures.first()?;
    let sentence = |class: &str| s.errors.iter().find(|row| row.class == class).map(|row| row.sentence);
    let told = match first.status {
        Some(status) => format!("status {status}"),
        None => sentence(first.class).unwrap_or(first.class).to_owned(),
    };
    let rest: u64 = outage.failures.iter().skip(1).map(|one| one.count).sum();
    let others = match rest {
        0 => String::new(),
        rest => format!(", and {} of other kinds", counted(rest, "failure")),
    };
    Some(format!("{} times {told} (`{}`){others}", count(first.count), first.class))
}

/// Where to look first; `None`: there was no outage.
pub(super) fn step_of(s: &Summary) -> Option<Hint> {
    let (part, outage) = s.availability.longest()?;
    let at = instant(outage.from_s);
    let status = outage.failures.first().and_then(|one| one.status);
    let target = quoted(&s.target);
    let text = match (part, status) {
        (Some(part), _) if part.kind == PartKind::Address => {
            format!(
                "See that the server runs and listens on {}: look in its log at {at} of the run.",
                quoted(&part.name)
            )
        }
        (Some(part), _) => {
            format!("Look in the server's log for request {} at {at} of the run.", quoted(&part.name))
        }
        (None, Some(status)) => {
            format!(
                "Look in the server's log, and in that of any proxy before it, for status {status} at {at} of the run."
            )
        }
        (None, None) => format!(
            "Look in the log of {target} at {at} of the run: whether it ended, was restarted, or stopped answering."
        ),
    };
    Some(step(text, COURSE))
}
