//! Cautions: every doubt that a result can carry, in one table, and the limits from which on each is raised.
//!
//! The table gives code, weight, what it is about, its line in the trust box, title and what to do; `analysis` finds
//! the numbers that raise a row, which are its [`Evidence`], and `sentences` puts them into words. The order of the
//! rows is the order in a report among equals in weight: what explains the others comes first.

pub mod evidence;
mod examples;
mod pages;
mod sentences;

pub use evidence::Evidence;
pub use sentences::slope as slope_text;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A doubt about the result.
#[derive(Debug, Clone)]
pub struct Caution {
    pub kind: Kind,
    pub weight: Severity,
    /// The numbers that say so.
    pub evidence: Evidence,
}

impl Caution {
    /// What it is, one fragment.
    pub fn title(&self) -> String {
        self.evidence.title()
    }

    /// The numbers that say so, as one fragment.
    pub fn evidence_text(&self) -> String {
        self.evidence.text()
    }

    /// What to do.
    pub fn advice(&self) -> String {
        self.evidence.advice()
    }
}

/// Its texts, and its numbers as `figures`.
impl Serialize for Caution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Caution", 6)?;
        fields.serialize_field("code", &self.kind)?;
        fields.serialize_field("weight", &self.weight)?;
        fields.serialize_field("title", &self.title())?;
        fields.serialize_field("evidence", &self.evidence_text())?;
        fields.serialize_field("advice", &self.advice())?;
        fields.serialize_field("figures", &self.evidence)?;
        fields.end()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Leaves a threshold undecided, or the whole run: it could turn the answer.
    Inconclusive,
    /// The reader must know it; the verdict stands.
    Warning,
    /// Good to know.
    Note,
}

/// What a caution is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// The system under test.
    System,
    Plan,
    Generator,
}

/// What a line of the trust box is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Rate,
    ScheduleLag,
    Workers,
    Machine,
    Connections,
    Tls,
    Descriptors,
    Ports,
    InFlight,
    Network,
    Little,
    Record,
}

/// Where a caution is seen in the trust box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It marks this line.
    Line(Subject),
    /// It has none, for this reason.
    Elsewhere(&'static str),
}

macro_rules! place {
    (Line($subject:ident)) => {
        Place::Line(Subject::$subject)
    };
    (Elsewhere($why:literal)) => {
        Place::Elsewhere($why)
    };
}

macro_rules! cautions {
    ($($(#[$meta:meta])* $kind:ident = $code:literal, $weight:ident, $set:ident, $place:ident($on:tt),
        $title:literal, $advice:literal;)*) => {
        /// A row of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$meta])* #[doc = $title] $kind,)* }

        impl Kind {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// The stable name in JSON and documents.
            pub const fn code(self) -> &'static str { match self { $(Kind::$kind => $code,)* } }

            /// Its weight, unless the evidence makes it heavier or lighter.
            pub const fn weight(self) -> Severity { match self { $(Kind::$kind => Severity::$weight,)* } }

            /// What it is about.
            pub const fn set(self) -> Set { match self { $(Kind::$kind => Set::$set,)* } }

            /// Which line of the trust box it marks.
            pub const fn place(self) -> Place { match self { $(Kind::$kind => place!($place($on)),)* } }

            /// What it is, one fragment.
            pub const fn title(self) -> &'static str { match self { $(Kind::$kind => $title,)* } }

            /// What to do about it when the numbers do not say it better.
            pub const fn advice(self) -> &'static str { match self { $(Kind::$kind => $advice,)* } }
        }
    };
}

cautions! {
    ClientFdLimit = "client_fd_limit", Inconclusive, Generator, Line(Descriptors),
        "this machine ran out of file descriptors",
        "raise the hard limit (`ulimit -Hn 65536` as root, `LimitNOFILE=` for systemd), or use fewer connections";
    ClientPortsExhausted = "client_ports_exhausted", Inconclusive, Generator, Line(Ports),
        "this machine ran out of local ports",
        "widen the range: `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`";
    ClientOutOfMemory = "client_out_of_memory", Inconclusive, Generator, Line(Machine),
        "this machine had no memory for sockets or responses",
        "use fewer connections, or more machines with `--shard`; `sysctl net.ipv4.tcp_mem` shows the limit of sockets, \
         the limit `kept_total_bytes` that of response bodies that are checked";
    ClientSendRefused = "client_send_refused", Inconclusive, Generator, Line(Machine),
        "this machine refused to send",
        "look for a firewall rule (`iptables -L OUTPUT`) or a sandbox that blocks connections to the target";
    ClientLimit = "client_limit", Inconclusive, Generator, Line(Machine),
        "a limit of the load generator cut responses off",
        "raise the limit that the failure examples name, `--limit NAME=VALUE`, or leave it at its default";
    ClientStalled = "client_stalled", Inconclusive, Generator, Line(Workers),
        "this machine stood still",
        "find out what stopped the load generator (a suspended process, a host that took the CPU), and run again";
    IncompleteRecord = "incomplete_record", Inconclusive, Generator, Line(Record),
        "the record is incomplete",
        "the figures cover what is there; run again for the whole";
    NoRequests = "no_requests", Inconclusive, Plan, Line(Rate),
        "nothing was measured",
        "try one request by hand (`curl -v URL`); if it is answered, make the run longer than an answer takes";
    OfferedRateMissed = "offered_rate_missed", Inconclusive, Generator, Line(Rate),
        "this machine did not send the load that was asked for",
        "use more workers (`-t`), a lower rate, or several machines with `--shard`";
    LateSends = "late_sends", Inconclusive, Generator, Line(ScheduleLag),
        "requests were sent late",
        "leave this machine more CPU (another machine for the target, fewer other programs), or use a lower rate";
    TooFewSamples = "too_few_samples", Inconclusive, Plan, Elsewhere("about the figures, not the load generator"),
        "too few samples for a percentile",
        "run longer, or look at a lower percentile";
    MergedRunsNotConcurrent = "merged_runs_not_concurrent", Inconclusive, Generator, Line(Record),
        "the merged runs were not at the same time",
        "start the runs of all machines together; runs one after the other are compared, not added up";
    LoadChangedManually = "load_changed_manually", Warning, Plan, Line(Rate),
        "the load was steered by hand",
        "the load was not that of the plan: what stands in the plan, and every figure per second of the whole run, \
         holds for the rest of the time alone; for figures to compare, run again and let it be";
    BacklogGrew = "backlog_grew", Warning, System, Line(InFlight),
        "work piled up through the whole run",
        "the rate is above the service's capacity: its percentiles tell the length of the run; use a lower rate";
    UnsteadyStart = "unsteady_start", Warning, System, Elsewhere("about the figures, not the load generator"),
        "the beginning differs from the rest",
        "leave the beginning out of the figures with `--warmup`";
    SynRetransmits = "syn_retransmits", Warning, System, Line(Network),
        "connection attempts were lost and made again",
        "the listen queue of the target is too short (`net.core.somaxconn`, its own backlog), or the way to it loses \
         packets: each lost SYN costs 1, 3 or 7 s";
    ThunderingHerd = "thundering_herd", Warning, Plan, Line(Rate),
        "all users connected at the same instant",
        "let the users come one after the other (`ramp_up: 10s` in a file): clients of a real service do not arrive \
         together";
    ListenQueueOverflow = "listen_queue_overflow", Warning, System, Elsewhere("about the service"),
        "the listen backlog was too short",
        "raise the server's own backlog and `net.core.somaxconn`, and see that it accepts while it works: what does \
         not fit is dropped, and the client tries again a second later";
    ProcessFdLimit = "process_fd_limit", Warning, System, Elsewhere("about the service"),
        "a watched process ran out of file descriptors",
        "raise its limit (`LimitNOFILE=` for systemd, `ulimit -n` in a shell), or find out why it holds so many";
    CpuThrottled = "cpu_throttled", Warning, System, Elsewhere("about the service"),
        "a control group was held back by its CPU quota",
        "raise the quota (`cpu.max`, the CPU limit of a container), or measure with the quota that will be used: \
         times include the waiting for the next period";
    NetworkSaturated = "network_saturated", Warning, System, Line(Network),
        "the link was full",
        "the way of the bytes was measured, not the service: use a faster link, smaller answers, or compress them";
    ConnectionsUnfair = "connections_unfair", Warning, System, Line(Connections),
        "a few connections got nearly all answers",
        "the percentiles tell of the connections that were served; look for a limit on connections at the service \
         (workers, accept queue), or use fewer users";
    ConnectionsNotReused = "connections_not_reused", Warning, System, Line(Connections),
        "connections were hardly used again",
        "let the server keep connections open longer, or ask for one each with `--no-keepalive` so that both agree";
    LowEphemeralPorts = "low_ephemeral_ports", Warning, Generator, Line(Ports),
        "this machine is about to run out of local ports",
        "keep connections open, or widen the range: `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`";
    CensoredByTimeouts = "censored_by_timeouts", Warning, Plan, Line(InFlight),
        "time-outs cut off the longest times",
        "raise `--timeout` to see how long the requests that were given up really take";
    CoordinatedOmission = "coordinated_omission", Warning, Plan, Line(Rate),
        "the percentiles hide stalls",
        "use the open model, `-r RATE`: arrivals do not wait for a stalled service";
    ConnectionLimitReached = "connection_limit_reached", Warning, Plan, Line(Connections),
        "arrivals waited for a free connection",
        "raise `--max-connections` if clients of the real service do not share so few connections";
    LittlesLaw = "littles_law", Warning, Generator, Line(Little),
        "users spent their time outside requests",
        "the users' time does not add up: the load generator may be the limit; use fewer users or more workers";
    ClientCpuSaturated = "client_cpu_saturated", Warning, Generator, Line(Workers),
        "a worker was busy all the time",
        "the load generator may be the limit: use more workers (`-t`), or several machines with `--shard`";
    ClientCpuWait = "client_cpu_wait", Warning, Generator, Line(Workers),
        "workers had to wait for a CPU",
        "stop other programs on this machine, or use fewer workers than there are CPUs";
    CpuSteal = "cpu_steal", Warning, Generator, Line(Machine),
        "the host took CPU time from this machine",
        "run on a machine with CPUs of its own; times measured here include the host's pauses";
    Retransmits = "retransmits", Warning, System, Line(Network),
        "TCP segments were retransmitted",
        "each costs 200 ms or more, and that is in the figures: look for packet loss on the way to the target \
         (`mtr`, the counters of its interfaces), and for a full listen queue there (`nstat -az TcpExtListenDrops`)";
    StaleConnections = "stale_connections", Warning, System, Line(Connections),
        "the server closed idle connections as requests came",
        "make the server keep idle connections longer than its clients do, or use `--no-keepalive`";
    UnexpectedBytes = "unexpected_bytes", Warning, System, Line(Connections),
        "bytes that nobody asked for came behind answers",
        "the server's framing is wrong (a length too small, an answer sent twice): the next answer may be misread";
    MeanAboveP95 = "mean_above_p95", Warning, System, Elsewhere("about the figures, not the load generator"),
        "the mean is above p95",
        "a few very long times make up the mean: look at p99, the maximum and the timeline";
    ResponseChanged = "response_changed", Warning, System, Elsewhere("about the service"),
        "answers changed in the middle of the run",
        "before and behind the change are two experiments: find out what the service did then, and run again";
    RedirectsNotFollowed = "redirects_not_followed", Warning, Plan, Elsewhere("about the service"),
        "only redirects came back, and none was followed",
        "follow them with `--follow 3` (`redirects: 3` in a file), or load the address that they lead to";
    RowsNotWritten = "rows_not_written", Warning, Plan, Line(Record),
        "extracted values are missing in a file",
        "look at the file and its disk: what reads it will miss these rows";
    TooManySeries = "too_many_series", Warning, Plan, Line(Record),
        "programs asked for more series than the run holds",
        "use labels with few values, or raise `--limit open_series=N`: values beyond it have lost their labels";
    ValuesRejected = "values_rejected", Warning, Plan, Line(Record),
        "values of user-defined metrics were not counted",
        "add only numbers, to counters and trends none below 0";
    IterationsAbandoned = "iterations_abandoned", Warning, Plan, Elsewhere("about the service"),
        "iterations were left although nothing had failed",
        "a value that they needed was missing or could not be sent where it stands: the samples show which";
    MergedTargetsDiffer = "merged_targets_differ", Warning, Plan, Line(Record),
        "the merged runs are not of one experiment",
        "compare runs of different targets or loads instead of adding them up";
    MonitorFailed = "monitor_failed", Note, Generator, Elsewhere("about a monitor, in the section of what was watched"),
        "a monitor failed",
        "look at what it says; the load and its figures are not touched by it";
    MemoryGrowth = "memory_growth", Note, System, Elsewhere("about the service"),
        "memory grew through the run",
        "run longer: a leak goes on, a cache that fills ends; compare the slope with what each request may keep";
    SameMachine = "same_machine", Note, Generator, Line(Machine),
        "the target runs on this machine",
        "both share CPU and memory; for figures that hold elsewhere, load from another machine";
    CertificateNotVerified = "certificate_not_verified", Note, Plan, Line(Tls),
        "the server's certificate was not checked",
        "whoever answered may have been another server; trust its certificate with `--ca FILE` instead of `-k`";
    CensoredAtEnd = "censored_at_end", Note, Plan, Line(InFlight),
        "requests were under way at the stop",
        "run longer: their share of the samples shrinks";
    RttBound = "rtt_bound", Note, Plan, Line(Network),
        "the way to the target was measured",
        "the time is that of one round trip: more users raise the rate; load from nearby to see the service itself";
    ShortRun = "short_run", Note, Plan, Elsewhere("about the figures, not the load generator"),
        "a short run",
        "seconds differ: measure for at least 10 s, better a minute";
    DataExhausted = "data_exhausted", Note, Plan, Line(Rate),
        "users ended because their data ran out",
        "give the feeder more rows, or let it begin again at its end";
    StoppedEarly = "stopped_early", Note, Plan, Line(Record),
        "the run was stopped before its end",
        "the figures hold for the part that ran";
}

impl Evidence {
    /// The caution that it is evidence of, with the weight of its row.
    pub fn raise(self) -> Caution {
        let kind = self.kind();
        Caution { kind, weight: kind.weight(), evidence: self }
    }
}

impl Kind {
    /// At length: what it means, how it is found, what to do; three paragraphs of plain text without line breaks.
    pub const fn page(self) -> &'static str {
        pages::text(self)
    }

    /// The row with this code.
    pub fn of_code(code: &str) -> Option<Kind> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }
}

/// By its code: what documents for programs have.
impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// The page of the caution with this code; `None`: there is none.
pub fn page(code: &str) -> Option<&'static str> {
    Kind::of_code(code).map(Kind::page)
}

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
