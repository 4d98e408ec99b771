//! Virtual users as JavaScript: scripts of k6 as programs of the engine.
//!
//! Each worker has *pods*: a runtime of JavaScript with a part of the worker's users. A user's iteration runs on a
//! fiber. A call that has to wait, such as `http.get()`, puts its request into the outbox, suspends the fiber, and
//! continues when the engine wakes the user with the response. So a script is written as if it blocked, and thousands
//! of users share one thread.
//!
//! `native` has the functions that scripts call, `modules` those parts of k6's modules that are JavaScript themselves.
//! How users are isolated from each other is decided before the load ([`Isolation`]).

#![forbid(unsafe_code)]

mod builtins;
mod channel;
mod code;
mod event_loop;
mod grpc;
mod host;
mod http;
mod jar;
mod known;
mod log;
mod metrics;
mod modules;
mod native;
mod options;
mod pod;
mod remote;
mod samples;
mod settings;
mod source;
mod stage;
mod test;
mod user;
mod vu;

pub use builtins::BuiltIn;
pub use code::ScriptCode;
pub use grpc::{CompileSchemas, SchemaSource};
pub use log::{Level, Log, Message, Source};
pub use metrics::Defined as Metric;
pub use modules::{Builtin, resolve};
pub use options::{as_given, in_effect};
pub use remote::{Fetch, LOCK_FILE, RemoteModules};
pub use samples::SampleSink;
pub use settings::{HostRule, Isolation, ScenarioSettings, Secret, Settings};
pub use source::{Init, InitError, PhaseFailure, ReadFile, Script, Shared, handle_summary, initialize};
pub use stage::Stage;
pub use test::{Given, Ready, read};
