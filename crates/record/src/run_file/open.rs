//! Opens a run file for reading in any state and place, and makes one file of the two that a kill leaves.

use super::{guard, room, schema};
use rusqlite::{Connection, ErrorCode, OpenFlags, Result};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An open file.
pub struct Opened {
    /// Declared first, and so closed before its folder is removed.
    pub db: Connection,
    _copy: Option<Scratch>,
}

/// Why a file cannot be opened.
pub enum Closed {
    Sqlite(rusqlite::Error),
    Io(std::io::Error),
}

/// Opens `path`, or a copy if it cannot be opened in place.
pub fn open(path: &Path) -> std::result::Result<Opened, Closed> {
    let here = |db| Opened { db, _copy: None };
    match in_place(path, "NORMAL") {
        // A log needs an index next to it, which SQLite cannot create on a full disk or in a read-only folder.
        Err(e) if is_hindered(&e) => {}
        other => return other.map(here).map_err(Closed::Sqlite),
    }
    // With exclusive locking, SQLite keeps the index in memory.
    if let Ok(db) = in_place(path, "EXCLUSIVE") {
        return Ok(here(db));
    }
    // If the file cannot be read at all, this returns the system's own error.
    let copy = Scratch::with_copy_of(path).map_err(Closed::Io)?;
    Ok(Opened { db: in_place(&copy.file, "NORMAL").map_err(Closed::Sqlite)?, _copy: Some(copy) })
}

fn is_hindered(e: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    matches!(e.sqlite_error_code(), Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure))
}

fn in_place(path: &Path, locking: &str) -> Result<Connection> {
    // SQLite falls back to read-only by itself.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(schema::PATIENCE)?;
    db.pragma_update(None, "locking_mode", locking)?;
    guard::bound(&mut db, path)?;
    // SQLite opens the log only at the first query.
    db.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
    Ok(db)
}

/// Makes one file of the database and its log, unless another program has it open. Leaving WAL mode first copies the
/// log and then deletes it, under an exclusive lock.
pub fn fold(db: &Connection) -> Result<()> {
    db.busy_timeout(Duration::ZERO)?;
    match db.query_row("PRAGMA journal_mode = DELETE", (), |_| Ok(())) {
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        other => other,
    }
}

/// A private folder for a copy, removed when dropped.
struct Scratch {
    folder: PathBuf,
    file: PathBuf,
}

impl Scratch {
    fn with_copy_of(path: &Path) -> std::io::Result<Self> {
        let base = std::env::temp_dir();
        let name = |k: u32| base.join(format!("plimsoll-read-{}-{k}", std::process::id()));
        // An existing folder of such a name belongs to another process; takes the first free name.
        let mut made = Err(std::io::ErrorKind::AlreadyExists.into());
        for folder in (0..1000).map(name) {
            made = std::fs::DirBuilder::new().mode(0o700).create(&folder).map(|()| folder);
            if !matches!(&made, Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists) {
                break;
            }
        }
        let folder = made?;
        let copy = Self { file: folder.join("copy.plim"), folder };
        std::fs::copy(path, &copy.file)?;
        let log = room::with_suffix(path, "-wal");
        if log.exists() {
            std::fs::copy(log, room::with_suffix(&copy.file, "-wal"))?;
        }
        Ok(copy)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover in the folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
