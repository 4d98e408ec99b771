//! The rows of the summary that monitors fill: what was seen of the system under test while it was loaded.

use crate::saturation::Saturation;
use plimsoll_plan::watch::{Unit, WATCH_NS};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// One monitor. Figures are of the measured part; lapses of the whole run.
#[derive(Debug, Clone, Serialize)]
pub struct MonitorRow {
    /// Number of the machine that it ran on, in the order of `origins`.
    pub generator: u32,
    /// The agent that it ran on; `None`: where the command was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub name: String,
    /// The key in the file, such as `process`.
    pub kind: String,
    /// Where it looked, without secrets.
    pub target: String,
    /// Samples of the measured part that brought something.
    pub samples: u64,
    /// Samples that there are not.
    pub missed_samples: u64,
    pub first_missed_sample: Option<MissedSampleRow>,
    pub facts: Vec<FactRow>,
    pub rows: Vec<MetricRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissedSampleRow {
    /// From the start of the run; 0: before the load.
    pub at_s: f64,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactRow {
    pub name: String,
    pub value: String,
}

/// One number of a monitor.
#[derive(Debug, Clone, Serialize)]
pub struct MetricRow {
    /// Empty: the whole.
    pub part: String,
    pub metric: String,
    pub unit: Unit,
    pub samples: u64,
    pub min: f64,
    pub mean: f64,
    pub max: f64,
    /// When, from the start of the run.
    pub max_at_s: f64,
    pub last: f64,
    /// The value at which the resource is used up.
    pub limit: Option<f64>,
    /// Mean and highest value as shares of the limit.
    pub usage_mean_ratio: Option<f64>,
    pub usage_peak_ratio: Option<f64>,
    /// Share of the samples at 90% of the limit or above.
    pub at_limit_ratio: Option<f64>,
    /// Of memory, in runs of a minute or more.
    pub slope: Option<Slope>,
    /// Of the few that move together with p99 the most.
    pub p99_correlation: Option<Correlation>,
}

/// How memory went over the second half of the measured part.
#[derive(Debug, Clone, Serialize)]
pub struct Slope {
    /// Bytes per hour, with its 95% interval.
    pub bytes_per_h: f64,
    pub low_bytes_per_h: f64,
    pub high_bytes_per_h: f64,
    pub verdict: SlopeVerdict,
    /// `grows by 12.0 MB/h (95%: 8.10 MB/h to 15.2 MB/h)`
    pub sentence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlopeVerdict {
    Grows,
    Falls,
    /// No significant slope, or one that stays within the earlier range.
    Level,
}

/// A number that went up and down with p99. Not a cause: both may follow a third.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlation {
    /// Spearman's.
    pub rho: f64,
    /// Seconds by which p99 follows the number; negative: p99 comes first.
    pub lag_s: i32,
    /// Seconds that were compared.
    pub samples: u64,
    /// 95% interval of `rho`.
    pub low: f64,
    pub high: f64,
    pub sentence: String,
}

/// A saturated resource.
#[derive(Debug, Clone, PartialEq)]
pub struct SaturatedResource {
    pub monitor: String,
    pub kind: String,
    pub part: String,
    pub metric: String,
    /// `api: the busiest thread`
    pub resource: String,
    /// Share of the measured seconds in which it was there.
    pub saturated_ratio: f64,
    pub usage_mean_ratio: Option<f64>,
    pub usage_peak_ratio: Option<f64>,
    /// The numbers that say so.
    pub evidence: Saturation,
}

/// Its numbers as a text, and as `figures`.
impl Serialize for SaturatedResource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SaturatedResource", 10)?;
        fields.serialize_field("monitor", &self.monitor)?;
        fields.serialize_field("kind", &self.kind)?;
        fields.serialize_field("part", &self.part)?;
        fields.serialize_field("metric", &self.metric)?;
        fields.serialize_field("resource", &self.resource)?;
        fields.serialize_field("saturated_ratio", &self.saturated_ratio)?;
        fields.serialize_field("usage_mean_ratio", &self.usage_mean_ratio)?;
        fields.serialize_field("usage_peak_ratio", &self.usage_peak_ratio)?;
        fields.serialize_field("evidence", &self.evidence.text())?;
        fields.serialize_field("figures", &self.evidence)?;
        fields.end()
    }
}

/// The measured part: from the end of the warm-up to the stop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeRange {
    pub from_s: f64,
    pub to_s: f64,
    pub from_unix_ns: u64,
    pub to_unix_ns: u64,
    pub sentence: String,
}

/// Something that is known of the system under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SystemUnderTestRow {
    pub name: String,
    pub value: String,
    /// The monitor that found it out; `None`: the file says so.
    pub monitor: Option<String>,
}

/// One number over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Number of the machine that it was seen from.
    pub generator: u32,
    pub monitor: String,
    pub kind: String,
    pub part: String,
    pub metric: String,
    pub unit: Unit,
    pub limit: Option<f64>,
    /// Seconds from the start of the run, and values; the warm-up included.
    pub points: Vec<(f64, f64)>,
}

impl Course {
    /// The value for a period: a sample covers the second before it, and its middle decides.
    pub fn within(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let half_s = WATCH_NS as f64 / 2e9;
        let after = self.points.partition_point(|(at, _)| at - half_s < to_s);
        let (at, value) = *self.points.get(after.checked_sub(1)?)?;
        (at - half_s >= from_s).then_some(value)
    }

    /// `api.cpu_cores`, `host.sda.busy_ratio`: where, what and its unit, for columns and keys.
    pub fn key(&self) -> String {
        let unit = match self.unit {
            Unit::Cores => "_cores",
            Unit::Share => "_ratio",
            Unit::Bytes => "_bytes",
            Unit::BytesPerS => "_bytes_per_s",
            Unit::PerS => "_per_s",
            Unit::Count => "",
            Unit::Seconds => "_s",
        };
        // Names often carry their unit already.
        let unit = if self.metric.ends_with(unit) { "" } else { unit };
        let part = if self.part.is_empty() { String::new() } else { format!("{}.", self.part) };
        format!("{}.{part}{}{unit}", self.monitor, self.metric)
    }
}
