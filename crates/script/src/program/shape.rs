//! The shapes that the answers of one request have had: a new one late in a run says that the service has begun to
//! answer something else.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Most shapes remembered; a request with more has no shape to speak of, and nothing is counted any more.
const REMEMBERED: usize = 8;
/// While so many answers come in, new shapes are the variety of a healthy service (empty lists, optional members).
const LEARNED_FROM: u32 = 20;

/// Shared by all users: relaxed atomics, a handful of loads per answer.
#[derive(Debug, Default)]
pub struct Shapes {
    /// 0: free.
    seen: [AtomicU64; REMEMBERED],
    answers: AtomicU32,
}

impl Shapes {
    /// Notes the shape of an answer; true when it is to be counted as a change.
    pub fn note(&self, shape: u64) -> bool {
        let shape = shape.max(1);
        // Counted only as far as it matters: a counter written for ever would bounce between the cores.
        let learning = self.answers.load(Ordering::Relaxed) < LEARNED_FROM
            && self.answers.fetch_add(1, Ordering::Relaxed) < LEARNED_FROM;
        for cell in &self.seen {
            let mut found = cell.load(Ordering::Relaxed);
            if found == 0 {
                match cell.compare_exchange(0, shape, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return !learning,
                    Err(other) => found = other,
                }
            }
            if found == shape {
                return false;
            }
        }
        false
    }
}
