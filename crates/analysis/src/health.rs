//! How heavy the doubts about each part of the load generator are: the sign of a line of the trust box.

use crate::caution::{Place, Subject};
use crate::summary::{Caution, Severity, Summary};
use std::collections::BTreeMap;

/// What is doubted about one subject.
#[derive(Debug, Clone)]
pub struct SubjectHealth<'a> {
    /// The heaviest doubt; `None`: nothing was found.
    pub severity: Option<Severity>,
    /// The cautions about it, the heaviest first.
    pub cautions: Vec<&'a Caution>,
}

impl<'a> SubjectHealth<'a> {
    pub fn of(s: &'a Summary, subject: Subject) -> Self {
        let about = s.cautions.iter().filter(|c| c.kind.place() == Place::Line(subject));
        let mut cautions: Vec<&Caution> = about.collect();
        // Weights are ordered from the heaviest.
        cautions.sort_by_key(|c| c.severity);
        let severity =
            cautions.first().map(|c| c.severity).into_iter().chain(beside_cautions(s, subject)).min();
        SubjectHealth { severity, cautions }
    }
}

/// Returns the machines of the load generators with the numbers of their CPUs. Several load generators may share a
/// machine, each with some of its CPUs or with all of them.
pub fn machines(s: &Summary) -> BTreeMap<&str, u32> {
    let mut machines: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for environment in &s.environments {
        let (cpus, online) = machines.entry(environment.machine()).or_default();
        *cpus += environment.cpus;
        *online = environment.cpus_online.max(environment.cpus).max(*online);
    }
    machines.into_iter().map(|(machine, (cpus, online))| (machine, cpus.min(online))).collect()
}

/// What gives a subject a sign without a caution.
fn beside_cautions(s: &Summary, subject: Subject) -> Option<Severity> {
    match subject {
        // Numbers handed over late are right all the same: no caution, but a sign of a machine without room.
        Subject::Record => (s.client.intervals_late > 0).then_some(Severity::Warning),
        // Two ways to compute a number confirm each other only if they agree and both have data.
        Subject::Little => (!s.client.littles_law.is_consistent).then_some(Severity::Note),
        Subject::Rate
        | Subject::ScheduleLag
        | Subject::Workers
        | Subject::Machine
        | Subject::Connections
        | Subject::Tls
        | Subject::Descriptors
        | Subject::Ports
        | Subject::InFlight
        | Subject::Network => None,
    }
}
