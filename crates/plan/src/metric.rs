//! The table of what is counted: ids on the hot path, names and units here.
//!
//! A new metric is one row below and the line in the engine that counts it. Ids are appended, never renumbered:
//! run files hold numbers by id.

use crate::fault::Fault;

/// A row of a table of sums.
pub trait SumCell: Copy {
    fn cell(self) -> usize;
}

/// A row of a table of histograms.
pub trait HistCell: Copy {
    fn cell(self) -> usize;
}

macro_rules! ids {
    ($(#[$meta:meta])* $name:ident: $kind:ident {
        $($variant:ident $(@ $cell:literal)? = $text:literal, $help:literal;)*
    }) => {
        impl $kind for $name {
            fn cell(self) -> usize { self as usize }
        }
        ids! { $(#[$meta])* $name { $($variant $(@ $cell)? = $text, $help;)* } }
    };
    ($(#[$meta:meta])* $name:ident { $($variant:ident $(@ $cell:literal)? = $text:literal, $help:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum $name { $(#[doc = $help] $variant $(= $cell)?,)* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            /// Cells that a tally needs for them: one more than the highest id.
            pub const COUNT: usize = {
                let (mut at, mut most) = (0, 0);
                while at < Self::ALL.len() {
                    let next = Self::ALL[at] as usize + 1;
                    most = if next > most { next } else { most };
                    at += 1;
                }
                most
            };
            /// The stable name.
            pub const fn name(self) -> &'static str { match self { $($name::$variant => $text,)* } }
            /// One line of help with its unit.
            pub const fn help(self) -> &'static str { match self { $($name::$variant => $help,)* } }
            /// The cell of a tally.
            pub const fn id(self) -> usize { self as usize }
        }
    };
}

ids! {
    /// Sums for the run as a whole (per worker and tick, added up).
    RunSum {
        Arrivals = "arrivals", "arrivals that came due (open model)";
        Starved = "starved", "arrivals that found no free connection and waited with their stamp";
        NeverStarted = "never_started", "arrivals, or requests of users, still waiting for a connection at the stop";
        InFlightAtStop = "in_flight_at_end", "requests sent and not answered at the stop";
        Iterations = "iterations", "iterations finished";
        ConnAttempts = "connection_attempts", "connections tried";
        ConnOpened = "connections_opened", "connections that were established";
        ConnReusedRequests = "requests_on_reused_connections",
            "requests sent on a connection that had served one before";
        ClosedByServer = "closed_by_server", "connections that the server closed or asked to close";
        ClosedByUs = "closed_by_us", "connections that the load generator closed, or asked to be closed, as planned";
        ClosedByFault = "closed_by_fault", "connections given up after a failure";
        OpenAtStop = "open_at_end", "connections still open at the stop";
        Retransmits = "retransmits", "TCP segments sent again by this machine, SYNs included";
        BusyNs = "busy_ns", "CPU time of the worker outside spinning, ns";
        SpinNs = "spin_ns", "time spent polling for a due instant, ns";
        SleepNs = "sleep_ns", "time asleep waiting for the kernel, ns";
        RunQueueNs = "run_queue_ns", "time runnable but without a CPU (another process or the host had it), ns";
        WallNs = "wall_ns", "length of the tick for this worker, ns";
        Turns = "turns", "turns of the event loop";
        InFlightNs = "in_flight_ns", "requests in flight, integrated over time, ns";
        UsersNs = "users_ns", "active users, integrated over time, ns";
        StealNs = "steal_ns", "CPU time the host took from this machine, all CPUs, ns";
        HostBusyNs = "host_busy_ns", "CPU time used on this machine by everybody, all CPUs, ns";
        LateTicks = "late_ticks", "ticks handed over more than 100 ms late";
        Surplus = "surplus_answers", "answers followed by bytes that nobody asked for; the connection was closed";
        Stalls = "stalls", "times a worker stood still for more than 100 ms without having meant to sleep";
        StalledNs = "stalled_ns", "length of those, ns: a stopped process, or a host that took the CPU";
        Overlooked = "overlooked",
            "arrivals that came due before the stop and that this machine had not looked at by then; never started";
        Handshakes = "tls_handshakes", "TLS handshakes finished";
        HandshakesResumed = "tls_handshakes_resumed", "of those, the ones that resumed an earlier session";
        Abandoned = "iterations_abandoned",
            "iterations left in the middle: a failure, or a value that they needed was never extracted";
        Retired = "users_retired", "users that ended because their data ran out";
        NotAppended = "rows_not_appended", "rows that could not be written to a file of extracted values";
        CutAtStop = "iterations_cut", "iterations that the stop cut off in the middle";
        RedirectsElsewhere = "redirects_elsewhere", "redirects to another host, which were not followed";
        OpenArrivalsDone = "arrivals_done", "iterations finished of those that arrivals started";
        Disordered = "segments_disordered",
            "data segments that came out of their order, as they do behind a loss; counted when a connection closes";
        UsersActive = "users_active", "users that started at least one iteration (closed model); counted at the end";
        UsersWithoutSuccess = "users_without_success",
            "of those, users without one successful request in the whole run; counted at the end";
        SeriesRefused = "series_refused",
            "times that a program wanted to count under labels of its own and found no series left, see `open_series`";
        ValuesRefused = "values_refused",
            "values of user-defined metrics that were not counted: no number, or negative where that has no meaning";
    }
}

ids! {
    /// Highest values.
    RunPeak {
        InFlight = "in_flight_max", "most requests in flight at once in one worker";
        Waiting = "waiting_max", "most arrivals waiting for a connection in one worker";
        Connections = "connections_max", "most connections open at once in one worker";
        TurnNs = "turn_max_ns", "longest turn of the event loop, ns";
        Streams = "streams_max", "most streams open at once in one worker";
    }
}

ids! {
    /// Lowest values.
    RunFloor {
        RttNs = "rtt_floor_ns", "lowest round-trip time that the kernel saw, ns";
        ConnectNs = "connect_floor_ns", "fastest connection, ns";
    }
}

ids! {
    /// Histograms for the run as a whole, ns unless said otherwise.
    RunHist {
        Lateness = "lateness", "actual send minus the instant at which it could and should have been sent, ns";
        ConnWait = "connection_wait", "wait of an arrival for a free connection, ns (only those that waited)";
        Connect = "connect", "TCP connection set-up, ns";
        Rtt = "rtt", "smoothed round-trip time of each connection, ns";
        ConnRequests = "requests_per_connection", "requests that a closed connection had served";
        Turn = "turn", "length of a turn of the event loop: the bound on every timestamp's error, ns";
        SendStall = "send_stall", "time until the kernel took the last byte of a request that did not fit at once, ns";
        Stale = "stale_after", "idle time of a reused connection at the moment it turned out to be closed, ns";
        Handshake = "tls_handshake", "TLS handshake, from the connection to the first byte that may be sent, ns";
        WaitByResponse = "wait_by_response",
            "by response time (ns): sums of the time from the intended instant to the send, in units of 64 ns";
        FirstByteByResponse = "first_byte_by_response",
            "by response time (ns): sums of the time from the send to the first byte, in units of 64 ns";
        BodyByResponse = "body_by_response",
            "by response time (ns): sums of the time from the first byte to the last, in units of 64 ns";
        Silence = "silence",
            "time in which all users of a worker, or five arrivals, waited and no answer came; from 10 ms, ns";
    }
}

/// Unit of the weights of [`RunHist::WaitByResponse`] and its likes, ns. Counts hold 2^63 of them, the time of 200,000
/// requests at once for a month and more; rounded to the nearest, a phase of 4 us is off by less than 1%, and a sum of
/// many by far less.
pub const PHASE_UNIT_NS: u64 = 64;

ids! {
    /// Sums of requests, one series for each named one; faults and status codes follow behind these, and
    /// between them lie those of [`StreamSum`], where files of all versions have them.
    SeriesSum: SumCell {
        Sent = "sent", "requests sent";
        Finished = "finished", "requests that ended, in an answer or in a fault of the network or server";
        Failed = "failed", "finished requests that failed";
        BytesIn = "bytes_in", "bytes received, heads included";
        BytesOut = "bytes_out", "bytes sent, heads included";
        BodyBytes = "body_bytes", "bytes of response bodies after de-chunking";
        Redirects = "redirects", "of the requests sent, those that followed a redirect";
        ShapeChanges = "shape_changes", "answers whose shape differed from that of the answer looked at before";
        Ended @ 19 = "ended", "requests sent that have ended, with or without a response; the others are in flight";
    }
}

ids! {
    /// Sums that streams have besides those of requests.
    StreamSum: SumCell {
        Streams @ 8 = "streams", "streams opened (a head with an accepted status came)";
        StreamsByServer = "streams_closed_by_server", "streams that the server ended";
        StreamsByUs = "streams_closed_by_us", "streams that the load generator ended as planned";
        StreamsOpenAtStop = "streams_open_at_stop", "streams still open at the stop";
        Reconnects = "reconnects", "streams opened again behind an end by the server";
        Events = "events", "events received";
        EventsExpected = "events_expected", "events that should have come, by their numbers or by the stated period";
        EventsLost = "events_lost", "numbers that were skipped and never came";
        EventsRepeated = "events_repeated", "events whose number had come before";
        EventsDisordered = "events_disordered", "events that came behind a later one";
        EventsUnnumbered = "events_unnumbered", "events in which no number was found";
    }
}

ids! {
    /// Sums of a check.
    CheckSum: SumCell {
        Made @ 1 = "finished", "times that the check was made";
        Failed @ 2 = "failed", "of those, the times that it did not hold";
    }
}

ids! {
    /// Sums of a group.
    GroupSum: SumCell {
        Passages @ 1 = "finished", "passages through the group, from its first step to its last";
    }
}

/// First fault cell of a series tally; the cells below are for sums, those in use and those to come, so that ids in old
/// files stay valid.
pub const FAULT_BASE: usize = 32;
/// First status cell of a series tally; there is room for 32 faults before it.
pub const STATUS_BASE: usize = 64;
const _: () = assert!(
    StreamSum::COUNT <= SeriesSum::COUNT
        && SeriesSum::COUNT <= FAULT_BASE
        && Fault::COUNT <= STATUS_BASE - FAULT_BASE
);
/// Status codes 100..=599; anything else a server invents goes into the last cell (index 500).
pub const STATUS_CELLS: usize = 501;

/// Cell of a status code.
pub const fn status_id(status: u16) -> usize {
    if status >= 100 && status <= 599 { STATUS_BASE + (status as usize - 100) } else { STATUS_BASE + 500 }
}

/// Cell of a fault.
pub const fn fault_id(fault: Fault) -> usize {
    FAULT_BASE + fault as usize
}

ids! {
    /// Highest values per series.
    SeriesPeak {
        LastSuccess = "last_success",
            "instant of the last success (a request, a stream's head or an event), ns from the start";
        LastFailure = "last_failure",
            "instant of the last failure on the network's or server's side, ns from the start";
    }
}

ids! {
    /// Lowest values per series.
    SeriesFloor {
        FirstSuccess = "first_success",
            "instant of the first success, ns from the start";
        FirstFailure = "first_failure",
            "instant of the first failure on the network's or server's side, ns from the start";
    }
}

/// Sums of a request.
pub const SERIES_SUMS: usize = STATUS_BASE + STATUS_CELLS;

ids! {
    /// Histograms of requests, ns. Every finished request is in `Response` and `Service`; time-outs are in
    /// `ResponseCensored`/`ServiceCensored` instead, because their true time is only known to be longer.
    SeriesHist: HistCell {
        Response = "response_time", "from the intended instant to the last byte, ns";
        Service = "service_time", "from the send to the last byte, ns";
        FirstByte = "first_byte", "from the send to the first byte of the answer, ns";
        Body = "body", "from the first byte to the last, ns";
        ResponseCensored = "response_time_censored", "lower bounds of response times that were cut off, ns";
        ServiceCensored = "service_time_censored", "lower bounds of service times that were cut off, ns";
        BodySize = "body_size", "bytes of each response body";
        FailedService = "failed_service_time", "from the send to the failure of requests that got no answer, ns";
    }
}

ids! {
    /// Histograms that streams have besides those of requests, ns.
    StreamHist: HistCell {
        StreamHead @ 8 = "stream_head", "from the send to the head of a stream, ns";
        FirstEvent = "first_event", "from the send to the first event of a stream, ns";
        EventGap = "event_gap", "between two events of a stream, ns";
        EventAge = "event_age", "from the instant an event says it was made to its arrival, by both clocks, ns";
        StreamLife = "stream_life", "length of each stream that ended, ns";
        StreamEvents = "stream_events", "events of each stream that ended or was open at the stop";
    }
}

ids! {
    /// Histograms of a group, ns.
    GroupHist: HistCell {
        Time = "response_time", "a passage as a whole, from its begin to its end, pauses included, ns";
    }
}

ids! {
    /// Sums of a user-defined counter.
    CounterSum: SumCell {
        Whole = "whole", "what was added, whole numbers";
        Billionths = "billionths", "what was added behind the point, in billionths";
    }
}

ids! {
    /// Sums of a user-defined gauge.
    GaugeSum: SumCell {
        Values = "values", "how often it was set";
    }
}

ids! {
    /// Highest values of a user-defined gauge.
    GaugePeak {
        Max = "max", "the greatest value, as bits that rise with it";
    }
}

ids! {
    /// Lowest values of a user-defined gauge.
    GaugeFloor {
        Min = "min", "the least value, as bits that rise with it";
    }
}

ids! {
    /// Last values of a user-defined gauge.
    GaugeLast {
        Last = "last", "the latest value, as bits that rise with it, and when it was set: ns since 1970";
    }
}

ids! {
    /// Sums of a user-defined rate.
    RateSum: SumCell {
        Values = "values", "values";
        True = "true", "of those, the ones that were true";
    }
}

ids! {
    /// Histograms of a user-defined trend.
    TrendHist: HistCell {
        Values = "values", "values, in thousandths";
    }
}
