//! Pacing is arithmetic: computes when each arrival or user is due, without a clock, a thread, or communication.

#![forbid(unsafe_code)]

mod arrivals;
mod share;
mod users;

pub use arrivals::Arrivals;
pub use share::WorkerSlot;
pub use users::Users;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod step_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests;
