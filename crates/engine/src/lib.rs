//! Runs a plan on cores: pacing, programs, connections, the kernel, the tally.
//!
//! [`start`] returns a [`Running`]; each worker thread hands over one interval per tick as a [`Report`]; a running
//! engine is controlled only by [`Command`]s. One worker's part of a [`Job`] runs over any [`driver::Door`], including
//! one without a kernel. This crate does not depend on percentiles, file formats, or its caller.

pub mod cache;
pub mod clock;
mod command;
mod compile;
mod delivery;
pub mod driver;
mod error;
mod exchange;
mod fault;
mod job;
mod lease;
pub mod link;
pub mod machine;
mod mailbox;
pub mod memory;
pub mod names;
pub mod origins;
pub mod probe;
pub mod route;
mod run;
mod sequence;
pub mod signals;
mod spread;
mod sys;
pub mod tally;
mod wheel;
mod worker;

pub use command::Command;
pub use error::Error;
pub use job::Job;
pub use run::{Commander, Finish, Gate, Next, Place, Report, Running, Scene, Stopped, start};
pub use worker::{Post, WorkerConfig, WorkerNotes};
