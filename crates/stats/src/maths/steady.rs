//! Finds the end of the warm-up: the truncation with the smallest error of the mean.
//!
//! MSER-5 (White 1997, An Effective Truncation Heuristic for Bias Reduction in Simulation Output; White, Cobb & Spratt
//! 2000): uses means of five values each; of all cuts in the first half, it takes the one with the smallest squared
//! standard error of the rest.

use super::changepoint::{changes, trend};

/// Fewer values than this are not enough to find a warm-up.
pub const FEWEST: usize = 20;
/// For series longer than this, the batches are searched for steps.
const LONG: usize = 3_600;
/// A slope or a step of the rest is reported only if it changes the level by this fraction.
pub const DRIFT: f64 = 0.05;

/// The warm-up, which should not be counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// Number of values to leave out at the front.
    pub at: usize,
    pub state: State,
}

/// Whether the rest is steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    Steady,
    /// Fewer than [`FEWEST`] values.
    TooShort,
    /// The best cut is at the end of the first half: the warm-up has not ended within it.
    StillSettling,
    /// The rest changes its level at least once, by at most this fraction of it.
    Changes {
        change_ratio: f64,
    },
    /// The rest rises or falls over its length by this fraction of its level.
    Drifts {
        change_ratio: f64,
    },
}

/// Finds the truncation by MSER-5. If a value is not finite, the series counts as too short.
pub fn mser5(values: &[f64]) -> Truncation {
    if values.len() < FEWEST || values.iter().any(|v| !v.is_finite()) {
        return Truncation { at: 0, state: State::TooShort };
    }
    // Batches of five give 720 for an hour but only six for 30 s: short series use smaller batches.
    let width = if values.len() >= 50 { 5 } else { 2 };
    let batches: Vec<f64> =
        values.chunks_exact(width).map(|c| c.iter().sum::<f64>() / width as f64).collect();
    let n = batches.len();
    let half = n / 2;
    let (mut best, mut least) = (0, f64::INFINITY);
    let (mut sum, mut count) = (0.0, 0.0);
    // From the end, by Welford's recurrence, which avoids differences of large squares.
    let mut square = 0.0;
    for at in (0..n).rev() {
        count += 1.0;
        let away = batches[at] - if count > 1.0 { sum / (count - 1.0) } else { batches[at] };
        sum += batches[at];
        square += away * (batches[at] - sum / count);
        let error = square / (count * count);
        // Ties go to the earlier cut, which keeps more.
        if at <= half && error <= least {
            (best, least) = (at, error);
        }
    }
    let cut = best * width;
    if best == half {
        return Truncation { at: cut, state: State::StillSettling };
    }
    let rest = &values[cut..];
    let level = rest.iter().sum::<f64>() / rest.len() as f64;
    let change_ratio = trend(rest).filter(|t| t.p_value < 0.01).map_or(0.0, |t| {
        let change = t.slope * rest.len() as f64;
        if level == 0.0 { 0.0 } else { change / level }
    });
    // The search for levels takes quadratic time for a long series; its batches show a step as well.
    let judged = if rest.len() > LONG { &batches[best..] } else { rest };
    // A late step is not a trend: ranks that stay similar for that long make the trend test insignificant.
    let steps =
        changes(judged).into_iter().map(|c| if level == 0.0 { 0.0 } else { (c.after - c.before) / level });
    let step = steps.fold(0.0f64, |most, step| if step.abs() > most.abs() { step } else { most });
    let state = if change_ratio.abs() > DRIFT {
        State::Drifts { change_ratio }
    } else if step.abs() > DRIFT {
        State::Changes { change_ratio: step }
    } else {
        State::Steady
    };
    Truncation { at: cut, state }
}
