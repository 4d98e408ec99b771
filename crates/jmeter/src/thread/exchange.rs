//! Requests of HTTP samplers: sent, answered, redirected, and authenticated.

use super::{After, Stage, Thread, scope};
use crate::cache::Found;
use crate::http::{self, Failure, Request};
use crate::plan::{AuthManager, Http, PreProcessor, Rewriting, Sampler, SamplerId, SamplerKind};
use crate::sample::{DataType, Sample};
use crate::scope::Wish;
use crate::worker::{Fixed, Known, USER_AGENT};
use plimsoll_jmx::plan::Mechanism;
use plimsoll_plan::Fault;
use plimsoll_plan::Side;
use plimsoll_plan::metric::{SeriesSum, fault_id};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{At, BodyUse, Count, Outbox, Reply, RequestId, Step, Unreachable};
use plimsoll_wire::h1::{Writer, check_header, check_method, check_target};
use std::cell::OnceCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

/// Largest decoded body, in bytes: a few kilobytes can decode to gigabytes.
pub(super) const DECODED_BYTES_MAX: usize = 256 << 20;
/// Redirects that a sample follows (`httpsampler.max_redirects`).
const REDIRECTS_MAX: u32 = 20;

/// A sample with its requests.
pub struct Flow {
    sampler: SamplerId,
    pub(super) request: Rc<Request>,
    /// What its sampler sends each time, if this is it.
    fixed: Option<Rc<Fixed>>,
    /// The first response; later ones become its sub-samples.
    pub(super) first: Option<Box<Sample>>,
    pub(super) redirects: u32,
    /// Whether a challenge was answered, so that another one is the result.
    pub(super) has_answered: bool,
    /// Time of challenged requests, ms, which belongs to the sample.
    pub(super) challenged_ms: u64,
    pub(super) label: Rc<str>,
    /// The value of `Authorization` that answers a challenge.
    pub(super) authorization: Option<String>,
    pub(super) sent_bytes: u64,
    pub(super) request_head: String,
    series: RequestId,
}

impl Thread {
    fn http_of<'p>(
        &self,
        plan: &'p crate::plan::Plan,
        sampler: SamplerId,
    ) -> Option<(&'p Sampler, &'p Http)> {
        let of = plan.groups.get(self.identity.group)?.samplers.get(sampler as usize)?;
        match &of.kind {
            SamplerKind::Http(http) => Some((of, http)),
            _ => None,
        }
    }

    pub(super) fn begin_request(&mut self, sampler: SamplerId, at: At, out: &mut Outbox) -> After {
        let plan = Arc::clone(&self.plan);
        let Some((of, http)) = self.http_of(&plan, sampler) else { return After::Continues };
        let mut wish = Wish::default();
        let worker = Rc::clone(&self.worker);
        let kept = worker.kept(self.identity.group, sampler);
        let mut fixed = kept.fixed.get().map(Rc::clone);
        let mut request = match &fixed {
            Some(fixed) => Rc::clone(&fixed.request),
            None => {
                let mut scope = scope!(self, at, &mut wish);
                let base =
                    of.has_fixed_base.then(|| kept.base.get_or_init(|| http::base_of(of, http, &mut scope)));
                match http::build(of, http, base, &worker.files, &mut scope) {
                    Ok(request) => Rc::new(request),
                    Err(failure) => return self.refused(sampler, &failure, at, out),
                }
            }
        };
        if of.is_fixed && fixed.is_none() {
            let new = || Rc::new(Fixed { request: Rc::clone(&request), head: OnceCell::new() });
            fixed = Some(Rc::clone(kept.fixed.get_or_init(new)));
        }
        for pre in &of.pre {
            if let PreProcessor::Rewriting(rewriting) = &**pre {
                self.rewrite(rewriting, Rc::make_mut(&mut request), at);
                fixed = None;
            }
        }
        if let Some(number) = of.cache {
            let (is_get, now_ms) = (&*request.method == "GET", (at.unix_ns / 1_000_000) as i64);
            match self.caches[number].find(&request.url, &request.headers, is_get, now_ms) {
                Found::Nothing => {}
                // Without a request, there is no sample.
                Found::Fresh => return After::Continues,
                Found::Stale(conditions) => {
                    fixed = None;
                    let headers = Rc::make_mut(&mut Rc::make_mut(&mut request).headers);
                    for (name, value) in conditions {
                        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                        headers.push((name.to_owned(), value));
                    }
                }
            }
        }
        if let Some(limit_ms) = self.limit_ms {
            let limit_ns = limit_ms * 1_000_000;
            let request = Rc::make_mut(&mut request);
            request.timeout_ns =
                if request.timeout_ns == 0 { limit_ns } else { request.timeout_ns.min(limit_ns) };
        }
        let flow = Flow {
            sampler,
            request,
            fixed,
            first: None,
            redirects: 0,
            has_answered: false,
            challenged_ms: 0,
            label: Rc::clone(&self.label),
            authorization: None,
            sent_bytes: 0,
            request_head: String::new(),
            series: 0,
        };
        self.send(Box::new(flow), at, out)
    }

    /// Fails a sample that was not sent.
    fn refused(&mut self, sampler: SamplerId, failure: &Failure, at: At, out: &mut Outbox) -> After {
        // The label is set after the URL is made.
        let label = if failure.is_of_protocol() { "" } else { &self.label };
        let mut sample = Sample::local(label, at.unix_ns / 1_000_000);
        (sample.code, sample.message) = failure.columns();
        sample.url = failure.url.as_str().into();
        sample.is_success = false;
        sample.data_type = DataType::Text;
        let label = Rc::clone(&self.label);
        if let Some(series) = self.worker.series(&label, out) {
            // A request that cannot be written fails, as one that the server rejects.
            count_unsent(series, Fault::InvalidRequest, out);
        }
        self.finish_sampler(sampler, Some(sample), None, at, out)
    }

    /// Puts a session ID into a request.
    fn rewrite(&mut self, of: &Rewriting, request: &mut Request, at: At) {
        let Some(value) = self.vars.get(&of.kept).map(str::to_owned) else { return };
        let mut wish = Wish::default();
        let argument = of.argument.value(&mut scope!(self, at, &mut wish));
        let value = if of.encodes { http_encoded(&value) } else { value };
        let is_form =
            request.header("content-type").is_some_and(|media| media.contains("x-www-form-urlencoded"));
        if let (Some(body), false, true) = (&mut request.body, of.is_path_extension, is_form) {
            let mark = if body.is_empty() { "" } else { "&" };
            body.extend_from_slice(format!("{mark}{argument}={value}").as_bytes());
            return;
        }
        let change = |text: &str| match of.is_path_extension {
            true => {
                let equals = if of.has_no_equals { "" } else { "=" };
                let (path, query) =
                    text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
                let query = query.map_or_else(String::new, |query| format!("?{query}"));
                format!("{path};{argument}{equals}{value}{query}")
            }
            false => {
                let mark = if text.contains('?') { '&' } else { '?' };
                format!("{text}{mark}{argument}={value}")
            }
        };
        request.path = change(&request.path);
        request.url = change(&request.url).into();
    }

    /// Sends a request, or asks for its origin first.
    fn send(&mut self, mut flow: Box<Flow>, at: At, out: &mut Outbox) -> After {
        let Some(target) = flow.request.target.clone() else { return After::Continues };
        let step = self.next_step();
        let Some(known) = self.worker.origin(&target) else {
            out.reach(step, (*target).clone());
            self.stage = Stage::Requesting(flow);
            return After::Waits;
        };
        match self.render(&mut flow, &known, at, out) {
            Ok(()) => {
                self.stage = Stage::Requesting(flow);
                After::Waits
            }
            Err(why) => {
                let failure = Failure::new("java.lang.IllegalArgumentException", why);
                self.fail(*flow, &failure, None, at, out)
            }
        }
    }

    /// Puts a request into the outbox.
    fn render(&mut self, flow: &mut Flow, known: &Known, at: At, out: &mut Outbox) -> Result<(), String> {
        let plan = Arc::clone(&self.plan);
        let Some((of, http)) = self.http_of(&plan, flow.sampler) else { return Ok(()) };
        let authorization = match flow.authorization.take() {
            Some(value) => Some(value),
            None => self.credentials(of, &flow.request, at),
        };
        let request = &flow.request;
        // A fixed request is checked once.
        let head = flow.fixed.as_ref().and_then(|fixed| fixed.head.get());
        if head.is_none() {
            check_method(&request.method)?;
            check_target(&request.path)?;
            for (name, value) in request.headers.iter().chain(&request.body_headers) {
                check_header(name, value)?;
            }
        }
        let worker = Rc::clone(&self.worker);
        let kept = &worker.kept(self.identity.group, flow.sampler).series;
        let is_usual = flow.redirects == 0 && of.auth.is_none() && of.label.fixed().is_some();
        let series = match kept.get().filter(|_| is_usual) {
            Some(series) => series,
            None => {
                let label = self.series_label(flow, of);
                let series = self.worker.series(&label, out).ok_or("too many different labels")?;
                if is_usual {
                    kept.set(Some(series));
                }
                series
            }
        };
        flow.series = series;
        let is_kept = of.reads_body || http.stores_md5 || self.plan.keeps_content;
        let step = Step {
            id: self.step,
            request: series,
            origin: known.number,
            body: if is_kept { BodyUse::Keep } else { BodyUse::HeadOnly },
            head_only: &*request.method == "HEAD",
            close: request.closes,
            timeout_ns: request.timeout_ns,
            judged: true,
            ..Step::default()
        };
        let manager = of.cookies.filter(|number| !self.plan.cookie_managers[*number].ignores_cookies);
        let cookies = &mut *self.worker.cookies.borrow_mut();
        cookies.clear();
        if let Some(number) = manager {
            self.jars[number].header(request.path.as_bytes(), &known.origin, at.unix_ns, cookies);
        }
        let is_plain = cookies.is_empty() && authorization.is_none();
        let body = request.body.as_deref().unwrap_or_default();
        let begin = out.arena.len();
        let mut head_end = begin;
        out.push_rendered(step, |bytes| {
            match head.filter(|(origin, _)| is_plain && *origin == known.number) {
                Some((_, head)) => bytes.extend_from_slice(head),
                None => write_head(request, known, cookies, authorization.as_deref(), bytes),
            }
            head_end = bytes.len();
            bytes.extend_from_slice(body);
        });
        if let (Some(fixed), None, true) = (&flow.fixed, head, is_plain) {
            fixed.head.get_or_init(|| (known.number, out.arena[begin..head_end].into()));
        }
        flow.sent_bytes = (out.arena.len() - begin) as u64;
        flow.request_head.clear();
        if of.reads_request || self.plan.keeps_content {
            flow.request_head.push_str(&String::from_utf8_lossy(&out.arena[begin..head_end]));
        }
        Ok(())
    }

    /// Returns the name of the series that counts a request: redirects and challenges have their own, so that the
    /// series of a label counts its samples.
    fn series_label(&self, flow: &Flow, of: &Sampler) -> Rc<str> {
        if flow.redirects > 0 {
            return format!("{}-{}", flow.label, flow.redirects).into();
        }
        let expects_challenge =
            |auth: &Arc<AuthManager>| auth.entries.iter().any(|entry| entry.mechanism != Mechanism::Basic);
        match !flow.has_answered && of.auth.as_ref().is_some_and(expects_challenge) {
            true => format!("{} (challenge)", flow.label).into(),
            false => Rc::clone(&flow.label),
        }
    }

    /// Takes the answer to [`Outbox::reach`].
    pub(super) fn reached(
        &mut self,
        result: Result<OriginId, &Unreachable>,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let flow = match std::mem::take(&mut self.stage) {
            Stage::Requesting(flow) => flow,
            other => {
                self.stage = other;
                return After::Waits;
            }
        };
        match result {
            Ok(number) => {
                if let Some(target) = flow.request.target.clone() {
                    self.worker.know_origin((*target).clone(), number);
                }
                self.send(flow, at, out)
            }
            Err(why) => {
                let label = Rc::clone(&flow.label);
                if let Some(series) = self.worker.series(&label, out) {
                    count_unsent(series, why.fault, out);
                }
                if why.fault == Fault::OriginRefused {
                    self.worker.run.warn_once(&why.sentence);
                }
                let failure = http::of_fault(why.fault, flow.request.target.as_deref());
                self.fail(*flow, &failure, None, at, out)
            }
        }
    }

    /// Takes a response.
    pub(super) fn replied(&mut self, reply: &Reply<'_>, at: At, out: &mut Outbox) -> After {
        let mut flow = match std::mem::take(&mut self.stage) {
            Stage::Requesting(flow) => flow,
            other => {
                self.stage = other;
                return After::Waits;
            }
        };
        if let Some(fault) = reply.fault {
            let failure = match fault {
                // It closes the socket from another thread.
                Fault::Timeout
                    if self.limit_ms.is_some_and(|ms| ms * 1_000_000 == flow.request.timeout_ns) =>
                {
                    Failure::new("java.net.SocketException", "Socket closed".to_owned())
                }
                fault => http::of_fault(fault, flow.request.target.as_deref()),
            };
            return self.fail(*flow, &failure, Some(reply), at, out);
        }
        let plan = Arc::clone(&self.plan);
        let Some((of, http)) = self.http_of(&plan, flow.sampler) else { return After::Continues };
        self.store_cookies(of, &flow.request, reply.head, at);
        self.store_cached(of, &flow.request, reply, at);
        if reply.status == 401 && self.answers_challenge(of, &mut flow, reply, at) {
            return self.send(flow, at, out);
        }
        let sample = self.sample(of, http, &mut flow, reply, at);
        self.continue_flow(flow, sample, http, reply, at, out)
    }

    /// Follows a redirect, or ends the sample.
    fn continue_flow(
        &mut self,
        mut flow: Box<Flow>,
        mut sample: Sample,
        http: &Http,
        reply: &Reply<'_>,
        at: At,
        out: &mut Outbox,
    ) -> After {
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
                    return self.send(flow, at, out);
                }
                Err(failure) => {
                    (sample.code, sample.message) = failure.columns();
                    sample.is_success = false;
                }
            }
        }
        let sampler = flow.sampler;
        let series = flow.series;
        let sample = flow.ended(sample, http.follows_redirects);
        let elapsed_ns = sample.elapsed_ms * 1_000_000;
        if !sample.children.is_empty() {
            let label = Rc::clone(&sample.label);
            self.count_group(&label, elapsed_ns, out);
        }
        self.finish_sampler(sampler, Some(sample), Some(series), at, out)
    }

    /// Ends a sample whose request has failed.
    fn fail(
        &mut self,
        mut flow: Flow,
        failure: &Failure,
        reply: Option<&Reply<'_>>,
        at: At,
        out: &mut Outbox,
    ) -> After {
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
        let plan = Arc::clone(&self.plan);
        let is_listed = self.http_of(&plan, flow.sampler).is_some_and(|(_, http)| http.follows_redirects);
        let sampler = flow.sampler;
        let sample = flow.ended(sample, is_listed);
        self.finish_sampler(sampler, Some(sample), None, at, out)
    }
}

/// Writes the request line and the fields of a request.
fn write_head(
    request: &Request,
    known: &Known,
    cookies: &[u8],
    authorization: Option<&str>,
    bytes: &mut Vec<u8>,
) {
    let mut writer = Writer::new(bytes);
    let Ok(_) = writer.line(&request.method, false, |bytes| {
        bytes.extend_from_slice(request.path.as_bytes());
        Ok::<(), Infallible>(())
    });
    let connection: &[u8] = if request.closes { b"close" } else { b"keep-alive" };
    writer.field("Connection", connection);
    for (name, value) in request.headers.iter().chain(&request.body_headers) {
        // The cookie manager replaces a header of the plan, if it has a cookie.
        if cookies.is_empty() || !name.eq_ignore_ascii_case("cookie") {
            writer.field(name, value.as_bytes());
        }
    }
    if !cookies.is_empty() {
        writer.field("Cookie", cookies);
    }
    if let Some(value) = authorization.filter(|_| request.header("authorization").is_none()) {
        writer.field("Authorization", value.as_bytes());
    }
    if let Some(body) = &request.body {
        writer.field("Content-Length", body.len().to_string().as_bytes());
    }
    if request.header("host").is_none() {
        writer.field("Host", known.host.as_bytes());
    }
    if request.header("user-agent").is_none() {
        writer.field("User-Agent", USER_AGENT.as_bytes());
    }
    writer.end();
}

/// Counts a request that was not sent.
fn count_unsent(series: RequestId, fault: Fault, out: &mut Outbox) {
    out.count(Count::Sum(series, fault_id(fault), 1));
    if fault.side() != Side::Client {
        out.count(Count::sum(series, SeriesSum::Finished, 1));
        out.count(Count::sum(series, SeriesSum::Failed, 1));
    }
}

fn http_encoded(text: &str) -> String {
    crate::function::url_encoded(text)
}
