//! `plimsoll cluster init` and `cluster add`: the files of a NATS server for agents.

use crate::exit::{Exit, Failure};
use crate::flags::agents::{Cluster, ClusterAction};
use crate::{say, wall};
use plimsoll_cluster::server_setup::{
    COORDINATOR, COORDINATOR_KEY, SIGNING_KEY, ServerSetup, SetupFile, Validity, join,
};
use plimsoll_cluster::subject::numbered;
use plimsoll_engine::machine;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Port of NATS servers.
const PORT: u16 = 4222;
/// Validity of certificates, days.
const DAYS: u32 = 365;
/// Most agents that a load can use.
const AGENTS_MAX: u32 = 10_000;
/// What the machine of an agent needs.
const COPY: &str = "Copy to each machine only ca.pem, signing.pub, and the files with its name.\n";
/// Longest validity: what is valid for longer is forgotten.
const DAYS_MAX: u32 = 3_650;

/// `plimsoll cluster init|add`.
pub fn command(flags: &Cluster) -> Result<Exit, Failure> {
    match &flags.action {
        Some(ClusterAction::Init { folder, host, port, agents, mutual_tls, days }) => {
            let (folder, agents) = named(folder.as_ref(), agents.as_ref())?;
            let port = match port.as_deref().map(str::parse::<u16>) {
                None => PORT,
                Some(Ok(port)) if port > 0 => port,
                Some(_) => {
                    return Err(wrong(Place::Flag("--port".into()), "invalid port", "write 1 to 65535"));
                }
            };
            let setup = ServerSetup {
                host: host.clone().unwrap_or_else(machine::host),
                port,
                agents,
                requires_certificates: *mutual_tls,
                validity: validity(days.as_deref())?,
            };
            init(folder, &setup)
        }
        Some(ClusterAction::Add { folder, agents, days }) => {
            let (folder, agents) = named(folder.as_ref(), agents.as_ref())?;
            add(folder, &agents, validity(days.as_deref())?)
        }
        None => Err(wrong(
            Place::Whole,
            "missing action of `cluster`",
            "write `plimsoll cluster init DIR --agents a,b`, or `plimsoll cluster add DIR --agents c`",
        )),
    }
}

fn wrong(place: Place, message: &str, hint: &str) -> Failure {
    Diagnostic::new("U012", place, message, hint).into()
}

/// Returns the directory and the names of the agents, which both actions need.
fn named<'a>(folder: Option<&'a String>, agents: Option<&String>) -> Result<(&'a str, Vec<String>), Failure> {
    let Some(folder) = folder else {
        let hint = "name a new one: `plimsoll cluster init keys --agents a,b`";
        return Err(wrong(Place::Whole, "missing directory", hint));
    };
    let Some(agents) = agents else {
        let hint = "name each machine that sends load, such as `--agents eu-1,eu-2`";
        return Err(wrong(Place::Flag("--agents".into()), "missing names of the agents", hint));
    };
    // As the pods of an indexed job.
    if let Ok(count @ 1..=AGENTS_MAX) = agents.parse() {
        return Ok((folder, (0..count).map(numbered).collect()));
    }
    Ok((folder, agents.split(',').map(str::to_owned).collect()))
}

fn validity(days: Option<&str>) -> Result<Validity, Failure> {
    let from_unix_s = wall::now_unix_ns() / 1_000_000_000;
    let Some(text) = days else { return Ok(Validity { from_unix_s, days: DAYS }) };
    match text.parse() {
        Ok(days) if (1..=DAYS_MAX).contains(&days) => Ok(Validity { from_unix_s, days }),
        _ => {
            let message = format!("invalid number of days `{text}`");
            let hint = format!("write 1 to {DAYS_MAX}");
            Err(Diagnostic::new("U011", Place::Flag("--days".into()), message, hint).into())
        }
    }
}

fn of_agents(problem: Problem) -> Failure {
    Diagnostic::of("U011", Place::Flag("--agents".into()), problem).into()
}

/// Writes the files of a new server.
fn init(folder: &str, setup: &ServerSetup) -> Result<Exit, Failure> {
    let files = setup.files().map_err(of_agents)?;
    let path = Path::new(folder);
    if path.exists() {
        let message = format!("`{folder}` exists already");
        let hint = format!("name a new directory, or add agents: `plimsoll cluster add {folder} --agents c`");
        return Err(Diagnostic::new("U020", Place::Whole, message, hint).into());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| cannot_write(path, &e))?;
    for file in &files {
        write_new(&path.join(&file.name), file)?;
    }
    let address = format!("{}:{}", setup.host, setup.port);
    let with_certificates = setup.requires_certificates;
    let mut text = format!("{folder}: keys, certificates, and server.conf\n");
    text.push_str(&format!("Start the server:    cd {folder} && nats-server -c server.conf\n"));
    text.push_str(&starts(&setup.agents, &address, with_certificates));
    let count = setup.agents.len();
    let words = access(COORDINATOR, &address, with_certificates);
    text.push_str(&format!(
        "Run a load:    plimsoll run FILE --agents {count} {words} --signing-key {SIGNING_KEY}\n"
    ));
    text.push_str(COPY);
    text.push_str(&expiry(setup.validity));
    say::result(&text)?;
    Ok(Exit::Pass)
}

/// Adds agents to the files of a server.
fn add(folder: &str, agents: &[String], validity: Validity) -> Result<Exit, Failure> {
    let path = Path::new(folder);
    let read = |name: &str| {
        std::fs::read_to_string(path.join(name)).map_err(|e| {
            let hint = "name the directory that `plimsoll cluster init` has written";
            Failure::machine(format!("cannot read `{folder}/{name}`: {e}"), Some(hint.into()))
        })
    };
    // An agent that joins gets it.
    read(COORDINATOR_KEY)?;
    let joined = join(agents, &read("server.conf")?, &read("ca.pem")?, validity).map_err(of_agents)?;
    for file in &joined.files {
        write_new(&path.join(&file.name), file)?;
    }
    for file in &joined.changed {
        // A server that reads it meanwhile reads the old or the new one.
        let (new, target) = (path.join(format!("{}.new", file.name)), path.join(&file.name));
        std::fs::write(&new, &file.content)
            .and_then(|()| std::fs::rename(&new, &target))
            .map_err(|e| cannot_write(&target, &e))?;
    }
    let mut text = format!("{folder}: keys of {}\n", agents.join(", "));
    text.push_str("Let the server read its configuration:    nats-server --signal reload\n");
    text.push_str(&starts(agents, &joined.address, joined.requires_certificates));
    text.push_str(COPY);
    if joined.requires_certificates {
        text.push_str(&expiry(validity));
    }
    say::result(&text)?;
    Ok(Exit::Pass)
}

fn cannot_write(path: &Path, e: &std::io::Error) -> Failure {
    Failure::machine(format!("cannot write `{}`: {e}", path.display()), None)
}

/// Writes a file that does not exist yet: keys are never replaced.
fn write_new(path: &Path, file: &SetupFile) -> Result<(), Failure> {
    let mode = if file.is_secret { 0o600 } else { 0o644 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    opened
        .and_then(|mut opened| opened.write_all(file.content.as_bytes()))
        .map_err(|e| cannot_write(path, &e))
}

/// Returns the flags with which a client reaches the server.
fn access(name: &str, address: &str, with_certificate: bool) -> String {
    let certificate = match with_certificate {
        true => format!(" --nats-cert {name}.pem --nats-key {name}.key"),
        false => String::new(),
    };
    format!("--nats tls://{address} --nats-ca ca.pem --nkey {name}.nk{certificate}")
}

/// Returns how to start the agents.
fn starts(agents: &[String], address: &str, with_certificates: bool) -> String {
    let line = |agent: &String| {
        let words = access(agent, address, with_certificates);
        format!(
            "On agent {agent}:    plimsoll agent --name {agent} {words} --coordinator-key {COORDINATOR_KEY}\n"
        )
    };
    agents.iter().map(line).collect()
}

fn expiry(validity: Validity) -> String {
    format!("The certificates expire on {}.\n", wall::date(validity.end_unix_s() * 1_000_000_000))
}
