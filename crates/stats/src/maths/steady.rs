//! Where the warm-up ends: the truncation that leaves the least error of the mean.
//!
//! MSER-5 (White 1997, An Effective Truncation Heuristic for Bias Reduction in Simulation Output; White, Cobb & Spratt
//! 2000): means of five values each; of all cuts in the first half the one with the smallest squared standard error of
//! what remains.

use super::changepoint::{changes, trend};

/// Fewer values say nothing about a beginning.
pub const FEWEST: usize = 20;
/// Of longer series the batches are searched for steps.
const LONG: usize = 3_600;
/// A slope or a step of the rest is only told when it changes the level by this share.
pub const DRIFT: f64 = 0.05;

/// The beginning that should not be counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// Values to leave out at the front.
    pub at: usize,
    pub state: State,
}

/// Whether what remains is steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    Steady,
    /// Fewer than [`FEWEST`] values.
    TooShort,
    /// The best cut lies at the end of the first half: the beginning has not ended within it.
    StillSettling,
    /// What remains changes its level once or more, by at most this share of it.
    Changes {
        change_ratio: f64,
    },
    /// What remains rises or falls, by this share of its level over its length.
    Drifts {
        change_ratio: f64,
    },
}

/// See the module. Values that are no numbers make the series too short to judge.
pub fn mser5(values: &[f64]) -> Truncation {
    if values.len() < FEWEST || values.iter().any(|v| !v.is_finite()) {
        return Truncation { at: 0, state: State::TooShort };
    }
    // Batches of five leave an hour 720 of them and 30 s only six: for short series they shrink.
    let width = if values.len() >= 50 { 5 } else { 2 };
    let batches: Vec<f64> =
        values.chunks_exact(width).map(|c| c.iter().sum::<f64>() / width as f64).collect();
    let n = batches.len();
    let half = n / 2;
    let (mut best, mut least) = (0, f64::INFINITY);
    let (mut sum, mut count) = (0.0, 0.0);
    // From the back, by Welford's recurrence: no difference of large squares.
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
    // The search for levels grows with the square of a long series; its batches show a step as well.
    let judged = if rest.len() > LONG { &batches[best..] } else { rest };
    // A late step is no slope: ranks that stay alike for so long make the test for a slope doubt everything.
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
