//! Follows a run file during the run: each read returns what is new. The file is closed between two reads, because an
//! open connection would keep the writer from joining the file and its log at the end of the run. Reopening costs a
//! tenth of a millisecond.

use super::reader::{Bad, check_kind, each_blob, found_origins, json, notes, workers};
use super::sums::{self, Sums};
use super::{Error, guard, sample_log, schema};
use crate::event::{Ending, MonitorSample, Note, Opening, Reading, WorkerTimes};
use crate::record::{GeneratorRecord, RunRecord, TickRow, Watched};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum wait for a lock; the next read catches up.
const PATIENCE: Duration = Duration::from_millis(20);

/// New content of a run file.
#[derive(Debug, Clone, Default)]
pub struct NewRows {
    /// Returned once; of several machines, the opening of the first.
    pub opening: Option<Arc<Opening>>,
    /// By machine: its new ticks, and its ending if known. Other fields of the record are empty.
    pub ticks: RunRecord,
    /// New notes, and those whose text has changed (a growing gap).
    pub notes: Vec<Note>,
    /// Samples of monitors.
    pub sights: Vec<MonitorSample>,
    /// Times of the first machine's workers since the last read; empty while nothing was measured.
    pub pulses: Vec<WorkerTimes>,
    /// Returned once when the run has ended; a killed run has no ending.
    pub ending: Option<Ending>,
}

/// Reader of a growing run file.
pub struct Tail {
    path: PathBuf,
    /// Position within each machine, by row of `origin`.
    places: BTreeMap<i64, Place>,
    opened: bool,
    ended: bool,
}

/// Position within one machine.
struct Place {
    opening: Arc<Opening>,
    ending: Option<Ending>,
    /// Ids of the last rows read.
    tick: i64,
    sight: i64,
    notes: Vec<Note>,
    workers: Vec<WorkerTimes>,
}

impl Tail {
    /// Starts to follow `path`, which may have just been created.
    ///
    /// # Errors
    /// Returns an error if the file is missing or cannot become a run file.
    pub fn open(path: &Path) -> Result<Tail, Error> {
        let tail = Tail { path: path.into(), places: BTreeMap::new(), opened: false, ended: false };
        tail.look(|db| kind(db).map(|_| ()))?;
        Ok(tail)
    }

    /// Returns what is new. Never waits for the writer or makes it wait: while the file is locked, nothing is new.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`super::read`]. The next call continues after what was read.
    pub fn more(&mut self) -> Result<NewRows, Error> {
        let found = self.look(|db| match kind(db)? {
            true => self.news(db).map(Some),
            false => Ok(None),
        })?;
        Ok(found.flatten().map(|news| self.take(news)).unwrap_or_default())
    }

    /// Returns whether the ending was returned.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Reads the file in one transaction; returns `None` if it is locked.
    fn look<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Bad>) -> Result<Option<T>, Error> {
        match std::fs::metadata(&self.path) {
            Ok(meta) if !meta.is_file() => return Err(Error::NotARunFile { path: self.path.clone() }),
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::NoSuchFile { path: self.path.clone() });
            }
            Err(source) => return Err(Error::CannotRead { path: self.path.clone(), source }),
        }
        match in_transaction(&self.path, read) {
            Ok(found) => Ok(Some(found)),
            Err(Bad::Sqlite(e)) if is_locked(&e) => Ok(None),
            Err(bad) => Err(bad.of(&self.path)),
        }
    }

    /// Reads everything new.
    fn news(&self, db: &Connection) -> Result<Vec<(i64, News)>, Bad> {
        let mut all = Vec::new();
        let sums = Sums::of(db);
        let mut origins = sums.select(&sums::ORIGIN, "ORDER BY id")?;
        let mut rows = origins.query(())?;
        while let Some(row) = rows.next()? {
            sums.see(&sums::ORIGIN, row)?;
            let at: i64 = row.get(0)?;
            let place = self.places.get(&at);
            let mut opening = match place {
                Some(place) => Arc::clone(&place.opening),
                None => Arc::new(guard::opening(&row.get::<_, String>(2)?)?),
            };
            let ending = match place.is_some_and(|place| place.ending.is_some()) {
                true => None,
                false => row.get::<_, Option<String>>(3)?.map(|text| json(&text)).transpose()?,
            };
            for found in found_origins(db, &sums, at)? {
                // Known ones are listed already.
                let _ = Arc::make_mut(&mut opening).outline.add_origin(found.number, found.origin);
            }
            let from = place.map_or(schema::tick_id(at, 0), |place| place.tick + 1);
            let mut ticks = BTreeMap::new();
            each_blob(&sums, &sums::TICK, from, schema::tick_id(at, u32::MAX), |id, body| {
                ticks.insert(schema::tick_of_id(id), TickRow::from_bytes(body.into())?);
                Ok(())
            })?;
            let from = place.map_or(schema::tick_id(at, 0), |place| place.sight + 1);
            let (watched, sight) = sample_log::after(db, &sums, at, from)?;
            let (notes, workers) = (notes(&sums, at)?, workers(&sums, at)?);
            all.push((at, News { opening, ending, ticks, watched, sight, notes, workers }));
        }
        Ok(all)
    }

    /// Advances the positions and returns the new rows.
    fn take(&mut self, news: Vec<(i64, News)>) -> NewRows {
        let mut fresh = NewRows::default();
        for (at, one) in news {
            if !std::mem::replace(&mut self.opened, true) {
                fresh.opening = Some(Arc::clone(&one.opening));
            }
            let place = self.places.entry(at).or_insert_with(|| Place::new(at, &one.opening));
            place.opening = Arc::clone(&one.opening);
            if let Some(last) = one.ticks.keys().next_back() {
                place.tick = schema::tick_id(at, *last);
            }
            place.sight = one.sight.unwrap_or(place.sight);
            let known = std::mem::replace(&mut place.notes, one.notes);
            let is_new = |(i, note): &(usize, &Note)| known.get(*i) != Some(note);
            fresh.notes.extend(place.notes.iter().enumerate().filter(is_new).map(|(_, note)| note.clone()));
            let before = std::mem::replace(&mut place.workers, one.workers);
            if fresh.pulses.is_empty() && before != place.workers {
                fresh.pulses = since(&before, &place.workers);
            }
            fresh.sights.extend(sights_of(&one.watched));
            place.ending = place.ending.take().or(one.ending);
            let mut origin = GeneratorRecord::new(one.opening);
            origin.ending.clone_from(&place.ending);
            origin.ticks = one.ticks;
            fresh.ticks.generators.insert(origin.opening.origin.clone(), origin);
        }
        let endings = || self.places.values().map(|place| place.ending.as_ref());
        if !self.ended && !self.places.is_empty() && endings().all(|ending| ending.is_some()) {
            fresh.ending = endings().flatten().max_by_key(|ending| ending.elapsed_ns).cloned();
            self.ended = true;
        }
        fresh
    }
}

/// New rows of one machine.
struct News {
    opening: Arc<Opening>,
    ending: Option<Ending>,
    ticks: BTreeMap<u32, TickRow>,
    watched: Watched,
    /// Id of its last sample.
    sight: Option<i64>,
    /// All its notes.
    notes: Vec<Note>,
    workers: Vec<WorkerTimes>,
}

impl Place {
    fn new(at: i64, opening: &Arc<Opening>) -> Self {
        let before = schema::tick_id(at, 0) - 1;
        let (notes, workers) = Default::default();
        Self { opening: Arc::clone(opening), ending: None, tick: before, sight: before, notes, workers }
    }
}

/// Returns whether the file contains a run yet. On file systems without hard links, the name briefly belongs to an
/// empty file.
fn kind(db: &Connection) -> Result<bool, Bad> {
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    let is_empty = db.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? <= 1;
    if tables == 0 && is_empty {
        return Ok(false);
    }
    check_kind(db).map(|()| true)
}

fn in_transaction<T>(path: &Path, read: impl FnOnce(&Connection) -> Result<T, Bad>) -> Result<T, Bad> {
    // Read-only, because the last connection to a file that its writer has left would copy the log into it.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    guard::bound(&mut db, path)?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Deferred)?;
    read(&tx)
}

fn is_locked(e: &rusqlite::Error) -> bool {
    matches!(e.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Converts channels with points back to samples in chronological order.
fn sights_of(watched: &Watched) -> Vec<MonitorSample> {
    let mut found: BTreeMap<(u64, u32), Vec<Reading>> = BTreeMap::new();
    for channel in &watched.channels {
        for (at_ns, value) in &channel.points {
            found.entry((*at_ns, channel.monitor)).or_default().push(Reading {
                part: channel.part.clone(),
                metric: channel.metric.clone(),
                unit: channel.unit,
                limit: channel.limit,
                value: *value,
            });
        }
    }
    let sights = found.into_iter();
    sights.map(|((at_ns, monitor), readings)| MonitorSample { at_ns, monitor, readings }).collect()
}

fn since(before: &[WorkerTimes], now: &[WorkerTimes]) -> Vec<WorkerTimes> {
    let zero = WorkerTimes::default();
    let both = now.iter().enumerate().map(|(at, now)| (before.get(at).unwrap_or(&zero), now));
    both.map(|(before, now)| WorkerTimes {
        wall_ns: now.wall_ns.saturating_sub(before.wall_ns),
        busy_ns: now.busy_ns.saturating_sub(before.busy_ns),
        busy_poll_ns: now.busy_poll_ns.saturating_sub(before.busy_poll_ns),
        idle_ns: now.idle_ns.saturating_sub(before.idle_ns),
        cpu_wait_ns: now.cpu_wait_ns.saturating_sub(before.cpu_wait_ns),
    })
    .collect()
}
