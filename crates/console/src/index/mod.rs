//! The list of all runs and experiments below some folders. Each file is read once; what is worth listing is kept in
//! a file of our own, which is made again from the run files whenever it is missing, damaged, or of another version.

mod entry;
mod walk;

pub use entry::Entry;
pub use walk::{id_of, is_being_written};

use crate::remarks;
use entry::read;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use walk::{Found, walk};

/// Version of the file; another one is made anew.
const VERSION: u32 = 2;

/// One listing reads no longer than this, ns: the rest is read by the next one.
const READING_NS: u64 = 3_000_000_000;

/// What there is, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    pub entries: Vec<Entry>,
    pub unreadable: Vec<Unreadable>,
    /// Files that were not read yet, because there are many: ask again.
    pub unread: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    pub path: String,
    pub why: String,
}

/// What was read of a file when it looked like this.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    /// Size and time of the last change, see [`walk`].
    stamp: String,
    entry: Option<Entry>,
    unreadable: Option<Unreadable>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    known: BTreeMap<String, Known>,
}

pub struct Index {
    folders: Vec<PathBuf>,
    file: PathBuf,
    now_unix_ns: fn() -> u64,
    known: BTreeMap<String, Known>,
    /// Runs that are being written, as they were when they were first seen: their files change every second.
    going_on: HashMap<String, Entry>,
    /// Every run and folder that may be asked for, by id: nothing else on the disk can be.
    paths: HashMap<String, PathBuf>,
}

impl Index {
    /// Reads nothing but the index file.
    pub fn new(folders: Vec<PathBuf>, file: PathBuf, now_unix_ns: fn() -> u64) -> Self {
        // Whatever is wrong with it, the run files know better.
        let stored = std::fs::read_to_string(&file).ok();
        let stored: Option<Stored> = stored.and_then(|text| serde_json::from_str(&text).ok());
        let known = stored.filter(|stored| stored.version == VERSION).map(|stored| stored.known);
        let known = known.unwrap_or_default();
        Self { folders, file, now_unix_ns, known, going_on: HashMap::new(), paths: HashMap::new() }
    }

    /// Looks at the folders, and reads what it has not read before.
    pub fn list(&mut self) -> Listing {
        let begun_ns = (self.now_unix_ns)();
        let looked = walk(&self.folders, begun_ns);
        let mut listing = Listing { entries: Vec::new(), unreadable: looked.unreadable, unread: 0 };
        self.paths = looked.cells.into_iter().map(|path| (id_of(&path), path)).collect();
        let mut now_known = BTreeMap::new();
        let mut has_changed = false;
        for found in looked.found {
            let id = id_of(&found.path);
            self.paths.insert(id.clone(), found.path.clone());
            if found.is_going_on {
                listing.entries.extend(self.one_going_on(&id, &found));
                continue;
            }
            self.going_on.remove(&id);
            let known = match self.known.remove(&id).filter(|known| known.stamp == found.stamp) {
                Some(known) => known,
                None if (self.now_unix_ns)().saturating_sub(begun_ns) > READING_NS => {
                    listing.unread += 1;
                    continue;
                }
                None => {
                    has_changed = true;
                    freshly_read(&found)
                }
            };
            // What cannot be read is nothing to be shown or given away.
            if known.entry.is_none() {
                self.paths.remove(&id);
            }
            listing.entries.extend(known.entry.clone());
            listing.unreadable.extend(known.unreadable.clone());
            now_known.insert(id, known);
        }
        has_changed |= !self.known.is_empty();
        self.known = now_known;
        if has_changed && let Err(e) = self.store() {
            let why = format!("the index cannot be kept, so every start reads all files: {e}");
            listing.unreadable.push(Unreadable { path: self.file.display().to_string(), why });
        }
        for entry in &mut listing.entries {
            let Some(path) = self.paths.get(&entry.id) else { continue };
            match remarks::read(path) {
                Ok(remarks) => (entry.tags, entry.note) = (remarks.tags, remarks.note),
                Err(why) => {
                    let path = remarks::file_of(path).display().to_string();
                    listing.unreadable.push(Unreadable { path, why });
                }
            }
        }
        listing.entries.sort_by(|a, b| {
            (b.going_on, b.started_unix_ns, &b.id).cmp(&(a.going_on, a.started_unix_ns, &a.id))
        });
        listing
    }

    /// The path behind an id: only what a walk has found has one.
    pub fn path(&mut self, id: &str) -> Option<PathBuf> {
        if !self.paths.contains_key(id) {
            self.list();
        }
        self.paths.get(id).cloned()
    }

    /// One of the list.
    pub fn entry(&mut self, id: &str) -> Option<Entry> {
        self.list().entries.into_iter().find(|entry| entry.id == id)
    }

    /// Read when it is first seen; `None` while there is nothing in it yet.
    fn one_going_on(&mut self, id: &str, found: &Found) -> Option<Entry> {
        if !self.going_on.contains_key(id) {
            let entry = read(found).ok()?;
            self.going_on.insert(id.to_owned(), Entry { going_on: true, ..entry });
        }
        self.going_on.get(id).cloned()
    }

    fn store(&mut self) -> std::io::Result<()> {
        if let Some(folder) = self.file.parent() {
            remarks::own_folder(folder)?;
        }
        let stored = Stored { version: VERSION, known: std::mem::take(&mut self.known) };
        let text = serde_json::to_string(&stored).map_err(std::io::Error::other);
        self.known = stored.known;
        remarks::replace(&self.file, &text?)
    }
}

fn freshly_read(found: &Found) -> Known {
    let (entry, unreadable) = match read(found) {
        Ok(entry) => (Some(entry), None),
        Err(why) => (None, Some(Unreadable { path: found.path.display().to_string(), why })),
    };
    // Reading makes one file of what a kill left in two: that is how it looks from now on.
    let stamp = walk::stamp_now(found).unwrap_or_else(|| found.stamp.clone());
    Known { stamp, entry, unreadable }
}

/// Whether each of the words stands somewhere in the entry, whatever its case.
pub fn matches(entry: &Entry, search: &str) -> bool {
    let verdict = entry.verdict.as_deref().unwrap_or_default();
    let texts =
        [&entry.name, &entry.target, &entry.path, &entry.sentence, &entry.note, entry.kind.name(), verdict];
    let mut hay: String = texts.join("\n").to_lowercase();
    for tag in &entry.tags {
        hay.push('\n');
        hay.push_str(&tag.to_lowercase());
    }
    search.split_whitespace().all(|word| hay.contains(&word.to_lowercase()))
}
