//! Decides which user sends next: users of the closed model start iterations, ended steps continue them, and iterations
//! end.

use super::exchange::{Bytes, End};
use super::{Post, Source, Worker};
use crate::driver::Door;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::program::{Step, Wake};
use plimsoll_wire::h1::Answer;
use std::sync::atomic::Ordering;

/// Pause after an iteration that sent nothing: short enough for mixes in which some iterations do nothing.
const NOTHING_SENT_NS: u64 = 1_000_000;

impl<D: Door, P: Post> Worker<D, P> {
    // ---- the closed model -----------------------------------------------------------------------------------

    /// Starts users, or lowers their number: a user above it stops at the end of its iteration.
    pub(super) fn change_level(&mut self) {
        let now_ns = self.now_ns;
        self.integrate_users(now_ns);
        for workload in 0..self.workloads.len() {
            let first = self.workloads[workload].first;
            let count = self.workloads[workload].count;
            let Source::Closed { users, active, next_change_ns } = &mut self.workloads[workload].source
            else {
                continue;
            };
            if next_change_ns.is_none_or(|t| t > now_ns) {
                continue;
            }
            let before = *active;
            let after = users.active_at(now_ns).min(count);
            *next_change_ns = users.next_change_ns(now_ns);
            *active = after;
            self.level_stops(workload, first + after..first + before.max(after));
            for user in first + before.min(after)..first + after {
                if !self.users[user as usize].busy {
                    self.tell_time();
                    self.begin_iteration(user, self.now_ns);
                }
            }
        }
    }

    /// Adds the area under "active users" since the last call. During a pause, no user is active.
    pub(super) fn integrate_users(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.users_changed_ns);
        let active = self.workloads.iter().map(|workload| match &workload.source {
            Source::Closed { active, .. } if !self.paused => u64::from(*active),
            Source::Closed { .. } => 0,
            Source::Open { .. } => 0,
        });
        let area = active.sum::<u64>() * passed_ns;
        if area > 0 {
            self.tally.add(RunSum::UsersNs, area);
        }
        self.users_changed_ns = now_ns;
    }

    #[inline]
    pub(super) fn source_of(&self, user: u32) -> &Source {
        &self.workloads[usize::from(self.users[user as usize].workload)].source
    }

    #[inline]
    pub(super) fn is_active(&self, user: u32) -> bool {
        let workload = &self.workloads[usize::from(self.users[user as usize].workload)];
        !self.paused
            && matches!(&workload.source, Source::Closed { active, .. } if user - workload.first < *active)
    }

    // ---- iterations -----------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn begin_iteration(&mut self, user: u32, intended_ns: u64) {
        let state = &mut self.users[user as usize];
        if state.retired {
            return;
        }
        state.busy = true;
        state.begun = true;
        state.cut = false;
        state.at = 0;
        self.under_way += 1;
        if self.programs.is_empty() {
            return self.table_step(user, intended_ns);
        }
        let iteration = state.iteration;
        let workload = &mut self.workloads[usize::from(state.workload)];
        // Without a request left, there is nothing to begin for: it would cost a program a row of its data.
        let closed = matches!(workload.source, Source::Closed { .. });
        if closed && (self.lease.is_drained() || !workload.iterations.take()) {
            return self.end_of_work(user);
        }
        let number = workload.counter.as_ref().map(|counter| {
            let share = self.outline.share;
            counter.fetch_add(1, Ordering::Relaxed) * u64::from(share.of) + u64::from(share.part - 1)
        });
        let own = (self.seat.offset + u64::from(user - workload.first) * self.seat.stride) as u32;
        self.resume_program(user, Wake::Begin { user: own, iteration, number }, intended_ns);
    }

    /// Starts the next request of the table program.
    #[inline]
    fn table_step(&mut self, user: u32, intended_ns: u64) {
        // In the open model with one request, the arrivals themselves are counted.
        if !self.is_counted_by_arrivals() && !self.is_first_of_arrival(user) && !self.lease.take() {
            return self.end_of_work(user);
        }
        self.table_attempt(user, intended_ns);
    }

    pub(super) fn table_attempt(&mut self, user: u32, intended_ns: u64) {
        let state = &mut self.users[user as usize];
        let request = self.compiled.sequence[state.at as usize];
        state.outstanding += 1;
        let link = state.link;
        let step = Step { request, ..Step::default() };
        let exchange = self.take_exchange(link, user, &step, intended_ns);
        self.begin(exchange, Bytes::Prepared);
    }

    #[inline]
    pub(super) fn is_counted_by_arrivals(&self) -> bool {
        self.compiled.sequence.len() == 1 && matches!(self.workloads[0].source, Source::Open { .. })
    }

    /// Returns whether this is an arrival's first step: it took its lease before it took its user.
    fn is_first_of_arrival(&self, user: u32) -> bool {
        self.users[user as usize].at == 0 && matches!(self.source_of(user), Source::Open { .. })
    }

    /// Returns whether a waiting exchange is an arrival's first step, not a later one of a started iteration.
    pub(super) fn is_arrival(&self, exchange: u32) -> bool {
        let exchange = &self.exchanges[exchange as usize];
        let own = self.users[exchange.user as usize].link;
        let is_own = own == exchange.link || !self.is_target(self.links[exchange.link as usize].origin);
        (is_own || self.pooled) && self.is_first_of_arrival(exchange.user)
    }

    /// Stops a user in the middle of its iteration because nothing more may be sent.
    pub(super) fn end_of_work(&mut self, user: u32) {
        self.users[user as usize].busy = false;
        self.under_way -= 1;
    }

    /// Ends an exchange and continues its user.
    #[inline]
    pub(super) fn ended(&mut self, id: u32, end: End) {
        let exchange = &self.exchanges[id as usize];
        let (user, link, judged) = (exchange.user, exchange.link, exchange.judged);
        // Answered before it was completely sent, or never sent.
        self.let_go(id);
        let of = &mut self.links[link as usize];
        // While it opens, this is when it was opened: another exchange may have opened it again.
        if !of.is_opening() {
            of.since_ns = self.now_ns;
        }
        self.ended_ns = self.now_ns;
        if let Some(series) = self.address_of(link) {
            self.count_address(series, end);
        }
        let state = &mut self.users[user as usize];
        state.served |= !judged && matches!(end, End::Answered(answer) if Statuses::usual(answer.status));
        state.outstanding -= 1;
        state.at += 1;
        if !self.programs.is_empty() {
            return self.reply(id, end);
        }
        self.free_exchange(id);
        let state = &self.users[user as usize];
        if (state.at as usize) < self.compiled.sequence.len() {
            return self.table_step(user, self.now_ns);
        }
        self.iteration_over(user, false, 0);
    }

    /// Counts a response for the link's address, if there are several: its requests, by their statuses alone.
    fn count_address(&mut self, series: u32, end: End) {
        match end {
            End::Failed(fault) => self.tally.fault(series, fault, self.now_ns),
            End::Answered(Answer { status, .. }) | End::Streamed { status, .. } => {
                self.tally.status(series, status, false, self.now_ns);
            }
        }
    }

    #[inline]
    pub(super) fn iteration_over(&mut self, user: u32, sent_nothing: bool, rest_ns: u64) {
        let state = &mut self.users[user as usize];
        state.iteration += 1;
        state.busy = false;
        let (retired, iteration, steps) = (state.retired, state.iteration, state.at);
        let number = usize::from(state.workload);
        self.under_way -= 1;
        // A user without data has only found that there is none: this is not an iteration.
        if !retired {
            self.tally.add(RunSum::Iterations, 1);
            // Without requests, the run lasts until the last iteration ends; otherwise, until the last exchange does.
            if steps == 0 {
                self.ended_ns = self.now_ns;
            }
        }
        if self.anew {
            self.close_all_of(user);
        }
        let workload = &mut self.workloads[number];
        match &workload.source {
            Source::Open { .. } => {
                if retired {
                    return self.lane_retired(number);
                }
                self.tally.add(RunSum::ArrivalsCompleted, 1);
                self.free(user);
            }
            Source::Closed { .. } => {
                if !retired && workload.loops.is_some_and(|loops| iteration >= loops) {
                    self.users[user as usize].retired = true;
                    self.workloads[number].retired += 1;
                    return self.park(user);
                }
                if retired || self.lease.is_exhausted() || self.now_ns >= self.end_ns {
                    return;
                }
                if !self.is_active(user) {
                    return self.park(user);
                }
                // Otherwise, a program that requests nothing would loop forever.
                let rest_ns = if sent_nothing { rest_ns.max(NOTHING_SENT_NS) } else { rest_ns };
                if rest_ns > 0 {
                    return self.rest(user, rest_ns);
                }
                self.begin_iteration(user, self.now_ns);
            }
        }
    }

    /// If all users of an open workload have stopped for good, ends its arrivals.
    fn lane_retired(&mut self, workload: usize) {
        if self.workloads[workload].retired >= self.workloads[workload].count {
            self.no_more_arrivals(workload);
        }
    }

    /// Open model: makes a user available for an arrival as of now.
    pub(super) fn free(&mut self, user: u32) {
        let workload = usize::from(self.users[user as usize].workload);
        self.note_starvation(workload);
        let now_ns = self.now_ns;
        if let Source::Open { free, .. } = &mut self.workloads[workload].source {
            free.push((user, now_ns));
        }
    }

    /// Closes the connections of a user that is no longer active.
    pub(super) fn park(&mut self, user: u32) {
        if !self.paused {
            self.close_all_of(user);
        }
    }
}
