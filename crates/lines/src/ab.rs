//! Reads a command line of ab (ApacheBench 2.3, of the web server 2.4).

use crate::ask::{Ask, positive, seconds_ns};
use crate::flags::{self, Does, Mistakes, Own, Row, Style, bare, with};
use plimsoll_build::requests::basic;
use plimsoll_plan::cipher;
use plimsoll_plan::link::{Http, Reuse, Versions};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Draft, Problem};
use std::net::IpAddr;

/// The number of requests that `-t` sets.
pub const TIMED_REQUESTS: u64 = 50_000;
const TIMEOUT_NS: u64 = 30 * SECOND_NS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Requests,
    Concurrency,
    TimeLimit,
    Timeout,
    Address,
    Post,
    Put,
    ContentType,
    Verbosity,
    Html,
    Head,
    Table,
    Row,
    Cell,
    Cookie,
    Header,
    Login,
    ProxyLogin,
    Proxy,
    Version,
    KeepAlive,
    NoPercentiles,
    NoConfidence,
    Quiet,
    AnyLength,
    Gnuplot,
    Csv,
    Recover,
    Method,
    Ciphers,
    Protocol,
    Certificate,
}

const TABLE: &[Row<Flag>] = &[
    with(&["-n"], Does::Apply(Flag::Requests)),
    with(&["-c"], Does::Apply(Flag::Concurrency)),
    with(&["-t"], Does::Apply(Flag::TimeLimit)),
    with(&["-s"], Does::Apply(Flag::Timeout)),
    with(
        &["-b"],
        Does::Refused("the size of socket buffers cannot be set", "remove the flag: the kernel sizes them"),
    ),
    with(&["-B"], Does::Apply(Flag::Address)),
    with(&["-p"], Does::Apply(Flag::Post)),
    with(&["-u"], Does::Apply(Flag::Put)),
    with(&["-T"], Does::Apply(Flag::ContentType)),
    with(&["-v"], Does::Apply(Flag::Verbosity)),
    bare(&["-w"], Does::Apply(Flag::Html)),
    bare(&["-i"], Does::Apply(Flag::Head)),
    with(&["-x"], Does::Apply(Flag::Table)),
    with(&["-y"], Does::Apply(Flag::Row)),
    with(&["-z"], Does::Apply(Flag::Cell)),
    with(&["-C"], Does::Apply(Flag::Cookie)),
    with(&["-H"], Does::Apply(Flag::Header)),
    with(&["-A"], Does::Apply(Flag::Login)),
    with(&["-P"], Does::Apply(Flag::ProxyLogin)),
    with(&["-X"], Does::Apply(Flag::Proxy)),
    bare(&["-V"], Does::Apply(Flag::Version)),
    bare(&["-k"], Does::Apply(Flag::KeepAlive)),
    bare(&["-d"], Does::Apply(Flag::NoPercentiles)),
    bare(&["-S"], Does::Apply(Flag::NoConfidence)),
    bare(&["-q"], Does::Apply(Flag::Quiet)),
    bare(&["-l"], Does::Apply(Flag::AnyLength)),
    with(&["-g"], Does::Apply(Flag::Gnuplot)),
    with(&["-e"], Does::Apply(Flag::Csv)),
    bare(&["-r"], Does::Apply(Flag::Recover)),
    with(&["-m"], Does::Apply(Flag::Method)),
    bare(
        &["-I"],
        Does::Refused("the name of the server (SNI) is always sent", "write its address in the URL"),
    ),
    with(&["-Z"], Does::Apply(Flag::Ciphers)),
    with(&["-f"], Does::Apply(Flag::Protocol)),
    with(&["-E"], Does::Apply(Flag::Certificate)),
];

/// The attributes of the HTML tables of `-w`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Html {
    pub table: String,
    pub row: String,
    pub cell: String,
}

/// A command line, and what the text of ab shows of it.
#[derive(Debug, Clone)]
pub struct Ab {
    pub draft: Draft,
    pub own: Own,
    pub requests: u64,
    pub concurrency: u64,
    /// `-t`, s.
    pub time_limit_s: Option<u64>,
    pub host: String,
    pub port: u16,
    pub path: String,
    pub is_tls: bool,
    /// Host and port of `-X`.
    pub proxy: Option<(String, u16)>,
    pub has_keep_alive: bool,
    pub has_body: bool,
    /// `-q`
    pub is_quiet: bool,
    /// `-l`: lengths are not compared.
    pub any_length: bool,
    /// `-d` is not given.
    pub has_percentiles: bool,
    /// `-S` is not given.
    pub has_confidence: bool,
    /// `-r`: receive errors do not end the test.
    pub recovers: bool,
    pub html: Option<Html>,
    /// `-e`
    pub csv: Option<String>,
    /// `-g`
    pub gnuplot: Option<String>,
    /// `-V`: print the version only.
    pub is_version: bool,
    /// What ab does without saying it.
    pub notes: Vec<String>,
}

impl Ab {
    /// Returns whether ab prints its progress: the number of completed requests, in steps.
    pub fn has_progress(&self) -> bool {
        !self.is_quiet && self.requests > 150
    }
}

/// Reads the words after `plimsoll ab`.
///
/// # Errors
/// Returns every mistake found.
pub fn parse(args: &[String]) -> Result<Ab, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("ab", args, Style::FlagsFirst, TABLE, &mut wrong);
    let line = Ab {
        draft: Draft::default(),
        own: words.own,
        requests: 1,
        concurrency: 1,
        time_limit_s: None,
        host: String::new(),
        port: 80,
        path: String::new(),
        is_tls: false,
        proxy: None,
        has_keep_alive: false,
        has_body: false,
        is_quiet: false,
        any_length: false,
        has_percentiles: true,
        has_confidence: true,
        recovers: false,
        html: None,
        csv: None,
        gnuplot: None,
        is_version: false,
        notes: Vec::new(),
    };
    let mut reader = Reader {
        line,
        ask: Ask::default(),
        wrong,
        timeout_ns: TIMEOUT_NS,
        content_type: None,
        cookies: Vec::new(),
        proxy_login: None,
        method_flag: None,
    };
    for given in &words.flags {
        if let Err(problem) = reader.apply(given.does, &given.value) {
            reader.wrong.add(&given.flag, problem);
        }
    }
    if reader.line.is_version && reader.wrong.0.is_empty() {
        return Ok(reader.line);
    }
    reader.finish(&words.others)
}

struct Reader {
    line: Ab,
    ask: Ask,
    wrong: Mistakes,
    timeout_ns: u64,
    content_type: Option<String>,
    cookies: Vec<String>,
    proxy_login: Option<String>,
    /// The flag that set the method.
    method_flag: Option<&'static str>,
}

impl Reader {
    fn method(&mut self, flag: &'static str, method: &str) -> Result<(), Problem> {
        if let Some(other) = self.method_flag.filter(|other| *other != flag) {
            let message = format!("`{other}` and `{flag}` both set the method");
            return Err(Problem::new(message, "keep one of them"));
        }
        self.method_flag = Some(flag);
        self.ask.method = Some(method.to_owned());
        Ok(())
    }

    fn apply(&mut self, flag: Flag, value: &str) -> Result<(), Problem> {
        let line = &mut self.line;
        match flag {
            Flag::Requests => line.requests = positive(value, "number of requests")?,
            Flag::Concurrency => line.concurrency = positive(value, "concurrency")?,
            Flag::TimeLimit => {
                line.time_limit_s = Some(positive(value, "time limit")?);
                // As in ab: a later `-n` replaces it, and an earlier one has no effect.
                line.requests = TIMED_REQUESTS;
            }
            Flag::Timeout => self.timeout_ns = seconds_ns(value, "timeout")?.max(SECOND_NS),
            Flag::Address => {
                let address = value.parse::<IpAddr>().map_err(|_| {
                    Problem::new(format!("invalid address `{value}`"), "write a local IP address")
                })?;
                self.ask.link.source_addresses = vec![address];
            }
            Flag::Post | Flag::Put => {
                self.ask.body_file(value)?;
                self.line.has_body = true;
                let (flag, method) = if flag == Flag::Post { ("-p", "POST") } else { ("-u", "PUT") };
                self.method(flag, method)?;
            }
            Flag::ContentType => self.content_type = Some(value.to_owned()),
            Flag::Verbosity => {
                let level: u8 = value.trim().parse().map_err(|_| {
                    Problem::new(format!("invalid verbosity `{value}`"), "write a number from 0 to 4")
                })?;
                if level > 1 {
                    let hint =
                        "write `-v 1`; examples of failures are in the report of plimsoll (`--report FILE`)";
                    return Err(Problem::new("single responses are not printed", hint));
                }
            }
            Flag::Html => {
                self.html();
            }
            Flag::Table => self.html().table = value.to_owned(),
            Flag::Row => self.html().row = value.to_owned(),
            Flag::Cell => self.html().cell = value.to_owned(),
            Flag::Head => self.method("-i", "HEAD")?,
            Flag::Method => self.method("-m", value)?,
            Flag::Cookie => self.cookies.push(value.to_owned()),
            Flag::Header => self.ask.header(value)?,
            Flag::Login => self.ask.add_header("Authorization", &basic(value.trim_start()))?,
            Flag::ProxyLogin => self.proxy_login = Some(value.trim_start().to_owned()),
            Flag::Proxy => {
                self.ask.proxy(value, 80)?;
                self.line.proxy = self.ask.link.route.proxy.as_ref().map(|own| (own.host.clone(), own.port));
            }
            Flag::Version => line.is_version = true,
            Flag::KeepAlive => line.has_keep_alive = true,
            Flag::NoPercentiles => line.has_percentiles = false,
            Flag::NoConfidence => line.has_confidence = false,
            Flag::Quiet => line.is_quiet = true,
            Flag::AnyLength => line.any_length = true,
            Flag::Gnuplot => line.gnuplot = Some(value.to_owned()),
            Flag::Csv => line.csv = Some(value.to_owned()),
            Flag::Recover => line.recovers = true,
            Flag::Ciphers => self.ask.tls.ciphers = cipher::ciphers(value)?,
            Flag::Protocol => {
                self.ask.tls.versions = match value.to_ascii_uppercase().as_str() {
                    "ALL" => Versions::Both,
                    "TLS1.2" => Versions::Tls12,
                    "TLS1.3" => Versions::Tls13,
                    _ => {
                        let message = format!("`{value}` is not supported");
                        return Err(Problem::new(message, "write `TLS1.2`, `TLS1.3`, or `ALL`"));
                    }
                };
            }
            Flag::Certificate => {
                let mut files = Ask::default();
                files.body_file(value)?;
                self.ask.certificate = files.body;
            }
        }
        Ok(())
    }

    fn html(&mut self) -> &mut Html {
        self.line.html.get_or_insert_with(|| Html {
            table: String::new(),
            row: String::new(),
            cell: "bgcolor=white".to_owned(),
        })
    }

    fn finish(mut self, others: &[String]) -> Result<Ab, Vec<Diagnostic>> {
        let url = crate::ask::only_url("ab", others, &mut self.wrong).map(str::to_owned);
        let (line, ask) = (&mut self.line, &mut self.ask);
        if line.concurrency > line.requests {
            let message =
                format!("{} requests need no more than {} connections", line.requests, line.requests);
            self.wrong.usage("-c", Problem::new(message, "write a lower `-c`, or a higher `-n`"));
        }
        if let Some(last) = self.cookies.last() {
            self.wrong.taken("-C", ask.add_header("Cookie", last));
            if self.cookies.len() > 1 {
                let note = "ab sends only the last `-C`: write one with all cookies, such as `-C 'a=1; b=2'`";
                line.notes.push(note.to_owned());
            }
        }
        match (ask.body.is_some(), self.content_type) {
            (true, content_type) => {
                let content_type = content_type.as_deref().unwrap_or("text/plain");
                self.wrong.taken("-T", ask.add_header("Content-type", content_type));
            }
            (false, Some(_)) => line.notes.push(crate::ask::NO_BODY.to_owned()),
            (false, None) => {}
        }
        match self.proxy_login {
            Some(_) if ask.link.route.proxy.is_none() => {
                let hint = "name the proxy with `-X host:port`";
                self.wrong.add("-P", Problem::new("a login of the proxy requires a proxy", hint));
            }
            Some(pair) => ask.proxy_login(&pair),
            None => {}
        }
        // ab does not verify certificates, and speaks only HTTP/1.0.
        ask.tls.insecure = true;
        ask.link.http = Http::V10;
        if !line.has_keep_alive {
            ask.link.reuse = Reuse::Request;
        }
        if let Some(url) = url {
            line.draft = self.ask.finish(&url, Draft::default(), &mut self.wrong);
        }
        if let (Some(target), Some(request)) = (&line.draft.target, line.draft.requests.first()) {
            (line.host, line.port, line.is_tls) = (target.host.clone(), target.port, target.tls);
            line.path = request.path.clone();
        }
        line.draft.keep_alive = Some(line.has_keep_alive);
        line.draft.timeout_ns = Some(self.timeout_ns);
        let load = &mut line.draft.load;
        load.users = u32::try_from(line.concurrency).ok();
        load.requests_total = Some(line.requests);
        load.duration_ns = line.time_limit_s.and_then(|s| s.checked_mul(SECOND_NS));
        if line.time_limit_s.is_some() && line.requests == TIMED_REQUESTS {
            let note = "`-t` of ab sets `-n 50000`: the test ends after 50,000 requests if the time limit is not \
                        reached first; write `-n` after `-t` for more";
            line.notes.push(note.to_owned());
        }
        if self.wrong.0.is_empty() { Ok(self.line) } else { Err(self.wrong.0) }
    }
}
