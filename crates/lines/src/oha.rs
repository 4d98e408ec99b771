//! Reads a command line of oha 1.16.

use crate::ask::{Ask, positive, rate_per_s};
use crate::flags::{self, Does, Mistakes, Own, Row, Style, bare, with};
use crate::{curl, urls};
use plimsoll_build::body;
use plimsoll_plan::link::{Dns, Http, Reuse};
use plimsoll_plan::route;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Draft, Problem, unit};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Requests,
    Connections,
    Parallel,
    Duration,
    Wait,
    Rate,
    UrlsFromFile,
    LatencyCorrection,
    Method,
    Header,
    Timeout,
    ConnectTimeout,
    Accept,
    Body,
    BodyFile,
    Form,
    ContentType,
    Login,
    Proxy,
    HttpVersion,
    Http2,
    Host,
    NoCompression,
    Redirects,
    NoKeepAlive,
    NoPreLookup,
    Authority,
    Certificate,
    Key,
    Insecure,
    UnixSocket,
    Output,
    Format,
    TimeUnit,
    Version,
}

const VIEW: &str = "shapes the view during the test";
const NOT_OF_FIXED: Does<Flag> =
    Does::Refused("requests that differ are not supported", "write an experiment file, or a k6 script");
const NO_LIST: Does<Flag> = Does::Refused(
    "a run has no list of its requests",
    "write `--save run.plim`, then `plimsoll report run.plim --csv`",
);
const NO_BURSTS: Does<Flag> =
    Does::Refused("bursts are not supported", "write a rate with `-q`, or an experiment file with `stages`");
const NO_PROXY_VERSION: Does<Flag> =
    Does::Refused("proxies are spoken to in HTTP/1.1, without more headers", "remove the flag");
const NO_FAMILY: Does<Flag> = Does::Refused(
    "the family of addresses cannot be chosen",
    "write the address in the URL, and `--host NAME`",
);
const NO_SIGNATURE: Does<Flag> = Does::Refused(
    "signatures of AWS are not supported in this command line",
    "write an experiment file with `auth: { aws_sigv4: ... }`",
);

const TABLE: &[Row<Flag>] = &[
    with(&["-n"], Does::Apply(Flag::Requests)),
    with(&["-c"], Does::Apply(Flag::Connections)),
    with(&["-p"], Does::Apply(Flag::Parallel)),
    with(&["-z"], Does::Apply(Flag::Duration)),
    bare(&["-w", "--wait-ongoing-requests-after-deadline"], Does::Apply(Flag::Wait)),
    with(&["-q"], Does::Apply(Flag::Rate)),
    with(&["--burst-delay"], NO_BURSTS),
    with(&["--burst-rate"], NO_BURSTS),
    bare(&["--rand-regex-url"], NOT_OF_FIXED),
    bare(&["--urls-from-file"], Does::Apply(Flag::UrlsFromFile)),
    with(&["--max-repeat"], NOT_OF_FIXED),
    with(&["--dump-urls"], NOT_OF_FIXED),
    bare(&["--latency-correction"], Does::Apply(Flag::LatencyCorrection)),
    bare(&["--no-tui"], Does::Nothing(VIEW)),
    with(&["--fps"], Does::Nothing(VIEW)),
    with(&["-m", "--method"], Does::Apply(Flag::Method)),
    with(&["-H"], Does::Apply(Flag::Header)),
    with(&["--proxy-header"], NO_PROXY_VERSION),
    with(&["-t"], Does::Apply(Flag::Timeout)),
    with(&["--connect-timeout"], Does::Apply(Flag::ConnectTimeout)),
    with(&["-A"], Does::Apply(Flag::Accept)),
    with(&["-d"], Does::Apply(Flag::Body)),
    with(&["-D"], Does::Apply(Flag::BodyFile)),
    with(&["-Z"], NOT_OF_FIXED),
    with(&["-F", "--form"], Does::Apply(Flag::Form)),
    with(&["-T"], Does::Apply(Flag::ContentType)),
    with(&["-a"], Does::Apply(Flag::Login)),
    with(&["--aws-session"], NO_SIGNATURE),
    with(&["--aws-sigv4"], NO_SIGNATURE),
    with(&["-x"], Does::Apply(Flag::Proxy)),
    with(&["--proxy-http-version"], NO_PROXY_VERSION),
    bare(&["--proxy-http2"], NO_PROXY_VERSION),
    with(&["--http-version"], Does::Apply(Flag::HttpVersion)),
    bare(&["--http2"], Does::Apply(Flag::Http2)),
    with(&["--host"], Does::Apply(Flag::Host)),
    bare(&["--disable-compression"], Does::Apply(Flag::NoCompression)),
    with(&["-r", "--redirect"], Does::Apply(Flag::Redirects)),
    bare(&["--disable-keepalive"], Does::Apply(Flag::NoKeepAlive)),
    bare(&["--no-pre-lookup"], Does::Apply(Flag::NoPreLookup)),
    bare(&["--ipv6"], NO_FAMILY),
    bare(&["--ipv4"], NO_FAMILY),
    with(&["--cacert"], Does::Apply(Flag::Authority)),
    with(&["--cert"], Does::Apply(Flag::Certificate)),
    with(&["--key"], Does::Apply(Flag::Key)),
    bare(&["--insecure"], Does::Apply(Flag::Insecure)),
    with(
        &["--connect-to"],
        Does::Refused("`--connect-to` is not supported", "write the address in the URL, and `--host NAME`"),
    ),
    bare(&["--no-color", "--disable-color"], Does::Nothing("the text has no colors")),
    with(&["--unix-socket"], Does::Apply(Flag::UnixSocket)),
    bare(
        &["--stats-success-breakdown"],
        Does::Refused("times are not recorded by status", "remove the flag"),
    ),
    with(&["--db-url"], NO_LIST),
    bare(&["--debug"], Does::Refused("`--debug` is not supported", "send one request with `-n 1 -c 1`")),
    with(&["-o", "--output"], Does::Apply(Flag::Output)),
    with(&["--output-format"], Does::Apply(Flag::Format)),
    with(&["-u", "--time-unit"], Does::Apply(Flag::TimeUnit)),
    bare(&["-V", "--version"], Does::Apply(Flag::Version)),
];

/// The format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Quiet,
}

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeUnit {
    pub name: &'static str,
    pub seconds: f64,
}

/// The units of times, the largest first.
pub const TIME_UNITS: [TimeUnit; 8] = [
    TimeUnit { name: "hr", seconds: 3_600.0 },
    TimeUnit { name: "10 min", seconds: 600.0 },
    TimeUnit { name: "min", seconds: 60.0 },
    TimeUnit { name: "10 sec", seconds: 10.0 },
    TimeUnit { name: "sec", seconds: 1.0 },
    TimeUnit { name: "ms", seconds: 1e-3 },
    TimeUnit { name: "us", seconds: 1e-6 },
    TimeUnit { name: "ns", seconds: 1e-9 },
];

/// A command line, and how its result is printed.
#[derive(Debug, Clone)]
pub struct Oha {
    pub draft: Draft,
    pub own: Own,
    pub format: Format,
    /// `-o`
    pub output: Option<String>,
    /// `-u`; `None`: by the longest time.
    pub time_unit: Option<TimeUnit>,
    /// Whether `-q` limits the rate.
    pub has_rate: bool,
    /// `--latency-correction`: times count from the intended start.
    pub is_corrected: bool,
    pub is_version: bool,
}

/// Reads the words after `plimsoll oha`.
///
/// # Errors
/// Returns every mistake found.
pub fn parse(args: &[String]) -> Result<Oha, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("oha", args, Style::Gnu, TABLE, &mut wrong);
    let mut line = Line {
        oha: Oha {
            draft: Draft::default(),
            own: words.own,
            format: Format::Text,
            output: None,
            time_unit: None,
            has_rate: false,
            is_corrected: false,
            is_version: false,
        },
        ask: Ask::default(),
        requests: None,
        connections: 50,
        parallel: 1,
        rate_per_s: None,
        is_compressed: true,
        is_list: false,
        waits: false,
        form: Vec::new(),
    };
    line.oha.draft.limits.connect_timeout_ns = 5 * SECOND_NS;
    for given in &words.flags {
        if let Err(problem) = line.apply(given.does, &given.value) {
            wrong.add(&given.flag, problem);
        }
    }
    if line.oha.is_version && wrong.0.is_empty() {
        return Ok(line.oha);
    }
    let url = crate::ask::only_url("oha", &words.others, &mut wrong).map(str::to_owned);
    let oha = line.finish(url.as_deref(), &mut wrong);
    if wrong.0.is_empty() { Ok(oha) } else { Err(wrong.0) }
}

struct Line {
    oha: Oha,
    ask: Ask,
    requests: Option<u64>,
    connections: u32,
    /// Requests in flight on each connection of HTTP/2.
    parallel: u32,
    rate_per_s: Option<f64>,
    is_compressed: bool,
    /// The URL is the name of a file of URLs.
    is_list: bool,
    /// `-w`
    waits: bool,
    form: Vec<String>,
}

impl Line {
    fn apply(&mut self, flag: Flag, value: &str) -> Result<(), Problem> {
        let (ask, oha) = (&mut self.ask, &mut self.oha);
        match flag {
            Flag::Requests => self.requests = Some(requests(value)?),
            Flag::Connections => self.connections = positive(value, "number of connections")?,
            Flag::Parallel => self.parallel = positive(value, "number of parallel requests")?,
            Flag::Duration => oha.draft.load.duration_ns = Some(unit::duration_ns(value)?),
            Flag::Wait => self.waits = true,
            Flag::Rate => self.rate_per_s = Some(rate_per_s(value)?).filter(|rate| *rate > 0.0),
            Flag::UrlsFromFile => self.is_list = true,
            Flag::LatencyCorrection => oha.is_corrected = true,
            Flag::Method => ask.method = Some(value.to_owned()),
            Flag::Header => ask.header(value)?,
            Flag::Timeout => oha.draft.timeout_ns = Some(unit::duration_ns(value)?),
            Flag::ConnectTimeout => oha.draft.limits.connect_timeout_ns = unit::duration_ns(value)?,
            Flag::Accept => ask.set_header("Accept", value)?,
            Flag::Body => ask.body = Some(value.as_bytes().to_vec()),
            Flag::BodyFile => ask.body_file(value)?,
            Flag::Form => self.form.push(value.to_owned()),
            Flag::ContentType => ask.set_header("Content-Type", value)?,
            Flag::Login => ask.basic(value)?,
            Flag::Proxy => ask.proxy(value, 80)?,
            Flag::HttpVersion => {
                ask.link.http = match value.trim() {
                    "1.0" => Http::V10,
                    "1.1" => Http::V11,
                    "2" | "2.0" => Http::V2,
                    _ => {
                        let message = format!("HTTP/{value} is not supported");
                        return Err(Problem::new(message, "write `1.0`, `1.1`, or `2`"));
                    }
                };
            }
            Flag::Http2 => ask.link.http = Http::V2,
            Flag::Host => ask.set_header("Host", value)?,
            Flag::NoCompression => self.is_compressed = false,
            Flag::Redirects => {
                let redirects = value.parse::<u8>().ok().filter(|n| *n <= 100);
                let problem =
                    || Problem::new(format!("invalid number of redirects `{value}`"), "write 0 to 100");
                oha.draft.redirects = Some(redirects.ok_or_else(problem)?).filter(|n| *n > 0);
            }
            Flag::NoKeepAlive => ask.link.reuse = Reuse::Request,
            Flag::NoPreLookup => ask.link.dns = Dns::EachConnection,
            Flag::Authority => ask.authority(value)?,
            Flag::Certificate => ask.certificate = Some(body::from_file(Path::new(value))?),
            Flag::Key => ask.key = Some(body::from_file(Path::new(value))?),
            Flag::Insecure => ask.tls.insecure = true,
            Flag::UnixSocket => ask.link.route.unix_socket = Some(route::unix_socket(value)?),
            Flag::Output => oha.output = Some(value.to_owned()),
            Flag::Format => {
                oha.format = match value {
                    "text" => Format::Text,
                    "json" => Format::Json,
                    "quiet" => Format::Quiet,
                    _ => {
                        let message = format!("the output format `{value}` is not supported");
                        return Err(Problem::new(message, "write `text`, `json`, or `quiet`"));
                    }
                };
            }
            Flag::TimeUnit => {
                let names = [("h", 0), ("m", 2), ("s", 4), ("ms", 5), ("us", 6), ("ns", 7)];
                let (_, at) = names.iter().find(|(name, _)| *name == value).ok_or_else(|| {
                    let hint = "write `ns`, `us`, `ms`, `s`, `m`, or `h`";
                    Problem::new(format!("invalid unit of time `{value}`"), hint)
                })?;
                oha.time_unit = TIME_UNITS.get(*at).copied();
            }
            Flag::Version => oha.is_version = true,
        }
        Ok(())
    }

    fn finish(mut self, url: Option<&str>, wrong: &mut Mistakes) -> Oha {
        let (ask, draft) = (&mut self.ask, &mut self.oha.draft);
        if self.requests.is_some() && draft.load.duration_ns.is_some() {
            wrong.add("-n", Problem::new("`-n` and `-z` both end the test", "keep one of them"));
        }
        if draft.load.duration_ns.is_none() {
            // It waits for all of them, with or without `-w`.
            draft.load.requests_total = Some(self.requests.unwrap_or(200));
        }
        if self.waits {
            draft.graceful_stop_ns = Some(draft.limits.duration_ns);
        }
        let users = self.connections.saturating_mul(self.parallel);
        match self.rate_per_s {
            None => draft.load.users = Some(users),
            Some(_) => {
                draft.load.rate_per_s = self.rate_per_s;
                draft.load.max_connections = Some(self.connections);
            }
        }
        self.oha.has_rate = self.rate_per_s.is_some();
        if self.parallel > 1 {
            match ask.link.http == Http::V2 {
                true => ask.link.streams = self.parallel,
                false => {
                    wrong.add("-p", Problem::new("`-p` requires HTTP/2", "add `--http2`, or remove it"));
                }
            }
        }
        // oha has no timeout by default.
        draft.timeout_ns.get_or_insert(draft.limits.duration_ns);
        if !self.form.is_empty() {
            if ask.body.is_some() {
                wrong.add("-F", Problem::new("`-F` and `-d` both set the body", "keep one of them"));
            }
            if let Some((content_type, body)) = wrong.taken("-F", curl::multipart(&self.form)) {
                ask.default_header("Content-Type", &content_type);
                ask.body = Some(body);
                ask.method.get_or_insert_with(|| "POST".to_owned());
            }
        }
        if self.is_compressed {
            ask.default_header("Accept-Encoding", "gzip, compress, deflate, br");
        }
        if ask.link.http == Http::Auto {
            ask.link.http = Http::V11;
        }
        let Some(url) = url else { return self.oha };
        let draft = std::mem::take(&mut self.oha.draft);
        self.oha.draft = match self.is_list {
            false => self.ask.finish(url, draft, wrong),
            true => listed(url, self.ask, draft, wrong),
        };
        self.oha
    }
}

/// Puts the requests to the URLs in a file into a draft.
fn listed(file: &str, mut ask: Ask, draft: Draft, wrong: &mut Mistakes) -> Draft {
    let Some(bytes) = wrong.taken("", body::from_file(Path::new(file))) else { return draft };
    let text = String::from_utf8_lossy(&bytes);
    match urls::parse(&text, file, Path::new("")) {
        Err(more) => {
            wrong.0.extend(more);
            draft
        }
        Ok(list) => {
            let mut draft = Draft { target: list.target, more_origins: list.more_origins, ..draft };
            let (method, headers, body) =
                (ask.method.take(), std::mem::take(&mut ask.headers), ask.body.take());
            draft.requests = list.requests;
            for request in &mut draft.requests {
                request.headers.extend(headers.iter().cloned());
                request.body = body.clone();
                request.method = method.clone().unwrap_or_else(|| "GET".to_owned());
            }
            let is_tls = draft.target.as_ref().is_some_and(|target| target.tls);
            ask.connect(is_tls, &mut draft, wrong);
            crate::rotation::rotate(&mut draft);
            draft
        }
    }
}

/// Reads `100`, `10k`, or `1m`.
fn requests(text: &str) -> Result<u64, Problem> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, scale) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1e3),
        (_, Some(digits)) => (digits, 1e6),
        _ => (lower.as_str(), 1.0),
    };
    match digits.parse::<f64>() {
        Ok(n) if n * scale >= 1.0 && n * scale <= 1e15 => Ok((n * scale) as u64),
        _ => {
            let hint = "write a whole number above 0, such as `200` or `10k`";
            Err(Problem::new(format!("invalid number of requests `{text}`"), hint))
        }
    }
}
