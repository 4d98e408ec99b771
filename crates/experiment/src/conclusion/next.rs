//! Why a sweep ended as it did and what follows, as a value with its numbers; the sentences are made where numbers
//! become text.

use super::Conclusion;
use crate::study::Finding;
use plimsoll_analysis::summary::Outcome;
use serde::Serialize;

/// Findings that tell why a curve ends, what is surest first; of others the first is taken.
const CAUSES: [&str; 4] = ["network_saturated", "bottleneck", "retrograde", "saturated"];

/// What decides most: what keeps the result open, else the finding that says most.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "evidence", rename_all = "snake_case")]
pub enum Next<'a> {
    /// Runs of the experiment that are still to be made.
    RunsMissing { runs: usize },
    /// Cells in which a threshold names a percentile that needs more samples than there are.
    SamplesShort { cells: usize },
    /// A finding of the study, by its code.
    Found {
        finding: &'static str,
        #[serde(skip)]
        row: &'a Finding,
    },
}

impl<'a> Next<'a> {
    /// `None`: it is no sweep, or nothing was found.
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
