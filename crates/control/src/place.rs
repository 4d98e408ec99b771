//! Does anybody listen? One connection to each origin before any load, so that a closed port is a sentence and not a
//! result.

use crate::{Error, Resolved};
use plimsoll_engine::link::tls::{Setup, Wanted};
use plimsoll_engine::probe;
use plimsoll_plan::limit::Limits;
use plimsoll_plan::link::{Link, Tls, TlsFiles, Versions};
use plimsoll_plan::origin::Origin;
use std::net::TcpListener;
use std::time::Duration;

/// The trial waits no longer than this, however long the plan allows a connection to take.
const PATIENCE: Duration = Duration::from_secs(10);
/// A server of plain HTTP may never answer a handshake: it waits for the rest of a request line.
const PLAIN_PATIENCE: Duration = Duration::from_secs(1);

/// Tries the addresses in order and puts the one that takes a connection first: `localhost` often means `::1`
/// before `127.0.0.1`, and a service may listen on one of them only. Returns the time it took, ns.
///
/// # Errors
/// When none of the addresses takes a connection, with what each of them said.
pub fn knock(place: &mut Resolved, origin: &Origin, limits: &Limits) -> Result<u64, Error> {
    let patience = PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    let mut tried = Vec::new();
    for address in place.addresses.clone() {
        match probe::connect(address, patience) {
            Ok(connect_ns) => {
                place.prefer(address);
                return Ok(connect_ns);
            }
            Err(why) => tried.push((address, why)),
        }
    }
    Err(Error::NobodyListens { target: host_and_port(origin), tried })
}

/// What TLS connections to an origin need, once for all of them; `None` when it speaks plain HTTP.
///
/// # Errors
/// When a certificate or a key cannot be used.
pub fn tls(origin: &Origin, files: &TlsFiles) -> Result<Option<Setup>, Error> {
    let Some(Tls { server_name, insecure, versions, resume }) = &origin.tls else { return Ok(None) };
    let wanted = Wanted {
        server_name: server_name.clone(),
        ca_pem: files.ca.clone(),
        cert_pem: files.certificate.clone(),
        key_pem: files.key.clone(),
        insecure: *insecure,
        versions: *versions,
        resume: *resume,
        alpn: vec![b"http/1.1".to_vec()],
    };
    Setup::new(&wanted).map(Some).map_err(Error::TlsSetup)
}

/// As sentences name an origin, with the scheme's own port, too.
fn host_and_port(origin: &Origin) -> String {
    format!("{}:{}", origin.host, origin.port)
}

/// One TLS handshake with the address that took the trial connection.
///
/// # Errors
/// With the reason: a certificate that is not trusted, a server that speaks no TLS.
pub fn shake_hands(place: &Resolved, setup: &Setup, origin: &Origin, limits: &Limits) -> Result<(), Error> {
    let patience = PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    probe::handshake(place.first(), setup, patience)
        .map_err(|why| Error::NoTls { target: host_and_port(origin), why })
}

/// Ports that end in these digits are nearly always for TLS: 443, 8443, 9443.
const TLS_PORT_ENDING: u16 = 443;

/// Checks that an origin of plain HTTP does not speak TLS, by a handshake on a port that is usual for TLS. Other ports
/// are not tried: a server of plain HTTP logs a handshake as an invalid request.
///
/// # Errors
/// When the server speaks TLS.
pub fn check_plain(place: &Resolved, origin: &Origin, limits: &Limits) -> Result<(), Error> {
    if origin.tls.is_some() || origin.port % 1_000 != TLS_PORT_ENDING {
        return Ok(());
    }
    // The handshake only shows which protocol it is, so any certificate will do.
    let wanted = Wanted {
        server_name: origin.host.clone(),
        ca_pem: Vec::new(),
        cert_pem: None,
        key_pem: None,
        insecure: true,
        versions: Versions::default(),
        resume: false,
        alpn: Vec::new(),
    };
    let setup = Setup::new(&wanted).map_err(Error::TlsSetup)?;
    let patience = PLAIN_PATIENCE.min(Duration::from_nanos(limits.connect_timeout_ns));
    match probe::handshake(place.first(), &setup, patience) {
        Ok(()) => Err(Error::NoPlain { target: host_and_port(origin) }),
        Err(_) => Ok(()),
    }
}

/// Every local address to connect from must be this machine's and of the target's family.
///
/// # Errors
/// Naming the first that is not.
pub fn check_sources(place: &Resolved, link: &Link) -> Result<(), Error> {
    for source in &link.source_addresses {
        let unusable = |why: String| Err(Error::Source { address: *source, why });
        if let Some(other) = place.loaded(link.addresses).iter().find(|a| a.is_ipv4() != source.is_ipv4()) {
            return unusable(format!("the target's address {} is of the other family", other.ip()));
        }
        if let Err(refused) = TcpListener::bind((*source, 0)) {
            return unusable(refused.to_string().to_lowercase());
        }
    }
    Ok(())
}
