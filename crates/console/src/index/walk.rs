//! Finds run files and folders of experiments, without reading any.

use super::Unreadable;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
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

/// A number of 64 bits from the path's bytes, as text: FNV-1a, which is the same in every process and version.
pub fn id_of(path: &Path) -> String {
    let hash = fnv(path.as_os_str().as_encoded_bytes(), OFFSET);
    format!("{hash:016x}")
}

/// Offset basis and prime of FNV-1a for 64 bits (Fowler, Noll, Vo).
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn fnv(bytes: &[u8], from: u64) -> u64 {
    bytes.iter().fold(from, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// Each folder that is there, and those below it. A folder that is not there yet is empty.
pub fn walk(folders: &[PathBuf], now_unix_ns: u64) -> Looked {
    let mut looked = Looked::default();
    for folder in folders {
        look(folder, 0, now_unix_ns, &mut looked);
    }
    // Folders may lie in each other.
    looked.found.sort_by(|a, b| a.path.cmp(&b.path));
    looked.found.dedup_by(|a, b| a.path == b.path);
    looked
}

fn look(folder: &Path, depth: usize, now_unix_ns: u64, looked: &mut Looked) {
    let entries = match list(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return,
        Err(e) => {
            let path = folder.display().to_string();
            looked.unreadable.push(Unreadable { path, why: format!("the folder cannot be read: {e}") });
            return;
        }
    };
    let has = |name: &str| entries.iter().any(|entry| entry.is_named(name));
    let shape = if has(plimsoll_record::folder::parts::PARTS) {
        Some(Shape::Parts)
    } else if has(plimsoll_record::folder::INDEX) {
        Some(Shape::Experiment)
    } else {
        None
    };
    if let Some(shape) = shape {
        let mut all = entries;
        if shape == Shape::Parts {
            add_below(&mut all);
        }
        let runs = || all.iter().filter(|entry| entry.is_run());
        let is_going_on = runs().any(|entry| is_being_written(&entry.path, now_unix_ns));
        looked.cells.extend(runs().map(|entry| entry.path.clone()));
        let stamp = stamp_of_all(&all);
        looked.found.push(Found { path: folder.to_path_buf(), shape, stamp, is_going_on });
        return;
    }
    for entry in entries {
        if entry.is_run() {
            let is_going_on = is_being_written(&entry.path, now_unix_ns);
            let stamp = entry.stamp();
            looked.found.push(Found { path: entry.path, shape: Shape::Run, stamp, is_going_on });
        } else if entry.meta.is_dir() && depth < DEPTH_MAX {
            look(&entry.path, depth + 1, now_unix_ns, looked);
        }
    }
}

/// What lies in the folders among `all`, too: the runs of parts. A folder that went meanwhile has nothing.
fn add_below(all: &mut Vec<Item>) {
    let folders = all.iter().filter(|entry| entry.meta.is_dir());
    let below: Vec<Item> = folders.flat_map(|entry| list(&entry.path).unwrap_or_default()).collect();
    all.extend(below);
}

/// How a file looks now.
pub fn stamp_now(found: &Found) -> Option<String> {
    match found.shape {
        Shape::Run => Item::at(found.path.clone()).ok().map(|item| item.stamp()),
        Shape::Experiment => list(&found.path).ok().map(|all| stamp_of_all(&all)),
        Shape::Parts => {
            let mut all = list(&found.path).ok()?;
            add_below(&mut all);
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
            if target.is_file() {
                meta = target;
            }
        }
        Ok(Item { path, meta })
    }

    fn is_named(&self, name: &str) -> bool {
        self.meta.is_file() && self.path.file_name().is_some_and(|own| own == name)
    }

    fn is_run(&self) -> bool {
        self.meta.is_file() && self.path.extension().is_some_and(|e| e == "plim")
    }

    fn stamp(&self) -> String {
        format!("{}:{}", self.meta.len(), changed_ns(&self.meta))
    }
}

/// The folder's content by name. What vanishes meanwhile was not there.
fn list(folder: &Path) -> std::io::Result<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        items.extend(Item::at(entry?.path()).ok());
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(items)
}

/// Of the run files and lists, not of the remarks.
fn stamp_of_all(items: &[Item]) -> String {
    let names = [plimsoll_record::folder::INDEX, plimsoll_record::folder::parts::PARTS];
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
