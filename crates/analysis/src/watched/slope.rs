//! The course of memory: a slope that the sawtooth of a garbage collector, a spike, or a start that fills caches
//! cannot produce.
//!
//! The slope is that of Theil and Sen over the second half; its interval uses the score of Mann and Kendall with the
//! variance of Hamed & Rao (1998), because the seconds of a memory curve are strongly autocorrelated. A significant
//! slope alone is not sufficient: over a tooth that started in the second half it is real but meaningless. Therefore
//! both envelopes must rise, too: the minimum (what remains after a collection) and the maximum (no earlier value was
//! this high).

use crate::caution::slope_text;
use crate::summary::{Slope, SlopeVerdict};
use plimsoll_stats::maths::changepoint::trend;

/// Minimum number of samples for a soak.
const LEAST: usize = 60;
/// The ceiling must rise by this share of what the slope makes of the last quarter.
const CEILING: f64 = 0.25;

/// Of a series of (seconds, bytes); `None` when it is too short.
pub(super) fn slope(points: &[(f64, f64)]) -> Option<Slope> {
    if points.len() < LEAST {
        return None;
    }
    let values: Vec<f64> = points.iter().map(|(_, bytes)| *bytes).collect();
    let n = values.len();
    let (first_half, half) = values.split_at(n / 2);
    let trend = trend(half)?;
    let between_s = (points[n - 1].0 - points[n / 2].0) / (half.len() - 1).max(1) as f64;
    if between_s <= 0.0 {
        return None;
    }
    let [per_h, low, high] = [trend.slope, trend.low, trend.high].map(|each| each / between_s * 3_600.0);
    let (third, last) = half.split_at(half.len() / 2);
    let floor = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
    let ceiling = |part: &[f64]| part.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let of_quarter = trend.slope * last.len() as f64;
    let before = ceiling(first_half).max(ceiling(third));
    let verdict = if low > 0.0 && floor(last) > floor(third) && ceiling(last) > before + CEILING * of_quarter
    {
        SlopeVerdict::Grows
    } else if high < 0.0 && ceiling(last) < ceiling(third) && floor(last) < floor(third) {
        SlopeVerdict::Falls
    } else {
        SlopeVerdict::Level
    };
    let sentence = match verdict {
        SlopeVerdict::Level => "level".into(),
        SlopeVerdict::Grows => slope_text("grows", per_h, low, high),
        SlopeVerdict::Falls => slope_text("falls", -per_h, -high, -low),
    };
    Some(Slope { bytes_per_h: per_h, low_bytes_per_h: low, high_bytes_per_h: high, verdict, sentence })
}
