//! Sends a request of a script: renders it, waits for the response, and follows redirects.

use crate::host::Host;
use crate::http::address::Address;
use crate::http::error::{BLOCKED_ADDRESS, BLOCKED_HOST};
use crate::http::params::{Params, TIMEOUT_NS};
use crate::http::response::{BodyType, Pending, Response, Sent};
use crate::http::series::shortened;
use crate::http::url;
use crate::jar::{Cookie, Jar, Place};
use crate::log::{Level, Source};
use crate::native::response;
use crate::vu::{Arrived, Vu};
use base64::Engine as _;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{BodyUse, Step, StepId};
use plimsoll_plan::series::{Family, label, request_trend};
use plimsoll_quickjs::{Call, Realm, Thrown, Value};
use plimsoll_script::auth::digest::Challenge;
use plimsoll_wire::h1::{self, Request, check_header, check_method, check_target};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// A request that is ready to be sent.
pub struct Prepared {
    pub method: Cow<'static, str>,
    pub url: Rc<str>,
    /// Name of its series; the URL if the script gives none.
    pub name: Option<String>,
    pub body: Option<Rc<[u8]>>,
    pub params: Params,
}

/// Sends a request and waits for its response, the last one after redirects.
///
/// # Errors
/// Returns an error if the fiber is to end, or if a request throws its failures.
pub fn send(call: &Call<'_>, host: &Host, vu: &Vu, prepared: Prepared) -> Result<Response, Thrown> {
    let mut flow = Flow::new(host, vu, prepared);
    loop {
        let response = match flow.start(host, vu) {
            Started::Waiting(id) => match flow.arrived(host, vu, host.wait(call, vu, id)?) {
                Some(response) => response,
                None => continue,
            },
            Started::Failed(response) => response,
        };
        return settle(call.realm(), host, response);
    }
}

/// Logs or throws the failure of a request.
///
/// # Errors
/// Returns an error if requests throw their failures.
pub fn settle(realm: &Realm, host: &Host, response: Response) -> Result<Response, Thrown> {
    if !response.has_failed() {
        return Ok(response);
    }
    let error = response.error();
    if host.shared.settings.throws {
        return Err(realm.error("Error", &error));
    }
    host.shared
        .warn_once(&format!("request failed: {} {}: {error}", response.request.method, response.request.url));
    Ok(response)
}

/// Resolves a promise with a response, or rejects it if requests throw their failures.
///
/// # Errors
/// Returns what a function of the promise has thrown.
pub fn settle_promise(
    realm: &Realm,
    host: &Host,
    response: Response,
    (resolve, reject): (&Value, &Value),
) -> Result<(), Thrown> {
    let nothing = realm.undefined();
    match settle(realm, host, response) {
        Ok(response) => resolve.call(&nothing, &[&response::object(realm, host, response)?])?,
        Err(Thrown::Value(error)) => reject.call(&nothing, &[&error])?,
        Err(thrown) => return Err(thrown),
    };
    Ok(())
}

/// One request with its redirects.
pub struct Flow {
    prepared: Prepared,
    redirects_left: u32,
    /// Whether the next request has its time by the limit of requests per second.
    is_paced: bool,
    /// Whether a challenge was answered, so that another one is the result.
    has_answered: bool,
    /// Whether a redirect has named its page.
    has_referrer: bool,
    jar: Rc<RefCell<Jar>>,
}

/// What became of the start of a request.
pub enum Started {
    /// It waits for the result of this step, which [`Flow::arrived`] takes.
    Waiting(StepId),
    Failed(Response),
}

impl Flow {
    pub fn new(host: &Host, vu: &Vu, mut prepared: Prepared) -> Flow {
        let redirects_left = prepared.params.redirects.unwrap_or(host.shared.settings.max_redirects);
        let jar = prepared.params.jar.take().unwrap_or_else(|| Rc::clone(&vu.jar.borrow()));
        Flow { prepared, redirects_left, is_paced: false, has_answered: false, has_referrer: false, jar }
    }

    /// Returns host and port of the request; empty if its URL is invalid.
    pub fn authority(&self) -> String {
        url::parse(&self.prepared.url).map(|url| url.target.authority()).unwrap_or_default()
    }

    /// Puts the request into the outbox.
    pub fn start(&mut self, host: &Host, vu: &Vu) -> Started {
        let url = Rc::clone(&self.prepared.url);
        let address = match host.address(&url) {
            Ok(address) => address,
            Err(why) => return self.refused(host, vu, why, 0),
        };
        let target = &address.way.target;
        if let Some(pattern) = blocked_by(&host.shared.settings.blocked_hosts, &target.host) {
            let why = format!("host `{}` is blocked by `{pattern}` in `blockHostnames`", target.host);
            return self.refused(host, vu, why, BLOCKED_HOST);
        }
        let target = match &address.way.mapped {
            Ok(target) => target,
            Err(why) => return self.refused(host, vu, why.clone(), 0),
        };
        if let Some(pacer) = host.shared.pacer.as_ref().filter(|_| !self.is_paced) {
            self.is_paced = true;
            let wait_ns = pacer.wait_ns(host.at.get().run_ns);
            if wait_ns > 0 {
                let id = vu.step();
                host.out.borrow_mut().sleep(id, wait_ns);
                return Started::Waiting(id);
            }
        }
        let Some(origin) = host.number_of(&address.way) else {
            let id = vu.step();
            host.out.borrow_mut().reach(id, target.clone());
            return Started::Waiting(id);
        };
        match self.rendered(host, vu, &address, origin) {
            Ok(id) => Started::Waiting(id),
            Err(why) => self.refused(host, vu, why, 0),
        }
    }

    /// Counts and returns a request that is never sent, with a code of k6, or 0.
    fn refused(&self, host: &Host, vu: &Vu, why: String, code: u16) -> Started {
        let prepared = &self.prepared;
        let name = prepared.params.name.as_deref().or(prepared.name.as_deref()).unwrap_or(&prepared.url);
        let group = vu.group();
        let labels = host.labels(vu, &group, &prepared.params.tags);
        let mut pairs = labels.pairs();
        pairs.push((label::METHOD, &prepared.method));
        let series = host.out.borrow_mut().open(Family::Request, shortened(name), &pairs);
        if let Some(series) = series {
            host.count_fault(series, Fault::InvalidRequest);
        }
        let response = Response { code, ..self.never(Fault::InvalidRequest, why) };
        self.sample(host, vu, &response);
        Started::Failed(response)
    }

    /// Passes on the samples of a request to the output that takes them.
    fn sample(&self, host: &Host, vu: &Vu, response: &Response) {
        let params = &self.prepared.params;
        let name = params.name.as_deref().or(self.prepared.name.as_deref());
        host.sample_request(vu, name, &params.tags, response);
    }

    fn never(&self, fault: Fault, why: String) -> Response {
        let prepared = &self.prepared;
        let request =
            Sent { method: prepared.method.clone(), url: Rc::clone(&prepared.url), ..Sent::default() };
        Response::never(Rc::new(request), fault, why)
    }

    /// Takes the result of the step that it waits for; returns the response, or `None` if it must start again.
    pub fn arrived(&mut self, host: &Host, vu: &Vu, arrived: Arrived) -> Option<Response> {
        match arrived {
            Arrived::Response(response) => self.finish(host, vu, *response),
            Arrived::Slept | Arrived::News(_) | Arrived::Called(_) => None,
            Arrived::Reached(Ok(number)) => {
                if let Ok(address) = host.address(&self.prepared.url)
                    && let Ok(target) = &address.way.mapped
                {
                    host.know_origin(target.clone(), number);
                }
                None
            }
            Arrived::Reached(Err((fault, why))) => {
                host.count_unreached(vu, &self.prepared, fault);
                // No other origin is refused before it is tried because of the options of the script.
                let code = if fault == Fault::InvalidRequest { BLOCKED_ADDRESS } else { 0 };
                let response = Response { code, ..self.never(fault, why) };
                self.sample(host, vu, &response);
                Some(response)
            }
        }
    }

    /// Renders the request; returns the number of its step.
    fn rendered(
        &mut self,
        host: &Host,
        vu: &Vu,
        address: &Address<'_>,
        origin: OriginId,
    ) -> Result<StepId, String> {
        let prepared = &mut self.prepared;
        let settings = &host.shared.settings;
        check_method(&prepared.method)?;
        check_target(&address.path)?;
        let place = address.place(host.unix_s());
        let (headers, cookies) =
            full_headers(&self.jar.borrow(), &prepared.params, address.credentials.as_deref(), place);
        for (name, value) in &headers {
            check_header(name, value)?;
        }
        let request = Request {
            method: &prepared.method,
            target: &address.path,
            host: &address.way.authority,
            headers: &headers,
            body: prepared.body.as_deref(),
            http10: false,
            close: settings.closes_connections,
            user_agent: &settings.user_agent,
        };
        let ask = request.ask();
        let series = host.request_series(vu, prepared, (&address.way.target, Some(origin)))?;
        let keeps_body = settings.reads_bodies
            && match prepared.params.body_type {
                Some(kind) => kind != BodyType::None,
                None => !settings.discards_bodies,
            };
        let id = vu.step();
        let step = Step {
            id,
            request: series,
            origin,
            body: if keeps_body { BodyUse::Keep } else { BodyUse::HeadOnly },
            head_only: ask.head_only,
            close: ask.close,
            timeout_ns: if prepared.params.timeout_ns == 0 { TIMEOUT_NS } else { prepared.params.timeout_ns },
            judged: true,
            ..Step::default()
        };
        self.is_paced = false;
        host.shared.note_sent();
        if let Some(is_full) = settings.logs_http {
            host.log_request(&request, is_full);
        }
        host.out.borrow_mut().push_rendered(step, |out| h1::render_accepting(&request, "", out));
        let mut expected = match &prepared.params.expected {
            Some(expected) => expected.clone(),
            None => vu.expected.borrow().clone(),
        };
        // A challenge is what the first request of a digest is for.
        if prepared.params.auth.as_deref() == Some("digest") && !self.has_answered {
            expected = expected.map(|all| Rc::new(all.iter().copied().chain([(401, 401)]).collect()));
        }
        let is_normal = prepared.url.len() == address.way.origin.len() + address.path.len()
            && prepared.url.starts_with(&address.way.origin);
        let url = if is_normal { Rc::clone(&prepared.url) } else { address.text().into() };
        let (method, body) = (prepared.method.clone(), prepared.body.clone());
        let sent = Sent { method, url, headers, body, cookies };
        vu.pending.borrow_mut().push((id, Pending { request: Rc::new(sent), expected, keeps_body }));
        Ok(id)
    }

    /// Counts the times of a request that opened a connection, or whose response was not expected.
    fn count_times(&self, host: &Host, vu: &Vu, response: &Response) {
        let phases = &response.phases;
        let is_unexpected = response.fault == Some(Fault::Status);
        if phases.connect_ns == 0 && !is_unexpected {
            return;
        }
        let prepared = &self.prepared;
        let name = prepared.params.name.as_deref().or(prepared.name.as_deref()).unwrap_or(&prepared.url);
        let mut tags = prepared.params.tags.clone();
        tags.push(("name".to_owned(), name.to_owned()));
        tags.push((label::METHOD.to_owned(), prepared.method.clone().into_owned()));
        let add = |trend: &str, ns: u64| {
            // A run with too many series says so.
            host.add_by_name(vu, (Family::Trend, trend), ns as f64 / 1e6, &tags);
        };
        if phases.connect_ns > 0 {
            add(request_trend::BLOCKED, phases.wait_ns);
            add(request_trend::CONNECTING, phases.connect_ns.saturating_sub(phases.tls_ns));
            add(request_trend::HANDSHAKING, phases.tls_ns);
        }
        if is_unexpected {
            add(request_trend::UNEXPECTED, phases.service_ns());
        }
    }

    /// Takes a response: stores its cookies, and returns it unless it is a redirect to follow.
    fn finish(&mut self, host: &Host, vu: &Vu, mut response: Response) -> Option<Response> {
        let kind = self.prepared.params.body_type.unwrap_or_default();
        if response.body_type != BodyType::None {
            response.body_type = kind;
        }
        self.count_times(host, vu, &response);
        self.sample(host, vu, &response);
        self.store_cookies(host, &response);
        if let Some(is_full) = host.shared.settings.logs_http {
            host.log_response(&response, is_full);
        }
        if self.answers_challenge(vu, &response) {
            return None;
        }
        let Some(location) = self.redirect(&response) else { return Some(response) };
        self.redirects_left -= 1;
        self.prepared.url = url::join(&response.request.url, &location).into();
        self.name_referrer(&response.request.url);
        // RFC 9110 section 15.4: 307 and 308 keep method and body; for others, user agents send GET.
        if !matches!(response.status, 307 | 308) {
            if self.prepared.method != "HEAD" {
                self.prepared.method = Cow::Borrowed("GET");
            }
            self.prepared.body = None;
            let is_of_body = |name: &str| {
                ["content-type", "content-length", "transfer-encoding"]
                    .contains(&name.to_ascii_lowercase().as_str())
            };
            self.prepared.params.headers.retain(|(name, _)| !is_of_body(name));
        }
        let from = url::parse(&response.request.url).map(|url| url.target);
        let to = url::parse(&self.prepared.url).map(|url| url.target);
        if from != to {
            // Credentials are for the host that they were written for.
            let is_secret = |name: &str| {
                ["authorization", "cookie", "host"].contains(&name.to_ascii_lowercase().as_str())
            };
            self.prepared.params.headers.retain(|(name, _)| !is_secret(name));
            self.prepared.params.cookies.clear();
        }
        None
    }

    /// Names the page that redirected (RFC 9110 section 10.1.3), unless the script has named one, or TLS ends there.
    fn name_referrer(&mut self, from: &str) {
        let is_first = !self.has_referrer && has_header(&self.prepared.params.headers, "referer");
        if is_first || from.starts_with("https:") && !self.prepared.url.starts_with("https:") {
            return;
        }
        let Ok(url) = url::parse(from) else { return };
        let headers = &mut self.prepared.params.headers;
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("referer"));
        headers.push(("Referer".to_owned(), format!("{}{}", url::origin(&url.target), url.path)));
        self.has_referrer = true;
    }

    /// Answers a digest challenge (RFC 7616) with the credentials of the URL; returns whether to repeat the request.
    fn answers_challenge(&mut self, vu: &Vu, response: &Response) -> bool {
        if response.status != 401
            || self.has_answered
            || self.prepared.params.auth.as_deref() != Some("digest")
        {
            return false;
        }
        let Ok(url) = url::parse(&self.prepared.url) else { return false };
        let Some((user, password)) = url.credentials.as_ref().and_then(|both| both.split_once(':')) else {
            return false;
        };
        let Ok(mut challenge) = Challenge::of(response.head()) else { return false };
        let cnonce = format!("{:016x}", (vu.random() * (1u64 << 53) as f64) as u64);
        let method = &*self.prepared.method;
        let secret = (user.as_bytes(), password.as_bytes());
        let value = challenge.authorization(secret, (method, &url.path), &cnonce);
        let headers = &mut self.prepared.params.headers;
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
        headers.push(("Authorization".to_owned(), value));
        self.has_answered = true;
        true
    }

    fn redirect(&self, response: &Response) -> Option<String> {
        let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
        if !is_redirect || self.redirects_left == 0 || response.has_failed() {
            return None;
        }
        response.header("location")
    }

    fn store_cookies(&self, host: &Host, response: &Response) {
        if response.sets_cookies
            && let Ok(address) = host.address(&response.request.url)
        {
            store_cookies(&mut self.jar.borrow_mut(), address.place(host.unix_s()), response.head());
        }
    }
}

/// Returns the pattern of blocked hosts that a host matches.
pub fn blocked_by<'a>(patterns: &'a [String], host: &str) -> Option<&'a str> {
    if patterns.is_empty() {
        return None;
    }
    let host = host.to_ascii_lowercase();
    let matches = |pattern: &&String| match pattern.strip_prefix('*') {
        Some(ending) => host.ends_with(ending),
        None => **pattern == host,
    };
    patterns.iter().find(matches).map(String::as_str)
}

/// Returns whether there is a header of this name.
pub fn has_header(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Names and values.
pub type Pairs = Vec<(String, String)>;

/// Returns the headers of a request, with credentials (`user:password`) and cookies, and its cookies alone.
pub fn full_headers(
    jar: &Jar,
    params: &Params,
    credentials: Option<&str>,
    place: Place<'_>,
) -> (Pairs, Pairs) {
    let mut headers = params.headers.clone();
    let is_digest = params.auth.as_deref() == Some("digest");
    if let Some(credentials) = credentials.filter(|_| !is_digest && !has_header(&headers, "authorization")) {
        let encoded = base64::engine::general_purpose::STANDARD.encode(credentials);
        headers.push(("Authorization".to_owned(), format!("Basic {encoded}")));
    }
    if jar.is_empty() && params.cookies.is_empty() {
        return (headers, Pairs::new());
    }
    let is_replaced =
        |name: &str| params.cookies.iter().any(|(known, _, replaces)| *replaces && known == name);
    let own = params.cookies.iter().map(|(name, value, _)| (name.clone(), value.clone()));
    let stored = jar.matching(place).into_iter().filter(|cookie| !is_replaced(&cookie.name));
    let cookies: Vec<_> =
        own.chain(stored.map(|cookie| (cookie.name.clone(), cookie.value.clone()))).collect();
    if !cookies.is_empty() {
        let text: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let text = text.join("; ");
        match headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, value)) => *value = format!("{value}; {text}"),
            None => headers.push(("Cookie".to_owned(), text)),
        }
    }
    (headers, cookies)
}

/// Stores the cookies of a response to a request.
pub fn store_cookies(jar: &mut Jar, place: Place<'_>, head: Head<'_>) {
    for field in head.fields("set-cookie") {
        if let Some(cookie) = Cookie::parse(&String::from_utf8_lossy(field), place) {
            jar.set(cookie, place.now_s);
        }
    }
}

impl Host {
    /// Writes a request to the console (`httpDebug`).
    fn log_request(&self, request: &Request<'_>, is_full: bool) {
        let mut bytes = Vec::new();
        let shown = Request { body: if is_full { request.body } else { None }, ..*request };
        h1::render_accepting(&shown, "", &mut bytes);
        self.shared.script.log.write(
            Level::Info,
            Source::Http,
            &format!("request:\n{}", String::from_utf8_lossy(&bytes)),
        );
    }

    /// Writes a response to the console (`httpDebug`).
    fn log_response(&self, response: &Response, is_full: bool) {
        let mut text = String::from_utf8_lossy(&response.head).into_owned();
        if is_full {
            text.push_str(&response.text());
        }
        self.shared.script.log.write(Level::Info, Source::Http, &format!("response:\n{text}"));
    }
}
