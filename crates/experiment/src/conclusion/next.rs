//! Reason for the result of a sweep and its next step, as a value with its numbers; the sentences are made where
//! numbers become text.

use super::Conclusion;
use crate::study::Finding;
use plimsoll_analysis::summary::Outcome;
use serde::Serialize;

/// Findings that explain why a curve ends, the most certain first; without them, the first finding counts.
const CAUSES: [&str; 4] = ["network_saturated", "bottleneck", "retrograde", "saturated"];

/// The decisive finding: the cause of an inconclusive result, or else the most informative finding.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Next<'a> {
    /// Runs of the experiment are missing.
    RunsMissing { runs: usize },
    /// Cells with a threshold on a percentile that needs more samples.
    SamplesShort { cells: usize },
    /// A finding of the study, by its code.
    Found {
        finding: &'static str,
        #[serde(skip)]
        row: &'a Finding,
    },
}

impl<'a> Next<'a> {
    /// Returns `None` if it is not a sweep, or if nothing was found.
    pub fn of(c: &'a Conclusion) -> Option<Self> {
        let study = c.study.as_ref()?;
        let is_open = c.result == Outcome::Inconclusive;
        if is_open && c.missing_runs > 0 {
            return Some(Next::RunsMissing { runs: c.missing_runs });
        }
        let find = |code: &str| study.findings.iter().find(|finding| finding.code == code);
        let is_flawed = study.table.iter().any(|row| !row.is_valid);
        if is_open && !is_flawed && c.inconclusive_combinations > 0 {
            return Some(Next::SamplesShort { cells: c.inconclusive_combinations });
        }
        let open = if is_open && is_flawed { find("runs_left_out") } else { None };
        let cause = || CAUSES.iter().find_map(|code| find(code));
        let row = open.or_else(cause).or(study.findings.first())?;
        Some(Next::Found { finding: row.code, row })
    }
}
