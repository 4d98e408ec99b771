//! Loads from several machines: `plimsoll agent`, `plimsoll agents`, and the coordinator of a load with `--agents`.

mod access;
mod child;
mod coordinate;
mod doctor;
mod files;
mod journal;
mod keys;
mod local;
mod monitors;
mod needs;
mod options;
mod part_file;
mod roll_call;
mod scopes;
mod serve;
mod spool;
mod task;
pub mod tools;
mod variables;

use crate::exit::{Exit, Failure};
use crate::flags::agents::{AccessFlags, Agents, AgentsAction};
use crate::{say, wall};
pub use coordinate::measure;
pub use local::LocalAgents;
pub use monitors::refuse as refuse_monitors;
pub use options::check;
use plimsoll_cluster::bus::{Access, Bus, Heard};
use plimsoll_cluster::message::{Beat, Identity};
use plimsoll_cluster::subject;
use plimsoll_output::format;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::counted;
pub use scopes::refuse as refuse_scopes;
pub use serve::agent;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

/// Returns an agent as a word for its load generator.
fn as_agent(identity: &Identity) -> String {
    let labels = identity.labels.iter().map(|(name, value)| format!(",{name}={value}"));
    format!("{}{}", identity.name, labels.collect::<String>())
}

/// Returns the name and the labels of such a word.
pub fn own(word: &str) -> (String, BTreeMap<String, String>) {
    let mut parts = word.split(',');
    let name = parts.next().unwrap_or_default().to_owned();
    let label = |part: &str| part.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    (name, parts.filter_map(label).collect())
}

/// Connects to the server that the flags name.
///
/// # Errors
/// Returns an error if there is none, or if it cannot be reached.
fn connected(flags: &AccessFlags, name: &str) -> Result<(Bus, Receiver<Heard>), Failure> {
    let Some(url) = &flags.nats else {
        return Err(Diagnostic::new(
            "U012",
            Place::Flag("--nats".into()),
            "missing address of the NATS server",
            "add it, such as `--nats nats://10.0.0.1:4222`",
        )
        .into());
    };
    access::check(flags, url)?;
    let certificate = flags.nats_cert.clone().zip(flags.nats_key.clone());
    let access = Access {
        url: url.clone(),
        credentials: flags.creds.as_ref().map(PathBuf::from),
        nkey: flags.nkey.as_ref().map(PathBuf::from),
        ca: flags.nats_ca.as_ref().map(PathBuf::from),
        certificate: certificate.map(|(certificate, key)| (certificate.into(), key.into())),
        inbox: subject::inbox(name),
        name: name.to_owned(),
    };
    let (sender, heard) = channel();
    let bus = Bus::connect(access, sender).map_err(|problem| Failure::of(access::explained(problem)))?;
    Ok((bus, heard))
}

/// `plimsoll agents`.
pub fn list(flags: &Agents) -> Result<Exit, Failure> {
    if let Some(AgentsAction::Doctor { access, json, no_color }) = &flags.action {
        return doctor::command(&access.or(&flags.access), *json || flags.json, *no_color);
    }
    let (bus, heard) = connected(&flags.access, "list")?;
    let roster = roll_call::all(&bus, &heard)?;
    let clocks = doctor::clock_bounds(&bus, &heard, &roster)?;
    bus.close();
    let all = roster.all();
    let text = match flags.json {
        true => {
            let rows: Vec<serde_json::Value> = all.iter().map(|beat| row(beat, &clocks)).collect();
            format!("{}\n", serde_json::json!({ "server": bus.server_version(), "agents": rows }))
        }
        false => table(&all, &clocks, bus.server_version().unwrap_or_default()),
    };
    say::result(&text)?;
    Ok(Exit::Pass)
}

/// Bounds of the clocks by the instances of agents, ns.
type Clocks = BTreeMap<String, u64>;

fn row(beat: &Beat, clocks: &Clocks) -> serde_json::Value {
    let identity = &beat.identity;
    serde_json::json!({
        "name": identity.name,
        "host": identity.host,
        "version": identity.version,
        "cpus": identity.cpus,
        "open_files": identity.open_files,
        "labels": identity.labels,
        "run": beat.run,
        "clock_bound_ns": clocks.get(&identity.instance),
    })
}

fn table(all: &[&Beat], clocks: &Clocks, server: &str) -> String {
    let mut text = format!("{} connected to nats-server {server}\n", counted(all.len() as u64, "agent"));
    if all.is_empty() {
        text.push_str("Start one on each machine: plimsoll agent --nats URL\n");
        return text;
    }
    let mut rows = vec![
        ["NAME", "HOST", "VERSION", "CPUS", "OPEN FILES", "CLOCK", "LABELS", "STATE"].map(str::to_owned),
    ];
    rows.extend(all.iter().map(|beat| {
        let identity = &beat.identity;
        let labels: Vec<String> =
            identity.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let state = match &beat.run {
            Some(run) => format!("works for run {run}"),
            None => "free".to_owned(),
        };
        [
            identity.name.clone(),
            identity.host.clone(),
            identity.version.clone(),
            identity.cpus.to_string(),
            identity.open_files.to_string(),
            clocks.get(&identity.instance).map_or("-".into(), |ns| format!("±{}", format::duration_ns(*ns))),
            if labels.is_empty() { "-".into() } else { labels.join(",") },
            state,
        ]
    }));
    let widths: Vec<usize> =
        (0..8).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

/// Returns a new random name of 8 hexadecimal digits.
fn random_name() -> Result<String, Failure> {
    Ok(wall::hex(&wall::random::<4>()?))
}
