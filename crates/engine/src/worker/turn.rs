//! The event loop of one worker: waits, reads, sends what is due, and hands over an interval at each tick.

use super::config::level;
use super::{Post, Source, Worker, WorkerNotes};
use crate::driver::{CpuReading, Door, TcpFacts};
use crate::tally::ServiceStall;
use crate::{Command, Stopped, memory};
use plimsoll_pace::Users;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum};

/// Just before a due arrival, only the clock is read: a poll would cost up to a microsecond.
const CLOCK_ONLY_NS: u64 = 3_000;
/// Longest sleep, so that a suspension of this process during a sleep is noticed if it is much longer than this.
const SLEEP_MAX_NS: u64 = 100_000_000;
/// Connections whose TCP counters are read at each tick.
const SAMPLED_PER_TICK: usize = 32;
/// A step of the clock beyond any sleep that is longer than this is a stall of the load generator.
const STALL_NS: u64 = 100_000_000;
/// A tick handed over later than this after its edge counts as late.
const LATE_TICK_NS: u64 = 100_000_000;
/// If all users of a worker wait this long for a response, the service has stalled.
const SERVICE_STALL_NS: u64 = 10_000_000;
/// Fewer arrivals waiting together are single slow requests.
const SERVICE_STALL_ARRIVALS: u64 = 5;

impl<D: Door, P: Post> Worker<D, P> {
    /// Runs to the end; returns the reason for the end and its time (ns from the start).
    pub(super) fn run(mut self) -> (Stopped, u64) {
        self.tell_time();
        loop {
            self.obey();
            self.tell_time();
            if self.looking_up > 0 {
                self.take_answers();
            }
            if self.reaching > 0 {
                self.take_reached();
            }
            self.start_due(0);
            self.flush_dirty();
            self.timers();
            if self.napping > 0 {
                self.wake_sleepers();
            }
            if !self.to_end.is_empty() {
                self.end_cancelled();
            }
            self.flush_dirty();
            if let Some(why) = self.over() {
                return self.finish(why);
            }
            let since_ns = self.now_ns;
            let ready = self.wait();
            if ready > 0 || self.is_behind() {
                let turn_begin_ns = self.take_events_of(ready, since_ns);
                self.read_on(since_ns);
                if let Some(stall) = self.tally.stall() {
                    self.stall_over(&stall);
                }
                let turn_ns = self.door.now_ns().saturating_sub(turn_begin_ns);
                self.tally.record(RunHist::LoopTime, turn_ns);
                self.tally.peak(RunPeak::LoopTimeNs, turn_ns);
                self.tally.add(RunSum::LoopIterations, 1);
            }
        }
    }

    /// Handles a period in which no request ended: it is a stall of the service if all users waited for a response, or
    /// if arrivals kept coming and waited.
    fn stall_over(&mut self, stall: &ServiceStall) {
        let (mut users, mut is_open) = (0, false);
        for workload in &self.workloads {
            match &workload.source {
                Source::Closed { active, .. } => users += u64::from(*active),
                Source::Open { .. } => is_open = true,
            }
        }
        // One user in ten may be connecting, or paused after a failure.
        let (all_wait, since_ns) = match is_open {
            true => (stall.waiting >= SERVICE_STALL_ARRIVALS, stall.since_ns),
            false => (users > 0 && stall.waiting * 10 >= users * 9, stall.moved_ns),
        };
        let length_ns = stall.end_ns.saturating_sub(since_ns);
        if all_wait && length_ns >= SERVICE_STALL_NS {
            self.tally.record(RunHist::ServiceStall, length_ns);
        }
    }

    /// Sleeps, busy-polls, or only collects events, and sets the time; returns the number of events.
    fn wait(&mut self) -> usize {
        let due_ns = self.next_due_ns().unwrap_or(u64::MAX);
        let end_ns = if self.now_ns < self.end_ns { self.end_ns } else { self.cut_ns };
        let nap_ns = if self.napping > 0 { self.nap_wheel.next_ns() } else { None };
        let piece_ns = self.courier.as_mut().and_then(|courier| courier.wheel.next_ns());
        let other_ns = [
            self.exchange_wheel.next_ns(),
            self.next_opening_ns(),
            nap_ns,
            piece_ns,
            self.next_level_change_ns(),
            Some(self.next_stop_ns),
        ]
        .into_iter()
        .flatten()
        .fold((self.now_ns + SLEEP_MAX_NS).min(self.tick_end_ns).min(end_ns), u64::min);
        let now_ns = self.now_ns;
        if due_ns <= now_ns || self.is_behind() {
            // Sends are late: check for responses without sleeping.
            return self.collect(0);
        }
        let spin_from_ns = due_ns.saturating_sub(self.outline.limits.spin_ns);
        if spin_from_ns > now_ns {
            return self.collect(spin_from_ns.min(other_ns).saturating_sub(now_ns));
        }
        // Busy-poll until the next send is due; responses that arrive in the meantime are handled immediately.
        loop {
            let before_ns = self.now_ns;
            if due_ns.saturating_sub(before_ns) > CLOCK_ONLY_NS {
                let ready = self.collect(0);
                if ready > 0 {
                    self.spin_ns += before_ns - now_ns;
                    return ready;
                }
            } else {
                self.tell_time();
            }
            if self.now_ns >= due_ns || self.now_ns >= other_ns {
                self.spin_ns += self.now_ns - now_ns;
                return 0;
            }
        }
    }

    /// Collects the kernel's events after sleeping at most `sleep_ns`, and sets the time.
    #[inline]
    fn collect(&mut self, sleep_ns: u64) -> usize {
        let ready = self.door.wait(sleep_ns);
        self.set_time(self.now_ns + sleep_ns);
        ready
    }

    /// Reads the clock. Every reading goes through here, so that no second is handed over late and no stall is missed.
    #[inline]
    pub(super) fn tell_time(&mut self) {
        self.set_time(self.now_ns);
    }

    /// Sets the time, which is expected to be at most about `expected_ns`.
    #[inline]
    fn set_time(&mut self, expected_ns: u64) {
        self.now_ns = self.door.now_ns();
        let stall_ns = self.now_ns.saturating_sub(expected_ns);
        if stall_ns > STALL_NS {
            self.tally.add(RunSum::Stalls, 1);
            self.tally.add(RunSum::StalledNs, stall_ns);
            self.tally.hear(self.now_ns);
        }
        if self.now_ns >= self.tick_end_ns {
            self.tick_edges();
        }
    }

    fn next_level_change_ns(&self) -> Option<u64> {
        // During the graceful stop, no user starts.
        if self.paused || self.now_ns >= self.end_ns {
            return None;
        }
        let changes = self.workloads.iter().filter_map(|workload| match &workload.source {
            Source::Closed { next_change_ns, .. } => *next_change_ns,
            Source::Open { .. } => None,
        });
        changes.min()
    }

    fn timers(&mut self) {
        let mut due = std::mem::take(&mut self.due_timers);
        self.exchange_wheel.expire(self.now_ns, &mut due);
        for id in due.drain(..) {
            match self.exchanges[id as usize].due_ns() {
                0 => {}
                due_ns if due_ns > self.now_ns => self.exchange_wheel.arm(id, due_ns),
                _ => self.exchange_due(id),
            }
        }
        self.due_timers = due;
        if self.courier.is_some() {
            self.deliver_due();
        }
        while self.next_opening_ns().is_some_and(|due_ns| due_ns <= self.now_ns) {
            if let Some(id) = self.openings.take() {
                self.link_due(id);
            }
        }
        if self.next_level_change_ns().is_some_and(|t| t <= self.now_ns) {
            self.change_level();
        }
        if self.next_stop_ns <= self.now_ns {
            self.interrupt_due();
        }
    }

    /// Returns why the worker is done, if it is.
    fn over(&self) -> Option<Stopped> {
        if self.stop.is_some() {
            return self.stop;
        }
        if self.now_ns >= self.end_ns {
            // The graceful stop is for iterations in progress and ends with them.
            return (self.now_ns >= self.cut_ns || self.under_way == 0).then_some(Stopped::Duration);
        }
        if self.outstanding > 0 || self.owing > 0 || self.napping > self.resting || self.reaching > 0 {
            return None;
        }
        let leased_out = self.lease.is_exhausted() || self.lease.is_drained();
        let mut retired = 0;
        for workload in &self.workloads {
            let done = self.now_ns >= workload.end_ns
                || match &workload.source {
                    // A user that has not started yet will not find any left, either.
                    Source::Closed { .. } => {
                        let iterated = workload.iterations.is_exhausted() || workload.iterations.is_drained();
                        leased_out || iterated || workload.retired >= workload.count
                    }
                    Source::Open { arrivals, returned, .. } => {
                        (arrivals.is_limit_reached() && returned.is_empty()) || self.lease.is_exhausted()
                    }
                };
            if !done {
                return None;
            }
            retired += workload.retired;
        }
        Some(if retired > 0 && !leased_out { Stopped::Retired } else { Stopped::Requests })
    }

    fn obey(&mut self) {
        let mut commands = std::mem::take(&mut self.commands);
        self.post.commands(&mut commands);
        for command in commands.drain(..) {
            match command {
                Command::Stop => self.stop = Some(Stopped::Command),
                Command::Pause => self.pause_all(),
                Command::Resume => self.resume(),
                // A level that is not a finite number is ignored.
                Command::SetLevel(to) if to.is_finite() => self.set_level(to.max(0.0)),
                Command::SetLevel(_) => {}
            }
        }
        self.commands = commands;
        if memory::is_used_up() {
            self.stop = Some(Stopped::Command);
        }
    }

    fn set_level(&mut self, to: f64) {
        let now_ns = self.door.now_ns();
        let seat = self.seat;
        // Of several load models, one is controlled: the one that is made for it, or the first.
        let plans = &self.outline.workloads;
        let controlled = plans.iter().position(|plan| plan.rules.capacity.is_some()).unwrap_or(0);
        self.set_aside(controlled, now_ns.min(self.paused_ns));
        let workload = &mut self.workloads[controlled];
        match &mut workload.source {
            Source::Closed { users, next_change_ns, .. } => {
                // Users beyond those created at the start would allocate on the hot path.
                let most = f64::from(workload.count) * seat.stride as f64 + seat.offset as f64;
                let left_ns = workload.end_ns.saturating_sub(now_ns);
                *users = Users::new(level(to.min(most), left_ns), seat, now_ns);
                *next_change_ns = Some(now_ns);
            }
            Source::Open { arrivals, .. } => {
                arrivals.skip_until(now_ns);
                arrivals.set_rate(now_ns, to);
            }
        }
        self.requeue(controlled);
    }

    fn pause_all(&mut self) {
        if !self.paused {
            let now_ns = self.door.now_ns();
            // No user is active from this moment.
            self.integrate_users(now_ns);
            (self.paused, self.paused_ns) = (true, now_ns);
        }
    }

    fn resume(&mut self) {
        if !self.paused {
            return;
        }
        let now_ns = self.door.now_ns();
        self.integrate_users(now_ns);
        self.paused = false;
        for workload in 0..self.workloads.len() {
            // Arrivals that waited when the pause began continue to wait.
            self.set_aside(workload, self.paused_ns);
        }
        (self.paused_ns, self.resumed_ns) = (u64::MAX, now_ns);
        for workload in 0..self.workloads.len() {
            match &mut self.workloads[workload].source {
                // Arrivals due during the pause were not offered.
                Source::Open { arrivals, .. } => arrivals.skip_until(now_ns),
                Source::Closed { active, next_change_ns, .. } => {
                    // Every user that stopped at the pause starts again.
                    *active = 0;
                    *next_change_ns = Some(now_ns);
                }
            }
            self.requeue(workload);
        }
    }

    /// Hands over every tick that has ended.
    fn tick_edges(&mut self) {
        while self.now_ns >= self.tick_end_ns && self.tick_end_ns < self.cut_ns {
            let edge_ns = self.tick_end_ns;
            if self.now_ns - edge_ns > LATE_TICK_NS {
                self.tally.add(RunSum::IntervalsLate, 1);
            }
            self.sample_connections(SAMPLED_PER_TICK);
            self.close_books(edge_ns);
            self.hand_over(edge_ns, false);
            self.tick += 1;
            self.tick_end_ns = self.begin_ns + self.outline.tick_bounds_ns(self.tick).1;
        }
    }

    /// Closes the sums that are integrals over the tick.
    fn close_books(&mut self, edge_ns: u64) {
        self.count_all_waiting(edge_ns.min(self.end_ns));
        self.integrate_users(edge_ns);
        self.sample_users();
        let wall_ns = edge_ns.saturating_sub(self.tick_begin_ns);
        let cpu = self.door.cpu();
        // After a stall, several ticks are closed at once, and the first would get the CPU time of all: each tick gets
        // at most its own length, and the rest is left for the next one.
        let used_ns = cpu.thread_cpu_ns.saturating_sub(self.cpu.thread_cpu_ns).min(wall_ns);
        let queue_ns = cpu.run_queue_ns.saturating_sub(self.cpu.run_queue_ns).min(wall_ns - used_ns);
        let spin_ns = std::mem::take(&mut self.spin_ns).min(wall_ns);
        self.tally.add(RunSum::WallNs, wall_ns);
        self.tally.add(RunSum::BusyPollNs, spin_ns);
        self.tally.add(RunSum::BusyNs, used_ns.saturating_sub(spin_ns));
        self.tally.add(RunSum::CpuWaitNs, queue_ns);
        self.tally.add(RunSum::IdleNs, wall_ns - used_ns - queue_ns);
        self.tally.add(RunSum::StealNs, cpu.steal_ns.saturating_sub(self.cpu.steal_ns));
        self.tally.add(RunSum::HostBusyNs, cpu.host_busy_ns.saturating_sub(self.cpu.host_busy_ns));
        self.cpu = CpuReading {
            thread_cpu_ns: self.cpu.thread_cpu_ns + used_ns,
            run_queue_ns: self.cpu.run_queue_ns + queue_ns,
            ..cpu
        };
        self.tick_begin_ns = edge_ns;
    }

    fn hand_over(&mut self, edge_ns: u64, last: bool) {
        let blank =
            || Box::new(crate::tally::blank(&self.outline, self.series - self.outline.series_count()));
        let fresh = self.post.spare().unwrap_or_else(blank);
        let refused = self.book.take_refused();
        self.tally.add(RunSum::SeriesRejected, refused);
        let full = self.tally.swap(self.tick, fresh, (&self.book, self.series), edge_ns);
        // What is open across the edge is open in the new tick from its beginning.
        self.tally.peak(RunPeak::Connections, self.open_sockets);
        self.tally.peak(RunPeak::Streams, self.streams);
        let opened = self.book.opened()[self.told_series..].to_vec();
        self.told_series += opened.len();
        self.post.hand_over(full, WorkerNotes { samples: std::mem::take(&mut self.samples), opened }, last);
    }

    /// Reads the kernel's TCP counters of some connections; over several ticks, of all.
    fn sample_connections(&mut self, most: usize) {
        let len = self.links.len();
        for _ in 0..most.min(len) {
            self.sampled = (self.sampled + 1) % len;
            let link = &self.links[self.sampled];
            if link.socket >= 0 && !link.is_opening() {
                self.read_facts(self.sampled as u32);
            }
        }
    }

    /// Adds the changes of the TCP counters since the last reading; returns all counters.
    pub(super) fn read_facts(&mut self, id: u32) -> TcpFacts {
        let link = &mut self.links[id as usize];
        let facts = self.door.facts(link.socket);
        let news = facts.retransmits.saturating_sub(link.retransmits_seen);
        link.retransmits_seen = facts.retransmits.max(link.retransmits_seen);
        self.tally.add(RunSum::Retransmits, u64::from(news));
        if facts.min_rtt_ns > 0 {
            self.tally.floor(RunFloor::RttNs, facts.min_rtt_ns);
        }
        facts
    }

    /// Counts users of arrivals that may be dropped: they exist as arrivals need them.
    fn sample_users(&mut self) {
        for workload in &self.workloads {
            if let Source::Open { free, drops: Some(later), .. } = &workload.source {
                let users = u64::from(workload.count).saturating_sub(later.len() as u64);
                self.tally.add(RunSum::ArrivalUsers, users);
                self.tally.add(RunSum::ArrivalUsersBusy, users.saturating_sub(free.len() as u64));
            }
        }
    }

    /// Counts users of the closed model with and without a successful request. Users of the open model are connections
    /// that any arrival may take.
    fn count_users(&mut self) {
        for workload in
            self.workloads.iter().filter(|workload| matches!(workload.source, Source::Closed { .. }))
        {
            let users = &self.users[workload.first as usize..(workload.first + workload.count) as usize];
            let begun = users.iter().filter(|user| user.begun);
            let unserved = begun.clone().filter(|user| !user.served).count() as u64;
            self.tally.add(RunSum::UsersActive, begun.count() as u64);
            self.tally.add(RunSum::UsersWithoutSuccess, unserved);
        }
    }

    fn finish(mut self, why: Stopped) -> (Stopped, u64) {
        let end_ns = match why {
            // With a graceful stop, the run lasts until the last iteration ends.
            Stopped::Duration => self.ended_ns.max(self.end_ns).max(self.tick_begin_ns).min(self.cut_ns),
            Stopped::Command => self.now_ns.min(self.cut_ns),
            // A worker without work may notice late that there is none left; that time is not part of the run.
            Stopped::Requests | Stopped::Retired => self.ended_ns.max(self.tick_begin_ns).min(self.now_ns),
        };
        for id in 0..self.exchanges.len() as u32 {
            self.cut_off(id, end_ns);
        }
        for id in 0..self.links.len() as u32 {
            let link = &self.links[id as usize];
            if link.socket >= 0 {
                self.tally.add(RunSum::OpenAtEnd, u64::from(!link.is_opening()));
                self.close_socket(id);
            }
        }
        for workload in 0..self.workloads.len() {
            self.arrivals_not_started(workload, end_ns);
        }
        if !self.programs.is_empty() {
            self.tally.add(RunSum::IterationsInterrupted, self.under_way);
        }
        if why != Stopped::Command {
            self.count_dropped();
        }
        self.count_users();
        self.close_books(end_ns);
        self.hand_over(end_ns, true);
        (why, end_ns.saturating_sub(self.begin_ns))
    }
}
