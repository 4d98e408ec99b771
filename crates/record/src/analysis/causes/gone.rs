//! The service went away: it had answered, and then nothing succeeded any more for a while.

use super::Case;
use crate::analysis::outage_words::span;
use crate::cause::{Cause, Claim, Kind};
use crate::phrase::count;
use crate::summary::{Outage, Second};

pub(super) fn gone(case: &Case) -> Option<Cause> {
    let seconds = || case.s.timeline.iter().filter(|second| !second.warmup);
    let answered = |second: &&Second| second.requests > second.errors;
    // What never succeeded is not away: it was asked for the wrong thing, or in a wrong way.
    let begin_s = seconds().find(answered)?.from_s;
    let outages = case.s.availability.outages.iter().filter(|outage| outage.from_s > begin_s);
    let outage = outages.reduce(|a, b| if b.length_ns > a.length_ns { b } else { a })?;
    let in_it = seconds().filter(|s| s.from_s < outage.to_s && s.from_s + s.length_s > outage.from_s);
    let waiting = in_it.map(|second| second.in_flight).fold(0.0, f64::max);
    let failed: u64 = outage.failures.iter().map(|failure| failure.count).sum();
    let sentence = match how(outage) {
        Some("connect_refused") => "the service went away: nothing listens on its port",
        Some("http_status") => "the service answers only with errors",
        Some("timeout") | None => "the service stopped answering",
        Some(_) => "the service went away",
    };
    let evidence = format!(
        "no request succeeded {}; {} failed then, {} were waiting",
        span(outage),
        count(failed),
        count(waiting.round() as u64)
    );
    Some(Kind::ServiceGone.claim(Claim::Certain, evidence).saying(sentence))
}

/// The class of failure that says most of how it went; ended connections are only the beginning.
fn how(outage: &Outage) -> Option<&'static str> {
    let ends = ["stale_connection", "reset", "closed_before_response", "closed_mid_response"];
    let telling = outage.failures.iter().find(|failure| !ends.contains(&failure.class));
    telling.or_else(|| outage.failures.first()).map(|failure| failure.class)
}
