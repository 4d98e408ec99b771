//! Reads a command line of loadtest 8, the package of npm.

use crate::ask::{Ask, only_url, positive, rate_per_s, seconds_ns};
use crate::flags::{self, Does, Mistakes, Own, Row, Style, bare, with};
use plimsoll_build::body::from_file;
use plimsoll_plan::link::{Http, Reuse, Versions};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Draft, Problem};
use std::path::Path;

/// Connection limit of a rate: loadtest has none, but a server that stalls must not use up all
/// file descriptors.
const CONNECTIONS_MAX: u32 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    MaxSeconds,
    MaxRequests,
    Concurrency,
    Timeout,
    ContentType,
    Cookie,
    Header,
    PostBody,
    PostFile,
    PatchBody,
    PatchFile,
    Data,
    Method,
    PutFile,
    SecureProtocol,
    KeepAlive,
    Version,
    Proxy,
    Rps,
    Insecure,
    Key,
    Certificate,
    Quiet,
    Cores,
}

const NOT_FIXED: Does<Flag> =
    Does::Refused("requests that differ are not supported", "write an experiment file, or a k6 script");

const TABLE: &[Row<Flag>] = &[
    with(&["-t", "--maxSeconds"], Does::Apply(Flag::MaxSeconds)),
    with(&["-n", "--maxRequests"], Does::Apply(Flag::MaxRequests)),
    with(&["-c", "--concurrency"], Does::Apply(Flag::Concurrency)),
    with(&["-d", "--timeout"], Does::Apply(Flag::Timeout)),
    with(&["-T", "--contentType"], Does::Apply(Flag::ContentType)),
    with(&["-C", "--cookies"], Does::Apply(Flag::Cookie)),
    with(&["-H", "--headers"], Does::Apply(Flag::Header)),
    with(&["-P", "--postBody"], Does::Apply(Flag::PostBody)),
    with(&["-p", "--postFile"], Does::Apply(Flag::PostFile)),
    with(&["-A", "--patchBody"], Does::Apply(Flag::PatchBody)),
    with(&["-a", "--patchFile"], Does::Apply(Flag::PatchFile)),
    with(&["--data"], Does::Apply(Flag::Data)),
    with(&["-m", "--method"], Does::Apply(Flag::Method)),
    with(&["-u", "--putFile"], Does::Apply(Flag::PutFile)),
    with(&["-R", "--requestGenerator"], NOT_FIXED),
    bare(&["-r", "--recover"], Does::Nothing("errors never end a run")),
    with(&["-s", "--secureProtocol"], Does::Apply(Flag::SecureProtocol)),
    bare(&["-k", "--keepalive"], Does::Apply(Flag::KeepAlive)),
    bare(&["--agent"], Does::Apply(Flag::KeepAlive)),
    bare(&["-V", "--version"], Does::Apply(Flag::Version)),
    with(&["--proxy"], Does::Apply(Flag::Proxy)),
    with(&["--rps"], Does::Apply(Flag::Rps)),
    with(&["--index"], NOT_FIXED),
    bare(&["--insecure"], Does::Apply(Flag::Insecure)),
    with(&["--key"], Does::Apply(Flag::Key)),
    with(&["--cert"], Does::Apply(Flag::Certificate)),
    bare(&["--quiet"], Does::Apply(Flag::Quiet)),
    with(&["--cores"], Does::Apply(Flag::Cores)),
    bare(
        &["--tcp"],
        Does::Refused(
            "loadtest replaces its HTTP client with this flag",
            "remove it: only one client exists",
        ),
    ),
    bare(&["--debug"], Does::Nothing("loadtest ignores it, too")),
];

/// A command line, and what the text of loadtest shows of it.
#[derive(Debug, Clone)]
pub struct Loadtest {
    pub draft: Draft,
    pub own: Own,
    /// As written.
    pub url: String,
    pub max_requests: Option<u64>,
    pub max_seconds: Option<u64>,
    /// Requests per second of all clients.
    pub rate_per_s: Option<f64>,
    pub concurrency: u32,
    /// `None`: half of those of the machine.
    pub cores: Option<u32>,
    pub has_keep_alive: bool,
    pub is_quiet: bool,
    pub is_version: bool,
    /// What loadtest does without saying it.
    pub notes: Vec<&'static str>,
}

/// Reads the words after `plimsoll loadtest`.
///
/// # Errors
/// Returns every mistake found.
pub fn parse(args: &[String]) -> Result<Loadtest, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("loadtest", args, Style::Gnu, TABLE, &mut wrong);
    let mut line = Line {
        all: Loadtest {
            draft: Draft::default(),
            own: words.own,
            url: String::new(),
            max_requests: None,
            max_seconds: None,
            rate_per_s: None,
            concurrency: 10,
            cores: None,
            has_keep_alive: false,
            is_quiet: false,
            is_version: false,
            notes: Vec::new(),
        },
        ask: Ask::default(),
        method: None,
        cookies: Vec::new(),
        content_type: None,
    };
    for given in &words.flags {
        if let Err(problem) = line.apply(given.does, &given.value) {
            wrong.add(&given.flag, problem);
        }
    }
    if line.all.is_version && wrong.0.is_empty() {
        return Ok(line.all);
    }
    let url = only_url("loadtest", &words.others, &mut wrong).map(str::to_owned);
    let all = line.finish(url, &mut wrong);
    if wrong.0.is_empty() { Ok(all) } else { Err(wrong.0) }
}

struct Line {
    all: Loadtest,
    ask: Ask,
    /// `-m`
    method: Option<String>,
    cookies: Vec<String>,
    content_type: Option<String>,
}

impl Line {
    fn send(&mut self, method: &str, body: Vec<u8>) {
        self.ask.method = Some(method.to_owned());
        self.ask.body = Some(body);
    }

    fn apply(&mut self, flag: Flag, value: &str) -> Result<(), Problem> {
        let (all, ask) = (&mut self.all, &mut self.ask);
        let file = || from_file(Path::new(value));
        match flag {
            Flag::MaxSeconds => all.max_seconds = Some(positive(value, "number of seconds")?),
            Flag::MaxRequests => all.max_requests = Some(positive(value, "number of requests")?),
            Flag::Concurrency => all.concurrency = positive(value, "concurrency")?,
            Flag::Timeout => {
                all.draft.timeout_ns = Some(seconds_ns(value, "timeout")? / 1_000).filter(|ns| *ns > 0);
            }
            Flag::ContentType => self.content_type = Some(value.to_owned()),
            Flag::Cookie => self.cookies.push(value.to_owned()),
            Flag::Header => {
                let (name, value) = plimsoll_build::header::parse(value)?;
                ask.set_header(&name, &value)?;
            }
            Flag::Data => ask.body = Some(value.as_bytes().to_vec()),
            Flag::PostBody => self.send("POST", value.as_bytes().to_vec()),
            Flag::PatchBody => self.send("PATCH", value.as_bytes().to_vec()),
            Flag::PostFile | Flag::PatchFile | Flag::PutFile if value.ends_with(".js") => {
                return Err(Problem::new(
                    "bodies made by a module are not supported",
                    "name a file of bytes",
                ));
            }
            Flag::PostFile => self.send("POST", file()?),
            Flag::PatchFile => self.send("PATCH", file()?),
            Flag::PutFile => self.send("PUT", file()?),
            Flag::Method => self.method = Some(value.to_ascii_uppercase()),
            Flag::SecureProtocol => {
                ask.tls.versions = match value {
                    "TLSv1_2_method" => Versions::Tls12,
                    "TLSv1_3_method" => Versions::Tls13,
                    "TLS_method" => Versions::Both,
                    _ => {
                        let hint = "write `TLSv1_2_method`, `TLSv1_3_method`, or `TLS_method`";
                        return Err(Problem::new(format!("`{value}` is not supported"), hint));
                    }
                };
            }
            Flag::KeepAlive => all.has_keep_alive = true,
            Flag::Version => all.is_version = true,
            Flag::Proxy => ask.proxy(value, 80)?,
            Flag::Rps => all.rate_per_s = Some(rate_per_s(value)?).filter(|rate| *rate > 0.0),
            Flag::Insecure => ask.tls.insecure = true,
            Flag::Key => ask.key = Some(file()?),
            Flag::Certificate => ask.certificate = Some(file()?),
            Flag::Quiet => all.is_quiet = true,
            Flag::Cores => all.cores = Some(positive(value, "number of cores")?),
        }
        Ok(())
    }

    fn finish(mut self, url: Option<String>, wrong: &mut Mistakes) -> Loadtest {
        let (all, ask) = (&mut self.all, &mut self.ask);
        // As in loadtest: a body that says how it is sent does so despite `-m`.
        ask.method = ask.method.take().or(self.method);
        if !self.cookies.is_empty() {
            wrong.taken("-C", ask.add_header("Cookie", &self.cookies.join("; ")));
        }
        if ask.body.is_some() {
            let content_type = self.content_type.as_deref().unwrap_or("text/plain");
            wrong.taken("-T", ask.set_header("Content-Type", content_type));
        } else if self.content_type.is_some() {
            all.notes.push(crate::ask::NO_BODY);
        }
        // As loadtest does if neither of the two is given.
        if all.max_requests.is_none() && all.max_seconds.is_none() {
            all.max_seconds = Some(10);
        }
        let load = &mut all.draft.load;
        load.requests_total = all.max_requests;
        load.duration_ns = all.max_seconds.and_then(|s| s.checked_mul(SECOND_NS));
        match all.rate_per_s {
            Some(rate_per_s) => {
                load.rate_per_s = Some(rate_per_s);
                load.max_connections = Some(CONNECTIONS_MAX);
            }
            None => load.users = Some(all.concurrency),
        }
        all.draft.workers = all.cores;
        // loadtest has no timeout by default.
        all.draft.timeout_ns.get_or_insert(all.draft.limits.duration_ns);
        if !all.has_keep_alive {
            ask.link.reuse = Reuse::Request;
        }
        ask.link.http = Http::V11;
        if let Some(url) = url {
            let draft = std::mem::take(&mut all.draft);
            all.draft = self.ask.finish(&url, draft, wrong);
            all.url = url;
        }
        self.all
    }
}
