//! The rows of the summary that only scripts, streams and TLS have.

use super::{Short, Times};
use plimsoll_plan::failure_example::FailureExample;
use serde::Serialize;
use std::collections::BTreeMap;

/// A stretch of time, s from the start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Window {
    pub from_s: f64,
    pub to_s: f64,
}

/// Several requests added up. Streams are among the counts; among the times only where there is nothing else.
#[derive(Debug, Clone, Serialize)]
pub struct PartRow {
    pub name: String,
    pub requests: u64,
    pub errors: u64,
    pub rate_per_s: f64,
    pub bytes_in: u64,
    pub response_time: Times,
    pub service_time: Times,
}

/// The requests to one of the addresses over which connections rotated.
#[derive(Debug, Clone, Serialize)]
pub struct AddressRow {
    /// With its port if that is not the one of its origin.
    pub address: String,
    /// `None`: the plan does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    pub requests: u64,
    /// Of the requests to all addresses.
    pub requests_ratio: f64,
    pub errors: u64,
}

/// A group: its requests, those of nested groups included, and the passages through it as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct GroupRow {
    pub name: String,
    pub requests: u64,
    pub errors: u64,
    pub rate_per_s: f64,
    pub response_time: Times,
    /// Times that a user went through it.
    pub passages: u64,
    /// From its beginning to its end, thinking included.
    pub passage: Times,
}

#[derive(Debug, Clone, Serialize)]
pub struct CheckRow {
    pub name: String,
    /// Empty for a check of a program, which belongs to no request.
    pub request: String,
    /// The scenario of a check of a program, if the run has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The group of a check of a program; nested groups as `outer / inner`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    pub evaluations: u64,
    /// Of those, the times that it did not hold.
    pub failures: u64,
}

/// An example of what went wrong.
#[derive(Debug, Clone, Serialize)]
pub struct FailureExampleRow {
    pub generator: String,
    #[serde(flatten)]
    pub sample: FailureExample,
}

/// The streams of one request. Times in ns, by the account of each stream, which is closed at its end and at the stop.
#[derive(Debug, Clone, Serialize)]
pub struct StreamRow {
    pub name: String,
    pub scenario: Option<String>,
    /// Opened: a head with a good status came.
    pub streams: u64,
    pub open_at_end: u64,
    pub closed_by_server: u64,
    pub closed_by_client: u64,
    /// That did not begin, broke off, or ended otherwise than planned.
    pub failures: u64,
    /// Reconnects after the server closed a connection.
    pub reconnects: u64,
    pub events: u64,
    pub events_per_s: f64,
    /// Events that should have come, by their numbers or by the stated period; 0: nothing was stated.
    pub events_expected: u64,
    pub events_lost: u64,
    /// Lost / expected.
    pub event_loss_ratio: Option<f64>,
    pub events_duplicated: u64,
    pub events_out_of_order: u64,
    pub events_unnumbered: u64,
    /// From the send to the head.
    pub head: Times,
    /// From the send to the first event.
    pub first_event: Times,
    /// Between two events of a stream.
    pub gap: Times,
    /// From the instant an event says it was made, by both clocks.
    pub age: Times,
    pub duration: Times,
    /// Whether all streams got their share of events.
    pub fairness: Option<Fairness>,
}

/// The WebSockets of one request. Times in ns, by the account of each, which is closed at its end and at the stop.
#[derive(Debug, Clone, Serialize)]
pub struct WebSocketRow {
    pub name: String,
    pub scenario: Option<String>,
    /// Sockets that opened: the handshake was completed.
    pub opened: u64,
    pub open_at_end: u64,
    pub closed_by_server: u64,
    pub closed_by_client: u64,
    /// Sockets that did not open, or failed later.
    pub failures: u64,
    /// Sockets that the server closed, by code; 1005 is a close frame without a code, 1006 an end without a close
    /// frame.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub close_codes: BTreeMap<String, u64>,
    pub messages_sent: u64,
    pub messages_sent_per_s: f64,
    pub messages_received: u64,
    pub messages_received_per_s: f64,
    /// Messages that should have been received, by their numbers or by the stated period; 0: nothing was stated.
    pub messages_expected: u64,
    pub messages_lost: u64,
    /// Lost / expected.
    pub message_loss_ratio: Option<f64>,
    pub messages_duplicated: u64,
    pub messages_out_of_order: u64,
    pub messages_unnumbered: u64,
    /// Messages sent whose response was not received before the socket closed.
    pub messages_unanswered: u64,
    /// Messages received whose ID is not that of a message without a response.
    pub responses_unmatched: u64,
    pub pings_sent: u64,
    pub pings_received: u64,
    pub pongs_received: u64,
    /// From the send of the request to its response.
    pub handshake: Times,
    /// From sending a message to receiving its response.
    pub round_trip: Times,
    /// From sending a ping to receiving its pong.
    pub ping: Times,
    /// Between two received messages of a socket.
    pub gap: Times,
    /// From the timestamp in a message to its receipt, by both clocks.
    pub age: Times,
    pub duration: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fairness {
    /// How many streams are compared.
    pub streams: u64,
    /// Jain's index: 1 when all got the same number of events, 1/n when one of n got all.
    pub index: f64,
    /// Events of a stream.
    pub events_min: u64,
    pub events_p50: u64,
    pub events_max: u64,
}

/// Handshakes, warm-up included: a connection is made once and used to the end.
#[derive(Debug, Clone, Serialize)]
pub struct TlsRow {
    pub handshakes: u64,
    /// Of those, the ones that resumed an earlier session.
    pub resumptions: u64,
    pub resumed_ratio: f64,
    pub handshake: Short,
}

/// A load model. Its results are known if it runs a separate scenario.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadRow {
    pub name: String,
    /// `open` or `closed`.
    pub model: &'static str,
    /// Most users, or the highest rate per second.
    pub peak: f64,
    pub connections: u32,
    pub requests: Option<u64>,
    pub errors: Option<u64>,
    pub rate_per_s: Option<f64>,
}
