//! An experiment: more than one run for one question. What spans its matrix of cells, how often each cell is repeated,
//! what is searched for, and what is expected of the answer.

mod expect;
mod until;

pub use expect::{By, Direction, Expectation, Figure};
pub use until::{Bound, Limit, Until};

use crate::Problem;
use serde::{Deserialize, Serialize};

/// Where a run stands in its experiment: the matrix can be rebuilt from the run files alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellOutline {
    /// Name of the experiment.
    pub experiment: String,
    /// What the cell sets, axis by axis: `("variant", "node")`, `("users", "10")`.
    pub settings: Vec<Setting>,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// Place in the order of the runs, from 0.
    pub run_index: u32,
    /// Of the order of the runs.
    pub seed: u64,
    /// What the run is for in a search; `None` outside of one.
    #[serde(default)]
    pub purpose: Option<Purpose>,
}

/// One axis at one value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub parameter: String,
    pub value: String,
}

/// `10`, `1,000`, `200/s`; rates in other units per second, so that they stand in their order.
pub fn number(text: &str) -> Option<f64> {
    let (digits, unit) = text.trim().split_once('/').unwrap_or((text.trim(), "s"));
    let per_s = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    let plain: String = digits.chars().filter(|c| *c != ',' && *c != '_').collect();
    plain.trim().parse::<f64>().ok().filter(|n| n.is_finite()).map(|n| n / per_s)
}

/// What a run of a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// One user, to know what an unloaded answer takes.
    Baseline,
    /// Geometric steps up (or down) until the answer is enclosed.
    Bracket,
    /// Between a level that is met and one that is missed.
    Bisect,
    /// A repeat at, below or above the answer.
    Confirm,
    /// A step of a ladder that goes up until its end rule.
    Ladder,
}

/// A dimension of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The key whose list spans it (`users`, `rate`, `variant`), or the name of the variable.
    pub name: String,
    /// As they are written, in the order of the file.
    pub values: Vec<String>,
    /// All values are numbers: the axis has an order and can be the x of a curve.
    pub is_numeric: bool,
}

/// What a file says of an experiment as a whole; its cells' drafts stand beside it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Experiment {
    pub name: String,
    /// What the experiment is to answer, in the words of who wrote it; empty: nobody said.
    pub question: String,
    /// Load generators that share each run's load on this machine; 0 is read as 1.
    pub generators: u32,
    /// Empty: one cell. The variant axis, if there is one, comes first; then as in the file.
    pub axes: Vec<Axis>,
    /// How often each cell runs; 0 is read as 1.
    pub repeat: u32,
    /// Of the order of the runs; drawn when the file names none.
    pub seed: Option<u64>,
    /// Rest between two runs, ns.
    pub cooldown_ns: u64,
    /// A run whose measured part is shorter is no valid cell, ns.
    pub min_duration_ns: u64,
    /// The beginning of each run up to its steady state is left out of the figures, beyond the warm-up that is written.
    pub trim_to_steady_state: bool,
    /// Once a row (all settings but the last numeric axis) has missed its thresholds at a level in every repeat, higher
    /// levels are not run.
    pub stop_on_miss: bool,
    /// A search in each cell instead of one run.
    pub find: Option<Find>,
    pub expects: Vec<Expectation>,
}

/// What a search varies and how it ends. Levels are arrivals per second, or users.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Find {
    /// Users (closed model) instead of arrivals per second.
    pub users: bool,
    /// First level; derived from the unloaded answer when absent.
    pub from: Option<f64>,
    /// Never above this.
    pub to: Option<f64>,
    /// A ladder: each step is the one before times or plus this, until `stop_when`.
    pub step: Option<Step>,
    /// End of a ladder; a search without one ends with its answer.
    pub stop_when: Option<Until>,
    /// Length of a full step, ns.
    pub step_duration_ns: Option<u64>,
    /// Half width of the interval that is searched for, a ratio of the answer.
    pub precision: Option<f64>,
    /// Confirming runs at each of below, at and above the answer.
    pub confirm: Option<u32>,
    /// Time after which a search answers with what it knows, ns.
    pub max_time_ns: Option<u64>,
}

/// From one level of a ladder to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Times(f64),
    Plus(f64),
}

impl Step {
    /// The level behind `level`.
    pub fn next(self, level: f64) -> f64 {
        match self {
            Step::Times(factor) => level * factor,
            Step::Plus(more) => level + more,
        }
    }

    /// Parses `x1.10` or `+50`.
    ///
    /// # Errors
    /// A sentence when it is neither, or does not lead upwards.
    pub fn parse(text: &str) -> Result<Step, Problem> {
        let number = |digits: &str| digits.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let step = match text.trim().strip_prefix(['x', '×', '*']) {
            Some(factor) => number(factor).filter(|f| *f > 1.0).map(Step::Times),
            None => {
                let more = text.trim().strip_prefix('+').and_then(|more| number(more.trim_end_matches("/s")));
                more.filter(|m| *m > 0.0).map(Step::Plus)
            }
        };
        step.ok_or_else(|| Problem::new(format!("`{text}` is no step upwards"), "expected `x1.10` or `+50`"))
    }
}
