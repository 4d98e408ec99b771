//! Thresholds of k6 on the values of a test.

use super::metric::Metric;
use super::select::Selection;
use super::{EndOfTest, Options};
use plimsoll_k6::threshold::{BUILT_IN, Threshold};
use plimsoll_plan::Problem;
use std::collections::BTreeMap;

/// The result of a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdOutcome<'a> {
    pub threshold: &'a Threshold,
    /// The value that was compared; `None` without samples.
    pub value: Option<f64>,
    /// Whether it is met. A metric without samples meets every threshold, as in k6.
    pub is_met: bool,
}

/// Built-in metrics of the whole test only.
const WITHOUT_TAGS: [&str; 3] = ["vus", "vus_max", "dropped_iterations"];

/// Returns a problem for each threshold on values that no record contains. Evaluate the others with [`evaluate`].
pub fn unmeasured(thresholds: &[Threshold]) -> Vec<Problem> {
    let problem = |threshold: &Threshold| {
        let text = format!("`{}: {}`", threshold.key, threshold.source);
        let tags = || threshold.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let is_whole = WITHOUT_TAGS.contains(&threshold.metric.as_str());
        let is_known = match Selection::of(tags()) {
            None => false,
            Some(selection) if is_whole => selection.is_empty(),
            Some(selection) => selection.of_requests.is_none() || threshold.metric.starts_with("http_req"),
        };
        let names: Vec<String> = tags().map(|(name, _)| format!("`{name}`")).collect();
        let what = || {
            format!(
                "unsupported threshold {text}: `{}` is not divided by {}",
                threshold.metric,
                names.join(", ")
            )
        };
        (!is_known).then(|| Problem::new(what(), "remove the tags, or set another tag on the requests"))
    };
    thresholds.iter().filter_map(problem).collect()
}

/// Returns the results of all thresholds, in their order.
pub fn evaluate<'a>(end: &EndOfTest, options: &Options<'a>) -> Vec<ThresholdOutcome<'a>> {
    let one = |threshold: &'a Threshold| {
        let metric = end.metrics.get(&threshold.key);
        let value = metric.and_then(|metric| metric.values.get(threshold.aggregator));
        ThresholdOutcome { threshold, value, is_met: is_met(metric, threshold) }
    };
    options.thresholds.iter().map(one).collect()
}

/// Adds the results of thresholds to their metrics.
pub(super) fn judge(metrics: &mut BTreeMap<String, Metric>, thresholds: &[Threshold]) {
    for threshold in thresholds {
        let is_met = is_met(metrics.get(&threshold.key), threshold);
        if let Some(metric) = metrics.get_mut(&threshold.key) {
            metric.thresholds.push((threshold.clone(), is_met));
        }
    }
}

/// A metric that is missing cannot be divided as the threshold demands; it must not pass unnoticed.
fn is_met(metric: Option<&Metric>, threshold: &Threshold) -> bool {
    let Some(metric) = metric else { return false };
    metric.values.get(threshold.aggregator).is_none_or(|value| threshold.holds(value))
}

/// Returns whether a metric is one of k6.
pub(super) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(known, _)| *known == name)
}
