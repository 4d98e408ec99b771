//! A run file may come from anybody, and a database is more than rows: a view in the place of a table, a trigger or a
//! computed column is a program that runs when the rows are read, and one that need not end.

use super::old_names;
use super::reader::{Bad, json};
use crate::event::Opening;
use plimsoll_plan::series::SeriesKey;
use rusqlite::{Connection, Result};
use std::path::Path;

/// Steps of SQLite's machine between two looks at the budget.
const STRIDE: i32 = 10_000;

/// Steps that a file of any size may take: a second or two.
const STEPS_LEAST: u64 = 100_000_000;

/// Steps by byte of the file: a row takes some ten of both, and the notes are gone through once for each machine.
const STEPS_PER_BYTE: u64 = 20;

/// Characters of a name that are kept: more than anybody reads, and every page shows each name a dozen times.
const NAME_CHARS: usize = 300;

/// Characters of a path: servers refuse longer ones, and shorter ones must stay whole to be sent again.
const PATH_CHARS: usize = 8_000;

/// An opening as it stands in the file, with names that can be shown.
pub fn opening(text: &str) -> std::result::Result<Opening, Bad> {
    let mut opening = old_names::opening(text)?;
    let plan = &mut opening.outline;
    cut(&mut plan.name, NAME_CHARS);
    for request in &mut plan.requests {
        cut(&mut request.path, PATH_CHARS);
        let texts = [&mut request.name, &mut request.method].into_iter();
        let tags = request.tags.iter_mut().flat_map(|(name, value)| [name, value]);
        let places = request.scenario.iter_mut().chain(&mut request.group);
        texts.chain(tags).chain(places).for_each(|text| cut(text, NAME_CHARS));
    }
    let checks = plan.checks.iter_mut().map(|check| &mut check.name);
    checks.chain(&mut plan.groups).for_each(|text| cut(text, NAME_CHARS));
    Ok(opening)
}

/// A series that was opened, with names that can be shown, and as its writer had ordered it.
pub fn series(text: &str) -> std::result::Result<SeriesKey, Bad> {
    let mut key: SeriesKey = json(text)?;
    let labels = key.labels.iter_mut().flat_map(|(name, value)| [name, value]);
    std::iter::once(&mut key.name).chain(labels).for_each(|text| cut(text, NAME_CHARS));
    Ok(key)
}

fn cut(text: &mut String, chars: usize) {
    if let Some((at, _)) = text.char_indices().nth(chars) {
        text.truncate(at);
        text.push('\u{2026}');
    }
}

/// Bounds what reading may take, however the file is made. Applies to everything that is asked of `db` from now on.
pub fn bound(db: &mut Connection, path: &Path) -> Result<()> {
    // Functions that reach out of the database are for our own statements, not for those in a file.
    db.pragma_update(None, "trusted_schema", "OFF")?;
    // A file that cannot be looked at is refused elsewhere, in better words.
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    let mut left = (STEPS_LEAST + bytes.saturating_mul(STEPS_PER_BYTE)) / STRIDE as u64;
    let is_spent = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    db.progress_handler(STRIDE, Some(is_spent))
}

/// Refuses everything but tables of rows and their indexes: what else there is has no page of its own.
pub fn check_tables(db: &Connection) -> std::result::Result<(), Bad> {
    const OTHER: &str = "SELECT type || ' ' || name FROM sqlite_schema
        WHERE type NOT IN ('table', 'index') OR coalesce(rootpage, 0) = 0 LIMIT 1";
    const COMPUTED: &str =
        "SELECT 'column ' || c.name FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c
        WHERE s.type = 'table' AND c.hidden <> 0 LIMIT 1";
    for sql in [OTHER, COMPUTED] {
        let mut rows = db.prepare(sql)?;
        let mut found = rows.query(())?;
        if let Some(row) = found.next()? {
            let name: String = row.get::<_, String>(0)?.chars().take(60).collect();
            return Err(Bad::Content(format!(
                "a run file has tables of rows only, and this one has the {name:?}"
            )));
        }
    }
    Ok(())
}
