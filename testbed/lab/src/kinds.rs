//! The kinds of processes: how to start each, and what to do when it listens.

mod command;
mod nginx;
mod postgres;
mod redis;

use super::file::{Kind, Process, System};
use super::fill::Fill;
use super::link;
use super::process::Spec;
use super::state::State;
use chore::Outcome;
use nix::sys::signal::Signal;

/// Returns how to start a process, and creates its folders.
pub fn spec(process: &Process, system: &System, fill: &Fill, state: &mut State) -> Result<Spec, String> {
    match process.kind {
        Kind::Command => Ok(command::spec(process, system, fill, state)),
        Kind::Postgres => postgres::spec(process, fill, state),
        Kind::Redis => redis::spec(process, fill, state),
        Kind::Nginx => nginx::spec(process, fill, state),
    }
}

/// Completes the start of a process whose ports accept connections.
pub fn settle(process: &Process, system: &System, fill: &Fill, state: &State) -> Outcome {
    match process.kind {
        Kind::Command => command::seed(process, system, state),
        Kind::Postgres => postgres::settle(process, system, fill, state),
        Kind::Redis => redis::settle(process, fill),
        Kind::Nginx => Ok(()),
    }
}

/// Returns the settings that all kinds have in common.
fn plain(process: &Process, fill: &Fill, state: &State) -> Spec {
    let linked = process.link.as_ref().and_then(|name| state.links.iter().find(|l| l.name == *name));
    Spec {
        name: process.name.clone(),
        run: Vec::new(),
        folder: state.folder.clone(),
        env: process.env.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        user: None,
        namespace: linked.map(|l| link::namespace(l.number)),
        nofile: process.nofile,
        ports: process.offsets().map(|offset| fill.port(offset)).collect(),
        host: link::ends(linked).far,
        health: process.health.clone(),
        stop: Signal::SIGTERM,
    }
}
