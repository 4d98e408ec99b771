//! The result of a run as one document: what `--json` prints, what every renderer shows, digit for digit.
//!
//! Field names are the public JSON schema ([`SCHEMA_VERSION`]): fields are added, never renamed.

mod availability;
mod bottleneck;
mod custom;
mod monitors;
mod printable;
mod script;
mod tables;
mod threshold_result;

pub use crate::caution::{Caution, Severity};
pub use availability::{Availability, Outage, OutageFailure, PartAvailability, PartKind};
pub use bottleneck::Bottleneck;
pub use custom::{CustomFigures, CustomMetric, CustomSeries, SERIES_TOLD};
pub use monitors::{
    Correlation, Course, FactRow, MetricRow, MissedSampleRow, MonitorRow, SaturatedResource, Slope,
    SlopeVerdict, SystemUnderTestRow, TimeRange,
};
pub use printable::{Quantile, drawn_quantile};
pub use script::{
    AddressRow, CheckRow, FailureExampleRow, Fairness, GroupRow, PartRow, StreamRow, TlsRow, WebSocketRow,
    Window, WorkloadRow,
};
pub use tables::{Apdex, Divergence, GeneratorRow, LabelRow, Ratio, SeriesRow};
pub use threshold_result::{Bound, Doubt, Standing, ThresholdResult};

use crate::cause::Cause;
use plimsoll_plan::{Fault, Outline, Side};
use plimsoll_record::event::{Environment, StoppedBy};
use serde::Serialize;
use std::collections::BTreeMap;

/// Raised when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 2;

#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub schema_version: u32,
    pub tool_version: String,
    pub name: String,
    pub target: String,
    pub verdict: Verdict,
    pub thresholds: Vec<ThresholdResult>,
    pub cautions: Vec<Caution>,
    pub totals: Totals,
    /// Open model only.
    pub offered: Option<Offered>,
    /// Whether the service was there, over time.
    pub availability: Availability,
    pub achieved: Achieved,
    /// All requests except streams, whose times are their whole lifetimes and appear in `streams`.
    pub response_time: Times,
    pub service_time: Times,
    pub phases: Phases,
    /// Of the requests that were answered.
    pub buckets: Vec<Bucket>,
    /// Requests in no bucket: a timeout or the end of the run cut them off, so their bucket is unknown.
    pub buckets_censored: u64,
    pub errors: Vec<ErrorRow>,
    /// Count by status code; codes outside 100-599 under `other`.
    pub status_codes: BTreeMap<String, u64>,
    /// Those of the load that were sent.
    pub requests: Vec<SeriesRow>,
    pub client: Client,
    /// Latency spikes of the timeline and the way back to the baseline.
    pub spikes: Vec<Spike>,
    pub timeline: Vec<Second>,
    pub generators: Vec<GeneratorRow>,
    /// The agents by label, if they have different ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelRow>,
    /// `None` when the run was cut off.
    pub stopped_by: Option<StoppedBy>,
    /// False when an origin has no ending or seconds are missing.
    pub is_complete: bool,
    pub gaps: Vec<Gap>,
    pub plan: Outline,
    /// One per origin, in the order of `origins`.
    pub environments: Vec<Environment>,
    /// The requests of each scenario added up.
    pub scenarios: Vec<PartRow>,
    /// The requests to each of several origins, added up; those after redirects count where their chain started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_origin: Vec<PartRow>,
    /// The addresses over which connections rotated; empty if each origin had only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<AddressRow>,
    pub groups: Vec<GroupRow>,
    /// Those that failed most come first.
    pub checks: Vec<CheckRow>,
    pub failure_examples: Vec<FailureExampleRow>,
    pub streams: Vec<StreamRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub websockets: Vec<WebSocketRow>,
    /// User-defined metrics, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<CustomMetric>,
    /// `None`: the target is not `https`.
    pub tls: Option<TlsRow>,
    /// Empty for a plain sequence of requests.
    pub workloads: Vec<WorkloadRow>,
    /// Data of the monitors.
    pub monitors: Vec<MonitorRow>,
    /// What is known of the system under test: first what the file says, then what monitors found out.
    pub system_under_test: Vec<SystemUnderTestRow>,
    /// The stretch that the figures are of; `None`: there is no run.
    pub time_range: Option<TimeRange>,
    /// Saturated resources of the system under test, the most relevant first. Empty: none, or no monitor.
    pub saturated_resources: Vec<SaturatedResource>,
    /// The first of these in a few words, or that none of the watched resources was at its limit; `None`: no monitors.
    pub bottleneck: Option<String>,
    /// What monitors saw over time, for charts: in `monitors` stand the figures.
    #[serde(skip)]
    pub courses: Vec<Course>,
    /// Why it failed or was slow, the most telling cause first; empty where nothing was wrong.
    pub causes: Vec<Cause>,
    /// Moments worth a word, in the order of time: stages of the load, notes, gaps, spikes, changes of the course.
    pub events: Vec<EventRow>,
}

impl Summary {
    /// An arrival or an iteration is more than one request, so the two cannot be compared.
    pub fn counts_iterations(&self) -> bool {
        !self.plan.workloads.is_empty() || self.plan.requests.len() > 1
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    Pass,
    Fail,
    Inconclusive,
    /// Cut short by a signal or by the console: what was met so far proves nothing of the rest.
    Interrupted,
}

#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    pub result: Outcome,
    /// One sentence that may be quoted.
    pub sentence: String,
    /// What decided it: codes of doubts (INCONCLUSIVE, INTERRUPTED) or texts of missed thresholds (FAIL).
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Totals {
    /// Finished requests (answered, or failed on the network's or server's side) outside the warm-up.
    pub requests: u64,
    /// Failed requests.
    pub errors: u64,
    /// Share of the completed requests and the streams that were open at the end.
    pub error_ratio: f64,
    pub requests_sent: u64,
    pub iterations: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub body_bytes: u64,
    /// Length of the measured part, s.
    pub measured_s: f64,
    pub warmup_s: f64,
    pub in_flight_at_end: u64,
    /// Arrivals still waiting for a connection at the stop.
    pub arrivals_not_started: u64,
    /// Iterations left in the middle because of a failure, or of a value that was never extracted.
    pub iterations_abandoned: u64,
    /// Iterations that the stop cut off in the middle.
    pub iterations_interrupted: u64,
    /// Users that ended because their data ran out.
    pub users_out_of_data: u64,
    /// Requests that followed a redirect; each is among `requests`.
    pub redirects: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Offered {
    pub arrivals: u64,
    pub rate_per_s: f64,
    /// Arrivals that found no free connection and waited.
    pub arrivals_queued: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Achieved {
    /// Requests that completed with a response, no matter what its status, per second of the measured part; for
    /// several machines, the sum of their rates.
    pub rate_per_s: f64,
    /// Completed iterations per second, to compare with arrivals of several requests. If load models of users run as
    /// well, only iterations that arrivals started count.
    pub iterations_per_s: f64,
    /// The achieved rate as a share of the offered one: iterations where an arrival is more than one request, else
    /// requests. Those in flight at the stop are not among them; how much they could add is in the bounds of the
    /// threshold. Open model only.
    pub ratio: Option<f64>,
}

/// A distribution of times.
#[derive(Debug, Clone, Serialize)]
pub struct Times {
    /// Samples, without those that a timeout or the end of the run cut off.
    pub count: u64,
    /// Samples that are lower bounds.
    pub censored: u64,
    pub min_ns: Option<u64>,
    /// With cut-off times at their bounds where these matter; then it is a lower bound, and no deviation is given.
    pub mean_ns: Option<f64>,
    pub mean_is_lower_bound: bool,
    pub std_dev_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p75_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    /// The longest that anything is known to have taken, finished or cut off.
    pub max_ns: Option<u64>,
    pub max_is_lower_bound: bool,
    /// The same with intervals, in rising order.
    pub percentiles: Vec<Percentile>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Percentile {
    /// 0.99
    pub q: f64,
    pub value_ns: u64,
    /// The true value is this or more.
    pub is_lower_bound: bool,
    /// 95% interval by order statistics; `None`: the sample does not bound that side.
    pub low_ns: Option<u64>,
    pub high_ns: Option<u64>,
    /// At least 10 / (1 - q) samples.
    pub has_enough_samples: bool,
}

/// Where the time went. Each with its own sample count.
#[derive(Debug, Clone, Serialize)]
pub struct Phases {
    pub connection_wait: Short,
    pub dns_ns: u64,
    /// Lookups of connections (`dns: each_connection`).
    #[serde(skip_serializing_if = "Short::is_empty")]
    pub dns: Short,
    pub connect: Short,
    pub send_blocked: Short,
    pub time_to_first_byte: Short,
    pub download: Short,
}

/// A distribution in five figures.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Short {
    pub count: u64,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Short {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Bucket {
    /// Upper edge, ns; `None` for the last band.
    pub up_to_ns: Option<u64>,
    pub count: u64,
    /// Of the answered requests.
    pub ratio: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct ErrorRow {
    pub class: Fault,
    pub side: Side,
    pub count: u64,
    pub sentence: &'static str,
}

/// What the load generator says of itself: the trust box.
#[derive(Debug, Clone, Serialize)]
pub struct Client {
    pub workers: Vec<WorkerRow>,
    /// CPU time taken by the host, as a share of all CPUs' time.
    pub steal_ratio: f64,
    /// CPU used by all processes on this machine.
    pub host_busy_ratio: f64,
    pub schedule_lag: Short,
    /// event-loop iterations, from the first event that was ready to the last. An answer is stamped when its
    /// event is handled, so its stamp is late by its wait in that iteration: this is the bound on that wait.
    pub loop_time: Short,
    pub connections: Connections,
    /// TCP segments retransmitted, including the warm-up.
    pub retransmits: u64,
    /// The lowest round trip: by the kernel's account of the connections, or by the fastest handshake.
    pub rtt_min_ns: Option<u64>,
    /// The kernel's smoothed round trips. Delayed acknowledgements (40 ms and more) and answers that carry the
    /// acknowledgement are in it: an upper bound, not the network's time.
    pub rtt: Short,
    pub littles_law: Little,
    /// Failures on the client's side, never in `errors`; those of the warm-up too.
    pub faults: Vec<ErrorRow>,
    /// Number of stalls of a worker longer than 100 ms, and their total duration, ns.
    pub stalls: u64,
    pub stalled_ns: u64,
    /// Seconds handed over more than 100 ms late.
    pub intervals_late: u64,
    /// Upper bounds when there are several workers: their own peaks need not fall on one moment.
    pub in_flight_peak: u64,
    pub arrivals_queued_peak: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct WorkerRow {
    pub generator: u32,
    pub worker: u32,
    pub busy_ratio: f64,
    pub busy_poll_ratio: f64,
    pub idle_ratio: f64,
    /// Runnable without a CPU.
    pub cpu_wait_ratio: f64,
}

/// Counted from the start, warm-up included: a connection is made once and used to the end.
#[derive(Debug, Clone, Serialize)]
pub struct Connections {
    pub attempts: u64,
    pub opened: u64,
    pub reused_requests: u64,
    pub closed_by_server: u64,
    pub closed_by_client: u64,
    pub closed_after_error: u64,
    pub open_at_end: u64,
    pub peak: u64,
    /// Requests that closed connections had served.
    pub requests_per_connection_p50: Option<u64>,
    pub requests_per_connection_max: Option<u64>,
    /// The fastest that one was made, ns: the way to the target and back, hardly anything else.
    pub connect_min_ns: Option<u64>,
    /// Redirects to another host, which were not followed. Outside the warm-up.
    pub redirects_cross_host: u64,
    /// DNS lookups that waited for a thread of the resolver.
    #[serde(skip_serializing_if = "is_zero")]
    pub dns_lookups_queued: u64,
    /// Present if connections spoke HTTP/2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2>,
    /// Present if requests waited for `100 Continue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_continue: Option<ExpectContinue>,
}

/// What became of the requests with `Expect: 100-continue`; those that failed earlier are in none of them.
#[derive(Debug, Clone, Serialize)]
pub struct ExpectContinue {
    /// Their bodies were sent after `100 Continue`.
    pub continued: u64,
    /// Their bodies were sent after the wait, without it.
    pub sent_without_continue: u64,
    /// They got a final response, so their bodies were not sent.
    pub refused_before_body: u64,
}

/// What HTTP/2 adds to connections.
#[derive(Debug, Clone, Serialize)]
pub struct Http2 {
    /// Users that share a connection.
    pub streams_per_connection: u32,
    /// Connections that the server asked to stop using (GOAWAY).
    pub goaways: u64,
    /// Requests that the server did not process and that were retried, and their share of all requests sent.
    pub requests_unprocessed: u64,
    pub requests_unprocessed_ratio: f64,
    /// Streams that the load generator reset, for example after a timeout.
    pub streams_reset: u64,
    /// Requests that waited because the server allows fewer streams on a connection than the plan.
    pub requests_limited_by_streams: u64,
    /// Responses that say as much about p99 as one independent response, if requests shared connections: at least 1,
    /// and the intervals of all percentiles take theirs into account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_design_effect: Option<f64>,
}

/// N = X R, three ways to know how many requests were in flight.
#[derive(Debug, Clone, Serialize)]
pub struct Little {
    /// Measured by integrating over time.
    pub in_flight_mean: f64,
    /// The time spent in requests per second of the measured part: service times of answers, of failures, and of
    /// what was cut off, added up by machine.
    pub in_flight_computed: f64,
    /// Mean number of active users (closed model).
    pub users_mean: Option<f64>,
    /// Share of the users' time outside requests (closed model): connecting, pausing after a failure, or the
    /// generator.
    pub users_outside_ratio: Option<f64>,
    /// The first two say the same of something that was measured, as closely as the caution about them demands.
    pub is_consistent: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Spike {
    /// Start of the first slow second, or of the requests that made one slow, s from the start.
    pub from_s: f64,
    /// End of its last slow second, s from the start; not each second before it need have been slow.
    pub to_s: f64,
    /// Seconds with p95 above three times the baseline, with a single response far above it, or with hardly any
    /// response although users waited.
    pub slow_s: f64,
    pub baseline_p95_ns: u64,
    /// The longest time instead, when no p95 shows the spike.
    pub peak_p95_ns: u64,
    /// From the end of the load step or the beginning of the spike to the first second back at the baseline, or to
    /// the end of the last one if it is; `None`: not back by the end.
    pub recovered_after_s: Option<f64>,
}

/// One tick of the timeline, all origins added up.
#[derive(Debug, Clone, Serialize)]
pub struct Second {
    pub tick: u32,
    pub from_s: f64,
    pub length_s: f64,
    pub is_warmup: bool,
    pub offered_rate_per_s: Option<f64>,
    pub achieved_rate_per_s: f64,
    pub requests: u64,
    pub errors: u64,
    pub client_faults: u64,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub service_p50_ns: Option<u64>,
    pub service_p99_ns: Option<u64>,
    /// Mean over the tick.
    pub in_flight: f64,
    pub users: f64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub connections_opened: u64,
    pub schedule_lag_p99_ns: Option<u64>,
    pub retransmits: u64,
    /// Events received; only when there are streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Streams open at its end; only when there are streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams_open: Option<u64>,
    pub p95_ns: Option<u64>,
    /// Finished requests that did not fail.
    pub good_rate_per_s: f64,
    /// At its end, by the counts of those opened and closed.
    pub connections_open: u64,
    /// Most arrivals that waited for a connection at once; an upper bound when there are several workers. Open model
    /// only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_peak: Option<u64>,
    /// CPU time of the load generator's workers outside spinning, as a share of the tick; `None`: not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_ratio: Option<f64>,
    /// Response times in it, including those that a timeout or the end of the run cut off: the basis of its
    /// percentiles.
    pub samples: u64,
    /// Times of this row that are lower bounds, by their names here.
    pub lower_bounds: Vec<&'static str>,
    /// Percentiles of this row that have fewer samples than 10 / (1 - q), by their names here.
    pub few_samples: Vec<&'static str>,
}

/// A moment of the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRow {
    /// From the start of the run.
    pub at_s: f64,
    pub kind: EventKind,
    /// One fragment; for a note, its text.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The load profile enters its next part.
    Stage,
    /// A note written during the run.
    Note,
    /// The tool did something: it was paused, it stopped.
    Control,
    /// Seconds that the file does not hold.
    Gap,
    /// Slow seconds begin.
    Spike,
    /// Nothing succeeds from here.
    Outage,
    /// The course changed for good (a change point of rate or p99).
    Change,
}

/// Seconds that the file does not hold.
#[derive(Debug, Clone, Serialize)]
pub struct Gap {
    pub generator: String,
    pub from_s: f64,
    pub to_s: f64,
    pub reason: String,
}
