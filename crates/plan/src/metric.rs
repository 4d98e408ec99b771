//! The tables of metrics: IDs on the hot path, names and units here.
//!
//! A new metric is one row below and the line in the engine that counts it. New IDs are appended and never renumbered,
//! because run files store numbers by ID.

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
            /// Number of cells in a tally: one more than the highest ID.
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
            /// One line of help, with the unit.
            pub const fn help(self) -> &'static str { match self { $($name::$variant => $help,)* } }
            /// The cell of a tally.
            pub const fn id(self) -> usize { self as usize }
        }
    };
}

ids! {
    /// Sums of the whole run (per worker and tick, added up).
    RunSum {
        Arrivals = "arrivals", "arrivals that came due (open model)";
        ArrivalsQueued = "arrivals_queued", "arrivals that waited for a free connection, from their intended start";
        ArrivalsNotStarted = "arrivals_not_started",
            "dropped arrivals, and arrivals or requests of users that still waited for a connection at the end";
        InFlightAtEnd = "in_flight_at_end", "requests in flight at the end";
        Iterations = "iterations", "completed iterations";
        ConnAttempts = "connection_attempts", "attempts to open a connection";
        ConnOpened = "connections_opened", "connections opened";
        ConnReusedRequests = "requests_on_reused_connections", "requests sent on a reused connection";
        ClosedByServer = "closed_by_server", "connections that the server closed, or asked to close";
        ClosedByClient = "closed_by_client",
            "connections that the load generator closed, or asked to close, as planned";
        ClosedAfterError = "closed_after_error", "connections closed after an error";
        OpenAtEnd = "open_at_end", "connections open at the end";
        Retransmits = "retransmits", "TCP segments that the load generator retransmitted, SYNs included";
        BusyNs = "busy_ns", "CPU time of the worker without busy-polling, ns";
        BusyPollNs = "busy_poll_ns", "time spent busy-polling before a send, ns";
        IdleNs = "idle_ns", "time asleep in the kernel, ns";
        CpuWaitNs = "cpu_wait_ns", "time runnable without a CPU (another process or the hypervisor had it), ns";
        WallNs = "wall_ns", "wall-clock length of the tick, ns";
        LoopIterations = "loop_iterations", "event-loop iterations";
        InFlightNs = "in_flight_ns", "requests in flight, integrated over time, ns";
        UsersNs = "users_ns", "active users, integrated over time, ns";
        StealNs = "steal_ns", "CPU time that the hypervisor took from the load generator's machine, all CPUs, ns";
        HostBusyNs = "host_busy_ns", "CPU time used by all processes of the load generator's machine, all CPUs, ns";
        IntervalsLate = "intervals_late", "intervals that a worker reported more than 100 ms late";
        UnexpectedBytes = "responses_with_unexpected_bytes",
            "responses followed by bytes that no request asked for; the connection is closed";
        Stalls = "stalls", "stalls of a worker, each longer than 100 ms";
        StalledNs = "stalled_ns", "length of these stalls (a stopped process, or a hypervisor that took the CPU), ns";
        ArrivalsUnprocessed = "arrivals_unprocessed",
            "arrivals that came due before the end and that the load generator never reached; not started";
        Handshakes = "tls_handshakes", "completed TLS handshakes";
        HandshakesResumed = "tls_handshakes_resumed", "TLS handshakes that resumed an earlier session";
        IterationsAbandoned = "iterations_abandoned",
            "iterations that ended early: a request failed, or a value they needed was never extracted";
        UsersOutOfData = "users_out_of_data", "users that ended because their data ran out";
        RowsNotWritten = "rows_not_written", "rows that could not be written to a file of extracted values";
        IterationsInterrupted = "iterations_interrupted", "iterations that the end of the run interrupted";
        RedirectsCrossHost = "redirects_cross_host", "redirects to another host, which are not followed";
        ArrivalsCompleted = "arrivals_completed", "arrivals whose iteration completed";
        SegmentsOutOfOrder = "segments_out_of_order",
            "TCP data segments received out of order, as after a loss; counted when a connection closes";
        UsersActive = "users_active", "users that started at least one iteration (closed model); counted at the end";
        UsersWithoutSuccess = "users_without_success",
            "active users without one successful request in the whole run; counted at the end";
        SeriesRejected = "series_rejected", "lookups of series beyond the limit `open_series`";
        ValuesRejected = "values_rejected",
            "values of user-defined metrics that were not counted: not a number, or negative where that has no meaning";
        GoAways = "goaways", "HTTP/2 connections that the server asked to stop using (GOAWAY)";
        RequestsUnprocessed = "requests_unprocessed",
            "HTTP/2 requests that the server did not process (GOAWAY, REFUSED_STREAM) and that were retried";
        StreamsReset = "http2_streams_reset",
            "HTTP/2 streams that the load generator reset, for example after a timeout";
        StreamWaits = "requests_limited_by_streams",
            "HTTP/2 requests that waited because the server allows fewer streams on a connection than `streams`";
        DnsQueued = "dns_lookups_queued", "lookups that waited for a thread of the resolver";
        RequestsContinued = "requests_continued",
            "requests with `Expect: 100-continue` whose body was sent after `100 Continue`";
        RequestsNotContinued = "requests_sent_without_continue",
            "requests with `Expect: 100-continue` whose body was sent after the wait, without `100 Continue`";
        RequestsRefusedEarly = "requests_refused_before_body",
            "requests with `Expect: 100-continue` that got a final response, so their body was not sent";
        IterationsDropped = "iterations_dropped",
            "iterations that never started: arrivals without a free user, and the rest of a number of iterations";
        IterationsFailed = "iterations_failed", "completed iterations of users as code that threw an exception";
        ArrivalUsers = "arrival_users",
            "users that exist for arrivals, which are dropped if no user is free; at the end of each interval";
        ArrivalUsersBusy = "arrival_users_busy", "of these, the users in an iteration";
        EventStreamsAsResponses = "event_streams_as_responses",
            "event streams that a script received as responses, so that only their lengths were measured";
    }
}

ids! {
    /// Highest values.
    RunPeak {
        InFlight = "in_flight_max", "peak of requests in flight in one worker";
        ArrivalsQueued = "arrivals_queued_max", "peak of arrivals that waited for a connection in one worker";
        Connections = "connections_max", "peak of open connections in one worker";
        LoopTimeNs = "loop_time_max_ns", "longest event-loop iteration, ns";
        Streams = "streams_max", "peak of open streams in one worker";
    }
}

ids! {
    /// Lowest values.
    RunFloor {
        RttNs = "rtt_min_ns", "lowest round-trip time that the kernel measured, ns";
        ConnectNs = "connect_min_ns", "fastest TCP connect, ns";
    }
}

ids! {
    /// Histograms of the whole run, in ns unless noted.
    RunHist {
        ScheduleLag = "schedule_lag",
            "schedule lag: the delay of a send after its intended start time that the load generator caused, ns";
        ConnWait = "connection_wait", "time that an arrival waited for a free connection, ns (only those that waited)";
        Connect = "connect", "TCP connect, ns";
        Rtt = "rtt", "smoothed round-trip time of each connection, ns";
        ConnRequests = "requests_per_connection", "requests on each closed connection";
        LoopTime = "loop_time", "length of an event-loop iteration: the bound of the timestamp error, ns";
        SendBlocked = "send_blocked",
            "time until the kernel took the last byte of a request that did not fit into the send buffer, ns";
        IdleBeforeClose = "idle_before_close", "idle time of a reused connection that turned out to be closed, ns";
        Handshake = "tls_handshake", "TLS handshake, from the TCP connection to the first byte that may be sent, ns";
        WaitByResponse = "wait_by_response_time",
            "by response time (ns): sums of the time from the intended start to the send, in units of 64 ns";
        FirstByteByResponse = "time_to_first_byte_by_response_time",
            "by response time (ns): sums of the time to first byte, in units of 64 ns";
        BodyByResponse = "download_by_response_time",
            "by response time (ns): sums of the time from the first byte to the last, in units of 64 ns";
        ServiceStall = "service_stall",
            "stall: time in which all users of a worker, or five arrivals, waited and no response came; from 10 ms, ns";
        Dns = "dns", "lookup of the host for a connection (`dns: each_connection`), ns";
    }
}

/// Unit of the weights of [`RunHist::WaitByResponse`] and similar histograms, ns. A count holds 2^63 units, the time of
/// 200,000 concurrent requests over more than a month. Rounding changes a phase of 4 us by less than 1%, and a sum of
/// many phases by far less.
pub const PHASE_UNIT_NS: u64 = 64;

ids! {
    /// Sums of requests, one series per request name. Faults and status codes follow, and those of [`StreamSum`] are in
    /// between, where files of all versions have them.
    SeriesSum: SumCell {
        Sent = "requests_sent", "requests sent";
        Finished = "requests_completed", "requests that ended in a response, or in a fault of the network or server";
        Failed = "requests_failed", "completed requests that failed";
        BytesIn = "bytes_in", "bytes received, heads included";
        BytesOut = "bytes_out", "bytes sent, heads included";
        BodyBytes = "body_bytes", "bytes of response bodies after de-chunking";
        Redirects = "redirects", "requests sent to follow a redirect";
        ShapeChanges = "shape_changes", "responses with another shape than the response examined before";
        Ended @ 19 = "requests_ended", "requests that ended with or without a response; all others sent are in flight";
    }
}

ids! {
    /// Sums of streams, in addition to those of requests.
    StreamSum: SumCell {
        Streams @ 8 = "streams", "streams opened: a head with an expected status was received";
        ClosedByServer = "streams_closed_by_server", "streams that the server ended";
        ClosedByClient = "streams_closed_by_client", "streams that the load generator ended as planned";
        OpenAtEnd = "streams_open_at_end", "streams open at the end";
        Reconnects = "reconnects", "streams reopened after the server ended them";
        Events = "events", "events received";
        EventsExpected = "events_expected",
            "events that should have been received, by their numbers or by their period";
        EventsLost = "events_lost", "events whose number was skipped and never received";
        EventsDuplicated = "events_duplicated", "events whose number was received before";
        EventsOutOfOrder = "events_out_of_order", "events received after a later one";
        EventsUnnumbered = "events_unnumbered", "events without a number";
    }
}

ids! {
    /// Sums of WebSockets, in addition to those of requests and streams, whose events are the received messages. Other
    /// families with more cells than streams may have those before them.
    WebSocketSum: SumCell {
        MessagesSent @ 640 = "messages_sent", "messages sent";
        MessagesUnanswered = "messages_unanswered",
            "messages sent whose response was not received before the socket closed";
        ResponsesUnmatched = "responses_unmatched",
            "messages received whose ID is not that of a message without a response";
        PingsReceived = "pings_received", "pings received, each answered with a pong";
        PongsReceived = "pongs_received", "pongs received";
        Normal = "closed_by_server_1000", "sockets that the server closed with code 1000 (normal closure)";
        GoingAway = "closed_by_server_1001", "sockets that the server closed with code 1001 (going away)";
        ProtocolError = "closed_by_server_1002", "sockets that the server closed with code 1002 (protocol error)";
        UnsupportedData = "closed_by_server_1003", "sockets that the server closed with code 1003 (unsupported data)";
        NoCode = "closed_by_server_1005", "sockets that the server closed without a code";
        Abnormal = "closed_by_server_1006", "sockets whose connection ended without a close frame";
        InvalidData = "closed_by_server_1007", "sockets that the server closed with code 1007 (invalid data)";
        PolicyViolation = "closed_by_server_1008", "sockets that the server closed with code 1008 (policy violation)";
        TooLarge = "closed_by_server_1009", "sockets that the server closed with code 1009 (message too large)";
        MissingExtension = "closed_by_server_1010",
            "sockets that the server closed with code 1010 (missing extension)";
        InternalError = "closed_by_server_1011", "sockets that the server closed with code 1011 (internal error)";
        ServiceRestart = "closed_by_server_1012", "sockets that the server closed with code 1012 (service restart)";
        TryAgainLater = "closed_by_server_1013", "sockets that the server closed with code 1013 (try again later)";
        BadGateway = "closed_by_server_1014", "sockets that the server closed with code 1014 (bad gateway)";
        Registered = "closed_by_server_3xxx", "sockets that the server closed with a code from 3000 to 3999";
        Application = "closed_by_server_4xxx", "sockets that the server closed with a code from 4000 to 4999";
        PingsSent = "pings_sent", "pings sent";
    }
}

impl WebSocketSum {
    /// The codes of sockets that the server closed, as reports show them, and their cells.
    pub const CLOSE_CODES: [(&'static str, WebSocketSum); 16] = [
        ("1000", WebSocketSum::Normal),
        ("1001", WebSocketSum::GoingAway),
        ("1002", WebSocketSum::ProtocolError),
        ("1003", WebSocketSum::UnsupportedData),
        ("1005", WebSocketSum::NoCode),
        ("1006", WebSocketSum::Abnormal),
        ("1007", WebSocketSum::InvalidData),
        ("1008", WebSocketSum::PolicyViolation),
        ("1009", WebSocketSum::TooLarge),
        ("1010", WebSocketSum::MissingExtension),
        ("1011", WebSocketSum::InternalError),
        ("1012", WebSocketSum::ServiceRestart),
        ("1013", WebSocketSum::TryAgainLater),
        ("1014", WebSocketSum::BadGateway),
        ("3xxx", WebSocketSum::Registered),
        ("4xxx", WebSocketSum::Application),
    ];

    /// Returns the cell of a close code. A code that must not be sent never reaches a count.
    pub const fn of_close(code: u16) -> WebSocketSum {
        match code {
            1000 => WebSocketSum::Normal,
            1001 => WebSocketSum::GoingAway,
            1002 => WebSocketSum::ProtocolError,
            1003 => WebSocketSum::UnsupportedData,
            1005 => WebSocketSum::NoCode,
            1007 => WebSocketSum::InvalidData,
            1008 => WebSocketSum::PolicyViolation,
            1009 => WebSocketSum::TooLarge,
            1010 => WebSocketSum::MissingExtension,
            1011 => WebSocketSum::InternalError,
            1012 => WebSocketSum::ServiceRestart,
            1013 => WebSocketSum::TryAgainLater,
            1014 => WebSocketSum::BadGateway,
            3000..=3999 => WebSocketSum::Registered,
            4000..=4999 => WebSocketSum::Application,
            _ => WebSocketSum::Abnormal,
        }
    }
}

ids! {
    /// Sums of a check.
    CheckSum: SumCell {
        Made @ 1 = "checks", "evaluations of the check";
        Failed @ 2 = "checks_failed", "evaluations that failed";
    }
}

ids! {
    /// Sums of a group.
    GroupSum: SumCell {
        Passages @ 1 = "groups_completed", "passes through the group, from its first step to its last";
    }
}

/// First fault cell of a series tally. The cells before it are for current and future sums, so that IDs in old files
/// stay valid.
pub const FAULT_BASE: usize = 32;
/// First status cell of a series tally, with space for the first faults before it.
pub const STATUS_BASE: usize = FAULT_BASE + FIRST_FAULTS;
/// Number of faults whose cells are before those of status codes; the cells of the others are after them.
const FIRST_FAULTS: usize = 32;
const _: () = assert!(StreamSum::COUNT <= SeriesSum::COUNT && SeriesSum::COUNT <= FAULT_BASE);
/// Status codes 100–599; all others go into the last cell (index 500).
pub const STATUS_CELLS: usize = 501;

/// Returns the cell of a status code.
pub const fn status_id(status: u16) -> usize {
    if status >= 100 && status <= 599 { STATUS_BASE + (status as usize - 100) } else { STATUS_BASE + 500 }
}

/// Returns the cell of a fault.
pub const fn fault_id(fault: Fault) -> usize {
    let number = fault as usize;
    if number < FIRST_FAULTS {
        FAULT_BASE + number
    } else {
        STATUS_BASE + STATUS_CELLS + (number - FIRST_FAULTS)
    }
}

ids! {
    /// Highest values per series.
    SeriesPeak {
        LastSuccess = "last_success_ns",
            "time of the last success (a request, a stream's head, or an event), ns from the start";
        LastFailure = "last_failure_ns", "time of the last failure of the network or server, ns from the start";
    }
}

ids! {
    /// Lowest values per series.
    SeriesFloor {
        FirstSuccess = "first_success_ns", "time of the first success, ns from the start";
        FirstFailure = "first_failure_ns", "time of the first failure of the network or server, ns from the start";
    }
}

/// Sums of a request.
pub const SERIES_SUMS: usize = STATUS_BASE + STATUS_CELLS + Fault::COUNT.saturating_sub(FIRST_FAULTS);

ids! {
    /// Histograms of requests, ns. Completed requests are in `Response` and `Service`. Timeouts are in
    /// `ResponseCensored` and `ServiceCensored` instead, because their true times are longer and unknown.
    SeriesHist: HistCell {
        Response = "response_time", "from the intended start to the last byte, ns";
        Service = "service_time", "from the send to the last byte, ns";
        FirstByte = "time_to_first_byte", "from the send to the first byte of the response (TTFB), ns";
        Body = "download", "from the first byte of the response to the last, ns";
        ResponseCensored = "response_time_censored", "lower bounds of the response times of timeouts, ns";
        ServiceCensored = "service_time_censored", "lower bounds of the service times of timeouts, ns";
        BodySize = "body_size", "bytes of each response body";
        FailedService = "failed_service_time", "from the send to the failure of requests without a response, ns";
    }
}

ids! {
    /// Histograms of streams, in addition to those of requests, ns.
    StreamHist: HistCell {
        StreamHead @ 8 = "stream_head", "from the send to the head of a stream, ns";
        FirstEvent = "first_event", "from the send to the first event of a stream, ns";
        EventGap = "event_gap", "between two events of a stream, ns";
        EventAge = "event_age", "from the timestamp in an event to its receipt, by both clocks, ns";
        StreamLife = "stream_duration", "length of each stream that ended, ns";
        StreamEvents = "events_per_stream", "events of each stream that ended or was open at the end";
    }
}

ids! {
    /// Histograms of WebSockets, in addition to those of requests and streams, ns.
    WebSocketHist: HistCell {
        RoundTrip @ 24 = "message_round_trip", "from sending a message to receiving the response to it, ns";
        MessageSize = "message_size", "bytes of each received message";
        PingRoundTrip = "ping_round_trip", "from sending a ping to receiving its pong, ns";
    }
}

ids! {
    /// Histograms of a group, ns.
    GroupHist: HistCell {
        Time = "response_time", "one pass through the group, pauses included, ns";
    }
}

ids! {
    /// Sums of a user-defined counter.
    CounterSum: SumCell {
        Whole = "whole", "the integer part of the sum";
        Billionths = "billionths", "the fraction of the sum, in billionths";
    }
}

ids! {
    /// Sums of a user-defined gauge.
    GaugeSum: SumCell {
        Values = "values", "values set";
    }
}

ids! {
    /// Highest values of a user-defined gauge.
    GaugePeak {
        Max = "max", "highest value, as bits in ascending order";
    }
}

ids! {
    /// Lowest values of a user-defined gauge.
    GaugeFloor {
        Min = "min", "lowest value, as bits in ascending order";
    }
}

ids! {
    /// Last values of a user-defined gauge.
    GaugeLast {
        Last = "last", "last value, as bits in ascending order, and when it was set: ns since 1970";
    }
}

ids! {
    /// Sums of a user-defined rate.
    RateSum: SumCell {
        Values = "values", "values";
        True = "values_true", "values that were true";
    }
}

ids! {
    /// Histograms of a user-defined trend.
    TrendHist: HistCell {
        Values = "values", "values, in thousandths";
    }
}
