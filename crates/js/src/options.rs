//! The options of a test as k6 shows them: with all keys, `null` where nothing is set.

use plimsoll_k6::test::{Executor, Scenario, Stage};
use plimsoll_k6::{Test, go_duration, settings};
use serde_json::{Map, Value, json};

/// Keys of options that are not settings of [`settings::Layer`].
const OTHER_KEYS: [&str; 9] = [
    "scenarios",
    "executionSegment",
    "executionSegmentSequence",
    "handleSummaryTimeout",
    "thresholds",
    "ext",
    "metricSamplesBufferSize",
    "features",
    "consoleOutput",
];

/// Keys of the load, which scenarios replace.
const LOAD_KEYS: [&str; 4] = ["vus", "iterations", "duration", "stages"];

/// Keys that each scenario has.
const SCENARIO_KEYS: [&str; 6] = ["executor", "startTime", "gracefulStop", "env", "exec", "tags"];

/// Returns options as they were given.
pub fn as_given(test: &Test, options: &Value) -> Value {
    let mut all = complete(test, options);
    for name in LOAD_KEYS {
        all.entry(name).or_insert(Value::Null);
    }
    Value::Object(all)
}

/// Returns the options that are in effect: those of the script, with tags and scenarios of the command line.
pub fn in_effect(test: &Test, options: &Value) -> Value {
    let mut all = complete(test, options);
    let tags = test.settings.tags.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    all.insert("tags".into(), if test.settings.tags.is_empty() { Value::Null } else { tags.collect() });
    let known = all.get("scenarios").and_then(Value::as_object).cloned().unwrap_or_default();
    let scenario = |one: &Scenario| {
        let mut value = known.get(&one.name).cloned().unwrap_or_else(|| shortcut(one));
        if let Some(of) = value.as_object_mut() {
            for key in SCENARIO_KEYS {
                of.entry(key).or_insert(Value::Null);
            }
        }
        (one.name.clone(), value)
    };
    all.insert("scenarios".into(), Value::Object(test.scenarios.iter().map(scenario).collect()));
    for name in LOAD_KEYS {
        all.remove(name);
    }
    Value::Object(all)
}

/// Adds the keys that are not set, and the defaults that k6 shows.
fn complete(test: &Test, options: &Value) -> Map<String, Value> {
    let mut all = options.as_object().cloned().unwrap_or_default();
    let keys = settings::Layer::KEYS.iter().chain(&OTHER_KEYS);
    // k6 has a flag for this, and shows no key.
    for key in keys.filter(|key| **key != "noThresholds") {
        all.entry(*key).or_insert(Value::Null);
    }
    let mut dns = all.get("dns").and_then(Value::as_object).cloned().unwrap_or_default();
    for key in ["ttl", "select", "policy"] {
        dns.entry(key).or_insert(Value::Null);
    }
    all.insert("dns".into(), Value::Object(dns));
    all.insert("summaryTrendStats".into(), json!(test.settings.summary_trend_stats));
    all.insert("systemTags".into(), json!(test.settings.system_tags));
    all
}

/// Returns the scenario of a shortcut, such as `vus` and `duration`.
fn shortcut(scenario: &Scenario) -> Value {
    let stages = |all: &[Stage]| -> Vec<Value> {
        let stage = |one: &Stage| json!({ "duration": go_duration(one.duration_ns), "target": one.target });
        all.iter().map(stage).collect()
    };
    let mut of = match &scenario.executor {
        Executor::ConstantVus { vus, duration_ns } => {
            json!({ "vus": vus, "duration": go_duration(*duration_ns) })
        }
        Executor::RampingVus { start_vus, stages: all, .. } => {
            json!({ "startVUs": start_vus, "stages": stages(all), "gracefulRampDown": null })
        }
        Executor::SharedIterations { vus, iterations, max_duration_ns }
        | Executor::PerVuIterations { vus, iterations, max_duration_ns } => {
            json!({ "vus": vus, "iterations": iterations, "maxDuration": go_duration(*max_duration_ns) })
        }
        // No shortcut leads to the others.
        _ => json!({}),
    };
    if let Some(of) = of.as_object_mut() {
        of.insert("executor".into(), scenario.executor.name().into());
    }
    of
}
