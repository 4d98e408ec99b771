//! Tables of the summary: failures by class, statuses, requests, origins.

use super::apdex::apdex;
use super::cells::Cells;
use super::dependence::Dependence;
use super::facts::{Facts, Machine, Series, ratio};
use super::gaps::RecordGap;
use super::machines::outliers;
use super::times::{Belief, Marks, short, times_of_requests};
use crate::summary::{ErrorRow, GeneratorRow, LabelRow, SeriesRow};
use plimsoll_plan::metric::{RunHist, RunSum, STATUS_BASE, STATUS_CELLS, SeriesHist, SeriesSum};
use plimsoll_plan::{Fault, Side};
use plimsoll_record::record::SERIES_LAYOUT;
use plimsoll_stats::Tally;
use std::collections::BTreeMap;

/// Failures of the sides asked for, most frequent first.
pub(super) fn errors(all: &Tally, wanted: impl Fn(Side) -> bool) -> Vec<ErrorRow> {
    let mut rows: Vec<ErrorRow> = Fault::ALL
        .iter()
        .filter(|fault| wanted(fault.side()))
        .map(|fault| ErrorRow {
            class: *fault,
            side: fault.side(),
            count: all.fault(*fault),
            sentence: fault.sentence(),
        })
        .filter(|row| row.count > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

/// Count by status; what no server should send is under `other`.
pub(super) fn statuses(all: &Tally) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let cells = all.sums.iter().skip(STATUS_BASE).take(STATUS_CELLS);
    for (cell, n) in cells.enumerate().filter(|(_, n)| **n > 0) {
        let name = if cell + 1 == STATUS_CELLS { "other".into() } else { (100 + cell).to_string() };
        found.insert(name, *n);
    }
    found
}

pub(super) fn series(facts: &Facts, belief: Belief, dependence: &Dependence) -> Vec<SeriesRow> {
    let row = |one: &Series| SeriesRow {
        apdex: apdex(one, &facts.plan.thresholds),
        ..series_row(one, belief, dependence)
    };
    facts.series.iter().filter(|one| was_sent(&one.tally)).map(row).collect()
}

/// Whether the request was ever sent; others are not rows of a table.
pub(super) fn was_sent(tally: &Tally) -> bool {
    tally.sums.iter().any(|n| *n > 0) || tally.hists.iter().any(|hist| !hist.is_empty())
}

fn series_row(one: &Series, belief: Belief, dependence: &Dependence) -> SeriesRow {
    let tally = &one.tally;
    let body = tally.hist(SeriesHist::BodySize);
    let requests = tally.sum(SeriesSum::Finished);
    SeriesRow {
        name: one.request.name.clone(),
        scenario: one.request.scenario.clone(),
        group: one.request.group.clone(),
        tags: one.request.tags.clone(),
        is_stream: one.request.is_stream,
        requests,
        errors: tally.sum(SeriesSum::Failed),
        rate_per_s: one.rate_per_s,
        bytes_in: tally.sum(SeriesSum::BytesIn),
        response_time: times_of_requests(
            tally.hist(SeriesHist::Response),
            tally.hist(SeriesHist::ResponseCensored),
            belief,
            dependence,
        ),
        service_time: times_of_requests(
            tally.hist(SeriesHist::Service),
            tally.hist(SeriesHist::ServiceCensored),
            belief,
            dependence,
        ),
        body_min_bytes: body.min(),
        body_mean_bytes: body.mean(),
        body_max_bytes: body.max(),
        redirects: tally.sum(SeriesSum::Redirects),
        errors_by_class: errors(tally, |side| side != Side::Client)
            .into_iter()
            .map(|row| (row.class, row.count))
            .collect(),
        apdex: None,
    }
}

pub(super) fn origins(facts: &Facts, holes: &[RecordGap], belief: Belief) -> Vec<GeneratorRow> {
    let all = facts.machines.iter().zip(outliers(facts));
    all.map(|(machine, apart)| GeneratorRow { divergence: apart, ..origin_row(machine, holes, belief) })
        .collect()
}

/// Returns the agents by label. A label that all agents have with the same value distinguishes nothing.
pub(super) fn labels(facts: &Facts, belief: Belief) -> Vec<LabelRow> {
    let mut groups: BTreeMap<(&str, &str), Vec<&Machine>> = BTreeMap::new();
    for machine in &facts.machines {
        let agent = machine.opening().environment.agent.iter();
        for (label, value) in agent.flat_map(|agent| &agent.labels) {
            groups.entry((label, value)).or_default().push(machine);
        }
    }
    let is_distinct = |label: &str| groups.keys().filter(|(other, _)| *other == label).count() > 1;
    let row = |((label, value), machines): (&(&str, &str), &Vec<&Machine>)| {
        let mut all = Tally::on_demand(SERIES_LAYOUT);
        machines.iter().for_each(|machine| all.merge(&machine.all));
        let (exact, bounds) = (all.hist(SeriesHist::Response), all.hist(SeriesHist::ResponseCensored));
        let mut marks = Marks::default();
        let rate = |machine: &&Machine| {
            ratio(machine.all.sum(SeriesSum::Finished) as f64, machine.rated_ns as f64 / 1e9)
        };
        LabelRow {
            label: (*label).to_owned(),
            value: (*value).to_owned(),
            agents: machines.len() as u64,
            requests: all.sum(SeriesSum::Finished),
            errors: all.sum(SeriesSum::Failed),
            rate_per_s: machines.iter().map(rate).sum(),
            p50_ns: marks.percentile("p50_ns", exact, bounds, 0.5, belief),
            p99_ns: marks.percentile("p99_ns", exact, bounds, 0.99, belief),
            max_ns: marks.longest("max_ns", exact, bounds, belief),
            lower_bounds: marks.lower_bounds,
            few_samples: marks.few_samples,
        }
    };
    groups.iter().filter(|((label, _), _)| is_distinct(label)).map(row).collect()
}

fn origin_row(machine: &Machine, holes: &[RecordGap], belief: Belief) -> GeneratorRow {
    let all = &machine.all;
    let (exact, bounds) = (all.hist(SeriesHist::Response), all.hist(SeriesHist::ResponseCensored));
    let mut marks = Marks::default();
    let (p50_ns, p99_ns) = (
        marks.percentile("p50_ns", exact, bounds, 0.5, belief),
        marks.percentile("p99_ns", exact, bounds, 0.99, belief),
    );
    let max_ns = marks.longest("max_ns", exact, bounds, belief);
    let share = machine.plan().share;
    let requests = all.sum(SeriesSum::Finished);
    let run = &machine.origin.totals.run;
    GeneratorRow {
        id: machine.name.to_owned(),
        host: machine.opening().environment.host.clone(),
        agent: machine.opening().environment.agent.clone(),
        share: format!("{}/{}", share.part, share.of),
        started_unix_ns: machine.opening().started_unix_ns,
        elapsed_s: machine.elapsed_ns as f64 / 1e9,
        is_complete: holes.iter().all(|hole| hole.gap.generator != machine.name),
        requests,
        errors: all.sum(SeriesSum::Failed),
        rate_per_s: ratio(requests as f64, machine.measured_ns as f64 / 1e9),
        p50_ns,
        p99_ns,
        max_ns,
        schedule_lag: short(run.spread(RunHist::ScheduleLag)),
        offered_rate_per_s: machine
            .plan()
            .load
            .is_open()
            .then(|| ratio(run.of(RunSum::Arrivals) as f64, machine.measured_ns as f64 / 1e9)),
        divergence: None,
        lower_bounds: marks.lower_bounds,
        few_samples: marks.few_samples,
    }
}
