//! A draft at one level of a search: the search sets the load, all else stays as it was written.

use crate::exit::Failure;
use plimsoll_front::Located;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key;

/// Connections that arrivals may use at least: the cap is there against a service that never answers, and must not be
/// what is found.
const LEAST_CAP: f64 = 1_000.0;
/// And at most, so that the machine's own limits are not.
const MOST_CAP: f64 = 20_000.0;

/// One step of a search.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Users, or arrivals per second.
    pub level: f64,
    pub users: bool,
    pub warmup_ns: u64,
    /// Without the warm-up.
    pub length_ns: u64,
    /// The longest time that a threshold allows, ns: arrivals at this level have so long to be answered.
    pub patience_ns: u64,
}

/// # Errors
/// When the load is not the search's to set: scenarios with load models of their own.
pub fn at(mut located: Located, step: &Step) -> Result<Located, Failure> {
    let draft = &mut located.draft;
    if draft.entry.is_none() && !draft.workloads.is_empty() {
        return Err(Diagnostic::new(
            "U026",
            Place::Whole,
            "every scenario of the file has a load of its own, so there is no one level to search",
            "give the load once at the top, and weights to the scenarios",
        )
        .into());
    }
    (draft.load.stages, draft.load.recorded) = (None, None);
    (draft.load.requests_total, draft.load.iterations, draft.load.iterations_per_user) = (None, None, None);
    draft.warmup_ns = Some(step.warmup_ns);
    draft.load.duration_ns = Some(step.warmup_ns + step.length_ns);
    for gone in [key::STAGES, key::TOTAL, key::ITERATIONS, key::ITERATIONS_PER_USER] {
        located.places.remove(&gone);
    }
    if step.users {
        (draft.load.rate_per_s, draft.load.arrivals, draft.load.max_connections) = (None, None, None);
        draft.load.users = Some(step.level.round().max(1.0) as u32);
    } else {
        draft.load.users = None;
        draft.load.rate_per_s = Some(step.level);
        let needed = 2.0 * step.level * step.patience_ns as f64 / 1e9;
        draft.load.max_connections.get_or_insert(needed.clamp(LEAST_CAP, MOST_CAP) as u32);
    }
    Ok(located)
}

/// The draft with one user, for what an unloaded answer takes: a request every `pause_ns`, later where the service
/// takes longer, so that a service that turns away who asks too often does not turn this one away.
pub fn floor(located: Located, length_ns: u64, pause_ns: u64) -> Result<Located, Failure> {
    let step = Step { level: 1.0, users: true, warmup_ns: 0, length_ns, patience_ns: 0 };
    let mut located = at(located, &step)?;
    let draft = &mut located.draft;
    draft.load.rate_per_s = Some(1e9 / pause_ns.max(1) as f64);
    (draft.load.users, draft.load.max_connections) = (None, Some(1));
    // Its conditions are for loads; what a single user meets proves nothing of them, and half of them need arrivals.
    draft.thresholds.clear();
    Ok(located)
}
