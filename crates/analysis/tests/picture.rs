//! What charts show of a run must be the run: sums, pooled percentiles, nothing lost, nothing mixed.

mod check;
mod events;
mod kinds;
mod rows;
mod spans;
