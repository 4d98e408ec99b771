//! The service went away: it had answered, and then nothing succeeded any more for a while. Or it stopped answering one
//! of its requests, or at one of its addresses.

use super::Case;
use crate::cause::{Cause, Claim, Kind};
use crate::outage_words::{nothing_of, span};
use crate::summary::{Outage, OutageFailure, PartAvailability, PartKind, Second};
use plimsoll_plan::phrase::count;

/// Below this availability other causes are not worth a claim of their own.
const MOSTLY_THERE: f64 = 0.9;

/// The cause, and how far it explains the run.
pub(super) struct Gone {
    pub cause: Cause,
    /// At least half of all errors were in the outage.
    pub explains_failures: bool,
    /// The availability is below [`MOSTLY_THERE`], so response times outside of the outage do not matter.
    pub explains_times: bool,
    /// The request, or the address, that was not answered while others were.
    pub part: Option<String>,
}

/// Of the service or of a part of it, whichever was down for longer.
pub(super) fn gone(case: &Case) -> Option<Gone> {
    let longest = case.s.availability.longest();
    let part = longest.and_then(|(part, outage)| hung(case, part?, outage));
    part.or_else(|| whole(case))
}

/// A part that fails is explained by how it fails.
fn hung(case: &Case, part: &PartAvailability, outage: &Outage) -> Option<Gone> {
    if outage.failed > 0 {
        return None;
    }
    let name = part.name.replace('`', "'");
    let sentence = match part.kind {
        PartKind::Request => format!("the service stopped answering request `{name}`"),
        PartKind::Address => format!("the service stopped answering at address `{name}`"),
    };
    let evidence = format!("{} {}; they waited for a response", nothing_of(part), span(outage));
    let claim = case.unless_starved(Claim::Certain);
    Some(Gone {
        cause: Kind::ServiceGone.claim(claim, evidence).saying(sentence),
        explains_failures: case.s.totals.errors == 0,
        explains_times: false,
        part: Some(part.name.clone()),
    })
}

fn whole(case: &Case) -> Option<Gone> {
    let seconds = || case.s.timeline.iter().filter(|second| !second.warmup);
    let answered = |second: &&Second| second.requests > second.errors;
    // A service that never responded with success did not go away: the requests are wrong.
    let begin_s = seconds().find(answered)?.from_s;
    let outages = case.s.availability.outages.iter().filter(|outage| outage.from_s > begin_s);
    let outage = outages.reduce(|a, b| if b.length_ns > a.length_ns { b } else { a })?;
    let in_it = seconds().filter(|s| s.from_s < outage.to_s && s.from_s + s.length_s > outage.from_s);
    let waiting = in_it.map(|second| second.in_flight).fold(0.0, f64::max);
    let failed: u64 = outage.failures.iter().map(|failure| failure.count).sum();
    let how = how(outage);
    let (sentence, claim) = match how.map(|failure| (failure.class, failure.status)) {
        // A service that responds, but not as expected, did not go away. `failures` names what it responds.
        Some(("http_status", Some(status))) if status < 500 => return None,
        Some((
            "check_failed"
            | "malformed_response"
            | "dangerous_response"
            | "undecodable_body"
            | "tls_failed"
            | "tls_timeout"
            | "certificate_refused",
            _,
        )) => return None,
        Some(("connect_refused", _)) => {
            ("the service went away: nothing listens on its port", Claim::Certain)
        }
        Some(("http_status", _)) => ("the service answers only with errors", Claim::Certain),
        Some(("unreachable" | "connect_timeout", _)) if !case.is_local() => {
            ("the service went away", Claim::Likely)
        }
        Some(("timeout", _)) | None => ("the service stopped answering", Claim::Certain),
        Some(_) => ("the service went away", Claim::Certain),
    };
    let evidence = format!(
        "no request succeeded {}; {} failed then, {} were waiting",
        span(outage),
        count(failed),
        count(waiting.round() as u64)
    );
    Some(Gone {
        cause: Kind::ServiceGone.claim(claim, evidence).saying(sentence),
        explains_failures: failed.saturating_mul(2) >= case.s.totals.errors,
        explains_times: case.s.availability.ratio_time.is_none_or(|ratio| ratio < MOSTLY_THERE),
        part: None,
    })
}

/// The class of failure that says most of how it went; ended connections are only the beginning.
fn how(outage: &Outage) -> Option<&OutageFailure> {
    let ends = ["stale_connection", "reset", "closed_before_response", "closed_mid_response"];
    let telling = outage.failures.iter().find(|failure| !ends.contains(&failure.class));
    telling.or_else(|| outage.failures.first())
}
