//! Files of rows that feed the users, and files that users write.

use std::path::PathBuf;

/// A file of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Feeder {
    /// As named in the experiment: `${users.email}`.
    pub name: String,
    pub path: PathBuf,
    pub format: Format,
    /// The columns that are used, by slot; of JSON Lines each is a key of the object (or a path `a.b`).
    pub columns: Vec<String>,
    pub share: Sharing,
    pub order: RowOrder,
    pub at_end: AtEnd,
    /// A step of the set-up writes this file: it need not be there before.
    pub made_by_setup: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    Csv {
        delimiter: u8,
        /// Names of the columns when the file has no line of them.
        header: Option<Vec<String>>,
    },
    /// One JSON object per line.
    JsonLines,
}

/// Who gets which row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Every user goes through all rows.
    #[default]
    All,
    /// The rows are dealt out: user i of n has rows i, i + n, ... and no other.
    Partition,
    /// One sequence for all: no row is given twice (before all were given).
    Unique,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    #[default]
    Sequential,
    /// Drawn with replacement; with `unique`, a seeded permutation.
    Random,
}

/// Behind the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtEnd {
    #[default]
    Recycle,
    /// The user ends; the run ends when all have.
    Stop,
}

/// A CSV file that users append to.
#[derive(Debug, Clone, PartialEq)]
pub struct OutFile {
    pub path: PathBuf,
    /// The first line.
    pub columns: Vec<String>,
    /// A run begins it anew: what it held before is gone.
    pub anew: bool,
}
