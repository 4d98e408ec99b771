//! `plimsoll cluster init`: the files of a NATS server for agents.

use crate::exit::{Exit, Failure};
use crate::flags::agents::{Cluster, ClusterAction};
use crate::say;
use plimsoll_cluster::server_setup::{COORDINATOR, ServerSetup, SetupFile};
use plimsoll_engine::machine;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Port of NATS servers.
const PORT: u16 = 4222;

/// `plimsoll cluster init`.
pub fn command(flags: &Cluster) -> Result<Exit, Failure> {
    let Some(ClusterAction::Init { folder, host, port, agents, mutual_tls }) = &flags.action else {
        return wrong(
            Place::Whole,
            "missing action of `cluster`",
            "write `plimsoll cluster init DIR --agents a,b`",
        );
    };
    let Some(folder) = folder else {
        return wrong(
            Place::Whole,
            "missing directory",
            "name a new one: `plimsoll cluster init keys --agents a,b`",
        );
    };
    let Some(agents) = agents else {
        let hint = "name each machine that sends load, such as `--agents eu-1,eu-2`";
        return wrong(Place::Flag("--agents".into()), "missing names of the agents", hint);
    };
    let port = match port.as_deref().map(str::parse::<u16>) {
        None => PORT,
        Some(Ok(port)) if port > 0 => port,
        Some(_) => return wrong(Place::Flag("--port".into()), "invalid port", "write 1 to 65535"),
    };
    let setup = ServerSetup {
        host: host.clone().unwrap_or_else(machine::host),
        port,
        agents: agents.split(',').map(str::to_owned).collect(),
        requires_certificates: *mutual_tls,
    };
    let files = setup
        .files()
        .map_err(|problem| Failure::from(Diagnostic::of("U011", Place::Flag("--agents".into()), problem)))?;
    write(Path::new(folder), &files)?;
    say::result(&instructions(folder, &setup))?;
    Ok(Exit::Pass)
}

fn wrong(place: Place, message: &str, hint: &str) -> Result<Exit, Failure> {
    Err(Diagnostic::new("U012", place, message, hint).into())
}

/// Writes the files into a new directory that only its owner can enter.
fn write(folder: &Path, files: &[SetupFile]) -> Result<(), Failure> {
    if folder.exists() {
        let message = format!("`{}` exists already", folder.display());
        let hint = "name a new directory: keys are never replaced";
        return Err(Diagnostic::new("U020", Place::Whole, message, hint).into());
    }
    let failed = |path: &Path, e: std::io::Error| {
        Failure::machine(format!("cannot write `{}`: {e}", path.display()), None)
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| failed(folder, e))?;
    for file in files {
        let path = folder.join(&file.name);
        let mode = if file.is_secret { 0o600 } else { 0o644 };
        let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        opened
            .and_then(|mut opened| opened.write_all(file.content.as_bytes()))
            .map_err(|e| failed(&path, e))?;
    }
    Ok(())
}

/// Returns what to do with the files.
fn instructions(folder: &str, setup: &ServerSetup) -> String {
    let ServerSetup { host, port, agents, requires_certificates } = setup;
    let words = |name: &str| {
        let certificate = match requires_certificates {
            true => format!(" --nats-cert {name}.pem --nats-key {name}.key"),
            false => String::new(),
        };
        format!("--nats tls://{host}:{port} --nats-ca ca.pem --nkey {name}.nk{certificate}")
    };
    let mut text = format!("{folder}: keys, certificates, and server.conf\n");
    text.push_str(&format!("Start the server:    cd {folder} && nats-server -c server.conf\n"));
    for agent in agents {
        text.push_str(&format!("On agent {agent}:    plimsoll agent --name {agent} {}\n", words(agent)));
    }
    let count = agents.len();
    text.push_str(&format!("Run a load:    plimsoll run FILE --agents {count} {}\n", words(COORDINATOR)));
    text.push_str("Copy to each machine only ca.pem and the files with its name.\n");
    text
}
