//! Writes a run in progress: a sink that turns each tick into one transaction. A tick that cannot be written (full
//! disk) does not end the run: the totals in memory include it, a note names the gap, and every further tick is tried
//! again.

use super::open::fold;
use super::room::{self, Room};
use super::rows;
use super::sample_log::SampleLog;
use super::seen_ticks::SeenTicks;
use super::spans::{self, Spans};
use super::{Error, reader, schema, sums};
use crate::event::{Note, NoteKind, Opening, RunEvent, Sink, Tick};
use crate::record::{EncodedTick, GeneratorRecord, Opened, RunRecord, TickRow};
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Layout;
use rusqlite::{Connection, ErrorCode};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of ticks after which the cumulative totals are rewritten. In between, full intervals wait in `pending`:
/// with hundreds of series the totals take megabytes, too much for each second.
const TOTAL_EVERY_TICKS: u32 = 10;

/// The same in a part of a run: the totals take more than the rows of a minute.
const TOTAL_EVERY_TICKS_OF_PART: u32 = 300;

/// Size of a page in a part of a run: its tables take a page each, and a thousand parts may be created at once.
const PART_PAGE_BYTES: usize = 4_096;

/// Upper bound for a failure example: names, a sentence, and an excerpt.
const SAMPLE_BYTES: usize = 2_048;

/// Bytes of an origin that was found, with its addresses.
const FOUND_BYTES: usize = 2_048;

/// Bytes of an opened series besides its names, in its row and in the totals while it is empty.
const OPENED_BYTES: usize = 128;

/// Factory of run files.
pub struct RunFile;

impl RunFile {
    /// Creates a new, empty run file. Takes about a millisecond and does not wait for the disk.
    ///
    /// # Errors
    /// Returns an error if `path` exists or the file system refuses.
    pub fn create(path: &Path, opening: &Opening) -> Result<Writer, Error> {
        Writer::create(path, opening, true)
    }
}

impl Writer {
    /// Creates the file. With `is_final`, it reserves space for its end, and gets everything at once; otherwise, it is
    /// a part of a run, see [`super::PartWriter`].
    pub(super) fn create(path: &Path, opening: &Opening, is_final: bool) -> Result<Writer, Error> {
        let origin = GeneratorRecord::new(Arc::new(opening.clone()));
        let mut at = 0;
        let page_bytes = if is_final { room::PAGE_BYTES } else { PART_PAGE_BYTES };
        schema::create(path, page_bytes, |db| {
            let tx = db.transaction()?;
            at = rows::put_opening(&tx, opening)?;
            rows::put_totals(&tx, at, &origin, &rows::encoded(&origin.totals))?;
            tx.commit()
        })?;
        let (db, room) = begun(path, is_final).map_err(|source| {
            schema::remove(path);
            Error::Refused { path: path.into(), doing: "create", source }
        })?;
        Ok(Writer {
            path: path.into(),
            identity: identity_of(path).unwrap_or_default(),
            db,
            at,
            room,
            origin,
            spans: Spans::new(opening.layouts()),
            opened: 0,
            found: 0,
            seen: SeenTicks::default(),
            pending: 0,
            totals_bytes: 0,
            sampled: 0,
            sights: SampleLog::default(),
            is_final,
            is_sealed: false,
            gap: None,
            trouble: None,
        })
    }
}

/// Opens a new file for writing; that of a run, and not of a part of one, with a log and reserved space.
fn begun(path: &Path, is_final: bool) -> rusqlite::Result<(Connection, Option<Room>)> {
    let db = schema::connected(path)?;
    // The first step does not wait for the disk, because nothing was measured yet.
    db.pragma_update(None, "synchronous", "OFF")?;
    if !is_final {
        // No second file, which would double what is created and written. A transaction that a kill cuts off may damage
        // the file: the load then continues from the journal of its coordinator, with new files.
        db.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
        return Ok((db, None));
    }
    // If another process already reads the file, this waits and returns the current mode instead of failing.
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, Some(format!("cannot start its log ({mode})"))));
    }
    let room = Room::begin(&db, path)?;
    // After this point, the log is synced to disk before it is copied into the file.
    db.pragma_update(None, "synchronous", "NORMAL")?;
    Ok((db, Some(room)))
}

fn identity_of(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

fn without(path: &Path, name: &str) -> Error {
    let why = format!("it lacks the run `{name}` that was written to it");
    Error::Damaged { path: path.into(), why }
}

/// Writer of one run. Its memory does not grow with the length of the run: ticks and monitor samples are in the file,
/// the totals here.
pub struct Writer {
    path: PathBuf,
    /// Device and inode of the file, which may lose its path.
    identity: (u64, u64),
    db: Connection,
    /// Row in `origin`.
    at: i64,
    /// Reserved space, if any.
    room: Option<Room>,
    /// Everything but the ticks and the points of monitors.
    origin: GeneratorRecord,
    spans: Spans,
    /// Number of opened series in the file, which contains no numbers of others.
    opened: usize,
    /// Number of found origins in the file.
    found: usize,
    seen: SeenTicks,
    /// Ticks that the file's totals lack; they are in `pending`, or nowhere if writing failed.
    pending: u32,
    /// Length of the totals when they were last encoded.
    totals_bytes: usize,
    /// Number of failure examples in the file.
    sampled: usize,
    /// Monitor samples that the file does not have yet.
    sights: SampleLog,
    /// Whether the file is the record of the run, and not a part of it.
    is_final: bool,
    /// Whether the file is complete.
    is_sealed: bool,
    /// The current gap, if the last tick could not be written.
    gap: Option<Gap>,
    /// The first error that the end could not repair.
    trouble: Option<Error>,
}

struct Gap {
    first: u32,
    /// Index of the origin's note about it.
    note: usize,
    why: String,
}

/// Result of writing a run.
pub struct Finished {
    /// The run: seconds as in the file, everything else even if the file could not hold it.
    pub record: RunRecord,
    /// Why the file is incomplete. A gap that the file itself reports does not count.
    pub trouble: Option<Error>,
}

impl Writer {
    /// Reads the seconds back and closes the file, so that reports now and later agree.
    pub fn finish(mut self) -> Finished {
        // In a run without an ending, samples still wait for a tick; what cannot be written is not in the record.
        let _ = self.store_sights();
        let Writer { path, mut db, mut origin, mut trouble, identity, .. } = self;
        let name = origin.opening.origin.clone();
        // A file that has lost its name can still be read.
        match reader::record(&mut db) {
            Ok(mut record) => match record.generators.remove(&name) {
                Some(read) => {
                    origin.ticks = read.ticks;
                    for (mine, read) in origin.watched.channels.iter_mut().zip(read.watched.channels) {
                        mine.points = read.points;
                    }
                }
                None => trouble = trouble.or(Some(without(&path, &name))),
            },
            Err(unreadable) => trouble = trouble.or(Some(unreadable.of(&path))),
        }
        drop(db);
        // A missing or replaced file matters more than an error of the database that lost its name.
        match identity_of(&path) {
            None => trouble = Some(Error::Gone { path }),
            Some(now) if now != identity => trouble = Some(without(&path, &name)),
            Some(_) => {}
        }
        Finished { record: RunRecord { generators: [(name, origin)].into() }, trouble }
    }

    fn tick(&mut self, tick: &Tick) {
        let number = tick.interval.tick;
        self.origin.count(tick);
        self.spans.add(&tick.interval);
        let stored = self.store_found().and_then(|()| self.store_opened());
        let stored = stored.and_then(|()| self.store(&tick.interval));
        self.stored(number, number, stored);
    }

    /// Takes the result of writing some ticks.
    fn stored(&mut self, first: u32, last: u32, result: rusqlite::Result<()>) {
        match result {
            Ok(()) => {
                self.gap = None;
                // What was lost is reported by a note at the end.
                let _ = self.store_sights();
            }
            Err(why) => {
                self.sights.lose();
                self.widen_gap(first, last, &why);
                // If it fails, the next tick and the end try again.
                let _ = self.store_totals();
            }
        }
    }

    /// Adds encoded ticks, and writes their rows in one transaction.
    pub(super) fn encoded_ticks(&mut self, ticks: &[EncodedTick]) -> Result<(), plimsoll_stats::Error> {
        let fresh: Vec<&EncodedTick> = ticks.iter().filter(|tick| self.seen.insert(tick.number())).collect();
        let (Some(first), Some(last)) = (fresh.first(), fresh.last()) else { return Ok(()) };
        fresh.iter().try_for_each(|tick| self.origin.count_encoded(tick))?;
        self.pending += fresh.len() as u32;
        let stored = self.store_found().and_then(|()| self.store_opened());
        let stored = stored.and_then(|()| self.store_samples()).and_then(|()| self.store_rows(&fresh));
        self.stored(first.number(), last.number(), stored);
        Ok(())
    }

    fn store_rows(&mut self, ticks: &[&EncodedTick]) -> rusqlite::Result<()> {
        let totals = (self.pending >= TOTAL_EVERY_TICKS_OF_PART).then(|| self.encoded_totals());
        let tx = self.db.transaction()?;
        for tick in ticks {
            rows::put_tick(&tx, schema::tick_id(self.at, tick.number()), tick.tick_row())?;
        }
        match &totals {
            Some(body) => rows::put_totals(&tx, self.at, &self.origin, body)?,
            None => rows::put_workers(&tx, self.at, &self.origin)?,
        }
        tx.commit()?;
        self.pending = if totals.is_some() { 0 } else { self.pending };
        Ok(())
    }

    /// Writes one transaction: the tick, and what the totals need to be complete up to it.
    fn store(&mut self, interval: &Interval) -> rusqlite::Result<()> {
        let id = schema::tick_id(self.at, interval.tick);
        let is_measured = !self.origin.opening.outline.is_warmup(interval.tick);
        let row = TickRow::of(interval, &self.origin.opening.outline, &self.origin.opened);
        let rolls_up = is_measured && self.pending + 1 >= TOTAL_EVERY_TICKS;
        let body = match (is_measured, rolls_up) {
            (true, true) => self.encoded_totals(),
            (true, false) => rows::encoded(interval),
            (false, _) => Vec::new(),
        };
        let spans = self.spans.due();
        if rolls_up {
            self.totals_bytes = body.len();
        }
        let blobs = row.bytes().len() + body.len() + spans.iter().map(|span| span.body.len()).sum::<usize>();
        // What waits in `pending` extends the totals by at most its own length.
        let waiting = if rolls_up { 0 } else { TOTAL_EVERY_TICKS as usize * body.len() };
        let totals_bytes = self.totals_bytes + waiting;
        room::ensure(&mut self.room, &self.db, blobs, totals_bytes)?;
        let tx = self.db.transaction()?;
        rows::put_tick(&tx, id, &row)?;
        spans::put(&tx, self.at, &spans)?;
        if rolls_up {
            rows::put_totals(&tx, self.at, &self.origin, &body)?;
        } else if is_measured {
            rows::put_pending(&tx, id, &body)?;
            rows::put_workers(&tx, self.at, &self.origin)?;
        }
        tx.commit()?;
        if rolls_up {
            self.pending = 0;
        } else if is_measured {
            self.pending += 1;
        }
        self.spans.written(&spans);
        Ok(())
    }

    /// Writes the series that the file does not know yet, as far as there is room.
    fn store_opened(&mut self) -> rusqlite::Result<()> {
        let fresh = &self.origin.opened[self.opened..];
        if fresh.is_empty() {
            return Ok(());
        }
        let names = |one: &Opened| -> usize {
            one.key.name.len()
                + one.key.labels.iter().map(|(name, value)| name.len() + value.len() + 8).sum::<usize>()
        };
        let bytes = fresh.iter().map(|one| names(one) + OPENED_BYTES).sum();
        // An empty series takes some bytes in the totals, too.
        self.totals_bytes += fresh.len() * OPENED_BYTES;
        room::ensure(&mut self.room, &self.db, bytes, self.totals_bytes)?;
        let tx = self.db.transaction()?;
        rows::put_opened(&tx, self.at, self.opened, fresh)?;
        tx.commit()?;
        self.opened = self.origin.opened.len();
        Ok(())
    }

    /// Writes the origins that the file does not know yet, as far as there is room.
    fn store_found(&mut self) -> rusqlite::Result<()> {
        let fresh = &self.origin.found[self.found..];
        if fresh.is_empty() {
            return Ok(());
        }
        room::ensure(&mut self.room, &self.db, fresh.len() * FOUND_BYTES, self.totals_bytes)?;
        let tx = self.db.transaction()?;
        rows::put_found(&tx, self.at, self.found, fresh)?;
        tx.commit()?;
        self.found = self.origin.found.len();
        Ok(())
    }

    /// Encodes the totals without the series that the file does not know.
    fn encoded_totals(&self) -> Vec<u8> {
        let totals = &self.origin.totals;
        let known = self.origin.opening.series_count() + self.opened;
        if totals.series.len() <= known {
            return rows::encoded(totals);
        }
        rows::encoded(&Interval { series: totals.series[..known].to_vec(), ..totals.clone() })
    }

    /// Writes everything but ticks, for which space is reserved.
    fn store_totals(&mut self) -> rusqlite::Result<()> {
        // Until it is done, the file's totals lag by more than `pending` says.
        self.pending = TOTAL_EVERY_TICKS;
        let body = self.encoded_totals();
        let tx = self.db.transaction()?;
        rows::put_totals(&tx, self.at, &self.origin, &body)?;
        rows::put_notes(&tx, self.at, 1, &self.origin.notes)?;
        rows::put_ending(&tx, self.at, &self.origin)?;
        tx.commit()?;
        self.totals_bytes = body.len();
        self.pending = 0;
        Ok(())
    }

    /// Writes the failure examples that the file does not have yet, as far as there is room.
    fn store_samples(&mut self) -> rusqlite::Result<()> {
        let fresh = &self.origin.failure_examples[self.sampled.min(self.origin.failure_examples.len())..];
        if fresh.is_empty() {
            return Ok(());
        }
        let bytes = fresh.len() * SAMPLE_BYTES;
        room::ensure(&mut self.room, &self.db, bytes, self.totals_bytes)?;
        let tx = self.db.transaction()?;
        rows::put_samples(&tx, self.at, schema::tick_id(self.at, self.sampled as u32), fresh)?;
        tx.commit()?;
        self.sampled = self.origin.failure_examples.len();
        Ok(())
    }

    /// Writes the samples of monitors, or drops them if there is no room.
    fn store_sights(&mut self) -> rusqlite::Result<()> {
        let Some(bytes) = self.sights.due_bytes(&self.origin.watched) else { return Ok(()) };
        let put = room::ensure(&mut self.room, &self.db, bytes, self.totals_bytes).and_then(|()| {
            let tx = self.db.transaction()?;
            self.sights.put(&tx, self.at, &self.origin.watched)?;
            tx.commit()
        });
        match put {
            Ok(()) => self.sights.written(&self.origin.watched),
            Err(_) => self.sights.lose(),
        }
        put
    }

    fn widen_gap(&mut self, first: u32, last: u32, why: &rusqlite::Error) {
        let gap = self.gap.get_or_insert_with(|| {
            let is_full = why.sqlite_error_code() == Some(ErrorCode::DiskFull);
            let why = if is_full { "the disk was full".into() } else { why.to_string() };
            self.origin.notes.push(Note { at_ns: 0, kind: NoteKind::Gap, text: String::new() });
            Gap { first, note: self.origin.notes.len() - 1, why }
        });
        let outline = &self.origin.opening.outline;
        let (from_ns, to_ns) = (outline.tick_bounds_ns(gap.first).0, outline.tick_bounds_ns(last).1);
        let [from_s, to_s] = [from_ns, to_ns].map(|ns| ns as f64 / 1e9);
        let text = format!(
            "the file lacks the seconds from {from_s} s to {to_s} s: {}; the totals include them",
            gap.why
        );
        // The note was added together with the gap, and notes are never removed.
        self.origin.notes[gap.note] = Note { at_ns: from_ns, kind: NoteKind::Gap, text };
    }

    fn end(&mut self) -> rusqlite::Result<()> {
        let spans = self.spans.rest();
        let bytes = spans.iter().map(|span| span.body.len()).sum();
        // These rows matter less than the rest, for which space is reserved.
        if !spans.is_empty() && room::ensure(&mut self.room, &self.db, bytes, self.totals_bytes).is_ok() {
            let tx = self.db.transaction()?;
            spans::put(&tx, self.at, &spans)?;
            tx.commit()?;
        }
        let opened = self.store_found().and(self.store_opened());
        let watched = self.store_sights();
        if let Some((at_ns, text)) = self.sights.lost() {
            self.origin.notes.push(Note { at_ns, kind: NoteKind::Gap, text });
        }
        self.store_totals()?;
        // Failure examples also matter less, but a reader must learn that they are missing.
        let sampled = self.store_samples();
        if !self.is_final {
            return opened.and(sampled).and(watched);
        }
        // Without its seal, the file is equally complete but cannot prove it.
        self.is_sealed = sums::seal(&self.db).is_ok();
        // A file that has lost its name can be read only while its log is open.
        if identity_of(&self.path) == Some(self.identity) {
            // Releases the reserved space. Failing to release it, or to join the file and its log, does no harm.
            let _ = room::free_pages(&self.db).and_then(|free| room::cut_off(&self.db, free));
            let _ = fold(&self.db);
        }
        opened.and(sampled).and(watched)
    }
}

impl Sink for Writer {
    /// The opening was written when the file was created. Ignores a tick that was already written, because it would
    /// count its requests twice.
    fn event(&mut self, event: &RunEvent) {
        if std::mem::take(&mut self.is_sealed)
            && let Err(source) = sums::unseal(&self.db)
        {
            self.trouble = Some(Error::Refused { path: self.path.clone(), doing: "write", source });
        }
        let result = match event {
            RunEvent::Opened(_) => Ok(()),
            RunEvent::SeriesOpened(opened) => {
                if self.origin.open(opened) {
                    self.spans.open(Layout::of(opened.key.family.cells()));
                }
                Ok(())
            }
            RunEvent::OriginOpened(found) => {
                // Written with the next tick; a known origin changes nothing.
                let _ = self.origin.open_origin(found);
                Ok(())
            }
            RunEvent::Ticked(tick) => {
                if self.seen.insert(tick.interval.tick) {
                    self.tick(tick);
                }
                Ok(())
            }
            RunEvent::Noted(note) => {
                self.origin.notes.push(note.clone());
                self.store_totals()
            }
            RunEvent::FailureRecorded(sample) => {
                // If there is no room now, it is tried again with the next one and at the end. A part waits for its
                // next transaction.
                let is_new = self.origin.keep_sample(sample);
                if is_new && self.is_final { self.store_samples() } else { Ok(()) }
            }
            RunEvent::MonitorSampled(sight) => {
                self.sights.take(&mut self.origin.watched, sight);
                if self.sights.is_full() { self.store_sights() } else { Ok(()) }
            }
            RunEvent::Learnt(fact) => {
                self.origin.watched.learn(fact);
                Ok(())
            }
            RunEvent::SampleMissed(lapse) => {
                self.origin.watched.lapse(lapse);
                Ok(())
            }
            RunEvent::Ended(ending) => {
                self.origin.ending = Some(ending.clone());
                self.end()
            }
        };
        if let Err(source) = result {
            self.trouble = Some(Error::Refused { path: self.path.clone(), doing: "write", source });
        } else if matches!(event, RunEvent::Ended(_)) {
            // The end wrote everything that had failed before.
            self.trouble = None;
        }
    }
}
