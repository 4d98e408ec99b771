//! Requests of HTTP samplers: sent, answered, redirected, and authenticated.

use super::finish::Judged;
use super::page::Place;
use super::{After, Stage, Thread, scope};
use crate::cache::Found;
use crate::http::{self, Failure, Request};
use crate::plan::{AuthManager, Http, PreProcessor, Rewriting, Sampler, SamplerId, SamplerKind};
use crate::sample::{DataType, Sample};
use crate::scope::{Scope, Wish};
use crate::worker::{Fixed, Known, USER_AGENT};
use plimsoll_jmx::plan::Mechanism;
use plimsoll_plan::Fault;
use plimsoll_plan::Side;
use plimsoll_plan::metric::{SeriesSum, fault_id};
use plimsoll_plan::program::{At, BodyUse, Count, Outbox, RequestId, Step, StepId};
use plimsoll_wire::h1::{Writer, check_header, check_method, check_target};
use std::cell::OnceCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

/// Largest decoded body, in bytes: a few kilobytes can decode to gigabytes.
pub(super) const DECODED_BYTES_MAX: usize = 256 << 20;

/// A sample with its requests.
pub struct Flow {
    pub(super) id: StepId,
    /// What it is a part of, if a page embeds it.
    pub(super) place: Option<Place>,
    pub(super) sampler: SamplerId,
    pub(super) request: Rc<Request>,
    /// What its sampler sends each time, if this is it.
    pub(super) fixed: Option<Rc<Fixed>>,
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
    pub(super) series: RequestId,
}

impl Flow {
    pub(super) fn new(sampler: SamplerId, request: Rc<Request>, label: &Rc<str>) -> Flow {
        Flow {
            id: 0,
            place: None,
            sampler,
            request,
            fixed: None,
            first: None,
            redirects: 0,
            has_answered: false,
            challenged_ms: 0,
            label: Rc::clone(label),
            authorization: None,
            sent_bytes: 0,
            request_head: String::new(),
            series: 0,
        }
    }
}

impl Thread {
    pub(super) fn http_of<'p>(
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
        let plan = Rc::clone(&self.plan);
        let Some((of, http)) = self.http_of(&plan, sampler) else { return After::Continues };
        let mut wish = Wish::default();
        let worker = Rc::clone(&self.worker);
        let kept = worker.kept(self.identity.group, sampler);
        let mut fixed = kept.fixed.get().map(Rc::clone);
        let mut request = match &fixed {
            Some(fixed) => Rc::clone(&fixed.request),
            None => {
                let mut scope = scope!(self, at, &mut wish);
                let base = |scope: &mut Scope<'_>| kept.base.get(of, http, &worker.texts, scope);
                match http::build(http, base, &self.replaced, &worker.requests, &mut scope) {
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
        match self.is_cached(of, &mut request, at) {
            None => {}
            // Without a request, there is no sample.
            Some(true) => return After::Continues,
            Some(false) => fixed = None,
        }
        if let Some(limit_ms) = self.limit_ms {
            let limit_ns = limit_ms * 1_000_000;
            let request = Rc::make_mut(&mut request);
            request.timeout_ns =
                if request.timeout_ns == 0 { limit_ns } else { request.timeout_ns.min(limit_ns) };
        }
        let flow = Flow { fixed, ..Flow::new(sampler, request, &self.label) };
        self.send(Box::new(flow), at, out)
    }

    /// Looks into the cache. Returns `None` if a response is not there, and otherwise whether it is fresh; if not, the
    /// request gets the conditions under which the server sends another one.
    pub(super) fn is_cached(&self, of: &Sampler, request: &mut Rc<Request>, at: At) -> Option<bool> {
        let (is_get, now_ms) = (&*request.method == "GET", (at.unix_ns / 1_000_000) as i64);
        match self.caches[of.cache?].find(&request.url, &request.headers, is_get, now_ms) {
            Found::Nothing => None,
            Found::Fresh => Some(true),
            Found::Stale(conditions) => {
                let headers = Rc::make_mut(&mut Rc::make_mut(request).headers);
                for (name, value) in conditions {
                    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                    headers.push((name.to_owned(), value));
                }
                Some(false)
            }
        }
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
        self.finish_sampler(sampler, Some(sample), Judged::Nothing, at, out)
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
        request.change_url(change);
    }

    /// Sends the request of a sample.
    pub(super) fn send(&mut self, mut flow: Box<Flow>, at: At, out: &mut Outbox) -> After {
        match self.dispatch(&mut flow, at, out) {
            Ok(()) => {
                self.stage = Stage::Requesting(flow);
                After::Waits
            }
            Err(failure) => {
                let ended = self.failed(*flow, &failure, None, at);
                self.end_requests(Box::new(ended), at, out)
            }
        }
    }

    /// Sends a request, or asks for its origin first.
    ///
    /// # Errors
    /// Returns why JMeter would fail the sample without a request.
    pub(super) fn dispatch(&mut self, flow: &mut Flow, at: At, out: &mut Outbox) -> Result<(), Failure> {
        flow.id = self.next_step();
        let Some(known) = self.worker.origin(&flow.request.target) else {
            out.reach(flow.id, (*flow.request.target).clone());
            return Ok(());
        };
        let rendered = self.render(flow, &known, at, out);
        rendered.map_err(|why| Failure::new("java.lang.IllegalArgumentException", why))
    }

    /// Puts a request into the outbox.
    fn render(&mut self, flow: &mut Flow, known: &Known, at: At, out: &mut Outbox) -> Result<(), String> {
        let plan = Rc::clone(&self.plan);
        let Some((of, http)) = self.http_of(&plan, flow.sampler) else { return Ok(()) };
        let authorization = match flow.authorization.take() {
            Some(value) => Some(value),
            None => self.credentials(of, &flow.request, at),
        };
        let request = &flow.request;
        // A fixed request is checked once, and so is what precedes a path.
        let head = flow.fixed.as_ref().and_then(|fixed| fixed.head.get());
        let base = request.plain_base();
        let tail = base.and_then(|base| base.tail.get()).filter(|(origin, _)| *origin == known.number);
        if head.is_none() && !request.has_plain_path() {
            check_target(request.path())?;
        }
        if head.is_none() && tail.is_none() {
            check_method(&request.method)?;
            for (name, value) in request.headers.iter().chain(&request.body_headers) {
                check_header(name, value)?;
            }
        }
        let worker = Rc::clone(&self.worker);
        let kept = &worker.kept(self.identity.group, flow.sampler).series;
        let is_usual =
            flow.redirects == 0 && flow.place.is_none() && of.auth.is_none() && of.label.fixed().is_some();
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
            id: flow.id,
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
            self.jars[number].header(request.path().as_bytes(), &known.origin, at.unix_ns, cookies);
        }
        let is_plain = cookies.is_empty() && authorization.is_none();
        let body = request.body.as_deref().unwrap_or_default();
        let begin = out.arena.len();
        let mut head_end = begin;
        out.push_rendered(step, |bytes| {
            let head = head.filter(|(origin, _)| is_plain && *origin == known.number);
            match (head, tail.filter(|_| is_plain)) {
                (Some((_, head)), _) => bytes.extend_from_slice(head),
                (None, Some((_, tail))) => {
                    write_line(request, bytes);
                    bytes.extend_from_slice(tail);
                }
                (None, None) => write_head(request, known, cookies, authorization.as_deref(), bytes),
            }
            head_end = bytes.len();
            bytes.extend_from_slice(body);
        });
        if let (Some(fixed), None, true) = (&flow.fixed, head, is_plain) {
            fixed.head.get_or_init(|| (known.number, out.arena[begin..head_end].into()));
        }
        if let (Some(base), None, true) = (base, tail, is_plain) {
            let line = request.method.len() + request.path().len() + LINE_BYTES;
            base.tail.get_or_init(|| (known.number, out.arena[begin + line..head_end].into()));
        }
        flow.sent_bytes = (out.arena.len() - begin) as u64;
        flow.request_head.clear();
        if of.reads_request || self.plan.keeps_content {
            flow.request_head.push_str(&String::from_utf8_lossy(&out.arena[begin..head_end]));
        }
        Ok(())
    }

    /// Returns the name of the series that counts a request: redirects, challenges, and what a page embeds have their
    /// own, so that the series of a label counts its samples.
    pub(super) fn series_label(&self, flow: &Flow, of: &Sampler) -> Rc<str> {
        if flow.place.is_some() {
            return format!("{} (embedded)", flow.label).into();
        }
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
}

/// Bytes of a request line besides method and target: two spaces, the version, and the line end.
const LINE_BYTES: usize = " ".len() * 2 + "HTTP/1.1\r\n".len();

/// Writes the request line.
fn write_line(request: &Request, bytes: &mut Vec<u8>) {
    let Ok(_) = Writer::new(bytes).line(&request.method, false, |bytes| {
        bytes.extend_from_slice(request.path().as_bytes());
        Ok::<(), Infallible>(())
    });
}

/// Writes the request line and the fields of a request.
fn write_head(
    request: &Request,
    known: &Known,
    cookies: &[u8],
    authorization: Option<&str>,
    bytes: &mut Vec<u8>,
) {
    write_line(request, bytes);
    let mut writer = Writer::new(bytes);
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
pub(super) fn count_unsent(series: RequestId, fault: Fault, out: &mut Outbox) {
    out.count(Count::Sum(series, fault_id(fault), 1));
    if fault.side() != Side::Client {
        out.count(Count::sum(series, SeriesSum::Finished, 1));
        out.count(Count::sum(series, SeriesSum::Failed, 1));
    }
}

fn http_encoded(text: &str) -> String {
    crate::function::url_encoded(text)
}
