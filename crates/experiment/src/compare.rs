//! Compares runs: differences with confidence intervals, and the verdicts that they support.
//!
//! Each figure of a side comes from the merged histograms of all its runs, never from percentiles of percentiles. The
//! compared quantity is the logarithm of the quotient; for error ratios, the difference. Its uncertainty has two
//! levels:
//!
//! - *between runs*: the delete-one-run jackknife (Tukey 1958; Miller, Biometrika 61, 1974), with a Student
//!   distribution of (runs - 1) degrees of freedom and Welch's sum for two sides; from eight interleaved repeats up,
//!   the same for the differences of the repeats;
//! - *within a run*: a circular block bootstrap over at most sixty stretches, and, where a run is too short for that,
//!   the order statistics of independent samples. This is a floor: three runs that agree by chance prove nothing that
//!   their own samples could not.
//!
//! A single run shows nothing about other runs, so [`ASSUMED_BETWEEN`] is assumed and reported. P-values are adjusted
//! by Holm's method over all figures of all comparisons made together.
//!
//! The possible effect of the load generator on the figures of a side has a size and a direction ([`bounds`]). It
//! widens the interval on that side, and a difference that exceeds it is still reported.
//!
//! A difference is `equivalent` if its whole interval lies within the smallest difference of interest. Otherwise it is
//! named if it is certain after adjustment, and `inconclusive` if it is not.

pub mod baseline;
mod bounds;
mod cells;
mod doubts;
pub mod expect;
pub mod gate;
pub mod next;
mod requests;
mod sentence;
mod settle;
mod spread;
mod table;
mod types;

pub use cells::{compare_cells, variants};
pub use sentence::{
    bound_text, cell_name, change, chosen_change, difference_texts, evidence, figure_name, figure_phrase,
    value_texts,
};
pub use types::{
    Basis, CompareOptions, Compared, Comparison, Doubt, Moved, Overall, Peaks, SCHEMA_VERSION, Scale, Side,
    SideFacts, Verdict,
};

use settle::Found;

/// The deviation between runs, as a ratio, that is assumed for a side with only one run. Repeated runs of one service
/// differ by 1% to 8% in published tests; dedicated machines are at the lower end.
pub const ASSUMED_BETWEEN: f64 = 0.05;

/// Compares two sides.
pub fn compare(a: &Side, b: &Side, asked: &CompareOptions) -> Comparison {
    let pair = Pair { cell: Vec::new(), a, b };
    let found = [settle::figures(a, b, asked)];
    let (adjusted, family) = settle::adjust(&found);
    settle::comparison(&pair, &found[0], &adjusted, family, asked)
}

/// Two sides, and the settings that they share.
pub(crate) struct Pair<'a> {
    pub cell: Vec<plimsoll_plan::experiment::Setting>,
    pub a: &'a Side,
    pub b: &'a Side,
}

/// Compares several pairs at once: the adjustment covers all of them.
pub(crate) fn compare_all(pairs: &[Pair<'_>], asked: &CompareOptions) -> Vec<Comparison> {
    let found: Vec<Vec<Found>> = pairs.iter().map(|pair| settle::figures(pair.a, pair.b, asked)).collect();
    let (mut adjusted, family) = settle::adjust(&found);
    let answer = |(pair, found): (&Pair<'_>, &Vec<Found>)| {
        let behind = adjusted.split_off(found.len());
        settle::comparison(pair, found, &std::mem::replace(&mut adjusted, behind), family, asked)
    };
    pairs.iter().zip(&found).map(answer).collect()
}
