//! Whether the service was there, second by second: the rows of it in the summary.

use plimsoll_plan::Fault;
use serde::Serialize;

/// Time without service counts as time, however few requests were sent in it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Availability {
    /// Share of the measurement period outside the outages; `None`: nothing was measured.
    pub uptime_ratio: Option<f64>,
    /// Of `intervals`, those in which no request succeeded. Not each of them is an outage: a slow service answers less
    /// than once in each.
    pub intervals_without_success: u64,
    /// Intervals (1 s) of the measurement period in which the service was asked for something.
    pub intervals: u64,
    /// Closed model only: users without one success in the whole run, the warm-up included.
    pub users_without_success: Option<u64>,
    /// Closed model only: users that started.
    pub users: Option<u64>,
    /// Of the service as a whole.
    pub longest_outage_ns: u64,
    /// Denominator of `uptime_ratio`, ns: the planned part of the measurement period, without the grace period after
    /// it.
    #[serde(skip)]
    pub measured_ns: u64,
    /// Of the service as a whole, in order.
    pub outages: Vec<Outage>,
    /// Requests and addresses that were down while others were served.
    pub parts: Vec<PartAvailability>,
}

/// A stretch of time, 1 s at least, in which requests failed or waited and none succeeded.
#[derive(Debug, Clone, Serialize)]
pub struct Outage {
    /// From the start: the last success before it.
    pub from_s: f64,
    /// The first success after it, or the end.
    pub to_s: f64,
    /// It lasted to the end of the measurement period.
    pub is_open_ended: bool,
    /// Without the time in which the load was paused or the load generator stalled, ns.
    pub length_ns: u64,
    /// Requests that failed in it; 0: they waited and were not answered.
    pub failed_requests: u64,
    /// How, the most frequent first; empty also for a part, of which only their number is known.
    pub failures: Vec<OutageFailure>,
}

/// A kind of failure in an outage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutageFailure {
    pub class: Fault,
    /// Status code, where that was the failure.
    pub status: Option<u16>,
    pub count: u64,
}

/// One request or one address.
#[derive(Debug, Clone, Serialize)]
pub struct PartAvailability {
    pub kind: PartKind,
    pub name: String,
    pub uptime_ratio: f64,
    pub longest_outage_ns: u64,
    pub outages: Vec<Outage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    Request,
    Address,
}

impl Availability {
    /// The longest outage of the service as a whole or of one of its parts, and whose it is; `None`: there was none.
    pub fn longest(&self) -> Option<(Option<&PartAvailability>, &Outage)> {
        let whole = self.outages.iter().map(|outage| (None, outage));
        let parts =
            self.parts.iter().flat_map(|part| part.outages.iter().map(move |outage| (Some(part), outage)));
        // That of the service as a whole comes first where two are equally long.
        whole.chain(parts).reduce(|a, b| if b.1.length_ns > a.1.length_ns { b } else { a })
    }
}
