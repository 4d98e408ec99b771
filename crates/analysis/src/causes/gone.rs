//! The service went away: it had answered, and then nothing succeeded any more for a while. Or it stopped answering one
//! of its requests, or at one of its addresses.

use super::Case;
use crate::cause::evidence::{Absence, ServicePart};
use crate::cause::{Cause, Claim, Evidence, Kind};
use crate::outage_words::stretch;
use crate::summary::{Outage, OutageFailure, PartAvailability, PartKind, Second};
use plimsoll_plan::Fault;

/// Availability below which other causes are not worth reporting.
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
    if outage.failed_requests > 0 {
        return None;
    }
    let evidence = Evidence::PartGone {
        part: match part.kind {
            PartKind::Request => ServicePart::Request,
            PartKind::Address => ServicePart::Address,
        },
        name: part.name.clone(),
        stretch: stretch(outage),
    };
    let claim = case.unless_cpu_short(Claim::Certain);
    Some(Gone {
        cause: Kind::ServiceOutage.claim(claim, evidence),
        explains_failures: case.s.totals.errors == 0,
        explains_times: false,
        part: Some(part.name.clone()),
    })
}

fn whole(case: &Case) -> Option<Gone> {
    let seconds = || case.s.timeline.iter().filter(|second| !second.is_warmup);
    let answered = |second: &&Second| second.requests > second.errors;
    // A service that never responded with success did not go away: the requests are wrong.
    let begin_s = seconds().find(answered)?.from_s;
    let outages = case.s.availability.outages.iter().filter(|outage| outage.from_s > begin_s);
    let outage = outages.reduce(|a, b| if b.length_ns > a.length_ns { b } else { a })?;
    let in_it = seconds().filter(|s| s.from_s < outage.to_s && s.from_s + s.length_s > outage.from_s);
    let waiting = in_it.map(|second| second.in_flight).fold(0.0, f64::max);
    let failed: u64 = outage.failures.iter().map(|failure| failure.count).sum();
    let how = how(outage);
    let (absence, claim) = match how {
        Some(failure) => went(case.is_local(), failure)?,
        None => (Absence::NoAnswer, Claim::Certain),
    };
    let evidence = Evidence::Gone {
        absence,
        stretch: stretch(outage),
        failed_count: failed,
        waiting_count: waiting.round() as u64,
    };
    Some(Gone {
        cause: Kind::ServiceOutage.claim(claim, evidence),
        explains_failures: failed.saturating_mul(2) >= case.s.totals.errors,
        explains_times: case.s.availability.uptime_ratio.is_none_or(|ratio| ratio < MOSTLY_THERE),
        part: None,
    })
}

/// How the service went, by its most telling failure; `None`: it responds, but not as expected, so it did not go away,
/// and `failures` names what it responds.
pub(crate) fn went(is_local: bool, failure: &OutageFailure) -> Option<(Absence, Claim)> {
    Some(match failure.class {
        Fault::Status if failure.status.is_some_and(|status| status < 500) => return None,
        // What a gateway in front of a service that is gone says.
        Fault::Status | Fault::GrpcUnavailable => (Absence::OnlyErrors, Claim::Certain),
        Fault::Check
        | Fault::GraphqlErrors
        | Fault::MalformedResponse
        | Fault::UnsafeResponse
        | Fault::DecodeFailed
        | Fault::WebSocketHandshake
        | Fault::MessageTimeout
        | Fault::ProxyCredentials
        | Fault::Tls
        | Fault::TlsTimeout
        | Fault::CertificateRejected
        | Fault::ProtocolChanged
        | Fault::GrpcCancelled
        | Fault::GrpcUnknown
        | Fault::GrpcInvalidArgument
        | Fault::GrpcDeadlineExceeded
        | Fault::GrpcNotFound
        | Fault::GrpcAlreadyExists
        | Fault::GrpcPermissionDenied
        | Fault::GrpcResourceExhausted
        | Fault::GrpcFailedPrecondition
        | Fault::GrpcAborted
        | Fault::GrpcOutOfRange
        | Fault::GrpcUnimplemented
        | Fault::GrpcInternal
        | Fault::GrpcDataLoss
        | Fault::GrpcUnauthenticated
        | Fault::GrpcNoStatus
        | Fault::GrpcContentType
        | Fault::GrpcInvalidMessage
        | Fault::DnsFailed
        | Fault::OriginRefused
        | Fault::InvalidRequest
        | Fault::DnsTimeout => return None,
        Fault::ConnectionRefused => (Absence::NothingListens, Claim::Certain),
        // What a proxy says about a server that it does not reach.
        Fault::ProxyRefused => (Absence::OnlyErrors, Claim::Likely),
        Fault::HostUnreachable | Fault::ConnectTimeout if !is_local => (Absence::WentAway, Claim::Likely),
        Fault::Timeout | Fault::AcceptQueueFull => (Absence::NoAnswer, Claim::Certain),
        Fault::HostUnreachable
        | Fault::ConnectTimeout
        | Fault::ConnectionReset
        | Fault::StaleConnection
        | Fault::ClosedBeforeResponse
        | Fault::ClosedMidResponse
        | Fault::ProxyFailed
        | Fault::ProxyTimeout
        | Fault::StreamReset
        | Fault::StreamRefused
        | Fault::StreamIdleTimeout
        | Fault::StreamFailed
        | Fault::WebSocketClosed
        | Fault::Redirects
        | Fault::FdLimit
        | Fault::PortsExhausted
        | Fault::ClientOutOfMemory
        | Fault::ClientSendRefused
        | Fault::ClientLimit => (Absence::WentAway, Claim::Certain),
    })
}

/// The class of failure that says most of how it went; ended connections are only the beginning.
fn how(outage: &Outage) -> Option<&OutageFailure> {
    const ENDS: [Fault; 4] = [
        Fault::StaleConnection,
        Fault::ConnectionReset,
        Fault::ClosedBeforeResponse,
        Fault::ClosedMidResponse,
    ];
    let telling = outage.failures.iter().find(|failure| !ENDS.contains(&failure.class));
    telling.or_else(|| outage.failures.first())
}
