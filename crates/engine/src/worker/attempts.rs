//! Failed connection attempts: the side at fault decides whether the request has failed or is still owed.

use super::exchange::End;
use super::{Post, Source, Worker};
use crate::driver::Door;
use crate::exchange::{Exchange, Phase};
use crate::link::Session;
use plimsoll_plan::metric::SeriesHist;
use plimsoll_plan::{Fault, Side};

/// Longest pause between a user's failed attempts to connect.
const PAUSE_MAX_NS: u64 = 1_000_000_000;

impl<D: Door, P: Post> Worker<D, P> {
    /// Handles the failure of the connection that an exchange waits for. If the network or the server is at fault, the
    /// request ends; if the load generator is at fault, the request was never sent, and its intended start time waits
    /// for another attempt.
    pub(super) fn connect_failed(&mut self, link: u32, fault: Fault) {
        match &mut self.links[link as usize].session {
            Session::H1(_) => self.attempt_failed(self.links[link as usize].exchange, fault),
            Session::H2(multiplex) => {
                let waiting = multiplex.take_waiting();
                let failures = self.links[link as usize].failures;
                for id in waiting {
                    // One attempt has failed, however many have waited for it.
                    self.links[link as usize].failures = failures;
                    self.attempt_failed(id, fault);
                }
            }
        }
    }

    /// Handles the failure of the attempt that an exchange waited for.
    pub(super) fn attempt_failed(&mut self, id: u32, fault: Fault) {
        let exchange = &self.exchanges[id as usize];
        let (request, intended_ns, user) = (exchange.request, exchange.intended_ns, exchange.user);
        if exchange.is_resent {
            self.land(id);
        }
        self.tally.fault(request, fault, self.now_ns);
        const UNCONNECTED: [Fault; 4] =
            [Fault::ConnectTimeout, Fault::ProxyTimeout, Fault::TlsTimeout, Fault::DnsTimeout];
        if UNCONNECTED.contains(&fault) {
            let waited_ns = self.now_ns.saturating_sub(intended_ns);
            self.tally.series(request).record(SeriesHist::ResponseCensored.id(), waited_ns);
            self.count_phases(request, [intended_ns, self.now_ns, self.now_ns, self.now_ns]);
        }
        if fault.side() == Side::Client {
            self.send_back(id, fault);
        } else if matches!(self.source_of(user), Source::Closed { .. }) {
            // The pause comes before the end of the step: a refused user must not retry in a tight loop.
            self.pause(id, Phase::Failed(fault));
        } else {
            self.outstanding -= 1;
            self.ended(id, End::Failed(fault));
        }
    }

    /// Handles an error within the call itself. A user that would continue immediately continues with the wheel
    /// instead: each of its attempts would add a stack level until the stack overflows, and would leave no time for
    /// other work.
    pub(super) fn refused_at_once(&mut self, link: u32, fault: Fault) {
        match &mut self.links[link as usize].session {
            Session::H1(_) => self.attempt_refused(self.links[link as usize].exchange, fault),
            Session::H2(multiplex) => {
                let waiting = multiplex.take_waiting();
                let failures = self.links[link as usize].failures;
                for id in waiting {
                    self.links[link as usize].failures = failures;
                    self.attempt_refused(id, fault);
                }
            }
        }
    }

    /// The same for one exchange.
    pub(super) fn attempt_refused(&mut self, id: u32, fault: Fault) {
        let goes_on = !self.programs.is_empty() || self.compiled.sequence.len() > 1;
        let Exchange { user, request, is_resent, .. } = self.exchanges[id as usize];
        let waits = fault.side() == Side::Client || matches!(self.source_of(user), Source::Closed { .. });
        if waits || !goes_on {
            return self.attempt_failed(id, fault);
        }
        if is_resent {
            self.land(id);
        }
        self.tally.fault(request, fault, self.now_ns);
        self.pause_for(id, Phase::Failed(fault), 0);
    }

    fn send_back(&mut self, id: u32, fault: Fault) {
        if !self.programs.is_empty() {
            // A script is notified and decides for itself.
            return self.pause(id, Phase::Failed(fault));
        }
        let Exchange { user, intended_ns, .. } = self.exchanges[id as usize];
        self.outstanding -= 1;
        let state = &mut self.users[user as usize];
        state.outstanding -= 1;
        let phase = if self.is_counted_by_arrivals() && self.users[user as usize].at == 0 {
            // Another user with a connection may take the arrival, in order of intended start times.
            let workload = usize::from(self.users[user as usize].workload);
            if let Source::Open { returned, .. } = &mut self.workloads[workload].source {
                let place = returned.partition_point(|t| *t <= intended_ns);
                returned.insert(place, intended_ns);
            }
            // The next attempt begins it again.
            self.under_way -= 1;
            Phase::SentBack
        } else {
            self.owing += 1;
            Phase::Owed
        };
        self.pause(id, phase);
    }

    /// Pauses after a failure; the pause doubles with every consecutive failure of the link. The link stays with the
    /// exchange in the meantime.
    fn pause(&mut self, id: u32, phase: Phase) {
        let first_ns = self.outline.limits.reconnect_pause_ns;
        let link = &mut self.links[self.exchanges[id as usize].link as usize];
        let pause_ns = first_ns.saturating_mul(1 << link.failures.min(20)).min(PAUSE_MAX_NS.max(first_ns));
        link.failures = link.failures.saturating_add(1);
        self.pause_for(id, phase, pause_ns);
    }

    fn pause_for(&mut self, id: u32, phase: Phase, pause_ns: u64) {
        let exchange = &mut self.exchanges[id as usize];
        exchange.phase = phase;
        exchange.deadline_ns = self.now_ns + pause_ns;
        self.exchange_wheel.arm(id, exchange.deadline_ns);
    }

    /// Ends the step, which has failed.
    pub(super) fn failure_over(&mut self, id: u32, fault: Fault) {
        self.outstanding -= 1;
        self.ended(id, End::Failed(fault));
    }

    /// Lets the user of a request that was sent back try again or continue.
    pub(super) fn pause_over(&mut self, id: u32) {
        let Exchange { user, intended_ns, phase, .. } = self.exchanges[id as usize];
        self.free_exchange(id);
        if phase == Phase::Owed {
            self.owing -= 1;
            return self.table_attempt(user, intended_ns);
        }
        self.users[user as usize].busy = false;
        if matches!(self.source_of(user), Source::Open { .. }) {
            self.free(user);
        } else if self.is_active(user) && self.now_ns < self.end_ns {
            self.begin_iteration(user, self.now_ns);
        }
    }
}
