//! Tables, and the creation of a new file.
//!
//! | table | holds |
//! |---|---|
//! | `meta` | versions by key |
//! | `origin` | one row per machine: its opening and ending as JSON |
//! | `tick` | per origin and second: the run-wide tally, all requests together, a few cells of single ones; encoded |
//! | `total` | per origin: cumulative interval without the warm-up, per series, encoded |
//! | `pending` | full intervals of the last few ticks that `total` does not include yet |
//! | `series` | the tally of about ten seconds per series (-1 is the run); encoded, all histograms |
//! | `opened` | series that programs opened during the run, as JSON, in order; exists only if there are any |
//! | `found` | origins that were found during the run, as JSON, in order; exists only if there are any |
//! | `worker` | per origin and worker: cumulative time without the warm-up |
//! | `note` | entries of the timeline, in order; the kind as JSON, with the numbers of a manual change |
//! | `sample` | examples of failures as JSON, in order; files of early versions lack this table |
//! | `channel` | one row per metric of a monitor, in order of appearance |
//! | `sight` | per sample of a monitor: pairs of a channel's number and a value; see `sample_log` |
//! | `fact` | facts from monitors, in order |
//! | `lapse` | the first missed samples of each monitor, in order, with the reason |
//! | `lapsed` | number of missed samples by monitor |
//! | `reserve` | empty at rest; see `room` |
//!
//! The id of a tick is `origin * 2^32 + number`; ids of channels, samples, facts, and lapses are formed likewise.
//! Each row has a checksum, `crc`, which precedes a blob so that it can be read without it; see `sums`. The tables of
//! monitors exist only if there were monitors.

use super::{APPLICATION_ID, Error, FORMAT_VERSION, room};
use plimsoll_stats::LAYOUT_ID;
use rusqlite::{Connection, OpenFlags};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE origin (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, opening TEXT NOT NULL, ending TEXT,
        crc INTEGER NOT NULL);
    CREATE TABLE tick (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE total (origin INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE pending (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE series (origin INTEGER NOT NULL, series INTEGER NOT NULL, first_tick INTEGER NOT NULL,
        last_tick INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE worker (origin INTEGER NOT NULL, worker INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
        busy_ns INTEGER NOT NULL, spin_ns INTEGER NOT NULL, sleep_ns INTEGER NOT NULL, run_queue_ns INTEGER NOT NULL,
        crc INTEGER NOT NULL, PRIMARY KEY (origin, worker)) WITHOUT ROWID;
    CREATE TABLE note (id INTEGER PRIMARY KEY, origin INTEGER NOT NULL, at_ns INTEGER NOT NULL, kind TEXT NOT NULL,
        text TEXT NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE sample (id INTEGER PRIMARY KEY, origin INTEGER NOT NULL, crc INTEGER NOT NULL,
        body TEXT NOT NULL);
    CREATE TABLE reserve (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
";

/// Created when the first monitor delivers data, because an empty table takes a page and most runs have no monitors.
pub const WATCHED_TABLES: &str = "
    CREATE TABLE IF NOT EXISTS channel (id INTEGER PRIMARY KEY, monitor INTEGER NOT NULL, part TEXT NOT NULL,
        metric TEXT NOT NULL, unit TEXT NOT NULL, limit_value REAL, crc INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS sight (id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL,
        crc INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS fact (id INTEGER PRIMARY KEY, monitor INTEGER NOT NULL, name TEXT NOT NULL,
        value TEXT NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS lapse (id INTEGER PRIMARY KEY, monitor INTEGER NOT NULL, at_ns INTEGER NOT NULL,
        why TEXT NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS lapsed (origin INTEGER NOT NULL, monitor INTEGER NOT NULL, count INTEGER NOT NULL,
        crc INTEGER NOT NULL, PRIMARY KEY (origin, monitor)) WITHOUT ROWID;
";

/// Created when the first series is opened.
pub const OPENED_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS opened (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body TEXT NOT NULL);
";

/// Created when the first origin is found.
pub const FOUND_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS found (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body TEXT NOT NULL);
";

/// Bytes that [`WATCHED_TABLES`] take at once.
pub const WATCHED_BYTES: usize = 6 * room::PAGE_BYTES;

/// Maximum wait for another process that has locked the file.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Key in `meta`.
pub const HIST_LAYOUT: &str = "hist_layout";

/// Returns the number of a tick within the file.
pub fn tick_id(origin: i64, tick: u32) -> i64 {
    origin << 32 | i64::from(tick)
}

/// Returns the tick of such a number.
pub fn tick_of_id(id: i64) -> u32 {
    // The low half, by construction of the id.
    (id & 0xffff_ffff) as u32
}

/// Creates the file and its tables, and lets `fill` write the initial content. Until then the file has a temporary
/// name, so that `path` is always a complete run file.
///
/// # Errors
/// Returns an error if `path` exists or the file system refuses.
pub fn create(
    path: &Path,
    page_bytes: usize,
    fill: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
) -> Result<(), Error> {
    let refused = |source| match source {
        Refusal::Io(source) => Error::CannotCreate { path: path.into(), source },
        Refusal::Sqlite(source) => Error::Refused { path: path.into(), doing: "create", source },
    };
    if let Some(there) = taken(path) {
        return Err(Error::Exists { path: there });
    }
    let new = Unnamed::in_folder_of(path).map_err(Refusal::Io).map_err(refused)?;
    new.filled(page_bytes, fill).map_err(Refusal::Sqlite).map_err(refused)?;
    match new.named(path) {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Err(Error::Exists { path: path.into() }),
        other => other.map_err(Refusal::Io).map_err(refused),
    }
}

/// Returns what prevents a run file of this name: a file, a dangling link, or the SQLite log of a deleted run file,
/// which SQLite would apply to the new file.
pub fn taken(path: &Path) -> Option<PathBuf> {
    let names = ["", "-wal", "-journal"].map(|suffix| room::with_suffix(path, suffix));
    names.into_iter().find(|name| name.symlink_metadata().is_ok())
}

/// Opens a file that was just created.
pub fn connected(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    // Written pages are not read again, so a large cache would waste memory.
    db.pragma_update(None, "cache_size", -512)?;
    db.busy_timeout(PATIENCE)?;
    Ok(db)
}

/// Removes a file in which nothing was measured yet, because it would block the next attempt. Failing to remove it
/// does little harm. On a full disk, SQLite leaves its extra files, too.
pub fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(room::with_suffix(path, suffix));
    }
}

enum Refusal {
    Io(std::io::Error),
    Sqlite(rusqlite::Error),
}

/// A temporary file in the target's folder, deleted when dropped.
struct Unnamed(PathBuf);

impl Unnamed {
    fn in_folder_of(path: &Path) -> std::io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let new = path.with_file_name(format!(".plimsoll-{}-{number}.new", std::process::id()));
            // Readable by the owner only, because a run reveals much about a service. O_EXCL rejects files left by a
            // kill or placed by others.
            match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new) {
                Ok(empty) => {
                    drop(empty);
                    return Ok(Self(new));
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && number < u32::MAX / 2 => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn filled(
        &self,
        page_bytes: usize,
        fill: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut db = connected(&self.0)?;
        // A power failure may corrupt it, which loses nothing, because nothing was measured; waiting for the disk
        // would take longer than everything else here.
        db.pragma_update(None, "synchronous", "OFF")?;
        db.pragma_update(None, "page_size", page_bytes as i64)?;
        // Lets free pages be truncated; see `room`.
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        db.pragma_update(None, "journal_mode", "MEMORY")?;
        db.pragma_update(None, "application_id", APPLICATION_ID)?;
        db.pragma_update(None, "user_version", FORMAT_VERSION)?;
        db.execute_batch(&format!("BEGIN; {TABLES} COMMIT"))?;
        db.execute("INSERT INTO meta VALUES (?1, ?2)", (HIST_LAYOUT, LAYOUT_ID.to_string()))?;
        fill(&mut db)?;
        db.close().map_err(|(_, e)| e)
    }

    /// Gives the file its name, unless that name exists.
    fn named(self, path: &Path) -> std::io::Result<()> {
        match std::fs::hard_link(&self.0, path) {
            // Some file systems have no hard links. There, the name is reserved first and briefly belongs to an empty
            // file.
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
                std::fs::rename(&self.0, path)
            }
            done => done,
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        remove(&self.0);
    }
}
