//! The summary as one JSON document: the same figures as everywhere else, unrounded.

use crate::Error;
use crate::compare;
use crate::next::NextRows;
use plimsoll_analysis::next::{Reason, Step};
use plimsoll_analysis::summary::Summary;
use plimsoll_experiment::compare::Comparison;
use plimsoll_experiment::compare::gate::Gated;
use serde::Serialize;

/// Pretty-printed, fields in the order of the schema, a line break at the end. A number that is not finite becomes
/// `null`: JSON has no other word for it.
///
/// # Errors
/// When the summary holds something that JSON cannot express.
pub fn to_string(s: &Summary) -> Result<String, Error> {
    document(&Run::of(s))
}

/// The document of a run: its summary, and under `next` why it is so and what to do.
#[derive(Debug, Serialize)]
pub struct Run<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    next: NextRows<Reason<'a>, Step<'a>>,
}

impl<'a> Run<'a> {
    pub fn of(summary: &'a Summary) -> Self {
        Run { summary, next: NextRows::of(summary) }
    }
}

/// The same for any other result.
///
/// # Errors
/// As [`to_string`].
pub fn document<T: Serialize>(value: &T) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// Comparisons, each with what the gate says of it, why it is so and what to do next.
///
/// # Errors
/// As [`to_string`].
pub fn comparisons(comparisons: &[Comparison], gate: &[Gated]) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        comparisons: &'a [Comparison],
        /// One per comparison.
        gate: &'a [Gated],
        /// Likewise.
        next: Vec<compare::Rows<'a>>,
    }
    let gates = gate.iter().map(Some).chain(std::iter::repeat(None));
    let next = comparisons.iter().zip(gates).map(|(one, gated)| compare::rows(one, gated)).collect();
    document(&Document { comparisons, gate, next })
}
