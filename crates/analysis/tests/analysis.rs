//! From a record to a verdict: synthetic runs, one doubt at a time.

mod apdex;
mod availability;
mod availability_parts;
mod bounds;
mod causes;
mod cautions;
mod figures;
pub mod fixture;
mod merged;
mod metrics;
mod percentiles;
mod programs;
mod scripted;
mod slices;
mod spikes;
mod steered;
mod streams;
mod thresholds;
mod traps;
mod truths;
mod verdict;
mod watched;
mod windows;
