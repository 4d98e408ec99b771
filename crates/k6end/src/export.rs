//! The file of `--summary-export`: the older form, with the values of metrics next to their thresholds.

use super::data::{check, number, values};
use super::groups::{Group, id};
use super::metric::{Values, ratio};
use super::{EndOfTest, Metric, Options};
use serde_json::{Map, Value, json};

/// Returns the exported object as JSON.
pub fn export(end: &EndOfTest, options: &Options<'_>) -> Value {
    let metrics: Map<String, Value> =
        end.metrics.iter().map(|(name, one)| (name.clone(), metric(one, options))).collect();
    let mut all = json!({ "root_group": group(&end.root), "metrics": metrics });
    let setup = options.setup_data.and_then(|text| serde_json::from_str(text).ok());
    if let (Some(setup), Some(all)) = (setup, all.as_object_mut()) {
        all.insert("setup_data".into(), setup);
    }
    all
}

fn metric(metric: &Metric, options: &Options<'_>) -> Value {
    let mut object = values(&metric.values, options);
    if let Values::Rate { passes, fails } = metric.values {
        object.remove("rate");
        object.insert("value".into(), number(ratio(passes, fails)));
    }
    if !metric.thresholds.is_empty() {
        // In this form, the value says whether the threshold was missed.
        let all = metric.thresholds.iter().map(|(one, is_met)| (one.source.clone(), Value::Bool(!is_met)));
        object.insert("thresholds".into(), Value::Object(all.collect()));
    }
    Value::Object(object)
}

/// Groups and checks are objects by name.
fn group(of: &Group) -> Value {
    let groups: Map<String, Value> = of.groups.iter().map(|one| (one.name.clone(), group(one))).collect();
    let checks: Map<String, Value> = of.checks.iter().map(|one| (one.name.clone(), check(one))).collect();
    json!({ "name": of.name, "path": of.path, "id": id(&of.path), "groups": groups, "checks": checks })
}
