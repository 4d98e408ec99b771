//! What the words of a tool mean, in the form in which rules ask for it.

use crate::model::Measure;

/// The definitions of one tool, from its source and its documentation.
#[derive(Debug, Clone, Copy)]
pub struct Definitions {
    /// As it is written in a sentence.
    pub name: &'static str,
    /// How its users call what has a request in flight.
    pub users: &'static str,
    /// Requests that one of them may have in flight.
    pub in_flight: InFlight,
    /// Between two requests it pauses for nothing, unless it was given a rate.
    pub is_busy: bool,
    /// A request may end so long after the run, s.
    pub grace_s: f64,
    /// Share by which count / duration and the rate differ, because their windows do.
    pub window: f64,
    /// Its rate is the mean of samples of the rate, not count / duration.
    pub rate_is_sampled: bool,
    /// The responses that its rate counts.
    pub rate_counts: Counted,
    /// The responses whose times are in its distribution.
    pub times_of: Counted,
    /// Failures are printed only when there were any.
    pub is_silent_on_success: bool,
    /// Each failure is one of the requests.
    pub errors_are_requests: bool,
    /// The time to connect is a part of its times.
    pub connect_is_inside: bool,
    /// Its standard deviation divides by n - 1.
    pub deviation_of_sample: bool,
    /// Its standard deviation counts each distinct time once and divides by all of them, so it is too small.
    pub deviation_of_distinct: bool,
    /// A connection that could not be opened is never tried again.
    pub connects_once: bool,
    /// The rates of its labels are over the window of each label.
    pub rates_of_own_windows: bool,
    /// Its bytes are of bodies only, which may be empty.
    pub counts_bodies_only: bool,
    /// It records whole milliseconds, and prints figures of them with all their digits.
    pub records_whole_ms: bool,
    /// Flags of its command line whose values it prints again.
    pub command: Option<&'static [(&'static str, Measure)]>,
    /// A sum of bytes is that of whole bodies of a stated length.
    pub bytes_are_of_bodies: bool,
    /// Parts of the lines that every output has, with single spaces and in lower case. None: no text is known to be
    /// whole.
    pub layout: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// The next request waits for the response to the last.
    One,
    /// The same, but the tool adds made-up samples to its times.
    OneCorrected,
    /// Some may have several, with the usual reason.
    Several(&'static str),
    /// Requests begin by a schedule, regardless of how many are in flight.
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    All,
    Successes,
    /// Versions differ, or nothing says.
    Unknown,
}

/// Whether a response of this status is a failure: redirects are none, and gRPC has names.
pub fn is_failure(status: &str) -> bool {
    !(status.starts_with(['1', '2', '3']) || ["OK", "SERVING"].contains(&status))
}

/// A closed loop without pauses whose figures are of all responses: what most tools of one command line are.
pub const PLAIN: Definitions = Definitions {
    name: "",
    users: "connections",
    in_flight: InFlight::One,
    is_busy: true,
    grace_s: 0.0,
    window: 0.02,
    rate_is_sampled: false,
    rate_counts: Counted::All,
    times_of: Counted::All,
    is_silent_on_success: false,
    errors_are_requests: true,
    connect_is_inside: false,
    deviation_of_sample: false,
    deviation_of_distinct: false,
    connects_once: false,
    rates_of_own_windows: false,
    counts_bodies_only: false,
    records_whole_ms: false,
    command: None,
    bytes_are_of_bodies: false,
    layout: &[],
};
