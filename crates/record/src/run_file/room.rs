//! Reserved space for the end, so that a full disk cannot keep the totals, the ending, and the note about the gap out
//! of the file. SQLite detects a full disk too late: a committed page may be in the log without space for it in the
//! file, and then the log cannot be emptied any more. So the file never grows by writing ticks; it grows in advance,
//! in steps. A blob of zeros is inserted, the log is copied into the file (which allocates the pages on disk), and
//! the blob is deleted. Later writes use free pages of the file and overwrite the log from its beginning; neither
//! needs new disk space. (File systems that never overwrite in place, such as btrfs and ZFS, can fail anyway.) A step
//! that fails half-way must be reversible, so the log is first made long enough with pages that the file already has.
//! Then only the copying can fail, and the reversal (delete the blob, truncate the free pages) fits into the log.

use rusqlite::{Connection, Result};
use std::path::{Path, PathBuf};

/// A second of a plain run takes 2 to 6 KB. A page of SQLite's usual 4 KiB holds one of them and wastes half.
pub const PAGE_BYTES: usize = 16_384;

/// Minimum growth of the file, 512 KiB: two to three minutes of a plain run.
const STEP_PAGES: usize = 32;

/// Number of pages at which the log is copied into the file, every few seconds.
const CHECKPOINT_PAGES: usize = 24;

/// Number of changing pages besides blobs: roots, inner pages, free list, workers, and notes.
const SMALL_PAGES: usize = 16;

/// Estimate of what the first seconds of a plain run write.
const FIRST_BYTES: usize = 65_536;

/// State of the reserved space in one file.
pub struct Room {
    /// SQLite's log, to check its length.
    log: PathBuf,
    /// Whether the last step found no space.
    is_full: bool,
    /// Whether no step was taken yet. If the first one fails, there is nothing to preserve.
    is_new: bool,
}

impl Room {
    /// Sets up a new file and takes the first step.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn begin(db: &Connection, path: &Path) -> Result<Self> {
        let mut room = Self { log: with_suffix(path, "-wal"), is_full: false, is_new: true };
        room.ensure(db, FIRST_BYTES, FIRST_BYTES)?;
        Ok(room)
    }

    /// Makes sure that `blob_bytes` can be written in one transaction and that `totals_bytes` can then be rewritten
    /// any number of times, even if the disk fills up.
    ///
    /// # Errors
    /// Returns an error if the disk is full; the previously reserved space remains.
    pub fn ensure(&mut self, db: &Connection, blob_bytes: usize, totals_bytes: usize) -> Result<()> {
        // New totals may be written before the old ones are deleted. The extra quarter allows them to grow.
        let totals = pages(totals_bytes + totals_bytes / 4) + SMALL_PAGES;
        // The log must hold all this after its content just before it is copied.
        let wanted = pages(blob_bytes) + SMALL_PAGES + totals + CHECKPOINT_PAGES;
        let free = free_pages(db)?;
        // After a failure, only a whole step counts. Otherwise a few small ticks would fit and most would not, so one
        // gap would become a hundred.
        if free >= wanted && !self.is_full {
            return Ok(());
        }
        self.is_full = true;
        // The log must not be copied, and so restart, before a step is complete.
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        let grown = self.grow(db, free, wanted.saturating_sub(free).max(STEP_PAGES));
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES as i64)?;
        grown?;
        (self.is_full, self.is_new) = (false, false);
        Ok(())
    }

    fn grow(&self, db: &Connection, free: usize, by: usize) -> Result<()> {
        let lengthened = if self.is_new { Ok(()) } else { self.lengthen_log(db, free, free + by) };
        // All pages of the log exist in the file already, so this takes no space.
        checkpoint(db)?;
        if lengthened.is_err() {
            // What could not be reverted at the end of the log fits at its beginning.
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

    /// Makes the log long enough for a blob of this many pages and the reversal, using pages that are free already.
    fn lengthen_log(&self, db: &Connection, free: usize, pages: usize) -> Result<()> {
        let pages = pages + 2 * SMALL_PAGES;
        // A page in the log has a header of 24 bytes.
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
        // A step into a log without room for its reversal would leave pages there that have no place in the file.
        if is_long() { Ok(()) } else { Err(full()) }
    }
}

/// Makes sure of space like [`Room::ensure`] if any is reserved.
pub fn ensure(
    room: &mut Option<Room>,
    db: &Connection,
    blob_bytes: usize,
    totals_bytes: usize,
) -> Result<()> {
    room.as_mut().map_or(Ok(()), |room| room.ensure(db, blob_bytes, totals_bytes))
}

fn clear(db: &Connection) -> Result<()> {
    db.execute("DELETE FROM reserve", ()).map(|_| ())
}

fn full() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None)
}

/// Truncates up to `pages` free pages from the end of the file, moving used ones forward where needed.
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

/// Copies the log into the file, so that the log restarts. Waits briefly for readers of an older state; if they stay,
/// their pages are copied next time.
fn checkpoint(db: &Connection) -> Result<()> {
    db.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(()))
}

/// Inserts a blob of this many pages, which uses free pages before it extends the file.
fn insert_zeros(db: &Connection, pages: usize) -> Result<()> {
    // A page of a long blob holds 4 bytes less than its size.
    let bytes = pages * (PAGE_BYTES - 4);
    db.execute("INSERT INTO reserve (body) VALUES (zeroblob(?1))", [bytes as i64]).map(|_| ())
}

/// Returns the path with `suffix` appended to its name, as SQLite names its extra files.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn pages(bytes: usize) -> usize {
    // One more for the beginning of a blob, which shares a page with others.
    bytes.div_ceil(PAGE_BYTES - 4) + 1
}
