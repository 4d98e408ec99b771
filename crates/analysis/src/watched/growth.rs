//! Memory that grows with each request, even in a run too short for a slope over time.
//!
//! The size is compared with the number of requests completed by each sample. If a process keeps memory for each
//! request, the result is a line, as steep in the second half as in the first. A heap that fills up to its usual
//! size, or a cache, is steep at first and flat later.

use crate::summary::{Course, Second};
use plimsoll_plan::watch::Unit;

/// Fewer looks show no line.
const LOOKS: usize = 5;
/// Minimum growth, as a share of the start and in bytes.
const SHARE: f64 = 0.25;
const BYTES: f64 = 16e6;
/// Per request.
const EACH: f64 = 256.0;
/// The second half is as steep as this share of the first.
const STEADY: f64 = 0.7;
/// A collector takes some back now and then: looks that lie lower than the one before, as a share.
const FALLS: f64 = 0.2;

/// Memory of one process that grew.
pub(crate) struct Growth {
    /// `api: rss`
    pub what: String,
    pub bytes: f64,
    pub requests: u64,
}

impl Growth {
    pub fn of(course: &Course, timeline: &[Second]) -> Option<Growth> {
        let is_memory = course.unit == Unit::Bytes && course.metric.contains("rss") && course.part.is_empty();
        if !is_memory {
            return None;
        }
        let finished = |until_s: f64| -> f64 {
            let share =
                |second: &Second| ((until_s - second.from_s) / second.length_s.max(1e-3)).clamp(0.0, 1.0);
            timeline.iter().map(|second| second.requests as f64 * share(second)).sum()
        };
        let points: Vec<(f64, f64)> =
            course.points.iter().map(|(at, bytes)| (finished(*at), *bytes)).collect();
        let (first, last) = (points.first()?, points.last()?);
        let middle = points.get(points.len() / 2)?;
        let (requests, bytes) = (last.0 - first.0, last.1 - first.1);
        let slope = |a: &(f64, f64), b: &(f64, f64)| (b.1 - a.1) / (b.0 - a.0).max(1.0);
        let falls = points.windows(2).filter(|pair| pair[1].1 < pair[0].1).count() as f64;
        let is_line =
            slope(middle, last) >= STEADY * slope(first, middle) && falls <= FALLS * points.len() as f64;
        let is_much = bytes >= BYTES && bytes >= SHARE * first.1 && bytes >= EACH * requests;
        (points.len() >= LOOKS && requests >= 1.0 && is_line && is_much).then(|| Growth {
            what: format!("{}: {}", course.monitor, super::short_name(&course.metric)),
            bytes,
            requests: requests as u64,
        })
    }
}
