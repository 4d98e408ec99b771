//! List of all runs and experiments below some folders. Each file is read once; the list is cached in a file, which
//! is recreated from the run files if it is missing, damaged, or of another version.

mod entry;
mod walk;

pub use entry::Entry;
pub use walk::{id_of, is_being_written};

use crate::annotations::{self, Annotations};
use entry::read;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use walk::{Found, walk};

/// Version of the cache file; other versions are recreated.
const VERSION: u32 = 3;

/// Maximum wait for a scan of the folders; after that, the list contains what was found so far.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval at which a long scan saves the cache, ns.
const KEPT_NS: u64 = 3_000_000_000;

/// The list, newest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Listing {
    pub entries: Vec<Entry>,
    pub unreadable: Vec<Unreadable>,
    /// Number of files not read yet; request the list again.
    pub unread_count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    pub path: String,
    pub reason: String,
}

/// Cached entry of a file with this stamp.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    /// Size and modification time; see [`walk`].
    stamp: String,
    entry: Option<Entry>,
    unreadable: Option<Unreadable>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    known: BTreeMap<String, Known>,
}

/// Scans the folders on its own thread, one scan after another. Requests are served from its results. No lock is held
/// while a file is read, so a slow or huge file delays only its own entry.
pub struct Index {
    folders: Vec<PathBuf>,
    file: PathBuf,
    now_unix_ns: fn() -> u64,
    seen: Mutex<Seen>,
    /// Used by the scanning thread only.
    memory: Mutex<Memory>,
    /// Number of the last completed scan.
    done: watch::Sender<u64>,
}

/// Results of the last scan so far.
#[derive(Default)]
struct Seen {
    listing: Listing,
    /// All accessible runs and folders by id; nothing else on the disk can be requested.
    paths: HashMap<String, PathBuf>,
    /// Annotations saved here, with the number of the last scan that may have missed them.
    annotated: HashMap<String, (u64, Annotations)>,
    /// Numbers of the last requested and the last started scan.
    wanted: u64,
    begun: u64,
    begun_ns: u64,
    is_looking: bool,
}

#[derive(Default)]
struct Memory {
    known: BTreeMap<String, Known>,
    /// Runs in progress, as first read, because their files change every second.
    going_on: HashMap<String, Entry>,
}

impl Index {
    /// Creates the index from its cache file, without scanning.
    pub fn new(folders: Vec<PathBuf>, file: PathBuf, now_unix_ns: fn() -> u64) -> Self {
        // The run files replace an invalid cache.
        let stored = std::fs::read_to_string(&file).ok();
        let stored: Option<Stored> = stored.and_then(|text| serde_json::from_str(&text).ok());
        let known = stored.filter(|stored| stored.version == VERSION).map(|stored| stored.known);
        let mut known = known.unwrap_or_default();
        // An unreadable file may have been a problem of the disk.
        known.retain(|_, known| known.entry.is_some());
        let memory = Mutex::new(Memory { known, going_on: HashMap::new() });
        // Before the first results, the list must not appear empty.
        let listing = Listing { unread_count: 1, ..Listing::default() };
        let seen = Mutex::new(Seen { listing, ..Seen::default() });
        Self { folders, file, now_unix_ns, seen, memory, done: watch::Sender::new(0) }
    }

    /// Returns the content of the folders; if a scan takes long, what was found so far.
    pub async fn list(self: &Arc<Self>) -> Listing {
        self.look_again().await;
        let mut listing = self.observed().listing.clone();
        listing.entries.sort_by(|a, b| {
            (b.is_running, b.started_unix_ns, &b.id).cmp(&(a.is_running, a.started_unix_ns, &a.id))
        });
        listing
    }

    /// Returns the path of an id; only scanned paths have one.
    pub async fn path(self: &Arc<Self>, id: &str) -> Option<PathBuf> {
        let known = self.observed().paths.get(id).cloned();
        if known.is_some() {
            return known;
        }
        self.look_again().await;
        self.observed().paths.get(id).cloned()
    }

    /// Returns one entry of the list as last shown.
    pub fn entry(&self, id: &str) -> Option<Entry> {
        self.observed().listing.entries.iter().find(|entry| entry.id == id).cloned()
    }

    /// Shows saved annotations, even if the current scan has already passed them.
    pub fn annotate(&self, id: &str, annotations: Annotations) {
        let mut seen = self.observed();
        if let Some(entry) = seen.listing.entries.iter_mut().find(|entry| entry.id == id) {
            entry.annotate(&annotations);
        }
        let begun = seen.begun;
        seen.annotated.insert(id.to_owned(), (begun, annotations));
    }

    /// Checks whether a path may still be shown, because a link may have been placed there meanwhile.
    ///
    /// # Errors
    /// Returns the reason why it may not.
    pub fn check(&self, path: &Path) -> Result<(), String> {
        walk::check(&self.folders, path)
    }

    /// Waits for a scan that starts after this moment, unless it or the previous one takes too long.
    async fn look_again(self: &Arc<Self>) {
        let mut done = self.done.subscribe();
        let Some(number) = self.want() else { return };
        // The sender lives as long as `self`.
        let _ = timeout(PATIENCE, done.wait_for(|done| *done >= number)).await;
    }

    /// Requests a scan and returns its number; `None` if the current one takes too long to wait for.
    fn want(self: &Arc<Self>) -> Option<u64> {
        let now_ns = (self.now_unix_ns)();
        let mut seen = self.observed();
        // The current scan may have passed what has changed since.
        seen.wanted = seen.begun + 1;
        if seen.is_looking {
            let is_slow = u128::from(now_ns.saturating_sub(seen.begun_ns)) > PATIENCE.as_nanos();
            return (!is_slow).then_some(seen.wanted);
        }
        let (index, number) = (self.clone(), seen.wanted);
        // A dedicated thread, because the pool for other work is small and a scan may take long.
        let looks = std::thread::Builder::new().name("console-index".into()).spawn(move || index.look_on());
        seen.is_looking = looks.is_ok();
        looks.is_ok().then_some(number)
    }

    /// Scans as long as scans are requested.
    fn look_on(self: Arc<Self>) {
        let _looking = Looking(&self);
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = {
                let mut seen = self.observed();
                if seen.begun >= seen.wanted {
                    // Reset under the same lock, so that a later request starts another thread.
                    seen.is_looking = false;
                    return;
                }
                seen.begun = seen.wanted;
                seen.begun_ns = (self.now_unix_ns)();
                seen.begun
            };
            self.look(&mut memory, number);
            self.done.send_replace(number);
        }
    }

    /// Scans the folders and reads new files, the smallest first.
    fn look(&self, memory: &mut Memory, number: u64) {
        let mut looked = walk(&self.folders, (self.now_unix_ns)());
        let mut paths: HashMap<String, PathBuf> =
            looked.cells.drain(..).map(|path| (id_of(&path), path)).collect();
        let mut shown = Listing { unreadable: std::mem::take(&mut looked.unreadable), ..Listing::default() };
        let (mut known, mut before) = (BTreeMap::new(), std::mem::take(&mut memory.known));
        let mut unread: Vec<(String, Found)> = Vec::new();
        for found in looked.found {
            let id = id_of(&found.path);
            paths.insert(id.clone(), found.path.clone());
            if found.is_going_on {
                match memory.going_on.get(&id) {
                    Some(entry) => shown.add(entry, &found.path),
                    None => unread.push((id, found)),
                }
                continue;
            }
            memory.going_on.remove(&id);
            match before.remove(&id).filter(|known| known.stamp == found.stamp) {
                Some(one) => {
                    one.list_run(&id, &found.path, &mut shown, &mut paths);
                    known.insert(id, one);
                }
                None => unread.push((id, found)),
            }
        }
        // Runs in progress are not cached.
        let has_changed = !before.is_empty() || unread.iter().any(|(_, found)| !found.is_going_on);
        memory.known = known;
        shown.unread_count = unread.len();
        self.show(shown, paths, number);
        unread.sort_by_key(|(_, found)| found.bytes);
        let mut kept_ns = (self.now_unix_ns)();
        for (id, found) in unread {
            let now_ns = (self.now_unix_ns)();
            if now_ns.saturating_sub(kept_ns) > KEPT_NS {
                // An error is reported at the end.
                let _ = self.keep(memory);
                kept_ns = now_ns;
            }
            let mut more = Listing::default();
            let mut paths = HashMap::from([(id.clone(), found.path.clone())]);
            if !found.is_going_on {
                let one = freshly_read(&found, &self.folders);
                one.list_run(&id, &found.path, &mut more, &mut paths);
                memory.known.insert(id.clone(), one);
            } else if let Ok(entry) = read(&found) {
                // `Err` means that the file is still empty.
                let entry = Entry { is_running: true, ..entry };
                more.add(&entry, &found.path);
                memory.going_on.insert(id.clone(), entry);
            }
            let mut seen = self.observed();
            if paths.is_empty() {
                seen.paths.remove(&id);
            }
            seen.add(more);
            seen.listing.unread_count -= 1;
        }
        if has_changed && let Err(e) = self.keep(memory) {
            let why = format!("cannot save the index, so every start reads all files: {e}");
            let path = self.file.display().to_string();
            self.observed().listing.unreadable.push(Unreadable { path, reason: why });
        }
    }

    /// Serves requests from this list and what is added to it.
    fn show(&self, shown: Listing, paths: HashMap<String, PathBuf>, number: u64) {
        let mut seen = self.observed();
        // This scan started after these annotations were saved, and has read them.
        seen.annotated.retain(|_, (written, _)| *written >= number);
        (seen.listing, seen.paths) =
            (Listing { unread_count: shown.unread_count, ..Listing::default() }, paths);
        seen.add(shown);
    }

    fn keep(&self, memory: &mut Memory) -> std::io::Result<()> {
        if let Some(folder) = self.file.parent() {
            annotations::own_folder(folder)?;
        }
        let stored = Stored { version: VERSION, known: std::mem::take(&mut memory.known) };
        let text = serde_json::to_string(&stored).map_err(std::io::Error::other);
        memory.known = stored.known;
        annotations::replace(&self.file, &text?)
    }

    /// After a panic while holding the lock, the next scan repairs the list.
    fn observed(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Adds entries with the annotations saved meanwhile.
    fn add(&mut self, mut more: Listing) {
        for entry in &mut more.entries {
            if let Some((_, annotations)) = self.annotated.get(&entry.id) {
                entry.annotate(annotations);
            }
        }
        self.listing.entries.append(&mut more.entries);
        self.listing.unreadable.append(&mut more.unreadable);
    }
}

/// Handles a panic in a scan, so that later scans still run.
struct Looking<'a>(&'a Index);

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.observed().is_looking = false;
        }
    }
}

impl Listing {
    /// Adds an entry with its annotations.
    fn add(&mut self, entry: &Entry, path: &Path) {
        let mut entry = entry.clone();
        match annotations::read(path) {
            Ok(annotations) => entry.annotate(&annotations),
            Err(why) => {
                let path = annotations::file_of(path).display().to_string();
                self.unreadable.push(Unreadable { path, reason: why });
            }
        }
        self.entries.push(entry);
    }
}

impl Known {
    fn list_run(&self, id: &str, path: &Path, listing: &mut Listing, paths: &mut HashMap<String, PathBuf>) {
        match &self.entry {
            Some(entry) => listing.add(entry, path),
            // Unreadable files are neither shown nor sent.
            None => {
                paths.remove(id);
            }
        }
        listing.unreadable.extend(self.unreadable.clone());
    }
}

fn freshly_read(found: &Found, folders: &[PathBuf]) -> Known {
    let (entry, unreadable) = match read(found) {
        Ok(entry) => (Some(entry), None),
        Err(why) => (None, Some(Unreadable { path: found.path.display().to_string(), reason: why })),
    };
    // Reading may join the two files that a kill left, which changes the stamp.
    let stamp = walk::stamp_now(found, folders).unwrap_or_else(|| found.stamp.clone());
    Known { stamp, entry, unreadable }
}

/// Returns whether the entry contains every word, ignoring case.
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
