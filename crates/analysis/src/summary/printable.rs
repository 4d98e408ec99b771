//! Percentiles as they may be shown: the one rule of every output.
//!
//! A percentile with fewer samples than 10 / (1 - q) is not shown ([`plimsoll_stats::enough_samples`]): texts print a
//! dash, data keeps the value and marks it. One that censored times affect is a lower bound and always has its sign.

use super::{GeneratorRow, LabelRow, Second, Short, Times};
use plimsoll_stats::enough_samples;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantile {
    Exact(u64),
    LowerBound(u64),
    TooFewSamples,
    /// No sample at all.
    Missing,
}

impl Quantile {
    /// The rule itself.
    pub fn of(value_ns: Option<u64>, is_lower_bound: bool, has_enough: bool) -> Quantile {
        match value_ns {
            None => Quantile::Missing,
            Some(_) if !has_enough => Quantile::TooFewSamples,
            Some(ns) if is_lower_bound => Quantile::LowerBound(ns),
            Some(ns) => Quantile::Exact(ns),
        }
    }

    /// The value where it may be drawn or compared.
    pub fn value_ns(self) -> Option<u64> {
        match self {
            Quantile::Exact(ns) | Quantile::LowerBound(ns) => Some(ns),
            Quantile::TooFewSamples | Quantile::Missing => None,
        }
    }
}

impl Times {
    /// One of the percentiles of every report.
    pub fn quantile(&self, q: f64) -> Quantile {
        match self.percentiles.iter().find(|p| (p.q - q).abs() < 1e-9) {
            Some(p) => Quantile::of(Some(p.value_ns), p.is_lower_bound, p.has_enough_samples),
            None => Quantile::Missing,
        }
    }
}

impl Short {
    /// p50 or p99.
    pub fn quantile(&self, q: f64) -> Quantile {
        let value_ns = if q < 0.75 { self.p50_ns } else { self.p99_ns };
        Quantile::of(value_ns, false, enough_samples(self.count, q))
    }
}

impl Second {
    /// A percentile of the response time: 0.5, 0.9, 0.95 or 0.99.
    pub fn quantile(&self, q: f64) -> Quantile {
        let name = SECOND.iter().find(|(_, known)| (known - q).abs() < 1e-9).map_or("", |(name, _)| name);
        let value_ns = match name {
            "p50_ns" => self.p50_ns,
            "p90_ns" => self.p90_ns,
            "p95_ns" => self.p95_ns,
            "p99_ns" => self.p99_ns,
            _ => None,
        };
        Quantile::of(value_ns, self.lower_bounds.contains(&name), !self.few_samples.contains(&name))
    }

    /// p99 of its schedule lag.
    pub fn schedule_lag_p99(&self) -> Quantile {
        Quantile::of(self.schedule_lag_p99_ns, false, !self.few_samples.contains(&"schedule_lag_p99_ns"))
    }

    /// The longest response time: a fact of any number of samples.
    pub fn longest(&self) -> Quantile {
        Quantile::of(self.max_ns, self.lower_bounds.contains(&"max_ns"), true)
    }
}

impl LabelRow {
    /// p50 or p99 of the response time.
    pub fn quantile(&self, q: f64) -> Quantile {
        let (name, value_ns) = if q < 0.75 { ("p50_ns", self.p50_ns) } else { ("p99_ns", self.p99_ns) };
        Quantile::of(value_ns, self.lower_bounds.contains(&name), !self.few_samples.contains(&name))
    }

    /// The longest response time.
    pub fn longest(&self) -> Quantile {
        Quantile::of(self.max_ns, self.lower_bounds.contains(&"max_ns"), true)
    }
}

impl GeneratorRow {
    /// The name of its agent, or else of its host.
    pub fn name(&self) -> &str {
        self.agent.as_ref().map_or(&self.host, |agent| &agent.name)
    }

    /// p50 or p99 of the response time.
    pub fn quantile(&self, q: f64) -> Quantile {
        let (name, value_ns) = if q < 0.75 { ("p50_ns", self.p50_ns) } else { ("p99_ns", self.p99_ns) };
        Quantile::of(value_ns, self.lower_bounds.contains(&name), !self.few_samples.contains(&name))
    }

    /// The longest response time.
    pub fn longest(&self) -> Quantile {
        Quantile::of(self.max_ns, self.lower_bounds.contains(&"max_ns"), true)
    }
}

/// Percentiles of the response time in a row of the timeline, from the lowest on.
const SECOND: [(&str, f64); 4] = [("p50_ns", 0.5), ("p90_ns", 0.9), ("p95_ns", 0.95), ("p99_ns", 0.99)];

/// The percentile to draw over time: the highest of p99, p95, p90, and p50 for which nine of ten rows with samples
/// have enough. `None`: not even the median, so only the maximum can be shown.
pub fn drawn_quantile(rows: &[Second]) -> Option<f64> {
    let known: Vec<&Second> = rows.iter().filter(|row| row.samples > 0).collect();
    let has_enough = |q: f64| {
        let enough = known.iter().filter(|row| enough_samples(row.samples, q)).count();
        enough > 0 && enough * 10 >= known.len() * 9
    };
    SECOND.iter().rev().map(|(_, q)| *q).find(|q| has_enough(*q))
}
