//! Errors of records and their files, each as a sentence with a fix.

use std::fmt;
use std::path::PathBuf;

/// The help line for run files that do not exist.
pub const NO_SUCH_FILE: &str =
    "paths are relative to the current directory; `plimsoll runs list` lists the runs saved without `--out`";

/// Why a run file could not be created, written, read, or merged.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The path of a new run file exists already.
    Exists { path: PathBuf },
    /// The file system rejects a new file.
    CannotCreate { path: PathBuf, source: std::io::Error },
    /// The file does not exist.
    NoSuchFile { path: PathBuf },
    /// The file system denies reading.
    CannotRead { path: PathBuf, source: std::io::Error },
    /// The file disappeared during the run.
    Gone { path: PathBuf },
    /// The file is not a run file.
    NotARunFile { path: PathBuf },
    /// The format of the run file is newer than this build.
    Newer { path: PathBuf, found: i64, known: i64 },
    /// Histograms with other bucket edges, which cannot be merged with this build's.
    OtherLayout { path: PathBuf, found: String, known: u8 },
    /// The contents of the run file are inconsistent.
    Damaged { path: PathBuf, why: String },
    /// The file was opened, but the file system or SQLite rejected a read or a write.
    Refused { path: PathBuf, doing: &'static str, source: rusqlite::Error },
    /// Two records of one origin that are not the same run.
    Conflict { origin: String, host: String, what: &'static str },
}

impl Error {
    /// Returns the fix, a lower-case sentence.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Exists { .. } => "choose another file, or move the existing one".into(),
            Error::CannotCreate { .. } => {
                "choose a file in an existing, writable directory".into()
            }
            Error::NoSuchFile { path } => {
                let longer = path.with_added_extension("plim");
                match longer.is_file() {
                    true => format!("did you mean `{}`?", longer.display()),
                    false => NO_SUCH_FILE.into(),
                }
            }
            Error::Gone { .. } => "do not move the file until the run has ended".into(),
            Error::CannotRead { .. } => "check the permissions of the file".into(),
            Error::NotARunFile { .. } => "choose a run file that `plimsoll` wrote".into(),
            Error::Newer { .. } | Error::OtherLayout { .. } => {
                "read it with the version of plimsoll that wrote it".into()
            }
            Error::Damaged { .. } => {
                "copy it again from its original location, or recover what is left with `sqlite3 FILE .recover`".into()
            }
            Error::Refused { doing: "read", .. } => "try again when no other program has the file open".into(),
            Error::Refused { .. } => "check the free disk space with `df -h`".into(),
            Error::Conflict { .. } => {
                "one of the files is probably a copy made during the run; omit the shorter one".into()
            }
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exists { path } => {
                write!(f, "`{}` exists, and run files are never overwritten", path.display())
            }
            Error::CannotCreate { path, source } => {
                write!(f, "cannot create run file `{}`: {source}", path.display())
            }
            Error::NoSuchFile { path } => write!(f, "no such file: `{}`", path.display()),
            Error::Gone { path } => {
                write!(f, "the run file `{}` was deleted or moved during the run", path.display())
            }
            Error::CannotRead { path, source } => write!(f, "cannot read `{}`: {source}", path.display()),
            Error::NotARunFile { path } => write!(f, "`{}` is not a run file", path.display()),
            Error::Newer { path, found, known } => write!(
                f,
                "`{}` has format version `{found}` of a newer plimsoll; this version reads up to `{known}`",
                path.display()
            ),
            Error::OtherLayout { path, found, known } => write!(
                f,
                "`{}` has histograms of layout `{found}`, which this plimsoll (layout `{known}`) cannot merge",
                path.display()
            ),
            Error::Damaged { path, why } => write!(f, "the run file `{}` is damaged: {why}", path.display()),
            Error::Refused { path, doing, source } => {
                write!(f, "cannot {doing} run file `{}`: {source}", path.display())
            }
            Error::Conflict { origin, host, what } => write!(
                f,
                "run `{origin}` of host `{host}` is given twice with different {what}; merging would count it twice"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::CannotCreate { source, .. } | Error::CannotRead { source, .. } => Some(source),
            Error::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}
