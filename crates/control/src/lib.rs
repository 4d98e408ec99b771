//! Life of a run, from a host name to its end: resolves the host, checks permission and that something listens,
//! starts the engine, gathers the workers' reports, and stops a ramp that mostly fails. Readers of a run receive
//! [`plimsoll_record::event::RunEvent`]s; a [`RunController`] steers it. Nothing here prints or depends on the format
//! of the plan's text.

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
mod race;
mod reach;
mod resolver;
mod run;
mod run_controller;
pub mod session;
mod stream;
pub mod watch;

pub use aside::{Aside, aside};
pub use dns::Resolved;
pub use error::Error;
pub use manual_control::{NOTE_CHARS, NOTES_MOST, can_rebalance};
pub use run::{Options, run};
pub use run_controller::RunController;
