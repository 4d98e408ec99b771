//! Builds the load models of a draft: that of the run, and those of single scenarios, all on the time axis of the run.

use super::{DEFAULT_DURATION_NS, DEFAULT_OPEN_CONNECTIONS, DEFAULT_USERS};
use crate::Diagnostic;
use crate::draft::{Draft, LoadDraft, WorkloadDraft, key};
use crate::load::{Arrivals, Load, Profile, Rules, Workload};
use crate::script::Entry;
use std::sync::Arc;

/// The load models for the seal.
pub(super) struct Lanes {
    pub workloads: Vec<Workload>,
    pub entries: Vec<Entry>,
    pub recorded: Vec<Option<Arc<[u64]>>>,
    /// All load models in one; see [`crate::Outline::workloads`].
    pub load: Load,
    /// `None` if only a number of requests or iterations ends the run.
    pub duration_ns: Option<u64>,
    /// How long iterations may continue after it, in ns.
    pub graceful_stop_ns: u64,
}

pub(super) fn of(draft: &Draft, wrong: &mut Vec<Diagnostic>) -> Lanes {
    let mut drafts: Vec<WorkloadDraft> = Vec::new();
    // The load of the draft applies if a scenario runs under it, or if no scenario has its own load.
    if draft.entry.is_some() || draft.workloads.is_empty() {
        drafts.push(own(draft));
    }
    for workload in &draft.workloads {
        // Validated like a separate draft.
        let alone = alone(workload, draft);
        super::contradictions(&alone.load, alone.link.streams, wrong);
        super::ranges(&alone, wrong);
        drafts.push(workload.clone());
    }
    for workload in &drafts {
        contradictions(&workload.load, wrong);
        if is_open(&workload.load) {
            unpaced(draft, workload, wrong);
        }
    }
    let ends: Vec<Option<u64>> =
        drafts.iter().map(|workload| end_ns(workload, draft.load.requests_total.is_some())).collect();
    // A workload with only a number of iterations ends no later than the others. Alone, it ends after its last
    // iteration.
    let duration_ns = ends.iter().copied().flatten().max();
    let alone = drafts.len() == 1 && drafts[0].start_ns == 0;
    let workloads: Vec<Workload> = drafts
        .iter()
        .zip(&ends)
        .map(|(workload, end_ns)| {
            let load = load(&workload.load, draft.load.requests_total);
            let connections = match &load {
                Load::Closed { users } => {
                    (users.peak() as u32).max(workload.load.rules.capacity.unwrap_or(0))
                }
                Load::Open { .. } => {
                    let most = workload.load.max_connections.unwrap_or(DEFAULT_OPEN_CONNECTIONS);
                    most.saturating_mul(draft.link.streams)
                }
            };
            let load = if alone { load } else { placed(load, workload.start_ns, *end_ns) };
            Workload {
                name: workload.name.clone(),
                load,
                connections,
                iterations: workload.load.iterations.or(recorded_count(&workload.load)),
                loops: workload.load.iterations_per_user,
                rules: rules(&workload.load, *end_ns),
            }
        })
        .collect();
    let default_ns = draft.graceful_stop_ns.unwrap_or(0);
    let graceful_stop_ns = workloads
        .iter()
        .zip(&ends)
        .filter_map(|(workload, end_ns)| {
            Some(end_ns.as_ref()?.saturating_add(workload.rules.graceful_stop_ns.unwrap_or(default_ns)))
        })
        .max()
        .map_or(default_ns, |cut_ns| cut_ns.saturating_sub(duration_ns.unwrap_or(0)));
    Lanes {
        load: together(&workloads),
        workloads,
        entries: drafts.iter().map(|workload| workload.entry.clone()).collect(),
        recorded: drafts.iter().map(instants).collect(),
        duration_ns,
        graceful_stop_ns,
    }
}

/// Returns the rules of a workload that ends at `end_ns`. The default ones stay as they are.
fn rules(load: &LoadDraft, end_ns: Option<u64>) -> Rules {
    if load.rules.is_default() { load.rules } else { Rules { end_ns, ..load.rules } }
}

/// Returns a draft with this workload only.
fn alone(workload: &WorkloadDraft, draft: &Draft) -> Draft {
    Draft { load: workload.load.clone(), limits: draft.limits.clone(), ..Draft::default() }
}

/// Returns the load model of the draft as a workload.
fn own(draft: &Draft) -> WorkloadDraft {
    WorkloadDraft {
        name: "mix".into(),
        entry: draft.entry.clone().unwrap_or(Entry::Scenario(0)),
        load: draft.load.clone(),
        start_ns: 0,
    }
}

pub(super) fn is_open(load: &LoadDraft) -> bool {
    load.rate_per_s.is_some() || load.recorded.is_some() || matches!(load.stages, Some((_, true)))
}

/// Reports a `pace` with arrivals, where it would have no effect.
fn unpaced(draft: &Draft, workload: &WorkloadDraft, wrong: &mut Vec<Diagnostic>) {
    let Some(script) = &draft.script else { return };
    let runs = |number: usize| match &workload.entry {
        Entry::Scenario(one) => usize::from(*one) == number,
        Entry::Mix { ways, .. } => ways.iter().any(|(one, _)| usize::from(*one) == number),
    };
    for (number, scenario) in script.scenarios.iter().enumerate() {
        if scenario.pace.is_some() && runs(number) {
            wrong.push(Diagnostic::field(
                "P024",
                key::REQUESTS,
                format!("`pace` of `{}` has no effect: arrivals start its iterations", scenario.name),
                "remove `pace`, or write `users` instead of a rate",
            ));
        }
    }
}

fn contradictions(load: &LoadDraft, wrong: &mut Vec<Diagnostic>) {
    let open = is_open(load);
    if open && load.iterations_per_user.is_some() {
        wrong.push(Diagnostic::field(
            "P020",
            key::ITERATIONS_PER_USER,
            "`iterations_per_user` requires users: an arrival is one iteration",
            "use `iterations` to end after a number of arrivals",
        ));
    }
    for (is_zero, key) in [
        (load.iterations == Some(0), key::ITERATIONS),
        (load.iterations_per_user == Some(0), key::ITERATIONS_PER_USER),
    ] {
        if is_zero {
            wrong.push(Diagnostic::field(
                "P006",
                key,
                "the number of iterations must be above 0",
                "write a larger value",
            ));
        }
    }
    if load.recorded.as_ref().is_some_and(|instants| instants.is_empty()) {
        wrong.push(Diagnostic::field(
            "P021",
            key::RATE,
            "no recorded arrivals",
            "write at least one timestamp in the file",
        ));
    }
}

/// Returns the end of the workload; `None` if it ends after a number of requests or iterations.
fn end_ns(workload: &WorkloadDraft, counted: bool) -> Option<u64> {
    let counted =
        counted || workload.load.iterations.is_some() || workload.load.iterations_per_user.is_some();
    let length_ns = match (&workload.load.stages, workload.load.duration_ns, &workload.load.recorded) {
        (Some((profile, _)), _, _) => Some(profile.total_ns()),
        (None, Some(given), _) => Some(given),
        // It ends by the number of arrivals, when the last one is complete.
        (None, None, Some(_)) => None,
        (None, None, None) if counted => None,
        (None, None, None) => Some(DEFAULT_DURATION_NS),
    };
    length_ns.map(|length_ns| workload.start_ns.saturating_add(length_ns))
}

/// Returns the recorded arrivals on the time axis of the run.
fn instants(workload: &WorkloadDraft) -> Option<Arc<[u64]>> {
    let recorded = workload.load.recorded.as_ref()?;
    Some(recorded.iter().map(|instant_ns| instant_ns.saturating_add(workload.start_ns)).collect())
}

fn recorded_count(load: &LoadDraft) -> Option<u64> {
    load.recorded.as_ref().map(|instants| instants.len() as u64)
}

fn load(load: &LoadDraft, requests: Option<u64>) -> Load {
    let arrivals = load.arrivals.unwrap_or_default();
    if let Some(instants) = &load.recorded {
        return Load::Open { rate_per_s: Profile::of_instants(instants), arrivals: Arrivals::Recorded };
    }
    match (&load.stages, load.rate_per_s) {
        (Some((profile, true)), _) => Load::Open { rate_per_s: profile.clone(), arrivals },
        (Some((profile, false)), _) => Load::Closed { users: profile.clone() },
        (None, Some(rate)) => Load::Open { rate_per_s: Profile::constant(rate), arrivals },
        (None, None) => {
            // N requests keep at most N users busy, regardless of the default and of `-c`.
            let most = |n: Option<u64>| n.unwrap_or(u64::MAX).clamp(1, u64::from(u32::MAX)) as u32;
            let users = match load.users {
                // 0 users are rejected elsewhere.
                Some(users) => users.min(most(requests)),
                None => DEFAULT_USERS.min(most(requests.or(load.iterations))),
            };
            let ramp = crate::load::Stage { duration_ns: load.ramp_up_ns, to: f64::from(users) };
            let users = match load.ramp_up_ns {
                0 => Profile::constant(f64::from(users)),
                _ => Profile { start: 0.0, stages: vec![ramp] },
            };
            Load::Closed { users }
        }
    }
}

/// Returns a load that is 0 before its start and after its end.
fn placed(load: Load, start_ns: u64, end_ns: Option<u64>) -> Load {
    match load {
        Load::Closed { users } => Load::Closed { users: users.between(start_ns, end_ns) },
        Load::Open { rate_per_s, arrivals } => {
            Load::Open { rate_per_s: rate_per_s.between(start_ns, end_ns), arrivals }
        }
    }
}

/// Returns the sum of load models, as [`crate::Outline::workloads`] describes it.
fn together(workloads: &[Workload]) -> Load {
    let open: Vec<&Workload> = workloads.iter().filter(|workload| workload.load.is_open()).collect();
    let profiles =
        |workloads: &[&Workload]| Profile::sum(workloads.iter().map(|workload| workload.load.profile()));
    match open.as_slice() {
        [] => Load::Closed { users: profiles(&workloads.iter().collect::<Vec<_>>()) },
        [one] => one.load.clone(),
        several => {
            let by_chance = |workload: &&Workload| {
                matches!(workload.load, Load::Open { arrivals: Arrivals::Poisson, .. })
            };
            let arrivals = if several.iter().any(by_chance) { Arrivals::Poisson } else { Arrivals::Constant };
            Load::Open { rate_per_s: profiles(several), arrivals }
        }
    }
}
