//! Outages of the service: which outage is reported, and which one to examine. Failures during an outage have no
//! other cause.

use super::{Gone, Part};
use crate::summary::{Outage, OutageFailure, Summary};
use plimsoll_plan::Fault;

/// One for the service as a whole and one for each part that was down by itself.
pub(super) fn gone(s: &Summary) -> impl Iterator<Item = Gone<'_>> {
    let parts = s.availability.parts.iter().map(|part| (Some(part.into()), &part.outages));
    std::iter::once((None, &s.availability.outages)).chain(parts).filter_map(|(part, all)| longest(part, all))
}

/// Whether the service responded all the time, but never as the plan expects: then it was not down, and the failures
/// say what is wrong.
fn responded(outage: &Outage) -> bool {
    let is_response = |one: &OutageFailure| match one.class {
        Fault::Status => one.status.is_some_and(|status| status < 500),
        class => matches!(class, Fault::Check | Fault::DecodeFailed | Fault::Redirects),
    };
    outage.failures.first().is_some_and(is_response)
}

fn longest<'a>(part: Option<Part<'a>>, outages: &'a [Outage]) -> Option<Gone<'a>> {
    let outages_gone = outages.iter().filter(|outage| !responded(outage));
    let outage = outages_gone.reduce(|a, b| if b.length_ns > a.length_ns { b } else { a })?;
    Some(Gone { part, outage, outages: outages.len() })
}

/// Where to look first; `None`: there was no outage.
pub(super) fn first(s: &Summary) -> Option<Gone<'_>> {
    let (part, outage) = s.availability.longest().filter(|(_, outage)| !responded(outage))?;
    let outages = part.map_or(&s.availability.outages, |part| &part.outages).len();
    Some(Gone { part: part.map(Part::from), outage, outages })
}
