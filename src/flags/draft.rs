//! Applies flags to a draft; a flag overrides the file or the pasted line.

use super::load::LoadFlags;
use plimsoll_build::requests::{self, name_apart, own_name, set_headers};
use plimsoll_build::{body, header};
use plimsoll_front::Places;
use plimsoll_plan::diag::{Field, Place};
use plimsoll_plan::draft::key;
use plimsoll_plan::link::{Http, pipeline, streams};
use plimsoll_plan::load::{Arrivals, Share, stages};
use plimsoll_plan::request::url;
use plimsoll_plan::route::{self, ProxyKind, ProxyProtocol};
use plimsoll_plan::value::Text;
use plimsoll_plan::watch::Watch;
use plimsoll_plan::{Diagnostic, Draft, Problem, delivery, threshold, unit};
use std::path::Path;

/// Limit on the size of a certificate file.
pub(super) const PEM_BYTES_MAX: u64 = 16 << 20;

/// Applies the flags to a draft and records in `places` what they set.
///
/// # Errors
/// Returns a diagnostic for every value that cannot be parsed.
pub fn apply(flags: &LoadFlags, draft: &mut Draft, places: &mut Places) -> Result<(), Vec<Diagnostic>> {
    let mut reader = Reader { wrong: Vec::new(), places };
    reader.target(flags, draft);
    reader.load(flags, draft);
    // Must precede `tls`, which checks whether any monitor uses TLS.
    reader.watching(flags, draft);
    reader.tls(flags, draft);
    flags.connect.apply_addresses(draft, reader.places, &mut reader.wrong);
    reader.request(flags, draft);
    reader.script(flags, draft);
    if flags.allow_remote && draft.code.is_none() {
        let problem = Problem::new("it has no effect: only scripts import modules", "omit it");
        reader.wrong.push(diagnostic("U019", "--allow-remote", problem));
    }
    reader.judgement(flags, draft);
    if reader.wrong.is_empty() { Ok(()) } else { Err(reader.wrong) }
}

/// Returns a draft with one request for a URL, before any flags are applied.
///
/// # Errors
/// Returns an error if the URL is invalid.
pub fn of_url(text: &str) -> Result<Draft, Diagnostic> {
    let mut draft = Draft::default();
    requests::add(&mut draft, "GET", text).map_err(|problem| diagnostic("U010", "URL", problem))?;
    // The name is derived later, when flags have been applied.
    draft.requests.iter_mut().for_each(|request| request.name.clear());
    Ok(draft)
}

/// Returns a draft with the requests of several URLs, which take turns.
///
/// # Errors
/// Returns a diagnostic for every invalid URL.
pub fn of_urls(texts: &[String]) -> Result<Draft, Vec<Diagnostic>> {
    let mut draft = Draft::default();
    let mut wrong = Vec::new();
    for text in texts {
        if let Err(problem) = requests::add(&mut draft, "GET", text) {
            wrong.push(diagnostic("U010", "URL", problem));
        }
    }
    if wrong.is_empty() { Ok(draft) } else { Err(wrong) }
}

struct Reader<'a> {
    wrong: Vec<Diagnostic>,
    places: &'a mut Places,
}

impl Reader<'_> {
    /// Parses one flag into one field of the draft.
    fn field<T>(
        &mut self,
        field: &mut Option<T>,
        key: Field,
        text: &Option<String>,
        parse: impl Fn(&str) -> Result<T, Problem>,
    ) {
        let Some(text) = text else { return };
        if let Some(value) = self.value(key.flag, text, parse) {
            *field = Some(value);
            self.places.insert(key, Place::Flag(key.flag.to_owned()));
        }
    }

    fn value<T>(&mut self, flag: &str, text: &str, parse: impl Fn(&str) -> Result<T, Problem>) -> Option<T> {
        match parse(text) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.wrong.push(diagnostic("U011", flag, problem));
                None
            }
        }
    }

    fn load(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        // A new load shape replaces the old one entirely; mixing halves of two shapes would be neither.
        if flags.rate.is_some() || flags.stages.is_some() {
            (draft.load.rate_per_s, draft.load.stages) = (None, None);
            // Users belong to the closed model, which arrivals replace; `-c` with a rate is rejected.
            draft.load.users = None;
            draft.load.is_total = false;
            self.places.remove(&key::STAGES);
            self.places.remove(&key::USERS);
        }
        if flags.stages.is_some() {
            (draft.load.duration_ns, draft.load.max_connections, draft.load.arrivals) = (None, None, None);
        }
        if let Some(name) = &flags.name {
            draft.name = Some(name.clone());
        }
        self.version(flags, draft);
        self.route(flags, draft);
        // Each connection has as many users as streams.
        let is_shared = flags.streams.is_some() || flags.pipeline.is_some();
        let users = if is_shared { draft.link.streams } else { 1 };
        self.field(&mut draft.load.users, key::USERS, &flags.connections, |t| {
            whole::<u32>(t, "connections").map(|connections| connections.saturating_mul(users))
        });
        self.field(&mut draft.load.max_connections, key::MAX_CONNECTIONS, &flags.max_connections, |t| {
            whole(t, "connections")
        });
        self.field(&mut draft.load.duration_ns, key::DURATION, &flags.duration, unit::duration_ns);
        // Keeps the file's number of arrivals and spreads them over the flag's duration.
        if let (Some(_), true, Some(number), Some(duration_ns)) =
            (&flags.duration, draft.load.is_total, draft.load.iterations, draft.load.duration_ns)
            && duration_ns > 0
        {
            draft.load.rate_per_s = Some(number as f64 * 1e9 / duration_ns as f64);
        }
        self.field(&mut draft.load.requests_total, key::TOTAL, &flags.requests, |t| whole(t, "requests"));
        self.field(&mut draft.load.rate_per_s, key::RATE, &flags.rate, unit::rate_per_s);
        self.field(&mut draft.load.arrivals, key::ARRIVALS, &flags.arrivals, |t| match t {
            "constant" => Ok(Arrivals::Constant),
            "poisson" => Ok(Arrivals::Poisson),
            _ => Err(Problem::plain(format!(
                "unknown arrival distribution `{t}`: expected `constant` or `poisson`"
            ))),
        });
        self.field(&mut draft.load.stages, key::STAGES, &flags.stages, stages);
        self.field(&mut draft.warmup_ns, key::WARMUP, &flags.warmup, unit::duration_ns);
        self.field(&mut draft.workers, key::WORKERS, &flags.workers, |t| whole(t, "workers"));
        self.field(&mut draft.shard, key::SHARD, &flags.shard, |t| {
            unit::share(t).map(|(part, of)| Share { part, of })
        });
        if let Some(text) = &flags.seed
            && let Some(seed) = self.value("--seed", text, |t| whole(t, "a seed"))
        {
            draft.seed = Some(seed);
        }
        for text in &flags.manner.limits {
            let set = match text.split_once('=') {
                Some((name, value)) => draft.limits.set(name.trim(), value.trim()),
                None => Err(Problem::plain(format!(
                    "invalid limit `{text}`: expected `NAME=VALUE`, such as `head_bytes=128k`"
                ))),
            };
            if let Err(problem) = set {
                self.wrong.push(diagnostic("U011", "--limit", problem));
            }
        }
    }

    fn version(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        if flags.http2 {
            draft.link.http = Http::V2;
        }
        if flags.http1_1 {
            draft.link.http = Http::V11;
        }
        if let Some(text) = &flags.streams
            && let Some(number) = self.value("--streams", text, streams)
        {
            (draft.link.streams, draft.link.is_pipelined) = (number, false);
            self.places.insert(key::STREAMS, Place::Flag(key::STREAMS.flag.to_owned()));
        }
        if let Some(text) = &flags.pipeline
            && let Some(number) = self.value("--pipeline", text, pipeline)
        {
            (draft.link.streams, draft.link.is_pipelined) = (number, true);
            self.places.insert(key::PIPELINE, Place::Flag(key::PIPELINE.flag.to_owned()));
        }
    }

    /// Sets how connections reach the origins; the file's other settings of the route stay.
    fn route(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        let route = &mut draft.link.route;
        self.field(&mut route.proxy, key::PROXY, &flags.proxy, route::proxy);
        self.field(&mut route.unix_socket, key::UNIX_SOCKET, &flags.unix_socket, route::unix_socket);
        self.field(&mut route.interface, key::INTERFACE, &flags.interface, route::interface);
        self.field(&mut route.proxy_protocol, key::PROXY_PROTOCOL, &flags.proxy_protocol, |text| {
            let version = route::proxy_protocol(text)?;
            Ok(ProxyProtocol { version, source_addresses: Vec::new() })
        });
    }

    /// Redirects everything that the file sends to another origin.
    fn target(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        let Some(text) = &flags.target else { return };
        let Some(url) = self.value("--target", text, url) else { return };
        if url.path != "/" || url.credentials.is_some() {
            let origin =
                format!("{}://{}", if url.target.tls { "https" } else { "http" }, url.target.authority());
            let message = "a target is an origin, without path or credentials";
            self.wrong.push(Diagnostic::new(
                "U041",
                Place::Flag("--target".into()),
                message,
                format!("use `--target {origin}`; the file has the paths and credentials"),
            ));
            return;
        }
        // With plain HTTP, the file's TLS settings apply only to its monitors; sealing the draft separates the two.
        if url.target.tls
            && let Some(tls) = &mut draft.link.tls
            && draft.target.as_ref().is_some_and(|target| target.host == tls.server_name)
        {
            tls.server_name.clear();
        }
        draft.target = Some(url.target);
        self.places.insert(key::TARGET, Place::Flag("--target".into()));
    }

    /// Sets the trusted certificates and allows the file's TLS settings to apply.
    fn tls(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        let named = flags.connect.first_of_tls();
        if flags.ca.is_empty() && !flags.insecure && named.is_none() {
            return;
        }
        // Monitors and proxies use the certificates, and nothing else.
        let is_proxied = draft.link.route.proxy.as_ref().is_some_and(|proxy| proxy.kind == ProxyKind::Https);
        let is_trusting = is_proxied || draft.watches.iter().any(|watch| watch.source.is_tls());
        let is_tls = draft.target.as_ref().is_some_and(|target| target.tls)
            || draft.more_origins.iter().any(|origin| origin.target.tls)
            // A script names addresses, and imports modules from some, that are not known here.
            || draft.code.is_some();
        if !is_tls && (!is_trusting || named.is_some()) {
            let flag = named.unwrap_or(if flags.insecure { "--insecure" } else { "--ca" });
            self.wrong.push(diagnostic(
                "U022",
                flag,
                Problem::new("the target uses plain HTTP", "use an `https://` target"),
            ));
            return;
        }
        let tls = draft.link.tls.get_or_insert_default();
        tls.insecure |= flags.insecure;
        flags.connect.apply_tls(draft, self.places, &mut self.wrong);
        // A process that runs a part of a load adds to the file of its parent.
        if flags.manner.with_parent.is_none() {
            self.wrong.extend(flags.connect.refuse_taken_key_log());
        }
        for name in &flags.ca {
            let read = body::content(Path::new(name), PEM_BYTES_MAX)
                .map_err(|e| format!("cannot read `{name}`: {e}"));
            match read {
                Ok(pem) => draft.tls_files.ca.push(pem),
                Err(message) => self.wrong.push(diagnostic("U011", "--ca", Problem::plain(message))),
            }
        }
    }

    fn request(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        self.field(&mut draft.timeout_ns, key::TIMEOUT, &flags.timeout, unit::duration_ns);
        let given = &flags.expect_continue;
        self.field(&mut draft.continue_ns, key::EXPECT_CONTINUE, given, delivery::continue_ns);
        if let Some(text) = &flags.follow
            && let Some(redirects) = self.value("--follow", text, redirects)
        {
            draft.redirects = Some(redirects);
        }
        if let Some(text) = &flags.manner.wait_for_ready {
            self.value("--wait-for-ready", text, wait);
        }
        if flags.no_keepalive {
            draft.keep_alive = Some(false);
        }
        if flags.read_bodies {
            draft.read_bodies = Some(true);
        }
        let mut headers = Vec::new();
        for text in &flags.headers {
            headers.extend(self.value("-H", text, header::parse));
        }
        let body = flags
            .body
            .as_ref()
            .and_then(|text| self.value("-b", text, |t| body::from_flag(t, Path::new(""))));
        let more = &draft.more_origins;
        for request in &mut draft.requests {
            let named_by_itself = request.name.is_empty() || request.name == own_name(request, more);
            set_headers(&mut request.headers, &headers);
            if let Some(body) = &body {
                request.body = Some(body.clone());
                // As in curl, a body turns a GET into a POST unless the method is given.
                if request.method == "GET" {
                    request.method = "POST".into();
                }
            }
            if let Some(method) = &flags.method {
                request.method = method.clone();
            }
            if named_by_itself {
                request.name = own_name(request, more);
            }
        }
        name_apart(&mut draft.requests);
    }

    /// Rejects flags that cannot change anything, because a script defines its requests and its scenarios may have
    /// their own load models.
    fn script(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        let headers: Vec<_> = flags.headers.iter().filter_map(|text| header::parse(text).ok()).collect();
        let Some(script) = &mut draft.script else { return };
        for ask in &mut script.asks {
            ask.headers
                .retain(|(name, _)| !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
            ask.headers.extend(headers.iter().map(|(name, value)| (name.clone(), Text::literal(value))));
        }
        let mut refuse = |given: bool, flag: &str, message: &str| {
            if given {
                self.wrong.push(diagnostic("U018", flag, Problem::new(message, "change it in the file")));
            }
        };
        let says = "the scenarios of the file define the requests";
        refuse(flags.method.is_some(), "-X", says);
        refuse(flags.body.is_some(), "-b", says);
        if draft.entry.is_none() && !draft.workloads.is_empty() {
            let own = "every scenario of the file has its own load";
            for (given, flag) in [
                (flags.connections.is_some(), "-c"),
                (flags.max_connections.is_some(), "--max-connections"),
                (flags.duration.is_some(), "-d"),
                (flags.rate.is_some(), "-r"),
                (flags.stages.is_some(), "--stages"),
                (flags.arrivals.is_some(), "--arrivals"),
            ] {
                refuse(given, flag, own);
            }
        }
    }

    /// Adds monitors to those of the file.
    fn watching(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        for text in &flags.monitors {
            let Some(watch) = self.value("--monitor", text, Watch::parse) else { continue };
            if draft.watches.iter().any(|other| other.name == watch.name) {
                let problem = Problem::new(
                    format!("duplicate monitor name `{}`", watch.name),
                    "define the second monitor in a file, where you can name it",
                );
                self.wrong.push(diagnostic("U011", "--monitor", problem));
                continue;
            }
            draft.watches.push(watch);
        }
    }

    fn judgement(&mut self, flags: &LoadFlags, draft: &mut Draft) {
        if !flags.thresholds.is_empty() {
            draft.thresholds.clear();
            self.places.insert(key::THRESHOLDS, Place::Flag(key::THRESHOLDS.flag.to_owned()));
        }
        for text in &flags.thresholds {
            draft.thresholds.extend(self.value(key::THRESHOLDS.flag, text, threshold::parse));
        }
        self.field(&mut draft.buckets_ns, key::BUCKETS, &flags.buckets, |t| {
            t.split(',').map(unit::duration_ns).collect()
        });
    }
}

/// Parses `--follow`, with the same limit as in an experiment file.
fn redirects(text: &str) -> Result<u8, Problem> {
    match text.trim().parse::<u8>() {
        Ok(n) if n <= 100 => Ok(n),
        _ => Err(Problem::plain(format!("invalid number of redirects `{text}`: expected 0–100"))),
    }
}

/// Parses `--wait-for-ready`.
pub fn wait(text: &str) -> Result<u64, Problem> {
    match unit::duration_ns(text)? {
        0 => Err(Problem::new(
            format!("invalid wait `{text}`: must be above zero"),
            "omit the flag, or set a duration such as `30s`",
        )),
        ns => Ok(ns),
    }
}

fn whole<T: TryFrom<u64>>(text: &str, what: &str) -> Result<T, Problem> {
    unit::count(text).ok().and_then(|n| T::try_from(n).ok()).ok_or_else(|| match what.strip_prefix("a ") {
        Some(one) => Problem::plain(format!("invalid {one} `{text}`: expected a whole number")),
        None => Problem::plain(format!("invalid number of {what} `{text}`: expected a whole number")),
    })
}

pub(super) fn diagnostic(code: &'static str, flag: &str, problem: Problem) -> Diagnostic {
    Diagnostic::of(code, Place::Flag(flag.to_owned()), problem)
}
