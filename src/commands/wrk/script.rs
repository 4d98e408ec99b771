//! `plimsoll wrk -s`: requests from a script in Lua.

use super::foreign::{self, Unreachable};
use crate::commands::memory;
use crate::exit::{Exit, Failure};
use crate::say;
use plimsoll_build::body;
use plimsoll_lines::wrk::Wrk;
use plimsoll_lua::{Distribution, LuaCode, MEMORY_MAX, Results, Session, Site, Watch};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::address::WeightedAddress;
use plimsoll_plan::diag::Place;
use plimsoll_plan::link::Addresses;
use plimsoll_plan::phrase::counted;
use plimsoll_toolend::wrk::{self, Stats};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Seconds after which a call that has not ended stops the run.
const PATIENCE_S: u32 = 5;
/// Looks at the calls in a second.
const LOOKS_PER_S: u32 = 10;

pub fn command(line: &Wrk, file: &str) -> Result<Exit, Failure> {
    let wrong = |problem| Failure::Text(vec![Diagnostic::of("C004", Place::Flag("-s".into()), problem)]);
    let text = body::from_file(Path::new(file)).map_err(wrong)?;
    let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    let sentence = plimsoll_lua::too_large(&name);
    let session = memory::bounded(
        MEMORY_MAX,
        move || wrong(sentence.clone()),
        || Session::start(&name, &text, &site(line), &line.arguments, line.threads as usize),
    );
    let session = Arc::new(session.map_err(wrong)?);
    let mut draft = line.draft.clone();
    let addresses = session.addresses().map_err(wrong)?;
    if !addresses.is_empty() {
        draft.link.addresses = Addresses::All;
        draft.link.weighted = weighted(&addresses);
    }
    match session.fixed() {
        Some(requests) => {
            if session.is_constant() {
                let what = counted(requests.len() as u64, "request");
                say::talk(&format!(
                    "note: {name}: `request` returns the same {what} each time, and is not called again\n"
                ));
            }
            draft.requests = requests;
        }
        None => {
            draft.requests.clear();
            draft.code = Some(Arc::new(LuaCode(Arc::clone(&session))));
            watch(session.watch(), name.clone().into_owned());
        }
    }
    let depth = session.depth() as u32;
    if depth > 1 {
        draft.link.streams = depth;
        draft.link.is_pipelined = true;
        draft.load.users = draft.load.users.map(|users| users.saturating_mul(depth));
    }
    let ended = foreign::run(draft, &line.own, Unreachable::Ends)?;
    if let Some(problem) = session.error() {
        return Err(Failure::of(problem));
    }
    let exit = foreign::finish(&ended, &wrk::text(&ended.figures, line), &line.own, Exit::Pass)?;
    let sentence = plimsoll_lua::too_large(&name);
    let done = || session.done(results(&wrk::numbers(&ended.figures, line)));
    memory::bounded(MEMORY_MAX, move || Failure::of(sentence.clone()), done).map_err(Failure::of)?;
    Ok(exit)
}

/// Returns the addresses of the threads, each with a weight for their number.
fn weighted(addresses: &[SocketAddr]) -> Vec<WeightedAddress> {
    let mut all: Vec<WeightedAddress> = Vec::new();
    for one in addresses {
        match all.iter_mut().find(|known| known.address == one.ip() && known.port == Some(one.port())) {
            Some(known) => known.weight += 1,
            None => all.push(WeightedAddress { address: one.ip(), port: Some(one.port()), weight: 1 }),
        }
    }
    all
}

/// Looks up a host. The service is a port, or the name of one.
fn lookup(host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
    let port = match service {
        "http" => Some(80),
        "https" => Some(443),
        other => other.parse().ok(),
    };
    let port: u16 = port.ok_or(format!("unknown service `{service}`: expected a port, http, or https"))?;
    let mut all: Vec<SocketAddr> =
        (host, port).to_socket_addrs().map_err(|e| format!("cannot resolve `{host}`: {e}"))?.collect();
    all.dedup();
    Ok(all)
}

/// Returns what the script finds in the table `wrk`.
fn site(line: &Wrk) -> Site {
    let (target, request) = (line.draft.target.as_ref(), line.draft.requests.first());
    let authority = line.url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?']).next().unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
    Site {
        scheme: if target.is_some_and(|target| target.tls) { "https" } else { "http" }.to_owned(),
        host: target.map(|target| target.host.clone()).unwrap_or_default(),
        port: port.map(str::to_owned),
        path: request.map(|request| request.path.clone()).unwrap_or_default(),
        headers: request.map(|request| request.headers.clone()).unwrap_or_default(),
        lookup,
    }
}

/// Ends the process if a call of the script does not end, or takes all memory: its thread cannot be stopped otherwise.
/// The run file then has everything up to the last second.
fn watch(mut watch: Watch, name: String) {
    let before = memory::resident_bytes();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1) / LOOKS_PER_S);
            let looks = watch.look();
            let is_large = || {
                memory::resident_bytes().zip(before).is_some_and(|(now, before)| now > before + MEMORY_MAX)
            };
            let failure = match looks {
                // Connections have memory, too.
                2.. if is_large() => Failure::of(plimsoll_lua::too_large(&name)),
                looks if looks >= PATIENCE_S * LOOKS_PER_S => Failure::machine(
                    format!("{name}: a call of the script did not end within {PATIENCE_S} s"),
                    None,
                ),
                _ => continue,
            };
            say::failure(&failure, false);
            std::process::exit(Exit::CouldNotRun.code().into());
        }
    });
}

fn results(numbers: &wrk::Numbers) -> Results {
    let wrk::Errors { connect, read, write, timeout, status } = numbers.errors;
    let of = |stats: &Stats| Distribution {
        values: stats.values.clone(),
        mean: stats.mean,
        std_dev: stats.std_dev,
    };
    Results {
        duration_us: numbers.duration_us,
        completed: numbers.completed,
        bytes: numbers.bytes,
        errors: [connect, read, write, status, timeout],
        latency: of(&numbers.latency),
        requests: of(&numbers.rates),
    }
}
