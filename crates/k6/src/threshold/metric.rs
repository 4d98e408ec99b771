//! The metrics of k6 and their kinds.

use super::Aggregator;
use plimsoll_plan::series::Custom;

/// The kind of a metric, which determines its aggregators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Rate,
    Trend,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        }
    }

    /// Returns the aggregators, for error messages.
    pub(super) fn aggregators(self) -> &'static str {
        match self {
            Kind::Counter => "`count` or `rate`",
            Kind::Gauge => "`value`",
            Kind::Rate => "`rate`",
            Kind::Trend => "`avg`, `min`, `med`, `max`, or a percentile such as `p(95)`",
        }
    }

    pub(super) fn has(self, aggregator: Aggregator) -> bool {
        match aggregator {
            Aggregator::Avg | Aggregator::Min | Aggregator::Max | Aggregator::Med => self == Kind::Trend,
            Aggregator::Percentile(_) => self == Kind::Trend,
            Aggregator::Count => self == Kind::Counter,
            Aggregator::Rate => matches!(self, Kind::Counter | Kind::Rate),
            Aggregator::Value => self == Kind::Gauge,
        }
    }
}

impl From<Custom> for Kind {
    fn from(custom: Custom) -> Kind {
        match custom {
            Custom::Counter => Kind::Counter,
            Custom::Gauge => Kind::Gauge,
            Custom::Rate => Kind::Rate,
            Custom::Trend => Kind::Trend,
        }
    }
}

/// The metrics that every test has.
pub const BUILT_IN: [(&str, Kind); 28] = [
    ("vus", Kind::Gauge),
    ("vus_max", Kind::Gauge),
    ("iterations", Kind::Counter),
    ("iteration_duration", Kind::Trend),
    ("dropped_iterations", Kind::Counter),
    ("checks", Kind::Rate),
    ("group_duration", Kind::Trend),
    ("http_reqs", Kind::Counter),
    ("http_req_failed", Kind::Rate),
    ("http_req_duration", Kind::Trend),
    ("http_req_blocked", Kind::Trend),
    ("http_req_connecting", Kind::Trend),
    ("http_req_tls_handshaking", Kind::Trend),
    ("http_req_sending", Kind::Trend),
    ("http_req_waiting", Kind::Trend),
    ("http_req_receiving", Kind::Trend),
    ("ws_sessions", Kind::Counter),
    ("ws_msgs_sent", Kind::Counter),
    ("ws_msgs_received", Kind::Counter),
    ("ws_ping", Kind::Trend),
    ("ws_session_duration", Kind::Trend),
    ("ws_connecting", Kind::Trend),
    ("grpc_req_duration", Kind::Trend),
    ("grpc_streams", Kind::Counter),
    ("grpc_streams_msgs_sent", Kind::Counter),
    ("grpc_streams_msgs_received", Kind::Counter),
    ("data_sent", Kind::Counter),
    ("data_received", Kind::Counter),
];
