//! The limits above which each caution is raised.

/// Limits above which a caution is raised: ratios, unless the name has a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CautionLimits {
    /// p99 schedule lag as a share of the reported response p99, ...
    pub late_share: f64,
    /// ... and its minimum.
    pub late_ns: u64,
    /// Share of the planned arrivals that were not sent.
    pub offered_missed: f64,
    /// Share of time busy (or waiting for a CPU) above which a worker is saturated.
    pub worker_busy: f64,
    pub cpu_wait: f64,
    pub steal: f64,
    /// Share of the workers' time in unintended stalls.
    pub stalled: f64,
    /// Overlap of concurrent runs, as a share of the longest one.
    pub overlap: f64,
    /// Allowed difference of measured and computed requests in flight.
    pub in_flight_differs: f64,
    /// Retransmits per request, and their minimum number.
    pub retransmits: f64,
    pub retransmits_least: u64,
    /// Share of the users' time outside of requests that connecting does not explain.
    pub users_outside: f64,
    /// Number of medians above which a sample is slow, ...
    pub slow_medians: f64,
    /// ... and its minimum distance from the median.
    pub slow_more_ns: u64,
    /// Percentiles hide stalls if the p99 of independent arrivals would be this many times the measured p99, ...
    pub stall_hidden: f64,
    /// ... with at least this many users per worker: fewer cannot distinguish a stall of all users from a slow request.
    pub stall_users: f64,
    /// Share of samples in flight at the end.
    pub in_flight: f64,
    /// Responses changed if their mean size differs from that before by more than this share.
    pub answers_differ: f64,
    /// A run with a shorter measured part is a short run.
    pub short_ns: u64,
    /// Minimum number of samples to compare a mean with p95.
    pub mean_samples: u64,
    /// Number of baselines above which a second is slow, ...
    pub spike_baselines: f64,
    /// ... and its minimum distance from the baseline.
    pub spike_more_ns: u64,
    /// Number of baselines up to which a second has recovered.
    pub recovered_baselines: f64,
    /// The backlog grew if the median response time of the last third is this many times that of the first third, ...
    pub grew_times: f64,
    /// ... this much longer, ...
    pub grew_more_ns: u64,
    /// ... and has a trend: Kendall's tau of the seconds (1: each is above all previous ones).
    pub grew_tau: f64,
    /// The start differs if its level differs from the rest by this share, ...
    pub steady_shift: f64,
    /// ... by this much, ...
    pub steady_more_ns: u64,
    /// ... if this share of the difference remains between the closest seconds of both parts, ...
    pub steady_gap: f64,
    /// ... and if the mean differs by this share in the same direction.
    pub steady_mean: f64,
    /// Connection times belong to lost SYNs up to this much above 1, 2, 3, ... s above the minimum, ...
    pub syn_window_ns: u64,
    /// ... if there are at least this many, ...
    pub syn_least: u64,
    /// ... which are this share of all that took as long, and this share of all connections.
    pub syn_clustered: f64,
    pub syn_share: f64,
    /// A link is saturated if bytes arrived this evenly in each fifth of the run, ...
    pub link_flat: f64,
    /// ... if this share of the requests' time follows the first byte, ...
    pub link_body: f64,
    /// ... and if this many segments arrived out of order.
    pub link_out_of_order: u64,
    /// Share of time with a request in flight above which users do not limit the rate.
    pub users_waiting: f64,
    /// Jain's index of requests per connection below which it is unfair, with at least this many connections, ...
    pub unfair_index: f64,
    pub unfair_connections: u64,
    /// ... and at least this many requests per connection on average.
    pub unfair_requests: f64,
    /// Connections are not reused below this many requests each, or if opening them takes this share of the time, with
    /// at least this many closed by the server.
    pub reused_least: f64,
    pub reused_cost: f64,
    pub reused_closed: u64,
    /// Share of the local ports in TIME_WAIT if a minute continues like the run.
    pub ports_used: f64,
    /// Allowed share of missing monitor samples.
    pub monitor_missing: f64,
    /// Growth of memory over the measured part, as a share of its mean.
    pub memory_growth: f64,
    /// Share of a process's file descriptors above which hardly any are left.
    pub descriptors: f64,
    /// Share of periods in which a control group was throttled.
    pub throttled: f64,
    /// Minimum number of users that start at once, and the time within which they do.
    pub at_once: f64,
    pub at_once_ns: u64,
    /// A median of at most this many round trips, ...
    pub round_trips: f64,
    /// ... of at least this length, is bound by the round trip.
    pub round_trip_ns: u64,
}

impl Default for CautionLimits {
    fn default() -> Self {
        Self {
            late_share: 0.10,
            late_ns: 1_000_000,
            offered_missed: 0.01,
            worker_busy: 0.90,
            cpu_wait: 0.10,
            steal: 0.05,
            stalled: 0.01,
            overlap: 0.90,
            in_flight_differs: 0.10,
            retransmits: 0.001,
            retransmits_least: 10,
            users_outside: 0.10,
            slow_medians: 10.0,
            slow_more_ns: 25_000_000,
            stall_hidden: 3.0,
            stall_users: 2.0,
            in_flight: 0.01,
            answers_differ: 0.20,
            short_ns: 10_000_000_000,
            mean_samples: 20,
            spike_baselines: 3.0,
            spike_more_ns: 5_000_000,
            recovered_baselines: 1.5,
            grew_times: 1.5,
            grew_more_ns: 5_000_000,
            grew_tau: 0.7,
            steady_shift: 0.20,
            steady_more_ns: 500_000,
            steady_gap: 0.5,
            steady_mean: 0.10,
            syn_window_ns: 250_000_000,
            syn_least: 3,
            syn_clustered: 0.8,
            syn_share: 0.001,
            link_flat: 0.03,
            link_body: 0.75,
            link_out_of_order: 10,
            users_waiting: 0.8,
            unfair_index: 0.5,
            unfair_connections: 8,
            unfair_requests: 5.0,
            reused_least: 2.0,
            reused_cost: 0.10,
            reused_closed: 10,
            ports_used: 0.80,
            monitor_missing: 0.10,
            memory_growth: 0.05,
            descriptors: 0.95,
            throttled: 0.05,
            at_once: 100.0,
            at_once_ns: 10_000_000,
            round_trips: 1.3,
            round_trip_ns: 1_000_000,
        }
    }
}
