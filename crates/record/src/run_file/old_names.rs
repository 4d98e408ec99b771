//! Translates names in run files of formats 1 and 2. The plan, the environment, and the failure examples are JSON
//! whose fields, thresholds, and words have been renamed since.

use super::reader::{Bad, json};
use crate::event::Opening;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::outline::OUTLINE_VERSION;
use plimsoll_plan::threshold::Subject;
use serde::Deserialize;
use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// Parses an opening of any version.
pub fn opening(text: &str) -> Result<Opening, Bad> {
    #[derive(Deserialize)]
    struct Versioned {
        outline: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    if json::<Versioned>(text)?.outline.version >= OUTLINE_VERSION {
        return json(text);
    }
    let mut opening: Value = json(text)?;
    if let Some(plan) = opening.get_mut("outline").and_then(Value::as_object_mut) {
        rename_plan(plan);
    }
    if let Some(environment) = opening.get_mut("environment").and_then(Value::as_object_mut) {
        rename(environment, "same_machine", "is_same_machine");
        each(environment, "more_origins", |way| rename(way, "same_machine", "is_same_machine"));
    }
    serde_json::from_value(opening).map_err(|e| Bad::Content(e.to_string()))
}

/// Parses a failure example of any version.
pub fn failure_example(text: &str) -> Result<FailureExample, Bad> {
    let mut fields: Fields = json(text)?;
    rename(&mut fields, "found", "observed");
    serde_json::from_value(Value::Object(fields)).map_err(|e| Bad::Content(e.to_string()))
}

fn rename_plan(plan: &mut Fields) {
    plan.insert("version".into(), OUTLINE_VERSION.into());
    rename(plan, "bands_ns", "buckets_ns");
    rename(plan, "lanes", "workloads");
    rename(plan, "sut", "system_under_test");
    rename(plan, "watches", "monitors");
    each(plan, "monitors", |monitor| rename(monitor, "of", "target"));
    each(plan, "requests", |request| {
        rename(request, "stream", "is_stream");
        rename(request, "aside", "is_outside_load");
        rename(request, "redirect_expected", "is_redirect_expected");
    });
    each(plan, "thresholds", rename_threshold);
    if let Some(cell) = plan.get_mut("cell").and_then(Value::as_object_mut) {
        rename(cell, "turn", "run_index");
        rename(cell, "probe", "purpose");
        if cell.get("purpose").and_then(Value::as_str) == Some("floor") {
            cell.insert("purpose".into(), "baseline".into());
        }
        each(cell, "settings", |setting| rename(setting, "axis", "parameter"));
    }
}

/// Also translates the text, because thresholds of two runs are compared by their texts.
fn rename_threshold(threshold: &mut Fields) {
    rename(threshold, "implied", "is_default");
    let Some(old) = threshold.get("subject").and_then(Value::as_str).map(str::to_owned) else { return };
    let Some(subject) = Subject::renamed(&old) else { return };
    threshold.insert("subject".into(), subject.name().into());
    if let Some(Value::String(text)) = threshold.get_mut("text")
        && let Some(rest) = text.strip_prefix(old.as_str())
    {
        *text = format!("{}{rest}", subject.name());
    }
}

fn rename(fields: &mut Fields, old: &str, new: &str) {
    if let Some(value) = fields.remove(old) {
        fields.insert(new.into(), value);
    }
}

/// Applies a change to every object of a list.
fn each(fields: &mut Fields, list: &str, change: impl Fn(&mut Fields)) {
    let items = fields.get_mut(list).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(change);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn renames_every_field_of_an_old_plan() {
        let mut plan = json!({
            "version": 1, "bands_ns": [1], "lanes": [], "sut": [["server", "Node"]],
            "watches": [{ "name": "api", "kind": "process", "of": ":80" }],
            "requests": [{ "name": "a", "stream": true, "aside": true, "redirect_expected": true }],
            "thresholds": [
                { "text": "errors{request: a} < 1%", "subject": "errors", "implied": false },
                { "text": "rate > 5/s", "subject": "rate", "implied": true },
                { "text": "events_lost == 0%", "subject": "events_lost" },
                { "text": "requests > 5", "subject": "requests" },
            ],
            "cell": { "turn": 2, "probe": "floor", "settings": [{ "axis": "users", "value": "1" }] },
        });
        rename_plan(plan.as_object_mut().expect("an object"));
        let new = json!({
            "version": OUTLINE_VERSION, "buckets_ns": [1], "workloads": [], "system_under_test": [["server", "Node"]],
            "monitors": [{ "name": "api", "kind": "process", "target": ":80" }],
            "requests": [{ "name": "a", "is_stream": true, "is_outside_load": true, "is_redirect_expected": true }],
            "thresholds": [
                { "text": "error_rate{request: a} < 1%", "subject": "error_rate", "is_default": false },
                { "text": "throughput > 5/s", "subject": "throughput", "is_default": true },
                { "text": "event_loss == 0%", "subject": "event_loss" },
                { "text": "requests > 5", "subject": "requests" },
            ],
            "cell": { "run_index": 2, "purpose": "baseline", "settings": [{ "parameter": "users", "value": "1" }] },
        });
        assert_eq!(plan, new);
    }
}
