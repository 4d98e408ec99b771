//! Outages in words: in the first sentence of a verdict, and in the events of a run.

use crate::cause::evidence::Stretch;
use crate::cause::{self, instant};
use crate::summary::{Availability, Outage, PartAvailability, PartKind};
use plimsoll_plan::phrase::{chosen_ns, duration_ns};

/// A length, to 0.1 s.
fn length(ns: u64) -> String {
    match (ns + 50_000_000) / 100_000_000 {
        0 => duration_ns(ns),
        tenths => chosen_ns(tenths * 100_000_000),
    }
}

/// `from 3.1 s to the end`
pub(super) fn span(outage: &Outage) -> String {
    cause::span(stretch(outage))
}

/// From when to when.
pub(super) fn stretch(outage: &Outage) -> Stretch {
    Stretch { from_s: outage.from_s, to_s: outage.to_s, is_open_ended: outage.is_open_ended }
}

/// `until 4.6 s, for 1.5 s`
pub(super) fn until(outage: &Outage) -> String {
    let length = length(outage.length_ns);
    match outage.is_open_ended {
        true => format!("until the end, for {length}"),
        false => format!("until {}, for {length}", instant(outage.to_s)),
    }
}

/// `no request pay succeeded`
pub(super) fn nothing_of(part: &PartAvailability) -> String {
    match part.kind {
        PartKind::Request => format!("no request {} succeeded", part.name),
        PartKind::Address => format!("no request to address {} succeeded", part.name),
    }
}

/// `no request succeeded from 3.1 s to the end (4.9 s of 8 s)`; of several outages the longest, with their number.
/// Parts that were down while others were served follow the service as a whole. Empty if there was no outage.
pub(super) fn outages(available: &Availability, measured_ns: u64) -> Vec<String> {
    let whole = describe("no request succeeded".into(), &available.outages, measured_ns);
    let parts =
        available.parts.iter().filter_map(|part| describe(nothing_of(part), &part.outages, measured_ns));
    whole.into_iter().chain(parts).collect()
}

fn describe(what: String, outages: &[Outage], measured_ns: u64) -> Option<String> {
    let longest = outages.iter().reduce(|a, b| if b.length_ns > a.length_ns { b } else { a })?;
    let down_ns: u64 = outages.iter().map(|outage| outage.length_ns).sum();
    let (down, of) = (length(down_ns), chosen_ns(measured_ns));
    Some(match outages.len() {
        1 => format!("{what} {} ({down} of {of})", span(longest)),
        n => format!("{what} {} ({down} of {of} in {n} outages, this one the longest)", span(longest)),
    })
}
