//! Why a run could not happen: the machine or the way to the target failed, before or instead of the load.

use crate::gather::Refused;
use plimsoll_engine::probe::ProbeError;
use plimsoll_plan::Problem;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Each is a sentence and, where there is one, a mend; all of them mean "could not run" (exit code 1).
#[derive(Debug)]
pub enum Error {
    /// The name does not resolve: the resolver's own words.
    Unresolved { host: String, why: String },
    /// The addresses of the target, all tried, none took the connection.
    NobodyListens { target: String, tried: Vec<(SocketAddr, ProbeError)> },
    /// A certificate or a key of the plan cannot be used.
    TlsSetup(Problem),
    /// The trial handshake failed.
    NoTls { target: String, why: Problem },
    /// The target speaks TLS, but its URL starts with `http://`.
    NoPlain { target: String },
    /// A local address that cannot be connected from.
    Source { address: IpAddr, why: String },
    /// The set-up or the tear-down did not come through.
    Aside { phase: &'static str, why: String },
    /// The engine could not start.
    Engine(plimsoll_engine::Error),
    /// A worker's report contradicted an earlier one: a bug of the load generator, seen in time.
    Uncountable(Refused),
}

impl Error {
    /// How to mend it, a lower-case sentence.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unresolved { host, .. } => Some(format!(
                "check the spelling of `{host}` and the resolver of this machine (`getent hosts {host}`)"
            )),
            Error::NobodyListens { tried, .. } => match tried.first().map(|one| &one.1) {
                Some(ProbeError::Refused) => {
                    Some("start the service, or check the port; nothing was sent".into())
                }
                Some(ProbeError::TimedOut | ProbeError::Unreachable(_)) => {
                    Some("check the address, the route and the firewall; nothing was sent".into())
                }
                // The limits of this machine have a page of their own.
                Some(ProbeError::Client(_)) => {
                    Some("`plimsoll doctor` shows the limits of this machine".into())
                }
                _ => None,
            },
            // The link brings its own mends along.
            Error::TlsSetup(why) | Error::NoTls { why, .. } => {
                Some(why.hint.clone()).filter(|hint| !hint.is_empty())
            }
            Error::NoPlain { .. } => Some("use `https://` in the URL; no request was sent".into()),
            Error::Source { .. } => Some("`ip address` shows the addresses of this machine".into()),
            Error::Aside { phase: "set-up", .. } => Some("no load was sent".into()),
            Error::Aside { .. } => {
                Some("the verdict on the load stands; what was to be tidied up may still be there".into())
            }
            Error::Engine(_) => Some("`plimsoll doctor` shows the limits of this machine".into()),
            Error::Uncountable(_) => Some(
                "this is a bug of the load generator, please report it; the run file holds what was counted \
                 until then"
                    .into(),
            ),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unresolved { host, why } => write!(f, "the host `{host}` does not resolve: {why}"),
            Error::NobodyListens { target, tried } => {
                if tried.iter().all(|(_, why)| matches!(why, ProbeError::Refused)) {
                    let each: Vec<String> = tried.iter().map(|(address, _)| address.to_string()).collect();
                    return write!(
                        f,
                        "nothing listens on `{target}` (connection refused by {})",
                        each.join(" and ")
                    );
                }
                let each: Vec<String> =
                    tried.iter().map(|(address, why)| format!("{address}: {why}")).collect();
                write!(f, "no connection to `{target}` ({})", each.join("; "))
            }
            Error::TlsSetup(why) => f.write_str(&why.message),
            Error::NoTls { target, why } => write!(f, "no TLS with `{target}`: {}", why.message),
            Error::NoPlain { target } => {
                write!(f, "`{target}` speaks TLS, but its URL starts with `http://`")
            }
            Error::Source { address, why } => write!(f, "`{address}` cannot be connected from: {why}"),
            Error::Aside { phase, why } => write!(f, "the {phase} failed: {why}"),
            Error::Engine(source) => write!(f, "the engine could not start: {source}"),
            Error::Uncountable(refused) => write!(f, "the load was stopped: {refused}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Engine(source) => Some(source),
            Error::Uncountable(refused) => Some(refused),
            _ => None,
        }
    }
}
