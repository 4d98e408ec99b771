//! An M/G/c/K queue model: c workers and a bounded queue, first come first served.
//!
//! It runs in model time. A worker that becomes free at time t takes the next request at t, even if the loop
//! notices a little later. Otherwise, the delay of the timer would add to each service time, and the capacity
//! would not be workers / service time.

use crate::timers::Ticket;
use std::collections::VecDeque;

#[derive(Default)]
pub(crate) struct Station {
    in_service: u64,
    waiting: VecDeque<(Ticket, u64)>,
    /// When each idle worker became free, earliest first, without workers that have never worked.
    idle_since_ns: VecDeque<u64>,
    longest: u64,
}

/// The result of offering a request to the station.
pub(crate) enum Admission {
    /// A worker takes it at this time.
    Begins(u64),
    /// It waits in the queue.
    Waits,
    /// No worker is free, and the queue is full.
    Overflows,
}

impl Station {
    pub(crate) fn offer(&mut self, ticket: Ticket, arrive_ns: u64, workers: u64, places: u64) -> Admission {
        if self.in_service < workers {
            self.in_service += 1;
            // An arrival has the timestamp of the loop's wake-up, and may be handled after a service that ended
            // later. The worker must not start before it is free.
            return Admission::Begins(arrive_ns.max(self.idle_since_ns.pop_front().unwrap_or(0)));
        }
        if self.waiting.len() as u64 >= places {
            return Admission::Overflows;
        }
        self.waiting.push_back((ticket, arrive_ns));
        self.longest = self.longest.max(self.waiting.len() as u64);
        Admission::Waits
    }

    /// Marks a worker as free since `free_ns`.
    pub(crate) fn release(&mut self, free_ns: u64) {
        self.in_service = self.in_service.saturating_sub(1);
        self.idle_since_ns.push_back(free_ns);
    }

    /// Returns the request that a free worker takes next, and when its service starts. None without a free worker
    /// or a waiting request.
    pub(crate) fn take_next(&mut self, workers: u64) -> Option<(Ticket, u64)> {
        if self.in_service >= workers {
            return None;
        }
        let (ticket, arrive_ns) = self.waiting.pop_front()?;
        self.in_service += 1;
        Some((ticket, arrive_ns.max(self.idle_since_ns.pop_front().unwrap_or(0))))
    }

    /// Adapts to a number of workers that changed at `now_ns`: no service starts earlier.
    pub(crate) fn restaff(&mut self, workers: u64, now_ns: u64) {
        self.idle_since_ns.clear();
        let idle = workers.saturating_sub(self.in_service).min(self.waiting.len() as u64);
        self.idle_since_ns.extend((0..idle).map(|_| now_ns));
    }

    pub(crate) fn in_service(&self) -> u64 {
        self.in_service
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Returns the peak of the queue since [`Station::clear`].
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    pub(crate) fn clear(&mut self) {
        self.longest = self.waiting.len() as u64;
    }
}
