//! Thresholds: conditions that a run must meet, such as `response_time{request: login} p99 < 250ms over 10s`. The
//! grammar is in `read`, and scopes are in `scope`.

mod read;
mod scope;

pub use read::{parse, parse_with_metrics};
pub use scope::{Scope, check_scopes};

use crate::outline::{RequestOutline, TICK_NS};
use crate::series::{self, Family};
use serde::{Deserialize, Serialize};

/// Longest window of `over`: the sliding window keeps a histogram in memory for each of its seconds.
pub const OVER_MAX_NS: u64 = 600 * TICK_NS;

/// Shortest outage: within a shorter time, requests fail or wait by chance, and a service with few requests has pauses.
pub const OUTAGE_LEAST_NS: u64 = 1_000_000_000;

/// The unit of a threshold's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    Nanoseconds,
    Ratio,
    PerSecond,
    Count,
    /// A number of a user-defined metric, in the user's unit.
    Number,
}

/// The metric of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Times, in ns.
    ResponseTime,
    ServiceTime,
    FirstByte,
    /// Time of a complete pass through one group, `{group: G}`, including pauses, in ns. A pass that ends early is not
    /// a sample.
    GroupTime,
    /// Failed requests / completed requests, a ratio.
    ErrorRate,
    /// Achieved rate / offered rate of the open model, a ratio.
    Achieved,
    /// Completed requests per second.
    Throughput,
    /// Completed requests.
    Requests,
    /// Times of connections, in ns.
    Connect,
    TlsHandshake,
    /// Times of streams, in ns.
    StreamHead,
    FirstEvent,
    EventGap,
    EventAge,
    /// Times of WebSockets, in ns.
    #[serde(rename = "websocket_handshake")]
    WebSocketHandshake,
    MessageRoundTrip,
    MessageGap,
    MessageAge,
    /// Passed checks / all checks, a ratio.
    Checks,
    /// Events received.
    Events,
    /// Events lost / events expected, a ratio.
    EventLoss,
    /// Messages of WebSockets.
    MessagesSent,
    MessagesReceived,
    /// Messages lost / messages expected, a ratio.
    MessageLoss,
    /// Share of the time without outages, a ratio.
    Availability,
    /// The longest outage, in ns; 0 without outages.
    LongestOutage,
    /// gRPC calls that ended with one of the statuses of its scope, `{status: S}` / calls that ended with a status, a
    /// ratio.
    GrpcStatus,
    /// Iterations of users as code that threw an exception.
    IterationsFailed,
    /// User-defined metrics, named by a scope: the sum of a counter.
    Counter,
    /// The last, lowest, or highest value of a gauge.
    Gauge,
    /// True values of a rate / all values.
    TrueRatio,
    /// The distribution of a trend.
    Trend,
}

/// The kind of a subject, which determines the syntax of the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A distribution of times, which requires a statistic.
    Times,
    /// A share.
    Share,
    PerSecond,
    Count,
    /// A single duration.
    Length,
    /// A number without a unit.
    Number,
    /// A distribution of numbers, which requires a statistic.
    Numbers,
}

/// A metric of outages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageFigure {
    Availability,
    Longest,
}

/// The data that a subject is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Times since the intended start time, which delays of the load generator may have lengthened.
    Response,
    /// Times since the send, likewise.
    Service,
    /// The arrivals of the open model.
    Achieved,
    /// The throughput of the whole run.
    Throughput,
    /// The ticks of the run.
    Outages(OutageFigure),
    /// A user-defined metric of this family.
    Custom(Family),
    /// The totals.
    Totals,
}

impl Subject {
    /// The subjects of user-defined metrics.
    pub const CUSTOM: [Subject; 4] = [Subject::Counter, Subject::Gauge, Subject::TrueRatio, Subject::Trend];

    /// All other subjects, in the order of the documentation.
    pub const ALL: &'static [Subject] = &[
        Subject::ResponseTime,
        Subject::ServiceTime,
        Subject::FirstByte,
        Subject::GroupTime,
        Subject::Connect,
        Subject::TlsHandshake,
        Subject::StreamHead,
        Subject::FirstEvent,
        Subject::EventGap,
        Subject::EventAge,
        Subject::WebSocketHandshake,
        Subject::MessageRoundTrip,
        Subject::MessageGap,
        Subject::MessageAge,
        Subject::ErrorRate,
        Subject::Checks,
        Subject::Achieved,
        Subject::Throughput,
        Subject::Requests,
        Subject::Events,
        Subject::EventLoss,
        Subject::MessagesSent,
        Subject::MessagesReceived,
        Subject::MessageLoss,
        Subject::Availability,
        Subject::LongestOutage,
        Subject::GrpcStatus,
        Subject::IterationsFailed,
    ];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::ResponseTime => "response_time",
            Subject::ServiceTime => "service_time",
            Subject::FirstByte => "time_to_first_byte",
            Subject::GroupTime => "group_time",
            Subject::Connect => "connect",
            Subject::TlsHandshake => "tls_handshake",
            Subject::StreamHead => "stream_head",
            Subject::FirstEvent => "first_event",
            Subject::EventGap => "event_gap",
            Subject::EventAge => "event_age",
            Subject::WebSocketHandshake => "websocket_handshake",
            Subject::MessageRoundTrip => "message_round_trip",
            Subject::MessageGap => "message_gap",
            Subject::MessageAge => "message_age",
            Subject::ErrorRate => "error_rate",
            Subject::Checks => "checks",
            Subject::Achieved => "achieved",
            Subject::Throughput => "throughput",
            Subject::Requests => "requests",
            Subject::Events => "events",
            Subject::EventLoss => "event_loss",
            Subject::MessagesSent => "messages_sent",
            Subject::MessagesReceived => "messages_received",
            Subject::MessageLoss => "message_loss",
            Subject::Availability => "availability",
            Subject::LongestOutage => "longest_outage",
            Subject::GrpcStatus => series::GRPC_STATUS,
            Subject::IterationsFailed => "iterations_failed",
            Subject::Counter => "counter",
            Subject::Gauge => "gauge",
            Subject::TrueRatio => "true_ratio",
            Subject::Trend => "trend",
        }
    }

    /// Returns the subject that had this name in an earlier version, for error messages.
    pub fn renamed(name: &str) -> Option<Subject> {
        match name {
            "errors" => Some(Subject::ErrorRate),
            "rate" => Some(Subject::Throughput),
            "events_lost" => Some(Subject::EventLoss),
            _ => None,
        }
    }

    /// Returns the data that it is computed from: the totals, for most subjects.
    pub const fn basis(self) -> Basis {
        match self {
            Subject::ResponseTime => Basis::Response,
            Subject::ServiceTime => Basis::Service,
            Subject::Achieved => Basis::Achieved,
            Subject::Throughput => Basis::Throughput,
            Subject::Availability => Basis::Outages(OutageFigure::Availability),
            Subject::LongestOutage => Basis::Outages(OutageFigure::Longest),
            Subject::Counter => Basis::Custom(Family::Counter),
            Subject::Gauge => Basis::Custom(Family::Gauge),
            Subject::TrueRatio => Basis::Custom(Family::Rate),
            Subject::Trend => Basis::Custom(Family::Trend),
            Subject::FirstByte | Subject::GroupTime | Subject::ErrorRate | Subject::Requests => Basis::Totals,
            Subject::Connect | Subject::TlsHandshake | Subject::Checks => Basis::Totals,
            Subject::StreamHead | Subject::FirstEvent | Subject::EventGap | Subject::EventAge => {
                Basis::Totals
            }
            Subject::Events | Subject::EventLoss | Subject::IterationsFailed => Basis::Totals,
            Subject::WebSocketHandshake | Subject::MessageRoundTrip => Basis::Totals,
            Subject::MessageGap | Subject::MessageAge => Basis::Totals,
            Subject::MessagesSent | Subject::MessagesReceived | Subject::MessageLoss => Basis::Totals,
            Subject::GrpcStatus => Basis::Totals,
        }
    }

    /// Returns its family of user-defined metrics, if any.
    pub const fn family(self) -> Option<Family> {
        match self.basis() {
            Basis::Custom(family) => Some(family),
            Basis::Response | Basis::Service | Basis::Achieved | Basis::Throughput => None,
            Basis::Outages(_) | Basis::Totals => None,
        }
    }

    pub const fn kind(self) -> Kind {
        match self {
            Subject::ResponseTime | Subject::ServiceTime | Subject::FirstByte => Kind::Times,
            Subject::GroupTime | Subject::Connect | Subject::TlsHandshake => Kind::Times,
            Subject::StreamHead | Subject::FirstEvent | Subject::EventGap | Subject::EventAge => Kind::Times,
            Subject::WebSocketHandshake | Subject::MessageRoundTrip => Kind::Times,
            Subject::MessageGap | Subject::MessageAge => Kind::Times,
            Subject::MessageLoss | Subject::GrpcStatus => Kind::Share,
            Subject::MessagesSent | Subject::MessagesReceived => Kind::Count,
            Subject::ErrorRate | Subject::Checks | Subject::Achieved | Subject::EventLoss => Kind::Share,
            Subject::Availability | Subject::TrueRatio => Kind::Share,
            Subject::Counter | Subject::Gauge => Kind::Number,
            Subject::Trend => Kind::Numbers,
            Subject::LongestOutage => Kind::Length,
            Subject::Throughput => Kind::PerSecond,
            Subject::Requests | Subject::Events | Subject::IterationsFailed => Kind::Count,
        }
    }

    /// Returns whether it is computed from outages.
    pub const fn is_of_outages(self) -> bool {
        matches!(self.basis(), Basis::Outages(_))
    }

    /// Returns whether only streams have it.
    pub const fn is_of_streams(self) -> bool {
        matches!(
            self,
            Subject::StreamHead
                | Subject::FirstEvent
                | Subject::EventGap
                | Subject::EventAge
                | Subject::Events
                | Subject::EventLoss
        )
    }

    /// Returns whether only WebSockets have it.
    pub const fn is_of_websockets(self) -> bool {
        matches!(
            self,
            Subject::WebSocketHandshake
                | Subject::MessageRoundTrip
                | Subject::MessageGap
                | Subject::MessageAge
                | Subject::MessagesSent
                | Subject::MessagesReceived
                | Subject::MessageLoss
        )
    }

    /// Returns whether a request may have it: some subjects are those of streams of events, and some those of
    /// WebSockets.
    pub fn is_of(self, request: &RequestOutline) -> bool {
        match (self.is_of_streams(), self.is_of_websockets()) {
            (true, _) => request.is_stream && !request.is_websocket,
            (_, true) => request.is_websocket,
            (false, false) => true,
        }
    }

    /// Returns whether it may have a scope. Connections, arrivals, and iterations do not belong to requests.
    pub const fn has_scope(self) -> bool {
        !matches!(
            self,
            Subject::Connect | Subject::TlsHandshake | Subject::Achieved | Subject::IterationsFailed
        )
    }
}

/// A statistic of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    Quantile(f64),
    Mean,
    Min,
    Max,
    /// The value of a subject that is one number.
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "==")]
    Equal,
}

impl Comparison {
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
            Comparison::Equal => left == right,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Equal => "==",
        }
    }

    /// Returns whether the limit is an upper limit, so that less is better.
    pub fn is_downwards(self) -> bool {
        matches!(self, Comparison::Less | Comparison::LessOrEqual)
    }

    /// Returns whether the limit is a lower limit, so that more is better.
    pub fn is_upwards(self) -> bool {
        matches!(self, Comparison::Greater | Comparison::GreaterOrEqual)
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The text as written, with white space folded except in names.
    pub text: String,
    pub subject: Subject,
    pub statistic: Statistic,
    pub comparison: Comparison,
    /// The limit: ns for times, a ratio for shares, per second for rates.
    pub value: f64,
    /// Whether it is a default; see [`with_defaults`].
    #[serde(default)]
    pub is_default: bool,
    /// The requests that it applies to; `None` means all.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// The length of the sliding windows in which it must be met, a whole number of ticks; `None` means the whole run.
    #[serde(default)]
    pub over_ns: Option<u64>,
    /// The time after which a miss stops the run, a whole number of ticks; may be 0.
    #[serde(default)]
    pub abort_after_ns: Option<u64>,
}

impl Threshold {
    /// Returns the left side of the comparison: `response_time{request: login} p99`.
    pub fn left(&self) -> String {
        let scope = self.scope.as_ref().map_or(String::new(), |scope| scope.to_string());
        let statistic = match self.statistic {
            Statistic::Quantile(q) => format!(" p{}", shortest(q * 100.0)),
            Statistic::Mean => " mean".into(),
            Statistic::Min => " min".into(),
            Statistic::Max => " max".into(),
            Statistic::Value => String::new(),
        };
        format!("{}{scope}{statistic}", self.subject.name())
    }
}

/// Formats `99.9` without rounding errors such as `99.90000000000001`.
fn shortest(percent: f64) -> String {
    let text = format!("{percent:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Adds the default thresholds on subjects that `written` does not cover for the whole run. A limit on p99 says
/// nothing about errors, and one on the errors of `login` says nothing about those of `search`. A service that returns
/// only 500s must not pass by being fast. Users as code (`has_code`) must not throw exceptions: an iteration that
/// throws may have sent nothing.
pub fn with_defaults(written: Vec<Threshold>, open: bool, has_code: bool) -> Vec<Threshold> {
    let mut all = defaults(open);
    all.extend(has_code.then(without_exceptions));
    // A threshold that accepts 100% errors also accepts an outage.
    let takes_all = |written: &Threshold| {
        written.subject == Subject::ErrorRate && written.value >= 1.0 && !written.comparison.is_upwards()
    };
    let names = |written: &Threshold, default: &Threshold| {
        let is_same = match default.subject.is_of_outages() {
            true => written.subject.is_of_outages() || takes_all(written),
            false => written.subject == default.subject,
        };
        is_same && written.scope.is_none()
    };
    all.retain(|default| !written.iter().any(|threshold| names(threshold, default)));
    [written, all].concat()
}

/// Removes each default threshold on a subject that another one limits for the whole run.
pub fn without_replaced(mut all: Vec<Threshold>) -> Vec<Threshold> {
    let written = all.iter().filter(|one| !one.is_default && one.scope.is_none());
    let subjects: Vec<Subject> = written.map(|one| one.subject).collect();
    all.retain(|one| !one.is_default || !subjects.contains(&one.subject));
    all
}

/// Returns the default thresholds: no errors, no outage, and in the open model at least 99% of the offered rate
/// achieved.
pub fn defaults(open: bool) -> Vec<Threshold> {
    let mut all = vec![
        make("error_rate == 0%", Subject::ErrorRate, Comparison::Equal, 0.0),
        make("longest_outage < 1s", Subject::LongestOutage, Comparison::Less, OUTAGE_LEAST_NS as f64),
    ];
    if open {
        all.push(make("achieved >= 99%", Subject::Achieved, Comparison::GreaterOrEqual, 0.99));
    }
    all
}

/// Returns the default threshold of users as code: no iteration throws an exception.
pub fn without_exceptions() -> Threshold {
    make("iterations_failed == 0", Subject::IterationsFailed, Comparison::Equal, 0.0)
}

fn make(text: &str, subject: Subject, comparison: Comparison, value: f64) -> Threshold {
    Threshold {
        text: text.into(),
        subject,
        statistic: Statistic::Value,
        comparison,
        value,
        is_default: true,
        scope: None,
        over_ns: None,
        abort_after_ns: None,
    }
}
