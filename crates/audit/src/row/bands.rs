//! What minimum, percentiles, and maximum leave open about a distribution: bands of shares of the samples, each between
//! two values. A mean or deviation that no choice of values within the bands has is impossible for the samples, too.

use super::span::Span;

/// Each of the nine definitions of a percentile (Hyndman & Fan 1996) lies within one rank of n p; half a rank more,
/// where failures are counted and have no time.
const RANKS: f64 = 1.5;
/// The shift of a percentile that is allowed if the number of samples is unknown.
const UNKNOWN_SHIFT: f64 = 0.005;

/// Returns how far a stated percentile may be from its share of the samples.
pub(super) fn shift(samples: Option<f64>) -> f64 {
    samples.map_or(UNKNOWN_SHIFT, |n| RANKS / n)
}

/// A share of the samples, with the least and the largest value that each of them may have.
#[derive(Debug, Clone, Copy)]
struct Band {
    share: f64,
    low: f64,
    high: f64,
}

/// Bands from the lowest to the highest value; their shares add up to one.
#[derive(Debug, Clone)]
pub(super) struct Bands(Vec<Band>);

impl Bands {
    /// `quantiles` are shares (0..1) with their values, lowest first; `samples` is their number if it is known, and
    /// `made_up` how many times more values than that there can be.
    pub fn new(
        min: Option<Span>,
        max: Option<Span>,
        quantiles: &[(f64, Span)],
        samples: Option<f64>,
        made_up: f64,
    ) -> Self {
        let shift = shift(samples);
        // At least one sample is the smallest, and one the largest.
        let one = samples.map_or(0.0, |n| 1.0 / (n * made_up));
        let mut cuts: Vec<f64> = quantiles
            .iter()
            .flat_map(|(share, _)| [share - shift, share + shift])
            .chain([0.0, one, 1.0 - one, 1.0])
            .map(|cut| cut.clamp(0.0, 1.0))
            .collect();
        cuts.sort_unstable_by(f64::total_cmp);
        let mut bands = Vec::with_capacity(cuts.len());
        for ends in cuts.windows(2) {
            let (from, to) = (ends[0], ends[1]);
            if to <= from {
                continue;
            }
            let grain = 1e-12;
            let mut low = min.map_or(0.0, |x| x.low);
            let mut high = max.map_or(f64::INFINITY, |x| x.high);
            for (share, value) in quantiles {
                if from + grain >= share + shift {
                    low = low.max(value.low);
                }
                if to <= share - shift + grain {
                    high = high.min(value.high);
                }
            }
            if let Some(x) = max.filter(|_| from + grain >= 1.0 - one) {
                low = low.max(x.low);
            }
            if let Some(x) = min.filter(|_| to <= one + grain) {
                high = high.min(x.high);
            }
            bands.push(Band { share: to - from, low, high: high.max(low) });
        }
        Self(bands)
    }

    /// The least and the largest mean.
    pub fn mean(&self) -> (f64, f64) {
        let sum = |end: fn(&Band) -> f64| self.0.iter().map(|band| band.share * end(band)).sum::<f64>();
        (sum(|band| band.low), sum(|band| band.high))
    }

    /// The least standard deviation (dividing by n) with a mean in this range; none where no values have such a mean.
    pub fn least_deviation(&self, mean: Span) -> Option<f64> {
        self.within(mean).map(|mean| self.least_variance(mean).max(0.0).sqrt())
    }

    /// The largest standard deviation, likewise.
    pub fn largest_deviation(&self, mean: Span) -> Option<f64> {
        self.within(mean).map(|mean| self.largest_variance(mean).max(0.0).sqrt())
    }

    fn within(&self, mean: Span) -> Option<Span> {
        let (low, high) = self.mean();
        let mean = Span { low: mean.low.max(low), high: mean.high.min(high), ..mean };
        (mean.low <= mean.high).then_some(mean)
    }

    /// All values as near to each other as their bands allow: each is one common value, or the end of its band that is
    /// next to it. The variance is convex in the values, so the best mean is the free one or the nearer end.
    fn least_variance(&self, mean: Span) -> f64 {
        let mean_at = |x: f64| self.0.iter().map(|b| b.share * x.clamp(b.low, b.high)).sum::<f64>();
        // The free optimum: the common value is the mean itself.
        let mut free = mean.low;
        for _ in 0..100 {
            let next = mean_at(free);
            let moved = (next - free).abs();
            free = next;
            if moved <= 1e-12 * next {
                break;
            }
        }
        let target = free.clamp(mean.low, mean.high);
        let (mut from, mut to) = (self.0.first().map_or(0.0, |b| b.low), mean.high);
        while mean_at(to) < target && to < 1e18 {
            to = to * 2.0 + 1e-9;
        }
        for _ in 0..50 {
            let middle = f64::midpoint(from, to);
            if mean_at(middle) < target { from = middle } else { to = middle }
        }
        let square = |b: &Band| b.share * (to.clamp(b.low, b.high) - target).powi(2);
        self.0.iter().map(square).sum()
    }

    /// Each band at one of its ends: raising a band from its lower to its upper end adds (low + high) x the change of
    /// the mean to the mean square, so the highest bands come first.
    fn largest_variance(&self, mean: Span) -> f64 {
        if self.0.iter().any(|b| !b.high.is_finite()) {
            return f64::INFINITY;
        }
        let mut order: Vec<&Band> = self.0.iter().collect();
        order.sort_by(|a, b| (b.low + b.high).total_cmp(&(a.low + a.high)));
        let mut at: f64 = self.0.iter().map(|b| b.share * b.low).sum();
        let mut square: f64 = self.0.iter().map(|b| b.share * b.low * b.low).sum();
        let mut most = f64::NEG_INFINITY;
        let mut look = |m: f64, square: f64| {
            if (mean.low..=mean.high).contains(&m) {
                most = most.max(square - m * m);
            }
        };
        look(at, square);
        for band in order {
            let (slope, next) = (band.low + band.high, at + band.share * (band.high - band.low));
            // On this stretch, the mean square is a line; its lead over the square of the mean peaks at slope / 2.
            for m in [mean.low, mean.high, slope / 2.0, next].map(|m| m.clamp(at, next)) {
                look(m, square + slope * (m - at));
            }
            square += slope * (next - at);
            at = next;
        }
        // Only rounding of binary fractions leaves no point within the range.
        if most.is_finite() { most } else { f64::INFINITY }
    }
}
