//! From a record to a verdict: synthetic runs, one doubt at a time.

// Clippy sees tests only in functions marked as such; the fixture is one of their tools.
#![allow(clippy::unwrap_used)]

mod apdex;
mod bounds;
mod causes;
mod cautions;
mod figures;
mod fixture;
mod merged;
mod percentiles;
mod scripted;
mod slices;
mod spikes;
mod steered;
mod streams;
mod thresholds;
mod traps;
mod verdict;
mod watched;
mod windows;
