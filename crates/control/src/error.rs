//! Why a run could not start: the machine or the connection to the target failed before the load.

use crate::gather::Refused;
use plimsoll_engine::probe::{InterfaceProblem, ProbeError};
use plimsoll_plan::{Fault, Problem};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Errors that mean "could not run" (exit code 1); each is a sentence, most with a fix.
#[derive(Debug)]
pub enum Error {
    /// The name does not resolve; contains the resolver's message.
    Unresolved { host: String, why: String },
    /// No address of the target accepted the connection.
    NobodyListens { target: String, tried: Vec<(SocketAddr, ProbeError)> },
    /// The proxy is unavailable, or opens no connection to the target.
    Proxy { proxy: String, target: String, why: ProbeError },
    /// Nothing listens on the Unix domain socket, or it does not exist.
    UnixSocket { path: PathBuf, is_missing: bool, why: ProbeError },
    /// Connections cannot be bound to the network interface.
    Interface { name: String, why: InterfaceProblem },
    /// A certificate or a key of the plan is unusable.
    TlsSetup(Problem),
    /// The trial handshake failed; with the row of the table of failures that the load would count.
    NoTls { target: String, fault: Fault, why: Problem },
    /// The target uses TLS, but its URL starts with `http://`.
    NoPlain { target: String },
    /// The target does not speak HTTP/2.
    NoHttp2 { target: String, why: Problem },
    /// The plan opens WebSockets over HTTP/2, and the target does not support that.
    NoSocketsOverHttp2 { target: String },
    /// The target does not describe its gRPC services.
    NoSchemas { target: String, why: Problem },
    /// A local address that cannot be used as the source.
    Source { address: IpAddr, why: String },
    /// The setup or the teardown failed.
    Aside { phase: &'static str, why: String },
    /// The engine could not start.
    Engine(plimsoll_engine::Error),
    /// A worker's report contradicts an earlier one, which is a bug in the load generator.
    Uncountable(Refused),
}

impl Error {
    /// Returns the fault of a connection that could not be opened, if that is the error: the one that a request of the
    /// load would count.
    pub fn fault_of_connection(&self) -> Option<Fault> {
        match self {
            Error::Unresolved { .. } => Some(Fault::DnsFailed),
            Error::NobodyListens { tried, .. } => {
                Some(tried.first().map_or(Fault::ConnectionRefused, |(_, why)| why.class()))
            }
            // The proxy itself is not there.
            Error::Proxy { why: ProbeError::Proxy { is_about_credentials, .. }, .. } => {
                Some(if *is_about_credentials { Fault::ProxyCredentials } else { Fault::ProxyRefused })
            }
            Error::Proxy { why, .. } | Error::UnixSocket { why, .. } => Some(why.class()),
            Error::NoTls { fault, .. } => Some(*fault),
            _ => None,
        }
    }

    /// Returns the fix, a lower-case sentence.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unresolved { host, .. } => {
                Some(format!("check the spelling, or ask this machine's resolver with `getent hosts {host}`"))
            }
            Error::NobodyListens { tried, .. } => match tried.first().map(|one| &one.1) {
                Some(ProbeError::Refused) => {
                    Some("start the service, check the port, or add `--wait-for-ready 30s`".into())
                }
                Some(ProbeError::TimedOut | ProbeError::Unreachable(_)) => {
                    Some("check the address, the route, and the firewall".into())
                }
                // `doctor` explains the limits of this machine.
                Some(ProbeError::Client(_)) => {
                    Some("`plimsoll doctor` shows the limits of this machine".into())
                }
                _ => None,
            },
            Error::Proxy { why: ProbeError::Proxy { is_about_credentials: true, .. }, .. } => {
                Some("write its user name and password as `--proxy http://USER:PASSWORD@HOST:PORT`".into())
            }
            Error::Proxy { target, why: ProbeError::Proxy { .. }, .. } => {
                Some(format!("check that `{target}` runs and that the proxy can reach it; its log says more"))
            }
            Error::Proxy { .. } => Some("start the proxy, or check its address and port".into()),
            Error::UnixSocket { why: ProbeError::Client(_), .. } => {
                Some("check the permissions of the socket and of its directories".into())
            }
            Error::UnixSocket { .. } => {
                Some("start the service, check the path, or add `--wait-for-ready 30s`".into())
            }
            Error::Interface { why: InterfaceProblem::Missing, .. } => {
                Some("list the network interfaces with `ip link`".into())
            }
            Error::Interface { .. } => Some(
                "run as root, or grant the permission with `setcap cap_net_raw+ep` on the program \
                 (Linux before 5.7 requires it)"
                    .into(),
            ),
            // The problem of the connection includes its own fix.
            Error::TlsSetup(why)
            | Error::NoTls { why, .. }
            | Error::NoHttp2 { why, .. }
            | Error::NoSchemas { why, .. } => Some(why.hint.clone()).filter(|hint| !hint.is_empty()),
            Error::NoSocketsOverHttp2 { .. } => {
                Some("use HTTP/1.1: remove `--http2`, or `http: 2` in a file".into())
            }
            Error::NoPlain { .. } => Some("use `https://` in the URL".into()),
            Error::Source { .. } => Some("list this machine's addresses with `ip address`".into()),
            Error::Aside { phase: "setup", .. } => Some("no load was sent".into()),
            Error::Aside { .. } => {
                Some("the verdict still applies, but test data may not have been cleaned up".into())
            }
            Error::Engine(_) => Some("`plimsoll doctor` shows the limits of this machine".into()),
            Error::Uncountable(_) => Some(
                "report this bug in the load generator; the run file contains the results up to this point"
                    .into(),
            ),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unresolved { host, why } => write!(f, "cannot resolve host `{host}`: {why}"),
            Error::NobodyListens { target, tried } => {
                // A target that is an address is not named twice.
                let only = match tried.as_slice() {
                    [(address, why)] if address.to_string() == *target => Some(why),
                    _ => None,
                };
                match only {
                    Some(ProbeError::Refused) => {
                        return write!(f, "nothing listens on `{target}` (connection refused)");
                    }
                    Some(why) => return write!(f, "cannot connect to `{target}`: {why}"),
                    None => {}
                }
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
                write!(f, "cannot connect to `{target}` ({})", each.join("; "))
            }
            Error::Proxy { proxy, why: ProbeError::Refused, .. } => {
                write!(f, "nothing listens on the proxy `{proxy}` (connection refused)")
            }
            Error::Proxy { proxy, target, why: ProbeError::Proxy { why, .. } } => {
                write!(f, "the proxy `{proxy}` opened no connection to `{target}`: {why}")
            }
            Error::Proxy { proxy, why, .. } => write!(f, "cannot connect to the proxy `{proxy}`: {why}"),
            Error::UnixSocket { path, is_missing: true, .. } => {
                write!(f, "the Unix socket `{}` does not exist", path.display())
            }
            Error::UnixSocket { path, why: ProbeError::Refused, .. } => {
                write!(f, "nothing listens on the Unix socket `{}` (connection refused)", path.display())
            }
            Error::UnixSocket { path, why, .. } => {
                write!(f, "cannot connect to the Unix socket `{}`: {why}", path.display())
            }
            Error::Interface { name, why } => {
                let why = match why {
                    InterfaceProblem::Missing => "it does not exist",
                    InterfaceProblem::Forbidden => "permission denied",
                    InterfaceProblem::Other(why) => why,
                };
                write!(f, "cannot bind connections to the network interface `{name}`: {why}")
            }
            Error::TlsSetup(why) => f.write_str(&why.message),
            Error::NoTls { target, why, .. } => write!(f, "TLS with `{target}` failed: {}", why.message),
            Error::NoHttp2 { target, why } => {
                write!(f, "`{target}` does not speak HTTP/2: {}", why.message)
            }
            Error::NoSocketsOverHttp2 { target } => write!(
                f,
                "`{target}` does not support WebSocket over HTTP/2: its settings lack \
                 SETTINGS_ENABLE_CONNECT_PROTOCOL (RFC 8441)"
            ),
            Error::NoSchemas { target, why } => {
                write!(f, "cannot ask `{target}` for its gRPC schemas: {}", why.message)
            }
            Error::NoPlain { target } => {
                write!(f, "`{target}` uses TLS, but its URL starts with `http://`")
            }
            Error::Source { address, why } => write!(f, "cannot connect from `{address}`: {why}"),
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
