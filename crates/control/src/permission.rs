//! Permission to load a host. Loopback and private addresses are always allowed; public ones need one of three
//! permissions.

use crate::monitor::{Trust, probe as probe_of};
use crate::{Resolved, dns, fetch};
use plimsoll_engine::link::tls::Setup;
use plimsoll_plan::Target;
use plimsoll_plan::policy::{AddressClass, PROOF_PATH, address_class, proof_permits};
use plimsoll_plan::watch::Watch;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// Maximum wait for the ownership file.
const PROOF_PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of the ownership file, bytes.
const PROOF_BYTES: usize = 65_536;

/// Permissions and means to get one.
pub struct Asking<'a> {
    /// Hosts or literal addresses from `--allow`.
    pub allow: &'a [String],
    /// Asks the user a question and returns the answer; `None` without a terminal.
    pub confirm: Option<&'a mut dyn FnMut(&str) -> String>,
    /// Today's date as `YYYY-MM-DD`, to check whether an ownership file has expired.
    pub today: &'a str,
    /// Fetches [`PROOF_PATH`] from an address and returns status and body; [`fetch_proof`] outside tests.
    pub fetch: &'a mut dyn FnMut(SocketAddr) -> Result<(u16, Vec<u8>), String>,
}

/// Why a load is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// Every address belongs to this machine or a private network.
    Free,
    /// `--allow` names the host.
    Allowed,
    /// The user typed the host's name.
    Confirmed,
    /// The host's ownership file allows it, for all remaining public addresses.
    Proved,
}

/// A load that is not allowed: exit code 4, no load sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub sentence: String,
    /// How to get permission; empty if impossible.
    pub hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Refusal {}

/// Checks every address of a host; one public address among private ones requires permission.
///
/// `--allow` and the typed name apply to the host and thus to all its addresses. An ownership file applies only to
/// the address that serves it; public addresses without one are removed from `place` and never loaded.
///
/// # Errors
/// Returns an error if an address is never allowed, or if a public one has none of the three permissions.
pub fn permit(host: &str, place: &mut Resolved, asking: Asking<'_>) -> Result<Granted, Refusal> {
    let of_kind = |kind| place.addresses.iter().copied().find(|a| address_class(a.ip()) == kind);
    if let Some(address) = of_kind(AddressClass::Forbidden) {
        return Err(Refusal {
            sentence: format!("{} cannot be loaded, even with permission", describe(host, address)),
            hint: "plimsoll never loads cloud metadata services, multicast, or broadcast addresses".into(),
        });
    }
    let Some(address) = of_kind(AddressClass::Public) else { return Ok(Granted::Free) };
    if asking.allow.iter().any(|name| allows(name, host, place)) {
        return Ok(Granted::Allowed);
    }
    if let Some(confirm) = asking.confirm {
        let question = format!(
            "{} is a public address. Load only what you own or may load.\nType `{host}` to continue, or press Enter to \
             look for an ownership file: ",
            describe(host, address)
        );
        if confirm(&question).trim().eq_ignore_ascii_case(host) {
            return Ok(Granted::Confirmed);
        }
    }
    match proof(host, place, asking.today, asking.fetch) {
        Ok(()) => Ok(Granted::Proved),
        Err(why) => Err(Refusal {
            sentence: format!(
                "{} is a public address: loading it requires permission",
                describe(host, address)
            ),
            hint: format!(
                "use `--allow {host}`, or type the host's name when asked in a terminal, or let the host serve \
                 `allow: {host}` in `{PROOF_PATH}` ({why})"
            ),
        }),
    }
}

/// Checks a load that goes through a proxy, which gets every byte of it, and passes it on to the host: both must be
/// allowed. `beyond` is what this machine knows about the host. A host that only the proxy can resolve may be anywhere,
/// so it must be named. An ownership file permits neither: a proxy has none, and that of the host would be fetched on
/// another way than the load takes. Hosts in `granted` are allowed already.
///
/// # Errors
/// Returns an error under the conditions of [`permit`] for one of the two.
pub fn permit_proxied<'a>(
    (proxy, place): (&'a str, &mut Resolved),
    (host, beyond): (&'a str, Option<&mut Resolved>),
    allow: &[String],
    mut confirm: Option<&mut dyn FnMut(&str) -> String>,
    granted: &mut Vec<&'a str>,
) -> Result<(), Refusal> {
    let without_file = |refusal: Refusal, name: &str| match refusal.hint.starts_with("use ") {
        true => {
            let hint = format!("use `--allow {name}`, or type the host's name when asked in a terminal");
            Refusal { hint, ..refusal }
        }
        false => refusal,
    };
    let both = [(proxy, Some(place)), (host, beyond)];
    for (name, place) in both {
        if granted.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            continue;
        }
        let asking = Asking {
            allow,
            confirm: confirm.as_mut().map(|confirm| &mut **confirm as &mut dyn FnMut(&str) -> String),
            today: "",
            fetch: &mut |_| Err("it is not reached directly".into()),
        };
        let permitted = match place {
            Some(place) => permit(name, place, asking),
            None => permit_unknown(name, asking),
        };
        let permitted = permitted.map_err(|refusal| without_file(refusal, name));
        if permitted.map_err(|refusal| match name == proxy {
            true => Refusal { sentence: format!("the proxy {}", refusal.sentence), ..refusal },
            false => refusal,
        })? != Granted::Free
        {
            granted.push(name);
        }
    }
    Ok(())
}

/// Checks a host whose addresses are not known here.
fn permit_unknown(host: &str, asking: Asking<'_>) -> Result<Granted, Refusal> {
    if asking.allow.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        return Ok(Granted::Allowed);
    }
    if let Some(confirm) = asking.confirm {
        let question = format!(
            "Only the proxy can resolve `{host}`, so it may be public. Load only what you own or may load.\nType \
             `{host}` to continue, or press Enter to stop: "
        );
        if confirm(&question).trim().eq_ignore_ascii_case(host) {
            return Ok(Granted::Confirmed);
        }
    }
    Err(Refusal {
        sentence: format!(
            "only the proxy can resolve `{host}`, so it may be public: loading it requires permission"
        ),
        hint: format!("use `--allow {host}`, or type the host's name when asked in a terminal"),
    })
}

/// Checks the hosts that monitors query over the network, as [`permit`] does, but without an ownership file, because
/// most of them are not web servers. Hosts in `granted` are allowed already.
///
/// # Errors
/// Returns an error under the conditions of [`permit`] that names the monitor.
pub fn permit_watching(watches: &[Watch], granted: &[&str], mut asking: Asking<'_>) -> Result<(), Refusal> {
    for watch in watches {
        for (host, port) in probe_of(watch, &Trust::default()).asks() {
            if granted.iter().any(|name| name.eq_ignore_ascii_case(&host)) {
                continue;
            }
            let target = Target { host: host.clone(), port, tls: false };
            // The monitor itself reports a name that does not resolve, which affects only its own data.
            let Ok(mut place) = dns::resolve(&target) else { continue };
            let asking = Asking {
                allow: asking.allow,
                confirm: asking
                    .confirm
                    .as_mut()
                    .map(|confirm| &mut **confirm as &mut dyn FnMut(&str) -> String),
                today: asking.today,
                fetch: &mut |_| Err("monitors need another permission".into()),
            };
            permit(&host, &mut place, asking).map_err(|refusal| Refusal {
                sentence: format!("the monitor `{}` queries another host: {}", watch.name, refusal.sentence),
                hint: match refusal.hint.starts_with("use ") {
                    true => {
                        format!("use `--allow {host}`, or type the host's name when asked in a terminal")
                    }
                    false => refusal.hint,
                },
            })?;
        }
    }
    Ok(())
}

/// Fetches the ownership file from an address of the host, over TLS if the load uses TLS.
///
/// # Errors
/// Returns the reason as a fragment.
pub fn fetch_proof(
    address: SocketAddr,
    host_header: &str,
    tls: Option<&Setup>,
) -> Result<(u16, Vec<u8>), String> {
    fetch::from_address(address, tls, host_header, PROOF_PATH, PROOF_BYTES, PROOF_PATIENCE)
}

fn allows(name: &str, host: &str, place: &Resolved) -> bool {
    name.eq_ignore_ascii_case(host) || place.addresses.iter().all(|a| a.ip().to_string() == name)
}

/// Keeps only the public addresses whose file allows the load. If there are none, keeps all and returns the reasons.
fn proof(
    host: &str,
    place: &mut Resolved,
    today: &str,
    fetch: &mut dyn FnMut(SocketAddr) -> Result<(u16, Vec<u8>), String>,
) -> Result<(), String> {
    let (mut proved, mut why) = (Vec::new(), Vec::new());
    let is_public = |address: &SocketAddr| address_class(address.ip()) == AddressClass::Public;
    for address in place.addresses.iter().filter(|address| is_public(address)) {
        let judged = match fetch(*address) {
            Ok((200, body)) => proof_permits(&String::from_utf8_lossy(&body), host, today),
            Ok((status, _)) => Err(format!("the response was {status}")),
            Err(trouble) => Err(format!("it could not be fetched: {trouble}")),
        };
        match judged {
            Ok(()) => proved.push(*address),
            // Several addresses often fail for the same reason.
            Err(reason) if why.contains(&reason) => {}
            Err(reason) => why.push(reason),
        }
    }
    if proved.is_empty() {
        return Err(why.join("; "));
    }
    place.addresses.retain(|address| !is_public(address) || proved.contains(address));
    Ok(())
}

/// Returns `example.com (203.0.113.5)`, or the address alone if the user typed it.
fn describe(host: &str, address: SocketAddr) -> String {
    let ip = address.ip().to_string();
    if ip == host { format!("`{ip}`") } else { format!("`{host}` ({ip})") }
}
