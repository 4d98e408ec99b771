//! May this host be loaded at all? Loopback and private addresses: yes. Public ones need one of three
//! permissions.

use crate::monitor::{Trust, probe as probe_of};
use crate::{Resolved, dns, fetch};
use plimsoll_engine::link::tls::Setup;
use plimsoll_plan::Target;
use plimsoll_plan::policy::{Neighbour, PROOF_PATH, neighbour, proof_permits};
use plimsoll_plan::watch::Watch;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// Longest wait for the ownership file.
const PROOF_PATIENCE: Duration = Duration::from_secs(5);
/// Longest ownership file, bytes.
const PROOF_BYTES: usize = 65_536;

/// What the person brought along.
pub struct Asking<'a> {
    /// Hosts or literal addresses from `--allow`.
    pub allow: &'a [String],
    /// Puts a question to the person and returns the answer; `None` without a terminal.
    pub confirm: Option<&'a mut dyn FnMut(&str) -> String>,
    /// The date as `YYYY-MM-DD`, against which an ownership file may have expired.
    pub today: &'a str,
    /// Fetches [`PROOF_PATH`] from an address: status and body. [`fetch_proof`] outside of tests.
    pub fetch: &'a mut dyn FnMut(SocketAddr) -> Result<(u16, Vec<u8>), String>,
}

/// Why load is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// Every address is this machine's or in a private network.
    Free,
    /// `--allow` names the host.
    Allowed,
    /// Somebody typed the host's name.
    Confirmed,
    /// The host's own ownership file permits it, at every public address that is left.
    Proved,
}

/// Load is not permitted: exit code 4, no load sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub sentence: String,
    /// How permission could be had; empty where it cannot.
    pub hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Refusal {}

/// Judges every address that the name resolved to: one public address among private ones is enough to ask.
///
/// A permission by word is for the host, so for all its addresses. An ownership file speaks for the address that serves
/// it only: public addresses that do not are taken out of `place`, and so are never loaded.
///
/// # Errors
/// When an address is never a target, or a public one has none of the three permissions.
pub fn permit(host: &str, place: &mut Resolved, asking: Asking<'_>) -> Result<Granted, Refusal> {
    let of_kind = |kind| place.addresses.iter().copied().find(|a| neighbour(a.ip()) == kind);
    if let Some(address) = of_kind(Neighbour::Forbidden) {
        return Err(Refusal {
            sentence: format!("{} is never a target: no permission opens it", describe(host, address)),
            hint: "addresses of cloud metadata services, multicast and broadcast are not loaded".into(),
        });
    }
    let Some(address) = of_kind(Neighbour::Public) else { return Ok(Granted::Free) };
    if asking.allow.iter().any(|name| allows(name, host, place)) {
        return Ok(Granted::Allowed);
    }
    if let Some(confirm) = asking.confirm {
        let question = format!(
            "{} is a public address. Load only what you own or may load.\nType `{host}` to go on, or Enter \
             to look for an ownership file: ",
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
                "{} is a public address, and nothing says that you may load it",
                describe(host, address)
            ),
            hint: format!(
                "give `--allow {host}`, or type the host's name when asked in a terminal, or let the host \
                 itself say `allow: {host}` in `{PROOF_PATH}` ({why})"
            ),
        }),
    }
}

/// Judges the hosts that monitors ask over the network as [`permit`] judges that of the load, but without an ownership
/// file: what they ask is mostly no web server. Hosts in `granted` need no further word.
///
/// # Errors
/// As [`permit`], naming the monitor.
pub fn permit_watching(watches: &[Watch], granted: &[&str], mut asking: Asking<'_>) -> Result<(), Refusal> {
    for watch in watches {
        for (host, port) in probe_of(watch, &Trust::default()).asks() {
            if granted.iter().any(|name| name.eq_ignore_ascii_case(&host)) {
                continue;
            }
            let target = Target { host: host.clone(), port, tls: false };
            // A name that leads nowhere is said by the monitor itself, and costs its own numbers only.
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
                sentence: format!("the monitor `{}` asks another host: {}", watch.name, refusal.sentence),
                hint: match refusal.hint.starts_with("give ") {
                    true => {
                        format!("give `--allow {host}`, or type the host's name when asked in a terminal")
                    }
                    false => refusal.hint,
                },
            })?;
        }
    }
    Ok(())
}

/// Fetches the ownership file from an address of the host; over TLS where the load goes over TLS.
///
/// # Errors
/// What went wrong, as a fragment.
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

/// Keeps of the public addresses those whose file permits it. `Err` with the reasons, and all kept, when none does.
fn proof(
    host: &str,
    place: &mut Resolved,
    today: &str,
    fetch: &mut dyn FnMut(SocketAddr) -> Result<(u16, Vec<u8>), String>,
) -> Result<(), String> {
    let (mut proved, mut why) = (Vec::new(), Vec::new());
    let is_public = |address: &SocketAddr| neighbour(address.ip()) == Neighbour::Public;
    for address in place.addresses.iter().filter(|address| is_public(address)) {
        let judged = match fetch(*address) {
            Ok((200, body)) => proof_permits(&String::from_utf8_lossy(&body), host, today),
            Ok((status, _)) => Err(format!("it answered {status}")),
            Err(trouble) => Err(format!("it could not be fetched: {trouble}")),
        };
        match judged {
            Ok(()) => proved.push(*address),
            // Several addresses mostly have one trouble in common.
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

/// `example.com (203.0.113.5)`, or the address alone when that is what was typed.
fn describe(host: &str, address: SocketAddr) -> String {
    let ip = address.ip().to_string();
    if ip == host { format!("`{ip}`") } else { format!("`{host}` ({ip})") }
}
