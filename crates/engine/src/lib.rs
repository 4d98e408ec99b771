//! Runs a plan on cores: pacing, programs, connections, the kernel, the tally.
//!
//! [`start`] gives a [`Running`]; each worker thread hands over an interval per tick as a [`Report`]; a running engine
//! is steered by [`Command`]s alone. Nothing here knows a percentile, a file format or who asked.

pub mod cache;
pub mod clock;
mod command;
pub mod compile;
mod conn;
pub mod driver;
mod error;
mod fault;
pub mod lease;
pub mod link;
pub mod machine;
pub mod memory;
pub mod pace;
pub mod probe;
mod run;
pub mod sequence;
pub mod signals;
mod sys;
pub mod tally;
pub mod wheel;
pub mod worker;

pub use command::Command;
pub use error::Error;
pub use run::{Commander, Finish, Next, Report, Running, Scene, Stopped, start};
