//! Trial connections to each origin before any load, so that a closed port is an error message, not a result.

use crate::{Error, Resolved, race};
use plimsoll_engine::link::tls::{KeyLogFile, Setup, Wanted, is_unknown_protocol};
use plimsoll_engine::probe::{self, Handshake, ProbeError};
use plimsoll_plan::Problem;
use plimsoll_plan::limit::Limits;
use plimsoll_plan::link::{Http, Link, Tls, TlsFiles};
use plimsoll_plan::origin::Origin;
use plimsoll_plan::route::{Proxy, ProxyKind};
use plimsoll_plan::watch::Trust;
use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Maximum duration of the trial, even if the plan allows connections more time.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum wait for a handshake with plain HTTP, where a server may wait for the rest of a request line forever.
const PLAIN_PATIENCE: Duration = Duration::from_secs(1);

/// Moves the address that accepts a trial connection first to the front, because `localhost` may resolve to `::1` first
/// while the service listens on `127.0.0.1` only. Returns the connection time, ns.
///
/// # Errors
/// Returns the error of each address if none accepts a connection.
pub fn knock(place: &mut Resolved, origin: &Origin, limits: &Limits) -> Result<u64, Error> {
    let patience = PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    match race::connect(&place.addresses, place.route.as_ref(), patience) {
        Ok((address, connect_ns)) => {
            place.prefer(address);
            Ok(connect_ns)
        }
        Err(tried) => Err(unreachable(place, origin, tried)),
    }
}

/// Returns the error of an origin that accepts no connection, which names what is in between.
fn unreachable(place: &Resolved, origin: &Origin, mut tried: Vec<(SocketAddr, ProbeError)>) -> Error {
    let target = host_and_port(origin);
    if let Some(path) = place.unix_socket() {
        let why = tried.pop().map_or(ProbeError::Refused, |(_, why)| why);
        return Error::UnixSocket { path: path.to_path_buf(), is_missing: !path.exists(), why };
    }
    match (&place.proxy, tried.pop()) {
        (Some(proxy), Some((_, why))) => Error::Proxy { proxy: proxy.clone(), target, why },
        (_, last) => {
            tried.extend(last);
            Error::NobodyListens { target, tried }
        }
    }
}

/// Checks that the proxy that forwards requests accepts the login of the plan. A proxy that does not say so within a
/// second is not asked further.
///
/// # Errors
/// Returns an error if it does not.
pub fn check_login(place: &Resolved, origin: &Origin) -> Result<(), Error> {
    let is_forwarded = place.route.as_ref().is_some_and(|route| route.forward.is_some());
    match &place.proxy {
        Some(proxy) if is_forwarded => {
            let asked = probe::check_login(place.peer(place.first()), PLAIN_PATIENCE);
            let target = host_and_port(origin);
            asked.map_err(|why| Error::Proxy { proxy: proxy.clone(), target, why })
        }
        _ => Ok(()),
    }
}

/// Checks that connections can be bound to the network interface of the plan.
///
/// # Errors
/// Returns an error if they cannot.
pub fn check_interface(link: &Link) -> Result<(), Error> {
    let Some(name) = &link.route.interface else { return Ok(()) };
    probe::check_interface(name).map_err(|why| Error::Interface { name: name.clone(), why })
}

/// Returns the TLS settings for all connections to an origin, or `None` for plain HTTP.
///
/// # Errors
/// Returns an error if a certificate or a key is unusable.
pub fn tls(origin: &Origin, files: &TlsFiles, http: Http) -> Result<Option<Setup>, Error> {
    let Some(Tls { server_name, insecure, versions, ciphers, resume, ignores_tickets }) = &origin.tls else {
        return Ok(None);
    };
    let more = files.clients.iter().skip(1);
    let wanted = Wanted {
        server_name: server_name.clone(),
        ca_pem: files.ca.clone(),
        cert_pem: files.clients.first().map(|client| client.certificate.clone()),
        key_pem: files.clients.first().map(|client| client.key.clone()),
        more_clients: more.map(|client| (client.certificate.clone(), client.key.clone())).collect(),
        key_log: files.key_log.as_deref().map(key_log).transpose()?,
        insecure: *insecure,
        versions: *versions,
        ciphers: ciphers.clone(),
        resume: *resume,
        ignores_tickets: *ignores_tickets,
        alpn: offered(http),
    };
    Setup::new(&wanted).map(Some).map_err(Error::TlsSetup)
}

/// Creates the TLS settings for connections to a proxy, if it is reached over TLS. Certificates are checked as those of
/// the target.
///
/// # Errors
/// Returns an error if the certificate authorities are unusable.
pub fn proxy_tls(proxy: &Proxy, trust: &Trust) -> Result<Option<Setup>, Error> {
    if proxy.kind != ProxyKind::Https {
        return Ok(None);
    }
    let wanted = Wanted {
        server_name: proxy.host.clone(),
        ca_pem: trust.ca.clone(),
        insecure: trust.insecure,
        alpn: offered(Http::V11),
        ..Wanted::default()
    };
    Setup::new(&wanted).map(Some).map_err(Error::TlsSetup)
}

/// Opens the file of keys; the first call creates it.
fn key_log(path: &Path) -> Result<Arc<KeyLogFile>, Error> {
    let unwritable = |why: std::io::Error| {
        let message = format!("cannot write the keys of TLS to `{}`: {why}", path.display());
        Error::TlsSetup(Problem::new(message, "choose another file for `--tls-key-log`"))
    };
    // Its readers can decrypt the connections.
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(unwritable)?;
    Ok(Arc::new(KeyLogFile::new(file)))
}

/// Returns the protocols to offer (ALPN, RFC 7301).
fn offered(http: Http) -> Vec<Vec<u8>> {
    match http {
        Http::Auto => vec![probe::HTTP2.to_vec(), probe::HTTP1.to_vec()],
        Http::V10 | Http::V11 => vec![probe::HTTP1.to_vec()],
        Http::V2 => vec![probe::HTTP2.to_vec()],
    }
}

/// Returns an origin for messages, including a default port.
fn host_and_port(origin: &Origin) -> String {
    format!("{}:{}", origin.host, origin.port)
}

/// Makes one TLS handshake with the address that accepted the trial connection; returns whether the server chose
/// HTTP/2.
///
/// # Errors
/// Returns the reason: an untrusted certificate, or a server without TLS.
pub fn shake_hands(
    place: &Resolved,
    setup: &Setup,
    origin: &Origin,
    limits: &Limits,
) -> Result<Handshake, Error> {
    let patience = PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    probe::handshake(place.peer(place.first()), setup, patience).map_err(|failed| Error::NoTls {
        target: host_and_port(origin),
        fault: failed.fault,
        why: failed.why,
    })
}

/// Checks that an origin answers in HTTP/2. Returns whether it announces WebSocket over HTTP/2.
///
/// # Errors
/// Returns an error if it does not answer.
pub fn greet_http2(
    place: &Resolved,
    tls: Option<&Setup>,
    origin: &Origin,
    limits: &Limits,
) -> Result<bool, Error> {
    let patience = PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    probe::greet_http2(place.peer(place.first()), tls, patience).map_err(|why| Error::NoHttp2 {
        target: host_and_port(origin),
        why: Problem::new(why.message, NO_HTTP2),
    })
}

/// Returns the error of an origin that does not announce WebSocket over HTTP/2.
pub fn without_sockets(origin: &Origin) -> Error {
    Error::NoSocketsOverHttp2 { target: host_and_port(origin) }
}

/// Returns the error of a handshake that offered only HTTP/2: if the server accepts HTTP/1.1, the version is the
/// reason. A server that knows none of the offered protocols ends the handshake with an alert (RFC 7301, section 3.2);
/// some servers end it otherwise.
pub fn without_http2(
    failed: Error,
    place: &Resolved,
    origin: &Origin,
    files: &TlsFiles,
    limits: &Limits,
) -> Error {
    // The server knows none of the protocols that were offered, and only HTTP/2 was.
    if matches!(&failed, Error::NoTls { why, .. } if is_unknown_protocol(why)) {
        return no_http2(origin, NO_HTTP2);
    }
    let accepts_http1 = match tls(origin, files, Http::V11) {
        Ok(Some(setup)) => shake_hands(place, &setup, origin, limits).is_ok(),
        Ok(None) | Err(_) => false,
    };
    if accepts_http1 { no_http2(origin, NO_HTTP2) } else { failed }
}

fn no_http2(origin: &Origin, hint: &str) -> Error {
    let why = Problem::new("it did not choose HTTP/2 over TLS (ALPN)", hint);
    Error::NoHttp2 { target: host_and_port(origin), why }
}

/// Checks that the version that was agreed on is the one that the plan needs.
///
/// # Errors
/// Returns an error if the plan needs HTTP/2 and the server did not choose it.
pub fn check_version(is_http2: bool, link: &Link, origin: &Origin) -> Result<(), Error> {
    if link.is_pipelined {
        return Ok(());
    }
    let hint = match (is_http2, link.http, link.streams) {
        (false, Http::V2, _) => NO_HTTP2,
        (false, _, 2..) => "remove `--streams` (in a file, `streams`), which only HTTP/2 has",
        _ => return Ok(()),
    };
    Err(no_http2(origin, hint))
}

const NO_HTTP2: &str = "use HTTP/1.1: remove `--http2`, or `http: 2` in a file";

/// Ports that end in these digits are nearly always for TLS: 443, 8443, 9443.
const TLS_PORT_ENDING: u16 = 443;

/// Checks that a plain-HTTP origin does not use TLS, by a handshake on a port that is typical of TLS. Other ports are
/// not tried, because a plain-HTTP server logs a handshake as an invalid request.
///
/// # Errors
/// Returns an error if the server uses TLS.
pub fn check_plain(place: &Resolved, origin: &Origin, limits: &Limits) -> Result<(), Error> {
    // A proxy that forwards requests would be greeted instead of the server.
    let is_forwarded = place.route.as_ref().is_some_and(|route| route.forward.is_some());
    if origin.tls.is_some() || is_forwarded || origin.port % 1_000 != TLS_PORT_ENDING {
        return Ok(());
    }
    // The handshake only reveals the protocol, so any certificate will do.
    let wanted = Wanted { server_name: origin.host.clone(), insecure: true, ..Wanted::default() };
    let setup = Setup::new(&wanted).map_err(Error::TlsSetup)?;
    let patience = PLAIN_PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    match probe::handshake(place.peer(place.first()), &setup, patience) {
        Ok(_) => Err(Error::NoPlain { target: host_and_port(origin) }),
        Err(_) => Ok(()),
    }
}

/// Checks that every source address belongs to this machine and to the target's address family.
///
/// # Errors
/// Returns an error that names the first invalid address.
pub fn check_sources(place: &Resolved, link: &Link) -> Result<(), Error> {
    for source in &link.source_addresses {
        let unusable = |why: String| Err(Error::Source { address: *source, why });
        if let Some(other) = place.loaded(link.addresses).iter().find(|a| a.is_ipv4() != source.is_ipv4()) {
            return unusable(format!(
                "the target's address {} belongs to the other address family",
                other.ip()
            ));
        }
        if let Err(refused) = TcpListener::bind((*source, 0)) {
            return unusable(refused.to_string().to_lowercase());
        }
    }
    Ok(())
}
