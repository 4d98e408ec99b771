//! Compares runs: differences with intervals, and what may be said about them.
//!
//! The rule, in one place. Each figure of a side comes from the merged histograms of all its runs, never from
//! percentiles of percentiles; what is compared is the logarithm of the quotient (of error ratios: the difference).
//! Its uncertainty has two levels:
//!
//! - *between runs*: the delete-one-run jackknife (Tukey 1958; Miller, Biometrika 61, 1974), with a Student
//!   distribution of (runs - 1) degrees of freedom and Welch's sum for two sides;
//!   from eight interleaved repeats on, the same of their differences instead;
//! - *within a run*: a circular block bootstrap over at most sixty stretches, and, for what is too short for that,
//!   the order statistics of independent samples. It is a floor: three runs that agree by chance prove nothing that
//!   their own samples could not.
//!
//! A single run knows nothing of other runs, so [`ASSUMED_BETWEEN`] is assumed and said. P-values are adjusted after
//! Holm over all figures of all comparisons that are made together.
//!
//! What the load generator may have done to the figures of a side has a size and a direction ([`bounds`]): it widens
//! the interval on that side, and a difference that outlives it is one.
//!
//! A difference whose interval lies within what is worth naming is no difference; else one that is certain after
//! adjustment is named; else nobody can tell.

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
pub use sentence::{cell_name, change, evidence, figure_name};
pub use types::{
    Basis, CompareOptions, Compared, Comparison, Doubt, Moved, Overall, Peaks, SCHEMA_VERSION, Scale, Side,
    SideFacts, Verdict,
};

use settle::Found;

/// The deviation between runs that is assumed where a side has one run only, as a ratio. Repeated runs of one service
/// differ by one to eight per cent in published tests; machines that nobody else uses are at the lower end.
pub const ASSUMED_BETWEEN: f64 = 0.05;

/// Compares two sides.
pub fn compare(a: &Side, b: &Side, asked: &CompareOptions) -> Comparison {
    let pair = Pair { cell: Vec::new(), a, b };
    let found = [settle::figures(a, b, asked)];
    let (adjusted, family) = settle::adjust(&found);
    settle::comparison(&pair, &found[0], &adjusted, family, asked)
}

/// Two sides, and the settings that both have.
pub(crate) struct Pair<'a> {
    pub cell: Vec<plimsoll_plan::experiment::Setting>,
    pub a: &'a Side,
    pub b: &'a Side,
}

/// Compares several pairs at once: the adjustment runs over all of them.
pub(crate) fn compare_all(pairs: &[Pair<'_>], asked: &CompareOptions) -> Vec<Comparison> {
    let found: Vec<Vec<Found>> = pairs.iter().map(|pair| settle::figures(pair.a, pair.b, asked)).collect();
    let (mut adjusted, family) = settle::adjust(&found);
    let answer = |(pair, found): (&Pair<'_>, &Vec<Found>)| {
        let behind = adjusted.split_off(found.len());
        settle::comparison(pair, found, &std::mem::replace(&mut adjusted, behind), family, asked)
    };
    pairs.iter().zip(&found).map(answer).collect()
}
