//! Monitor of a PostgreSQL server, over its own read-only connection: active and waiting sessions, counters of the
//! connected database, and the statements that took the time.

mod queries;
mod statements;
mod tls;

use self::statements::Statements;
use self::tls::Tls;
use super::counters::Counters;
use super::probe::{Found, Moment, MonitorError, Probe};
use super::trust::Trust;
use crate::reach::{Deadline, Place, words};
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::Reading;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use tokio::runtime::Runtime;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres::{Client, NoTls};

/// Interval of queries that are expensive or whose results seldom change, s.
const SELDOM_S: f64 = 9.5;

pub struct Postgres {
    config: Result<Config, MonitorError>,
    /// Trusted certificates, if TLS is requested.
    tls: Option<Tls>,
    /// Hosts and ports, for messages.
    shown: String,
    /// Created at the first sample, on the monitor's thread.
    runtime: Option<Runtime>,
    kept: Option<Client>,
    /// Version of the connected server.
    version: i32,
    counters: Counters,
    seldom_at: Option<Moment>,
    /// States and waits seen so far, which are reported as 0 once no session is in them.
    parts: BTreeSet<(&'static str, String)>,
    statements: Statements,
}

impl Postgres {
    /// Creates a probe for the same addresses as libpq: `postgres://user:password@host:port/database?...` or
    /// `host=... dbname=...`. TLS requires `sslmode=require`, which verifies no certificate, or
    /// `sslmode=verify-full`, which verifies it and its name.
    pub fn new(address: &Secret, trust: &Trust) -> Postgres {
        let (address, is_checked) = checked(address.reveal());
        let config = config(&address);
        let is_tls = config.as_ref().is_ok_and(|config| config.get_ssl_mode() == SslMode::Require);
        let trust = || if is_checked { trust.clone() } else { Trust::anybody() };
        Postgres {
            shown: config.as_ref().map_or_else(|_| String::new(), describe),
            config,
            tls: is_tls.then(|| Tls(trust())),
            runtime: None,
            kept: None,
            version: 0,
            counters: Counters::default(),
            seldom_at: None,
            parts: BTreeSet::new(),
            statements: Statements::default(),
        }
    }
}

/// Returns the address for the library, which does not know `verify-full`, and whether to verify certificates.
fn checked(address: &str) -> (String, bool) {
    const MODE: &str = "sslmode=verify-full";
    // A parameter of a URL's query or a separate word; within a password it means something else.
    let is_word = |at: usize| {
        let before = address[..at].chars().next_back();
        let after = address[at + MODE.len()..].chars().next();
        before.is_none_or(|c| c.is_whitespace() || "?&".contains(c))
            && after.is_none_or(|c| c.is_whitespace() || c == '&')
    };
    match address.match_indices(MODE).map(|(at, _)| at).find(|at| is_word(*at)) {
        Some(at) => (format!("{}sslmode=require{}", &address[..at], &address[at + MODE.len()..]), true),
        None => (address.to_owned(), false),
    }
}

fn config(address: &str) -> Result<Config, MonitorError> {
    // The library's message may contain a part of the address.
    let unreadable = |_| {
        MonitorError("a PostgreSQL address looks like `postgres://user:password@host:port/database`".into())
    };
    let mut config: Config = address.parse().map_err(unreadable)?;
    // Makes the connection recognizable in `pg_stat_activity`, and ends its statements even if this program is gone.
    let own = "-c statement_timeout=700 -c lock_timeout=200 -c default_transaction_read_only=on";
    let options = config.get_options().map_or(own.to_owned(), |given| format!("{given} {own}"));
    config.application_name("plimsoll").options(options);
    // The mode `prefer` would fall back to plain text if an attacker in between asks for it.
    if config.get_ssl_mode() != SslMode::Require {
        config.ssl_mode(SslMode::Disable);
    }
    Ok(config)
}

/// Returns the configuration with each name replaced by its addresses, because the library resolves names without a
/// deadline.
fn resolved(config: &Config, until: Deadline) -> Result<Config, MonitorError> {
    let named: Vec<Place> = config
        .get_hosts()
        .iter()
        .enumerate()
        .filter_map(|(at, host)| match host {
            Host::Tcp(host) => Some(Place { host: host.clone(), port: port(config, at) }),
            Host::Unix(_) => None,
        })
        .collect();
    if named.len() < config.get_hosts().len() || !config.get_hostaddrs().is_empty() {
        return Ok(config.clone());
    }
    let mut fresh = Config::new();
    for place in &named {
        for address in place.addresses(until)? {
            fresh.host(&place.host).hostaddr(SocketAddr::ip(&address)).port(place.port);
        }
    }
    fresh.application_name("plimsoll").ssl_mode(config.get_ssl_mode());
    fresh.ssl_negotiation(config.get_ssl_negotiation());
    fresh.options(config.get_options().unwrap_or_default());
    if let Some(user) = config.get_user() {
        fresh.user(user);
    }
    if let Some(password) = config.get_password() {
        fresh.password(password);
    }
    if let Some(database) = config.get_dbname() {
        fresh.dbname(database);
    }
    fresh
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    Ok(fresh)
}

impl Probe for Postgres {
    fn asks(&self) -> Vec<(String, u16)> {
        let Ok(config) = &self.config else { return Vec::new() };
        let named = config.get_hosts().iter().filter_map(|host| match host {
            Host::Tcp(host) => Some(host.clone()),
            Host::Unix(_) => None,
        });
        let literal = config.get_hostaddrs().iter().map(ToString::to_string);
        named.chain(literal).enumerate().map(|(at, host)| (host, port(config, at))).collect()
    }

    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let until = Deadline::of_a_look();
        let config = self.config.clone()?;
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| MonitorError(format!("cannot create an event loop: {}", words(&error))))?,
        };
        let left = until.left().map_err(|error| self.trouble(&words(&error)))?;
        let found = runtime.block_on(async {
            match tokio::time::timeout(left, self.ask(&config, at, until)).await {
                Ok(found) => found,
                Err(_) => Err("no response in time".to_owned()),
            }
        });
        self.runtime = Some(runtime);
        found.map_err(|why| self.trouble(&why))
    }
}

/// Returns `host:port` of each host.
fn describe(config: &Config) -> String {
    let place = |(at, host): (usize, &Host)| match host {
        Host::Tcp(host) => Place { host: host.clone(), port: port(config, at) }.describe(),
        Host::Unix(folder) => folder.display().to_string(),
    };
    config.get_hosts().iter().enumerate().map(place).collect::<Vec<_>>().join(",")
}

/// Returns the port of a host: one for all, or one for each.
fn port(config: &Config, host: usize) -> u16 {
    let ports = config.get_ports();
    ports.get(host).or(ports.first()).copied().unwrap_or(5432)
}

/// Returns the server's message, or else the library's with its cause.
fn reason(error: &tokio_postgres::Error) -> String {
    use std::error::Error;
    if let Some(refused) = error.as_db_error() {
        return refused.message().to_owned();
    }
    match error.source() {
        Some(cause) => match cause.downcast_ref::<std::io::Error>() {
            Some(io) => words(io),
            None => format!("{error}: {cause}"),
        },
        None => error.to_string(),
    }
}

impl Postgres {
    fn trouble(&self, why: &str) -> MonitorError {
        MonitorError(format!("cannot query PostgreSQL at `{}`: {why}", self.shown))
    }

    /// Keeps the client only on success, because a late response would be taken for the next one.
    async fn ask(&mut self, config: &Config, at: Moment, until: Deadline) -> Result<Found, String> {
        let client = match self.kept.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => {
                let config = resolved(config, until).map_err(|trouble| trouble.0)?;
                // A connection ends with its client, or tells it why it ended earlier.
                let client = match self.tls.clone() {
                    None => config.connect(NoTls).await.map(|(client, connection)| {
                        tokio::spawn(connection);
                        client
                    }),
                    Some(tls) => config.connect(tls).await.map(|(client, connection)| {
                        tokio::spawn(connection);
                        client
                    }),
                };
                let client = client.map_err(|error| reason(&error))?;
                self.seldom_at = None;
                self.version = queries::version(&client).await.map_err(|error| reason(&error))?;
                client
            }
        };
        let found = self.all(&client, at).await.map_err(|error| reason(&error))?;
        self.kept = Some(client);
        Ok(found)
    }

    async fn all(&mut self, client: &Client, at: Moment) -> Result<Found, tokio_postgres::Error> {
        let mut say = Say { found: Found::default(), at };
        queries::activity(client, &mut say, &mut self.parts).await?;
        queries::database(client, &mut say, &mut self.counters).await?;
        queries::checkpoints(client, self.version, &mut say, &mut self.counters).await?;
        let seldom = self.seldom_at.is_none_or(|before| at.since_s(before) >= SELDOM_S);
        if seldom {
            queries::seldom(client, &mut say).await?;
            self.seldom_at = Some(at);
        }
        self.statements.look(client, &mut say, seldom).await?;
        Ok(say.found)
    }
}

/// Readings and facts of a sample.
struct Say {
    found: Found,
    at: Moment,
}

impl Say {
    fn reading(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, value: f64) {
        if value.is_finite() {
            let (part, metric) = (part.to_owned(), metric.to_owned());
            self.found.readings.push(Reading { part, metric, unit, limit, value });
        }
    }

    fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.found.facts.push((name.into(), value.into()));
    }
}
