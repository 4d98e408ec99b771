//! The nouns of an experiment, and nothing that runs: no I/O, no clock, no thread, no file format.
//!
//! Many texts (flags, YAML, later k6 and JMX) become one [`draft::Draft`]; [`seal::seal`] turns a draft into the one
//! [`Plan`] that the engine runs, or into every diagnostic at once. The tables that all other crates share
//! (faults, metrics, limits, cautions' ids) live here too, so that a word is written down once.

#![forbid(unsafe_code)]

pub mod answer;
pub mod calendar;
pub mod data;
pub mod diag;
pub mod draft;
pub mod experiment;
pub mod failure_example;
pub mod fault;
pub mod head;
pub mod limit;
pub mod link;
pub mod load;
pub mod metric;
pub mod origin;
pub mod outline;
pub mod phrase;
pub mod policy;
pub mod program;
pub mod request;
pub mod scale;
pub mod script;
pub mod seal;
pub mod series;
pub mod sizing;
pub mod stream;
pub mod threshold;
pub mod unit;
pub mod value;
pub mod watch;

pub use diag::{Diagnostic, Problem};
pub use draft::Draft;
pub use fault::{Fault, Side};
pub use outline::Outline;
pub use request::{Request, Target};

use std::sync::Arc;

/// What the engine runs: checked as a whole by [`seal::seal`], never changed afterwards.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Everything that a report may show; holds no secret.
    pub outline: Outline,
    /// The requests themselves, secrets included; index = series number = [`program::RequestId`].
    /// Empty when there is a script.
    pub requests: Vec<Request>,
    /// Users that do more than send the requests in their order.
    pub script: Option<Arc<script::Script>>,
    /// By workload: which scenario its iterations run.
    pub entries: Vec<script::Entry>,
    /// By workload: instants of recorded arrivals, ns from the start.
    pub recorded: Vec<Option<Arc<[u64]>>>,
    pub tls_files: link::TlsFiles,
    /// Of the monitors that ask by TLS.
    pub watch_trust: watch::Trust,
    /// What is watched beside the load; index = number in `outline.watches`.
    pub watches: Vec<watch::Watch>,
}
