//! Monitor of Redis: one `INFO` per sample, over its own connection, plain or with TLS.

use super::counters::Counters;
use super::http::decoded;
use super::probe::{Found, Moment, MonitorError, Probe};
use super::trust::Trust;
use crate::reach::{Deadline, Place, read_some, write_all};
use crate::stream::Stream;
use plimsoll_engine::link::tls::Setup;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::Reading;
use std::collections::HashMap;
use std::io::ErrorKind;

/// Maximum size of a response, bytes; `INFO` has about 7,000.
const MOST_BYTES: usize = 1 << 20;

pub struct Redis {
    at: Result<Server, MonitorError>,
    kept: Option<Stream>,
    counters: Counters,
    /// Changes when the server restarts.
    run_id: String,
}

struct Server {
    place: Place,
    /// TLS settings, for `rediss`.
    tls: Option<Setup>,
    user: Option<String>,
    password: Option<String>,
}

/// Counters of the server with their names here.
const RATES: [(&str, &str, Unit); 6] = [
    ("total_commands_processed", "commands", Unit::PerS),
    ("evicted_keys", "evicted", Unit::PerS),
    ("expired_keys", "expired", Unit::PerS),
    ("rejected_connections", "rejected_connections", Unit::PerS),
    ("total_net_input_bytes", "net_in", Unit::BytesPerS),
    ("total_net_output_bytes", "net_out", Unit::BytesPerS),
];

const FACTS: [&str; 4] = ["redis_version", "maxmemory_policy", "role", "io_threads_active"];

impl Redis {
    /// Creates a probe for `host:port` or `redis[s]://[user][:password]@host[:port]`; the default port is 6379.
    pub fn new(address: &Secret, trust: &Trust) -> Redis {
        Redis {
            at: server(address.reveal(), trust),
            kept: None,
            counters: Counters::default(),
            run_id: String::new(),
        }
    }
}

fn server(address: &str, trust: &Trust) -> Result<Server, MonitorError> {
    let (rest, is_tls) = match address.split_once("://") {
        None => (address, false),
        Some(("redis", rest)) => (rest, false),
        Some(("rediss", rest)) => (rest, true),
        Some(_) => {
            return Err(MonitorError("a Redis address must be `host:port`, or begin with `redis://`".into()));
        }
    };
    // A password may contain anything, so the last `@` precedes the host.
    let (login, place) = rest.rsplit_once('@').map_or((None, rest), |(login, place)| (Some(login), place));
    // Removes the number of a database, which `INFO` does not need.
    let place = place.split(['/', '?']).next().unwrap_or_default();
    let Some(place) = Place::parse(place, 6379) else {
        return Err(MonitorError(
            "a Redis address must be `host:port` or `redis://:password@host:port`".into(),
        ));
    };
    let plain = |text: &str| String::from_utf8_lossy(&decoded(text)).into_owned();
    let (user, password) = match login {
        None => (None, None),
        Some(login) => {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            (
                Some(plain(user)).filter(|text| !text.is_empty()),
                Some(plain(password)).filter(|text| !text.is_empty()),
            )
        }
    };
    let tls = if is_tls { Some(trust.setup(&place.host, &[])?) } else { None };
    Ok(Server { place, tls, user, password })
}

impl Server {
    fn connect(&self, until: Deadline) -> Result<Stream, MonitorError> {
        let mut stream = self.place.open(self.tls.as_ref(), until)?;
        if let Some(password) = &self.password {
            let mut words = vec!["AUTH"];
            words.extend(self.user.as_deref());
            words.push(password);
            self.command(&mut stream, &words, until).map_err(Failure::into_trouble)?;
        }
        Ok(stream)
    }

    /// Sends one command and returns its response (RESP 2): a line, or a text of a given length.
    fn command(&self, stream: &mut Stream, words: &[&str], until: Deadline) -> Result<String, Failure> {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        let broken = |error: std::io::Error| Failure {
            trouble: self.place.trouble("query", &error),
            at_once: !matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock),
        };
        write_all(stream, request.as_bytes(), until).map_err(broken)?;
        let mut seen = Vec::new();
        loop {
            match answer(&seen) {
                Some(Ok(text)) => return Ok(text),
                Some(Err(why)) => return Err(self.refused(&why)),
                None if seen.len() > MOST_BYTES => return Err(self.refused("the response is too long")),
                None => {}
            }
            if read_some(stream, &mut seen, until).map_err(broken)? == 0 {
                return Err(broken(ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// Returns a failure with the server's message, from which the password is removed.
    fn refused(&self, why: &str) -> Failure {
        let secret = self.password.as_deref().unwrap_or_default();
        let why = if secret.is_empty() { why.to_owned() } else { why.replace(secret, "***") };
        Failure {
            trouble: MonitorError(format!("cannot query `{}`: {why}", self.place.describe())),
            at_once: false,
        }
    }
}

struct Failure {
    trouble: MonitorError,
    /// Whether the connection was closed, so that a new one may succeed.
    at_once: bool,
}

impl Failure {
    fn into_trouble(self) -> MonitorError {
        self.trouble
    }
}

/// Returns a complete response: its text, or the server's error.
fn answer(seen: &[u8]) -> Option<Result<String, String>> {
    let end = seen.windows(2).position(|two| two == b"\r\n")?;
    let (kind, line) = seen[..end].split_first()?;
    let line = String::from_utf8_lossy(line).into_owned();
    match kind {
        b'+' | b':' => Some(Ok(line)),
        b'-' => Some(Err(line)),
        b'$' => match line.parse::<usize>() {
            Ok(length) if length <= MOST_BYTES => {
                let text = seen.get(end + 2..end + 2 + length)?;
                Some(Ok(String::from_utf8_lossy(text).into_owned()))
            }
            _ => Some(Err("the response has no length".into())),
        },
        _ => Some(Err("not a Redis response".into())),
    }
}

impl Probe for Redis {
    fn asks(&self) -> Vec<(String, u16)> {
        self.at.iter().map(|server| (server.place.host.clone(), server.place.port)).collect()
    }

    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let until = Deadline::of_a_look();
        let server = self.at.as_ref().map_err(Clone::clone)?;
        let kept = self.kept.take();
        let was_kept = kept.is_some();
        let mut stream = match kept {
            Some(stream) => stream,
            None => server.connect(until)?,
        };
        let text = match server.command(&mut stream, &["INFO"], until) {
            // Reconnects if the server closed an idle client (its setting `timeout`).
            Err(failure) if failure.at_once && was_kept => {
                stream = server.connect(until)?;
                server.command(&mut stream, &["INFO"], until).map_err(Failure::into_trouble)?
            }
            other => other.map_err(Failure::into_trouble)?,
        };
        self.kept = Some(stream);
        let info = Info::of(&text);
        if info.text("run_id") != self.run_id {
            self.counters.forget();
            self.run_id = info.text("run_id").to_owned();
        }
        Ok(info.found(&mut self.counters, at))
    }
}

/// Lines `name:value` in sections.
struct Info<'a>(HashMap<&'a str, &'a str>);

impl<'a> Info<'a> {
    fn of(text: &'a str) -> Info<'a> {
        Info(text.lines().filter_map(|line| line.split_once(':')).collect())
    }

    fn text(&self, name: &str) -> &'a str {
        self.0.get(name).copied().unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Returns a limit; 0 means none.
    fn limit(&self, name: &str) -> Option<f64> {
        self.number(name).filter(|limit| *limit > 0.0)
    }

    fn found(&self, counters: &mut Counters, at: Moment) -> Found {
        let mut found = Found::default();
        let mut say = |part: &str, metric: &str, unit, limit, value: Option<f64>| {
            if let Some(value) = value {
                let (part, metric) = (part.to_owned(), metric.to_owned());
                found.readings.push(Reading { part, metric, unit, limit, value });
            }
        };
        let count = Unit::Count;
        say("", "clients", count, self.limit("maxclients"), self.number("connected_clients"));
        say("", "blocked_clients", count, None, self.number("blocked_clients"));
        say("", "memory", Unit::Bytes, self.limit("maxmemory"), self.number("used_memory"));
        say("", "memory_rss", Unit::Bytes, None, self.number("used_memory_rss"));
        for (theirs, ours, unit) in RATES {
            let value = self.number(theirs).and_then(|total| counters.rate(theirs, at, total));
            say("", ours, unit, None, value);
        }
        let mut growth = |name: &str| counters.growth(name, at, self.number(name)?);
        if let (Some((hits, over_s)), Some((misses, _))) =
            (growth("keyspace_hits"), growth("keyspace_misses"))
        {
            say("", "hits", Unit::PerS, None, Some(hits / over_s));
            say("", "misses", Unit::PerS, None, Some(misses / over_s));
            // Without requests there is no share.
            let asked = hits + misses;
            say("", "hit_share", Unit::Share, None, (asked > 0.0).then(|| hits / asked));
        }
        // Commands run on one thread, so one core is their limit. The process has other threads; saving is done by a
        // child and not included. Before version 6.2, only the total is available.
        let mut cpu = |name: &str, user: &str, system: &str| {
            counters.rate(name, at, self.number(user)? + self.number(system)?)
        };
        let main = cpu("main", "used_cpu_user_main_thread", "used_cpu_sys_main_thread");
        let all = cpu("cpu", "used_cpu_user", "used_cpu_sys");
        say("", "cpu", Unit::Cores, None, all);
        say("", "cpu_main_thread", Unit::Cores, Some(1.0), main);
        let mut databases: Vec<&str> = self.0.keys().copied().filter(|name| is_database(name)).collect();
        databases.sort_unstable();
        for name in databases {
            let fields = self.text(name).split(',').filter_map(|field| field.split_once('='));
            let of = |wanted: &str| fields.clone().find(|(name, _)| *name == wanted)?.1.parse().ok();
            say(name, "keys", count, None, of("keys"));
            say(name, "keys_with_expiry", count, None, of("expires"));
        }
        for name in FACTS {
            if !self.text(name).is_empty() {
                found.facts.push((name.into(), self.text(name).into()));
            }
        }
        found
    }
}

fn is_database(name: &str) -> bool {
    name.strip_prefix("db").is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}
