//! What failures say of their cause. The classes are facts; why a server closes or refuses is another question, and is
//! answered only where the rest of the run excludes the other answers.

use super::Case;
use crate::cause::evidence::Failures;
use crate::cause::{Cause, Claim, Evidence, Kind};
use crate::cells::Cells;
use crate::stale::{self, Ended};
use crate::summary::{ErrorRow, SeriesRow};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum};

/// Share of all failures above which a class is reported.
const TOLD: f64 = 0.05;
/// A request fails altogether from this share on, and others do not below that.
const FAILS: f64 = 0.9;
const FAILS_NOT: f64 = 0.1;
/// Fewer failures of one request are chance.
const MIN_FAILURES: u64 = 3;

/// Causes of the failures, the class of most of them first.
pub(super) fn failures(case: &Case) -> Vec<Cause> {
    let s = case.s;
    let failed = s.totals.errors;
    let mut out: Vec<Cause> = one_request(case).into_iter().collect();
    let mut rows: Vec<&ErrorRow> = s.errors.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows.retain(|row| row.count as f64 >= failed as f64 * TOLD);
    for row in rows {
        out.extend(of_class(case, row));
    }
    out
}

/// Whether a service that is only overloaded fails like that.
pub(super) fn may_be_load(cause: &Cause) -> bool {
    const LOAD: [Kind; 8] = [
        Kind::NoResponse,
        Kind::ListenQueueFull,
        Kind::ServerOverloaded,
        Kind::UpstreamFailed,
        Kind::ServerErrors,
        Kind::ConnectionsClosed,
        Kind::ConnectionLimit,
        Kind::ConnectionsRefused,
    ];
    LOAD.iter().any(|kind| cause.is(*kind))
}

/// One request of several that fails while the others do not.
fn one_request(case: &Case) -> Option<Cause> {
    let rows = &case.s.requests;
    let share = |row: &SeriesRow| row.errors as f64 / row.requests.max(1) as f64;
    let worst = rows.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let others = || rows.iter().filter(|row| !std::ptr::eq(*row, worst));
    let (failed, all): (u64, u64) =
        others().fold((0, 0), |(failed, all), row| (failed + row.errors, all + row.requests));
    let is_one = rows.len() > 1 && all > 0 && failed as f64 <= all as f64 * FAILS_NOT;
    if !is_one || worst.errors < MIN_FAILURES || share(worst) < FAILS {
        return None;
    }
    let evidence = Evidence::OneRequest {
        request: worst.name.clone(),
        failures: Failures { failed_count: worst.errors, requests_count: worst.requests },
        failure: worst.errors_by_class.iter().max_by_key(|(_, n)| **n).map(|(class, _)| *class),
        others_failed_count: failed,
        others_requests_count: all,
    };
    Some(Kind::FailingRequest.claim(Claim::Certain, evidence))
}

fn of_class(case: &Case, row: &ErrorRow) -> Option<Cause> {
    let failures = share_of(case, row.count);
    let failed = Evidence::Failed(failures);
    match row.class {
        Fault::Status => status(case, row),
        Fault::GraphqlErrors => Some(Kind::CheckFailed.claim(Claim::Certain, failed)),
        Fault::Check => Some(Kind::CheckFailed.claim(Claim::Certain, check(case).unwrap_or(failed))),
        Fault::MalformedResponse
        | Fault::UnsafeResponse
        | Fault::DecodeFailed
        | Fault::GrpcNoStatus
        | Fault::GrpcContentType
        | Fault::GrpcInvalidMessage => {
            let evidence = Evidence::FailedAs { failures, failure: row.class };
            Some(Kind::InvalidResponses.claim(Claim::Certain, evidence))
        }
        Fault::ClosedMidResponse => {
            let claim = if case.is_local() { Claim::Certain } else { Claim::Likely };
            Some(Kind::TruncatedResponses.claim(claim, failed))
        }
        Fault::StreamReset | Fault::StreamRefused => {
            let evidence = Evidence::FailedAs { failures, failure: row.class };
            Some(Kind::StreamsReset.claim(Claim::Certain, evidence))
        }
        Fault::GrpcUnauthenticated | Fault::GrpcPermissionDenied => {
            let evidence = Evidence::FailedAs { failures, failure: row.class };
            Some(Kind::CredentialsRejected.claim(Claim::Certain, evidence))
        }
        Fault::GrpcInvalidArgument
        | Fault::GrpcNotFound
        | Fault::GrpcAlreadyExists
        | Fault::GrpcFailedPrecondition
        | Fault::GrpcOutOfRange
        | Fault::GrpcUnimplemented => {
            let evidence = Evidence::FailedAs { failures, failure: row.class };
            Some(Kind::RequestRejected.claim(Claim::Certain, evidence))
        }
        Fault::GrpcCancelled
        | Fault::GrpcUnknown
        | Fault::GrpcDeadlineExceeded
        | Fault::GrpcResourceExhausted
        | Fault::GrpcAborted
        | Fault::GrpcInternal
        | Fault::GrpcUnavailable
        | Fault::GrpcDataLoss => {
            let evidence = Evidence::FailedAs { failures, failure: row.class };
            Some(Kind::ServerErrors.claim(Claim::Certain, evidence))
        }
        Fault::Tls | Fault::TlsTimeout | Fault::CertificateRejected | Fault::ProtocolChanged => {
            let evidence = Evidence::FailedAs { failures, failure: row.class };
            Some(Kind::TlsFailed.claim(Claim::Certain, evidence))
        }
        Fault::StaleConnection => match stale::ended(case.facts)? {
            Ended::Idle => Some(idle(case, failures)),
            Ended::InUse | Ended::Gone => Some(closed(case, failed)),
        },
        Fault::ConnectionReset | Fault::ClosedBeforeResponse => {
            limited(case, row, failures).or_else(|| Some(closed(case, failed)))
        }
        Fault::ConnectionRefused => {
            // A listener whose queue is full drops; only one that is not there refuses.
            Some(Kind::ConnectionsRefused.claim(Claim::Likely, failed))
        }
        Fault::HostUnreachable => Some(Kind::HostUnreachable.claim(Claim::Certain, failed)),
        Fault::ConnectTimeout => Some(match case.is_local() {
            true => Kind::ListenQueueFull.claim(Claim::Likely, Evidence::FailedConnecting(failures)),
            false => Kind::HostUnreachable.claim(Claim::Possible, Evidence::FailedConnecting(failures)),
        }),
        Fault::AcceptQueueFull => {
            Some(Kind::ListenQueueFull.claim(Claim::Certain, Evidence::FailedConnecting(failures)))
        }
        Fault::Timeout => limited(case, row, failures).or_else(|| Some(unanswered(case, failures))),
        // The plan defines what a stream, a WebSocket, or a chain of redirects should be, and limits of the load
        // generator have their own cause.
        Fault::StreamIdleTimeout
        | Fault::StreamFailed
        | Fault::WebSocketHandshake
        | Fault::WebSocketClosed
        | Fault::MessageTimeout
        | Fault::Redirects
        // The proxy's log says more than its refusal.
        | Fault::ProxyRefused
        | Fault::ProxyCredentials
        | Fault::ProxyFailed
        | Fault::ProxyTimeout
        // The resolver does not belong to the service.
        | Fault::DnsFailed
        | Fault::DnsTimeout
        | Fault::FdLimit
        | Fault::PortsExhausted
        | Fault::ClientOutOfMemory
        | Fault::ClientSendRefused
        | Fault::OriginRefused
        | Fault::InvalidRequest
        | Fault::ClientLimit => None,
    }
}

fn share_of(case: &Case, n: u64) -> Failures {
    Failures { failed_count: n, requests_count: case.s.totals.requests }
}

/// What statuses say: some of them name their cause themselves.
fn status(case: &Case, row: &ErrorRow) -> Option<Cause> {
    // A status that is more frequent than failures is one that the plan expects.
    let is_failing = |status: &str, n: u64| status.starts_with(['4', '5']) && n <= row.count;
    let failing = case.s.status_codes.iter().filter(|(status, n)| is_failing(status, **n));
    let (status, n) = failing.max_by_key(|(_, n)| **n)?;
    let status: u16 = status.parse().ok()?;
    let failures = share_of(case, *n);
    let claimed = |kind: Kind, claim: Claim, is_in_sentence: bool| {
        kind.claim(claim, Evidence::Status { failures, status, is_in_sentence })
    };
    Some(match status {
        429 => claimed(Kind::RateLimited, Claim::Certain, false),
        401 | 403 | 407 => claimed(Kind::CredentialsRejected, Claim::Certain, true),
        404 | 410 => claimed(Kind::NotFound, Claim::Certain, false),
        // Gateways say so of themselves; a service may say it, too.
        502 | 504 => claimed(Kind::UpstreamFailed, Claim::Likely, false),
        503 => claimed(Kind::ServerOverloaded, Claim::Certain, false),
        500.. => claimed(Kind::ServerErrors, Claim::Certain, true),
        ..500 => claimed(Kind::RequestRejected, Claim::Certain, true),
    })
}

fn check(case: &Case) -> Option<Evidence> {
    let row = case.s.checks.iter().max_by_key(|row| row.failures).filter(|row| row.failures > 0)?;
    Some(Evidence::Check {
        check: row.name.clone(),
        request: row.request.clone(),
        failed_count: row.failures,
        evaluations_count: row.evaluations,
    })
}

/// Closes of connections that had been idle while the server kept serving others.
fn idle(case: &Case, failures: Failures) -> Cause {
    let idle = case.facts.run.spread(RunHist::IdleBeforeClose);
    let (idle_min_ns, idle_max_ns) = (idle.min().unwrap_or(0), idle.max().unwrap_or(0));
    let evidence = Evidence::Idle { failures, idle_min_ns, idle_max_ns };
    Kind::IdleTimeout.claim(Claim::Certain, evidence)
}

/// The ends of connections are a fact; where no machine lies between, it is the server that made them.
fn closed(case: &Case, evidence: Evidence) -> Cause {
    let claim = if case.is_local() { Claim::Certain } else { Claim::Likely };
    Kind::ConnectionsClosed.claim(claim, evidence)
}

/// Failures only on connections that never served anything, while the others serve without one: the server takes so
/// many connections and no more.
fn limited(case: &Case, row: &ErrorRow, failures: Failures) -> Option<Cause> {
    let s = case.s;
    let connections = &s.client.connections;
    let served = case.facts.run.spread(RunHist::ConnRequests);
    let stale = s.errors.iter().any(|row| row.class == Fault::StaleConnection);
    // One that failed under its first request counts it.
    let unopened = if row.class == Fault::ConnectionReset { reset_unopened(case) } else { 0 };
    let fresh = served.count_at_most(1).saturating_add(unopened);
    let others = s.totals.requests.saturating_sub(s.totals.errors);
    let is_fresh = fresh as f64 >= row.count as f64 * FAILS && !stale;
    let used = served.count_above(1);
    if !is_fresh
        || others == 0
        || connections.reused_requests == 0
        || used == 0
        || !case.facts.plan.keep_alive
    {
        return None;
    }
    Some(Kind::ConnectionLimit.claim(
        Claim::Likely,
        Evidence::Fresh { failures, serving_connections_count: used, succeeded_count: others },
    ))
}

/// Returns the number of connections of the measured part that were reset before they opened (over TLS: before the
/// handshake ended). They served no request. Other failures to connect have their own classes, and some connections
/// were still opening at the end.
fn reset_unopened(case: &Case) -> u64 {
    const CONNECTING: [Fault; 4] =
        [Fault::ConnectionRefused, Fault::ConnectTimeout, Fault::HostUnreachable, Fault::AcceptQueueFull];
    // Handshakes with a proxy come before those of TLS.
    const HANDSHAKING: [Fault; 7] = [
        Fault::Tls,
        Fault::TlsTimeout,
        Fault::CertificateRejected,
        Fault::ProxyRefused,
        Fault::ProxyCredentials,
        Fault::ProxyFailed,
        Fault::ProxyTimeout,
    ];
    let s = case.s;
    let is_tls = case.facts.plan.tls().is_some();
    let runs = || case.facts.machines.iter().map(|machine| &machine.origin.totals.run);
    let sum = |id: RunSum| runs().fold(0u64, |sum, run| sum.saturating_add(run.of(id)));
    let opened = sum(if is_tls { RunSum::Handshakes } else { RunSum::ConnOpened });
    let is_known =
        |row: &&ErrorRow| CONNECTING.contains(&row.class) || is_tls && HANDSHAKING.contains(&row.class);
    let known = s.errors.iter().filter(is_known).chain(&s.client.faults);
    let known = known.fold(opened, |sum, row| sum.saturating_add(row.count));
    sum(RunSum::ConnAttempts).saturating_sub(known).saturating_sub(s.totals.in_flight_at_end)
}

fn unanswered(case: &Case, failures: Failures) -> Cause {
    let s = case.s;
    let evidence = Evidence::TimedOut {
        failures,
        after_ns: case.facts.plan.timeout_ns,
        others_p50_ns: s.service_time.p50_ns.filter(|_| s.totals.errors < s.totals.requests),
    };
    Kind::NoResponse.claim(Claim::Certain, evidence)
}
