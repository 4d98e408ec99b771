//! The steps of users as data: scenarios of requests, pauses, loops, conditions, and choices.
//!
//! A front end builds a script, and an interpreter turns it into one [`crate::program::Program`] per user. The engine
//! does not use it, so that scenarios from a file and scripts in other languages are the same to the engine.

use crate::answer::{Check, Extract, Rule, Statuses};
use crate::auth::{Auth, TokenSource};
use crate::data::{Feeder, OutFile};
use crate::delivery::Delivery;
use crate::grpc::Call;
use crate::origin::OriginId;
use crate::stream::Stream;
use crate::value::{Secret, Text, VarId};
use crate::websocket::{Content, WebSocket};

/// Index of a request of the script, which is also its series and the [`crate::program::RequestId`] of its steps.
pub type AskId = u32;

/// All steps of all users.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// All requests of all scenarios, of setup, and of teardown, once per place.
    pub asks: Vec<Ask>,
    pub scenarios: Vec<Scenario>,
    /// Run once by one user before the load. All users see the globals that it extracts.
    pub setup: Vec<Node>,
    /// Run once by one user after the load.
    pub teardown: Vec<Node>,
    pub feeders: Vec<Feeder>,
    pub files: Vec<OutFile>,
    /// Names of the variables by slot, for diagnostics and failure examples.
    pub vars: Vec<String>,
    /// Names of the values that setup extracts, by slot.
    pub globals: Vec<String>,
    /// Names of the groups, by number; nested groups as `a / b`.
    pub groups: Vec<String>,
    /// Whether each user keeps cookies and sends them back (RFC 6265).
    pub cookies: bool,
    /// Values to remove from failure examples.
    pub secrets: Vec<Secret>,
    /// The times of requests that texts use, by slot.
    pub timings: Vec<Timing>,
    /// How requests authenticate themselves, if a fixed header is not enough.
    pub auths: Vec<(AskId, Auth)>,
    /// The sources of tokens, by number.
    pub tokens: Vec<TokenSource>,
    /// The requests of GraphQL.
    pub graphql: Vec<Graphql>,
    /// How requests are sent and their responses are read, if not at once.
    pub deliveries: Vec<(AskId, Delivery)>,
}

/// What is special about a request of GraphQL.
#[derive(Debug, Clone, PartialEq)]
pub struct Graphql {
    pub ask: AskId,
    /// The body with the query, for a server that does not know the hash in the usual body.
    pub with_query: Option<Text>,
    /// Whether errors in an event of a subscription end its stream as a failure.
    pub fails_on_errors: bool,
    /// What is sent over a WebSocket; `None` if the body of the request has the query.
    pub subscription: Option<Subscription>,
}

/// The messages of a client in the protocol `graphql-transport-ws`.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// The first message, before the acknowledgment of the server.
    pub init: Text,
    /// The message with the query, after the acknowledgment.
    pub subscribe: Text,
}

/// The time of the last response to a request, which each user keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    pub ask: AskId,
    pub part: TimingPart,
}

/// The part of a request's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimingPart {
    /// From the send to the last byte.
    ServiceTime,
    /// From the send to the first byte.
    Ttfb,
}

impl TimingPart {
    /// All parts with their names in `${name(REQUEST)}`.
    pub const NAMED: &'static [(&'static str, TimingPart)] =
        &[("service_time", TimingPart::ServiceTime), ("ttfb", TimingPart::Ttfb)];

    /// Returns the name in expressions.
    pub const fn name(self) -> &'static str {
        match self {
            TimingPart::ServiceTime => "service_time",
            TimingPart::Ttfb => "ttfb",
        }
    }
}

/// A scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: String,
    pub nodes: Vec<Node>,
    /// Minimum time from the start of one iteration to the start of the next by the same user.
    pub pace: Option<Delay>,
}

/// The scenario that an iteration runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    Scenario(u16),
    /// One of several scenarios, by weight.
    Mix {
        ways: Vec<(u16, f64)>,
        order: Order,
    },
}

/// How weights are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// A random choice by weight each time.
    #[default]
    Random,
    /// A fixed pattern that matches the ratio as exactly as whole numbers can at every moment.
    Exact,
}

/// One step.
#[derive(Debug, Clone)]
pub enum Node {
    Ask(AskId),
    Think(Delay),
    /// A group of steps, which is timed as a whole.
    Group {
        group: u16,
        nodes: Vec<Node>,
    },
    /// A loop. `times` is parsed as a whole number when the loop starts.
    Repeat {
        times: Text,
        nodes: Vec<Node>,
    },
    /// A loop with a condition, and with at most `most` iterations, so that it always ends.
    While {
        condition: Condition,
        most: u32,
        nodes: Vec<Node>,
    },
    If {
        condition: Condition,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    /// Steps that each user completes once: it repeats them until it has reached their end.
    Once(Vec<Node>),
    Choose {
        ways: Vec<(f64, Vec<Node>)>,
        order: Order,
    },
    Set(Vec<(Slot, Text)>),
    /// Appends a row to a file.
    Append {
        file: u16,
        columns: Vec<Text>,
    },
    /// Runs all branches at the same time, and continues when all have ended.
    Parallel(Vec<Vec<Node>>),
    /// Sends a message over the WebSocket that a request has opened.
    Send {
        socket: AskId,
        content: Content,
        text: Text,
    },
    /// Waits for a message of a WebSocket: one of the expectations of its request.
    Expect {
        socket: AskId,
        expectation: u16,
    },
    /// Sends a ping over a WebSocket, and waits for its pong: one of the expectations of its request, without checks.
    Ping {
        socket: AskId,
        text: Text,
        expectation: u16,
    },
    /// Closes a WebSocket, and continues when it is closed.
    Close {
        socket: AskId,
        code: u16,
        reason: Text,
    },
    /// Sends one of the later messages of a gRPC call.
    SendMessage {
        call: AskId,
        message: u32,
    },
    /// Sends no more messages of a gRPC call. The call ends when the server has responded.
    Complete {
        call: AskId,
    },
}

/// The slot of an extracted or set value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Var(VarId),
    /// Only in setup.
    Global(u16),
}

/// A duration, drawn again for each use, ns. Never below 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    Constant {
        ns: u64,
    },
    Uniform {
        low_ns: u64,
        high_ns: u64,
    },
    Normal {
        mean_ns: u64,
        deviation_ns: u64,
    },
    /// An exponential distribution with this mean.
    Exponential {
        mean_ns: u64,
    },
}

/// A condition on a value. Texts are compared as numbers if both are numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub left: Text,
    pub rule: Rule,
}

/// A request with its checks, extractions, and stream.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The name of its series.
    pub name: String,
    /// Index of the scenario; `None` in setup and teardown.
    pub scenario: Option<u16>,
    pub group: Option<u16>,
    pub tags: Vec<(String, String)>,
    /// The origin that it is sent to.
    pub origin: OriginId,
    pub method: String,
    /// Path and query as sent, with placeholders escaped for their places.
    pub path: Text,
    /// Headers in their order, including the `Content-Type` of the body, but without `Content-Length` and `Host`.
    pub headers: Vec<(String, Text)>,
    pub body: Option<Text>,
    /// The timeout, measured from the send; `None` means that of the plan.
    pub timeout_ns: Option<u64>,
    /// Maximum number of redirects to follow on the same host, each as a timed request in this series; 0 follows none.
    pub redirects: u8,
    /// Status codes that are not failures; `None` means 200–399.
    pub expect: Option<Statuses>,
    pub checks: Vec<Check>,
    pub extracts: Vec<Extract>,
    /// Whether the iteration continues after a failure instead of ending.
    pub go_on_after_failure: bool,
    /// The event stream, if the response is one.
    pub stream: Option<Box<Stream>>,
    /// The WebSocket that it opens, if it does; or how a gRPC call with a stream of messages to send is accounted for,
    /// which is the same.
    pub websocket: Option<Box<WebSocket>>,
    /// The gRPC call, if the request is one.
    pub grpc: Option<Box<Call>>,
}

impl Ask {
    /// Returns the number of its checks that have series: its own, one for each extraction, and one for each expected
    /// message.
    pub fn check_count(&self) -> usize {
        let expected = self.websocket.as_ref().map_or(0, |socket| socket.expectations.len());
        self.checks.len() + self.extracts.len() + expected
    }
}
