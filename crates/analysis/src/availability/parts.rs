//! The requests and the addresses of a run over time: what each of them did, tick by tick, and how many waited.

use super::{Part, Patience, Slot};
use crate::cells::Cells;
use crate::facts::{Facts, Machine, Series};
use crate::summary::PartKind;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum, StreamSum};
use plimsoll_plan::outline::TICK_NS;
use plimsoll_record::record::{Served, SideTotals, TickRow};
use plimsoll_stats::Hist;
use std::collections::btree_map::Iter;
use std::iter::Peekable;

/// Requests and addresses by their names; machines with other plans say nothing about these.
pub(super) fn parts(facts: &Facts, slots: &[Slot]) -> Vec<Part> {
    let Some(first) = facts.machines.first() else { return Vec::new() };
    let plan = first.plan();
    let addresses = first.opening().taken_addresses();
    let served = SideTotals::served_requests(plan);
    if served + addresses.len() < 2 {
        return Vec::new();
    }
    // The machine whose plan this is has put its requests first.
    let mut series = facts.series.iter();
    let requests = plan.requests.iter().take(served).map(|request| {
        let own = if request.is_outside_load { None } else { series.next() };
        Part {
            kind: PartKind::Request,
            name: request.name.clone(),
            request: Some(request.clone()),
            slots: Vec::new(),
            patience: patience_with(own),
        }
    });
    let mut parts: Vec<Part> = requests.collect();
    // An address answers all of them.
    parts.extend(addresses.iter().map(|name| Part {
        kind: PartKind::Address,
        name: (*name).to_owned(),
        request: None,
        slots: Vec::new(),
        patience: patience_with(&facts.series),
    }));
    let is_alike = |m: &&Machine| {
        let names = |plan: &Outline| -> Vec<String> {
            plan.requests.iter().map(|request| request.name.clone()).collect()
        };
        names(m.plan()) == names(plan) && m.opening().taken_addresses() == addresses
    };
    let mut machines: Vec<Flow> = facts.machines.iter().filter(is_alike).map(Flow::new).collect();
    for slot in slots {
        let tick = tick_of(plan, slot);
        let blank = Slot { served: Served::default(), waiting: Some(0.0), ..*slot };
        let mut sums = vec![blank; parts.len()];
        for row in machines.iter_mut().filter_map(|machine| machine.at(tick)) {
            for (at, (sum, served)) in sums.iter_mut().zip(&row.served).enumerate() {
                let waiting = row.waiting.as_ref().map(|all| all[at] as f64);
                sum.join(&Slot { served: *served, waiting, ..blank });
            }
        }
        parts.iter_mut().zip(sums).for_each(|(part, slot)| part.slots.push(slot));
    }
    for part in &mut parts {
        // An open stream waits by design.
        if part.request.as_ref().map_or(facts.has_streams(), |request| request.is_stream) {
            part.slots.iter_mut().for_each(|slot| slot.waiting = None);
        }
    }
    parts.retain(|part| part.request.as_ref().is_none_or(|request| !request.is_outside_load));
    parts
}

fn patience_with<'a>(series: impl IntoIterator<Item = &'a Series>) -> Patience {
    let mut patience = Patience::Part { times: Hist::on_demand(), cut_off: 0 };
    for one in series {
        patience.join(&Patience::Part {
            times: one.tally.hist(SeriesHist::Service).clone(),
            cut_off: one.tally.hist(SeriesHist::ServiceCensored).count(),
        });
    }
    patience
}

/// What the parts of one machine did, tick by tick.
struct Flow<'a> {
    plan: &'a Outline,
    rows: Peekable<Iter<'a, u32, TickRow>>,
    /// The tick that comes next if none is missing.
    next: u32,
    /// By part; `None`: not known.
    waiting: Option<Vec<u64>>,
}

/// The parts in one tick.
struct FlowRow {
    served: Vec<Served>,
    /// Of the requests sent before it, how many were not over when it began.
    waiting: Option<Vec<u64>>,
}

impl<'a> Flow<'a> {
    fn new(machine: &'a Machine) -> Self {
        let totals = &machine.origin.totals;
        // Checks, groups, and addresses follow the requests and count the same requests again.
        let requests = || totals.series.iter().take(machine.plan().requests.len());
        let sum = |id: usize| {
            requests().fold(0u64, |all, series| all.saturating_add(series.sums.get(id).copied().unwrap_or(0)))
        };
        let streams = sum(StreamSum::OpenAtEnd.id());
        let at_stop = totals.run.of(RunSum::InFlightAtEnd).saturating_add(streams);
        // Early versions did not count which requests had ended.
        let is_known = sum(SeriesSum::Sent.id()).saturating_sub(sum(SeriesSum::Ended.id())) <= at_stop;
        Self {
            plan: machine.plan(),
            rows: machine.origin.ticks.iter().peekable(),
            next: 0,
            waiting: is_known.then(Vec::new),
        }
    }

    /// Ticks are asked for in their order. `None`: the file does not hold it.
    fn at(&mut self, tick: u32) -> Option<FlowRow> {
        while let Some((number, row)) = self.rows.next_if(|(number, _)| **number <= tick) {
            let served = row.alongside(self.plan).served;
            self.waiting = self.waiting.take().filter(|_| *number == self.next);
            self.next = number.saturating_add(1);
            if let Some(waiting) = &mut self.waiting {
                waiting.resize(served.len(), 0);
            }
            let begun = self.waiting.clone();
            for (n, one) in self.waiting.iter_mut().flatten().zip(&served) {
                *n = n.saturating_add(one.sent).saturating_sub(one.ended);
            }
            if *number == tick {
                return Some(FlowRow { served, waiting: begun });
            }
        }
        None
    }
}

/// The tick that a slot begins with.
fn tick_of(plan: &Outline, slot: &Slot) -> u32 {
    let near = u32::try_from(slot.from_ns / TICK_NS).unwrap_or(u32::MAX);
    let begins = |tick: u32| plan.tick_bounds_ns(tick).0 == slot.from_ns;
    (near..near.saturating_add(2)).find(|tick| begins(*tick)).unwrap_or(near)
}
