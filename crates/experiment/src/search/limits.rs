//! What else than the service may have limited a run: then it says nothing about the service.

use plimsoll_analysis::digest::Digest;
use serde::Serialize;

/// A limit of the load generator or of the way to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limited {
    /// Code of the caution that says so.
    pub code: String,
    pub title: String,
    pub evidence: String,
}

/// Cautions that are a limit by themselves, the one that explains the others first.
const ALONE: [&str; 10] = [
    "client_fd_limit",
    "client_ports_exhausted",
    "client_memory",
    "client_limit",
    "client_blocked",
    "client_stalled",
    "link_full",
    "offered_not_sent",
    "late_sends",
    CONNECTIONS,
];

/// Of those, what may pass: another program took the CPU for a moment. A step that met its thresholds all the same is
/// good, because times count from the intended instant and a late sender only makes them longer; one that missed is
/// tried again.
const PASSING: [&str; 3] = ["client_stalled", "late_sends", "client_cpu"];

impl Limited {
    pub(super) fn may_pass(&self) -> bool {
        PASSING.contains(&self.code.as_str())
    }
}

/// Full connections are a limit only while the service answers as quickly as ever, see
/// [`super::bracket::View`].
pub(super) const CONNECTIONS: &str = "connection_cap_hit";
/// The way to the target, not this machine.
pub(super) const LINK: &str = "link_full";

/// What limited this run besides the service, if anything.
///
/// A busy worker is none by itself (spinning and waiting look the same from outside); it is where users spent their
/// time outside requests, or workers waited for a CPU.
pub fn limit_of(digest: &Digest) -> Option<Limited> {
    let raised = |code: &str| digest.cautions.iter().find(|c| c.code == code);
    let cpu = || raised("client_cpu").filter(|_| raised("littles_law").or(raised("run_queue")).is_some());
    let caution = ALONE.iter().find_map(|code| raised(code)).or_else(cpu)?;
    Some(Limited {
        code: caution.code.to_owned(),
        title: caution.title.clone(),
        evidence: caution.evidence.clone(),
    })
}
