//! Files of rows that feed the users, and files that users write.

use std::path::PathBuf;

/// A file of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Feeder {
    /// The name in the experiment, as in `${users.email}`.
    pub name: String,
    pub path: PathBuf,
    pub format: Format,
    /// The columns that are used, by slot. For JSON Lines, each is a key of the object, or a path such as `a.b`.
    pub columns: Vec<String>,
    pub share: Sharing,
    pub order: RowOrder,
    pub at_end: AtEnd,
    /// Whether a setup step writes this file, so that it need not exist before.
    pub made_by_setup: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    Csv {
        delimiter: u8,
        /// Names of the columns, if the file has no header line.
        header: Option<Vec<String>>,
    },
    /// One JSON object per line.
    JsonLines,
}

/// How users share the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Every user reads all rows.
    #[default]
    All,
    /// User i of n reads rows i, i + n, and so on.
    Partition,
    /// All users share one sequence: no row is used twice before all rows have been used.
    Unique,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    #[default]
    Sequential,
    /// Drawn with replacement, or with `unique` a seeded permutation.
    Random,
}

/// What happens after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtEnd {
    #[default]
    Recycle,
    /// The user stops. The run ends when all users have stopped.
    Stop,
}

/// A CSV file that users append to.
#[derive(Debug, Clone, PartialEq)]
pub struct OutFile {
    pub path: PathBuf,
    /// The first line.
    pub columns: Vec<String>,
    /// Whether a run replaces the file.
    pub anew: bool,
}
