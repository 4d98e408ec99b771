//! rewrk, by `src/results.rs`: one request in flight on each connection; mean, deviation, and extremes are of all
//! samples, but a line of its percentile table is the mean of the samples above that percentile, not a percentile.

use crate::tools::definitions::{Definitions, PLAIN};

pub const REWRK: Definitions =
    Definitions { name: "rewrk", window: 0.10, is_silent_on_success: true, ..PLAIN };
