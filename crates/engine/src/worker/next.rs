//! Who sends what next: arrivals and users start iterations, ended steps continue them, failed attempts pause.

use super::exchange::End;
use super::{Post, Source, Worker};
use crate::conn::{Conn, NOBODY, State};
use crate::driver::Door;
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist};
use plimsoll_plan::program::{BodyUse, Reply, Step, Wake};
use plimsoll_plan::{Fault, Side};

/// Longest pause between a user's failed attempts to connect.
const PAUSE_MAX_NS: u64 = 1_000_000_000;
/// Arrivals started in one go; then the answers get their turn, however far behind the sends are. Otherwise a load
/// generator that cannot keep up would let answers lie unread and call it the server's time.
const STARTED_AT_ONCE: u32 = 16;

impl<D: Door, P: Post> Worker<D, P> {
    // ---- the open model -------------------------------------------------------------------------------------

    /// Starts arrivals that are due and for which a user is free: those that came due from `since_ns` on, and those
    /// that waited for a user. Called by the loop alone: a user that is freed while its arrival is being started (its
    /// attempt failed at once) must not cost a level of stack.
    #[inline]
    pub(super) fn start_due(&mut self, since_ns: u64) {
        for _ in 0..STARTED_AT_ONCE {
            let Some(due_ns) = self.next_due_ns() else { break };
            if due_ns > self.now_ns
                || self.now_ns >= self.end_ns
                || (due_ns < since_ns && !self.is_starving())
            {
                return;
            }
            let leased = self.programs.is_empty() && self.compiled.sequence.len() != 1;
            if leased && !self.lease.take() {
                return self.no_more_arrivals();
            }
            self.start_arrival(due_ns);
            // The time of the next send is its own, not that of the first of the batch.
            self.tell_time();
        }
        self.note_starvation();
    }

    fn start_arrival(&mut self, due_ns: u64) {
        let now_ns = self.now_ns;
        if self.is_starving() {
            // The queue is longest just before it is served.
            self.count_waiting(now_ns + 1);
        }
        let Source::Open { arrivals, free, returned, waiting, due, started } = &mut self.source else {
            return;
        };
        let Some(user) = free.pop() else { return };
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
        // It waited for a connection if none was free when it came due.
        let freed_ns = if waiting.is_some() { self.conns[user as usize].since_ns } else { 0 };
        if waiting.is_some() && arrivals.peek_ns().is_none_or(|next| next > now_ns) && returned.is_empty() {
            *waiting = None;
        }
        self.tally.add(RunSum::Arrivals, u64::from(counted));
        if freed_ns > due_ns {
            self.tally.add(RunSum::Starved, 1);
            self.tally.record(RunHist::ConnWait, freed_ns - due_ns);
        }
        let could_ns = due_ns.max(freed_ns).max(self.resumed_ns);
        self.tally.record(RunHist::Lateness, now_ns.saturating_sub(could_ns));
        self.begin_iteration(user, due_ns);
    }

    /// Arrivals wait for a user.
    fn is_starving(&self) -> bool {
        matches!(&self.source, Source::Open { waiting: Some(_), .. })
    }

    /// With an arrival due and nobody free, the queue begins: a second reader starts to count what comes due. To be
    /// asked before anybody is freed, or the wait would pass for lateness.
    fn note_starvation(&mut self) {
        let now_ns = self.now_ns;
        if let Source::Open { arrivals, free, waiting, .. } = &mut self.source
            && free.is_empty()
            && waiting.is_none()
            && arrivals.peek_ns().is_some_and(|t| t <= now_ns)
        {
            *waiting = Some(arrivals.clone());
        }
    }

    /// Counts the arrivals that came due before `edge_ns` and still wait. In a pause none come due.
    pub(super) fn count_waiting(&mut self, edge_ns: u64) {
        self.note_starvation();
        let edge_ns = edge_ns.min(self.paused_ns);
        let Source::Open { waiting, due, started, returned, .. } = &mut self.source else { return };
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
        self.tally.peak(RunPeak::Waiting, backlog);
    }

    /// At the stop: arrivals that never got a connection.
    pub(super) fn never_started(&mut self, end_ns: u64) {
        self.count_waiting(end_ns);
        let paused_ns = self.paused_ns;
        let Source::Open { arrivals, due, started, returned, .. } = &mut self.source else { return };
        let waiting = *due - *started;
        let mut stamps: Vec<u64> = returned.drain(..).collect();
        stamps.extend(self.users.iter().filter(|u| u.owed_ns > 0 && u.at == 0).map(|u| u.owed_ns));
        // Their true response times are longer than this.
        for _ in 0..waiting {
            stamps.extend(arrivals.peek_ns());
            arrivals.advance();
        }
        *started = *due;
        // A machine that stood still, or could not keep up, has not even looked at those that came due meanwhile.
        let mut overlooked = 0;
        while let Some(stamp) = arrivals.peek_ns().filter(|t| *t < end_ns.min(paused_ns)) {
            stamps.push(stamp);
            arrivals.advance();
            overlooked += 1;
        }
        self.tally.add(RunSum::Arrivals, overlooked);
        self.tally.add(RunSum::Overlooked, overlooked);
        self.tally.add(RunSum::NeverStarted, stamps.len() as u64);
        let first = self.compiled.sequence.first().copied().unwrap_or(0);
        for stamp in stamps {
            self.tally.series(first).record(SeriesHist::ResponseCensored.id(), end_ns.saturating_sub(stamp));
        }
    }

    /// Sets the stamps of all that came due before `until_ns` aside, so that the sequence behind them can change.
    pub(super) fn set_aside(&mut self, until_ns: u64) {
        self.count_waiting(until_ns);
        let Source::Open { arrivals, returned, due, started, .. } = &mut self.source else { return };
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

    /// After the sequence has changed: what was set aside goes on waiting.
    pub(super) fn requeue(&mut self) {
        if let Source::Open { arrivals, returned, waiting, .. } = &mut self.source {
            *waiting = (!returned.is_empty()).then(|| arrivals.clone());
        }
    }

    fn no_more_arrivals(&mut self) {
        let Source::Open { arrivals, waiting, due, started, .. } = &mut self.source else { return };
        arrivals.finish();
        *waiting = None;
        // Those that wait came due and will not be sent.
        let left = *due - std::mem::replace(started, *due);
        self.tally.add(RunSum::NeverStarted, left);
    }

    // ---- the closed model -----------------------------------------------------------------------------------

    /// Starts users, or lets the number sink: a user beyond it ends with its iteration.
    pub(super) fn change_level(&mut self) {
        let now_ns = self.now_ns;
        let Source::Closed { users, active, next_change_ns } = &mut self.source else { return };
        let before = *active;
        let after = users.active_at(now_ns).min(self.users.len() as u32);
        *next_change_ns = users.next_change_ns(now_ns);
        *active = after;
        let area = u64::from(before) * now_ns.saturating_sub(self.users_changed_ns);
        self.tally.add(RunSum::UsersNs, area);
        self.users_changed_ns = now_ns;
        for user in before..after {
            if !self.users[user as usize].busy {
                self.tell_time();
                self.begin_iteration(user, self.now_ns);
            }
        }
    }

    fn is_active(&self, user: u32) -> bool {
        !self.paused && matches!(&self.source, Source::Closed { active, .. } if user < *active)
    }

    // ---- iterations -----------------------------------------------------------------------------------------

    pub(super) fn begin_iteration(&mut self, user: u32, intended_ns: u64) {
        let state = &mut self.users[user as usize];
        state.busy = true;
        state.cut = false;
        state.at = 0;
        if self.programs.is_empty() {
            return self.table_step(user, intended_ns);
        }
        let iteration = state.iteration;
        let number = (self.seat.offset + u64::from(user) * self.seat.stride) as u32;
        self.resume_program(user, Wake::Begin { user: number, iteration }, intended_ns);
    }

    /// The next request of the table program.
    fn table_step(&mut self, user: u32, intended_ns: u64) {
        // In the open model of one request the arrivals themselves are counted.
        if !self.is_counted_by_arrivals() && !self.is_first_of_arrival(user) && !self.lease.take() {
            return self.end_of_work(user);
        }
        self.table_attempt(user, intended_ns);
    }

    fn table_attempt(&mut self, user: u32, intended_ns: u64) {
        let state = &mut self.users[user as usize];
        let request = self.compiled.sequence[state.at as usize];
        state.outstanding += 1;
        self.begin(user, user, Step { id: 0, request, body: BodyUse::Discard }, intended_ns);
    }

    fn is_counted_by_arrivals(&self) -> bool {
        matches!(self.source, Source::Open { .. }) && self.compiled.sequence.len() == 1
    }

    /// An arrival took its lease before it took its user.
    fn is_first_of_arrival(&self, user: u32) -> bool {
        matches!(self.source, Source::Open { .. }) && self.users[user as usize].at == 0
    }

    /// What this connection waits for is an arrival's first step, not a later one of a started iteration.
    pub(super) fn is_arrival(&self, id: u32) -> bool {
        self.conns[id as usize].user == id && self.is_first_of_arrival(id)
    }

    /// Nothing may be sent any more: the user stops in the middle of its iteration.
    fn end_of_work(&mut self, user: u32) {
        self.users[user as usize].busy = false;
    }

    fn resume_program(&mut self, user: u32, wake: Wake<'_>, intended_ns: u64) {
        let Some(program) = self.programs[user as usize].as_mut() else { return };
        program.resume(wake, &mut self.outbox);
        let mut steps = std::mem::take(&mut self.steps);
        // With nothing outstanding an iteration is over, whether or not the program has said so: nothing would ever
        // resume it.
        self.outbox.take(&mut steps);
        let state = &mut self.users[user as usize];
        state.outstanding += steps.len() as u32;
        let iteration = state.iteration;
        for step in steps.drain(..) {
            if !self.lease.take() {
                let state = &mut self.users[user as usize];
                state.outstanding -= 1;
                state.cut = true;
                continue;
            }
            let id = self.connection_for(user);
            self.begin(id, user, step, intended_ns);
        }
        self.steps = steps;
        let state = &self.users[user as usize];
        // A step that failed at once has resumed the program from within the loop above, and may have ended the
        // iteration there: it must not end twice.
        if state.outstanding > 0 || state.iteration != iteration {
            return;
        }
        if state.cut {
            return self.end_of_work(user);
        }
        self.iteration_over(user, matches!(wake, Wake::Begin { .. }));
    }

    /// The user's own connection, or one more when that is taken.
    fn connection_for(&mut self, user: u32) -> u32 {
        if self.conns[user as usize].user == NOBODY {
            return user;
        }
        self.spare.pop().unwrap_or_else(|| {
            self.conns.push(Conn::new());
            self.wheel.grow(self.conns.len());
            self.conns.len() as u32 - 1
        })
    }

    /// An exchange is over: its user goes on.
    #[inline]
    pub(super) fn ended(&mut self, id: u32, end: End) {
        let conn = &mut self.conns[id as usize];
        let user = std::mem::replace(&mut conn.user, NOBODY);
        conn.since_ns = self.now_ns;
        self.ended_ns = self.now_ns;
        let state = &mut self.users[user as usize];
        state.outstanding -= 1;
        state.at += 1;
        if !self.programs.is_empty() {
            return self.reply(id, user, end);
        }
        if (state.at as usize) < self.compiled.sequence.len() {
            return self.table_step(user, self.now_ns);
        }
        self.iteration_over(user, false);
    }

    fn reply(&mut self, id: u32, user: u32, end: End) {
        let conn = &mut self.conns[id as usize];
        let kept = conn.kept.take();
        let (status, fault) = match end {
            End::Answered(answer) => (answer.status, None),
            End::Failed(fault) => (0, Some(fault)),
        };
        // Without a send there was no service.
        let service_ns = if conn.sent_ns == 0 { 0 } else { self.now_ns.saturating_sub(conn.sent_ns) };
        let reply =
            Reply { id: conn.step, status, fault, body: kept.as_deref().map_or(&[], |b| b), service_ns };
        if id as usize >= self.users.len() {
            self.spare.push(id);
        }
        self.resume_program(user, Wake::Reply(reply), self.now_ns);
        // The program may have put this connection to use again, so the buffer does not stay with it.
        if let Some(mut body) = kept {
            body.clear();
            self.bodies.push(body);
        }
    }

    fn iteration_over(&mut self, user: u32, sent_nothing: bool) {
        let state = &mut self.users[user as usize];
        state.iteration += 1;
        state.busy = false;
        self.tally.add(RunSum::Iterations, 1);
        match &self.source {
            Source::Open { .. } => self.free(user),
            Source::Closed { .. } => {
                if self.lease.is_exhausted() || self.now_ns >= self.end_ns {
                    return;
                }
                if !self.is_active(user) {
                    return self.park(user);
                }
                // A program that asks for nothing would otherwise spin for ever.
                if sent_nothing {
                    self.park(user);
                    return self.pause(user);
                }
                self.begin_iteration(user, self.now_ns);
            }
        }
    }

    /// Open model: ready for an arrival, from this instant on.
    fn free(&mut self, user: u32) {
        self.note_starvation();
        self.conns[user as usize].since_ns = self.now_ns;
        if let Source::Open { free, .. } = &mut self.source {
            free.push(user);
        }
    }

    /// A user whose time is over closes its connection.
    fn park(&mut self, user: u32) {
        if !self.paused && self.conns[user as usize].state == State::Idle {
            self.tally.add(RunSum::ClosedByUs, 1);
            self.close_socket(user);
        }
    }

    // ---- attempts that failed -------------------------------------------------------------------------------

    /// No connection came about. On the network's or server's side that ends the request; on this machine's side the
    /// request was never made, and its stamp waits for another attempt.
    pub(super) fn connect_failed(&mut self, id: u32, fault: Fault) {
        let conn = &mut self.conns[id as usize];
        conn.state = State::Closed;
        conn.fault = fault;
        let (request, intended_ns, user) = (conn.request, conn.intended_ns, conn.user);
        self.tally.fault(request, fault);
        if fault == Fault::ConnectTimeout {
            let waited_ns = self.now_ns.saturating_sub(intended_ns);
            self.tally.series(request).record(SeriesHist::ResponseCensored.id(), waited_ns);
        }
        if fault.side() == Side::Client {
            self.send_back(id, user, intended_ns);
        } else if matches!(self.source, Source::Closed { .. }) {
            // The pause comes first, the end of the step after it: a refused user must not hammer.
            self.pause_connection(id);
        } else {
            self.outstanding -= 1;
            self.ended(id, End::Failed(fault));
        }
    }

    fn send_back(&mut self, id: u32, user: u32, intended_ns: u64) {
        if !self.programs.is_empty() {
            // A script is told, and decides for itself.
            return self.pause_connection(id);
        }
        self.outstanding -= 1;
        let state = &mut self.users[user as usize];
        state.outstanding -= 1;
        self.conns[id as usize].user = NOBODY;
        if self.is_counted_by_arrivals() && self.users[user as usize].at == 0 {
            // Another user with a connection may take the arrival; in order of stamps.
            if let Source::Open { returned, .. } = &mut self.source {
                let place = returned.partition_point(|t| *t <= intended_ns);
                returned.insert(place, intended_ns);
            }
        } else {
            self.users[user as usize].owed_ns = intended_ns;
            self.owing += 1;
        }
        self.pause(user);
    }

    fn pause(&mut self, user: u32) {
        self.conns[user as usize].user = NOBODY;
        self.pause_connection(user);
    }

    /// Doubles with every failure in a row.
    fn pause_connection(&mut self, id: u32) {
        let first_ns = self.outline.limits.reconnect_pause_ns;
        let conn = &mut self.conns[id as usize];
        let pause_ns = first_ns.saturating_mul(1 << conn.failures.min(20)).min(PAUSE_MAX_NS.max(first_ns));
        conn.failures = conn.failures.saturating_add(1);
        conn.state = State::Pausing;
        conn.deadline_ns = self.now_ns + pause_ns;
        let deadline_ns = conn.deadline_ns;
        self.wheel.arm(id, deadline_ns);
    }

    pub(super) fn pause_over(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        conn.deadline_ns = 0;
        conn.state = State::Closed;
        if conn.user != NOBODY {
            // The failed step ends now.
            let fault = conn.fault;
            self.outstanding -= 1;
            return self.ended(id, End::Failed(fault));
        }
        let state = &mut self.users[id as usize];
        let owed_ns = std::mem::take(&mut state.owed_ns);
        if owed_ns > 0 {
            self.owing -= 1;
            return self.table_attempt(id, owed_ns);
        }
        state.busy = false;
        if matches!(self.source, Source::Open { .. }) {
            self.free(id);
        } else if self.is_active(id) {
            self.begin_iteration(id, self.now_ns);
        }
    }
}
