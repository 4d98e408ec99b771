//! Pacing is arithmetic: computes when each arrival or user is due, without a clock, a thread, or communication.

mod arrivals;
mod share;
mod users;

pub use arrivals::Arrivals;
pub use share::WorkerSlot;
pub use users::Users;

#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
