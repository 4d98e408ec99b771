//! The data types of an experiment, without I/O, clocks, threads, and file formats.
//!
//! All inputs (flags, YAML, later k6 and JMX) become one [`draft::Draft`]. [`seal::seal`] turns a draft into the
//! [`Plan`] that the engine runs, or returns all diagnostics at once. The tables that other crates share (faults,
//! metrics, limits) are here too, so that each name is defined once.

#![forbid(unsafe_code)]

pub mod address;
pub mod answer;
pub mod auth;
pub mod calendar;
pub mod cipher;
pub mod code;
pub mod css;
pub mod data;
pub mod delivery;
pub mod diag;
pub mod draft;
pub mod experiment;
pub mod failure_example;
pub mod fault;
pub mod grpc;
pub mod head;
pub mod inputs;
pub mod limit;
pub mod link;
pub mod load;
pub mod metric;
pub mod origin;
pub mod outline;
pub mod phrase;
pub mod policy;
pub mod program;
pub mod redis;
pub mod reference;
pub mod request;
pub mod route;
pub mod scale;
pub mod script;
pub mod seal;
pub mod series;
pub mod setup_values;
pub mod sizing;
pub mod status;
pub mod stream;
pub mod threshold;
pub mod unit;
pub mod value;
pub mod watch;
pub mod websocket;

pub use diag::{Diagnostic, Problem};
pub use draft::Draft;
pub use fault::{Fault, Side};
pub use outline::Outline;
pub use request::{Request, Target};

use std::sync::Arc;

/// A plan for the engine: validated by [`seal::seal`] and never changed afterwards.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Everything that a report may show, without secrets.
    pub outline: Outline,
    /// The requests, with secrets, by series number, which is also their [`program::RequestId`]. Empty if there is a
    /// script.
    pub requests: Vec<Request>,
    /// The script of users that do more than send the requests in sequence.
    pub script: Option<Arc<script::Script>>,
    /// The users of a plan without requests and script.
    pub code: Option<Arc<dyn code::Code>>,
    /// The scenario of each workload. Programs of code find theirs by [`program::UserSlot::workload`].
    pub entries: Vec<script::Entry>,
    /// The recorded arrivals of each workload, in ns from the start.
    pub recorded: Vec<Option<Arc<[u64]>>>,
    pub tls_files: link::TlsFiles,
    /// The TLS settings of origins that are found during the run.
    pub found_tls: Option<link::Tls>,
    /// The trust settings of monitors that use TLS.
    pub watch_trust: watch::Trust,
    /// The monitors, by their index in `outline.monitors`.
    pub watches: Vec<watch::Watch>,
    /// The gRPC service that must be healthy before the load; an empty name means the server as a whole.
    pub health: Option<String>,
}
