//! Distributions as figures, with what a sample cannot say: cut-off times, intervals, too few samples.

use crate::dependence::Dependence;
use crate::summary::{Percentile, Short, Times};
use plimsoll_stats::{Censored, Hist, censored_quantile, clustered_interval, enough_samples};

/// The percentiles of every report.
pub const PRINTED: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
const CONFIDENCE: f64 = 0.95;

/// What to believe of the times that were cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// The run kept up: a request in flight at the end is like the others, but only its first part was seen. It
    /// represents the completed ones that took longer (Kaplan & Meier 1958, in the form of Efron 1967: its weight
    /// moves to those above it); only if no completed request took longer, the result is a lower bound.
    LikeTheOthers,
    /// Work piled up: what waits at the stop is slower than what was finished, and may take for ever.
    Worse,
}

/// Quantile `q` of the finished (`exact`) and of those known to take longer than some bound (`bounds`).
pub(super) fn percentile(exact: &Hist, bounds: &Hist, q: f64, belief: Belief) -> Option<Censored> {
    let least = censored_quantile(exact, bounds, q)?;
    if !least.at_least {
        // The middle of a bucket may lie outside what was seen, and a bound may be the smallest of all.
        let (min, max) = (exact.min().unwrap_or(least.value), exact.max().unwrap_or(least.value));
        return Some(Censored { value: least.value.clamp(min, max), at_least: false });
    }
    if belief == Belief::Worse {
        return Some(least);
    }
    Some(match redistributed(exact, bounds, q) {
        Some(value) => Censored { value: value.max(least.value), at_least: false },
        None => least,
    })
}

/// The product-limit estimate of quantile `q`: the share that takes longer falls at each bucket of finished ones by
/// the part of those still seen there. `None` when it never falls to 1 - q.
fn redistributed(exact: &Hist, bounds: &Hist, q: f64) -> Option<u64> {
    let (min, max) = (exact.min()?, exact.max()?);
    let mut seen = exact.count() as f64 + bounds.count() as f64;
    let mut longer = 1.0;
    let mut cut = bounds.buckets().peekable();
    for (low, high, n) in exact.buckets() {
        // Those cut off within the same bucket were seen to its end.
        while let Some((_, _, gone)) = cut.next_if(|(cut_low, _, _)| *cut_low < low) {
            seen -= gone as f64;
        }
        longer *= 1.0 - n as f64 / seen;
        seen -= n as f64;
        // A product of thousands of factors is a few roundings off.
        if longer <= (1.0 - q) * (1.0 + 1e-9) + 1e-12 {
            return Some((low + (high - low) / 2).clamp(min, max));
        }
    }
    None
}

/// Times that were cut off and may be drawn where that happened: those of timeouts, and those beyond the longest
/// completed time (`exact`). Any other is longer than a place among the fast ones.
pub(super) fn stands(exact: &Hist, timeout_ns: u64) -> impl Fn(u64) -> bool + use<> {
    let longest = exact.max();
    move |high| high >= timeout_ns || longest.is_none_or(|longest| high >= longest)
}

/// Everything about a distribution of times that are independent of each other.
pub fn times(exact: &Hist, bounds: &Hist, belief: Belief) -> Times {
    times_of_requests(exact, bounds, belief, &Dependence::default())
}

/// The same for times of requests, which may share connections.
pub(super) fn times_of_requests(
    exact: &Hist,
    bounds: &Hist,
    belief: Belief,
    dependence: &Dependence,
) -> Times {
    let mut all = exact.clone();
    all.merge(bounds);
    let percentiles: Vec<Percentile> =
        PRINTED.iter().filter_map(|q| one(exact, bounds, &all, *q, belief, dependence)).collect();
    let value = |q: f64| percentiles.iter().find(|p| p.q == q).map(|p| p.value_ns);
    let bent = bent(exact, bounds, belief);
    Times {
        count: exact.count(),
        censored: bounds.count(),
        min_ns: exact.min(),
        mean_ns: if bent { all.mean() } else { exact.mean() },
        mean_is_lower_bound: bent,
        std_dev_ns: if bent { None } else { exact.std_dev() },
        p50_ns: value(0.5),
        p75_ns: value(0.75),
        p90_ns: value(0.9),
        p95_ns: value(0.95),
        p99_ns: value(0.99),
        p999_ns: value(0.999),
        // The longest that anything is known to have taken, finished or not.
        max_ns: all.max(),
        max_is_lower_bound: bent,
        percentiles,
    }
}

/// Which of the times of a row are lower bounds, and which have too few samples, by the names of its fields.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub lower_bounds: Vec<&'static str>,
    pub few_samples: Vec<&'static str>,
}

impl Marks {
    pub fn percentile(
        &mut self,
        name: &'static str,
        exact: &Hist,
        bounds: &Hist,
        q: f64,
        belief: Belief,
    ) -> Option<u64> {
        let found = percentile(exact, bounds, q, belief)?;
        if found.at_least {
            self.lower_bounds.push(name);
        }
        if !enough_samples(exact.count().saturating_add(bounds.count()), q) {
            self.few_samples.push(name);
        }
        Some(found.value)
    }

    /// The longest that anything is known to have taken, finished or not.
    pub fn longest(
        &mut self,
        name: &'static str,
        exact: &Hist,
        bounds: &Hist,
        belief: Belief,
    ) -> Option<u64> {
        if bent(exact, bounds, belief) {
            self.lower_bounds.push(name);
        }
        exact.max().max(bounds.max())
    }
}

/// Whether mean and maximum are lower bounds. A few requests that had just started at the end make no visible
/// difference; timeouts and a backlog do.
pub(super) fn bent(exact: &Hist, bounds: &Hist, belief: Belief) -> bool {
    let p99 = exact.quantile(0.99).unwrap_or(0);
    bounds.count() > 0
        && (belief == Belief::Worse || exact.is_empty() || bounds.max().is_some_and(|longest| longest > p99))
}

fn one(
    exact: &Hist,
    bounds: &Hist,
    all: &Hist,
    q: f64,
    belief: Belief,
    dependence: &Dependence,
) -> Option<Percentile> {
    let Censored { value, at_least } = percentile(exact, bounds, q, belief)?;
    // With every bound taken for the whole time the interval is too low, without those samples its upper end is the
    // finished ones' own; the value lies between.
    let interval = |hist| clustered_interval(hist, q, CONFIDENCE, dependence.design_effect(q));
    let low = interval(all).low;
    let high = interval(exact).high;
    Some(Percentile {
        q,
        value_ns: value,
        is_lower_bound: at_least,
        low_ns: low.map(|low| low.min(value)),
        high_ns: if at_least { None } else { high.map(|high| high.max(value)) },
        has_enough_samples: enough_samples(all.count(), q),
    })
}

/// A distribution in five figures.
pub(super) fn short(hist: &Hist) -> Short {
    Short {
        count: hist.count(),
        mean_ns: hist.mean(),
        p50_ns: hist.quantile(0.5),
        p99_ns: hist.quantile(0.99),
        max_ns: hist.max(),
    }
}
