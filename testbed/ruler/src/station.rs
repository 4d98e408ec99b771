//! An M/G/c/K station: c workers, a queue with a bound, first come first served.
//!
//! It works in the model's own time. A worker that becomes free at instant t takes the next request at
//! t, even when the loop notices a little later; otherwise each service would cost the timer's lateness
//! on top and the capacity would not be workers / service time.

use crate::timers::Ticket;
use std::collections::VecDeque;

#[derive(Default)]
pub(crate) struct Station {
    in_service: u64,
    waiting: VecDeque<(Ticket, u64)>,
    /// When each idle worker became free, earliest first; workers that never worked are not in it.
    idle_since_ns: VecDeque<u64>,
    longest: u64,
}

/// What became of a request offered to the station.
pub(crate) enum Admission {
    /// A worker takes it at this instant.
    Begins(u64),
    /// It waits.
    Waits,
    /// No worker and no place.
    Overflows,
}

impl Station {
    pub(crate) fn offer(&mut self, ticket: Ticket, arrive_ns: u64, workers: u64, places: u64) -> Admission {
        if self.in_service < workers {
            self.in_service += 1;
            // Arrivals are stamped with the loop's waking and may be handled after a service that ended
            // later; the worker must not begin before it is free.
            return Admission::Begins(arrive_ns.max(self.idle_since_ns.pop_front().unwrap_or(0)));
        }
        if self.waiting.len() as u64 >= places {
            return Admission::Overflows;
        }
        self.waiting.push_back((ticket, arrive_ns));
        self.longest = self.longest.max(self.waiting.len() as u64);
        Admission::Waits
    }

    /// A worker became free at `free_ns`.
    pub(crate) fn release(&mut self, free_ns: u64) {
        self.in_service = self.in_service.saturating_sub(1);
        self.idle_since_ns.push_back(free_ns);
    }

    /// The request that a free worker takes next, and the instant at which it begins. None without a
    /// free worker or a waiting request.
    pub(crate) fn take_next(&mut self, workers: u64) -> Option<(Ticket, u64)> {
        if self.in_service >= workers {
            return None;
        }
        let (ticket, arrive_ns) = self.waiting.pop_front()?;
        self.in_service += 1;
        Some((ticket, arrive_ns.max(self.idle_since_ns.pop_front().unwrap_or(0))))
    }

    /// The number of workers was changed at `now_ns`: nobody begins earlier than that.
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

    /// The most that ever waited at once since [`Station::forget`].
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    pub(crate) fn forget(&mut self) {
        self.longest = self.waiting.len() as u64;
    }
}
