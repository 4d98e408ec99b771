//! Writes a run as it goes: a sink that turns each tick into one transaction.
//!
//! A tick that cannot be written (full disk) does not end the run. The totals are kept in memory and written without
//! it, a note names the gap, and every further tick is tried again.

use super::open::fold;
use super::room::{self, Room};
use super::rows;
use super::sample_log::{self, SampleLog};
use super::spans::{self, Spans};
use super::{Error, reader, schema, sums};
use crate::event::{Note, NoteKind, Opening, RunEvent, Sink, Tick};
use crate::record::{GeneratorRecord, Opened, RunRecord, TickRow};
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::Layout;
use rusqlite::{Connection, ErrorCode};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Every so many ticks the cumulative totals are rewritten. In between, full intervals wait in `pending`: with
/// hundreds of series the totals are megabytes, far too much for each second.
const TOTAL_EVERY_TICKS: u32 = 10;

/// More than a sample takes: names, a sentence and an excerpt.
const SAMPLE_BYTES: usize = 2_048;

/// What a series that was opened takes besides its names, in its row and in the totals while it is empty.
const OPENED_BYTES: usize = 128;

/// Where run files begin.
pub struct RunFile;

impl RunFile {
    /// Makes a new run file, in which nothing has happened yet. Takes about a millisecond and waits for no disk.
    ///
    /// # Errors
    /// When there is something at `path` already, or the file system refuses.
    pub fn create(path: &Path, opening: &Opening) -> Result<Writer, Error> {
        let origin = GeneratorRecord::new(Arc::new(opening.clone()));
        let mut at = 0;
        schema::create(path, |db| {
            let tx = db.transaction()?;
            at = rows::put_opening(&tx, opening)?;
            rows::put_totals(&tx, at, &origin, &rows::encoded(&origin.totals))?;
            tx.commit()
        })?;
        let (db, room) = begun(path).map_err(|source| {
            schema::remove(path);
            Error::Refused { path: path.into(), doing: "make", source }
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
            seen: BTreeSet::new(),
            pending: 0,
            totals_bytes: 0,
            sampled: 0,
            sights: SampleLog::default(),
            is_sealed: false,
            gap: None,
            trouble: None,
        })
    }
}

/// A new file as it is written to: with a log beside it, and room.
fn begun(path: &Path) -> rusqlite::Result<(Connection, Room)> {
    let db = schema::connected(path)?;
    // The first step waits for no disk: nothing was measured yet.
    db.pragma_update(None, "synchronous", "OFF")?;
    // Somebody who reads it already makes this wait; it does not fail then, but says which mode it stays in.
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, Some(format!("its log cannot be begun ({mode})"))));
    }
    let room = Room::begin(&db, path)?;
    // From here on the log waits for the disk before it is copied into the file.
    db.pragma_update(None, "synchronous", "NORMAL")?;
    Ok((db, room))
}

fn identity_of(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

fn without(path: &Path, name: &str) -> Error {
    let why = format!("it does not hold the run `{name}` that was written into it");
    Error::Damaged { path: path.into(), why }
}

/// See the module. Its memory does not grow with the length of the run: ticks and what monitors saw are in the file,
/// the totals here.
pub struct Writer {
    path: PathBuf,
    /// Device and number of the file, which a path can lose.
    identity: (u64, u64),
    db: Connection,
    /// The row of `origin`.
    at: i64,
    room: Room,
    /// Everything but the ticks and the points of what was watched.
    origin: GeneratorRecord,
    spans: Spans,
    /// How many of the series that were opened are in the file. It holds numbers of no others.
    opened: usize,
    seen: BTreeSet<u32>,
    /// Ticks that the file's totals do not hold; they are in `pending`, or nowhere if that failed.
    pending: u32,
    /// Length of the totals when they were last encoded.
    totals_bytes: usize,
    /// How many of the samples are in the file.
    sampled: usize,
    /// What monitors saw and the file does not have yet.
    sights: SampleLog,
    /// Nothing is to come any more.
    is_sealed: bool,
    /// The gap that is open, if the last tick could not be written.
    gap: Option<Gap>,
    /// The first error that the end could not repair.
    trouble: Option<Error>,
}

struct Gap {
    first: u32,
    /// Which of the origin's notes tells of it.
    note: usize,
    why: String,
}

/// What became of a run and its file.
pub struct Finished {
    /// The run: its seconds as they stand in the file, everything else also when the file could not take it.
    pub record: RunRecord,
    /// Why the file is not all that it should be. A gap that the file itself tells of is no trouble.
    pub trouble: Option<Error>,
}

impl Writer {
    /// Reads its seconds back and closes the file: a report now and a report later show the same.
    pub fn finish(mut self) -> Finished {
        // Of a run without an end something still waits for its tick; what cannot be written is not in the record.
        let _ = self.store_sights();
        let Writer { path, mut db, mut origin, mut trouble, identity, .. } = self;
        let name = origin.opening.origin.clone();
        // Also what has no name any more is read.
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
        // What stands at the path now is worth more than what was said by a database without a name.
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
        match self.store_opened().and_then(|()| self.store(&tick.interval)) {
            Ok(()) => {
                self.gap = None;
                // Kept or lost: the note of what was lost comes at the end.
                let _ = self.store_sights();
            }
            Err(why) => {
                self.sights.lose();
                self.widen_gap(number, &why);
                // Whatever comes of it, the next tick tries again, and so does the end.
                let _ = self.store_totals();
            }
        }
    }

    /// One transaction: the tick, and what the totals need to be complete up to it.
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
        // What waits in `pending` makes the totals longer by at most its own length.
        let waiting = if rolls_up { 0 } else { TOTAL_EVERY_TICKS as usize * body.len() };
        let totals_bytes = self.totals_bytes + waiting;
        self.room.ensure(&self.db, blobs, totals_bytes)?;
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

    /// Series that the file does not know yet, as far as there is room for them.
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
        // In the totals an empty one takes some bytes as well.
        self.totals_bytes += fresh.len() * OPENED_BYTES;
        self.room.ensure(&self.db, bytes, self.totals_bytes)?;
        let tx = self.db.transaction()?;
        rows::put_opened(&tx, self.at, self.opened, fresh)?;
        tx.commit()?;
        self.opened = self.origin.opened.len();
        Ok(())
    }

    /// Without what the file knows no series for.
    fn encoded_totals(&self) -> Vec<u8> {
        let totals = &self.origin.totals;
        let known = self.origin.opening.series_count() + self.opened;
        if totals.series.len() <= known {
            return rows::encoded(totals);
        }
        rows::encoded(&Interval { series: totals.series[..known].to_vec(), ..totals.clone() })
    }

    /// Everything but ticks: fits into the room that is kept for it.
    fn store_totals(&mut self) -> rusqlite::Result<()> {
        // Until it is done, the file's totals are behind by more than `pending` tells.
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

    /// Samples that the file does not have yet, as far as there is room for them.
    fn store_samples(&mut self) -> rusqlite::Result<()> {
        let fresh = &self.origin.failure_examples[self.sampled.min(self.origin.failure_examples.len())..];
        if fresh.is_empty() {
            return Ok(());
        }
        let bytes = fresh.len() * SAMPLE_BYTES;
        self.room.ensure(&self.db, bytes, self.totals_bytes)?;
        let tx = self.db.transaction()?;
        rows::put_samples(&tx, self.at, schema::tick_id(self.at, self.sampled as u32), fresh)?;
        tx.commit()?;
        self.sampled = self.origin.failure_examples.len();
        Ok(())
    }

    /// What monitors saw, as far as there is room for it; else it is lost.
    fn store_sights(&mut self) -> rusqlite::Result<()> {
        let Some(bytes) = self.sights.due_bytes(&self.origin.watched) else { return Ok(()) };
        let put = self.room.ensure(&self.db, bytes, self.totals_bytes).and_then(|()| {
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

    fn widen_gap(&mut self, last: u32, why: &rusqlite::Error) {
        let gap = self.gap.get_or_insert_with(|| {
            let is_full = why.sqlite_error_code() == Some(ErrorCode::DiskFull);
            let why = if is_full { "the disk was full".into() } else { why.to_string() };
            self.origin.notes.push(Note { at_ns: 0, kind: NoteKind::Gap, text: String::new() });
            Gap { first: last, note: self.origin.notes.len() - 1, why }
        });
        let outline = &self.origin.opening.outline;
        let (from_ns, to_ns) = (outline.tick_bounds_ns(gap.first).0, outline.tick_bounds_ns(last).1);
        let [from_s, to_s] = [from_ns, to_ns].map(|ns| ns as f64 / 1e9);
        let text =
            format!("no seconds from {from_s} s to {to_s} s in the file: {}; the totals hold them", gap.why);
        // The note was pushed together with the gap, and notes are never taken away.
        self.origin.notes[gap.note] = Note { at_ns: from_ns, kind: NoteKind::Gap, text };
    }

    fn end(&mut self) -> rusqlite::Result<()> {
        let spans = self.spans.rest();
        let bytes = spans.iter().map(|span| span.body.len()).sum();
        // These rows are worth less than the rest, for which there is room.
        if !spans.is_empty() && self.room.ensure(&self.db, bytes, self.totals_bytes).is_ok() {
            let tx = self.db.transaction()?;
            spans::put(&tx, self.at, &spans)?;
            tx.commit()?;
        }
        let opened = self.store_opened();
        let watched = self.store_sights();
        if let Some((at_ns, text)) = self.sights.lost() {
            self.origin.notes.push(Note { at_ns, kind: NoteKind::Gap, text });
        }
        self.store_totals()?;
        // Worth less than the rest, too, but a reader must be told when they are not there.
        let sampled = self.store_samples();
        // Without its seal a file tells the same, but not as surely that it is whole.
        self.is_sealed = sums::seal(&self.db).is_ok();
        // What has lost its name can be read only as long as its log is open.
        if identity_of(&self.path) == Some(self.identity) {
            // What was kept free is not needed any more. It is no harm if it stays, nor if the file stays in two.
            let _ = room::free_pages(&self.db).and_then(|free| room::cut_off(&self.db, free));
            let _ = fold(&self.db);
        }
        opened.and(sampled).and(watched)
    }
}

impl Sink for Writer {
    /// The opening was written when the file was made. A tick that was there before is left out: it would count its
    /// requests twice.
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
                // One that finds no room now is tried again with the next one and at the end.
                if self.origin.keep_sample(sample) { self.store_samples() } else { Ok(()) }
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
            // The end wrote everything that had been refused before.
            self.trouble = None;
        }
    }
}

/// Writes a whole record, such as a merged one, into a new file.
///
/// # Errors
/// As [`RunFile::create`], and when the disk is full; what was begun is removed then.
pub fn write(path: &Path, record: &RunRecord) -> Result<(), Error> {
    schema::create(path, |db| {
        db.pragma_update(None, "synchronous", "NORMAL")?;
        let tx = db.transaction()?;
        for origin in record.generators.values() {
            let at = rows::put_opening(&tx, &origin.opening)?;
            rows::put_opened(&tx, at, 0, &origin.opened)?;
            for (number, row) in &origin.ticks {
                rows::put_tick(&tx, schema::tick_id(at, *number), row)?;
            }
            rows::put_totals(&tx, at, origin, &rows::encoded(&origin.totals))?;
            // Each origin has a range of its own for the ids of notes.
            rows::put_notes(&tx, at, schema::tick_id(at, 1), &origin.notes)?;
            rows::put_samples(&tx, at, schema::tick_id(at, 0), &origin.failure_examples)?;
            sample_log::put_all(&tx, at, &origin.watched)?;
            rows::put_ending(&tx, at, origin)?;
        }
        sums::seal(&tx)?;
        tx.commit()
    })
}
