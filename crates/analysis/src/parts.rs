//! Tables of a script: scenarios, groups, checks, load models, and the examples of what went wrong.

use super::cells::Cells;
use super::facts::{Facts, ratio};
use super::times::{Belief, times};
use crate::summary::{AddressRow, CheckRow, FailureExampleRow, GroupRow, PartRow, WorkloadRow};
use plimsoll_plan::address::describe;
use plimsoll_plan::failure_example::REDIRECT;
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_plan::origin::ORIGIN_TAG;
use plimsoll_plan::threshold::Scope;
use plimsoll_stats::{Hist, Tally};

/// One row per scenario that sent anything, in the order of the plan.
pub(super) fn scenarios(facts: &Facts, belief: Belief) -> Vec<PartRow> {
    let mut names: Vec<&String> = Vec::new();
    for name in facts.series.iter().filter_map(|one| one.request.scenario.as_ref()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let row = |name: &String| part(facts, name, &Scope::Scenario(name.clone()), belief);
    names.into_iter().filter_map(row).collect()
}

/// Of several origins one row each that anything was sent to, in the order of their numbers.
pub(super) fn by_origin(facts: &Facts, belief: Belief) -> Vec<PartRow> {
    // Each machine numbers the origins that it finds during the run.
    let mut names: Vec<&String> = Vec::new();
    for origin in facts.machines.iter().flat_map(|machine| &machine.plan().origins) {
        if !names.contains(&&origin.name) {
            names.push(&origin.name);
        }
    }
    let row = |name: &String| {
        let scope = Scope::Tag(ORIGIN_TAG.to_owned(), name.clone());
        part(facts, name, &scope, belief)
    };
    names.into_iter().filter_map(row).collect()
}

/// One row per address over which connections rotated; empty if each origin had only one.
pub(super) fn addresses(facts: &Facts) -> Vec<AddressRow> {
    let mut rows: Vec<AddressRow> = Vec::new();
    for machine in &facts.machines {
        let plan = machine.plan();
        let weight_of = |name: &str| {
            let mut named = plan.link.weighted.iter();
            named.find(|one| describe(one.socket(plan.port), plan.port) == name).map(|one| one.weight)
        };
        let series = machine.origin.totals.series.iter().skip(plan.series_count());
        for (name, tally) in machine.opening().taken_addresses().into_iter().zip(series) {
            let at = rows.iter().position(|row| row.address == name).unwrap_or_else(|| {
                let (address, weight) = (name.to_owned(), weight_of(name));
                rows.push(AddressRow { address, weight, requests: 0, requests_ratio: 0.0, errors: 0 });
                rows.len() - 1
            });
            rows[at].requests += tally.sum(SeriesSum::Finished);
            rows[at].errors += tally.sum(SeriesSum::Failed);
        }
    }
    let total: u64 = rows.iter().map(|row| row.requests).sum();
    rows.iter_mut().for_each(|row| row.requests_ratio = ratio(row.requests as f64, total as f64));
    rows
}

/// The requests of a scope as one row; `None`: nothing was sent.
fn part(facts: &Facts, name: &str, scope: &Scope, belief: Belief) -> Option<PartRow> {
    let (tally, rate_per_s) = facts.within(scope);
    (tally.sum(SeriesSum::Sent) > 0).then(|| PartRow {
        name: name.to_owned(),
        requests: tally.sum(SeriesSum::Finished),
        errors: tally.sum(SeriesSum::Failed),
        rate_per_s,
        bytes_in: tally.sum(SeriesSum::BytesIn),
        response_time: spread(&tally, SeriesHist::Response, SeriesHist::ResponseCensored, belief),
        service_time: spread(&tally, SeriesHist::Service, SeriesHist::ServiceCensored, belief),
    })
}

/// One row per group whose requests or passages there were.
pub(super) fn groups(facts: &Facts, belief: Belief) -> Vec<GroupRow> {
    let row = |one: &super::script_series::Group| {
        let (tally, rate_per_s) = facts.within(&Scope::Group(one.name.clone()));
        let passages = one.tally.sum(SeriesSum::Finished);
        (passages > 0 || tally.sum(SeriesSum::Sent) > 0).then(|| GroupRow {
            name: one.name.clone(),
            requests: tally.sum(SeriesSum::Finished),
            errors: tally.sum(SeriesSum::Failed),
            rate_per_s,
            response_time: spread(&tally, SeriesHist::Response, SeriesHist::ResponseCensored, belief),
            passages,
            passage: times(one.tally.hist(SeriesHist::Response), &Hist::on_demand(), belief),
        })
    };
    facts.groups.iter().filter_map(row).collect()
}

fn spread(tally: &Tally, exact: SeriesHist, bounds: SeriesHist, belief: Belief) -> crate::summary::Times {
    times(tally.hist(exact), tally.hist(bounds), belief)
}

/// One row per check that was made, those that failed first.
pub(super) fn checks(facts: &Facts) -> Vec<CheckRow> {
    let mut rows: Vec<CheckRow> = facts
        .checks
        .iter()
        .map(|one| CheckRow {
            name: one.name.clone(),
            request: one.request.clone(),
            scenario: one.scenario.clone(),
            group: one.group.clone(),
            evaluations: one.tally.sum(SeriesSum::Finished),
            failures: one.tally.sum(SeriesSum::Failed),
        })
        .filter(|row| row.evaluations > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.failures));
    rows
}

/// All machines' examples, in the order of time.
pub(super) fn samples(facts: &Facts) -> Vec<FailureExampleRow> {
    let mut rows: Vec<FailureExampleRow> = facts
        .machines
        .iter()
        .flat_map(|m| {
            let failures = m.origin.failure_examples.iter().filter(|s| s.check != REDIRECT);
            failures.map(|s| FailureExampleRow { generator: m.name.to_owned(), sample: s.clone() })
        })
        .collect();
    rows.sort_by_key(|row| row.sample.at_ns);
    rows
}

/// One row per load model, with what the scenario of its name did.
pub(super) fn workloads(facts: &Facts) -> Vec<WorkloadRow> {
    let row = |workload: &plimsoll_plan::load::Workload| {
        let named = facts.series.iter().any(|one| one.request.scenario.as_ref() == Some(&workload.name));
        let done = named.then(|| facts.within(&Scope::Scenario(workload.name.clone())));
        WorkloadRow {
            name: workload.name.clone(),
            model: if workload.load.is_open() { "open" } else { "closed" },
            peak: workload.load.profile().peak(),
            connections: workload.connections,
            requests: done.as_ref().map(|(tally, _)| tally.sum(SeriesSum::Finished)),
            errors: done.as_ref().map(|(tally, _)| tally.sum(SeriesSum::Failed)),
            rate_per_s: done.map(|(_, rate_per_s)| rate_per_s),
        }
    };
    facts.plan.workloads.iter().map(row).collect()
}
