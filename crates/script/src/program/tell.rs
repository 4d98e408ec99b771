//! Reports failures of a user: counts, examples, and the message of a failed setup or teardown.

use super::code::{Op, Pc, StrandId};
use super::redact;
use super::stage::Quota;
use super::user::{IterationState, Turn, Wait};
use crate::answer::Answer;
use crate::value::Unfilled;
use plimsoll_plan::Fault;
use plimsoll_plan::data::Sharing;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::program::{Count, Outbox, Reply};

pub(super) fn abandoned(out: &mut Outbox) {
    out.count(Count::Run(RunSum::IterationsAbandoned, 1));
}

impl Turn<'_> {
    /// Handles a text with a missing value, or with one that cannot be sent.
    pub fn unfilled(&mut self, strand: StrandId, pc: Pc, unfilled: &Unfilled) {
        self.state.strand(strand).wait = Wait::Idle;
        let script = &self.stage.script;
        let place = match self.stage.code.ops.get(pc as usize) {
            Some(
                Op::Ask(ask)
                | Op::Stream { ask, .. }
                | Op::Connect { ask, .. }
                | Op::Send { ask, .. }
                | Op::Close { ask, .. },
            ) => script.asks.get(*ask as usize).map_or("", |ask| &ask.name),
            _ => "",
        };
        let sentence = || unfilled.sentence(&script.vars, &script.globals, &script.feeders);
        if let Unfilled::Exhausted(feeder) = unfilled {
            let feeder = script.feeders.get(usize::from(*feeder));
            self.state.lane_over = feeder.is_some_and(|feeder| feeder.share == Sharing::Unique);
            self.note_aside(place, sentence);
            return self.leave(IterationState::Retiring);
        }
        if self.stage.unfilled_samples.take() {
            self.sample(place, "unfilled", sentence(), 0, String::new());
        }
        self.note_aside(place, sentence);
        self.leave(IterationState::Leaving);
    }

    /// Handles an invalid number of iterations.
    pub fn no_number(&mut self, strand: StrandId) {
        self.state.strand(strand).wait = Wait::Idle;
        let found = self.excerpt(&self.bench.fill);
        let sentence = || format!("invalid number of iterations `{found}`: expected a whole number");
        if self.stage.unfilled_samples.take() {
            self.sample("", "repeat", sentence(), 0, String::new());
        }
        self.note_aside("", sentence);
        self.leave(IterationState::Leaving);
    }

    /// Records the first failure of setup and teardown as a message, because no metric shows it.
    pub fn note_aside(&self, place: &str, sentence: impl FnOnce() -> String) {
        if self.is_aside() {
            self.stage.note_trouble(|| match place {
                "" => sentence(),
                _ => format!("`{place}`: {}", sentence()),
            });
        }
    }

    /// Reports a request without a response, or a failed stream.
    pub fn tell_fault(&mut self, ask: u32, fault: Fault, reply: &Reply<'_>) {
        let name = &self.stage.script.asks[ask as usize].name;
        // proof: the array has an entry for each fault.
        if self.stage.fault_samples[fault as usize].take() {
            let excerpt = self.excerpt(reply.body);
            self.sample(name, fault.name(), fault.sentence().into(), reply.status, excerpt);
        }
    }

    /// Reports a login that the server does not accept.
    pub fn tell_login(&mut self, ask: u32, why: &str, reply: &Reply<'_>) {
        let stage = self.stage;
        let name = &stage.script.asks[ask as usize].name;
        let found = self.excerpt(why.as_bytes());
        self.note_aside(name, || found.clone());
        if stage.asks[ask as usize].status_samples.take() {
            self.sample(name, "digest", found, reply.status, String::new());
        }
    }

    /// Adds examples of failed checks and extractions, and records those of setup and teardown.
    pub fn tell_findings(&mut self, ask: u32, answer: &Answer<'_>) {
        let (script, asking) = (&self.stage.script.asks[ask as usize], &self.stage.asks[ask as usize]);
        for (at, sentence) in std::mem::take(&mut self.bench.findings.failures) {
            let (name, quota): (_, &Quota) = match asking.check_samples.get(at) {
                None => (Fault::Status.name().to_owned(), &asking.status_samples),
                Some(quota) => match script.checks.get(at) {
                    Some(check) => (check.name.clone(), quota),
                    // The name of the series.
                    None => {
                        let extract = script.extracts.get(at - script.checks.len());
                        (format!("extract {}", extract.map_or("", |extract| &extract.name)), quota)
                    }
                },
            };
            let found = self.excerpt(sentence.as_bytes());
            if !script.go_on_after_failure {
                self.note_aside(&script.name, || format!("{name}: {found}"));
            }
            if quota.take() {
                let excerpt = self.excerpt(self.bench.scratch.readable(answer));
                self.sample(&script.name, &name, found, answer.status, excerpt);
            }
        }
    }

    /// Reports a failure of a WebSocket.
    pub fn tell_socket(&mut self, ask: u32, fault: Fault, sentence: &str, status: u16, data: &[u8]) {
        let name = &self.stage.script.asks[ask as usize].name;
        // proof: the array has an entry for each fault.
        if self.stage.fault_samples[fault as usize].take() {
            let excerpt = self.excerpt(data);
            self.sample(name, fault.name(), sentence.to_owned(), status, excerpt);
        }
    }

    /// Reports a message that was not received.
    pub fn tell_expectation(&mut self, ask: u32, expectation: u16, sentence: &str) {
        let (script, asking) = (&self.stage.script.asks[ask as usize], &self.stage.asks[ask as usize]);
        let at = script.checks.len() + script.extracts.len() + usize::from(expectation);
        let expectations = script.websocket.as_deref().map_or(&[][..], |socket| &socket.expectations);
        let name = expectations.get(usize::from(expectation)).map_or("", |wanted| &wanted.name);
        if asking.check_samples.get(at).is_some_and(Quota::take) {
            self.sample(&script.name, name, sentence.to_owned(), 0, String::new());
        }
    }

    pub fn sample(&mut self, request: &str, check: &str, found: String, status: u16, excerpt: String) {
        let sample = FailureExample {
            at_ns: self.at.run_ns,
            request: request.to_owned(),
            check: check.to_owned(),
            observed: found,
            status,
            excerpt,
        };
        self.out.sample(sample);
    }

    /// Redacts received bytes for an example.
    pub fn excerpt(&self, bytes: &[u8]) -> String {
        redact::excerpt(bytes, &self.stage.secrets, self.secret_values())
    }

    /// Returns the values of this user with secret names.
    pub fn secret_values(&self) -> impl Iterator<Item = &[u8]> {
        let vars = self.stage.secret_vars.iter().filter_map(|id| self.state.vars.get(*id));
        vars.chain(self.stage.secret_globals.iter().filter_map(|id| self.stage.globals.get(*id)))
    }
}
