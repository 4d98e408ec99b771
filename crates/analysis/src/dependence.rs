//! How much responses on shared connections say. If a segment is lost, or the server is busy with one response, all
//! responses on the connection are late together, which makes a late group one piece of evidence. Over HTTP/1.1, each
//! connection has one request at a time, and nothing here applies.

use super::cells::Cells;
use super::facts::{Facts, measured_rows, ratio};
use super::times::PRINTED;
use plimsoll_plan::metric::{RunPeak, SeriesHist};
use plimsoll_plan::threshold::{Basis, Statistic, Subject};
use plimsoll_stats::design_effect;

/// The design effect of each quantile that the run needs, from its seconds; empty if no connections are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dependence {
    /// Quantile and design effect.
    effects: Vec<(f64, f64)>,
}

impl Dependence {
    pub fn of(facts: &Facts) -> Self {
        let is_http2 = facts.plan.all_origins().iter().any(|origin| origin.is_http2);
        // Both of the same workers: more requests than connections at a time means that some shared one.
        let (requests, connections) =
            (facts.run.peak(RunPeak::InFlight), facts.run.peak(RunPeak::Connections).max(1));
        let all = facts.all.hist(SeriesHist::Response);
        if !is_http2 || requests <= connections || all.is_empty() {
            return Self::default();
        }
        let mut quantiles: Vec<f64> = PRINTED.to_vec();
        quantiles.extend(facts.plan.thresholds.iter().filter_map(|threshold| match threshold.statistic {
            Statistic::Quantile(q) if !PRINTED.contains(&q) => Some(q),
            _ => None,
        }));
        let limits: Vec<(f64, u64)> =
            quantiles.into_iter().filter_map(|q| Some((q, all.quantile(q)?))).collect();
        let mut shares: Vec<Vec<(u64, u64)>> = vec![Vec::new(); limits.len()];
        for row in facts.machines.iter().flat_map(|machine| measured_rows(machine.origin)) {
            let tally = row.all();
            let second = tally.hist(SeriesHist::Response);
            for ((_, limit), shares) in limits.iter().zip(&mut shares) {
                shares.push((second.count_above(*limit), second.count()));
            }
        }
        // Too short to see: as if all responses that a connection carries at a time were one.
        let unknown = ratio(requests as f64, connections as f64).max(1.0);
        let effects = limits
            .iter()
            .zip(&shares)
            .map(|((q, _), shares)| (*q, design_effect(shares).unwrap_or(unknown)))
            .collect();
        Self { effects }
    }

    /// Returns the design effect for this quantile of times from requests: 1 if they are independent.
    pub fn design_effect(&self, q: f64) -> f64 {
        self.effects.iter().find(|(known, _)| *known == q).map_or(1.0, |(_, effect)| *effect)
    }

    /// Returns the same for a quantile of a threshold: times other than those of requests do not depend on this.
    pub fn of_threshold(&self, subject: Subject, q: f64) -> f64 {
        match subject.basis() {
            Basis::Response | Basis::Service => self.design_effect(q),
            Basis::Totals if subject == Subject::FirstByte => self.design_effect(q),
            Basis::Totals | Basis::Achieved | Basis::Throughput | Basis::Outages(_) | Basis::Custom(_) => 1.0,
        }
    }

    /// Returns the design effect of p99 if connections are shared.
    pub fn of_p99(&self) -> Option<f64> {
        (!self.effects.is_empty()).then(|| self.design_effect(0.99))
    }
}
