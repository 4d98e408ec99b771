//! Chooses one of several branches: randomly by weight, or in a fixed pattern that matches the ratio at every moment.

use super::draw;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::script::Order;
use plimsoll_stats::random::SplitMix64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Longest period that is stored as a table.
const PERIOD_MAX: u64 = 65_536;

/// A choice by weight, shared by all users of this machine.
#[derive(Debug)]
pub struct Picker {
    how: How,
}

#[derive(Debug)]
enum How {
    /// Upper ends of the branches' parts of 0..1, ascending.
    Random(Box<[f64]>),
    /// One period, with a position that all users share.
    Table { period: Box<[u16]>, next: AtomicU64 },
    /// Weights without a short period. The state is more than a number, so each choice takes a lock, once per branch
    /// and not per request.
    Exact(Mutex<QuotaPicker>),
}

impl Picker {
    /// Returns a choice between `weights`.
    ///
    /// # Errors
    /// Returns an error if there are no weights or too many, if a weight is invalid, or if their sum is not above 0.
    pub fn new(weights: &[f64], order: Order) -> Result<Picker, String> {
        let sum: f64 = weights.iter().sum();
        if let Some(bad) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(format!("invalid weight `{bad}`: expected a number of at least 0"));
        }
        if !(sum.is_finite() && sum > 0.0) || weights.len() > usize::from(u16::MAX) {
            return Err(format!("invalid sum `{sum}` of {}", counted(weights.len() as u64, "weight")));
        }
        let shares: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let how = match order {
            Order::Random => {
                let mut end = 0.0;
                How::Random(
                    shares
                        .iter()
                        .map(|share| {
                            end += share;
                            end
                        })
                        .collect(),
                )
            }
            Order::Exact => match period_of(weights) {
                Some(length) => {
                    let mut picker = QuotaPicker::new(shares);
                    let period = (0..length).map(|_| picker.next()).collect();
                    How::Table { period, next: AtomicU64::new(0) }
                }
                None => How::Exact(Mutex::new(QuotaPicker::new(shares))),
            },
        };
        Ok(Picker { how })
    }

    /// Returns the number of the chosen branch.
    pub fn pick(&self, random: &mut SplitMix64) -> usize {
        match &self.how {
            How::Random(ends) => {
                let at = draw::unit(random);
                let way = ends.partition_point(|end| *end <= at);
                // The last end may be slightly below 1, and a final branch without weight must not be chosen.
                if way < ends.len() { way } else { ends.partition_point(|end| *end < ends[ends.len() - 1]) }
            }
            How::Table { period, next } => {
                let at = next.fetch_add(1, Ordering::Relaxed) % period.len() as u64;
                usize::from(period[at as usize])
            }
            How::Exact(picker) => usize::from(picker.lock().unwrap_or_else(PoisonError::into_inner).next()),
        }
    }
}

/// Returns the period of the pattern: the sum of the weights as the smallest whole numbers with this ratio.
fn period_of(weights: &[f64]) -> Option<u64> {
    // Users write weights as whole numbers, percentages, or with a few decimals.
    [1.0, 10.0, 100.0, 1_000.0, 10_000.0].iter().find_map(|scale| {
        let whole = weights.iter().map(|weight| {
            let scaled = weight * scale;
            let near = scaled.round();
            ((scaled - near).abs() <= 1e-9 * near.max(1.0) && near <= 1e15).then_some(near as u64)
        });
        let whole = whole.collect::<Option<Vec<u64>>>()?;
        let divisor = whole.iter().fold(0, |a, b| gcd(a, *b)).max(1);
        let sum = whole.iter().map(|weight| weight / divisor).sum();
        (1..=PERIOD_MAX).contains(&sum).then_some(sum)
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The chairman assignment (R. Tijdeman, The chairman assignment problem, 1980): after k choices, every branch was
/// chosen k x share times, plus or minus 1 - 1 / (2n - 2). The smooth weighted round robin of load balancers has no
/// such bound.
#[derive(Debug)]
struct QuotaPicker {
    shares: Vec<f64>,
    /// For each branch, k x share minus how often it was chosen. A difference does not grow with k.
    owed: Vec<f64>,
}

impl QuotaPicker {
    fn new(shares: Vec<f64>) -> QuotaPicker {
        QuotaPicker { owed: vec![0.0; shares.len()], shares }
    }

    fn next(&mut self) -> u16 {
        let ways = self.shares.len();
        let slack = if ways > 1 { 1.0 / (2 * ways - 2) as f64 } else { 0.0 };
        // Of the branches that are not ahead of their share, the one with the earliest deadline.
        let (mut best, mut soonest) = (None, f64::INFINITY);
        for way in 0..ways {
            self.owed[way] += self.shares[way];
            let share = self.shares[way];
            // The tolerance covers rounding errors of sums.
            if share > 0.0 && self.owed[way] >= slack - 1e-9 {
                let deadline = (1.0 - slack - self.owed[way]) / share;
                if deadline < soonest - 1e-9 {
                    (best, soonest) = (Some(way), deadline);
                }
            }
        }
        // proof: `owed` adds up to 1 here, and a sum of n parts below 1 / (2n - 2) would be below 1.
        let way = best.unwrap_or(0);
        self.owed[way] -= 1.0;
        way as u16
    }
}
