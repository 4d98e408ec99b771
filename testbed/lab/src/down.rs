//! `lab down` stops everything that was started, in reverse order, and nothing else. It also works after a crash, and
//! can be repeated.

use super::state::State;
use super::{link, places, process, state};
use chore::Outcome;
use chore::look;
use std::time::{Duration, Instant};

/// Stops a system. After an error, it continues with the rest. The caller holds the lock of the system.
pub fn down(name: &str) -> Outcome {
    let folder = places::state(name);
    let Some(state) = State::read(&folder)? else { return Ok(()) };
    let mut failed: Vec<String> = Vec::new();
    // After a reboot, the PIDs belong to other processes, and the namespaces no longer exist.
    if state.this_boot() {
        for running in state.processes.iter().rev() {
            failed.extend(process::stop(running, &state.mark()).err());
        }
        // Processes that left their group, or that were started just before a crash and not recorded.
        process::stop_marked(&state.mark());
        for linked in &state.links {
            failed.extend(link::remove(linked.number).err());
        }
    }
    for folder in &state.folders {
        match std::fs::remove_dir_all(folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                failed.push(format!("cannot remove `{}`: {e}", folder.display()));
            }
            _ => {}
        }
    }
    super::remove_file(&folder.join("password"))?;
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    state.forget()
}

/// Time for which a listening socket may outlive its process.
const ORPHANS: Duration = Duration::from_secs(5);

/// Returns what still exists of a system that was stopped, one sentence each.
pub fn find_leftovers(before: &State) -> Vec<String> {
    let mut left = Vec::new();
    let mark = before.mark();
    let mut pids: Vec<i32> = look::marked(&mark);
    for running in &before.processes {
        pids.extend(process::members(running, &mark));
    }
    for folder in &before.folders {
        // The processes of PostgreSQL create their own groups and overwrite their environment; their working directory
        // is the data folder.
        pids.extend(look::with_working_directory_in(folder));
        if folder.exists() {
            left.push(format!("folder `{}`", folder.display()));
        }
    }
    pids.sort_unstable();
    pids.dedup();
    for pid in pids {
        let command = look::stat(pid).map(|stat| stat.command).unwrap_or_default();
        left.push(format!("process `{command}` (PID {pid})"));
    }
    // Check all hundred ports, including those that the file does not name. The kernel closes the sockets of a killed
    // process shortly after its end, so a socket without an owner is checked again before it is reported.
    let deadline = Instant::now() + ORPHANS;
    let mut open = look::listeners(before.base);
    while open.iter().any(|(_, inode)| look::owner(*inode).is_none()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        open = look::listeners(before.base);
    }
    for (port, inode) in open {
        let owner = look::owner(inode).unwrap_or_else(|| "an unknown process".into());
        left.push(format!("port {port}, in use by {owner}"));
    }
    left.extend(before.links.iter().filter_map(|linked| link::left(linked.number)));
    left
}

pub fn command(names: &[String]) -> Outcome {
    let mut failed = Vec::new();
    let known = places::names()?;
    for name in names {
        // A system whose folder was deleted may still be up.
        if !known.contains(name) && State::read(&places::state(name))?.is_none() {
            return Err(format!("unknown system `{name}`\nhelp: choose one of {}", known.join(", ")));
        }
        let _lock = state::lock(&places::state(name), name)?;
        let before = State::read(&places::state(name))?;
        match (down(name), before) {
            (Ok(()), None) => println!("{name}: is down already"),
            (Ok(()), Some(before)) => {
                println!("{name}: is down; processes stopped: {}", before.processes.len())
            }
            (Err(sentence), _) => failed.push(format!("{name}: {sentence}")),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}
