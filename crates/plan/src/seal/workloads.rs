//! Load models out of a draft: its own, and those of single scenarios, all brought to the clock of one run.

use super::{DEFAULT_DURATION_NS, DEFAULT_OPEN_CONNECTIONS, DEFAULT_USERS};
use crate::Diagnostic;
use crate::draft::{Draft, LoadDraft, WorkloadDraft, key};
use crate::load::{Arrivals, Load, Profile, Workload};
use crate::script::Entry;
use std::sync::Arc;

/// What the seal needs to know of them.
pub(super) struct Lanes {
    pub workloads: Vec<Workload>,
    pub entries: Vec<Entry>,
    pub recorded: Vec<Option<Arc<[u64]>>>,
    /// All of them in one, see [`crate::Outline::workloads`].
    pub load: Load,
    /// `None`: only a number of requests or iterations ends the run.
    pub duration_ns: Option<u64>,
}

pub(super) fn of(draft: &Draft, wrong: &mut Vec<Diagnostic>) -> Lanes {
    let mut drafts: Vec<WorkloadDraft> = Vec::new();
    // Without scenarios of their own load the draft's load is the one; beside them only if somebody runs under it.
    if draft.entry.is_some() || draft.workloads.is_empty() {
        drafts.push(own(draft));
    }
    for workload in &draft.workloads {
        // Judged as a whole draft of its own would be.
        let alone = alone(workload, draft);
        super::contradictions(&alone.load, wrong);
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
    // A workload that only counts ends with the others at the latest; alone it takes the time that it takes.
    let duration_ns = ends.iter().copied().flatten().max();
    let alone = drafts.len() == 1 && drafts[0].start_ns == 0;
    let workloads: Vec<Workload> = drafts
        .iter()
        .zip(&ends)
        .map(|(workload, end_ns)| {
            let load = load(&workload.load, draft.load.requests_total);
            let connections = match &load {
                Load::Closed { users } => users.peak() as u32,
                Load::Open { .. } => workload.load.max_connections.unwrap_or(DEFAULT_OPEN_CONNECTIONS),
            };
            let load = if alone { load } else { placed(load, workload.start_ns, *end_ns) };
            Workload {
                name: workload.name.clone(),
                load,
                connections,
                iterations: workload.load.iterations.or(recorded_count(&workload.load)),
                loops: workload.load.iterations_per_user,
            }
        })
        .collect();
    Lanes {
        load: together(&workloads),
        workloads,
        entries: drafts.iter().map(|workload| workload.entry.clone()).collect(),
        recorded: drafts.iter().map(instants).collect(),
        duration_ns,
    }
}

/// A workload as if it were all there is.
fn alone(workload: &WorkloadDraft, draft: &Draft) -> Draft {
    Draft { load: workload.load.clone(), limits: draft.limits.clone(), ..Draft::default() }
}

/// The draft's own load model as a workload.
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

/// Arrivals say when an iteration begins: a pace beside them would say nothing.
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
                format!("`{}` has a `pace`, but arrivals say when its iterations begin", scenario.name),
                "leave out the `pace`, or give it users",
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
            "`iterations_per_user` counts the iterations of each user: arrivals have none of their own",
            "use `iterations` to end after so many arrivals",
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
                "a number of iterations of 0 sends nothing",
                "give at least 1",
            ));
        }
    }
    if load.recorded.as_ref().is_some_and(|instants| instants.is_empty()) {
        wrong.push(Diagnostic::field(
            "P021",
            key::RATE,
            "there is no recorded arrival",
            "give at least one instant",
        ));
    }
}

/// When the workload ends; `None`: after a number of requests or iterations.
fn end_ns(workload: &WorkloadDraft, counted: bool) -> Option<u64> {
    let counted =
        counted || workload.load.iterations.is_some() || workload.load.iterations_per_user.is_some();
    let length_ns = match (&workload.load.stages, workload.load.duration_ns, &workload.load.recorded) {
        (Some((profile, _)), _, _) => Some(profile.total_ns()),
        (None, Some(given), _) => Some(given),
        // It ends behind its last arrival, however late that is answered: by their number.
        (None, None, Some(_)) => None,
        (None, None, None) if counted => None,
        (None, None, None) => Some(DEFAULT_DURATION_NS),
    };
    length_ns.map(|length_ns| workload.start_ns.saturating_add(length_ns))
}

/// On the clock of the run.
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
            // Ten requests keep ten users busy at most, however many there are by default or by `-c`.
            let most = |n: Option<u64>| n.unwrap_or(u64::MAX).clamp(1, u64::from(u32::MAX)) as u32;
            let users = match load.users {
                // None at all is refused elsewhere.
                Some(users) => users.min(most(requests)),
                None => DEFAULT_USERS.min(most(requests.or(load.iterations))),
            };
            Load::Closed { users: Profile::constant(f64::from(users)) }
        }
    }
}

/// Nothing before its start, nothing behind its end.
fn placed(load: Load, start_ns: u64, end_ns: Option<u64>) -> Load {
    match load {
        Load::Closed { users } => Load::Closed { users: users.between(start_ns, end_ns) },
        Load::Open { rate_per_s, arrivals } => {
            Load::Open { rate_per_s: rate_per_s.between(start_ns, end_ns), arrivals }
        }
    }
}

/// See [`crate::Outline::workloads`].
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
