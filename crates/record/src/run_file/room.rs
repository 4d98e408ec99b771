//! Room for the end: a full disk must never keep the totals, the ending and the note of the gap out of the file.
//!
//! SQLite finds out that a disk is full when it is too late: a committed page may sit in the log with no place left
//! for it in the file, and then the log cannot be emptied any more. So the file never grows by writing ticks. It
//! grows beforehand, in steps: a blob of zeros is inserted, the log is copied into the file (now those pages exist on
//! the disk), and the blob is deleted. What is written afterwards takes free pages of the file and overwrites the
//! log from its beginning; neither takes new space from the disk. (File systems that never overwrite in place, such
//! as btrfs and ZFS, can refuse all the same.)
//!
//! A step that fails half-way must leave things as they were, so the log is made long enough first, with pages that
//! the file has already. Then only the copying can fail, and the way back (delete the blob, cut the free pages off
//! the end) fits into the log.

use rusqlite::{Connection, Result};
use std::path::{Path, PathBuf};

/// A second of a plain run takes 2 to 6 KB, of which a page of SQLite's usual 4 KiB holds one: half of it is wasted.
pub const PAGE_BYTES: usize = 16_384;

/// The file grows by at least this, 512 KiB: two to three minutes of a plain run.
const STEP_PAGES: usize = 32;

/// The log is copied into the file when it has so many pages: every few seconds.
const CHECKPOINT_PAGES: usize = 24;

/// Pages of the tables that change besides blobs: roots, inner pages, free list, workers, notes.
const SMALL_PAGES: usize = 16;

/// Guess of what the first seconds of a plain run write.
const FIRST_BYTES: usize = 65_536;

/// What is known of the room in one file.
pub struct Room {
    /// SQLite's log, for its length.
    log: PathBuf,
    /// The last step found no space.
    is_full: bool,
    /// No step was made yet. When the first one fails, there is nothing to keep.
    is_new: bool,
}

impl Room {
    /// Sets up a new file and makes the first step.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn begin(db: &Connection, path: &Path) -> Result<Self> {
        let mut room = Self { log: with_suffix(path, "-wal"), is_full: false, is_new: true };
        room.ensure(db, FIRST_BYTES, FIRST_BYTES)?;
        Ok(room)
    }

    /// Sees to it that `blob_bytes` can be written in one transaction and that afterwards `totals_bytes` can still
    /// be rewritten as often as one likes, whatever happens to the disk.
    ///
    /// # Errors
    /// When the disk is full; what was kept before is still there.
    pub fn ensure(&mut self, db: &Connection, blob_bytes: usize, totals_bytes: usize) -> Result<()> {
        // New totals may be written before the old ones are gone. The quarter is for those that grow.
        let totals = pages(totals_bytes + totals_bytes / 4) + SMALL_PAGES;
        // The log must hold all this behind what it holds just before it is copied.
        let wanted = pages(blob_bytes) + SMALL_PAGES + totals + CHECKPOINT_PAGES;
        let free = free_pages(db)?;
        // After a refusal only a whole step will do: else some small ticks would still fit and most would not, and
        // the gap would be a hundred gaps.
        if free >= wanted && !self.is_full {
            return Ok(());
        }
        self.is_full = true;
        // The log must not be copied, and so begin anew, before a step is done.
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        let grown = self.grow(db, free, wanted.saturating_sub(free).max(STEP_PAGES));
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES as i64)?;
        grown?;
        (self.is_full, self.is_new) = (false, false);
        Ok(())
    }

    fn grow(&self, db: &Connection, free: usize, by: usize) -> Result<()> {
        let lengthened = if self.is_new { Ok(()) } else { self.lengthen_log(db, free, free + by) };
        // No page of the log is new to the file so far: this takes no space.
        checkpoint(db)?;
        if lengthened.is_err() {
            // What could not be taken back at the end of the log can be at its beginning.
            clear(db)?;
        }
        lengthened?;
        insert_zeros(db, free + by)?;
        let copied = checkpoint(db);
        clear(db)?;
        if copied.is_err() {
            cut_off(db, by)?;
            checkpoint(db)?;
        }
        copied
    }

    /// Makes the log's file long enough for a blob of so many pages and the way back, with pages that are free
    /// already.
    fn lengthen_log(&self, db: &Connection, free: usize, pages: usize) -> Result<()> {
        let pages = pages + 2 * SMALL_PAGES;
        // A page in the log has a head of 24 bytes.
        let bytes = (pages * (PAGE_BYTES + 24)) as u64;
        let is_long = || std::fs::metadata(&self.log).map_or(0, |log| log.len()) >= bytes;
        let once = free.saturating_sub(SMALL_PAGES / 2);
        for _ in 0..pages.checked_div(once).map_or(0, |times| times + 1) {
            if is_long() {
                break;
            }
            insert_zeros(db, once)?;
            clear(db)?;
        }
        // A step into a log that cannot hold its way back would leave pages there for which there is no place.
        if is_long() { Ok(()) } else { Err(full()) }
    }
}

fn clear(db: &Connection) -> Result<()> {
    db.execute("DELETE FROM reserve", ()).map(|_| ())
}

fn full() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None)
}

/// Cuts up to `pages` free pages off the end of the file, moving used ones to the front where needed.
pub fn cut_off(db: &Connection, pages: usize) -> Result<()> {
    let mut cut = db.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = cut.query(())?;
    // Each row is a page.
    while rows.next()?.is_some() {}
    Ok(())
}

pub fn free_pages(db: &Connection) -> Result<usize> {
    db.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0)).map(|pages| pages as usize)
}

/// Copies the log into the file, so that the log begins anew. Waits a moment for those who read an older state; if
/// they stay, their pages are copied the next time.
fn checkpoint(db: &Connection) -> Result<()> {
    db.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(()))
}

/// A blob of so many pages. It takes the free ones before it makes the file longer.
fn insert_zeros(db: &Connection, pages: usize) -> Result<()> {
    // A page of a long blob holds 4 bytes less than its size.
    let bytes = pages * (PAGE_BYTES - 4);
    db.execute("INSERT INTO reserve (body) VALUES (zeroblob(?1))", [bytes as i64]).map(|_| ())
}

/// The path with `suffix` behind its name, as SQLite names its own extra files.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn pages(bytes: usize) -> usize {
    // One more for a blob's beginning, which shares a page with others.
    bytes.div_ceil(PAGE_BYTES - 4) + 1
}
