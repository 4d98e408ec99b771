//! Finds run files and folders of experiments, without reading any.

use super::Unreadable;
use crate::hash::{OFFSET, fnv, hash};
use plimsoll_experiment::folder::INDEX;
use plimsoll_experiment::folder::parts::PARTS;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Folders in folders, at most.
const DEPTH_MAX: usize = 6;
/// A run writes each second. One whose log was not touched for so long is dead.
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
    /// Size of the run files.
    pub bytes: u64,
    pub is_going_on: bool,
}

#[derive(Default)]
pub struct Looked {
    pub found: Vec<Found>,
    /// Run files of experiments, which are not listed themselves.
    pub cells: Vec<PathBuf>,
    /// Folders that cannot be looked into.
    pub unreadable: Vec<Unreadable>,
}

/// From the path's bytes, and so the same in every process and version.
pub fn id_of(path: &Path) -> String {
    hash(path.as_os_str().as_encoded_bytes())
}

/// Each folder that is there, and those below it. A folder that is not there yet is empty.
pub fn walk(folders: &[PathBuf], now_unix_ns: u64) -> Looked {
    let mut looked = Looked::default();
    let roots = roots(folders);
    for folder in folders {
        look(folder, &roots, 0, now_unix_ns, &mut looked);
    }
    // Folders may lie in each other.
    looked.found.sort_by(|a, b| a.path.cmp(&b.path));
    looked.found.dedup_by(|a, b| a.path == b.path);
    looked
}

/// Where the folders really are.
fn roots(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Whether what is at `path` is still something to be shown: a file or a folder within the folders, not a link that
/// leads out of them, nor a pipe.
///
/// # Errors
/// Why it is not.
pub fn check(folders: &[PathBuf], path: &Path) -> Result<(), String> {
    let shown = path.display();
    let real = path.canonicalize().map_err(|e| format!("`{shown}` is not there any more: {e}"))?;
    if !roots(folders).iter().any(|root| real.starts_with(root)) {
        return Err(format!("`{shown}`: {LEADS_OUT}"));
    }
    match real.is_file() || real.is_dir() {
        true => Ok(()),
        false => Err(format!("`{shown}`: {IRREGULAR}")),
    }
}

/// Whether the folder of a part is one below the folder of the parts, with a list that is a file: the name comes from a
/// file that anybody may have written.
///
/// # Errors
/// Why it is not.
pub fn sound(parts: &Path, name: &str) -> Result<(), String> {
    let mut components = Path::new(name).components();
    let is_plain = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    if !is_plain {
        return Err(format!("`{}` names the part `{name}`, which is no folder below it", parts.display()));
    }
    let folder = parts.join(name);
    for path in [folder.clone(), folder.join(INDEX)] {
        match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => return Err(format!("`{}`: {LEADS_OUT}", path.display())),
            Ok(meta) if !meta.is_file() && path != folder => {
                return Err(format!("`{}`: {IRREGULAR}", path.display()));
            }
            // A part that has not been run has none.
            _ => {}
        }
    }
    Ok(())
}

const LEADS_OUT: &str = "it is a link that leads out of the folders that are shown";
const IRREGULAR: &str = "it is no file but a pipe, a device or the like";

fn look(folder: &Path, roots: &[PathBuf], depth: usize, now_unix_ns: u64, looked: &mut Looked) {
    let (entries, mut refused) = match list(folder, roots) {
        Ok(listed) => listed,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return,
        Err(e) => {
            let path = folder.display().to_string();
            looked.unreadable.push(Unreadable { path, reason: format!("the folder cannot be read: {e}") });
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
    // The page of a folder reads all that is in it.
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

/// What lies in the folders among `all`, too: the runs of parts. A folder that went meanwhile has nothing. Returns
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

/// How a file in one of the folders looks now.
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

/// It has a log beside it that was written to a moment ago. What a kill leaves has a log, too, but an old one.
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
    /// Links to files are followed; links to folders are not looked into, so that no walk is endless.
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

    /// Why something that is called like a run or a list is none to be read.
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

/// The folder's content by name, and what of it may not be read. What vanishes meanwhile was not there.
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

/// Of the run files and lists, not of the annotations.
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
