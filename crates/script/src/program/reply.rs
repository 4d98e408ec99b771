//! Handles a response: follows redirects, runs checks, counts results, and extracts values.

use super::code::{Op, StrandId};
use super::redact;
use super::user::{Exchange, IterationState, Turn, Wait};
use crate::answer::Answer;
use crate::ask::{Next, Redirect};
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{CheckSum, RunSum, SeriesSum};
use plimsoll_plan::program::{Count, Reply};
use plimsoll_plan::script::{Slot, TimingPart};
use std::sync::Arc;

/// What to do with a redirect.
pub(super) enum Way {
    /// Check the response, because the redirect is not followed.
    Here,
    /// Wait for the next request, which was sent.
    On,
    /// Fail, because there were too many redirects.
    TooFar,
}

impl Turn<'_> {
    /// Returns the request that a strand waits for.
    pub fn ask_of(&mut self, strand: StrandId) -> Option<u32> {
        let pc = self.state.strand(strand).pc;
        match self.stage.code.ops.get(pc as usize)? {
            Op::Ask(ask) | Op::Stream { ask, .. } | Op::Connect { ask, .. } => Some(*ask),
            _ => None,
        }
    }

    /// Handles the end of a request.
    pub fn answered(&mut self, strand: StrandId, reply: &Reply<'_>) {
        let Some(ask) = self.ask_of(strand) else { return };
        match self.state.strand(strand).exchange {
            Exchange::Token => return self.token_answered(strand, ask, reply),
            Exchange::Challenge => return self.challenged(strand, ask, reply),
            Exchange::Own | Exchange::Repeated => {}
        }
        if let Some(fault) = reply.fault {
            self.tell_fault(ask, fault, reply);
            return self.failed(strand, ask, fault);
        }
        if let Some(call) = &self.stage.script.asks[ask as usize].grpc {
            return self.call_ended(strand, ask, call, reply);
        }
        self.take_cookies(strand, ask, reply.head);
        match self.redirect(strand, ask, reply.status, reply.head) {
            Way::On => return,
            Way::TooFar => {
                self.out.fail(Fault::Redirects);
                self.tell_fault(ask, Fault::Redirects, reply);
                return self.failed(strand, ask, Fault::Redirects);
            }
            Way::Here => {}
        }
        if self.is_repeated(strand, ask, reply) {
            return;
        }
        for (slot, part) in &self.stage.asks[ask as usize].timings {
            self.state.slots[*slot] = match part {
                TimingPart::ServiceTime => reply.phases.service_ns(),
                TimingPart::Ttfb => reply.phases.first_byte_ns,
            };
        }
        match self.judge(ask, &answer_of(reply)) {
            None => self.go_on(strand),
            Some(fault) => {
                self.out.fail(fault);
                self.failed(strand, ask, fault);
            }
        }
    }

    /// Handles a failure: ends the iteration, unless the request says otherwise.
    pub fn failed(&mut self, strand: StrandId, ask: u32, fault: Fault) {
        let script = &self.stage.script.asks[ask as usize];
        if script.go_on_after_failure {
            return self.go_on(strand);
        }
        self.note_aside(&script.name, || fault.sentence().into());
        self.state.strand(strand).wait = Wait::Idle;
        self.leave(IterationState::Leaving);
    }

    pub fn take_cookies(&mut self, strand: StrandId, ask: u32, head: Head<'_>) {
        // The jar is moved out, because the sent bytes belong to the same user.
        let Some(mut jar) = self.state.jar.take() else { return };
        if let Some(trail) = &self.state.strand(strand).trail {
            let mut words = trail.sent.splitn(3, |byte| *byte == b' ');
            let path = words.nth(1).unwrap_or(b"/");
            let own = self.stage.asks[ask as usize].form.origin();
            let origin =
                if trail.to == own.number() { own } else { &self.stage.origins[usize::from(trail.to)] };
            jar.take(head, path, self.at.unix_ns, origin);
        }
        self.state.jar = Some(jar);
    }

    /// Sends the request of a redirect.
    pub fn redirect(&mut self, strand: StrandId, ask: u32, status: u16, head: Head<'_>) -> Way {
        let most = self.stage.script.asks[ask as usize].redirects;
        if most == 0 || !(300..400).contains(&status) || self.state.mood != IterationState::Going {
            return Way::Here;
        }
        let Some(trail) = self.state.strand(strand).trail.take() else { return Way::Here };
        let form = &self.stage.asks[ask as usize].form;
        let begin = self.out.arena.len();
        let jar = self.state.jar.as_deref();
        let trail_to = trail.to;
        let redirect = Redirect { status, head, sent: &trail.sent, from: trail.to };
        let next = form.follow(&redirect, &self.stage.sites, jar, self.at.unix_ns, &mut self.out.arena);
        let left = self.state.strand(strand);
        left.trail = Some(trail);
        match next {
            Next::Stay => Way::Here,
            Next::Elsewhere => {
                self.out.count(Count::Run(RunSum::RedirectsCrossHost, 1));
                Way::Here
            }
            Next::Follow { .. } if left.redirects == 0 => {
                self.out.arena.truncate(begin);
                Way::TooFar
            }
            Next::Follow { head_only, to } => {
                left.redirects -= 1;
                self.out.count(Count::sum(ask, SeriesSum::Redirects, 1));
                match self.stage.asks[ask as usize].auth.is_some() {
                    // A redirect to another origin has no credentials, and its response says what it lacks.
                    true if to == trail_to => {
                        let pushed = self.push_signed(strand, ask, begin, head_only, to);
                        if pushed.is_err() {
                            self.out.arena.truncate(begin);
                            return Way::Here;
                        }
                    }
                    _ => self.push(strand, ask, begin, head_only, to),
                }
                Way::On
            }
        }
    }

    /// Checks a response, counts the results, and stores extracted values. Returns the fault of a failed response.
    pub fn judge(&mut self, ask: u32, answer: &Answer<'_>) -> Option<Fault> {
        let asking = &self.stage.asks[ask as usize];
        // Messages are created only for failures, and only for those that are shown.
        let wants_sentences = self.is_aside()
            || asking.status_samples.is_open()
            || asking.check_samples.iter().any(|quota| quota.is_open());
        self.run_judge(ask, answer, wants_sentences, None);
        if !self.bench.findings.failures.is_empty() && self.secret_values().next().is_some() {
            // Messages shorten values, and part of a secret cannot be recognized. They are therefore created again with
            // the secrets of this user. Creating that list before a failure would waste time for every response.
            let own = self.secret_values().filter_map(|value| std::str::from_utf8(value).ok());
            let forms: Vec<String> =
                redact::forms_of(own).into_iter().chain(self.stage.secrets.iter().cloned()).collect();
            self.run_judge(ask, answer, wants_sentences, Some(forms.into()));
        }
        let findings = &mut self.bench.findings;
        // A check without a row to compare with says nothing about the response.
        let exhausted = findings.exhausted.is_some();
        let unseen = |number: usize| findings.unseen.contains(&number);
        for (number, held) in findings.verdicts.iter().enumerate().filter(|(n, _)| !exhausted && !unseen(*n))
        {
            let series = asking.checks + number as u32;
            self.out.count(Count::sum(series, CheckSum::Made, 1));
            if !held {
                self.out.count(Count::sum(series, CheckSum::Failed, 1));
            }
        }
        if findings.shape.is_some_and(|shape| asking.shapes.note(shape)) {
            self.out.count(Count::sum(ask, SeriesSum::ShapeChanges, 1));
        }
        for (slot, range) in &findings.extracted {
            let value = findings.bytes.get(range.clone()).unwrap_or_default();
            match slot {
                Slot::Var(id) => self.state.vars.set(*id, value),
                Slot::Global(id) => {
                    if !self.stage.globals.set(*id, value) {
                        self.stage.note_trouble(|| "setup set a value too often".into());
                    }
                }
            }
        }
        let is_whole = findings.all_held();
        let held = exhausted
            || findings
                .verdicts
                .iter()
                .enumerate()
                .all(|(number, held)| *held || findings.unseen.contains(&number));
        let fault = match (findings.undecodable, findings.status_ok, held) {
            (true, _, _) => Some(Fault::DecodeFailed),
            (_, false, _) => Some(Fault::Status),
            (_, _, false) if findings.has_graphql_errors => Some(Fault::GraphqlErrors),
            (_, _, false) => Some(Fault::Check),
            // Without the body there is no result: the limit is that of the load generator.
            (false, true, true) => (!findings.unseen.is_empty()).then_some(Fault::ClientLimit),
        };
        if fault.is_some() && !findings.failures.is_empty() {
            self.tell_findings(ask, answer);
        }
        if is_whole && !self.stage.tokens.is_empty() {
            self.note_token(ask);
        }
        if exhausted {
            self.leave(IterationState::Retiring);
        }
        fault
    }

    pub(super) fn run_judge(
        &mut self,
        ask: u32,
        answer: &Answer<'_>,
        wants_sentences: bool,
        forms: Option<Arc<[String]>>,
    ) {
        let findings = &mut self.bench.findings;
        findings.wants_sentences = wants_sentences;
        match forms {
            Some(forms) => findings.forms = forms,
            None if Arc::ptr_eq(&findings.forms, &self.stage.secrets) => {}
            None => findings.forms = Arc::clone(&self.stage.secrets),
        }
        let (mut scope, _) = self.state.scope(self.stage, self.at.unix_ns);
        self.stage.asks[ask as usize].judge.run(
            answer,
            &mut scope,
            &mut self.bench.scratch,
            &mut self.bench.findings,
        );
    }
}

/// Returns what checks and extractions see of a reply that is not a gRPC call.
pub(super) fn answer_of<'a>(reply: &Reply<'a>) -> Answer<'a> {
    Answer {
        status: reply.status,
        head: reply.head,
        body: reply.body,
        body_bytes: reply.body_bytes,
        service_ns: reply.phases.service_ns(),
        call: None,
    }
}
