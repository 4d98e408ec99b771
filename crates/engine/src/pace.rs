//! Pacing is arithmetic: which arrival or user is due when, computed without a clock, a thread or a neighbour.

pub mod arrivals;
pub mod share;
pub mod users;

pub use arrivals::Arrivals;
pub use share::Seat;
pub use users::Users;
