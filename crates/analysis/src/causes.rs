//! Why a run failed or was slow, the most telling cause first. Nothing is said of a run in which nothing was wrong: a
//! cause needs a symptom, and one that fits a harmless reading as well is not claimed.

mod failures;
mod gone;
pub(crate) use gone::went;
mod slow;
mod system;

use super::facts::Facts;
use crate::cause::{Cause, Claim, Evidence, Kind};
use crate::caution::CautionLimits;
use crate::cells::Cells;
use crate::summary::{Outcome, Summary};
use plimsoll_plan::metric::RunSum;

/// What causes are found from: the run, and what was already concluded.
pub(super) struct Case<'a> {
    pub facts: &'a Facts<'a>,
    pub s: &'a Summary,
    pub limits: &'a CautionLimits,
}

impl Case<'_> {
    /// A threshold on this was missed, or its figure lies beyond the limit and only a doubt may save it.
    pub fn missed(&self, what: &str) -> bool {
        self.s.thresholds.iter().any(|t| t.is_beyond() && t.subject.starts_with(what))
    }

    /// A threshold says that it was too slow, or too little.
    pub fn is_slow(&self) -> bool {
        ["response_time", "service_time", "time_to_first_byte", "achieved", "throughput"]
            .iter()
            .any(|what| self.missed(what))
    }

    pub fn cautioned(&self, kind: crate::caution::Kind) -> bool {
        self.s.cautions.iter().any(|c| c.kind == kind)
    }

    /// Whether the workers lacked a CPU for so long that the load generator may have caused the response times.
    pub fn lacks_cpu(&self) -> bool {
        self.s.client.workers.iter().any(|w| w.cpu_wait_ratio > self.limits.cpu_wait)
            || self.s.client.steal_ratio > self.limits.steal
            || self.cautioned(crate::caution::Kind::ClientStalled)
    }

    /// As much as this evidence allows on a load generator that had its CPUs.
    pub fn unless_cpu_short(&self, claim: Claim) -> Claim {
        if self.lacks_cpu() { Claim::Possible } else { claim }
    }

    /// No network between, so what is lost or slow is not its doing.
    pub fn is_local(&self) -> bool {
        self.facts.is_same_machine()
    }
}

/// All of them, in the order in which they are said.
pub(super) fn causes(case: &Case) -> Vec<Cause> {
    let mut all: Vec<Cause> = Vec::new();
    all.extend(generator(case));
    let gone = gone::gone(case);
    let explains_failures = gone.as_ref().is_some_and(|gone| gone.explains_failures);
    let explains_all = explains_failures && gone.as_ref().is_some_and(|gone| gone.explains_times);
    let hung = gone.as_ref().and_then(|gone| gone.part.clone());
    all.extend(gone.map(|gone| gone.cause));
    if !explains_all {
        let mut failing = if explains_failures { Vec::new() } else { failures::failures(case) };
        let system = system::saturated(case);
        // Something full makes responses late, few or refused; what they say when they are wrong it does not change.
        let by_load = failing.first().is_none_or(failures::may_be_load);
        if by_load {
            all.extend(system);
            all.append(&mut failing);
        } else {
            all.append(&mut failing);
            all.extend(system);
        }
        slow::slow(case, hung.as_deref(), &mut all);
    }
    all.extend(threw(case));
    all.extend(system::memory(case));
    // Something that is full leaves requests without a response as well.
    let is_full = |cause: &Cause| {
        [Kind::ListenQueueFull, Kind::ConnectionLimit, Kind::ThreadSaturated, Kind::ResourceSaturated]
            .iter()
            .any(|kind| cause.is(*kind))
    };
    if all.iter().any(is_full)
        && let Some(hung) = all.iter_mut().find(|cause| cause.is(Kind::NoResponse))
    {
        hung.certainty = Claim::Likely;
    }
    let mut seen: Vec<Kind> = Vec::new();
    all.retain(|cause| {
        let is_new = !seen.contains(&cause.kind);
        seen.push(cause.kind);
        is_new
    });
    all
}

/// What this machine refused to do; it says so itself.
fn generator(case: &Case) -> Option<Cause> {
    let s = case.s;
    let row = s.client.faults.iter().max_by_key(|row| row.count).filter(|row| row.count > 0)?;
    let evidence = Evidence::Refusals { attempts_count: row.count, failure: row.class };
    Some(Kind::GeneratorLimit.claim(Claim::Certain, evidence))
}

/// The users are code that throws. Failed requests, which may be the reason, come first.
fn threw(case: &Case) -> Option<Cause> {
    let of = |id: RunSum| case.facts.run.of(id);
    let evidence = Evidence::Threw {
        failed_count: of(RunSum::IterationsFailed),
        iterations_count: of(RunSum::Iterations),
    };
    case.missed("iterations_failed").then(|| Kind::ScriptThrows.claim(Claim::Certain, evidence))
}

/// Whether the run is bad enough for a cause to be looked for that nothing else points at.
pub(super) fn is_bad(case: &Case) -> bool {
    case.s.verdict.result != Outcome::Pass
}
