//! `response_time{request: login} p99 < 250ms over 10s`: a condition that a run must meet. Here is what it means;
//! the grammar is in `read`, what a scope covers in `scope`.

mod read;
mod scope;

pub use read::{parse, parse_with_metrics};
pub use scope::{Scope, check_scopes};

use crate::outline::TICK_NS;
use crate::series::Family;
use serde::{Deserialize, Serialize};

/// Longest window of `over`: each second of it keeps a histogram in memory while it slides.
pub const OVER_MAX_NS: u64 = 600 * TICK_NS;

/// An outage is no shorter: within less, requests fail or wait by chance, and a service with few of them has pauses.
pub const OUTAGE_LEAST_NS: u64 = 1_000_000_000;

/// What the figure of a threshold's subject is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    Nanoseconds,
    Ratio,
    PerSecond,
    Count,
    /// A number of a user-defined metric, in the unit of whoever defined it.
    Number,
}

/// What a threshold looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Times, in ns.
    ResponseTime,
    ServiceTime,
    FirstByte,
    /// Time of a passage through a group as a whole, from its begin to its end, pauses included, in ns. Only of one
    /// group, by its own name: `{group: G}`. A passage that is left or cut off before its end is no sample.
    GroupTime,
    /// Failed / finished, a ratio.
    ErrorRate,
    /// Achieved / offered rate of the open model, a ratio.
    Achieved,
    /// Finished requests per second.
    Throughput,
    /// Finished requests.
    Requests,
    /// Times of connections, in ns.
    Connect,
    TlsHandshake,
    /// Times of streams, in ns.
    StreamHead,
    FirstEvent,
    EventGap,
    EventAge,
    /// Checks that held / checks made, a ratio.
    Checks,
    /// Events received.
    Events,
    /// Events lost / events expected, a ratio.
    EventLoss,
    /// Share of the time outside of outages, a ratio.
    Availability,
    /// The longest outage, in ns; 0: there was none.
    LongestOutage,
    /// User-defined metrics, which a scope names: the sum of a counter.
    Counter,
    /// The last value of a gauge, its least or its greatest.
    Gauge,
    /// True values of a rate / all of them.
    TrueRatio,
    /// The distribution of a trend.
    Trend,
}

/// What kind of figure a subject is: it decides how the limit is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A distribution of times: a statistic must be named.
    Times,
    /// A share of something.
    Share,
    PerSecond,
    Count,
    /// A length of time that is one number.
    Length,
    /// A number without a unit.
    Number,
    /// A distribution of such: a statistic must be named.
    Numbers,
}

/// What is asked of the outages of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageFigure {
    Availability,
    Longest,
}

/// What the figure of a subject is read off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Times from the intended instant, which delays of the load generator may have lengthened.
    Response,
    /// Times from the send, likewise.
    Service,
    /// The arrivals of the open model.
    Achieved,
    /// The throughput of the whole run.
    Throughput,
    /// The course of the run, tick by tick.
    Outages(OutageFigure),
    /// A user-defined metric of this family.
    Custom(Family),
    /// The totals alone.
    Totals,
}

impl Subject {
    /// Those of user-defined metrics.
    pub const CUSTOM: [Subject; 4] = [Subject::Counter, Subject::Gauge, Subject::TrueRatio, Subject::Trend];

    /// All others, in the order in which they are told.
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
        Subject::ErrorRate,
        Subject::Checks,
        Subject::Achieved,
        Subject::Throughput,
        Subject::Requests,
        Subject::Events,
        Subject::EventLoss,
        Subject::Availability,
        Subject::LongestOutage,
    ];

    /// As it is written.
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
            Subject::ErrorRate => "error_rate",
            Subject::Checks => "checks",
            Subject::Achieved => "achieved",
            Subject::Throughput => "throughput",
            Subject::Requests => "requests",
            Subject::Events => "events",
            Subject::EventLoss => "event_loss",
            Subject::Availability => "availability",
            Subject::LongestOutage => "longest_outage",
            Subject::Counter => "counter",
            Subject::Gauge => "gauge",
            Subject::TrueRatio => "true_ratio",
            Subject::Trend => "trend",
        }
    }

    /// The subject that had this name before: an error about the name tells of the new one.
    pub fn renamed(name: &str) -> Option<Subject> {
        match name {
            "errors" => Some(Subject::ErrorRate),
            "rate" => Some(Subject::Throughput),
            "events_lost" => Some(Subject::EventLoss),
            _ => None,
        }
    }

    /// Whether it is read off the totals like most subjects, or in a way of its own.
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
            Subject::Events | Subject::EventLoss => Basis::Totals,
        }
    }

    /// The family of user-defined metrics that it is about, if any.
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
            Subject::ErrorRate | Subject::Checks | Subject::Achieved | Subject::EventLoss => Kind::Share,
            Subject::Availability | Subject::TrueRatio => Kind::Share,
            Subject::Counter | Subject::Gauge => Kind::Number,
            Subject::Trend => Kind::Numbers,
            Subject::LongestOutage => Kind::Length,
            Subject::Throughput => Kind::PerSecond,
            Subject::Requests | Subject::Events => Kind::Count,
        }
    }

    /// What it is decided by is the course of the run, tick by tick.
    pub const fn is_of_outages(self) -> bool {
        matches!(self.basis(), Basis::Outages(_))
    }

    /// Only streams have it.
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

    /// May be asked of a part of the plan: connections and arrivals belong to none of the requests.
    pub const fn has_scope(self) -> bool {
        !matches!(self, Subject::Connect | Subject::TlsHandshake | Subject::Achieved)
    }
}

/// Which figure of a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    Quantile(f64),
    Mean,
    Min,
    Max,
    /// Subjects that are one number.
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

    /// The limit is an upper one: less is better.
    pub fn is_downwards(self) -> bool {
        matches!(self, Comparison::Less | Comparison::LessOrEqual)
    }

    /// The limit is a lower one: more is better.
    pub fn is_upwards(self) -> bool {
        matches!(self, Comparison::Greater | Comparison::GreaterOrEqual)
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// As written, white space folded (but not within a name).
    pub text: String,
    pub subject: Subject,
    pub statistic: Statistic,
    pub comparison: Comparison,
    /// ns for times, a ratio for shares, per second for rate.
    pub value: f64,
    /// True for those that nobody wrote, see [`with_defaults`].
    #[serde(default)]
    pub is_default: bool,
    /// Of these requests only; `None`: of all.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// It must hold in every sliding window of this length, a whole number of ticks; `None`: for the run as a whole.
    #[serde(default)]
    pub over_ns: Option<u64>,
    /// The run is stopped when it has been missed for so long, a whole number of ticks, 0 included.
    #[serde(default)]
    pub abort_after_ns: Option<u64>,
}

impl Threshold {
    /// What is compared: `response_time{request: login} p99`.
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

/// `99.9`, not `99.90000000000001`: a share of one times a hundred is a few roundings off.
fn shortest(percent: f64) -> String {
    let text = format!("{percent:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What was written, and behind it the default thresholds whose subject nobody named for the run as a whole: a limit
/// for the p99 says nothing about errors, one for the errors of `login` nothing about those of `search`, and a service
/// that answers every request with 500 must not pass because it is quick.
pub fn with_defaults(written: Vec<Threshold>, open: bool) -> Vec<Threshold> {
    let mut all = defaults(open);
    // Who takes a run in which everything failed takes one in which nothing succeeded.
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

/// The thresholds that hold until another one names their subject: no errors, no outage, and in the open model at least
/// 99% of the offered rate achieved.
pub fn defaults(open: bool) -> Vec<Threshold> {
    let make = |text: &str, subject, comparison, value| Threshold {
        text: text.into(),
        subject,
        statistic: Statistic::Value,
        comparison,
        value,
        is_default: true,
        scope: None,
        over_ns: None,
        abort_after_ns: None,
    };
    let mut all = vec![
        make("error_rate == 0%", Subject::ErrorRate, Comparison::Equal, 0.0),
        make("longest_outage < 1s", Subject::LongestOutage, Comparison::Less, OUTAGE_LEAST_NS as f64),
    ];
    if open {
        all.push(make("achieved >= 99%", Subject::Achieved, Comparison::GreaterOrEqual, 0.99));
    }
    all
}
