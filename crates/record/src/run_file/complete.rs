//! Writes a whole record at once.

use super::room::PAGE_BYTES;
use super::{Error, rows, sample_log, schema, sums};
use crate::record::RunRecord;
use std::path::Path;

/// Writes a complete record, such as a merged one, to a new file.
///
/// # Errors
/// Returns an error under the conditions of [`RunFile::create`] or if the disk is full; the incomplete file is then
/// removed.
pub fn write(path: &Path, record: &RunRecord) -> Result<(), Error> {
    schema::create(path, PAGE_BYTES, |db| {
        db.pragma_update(None, "synchronous", "NORMAL")?;
        let tx = db.transaction()?;
        for origin in record.generators.values() {
            let at = rows::put_opening(&tx, &origin.opening)?;
            rows::put_opened(&tx, at, 0, &origin.opened)?;
            rows::put_found(&tx, at, 0, &origin.found)?;
            for (number, row) in &origin.ticks {
                rows::put_tick(&tx, schema::tick_id(at, *number), row)?;
            }
            rows::put_totals(&tx, at, origin, &rows::encoded(&origin.totals))?;
            // Each origin has its own range of note ids.
            rows::put_notes(&tx, at, schema::tick_id(at, 1), &origin.notes)?;
            rows::put_samples(&tx, at, schema::tick_id(at, 0), &origin.failure_examples)?;
            sample_log::put_all(&tx, at, &origin.watched)?;
            rows::put_ending(&tx, at, origin)?;
        }
        sums::seal(&tx)?;
        tx.commit()
    })
}
