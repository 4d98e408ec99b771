//! Monitor of a Node program, through the default metrics of prom-client.

use super::counters::Counters;
use super::exposed::{Limit, Row, first, forget_after_a_restart, pick, rate, row};
use super::http::Getter;
use super::probe::{Found, Moment, MonitorError, Probe};
use super::text_format::parse;
use super::trust::Trust;
use crate::reach::Deadline;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::Unit::{Bytes, Cores, Count, PerS, Seconds, Share};

pub struct Node {
    getter: Result<Getter, MonitorError>,
    counters: Counters,
    /// Start time that the program reports.
    started: Option<f64>,
}

/// prom-client does not export the heap limit; a program may add it (`v8.getHeapStatistics`).
const HEAP: Limit = Limit::Named("nodejs_heap_size_limit_bytes");

/// CPU has no limit here. JavaScript uses one core, but garbage collection and the thread pool (files, names,
/// password hashes) use others, so one full core need not mean saturation. The event loop shows that.
const ROWS: [Row; 18] = [
    row("nodejs_eventloop_lag_seconds", "eventloop_lag", Seconds),
    row("nodejs_eventloop_lag_mean_seconds", "eventloop_lag_mean", Seconds),
    row("nodejs_eventloop_lag_p99_seconds", "eventloop_lag_p99", Seconds),
    row("nodejs_eventloop_lag_max_seconds", "eventloop_lag_max", Seconds),
    row("nodejs_eventloop_utilization", "eventloop_utilization", Share).of(Limit::Of(1.0)),
    row("nodejs_heap_size_used_bytes", "heap_used", Bytes).of(HEAP),
    row("nodejs_heap_size_total_bytes", "heap_total", Bytes).of(HEAP),
    row("nodejs_external_memory_bytes", "external_memory", Bytes),
    row("process_resident_memory_bytes", "memory_rss", Bytes),
    rate("nodejs_gc_duration_seconds_sum", "gc_time", Share).by("kind"),
    rate("nodejs_gc_duration_seconds_count", "gc_runs", PerS).by("kind"),
    row("nodejs_active_handles_total", "active_handles", Count),
    row("nodejs_active_requests_total", "active_requests", Count),
    row("nodejs_active_resources_total", "active_resources", Count),
    rate("process_cpu_seconds_total", "cpu", Cores),
    rate("process_cpu_user_seconds_total", "cpu_user", Cores),
    rate("process_cpu_system_seconds_total", "cpu_system", Cores),
    row("process_open_fds", "fds", Count).of(Limit::Named("process_max_fds")),
];

impl Node {
    /// Creates a probe for the address of a page of metrics.
    pub fn new(url: &Secret, trust: &Trust) -> Node {
        Node { getter: Getter::new(url.reveal(), trust), counters: Counters::default(), started: None }
    }
}

impl Probe for Node {
    fn asks(&self) -> Vec<(String, u16)> {
        self.getter.iter().map(Getter::asks).collect()
    }

    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let getter = self.getter.as_mut().map_err(|trouble| trouble.clone())?;
        let page = getter.get_text(Deadline::of_a_look())?;
        let samples = parse(&page).map_err(|why| getter.trouble(&why))?;
        if !samples.iter().any(|sample| sample.name.starts_with("nodejs_")) {
            return Err(getter
                .trouble("the page has no `nodejs_` metrics; add prom-client's `collectDefaultMetrics`"));
        }
        forget_after_a_restart(&samples, &mut self.started, &mut self.counters);
        let version = first(&samples, "nodejs_version_info").and_then(|sample| sample.label("version"));
        let facts = version.map(|version| ("node_version".to_owned(), version.to_owned()));
        let readings = pick(&samples, &ROWS, &mut self.counters, at);
        Ok(Found { readings, facts: facts.into_iter().collect() })
    }
}
