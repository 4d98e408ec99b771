//! Iterations that end before they are complete: at the end of their workload's graceful stop, and when a user that the
//! level has stopped may not continue any longer. Also the iterations of a workload that never started.

use super::{Post, Source, Worker};
use crate::driver::Door;
use crate::link::{NONE, Session, State};
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::program::Wake;
use std::ops::Range;

impl<D: Door, P: Post> Worker<D, P> {
    /// Notes that the level has stopped these users: they may continue their iterations for a limited time.
    pub(super) fn level_stops(&mut self, workload: usize, users: Range<u32>) {
        let of = &self.workloads[workload];
        let Some(ramp_down_ns) = of.stops.ramp_down_ns else { return };
        // At the end of the workload, its graceful stop begins.
        if self.now_ns >= of.end_ns.min(self.end_ns) {
            return;
        }
        let due_ns = self.now_ns.saturating_add(ramp_down_ns);
        for user in users.rev() {
            if self.is_iterating(user) && self.users[user as usize].stops < u8::MAX {
                self.users[user as usize].stops += 1;
                self.workloads[workload].stops.stopped.push_back((due_ns, user));
            }
        }
        self.find_next_stop();
    }

    /// Interrupts the iterations whose time is over.
    pub(super) fn interrupt_due(&mut self) {
        let now_ns = self.now_ns;
        for workload in 0..self.workloads.len() {
            while let Some((_, user)) =
                self.workloads[workload].stops.stopped.pop_front_if(|(due_ns, _)| *due_ns <= now_ns)
            {
                // The level may have risen again: then the user has continued. A later stop has its own entry.
                let state = &mut self.users[user as usize];
                state.stops -= 1;
                if state.stops == 0 && !self.is_active(user) {
                    self.interrupt(user);
                }
            }
            if self.workloads[workload].stops.cut_ns <= now_ns {
                self.workloads[workload].stops.cut_ns = u64::MAX;
                let (first, count) = (self.workloads[workload].first, self.workloads[workload].count);
                (first..first + count).for_each(|user| self.interrupt(user));
            }
        }
        self.find_next_stop();
    }

    fn find_next_stop(&mut self) {
        let stops = self.workloads.iter().map(|workload| {
            let first = workload.stops.stopped.front().map_or(u64::MAX, |(due_ns, _)| *due_ns);
            workload.stops.cut_ns.min(first)
        });
        self.next_stop_ns = stops.min().unwrap_or(u64::MAX);
    }

    /// Returns whether a user is in an iteration: not idle, and not in the pause between two of them.
    fn is_iterating(&self, user: u32) -> bool {
        self.users[user as usize].busy && !self.is_resting(user)
    }

    /// Ends a user's iteration before it is complete: its requests are cut off as at the end of the run.
    fn interrupt(&mut self, user: u32) {
        if !self.is_iterating(user) {
            return;
        }
        self.tell_time();
        // No request is begun and not sent afterwards.
        self.flush_dirty();
        // A connection lost in the meantime may have ended the iteration.
        if !self.is_iterating(user) {
            return;
        }
        while let Some(exchange) = Some(self.users[user as usize].first_exchange).filter(|id| *id != NONE) {
            self.break_off_exchange(exchange);
        }
        self.end_sleeps(user);
        if !self.programs.is_empty() {
            let out = self.wake(user, Wake::Interrupted);
            self.put_back(out);
        }
        let state = &mut self.users[user as usize];
        state.iteration += 1;
        (state.busy, state.cut, state.outstanding) = (false, false, 0);
        self.under_way -= 1;
        self.ended_ns = self.now_ns;
        self.tally.add(RunSum::IterationsInterrupted, 1);
        self.park(user);
    }

    /// Ends an exchange without telling its program, and closes its connection: a response that comes later must not
    /// be that of another request.
    fn break_off_exchange(&mut self, id: u32) {
        self.cut_off(id, self.now_ns);
        let (user, at) = (self.exchanges[id as usize].user, self.exchanges[id as usize].link);
        match &mut self.links[at as usize].session {
            Session::H1(_) => self.close_broken(at),
            Session::H2(multiplex) => {
                let waiting = multiplex.take_waiting();
                waiting.into_iter().filter(|other| *other != id).for_each(|other| multiplex.wait(other));
                self.reset_stream(id);
            }
        }
        self.let_go(id);
        if let Some(kept) = self.exchanges[id as usize].kept.take() {
            self.give_back(kept);
        }
        self.unlink(id);
        self.free_exchange(id);
        self.outstanding -= 1;
        if self.links[at as usize].session.is_multiplexed() {
            self.start_waiting(at);
            self.close_if_drained(at);
        }
        self.release(at, user);
    }

    /// Closes the connection of HTTP/1 on which a request was broken off, in any state.
    fn close_broken(&mut self, at: u32) {
        match self.links[at as usize].state {
            State::Closed => {}
            State::Resolving => self.end_look_up(at),
            State::Connecting | State::Tunneling | State::Handshaking => self.close_socket(at),
            State::Open => {
                self.tally.add(RunSum::ClosedByClient, 1);
                self.close_socket(at);
            }
        }
    }

    /// Counts the iterations that never started, of the workloads that count theirs: the rest of a common number, and
    /// of the number of each user.
    pub(super) fn count_dropped(&mut self) {
        for number in 0..self.workloads.len() {
            let workload = &mut self.workloads[number];
            if workload.counter.is_none() || !matches!(workload.source, Source::Closed { .. }) {
                continue;
            }
            let shared = workload.iterations.give_up();
            let (loops, users) = (workload.loops, workload.first..workload.first + workload.count);
            let left = |user: u32| {
                // An iteration in progress has started.
                let started = self.users[user as usize].iteration + u64::from(self.is_iterating(user));
                loops.map_or(0, |loops| loops.saturating_sub(started))
            };
            let dropped = shared + users.map(left).sum::<u64>();
            self.tally.add(RunSum::IterationsDropped, dropped);
        }
    }
}
