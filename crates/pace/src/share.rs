//! Distribution of work without communication: worker w of machine i takes every n-th arrival and every n-th user.

use plimsoll_plan::load::Share;

/// A worker's position among all workers of all machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSlot {
    /// Number of the first own arrival or user.
    pub offset: u64,
    /// Distance to the next one.
    pub stride: u64,
}

impl WorkerSlot {
    /// Arrivals rotate over the machines first, then over the workers: machine i of n gets k = i - 1 (mod n).
    pub fn new(share: Share, worker: u32, workers: u32) -> WorkerSlot {
        let machines = u64::from(share.of);
        WorkerSlot {
            offset: u64::from(worker) * machines + u64::from(share.part - 1),
            stride: machines * u64::from(workers),
        }
    }

    /// Returns how many of the first `total` numbers belong to this worker.
    pub fn count_of(self, total: u64) -> u64 {
        if total > self.offset { (total - self.offset - 1) / self.stride + 1 } else { 0 }
    }
}
