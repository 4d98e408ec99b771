//! What can go wrong between a record and its file, each as a sentence with a mend.

use std::fmt;
use std::path::PathBuf;

/// Why a run file could not be made, written, read or merged.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is something at the path of a new run file.
    Exists { path: PathBuf },
    /// The file system refuses a new file there.
    CannotCreate { path: PathBuf, source: std::io::Error },
    /// There is nothing to read.
    NoSuchFile { path: PathBuf },
    /// The file system refuses to let it be read.
    CannotRead { path: PathBuf, source: std::io::Error },
    /// It was there when the run began.
    Gone { path: PathBuf },
    /// Something else than a run file.
    NotARunFile { path: PathBuf },
    /// A run file of a format that this build does not know.
    Newer { path: PathBuf, found: i64, known: i64 },
    /// Histograms with other bucket edges: they cannot be added up with ours.
    OtherLayout { path: PathBuf, found: String, known: u8 },
    /// A run file whose contents contradict themselves.
    Damaged { path: PathBuf, why: String },
    /// The file could be opened, but the file system or SQLite refused a read or a write.
    Refused { path: PathBuf, doing: &'static str, source: rusqlite::Error },
    /// Two records of one origin that are not the same run.
    Conflict { origin: String, host: String, what: &'static str },
}

impl Error {
    /// How to mend it, a lower-case sentence.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Exists { .. } => "name a new file, or move the old one away".into(),
            Error::CannotCreate { .. } => {
                "name a file in a folder that exists and that you may write to".into()
            }
            Error::NoSuchFile { .. } => "check the name; run files end in `.plim`".into(),
            Error::Gone { .. } => "leave the file where it is until the run has ended".into(),
            Error::CannotRead { .. } => "check who may read the file".into(),
            Error::NotARunFile { .. } => "name a file that `plimsoll` wrote while it made load".into(),
            Error::Newer { .. } | Error::OtherLayout { .. } => {
                "read it with the version of plimsoll that wrote it".into()
            }
            Error::Damaged { .. } => {
                "copy it again from where it was made; `sqlite3 FILE .recover` shows what is left".into()
            }
            Error::Refused { doing: "read", .. } => "try again when nobody else has the file open".into(),
            Error::Refused { .. } => "check the space left on the disk (`df -h`)".into(),
            Error::Conflict { .. } => {
                "one of the files is probably a copy made during the run: leave the shorter one out".into()
            }
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exists { path } => {
                write!(f, "`{}` exists, and a run file is never overwritten", path.display())
            }
            Error::CannotCreate { path, source } => {
                write!(f, "the run file `{}` cannot be made: {source}", path.display())
            }
            Error::NoSuchFile { path } => write!(f, "there is no file `{}`", path.display()),
            Error::Gone { path } => {
                write!(f, "the run file `{}` was deleted or moved away during the run", path.display())
            }
            Error::CannotRead { path, source } => write!(f, "`{}` cannot be read: {source}", path.display()),
            Error::NotARunFile { path } => write!(f, "`{}` is no run file", path.display()),
            Error::Newer { path, found, known } => write!(
                f,
                "`{}` has format version `{found}`, made by a newer plimsoll; this one reads up to `{known}`",
                path.display()
            ),
            Error::OtherLayout { path, found, known } => write!(
                f,
                "`{}` holds histograms of layout `{found}`, which this plimsoll (layout `{known}`) cannot add up",
                path.display()
            ),
            Error::Damaged { path, why } => write!(f, "the run file `{}` is damaged: {why}", path.display()),
            Error::Refused { path, doing, source } => {
                write!(f, "cannot {doing} the run file `{}`: {source}", path.display())
            }
            Error::Conflict { origin, host, what } => write!(
                f,
                "run `{origin}` of host `{host}` is there twice with different {what}: adding them up would count \
                 it double"
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
