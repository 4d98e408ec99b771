//! Lines of JSON: the definition of each metric before its first sample, and samples.

use super::{About, OwnMetric, time};
use plimsoll_k6::threshold::{BUILT_IN, Kind, Threshold};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

pub(super) struct Json {
    metrics: Vec<OwnMetric>,
    thresholds: Vec<Threshold>,
    defined: Mutex<BTreeSet<String>>,
}

impl Json {
    pub(super) fn new(about: &About<'_>) -> Json {
        let metrics = about.metrics.to_vec();
        Json { metrics, thresholds: about.thresholds.to_vec(), defined: Mutex::default() }
    }

    pub(super) fn lines(
        &self,
        unix_ns: u64,
        values: &[(&str, f64)],
        tags: &[(&str, &str)],
        out: &mut String,
    ) {
        let tags: Map<String, Value> =
            tags.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        let mut names: Vec<&String> = tags.keys().collect();
        names.sort_unstable();
        let mut text = String::new();
        for name in names {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a text cannot fail.
            let _ = write!(text, "{comma}{}:{}", Value::from(name.as_str()), tags[name]);
        }
        let time = time::rfc3339(unix_ns);
        for (name, value) in values {
            let name = Value::from(*name);
            let value = number(*value);
            let _ = writeln!(
                out,
                r#"{{"metric":{name},"type":"Point","data":{{"time":"{time}","value":{value},"tags":{{{text}}}}}}}"#
            );
        }
    }

    /// Returns the definition of a metric at its first sample.
    pub(super) fn definition_once(&self, name: &str) -> Option<String> {
        let mut defined = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        if defined.contains(name) {
            return None;
        }
        defined.insert(name.to_owned());
        let own = self.metrics.iter().find(|one| one.name == name);
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        let kind = own.map(|one| one.kind).or(built_in).unwrap_or(Kind::Trend);
        let contains = match own {
            Some(one) if one.is_time => "time",
            Some(_) => "default",
            None if kind == Kind::Trend => "time",
            None => "default",
        };
        let of_metric = || self.thresholds.iter().filter(|one| one.metric == name);
        let expressions: Vec<&str> =
            of_metric().filter(|one| one.tags.is_empty()).map(|one| one.source.as_str()).collect();
        let mut parts: Vec<(String, Map<String, Value>)> = Vec::new();
        let with_tags = of_metric().filter(|one| !one.tags.is_empty());
        let mut put = |key: &str, tags: &[(String, String)]| {
            if !parts.iter().any(|(known, _)| known == key) {
                let tags = tags.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
                parts.push((key.to_owned(), tags.collect()));
            }
        };
        with_tags.for_each(|one| put(&one.key, &one.tags));
        if name == "http_req_duration" {
            let tags = [("expected_response".to_owned(), "true".to_owned())];
            put("http_req_duration{expected_response:true}", &tags);
        }
        let parts: Vec<Value> = parts
            .into_iter()
            .map(|(key, tags)| {
                let suffix = key.split_once('{').map_or("", |(_, rest)| rest.trim_end_matches('}'));
                json!({ "name": key, "suffix": suffix, "tags": tags })
            })
            .collect();
        let parts = if parts.is_empty() { Value::Null } else { parts.into() };
        let data = json!({
            "name": name,
            "type": kind.name(),
            "contains": contains,
            "thresholds": expressions,
            "submetrics": parts,
        });
        Some(format!("{}\n", json!({ "type": "Metric", "data": data, "metric": name })))
    }
}

/// A whole number has no fraction, as in k6.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { value.to_string() }
}
