//! The requests that changed most: an overall difference often comes from one request.
//!
//! The means of all runs of a side are computed exactly, from means and counts. They have no intervals: with hundreds
//! of requests, each interval would have to be adjusted for all the others.

use super::types::{Moved, Side};
use std::collections::BTreeMap;

/// A mean of fewer samples varies by chance.
const FEWEST: u64 = 100;

/// Returns the requests that both sides have, the largest change in either direction first.
pub fn moved(a: &Side, b: &Side) -> Vec<Moved> {
    let (of_a, of_b) = (sums(a), sums(b));
    let both = |(name, (samples, sum)): (&&str, &(u64, f64))| {
        let (others, other) = of_b.get(name)?;
        let enough = *samples.min(others) >= FEWEST && *sum > 0.0 && *other > 0.0;
        enough.then(|| Moved {
            name: (*name).to_owned(),
            a_mean_ns: sum / *samples as f64,
            b_mean_ns: other / *others as f64,
            a_samples: *samples,
            b_samples: *others,
        })
    };
    let mut out: Vec<Moved> = of_a.iter().filter_map(both).collect();
    let far = |one: &Moved| (one.b_mean_ns / one.a_mean_ns).ln().abs();
    out.sort_by(|x, y| far(y).total_cmp(&far(x)));
    out
}

/// The number of samples and the sum of their times, by request.
fn sums(side: &Side) -> BTreeMap<&str, (u64, f64)> {
    let mut out: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for one in side.runs.iter().flat_map(|run| &run.by_request) {
        let known = out.entry(&one.name).or_default();
        known.0 += one.samples;
        known.1 += one.mean_ns * one.samples as f64;
    }
    out
}
