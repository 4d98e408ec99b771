//! A run's life, from a host name to an ending: resolve it, ask whether it may be loaded, look whether
//! anybody listens, start the engine, gather what its workers report, and stop a ramp that only makes errors.
//!
//! What a reader sees of a run are [`plimsoll_record::event::RunEvent`]s; what steers it is a [`RunController`].
//! Nothing here prints, and nothing here knows which text the plan came from.

#![forbid(unsafe_code)]

mod aside;
pub mod breaker;
pub mod dns;
pub mod environment;
mod error;
pub mod fetch;
pub mod gather;
mod manual_control;
pub mod monitor;
pub mod permission;
pub mod place;
mod reach;
mod run;
mod run_controller;
pub mod session;
mod stream;
pub mod watch;

pub use aside::{Aside, aside};
pub use dns::Resolved;
pub use error::Error;
pub use manual_control::{NOTE_CHARS, NOTES_MOST};
pub use run::{Options, run};
pub use run_controller::RunController;
