//! What happens to a coordinator, what it wants done, and how its run ended.

use crate::message::{Beat, Order, Refusal};
use plimsoll_record::event::RunEvent;
use plimsoll_record::record::EncodedTick;

/// What to do when an agent is lost during the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLoss {
    /// End the load with a report.
    Stop,
    /// Continue with the others; the share of the lost one is missing.
    #[default]
    Continue,
    /// Continue, and raise the load of the others by the share of the lost one.
    Rebalance,
}

/// What happens to a coordinator.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Beat(Box<Beat>),
    Envelope(Vec<u8>),
    /// A line for every running load.
    Steer(String),
    /// End the load with a report.
    Stop,
    /// The coordinator itself was cut off until now, so the silence says nothing about the agents.
    Reconnected,
    /// Time has passed.
    Tick,
}

/// What a coordinator wants done.
#[derive(Debug, Clone)]
pub enum Output {
    Order {
        agent: String,
        order: Order,
    },
    /// The next event of an agent's part, by its index; never a tick.
    Event {
        part: usize,
        event: RunEvent,
    },
    /// The next piece of an agent's samples, by its index.
    Samples {
        part: usize,
        piece: Vec<u8>,
    },
    /// The next second of an agent's part.
    Ticked {
        part: usize,
        tick: EncodedTick,
    },
    News(News),
}

/// News of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// All agents are prepared. Contains the values of setup in Base64, if one ran.
    Prepared {
        setup: Option<String>,
    },
    /// The load begins at this time of the coordinator's clock, ns.
    Begins {
        at_ns: u64,
    },
    /// The load of an agent began `late_ns` after that, within `bound_ns`.
    Begun {
        part: usize,
        late_ns: u64,
        bound_ns: u64,
    },
    /// The script of an agent has ended the test, so the coordinator stops all of them.
    EndedTest {
        part: usize,
    },
    /// Nothing was heard from an agent for a while.
    Silent {
        part: usize,
    },
    Lost {
        part: usize,
    },
    /// An agent has refused an order of this run or another one.
    Refused {
        part: usize,
        refusal: Refusal,
    },
    /// A silent or lost agent is heard again.
    Back {
        part: usize,
    },
    /// An agent had no load, or no record of it.
    Failed {
        part: usize,
        sentence: String,
        hint: String,
    },
    /// The load generator of an agent has ended; `said` is what it printed.
    Finished {
        part: usize,
        exit: i32,
        said: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// There was a load.
    Ran,
    /// There was none.
    Failed(Failure),
    /// It was stopped before the load.
    Stopped,
}

/// Why an agent has no load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Index of the agent.
    pub part: usize,
    pub sentence: String,
    pub hint: String,
    /// Exit code of its load generator, if it has run.
    pub exit: Option<i32>,
}
