//! Checksums, so that a bit flipped by a disk or a copy is detected and never becomes another number. Each row
//! carries the CRC-32 of its columns, which detects every single bit and every burst of up to 32. Rows that vanish
//! because a bit flipped in the tree that leads to them are detected by the seal: the number of rows of each table
//! and the sum of their checksums, written at the end of the run. Files of early versions have neither.

use super::reader::Bad;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, Row, Statement, ToSql};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A table whose rows carry a checksum in an additional column `crc`.
pub struct Table {
    pub name: &'static str,
    columns: &'static [&'static str],
}

macro_rules! tables {
    ($($constant:ident = $name:literal: $($column:literal),+;)+) => {
        $(pub const $constant: Table = Table { name: $name, columns: &[$($column),+] };)+
        const ALL: &[Table] = &[$($constant),+];
    };
}

tables! {
    ORIGIN = "origin": "id", "name", "opening", "ending";
    TICK = "tick": "id", "body";
    TOTAL = "total": "origin", "body";
    PENDING = "pending": "id", "body";
    SERIES = "series": "origin", "series", "first_tick", "last_tick", "body";
    OPENED = "opened": "id", "body";
    FOUND = "found": "id", "body";
    WORKER = "worker": "origin", "worker", "wall_ns", "busy_ns", "spin_ns", "sleep_ns", "run_queue_ns";
    NOTE = "note": "id", "origin", "at_ns", "kind", "text";
    SAMPLE = "sample": "id", "origin", "body";
    CHANNEL = "channel": "id", "monitor", "part", "metric", "unit", "limit_value";
    SIGHT = "sight": "id", "at_ns", "body";
    FACT = "fact": "id", "monitor", "name", "value";
    LAPSE = "lapse": "id", "monitor", "at_ns", "why";
    LAPSED = "lapsed": "origin", "monitor", "count";
}

/// Key in `meta`.
const SEAL: &str = "seal";

/// Inserts rows into one table, replacing those with the same key.
pub struct Put<'a>(Statement<'a>);

impl Table {
    pub fn put<'a>(&self, db: &'a Connection) -> Result<Put<'a>> {
        let (names, marks) = (self.columns.join(", "), ", ?".repeat(self.columns.len()));
        let sql = format!("INSERT OR REPLACE INTO {} ({names}, crc) VALUES (?{marks})", self.name);
        db.prepare(&sql).map(Put)
    }
}

impl Put<'_> {
    /// Inserts `values`, which are all columns of the table in order.
    pub fn row(&mut self, values: &[&dyn ToSql]) -> Result<()> {
        let crc = crc(values)?;
        let all = values.iter().copied().chain(std::iter::once(&crc as &dyn ToSql));
        self.0.execute(rusqlite::params_from_iter(all)).map(|_| ())
    }
}

/// Returns the checksum of a row with these values.
pub fn crc(values: &[&dyn ToSql]) -> Result<i64> {
    let mut sum = crc32fast::Hasher::new();
    for value in values {
        match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => add(&mut sum, value),
            ToSqlOutput::Owned(value) => add(&mut sum, ValueRef::from(&value)),
            // This code inserts no other types.
            _ => add(&mut sum, ValueRef::Null),
        }
    }
    Ok(i64::from(sum.finalize()))
}

/// Type and length first, so that values cannot run into each other.
fn add(sum: &mut crc32fast::Hasher, value: ValueRef<'_>) {
    let mut bytes = |kind: u8, bytes: &[u8]| {
        sum.update(&[kind]);
        sum.update(&(bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    match value {
        ValueRef::Null => bytes(0, &[]),
        ValueRef::Integer(number) => bytes(1, &number.to_le_bytes()),
        ValueRef::Real(number) => bytes(2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => bytes(3, text),
        ValueRef::Blob(blob) => bytes(4, blob),
    }
}

/// Checksums of what was read of one file.
pub struct Sums<'a> {
    db: &'a Connection,
    /// By table: whether it has checksums, the number of rows read, and the sum of their checksums.
    seen: RefCell<BTreeMap<&'static str, Seen>>,
}

#[derive(Default, Clone, Copy)]
struct Seen {
    has_crc: bool,
    rows: i64,
    sum: i64,
}

impl<'a> Sums<'a> {
    pub fn of(db: &'a Connection) -> Self {
        Self { db, seen: RefCell::default() }
    }

    /// Returns a statement that selects the columns of a table in order, followed by what [`Sums::see`] needs.
    pub fn select(&self, table: &Table, rest: &str) -> Result<Statement<'a>> {
        let has_crc = has_crc(self.db, table.name)?;
        self.seen.borrow_mut().entry(table.name).or_default().has_crc = has_crc;
        let crc = if has_crc { "crc" } else { "NULL" };
        self.db.prepare(&format!("SELECT {}, {crc} FROM {} {rest}", table.columns.join(", "), table.name))
    }

    /// Rejects a row that differs from what was written.
    pub fn see(&self, table: &Table, row: &Row<'_>) -> std::result::Result<(), Bad> {
        let mut seen = self.seen.borrow_mut();
        let seen = seen.entry(table.name).or_default();
        if !seen.has_crc {
            return Ok(());
        }
        let mut sum = crc32fast::Hasher::new();
        for column in 0..table.columns.len() {
            add(&mut sum, row.get_ref(column)?);
        }
        let crc = i64::from(sum.finalize());
        if row.get_ref(table.columns.len())? != ValueRef::Integer(crc) {
            return Err(Bad::Content(format!("a row of `{}` does not match its checksum", table.name)));
        }
        seen.rows += 1;
        seen.sum = seen.sum.wrapping_add(crc);
        Ok(())
    }

    /// Rejects a file with missing rows. Rows of `series` are counted in the file, because a report reads them later.
    pub fn match_seal(&self) -> std::result::Result<(), Bad> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        let seal: Option<String> = self.db.query_row(sql, [SEAL], |row| row.get(0)).optional()?;
        // The run was cut off, or the file is of an early version.
        let Some(seal) = seal else { return Ok(()) };
        if has_crc(self.db, SERIES.name)? {
            let (rows, sum) = counted(self.db, SERIES.name)?;
            self.seen.borrow_mut().insert(SERIES.name, Seen { has_crc: true, rows, sum });
        }
        let found = text(ALL.iter().map(|table| {
            let seen = self.seen.borrow().get(table.name).copied().unwrap_or_default();
            (table.name, seen.rows, seen.sum)
        }));
        if found == seal {
            return Ok(());
        }
        let missing = seal.split(';').find(|part| !found.split(';').any(|other| other == *part));
        let table = missing.and_then(|part| part.split(':').next()).unwrap_or_default();
        Err(Bad::Content(format!("its table `{table}` differs from the end of the run")))
    }
}

/// Seals a file that is complete.
pub fn seal(db: &Connection) -> Result<()> {
    let mut all = Vec::new();
    for table in ALL {
        let (rows, sum) = if has_crc(db, table.name)? { counted(db, table.name)? } else { (0, 0) };
        all.push((table.name, rows, sum));
    }
    db.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", (SEAL, text(all.into_iter()))).map(|_| ())
}

/// Removes the seal of a file that is written to after all.
pub fn unseal(db: &Connection) -> Result<()> {
    db.execute("DELETE FROM meta WHERE key = ?1", [SEAL]).map(|_| ())
}

fn text(all: impl Iterator<Item = (&'static str, i64, i64)>) -> String {
    let used = all.filter(|(_, rows, _)| *rows > 0);
    used.map(|(name, rows, sum)| format!("{name}:{rows}:{sum}")).collect::<Vec<_>>().join(";")
}

fn counted(db: &Connection, table: &str) -> Result<(i64, i64)> {
    let sql = format!("SELECT count(*), coalesce(sum(crc), 0) FROM {table}");
    db.query_row(&sql, (), |row| Ok((row.get(0)?, row.get(1)?)))
}

fn has_crc(db: &Connection, table: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM pragma_table_info(?1) WHERE name = 'crc'";
    Ok(db.query_row(sql, [table], |_| Ok(())).optional()?.is_some())
}
