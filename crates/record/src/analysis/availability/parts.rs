//! The requests and the addresses of a run over time: what each of them did, tick by tick, and how many waited.

use super::{Part, Patience, Slot};
use crate::analysis::cells::Cells;
use crate::analysis::facts::{Facts, Machine, Series};
use crate::record::{Beside, Served};
use crate::summary::PartKind;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::SeriesHist;
use plimsoll_plan::outline::{RequestOutline, TICK_NS};
use std::collections::BTreeMap;

/// Requests and addresses by their names; machines with other plans say nothing about these.
pub(super) fn parts(facts: &Facts, slots: &[Slot]) -> Vec<Part> {
    let Some(first) = facts.machines.first() else { return Vec::new() };
    let plan = first.plan();
    let requests = plan.requests.iter().take(Beside::served_requests(plan));
    let (patience, slowest) = patience_of(facts, plan);
    let blank = |kind, name: &str, request: Option<&RequestOutline>, patience| Part {
        kind,
        name: name.to_owned(),
        request: request.cloned(),
        slots: Vec::new(),
        patience,
    };
    let addresses = first.opening().taken_addresses();
    let mut parts: Vec<Part> = requests
        .zip(patience)
        .map(|(request, patience)| blank(PartKind::Request, &request.name, Some(request), patience))
        .chain(addresses.iter().map(|name| blank(PartKind::Address, name, None, slowest)))
        .collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    let is_alike = |m: &&Machine| {
        let names = |plan: &Outline| -> Vec<String> {
            plan.requests.iter().map(|request| request.name.clone()).collect()
        };
        names(m.plan()) == names(plan) && m.opening().taken_addresses() == addresses
    };
    let machines: Vec<_> = facts.machines.iter().filter(is_alike).map(part_ticks).collect();
    for slot in slots {
        let tick = tick_of(plan, slot);
        let blank = Slot { served: Served::default(), waiting: Some(0.0), ..*slot };
        let mut sums = vec![blank; parts.len()];
        for rows in machines.iter().filter_map(|ticks| ticks.get(&tick)) {
            for (sum, (served, waiting)) in sums.iter_mut().zip(rows) {
                sum.join(&Slot { served: *served, waiting: waiting.map(|n| n as f64), ..blank });
            }
        }
        parts.iter_mut().zip(sums).for_each(|(part, slot)| part.slots.push(slot));
    }
    parts.retain(|part| part.request.as_ref().is_none_or(|request| !request.aside));
    parts
}

/// What the parts did in each tick of a machine, and how many of the requests sent before it were not over then; `None`
/// behind a tick that the file does not hold.
fn part_ticks(machine: &Machine) -> BTreeMap<u32, Vec<(Served, Option<u64>)>> {
    let mut waiting: Vec<Option<u64>> = Vec::new();
    let mut next = 0;
    let rows = machine.origin.ticks.iter().map(|(tick, row)| {
        let served = row.beside(machine.plan()).served;
        waiting.resize(served.len(), Some(0));
        if *tick != next {
            waiting.fill(None);
        }
        next = tick.saturating_add(1);
        let begun = waiting.clone();
        for (n, one) in waiting.iter_mut().zip(&served) {
            *n = n.map(|n| n.saturating_add(one.sent).saturating_sub(one.landed));
        }
        (*tick, served.into_iter().zip(begun).collect())
    });
    rows.collect()
}

/// The patience with each request of a plan, and that with an address, which answers all of them. What streams wait for
/// is not late.
fn patience_of<'a>(facts: &'a Facts, plan: &'a Outline) -> (impl Iterator<Item = Patience> + 'a, Patience) {
    let of = |series: &Series| {
        let service = series.tally.hist(SeriesHist::Service);
        let quantile =
            |p: f64| if series.request.stream { u64::MAX } else { service.quantile(p).unwrap_or(0) };
        Patience::Part { p90_ns: quantile(0.9), p99_ns: quantile(0.99) }
    };
    // The machine whose plan this is has put its requests first.
    let mut series = facts.series.iter();
    let requests = plan.requests.iter().map(move |request| {
        let own = if request.aside { None } else { series.next() };
        own.map_or(Patience::UNKNOWN, of)
    });
    let all = facts.series.iter().map(of).reduce(Patience::longer).unwrap_or(Patience::UNKNOWN);
    (requests, all)
}

/// The tick that a slot begins with.
fn tick_of(plan: &Outline, slot: &Slot) -> u32 {
    let near = u32::try_from(slot.from_ns / TICK_NS).unwrap_or(u32::MAX);
    let begins = |tick: u32| plan.tick_bounds_ns(tick).0 == slot.from_ns;
    (near..near.saturating_add(2)).find(|tick| begins(*tick)).unwrap_or(near)
}
