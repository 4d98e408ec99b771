//! Parses the sources of monitors, for `--monitor KIND=WHERE` and for experiment files.
//!
//! Every text has a form that may be shown, because addresses may contain a password.

use super::{Group, Nginx, Prometheus, Source, SourceKind, Watch, Who};
use crate::Problem;
use crate::request::url;
use crate::value::Secret;
use std::path::PathBuf;

/// A text, and the form that messages may show.
#[derive(Debug, Clone, Copy)]
pub struct MaskedText<'a> {
    pub text: &'a str,
    pub shown: &'a str,
}

impl<'a> MaskedText<'a> {
    /// Returns a text without secrets, or one that the user has typed and sees anyway.
    pub fn open(text: &'a str) -> MaskedText<'a> {
        MaskedText { text, shown: text }
    }
}

/// Longest name of a monitor, in characters, because it is the title of columns.
const LONGEST_NAME: usize = 60;

impl Watch {
    /// Parses `KIND=WHERE`, such as `process=:4110` or `redis=127.0.0.1:6379`, or `host`. The name of the monitor
    /// contains its kind and source.
    ///
    /// # Errors
    /// Returns an error if the text is invalid. The error shows only the host of an address.
    pub fn parse(text: &str) -> Result<Watch, Problem> {
        let (kind, place) = match text.split_once('=') {
            Some((kind, place)) => (kind.trim(), Some(place.trim())),
            None => (text.trim(), None),
        };
        let source = match (kind, place) {
            ("host", None) => Source::Host,
            ("host", Some(_)) => {
                return Err(Problem::new(
                    "`host` takes no value: it is the machine that runs plimsoll",
                    "write `host`",
                ));
            }
            (_, place) => match (SourceKind::of_name(kind), place) {
                (Some(known), None | Some("")) => {
                    return Err(Problem::new(
                        format!("missing source of monitor `{kind}`"),
                        format!("write {}", known.place()),
                    ));
                }
                (_, place) => Source::parse(kind, MaskedText::open(place.unwrap_or_default()))?,
            },
        };
        Ok(Watch { name: source.default_name(), source, on: None })
    }
}

impl Source {
    /// The kinds, with their names in files and flags.
    pub const KINDS: &'static [&'static str] = SourceKind::NAMES;

    /// Parses a kind and the text of its source. `host` has no source and is not parsed here.
    ///
    /// # Errors
    /// Returns an error if the kind is unknown, or the text is invalid.
    pub fn parse(kind: &str, told: MaskedText<'_>) -> Result<Source, Problem> {
        let text = told.text;
        let known = SourceKind::of_name(kind).filter(|known| *known != SourceKind::Host);
        let Some(known) = known else {
            let kinds = Source::KINDS.join("`, `");
            return Err(Problem::new(
                format!("unknown kind of monitor `{kind}`"),
                format!("use one of `{kinds}`"),
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
                    return Err(Problem::new("missing program", format!("write {}", known.place())));
                }
                Source::Command(words)
            }
        })
    }

    /// Returns the default name of a monitor: its kind, and its source if several of the kind are likely.
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
    /// Parses `:4110` (a listening port), `1234` (a process ID), or a name.
    ///
    /// # Errors
    /// Returns an error if the text is none of these.
    pub fn parse(text: &str) -> Result<Who, Problem> {
        match text.strip_prefix(':') {
            Some(digits) => port(digits).map(Who::Port),
            None if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() => pid(text).map(Who::Pid),
            None => program(text).map(Who::Name),
        }
    }
}

/// Parses a TCP port.
///
/// # Errors
/// Returns an error if the text is not a port.
pub fn port(text: &str) -> Result<u16, Problem> {
    match text.trim().parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => {
            let message = format!("invalid port `{text}`: expected 1–65535");
            Err(Problem::new(message, "write a port such as `8080`"))
        }
    }
}

/// Parses a process ID.
///
/// # Errors
/// Returns an error if the text is not a process ID.
pub fn pid(text: &str) -> Result<u32, Problem> {
    // The kernel's maximum, PID_MAX_LIMIT (proc(5), kernel.pid_max).
    const MOST: u32 = 4_194_304;
    match text.trim().parse::<u32>() {
        Ok(pid) if (1..=MOST).contains(&pid) => Ok(pid),
        _ => {
            let message = format!("invalid process ID `{text}`: expected 1–{MOST}");
            Err(Problem::new(message, "write a process ID such as `1234`"))
        }
    }
}

/// Parses the name of a program.
///
/// # Errors
/// Returns an error if the name is empty or a path.
pub fn program(text: &str) -> Result<String, Problem> {
    if let Some((_, last)) = text.rsplit_once('/') {
        return Err(Problem::new(
            format!("`{text}` is a path: processes are found by name"),
            format!("write `{last}`"),
        ));
    }
    match text.trim().is_empty() {
        true => Err(Problem::new("empty process name", "write a name such as `node`")),
        false => Ok(text.to_owned()),
    }
}

/// Parses the name of a monitor.
///
/// # Errors
/// Returns an error if the name is empty, unprintable, or too long.
pub fn name(text: &str) -> Result<String, Problem> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(Problem::new("the name of a monitor must be printable", "write a name such as `api`"));
    }
    match text.chars().count() > LONGEST_NAME {
        true => Err(Problem::new(
            format!("the name of a monitor must have at most {LONGEST_NAME} characters"),
            "write a shorter name",
        )),
        false => Ok(text.to_owned()),
    }
}

/// Parses the URL of an HTTP source.
///
/// # Errors
/// Returns an error if the text is not an HTTP URL.
pub fn web(told: MaskedText<'_>) -> Result<Secret, Problem> {
    let shown = told.shown;
    match told.text.split_once("://").map(|(scheme, _)| scheme) {
        Some("http" | "https") => {}
        _ => {
            return Err(Problem::new(
                format!("invalid HTTP URL `{shown}`"),
                "write a URL such as `http://127.0.0.1:9100/metrics`",
            ));
        }
    }
    match url(told.text) {
        Ok(_) => Ok(Secret::new(told.text)),
        Err(sentence) if told.shown == told.text => Err(sentence),
        Err(_) => Err(Problem::new(
            format!("invalid URL `{shown}`"),
            "write a URL such as `http://127.0.0.1:9100/metrics`",
        )),
    }
}

/// Parses the address of a PostgreSQL database.
///
/// # Errors
/// Returns an error if the text is not such an address.
pub fn postgres(told: MaskedText<'_>) -> Result<Secret, Problem> {
    let rest = ["postgres://", "postgresql://"].iter().find_map(|front| told.text.strip_prefix(front));
    match rest.and_then(authority) {
        Some(()) => Ok(Secret::new(told.text)),
        None => Err(Problem::new(
            format!("invalid database address `{}`", told.shown),
            "write an address such as `postgres://user@127.0.0.1:5432/database`",
        )),
    }
}

/// Parses the address of a Redis server, as a URL or as `host:port`.
///
/// # Errors
/// Returns an error if the text is not such an address.
pub fn redis(told: MaskedText<'_>) -> Result<Secret, Problem> {
    let rest = ["redis://", "rediss://"].iter().find_map(|front| told.text.strip_prefix(front));
    let rest = rest.unwrap_or(told.text);
    let is_bare = rest == told.text;
    // A name without a port is more likely a mistake.
    match authority(rest).filter(|()| !is_bare || rest.contains(':') && !rest.contains("://")) {
        Some(()) => Ok(Secret::new(told.text)),
        None => Err(Problem::new(
            format!("invalid Redis address `{}`", told.shown),
            "write an address such as `127.0.0.1:6379`",
        )),
    }
}

/// Checks that `[user[:password]@]host[:port][/more]` has a host, and a valid port.
fn authority(rest: &str) -> Option<()> {
    // The last `@` is the one before the host: a password may contain others, and also `?` and `#`.
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
