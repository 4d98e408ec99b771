//! Thresholds that must hold in every window of time: all windows of a run, and the worst of them.

use super::facts::{Facts, Machine};
use super::reading::{Reading, reading_within};
use crate::summary::Window;
use plimsoll_plan::outline::TICK_NS;
use plimsoll_plan::threshold::{Comparison, Kind, Threshold};
use plimsoll_record::gauge::Gauge;
use std::collections::BTreeSet;

/// The last ticks added up. Histograms cannot be subtracted, so this is a queue of two stacks: each tick is added
/// twice in total, however long the window is.
#[derive(Debug)]
pub struct Sliding {
    width: usize,
    /// For each of the older ticks, its sum with those after it up to the end of this stack; the oldest last.
    older: Vec<(Gauge, u64)>,
    newer: Vec<(Gauge, u64)>,
    newer_sum: Gauge,
    newer_ns: u64,
}

impl Sliding {
    /// Returns a window of this many ticks, at least one.
    pub fn new(width: usize) -> Self {
        Self {
            width: width.max(1),
            older: Vec::new(),
            newer: Vec::new(),
            newer_sum: Gauge::default(),
            newer_ns: 0,
        }
    }

    /// Adds the next tick, and drops the one that left the window.
    pub fn push(&mut self, gauge: Gauge, length_ns: u64) {
        if self.is_full() {
            if self.older.is_empty() {
                self.turn_over();
            }
            self.older.pop();
        }
        self.newer_sum.merge(&gauge);
        self.newer_ns += length_ns;
        self.newer.push((gauge, length_ns));
    }

    pub fn is_full(&self) -> bool {
        self.older.len() + self.newer.len() >= self.width
    }

    /// What is in the window, and its length in ns.
    pub fn sum(&self) -> (Gauge, u64) {
        match self.older.last() {
            None => (self.newer_sum.clone(), self.newer_ns),
            Some((older, older_ns)) => {
                let mut sum = older.clone();
                sum.merge(&self.newer_sum);
                (sum, older_ns + self.newer_ns)
            }
        }
    }

    fn turn_over(&mut self) {
        let (mut sum, mut sum_ns) = (Gauge::default(), 0);
        for (gauge, length_ns) in self.newer.drain(..).rev() {
            sum.merge(&gauge);
            sum_ns += length_ns;
            self.older.push((sum.clone(), sum_ns));
        }
        (self.newer_sum, self.newer_ns) = (Gauge::default(), 0);
    }
}

/// How many ticks a window of this length has.
pub fn width_of(over_ns: u64) -> usize {
    usize::try_from(over_ns / TICK_NS).unwrap_or(usize::MAX).max(1)
}

/// A measured tick of all machines.
struct Slot {
    gauge: Gauge,
    from_ns: u64,
    to_ns: u64,
}

/// The worst window of windowed threshold `number` of the plan; of a run shorter than the window, all of it. `None`:
/// in no window is there a sample.
pub(super) fn worst(threshold: &Threshold, number: usize, facts: &Facts) -> Option<(Reading, Gauge, Window)> {
    let over_ns = threshold.over_ns.unwrap_or(TICK_NS);
    let mut worst: Option<(Reading, Gauge, Window)> = None;
    let mut take = |gauge: &Gauge, from_ns: u64, to_ns: u64| {
        let reading = reading_within(threshold, gauge, to_ns - from_ns);
        let is_worse = match &worst {
            None => reading.value.is_some(),
            Some((before, ..)) => badness(threshold, &reading) > badness(threshold, before),
        };
        if is_worse {
            let window = Window { from_s: from_ns as f64 / 1e9, to_s: to_ns as f64 / 1e9 };
            worst = Some((reading, gauge.clone(), window));
        }
    };
    let (mut sliding, mut last) = (Sliding::new(width_of(over_ns)), None);
    // Fewer come in a window that the stop cut short: no sign of anything where a least number is asked for.
    let needs_length = threshold.subject.kind() == Kind::Count
        && (threshold.comparison.is_upwards() || threshold.comparison == Comparison::Equal);
    let (mut all, mut bounds_ns) = (Gauge::default(), None);
    for tick in measured_ticks(facts) {
        let Some(slot) = slot(tick, number, facts) else { continue };
        if last.is_some_and(|last: u32| last + 1 != tick) {
            sliding = Sliding::new(width_of(over_ns));
        }
        last = Some(tick);
        all.merge(&slot.gauge);
        bounds_ns = Some((bounds_ns.map_or(slot.from_ns, |(from_ns, _)| from_ns), slot.to_ns));
        sliding.push(slot.gauge, slot.to_ns - slot.from_ns);
        let (sum, length_ns) = sliding.sum();
        if sliding.is_full() && (length_ns >= over_ns || !needs_length) {
            take(&sum, slot.to_ns.saturating_sub(length_ns), slot.to_ns);
        }
    }
    if let (true, Some((from_ns, to_ns))) = (worst.is_none(), bounds_ns) {
        let reading = reading_within(threshold, &all, to_ns - from_ns);
        let window = Window { from_s: from_ns as f64 / 1e9, to_s: to_ns as f64 / 1e9 };
        worst = reading.value.map(|_| (reading, all, window));
    }
    worst
}

/// What misses the limit is worse than what meets it; then by the figure.
fn badness(threshold: &Threshold, reading: &Reading) -> (bool, f64) {
    let value = reading.value.unwrap_or(0.0);
    let far = match threshold.comparison {
        Comparison::Less | Comparison::LessOrEqual => value,
        Comparison::Greater | Comparison::GreaterOrEqual => -value,
        Comparison::Equal => (value - threshold.value).abs(),
    };
    match reading.meets(threshold) {
        // Without a sample there is nothing to be bad about.
        None => (false, f64::NEG_INFINITY),
        Some(met) => (!met, far),
    }
}

/// In order. Ticks are decoded one by one: together their histograms would fill the memory.
pub(super) fn measured_ticks(facts: &Facts) -> BTreeSet<u32> {
    let measured = |m: &Machine| {
        let plan = m.plan();
        m.origin.ticks.keys().copied().filter(|tick| !plan.is_warmup(*tick)).collect::<Vec<u32>>()
    };
    facts.machines.iter().flat_map(measured).collect()
}

/// Machines with other thresholds say nothing about these.
fn slot(tick: u32, number: usize, facts: &Facts) -> Option<Slot> {
    let mut slot: Option<Slot> = None;
    for machine in facts.machines.iter().filter(|m| m.plan().thresholds == facts.plan.thresholds) {
        let plan = machine.plan();
        let Some(row) = machine.origin.ticks.get(&tick) else { continue };
        let Some(gauge) = row.alongside(plan).gauges.into_iter().nth(number) else { continue };
        let (from_ns, to_ns) = plan.tick_bounds_ns(tick);
        let to_ns = to_ns.min(machine.elapsed_ns).max(from_ns);
        let sum = slot.get_or_insert_with(|| Slot { gauge: Gauge::default(), from_ns, to_ns });
        sum.gauge.merge(&gauge);
        sum.to_ns = sum.to_ns.max(to_ns);
    }
    slot
}
