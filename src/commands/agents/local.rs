//! `--agents local:N`: agents as threads of this process, which need no server.

use super::random_name;
use super::serve::LocalAgent;
use crate::commands::load::Shared;
use crate::exit::Failure;
use crate::flags::load::MannerFlags;
use plimsoll_cluster::bus::{Bus, Heard, Hub};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

/// Prefix of the directories of processes with agents.
const PREFIX: &str = "plimsoll-local-";
/// File in such a directory that is locked for as long as the process lives.
const LOCK: &str = "lock";

/// Returns a connection to `count` agents in this process, and what it hears.
///
/// # Errors
/// Returns an error for flags of a server, or if the machine lacks what the agents need.
pub fn connected(
    count: u32,
    manner: &MannerFlags,
    shared: &Shared,
) -> Result<(Bus, Receiver<Heard>), Failure> {
    let flags = [
        (manner.agents.access.nats.is_some(), "--nats"),
        (manner.agents.signing_key.is_some(), "--signing-key"),
    ];
    if let Some((_, flag)) = flags.iter().find(|(is_given, _)| *is_given) {
        let message = "agents of `local:N` are threads of this process, which no server reaches";
        return Err(Diagnostic::new("U037", Place::Flag((*flag).into()), message, "omit it").into());
    }
    shared.local_agents.borrow_mut().connected(count, &manner.allow)
}

/// Agents that end with this value.
#[derive(Default)]
pub struct LocalAgents {
    hub: Hub,
    // They end before their directory.
    agents: Vec<LocalAgent>,
    folder: Option<Folder>,
}

impl LocalAgents {
    /// Starts what is missing to `count` agents named `local-1` and so on, which may load the hosts `allow`. Returns
    /// a connection to them, and what it hears.
    ///
    /// # Errors
    /// Returns an error if the machine gives no more threads, or no directory for their files.
    pub fn connected(&mut self, count: u32, allow: &[String]) -> Result<(Bus, Receiver<Heard>), Failure> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => Folder::create(&std::env::temp_dir())?,
        };
        let folder = self.folder.insert(folder);
        for number in self.agents.len() + 1..=count as usize {
            self.agents.push(LocalAgent::start(format!("local-{number}"), &self.hub, &folder.path, allow)?);
        }
        let (sender, heard) = channel();
        Ok((Bus::join(&self.hub, sender), heard))
    }
}

/// The directory of the files of these agents, which is deleted with this value.
struct Folder {
    path: PathBuf,
    /// Locked.
    _lock: File,
}

impl Folder {
    /// Creates one below `base`, and deletes those of processes that were killed.
    fn create(base: &Path) -> Result<Folder, Failure> {
        let entries = std::fs::read_dir(base).into_iter().flatten().flatten();
        let others = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
        for other in others.filter(|other| is_left(&other.path())) {
            // Another process may delete it at the same time.
            let _ = std::fs::remove_dir_all(other.path());
        }
        let path = base.join(format!("{PREFIX}{}", random_name()?));
        let locked = || {
            std::fs::create_dir(&path)?;
            // Under its name, it is always locked.
            let new = path.join("new");
            let lock = File::create(&new)?;
            lock.try_lock()?;
            std::fs::rename(&new, path.join(LOCK))?;
            Ok(lock)
        };
        let lock = locked().map_err(|e: std::io::Error| {
            Failure::machine(format!("cannot create directory `{}`: {e}", path.display()), None)
        })?;
        Ok(Folder { path, _lock: lock })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Otherwise, the next command deletes it.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Returns whether the process of a directory has ended without deleting it.
fn is_left(folder: &Path) -> bool {
    File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}
