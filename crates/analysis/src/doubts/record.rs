//! Is the record whole, long enough, and of one experiment?

use super::Inputs;
use crate::caution::Evidence;
use crate::caution::evidence::{
    EmptyRun, PlanDifference, RecordLoss, RunLength, SteeredChange, SteeredStep, StopCause,
};
use crate::cells::Cells;
use crate::facts::{Machine, is_one_load};
use crate::summary::{Caution, Gap, Severity};
use plimsoll_plan::Outline;
use plimsoll_plan::load::Share;
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_record::event::{NoteKind, StoppedBy};
use plimsoll_record::steered::{Steered, pauses};
use std::collections::BTreeSet;

/// How many gaps are named one by one.
const NAMED: usize = 3;

pub(super) fn record(e: &Inputs, into: &mut Vec<Caution>) {
    into.extend(missing(e));
    into.extend(lost_agents(e));
    into.extend(nothing(e));
    into.extend(differ(e));
    into.extend(outliers(e));
    into.extend(short(e));
    into.extend(steered(e));
    into.extend(stopped(e));
}

/// Seconds, ends, workers or machines that should be there. A gap of the disk alone is only a warning: the totals
/// were kept in memory.
fn missing(e: &Inputs) -> Option<Caution> {
    let mut losses: Vec<RecordLoss> = Vec::new();
    let lost: Vec<&String> = e
        .facts
        .machines
        .iter()
        .filter_map(|m| m.origin.ending.as_ref())
        .flat_map(|ending| &ending.lost_workers)
        .collect();
    if let Some(first) = lost.first() {
        losses.push(RecordLoss::Workers { workers_count: lost.len() as u64, reason: (*first).clone() });
    }
    losses.extend(missing_parts(e));
    let many = e.facts.machines.len() > 1;
    let mut is_in_totals = losses.is_empty();
    // The end of a lost agent is another caution.
    let is_of_lost_agent = |gap: &Gap| {
        let mut machines = e.facts.machines.iter().filter(|m| m.name == gap.generator);
        machines.any(|m| is_lost_agent(m) && gap.from_s >= m.elapsed_ns as f64 / 1e9)
    };
    for hole in e.holes.iter().filter(|hole| !is_of_lost_agent(&hole.gap)) {
        is_in_totals &= hole.in_totals;
        let gap = hole.gap.clone();
        let (why, origin) = (gap.reason, many.then_some(gap.generator));
        losses.push(match gap.to_s > gap.from_s {
            true => {
                RecordLoss::Seconds { from_s: gap.from_s, to_s: gap.to_s, reason: why, generator: origin }
            }
            false => RecordLoss::End { reason: why, generator: origin },
        });
    }
    if losses.is_empty() {
        return None;
    }
    let more_count = cut(&mut losses);
    let caution = Evidence::RecordIncomplete { losses, more_count, is_in_totals }.raise();
    Some(if is_in_totals { Caution { severity: Severity::Warning, ..caution } } else { caution })
}

/// Returns whether a machine is an agent whose results have no end.
fn is_lost_agent(machine: &Machine) -> bool {
    machine.opening().environment.agent.is_some() && machine.origin.ending.is_none()
}

/// Agents that were lost during the load: what the others sent is not the load that was asked for.
fn lost_agents(e: &Inputs) -> Option<Caution> {
    let lost = || e.facts.machines.iter().filter(|m| is_lost_agent(m));
    let first = lost().min_by_key(|m| m.elapsed_ns)?;
    let agent = first.opening().environment.agent.as_ref()?;
    let evidence = Evidence::AgentsLost {
        agents_count: lost().count() as u64,
        of_count: e.facts.machines.len() as u64,
        first: agent.name.clone(),
        recorded_ns: first.elapsed_ns,
    };
    Some(evidence.raise())
}

/// Leaves those that are named, and counts the rest.
fn cut<T>(all: &mut Vec<T>) -> u64 {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    more as u64
}

/// Machines that shared the load and are not there. One alone is that machine's own report and complete as such.
fn missing_parts(e: &Inputs) -> Option<RecordLoss> {
    if e.facts.machines.len() < 2 {
        return None;
    }
    let there: Vec<Share> = e.facts.machines.iter().map(|m| m.plan().share).collect();
    let wholes: BTreeSet<u32> = there.iter().map(|share| share.of).collect();
    let parts = wholes.into_iter().flat_map(|of| (1..=of).map(move |part| Share { part, of }));
    // A handful of missing shards is listed; a shard of millions is a forged record.
    let shares: Vec<Share> = parts.filter(|share| !there.contains(share)).take(NAMED).collect();
    (!shares.is_empty()).then_some(RecordLoss::Machines { shares })
}

fn nothing(e: &Inputs) -> Option<Caution> {
    if e.facts.has_measured() {
        return None;
    }
    let sent = e.facts.all.sum(SeriesSum::Sent);
    let waiting = e.facts.run.of(RunSum::InFlightAtEnd);
    let run = match (e.facts.machines.is_empty(), e.facts.measured_ns) {
        (true, _) => EmptyRun::NoRecord,
        (_, 0) if e.facts.plan.warmup_ns > 0 => EmptyRun::WarmUpOnly,
        (_, 0) => EmptyRun::NothingSent,
        (_, _) => EmptyRun::NothingFinished,
    };
    let evidence = Evidence::NothingMeasured {
        run,
        measured_ns: e.facts.measured_ns,
        sent_count: sent,
        unanswered_count: waiting,
    };
    Some(evidence.raise())
}

/// What makes two plans one experiment: everything except the seed, the name and what suits the machine; and shares
/// that belong together.
fn differ(e: &Inputs) -> Option<Caution> {
    let first = e.facts.machines.first()?.plan();
    let mut differences: Vec<PlanDifference> = Vec::new();
    let mut compare = |difference: &dyn Fn(&Outline) -> Option<PlanDifference>| {
        differences.extend(e.facts.machines.iter().find_map(|m| difference(m.plan())));
    };
    compare(&|p| {
        (p.target != first.target)
            .then(|| PlanDifference::Targets { first: first.target.to_string(), other: p.target.to_string() })
    });
    compare(&|p| {
        let names = |o: &Outline| o.requests.iter().map(|r| r.name.clone()).collect();
        (p.requests != first.requests)
            .then(|| PlanDifference::Requests { first: names(first), other: names(p) })
    });
    compare(&|p| (p.load != first.load || p.workloads != first.workloads).then_some(PlanDifference::Loads));
    compare(&|p| (p.link != first.link).then_some(PlanDifference::Links));
    compare(&|p| {
        (p.warmup_ns != first.warmup_ns)
            .then_some(PlanDifference::WarmUps { first_ns: first.warmup_ns, other_ns: p.warmup_ns })
    });
    compare(&|p| {
        (p.timeout_ns != first.timeout_ns)
            .then_some(PlanDifference::Timeouts { first_ns: first.timeout_ns, other_ns: p.timeout_ns })
    });
    compare(&|p| (p.keep_alive != first.keep_alive).then_some(PlanDifference::KeepAlives));
    compare(&|p| {
        (p.stop != first.stop).then(|| PlanDifference::Lengths { first: length(first), other: length(p) })
    });
    compare(&|p| {
        (p.connections != first.connections).then_some(PlanDifference::Connections {
            first_count: first.connections,
            other_count: p.connections,
        })
    });
    let (divisions, repeated_share) = shares(e);
    let is_one = differences.is_empty() && divisions.is_empty() && repeated_share.is_none();
    (!is_one).then(|| Evidence::PlansDiffer { differences, divisions, repeated_share }.raise())
}

/// What ends a run, as planned.
fn length(plan: &Outline) -> RunLength {
    RunLength { duration_ns: plan.stop.duration_ns, requests_count: plan.stop.requests }
}

/// Parts make a whole when all are of one division and none is there twice.
fn shares(e: &Inputs) -> (Vec<u32>, Option<Share>) {
    let there: Vec<Share> = e.facts.machines.iter().map(|m| m.plan().share).collect();
    let wholes: BTreeSet<u32> = there.iter().map(|share| share.of).collect();
    let divisions = if wholes.len() > 1 { wholes.into_iter().take(NAMED).collect() } else { Vec::new() };
    let twice = (1..there.len()).find(|at| there[..*at].contains(&there[*at])).map(|at| there[at]);
    (divisions, twice)
}

/// Rates of machines add up only while all of them load.
fn outliers(e: &Inputs) -> Option<Caution> {
    // Agents begin together, and their counts are divided by the time of the whole load.
    if is_one_load(&e.facts.machines) {
        return None;
    }
    // A lost agent is another caution.
    let machines: Vec<&Machine> = e.facts.machines.iter().filter(|m| !is_lost_agent(m)).collect();
    let window =
        |m: &Machine| (m.opening().started_unix_ns, m.opening().started_unix_ns.saturating_add(m.elapsed_ns));
    let from = machines.iter().map(|m| window(m).0).max()?;
    let to = machines.iter().map(|m| window(m).1).min()?;
    let shortest = machines.iter().map(|m| m.elapsed_ns).min()?;
    let longest = machines.iter().map(|m| m.elapsed_ns).max()?;
    let shared = to.saturating_sub(from);
    // A wall clock is good to some ten milliseconds; runs of a second are not refused for that.
    let enough = (longest as f64 * e.limits.overlap) as u64;
    (machines.len() > 1 && shared.saturating_add(100_000_000) < enough).then(|| {
        Evidence::RunsApart { shared_ns: shared, shortest_ns: shortest, longest_ns: longest }.raise()
    })
}

fn short(e: &Inputs) -> Option<Caution> {
    let ns = e.facts.measured_ns;
    (e.facts.has_measured() && ns < e.limits.short_ns).then(|| Evidence::ShortRun { measured_ns: ns }.raise())
}

/// Manual pauses and level changes during the load, on any of several machines.
fn steered(e: &Inputs) -> Option<Caution> {
    let mut steps: Vec<SteeredStep> = Vec::new();
    let many = e.facts.machines.len() > 1;
    for machine in &e.facts.machines {
        let notes = &machine.origin.notes;
        let host = many.then(|| machine.opening().environment.host.clone());
        let step = |from_ns, change| SteeredStep { from_ns, host: host.clone(), change };
        let paused = pauses(notes, machine.elapsed_ns)
            .into_iter()
            .map(|(from_ns, to_ns)| step(from_ns, SteeredChange::Paused { to_ns }));
        let levels = notes.iter().filter_map(|note| match Steered::of(note)? {
            Steered::Level(to) => Some(step(note.at_ns, SteeredChange::Level(to))),
            Steered::Paused | Steered::Resumed => None,
        });
        let mut own: Vec<SteeredStep> = paused.chain(levels).collect();
        own.sort_by_key(|step| step.from_ns);
        steps.extend(own);
    }
    let more_count = cut(&mut steps);
    (!steps.is_empty()).then(|| Evidence::LoadSteered { steps, more_count }.raise())
}

fn stopped(e: &Inputs) -> Option<Caution> {
    let by = e.facts.stopped_by()?;
    let stopped_by = match by {
        StoppedBy::Interrupt | StoppedBy::InterruptAllowed => StopCause::Interrupt,
        StoppedBy::Threshold => StopCause::Threshold,
        StoppedBy::Command => StopCause::Command,
        StoppedBy::Duration | StoppedBy::Requests | StoppedBy::Retired => return None,
    };
    let elapsed_ns = e.facts.machines.iter().map(|m| m.elapsed_ns).max().unwrap_or(0);
    let why = e
        .facts
        .machines
        .iter()
        .flat_map(|m| &m.origin.notes)
        .rfind(|note| note.kind == NoteKind::Control)
        .map(|note| note.text.clone());
    let planned_ns = e.facts.plan.stop.duration_ns;
    Some(Evidence::StoppedEarly { elapsed_ns, planned_ns, stopped_by, reason: why }.raise())
}
