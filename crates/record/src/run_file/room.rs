//! Room for the end: a full disk must never keep the totals, the ending and the note of the gap out of the file.
//!
//! SQLite finds out that a disk is full when it is too late: a committed page may sit in the log with no place left
//! for it in the file, and then the log cannot be emptied any more. So the file never grows by writing ticks. It
//! grows beforehand, in steps: a blob of zeros is inserted, the log is copied into the file (now those pages exist on
//! the disk), and the blob is deleted. What is written afterwards takes free pages of the file and overwrites the
//! log from its beginning, which is as long as the largest step; neither takes new space from the disk. (File
//! systems that never overwrite in place, such as btrfs and ZFS, can refuse all the same.)
//!
//! Whether there is space for a step is tried with a file that is deleted again at once: an ordinary file can be
//! taken back, a half-grown database cannot. So the disk is found to be full by this attempt, while what is kept
//! here is still untouched.

use rusqlite::{Connection, ffi};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A second of a plain run takes 2 to 6 KB, of which a page of SQLite's usual 4 KiB holds one: half of it is wasted.
pub const PAGE_BYTES: usize = 16_384;

/// The file grows by at least this, 512 KiB: two to three minutes of a plain run.
const STEP_PAGES: usize = 32;

/// The log is copied into the file when it has so many pages: every few seconds.
const CHECKPOINT_PAGES: usize = 24;

/// Pages of the tables that change besides blobs: roots, inner pages, free list, workers, notes.
const SMALL_PAGES: usize = 16;

/// A file of up to 16 MiB is rewritten without free pages at its end.
const SMALL_FILE_PAGES: i64 = 1024;

/// What is known of the room in one file.
#[derive(Default)]
pub struct Room {
    /// The last step is not in the file itself yet, only in the log.
    is_owed: bool,
    /// The last step found no space.
    is_full: bool,
}

impl Room {
    /// Sets up a new file and makes the first step.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn begin(db: &Connection, path: &Path) -> rusqlite::Result<Self> {
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES as i64)?;
        let mut room = Self::default();
        room.ensure(db, path, 0, 0)?;
        Ok(room)
    }

    /// Sees to it that `blob_bytes` can be written in one transaction and that afterwards `totals_bytes` can still
    /// be rewritten as often as one likes, whatever happens to the disk.
    ///
    /// # Errors
    /// When the disk is full; what was kept before is still there.
    pub fn ensure(
        &mut self,
        db: &Connection,
        path: &Path,
        blob_bytes: usize,
        totals_bytes: usize,
    ) -> rusqlite::Result<()> {
        if self.is_owed {
            self.is_owed = !checkpoint(db)?;
        }
        // New totals may be written before the old ones are gone. The quarter is for those that grow.
        let totals = pages(totals_bytes + totals_bytes / 4) + SMALL_PAGES;
        // The log must hold all this behind what it holds just before it is copied.
        let wanted = pages(blob_bytes) + SMALL_PAGES + totals + CHECKPOINT_PAGES;
        let free = db.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0))? as usize;
        // After a refusal only a whole step will do: else some small ticks would still fit and most would not, and
        // the gap would be a hundred gaps.
        if free >= wanted && !self.is_full {
            return Ok(());
        }
        self.is_full = true;
        self.grow(db, path, free, wanted.saturating_sub(free).max(STEP_PAGES))?;
        self.is_full = false;
        Ok(())
    }

    fn grow(&mut self, db: &Connection, path: &Path, free: usize, by: usize) -> rusqlite::Result<()> {
        // Once in the log, once in the file.
        try_space(path, (2 * by + free + SMALL_PAGES) * PAGE_BYTES)?;
        // The blob takes the pages that are free already before it makes the file longer. A page of a long blob
        // holds 4 bytes less than its size.
        let bytes = (free + by) * (PAGE_BYTES - 4);
        db.execute("INSERT INTO reserve (body) VALUES (zeroblob(?1))", [bytes as i64])?;
        // Somebody else may have taken the space since it was tried: then the step stays owed.
        self.is_owed = true;
        let copied = checkpoint(db);
        db.execute("DELETE FROM reserve", ())?;
        self.is_owed = !copied?;
        Ok(())
    }
}

/// Takes the free pages out of a folded file that is small: in a large one they do not show, and rewriting it would
/// take long.
pub fn give_back(db: &Connection) -> rusqlite::Result<()> {
    let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (pages, free) = (pragma("page_count")?, pragma("freelist_count")?);
    if pages <= SMALL_FILE_PAGES && free > pages / 8 {
        // A copy is made on the way, for which a full disk has no space; then the file stays as it is. So it does
        // while somebody else reads it.
        let _ = db.execute_batch("VACUUM");
    }
    Ok(())
}

/// Copies the log into the file. False when somebody who reads an older state keeps it from being copied whole.
fn checkpoint(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |row| {
        Ok(row.get::<_, i64>(0)? == 0 && row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
    })
}

/// Whether the disk has `bytes` left. Nothing else says so reliably: quotas, reserved blocks and thin volumes all
/// have their own idea of "free". Only that answer counts: any other trouble SQLite will meet itself.
fn try_space(path: &Path, bytes: usize) -> rusqlite::Result<()> {
    let trial = beside(path, "-room");
    let written = OpenOptions::new().write(true).create(true).truncate(true).open(&trial).and_then(|mut file| {
        let zeros = [0; 4 * PAGE_BYTES];
        let mut left = bytes;
        while left > 0 {
            let part = left.min(zeros.len());
            file.write_all(&zeros[..part])?;
            left -= part;
        }
        Ok(())
    });
    // It is not there when it could not be made; and if it cannot be removed, no later attempt needs more space.
    let _ = std::fs::remove_file(&trial);
    match written {
        Err(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), Some(e.to_string())))
        }
        _ => Ok(()),
    }
}

/// The path with `suffix` behind its name, as SQLite names its own extra files.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn pages(bytes: usize) -> usize {
    // One more for a blob's beginning, which shares a page with others.
    bytes.div_ceil(PAGE_BYTES - 4) + 1
}
