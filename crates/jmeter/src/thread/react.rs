//! Responses to the requests of a sample: what follows each of them, and how it ends.

use super::exchange::{Flow, count_unsent};
use super::finish::Judged;
use super::{After, Stage, Thread};
use crate::http::{self, Failure, Request};
use crate::plan::{Http, SamplerId};
use crate::sample::{DataType, Sample};
use plimsoll_plan::Fault;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{At, Outbox, Reply, RequestId, StepId, Unreachable};
use std::rc::Rc;

/// Redirects that a sample follows (`httpsampler.max_redirects`).
const REDIRECTS_MAX: u32 = 20;

/// What follows a response.
pub(super) enum Reaction {
    /// Another request: a redirect, or the answer to a challenge.
    Again(Box<Flow>),
    Ended(Box<Ended>),
}

/// The end of the requests of a sample.
pub(super) struct Ended {
    pub sampler: SamplerId,
    pub sample: Sample,
    /// That of the last response, if there is one.
    pub series: Option<RequestId>,
    /// The last request.
    pub request: Rc<Request>,
}

impl Thread {
    /// Takes the answer to [`Outbox::reach`].
    pub(super) fn reached(
        &mut self,
        id: StepId,
        result: Result<OriginId, &Unreachable>,
        at: At,
        out: &mut Outbox,
    ) -> After {
        match std::mem::take(&mut self.stage) {
            Stage::Requesting(flow) => match self.settle_origin(&flow, result, out) {
                Ok(()) => self.send(flow, at, out),
                Err(failure) => {
                    let ended = self.failed(*flow, &failure, None, at);
                    self.end_requests(Box::new(ended), at, out)
                }
            },
            Stage::Talking(talk) => self.socket_reached(*talk, result, at, out),
            Stage::Loading(page) => {
                let result = page.flow(id).map_or(Ok(()), |flow| self.settle_origin(flow, result, out));
                self.part_reached(page, id, result, at, out)
            }
            other => {
                self.stage = other;
                After::Waits
            }
        }
    }

    /// Remembers an origin, or counts that it cannot be reached.
    fn settle_origin(
        &self,
        flow: &Flow,
        result: Result<OriginId, &Unreachable>,
        out: &mut Outbox,
    ) -> Result<(), Failure> {
        match result {
            Ok(number) => {
                self.worker.know_origin((*flow.request.target).clone(), number);
                Ok(())
            }
            Err(why) => {
                let plan = Rc::clone(&self.plan);
                let of = self.http_of(&plan, flow.sampler);
                let label = of.map_or_else(|| Rc::clone(&flow.label), |(of, _)| self.series_label(flow, of));
                if let Some(series) = self.worker.series(&label, out) {
                    count_unsent(series, why.fault, out);
                }
                if why.fault == Fault::OriginRefused {
                    self.worker.run.warn_once(&why.sentence);
                }
                Err(http::of_fault(why.fault, &flow.request.target))
            }
        }
    }

    /// Takes a response.
    pub(super) fn replied(&mut self, reply: &Reply<'_>, at: At, out: &mut Outbox) -> After {
        match std::mem::take(&mut self.stage) {
            Stage::Requesting(flow) => match self.react(flow, reply, at) {
                Reaction::Again(flow) => self.send(flow, at, out),
                Reaction::Ended(ended) => self.end_requests(ended, at, out),
            },
            Stage::Loading(page) => self.part_replied(page, reply, at, out),
            other => {
                self.stage = other;
                After::Waits
            }
        }
    }

    /// Returns what follows a response.
    pub(super) fn react(&mut self, mut flow: Box<Flow>, reply: &Reply<'_>, at: At) -> Reaction {
        if let Some(fault) = reply.fault {
            let failure = match fault {
                // It closes the socket from another thread.
                Fault::Timeout
                    if self.limit_ms.is_some_and(|ms| ms * 1_000_000 == flow.request.timeout_ns) =>
                {
                    Failure::new("java.net.SocketException", "Socket closed".to_owned())
                }
                fault => http::of_fault(fault, &flow.request.target),
            };
            return Reaction::Ended(Box::new(self.failed(*flow, &failure, Some(reply), at)));
        }
        let plan = Rc::clone(&self.plan);
        let Some((of, http)) = self.http_of(&plan, flow.sampler) else {
            let failure = Failure::new("java.lang.IllegalStateException", "no sampler".to_owned());
            return Reaction::Ended(Box::new(self.failed(*flow, &failure, Some(reply), at)));
        };
        self.store_cookies(of, &flow.request, reply.head, at);
        self.store_cached(of, &flow.request, reply, at);
        if reply.status == 401 && self.answers_challenge(of, &mut flow, reply, at) {
            return Reaction::Again(flow);
        }
        let sample = self.sample(of, http, &mut flow, reply, at);
        follow(flow, sample, http, reply)
    }

    /// Ends the requests of a sample; a page may embed more.
    pub(super) fn end_requests(&mut self, ended: Box<Ended>, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let resources = self.http_of(&plan, ended.sampler).and_then(|(_, http)| http.resources.as_ref());
        let ended = match resources {
            None => ended,
            Some(resources) => match self.open_page(resources, ended, at) {
                Ok(page) => return self.load(page, at, out),
                Err(ended) => ended,
            },
        };
        if !ended.sample.children.is_empty() && ended.series.is_some() {
            let label = Rc::clone(&ended.sample.label);
            self.count_group(&label, ended.sample.elapsed_ms * 1_000_000, out);
        }
        let judged = if ended.series.is_some() { Judged::Reply } else { Judged::Nothing };
        self.finish_sampler(ended.sampler, Some(ended.sample), judged, at, out)
    }

    /// Ends a sample whose request has failed.
    pub(super) fn failed(
        &mut self,
        mut flow: Flow,
        failure: &Failure,
        reply: Option<&Reply<'_>>,
        at: At,
    ) -> Ended {
        let mut sample = Sample::local(&flow.label, at.unix_ns / 1_000_000);
        (sample.code, sample.message) = failure.columns();
        sample.is_success = false;
        sample.data_type = DataType::Text;
        sample.body = sample.message.as_bytes().to_vec();
        sample.url = Rc::clone(&flow.request.url);
        sample.method = Rc::clone(&flow.request.method);
        sample.sent_bytes = if reply.is_some() { flow.sent_bytes } else { 0 };
        sample.request_head = std::mem::take(&mut flow.request_head);
        if let Some(reply) = reply {
            let phases = reply.phases;
            let connect_ns = phases.connect_ns + phases.tls_ns;
            let elapsed_ns = match phases.service_ns() {
                0 => phases.wait_ns,
                service_ns => connect_ns + service_ns,
            };
            sample.connect_ms = connect_ns / 1_000_000;
            sample.elapsed_ms = elapsed_ns / 1_000_000;
            sample.begin_ms = sample.begin_ms.saturating_sub(sample.elapsed_ms);
        }
        let plan = Rc::clone(&self.plan);
        let is_listed = self.http_of(&plan, flow.sampler).is_some_and(|(_, http)| http.follows_redirects);
        let (sampler, request) = (flow.sampler, Rc::clone(&flow.request));
        Ended { sampler, sample: flow.ended(sample, is_listed), series: None, request }
    }
}

/// Follows a redirect, or ends the sample.
fn follow(mut flow: Box<Flow>, mut sample: Sample, http: &Http, reply: &Reply<'_>) -> Reaction {
    let (status, head) = (reply.status, reply.head);
    let follows = http.follows_redirects || http.redirects_automatically;
    let is_safe = matches!(&*flow.request.method, "GET" | "HEAD");
    let is_redirect = match http.follows_redirects {
        true => matches!(status, 301..=303 | 308) || (status == 307 && is_safe),
        // HttpClient itself follows only what changes nothing.
        false => matches!(status, 301..=303 | 307) && is_safe,
    };
    if follows && is_redirect {
        let location = head.field("location").map(|value| String::from_utf8_lossy(value).into_owned());
        let next = match &location {
            Some(location) if flow.redirects < REDIRECTS_MAX => flow.request.redirected(location, status),
            Some(_) => Err(Failure::new(
                "java.io.IOException",
                format!("Exceeded maximum number of redirects: {REDIRECTS_MAX}"),
            )),
            None => Err(Failure::new(
                "java.lang.IllegalArgumentException",
                format!(
                    "Missing location header in redirect for {} {} HTTP/1.1",
                    flow.request.method, flow.request.url
                ),
            )),
        };
        match next {
            Ok(request) => {
                flow.request = Rc::new(request);
                flow.fixed = None;
                flow.redirects += 1;
                flow.has_answered = false;
                flow.add(sample, http.follows_redirects);
                return Reaction::Again(flow);
            }
            Err(failure) => {
                (sample.code, sample.message) = failure.columns();
                sample.is_success = false;
            }
        }
    }
    let (sampler, series, request) = (flow.sampler, Some(flow.series), Rc::clone(&flow.request));
    let sample = flow.ended(sample, http.follows_redirects);
    Reaction::Ended(Box::new(Ended { sampler, sample, series, request }))
}
