//! The record of a run in the metrics of k6.

use super::Options;
use super::groups::{CheckCount, Group};
use super::metric::{Contains, Metric, Values};
use super::samples::{ITERATION_DURATION, Samples};
use super::select::{Selection, sum};
use plimsoll_k6::threshold::Threshold;
use plimsoll_plan::metric::CheckSum;
use plimsoll_plan::series::{Family, SeriesKey, label, request_trend};
use plimsoll_record::RunRecord;
use std::collections::{BTreeMap, BTreeSet};

/// A run in the metrics of k6.
#[derive(Debug, Clone, PartialEq)]
pub struct EndOfTest {
    /// By name; sub-metrics as `metric{tag:value}`.
    pub metrics: BTreeMap<String, Metric>,
    pub root: Group,
    /// The checks of all groups, in the order of their first use.
    pub checks: Vec<CheckCount>,
    /// Length of the test, in ms.
    pub duration_ms: f64,
    /// The metrics that k6 would report and the record does not contain.
    pub missing: Vec<&'static str>,
    /// The results of each scenario if there are several, otherwise those of each group.
    pub parts: Vec<Part>,
}

/// The results of a scenario or a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub name: String,
    pub is_scenario: bool,
    pub checks: Vec<CheckCount>,
    pub metrics: BTreeMap<String, Metric>,
    /// The groups of a scenario, or the nested groups of a group.
    pub parts: Vec<Part>,
}

/// Metrics that divide a part.
const OF_PARTS: [&str; 13] = [
    "http_req_blocked",
    "http_req_connecting",
    "http_req_duration",
    "http_req_failed",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
    "http_reqs",
    "iteration_duration",
    "iterations",
    "data_received",
    "data_sent",
];

impl EndOfTest {
    /// Evaluates the record of a test.
    pub fn new(record: &RunRecord, options: &Options<'_>) -> EndOfTest {
        let samples = Samples::new(record, options);
        let mut metrics = samples.all();
        samples.add_sub_metrics(&mut metrics, options.thresholds);
        super::evaluate::judge(&mut metrics, options.thresholds);
        EndOfTest {
            root: samples.tree(&Selection::default()),
            checks: samples.checks(),
            duration_ms: samples.duration_s * 1e3,
            missing: samples.missing(&metrics),
            parts: samples.parts(options.scenarios),
            metrics,
        }
    }
}

impl Samples<'_> {
    /// All metrics with samples, without sub-metrics.
    fn all(&self) -> BTreeMap<String, Metric> {
        let everything = Selection::default();
        let mut all = BTreeMap::new();
        // Connections of WebSockets are not those of requests.
        let has_requests =
            self.built_in("http_reqs", &everything).is_some_and(|(_, values)| has_samples("", &values));
        for (name, _) in plimsoll_k6::threshold::BUILT_IN {
            if name.starts_with("http_") && !has_requests {
                continue;
            }
            if let Some((contains, values)) = self.built_in(name, &everything)
                && has_samples(name, &values)
            {
                all.insert(name.to_owned(), Metric { contains, values, thresholds: Vec::new() });
            }
        }
        let custom = self.series.iter().filter(|(key, _)| is_user_defined(key));
        let names: BTreeSet<(&str, Family)> =
            custom.map(|(key, _)| (key.name.as_str(), key.family)).collect();
        for (name, family) in names {
            if let Some((contains, values)) = self.custom(name, family, &everything) {
                all.insert(name.to_owned(), Metric { contains, values, thresholds: Vec::new() });
            }
        }
        let expected = Selection::of([("expected_response", "true")]).unwrap_or_default();
        if let Some((contains, values)) = self.built_in("http_req_duration", &expected)
            && has_samples("", &values)
        {
            let name = "http_req_duration{expected_response:true}".to_owned();
            all.insert(name, Metric { contains, values, thresholds: Vec::new() });
        }
        all
    }

    /// Adds those that thresholds name, also without samples.
    fn add_sub_metrics(&self, metrics: &mut BTreeMap<String, Metric>, thresholds: &[Threshold]) {
        for threshold in thresholds {
            let tags = threshold.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let Some(selection) = Selection::of(tags) else { continue };
            let is_built_in =
                plimsoll_k6::threshold::BUILT_IN.iter().any(|(name, _)| *name == threshold.metric);
            let find = |selection: &Selection<'_>| match is_built_in {
                true => self.built_in(&threshold.metric, selection),
                false => self.custom(&threshold.metric, family(threshold), selection),
            };
            // A sub-metric is shown below its metric.
            for (name, selection) in
                [(&threshold.metric, &Selection::default()), (&threshold.key, &selection)]
            {
                if let Some((contains, values)) = find(selection) {
                    let metric = || Metric { contains, values, thresholds: Vec::new() };
                    metrics.entry(name.clone()).or_insert_with(metric);
                }
            }
        }
    }

    /// All checks, in the order of their first use.
    fn checks(&self) -> Vec<CheckCount> {
        let everything = Selection::default();
        let root = self.tree(&everything);
        let known = root.all_checks();
        let mut all: Vec<CheckCount> = Vec::new();
        for (key, _) in self.of(&everything, |family| family == Family::Check) {
            let path = format!("{}::{}", key.label(label::GROUP).unwrap_or_default(), key.name);
            let is_new = !all.iter().any(|one| one.path == path);
            all.extend(known.iter().find(|one| is_new && one.path == path).map(|one| (*one).clone()));
        }
        all
    }

    /// The groups and checks of a selection.
    fn tree(&self, selection: &Selection<'_>) -> Group {
        let mut root = Group::default();
        for (key, tally) in self.of(selection, |_| true) {
            match key.family {
                Family::Group => {
                    root.at(&key.name);
                }
                Family::Check => {
                    let (made, fails) = (sum(tally, CheckSum::Made), sum(tally, CheckSum::Failed));
                    let group = root.at(key.label(label::GROUP).unwrap_or_default());
                    group.count(&key.name, made.saturating_sub(fails), fails);
                }
                _ => {
                    root.at(key.label(label::GROUP).unwrap_or_default());
                }
            }
        }
        root
    }

    fn missing(&self, metrics: &BTreeMap<String, Metric>) -> Vec<&'static str> {
        let has_requests = metrics.contains_key("http_reqs");
        let has_iterations = metrics.contains_key("iterations");
        let mut missing = Vec::new();
        for name in [request_trend::BLOCKED, "http_req_duration{expected_response:true}"] {
            if has_requests && !metrics.contains_key(name) {
                missing.push(name);
            }
        }
        if has_iterations && !metrics.contains_key(ITERATION_DURATION) {
            missing.push(ITERATION_DURATION);
        }
        missing
    }

    fn parts(&self, scenarios: &[String]) -> Vec<Part> {
        if scenarios.len() < 2 {
            return self.groups(&self.tree(&Selection::default()), None);
        }
        let part = |name: &String| {
            let selection = Selection::of([(label::SCENARIO, name.as_str())])?;
            let tree = self.tree(&selection);
            let parts = self.groups(&tree, Some(name));
            Some(self.part(name, true, &selection, tree.checks, parts))
        };
        scenarios.iter().filter_map(part).collect()
    }

    fn groups(&self, around: &Group, scenario: Option<&String>) -> Vec<Part> {
        let part = |group: &Group| {
            let tags = scenario.map(|name| (label::SCENARIO, name.as_str()));
            let selection = Selection::of(tags.into_iter().chain([(label::GROUP, group.path.as_str())]))?;
            let parts = self.groups(group, scenario);
            Some(self.part(&group.name, false, &selection, group.checks.clone(), parts))
        };
        around.groups.iter().filter_map(part).collect()
    }

    fn part(
        &self,
        name: &str,
        is_scenario: bool,
        selection: &Selection<'_>,
        checks: Vec<CheckCount>,
        parts: Vec<Part>,
    ) -> Part {
        let mut metrics = BTreeMap::new();
        let mut add = |name: &str, found: Option<(Contains, Values)>| {
            if let Some((contains, values)) = found
                && has_samples(name, &values)
            {
                metrics.insert(name.to_owned(), Metric { contains, values, thresholds: Vec::new() });
            }
        };
        for name in OF_PARTS {
            // The bytes and iterations of groups are not among the values that k6 reports.
            if is_scenario || name.starts_with("http_") {
                add(name, self.built_in(name, selection));
            }
        }
        let custom = self.of(selection, Family::is_custom).filter(|(key, _)| is_user_defined(key));
        let names: BTreeSet<(&str, Family)> =
            custom.map(|(key, _)| (key.name.as_str(), key.family)).collect();
        for (name, family) in names {
            add(name, self.custom(name, family, selection));
        }
        Part { name: name.to_owned(), is_scenario, checks, metrics, parts }
    }
}

/// Some built-in metrics are counted as those of users are.
fn is_user_defined(key: &SeriesKey) -> bool {
    key.family.is_custom()
        && key.name != ITERATION_DURATION
        && !request_trend::ALL.contains(&key.name.as_str())
}

fn family(threshold: &Threshold) -> Family {
    match threshold.kind {
        plimsoll_k6::threshold::Kind::Counter => Family::Counter,
        plimsoll_k6::threshold::Kind::Gauge => Family::Gauge,
        plimsoll_k6::threshold::Kind::Rate => Family::Rate,
        plimsoll_k6::threshold::Kind::Trend => Family::Trend,
    }
}

/// k6 reports its data and iterations in any case, and other metrics only with samples.
fn has_samples(name: &str, values: &Values) -> bool {
    let is_always = matches!(name, "data_sent" | "data_received");
    is_always
        || match values {
            Values::Counter { count, .. } => *count > 0.0,
            Values::Gauge(gauge) => gauge.is_some(),
            Values::Rate { passes, fails } => passes.saturating_add(*fails) > 0,
            Values::Trend(trend) => trend.count() > 0,
        }
}
