//! `lab list`: every system with its processes, PIDs, ports, and their current health.

use super::state::{Running, State};
use super::{places, process};
use chore::Outcome;
use std::io::{ErrorKind, Write};

pub fn command() -> Outcome {
    let names = places::names()?;
    if names.is_empty() {
        return say("no system found: no folder below testbed has a lab.toml\n").map(|_| ());
    }
    for name in &names {
        let (system, _) = places::system(name, None)?;
        let mut text = format!("{name}: {}\n", system.about);
        let state = State::read(&places::state(name))?.filter(State::this_boot);
        match state {
            Some(state) => text.push_str(&rows(&state)),
            None => {
                let ports: Vec<u16> = system.process.iter().flat_map(|p| p.offsets()).collect();
                let ports: Vec<String> =
                    ports.iter().map(|offset| (system.base * 100 + offset).to_string()).collect();
                text.push_str(&format!("  down; base {}, ports {}\n\n", system.base, ports.join(" ")));
            }
        }
        if !say(&text)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Prints the table of systems that are up.
pub fn print(names: &[String]) -> Outcome {
    for name in names {
        if let Some(state) = State::read(&places::state(name))? {
            say(&format!("{name}:\n{}", rows(&state)))?;
        }
    }
    Ok(())
}

/// Prints a text. Returns false if the reader has closed the pipe, as `lab list | head` does: that is not an error.
fn say(text: &str) -> Result<bool, String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(format!("cannot print: {e}")),
    }
}

/// Returns a line for each process, in the order of their start.
fn rows(state: &State) -> String {
    let mut text = String::new();
    let width = state.processes.iter().map(|p| p.name.len()).max().unwrap_or_default();
    for running in &state.processes {
        let ports: Vec<String> = running.ports.iter().map(u16::to_string).collect();
        let place = if running.host == "127.0.0.1" { String::new() } else { format!(" on {}", running.host) };
        let ports =
            if ports.is_empty() { String::new() } else { format!("  port {}{place}", ports.join(" ")) };
        let health = health(running);
        text.push_str(&format!("  {:width$}  PID {:<7}  {health}{ports}\n", running.name, running.pid));
    }
    if !state.whole {
        text.push_str("  incomplete: `cargo xtask lab down` stops the rest\n");
    }
    text.push('\n');
    text
}

/// Returns the health in a few words. The order matters: a dead process has no port, and without a port no health.
fn health(running: &Running) -> String {
    if !running.lives() {
        return "has died".into();
    }
    if let Some(port) = running.ports.iter().find(|port| !process::answers(&running.host, **port)) {
        return format!("port {port} does not accept connections");
    }
    match running.health.as_deref().map(process::status) {
        None if running.ports.is_empty() => "running".into(),
        None | Some(Some(200)) => "healthy".into(),
        Some(Some(code)) => format!("health check returns {code}"),
        Some(None) => "health check does not respond".into(),
    }
}
