//! Where a monitor looks, out of texts: for `--monitor KIND=WHERE` and for the values of an experiment file alike.
//!
//! Every text comes with the form in which it may be shown, because addresses may hold a password.

use super::{Group, Nginx, Prometheus, Source, SourceKind, Watch, Who};
use crate::Problem;
use crate::request::url;
use crate::value::Secret;
use std::path::PathBuf;

/// A text, and what sentences may show of it.
#[derive(Debug, Clone, Copy)]
pub struct MaskedText<'a> {
    pub text: &'a str,
    pub shown: &'a str,
}

impl<'a> MaskedText<'a> {
    /// A text that holds no secret, or is typed by somebody who sees it anyway.
    pub fn open(text: &'a str) -> MaskedText<'a> {
        MaskedText { text, shown: text }
    }
}

/// Longest name of a monitor, characters: it heads columns.
const LONGEST_NAME: usize = 60;

impl Watch {
    /// Parses `KIND=WHERE` or a bare `host`, such as `process=:4110` or `redis=127.0.0.1:6379`; the monitor is called
    /// by its kind and place.
    ///
    /// # Errors
    /// A sentence with the mend, which shows no more of an address than its host.
    pub fn parse(text: &str) -> Result<Watch, Problem> {
        let (kind, place) = match text.split_once('=') {
            Some((kind, place)) => (kind.trim(), Some(place.trim())),
            None => (text.trim(), None),
        };
        let source = match (kind, place) {
            ("host", None) => Source::Host,
            ("host", Some(_)) => {
                return Err(Problem::new("`host` is this machine and takes no place", "write `host`"));
            }
            (_, place) => match (SourceKind::of_name(kind), place) {
                (Some(known), None | Some("")) => {
                    return Err(Problem::new(
                        format!("`{kind}` does not say where to look"),
                        format!("expected {}", known.place()),
                    ));
                }
                (_, place) => Source::parse(kind, MaskedText::open(place.unwrap_or_default()))?,
            },
        };
        Ok(Watch { name: source.default_name(), source })
    }
}

impl Source {
    /// The kinds, as files and flags name them.
    pub const KINDS: &'static [&'static str] = SourceKind::NAMES;

    /// A kind and the one text that says where; `host` needs none and is not read here.
    ///
    /// # Errors
    /// A sentence with the mend.
    pub fn parse(kind: &str, told: MaskedText<'_>) -> Result<Source, Problem> {
        let text = told.text;
        let known = SourceKind::of_name(kind).filter(|known| *known != SourceKind::Host);
        let Some(known) = known else {
            let kinds = Source::KINDS.join("`, `");
            return Err(Problem::new(
                format!("`{kind}` is no kind of monitor"),
                format!("there are `{kinds}`"),
            ));
        };
        Ok(match known {
            SourceKind::Host => Source::Host,
            SourceKind::Process => Source::Process(Who::parse(text)?),
            SourceKind::Cgroup if text.starts_with('/') => Source::Cgroup(Group::Path(text.into())),
            SourceKind::Cgroup => Source::Cgroup(Group::Of(Who::parse(text)?)),
            SourceKind::Postgres => Source::Postgres(postgres(told)?),
            SourceKind::Redis => Source::Redis(redis(told)?),
            SourceKind::Nginx if text.contains("://") => {
                Source::Nginx(Nginx { status: Some(web(told)?), access_log: None })
            }
            SourceKind::Nginx => Source::Nginx(Nginx { status: None, access_log: Some(PathBuf::from(text)) }),
            SourceKind::Node => Source::Node(web(told)?),
            SourceKind::Go => Source::Go(web(told)?),
            SourceKind::Prometheus => {
                Source::Prometheus(Prometheus::Scrape { url: web(told)?, metrics: Vec::new() })
            }
            SourceKind::Command => {
                let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                if words.is_empty() {
                    return Err(Problem::new(
                        "there is no program to run",
                        format!("expected {}", known.place()),
                    ));
                }
                Source::Command(words)
            }
        })
    }

    /// What a monitor is called that was given no name: its kind, and which one where several are likely.
    pub fn default_name(&self) -> String {
        let kind = self.kind();
        let last = |text: &str| text.rsplit('/').find(|part| !part.is_empty()).unwrap_or(text).to_owned();
        let which = match self {
            Source::Process(who) | Source::Cgroup(Group::Of(who)) => match who {
                Who::Pid(pid) => pid.to_string(),
                Who::Name(name) => name.clone(),
                Who::Port(port) => port.to_string(),
            },
            Source::Cgroup(Group::Path(path)) => last(&path.to_string_lossy()),
            Source::Command(words) => last(words.first().map_or("", String::as_str)),
            Source::Host
            | Source::Postgres(_)
            | Source::Redis(_)
            | Source::Nginx(_)
            | Source::Node(_)
            | Source::Go(_)
            | Source::Prometheus(_) => return kind.to_owned(),
        };
        format!("{kind} {which}").chars().take(LONGEST_NAME).collect()
    }
}

impl Who {
    /// Parses `:4110` (a listening port), `1234` (a pid) or a name.
    ///
    /// # Errors
    /// A sentence with the mend.
    pub fn parse(text: &str) -> Result<Who, Problem> {
        match text.strip_prefix(':') {
            Some(digits) => port(digits).map(Who::Port),
            None if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() => pid(text).map(Who::Pid),
            None => program(text).map(Who::Name),
        }
    }
}

/// A TCP port.
///
/// # Errors
/// A sentence with the mend.
pub fn port(text: &str) -> Result<u16, Problem> {
    match text.trim().parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(Problem::new(format!("`{text}` is no port"), "expected a number from 1 to 65535")),
    }
}

/// A process's number.
///
/// # Errors
/// A sentence with the mend.
pub fn pid(text: &str) -> Result<u32, Problem> {
    // The kernel's own upper end, PID_MAX_LIMIT (proc(5), kernel.pid_max).
    const MOST: u32 = 4_194_304;
    match text.trim().parse::<u32>() {
        Ok(pid) if (1..=MOST).contains(&pid) => Ok(pid),
        _ => Err(Problem::new(format!("`{text}` is no pid"), format!("expected a number from 1 to {MOST}"))),
    }
}

/// A program's name.
///
/// # Errors
/// A sentence with the mend.
pub fn program(text: &str) -> Result<String, Problem> {
    if let Some((_, last)) = text.rsplit_once('/') {
        return Err(Problem::new(
            format!("`{text}` is a path, and processes are found by name"),
            format!("write `{last}`"),
        ));
    }
    match text.trim().is_empty() {
        true => Err(Problem::new("an empty name fits no process", "expected one such as `node`")),
        false => Ok(text.to_owned()),
    }
}

/// What a monitor may be called.
///
/// # Errors
/// A sentence with the mend.
pub fn name(text: &str) -> Result<String, Problem> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(Problem::new("a monitor needs a name that can be read", "expected one such as `api`"));
    }
    match text.chars().count() > LONGEST_NAME {
        true => Err(Problem::new(
            format!("a monitor's name is longer than {LONGEST_NAME} characters"),
            "shorten it",
        )),
        false => Ok(text.to_owned()),
    }
}

/// An address that is asked by HTTP.
///
/// # Errors
/// A sentence with the mend.
pub fn web(told: MaskedText<'_>) -> Result<Secret, Problem> {
    let shown = told.shown;
    match told.text.split_once("://").map(|(scheme, _)| scheme) {
        Some("http" | "https") => {}
        _ => {
            return Err(Problem::new(
                format!("`{shown}` is no URL of HTTP"),
                "expected one such as `http://127.0.0.1:9100/metrics`",
            ));
        }
    }
    match url(told.text) {
        Ok(_) => Ok(Secret::new(told.text)),
        Err(sentence) if told.shown == told.text => Err(sentence),
        Err(_) => Err(Problem::new(
            format!("`{shown}` is no URL"),
            "expected one such as `http://127.0.0.1:9100/metrics`",
        )),
    }
}

/// Address of a database.
///
/// # Errors
/// A sentence with the mend.
pub fn postgres(told: MaskedText<'_>) -> Result<Secret, Problem> {
    let rest = ["postgres://", "postgresql://"].iter().find_map(|front| told.text.strip_prefix(front));
    match rest.and_then(authority) {
        Some(()) => Ok(Secret::new(told.text)),
        None => Err(Problem::new(
            format!("`{}` is no address of a database", told.shown),
            "expected one such as `postgres://user@127.0.0.1:5432/database`",
        )),
    }
}

/// Address of a Redis server, as a URL or as `host:port`.
///
/// # Errors
/// A sentence with the mend.
pub fn redis(told: MaskedText<'_>) -> Result<Secret, Problem> {
    let rest = ["redis://", "rediss://"].iter().find_map(|front| told.text.strip_prefix(front));
    let rest = rest.unwrap_or(told.text);
    let is_bare = rest == told.text;
    // A bare name without a port would as well be a slip for anything else.
    match authority(rest).filter(|()| !is_bare || rest.contains(':') && !rest.contains("://")) {
        Some(()) => Ok(Secret::new(told.text)),
        None => Err(Problem::new(
            format!("`{}` is no address of a Redis server", told.shown),
            "expected one such as `127.0.0.1:6379`",
        )),
    }
}

/// Whether `[user[:password]@]host[:port][/more]` has a host, and a port that is one.
fn authority(rest: &str) -> Option<()> {
    // The last `@` is the one in front of the host: a password may hold others, and `?` and `#` as well.
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let rest = rest.split(['?', '#']).next()?;
    let host = rest.split('/').next()?;
    let (name, digits) = match host.strip_prefix('[') {
        Some(six) => {
            let (inside, behind) = six.split_once(']')?;
            inside.parse::<std::net::Ipv6Addr>().ok()?;
            (inside, behind.strip_prefix(':').or(behind.is_empty().then_some("0")))
        }
        None => match host.split_once(':') {
            Some((name, digits)) => (name, Some(digits)),
            None => (host, Some("0")),
        },
    };
    let digits = digits?;
    let is_port = digits == "0" && !host.ends_with(":0") || port(digits).is_ok();
    (!name.is_empty() && !name.contains(char::is_whitespace) && is_port).then_some(())
}
