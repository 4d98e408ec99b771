//! The tables, and the making of a new file.
//!
//! | table | holds |
//! |---|---|
//! | `meta` | versions, by key |
//! | `origin` | one row per machine: its opening and ending as JSON |
//! | `tick` | per origin and second: the run-wide tally, all requests as one, and a few cells of single ones; encoded |
//! | `total` | per origin: cumulative interval without the warm-up, per series, encoded |
//! | `pending` | full intervals of the last few ticks that `total` does not hold yet |
//! | `series` | the tally of some ten seconds per series, and as series -1 of the run; encoded, all histograms |
//! | `opened` | series that programs opened during the run, as JSON, in order; only there when there are some |
//! | `worker` | per origin and worker: cumulative time without the warm-up |
//! | `note` | lines of the timeline, in order; the kind as JSON, with the numbers of a step by hand in it |
//! | `sample` | examples of failures as JSON, in order; files of early versions have no such table |
//! | `channel` | one row for each number that monitors bring, in the order in which they were first seen |
//! | `sight` | per sample of a monitor: pairs of a channel's number and a value; see `sights` |
//! | `fact` | what monitors found out, in order |
//! | `lapse` | the first samples of each monitor that there are not, in order, with the reason |
//! | `lapsed` | how many there are not, by monitor |
//! | `reserve` | empty at rest; see `room` |
//!
//! The id of a tick is `origin * 2^32 + number`; those of channels, sights, facts and lapses are made in the same way.
//! Each row has a checksum, `crc`; in front of a blob, so that it is read without that. See `sums`. The tables of
//! monitors are only there when monitors were.

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

/// Made when the first monitor brings something: an empty table takes a page, and most runs have no monitors.
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

/// Made when the first series is opened.
pub const OPENED_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS opened (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body TEXT NOT NULL);
";

/// Bytes that [`WATCHED_TABLES`] take at once.
pub const WATCHED_BYTES: usize = 6 * room::PAGE_BYTES;

/// How long to wait for somebody else who holds the file just now.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Key in `meta`.
pub const HIST_LAYOUT: &str = "hist_layout";

/// Number of a tick within the file.
pub fn tick_id(origin: i64, tick: u32) -> i64 {
    origin << 32 | i64::from(tick)
}

/// The other way round.
pub fn tick_of_id(id: i64) -> u32 {
    // The low half, by construction of the id.
    (id & 0xffff_ffff) as u32
}

/// Makes the file and its tables, and lets `fill` write what stands in it from the beginning. Until all that is done
/// the file has a name that nobody looks for: whoever sees `path` sees a run file.
///
/// # Errors
/// When there is something at `path` already, or the file system refuses.
pub fn create(path: &Path, fill: impl FnOnce(&mut Connection) -> rusqlite::Result<()>) -> Result<(), Error> {
    let refused = |source| match source {
        Refusal::Io(source) => Error::CannotCreate { path: path.into(), source },
        Refusal::Sqlite(source) => Error::Refused { path: path.into(), doing: "make", source },
    };
    if let Some(there) = taken(path) {
        return Err(Error::Exists { path: there });
    }
    let new = Unnamed::in_folder_of(path).map_err(Refusal::Io).map_err(refused)?;
    new.filled(fill).map_err(Refusal::Sqlite).map_err(refused)?;
    match new.named(path) {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Err(Error::Exists { path: path.into() }),
        other => other.map_err(Refusal::Io).map_err(refused),
    }
}

/// What prevents a run file of this name: a file, a dangling link, or a log of SQLite that belongs to a deleted run
/// file. SQLite would apply that log to the new file.
pub fn taken(path: &Path) -> Option<PathBuf> {
    let names = ["", "-wal", "-journal"].map(|suffix| room::with_suffix(path, suffix));
    names.into_iter().find(|name| name.symlink_metadata().is_ok())
}

/// Opens a file that was created a moment ago.
pub fn connected(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    // What is written is not read again: a large cache would only be memory.
    db.pragma_update(None, "cache_size", -512)?;
    db.busy_timeout(PATIENCE)?;
    Ok(db)
}

/// Removes what was created when nothing was measured yet: it would only be in the way of the next attempt. What
/// cannot be removed is the smaller trouble. On a full disk SQLite leaves its own extra files, too.
pub fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(room::with_suffix(path, suffix));
    }
}

enum Refusal {
    Io(std::io::Error),
    Sqlite(rusqlite::Error),
}

/// A file on its way, in the folder where it is wanted; gone when it is dropped.
struct Unnamed(PathBuf);

impl Unnamed {
    fn in_folder_of(path: &Path) -> std::io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let new = path.with_file_name(format!(".plimsoll-{}-{number}.new", std::process::id()));
            // For nobody else's eyes: a run tells much about a service. O_EXCL: what a kill left, or laid there, is
            // not ours.
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

    fn filled(&self, fill: impl FnOnce(&mut Connection) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        let mut db = connected(&self.0)?;
        // A power failure may tear it: no loss, as nothing was measured, and waiting for the disk would cost more
        // than everything else here.
        db.pragma_update(None, "synchronous", "OFF")?;
        db.pragma_update(None, "page_size", room::PAGE_BYTES as i64)?;
        // Free pages can be cut off the end; see `room`.
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        db.pragma_update(None, "journal_mode", "MEMORY")?;
        db.pragma_update(None, "application_id", APPLICATION_ID)?;
        db.pragma_update(None, "user_version", FORMAT_VERSION)?;
        db.execute_batch(&format!("BEGIN; {TABLES} COMMIT"))?;
        db.execute("INSERT INTO meta VALUES (?1, ?2)", (HIST_LAYOUT, LAYOUT_ID.to_string()))?;
        fill(&mut db)?;
        db.close().map_err(|(_, e)| e)
    }

    /// Gives it its name, if nothing has that name.
    fn named(self, path: &Path) -> std::io::Result<()> {
        match std::fs::hard_link(&self.0, path) {
            // Some file systems know no second name. There the name is taken first, and is an empty file's for a
            // moment.
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
