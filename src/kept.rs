//! Contents of the state directory: run files and folders of runs with their sizes, and the reminder to delete old
//! ones.

use crate::exit::Failure;
use crate::{home, say, wall};
use plimsoll_output::format::bytes;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Size from which the reminder is printed, once a month.
const BIG_BYTES: u64 = 100 << 20;
const MONTH_NS: u64 = 30 * 86_400 * 1_000_000_000;
/// A run writes every second, so one that is unchanged for this long has ended.
const IDLE_NS: u64 = 30_000_000_000;
/// Marker file whose modification time says when the reminder was last printed.
const MARKER: &str = "size-reminder";

/// A saved run, or a folder of runs.
pub struct Kept {
    /// File name without its extension: `2026-11-21-032042-127.0.0.1-a3f9`.
    pub name: String,
    pub path: PathBuf,
    pub is_folder: bool,
    /// Size, including the files that SQLite keeps next to a run file.
    pub bytes: u64,
    /// Newest modification time of any of its files.
    pub changed_unix_ns: u64,
}

impl Kept {
    /// Returns true if the run is still being written, so that it is never deleted.
    pub fn is_going_on(&self, now_unix_ns: u64) -> bool {
        now_unix_ns.saturating_sub(self.changed_unix_ns) < IDLE_NS
    }

    /// Deletes the run and the files next to it.
    ///
    /// # Errors
    /// Returns an error if a file cannot be deleted.
    pub fn delete(&self) -> Result<(), Failure> {
        let deleted = match self.is_folder {
            true => std::fs::remove_dir_all(&self.path),
            false => companions(&self.path).iter().try_for_each(std::fs::remove_file),
        };
        deleted.map_err(|e| Failure::machine(format!("cannot delete `{}`: {e}", self.path.display()), None))
    }
}

/// Returns all runs of the state directory, newest first, ignoring other files and links.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn all(folder: &Path) -> Result<Vec<Kept>, Failure> {
    let failed = |e| Failure::machine(format!("cannot read directory `{}`: {e}", folder.display()), None);
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let mut all: Vec<Kept> = entries.flatten().filter_map(|entry| kept(&entry.path())).collect();
    all.sort_by(|a, b| (b.changed_unix_ns, &b.name).cmp(&(a.changed_unix_ns, &a.name)));
    Ok(all)
}

fn kept(path: &Path) -> Option<Kept> {
    let about = path.symlink_metadata().ok()?;
    let file_name = path.file_name()?.to_str()?;
    let is_folder = about.is_dir();
    let (files, name) = match file_name.strip_suffix(".plim") {
        _ if is_folder => (files_below(path), file_name),
        Some(name) if about.is_file() => (companions(path), name),
        _ => return None,
    };
    if !files.iter().any(|file| file.extension().is_some_and(|e| e == "plim")) {
        return None;
    }
    let about: Vec<Metadata> = files.iter().filter_map(|file| file.symlink_metadata().ok()).collect();
    Some(Kept {
        name: name.to_owned(),
        path: path.to_path_buf(),
        is_folder,
        bytes: about.iter().map(Metadata::len).sum(),
        changed_unix_ns: about.iter().map(changed_unix_ns).max().unwrap_or(0),
    })
}

/// Returns the run file and the files that SQLite keeps next to it during a write or after a kill.
fn companions(path: &Path) -> Vec<PathBuf> {
    let next_to = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    ["", "-wal", "-shm", "-journal"].map(next_to).into_iter().filter(|file| file.is_file()).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // Links are neither followed nor counted.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

fn changed_unix_ns(about: &Metadata) -> u64 {
    let since = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Prints the reminder once a month if the state directory is large. Errors here must not fail the run.
pub fn remind() {
    let Ok(folder) = home::state_folder() else { return };
    let Some(parent) = folder.parent() else { return };
    let (marker, now) = (parent.join(MARKER), wall::now_unix_ns());
    let last = marker.symlink_metadata().map_or(0, |about| changed_unix_ns(&about));
    if now.saturating_sub(last) < MONTH_NS {
        return;
    }
    let Ok(all) = all(&folder) else { return };
    let total: u64 = all.iter().map(|kept| kept.bytes).sum();
    if total < BIG_BYTES || std::fs::write(&marker, "").is_err() {
        return;
    }
    say::talk(&format!(
        "note: {} runs in `{}` take {}; delete old ones with `plimsoll runs prune --keep 30d`\n",
        all.len(),
        folder.display(),
        bytes(total)
    ));
}
