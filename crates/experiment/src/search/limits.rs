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

/// Cautions that are a limit by themselves, the one that explains the others first.
const ALONE: [Kind; 10] = [
    Kind::ClientFdLimit,
    Kind::ClientPortsExhausted,
    Kind::ClientMemory,
    Kind::ClientLimit,
    Kind::ClientBlocked,
    Kind::ClientStalled,
    Kind::LinkFull,
    Kind::OfferedNotSent,
    Kind::LateSends,
    CONNECTIONS,
];

/// Of those, what may pass: another program took the CPU for a moment. A step that met its thresholds all the same is
/// good, because times count from the intended instant and a late sender only makes them longer; one that missed is
/// tried again.
const PASSING: [Kind; 3] = [Kind::ClientStalled, Kind::LateSends, Kind::ClientCpu];

impl Limited {
    pub(super) fn may_pass(&self) -> bool {
        PASSING.contains(&self.kind)
    }
}

/// Full connections are a limit only while the service answers as quickly as ever, see
/// [`super::bracket::View`].
pub(super) const CONNECTIONS: Kind = Kind::ConnectionCapHit;
/// The way to the target, not this machine.
pub(super) const LINK: Kind = Kind::LinkFull;

/// What limited this run besides the service, if anything.
///
/// A busy worker is none by itself (spinning and waiting look the same from outside); it is where users spent their
/// time outside requests, or workers waited for a CPU.
pub fn limit_of(digest: &Digest) -> Option<Limited> {
    let raised = |kind: Kind| digest.cautions.iter().find(|c| c.kind == kind);
    let cpu =
        || raised(Kind::ClientCpu).filter(|_| raised(Kind::LittlesLaw).or(raised(Kind::RunQueue)).is_some());
    let caution = ALONE.iter().find_map(|kind| raised(*kind)).or_else(cpu)?;
    Some(Limited { kind: caution.kind, title: caution.title(), evidence: caution.evidence_text() })
}
