//! The shapes of the responses to one request. A new shape late in a run means that the service has begun to respond
//! with something else.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Maximum number of shapes. For a request with more, changes are no longer counted.
const REMEMBERED: usize = 8;
/// Number of first responses in which new shapes are normal (empty lists, optional members).
const LEARNED_FROM: u32 = 20;

/// Shapes, shared by all users: relaxed atomics, with a few loads per response.
#[derive(Debug, Default)]
pub struct Shapes {
    /// 0 means free.
    seen: [AtomicU64; REMEMBERED],
    answers: AtomicU32,
}

impl Shapes {
    /// Records the shape of a response. Returns whether it counts as a change.
    pub fn note(&self, shape: u64) -> bool {
        let shape = shape.max(1);
        // Counts only as far as needed, because a shared counter moves between the caches of cores.
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
