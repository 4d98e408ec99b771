//! Limits on untrusted run files. A database is more than rows: a view in place of a table, a trigger, or a computed
//! column is a program that runs when rows are read, possibly forever.

use super::old_names;
use super::reader::{Bad, json};
use crate::event::{Opening, OriginOpened};
use plimsoll_plan::origin::ORIGINS_MAX;
use plimsoll_plan::series::SeriesKey;
use rusqlite::{Connection, Result};
use std::path::Path;

/// Number of SQLite VM steps between two checks of the budget.
const STRIDE: i32 = 10_000;

/// Steps allowed for a file of any size: one or two seconds.
const STEPS_LEAST: u64 = 100_000_000;

/// Steps allowed per byte of the file. A row takes about ten of both, and the notes are scanned once per machine.
const STEPS_PER_BYTE: u64 = 20;

/// Maximum length of a name in characters, because a page shows each name a dozen times.
const NAME_CHARS: usize = 300;

/// Maximum length of a path in characters. Servers reject longer ones, and shorter ones must stay complete to be sent
/// again.
const PATH_CHARS: usize = 8_000;

/// Parses an opening from the file and shortens its names.
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

/// Parses an opened series, shortens its names, and sorts it as its writer did.
pub fn series(text: &str) -> std::result::Result<SeriesKey, Bad> {
    let mut key: SeriesKey = json(text)?;
    let labels = key.labels.iter_mut().flat_map(|(name, value)| [name, value]);
    std::iter::once(&mut key.name).chain(labels).for_each(|text| cut(text, NAME_CHARS));
    Ok(key)
}

/// Parses an origin that was found, and shortens its names.
pub fn found(text: &str) -> std::result::Result<OriginOpened, Bad> {
    let mut found: OriginOpened = json(text)?;
    if usize::from(found.number) >= ORIGINS_MAX {
        return Err(Bad::Content(format!("more than {ORIGINS_MAX} origins")));
    }
    [&mut found.origin.name, &mut found.origin.host].into_iter().for_each(|text| cut(text, NAME_CHARS));
    Ok(found)
}

fn cut(text: &mut String, chars: usize) {
    if let Some((at, _)) = text.char_indices().nth(chars) {
        text.truncate(at);
        text.push('\u{2026}');
    }
}

/// Limits the work of reading, however the file is made. Applies to all later queries on `db`.
pub fn bound(db: &mut Connection, path: &Path) -> Result<()> {
    // Functions that reach outside the database are for this program's statements only, not for those in a file.
    db.pragma_update(None, "trusted_schema", "OFF")?;
    // A missing or unreadable file is rejected elsewhere, with a better message.
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    let mut left = (STEPS_LEAST + bytes.saturating_mul(STEPS_PER_BYTE)) / STRIDE as u64;
    let is_spent = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    db.progress_handler(STRIDE, Some(is_spent))
}

/// Rejects everything but tables of rows and their indexes.
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
                "unexpected {name:?}: a run file contains only tables of rows"
            )));
        }
    }
    Ok(())
}
