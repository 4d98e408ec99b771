//! Little's law, N = X R: three ways to compute the number of requests in flight. If they disagree, a clock or a
//! counter is wrong, or the load generator delayed users.

use super::cells::Cells;
use super::facts::{Facts, ratio};
use super::streams;
use super::timeline::Moment;
use crate::caution::CautionLimits;
use crate::summary::Little;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_record::event::StoppedBy;

pub(super) fn little(facts: &Facts, moments: &[Moment], limits: &CautionLimits) -> Little {
    let mean = |id: RunSum| -> f64 {
        facts.machines.iter().map(|m| ratio(m.origin.totals.run.of(id) as f64, m.rated_ns as f64)).sum()
    };
    let in_flight_mean = mean(RunSum::InFlightNs);
    let in_flight_computed = facts.machines.iter().map(|m| ratio(m.spent_ns, m.rated_ns as f64)).sum();
    let is_measured = facts.finished() > 0 || streams::are_used(facts);
    Little {
        in_flight_mean,
        in_flight_computed,
        is_consistent: is_measured && is_close(in_flight_mean, in_flight_computed, limits),
        users_mean: (!facts.is_open()).then(|| mean(RunSum::UsersNs)),
        users_outside_ratio: users_time(facts, moments).map(|t| t.outside),
    }
}

/// A few requests more or less at the edges are not worth a word.
pub(super) fn is_close(measured: f64, computed: f64, limits: &CautionLimits) -> bool {
    (measured - computed).abs() <= (measured * limits.in_flight_differs).max(1.0)
}

/// Where the users of the closed model spent their time.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsersTime {
    /// Share outside requests.
    pub outside: f64,
    /// The part that neither connecting nor the pause after a failed attempt explains. Users of a script think and
    /// wait for one another for unknown times; there it is 0.
    pub unexplained: f64,
}

/// `None` in the open model, and when no second is left to judge by.
pub(super) fn users_time(facts: &Facts, moments: &[Moment]) -> Option<UsersTime> {
    if facts.is_open() {
        return None;
    }
    // When the number of requests ends a run, the users that find none left wait for the last answers: the seconds
    // from the last send on say nothing.
    let measured = || moments.iter().filter(|m| !m.second.is_warmup);
    let last = match facts.stopped_by().is_some_and(StoppedBy::is_out_of_work) {
        true => measured().rfind(|m| m.sent > 0)?.second.tick,
        false => u32::MAX,
    };
    let judged = || measured().filter(|m| m.second.tick < last);
    let users_ns: f64 = judged().map(|m| m.users_ns as f64).sum();
    if users_ns <= 0.0 {
        return None;
    }
    let in_flight_ns: f64 = judged().map(|m| m.in_flight_ns as f64).sum();
    let connect_ns: f64 = judged().map(|m| m.connect_ns as f64).sum();
    let outside = (1.0 - in_flight_ns / users_ns).max(0.0);
    if facts.is_scripted() {
        return Some(UsersTime { outside, unexplained: 0.0 });
    }
    let explained = (connect_ns + pauses_ns(facts)) / users_ns;
    Some(UsersTime { outside, unexplained: (outside - explained).max(0.0) })
}

/// The most time that users can have spent on attempts that failed, pauses included; it is not measured.
fn pauses_ns(facts: &Facts) -> f64 {
    let limits = &facts.plan.limits;
    let pause_ns = limits.reconnect_pause_ns.max(SECOND_NS);
    Fault::ALL
        .iter()
        .map(|fault| match fault {
            Fault::ConnectTimeout | Fault::ProxyTimeout | Fault::DnsTimeout => {
                facts.all.fault(*fault) as f64 * (limits.connect_timeout_ns as f64 + pause_ns as f64)
            }
            Fault::ConnectionRefused
            | Fault::AcceptQueueFull
            | Fault::ProxyRefused
            | Fault::ProxyCredentials
            | Fault::ProxyFailed
            | Fault::HostUnreachable
            | Fault::DnsFailed
            | Fault::ProtocolChanged
            // This side's own.
            | Fault::FdLimit
            | Fault::PortsExhausted
            | Fault::ClientOutOfMemory
            | Fault::ClientSendRefused
            | Fault::OriginRefused
            | Fault::InvalidRequest
            | Fault::ClientLimit => facts.all.fault(*fault) as f64 * pause_ns as f64,
            Fault::ConnectionReset
            | Fault::StaleConnection
            | Fault::ClosedBeforeResponse
            | Fault::ClosedMidResponse
            | Fault::MalformedResponse
            | Fault::UnsafeResponse
            | Fault::Timeout
            | Fault::Status
            | Fault::Check
            | Fault::GraphqlErrors
            | Fault::Tls
            | Fault::CertificateRejected
            | Fault::TlsTimeout
            | Fault::StreamIdleTimeout
            | Fault::StreamFailed
            | Fault::WebSocketHandshake
            | Fault::WebSocketClosed
            | Fault::MessageTimeout
            | Fault::Redirects
            | Fault::DecodeFailed
            | Fault::StreamReset
            | Fault::StreamRefused
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
            | Fault::GrpcUnavailable
            | Fault::GrpcDataLoss
            | Fault::GrpcUnauthenticated
            | Fault::GrpcNoStatus
            | Fault::GrpcContentType
            | Fault::GrpcInvalidMessage => 0.0,
        })
        .sum()
}
