//! Links that look up their host before they connect.

use super::{Post, Worker};
use crate::driver::Door;
use crate::link::State;
use crate::names::{LookedUp, Ticket};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum};

impl<D: Door, P: Post> Worker<D, P> {
    /// Asks for the address of a link; the connect timeout applies to the lookup, too.
    pub(super) fn look_up(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        link.state = State::Resolving;
        link.since_ns = self.now_ns;
        let (origin, generation) = (link.origin, link.generation);
        self.openings.add(id, generation);
        self.looking_up += 1;
        self.post.look_up(origin, Ticket { link: id, generation });
    }

    /// Continues the links whose lookups have ended.
    pub(super) fn take_answers(&mut self) {
        let mut answers = std::mem::take(&mut self.answers);
        self.post.answers(&mut answers);
        for (ticket, answer) in answers.drain(..) {
            self.looking_up -= 1;
            self.looked_up(ticket, answer);
        }
        self.answers = answers;
    }

    fn looked_up(&mut self, Ticket { link: id, generation }: Ticket, answer: LookedUp) {
        self.tally.record(RunHist::Dns, answer.took_ns);
        self.tally.add(RunSum::DnsQueued, u64::from(answer.was_queued));
        let link = &mut self.links[id as usize];
        if link.generation != generation || link.state != State::Resolving {
            // The link has given up.
            return;
        }
        self.end_look_up(id);
        match answer.found {
            Ok(address) => self.connect(id, address, 0),
            Err(sentence) => {
                self.tell_of(self.links[id as usize].request, Fault::DnsFailed, &sentence);
                self.connect_failed(id, Fault::DnsFailed);
            }
        }
    }

    /// Ends the wait for an answer; one that comes later is only counted.
    pub(super) fn end_look_up(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        link.state = State::Closed;
        link.generation = link.generation.wrapping_add(1);
    }
}
