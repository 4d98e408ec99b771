//! The evidence of a caution: numbers and names, never text. [`super::sentences`] puts them into words.
//!
//! One variant for each shape of evidence. It determines the row of the table that it is evidence of, so that no
//! caution can be raised with another's numbers.

mod parts;

pub use parts::{
    ChangedResponse, DescriptorUse, EmptyRun, FailedMonitor, FirstMissedSample, GrownMemory, LateConnections,
    LevelFigure, ListenerOverflow, LoadLoss, PlanDifference, RecordLoss, ResponseChange, RunLength, Shortage,
    StatusCount, SteeredChange, SteeredStep, StopCause, ThinQuantile, ThrottledGroup,
};

use super::Kind;
use plimsoll_plan::load::Share;
use serde::Serialize;

macro_rules! kind {
    ($kind:ident) => {
        Kind::$kind
    };
    (Kind $of:ident) => {
        $of.kind()
    };
}

macro_rules! evidence {
    ($($(#[$meta:meta])* $variant:ident: $kind:ident $(of $of:ident)? {
        $($(#[$about:meta])* $field:ident: $type:ty),* $(,)?
    })*) => {
        /// The numbers that raise a caution. In JSON: the fields of the variant, as the `figures` of the caution;
        /// what is not known is left out.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Evidence {
            $($(#[$meta])* $variant { $($(#[$about])* $field: $type,)* },)*
        }

        impl Evidence {
            /// The names of all variants, in the order of their declaration.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant),)*];

            /// The row of the table that it is evidence of.
            pub const fn kind(&self) -> Kind {
                match self { $(Evidence::$variant { $($of,)? .. } => kind!($kind $($of)?),)* }
            }

            /// The name of its variant.
            pub const fn name(&self) -> &'static str {
                match self { $(Evidence::$variant { .. } => stringify!($variant),)* }
            }
        }
    };
}

evidence! {
    // The load generator's machine.

    /// Attempts to connect that found no free file descriptor.
    NoDescriptors: ClientFdLimit {
        attempts_count: u64,
        /// The machines on which it happened.
        hosts: Vec<String>,
        /// Limits of the machine with the lowest soft one.
        soft_limit_count: u64,
        hard_limit_count: u64,
        /// A hard limit that is enough for the plan.
        enough_count: u64,
    }
    /// Attempts to connect that found no free local port.
    NoPorts: ClientPortsExhausted {
        attempts_count: u64,
        hosts: Vec<String>,
        /// The lowest and the highest local port of the machine that has the fewest; `None`: not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        port_range: Option<[u16; 2]>,
        keeps_alive: bool,
    }
    /// Attempts that found no memory.
    NoMemory: ClientOutOfMemory { attempts_count: u64, hosts: Vec<String> }
    /// Attempts that this machine refused.
    SendRefused: ClientSendRefused { attempts_count: u64, hosts: Vec<String> }
    /// Responses longer than a limit of the load generator.
    ResponsesCut: ClientLimit { responses_count: u64 }
    /// Requests to origins without permission, or beyond the limit on origins.
    OriginsRefused: OriginRefused { requests_count: u64 }
    /// Requests that were not sent because they are invalid.
    RequestsInvalid: InvalidRequest { requests_count: u64 }
    /// Stalled workers.
    WorkersStalled: ClientStalled {
        stalls_count: u64,
        /// Share of the time of all workers.
        stalled_ratio: f64,
    }
    /// The busiest worker.
    WorkerBusy: ClientCpuSaturated {
        worker: u32,
        /// Counted from 1, where there are several.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine: Option<u32>,
        busy_ratio: f64,
    }
    /// The worker that waited most for a CPU.
    WorkerQueued: ClientCpuWait {
        worker: u32,
        /// Counted from 1, where there are several.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine: Option<u32>,
        cpu_wait_ratio: f64,
    }
    /// CPU time that the host took.
    CpuStolen: CpuSteal { steal_ratio: f64 }
    /// The target's address is one of this machine.
    LocalTarget: SameMachine { address: String }
    /// No certificate was checked.
    AnyCertificate: CertificateNotVerified { server_name: String }

    // The load.

    /// Arrivals that were not sent, for reasons on this side.
    ArrivalsNotSent: OfferedRateMissed {
        unsent_count: u64,
        asked_count: u64,
        unsent_ratio: f64,
        /// The busiest worker with its waiting for a CPU, where that is too much.
        #[serde(skip_serializing_if = "Option::is_none")]
        worker_ratio: Option<f64>,
    }
    /// 99th percentiles of the delay of sends and of the response times.
    LateSends: LateSends { schedule_lag_p99_ns: u64, response_p99_ns: u64 }
    /// Arrivals that waited for a free connection.
    ConnectionsFull: ConnectionLimitReached {
        queued_count: u64,
        /// Those that had none at the stop.
        unstarted_count: u64,
        peak_count: u64,
        limit_count: u64,
        /// Of these, those on each connection; above 1 only over HTTP/2, where they are streams.
        streams_count: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        wait_p99_ns: Option<u64>,
        /// Twice the limit of one machine: what may be enough.
        suggested_count: u64,
        /// The backlog grew throughout the run, so no number of connections is enough.
        has_growing_backlog: bool,
    }
    /// HTTP/2 requests that the server did not process (GOAWAY, REFUSED_STREAM).
    RequestsRetried: RequestsUnprocessed { unprocessed_count: u64, unprocessed_ratio: f64, goaways_count: u64 }
    /// HTTP/2 requests that waited because the server allows fewer streams than the plan.
    StreamsFull: StreamLimitReached { waited_count: u64, waited_ratio: f64, streams_count: u64 }
    /// Requests in flight, measured and by N = X R.
    InFlightDiffers: LittlesLaw { measured_mean: f64, computed_mean: f64 }
    /// Time of users that no request and no connecting explains.
    UsersOutside: LittlesLaw { outside_ratio: f64, unexplained_ratio: f64 }
    /// Stalls of the service that a closed model hides.
    StallsHidden: CoordinatedOmission {
        /// Slow: longer than this.
        slow_above_ns: u64,
        slow_count: u64,
        /// Share of the requests.
        slow_ratio: f64,
        /// Share of the users' time that they took.
        time_ratio: f64,
        longest_ns: u64,
        arrivals_p99_ns: u64,
        p99_ns: u64,
        /// Users of a script spend time outside of requests.
        is_scripted: bool,
    }

    // The samples.

    /// Answers that are all redirects.
    RedirectsOnly: RedirectsNotFollowed {
        redirects: Vec<StatusCount>,
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<String>,
        /// To another host, port or scheme.
        leads_elsewhere: bool,
    }
    /// Responses followed by extra bytes.
    UnexpectedBytes: UnexpectedBytes { responses_count: u64 }
    /// Percentiles of too few samples, the lowest first.
    ThinQuantiles: TooFewSamples {
        /// Of the first one.
        samples_count: u64,
        needed_count: u64,
        quantiles: Vec<ThinQuantile>,
    }
    /// Requests that were given up.
    TimedOut: CensoredByTimeouts {
        timeouts_count: u64,
        connecting_count: u64,
        timeouts_ratio: f64,
        after_ns: u64,
        /// The lowest printed quantile that is a lower bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        bounded_from: Option<f64>,
    }
    /// Requests without an answer at the stop.
    InFlightAtStop: CensoredAtEnd {
        unanswered_count: u64,
        /// Arrivals that had not been sent.
        unsent_count: u64,
        finished_count: u64,
        /// The lowest printed quantile that is a lower bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        bounded_from: Option<f64>,
    }
    /// A mean beyond the 95th percentile.
    MeanAboveP95: MeanAboveP95 { mean_ns: f64, is_lower_bound: bool, p95_ns: u64 }
    /// Retransmitted TCP segments.
    SegmentsResent: Retransmits {
        segments_count: u64,
        requests_count: u64,
        /// Segments for each request.
        resent_ratio: f64,
        is_same_machine: bool,
    }
    /// Reused connections that ended under a request.
    ConnectionsStale: StaleConnections {
        requests_count: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        idle_min_ns: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        idle_max_ns: Option<u64>,
        /// They had not been idle.
        is_in_use: bool,
    }

    // The course of the run.

    /// Medians of the first and of the last third.
    BacklogGrew: BacklogGrew {
        first_p50_ns: f64,
        last_p50_ns: f64,
        first_in_flight: f64,
        last_in_flight: f64,
    }
    /// A beginning at another level.
    LevelShift: UnsteadyStart {
        figure: LevelFigure,
        before_ns: f64,
        after_ns: f64,
        /// From the start of the run.
        changed_at_ns: u64,
        /// Closed model only.
        #[serde(skip_serializing_if = "Option::is_none")]
        rate_before_per_s: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rate_after_per_s: Option<f64>,
    }

    // The way to the service.

    /// Connections that took whole seconds longer than the fastest.
    ConnectionsLate: SynRetransmits {
        late_count: u64,
        connections_count: u64,
        late_ratio: f64,
        fastest_ns: u64,
        by_second: Vec<LateConnections>,
        resent_segments_count: u64,
    }
    /// Bytes that came evenly, while hardly anything else took time.
    NetworkSaturated: NetworkSaturated {
        /// Share of the requests' time after the first byte.
        body_ratio: f64,
        received_bytes_per_s: f64,
        /// How far the fifths of the run lie from their mean at most.
        uneven_ratio: f64,
        out_of_order_segments_count: u64,
    }
    /// A median request of about one round trip.
    RoundTrip: RttBound {
        request_p50_ns: u64,
        round_trip_ns: u64,
        users_count: u64,
        /// What these users can make at most.
        limit_per_s: f64,
    }
    /// Users that began at the same instant.
    UsersAtOnce: ThunderingHerd { users_count: u64, within_ns: u64, late_count: u64, connections_count: u64 }

    // Connections.

    /// A few connections with nearly all requests.
    ConnectionsUnfair: ConnectionsUnfair {
        few_count: u64,
        connections_count: u64,
        /// Share of the requests on those few.
        few_requests_ratio: f64,
        requests_p50_count: u64,
        /// Jain's; 1: all alike.
        fairness_index: f64,
    }
    /// Connections that the server closed after hardly any request.
    ConnectionsNotReused: ConnectionsNotReused {
        closed_count: u64,
        connections_count: u64,
        requests_mean: f64,
        making_ns: f64,
        /// Share of a connection's time for making it.
        making_ratio: f64,
    }
    /// Ports that closed connections hold for a minute.
    PortsHeld: LowEphemeralPorts {
        closed_per_s: f64,
        /// In a minute.
        held_count: f64,
        ports_count: u64,
        is_same_machine: bool,
    }

    // What was watched.

    /// Monitors that brought too little.
    MonitorsFailed: MonitorFailed { monitors: Vec<FailedMonitor>, more_count: u64 }
    /// Memory that grew, the fastest first.
    MemoryGrew: MemoryGrowth { memories: Vec<GrownMemory>, more_count: u64 }
    /// Listen backlogs that were too short.
    ListenersOverflowed: ListenQueueOverflow {
        listeners: Vec<ListenerOverflow>,
        more_count: u64,
        /// The run's own connections agree that it was their server.
        is_own_server: bool,
    }
    /// File descriptors of monitored processes.
    DescriptorsUsed: ProcessFdLimit { resources: Vec<DescriptorUse>, more_count: u64 }
    /// Control groups that were held back.
    GroupsThrottled: CpuThrottled { groups: Vec<ThrottledGroup>, more_count: u64 }

    // What users did.

    /// Requests whose answers changed.
    ResponsesChanged: ResponseChanged { changes: Vec<ChangedResponse>, more_count: u64 }
    /// Extracted rows that were not written.
    RowsLost: RowsNotWritten { rows_count: u64 }
    /// Look-ups of series beyond the limit.
    SeriesRefused: TooManySeries { lookups_count: u64, limit_count: u64 }
    /// Values that were not counted.
    ValuesRefused: ValuesRejected { values_count: u64 }
    /// Event streams among the responses.
    EventStreamsAsResponses: EventStreamsAsResponses { responses_count: u64, requests_count: u64 }
    /// Iterations that were left.
    IterationsAbandoned: IterationsAbandoned { iterations_count: u64, failed_requests_count: u64 }
    /// Users that ended.
    UsersOutOfData: DataExhausted { users_count: u64 }

    // The record.

    /// What the record does not hold.
    RecordIncomplete: IncompleteRecord {
        losses: Vec<RecordLoss>,
        more_count: u64,
        /// Only rows of the timeline: the totals are whole.
        is_in_totals: bool,
    }
    /// Agents whose results end before their load does.
    AgentsLost: IncompleteRecord {
        agents_count: u64,
        of_count: u64,
        /// Name of the one that was lost first.
        first: String,
        /// End of its results, since its start.
        recorded_ns: u64,
    }
    /// A run without a finished request.
    NothingMeasured: NoRequests {
        run: EmptyRun,
        measured_ns: u64,
        sent_count: u64,
        unanswered_count: u64,
    }
    /// Runs that were merged and are not of one experiment.
    PlansDiffer: MergedTargetsDiffer {
        differences: Vec<PlanDifference>,
        /// Into how many parts the shares divide the load, where they disagree.
        divisions: Vec<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        repeated_share: Option<Share>,
    }
    /// Runs that were merged and were not at the same time.
    RunsApart: MergedRunsNotConcurrent { shared_ns: u64, shortest_ns: u64, longest_ns: u64 }
    /// The length of the measured part.
    ShortRun: ShortRun { measured_ns: u64 }
    /// Manual changes of the load.
    LoadSteered: LoadChangedManually { steps: Vec<SteeredStep>, more_count: u64 }
    /// When the run was stopped.
    StoppedEarly: StoppedEarly {
        elapsed_ns: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        planned_ns: Option<u64>,
        stopped_by: StopCause,
        /// What the control noted.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    // Doubts about the figure of a threshold.

    /// No figure at all.
    FigureMissing: TooFewSamples {
        /// What is compared: `response_time{request: login} p99`.
        subject: String,
    }
    /// Requests that were given up, so that their times are lower bounds.
    TimesCutOff: CensoredByTimeouts { requests_count: u64 }
    /// Requests in flight at the end, so that their times are lower bounds.
    TimesUnfinished: CensoredAtEnd { requests_count: u64 }
    /// Where the sample puts a quantile of times.
    TimeInterval: TooFewSamples { samples_count: u64, quantile: f64, low_ns: u64, high_ns: u64 }
    /// Where the sample puts a quantile of a user-defined metric, in its unit.
    ValueInterval: TooFewSamples { samples_count: u64, quantile: f64, low: f64, high: f64 }
    /// A sample that does not bound a quantile from above.
    NoInterval: TooFewSamples { samples_count: u64, quantile: f64, needed_count: u64 }
    /// What the delay of sends may have added.
    SendsDelayed: LateSends { schedule_lag_p99_ns: u64, schedule_lag_max_ns: u64 }
    /// What stalls of the load generator may have added.
    GeneratorStalled: ClientStalled { stalls_count: u64, stalled_ratio: f64 }
    /// What waiting for a CPU may have added.
    GeneratorQueued: ClientCpuWait { cpu_wait_ratio: f64 }
    /// The part of the run that is not recorded.
    PartMissing: IncompleteRecord { missing_ratio: f64 }
    /// Attempts that failed on this side, and are in no figure.
    AttemptsLost: Kind of shortage { shortage: Shortage, attempts_count: u64 }
    /// The part of the load that was not sent.
    LoadReduced: Kind of loss { loss: LoadLoss, unsent_ratio: f64 }
    /// Arrivals that were not sent, too few to reduce the load.
    SomeArrivalsUnsent: OfferedRateMissed { unsent_count: u64 }
    /// Timeouts during stalls of the load generator.
    TimeoutsInStalls: ClientStalled { timeouts_count: u64 }
    /// Requests in flight at the end, as many as in a service that keeps up.
    RequestsYoung: CensoredAtEnd { requests_count: u64 }
}
