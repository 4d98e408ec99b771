//! Runs a plan on cores: pacing, programs, connections, the kernel, the tally.
//!
//! [`start`] gives a [`Running`]; each worker thread hands over an interval per tick as a [`Report`]; a running engine
//! is steered by [`Command`]s alone. One worker's part of a [`Job`] runs over any [`driver::Door`], also one that leads
//! to no kernel. Nothing here knows a percentile, a file format or who asked.

pub mod cache;
pub mod clock;
mod command;
mod compile;
pub mod driver;
mod error;
mod exchange;
mod fault;
mod job;
mod lease;
pub mod link;
pub mod machine;
pub mod memory;
mod pace;
pub mod probe;
mod run;
mod sequence;
pub mod signals;
mod sys;
pub mod tally;
mod wheel;
mod worker;

pub use command::Command;
pub use error::Error;
pub use job::Job;
pub use run::{Commander, Finish, Next, Place, Report, Running, Scene, Stopped, start};
pub use worker::{Post, WorkerConfig, WorkerNotes};
