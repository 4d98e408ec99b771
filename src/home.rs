//! Default paths of run files, and the check that nothing is overwritten.

use crate::exit::Failure;
use crate::{say, wall};
use plimsoll_record::{RunRecord, run_file};
use std::path::{Path, PathBuf};

/// Returns the path of a new run file: the given one, or a new name in the state directory, which is created.
///
/// # Errors
/// Returns an error if the path exists (a run file is never overwritten) or the state directory cannot be created.
pub fn new_run_file(out: Option<&str>, host: &str, unix_ns: u64) -> Result<PathBuf, Failure> {
    match out {
        Some(path) => {
            refuse_taken(Path::new(path))?;
            Ok(PathBuf::from(path))
        }
        None => {
            let folder = state_folder()?;
            std::fs::create_dir_all(&folder).map_err(|e| {
                let sentence = format!("cannot create directory `{}`: {e}", folder.display());
                Failure::machine(sentence, Some("name the run file with `--out run.plim`".into()))
            })?;
            // Of many runs in one second, two may draw the same digits.
            loop {
                let path = folder.join(name(host, unix_ns)?);
                if run_file::taken(&path).is_none() {
                    return Ok(path);
                }
            }
        }
    }
}

/// Checks that a run file of this name can be created.
///
/// # Errors
/// Returns an error if `path` exists, or an SQLite log left by a deleted run file of that name.
pub fn refuse_taken(path: &Path) -> Result<(), Failure> {
    match run_file::taken(path) {
        Some(there) => Err(run_file::Error::Exists { path: there }.into()),
        None => Ok(()),
    }
}

/// Reports all missing runs together, so that a mistyped directory is fixed once. A single one is left to its reader.
///
/// # Errors
/// Returns an error if several of the paths do not exist.
pub fn refuse_missing(paths: &[String]) -> Result<(), Failure> {
    let missing: Vec<String> =
        paths.iter().filter(|path| !Path::new(path).exists()).map(|path| format!("`{path}`")).collect();
    match missing.as_slice() {
        [] | [_] => Ok(()),
        [others @ .., last] => {
            let sentence = format!("no such files: {} and {last}", others.join(", "));
            Err(Failure::machine(sentence, Some(run_file::NO_SUCH_FILE.into())))
        }
    }
}

/// Saves a run that did not fit at `taken` into another folder, the state directory or else the one for temporary
/// files, and returns its path. Returns `None` if neither accepts it.
pub fn second_run_file(taken: &Path, host: &str, unix_ns: u64, record: &RunRecord) -> Option<PathBuf> {
    let is_other = |folder: &PathBuf| taken.parent() != Some(folder);
    let folders = [state_folder().ok(), Some(std::env::temp_dir())].into_iter().flatten().filter(is_other);
    folders.into_iter().find_map(|folder| {
        // Any error here means trying the next folder.
        std::fs::create_dir_all(&folder).ok()?;
        let path = folder.join(name(host, unix_ns).ok()?);
        run_file::write(&path, record).ok()?;
        Some(path)
    })
}

/// Returns a file name such as `2026-11-21-032042-127.0.0.1-a3f9.plim`, whose last four digits separate runs of one
/// second.
pub fn name(host: &str, unix_ns: u64) -> Result<String, Failure> {
    let host: String = host
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' })
        .take(60)
        .collect();
    let random = wall::hex(&wall::random::<2>()?);
    Ok(format!("{}-{host}-{random}.plim", wall::stamp(unix_ns)))
}

/// Returns `$XDG_STATE_HOME/plimsoll/runs`, by default below `~/.local/state` (XDG base directory specification).
pub fn state_folder() -> Result<PathBuf, Failure> {
    let set = |name| say::variable(name).filter(|value| value.starts_with('/')).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("plimsoll/runs")).ok_or_else(|| {
        Failure::machine(
            "no directory for the run file: neither `XDG_STATE_HOME` nor `HOME` is set",
            Some("name the run file with `--out run.plim`".into()),
        )
    })
}
