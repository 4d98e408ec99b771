//! What users do, as data: scenarios made of requests, pauses, loops, conditions and choices.
//!
//! A front fills this; an interpreter turns it into one [`crate::program::Program`] per user. The engine does not know
//! it: to the engine a scenario from a file and a script in any other language are the same.

use crate::answer::{Check, Extract, Rule, Statuses};
use crate::data::{Feeder, OutFile};
use crate::origin::OriginId;
use crate::stream::Stream;
use crate::value::{Secret, Text, VarId};

/// Index of a request of the script: its series in every report, and [`crate::program::RequestId`] of its steps.
pub type AskId = u32;

/// Everything that users do.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Every request of every scenario, set-up and tear-down included, once per place where it stands.
    pub asks: Vec<Ask>,
    pub scenarios: Vec<Scenario>,
    /// Run once by one user before the load; what they extract into globals all users see.
    pub setup: Vec<Node>,
    /// Run once by one user behind the load.
    pub teardown: Vec<Node>,
    pub feeders: Vec<Feeder>,
    pub files: Vec<OutFile>,
    /// Names of the variables by slot, for diagnostics and samples.
    pub vars: Vec<String>,
    /// Names of the values that the set-up extracts, by slot.
    pub globals: Vec<String>,
    /// Names of the groups, by number; `a / b` when nested.
    pub groups: Vec<String>,
    /// Cookies are kept per user and sent back (RFC 6265).
    pub cookies: bool,
    /// Values to be cut out of every sample.
    pub secrets: Vec<Secret>,
}

/// One way of using the service.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: String,
    pub nodes: Vec<Node>,
    /// Least time from the begin of one iteration to the begin of the next, of the same user.
    pub pace: Option<Delay>,
}

/// Which scenario an iteration runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    Scenario(u16),
    /// Several, by weight.
    Mix {
        ways: Vec<(u16, f64)>,
        order: Order,
    },
}

/// How weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Drawn by weight each time.
    #[default]
    Random,
    /// A fixed pattern that holds the ratio as exactly as whole numbers can at every moment.
    Exact,
}

/// One thing to do.
#[derive(Debug, Clone)]
pub enum Node {
    Ask(AskId),
    Think(Delay),
    /// Timed as a whole and named in reports.
    Group {
        group: u16,
        nodes: Vec<Node>,
    },
    /// `times` is read as a whole number when the loop begins.
    Repeat {
        times: Text,
        nodes: Vec<Node>,
    },
    /// At most `most` rounds, so that a condition that never turns false is not for ever.
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
    /// The first time each user passes, and again until it has come through.
    Once(Vec<Node>),
    Choose {
        ways: Vec<(f64, Vec<Node>)>,
        order: Order,
    },
    Set(Vec<(Slot, Text)>),
    /// One row behind the others.
    Append {
        file: u16,
        columns: Vec<Text>,
    },
    /// All branches at once; goes on when all are through.
    Parallel(Vec<Vec<Node>>),
}

/// Where an extracted or set value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Var(VarId),
    /// Only in the set-up.
    Global(u16),
}

/// A length of time, drawn anew each time it is used; ns. Never below 0.
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
    /// By its mean.
    Exponential {
        mean_ns: u64,
    },
}

/// A question about a value; text is compared as numbers where both sides are numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub left: Text,
    pub rule: Rule,
}

/// A request with everything that belongs to it.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What the series is called.
    pub name: String,
    /// Index of the scenario; `None` in set-up and tear-down.
    pub scenario: Option<u16>,
    pub group: Option<u16>,
    pub tags: Vec<(String, String)>,
    /// Where it goes.
    pub origin: OriginId,
    pub method: String,
    /// Path and query as sent, holes escaped for where they stand.
    pub path: Text,
    /// In the order given; `Content-Type` of the body among them, `Content-Length` and `Host` not.
    pub headers: Vec<(String, Text)>,
    pub body: Option<Text>,
    /// From the send; `None`: the plan's.
    pub timeout_ns: Option<u64>,
    /// Most redirects followed to the same host, each a timed request of its own in this series; 0: none is followed.
    pub redirects: u8,
    /// Statuses that are no failure; `None`: 200 to 399.
    pub expect: Option<Statuses>,
    pub checks: Vec<Check>,
    pub extracts: Vec<Extract>,
    /// After a failure the rest of the iteration is left out, unless this says otherwise.
    pub go_on_after_failure: bool,
    /// The answer is a stream of events.
    pub stream: Option<Box<Stream>>,
}
