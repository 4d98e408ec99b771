//! The list of all runs and experiments below some folders. Each file is read once; what is worth listing is kept in
//! a file of our own, which is made again from the run files whenever it is missing, damaged, or of another version.

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

/// Version of the file; another one is made anew.
const VERSION: u32 = 3;

/// A list waits so long for a look at the folders, and is then what was found so far.
const PATIENCE: Duration = Duration::from_secs(2);
/// While there is much to read, what was read is kept this often, ns.
const KEPT_NS: u64 = 3_000_000_000;

/// What there is, newest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Listing {
    pub entries: Vec<Entry>,
    pub unreadable: Vec<Unreadable>,
    /// Files that were not read yet, because there are many: ask again.
    pub unread_count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    pub path: String,
    pub reason: String,
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

/// Looks at the folders on a thread of its own, one look after the other. Requests are answered from what it has
/// shown: no lock is held while a file is read, so a slow or huge one holds up nothing but its own line of the list.
pub struct Index {
    folders: Vec<PathBuf>,
    file: PathBuf,
    now_unix_ns: fn() -> u64,
    seen: Mutex<Seen>,
    /// Of whoever looks.
    memory: Mutex<Memory>,
    /// The number of the last look that has ended.
    done: watch::Sender<u64>,
}

/// What the last look has shown so far.
#[derive(Default)]
struct Seen {
    listing: Listing,
    /// Every run and folder that may be asked for, by id: nothing else on the disk can be.
    paths: HashMap<String, PathBuf>,
    /// Annotations that were written here, with the number of the look that cannot have seen them.
    annotated: HashMap<String, (u64, Annotations)>,
    /// Numbers of looks: the last one that was asked for, and that has begun.
    wanted: u64,
    begun: u64,
    begun_ns: u64,
    is_looking: bool,
}

#[derive(Default)]
struct Memory {
    known: BTreeMap<String, Known>,
    /// Runs that are being written, as they were when they were first seen: their files change every second.
    going_on: HashMap<String, Entry>,
}

impl Index {
    /// Reads nothing but the index file.
    pub fn new(folders: Vec<PathBuf>, file: PathBuf, now_unix_ns: fn() -> u64) -> Self {
        // Whatever is wrong with it, the run files know better.
        let stored = std::fs::read_to_string(&file).ok();
        let stored: Option<Stored> = stored.and_then(|text| serde_json::from_str(&text).ok());
        let known = stored.filter(|stored| stored.version == VERSION).map(|stored| stored.known);
        let mut known = known.unwrap_or_default();
        // What could not be read may have been the disk's fault.
        known.retain(|_, known| known.entry.is_some());
        let memory = Mutex::new(Memory { known, going_on: HashMap::new() });
        // Before the first look has shown anything nobody may take the list for empty.
        let listing = Listing { unread_count: 1, ..Listing::default() };
        let seen = Mutex::new(Seen { listing, ..Seen::default() });
        Self { folders, file, now_unix_ns, seen, memory, done: watch::Sender::new(0) }
    }

    /// What is in the folders; where a look takes long, what was found so far.
    pub async fn list(self: &Arc<Self>) -> Listing {
        self.look_again().await;
        let mut listing = self.observed().listing.clone();
        listing.entries.sort_by(|a, b| {
            (b.is_running, b.started_unix_ns, &b.id).cmp(&(a.is_running, a.started_unix_ns, &a.id))
        });
        listing
    }

    /// The path behind an id: only what a walk has found has one.
    pub async fn path(self: &Arc<Self>, id: &str) -> Option<PathBuf> {
        let known = self.observed().paths.get(id).cloned();
        if known.is_some() {
            return known;
        }
        self.look_again().await;
        self.observed().paths.get(id).cloned()
    }

    /// One of the list as it was last shown.
    pub fn entry(&self, id: &str) -> Option<Entry> {
        self.observed().listing.entries.iter().find(|entry| entry.id == id).cloned()
    }

    /// Annotations were written: they are shown from now on, also by a look that has passed by already.
    pub fn annotate(&self, id: &str, annotations: Annotations) {
        let mut seen = self.observed();
        if let Some(entry) = seen.listing.entries.iter_mut().find(|entry| entry.id == id) {
            entry.annotate(&annotations);
        }
        let begun = seen.begun;
        seen.annotated.insert(id.to_owned(), (begun, annotations));
    }

    /// Whether what is behind a path now is still what may be shown: a link may have been laid there meanwhile.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check(&self, path: &Path) -> Result<(), String> {
        walk::check(&self.folders, path)
    }

    /// Until a look has ended that has begun behind this moment; not if it, or the one before it, takes too long.
    async fn look_again(self: &Arc<Self>) {
        let mut done = self.done.subscribe();
        let Some(number) = self.want() else { return };
        // The sender lives as long as `self`.
        let _ = timeout(PATIENCE, done.wait_for(|done| *done >= number)).await;
    }

    /// The number of the look that is wanted; `None`: the present one takes so long that nobody should wait.
    fn want(self: &Arc<Self>) -> Option<u64> {
        let now_ns = (self.now_unix_ns)();
        let mut seen = self.observed();
        // One that is under way may have passed by what has changed since.
        seen.wanted = seen.begun + 1;
        if seen.is_looking {
            let is_slow = u128::from(now_ns.saturating_sub(seen.begun_ns)) > PATIENCE.as_nanos();
            return (!is_slow).then_some(seen.wanted);
        }
        let (index, number) = (self.clone(), seen.wanted);
        // Not one of the threads for work aside: they are few, and this one may take long.
        let looks = std::thread::Builder::new().name("console-index".into()).spawn(move || index.look_on());
        seen.is_looking = looks.is_ok();
        looks.is_ok().then_some(number)
    }

    /// Looks as long as looks are wanted.
    fn look_on(self: Arc<Self>) {
        let _looking = Looking(&self);
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = {
                let mut seen = self.observed();
                if seen.begun >= seen.wanted {
                    // Under the same lock: whoever wants one from now on starts another thread.
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

    /// Looks at the folders, and reads what was not read before, the smallest first.
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
        // What was only begun to be written is kept in no file.
        let has_changed = !before.is_empty() || unread.iter().any(|(_, found)| !found.is_going_on);
        memory.known = known;
        shown.unread_count = unread.len();
        self.show(shown, paths, number);
        unread.sort_by_key(|(_, found)| found.bytes);
        let mut kept_ns = (self.now_unix_ns)();
        for (id, found) in unread {
            let now_ns = (self.now_unix_ns)();
            if now_ns.saturating_sub(kept_ns) > KEPT_NS {
                // What goes wrong with it is told at the end.
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
                // `Err`: there is nothing in it yet.
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
            let why = format!("the index cannot be kept, so every start reads all files: {e}");
            let path = self.file.display().to_string();
            self.observed().listing.unreadable.push(Unreadable { path, reason: why });
        }
    }

    /// From now on requests are answered from this, and from what is added to it.
    fn show(&self, shown: Listing, paths: HashMap<String, PathBuf>, number: u64) {
        let mut seen = self.observed();
        // This look has begun behind them, and has seen them.
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

    /// A thread that panicked while holding the lock left a list that the next look mends.
    fn observed(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Shows more, with the annotations that were written meanwhile.
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

/// A look that breaks down must not be the last one.
struct Looking<'a>(&'a Index);

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.observed().is_looking = false;
        }
    }
}

impl Listing {
    /// With what people have written about it.
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
            // What cannot be read is nothing to be shown or given away.
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
    // Reading makes one file of what a kill left in two: that is how it looks from now on.
    let stamp = walk::stamp_now(found, folders).unwrap_or_else(|| found.stamp.clone());
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
