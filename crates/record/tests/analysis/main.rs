//! From a record to a verdict: synthetic runs, one doubt at a time.

mod cautions;
mod figures;
mod fixture;
mod merged;
mod percentiles;
mod spikes;
mod thresholds;
mod verdict;
