//! Monitor of a Go program, through `expvar` of the standard library or the `go_` metrics of the Prometheus client.
//! The response shows which of them an address provides; the metrics have the same names here.

use super::counters::Counters;
use super::exposed::{Limit, Row, first, forget_after_a_restart, pick, rate, row};
use super::http::Getter;
use super::probe::{Found, Moment, MonitorError, Probe};
use super::text_format::parse;
use super::trust::Trust;
use crate::reach::Deadline;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::Unit::{self, Bytes, BytesPerS, Cores, Count, PerS, Share};
use plimsoll_record::event::Reading;
use serde_json::Value;

pub struct Go {
    getter: Result<Getter, MonitorError>,
    counters: Counters,
    started: Option<f64>,
}

const ROWS: [Row; 11] = [
    row("go_goroutines", "goroutines", Count),
    row("go_threads", "threads", Count),
    row("go_memstats_heap_alloc_bytes", "heap_alloc", Bytes).of(Limit::Named("go_gc_gomemlimit_bytes")),
    row("go_memstats_heap_inuse_bytes", "heap_inuse", Bytes),
    row("go_memstats_sys_bytes", "memory_sys", Bytes),
    rate("go_memstats_alloc_bytes_total", "allocated", BytesPerS),
    rate("go_gc_duration_seconds_count", "gc_runs", PerS),
    rate("go_gc_duration_seconds_sum", "gc_pause", Share),
    rate("process_cpu_seconds_total", "cpu", Cores).of(Limit::Named("go_sched_gomaxprocs_threads")),
    row("process_resident_memory_bytes", "memory_rss", Bytes),
    row("process_open_fds", "fds", Count).of(Limit::Named("process_max_fds")),
];

impl Go {
    /// Creates a probe for the address of either page.
    pub fn new(url: &Secret, trust: &Trust) -> Go {
        Go { getter: Getter::new(url.reveal(), trust), counters: Counters::default(), started: None }
    }
}

impl Probe for Go {
    fn asks(&self) -> Vec<(String, u16)> {
        self.getter.iter().map(Getter::asks).collect()
    }

    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let getter = self.getter.as_mut().map_err(|trouble| trouble.clone())?;
        let page = getter.get_text(Deadline::of_a_look())?;
        let nothing = "the page has neither `memstats` of expvar nor `go_` metrics of the Prometheus client";
        if let Ok(Value::Object(variables)) = serde_json::from_str(&page) {
            let variables = Value::Object(variables);
            let Value::Object(_) = variables["memstats"] else { return Err(getter.trouble(nothing)) };
            return Ok(expvar(&variables, &mut self.counters, at));
        }
        let samples = parse(&page).map_err(|why| getter.trouble(&why))?;
        if !samples.iter().any(|sample| sample.name.starts_with("go_")) {
            return Err(getter.trouble(nothing));
        }
        forget_after_a_restart(&samples, &mut self.started, &mut self.counters);
        let version = first(&samples, "go_info").and_then(|sample| sample.label("version"));
        let facts = version.map(|version| ("go_version".to_owned(), version.to_owned()));
        let readings = pick(&samples, &ROWS, &mut self.counters, at);
        Ok(Found { readings, facts: facts.into_iter().collect() })
    }
}

fn expvar(variables: &Value, counters: &mut Counters, at: Moment) -> Found {
    let mut found = Found::default();
    let mut say = |metric: &str, unit: Unit, value: Option<f64>| {
        if let Some(value) = value {
            let (part, metric) = (String::new(), metric.to_owned());
            found.readings.push(Reading { part, metric, unit, limit: None, value });
        }
    };
    let memory = |name: &str| variables["memstats"][name].as_f64();
    say("heap_alloc", Bytes, memory("HeapAlloc"));
    say("heap_inuse", Bytes, memory("HeapInuse"));
    say("memory_sys", Bytes, memory("Sys"));
    // Share of the CPU time available since the program's start; the runtime reports no other.
    say("gc_cpu_share", Share, memory("GCCPUFraction"));
    let mut per_s = |name: &str| counters.rate(name, at, memory(name)?);
    say("allocated", BytesPerS, per_s("TotalAlloc"));
    say("gc_runs", PerS, per_s("NumGC"));
    say("gc_pause", Share, per_s("PauseTotalNs").map(|ns_per_s| ns_per_s / 1e9));
    say("goroutines", Count, variables["goroutines"].as_f64());
    // The arguments may contain secrets.
    if let Some(program) = variables["cmdline"][0].as_str() {
        found.facts.push(("program".into(), program.lines().next().unwrap_or_default().into()));
    }
    found
}
