//! Causes as sentences: a certain one as a fact, any other with its strength and with what would tell.

use super::{COURSE, ERRORS, Hint, SYSTEM, capital, relief, sentence, step, why};
use plimsoll_analysis::cause::{Cause, Claim, Kind};
use plimsoll_analysis::summary::Summary;

/// More of them confuse.
const TOLD: usize = 2;
/// What a page shows of them.
const FAILING: &[Kind] = &[
    Kind::RequestFails,
    Kind::RateLimited,
    Kind::CredentialsRefused,
    Kind::NotFound,
    Kind::RequestRefused,
    Kind::CheckFailed,
    Kind::InvalidResponses,
    Kind::ResponsesCutShort,
    Kind::TlsRefused,
    Kind::IdleTimeout,
    Kind::ConnectionLimit,
    Kind::UpstreamFailed,
    Kind::Overloaded,
    Kind::ServerErrors,
    Kind::ConnectionsClosed,
    Kind::ConnectionsRefused,
    Kind::Unreachable,
    Kind::NoResponse,
];
/// Their steps are told with the target, the status or what was monitored in them.
const TOLD_BETTER: &[Kind] = &[
    Kind::RateLimited,
    Kind::CredentialsRefused,
    Kind::NotFound,
    Kind::RequestRefused,
    Kind::CheckFailed,
    Kind::TlsRefused,
    Kind::UpstreamFailed,
    Kind::Overloaded,
    Kind::ServerErrors,
    Kind::ConnectionsRefused,
    Kind::Unreachable,
    Kind::NoResponse,
    Kind::ServerTime,
];

fn is_any(cause: &Cause, kinds: &[Kind]) -> bool {
    kinds.iter().any(|kind| cause.is(*kind))
}

/// The first causes, each with its evidence.
pub(super) fn reasons(s: &Summary) -> impl Iterator<Item = Hint> {
    s.causes.iter().take(TOLD).map(|cause| why(told(cause), shown(cause)))
}

fn shown(cause: &Cause) -> &'static [&'static str] {
    if is_any(cause, FAILING) {
        ERRORS
    } else if is_any(cause, &[Kind::ThreadSaturated, Kind::ResourceSaturated, Kind::MemoryLeak]) {
        SYSTEM
    } else {
        COURSE
    }
}

/// `The server's listen queue is full: 12 of 40 connections ...`
fn told(cause: &Cause) -> String {
    let Cause { sentence: what, evidence, would_tell, .. } = cause;
    match cause.claim {
        Claim::Certain => sentence(&format!("{}: {evidence}", capital(what))),
        Claim::Likely => {
            format!("Probably {what}: {} To be sure, {}", sentence(evidence), sentence(would_tell))
        }
        Claim::Possible => {
            format!("It may be that {what}: {} To find out, {}", sentence(evidence), sentence(would_tell))
        }
    }
}

/// What the first cause asks for. `None`: there is none, or what failed tells it better.
pub(super) fn first_step(s: &Summary) -> Option<Hint> {
    let cause = s.causes.first().filter(|cause| !is_any(cause, TOLD_BETTER))?;
    let saturated = is_any(cause, &[Kind::ThreadSaturated, Kind::ResourceSaturated]);
    if let Some(pressure) = s.pressure.first().filter(|_| saturated) {
        let what = super::quoted(&pressure.what);
        return Some(step(format!("Relieve {what}: {}.", relief(pressure)), SYSTEM));
    }
    Some(step(sentence(&capital(&cause.advice)), shown(cause)))
}
