//! Looks for every doubt of the table in [`crate::caution`], each with the numbers that raise it.

mod client;
mod connections;
mod course;
mod load;
mod record;
mod sample;
mod script;
mod watched;
mod way;

use super::facts::Facts;
use super::gaps::RecordGap;
use super::offered::Demand;
use super::timeline::Moment;
use super::watched::Seen;
use crate::caution::{CautionLimits, Evidence, Kind};
use crate::summary::{Caution, Client, Doubt, Severity, ThresholdResult, Times};

/// What is already known when doubts are looked for.
pub(super) struct Inputs<'a> {
    pub facts: &'a Facts<'a>,
    pub limits: &'a CautionLimits,
    pub demand: &'a Demand,
    pub client: &'a Client,
    pub response: &'a Times,
    pub thresholds: &'a [ThresholdResult],
    pub holes: &'a [RecordGap],
    pub moments: &'a [Moment],
    pub seen: &'a Seen,
}

/// All cautions, the heaviest first, in the order of the table among equals.
pub(super) fn cautions(inputs: &Inputs) -> Vec<Caution> {
    let mut all = Vec::new();
    client::limits(inputs, &mut all);
    client::room(inputs, &mut all);
    // Whether the backlog grew decides what to advise on the connection limit.
    course::course(inputs, &mut all);
    let has_growing_backlog = all.iter().any(|caution| caution.kind == Kind::BacklogGrew);
    load::sending(inputs, has_growing_backlog, &mut all);
    load::model(inputs, &mut all);
    sample::samples(inputs, &mut all);
    sample::network(inputs, &mut all);
    way::way(inputs, &mut all);
    watched::watched(inputs, &mut all);
    connections::connections(inputs, &mut all);
    script::script(inputs, &mut all);
    record::record(inputs, &mut all);
    weigh(&mut all, inputs.thresholds);
    all.sort_by_key(|c| (c.severity, c.kind));
    all
}

/// Returns whether a caution is about the run as a whole: no threshold has a figure without it.
pub(super) fn is_of_all(caution: &Caution) -> bool {
    matches!(caution.kind, Kind::NoRequests | Kind::MergedRunsNotConcurrent)
        || matches!(caution.evidence, Evidence::AgentsLost { .. })
}

/// A caution that makes a threshold inconclusive gets the highest severity, no matter what its row says; one that
/// cannot change any result leaves the verdict as it is.
fn weigh(cautions: &mut Vec<Caution>, thresholds: &[ThresholdResult]) {
    let deciding: Vec<&Doubt> = thresholds.iter().flat_map(|judged| judged.deciding()).collect();
    for caution in cautions.iter_mut() {
        if is_of_all(caution) || deciding.iter().any(|doubt| doubt.kind == caution.kind) {
            caution.severity = Severity::Inconclusive;
        } else if caution.severity == Severity::Inconclusive {
            caution.severity = Severity::Warning;
        }
    }
    // If nothing was measured, cautions about single thresholds add nothing.
    let nothing = cautions.iter().any(|caution| caution.kind == Kind::NoRequests);
    for doubt in deciding.into_iter().filter(|_| !nothing) {
        if !cautions.iter().any(|caution| caution.kind == doubt.kind) {
            cautions.push(Caution { severity: Severity::Inconclusive, ..doubt.evidence.clone().raise() });
        }
    }
}
