//! `-n`: requests counted over all workers are leased to them in blocks, so that the hot path counts down without
//! sharing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The remaining requests, shared by all workers of this machine.
#[derive(Debug)]
pub struct RequestBudget {
    left: AtomicU64,
    workers: u64,
    /// Workers that have ended.
    ended: AtomicU64,
    /// Users of all workers.
    users: u64,
}

impl RequestBudget {
    /// `users` is the number of users of all workers; 0 for arrivals.
    pub fn new(total: u64, workers: u32, users: u64) -> Arc<RequestBudget> {
        Arc::new(RequestBudget {
            left: AtomicU64::new(total),
            workers: u64::from(workers),
            ended: AtomicU64::new(0),
            users,
        })
    }

    /// Blocks shrink towards the end, so that no worker holds requests that another could send. If there are no more
    /// than one for each user, users take single ones: otherwise, those of one worker would send the rest of its block
    /// after their first ones, while users of another worker get none.
    fn draw(&self) -> u64 {
        let mut left = self.left.load(Ordering::Relaxed);
        loop {
            let spare = left.saturating_sub(self.users);
            let block = (spare / (self.workers * 8)).clamp(1, 4_096).min(left);
            match self.left.compare_exchange_weak(left, left - block, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return block,
                Err(seen) => left = seen,
            }
        }
    }
}

/// One worker's part; without a budget there is no limit.
#[derive(Debug)]
pub struct Lease {
    pot: Option<Arc<RequestBudget>>,
    held: u64,
    exhausted: bool,
}

impl Lease {
    pub fn new(pot: Option<Arc<RequestBudget>>) -> Lease {
        Lease { pot, held: 0, exhausted: false }
    }

    /// Takes the right to one request.
    #[inline]
    pub fn take(&mut self) -> bool {
        let Some(pot) = &self.pot else { return true };
        if self.held == 0 {
            self.held = pot.draw();
        }
        self.exhausted = self.held == 0;
        self.held = self.held.saturating_sub(1);
        !self.exhausted
    }

    /// Returns whether nothing is held and the budget is empty, so that the next `take` will fail.
    pub fn is_drained(&self) -> bool {
        self.held == 0 && self.pot.as_ref().is_some_and(|pot| pot.left.load(Ordering::Relaxed) == 0)
    }

    /// Gives up what is held, when the worker ends, and as the last worker also what none has drawn: until then, users
    /// of others may draw it. Returns its number; 0 without a budget.
    pub fn give_up(&mut self) -> u64 {
        let is_last = |pot: &&Arc<RequestBudget>| pot.ended.fetch_add(1, Ordering::AcqRel) + 1 == pot.workers;
        let left = self.pot.as_ref().filter(is_last).map_or(0, |pot| pot.left.swap(0, Ordering::Relaxed));
        left + std::mem::take(&mut self.held)
    }

    /// Returns whether the last `take` failed.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }
}

#[cfg(test)]
mod tests;
