//! Reads a command line of hey 0.1.5.

use crate::ask::{Ask, GO_REDIRECTS, only_url, positive, rate_per_s, seconds_ns};
use crate::flags::{self, Does, Mistakes, Own, Row, Style, bare, with};
use plimsoll_plan::link::{Http, Reuse};
use plimsoll_plan::{Diagnostic, Draft, Problem, unit};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Requests,
    Workers,
    Rate,
    Duration,
    Output,
    Method,
    Header,
    Timeout,
    Accept,
    Body,
    BodyFile,
    ContentType,
    Agent,
    Login,
    Proxy,
    Http2,
    Host,
    NoCompression,
    NoKeepAlive,
    NoRedirects,
    Cpus,
}

const TABLE: &[Row<Flag>] = &[
    with(&["-n"], Does::Apply(Flag::Requests)),
    with(&["-c"], Does::Apply(Flag::Workers)),
    with(&["-q"], Does::Apply(Flag::Rate)),
    with(&["-z"], Does::Apply(Flag::Duration)),
    with(&["-o"], Does::Apply(Flag::Output)),
    with(&["-m"], Does::Apply(Flag::Method)),
    with(&["-H"], Does::Apply(Flag::Header)),
    with(&["-h"], Does::Refused("hey replaced `-h` by `-H`", "write `-H 'Name: value'`")),
    with(&["-t"], Does::Apply(Flag::Timeout)),
    with(&["-A"], Does::Apply(Flag::Accept)),
    with(&["-d"], Does::Apply(Flag::Body)),
    with(&["-D"], Does::Apply(Flag::BodyFile)),
    with(&["-T"], Does::Apply(Flag::ContentType)),
    with(&["-U"], Does::Apply(Flag::Agent)),
    with(&["-a"], Does::Apply(Flag::Login)),
    with(&["-x"], Does::Apply(Flag::Proxy)),
    bare(&["-h2"], Does::Apply(Flag::Http2)),
    with(&["-host"], Does::Apply(Flag::Host)),
    bare(&["-disable-compression"], Does::Apply(Flag::NoCompression)),
    bare(&["-disable-keepalive"], Does::Apply(Flag::NoKeepAlive)),
    bare(&["-disable-redirects"], Does::Apply(Flag::NoRedirects)),
    with(&["-cpus"], Does::Apply(Flag::Cpus)),
];

/// A command line.
#[derive(Debug, Clone)]
pub struct Hey {
    pub draft: Draft,
    pub own: Own,
    /// Whether `-q` limits the rate, so that requests are sent at their times.
    pub has_rate: bool,
}

/// Reads the words after `plimsoll hey`.
///
/// # Errors
/// Returns every mistake found.
pub fn parse(args: &[String]) -> Result<Hey, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("hey", args, Style::Go, TABLE, &mut wrong);
    let mut line = Line {
        ask: Ask::default(),
        draft: Draft { redirects: Some(GO_REDIRECTS), ..Draft::default() },
        requests: 200,
        workers: 50,
        rate_per_s: 0.0,
        is_compressed: true,
        timeout_s: "20".to_owned(),
    };
    for given in &words.flags {
        if let Err(problem) = line.apply(given.does, &given.value) {
            wrong.add(&given.flag, problem);
        }
    }
    let has_rate = line.rate_per_s > 0.0;
    let url = only_url("hey", &words.others, &mut wrong);
    let draft = line.finish(url, &mut wrong);
    if wrong.0.is_empty() { Ok(Hey { draft, own: words.own, has_rate }) } else { Err(wrong.0) }
}

struct Line {
    ask: Ask,
    draft: Draft,
    requests: u64,
    workers: u32,
    /// Of each worker; 0 means no limit.
    rate_per_s: f64,
    is_compressed: bool,
    timeout_s: String,
}

impl Line {
    fn apply(&mut self, flag: Flag, value: &str) -> Result<(), Problem> {
        let (ask, draft) = (&mut self.ask, &mut self.draft);
        // A switch that is turned off changes nothing.
        let is_on = value != "false";
        match flag {
            Flag::Requests => self.requests = positive(value, "number of requests")?,
            Flag::Workers => self.workers = positive(value, "number of workers")?,
            Flag::Rate => self.rate_per_s = rate_per_s(value)?,
            Flag::Duration => draft.load.duration_ns = Some(unit::duration_ns(value)?).filter(|ns| *ns > 0),
            Flag::Output if value.is_empty() => {}
            Flag::Output => {
                let message =
                    format!("the output `{value}` is not supported: a run has no list of its requests");
                return Err(Problem::new(
                    message,
                    "write `--save run.plim`, then `plimsoll report run.plim --csv`",
                ));
            }
            Flag::Method => ask.method = Some(value.to_ascii_uppercase()),
            Flag::Header => {
                let (name, value) = plimsoll_build::header::parse(value)?;
                ask.set_header(&name, &value)?;
            }
            Flag::Timeout => self.timeout_s = value.to_owned(),
            Flag::Accept => ask.set_header("Accept", value)?,
            Flag::Body => ask.body = Some(value.as_bytes().to_vec()),
            Flag::BodyFile => ask.body_file(value)?,
            Flag::ContentType => ask.set_header("Content-Type", value)?,
            Flag::Agent => ask.set_header("User-Agent", value)?,
            Flag::Login => ask.basic(value)?,
            Flag::Proxy => ask.proxy(value, 80)?,
            Flag::Http2 if is_on => ask.link.http = Http::V2,
            Flag::Host => ask.set_header("Host", value)?,
            Flag::NoCompression => self.is_compressed = !is_on,
            Flag::NoKeepAlive if is_on => ask.link.reuse = Reuse::Request,
            Flag::NoRedirects if is_on => draft.redirects = None,
            Flag::Cpus => draft.workers = Some(positive(value, "number of cores")?),
            Flag::Http2 | Flag::NoKeepAlive | Flag::NoRedirects => {}
        }
        Ok(())
    }

    fn finish(mut self, url: Option<&str>, wrong: &mut Mistakes) -> Draft {
        let (ask, load) = (&mut self.ask, &mut self.draft.load);
        // Without `-z`, the number of requests ends the test.
        if load.duration_ns.is_none() {
            load.requests_total = Some(self.requests);
            if self.requests < u64::from(self.workers) {
                let message = format!("{} requests need at most as many workers", self.requests);
                wrong.add("-c", Problem::new(message, "write a lower `-c`, or a higher `-n`"));
            }
        }
        match self.rate_per_s > 0.0 {
            false => load.users = Some(self.workers),
            true => {
                load.rate_per_s = Some(self.rate_per_s * f64::from(self.workers));
                load.max_connections = Some(self.workers);
            }
        }
        match wrong.taken("-t", seconds_ns(&self.timeout_s, "timeout")) {
            // No timeout: that of the longest run.
            Some(0) => self.draft.timeout_ns = Some(self.draft.limits.duration_ns),
            timeout_ns => self.draft.timeout_ns = timeout_ns,
        }
        // hey waits for the responses to all requests that it has sent.
        self.draft.graceful_stop_ns = self.draft.timeout_ns;
        ask.default_header("Content-Type", "text/html");
        if self.is_compressed && ask.method.as_deref() != Some("HEAD") {
            ask.default_header("Accept-Encoding", "gzip");
        }
        // hey does not verify certificates.
        ask.tls.insecure = true;
        if ask.link.http == Http::Auto {
            ask.link.http = Http::V11;
        }
        match url {
            Some(url) => self.ask.finish(url, self.draft, wrong),
            None => self.draft,
        }
    }
}
