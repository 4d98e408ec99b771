//! Runs programs: wakes them and executes the commands in their outbox.

use super::exchange::{Bytes, End};
use super::{Post, SleepTimer, Worker};
use crate::clock::now_ns;
use crate::driver::Door;
use crate::exchange::Exchange;
use crate::link::NONE;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{RunSum, SERIES_SUMS, SeriesHist, SeriesSum, StreamHist, fault_id};
use plimsoll_plan::program::{At, BodyUse, Count, Outbox, Payload, Reply, StepId, Wake};
use plimsoll_plan::{Fault, Side};

/// The step of a sleep between two iterations; no program uses this id.
const REST: StepId = StepId::MAX;

impl<D: Door, P: Post> Worker<D, P> {
    fn at(&self) -> At {
        let unix_ns = i128::from(self.now_ns) + self.unix_offset_ns;
        At { run_ns: self.now_ns.saturating_sub(self.begin_ns), unix_ns: unix_ns.max(0) as u64 }
    }

    /// Wakes a program and returns its outbox, which [`Worker::put_back`] takes back.
    pub(super) fn wake(&mut self, user: u32, wake: Wake<'_>) -> Box<Outbox> {
        let mut out = self.outbox.take().unwrap_or_default();
        out.clock = Some(now_ns);
        let at = self.at();
        std::mem::swap(&mut out.book, &mut self.book);
        if let Some(program) = self.programs[user as usize].as_mut() {
            program.resume(at, wake, &mut out);
        }
        std::mem::swap(&mut out.book, &mut self.book);
        if self.tally.series_count() < self.series + self.book.opened().len() {
            self.tally.open(&self.book, self.series);
        }
        for count in out.counts.drain(..) {
            match count {
                Count::Sum(series, id, n) if id < SERIES_SUMS => self.tally.series(series).add(id, n),
                Count::Sum(series, id, n) => self.tally.socket(series).add(id, n),
                Count::Hist(series, id, value) if id < SeriesHist::COUNT => {
                    self.tally.series(series).record(id, value);
                }
                Count::Hist(series, id, value) if id < StreamHist::COUNT => {
                    self.tally.stream(series).record(id, value);
                }
                Count::Hist(series, id, value) => self.tally.socket(series).record(id, value),
                Count::Run(id, n) => self.tally.add(id, n),
                Count::Value(metric, value) => {
                    let family = self.book.family(metric);
                    if !family.is_some_and(|family| self.tally.value(metric, family, value, at.unix_ns)) {
                        self.tally.add(RunSum::ValuesRejected, 1);
                    }
                }
            }
        }
        self.samples.append(&mut out.samples);
        out
    }

    pub(super) fn put_back(&mut self, mut out: Box<Outbox>) {
        out.clear();
        self.outbox = Some(out);
    }

    pub(super) fn resume_program(&mut self, user: u32, wake: Wake<'_>, intended_ns: u64) {
        // A program that finds no origin in each iteration must not loop without a pause, either.
        let sent_nothing = matches!(wake, Wake::Begin { .. } | Wake::Reached { result: Err(_), .. });
        let out = self.wake(user, wake);
        self.act(user, out, intended_ns, sent_nothing);
    }

    /// Executes a program's commands: cancels, sleeps, sends. If nothing is outstanding afterwards, the iteration is
    /// over, whether or not the program has said so, because nothing would ever resume it.
    pub(super) fn act(&mut self, user: u32, mut out: Box<Outbox>, intended_ns: u64, sent_nothing: bool) {
        let state = &mut self.users[user as usize];
        let iteration = state.iteration;
        let workload = usize::from(state.workload);
        if out.lane_over {
            self.no_more_arrivals(workload);
        }
        let state = &mut self.users[user as usize];
        if out.retired && !state.retired {
            state.retired = true;
            self.workloads[workload].retired += 1;
            self.tally.add(RunSum::UsersOutOfData, 1);
        }
        self.users[user as usize].outstanding += out.steps.len() as u32;
        if !out.messages.is_empty() {
            self.send_messages(user, &out);
        }
        for step in &out.cancels {
            self.cancel(user, *step);
        }
        for (step, ns) in &out.sleeps {
            self.lie_down(user, *step, *ns);
        }
        for (step, query) in out.reaches.drain(..) {
            self.reach(user, step, query);
        }
        for origin in out.closes.drain(..) {
            self.close_links_to(user, origin);
        }
        for step in &out.steps {
            if !self.lease.take() {
                let state = &mut self.users[user as usize];
                state.outstanding -= 1;
                state.cut = true;
                continue;
            }
            let bytes = match step.payload {
                Payload::Prepared => Bytes::Prepared,
                Payload::Rendered { begin, end } => {
                    Bytes::Fresh(out.arena.get(begin as usize..end as usize).unwrap_or_default())
                }
            };
            if usize::from(step.origin) >= self.places.len() {
                // Another worker's program may have passed on the number.
                self.take_found();
            }
            let link = self.link_for(user, step.origin);
            let id = self.take_exchange(link, user, step, intended_ns);
            let first = &mut self.users[user as usize].first_exchange;
            self.exchanges[id as usize].next = std::mem::replace(first, id);
            match step.body {
                BodyUse::Duplex => self.begin_duplex(id, bytes, &out),
                _ => self.begin(id, bytes),
            }
        }
        let rest_ns = out.rest_ns;
        self.put_back(out);
        let state = &self.users[user as usize];
        // A step that failed immediately has resumed the program from within the loop above, and may have ended the
        // iteration there: it must not end twice.
        if state.outstanding > 0 || state.iteration != iteration || !state.busy {
            return;
        }
        if state.cut {
            return self.end_of_work(user);
        }
        self.iteration_over(user, sent_nothing, rest_ns);
    }

    /// Notifies a program that one of its exchanges has ended.
    pub(super) fn reply(&mut self, id: u32, end: End) {
        self.unlink(id);
        let exchange = &mut self.exchanges[id as usize];
        let kept = exchange.kept.take();
        let phases = exchange.phases(self.now_ns);
        let &mut Exchange { link, user, request, step, judged, short, kept_head, .. } = exchange;
        self.free_exchange(id);
        self.release(link, user);
        let (status, fault, body_bytes, ended) = match end {
            End::Answered(answer) => (answer.status, None, answer.body_bytes, None),
            End::Streamed { status, body_bytes, by } => (status, None, body_bytes, Some(by)),
            End::Failed(fault) => (0, Some(fault), 0, None),
        };
        let (head, body) = match &kept {
            Some(kept) => kept.split_at(kept_head as usize),
            None => Default::default(),
        };
        let head = Head::new(head);
        // The trailers end a response, so no others have come since.
        let has_trailers = self.trailers_of == id;
        let fields = if has_trailers { std::mem::take(&mut self.trailers) } else { Vec::new() };
        let trailers = Head::new(&fields);
        let reply = Reply { id: step, status, fault, head, body, body_bytes, trailers, phases, ended };
        let out = self.wake(user, Wake::Reply(reply));
        if has_trailers {
            (self.trailers, self.trailers_of) = (fields, NONE);
        }
        match (out.failure, judged) {
            // A response that failed in transit does not count again when its program judges it.
            (Some(failure), true) if fault.is_none() => self.judged_failed(link, request, failure, short),
            (None, true) if fault.is_none() => {
                self.users[user as usize].served = true;
                self.tally.success(request, self.now_ns);
            }
            _ => {}
        }
        // The program may request another one, so the buffer is returned first.
        if let Some(body) = kept {
            self.give_back(body);
        }
        self.act(user, out, self.now_ns, false);
    }

    /// Counts a response that the program judged as failed; `short`: it was cut for lack of memory.
    fn judged_failed(&mut self, link: u32, request: u32, failure: Fault, short: bool) {
        if failure.side() == Side::Client {
            // A response that could not be read has not failed. Only here is it known whether a limit or memory cut it.
            let fault = if short { Fault::ClientOutOfMemory } else { failure };
            return self.tally.fault(request, fault, self.now_ns);
        }
        self.links[link as usize].failed = true;
        self.tally.failure(request, self.now_ns);
        let series = self.tally.series(request);
        series.add(SeriesSum::Failed.id(), 1);
        series.add(fault_id(failure), 1);
    }

    /// Removes an exchange from its user's list, which is short.
    pub(super) fn unlink(&mut self, id: u32) {
        let Exchange { user, next: after, .. } = self.exchanges[id as usize];
        let mut at = self.users[user as usize].first_exchange;
        if at == id {
            self.users[user as usize].first_exchange = after;
            return;
        }
        while at != NONE {
            let next = self.exchanges[at as usize].next;
            if next == id {
                self.exchanges[at as usize].next = after;
                return;
            }
            at = next;
        }
    }

    /// Cancels a step: a stream ends as soon as no code is using it, a sleep, or a wait for an origin, ends silently.
    fn cancel(&mut self, user: u32, step: StepId) {
        let mut at = self.users[user as usize].first_exchange;
        while at != NONE {
            let exchange = &mut self.exchanges[at as usize];
            if exchange.step == step && (exchange.body.is_stream() || exchange.body == BodyUse::WebSocket) {
                // A stream that has not begun continues until its head.
                exchange.cancelled = true;
                if exchange.body == BodyUse::Duplex {
                    self.give_up_duplex(at);
                }
                return self.call_at_once(at);
            }
            at = exchange.next;
        }
        let (mut before, mut at) = (NONE, self.users[user as usize].first_nap);
        while at != NONE {
            let nap = self.naps[at as usize];
            if nap.step == step {
                return self.get_up(user, at, before);
            }
            (before, at) = (at, nap.next);
        }
        self.forget_reach(user, step);
    }

    // ---- sleeps ---------------------------------------------------------------------------------------------

    /// Rests until the user's next iteration; nothing is in progress in the meantime.
    pub(super) fn rest(&mut self, user: u32, ns: u64) {
        self.users[user as usize].busy = true;
        self.resting += 1;
        self.lie_down(user, REST, ns);
    }

    /// Returns whether a user pauses between two iterations.
    pub(super) fn is_resting(&self, user: u32) -> bool {
        let first = self.users[user as usize].first_nap;
        first != NONE && self.naps[first as usize].step == REST
    }

    /// Ends all sleeps of a user without waking it.
    pub(super) fn end_sleeps(&mut self, user: u32) {
        while let Some(nap) = Some(self.users[user as usize].first_nap).filter(|nap| *nap != NONE) {
            self.get_up(user, nap, NONE);
        }
    }

    fn rested(&mut self, user: u32) {
        self.resting -= 1;
        self.users[user as usize].busy = false;
        if !self.is_active(user) {
            return self.park(user);
        }
        if self.now_ns < self.end_ns {
            self.begin_iteration(user, self.now_ns);
        }
    }

    fn lie_down(&mut self, user: u32, step: StepId, ns: u64) {
        let id = self.free_naps.pop().unwrap_or_else(|| {
            self.naps.push(SleepTimer { user: NONE, step: 0, due_ns: 0, next: NONE });
            self.nap_wheel.grow(self.naps.len());
            self.naps.len() as u32 - 1
        });
        let due_ns = self.now_ns.saturating_add(ns);
        let state = &mut self.users[user as usize];
        self.naps[id as usize] =
            SleepTimer { user, step, due_ns, next: std::mem::replace(&mut state.first_nap, id) };
        state.outstanding += 1;
        self.napping += 1;
        self.nap_wheel.arm(id, due_ns);
    }

    /// Ends a sleep without waking its user.
    fn get_up(&mut self, user: u32, id: u32, before: u32) {
        let nap = std::mem::replace(
            &mut self.naps[id as usize],
            SleepTimer { user: NONE, step: 0, due_ns: 0, next: NONE },
        );
        match before {
            NONE => self.users[user as usize].first_nap = nap.next,
            before => self.naps[before as usize].next = nap.next,
        }
        self.users[user as usize].outstanding -= 1;
        self.napping -= 1;
        self.nap_wheel.disarm(id);
        self.free_naps.push(id);
    }

    /// Wakes the users whose sleep is over.
    pub(super) fn wake_sleepers(&mut self) {
        let mut due = std::mem::take(&mut self.due_timers);
        due.clear();
        self.nap_wheel.expire(self.now_ns, &mut due);
        for id in due.drain(..) {
            let nap = self.naps[id as usize];
            if nap.user == NONE {
                continue;
            }
            if nap.due_ns > self.now_ns {
                self.nap_wheel.arm(id, nap.due_ns);
                continue;
            }
            let (mut before, mut at) = (NONE, self.users[nap.user as usize].first_nap);
            while at != id && at != NONE {
                (before, at) = (at, self.naps[at as usize].next);
            }
            self.get_up(nap.user, id, before);
            self.tell_time();
            if nap.step == REST {
                self.rested(nap.user);
                continue;
            }
            self.resume_program(nap.user, Wake::Slept { id: nap.step }, self.now_ns);
        }
        self.due_timers = due;
    }
}
