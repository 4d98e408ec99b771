//! Whether one of several machines measured different times than the rest: its network, its load, its clock.
//!
//! They load one service at the same time, so their seconds are compared in pairs: effects of the service on all of
//! them cancel out, and the remaining differences of adjacent seconds are nearly independent.

use super::cells::Cells;
use super::facts::{Facts, Machine};
use crate::summary::{Divergence, Ratio};
use plimsoll_plan::metric::SeriesHist;
use plimsoll_plan::outline::TICK_NS;
use plimsoll_plan::phrase::{count, quantile_name, quantity};
use plimsoll_stats::maths::student::Estimate;
use plimsoll_stats::{Hist, samples_needed};
use std::collections::{BTreeMap, BTreeSet};

/// Stretches that the measured part is cut into, about; fewer than the second number tell nothing.
const STRETCHES: usize = 30;
const STRETCHES_LEAST: usize = 6;
const CONFIDENCE: f64 = 0.95;
/// A smaller difference is not reported, however certain: a bucket of a histogram is 0.8% wide, and two machines in
/// two places always differ.
const NEWS: f64 = 0.05;

/// By machine, in their order; `None`: there is one only, or too little to compare.
pub(super) fn outliers(facts: &Facts) -> Vec<Option<Divergence>> {
    if facts.machines.len() < 2 {
        return facts.machines.iter().map(|_| None).collect();
    }
    let ticks = facts.machines.iter().map(|m| measured(m).count()).max().unwrap_or(0);
    let width = ticks.div_ceil(STRETCHES).max(1) as u32;
    let first_unix_ns = facts.machines.iter().map(|m| m.opening().started_unix_ns).min().unwrap_or(0);
    let all: Vec<BTreeMap<u32, Hist>> =
        facts.machines.iter().map(|m| stretches(m, width, first_unix_ns)).collect();
    let ratios = log_ratios(&all);
    ratios.iter().map(|pairs| against_others(pairs, all.len())).collect()
}

/// The quantiles that are compared.
const QUANTILES: [f64; 2] = [0.5, 0.99];

/// Returns the ratio of each machine to all others together, as logarithms: by machine and quantile, one per period.
/// The others are those before it and those after it: with one sum of others per machine, the time would grow with the
/// square of their number.
fn log_ratios(all: &[BTreeMap<u32, Hist>]) -> Vec<[Vec<f64>; 2]> {
    let mut ratios: Vec<[Vec<f64>; 2]> = all.iter().map(|_| Default::default()).collect();
    let periods: BTreeSet<u32> = all.iter().flat_map(|one| one.keys().copied()).collect();
    for period in periods {
        let mut after = vec![Hist::on_demand()];
        for one in all.iter().rev() {
            let mut sum = after.last().cloned().unwrap_or_else(Hist::on_demand);
            one.get(&period).into_iter().for_each(|hist| sum.merge(hist));
            after.push(sum);
        }
        let mut before = Hist::on_demand();
        for (one, pairs) in all.iter().zip(&mut ratios) {
            // What is left are those after the next machine.
            after.pop();
            let Some(mine) = one.get(&period) else { continue };
            let mut others = before.clone();
            after.last().into_iter().for_each(|hist| others.merge(hist));
            for (pairs, q) in pairs.iter_mut().zip(QUANTILES) {
                pairs.extend(log_ratio(mine, &others, q));
            }
            before.merge(mine);
        }
    }
    ratios
}

fn measured<'a>(machine: &'a Machine) -> impl Iterator<Item = (u32, &'a plimsoll_record::record::TickRow)> {
    let plan = machine.plan();
    machine.origin.ticks.iter().filter(|(tick, _)| !plan.is_warmup(**tick)).map(|(tick, row)| (*tick, row))
}

/// Response times of each period of this many ticks, counted from the start of the first machine: a tick of a machine
/// that started later is compared with a later tick of the others.
fn stretches(machine: &Machine, width: u32, first_unix_ns: u64) -> BTreeMap<u32, Hist> {
    let later_ns = machine.opening().started_unix_ns.saturating_sub(first_unix_ns);
    let later_ticks = u32::try_from((later_ns + TICK_NS / 2) / TICK_NS).unwrap_or(u32::MAX);
    let mut all: BTreeMap<u32, Hist> = BTreeMap::new();
    for (tick, row) in measured(machine) {
        all.entry(tick.saturating_add(later_ticks) / width)
            .or_insert_with(Hist::on_demand)
            .merge(row.all().hist(SeriesHist::Response));
    }
    all
}

/// One of `machines` compared with all others together.
fn against_others(pairs: &[Vec<f64>; 2], machines: usize) -> Option<Divergence> {
    // Each machine and two figures are looked at: the chance that any of them is taken for different stays the same
    // (Bonferroni).
    let looks = 2.0 * machines as f64;
    let ratio = |(pairs, q): (&Vec<f64>, f64)| {
        if pairs.len() < STRETCHES_LEAST {
            return None;
        }
        let estimate = Estimate::of(pairs)?;
        let half = estimate.half_width(1.0 - (1.0 - CONFIDENCE) / looks);
        let [ratio, low, high] = [0.0, -half, half].map(|by| (estimate.mean + by).exp());
        Some(Ratio { q, ratio, low, high, windows: pairs.len() as u64 })
    };
    let ratios: Vec<Ratio> = pairs.iter().zip(QUANTILES).filter_map(ratio).collect();
    let told: Vec<String> = ratios.iter().filter(|ratio| is_news(ratio)).map(text).collect();
    (!ratios.is_empty()).then(|| Divergence {
        is_different: !told.is_empty(),
        sentence: told.join("; "),
        ratios,
    })
}

fn log_ratio(mine: &Hist, others: &Hist, q: f64) -> Option<f64> {
    let known = |hist: &Hist| hist.quantile(q).filter(|ns| *ns > 0 && hist.count() >= samples_needed(q));
    Some((known(mine)? as f64 / known(others)? as f64).ln())
}

fn is_news(ratio: &Ratio) -> bool {
    let is_certain = ratio.low > 1.0 || ratio.high < 1.0;
    is_certain && (ratio.ratio - 1.0).abs() >= NEWS
}

fn text(ratio: &Ratio) -> String {
    format!(
        "{} is {} times that of the others (95%: {} to {}, {} periods)",
        quantile_name(ratio.q),
        quantity(ratio.ratio),
        quantity(ratio.low),
        quantity(ratio.high),
        count(ratio.windows)
    )
}
