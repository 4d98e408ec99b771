//! Limits outside of the service: a run with such a limit does not describe the service.

use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Digest;
use serde::Serialize;

/// A limit of the load generator or of the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limited {
    /// The code of the caution.
    #[serde(rename = "code")]
    pub kind: Kind,
    pub title: String,
    pub evidence: String,
}

/// The owner of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limiter {
    Generator,
    /// The network.
    Link,
}

/// A caution that is a limit.
struct Row {
    kind: Kind,
    limiter: Limiter,
    /// A temporary limit: another program took the CPU for a moment. A step that met its thresholds counts, because
    /// times include the schedule lag and can only be too long; one that missed them is repeated.
    may_pass: bool,
    /// Counts only together with one of these; if empty, on its own.
    beside: &'static [Kind],
}

const fn row(kind: Kind, limiter: Limiter, may_pass: bool) -> Row {
    Row { kind, limiter, may_pass, beside: &[] }
}

/// Causes come before their effects.
const TABLE: &[Row] = &[
    row(Kind::ClientFdLimit, Limiter::Generator, false),
    row(Kind::ClientPortsExhausted, Limiter::Generator, false),
    row(Kind::ClientOutOfMemory, Limiter::Generator, false),
    row(Kind::ClientLimit, Limiter::Generator, false),
    row(Kind::ClientSendRefused, Limiter::Generator, false),
    row(Kind::OriginRefused, Limiter::Generator, false),
    row(Kind::InvalidRequest, Limiter::Generator, false),
    row(Kind::ClientStalled, Limiter::Generator, true),
    row(Kind::NetworkSaturated, Limiter::Link, false),
    row(Kind::OfferedRateMissed, Limiter::Generator, false),
    row(Kind::LateSends, Limiter::Generator, true),
    row(CONNECTIONS, Limiter::Generator, false),
    // A busy worker alone is not a limit (busy-polling and working look the same from outside); it is one if users
    // spent time outside requests, or if workers waited for CPU.
    Row {
        beside: &[Kind::LittlesLaw, Kind::ClientCpuWait],
        ..row(Kind::ClientCpuSaturated, Limiter::Generator, true)
    },
];

impl Limited {
    fn row(&self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.kind == self.kind)
    }

    pub(super) fn may_pass(&self) -> bool {
        self.row().is_some_and(|row| row.may_pass)
    }

    /// Returns the owner of the limit.
    pub fn limiter(&self) -> Limiter {
        self.row().map_or(Limiter::Generator, |row| row.limiter)
    }
}

/// Full connections are a limit only while the service is as fast as ever, see [`super::view::View`].
pub(super) const CONNECTIONS: Kind = Kind::ConnectionLimitReached;

/// Returns the limit of this run outside of the service, if there is one.
pub fn limit_of(digest: &Digest) -> Option<Limited> {
    let raised = |kind: Kind| digest.cautions.iter().find(|c| c.kind == kind);
    let is_limit =
        |row: &&Row| row.beside.is_empty() || row.beside.iter().any(|kind| raised(*kind).is_some());
    let caution = TABLE.iter().filter(is_limit).find_map(|row| raised(row.kind))?;
    Some(Limited { kind: caution.kind, title: caution.title(), evidence: caution.evidence_text() })
}
