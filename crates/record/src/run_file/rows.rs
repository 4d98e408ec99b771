//! Inserts rows into the tables, within a transaction of the caller.

use super::{schema, sums};
use crate::event::{Note, Opening, OriginOpened};
use crate::record::{GeneratorRecord, Opened, TickRow};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_stats::interval::Interval;
use rusqlite::types::Null;
use rusqlite::{Connection, Result};

pub fn encoded(interval: &Interval) -> Vec<u8> {
    let mut body = Vec::new();
    interval.encode(&mut body);
    body
}

/// Returns the number of the row.
pub fn put_opening(db: &Connection, opening: &Opening) -> Result<i64> {
    let at: i64 = db.query_row("SELECT coalesce(max(id), 0) + 1 FROM origin", (), |row| row.get(0))?;
    sums::ORIGIN.put(db)?.row(&[&at, &opening.origin, &json(opening)?, &Null])?;
    Ok(at)
}

/// `first` is the number of rows that this origin already has.
pub fn put_opened(db: &Connection, at: i64, first: usize, opened: &[Opened]) -> Result<()> {
    if opened.is_empty() {
        return Ok(());
    }
    db.execute_batch(schema::OPENED_TABLE)?;
    let mut put = sums::OPENED.put(db)?;
    for (number, one) in (first as u32..).zip(opened) {
        put.row(&[&schema::tick_id(at, number), &json(&*one.key)?])?;
    }
    Ok(())
}

/// `first` is the number of rows that this origin already has.
pub fn put_found(db: &Connection, at: i64, first: usize, found: &[OriginOpened]) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    db.execute_batch(schema::FOUND_TABLE)?;
    let mut put = sums::FOUND.put(db)?;
    for (number, one) in (first as u32..).zip(found) {
        put.row(&[&schema::tick_id(at, number), &json(one)?])?;
    }
    Ok(())
}

pub fn put_tick(db: &Connection, id: i64, row: &TickRow) -> Result<()> {
    sums::TICK.put(db)?.row(&[&id, &row.bytes()])
}

pub fn put_pending(db: &Connection, id: i64, interval: &[u8]) -> Result<()> {
    sums::PENDING.put(db)?.row(&[&id, &interval])
}

/// `body` is the encoded form of the origin's totals, which replace all pending intervals.
pub fn put_totals(db: &Connection, at: i64, origin: &GeneratorRecord, body: &[u8]) -> Result<()> {
    sums::TOTAL.put(db)?.row(&[&at, &body])?;
    let ids = (schema::tick_id(at, 0), schema::tick_id(at, u32::MAX));
    db.execute("DELETE FROM pending WHERE id BETWEEN ?1 AND ?2", ids)?;
    put_workers(db, at, origin)
}

pub fn put_workers(db: &Connection, at: i64, origin: &GeneratorRecord) -> Result<()> {
    let mut put = sums::WORKER.put(db)?;
    for (number, p) in origin.workers.iter().enumerate() {
        // Nanoseconds of 292 years fit; the reader reverses the cast.
        let [wall, busy, spin, sleep, queue] =
            [p.wall_ns, p.busy_ns, p.busy_poll_ns, p.idle_ns, p.cpu_wait_ns].map(|ns| ns as i64);
        put.row(&[&at, &(number as i64), &wall, &busy, &spin, &sleep, &queue])?;
    }
    Ok(())
}

/// Writes all notes of an origin, including existing ones, because the text of a gap's note changes.
pub fn put_notes(db: &Connection, at: i64, first_id: i64, notes: &[Note]) -> Result<()> {
    let mut put = sums::NOTE.put(db)?;
    for (id, note) in (first_id..).zip(notes) {
        put.row(&[&id, &at, &(note.at_ns as i64), &json(&note.kind)?, &note.text])?;
    }
    Ok(())
}

/// `first_id` is the id of the first example.
pub fn put_samples(db: &Connection, at: i64, first_id: i64, samples: &[FailureExample]) -> Result<()> {
    let mut put = sums::SAMPLE.put(db)?;
    for (id, sample) in (first_id..).zip(samples) {
        put.row(&[&id, &at, &json(sample)?])?;
    }
    Ok(())
}

pub fn put_ending(db: &Connection, at: i64, origin: &GeneratorRecord) -> Result<()> {
    let ending = origin.ending.as_ref().map(json).transpose()?;
    let sql = "SELECT name, opening FROM origin WHERE id = ?1";
    let (name, opening): (String, String) = db.query_row(sql, [at], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let crc = sums::crc(&[&at, &name, &opening, &ending])?;
    db.execute("UPDATE origin SET ending = ?2, crc = ?3 WHERE id = ?1", (at, ending, crc))?;
    Ok(())
}

pub fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))
}
