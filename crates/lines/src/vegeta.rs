//! Reads command lines of Vegeta 12: `attack`, and `report`.

mod report;
mod targets;

pub use report::{Report, ReportType, report};

use crate::ask::{Ask, GO_REDIRECTS, positive};
use crate::flags::{self, Does, Given, Mistakes, Own, Row, Style, bare, with};
use plimsoll_build::body::from_file;
use plimsoll_build::header;
use plimsoll_plan::link::{Dns, Http, Resumption, Reuse};
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Draft, Problem, route, unit};
use std::net::IpAddr;
use std::path::Path;

/// Connections that Vegeta keeps for each host by default.
const CONNECTIONS: u32 = 10_000;
const TIMEOUT_NS: u64 = 30 * SECOND_NS;
/// Default rate, per second.
const RATE_PER_S: f64 = 50.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Name,
    Targets,
    Format,
    Output,
    Body,
    Certificate,
    Key,
    Authorities,
    Http2,
    Http2Plain,
    Insecure,
    Duration,
    Timeout,
    MaxWorkers,
    MaxConnections,
    Redirects,
    Rate,
    Header,
    LocalAddress,
    KeepAlive,
    UnixSocket,
    Prometheus,
    DnsTtl,
    Tickets,
    Cpus,
}

const NO_SETTING: Does<Flag> = Does::Refused("this flag is not supported", "remove the flag");

const TABLE: &[Row<Flag>] = &[
    with(&["-name"], Does::Apply(Flag::Name)),
    with(&["-targets"], Does::Apply(Flag::Targets)),
    with(&["-format"], Does::Apply(Flag::Format)),
    with(&["-output"], Does::Apply(Flag::Output)),
    with(&["-body"], Does::Apply(Flag::Body)),
    bare(
        &["-chunked"],
        Does::Refused("bodies are sent with their length", "write an experiment file with `chunked: true`"),
    ),
    with(&["-cert"], Does::Apply(Flag::Certificate)),
    with(&["-key"], Does::Apply(Flag::Key)),
    with(&["-root-certs"], Does::Apply(Flag::Authorities)),
    bare(&["-http2"], Does::Apply(Flag::Http2)),
    bare(&["-h2c"], Does::Apply(Flag::Http2Plain)),
    bare(&["-insecure"], Does::Apply(Flag::Insecure)),
    bare(&["-lazy"], Does::Refused("targets are read before the load", "remove the flag")),
    with(&["-duration"], Does::Apply(Flag::Duration)),
    with(&["-timeout"], Does::Apply(Flag::Timeout)),
    with(&["-workers"], Does::Nothing("users are created as arrivals need them")),
    with(&["-max-workers"], Does::Apply(Flag::MaxWorkers)),
    with(&["-connections"], Does::Nothing("every connection is kept open until the end")),
    with(&["-max-connections"], Does::Apply(Flag::MaxConnections)),
    with(&["-redirects"], Does::Apply(Flag::Redirects)),
    with(&["-max-body"], Does::Nothing("no response body is captured")),
    with(&["-rate"], Does::Apply(Flag::Rate)),
    with(&["-header"], Does::Apply(Flag::Header)),
    with(&["-proxy-header"], NO_SETTING),
    with(&["-laddr"], Does::Apply(Flag::LocalAddress)),
    bare(&["-keepalive"], Does::Apply(Flag::KeepAlive)),
    with(&["-unix-socket"], Does::Apply(Flag::UnixSocket)),
    with(&["-prometheus-addr"], Does::Apply(Flag::Prometheus)),
    with(&["-dns-ttl"], Does::Apply(Flag::DnsTtl)),
    bare(&["-session-tickets"], Does::Apply(Flag::Tickets)),
    with(
        &["-connect-to"],
        Does::Refused(
            "`-connect-to` is not supported",
            "write the address in the targets, with a `Host` header",
        ),
    ),
    with(&["-resolvers"], Does::Refused("the resolver is that of the system", "remove the flag")),
    with(&["-cpus"], Does::Apply(Flag::Cpus)),
];

/// `vegeta attack`.
#[derive(Debug, Clone)]
pub struct Attack {
    pub draft: Draft,
    pub own: Own,
    /// `-output`; `None`: standard output.
    pub output: Option<String>,
}

/// Reads the words after `plimsoll vegeta attack`. `stdin` reads standard input, where the targets are by default.
///
/// # Errors
/// Returns every mistake found.
pub fn attack(
    args: &[String],
    stdin: impl FnOnce() -> std::io::Result<Vec<u8>>,
) -> Result<Attack, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("vegeta", args, Style::Go, TABLE, &mut wrong);
    let mut line = Line {
        ask: Ask::default(),
        draft: Draft { redirects: Some(GO_REDIRECTS), timeout_ns: Some(TIMEOUT_NS), ..Draft::default() },
        targets: None,
        is_json: false,
        output: None,
        rate_per_s: RATE_PER_S,
        max_workers: None,
        max_connections: None,
    };
    for given in &words.flags {
        if let Err(problem) = line.apply(given) {
            wrong.add(&given.flag, problem);
        }
    }
    if let Some(word) = words.others.first() {
        let message = format!("unexpected argument `{word}`");
        wrong.usage(
            "",
            Problem::new(message, "write the targets to standard input, or name a file with `-targets`"),
        );
    }
    let (output, own) = (line.output.take(), words.own);
    let draft = line.finish(stdin, &mut wrong);
    if wrong.0.is_empty() { Ok(Attack { draft, own, output }) } else { Err(wrong.0) }
}

struct Line {
    ask: Ask,
    draft: Draft,
    targets: Option<String>,
    is_json: bool,
    output: Option<String>,
    /// 0 means as fast as the workers can.
    rate_per_s: f64,
    max_workers: Option<u32>,
    max_connections: Option<u32>,
}

impl Line {
    fn apply(&mut self, given: &Given<Flag>) -> Result<(), Problem> {
        let (ask, draft, value) = (&mut self.ask, &mut self.draft, given.value.as_str());
        let is_on = value != "false";
        match given.does {
            Flag::Name => draft.name = Some(value.to_owned()),
            Flag::Targets => self.targets = Some(value.to_owned()).filter(|file| file != "stdin"),
            Flag::Format => {
                self.is_json = match value {
                    "http" => false,
                    "json" => true,
                    _ => {
                        let message = format!("unknown format of targets `{value}`");
                        return Err(Problem::new(message, "write `http` or `json`"));
                    }
                };
            }
            Flag::Output => self.output = Some(value.to_owned()).filter(|file| file != "stdout"),
            Flag::Body => ask.body_file(value)?,
            Flag::Certificate => ask.certificate = Some(from_file(Path::new(value))?),
            Flag::Key => ask.key = Some(from_file(Path::new(value))?),
            Flag::Authorities => value.split(',').try_for_each(|file| ask.authority(file))?,
            Flag::Http2 if !is_on => ask.link.http = Http::V11,
            Flag::Http2Plain if is_on => ask.link.http = Http::V2,
            Flag::Http2 | Flag::Http2Plain => {}
            Flag::Insecure => ask.tls.insecure = is_on,
            Flag::Duration => draft.load.duration_ns = Some(duration_ns(value)?).filter(|ns| *ns > 0),
            Flag::Timeout => draft.timeout_ns = Some(duration_ns(value)?).filter(|ns| *ns > 0),
            Flag::MaxWorkers => self.max_workers = Some(positive(value, "number of workers")?),
            // 0 means no limit.
            Flag::MaxConnections if value == "0" => {}
            Flag::MaxConnections => self.max_connections = Some(positive(value, "number of connections")?),
            Flag::Redirects => {
                draft.redirects = match value.parse::<i16>() {
                    // A redirect that is not followed is a success here as well.
                    Ok(-1 | 0) => None,
                    Ok(n @ 1..=100) => Some(n as u8),
                    _ => {
                        let message = format!("invalid number of redirects `{value}`");
                        return Err(Problem::new(message, "write -1 to 100"));
                    }
                };
            }
            Flag::Rate => self.rate_per_s = rate_per_s(value)?,
            Flag::Header => {
                let (name, value) = header::parse(value)?;
                ask.add_header(&name, &value)?;
            }
            Flag::LocalAddress => {
                let address = value.parse::<IpAddr>().map_err(|_| {
                    Problem::new(format!("invalid address `{value}`"), "write a local IP address")
                })?;
                ask.link.source_addresses = vec![address];
            }
            Flag::KeepAlive if !is_on => ask.link.reuse = Reuse::Request,
            Flag::KeepAlive => {}
            Flag::UnixSocket if !value.is_empty() => {
                ask.link.route.unix_socket = Some(route::unix_socket(value)?);
            }
            Flag::Prometheus if !value.is_empty() => {
                let hint = "remove the flag; `plimsoll serve` shows a run while it lasts";
                return Err(Problem::new("metrics are not exported during a run", hint));
            }
            Flag::UnixSocket | Flag::Prometheus => {}
            Flag::DnsTtl => match value {
                "0" | "0s" => {}
                "-1" => ask.link.dns = Dns::EachConnection,
                _ => {
                    let message = "names are looked up once, or for each connection";
                    return Err(Problem::new(message, "write `0` or `-1`"));
                }
            },
            Flag::Tickets if is_on => ask.tls.set_resumption(Resumption::On),
            Flag::Tickets => {}
            Flag::Cpus => draft.workers = Some(positive(value, "number of cores")?),
        }
        Ok(())
    }

    fn finish(mut self, stdin: impl FnOnce() -> std::io::Result<Vec<u8>>, wrong: &mut Mistakes) -> Draft {
        // Vegeta waits for the responses to all requests that it has sent.
        self.draft.graceful_stop_ns = self.draft.timeout_ns;
        let load = &mut self.draft.load;
        if load.duration_ns.is_none() {
            let message = "an attack without an end is not supported";
            wrong.add("-duration", Problem::new(message, "add a duration, such as `-duration=30s`"));
        }
        let connections = self.max_connections.unwrap_or(CONNECTIONS);
        match (self.rate_per_s > 0.0, self.max_workers) {
            (true, workers) => {
                load.rate_per_s = Some(self.rate_per_s);
                load.max_connections = Some(workers.unwrap_or(u32::MAX).min(connections));
            }
            (false, Some(workers)) => load.users = Some(workers.min(connections)),
            (false, None) => {
                let message = "a rate of 0 requires a number of workers";
                wrong.add("-rate", Problem::new(message, "add `-max-workers`, such as `-max-workers=100`"));
            }
        }
        let name = self.targets.clone().unwrap_or_else(|| "stdin".to_owned());
        let bytes = match &self.targets {
            Some(file) => wrong.taken("-targets", from_file(Path::new(file))),
            None => wrong.taken("-targets", stdin().map_err(|e| Problem::plain(e.to_string()))),
        };
        let Some(bytes) = bytes else { return self.draft };
        let text = String::from_utf8_lossy(&bytes);
        let list = match self.is_json {
            true => targets::json(&text, &name),
            false => crate::urls::parse(&text, &name, Path::new("")),
        };
        let list = match list {
            Ok(list) => list,
            Err(more) => {
                wrong.0.extend(more);
                return self.draft;
            }
        };
        let (headers, body) = (std::mem::take(&mut self.ask.headers), self.ask.body.take());
        let mut draft = self.draft;
        (draft.target, draft.more_origins, draft.requests) = (list.target, list.more_origins, list.requests);
        for request in &mut draft.requests {
            // Headers of the target come after those of the command line, and both are sent.
            let own = std::mem::replace(&mut request.headers, headers.clone());
            request.headers.extend(own);
            request.body = request.body.take().or_else(|| body.clone());
            // As the HTTP client of Go does.
            if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Accept-Encoding"))
                && request.method != "HEAD"
            {
                request.headers.push(("Accept-Encoding".to_owned(), "gzip".to_owned()));
            }
        }
        let origins = draft.target.iter().chain(draft.more_origins.iter().map(|origin| &origin.target));
        let is_tls = origins.into_iter().any(|target| target.tls);
        self.ask.connect(is_tls, &mut draft, wrong);
        crate::rotation::rotate(&mut draft);
        draft
    }
}

/// Reads a duration of Go. A 0 has no unit.
fn duration_ns(text: &str) -> Result<u64, Problem> {
    if text == "0" { Ok(0) } else { unit::duration_ns(text) }
}

/// Reads `50`, `50/1s`, `100/m`, `0`, or `infinity`; returns requests per second.
fn rate_per_s(text: &str) -> Result<f64, Problem> {
    let invalid =
        || Problem::new(format!("invalid rate `{text}`"), "write requests per unit of time, such as `50/1s`");
    if text == "infinity" {
        return Ok(0.0);
    }
    let (number, per) = text.split_once('/').unwrap_or((text, "1s"));
    let number: u64 = number.parse().map_err(|_| invalid())?;
    // A unit without a number is one of it.
    let per = if per.starts_with(|c: char| c.is_ascii_digit()) { per.to_owned() } else { format!("1{per}") };
    let per_ns = unit::duration_ns(&per).map_err(|_| invalid())?;
    match per_ns {
        0 => Err(invalid()),
        ns => Ok(number as f64 * SECOND_NS as f64 / ns as f64),
    }
}
