//! HTTP requests of samplers, as JMeter's default implementation (Apache HttpClient 4) builds them.

mod body;
pub mod embedded;
mod failure;
mod url;

pub use failure::{Failure, of_fault};

use crate::function::url_encoded;
use crate::plan::{Http, Sampler};
use crate::scope::Scope;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::request::Target;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A request that is ready to be sent, except for cookies and credentials.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Rc<str>,
    pub target: Rc<Target>,
    path: Path,
    /// As JMeter shows it.
    pub url: Rc<str>,
    pub headers: Rc<Vec<(String, String)>>,
    pub body: Option<Vec<u8>>,
    pub closes: bool,
    /// Headers of a body that only the body itself needs: a redirect without it lacks them.
    pub body_headers: Vec<(String, String)>,
    /// Timeout from the send, ns; 0: none.
    pub timeout_ns: u64,
    /// What its headers are from, unless something has changed them.
    pub base: Option<Rc<Base>>,
}

/// Path and query of a request.
#[derive(Debug, Clone)]
enum Path {
    /// The URL from this byte on, which is sent as it is written.
    OfUrl(usize),
    Own(String),
}

/// The texts that precede the path of a request, evaluated: method, protocol, host, port, timeout, and headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    ends: Vec<usize>,
}

/// Texts before the headers.
const BEFORE_HEADERS: usize = 5;

impl Texts {
    /// Evaluates the texts of a sampler, in place of those that are there.
    fn evaluate(&mut self, sampler: &Sampler, http: &Http, scope: &mut Scope<'_>) {
        self.text.clear();
        self.ends.clear();
        let fixed = [&http.method, &http.protocol, &http.domain, &http.port, &http.response_timeout_ms];
        let headers = sampler.headers.iter().flat_map(|(name, value)| [name, value]);
        for text in fixed.into_iter().chain(headers) {
            text.write(scope, &mut self.text);
            self.ends.push(self.text.len());
        }
    }

    fn at(&self, number: usize) -> &str {
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[begin..self.ends[number]]
    }

    /// Returns names and values of the headers.
    fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        (BEFORE_HEADERS..self.ends.len()).step_by(2).map(|at| (self.at(at), self.at(at + 1)))
    }
}

/// What precedes the path of a URL, and its origin.
type OriginText = Result<(Rc<str>, Option<Rc<Target>>), Failure>;

/// The parts of a request that seldom change from sample to sample.
#[derive(Debug)]
pub struct Base {
    texts: Texts,
    method: Rc<str>,
    origin: OriginText,
    headers: Rc<Vec<(String, String)>>,
    /// If a header says so.
    closes: Option<bool>,
    timeout_ns: u64,
    /// The head after its first line, for an origin, of a request without body, cookies, and credentials.
    pub tail: OnceCell<(OriginId, Box<[u8]>)>,
}

/// The last base of a sampler.
#[derive(Default)]
pub struct LastBase(RefCell<Option<Rc<Base>>>);

impl LastBase {
    /// Returns what precedes the path: the last one, if its texts are the same.
    pub fn get(
        &self,
        sampler: &Sampler,
        http: &Http,
        texts: &RefCell<Texts>,
        scope: &mut Scope<'_>,
    ) -> Rc<Base> {
        let mut last = self.0.borrow_mut();
        if let Some(last) = last.as_ref().filter(|_| sampler.has_fixed_base) {
            return Rc::clone(last);
        }
        // A function of a text never sends a request, so that the texts are free.
        let mut texts = texts.borrow_mut();
        texts.evaluate(sampler, http, scope);
        match &*last {
            Some(last) if last.texts == *texts => Rc::clone(last),
            former => {
                let has_origin = |former: &&Rc<Base>| (1..4).all(|at| former.texts.at(at) == texts.at(at));
                let origin = former.as_ref().filter(has_origin).map(|former| former.origin.clone());
                let new = Rc::new(Base::new(texts.clone(), origin));
                *last = Some(Rc::clone(&new));
                new
            }
        }
    }
}

impl Base {
    fn new(texts: Texts, origin: Option<OriginText>) -> Base {
        let method = texts.at(0).trim();
        let method = if method.is_empty() { "GET" } else { method };
        let new_origin = || {
            origin_of(texts.at(1), texts.at(2), texts.at(3)).map(|text| {
                let target = url::parsed(&format!("{text}/")).ok().map(|(target, _)| Rc::new(target));
                (text.into(), target)
            })
        };
        let origin = origin.unwrap_or_else(new_origin);
        let timeout_ms = texts.at(4).trim().parse().unwrap_or(0i64);
        let mut closes = None;
        let target = origin.as_ref().ok().and_then(|(_, target)| target.as_deref());
        let mut headers = Vec::with_capacity(texts.headers().count());
        for (name, value) in texts.headers() {
            if name.is_empty() || name.eq_ignore_ascii_case("content-length") {
                continue;
            }
            if name.eq_ignore_ascii_case("connection") {
                closes = Some(value.eq_ignore_ascii_case("close"));
                continue;
            }
            let mut value = value.trim().to_owned();
            if name.eq_ignore_ascii_case("host") {
                add_port(&mut value, target);
            }
            headers.push((name.trim().to_owned(), value));
        }
        Base {
            method: method.into(),
            headers: headers.into(),
            closes,
            timeout_ns: timeout_ms.max(0) as u64 * 1_000_000,
            tail: OnceCell::new(),
            origin,
            texts,
        }
    }
}

/// The contents of files that are sent, by name.
#[derive(Default)]
pub struct FileContents(RefCell<HashMap<String, Rc<[u8]>>>);

/// Largest total of files that a worker keeps, in number; more are read again.
const FILES_MAX: usize = 1_000;

impl FileContents {
    fn read(&self, name: &str, scope: &Scope<'_>) -> Result<Rc<[u8]>, Failure> {
        if let Some(known) = self.0.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let path = scope.run.files.find_beside_plan(name);
        let content: Rc<[u8]> = match std::fs::read(path) {
            Ok(bytes) => bytes.into(),
            Err(_) => {
                let message = format!("{name} (No such file or directory)");
                return Err(Failure::new("java.io.FileNotFoundException", message));
            }
        };
        let mut all = self.0.borrow_mut();
        if all.len() >= FILES_MAX {
            all.clear();
        }
        all.insert(name.to_owned(), Rc::clone(&content));
        Ok(content)
    }
}

/// What the requests of a worker share.
#[derive(Default)]
pub struct Shared {
    pub files: FileContents,
    /// The path and the URL of a request, as they are made.
    scratch: RefCell<(String, String)>,
}

/// The methods of which a request has a body, even an empty one.
fn has_body(method: &str) -> bool {
    matches!(
        method,
        "POST"
            | "PUT"
            | "PATCH"
            | "DELETE"
            | "PROPFIND"
            | "PROPPATCH"
            | "MKCOL"
            | "COPY"
            | "MOVE"
            | "LOCK"
            | "UNLOCK"
            | "REPORT"
            | "MKCALENDAR"
            | "SEARCH"
    )
}

/// Returns whether the arguments go into the URL.
fn has_query(method: &str) -> bool {
    matches!(method, "GET" | "DELETE" | "OPTIONS")
}

/// An argument with its values.
pub struct Given {
    pub name: String,
    pub value: String,
    pub is_encoded_always: bool,
    pub has_equals: bool,
    pub content_type: String,
}

/// Builds the request of a sampler. `base` returns what precedes its path; `replaced` has the values of arguments by
/// name that pre-processors have found.
///
/// # Errors
/// Returns why JMeter would fail the sample without a request.
pub fn build(
    http: &Http,
    base: impl FnOnce(&mut Scope<'_>) -> Rc<Base>,
    replaced: &[(String, String)],
    shared: &Shared,
    scope: &mut Scope<'_>,
) -> Result<Request, Failure> {
    // As that of a text, no function of a path sends a request.
    let (path, url) = &mut *shared.scratch.borrow_mut();
    path.clear();
    url.clear();
    http.path.write(scope, path);
    let mut arguments: Vec<Given> = http
        .arguments
        .iter()
        .map(|one| Given {
            name: one.name.value(scope),
            value: one.value.value(scope),
            is_encoded_always: one.is_encoded_always,
            has_equals: one.has_equals,
            content_type: one.content_type.value(scope),
        })
        .collect();
    for one in &mut arguments {
        if let Some((_, value)) = replaced.iter().find(|(name, _)| *name == one.name) {
            one.value.clone_from(value);
        }
    }
    // In this order: texts can set variables for later ones.
    let base = base(scope);
    let method = Rc::clone(&base.method);
    let is_whole = path.starts_with("http://") || path.starts_with("https://");
    let origin = match is_whole {
        true => {
            url.push_str(&path.trim().replace(' ', "%20"));
            None
        }
        false => {
            let (origin, target) = base.origin.as_ref().map_err(Clone::clone)?;
            url.push_str(origin);
            if !path.starts_with('/') {
                url.push('/');
            }
            match path.contains(' ') {
                true => url.push_str(&path.replace(' ', "%20")),
                false => url.push_str(path),
            }
            if has_query(&method) {
                query(&arguments, path.contains('?'), url);
            }
            target.as_ref().map(|target| (origin.len(), target))
        }
    };
    let (target, path) = match origin.filter(|(at, _)| url::is_plain(&url[*at..])) {
        Some((at, target)) => (Rc::clone(target), Path::OfUrl(at)),
        None => {
            let parsed =
                url::parsed(url).map_err(|failure| match url.contains("://:") || url.contains(":///") {
                    true if failure.is_of_protocol() => {
                        let message = format!("URI does not specify a valid host name: {url}");
                        Failure::new("org.apache.http.client.ClientProtocolException", message).to(url)
                    }
                    _ => failure.to(url),
                })?;
            (Rc::new(parsed.0), Path::Own(parsed.1))
        }
    };
    let mut request = Request {
        method,
        target,
        path,
        url: url.as_str().into(),
        headers: Rc::clone(&base.headers),
        body: None,
        closes: base.closes.unwrap_or(!http.keeps_alive),
        body_headers: Vec::new(),
        timeout_ns: base.timeout_ns,
        base: Some(base),
    };
    if is_whole && request.header("host").is_some() {
        // Its port is that of the URL.
        for (name, value) in Rc::make_mut(&mut request.headers) {
            if name.eq_ignore_ascii_case("host") {
                add_port(value, Some(&request.target));
            }
        }
    }
    let is_raw =
        http.has_raw_body || (!arguments.is_empty() && arguments.iter().all(|one| one.name.is_empty()));
    let is_entity = has_body(&request.method)
        || (&*request.method == "GET" && (is_raw || body::is_file(http, &arguments, scope)));
    if is_entity {
        body::add(http, &arguments, is_raw, &shared.files, &mut request, scope)?;
    }
    Ok(request)
}

/// Adds the port of the URL to a `Host` header without one, as JMeter does.
fn add_port(host: &mut String, target: Option<&Target>) {
    let usual = |tls: bool| if tls { 443 } else { 80 };
    if let Some(target) = target.filter(|target| target.port != usual(target.tls))
        && !host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
    {
        host.push_str(&format!(":{}", target.port));
    }
}

/// Returns protocol, host, and port.
fn origin_of(protocol: &str, host: &str, port: &str) -> Result<String, Failure> {
    let protocol = match protocol.trim() {
        "" => "http",
        other => other,
    };
    let lower = protocol.to_ascii_lowercase();
    let protocol = lower.as_str();
    if !matches!(protocol, "http" | "https") {
        let message = format!("unknown protocol: {protocol}");
        return Err(Failure::new("java.net.MalformedURLException", message));
    }
    let host = host.trim();
    let host =
        if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
    let port: i64 = port.trim().parse().unwrap_or(0);
    let is_usual = port <= 0 || (protocol == "http" && port == 80) || (protocol == "https" && port == 443);
    Ok(if is_usual { format!("{protocol}://{host}") } else { format!("{protocol}://{host}:{port}") })
}

/// Appends the arguments as a query; those without a name are left out.
fn query(arguments: &[Given], mut has_mark: bool, url: &mut String) {
    for one in arguments.iter().filter(|one| !one.name.is_empty()) {
        url.push(if has_mark { '&' } else { '?' });
        has_mark = true;
        match one.is_encoded_always {
            true => url.push_str(&url_encoded(&one.name)),
            false => url.push_str(&one.name),
        }
        if one.has_equals || !one.value.is_empty() {
            url.push('=');
        }
        match one.is_encoded_always {
            true => url.push_str(&url_encoded(&one.value)),
            false => url.push_str(&one.value),
        }
    }
}

impl Request {
    /// Returns what its head after the first line is made of only, if it has neither a body nor other headers.
    pub fn plain_base(&self) -> Option<&Base> {
        let base = self.base.as_deref()?;
        let is_own = self.body.is_some() || !self.body_headers.is_empty();
        (!is_own && Rc::ptr_eq(&self.headers, &base.headers)).then_some(base)
    }

    /// Returns the request that a redirect leads to.
    ///
    /// # Errors
    /// Returns why JMeter would fail the sample without a request.
    pub fn redirected(&self, location: &str, status: u16) -> Result<Request, Failure> {
        let location = location.replace(' ', "%20");
        let url = url::join(&self.url, &location);
        let (target, path) = url::parsed(&url)?;
        let (target, path) = (Rc::new(target), Path::Own(path));
        let mut request = Request { target, path, url: url.into(), ..self.clone() };
        // Only 307 keeps the method; all others send GET, except for HEAD.
        let keeps = status == 307 || &*self.method == "HEAD";
        if !keeps {
            request.method = "GET".into();
            request.body = None;
            request.body_headers.clear();
        }
        Ok(request)
    }

    /// Returns the request for something that a page embeds.
    ///
    /// # Errors
    /// Returns why JMeter would fail the sample without a request.
    pub fn embedded(&self, url: &str) -> Result<Request, Failure> {
        let (target, path) = url::parsed(url)?;
        Ok(Request {
            method: "GET".into(),
            target: Rc::new(target),
            path: Path::Own(path),
            url: url.into(),
            headers: Rc::clone(&self.headers),
            body: None,
            closes: self.closes,
            body_headers: Vec::new(),
            timeout_ns: self.timeout_ns,
            base: None,
        })
    }

    /// Returns path and query.
    pub fn path(&self) -> &str {
        match &self.path {
            Path::OfUrl(at) => &self.url[*at..],
            Path::Own(path) => path,
        }
    }

    /// Returns whether nothing in its path has to be checked before it is sent.
    pub fn has_plain_path(&self) -> bool {
        matches!(self.path, Path::OfUrl(_))
    }

    /// Changes the texts of path and URL in the same way.
    pub fn change_url(&mut self, change: impl Fn(&str) -> String) {
        self.path = Path::Own(change(self.path()));
        self.url = change(&self.url).into();
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let all = self.headers.iter().chain(&self.body_headers);
        let mut found = all.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }
}
