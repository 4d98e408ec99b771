//! Cautions: every doubt that a result can carry, in one table, and the limits above which each is raised.
//!
//! The table gives code, weight, what it is about, its line in the trust box, title and what to do; `analysis` finds
//! the numbers that raise a row, which are its [`Evidence`], and `sentences` puts them into words. The order of the
//! rows is the order in a report among equals in weight: what explains the others comes first.

pub mod evidence;
mod examples;
mod limits;
mod pages;
mod sentences;

pub use evidence::Evidence;
pub use limits::CautionLimits;
pub use sentences::slope as slope_text;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A doubt about the result.
#[derive(Debug, Clone)]
pub struct Caution {
    pub kind: Kind,
    pub severity: Severity,
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

    /// Why it matters, one clause.
    pub fn impact(&self) -> String {
        self.evidence.impact()
    }

    /// What to do.
    pub fn advice(&self) -> String {
        self.evidence.advice()
    }
}

/// Its texts, and its numbers as `figures`.
impl Serialize for Caution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Caution", 7)?;
        fields.serialize_field("code", &self.kind)?;
        fields.serialize_field("severity", &self.severity)?;
        fields.serialize_field("title", &self.title())?;
        fields.serialize_field("evidence", &self.evidence_text())?;
        fields.serialize_field("impact", &self.impact())?;
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
        $title:literal, $impact:literal, $advice:literal;)*) => {
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

            /// Why it matters, one clause, when the numbers do not say it better.
            pub const fn impact(self) -> &'static str { match self { $(Kind::$kind => $impact,)* } }

            /// What to do about it when the numbers do not say it better.
            pub const fn advice(self) -> &'static str { match self { $(Kind::$kind => $advice,)* } }
        }
    };
}

cautions! {
    ClientFdLimit = "client_fd_limit", Inconclusive, Generator, Line(Descriptors),
        "the load generator ran out of file descriptors",
        "connections that could not open sent no load",
        "raise the hard limit (`ulimit -Hn 65536` as root, `LimitNOFILE=` for systemd), or use fewer connections";
    ClientPortsExhausted = "client_ports_exhausted", Inconclusive, Generator, Line(Ports),
        "the load generator ran out of ephemeral ports",
        "connections that could not open sent no load",
        "widen the range: `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`";
    ClientOutOfMemory = "client_out_of_memory", Inconclusive, Generator, Line(Machine),
        "the load generator ran out of memory",
        "connections that could not open, and bodies that were not kept, are in no result",
        "use fewer connections, or several load generators with `--shard`; check the limits `sysctl \
         net.ipv4.tcp_mem` (sockets) and `kept_total_bytes` (response bodies)";
    ClientSendRefused = "client_send_refused", Inconclusive, Generator, Line(Machine),
        "the load generator's machine refused to send",
        "the service saw less load than planned",
        "find the firewall rule (`iptables -L OUTPUT`) or sandbox that blocks connections to the target";
    ClientLimit = "client_limit", Inconclusive, Generator, Line(Machine),
        "responses exceeded a limit of the load generator",
        "these requests count as failures of the load generator",
        "raise the limit that the failure examples name with `--limit NAME=VALUE`, or keep its default";
    OriginRefused = "origin_refused", Inconclusive, Generator, Line(Machine),
        "the run may not load an origin that its script named",
        "the service saw less load than planned",
        "add `--allow HOST` if you own the host or may load it; the failure examples name it";
    InvalidRequest = "invalid_request", Inconclusive, Generator, Line(Machine),
        "the script or the plan makes invalid requests",
        "the service saw less load than planned",
        "correct the URL, the method, or the header that the messages of the run name";
    ClientStalled = "client_stalled", Inconclusive, Generator, Line(Workers),
        "the load generator stalled",
        "the service itself appears to stall",
        "find what stopped the load generator (a suspended process, a script that computes, or CPU steal), then rerun";
    IncompleteRecord = "incomplete_record", Inconclusive, Generator, Line(Record),
        "the record is incomplete",
        "results cover only the recorded part",
        "rerun for complete results";
    NoRequests = "no_requests", Inconclusive, Plan, Line(Rate),
        "no request completed",
        "there is no result",
        "try one request by hand (`curl -v URL`); if it succeeds, run for longer than a response takes";
    OfferedRateMissed = "offered_rate_missed", Inconclusive, Generator, Line(Rate),
        "the load generator missed the offered rate",
        "the service saw less load than planned",
        "use more workers (`-t`), a lower rate, or several load generators with `--shard`";
    LateSends = "late_sends", Inconclusive, Generator, Line(ScheduleLag),
        "sends were late",
        "response times include this delay",
        "free CPU on the load generator (move the target, stop other programs), or lower the rate";
    TooFewSamples = "too_few_samples", Inconclusive, Plan, Elsewhere("about the figures, not the load generator"),
        "too few samples for a percentile",
        "a few slow requests decide its value",
        "run longer, or use a lower percentile";
    MergedRunsNotConcurrent = "merged_runs_not_concurrent", Inconclusive, Generator, Line(Record),
        "the merged runs were not concurrent",
        "their rates do not add up",
        "start all load generators together; compare runs made at different times instead of merging them";
    LoadChangedManually = "load_changed_manually", Warning, Plan, Line(Rate),
        "the load was changed manually",
        "the load differed from the plan, so whole-run rates do not apply",
        "for comparable results, rerun without manual changes";
    BacklogGrew = "backlog_grew", Warning, System, Line(InFlight),
        "the backlog grew throughout the run",
        "more arrived than was served, so percentiles depend on the run's length",
        "lower the rate";
    UnsteadyStart = "unsteady_start", Warning, System, Elsewhere("about the figures, not the load generator"),
        "the start differs from the rest",
        "results mix two states of the service",
        "exclude the start with `--warmup`";
    SynRetransmits = "syn_retransmits", Warning, System, Line(Network),
        "connection attempts were retransmitted",
        "each lost SYN adds 1, 3, or 7 s",
        "raise the target's listen backlog and `net.core.somaxconn`, or find the packet loss on the path";
    ThunderingHerd = "thundering_herd", Warning, Plan, Line(Rate),
        "all users connected at once",
        "real clients do not arrive together",
        "start users over time (`ramp_up: 10s` in a file)";
    ListenQueueOverflow = "listen_queue_overflow", Warning, System, Elsewhere("about the service"),
        "the listen queue overflowed",
        "dropped connection attempts are retried after a second or more",
        "raise the server's backlog and `net.core.somaxconn`, and check that it accepts connections under load";
    ProcessFdLimit = "process_fd_limit", Warning, System, Elsewhere("about the service"),
        "a monitored process ran out of file descriptors",
        "it cannot accept more connections or open files",
        "raise its limit (`LimitNOFILE=` for systemd, `ulimit -n` in a shell), or find out what keeps them open";
    CpuThrottled = "cpu_throttled", Warning, System, Elsewhere("about the service"),
        "a control group was throttled by its CPU quota",
        "response times include waiting for the next period",
        "raise the quota (`cpu.max`, the CPU limit of a container), or measure with the production quota";
    NetworkSaturated = "network_saturated", Warning, System, Line(Network),
        "the network was saturated",
        "results describe the network, not the service",
        "use a faster link, smaller responses, or compression";
    ConnectionsUnfair = "connections_unfair", Warning, System, Line(Connections),
        "a few connections got nearly all responses",
        "percentiles describe only the connections that were served",
        "look for a connection limit of the service (workers, accept queue), or use fewer users";
    ConnectionsNotReused = "connections_not_reused", Warning, System, Line(Connections),
        "connections were hardly reused",
        "response times include opening connections",
        "enable keep-alive on the server; if it closes connections on purpose, add `--no-keepalive`";
    LowEphemeralPorts = "low_ephemeral_ports", Warning, Generator, Line(Ports),
        "the load generator is low on ephemeral ports",
        "a longer run will fail to open connections",
        "keep connections open, or widen the range: `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`";
    CensoredByTimeouts = "censored_by_timeouts", Warning, Plan, Line(InFlight),
        "timeouts censored the longest response times",
        "the true times are longer and unknown",
        "raise `--timeout` to measure them";
    CoordinatedOmission = "coordinated_omission", Warning, Plan, Line(Rate),
        "percentiles hide stalls (coordinated omission)",
        "users that wait send nothing, so few samples see the stall",
        "use the open model with `-r RATE`: arrivals do not wait for a stalled service";
    ConnectionLimitReached = "connection_limit_reached", Warning, Plan, Line(Connections),
        "arrivals waited for a connection",
        "response times include this wait",
        "raise `--max-connections`, unless real clients share as few connections";
    LittlesLaw = "littles_law", Warning, Generator, Line(Little),
        "users spent time outside requests",
        "the load generator may be the bottleneck",
        "use fewer users or more workers";
    ClientCpuSaturated = "client_cpu_saturated", Warning, Generator, Line(Workers),
        "a worker was saturated",
        "the load generator may be the bottleneck",
        "use more workers (`-t`), or several load generators with `--shard`";
    ClientCpuWait = "client_cpu_wait", Warning, Generator, Line(Workers),
        "workers waited for CPU",
        "response times include this wait",
        "stop other programs on the load generator, or use fewer workers than CPUs";
    CpuSteal = "cpu_steal", Warning, Generator, Line(Machine),
        "the hypervisor took CPU time from the load generator (steal)",
        "response times include these pauses",
        "run on dedicated CPUs";
    Retransmits = "retransmits", Warning, System, Line(Network),
        "TCP segments were retransmitted",
        "each adds 200 ms or more to a response time",
        "look for packet loss on the path (`mtr`, interface counters) and for a full listen queue on the target \
         (`nstat -az TcpExtListenDrops`)";
    StaleConnections = "stale_connections", Warning, System, Line(Connections),
        "the server closed idle connections as requests arrived",
        "these requests failed although the service was up",
        "keep idle connections open on the server for longer than its clients do, or use `--no-keepalive`";
    RequestsUnprocessed = "requests_unprocessed", Warning, System, Line(Connections),
        "the server did not process some requests",
        "each was retried, and its response time includes both attempts",
        "allow more requests on a connection on the server (nginx: `keepalive_requests`), or use fewer streams";
    StreamLimitReached = "stream_limit_reached", Warning, Plan, Line(Connections),
        "requests waited for an HTTP/2 stream",
        "response times include this wait",
        "use fewer streams on a connection (`--streams`), or raise the server's limit of concurrent streams";
    UnexpectedBytes = "unexpected_bytes", Warning, System, Line(Connections),
        "responses were followed by unexpected bytes",
        "the next response may be misread",
        "fix the server's framing: a `Content-Length` too small, or a response sent twice";
    MeanAboveP95 = "mean_above_p95", Warning, System, Elsewhere("about the figures, not the load generator"),
        "the mean is above p95",
        "a few very slow requests raise the mean",
        "read the maximum and the timeline instead";
    ResponseChanged = "response_changed", Warning, System, Elsewhere("about the service"),
        "responses changed during the run",
        "results mix two experiments",
        "find what the service did at that time, then rerun";
    RedirectsNotFollowed = "redirects_not_followed", Warning, Plan, Elsewhere("about the service"),
        "only redirects came back",
        "the pages that they lead to were not tested",
        "follow redirects with `--follow 3` (`redirects: 3` in a file), or test their target";
    RowsNotWritten = "rows_not_written", Warning, Plan, Line(Record),
        "extracted values were not written",
        "readers of the file miss these rows",
        "check the file and its disk";
    TooManySeries = "too_many_series", Warning, Plan, Line(Record),
        "programs exceeded the limit of series",
        "values beyond the limit lost their labels",
        "use labels with few values, or raise `--limit open_series=N`";
    ValuesRejected = "values_rejected", Warning, Plan, Line(Record),
        "values of user-defined metrics were rejected",
        "these values are in no result",
        "add only numbers, and only positive ones to counters and trends";
    EventStreamsAsResponses = "event_streams_as_responses", Warning, Plan, Elsewhere("about the response times"),
        "event streams were measured as responses",
        "their response time is the length of the stream, not the speed of the service",
        "open them with `open()` of `k6/x/sse`, or with `stream` in an experiment file; both measure heads, events, \
         and gaps";
    IterationsAbandoned = "iterations_abandoned", Warning, Plan, Elsewhere("about the service"),
        "iterations were abandoned without a failure",
        "later steps saw less load than planned",
        "check the failure examples for the value that was missing or could not be sent";
    MergedTargetsDiffer = "merged_targets_differ", Warning, Plan, Line(Record),
        "the merged runs belong to different experiments",
        "their results do not add up",
        "compare runs of different targets or loads instead of merging them";
    MonitorFailed = "monitor_failed", Note, Generator, Elsewhere("about a monitor, in the section of what was watched"),
        "a monitor failed",
        "its numbers are missing; the load is not affected",
        "fix the error that it reports";
    MemoryGrowth = "memory_growth", Note, System, Elsewhere("about the service"),
        "memory grew throughout the run",
        "a leak continues, a filling cache stops",
        "run longer, and compare the growth with what each request may keep";
    SameMachine = "same_machine", Note, Generator, Line(Machine),
        "the target runs on the load generator's machine",
        "both compete for CPU and memory",
        "for results that hold elsewhere, run the load generator on another machine";
    CertificateNotVerified = "certificate_not_verified", Note, Plan, Line(Tls),
        "the server's certificate was not verified",
        "another server may have responded",
        "trust its certificate with `--ca FILE` instead of `-k`";
    CensoredAtEnd = "censored_at_end", Note, Plan, Line(InFlight),
        "requests were in flight at the end",
        "their response times are lower bounds",
        "run longer: their share of the samples shrinks";
    RttBound = "rtt_bound", Note, Plan, Line(Network),
        "a request takes about one network round trip",
        "results describe the distance, not the service",
        "run the load generator closer to the target, or raise the rate with more users";
    ShortRun = "short_run", Note, Plan, Elsewhere("about the figures, not the load generator"),
        "the run was short",
        "results vary between seconds",
        "run for at least 10 s, ideally 60 s";
    DataExhausted = "data_exhausted", Note, Plan, Line(Rate),
        "users ran out of data",
        "the load dropped when they ended",
        "add rows to the data file, or set `on_end: recycle`";
    StoppedEarly = "stopped_early", Note, Plan, Line(Record),
        "the run stopped early",
        "results cover only the part that ran",
        "rerun to the planned end";
}

impl Evidence {
    /// The caution that it is evidence of, with the weight of its row.
    pub fn raise(self) -> Caution {
        let kind = self.kind();
        Caution { kind, severity: kind.weight(), evidence: self }
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
