//! Outages of the service: which outage is reported, and which one to examine. Failures during an outage have no
//! other cause.

use super::{Gone, Part};
use crate::causes::went;
use crate::summary::{Outage, Summary};

/// One for the service as a whole and one for each part that was down by itself.
pub(super) fn gone(s: &Summary) -> impl Iterator<Item = Gone<'_>> {
    let parts = s.availability.parts.iter().map(|part| (Some(part.into()), &part.outages));
    std::iter::once((None, &s.availability.outages)).chain(parts).filter_map(|(part, all)| longest(part, all))
}

/// Whether the service responded all the time, but never as the plan expects: then it was not down, and the failures
/// say what is wrong.
fn responded(outage: &Outage) -> bool {
    outage.failures.first().is_some_and(|failure| went(true, failure).is_none())
}

fn longest<'a>(part: Option<Part<'a>>, all: &'a [Outage]) -> Option<Gone<'a>> {
    let outages: Vec<&Outage> = all.iter().filter(|outage| !responded(outage)).collect();
    let outage = outages.iter().copied().reduce(longer)?;
    Some(Gone { part, outage, outages: outages.len() })
}

/// Of two equally long ones the first.
fn longer<'a>(a: &'a Outage, b: &'a Outage) -> &'a Outage {
    if b.length_ns > a.length_ns { b } else { a }
}

/// Where to look first; `None`: there was no outage.
pub(super) fn first(s: &Summary) -> Option<Gone<'_>> {
    gone(s).reduce(|a, b| if b.outage.length_ns > a.outage.length_ns { b } else { a })
}
