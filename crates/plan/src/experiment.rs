//! Experiments: several runs for one question, with the axes of the matrix, repeats, searches, and expectations.

mod expect;
mod until;

pub use expect::{By, Direction, Expectation, Figure};
pub use until::{Bound, Limit, Until};

use crate::Problem;
use serde::{Deserialize, Serialize};

/// The place of a run in its experiment. The matrix can be rebuilt from the run files alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellOutline {
    /// Name of the experiment.
    pub experiment: String,
    /// The settings of the cell, by axis: `("variant", "node")`, `("users", "10")`.
    pub settings: Vec<Setting>,
    /// The number of the repeat, starting at 0.
    pub repeat: u32,
    /// The position in the order of the runs, starting at 0.
    pub run_index: u32,
    /// The seed for the order of the runs.
    pub seed: u64,
    /// The purpose of the run in a search; `None` without a search.
    #[serde(default)]
    pub purpose: Option<Purpose>,
}

/// One value of one axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub parameter: String,
    pub value: String,
}

/// Parses `10`, `1,000`, or `200/s`. Rates in other units become rates per second, so that they can be sorted.
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

/// The purpose of a run in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// One user, to measure the response time without load.
    Baseline,
    /// Geometric steps up (or down) until an interval contains the result.
    Bracket,
    /// A level between one that passes and one that fails.
    Bisect,
    /// A repeat below, at, or above the result.
    Confirm,
    /// A step of a ladder, which climbs until its stop condition.
    Ladder,
}

/// A dimension of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The key with the list (`users`, `rate`, `variant`), or the name of the variable.
    pub name: String,
    /// The values as written, in the order of the file.
    pub values: Vec<String>,
    /// Whether all values are numbers, so that the axis has an order and can be the x-axis of a chart.
    pub is_numeric: bool,
}

/// The settings of a whole experiment, without the drafts of its cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Experiment {
    pub name: String,
    /// The question that the experiment answers, in the user's words; empty if there is none.
    pub question: String,
    /// Load generators that share the load of each run on this machine; 0 means 1.
    pub generators: u32,
    /// The axes: first variants, if there are any, then in the order of the file. Empty if there is one cell.
    pub axes: Vec<Axis>,
    /// Runs of each cell; 0 means 1.
    pub repeat: u32,
    /// The seed for the order of the runs; random if the file has none.
    pub seed: Option<u64>,
    /// Pause between runs, ns.
    pub cooldown_ns: u64,
    /// Minimum measurement period of a valid run, ns.
    pub min_duration_ns: u64,
    /// Whether results exclude the beginning of each run up to its steady state, in addition to the warm-up.
    pub trim_to_steady_state: bool,
    /// Whether to skip higher levels once a row (all settings except the last numeric axis) has missed its thresholds
    /// at a level in every repeat.
    pub stop_on_miss: bool,
    /// The search that each cell makes instead of one run.
    pub find: Option<Find>,
    pub expects: Vec<Expectation>,
}

/// The settings of a search. Levels are arrivals per second, or users.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Find {
    /// Whether levels are users (closed model) instead of arrivals per second.
    pub users: bool,
    /// First level; `None` derives it from the response time without load.
    pub from: Option<f64>,
    /// Highest level.
    pub to: Option<f64>,
    /// The increase from level to level of a ladder, until `stop_when`.
    pub step: Option<Step>,
    /// The stop condition of a ladder; a search without one ends with its result.
    pub stop_when: Option<Until>,
    /// Length of a full step, ns.
    pub step_duration_ns: Option<u64>,
    /// Half the width of the required interval, as a ratio of the result.
    pub precision: Option<f64>,
    /// Confirming runs each below, at, and above the result.
    pub confirm: Option<u32>,
    /// Time after which a search reports the interval found so far, ns.
    pub max_time_ns: Option<u64>,
}

/// The increase from one level of a ladder to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Times(f64),
    Plus(f64),
}

impl Step {
    /// Returns the level after `level`.
    pub fn next(self, level: f64) -> f64 {
        match self {
            Step::Times(factor) => level * factor,
            Step::Plus(more) => level + more,
        }
    }

    /// Parses `x1.10` or `+50`.
    ///
    /// # Errors
    /// Returns an error if the text is neither, or does not increase the level.
    pub fn parse(text: &str) -> Result<Step, Problem> {
        let number = |digits: &str| digits.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let step = match text.trim().strip_prefix(['x', '×', '*']) {
            Some(factor) => number(factor).filter(|f| *f > 1.0).map(Step::Times),
            None => {
                let more = text.trim().strip_prefix('+').and_then(|more| number(more.trim_end_matches("/s")));
                more.filter(|m| *m > 0.0).map(Step::Plus)
            }
        };
        step.ok_or_else(|| {
            let message = format!("invalid step `{text}`: expected a factor above 1 or an increase");
            Problem::new(message, "write a step such as `x1.10` or `+50`")
        })
    }
}
