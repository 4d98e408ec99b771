//! Series: numbers with a family, a name, and labels. The family determines the numbers.
//!
//! The series of a plan (its requests, checks, groups, and addresses) exist from the start. During the load, a program
//! may open others (see [`book`]): new requests, and user-defined metrics.

pub mod book;
mod value;

pub use value::{THOUSANDTHS, counted, from_ordered, ordered, parts_of};

use crate::metric::{
    CheckSum, CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, GroupHist, GroupSum, RateSum, RunFloor,
    RunHist, RunPeak, RunSum, SERIES_SUMS, SeriesFloor, SeriesHist, SeriesPeak, StreamHist, TrendHist,
    WebSocketHist, WebSocketSum,
};
use crate::origin::FIRST;
use crate::outline::RequestOutline;
use serde::{Deserialize, Serialize};

/// The numbers of cells of a tally: sums, peaks, floors, histograms, last values.
pub type Cells = [usize; 5];

/// Cells of the whole run.
pub const RUN_CELLS: Cells = [RunSum::COUNT, RunPeak::COUNT, RunFloor::COUNT, RunHist::COUNT, 0];

/// Cells of the sum of all requests of all families: those of the largest family. Cells that only some families have
/// must therefore have different numbers.
pub const REQUESTS_CELLS: Cells = Family::WebSocket.cells();

/// The kind of a series. A protocol with its own metrics adds a family, and a table in [`crate::metric`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Requests of one name: [`crate::metric::SeriesSum`], faults, status codes, [`SeriesHist`].
    Request,
    /// Event streams: the same, and [`crate::metric::StreamSum`], [`StreamHist`].
    Stream,
    /// WebSockets: those of streams, where an event is a received message, and [`WebSocketSum`], [`WebSocketHist`].
    #[serde(rename = "websocket")]
    WebSocket,
    /// Checks: [`CheckSum`].
    Check,
    /// Groups: [`GroupSum`], [`GroupHist`].
    Group,
    /// Requests to one of several addresses, without their times.
    Address,
    /// A user-defined metric: a sum of nonnegative numbers.
    Counter,
    /// The last, the lowest, and the highest of some numbers.
    Gauge,
    /// The share of true values.
    Rate,
    /// The distribution of nonnegative numbers.
    Trend,
}

impl Family {
    /// The families of user-defined metrics.
    pub const CUSTOM: [Family; 4] = [Family::Counter, Family::Gauge, Family::Rate, Family::Trend];

    /// Returns the name in run files and documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Request => "request",
            Family::Stream => "stream",
            Family::WebSocket => "websocket",
            Family::Check => "check",
            Family::Group => "group",
            Family::Address => "address",
            Family::Counter => "counter",
            Family::Gauge => "gauge",
            Family::Rate => "rate",
            Family::Trend => "trend",
        }
    }

    /// Returns the layout of tallies. No other place defines it.
    pub const fn cells(self) -> Cells {
        match self {
            Family::Request => [SERIES_SUMS, SeriesPeak::COUNT, SeriesFloor::COUNT, SeriesHist::COUNT, 0],
            Family::Stream => [SERIES_SUMS, SeriesPeak::COUNT, SeriesFloor::COUNT, StreamHist::COUNT, 0],
            Family::WebSocket => {
                [WebSocketSum::COUNT, SeriesPeak::COUNT, SeriesFloor::COUNT, WebSocketHist::COUNT, 0]
            }
            Family::Check => [CheckSum::COUNT, 0, 0, 0, 0],
            Family::Group => [GroupSum::COUNT, 0, 0, GroupHist::COUNT, 0],
            Family::Address => [SERIES_SUMS, SeriesPeak::COUNT, SeriesFloor::COUNT, 0, 0],
            Family::Counter => [CounterSum::COUNT, 0, 0, 0, 0],
            Family::Gauge => [GaugeSum::COUNT, GaugePeak::COUNT, GaugeFloor::COUNT, 0, GaugeLast::COUNT],
            Family::Rate => [RateSum::COUNT, 0, 0, 0, 0],
            Family::Trend => [0, 0, 0, TrendHist::COUNT, 0],
        }
    }

    /// Returns the kind of a user-defined metric; `None` for other families.
    pub const fn custom(self) -> Option<Custom> {
        match self {
            Family::Counter => Some(Custom::Counter),
            Family::Gauge => Some(Custom::Gauge),
            Family::Rate => Some(Custom::Rate),
            Family::Trend => Some(Custom::Trend),
            Family::Request | Family::Stream | Family::WebSocket => None,
            Family::Check | Family::Group | Family::Address => None,
        }
    }

    /// Returns whether the family is one of user-defined metrics.
    pub const fn is_custom(self) -> bool {
        self.custom().is_some()
    }

    /// Returns whether the family counts in the totals of a run: requests, streams, and WebSockets.
    pub const fn is_requests(self) -> bool {
        match self {
            Family::Request | Family::Stream | Family::WebSocket => true,
            Family::Check | Family::Group | Family::Address => false,
            Family::Counter | Family::Gauge | Family::Rate | Family::Trend => false,
        }
    }
}

/// The families of user-defined metrics only, so that a new family of a protocol does not affect their users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Custom {
    Counter,
    Gauge,
    Rate,
    Trend,
}

/// Labels that a series has from its place in the plan, in addition to those that a program sets.
pub mod label {
    /// The scenario that a request belongs to.
    pub const SCENARIO: &str = "scenario";
    /// The group; nested groups as `a / b`, or as `::a::b` (see [`super::group_path`]).
    pub const GROUP: &str = "group";
    /// The name of the request.
    pub const REQUEST: &str = "request";
    /// The name of a user-defined metric.
    pub const METRIC: &str = "metric";
    /// The method of a request.
    pub const METHOD: &str = "method";
    /// Of the metric [`super::GRPC_STATUS`]: the status of a call.
    pub const STATUS: &str = "status";
    /// Of gRPC calls of scripts: the full name of the service. Their method is that of the service.
    pub const SERVICE: &str = "service";
    /// Whether a gRPC call of a script has streams. Only such calls have this label.
    pub const RPC_TYPE: &str = "rpc_type";
    /// The types of calls: with one message and one response, and with a stream of either.
    pub const UNARY: &str = "unary";
    pub const STREAMING: &str = "streaming";
}

/// The counter of the statuses of gRPC calls, by [`label::STATUS`]. It is the name of their threshold, too.
pub const GRPC_STATUS: &str = "grpc_status";

/// Trends, in ms, that the requests of a script add to: only those that opened a connection, and, for the last one,
/// only those with a response that was not expected.
pub mod request_trend {
    /// From the intended start to the send.
    pub const BLOCKED: &str = "http_req_blocked";
    /// The TCP handshake.
    pub const CONNECTING: &str = "http_req_connecting";
    /// The TLS handshake.
    pub const HANDSHAKING: &str = "http_req_tls_handshaking";
    /// From the send to the end of an unexpected response.
    pub const UNEXPECTED: &str = "http_req_duration_unexpected";
    /// All of them: a script cannot define metrics of these names.
    pub const ALL: [&str; 4] = [BLOCKED, CONNECTING, HANDSHAKING, UNEXPECTED];
}

/// Returns the path of a group as plans and reports write it: `outer / inner`. Scripts of k6 write `::outer::inner`.
pub fn group_path(text: &str) -> String {
    match text.strip_prefix("::") {
        Some(path) => path.split("::").collect::<Vec<_>>().join(" / "),
        None => text.to_owned(),
    }
}

/// The key of a series on all workers and machines. Numbers with equal keys are added up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SeriesKey {
    pub family: Family,
    pub name: String,
    /// Labels, sorted by name, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
}

impl SeriesKey {
    /// Returns a key. Labels may be in any order; of two with the same name, the later one applies.
    pub fn new(family: Family, name: &str, labels: &[(&str, &str)]) -> Self {
        let mut sorted: Vec<(String, String)> = Vec::with_capacity(labels.len());
        for (name, value) in labels {
            match sorted.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
                Ok(at) => sorted[at].1 = (*value).into(),
                Err(at) => sorted.insert(at, ((*name).into(), (*value).into())),
            }
        }
        SeriesKey { family, name: name.into(), labels: sorted }
    }

    /// Returns the value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the group that it belongs to, or of a group its own path, as reports show it; see [`group_path`].
    pub fn group(&self) -> Option<String> {
        match self.family {
            Family::Group => Some(group_path(&self.name)),
            _ => self.label(label::GROUP).map(group_path),
        }
    }

    /// Returns a request or a stream as the plan would show it; `None` for other families.
    pub fn request(&self) -> Option<RequestOutline> {
        let text = |name: &str| self.label(name).map(str::to_owned);
        let own = [label::SCENARIO, label::GROUP, label::METHOD];
        self.family.is_requests().then(|| RequestOutline {
            name: self.name.clone(),
            method: text(label::METHOD).unwrap_or_default(),
            path: String::new(),
            // A program sets the origin as a label; the number of the origin is unknown here.
            origin: FIRST,
            headers: Vec::new(),
            body_bytes: 0,
            scenario: text(label::SCENARIO),
            group: self.group(),
            tags: self.labels.iter().filter(|(name, _)| !own.contains(&name.as_str())).cloned().collect(),
            is_stream: matches!(self.family, Family::Stream | Family::WebSocket),
            is_websocket: self.family == Family::WebSocket,
            is_grpc: self.label(label::RPC_TYPE).is_some(),
            is_outside_load: false,
            is_redirect_expected: false,
        })
    }
}
