//! Reads a run file, including one whose writer was killed.

use super::open::{Closed, Opened, fold, open};
use super::sums::{self, Sums, Table};
use super::{APPLICATION_ID, Error, FORMAT_VERSION, guard, old_names, old_notes, sample_log, schema};
use crate::event::{Note, OriginOpened, SeriesOpened, WorkerTimes};
use crate::record::{GeneratorRecord, RUN_LAYOUT, RunRecord, SERIES_LAYOUT, TickRow, widened};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::series::SeriesKey;
use plimsoll_stats::LAYOUT_ID;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};
use std::path::Path;
use std::sync::Arc;

/// Reads a run that has ended, was cut off, or is still running. Makes one file of what a kill left in two, if
/// possible.
///
/// # Errors
/// Returns an error if the file is missing, is not a run file, comes from a newer version, or is damaged.
pub fn read(path: &Path) -> Result<RunRecord, Error> {
    let mut opened = opened(path)?;
    let record = record(&mut opened.db).map_err(|bad| bad.of(path))?;
    // Failing to join the two files (full disk, read-only folder) does no harm.
    let _ = fold(&opened.db);
    Ok(record)
}

/// One series, or the whole run with all histograms, over about ten seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub first_tick: u32,
    pub last_tick: u32,
    pub cells: Tally,
}

/// Returns the timeline of one series including the warm-up, or of the run-wide numbers if `series` is `None`. It is
/// coarser than the ticks of [`read`] and has the histograms that those lack. Chronological; empty spans are omitted.
/// A cut-off run lacks its last span, and a merged file has none.
///
/// # Errors
/// Returns an error under the conditions of [`read`].
pub fn read_spans(path: &Path, origin: &str, series: Option<u32>) -> Result<Vec<Span>, Error> {
    let opened = opened(path)?;
    check_kind(&opened.db).and_then(|()| spans(&opened.db, origin, series)).map_err(|bad| bad.of(path))
}

/// Passes all spans of an origin to `see`: those of the whole run first, then by series and time. The former have
/// ticks only and no cells.
///
/// # Errors
/// Returns an error under the conditions of [`read`].
pub fn each_span(path: &Path, origin: &str, see: impl FnMut(Option<u32>, Span)) -> Result<(), Error> {
    let opened = opened(path)?;
    check_kind(&opened.db).and_then(|()| spans_seen(&opened.db, origin, see)).map_err(|bad| bad.of(path))
}

fn opened(path: &Path) -> Result<Opened, Error> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(Error::NotARunFile { path: path.into() }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::NoSuchFile { path: path.into() });
        }
        Err(source) => return Err(Error::CannotRead { path: path.into(), source }),
    }
    open(path).map_err(|closed| match closed {
        Closed::Sqlite(source) => Bad::from(source).of(path),
        // The file was deleted between the two calls.
        Closed::Io(source) if source.kind() == std::io::ErrorKind::NotFound => {
            Error::NoSuchFile { path: path.into() }
        }
        Closed::Io(source) => Error::CannotRead { path: path.into(), source },
    })
}

pub(super) fn record(db: &mut Connection) -> Result<RunRecord, Bad> {
    // One transaction, because a run in progress must not change between two tables.
    let tx = db.transaction()?;
    check_kind(&tx)?;
    let mut record = RunRecord::default();
    let sums = Sums::of(&tx);
    let mut origins = sums.select(&sums::ORIGIN, "ORDER BY id")?;
    let mut rows = origins.query(())?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::ORIGIN, row)?;
        record.generators.insert(row.get(1)?, origin(&tx, &sums, row)?);
    }
    if record.generators.is_empty() {
        return Err(Bad::Content("it contains no run".into()));
    }
    sums.match_seal()?;
    Ok(record)
}

pub(super) fn check_kind(tx: &Connection) -> Result<(), Bad> {
    let pragma = |name| tx.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if pragma("application_id")? != APPLICATION_ID {
        return Err(Bad::Kind);
    }
    let version = pragma("user_version")?;
    if version > FORMAT_VERSION {
        return Err(Bad::Newer(version));
    }
    guard::check_tables(tx)?;
    let layout: Option<String> = tx
        .query_row("SELECT value FROM meta WHERE key = ?1", [schema::HIST_LAYOUT], |row| row.get(0))
        .optional()?;
    let layout = layout.unwrap_or_default();
    if layout != LAYOUT_ID.to_string() { Err(Bad::Layout(layout)) } else { Ok(()) }
}

fn origin(tx: &Connection, sums: &Sums<'_>, row: &Row) -> Result<GeneratorRecord, Bad> {
    let at: i64 = row.get(0)?;
    let mut origin = GeneratorRecord::new(Arc::new(guard::opening(&row.get::<_, String>(2)?)?));
    origin.ending = row.get::<_, Option<String>>(3)?.map(|text| json(&text)).transpose()?;
    for (number, key) in (origin.opening.series_count() as u32..).zip(opened_series(tx, sums, at)?) {
        origin.open(&SeriesOpened { series: number, key: key.into() });
    }
    for found in found_origins(tx, sums, at)? {
        if !origin.open_origin(&found) {
            return Err(Bad::Content("an origin is missing".into()));
        }
    }
    let (first, last) = (schema::tick_id(at, 0), schema::tick_id(at, u32::MAX));
    each_blob(sums, &sums::TICK, first, last, |id, body| {
        origin.ticks.insert(schema::tick_of_id(id), TickRow::from_bytes(body.into())?);
        Ok(())
    })?;
    let mut has_totals = false;
    each_blob(sums, &sums::TOTAL, at, at, |_, body| {
        has_totals = true;
        origin.totals.merge(&interval(body)?);
        Ok(())
    })?;
    if !has_totals {
        return Err(Bad::Content("it contains no totals".into()));
    }
    each_blob(sums, &sums::PENDING, first, last, |_, body| {
        origin.totals.merge(&interval(body)?);
        Ok(())
    })?;
    // `merge` keeps the wider one: files of early versions lack the series of addresses and get empty ones.
    let (has, wants) = (origin.totals.series.len(), origin.opening.series_count() + origin.opened.len());
    if has != wants {
        return Err(Bad::Content(format!("its totals have {has} series and its plan has {wants}")));
    }
    // Users as code have workloads, and open the series of their requests.
    let outline = &origin.opening.outline;
    if outline.requests.is_empty() && outline.workloads.is_empty() {
        return Err(Bad::Content("its plan has no request".into()));
    }
    let layouts: Vec<Layout> = origin.layouts().collect();
    for (series, layout) in origin.totals.series.iter_mut().zip(layouts) {
        *series = widened(std::mem::replace(series, Tally::on_demand(Layout::default())), layout);
    }
    origin.workers = workers(sums, at)?;
    origin.notes = notes(sums, at)?;
    origin.failure_examples = samples(tx, sums, at)?;
    origin.watched = sample_log::read(tx, sums, at)?;
    Ok(origin)
}

/// Reads a table whose first column is its key and whose second is a blob.
pub(super) fn each_blob(
    sums: &Sums<'_>,
    table: &Table,
    first: i64,
    last: i64,
    mut take: impl FnMut(i64, &[u8]) -> Result<(), Bad>,
) -> Result<(), Bad> {
    let mut all = sums.select(table, "WHERE rowid BETWEEN ?1 AND ?2")?;
    let mut rows = all.query((first, last))?;
    while let Some(row) = rows.next()? {
        sums.see(table, row)?;
        let no_blob = |_| Bad::Content(format!("no blob in `{}`", table.name));
        let body = row.get_ref(1)?.as_blob().map_err(no_blob)?;
        take(row.get(0)?, body)?;
    }
    Ok(())
}

pub(super) fn workers(sums: &Sums<'_>, at: i64) -> Result<Vec<WorkerTimes>, Bad> {
    let mut workers = Vec::new();
    let mut all = sums.select(&sums::WORKER, "WHERE origin = ?1 ORDER BY worker")?;
    let mut rows = all.query([at])?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::WORKER, row)?;
        let ns = |column| row.get::<_, i64>(column).map(|ns| ns as u64);
        workers.push(WorkerTimes {
            wall_ns: ns(2)?,
            busy_ns: ns(3)?,
            busy_poll_ns: ns(4)?,
            idle_ns: ns(5)?,
            cpu_wait_ns: ns(6)?,
        });
    }
    Ok(workers)
}

pub(super) fn notes(sums: &Sums<'_>, at: i64) -> Result<Vec<Note>, Bad> {
    let mut notes = Vec::new();
    let mut all = sums.select(&sums::NOTE, "WHERE origin = ?1 ORDER BY id")?;
    let mut rows = all.query([at])?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::NOTE, row)?;
        let text: String = row.get(4)?;
        let kind = old_notes::kind(json(&row.get::<_, String>(3)?)?, &text);
        notes.push(Note { at_ns: row.get::<_, i64>(2)? as u64, kind, text });
    }
    Ok(notes)
}

/// Early versions lack this table, and so do runs without opened series.
fn opened_series(tx: &Connection, sums: &Sums<'_>, at: i64) -> Result<Vec<SeriesKey>, Bad> {
    let mut opened = Vec::new();
    if !has_table(tx, sums::OPENED.name)? {
        return Ok(opened);
    }
    let (first, last) = (schema::tick_id(at, 0), schema::tick_id(at, u32::MAX));
    let mut all = sums.select(&sums::OPENED, "WHERE rowid BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = all.query((first, last))?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::OPENED, row)?;
        opened.push(guard::series(&row.get::<_, String>(1)?)?);
        if row.get::<_, i64>(0)? != schema::tick_id(at, opened.len() as u32 - 1) {
            return Err(Bad::Content("an opened series is missing".into()));
        }
    }
    Ok(opened)
}

/// Early versions lack this table, and so do runs without found origins.
pub(super) fn found_origins(tx: &Connection, sums: &Sums<'_>, at: i64) -> Result<Vec<OriginOpened>, Bad> {
    let mut found = Vec::new();
    if !has_table(tx, sums::FOUND.name)? {
        return Ok(found);
    }
    let (first, last) = (schema::tick_id(at, 0), schema::tick_id(at, u32::MAX));
    let mut all = sums.select(&sums::FOUND, "WHERE rowid BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = all.query((first, last))?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::FOUND, row)?;
        found.push(guard::found(&row.get::<_, String>(1)?)?);
    }
    Ok(found)
}

fn has_table(tx: &Connection, name: &str) -> Result<bool, Bad> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
    Ok(tx.query_row(sql, [name], |row| row.get::<_, i64>(0))? > 0)
}

fn samples(tx: &Connection, sums: &Sums<'_>, at: i64) -> Result<Vec<FailureExample>, Bad> {
    let mut samples = Vec::new();
    // Early versions lack this table.
    if !has_table(tx, sums::SAMPLE.name)? {
        return Ok(samples);
    }
    let mut all = sums.select(&sums::SAMPLE, "WHERE origin = ?1 ORDER BY id")?;
    let mut rows = all.query([at])?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::SAMPLE, row)?;
        samples.push(old_names::failure_example(&row.get::<_, String>(2)?)?);
    }
    Ok(samples)
}

/// No index is used, because its content has no checksum: neither to find a row nor in place of the table.
const OF_ORIGIN: &str = "WHERE origin IN (SELECT id FROM origin NOT INDEXED WHERE name = ?1)";

fn spans(db: &Connection, origin: &str, series: Option<u32>) -> Result<Vec<Span>, Bad> {
    let mut spans = Vec::new();
    let sums = Sums::of(db);
    let mut all = sums.select(&sums::SERIES, &format!("{OF_ORIGIN} AND series = ?2 ORDER BY first_tick"))?;
    let mut rows = all.query((origin, series.map_or(-1, i64::from)))?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::SERIES, row)?;
        let body: Vec<u8> = row.get(4)?;
        let cells = Tally::decode(&mut &*body)?;
        let layout = if series.is_none() { RUN_LAYOUT } else { SERIES_LAYOUT };
        spans.push(Span { first_tick: row.get(2)?, last_tick: row.get(3)?, cells: widened(cells, layout) });
    }
    Ok(spans)
}

fn spans_seen(db: &Connection, origin: &str, mut see: impl FnMut(Option<u32>, Span)) -> Result<(), Bad> {
    let sums = Sums::of(db);
    let mut all = sums.select(&sums::SERIES, &format!("{OF_ORIGIN} ORDER BY series, first_tick"))?;
    let mut rows = all.query([origin])?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::SERIES, row)?;
        // -1 is the whole run.
        let series = u32::try_from(row.get::<_, i64>(1)?).ok();
        let cells = match series {
            None => Tally::on_demand(Layout::default()),
            Some(_) => {
                let mut body =
                    row.get_ref(4)?.as_blob().map_err(|_| Bad::Content("no blob in `series`".into()))?;
                widened(Tally::decode(&mut body)?, SERIES_LAYOUT)
            }
        };
        see(series, Span { first_tick: row.get(2)?, last_tick: row.get(3)?, cells });
    }
    Ok(())
}

fn interval(mut bytes: &[u8]) -> Result<Interval, Bad> {
    let interval = Interval::decode(&mut bytes)?;
    if bytes.is_empty() { Ok(interval) } else { Err(Bad::Content("bytes after an interval".into())) }
}

pub(super) fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Bad> {
    serde_json::from_str(text).map_err(|e| Bad::Content(e.to_string()))
}

/// An error in a file before its path is added.
pub(super) enum Bad {
    Kind,
    Newer(i64),
    Layout(String),
    Content(String),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Bad {
    fn from(source: rusqlite::Error) -> Self {
        use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType, SqlInputError};
        match source {
            // A table or column is missing or has another type.
            SqlInputError { .. } | InvalidColumnType(..) | FromSqlConversionFailure(..) => {
                Bad::Content(source.to_string())
            }
            _ => match source.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => Bad::Kind,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => Bad::Content(source.to_string()),
                Some(ErrorCode::OperationInterrupted) => {
                    Bad::Content("reading it takes more work than any run of its size".into())
                }
                _ => Bad::Sqlite(source),
            },
        }
    }
}

impl From<plimsoll_stats::Error> for Bad {
    fn from(source: plimsoll_stats::Error) -> Self {
        Bad::Content(source.to_string())
    }
}

impl Bad {
    pub(super) fn of(self, path: &Path) -> Error {
        let path = path.to_path_buf();
        match self {
            Bad::Kind => Error::NotARunFile { path },
            Bad::Newer(found) => Error::Newer { path, found, known: FORMAT_VERSION },
            Bad::Layout(found) => Error::OtherLayout { path, found, known: LAYOUT_ID },
            Bad::Content(why) => Error::Damaged { path, why },
            // The file was removed meanwhile.
            Bad::Sqlite(_) if !path.exists() => Error::NoSuchFile { path },
            Bad::Sqlite(source) => Error::Refused { path, doing: "read", source },
        }
    }
}
