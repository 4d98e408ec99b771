//! What else than the service may have limited a run: then it says nothing about the service.

use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Digest;
use serde::Serialize;

/// A limit of the load generator or of the way to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limited {
    /// The caution that says so, as its code.
    #[serde(rename = "code")]
    pub kind: Kind,
    pub title: String,
    pub evidence: String,
}

/// Whose limit it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limiter {
    Generator,
    /// The way to the target.
    Link,
}

/// A caution that is a limit.
struct Row {
    kind: Kind,
    limiter: Limiter,
    /// Another program took the CPU for a moment. A step that met its thresholds all the same is good, because times
    /// count from the intended instant and a late sender only makes them longer; one that missed is tried again.
    may_pass: bool,
    /// Only beside one of these; empty: by itself.
    beside: &'static [Kind],
}

const fn row(kind: Kind, limiter: Limiter, may_pass: bool) -> Row {
    Row { kind, limiter, may_pass, beside: &[] }
}

/// The one that explains the others first.
const TABLE: &[Row] = &[
    row(Kind::ClientFdLimit, Limiter::Generator, false),
    row(Kind::ClientPortsExhausted, Limiter::Generator, false),
    row(Kind::ClientOutOfMemory, Limiter::Generator, false),
    row(Kind::ClientLimit, Limiter::Generator, false),
    row(Kind::ClientSendRefused, Limiter::Generator, false),
    row(Kind::ClientStalled, Limiter::Generator, true),
    row(Kind::NetworkSaturated, Limiter::Link, false),
    row(Kind::OfferedRateMissed, Limiter::Generator, false),
    row(Kind::LateSends, Limiter::Generator, true),
    row(CONNECTIONS, Limiter::Generator, false),
    // A busy worker is none by itself (spinning and waiting look the same from outside); it is where users spent their
    // time outside requests, or workers waited for a CPU.
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

    /// Whose limit it was.
    pub fn limiter(&self) -> Limiter {
        self.row().map_or(Limiter::Generator, |row| row.limiter)
    }
}

/// Full connections are a limit only while the service answers as quickly as ever, see
/// [`super::view::View`].
pub(super) const CONNECTIONS: Kind = Kind::ConnectionLimitReached;

/// What limited this run besides the service, if anything.
pub fn limit_of(digest: &Digest) -> Option<Limited> {
    let raised = |kind: Kind| digest.cautions.iter().find(|c| c.kind == kind);
    let is_limit =
        |row: &&Row| row.beside.is_empty() || row.beside.iter().any(|kind| raised(*kind).is_some());
    let caution = TABLE.iter().filter(is_limit).find_map(|row| raised(row.kind))?;
    Some(Limited { kind: caution.kind, title: caution.title(), evidence: caution.evidence_text() })
}
