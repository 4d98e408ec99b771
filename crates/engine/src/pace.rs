//! Pacing is arithmetic: which arrival or user is due when, computed without a clock, a thread or a neighbour.

mod arrivals;
mod share;
mod users;

pub use arrivals::Arrivals;
pub use share::WorkerSlot;
pub use users::Users;

#[cfg(test)]
mod tests;
