//! The options of a k6 test other than its load: one table for keys in `options`, defaults, and types.

pub mod network;

use crate::value::{self, Read};
use network::{Dns, Host, IpRange, TlsAuth, TlsVersions};
use plimsoll_plan::Problem;
use serde_json::Value;
use std::net::IpAddr;

/// The statistics of trends in the summary, by default.
pub const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// The system tags of k6, each with whether it is on by default.
pub const SYSTEM_TAGS: [(&str, bool); 18] = [
    ("proto", true),
    ("subproto", true),
    ("status", true),
    ("method", true),
    ("url", true),
    ("name", true),
    ("group", true),
    ("check", true),
    ("error", true),
    ("error_code", true),
    ("tls_version", true),
    ("scenario", true),
    ("service", true),
    ("expected_response", true),
    ("iter", false),
    ("vu", false),
    ("ocsp_status", false),
    ("ip", false),
];

/// The unit of times in the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
}

/// What `httpDebug` logs of each request and response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpDebug {
    Headers,
    /// Headers and bodies.
    Full,
}

macro_rules! settings {
    ($($field:ident: $type:ty = $default:expr, $key:literal, $read:path, $help:literal;)*) => {
        /// The settings of a test, with the defaults of k6.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings { $(#[doc = $help] pub $field: $type,)* }

        impl Default for Settings {
            fn default() -> Self { Self { $($field: $default,)* } }
        }

        /// The settings that one source sets.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Layer { $(#[doc = $help] pub $field: Option<$type>,)* }

        impl Layer {
            /// The keys of `options`.
            pub const KEYS: &'static [&'static str] = &[$($key,)*];

            /// Sets the value of a key of `options`; returns whether the key is known.
            ///
            /// # Errors
            /// Returns an error if the value is invalid or not supported.
            pub fn set(&mut self, key: &str, value: &Value) -> Result<bool, Problem> {
                match key {
                    $($key => self.$field = $read(value)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// Returns this layer, with what it leaves open from a lower one.
            pub fn or(self, lower: Layer) -> Layer {
                Layer { $($field: self.$field.or(lower.$field),)* }
            }

            /// Returns the settings, with defaults for what is open.
            pub fn settings(self) -> Settings {
                let defaults = Settings::default();
                Settings { $($field: self.$field.unwrap_or(defaults.$field),)* }
            }
        }
    };
}

settings! {
    tags: Vec<(String, String)> = Vec::new(), "tags", value::pairs, "Tags of all samples.";
    system_tags: Vec<String> = default_system_tags(), "systemTags", system_tags, "System tags of samples.";
    summary_trend_stats: Vec<String> = TREND_STATS.map(String::from).to_vec(), "summaryTrendStats", trend_stats,
        "Statistics of trends in the summary.";
    summary_time_unit: Option<TimeUnit> = None, "summaryTimeUnit", time_unit,
        "Unit of times in the summary; `None`: the best one for each value.";
    setup_timeout_ns: u64 = 60_000_000_000, "setupTimeout", value::duration_ns, "Longest `setup()`, in ns.";
    teardown_timeout_ns: u64 = 60_000_000_000, "teardownTimeout", value::duration_ns,
        "Longest `teardown()`, in ns.";
    user_agent: Option<String> = None, "userAgent", user_agent, "Value of `User-Agent`; `None`: the default.";
    max_redirects: u64 = 10, "maxRedirects", value::int, "Maximum number of redirects of a request.";
    batch: u64 = 20, "batch", value::int, "Maximum number of parallel requests of one `http.batch()`.";
    batch_per_host: u64 = 6, "batchPerHost", value::int, "The same for each host; 0: no limit.";
    discard_response_bodies: bool = false, "discardResponseBodies", value::boolean,
        "Whether bodies are discarded unless a request asks for them.";
    no_connection_reuse: bool = false, "noConnectionReuse", value::boolean,
        "Whether each connection serves one request.";
    no_vu_connection_reuse: bool = false, "noVUConnectionReuse", value::boolean,
        "Whether each iteration opens new connections.";
    insecure_skip_tls_verify: bool = false, "insecureSkipTLSVerify", value::boolean,
        "Whether certificates are accepted without verification.";
    tls_auth: Vec<TlsAuth> = Vec::new(), "tlsAuth", network::tls_auth, "Client certificates.";
    tls_version: Option<TlsVersions> = None, "tlsVersion", network::tls_version, "Versions of TLS to offer.";
    tls_cipher_suites: Vec<String> = Vec::new(), "tlsCipherSuites", network::cipher_suites,
        "Cipher suites to offer, by their IANA names; empty: all.";
    hosts: Vec<Host> = Vec::new(), "hosts", network::hosts, "Addresses of hosts instead of lookups.";
    local_ips: Vec<IpAddr> = Vec::new(), "localIPs", network::local_ips, "Local addresses of connections.";
    blacklist_ips: Vec<IpRange> = Vec::new(), "blacklistIPs", network::blacklist,
        "Addresses that no request may reach.";
    block_hostnames: Vec<String> = Vec::new(), "blockHostnames", network::block_hostnames,
        "Hosts that no request may name, in lower case; `*.` at the start matches any subdomain.";
    dns: Dns = Dns::default(), "dns", network::dns, "Lookups of hosts.";
    http_debug: Option<HttpDebug> = None, "httpDebug", http_debug, "The parts of requests and responses to log.";
    throw: bool = false, "throw", value::boolean, "Whether failed requests throw.";
    min_iteration_duration_ns: u64 = 0, "minIterationDuration", value::duration_ns,
        "Shortest iteration, in ns: a shorter one is followed by a pause.";
    rps: Option<u64> = None, "rps", rps, "Maximum number of requests per second of all users; `None`: no limit.";
    no_cookies_reset: bool = false, "noCookiesReset", value::boolean,
        "Whether users keep their cookies after an iteration.";
    no_setup: bool = false, "noSetup", value::boolean, "Whether `setup()` is skipped.";
    no_teardown: bool = false, "noTeardown", value::boolean, "Whether `teardown()` is skipped.";
    no_thresholds: bool = false, "noThresholds", value::boolean, "Whether thresholds are not evaluated.";
    paused: bool = false, "paused", value::boolean, "Whether the test starts paused.";
}

impl Settings {
    /// Returns the address that replaces the lookup of a host, with its port if it has one. An exact name has priority
    /// over a pattern, and a longer pattern over a shorter one.
    pub fn host(&self, name: &str, port: u16) -> Option<(IpAddr, Option<u16>)> {
        network::host(&self.hosts, name, port)
    }

    /// Returns the pattern of `blockHostnames` that a host matches.
    pub fn blocked_by(&self, host: &str) -> Option<&str> {
        let found = self.block_hostnames.iter().find(|pattern| network::matches(pattern, host));
        found.map(String::as_str)
    }

    /// Returns the range of `blacklistIPs` that contains an address.
    pub fn blacklisted_by(&self, address: IpAddr) -> Option<&IpRange> {
        self.blacklist_ips.iter().find(|range| range.contains(address))
    }

    /// Returns whether samples have this system tag.
    pub fn has_system_tag(&self, name: &str) -> bool {
        self.system_tags.iter().any(|own| own == name)
    }
}

fn default_system_tags() -> Vec<String> {
    SYSTEM_TAGS.iter().filter(|(_, is_default)| *is_default).map(|(name, _)| (*name).to_owned()).collect()
}

fn system_tags(value: &Value) -> Read<Vec<String>> {
    let Some(names) = value::strings(value)? else { return Ok(None) };
    check_system_tags(names).map(Some)
}

/// Refuses unknown system tags.
pub(crate) fn check_system_tags(names: Vec<String>) -> Result<Vec<String>, Problem> {
    for name in &names {
        if !SYSTEM_TAGS.iter().any(|(known, _)| known == name) {
            let all: Vec<&str> = SYSTEM_TAGS.iter().map(|(known, _)| *known).collect();
            return Err(Problem::new(
                format!("unknown system tag `{name}`"),
                format!("use {}", all.join(", ")),
            ));
        }
    }
    Ok(names)
}

fn trend_stats(value: &Value) -> Read<Vec<String>> {
    let Some(names) = value::strings(value)? else { return Ok(None) };
    check_trend_stats(names).map(Some)
}

/// Refuses unknown statistics of the summary.
pub(crate) fn check_trend_stats(names: Vec<String>) -> Result<Vec<String>, Problem> {
    for name in &names {
        let percentile = name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
        let is_known = match percentile {
            Some(number) => number.parse::<f64>().is_ok_and(|p| (0.0..=100.0).contains(&p)),
            None => ["avg", "min", "med", "max", "count"].contains(&name.as_str()),
        };
        if !is_known {
            let hint = "use `avg`, `min`, `med`, `max`, `count`, or a percentile such as `p(95)`";
            return Err(Problem::new(format!("unknown statistic `{name}`"), hint));
        }
    }
    Ok(names)
}

fn time_unit(value: &Value) -> Read<Option<TimeUnit>> {
    let Some(text) = value::string(value)? else { return Ok(None) };
    time_unit_text(&text).map(Some)
}

/// Reads the unit of times in the summary; an empty text means the default.
pub(crate) fn time_unit_text(text: &str) -> Result<Option<TimeUnit>, Problem> {
    match text {
        "" => Ok(None),
        "s" => Ok(Some(TimeUnit::Seconds)),
        "ms" => Ok(Some(TimeUnit::Milliseconds)),
        "us" => Ok(Some(TimeUnit::Microseconds)),
        other => Err(Problem::new(format!("unknown time unit `{other}`"), "use `s`, `ms`, or `us`")),
    }
}

fn user_agent(value: &Value) -> Read<Option<String>> {
    Ok(value::string(value)?.map(Some))
}

fn http_debug(value: &Value) -> Read<Option<HttpDebug>> {
    let Some(text) = value::string(value)? else { return Ok(None) };
    http_debug_text(&text).map(Some)
}

/// Reads what is logged; k6 logs headers for any text except `full`.
pub(crate) fn http_debug_text(text: &str) -> Result<Option<HttpDebug>, Problem> {
    match text {
        "" => Ok(None),
        "headers" | "true" => Ok(Some(HttpDebug::Headers)),
        "full" => Ok(Some(HttpDebug::Full)),
        other => Err(Problem::new(format!("invalid value `{other}`"), "use `headers` or `full`")),
    }
}

fn rps(value: &Value) -> Read<Option<u64>> {
    // 0 means no limit.
    Ok(value::int(value)?.map(|limit| Some(limit).filter(|limit| *limit > 0)))
}
