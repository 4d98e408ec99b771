//! The open model: due arrivals start iterations; those that find no free user wait with their intended start times.
//!
//! The queue of waiting arrivals is a second reader of the same sequence, so it uses no memory per arrival
//! (`docs/design/0002`).

use super::{Post, Source, Worker, Workload};
use crate::driver::Door;
use crate::exchange::Phase;
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist};
use std::ops::Range;

/// Most arrivals started at once; then responses are read, however late the sends are. Otherwise, an overloaded load
/// generator would leave responses unread and count that as the server's time.
const STARTED_AT_ONCE: u32 = 16;

impl<D: Door, P: Post> Worker<D, P> {
    /// Starts due arrivals for which a user is free: those due since `since_ns`, and those that waited for a user. Only
    /// the loop calls this: a user freed while its arrival is being started (its attempt failed immediately) must not
    /// add a stack level.
    #[inline]
    pub(super) fn start_due(&mut self, since_ns: u64) {
        for workload in 0..self.workloads.len() {
            self.start_due_of(workload, since_ns);
        }
    }

    #[inline]
    fn start_due_of(&mut self, workload: usize, since_ns: u64) {
        for _ in 0..STARTED_AT_ONCE {
            let Some(due_ns) = self.next_due_of(workload) else { break };
            if due_ns > self.now_ns
                || self.now_ns >= self.end_ns
                || (due_ns < since_ns && !self.is_starving(workload))
            {
                return;
            }
            if self.drops(workload) {
                self.drop_arrival(workload);
                continue;
            }
            // A program's steps are counted one by one as it requests them; with none left, there is nothing to begin.
            let left = match (self.programs.is_empty(), self.compiled.sequence.len()) {
                (true, 1) => true,
                (true, _) => self.lease.take(),
                (false, _) => !self.lease.is_drained(),
            };
            if !left {
                return self.no_more_arrivals(workload);
            }
            self.start_arrival(workload, due_ns);
            // Each send needs its own time, not that of the first one in the batch.
            self.tell_time();
        }
        self.note_starvation(workload);
    }

    /// Returns when the next arrival that can be started is due.
    #[inline]
    pub(super) fn next_due_ns(&self) -> Option<u64> {
        (0..self.workloads.len()).filter_map(|workload| self.next_due_of(workload)).min()
    }

    #[inline]
    fn next_due_of(&self, workload: usize) -> Option<u64> {
        // Nothing is begun during the graceful stop, so there is nothing to wait for.
        let begins = !self.paused && self.now_ns < self.end_ns;
        match &self.workloads[workload].source {
            Source::Open { arrivals, free, returned, drops, .. }
                if begins && (drops.is_some() || !free.is_empty()) =>
            {
                returned.front().copied().or(arrivals.peek_ns())
            }
            _ => None,
        }
    }

    fn start_arrival(&mut self, workload: usize, due_ns: u64) {
        let now_ns = self.now_ns;
        if self.is_starving(workload) {
            // The queue is longest just before it is served.
            self.count_waiting(workload, now_ns + 1);
        }
        let Source::Open { arrivals, free, returned, waiting, due, started, .. } =
            &mut self.workloads[workload].source
        else {
            return;
        };
        let Some((user, freed_ns)) = free.pop() else { return };
        let mut counted = false;
        if returned.pop_front().is_none() {
            arrivals.advance();
            *started += 1;
            if *started > *due {
                *due = *started;
                counted = true;
                if let Some(second) = waiting {
                    second.advance();
                }
            }
        }
        // It waited for a connection if none was free when it became due.
        let freed_ns = if waiting.is_some() { freed_ns } else { 0 };
        if waiting.is_some() && arrivals.peek_ns().is_none_or(|next| next > now_ns) && returned.is_empty() {
            *waiting = None;
        }
        self.tally.add(RunSum::Arrivals, u64::from(counted));
        if freed_ns > due_ns {
            self.tally.add(RunSum::ArrivalsQueued, 1);
            self.tally.record(RunHist::ConnWait, freed_ns - due_ns);
        }
        let could_ns = due_ns.max(freed_ns).max(self.resumed_ns);
        self.tally.record(RunHist::ScheduleLag, now_ns.saturating_sub(could_ns));
        self.begin_iteration(user, due_ns);
    }

    /// Returns whether an arrival that is due now is dropped.
    #[inline]
    fn drops(&self, workload: usize) -> bool {
        matches!(&self.workloads[workload].source, Source::Open { free, drops: Some(_), .. } if free.is_empty())
    }

    /// Drops the arrival that is due, and adds a user for later ones if there may be more.
    fn drop_arrival(&mut self, workload: usize) {
        let now_ns = self.now_ns;
        let Source::Open { arrivals, free, returned, due, started, drops, .. } =
            &mut self.workloads[workload].source
        else {
            return;
        };
        free.extend(drops.as_mut().and_then(Range::next).map(|user| (user, now_ns)));
        let mut counted = 0;
        if returned.pop_front().is_none() {
            arrivals.advance();
            *started += 1;
            counted = u64::from(*started > *due);
            *due = (*due).max(*started);
        }
        self.tally.add(RunSum::Arrivals, counted);
        self.tally.add(RunSum::ArrivalsNotStarted, 1);
        self.tally.add(RunSum::IterationsDropped, 1);
    }

    /// Drops the arrivals that are due while no user is free.
    fn drop_due(&mut self, workload: usize) {
        // No arrivals become due during a pause.
        let until_ns = self.paused_ns.min(self.now_ns.saturating_add(1));
        while self.drops(workload) && self.next_due_of(workload).is_some_and(|due_ns| due_ns < until_ns) {
            self.drop_arrival(workload);
        }
    }

    /// Returns whether arrivals are waiting for a user.
    fn is_starving(&self, workload: usize) -> bool {
        matches!(&self.workloads[workload].source, Source::Open { waiting: Some(_), .. })
    }

    /// If an arrival is due and no user is free, starts the queue: a second reader counts the arrivals that become due.
    /// Call it before a user is freed; otherwise, the wait would count as schedule lag.
    pub(super) fn note_starvation(&mut self, workload: usize) {
        if self.drops(workload) {
            return self.drop_due(workload);
        }
        let now_ns = self.now_ns;
        if let Source::Open { arrivals, free, waiting, drops: None, .. } =
            &mut self.workloads[workload].source
            && free.is_empty()
            && waiting.is_none()
            && arrivals.peek_ns().is_some_and(|t| t <= now_ns)
        {
            *waiting = Some(arrivals.clone());
        }
    }

    /// Counts the arrivals of all workloads that were due before `edge_ns` and still wait.
    pub(super) fn count_all_waiting(&mut self, edge_ns: u64) {
        let mut backlog = 0;
        for workload in 0..self.workloads.len() {
            backlog += self.count_waiting(workload, edge_ns);
        }
        self.tally.peak(RunPeak::ArrivalsQueued, backlog);
    }

    /// Counts the arrivals that were due before `edge_ns` and still wait; returns their number. No arrivals become due
    /// during a pause.
    fn count_waiting(&mut self, workload: usize, edge_ns: u64) -> u64 {
        self.note_starvation(workload);
        let edge_ns = edge_ns.min(self.paused_ns);
        let Source::Open { waiting, due, started, returned, .. } = &mut self.workloads[workload].source
        else {
            return 0;
        };
        let mut came = 0;
        if let Some(second) = waiting {
            while second.peek_ns().is_some_and(|t| t < edge_ns) {
                second.advance();
                came += 1;
            }
        }
        *due += came;
        let backlog = *due - *started + returned.len() as u64;
        self.tally.add(RunSum::Arrivals, came);
        self.tally.peak(RunPeak::ArrivalsQueued, backlog);
        backlog
    }

    /// Counts, at the stop, the arrivals that never got a connection.
    pub(super) fn arrivals_not_started(&mut self, workload: usize, end_ns: u64) {
        // Nothing becomes due after the end, even during a graceful stop.
        let end_ns = end_ns.min(self.end_ns);
        self.count_waiting(workload, end_ns);
        let paused_ns = self.paused_ns;
        let Workload { source, first, count, .. } = &mut self.workloads[workload];
        let Source::Open { arrivals, due, started, returned, .. } = source else { return };
        let waiting = *due - *started;
        let mut stamps: Vec<u64> = returned.drain(..).collect();
        let own = *first..*first + *count;
        let owed = self.exchanges.iter().filter(|e| e.phase == Phase::Owed && own.contains(&e.user));
        stamps.extend(owed.filter(|e| self.users[e.user as usize].at == 0).map(|e| e.intended_ns));
        // Their true response times are longer than this.
        for _ in 0..waiting {
            stamps.extend(arrivals.peek_ns());
            arrivals.advance();
        }
        *started = *due;
        // If the load generator stalled or could not keep up, it has not even processed the arrivals that became due in
        // the meantime.
        let mut unprocessed = 0;
        while let Some(stamp) = arrivals.peek_ns().filter(|t| *t < end_ns.min(paused_ns)) {
            stamps.push(stamp);
            arrivals.advance();
            unprocessed += 1;
        }
        self.tally.add(RunSum::Arrivals, unprocessed);
        self.tally.add(RunSum::ArrivalsUnprocessed, unprocessed);
        self.tally.add(RunSum::ArrivalsNotStarted, stamps.len() as u64);
        let first = self.first_request(workload);
        for stamp in stamps {
            self.tally.series(first).record(SeriesHist::ResponseCensored.id(), end_ns.saturating_sub(stamp));
            self.count_phases(first, [stamp, end_ns, end_ns, end_ns]);
        }
    }

    /// Returns the series of the first request that a workload would have sent. Setup and teardown requests, which are
    /// excluded from the results, may come before it.
    fn first_request(&self, workload: usize) -> u32 {
        if self.programs.is_empty() {
            return self.compiled.sequence.first().copied().unwrap_or(0);
        }
        let name = self.outline.workloads.get(workload).map(|workload| workload.name.as_str());
        let mut loaded =
            self.outline.requests.iter().enumerate().filter(|(_, request)| !request.is_outside_load);
        let first =
            loaded.clone().find(|(_, request)| request.scenario.as_deref() == name).or_else(|| loaded.next());
        first.map_or(0, |(request, _)| request as u32)
    }

    /// Sets aside the intended start times of all arrivals due before `until_ns`, so that the rest of the sequence can
    /// change.
    pub(super) fn set_aside(&mut self, workload: usize, until_ns: u64) {
        self.count_waiting(workload, until_ns);
        let Source::Open { arrivals, returned, due, started, .. } = &mut self.workloads[workload].source
        else {
            return;
        };
        let mut came = 0;
        while let Some(stamp) = arrivals.peek_ns().filter(|t| *t < until_ns) {
            returned.push_back(stamp);
            arrivals.advance();
            *started += 1;
            came += u64::from(*started > *due);
            *due = (*due).max(*started);
        }
        self.tally.add(RunSum::Arrivals, came);
    }

    /// Requeues the arrivals that were set aside after the sequence has changed.
    pub(super) fn requeue(&mut self, workload: usize) {
        if let Source::Open { arrivals, returned, waiting, .. } = &mut self.workloads[workload].source {
            *waiting = (!returned.is_empty()).then(|| arrivals.clone());
        }
    }

    pub(super) fn no_more_arrivals(&mut self, workload: usize) {
        let Source::Open { arrivals, waiting, due, started, .. } = &mut self.workloads[workload].source
        else {
            return;
        };
        arrivals.finish();
        *waiting = None;
        // The waiting ones became due and will not be sent.
        let left = *due - std::mem::replace(started, *due);
        self.tally.add(RunSum::ArrivalsNotStarted, left);
    }
}
