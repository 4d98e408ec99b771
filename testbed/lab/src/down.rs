//! `lab down`: everything that was started is stopped, in reverse order, and nothing else. Also behind a crash, and
//! as often as one likes.

use super::state::State;
use super::{link, places, process, state};
use chore::Outcome;
use chore::look;
use std::time::{Duration, Instant};

/// Stops a system. Goes on behind an error: the rest is to go down too. Whoever calls holds its lock.
pub fn down(name: &str) -> Outcome {
    let folder = places::state(name);
    let Some(state) = State::read(&folder)? else { return Ok(()) };
    let mut failed: Vec<String> = Vec::new();
    // After a reboot the pids belong to others, and namespaces are gone.
    if state.this_boot() {
        for running in state.processes.iter().rev() {
            failed.extend(process::stop(running, &state.mark()).err());
        }
        // Whoever left its group, or was started a moment before a crash and never written down.
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

/// How long a listening socket may outlive its process.
const ORPHANS: Duration = Duration::from_secs(5);

/// What a system that is said to be down has left behind, one sentence each.
pub fn left_behind(before: &State) -> Vec<String> {
    let mut left = Vec::new();
    let mark = before.mark();
    let mut pids: Vec<i32> = look::marked(&mark);
    for running in &before.processes {
        pids.extend(process::members(running, &mark));
    }
    for folder in &before.folders {
        // PostgreSQL's servers make groups of their own and write over their environment; they stand in their data.
        pids.extend(look::standing_in(folder));
        if folder.exists() {
            left.push(format!("folder `{}`", folder.display()));
        }
    }
    pids.sort_unstable();
    pids.dedup();
    for pid in pids {
        let command = look::stat(pid).map(|stat| stat.command).unwrap_or_default();
        left.push(format!("process `{command}` (pid {pid})"));
    }
    // Any of the hundred ports, also those that no line of the file names.
    // The kernel closes the sockets of a process that was killed a moment after it is gone: one without an owner is
    // looked at again before it is told.
    let deadline = Instant::now() + ORPHANS;
    let mut open = look::listeners(before.base);
    while open.iter().any(|(_, inode)| look::owner(*inode).is_none()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        open = look::listeners(before.base);
    }
    for (port, inode) in open {
        let owner = look::owner(inode).unwrap_or_else(|| "somebody".into());
        left.push(format!("port {port}, held by {owner}"));
    }
    left.extend(before.links.iter().filter_map(|linked| link::left(linked.number)));
    left
}

pub fn command(names: &[String]) -> Outcome {
    let mut failed = Vec::new();
    let known = places::names()?;
    for name in names {
        // A system whose folder is gone may still be up.
        if !known.contains(name) && State::read(&places::state(name))?.is_none() {
            return Err(format!("there is no system `{name}`\nhint: there are: {}", known.join(", ")));
        }
        let _lock = state::lock(&places::state(name), name)?;
        let before = State::read(&places::state(name))?;
        match (down(name), before) {
            (Ok(()), None) => println!("{name}: is down"),
            (Ok(()), Some(before)) => {
                println!("{name}: is down; processes stopped: {}", before.processes.len())
            }
            (Err(sentence), _) => failed.push(format!("{name}: {sentence}")),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}
