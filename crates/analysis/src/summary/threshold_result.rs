//! A threshold, its figure, and the best and the worst that the figure may be in truth.

use super::Window;
use crate::caution::{Evidence, Kind};
use plimsoll_plan::threshold::FigureUnit;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A threshold and how the run met it.
#[derive(Debug, Clone, Serialize)]
pub struct ThresholdResult {
    pub text: String,
    /// What is compared: `response_time{request: login} p99`.
    pub subject: String,
    pub is_default: bool,
    /// ns, ratio or per second, as the subject has it; `None` when there is no sample.
    pub observed: Option<f64>,
    /// Whether the observed value is a lower bound (censored by timeouts or by the end of the run).
    pub is_lower_bound: bool,
    pub limit: f64,
    pub unit: FigureUnit,
    /// What the figure and all doubts about it come to.
    pub standing: Standing,
    /// The best value that all doubts together allow, in the unit of the threshold; `None`: without bound.
    pub best: Option<f64>,
    /// The worst one.
    pub worst: Option<f64>,
    /// What moved the bounds away from the figure, in the order in which they were applied.
    pub doubts: Vec<Doubt>,
    /// The standing is [`Standing::Met`].
    pub is_met: bool,
    /// How far inside (positive) or outside (negative) the limit, as a share of the limit; `None` for a limit of 0.
    pub margin: Option<f64>,
    /// Number of samples of the value.
    pub samples: u64,
    /// Fewer samples than 10 / (1 - p).
    pub has_too_few_samples: bool,
    /// Of a threshold with `over`: the worst window, whose figure is `observed`.
    pub window: Option<Window>,
}

impl ThresholdResult {
    /// Certainly beyond the limit, not undecided.
    pub fn is_missed(&self) -> bool {
        self.standing == Standing::Missed
    }

    /// Missed, or undecided with a figure beyond the limit.
    pub fn is_beyond(&self) -> bool {
        match self.standing {
            Standing::Met => false,
            Standing::Missed => true,
            Standing::Undecided => self.margin.is_some_and(|margin| margin < 0.0),
        }
    }

    /// The doubts that keep it from an answer, the largest first; none when it is decided.
    pub fn deciding(&self) -> Vec<&Doubt> {
        let mut all: Vec<&Doubt> = self.doubts.iter().filter(|doubt| doubt.is_decisive).collect();
        let size = |doubt: &Doubt| doubt.size.unwrap_or(f64::INFINITY);
        all.sort_by(|a, b| size(b).total_cmp(&size(a)));
        all
    }
}

/// Whether a threshold holds: for certain, certainly not, or within reach of a doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The worst value that the doubts allow meets the limit.
    Met,
    /// The best one misses it.
    Missed,
    /// They lie on both sides of the limit, or nothing was measured.
    Undecided,
}

impl Standing {
    /// Of a figure that nothing is doubted of.
    pub fn of(met: bool) -> Self {
        if met { Standing::Met } else { Standing::Missed }
    }
}

/// How a doubt moved one of the bounds of a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// The caution that reports it.
    pub kind: Kind,
    pub bound: Bound,
    /// By how much, in the unit of the threshold; `None`: the bound is gone.
    pub size: Option<f64>,
    /// It keeps the threshold from an answer: without the doubts about this bound there would be one.
    pub is_decisive: bool,
    /// What was found.
    pub evidence: Evidence,
}

impl Doubt {
    /// What was found, one fragment with its numbers.
    pub fn text(&self) -> String {
        self.evidence.text()
    }
}

impl Serialize for Doubt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Doubt", 5)?;
        fields.serialize_field("code", &self.kind)?;
        fields.serialize_field("bound", &self.bound)?;
        fields.serialize_field("size", &self.size)?;
        fields.serialize_field("is_decisive", &self.is_decisive)?;
        fields.serialize_field("text", &self.text())?;
        fields.end()
    }
}

/// One of the two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    Best,
    Worst,
}
