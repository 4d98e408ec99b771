//! Connections that did not come about: whose fault it was decides whether the request has failed or is still owed.

use super::exchange::End;
use super::{Post, Source, Worker};
use crate::conn::{NOBODY, State};
use crate::driver::Door;
use plimsoll_plan::metric::SeriesHist;
use plimsoll_plan::{Fault, Side};

/// Longest pause between a user's failed attempts to connect.
const PAUSE_MAX_NS: u64 = 1_000_000_000;

impl<D: Door, P: Post> Worker<D, P> {
    /// No connection came about. On the network's or server's side that ends the request; on this machine's side the
    /// request was never made, and its stamp waits for another attempt.
    pub(super) fn connect_failed(&mut self, id: u32, fault: Fault) {
        let conn = &mut self.conns[id as usize];
        conn.state = State::Closed;
        conn.fault = fault;
        let (request, intended_ns, user) = (conn.request, conn.intended_ns, conn.user);
        self.tally.fault(request, fault, self.now_ns);
        if matches!(fault, Fault::ConnectTimeout | Fault::TlsTimeout) {
            let waited_ns = self.now_ns.saturating_sub(intended_ns);
            self.tally.series(request).record(SeriesHist::ResponseCensored.id(), waited_ns);
            self.count_phases(request, [intended_ns, self.now_ns, self.now_ns, self.now_ns]);
        }
        if fault.side() == Side::Client {
            self.send_back(id, user, intended_ns);
        } else if matches!(self.source_of(user), Source::Closed { .. }) {
            // The pause comes first, the end of the step after it: a refused user must not hammer.
            self.pause_connection(id);
        } else {
            self.outstanding -= 1;
            self.ended(id, End::Failed(fault));
        }
    }

    /// The machine has said no within the call. Where a user would go on at once, it goes on with the wheel instead: a
    /// level of stack for each of its attempts would come to an end, and so would the time for anything else.
    pub(super) fn refused_at_once(&mut self, id: u32, fault: Fault) {
        let goes_on = !self.programs.is_empty() || self.compiled.sequence.len() > 1;
        let (user, request) = (self.conns[id as usize].user, self.conns[id as usize].request);
        let waits = fault.side() == Side::Client || matches!(self.source_of(user), Source::Closed { .. });
        if waits || !goes_on {
            return self.connect_failed(id, fault);
        }
        self.conns[id as usize].fault = fault;
        self.tally.fault(request, fault, self.now_ns);
        self.pause_for(id, 0);
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
            let lane = usize::from(self.users[user as usize].lane);
            if let Source::Open { returned, .. } = &mut self.lanes[lane].source {
                let place = returned.partition_point(|t| *t <= intended_ns);
                returned.insert(place, intended_ns);
            }
            // Who takes it begins it anew.
            self.under_way -= 1;
        } else {
            self.users[user as usize].owed_ns = intended_ns;
            self.owing += 1;
        }
        self.pause(user);
    }

    pub(super) fn pause(&mut self, user: u32) {
        self.conns[user as usize].user = NOBODY;
        self.pause_connection(user);
    }

    /// Doubles with every failure in a row.
    fn pause_connection(&mut self, id: u32) {
        let first_ns = self.outline.limits.reconnect_pause_ns;
        let conn = &mut self.conns[id as usize];
        let pause_ns = first_ns.saturating_mul(1 << conn.failures.min(20)).min(PAUSE_MAX_NS.max(first_ns));
        conn.failures = conn.failures.saturating_add(1);
        self.pause_for(id, pause_ns);
    }

    fn pause_for(&mut self, id: u32, pause_ns: u64) {
        let conn = &mut self.conns[id as usize];
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
        if matches!(self.source_of(id), Source::Open { .. }) {
            self.free(id);
        } else if self.is_active(id) && self.now_ns < self.end_ns {
            self.begin_iteration(id, self.now_ns);
        }
    }
}
