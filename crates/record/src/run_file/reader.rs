//! Reads a run file back, also one whose writer was killed.

use super::{APPLICATION_ID, Error, FORMAT_VERSION, schema};
use crate::event::{Note, Pulse};
use crate::record::{Origin, RunRecord, TickRow};
use plimsoll_stats::LAYOUT_ID;
use plimsoll_stats::interval::Interval;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Reads a run, whether it ended, was cut off or is still going on. Files that a kill left in pieces are folded into
/// one on the way.
///
/// # Errors
/// When there is no such file, it is no run file, was made by a newer version, or is damaged.
pub fn read(path: &Path) -> Result<RunRecord, Error> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(Error::NotARunFile { path: path.into() }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::NoSuchFile { path: path.into() });
        }
        Err(source) => return Err(Error::CannotRead { path: path.into(), source }),
    }
    let mut db = open(path).map_err(|bad| bad.of(path))?;
    let record = record(&mut db).map_err(|bad| bad.of(path))?;
    // Still being written, or in a folder that may not be written to: then it stays in two files and is as good.
    let _ = fold(&db);
    Ok(record)
}

fn open(path: &Path) -> Result<Connection, Bad> {
    let open = |access| Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let db =
        open(OpenFlags::SQLITE_OPEN_READ_WRITE).or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    db.busy_timeout(schema::PATIENCE)?;
    Ok(db)
}

/// Makes one file of the database and its log; does nothing while somebody else has it open. Leaving the mode copies
/// the log first and deletes it, all under a lock that nobody else may share.
pub fn fold(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(Duration::ZERO)?;
    match db.query_row("PRAGMA journal_mode = DELETE", (), |_| Ok(())) {
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        other => other,
    }
}

fn record(db: &mut Connection) -> Result<RunRecord, Bad> {
    // One transaction: a run that is being written must not change between two tables.
    let tx = db.transaction()?;
    check_kind(&tx)?;
    let mut record = RunRecord::default();
    let mut origins = tx.prepare("SELECT id, name, opening, ending FROM origin ORDER BY id")?;
    let mut rows = origins.query(())?;
    while let Some(row) = rows.next()? {
        record.origins.insert(row.get(1)?, origin(&tx, row)?);
    }
    if record.origins.is_empty() {
        return Err(Bad::Content("it holds no run".into()));
    }
    Ok(record)
}

fn check_kind(tx: &Connection) -> Result<(), Bad> {
    let pragma = |name| tx.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if pragma("application_id")? != APPLICATION_ID {
        return Err(Bad::Kind);
    }
    let version = pragma("user_version")?;
    if version > FORMAT_VERSION {
        return Err(Bad::Newer(version));
    }
    let layout: Option<String> = tx
        .query_row("SELECT value FROM meta WHERE key = ?1", [schema::HIST_LAYOUT], |row| row.get(0))
        .optional()?;
    let layout = layout.unwrap_or_default();
    if layout != LAYOUT_ID.to_string() { Err(Bad::Layout(layout)) } else { Ok(()) }
}

fn origin(tx: &Connection, row: &Row) -> Result<Origin, Bad> {
    let at: i64 = row.get(0)?;
    let mut origin = Origin::new(Arc::new(json(&row.get::<_, String>(2)?)?));
    origin.ending = row.get::<_, Option<String>>(3)?.map(|text| json(&text)).transpose()?;
    each_blob(tx, "tick", at, |id, body| {
        origin.ticks.insert(schema::tick_of_id(id), TickRow::from_bytes(body.into())?);
        Ok(())
    })?;
    let total: Option<Vec<u8>> =
        tx.query_row("SELECT body FROM total WHERE origin = ?1", [at], |row| row.get(0)).optional()?;
    let total = total.ok_or_else(|| Bad::Content("it holds no totals".into()))?;
    origin.totals.merge(&interval(&total)?);
    each_blob(tx, "pending", at, |_, body| {
        origin.totals.merge(&interval(body)?);
        Ok(())
    })?;
    origin.workers = workers(tx, at)?;
    origin.notes = notes(tx, at)?;
    Ok(origin)
}

fn each_blob(
    tx: &Connection,
    table: &str,
    at: i64,
    mut take: impl FnMut(i64, &[u8]) -> Result<(), Bad>,
) -> Result<(), Bad> {
    let mut all = tx.prepare(&format!("SELECT id, body FROM {table} WHERE id BETWEEN ?1 AND ?2"))?;
    let mut rows = all.query((schema::tick_id(at, 0), schema::tick_id(at, u32::MAX)))?;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(1)?.as_blob().map_err(|_| Bad::Content(format!("no blob in `{table}`")))?;
        take(row.get(0)?, body)?;
    }
    Ok(())
}

fn workers(tx: &Connection, at: i64) -> Result<Vec<Pulse>, Bad> {
    let mut workers = Vec::new();
    let mut all = tx.prepare(
        "SELECT wall_ns, busy_ns, spin_ns, sleep_ns, run_queue_ns FROM worker WHERE origin = ?1 ORDER BY worker",
    )?;
    let mut rows = all.query([at])?;
    while let Some(row) = rows.next()? {
        let ns = |column| row.get::<_, i64>(column).map(|ns| ns as u64);
        workers.push(Pulse {
            wall_ns: ns(0)?,
            busy_ns: ns(1)?,
            spin_ns: ns(2)?,
            sleep_ns: ns(3)?,
            run_queue_ns: ns(4)?,
        });
    }
    Ok(workers)
}

fn notes(tx: &Connection, at: i64) -> Result<Vec<Note>, Bad> {
    let mut notes = Vec::new();
    let mut all = tx.prepare("SELECT at_ns, kind, text FROM note WHERE origin = ?1 ORDER BY id")?;
    let mut rows = all.query([at])?;
    while let Some(row) = rows.next()? {
        notes.push(Note {
            at_ns: row.get::<_, i64>(0)? as u64,
            kind: json(&row.get::<_, String>(1)?)?,
            text: row.get(2)?,
        });
    }
    Ok(notes)
}

fn interval(mut bytes: &[u8]) -> Result<Interval, Bad> {
    let interval = Interval::decode(&mut bytes)?;
    if bytes.is_empty() { Ok(interval) } else { Err(Bad::Content("bytes behind an interval".into())) }
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Bad> {
    serde_json::from_str(text).map_err(|e| Bad::Content(e.to_string()))
}

/// What is wrong with a file, before its path is added.
enum Bad {
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
            // A table or column that is not there, or holds something else.
            SqlInputError { .. } | InvalidColumnType(..) | FromSqlConversionFailure(..) => {
                Bad::Content(source.to_string())
            }
            _ => match source.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => Bad::Kind,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => Bad::Content(source.to_string()),
                _ => Bad::Sqlite(source),
            },
        }
    }
}

impl From<plimsoll_stats::Error> for Bad {
    fn from(source: plimsoll_stats::Error) -> Self {
        // Only the sentence: the hint behind it is about bytes, ours is about files.
        Bad::Content(source.to_string().lines().next().unwrap_or_default().into())
    }
}

impl Bad {
    fn of(self, path: &Path) -> Error {
        let path = path.to_path_buf();
        match self {
            Bad::Kind => Error::NotARunFile { path },
            Bad::Newer(found) => Error::Newer { path, found, known: FORMAT_VERSION },
            Bad::Layout(found) => Error::OtherLayout { path, found, known: LAYOUT_ID },
            Bad::Content(why) => Error::Damaged { path, why },
            Bad::Sqlite(source) => Error::Refused { path, doing: "read", source },
        }
    }
}
