//! The verdict's rule: for each threshold the best and the worst value that all named doubts allow together. Both meet
//! the limit: met; both miss it: missed; else undecided, with the doubts that keep it so and their sizes.
//!
//! Doubts have a direction. What the load generator lacked (a CPU in time, its own process) can only have made times
//! longer, so it moves the low end; what was never made, never recorded or cut off moves the ends that it may.

mod delay;
mod grounds;
mod queue;
mod span;

pub(super) use delay::Course;
pub(super) use grounds::{Grounds, Look, missed_arrivals};
pub(super) use span::settle;
