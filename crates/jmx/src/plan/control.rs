//! Controllers.

use super::{Assertion, Config, Elements, Info, ResultFile, Sampler};
use crate::text::Text;

/// A controller or a sampler.
#[derive(Debug, Clone)]
pub struct Node {
    pub info: Info,
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a plan has few nodes")]
pub enum NodeKind {
    Sampler(Box<Sampler>),
    Controller {
        controller: Controller,
        nodes: Vec<Node>,
        /// Elements whose state moves on when an iteration of this controller starts: their nearest controller.
        at_iteration: Elements<Config>,
    },
}

/// A logic controller.
#[derive(Debug, Clone)]
pub enum Controller {
    /// Simple, Recording, and what Include and Module Controllers refer to.
    Simple,
    /// -1: for ever. Not a number: 0.
    Loop {
        loops: Text,
    },
    If {
        condition: Text,
        /// Whether the condition is a text that must be `true`; otherwise, it is JavaScript.
        is_expression: bool,
        /// Whether it is evaluated before each child, not only before the first.
        evaluates_all: bool,
    },
    /// Empty: until the last sample fails. `LAST`: likewise, and not at all if the last sample before it failed.
    /// Otherwise, until the text is `false`.
    While {
        condition: Text,
    },
    ForEach {
        /// The prefix of the variables to read.
        input: Text,
        /// The variable to set.
        output: Text,
        /// The first index minus 1; empty: 0.
        start: Text,
        /// The last index; empty: no limit.
        end: Text,
        /// Whether `_` stands between prefix and index.
        has_separator: bool,
    },
    /// An index from 0, or a name. Without a match: the child `default`, or nothing if it was a name.
    Switch {
        value: Text,
    },
    OnceOnly,
    /// One child in each iteration, in their order.
    Interleave {
        /// Whether each iteration runs one sampler, also of a child controller (`style` 0). Otherwise, a child
        /// controller runs as a whole.
        ignores_subcontrollers: bool,
        is_across_threads: bool,
    },
    /// One random child in each iteration.
    Random {
        /// As of `Interleave`.
        ignores_subcontrollers: bool,
    },
    RandomOrder,
    Throughput {
        quota: Quota,
        is_per_user: bool,
    },
    /// Seconds.
    Runtime {
        seconds: Text,
    },
    Transaction {
        /// Whether its sample replaces those of its children.
        has_parent_sample: bool,
        /// Whether the time includes timers, pre-processors, and post-processors.
        includes_timers: bool,
        /// Those in scope of the transaction's sample, from the inside to the outside.
        assertions: Elements<Assertion>,
        result_files: Elements<ResultFile>,
    },
    /// One thread at a time for each name, over all groups.
    Critical {
        lock: Text,
    },
}

/// How often a Throughput Controller runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Quota {
    /// A total number of executions.
    Total(Text),
    /// A part of the iterations, in percent.
    Percent(Text),
}
