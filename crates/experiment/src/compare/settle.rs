//! Verdicts: from differences and their variation to words.

use super::bounds::{Off, off};
use super::doubts::doubts;
use super::spread::{Effect, Seen, describe, effect, is_enough, kinds, pairs};
use super::types::{
    Basis, CompareOptions, Compared, Comparison, Doubt, Overall, Peaks, RTT_BOUND, SCHEMA_VERSION, Scale,
    Side, SideFacts, Verdict,
};
use super::{Pair, requests, sentence};
use crate::study::watched::pooled;
use plimsoll_analysis::digest::merged_spectrum;
use plimsoll_analysis::sizes;
use plimsoll_analysis::summary::{Severity, Times};
use plimsoll_plan::experiment::Figure;
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::maths::holm;
use plimsoll_stats::maths::student::{Estimate, quantile};
use plimsoll_stats::random::SplitMix64;

/// Upper limit of the suggested number of repeats.
const REPEATS_MOST: u32 = 500;

/// A figure of both sides before it is judged.
pub struct Found {
    pub row: Compared,
    effect: Option<Effect>,
    /// The smallest difference of interest for this figure.
    worth: f64,
    /// Runs of the side that has fewer.
    repeats: u32,
    /// The possible effect of the load generator on each side.
    off: [Off; 2],
    requests: [u64; 2],
}

/// Returns all figures of two sides, in the order of the report.
pub fn figures(a: &Side, b: &Side, asked: &CompareOptions) -> Vec<Found> {
    let kinds = kinds(&asked.quantiles);
    let mut random = SplitMix64::new(asked.seed);
    let (seen_a, seen_b) = (Seen::new(a, &kinds, &mut random), Seen::new(b, &kinds, &mut random));
    let pairs = pairs(a, b, &seen_a, &seen_b);
    let found = |(at, kind): (usize, &Figure)| {
        let effect = effect(at, *kind, &seen_a, &seen_b, pairs.as_deref());
        Found::new(*kind, (a, &seen_a), (b, &seen_b), effect, asked)
    };
    kinds.iter().enumerate().map(found).collect()
}

/// Smaller differences are rounding errors: rates set by a schedule differ in their last bit.
const DUST: f64 = 1e-9;
/// No bound is tighter than this: a bucket of the histogram is eighty times as wide.
const FINEST: f64 = 1e-4;
/// Largest share of errors that may be hidden where none were seen; above it, there are too few requests to compare.
const HIDDEN: f64 = 0.05;

impl Found {
    pub fn new(
        kind: Figure,
        (a, seen_a): (&Side, &Seen),
        (b, seen_b): (&Side, &Seen),
        effect: Option<Effect>,
        asked: &CompareOptions,
    ) -> Found {
        let effect = effect.filter(|e| is_enough(kind, seen_a, seen_b) && e.estimate.mean.is_finite());
        let unit = match kind {
            Figure::Throughput | Figure::Capacity => FigureUnit::PerSecond,
            Figure::ErrorRate => FigureUnit::Ratio,
            Figure::Mean | Figure::Percentile { .. } => FigureUnit::Nanoseconds,
        };
        let scale = if kind == Figure::ErrorRate { Scale::Points } else { Scale::Ratio };
        let row = Compared {
            figure: sentence::figure_name(kind),
            kind,
            unit,
            a: describe(kind, a, seen_a),
            b: describe(kind, b, seen_b),
            a_is_lower_bound: at_least(kind, a),
            b_is_lower_bound: at_least(kind, b),
            scale,
            difference: None,
            low: None,
            high: None,
            widened_low: None,
            widened_high: None,
            is_doubtful: false,
            p: effect.map(|e| e.estimate.p()),
            p_adjusted: None,
            verdict: Verdict::Inconclusive,
            difference_bound: None,
            more_repeats: None,
            basis: effect.map_or(Basis::Nothing, |e| e.basis),
        };
        let own = asked.tolerance.iter().find(|rule| rule.names(kind)).map(|rule| rule.limit.abs());
        let usual = if scale == Scale::Points {
            asked.min_error_difference_ratio
        } else {
            asked.min_difference_ratio
        };
        let off = [(a, seen_a), (b, seen_b)].map(|(side, seen)| {
            let free = kind == Figure::Throughput && seen.is_paced;
            if free { Off::default() } else { off(kind, side, &seen.table.response, &seen.table.service) }
        });
        let requests = [a, b].map(|side| side.runs.iter().map(|run| run.requests).sum());
        let repeats = seen_a.runs.min(seen_b.runs) as u32;
        Found { row, effect, worth: own.unwrap_or(usual), repeats, off, requests }
    }

    /// Converts from the scale of the calculation to the scale of the report.
    fn describe(&self, x: f64) -> f64 {
        let x = if x.abs() < DUST { 0.0 } else { x };
        if self.row.scale == Scale::Ratio { x.exp_m1() } else { x }
    }

    /// Returns the farthest end of an interval, as a bound for the difference.
    fn furthest(&self, low: f64, high: f64) -> f64 {
        let most = self.describe(low).abs().max(self.describe(high).abs());
        if self.row.scale == Scale::Ratio { most.max(FINEST) } else { most }
    }

    fn within_worth(&self, low: f64, high: f64) -> bool {
        self.furthest(low, high) <= self.worth.max(FINEST)
    }

    /// Returns the finished row.
    fn judged(&self, adjusted: Option<f64>, family: usize, asked: &CompareOptions) -> Compared {
        let mut row = self.row.clone();
        let (Some(Effect { estimate, .. }), Some(adjusted)) = (self.effect, adjusted) else { return row };
        if row.is_spotless() {
            return self.spotless(adjusted, asked);
        }
        let half = estimate.half_width(asked.confidence);
        let (low, high) = (estimate.mean - half, estimate.mean + half);
        row.difference = Some(self.describe(estimate.mean));
        (row.low, row.high) = (Some(self.describe(low)), Some(self.describe(high)));
        // For b - a: it is lower by the possible decrease of B and the possible increase of A.
        let [a, b] = self.off;
        let (least, most) = (low - b.down - a.up, high + b.up + a.down);
        (row.widened_low, row.widened_high) = (Some(self.describe(least)), Some(self.describe(most)));
        row.p_adjusted = Some(adjusted);
        let is_certain = adjusted < 1.0 - asked.confidence;
        let outlives = if estimate.mean > 0.0 { least > 0.0 } else { most < 0.0 };
        let is_doubted = (least, most) != (low, high) && !outlives;
        // The true value of a lower bound can only be larger: on side B that raises the difference, on side A it lowers
        // it.
        let up_only = row.b_is_lower_bound && !row.a_is_lower_bound && is_certain && estimate.mean > 0.0;
        let down_only = row.a_is_lower_bound && !row.b_is_lower_bound && is_certain && estimate.mean < 0.0;
        let is_bounded = row.a_is_lower_bound || row.b_is_lower_bound;
        row.verdict = if is_bounded && !up_only && !down_only {
            return row;
        } else if !is_bounded && self.within_worth(least, most) {
            Verdict::Equivalent
        } else if is_certain && is_doubted {
            row.is_doubtful = true;
            Verdict::Inconclusive
        } else if is_certain {
            named(row.kind, estimate.mean > 0.0)
        } else {
            Verdict::Inconclusive
        };
        if matches!(row.verdict, Verdict::Equivalent | Verdict::Inconclusive) {
            row.difference_bound = Some(self.furthest(least, most));
        }
        // More repeats with the same load generator effects would not help.
        if row.verdict == Verdict::Inconclusive && (least, most) == (low, high) {
            row.more_repeats = self.more_repeats(estimate, family, asked.confidence);
        }
        row
    }

    /// Judges a figure without errors on either side. Of n requests, fewer than 3 / n may fail without any having been
    /// seen (rule of three, Hanley & Lippman-Hand 1983; computed exactly here: the share at which none of n fails in 5%
    /// of cases).
    fn spotless(&self, adjusted: f64, asked: &CompareOptions) -> Compared {
        let mut row = self.row.clone();
        let hidden = |n: u64| 1.0 - (1.0 - asked.confidence).powf(1.0 / n.max(1) as f64);
        let [a, b] = self.requests.map(hidden);
        row.difference = Some(0.0);
        (row.low, row.high, row.widened_low, row.widened_high) = (Some(-a), Some(b), Some(-a), Some(b));
        row.p_adjusted = Some(adjusted);
        row.difference_bound = Some(a.max(b));
        row.verdict = if a.max(b) <= HIDDEN { Verdict::Equivalent } else { Verdict::Inconclusive };
        row
    }

    /// Returns the fewest additional repeats after which the interval lies within the smallest difference of interest,
    /// or the difference is certain with the strictest adjustment, if everything else stays the same.
    fn more_repeats(&self, now: Estimate, family: usize, confidence: f64) -> Option<u32> {
        let n = self.repeats.max(1);
        let strict = 1.0 - (1.0 - confidence) / family.max(1) as f64;
        let settles = |more: u32| {
            let then = f64::from(n + more);
            let df = match self.row.basis {
                Basis::Pairs => then - 1.0,
                Basis::Runs | Basis::Assumed | Basis::Nothing => 2.0 * (then - 1.0),
            };
            let deviation = (now.variance * f64::from(n) / then).sqrt();
            let half = quantile(0.5 + confidence / 2.0, df) * deviation;
            let certain = quantile(0.5 + strict / 2.0, df) * deviation < now.mean.abs();
            certain || self.within_worth(now.mean - half, now.mean + half)
        };
        // More repeats only narrow the interval, so bisection finds the first number that settles it.
        let (mut low, mut high) = (0, REPEATS_MOST);
        if !settles(high) {
            return None;
        }
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if settles(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

fn at_least(kind: Figure, side: &Side) -> bool {
    let of =
        |times: &Times, q: f64| times.percentiles.iter().any(|p| (p.q - q).abs() < 1e-9 && p.is_lower_bound);
    side.runs.iter().any(|run| match kind {
        Figure::Mean => run.response_time.mean_is_lower_bound,
        Figure::Percentile { q, service: false } => of(&run.response_time, q),
        Figure::Percentile { q, service: true } => of(&run.service_time, q),
        Figure::Throughput | Figure::ErrorRate | Figure::Capacity => false,
    })
}

fn named(kind: Figure, is_up: bool) -> Verdict {
    match (kind, is_up) {
        (Figure::Throughput | Figure::Capacity, true) => Verdict::Higher,
        (Figure::Throughput | Figure::Capacity, false) => Verdict::Lower,
        (Figure::ErrorRate, true) => Verdict::More,
        (Figure::ErrorRate, false) => Verdict::Fewer,
        (_, true) => Verdict::Slower,
        (_, false) => Verdict::Faster,
    }
}

/// Applies Holm's adjustment to the figures of all comparisons, and returns how many were tested; `None` for a figure
/// without a test.
pub fn adjust(found: &[Vec<Found>]) -> (Vec<Option<f64>>, usize) {
    let all = || found.iter().flatten();
    let p: Vec<f64> = all().filter_map(|f| f.row.p).collect();
    let weights: Vec<f64> = found.iter().flat_map(|one| weights(one)).collect();
    let mut adjusted = holm::adjust_weighted(&p, &weights).into_iter();
    (all().map(|f| f.row.p.and_then(|_| adjusted.next())).collect(), p.len())
}

/// Half of a comparison's weight is on the lowest percentile of the response time, the figure with the least variation.
/// A change of the whole service shows there first, while the many correlated figures would each require a p-value as
/// small as if they were independent.
fn weights(found: &[Found]) -> Vec<f64> {
    let tested: Vec<&Found> = found.iter().filter(|f| f.row.p.is_some()).collect();
    let is_time = |f: &&Found| matches!(f.row.kind, Figure::Percentile { service: false, .. });
    let first = tested.iter().position(is_time);
    let others = (tested.len().max(2) - 1) as f64;
    (0..tested.len())
        .map(|at| if first.is_none() || first == Some(at) { 1.0 } else { 1.0 / others })
        .collect()
}

/// Returns the finished document.
pub fn comparison(
    pair: &Pair<'_>,
    found: &[Found],
    adjusted: &[Option<f64>],
    family: usize,
    asked: &CompareOptions,
) -> Comparison {
    let figures: Vec<Compared> =
        found.iter().zip(adjusted).map(|(found, p)| found.judged(*p, family, asked)).collect();
    let doubts = doubts(pair, &figures, asked);
    let verdict = overall(&figures, &doubts);
    let mut comparison = Comparison {
        settings: pair.cell.clone(),
        verdict,
        figures,
        p_values_count: family,
        doubts,
        peaks: peaks(pair.a, pair.b),
        requests: requests::moved(pair.a, pair.b),
        spectra: merged_spectrum(&pair.a.runs)
            .zip(merged_spectrum(&pair.b.runs))
            .map(|(a, b)| Box::new([a, b])),
        ..Comparison::empty(facts(pair.a), facts(pair.b), asked)
    };
    comparison.headline = sentence::named(&comparison).map(|row| row.figure.clone());
    comparison.sentence = sentence::sentence(&comparison);
    comparison
}

fn overall(figures: &[Compared], doubts: &[Doubt]) -> Overall {
    if doubts.iter().any(|doubt| doubt.severity == Severity::Inconclusive) {
        return Overall::Inconclusive;
    }
    let is_errors = |row: &&Compared| row.kind == Figure::ErrorRate;
    let has = |errors: bool, test: fn(Verdict) -> bool| {
        figures.iter().any(|row| is_errors(&row) == errors && test(row.verdict))
    };
    let (worse, better) = (has(false, Verdict::is_worse), has(false, Verdict::is_better));
    let (more, fewer) = (has(true, Verdict::is_worse), has(true, Verdict::is_better));
    if (worse || more) && (better || fewer) {
        return Overall::Mixed;
    }
    match (worse, better, more, fewer) {
        (true, ..) => return Overall::Slower,
        (_, true, ..) => return Overall::Faster,
        (.., true, _) => return Overall::MoreErrors,
        (.., true) => return Overall::FewerErrors,
        _ => {}
    }
    // A figure with too few samples is excluded; a separate caution reports it.
    let mut compared = figures.iter().filter(|row| !row.has_too_few()).peekable();
    let hidden = doubts.iter().any(|doubt| doubt.code == RTT_BOUND);
    if compared.peek().is_some() && !hidden && compared.all(|row| row.verdict == Verdict::Equivalent) {
        return Overall::Equivalent;
    }
    Overall::Inconclusive
}

/// Returns the highest peak of all runs of a side; a metric of only one side is included.
fn peaks(a: &Side, b: &Side) -> Vec<Peaks> {
    let pooled = |side: &Side| pooled(&side.runs.iter().collect::<Vec<_>>());
    let (a, b) = (pooled(a), pooled(b));
    let mut out: Vec<Peaks> = Vec::new();
    for (what, seen) in sizes(&a) {
        out.push(Peaks { metric: what, unit: seen.unit, a: Some(seen.peak), b: None });
    }
    for (what, seen) in sizes(&b) {
        match out.iter_mut().find(|known| known.metric == what && known.unit == seen.unit) {
            Some(known) => known.b = Some(seen.peak),
            None => out.push(Peaks { metric: what, unit: seen.unit, a: None, b: Some(seen.peak) }),
        }
    }
    out
}

fn facts(side: &Side) -> SideFacts {
    SideFacts {
        name: side.name.clone(),
        runs: side.runs.len(),
        requests: side.runs.iter().map(|run| run.requests).sum(),
        measured_s: side.runs.iter().map(|run| run.measured_s).sum(),
        target: side.runs.first().map_or(String::new(), |run| run.target.clone()),
    }
}

impl Comparison {
    /// Returns a comparison without figures.
    pub(super) fn empty(a: SideFacts, b: SideFacts, asked: &CompareOptions) -> Comparison {
        Comparison {
            schema_version: SCHEMA_VERSION,
            a,
            b,
            settings: Vec::new(),
            verdict: Overall::Inconclusive,
            sentence: String::new(),
            headline: None,
            figures: Vec::new(),
            p_values_count: 0,
            doubts: Vec::new(),
            min_difference_ratio: asked.min_difference_ratio,
            min_error_difference_ratio: asked.min_error_difference_ratio,
            confidence: asked.confidence,
            seed: asked.seed,
            peaks: Vec::new(),
            requests: Vec::new(),
            spectra: None,
        }
    }
}
