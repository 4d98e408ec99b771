//! The limits from which on each caution is raised.

/// The numbers from which on a doubt is raised. Ratios unless the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CautionLimits {
    /// p99 schedule lag as a share of the reported response p99 ...
    pub late_share: f64,
    /// ... and at least this much.
    pub late_ns: u64,
    /// Share of the asked-for arrivals that were not sent.
    pub offered_missed: f64,
    /// Busy (or waiting for a CPU) above this, a worker has no room left.
    pub worker_busy: f64,
    pub cpu_wait: f64,
    pub steal: f64,
    /// Share of the workers' time in which they stood still without meaning to.
    pub stalled: f64,
    /// Runs were at the same time if they share at least this much of the longest one.
    pub overlap: f64,
    /// Measured and computed requests in flight differ by at most this share.
    pub in_flight_differs: f64,
    /// Retransmits per request, and how many at least.
    pub retransmits: f64,
    pub retransmits_least: u64,
    /// Share of the users' time outside requests that connecting does not explain.
    pub users_outside: f64,
    /// A sample is slow above this many medians ...
    pub slow_medians: f64,
    /// ... and at least this much above the median.
    pub slow_more_ns: u64,
    /// Stalls hide when the p99 of arrivals that do not wait would be so many of that which was measured ...
    pub stall_hidden: f64,
    /// ... and a stall of all users can be told from one slow request from so many users to a worker on.
    pub stall_users: f64,
    /// Share of samples under way at the stop.
    pub in_flight: f64,
    /// Answers changed when their mean size behind differs by more than this share from that before.
    pub answers_differ: f64,
    /// Shorter measured parts are short runs.
    pub short_ns: u64,
    /// From this many samples on a mean is compared with p95.
    pub mean_samples: u64,
    /// A second is slow above this many baselines ...
    pub spike_baselines: f64,
    /// ... and this much above the baseline.
    pub spike_more_ns: u64,
    /// Back at the baseline: at most this many of it.
    pub recovered_baselines: f64,
    /// Work piled up when the median response time of the last third is this many of the first third's ...
    pub grew_times: f64,
    /// ... and this much longer ...
    pub grew_more_ns: u64,
    /// ... in a trend: Kendall's tau of the seconds (1: each is above all before).
    pub grew_tau: f64,
    /// The beginning differs when its level is this share off that of the rest ...
    pub steady_shift: f64,
    /// ... and this much ...
    pub steady_more_ns: u64,
    /// ... and this share of the difference lies between the seconds that come nearest to each other ...
    pub steady_gap: f64,
    /// ... and the mean time differs by this share in the same direction.
    pub steady_mean: f64,
    /// Connection times are those of lost SYNs within this much behind 1, 2, 3 ... s above the floor.
    pub syn_window_ns: u64,
    /// So many of them at least ...
    pub syn_least: u64,
    /// ... which are this share of all that took as long, and this share of all connections.
    pub syn_clustered: f64,
    pub syn_share: f64,
    /// A link is full when bytes came as evenly as this in every fifth of the run ...
    pub link_flat: f64,
    /// ... this share of the requests' time lay behind the first byte ...
    pub link_body: f64,
    /// ... and so many segments came out of order.
    pub link_out_of_order: u64,
    /// Users (in this share of their time) had a request under way: it is not they who set the rate.
    pub users_waiting: f64,
    /// Jain's index of the connections' requests below this is unfair, from this many connections ...
    pub unfair_index: f64,
    pub unfair_connections: u64,
    /// ... and this many requests for each on the average on.
    pub unfair_requests: f64,
    /// Connections are hardly used again below this many requests each, or when making them costs this share of the
    /// time, from so many closed by the server on.
    pub reused_least: f64,
    pub reused_cost: f64,
    pub reused_closed: u64,
    /// Share of the local ports that TIME_WAIT holds when a minute goes on like the run.
    pub ports_used: f64,
    /// Share of a monitor's samples that may be missing.
    pub monitor_missing: f64,
    /// Growth of memory over the measured part, as a share of its mean.
    pub memory_growth: f64,
    /// Share of a process's descriptors that leaves none to speak of.
    pub descriptors: f64,
    /// Share of its periods in which a control group was held back.
    pub throttled: f64,
    /// So many users that begin within this much began at once.
    pub at_once: f64,
    pub at_once_ns: u64,
    /// A median of at most so many round trips ...
    pub round_trips: f64,
    /// ... of at least this length is a round trip.
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
