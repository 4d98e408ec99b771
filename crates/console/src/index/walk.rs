//! Finds run files and folders of experiments without reading any of them.

use super::Unreadable;
use crate::hash::{OFFSET, fnv, hash};
use plimsoll_experiment::folder::INDEX;
use plimsoll_experiment::folder::parts::PARTS;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum depth of folders.
const DEPTH_MAX: usize = 6;
/// A run writes every second; one whose log is older than this has ended.
const DEAD_AFTER_NS: u64 = 30_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A run file.
    Run,
    /// The folder of an experiment.
    Experiment,
    /// A folder of several experiments.
    Parts,
}

#[derive(Debug, Clone)]
pub struct Found {
    pub path: PathBuf,
    pub shape: Shape,
    /// Changes whenever the files do.
    pub stamp: String,
    /// Total size of the run files.
    pub bytes: u64,
    pub is_going_on: bool,
}

#[derive(Default)]
pub struct Looked {
    pub found: Vec<Found>,
    /// Run files of experiments, which are not listed separately.
    pub cells: Vec<PathBuf>,
    /// Unreadable folders.
    pub unreadable: Vec<Unreadable>,
}

/// Derives an id from the path's bytes, equal in every process and version.
pub fn id_of(path: &Path) -> String {
    hash(path.as_os_str().as_encoded_bytes())
}

/// Scans each folder and its subfolders; a missing folder counts as empty.
pub fn walk(folders: &[PathBuf], now_unix_ns: u64) -> Looked {
    let mut looked = Looked::default();
    let roots = roots(folders);
    for folder in folders {
        look(folder, &roots, 0, now_unix_ns, &mut looked);
    }
    // Folders may contain each other.
    looked.found.sort_by(|a, b| a.path.cmp(&b.path));
    looked.found.dedup_by(|a, b| a.path == b.path);
    looked
}

/// Returns the canonical paths of the folders.
fn roots(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Checks whether a path may be shown: it must be a file or a folder within the folders, not a pipe or a link that
/// leads out of them.
///
/// # Errors
/// Returns the reason why it may not.
pub fn check(folders: &[PathBuf], path: &Path) -> Result<(), String> {
    let shown = path.display();
    let real = path.canonicalize().map_err(|e| format!("`{shown}` no longer exists: {e}"))?;
    if !roots(folders).iter().any(|root| real.starts_with(root)) {
        return Err(format!("`{shown}`: {LEADS_OUT}"));
    }
    match real.is_file() || real.is_dir() {
        true => Ok(()),
        false => Err(format!("`{shown}`: {IRREGULAR}")),
    }
}

/// Checks that a part's folder is directly below the folder of parts, and that its list is a regular file, because
/// its name comes from an untrusted file.
///
/// # Errors
/// Returns the reason why it is not.
pub fn sound(parts: &Path, name: &str) -> Result<(), String> {
    let mut components = Path::new(name).components();
    let is_plain = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    if !is_plain {
        return Err(format!(
            "`{}` lists the part `{name}`, which is not a directory below it",
            parts.display()
        ));
    }
    let folder = parts.join(name);
    for path in [folder.clone(), folder.join(INDEX)] {
        match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => return Err(format!("`{}`: {LEADS_OUT}", path.display())),
            Ok(meta) if !meta.is_file() && path != folder => {
                return Err(format!("`{}`: {IRREGULAR}", path.display()));
            }
            // A part that has not run has no list.
            _ => {}
        }
    }
    Ok(())
}

const LEADS_OUT: &str = "the link leads out of the listed directories";
const IRREGULAR: &str = "not a regular file";

fn look(folder: &Path, roots: &[PathBuf], depth: usize, now_unix_ns: u64, looked: &mut Looked) {
    let (entries, mut refused) = match list(folder, roots) {
        Ok(listed) => listed,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return,
        Err(e) => {
            let path = folder.display().to_string();
            looked.unreadable.push(Unreadable { path, reason: format!("cannot read the directory: {e}") });
            return;
        }
    };
    let has = |name: &str| entries.iter().any(|entry| entry.is_named(name));
    let shape = if has(PARTS) {
        Some(Shape::Parts)
    } else if has(INDEX) {
        Some(Shape::Experiment)
    } else {
        None
    };
    let Some(shape) = shape else {
        looked.unreadable.append(&mut refused);
        for entry in entries {
            if entry.is_run() {
                let is_going_on = is_being_written(&entry.path, now_unix_ns);
                let (stamp, bytes) = (entry.stamp(), entry.meta.len());
                looked.found.push(Found { path: entry.path, shape: Shape::Run, stamp, bytes, is_going_on });
            } else if entry.meta.is_dir() && depth < DEPTH_MAX {
                look(&entry.path, roots, depth + 1, now_unix_ns, looked);
            }
        }
        return;
    };
    let mut all = entries;
    if shape == Shape::Parts {
        refused.append(&mut add_below(&mut all, roots));
    }
    // The page of a folder reads everything in it.
    if !refused.is_empty() {
        looked.unreadable.append(&mut refused);
        return;
    }
    let runs = || all.iter().filter(|entry| entry.is_run());
    let is_going_on = runs().any(|entry| is_being_written(&entry.path, now_unix_ns));
    looked.cells.extend(runs().map(|entry| entry.path.clone()));
    let (stamp, bytes) = (stamp_of_all(&all), runs().map(|entry| entry.meta.len()).sum());
    looked.found.push(Found { path: folder.to_path_buf(), shape, stamp, bytes, is_going_on });
}

/// Adds what the folders in `all` contain: the runs of parts. A folder that has vanished contains nothing. Returns
/// what may not be read.
fn add_below(all: &mut Vec<Item>, roots: &[PathBuf]) -> Vec<Unreadable> {
    let folders: Vec<PathBuf> =
        all.iter().filter(|entry| entry.meta.is_dir()).map(|entry| entry.path.clone()).collect();
    let mut refused = Vec::new();
    for folder in folders {
        let (mut below, mut not) = list(&folder, roots).unwrap_or_default();
        all.append(&mut below);
        refused.append(&mut not);
    }
    refused
}

/// Returns the current stamp of a file in one of the folders.
pub fn stamp_now(found: &Found, folders: &[PathBuf]) -> Option<String> {
    let roots = roots(folders);
    match found.shape {
        Shape::Run => Item::at(found.path.clone()).ok().map(|item| item.stamp()),
        Shape::Experiment => list(&found.path, &roots).ok().map(|(all, _)| stamp_of_all(&all)),
        Shape::Parts => {
            let (mut all, _) = list(&found.path, &roots).ok()?;
            add_below(&mut all, &roots);
            Some(stamp_of_all(&all))
        }
    }
}

/// Returns whether the run's log was written to recently. A kill also leaves a log, but an old one.
pub fn is_being_written(run: &Path, now_unix_ns: u64) -> bool {
    let mut log = run.as_os_str().to_owned();
    log.push("-wal");
    let touched = [PathBuf::from(log), run.to_path_buf()].map(|path| std::fs::metadata(path).ok());
    let [Some(log), run] = touched else { return false };
    let last = changed_ns(&log).max(run.as_ref().map_or(0, changed_ns));
    now_unix_ns.saturating_sub(last) < DEAD_AFTER_NS
}

struct Item {
    path: PathBuf,
    meta: Metadata,
}

impl Item {
    /// Follows links to files but not to folders, so that every scan ends.
    fn at(path: PathBuf) -> std::io::Result<Item> {
        let mut meta = path.symlink_metadata()?;
        if meta.is_symlink() {
            let target = path.metadata()?;
            if !target.is_dir() {
                meta = target;
            }
        }
        Ok(Item { path, meta })
    }

    fn is_named(&self, name: &str) -> bool {
        self.meta.is_file() && self.is_called(name)
    }

    fn is_called(&self, name: &str) -> bool {
        self.path.file_name().is_some_and(|own| own == name)
    }

    fn is_run(&self) -> bool {
        self.meta.is_file() && self.is_called_run()
    }

    fn is_called_run(&self) -> bool {
        self.path.extension().is_some_and(|e| e == "plim")
    }

    /// Returns why something with the name of a run or a list may not be read.
    fn refused(&self, roots: &[PathBuf]) -> Option<&'static str> {
        let is_ours = self.is_called_run() || self.is_called(INDEX) || self.is_called(PARTS);
        if !is_ours || self.meta.is_dir() || self.meta.is_symlink() {
            return None;
        }
        let is_link = self.path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let is_inside = |real: PathBuf| roots.iter().any(|root| real.starts_with(root));
        if is_link && !self.path.canonicalize().is_ok_and(is_inside) {
            return Some(LEADS_OUT);
        }
        (!self.meta.is_file()).then_some(IRREGULAR)
    }

    fn stamp(&self) -> String {
        format!("{}:{}", self.meta.len(), changed_ns(&self.meta))
    }
}

/// Returns the folder's content sorted by name, and what may not be read. What vanishes meanwhile is ignored.
fn list(folder: &Path, roots: &[PathBuf]) -> std::io::Result<(Vec<Item>, Vec<Unreadable>)> {
    let (mut items, mut refused): (Vec<Item>, Vec<Unreadable>) = Default::default();
    for entry in std::fs::read_dir(folder)? {
        let Ok(item) = Item::at(entry?.path()) else { continue };
        match item.refused(roots) {
            Some(why) => {
                refused.push(Unreadable { path: item.path.display().to_string(), reason: why.to_owned() });
            }
            None => items.push(item),
        }
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    refused.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((items, refused))
}

/// Returns a stamp of the run files and lists, excluding annotations.
fn stamp_of_all(items: &[Item]) -> String {
    let names = [INDEX, PARTS];
    let mut hash = OFFSET;
    for item in items.iter().filter(|item| item.is_run() || names.iter().any(|name| item.is_named(name))) {
        hash = fnv(item.path.as_os_str().as_encoded_bytes(), hash);
        hash = fnv(item.stamp().as_bytes(), hash);
    }
    format!("{hash:016x}")
}

fn changed_ns(meta: &Metadata) -> u64 {
    let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos() as u64)
}
