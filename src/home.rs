//! Where run files go when nobody says so, and the refusal to touch what is already there.

use crate::exit::Failure;
use crate::{say, wall};
use plimsoll_record::{RunRecord, run_file};
use std::path::{Path, PathBuf};

/// The path of a new run file: as asked, or a new name under the state directory, which is made.
///
/// # Errors
/// When the path is taken (a run file is never overwritten), or the state directory cannot be made.
pub fn new_run_file(out: Option<&str>, host: &str, unix_ns: u64) -> Result<PathBuf, Failure> {
    match out {
        Some(path) => {
            refuse_taken(Path::new(path))?;
            Ok(PathBuf::from(path))
        }
        None => {
            let folder = state_folder()?;
            std::fs::create_dir_all(&folder).map_err(|e| {
                let sentence = format!("the folder `{}` cannot be made: {e}", folder.display());
                Failure::machine(sentence, Some("say where the run file goes: `--out run.plim`".into()))
            })?;
            Ok(folder.join(name(host, unix_ns)?))
        }
    }
}

/// # Errors
/// When `path` exists, or a log of SQLite that belongs to a deleted run file of that name.
pub fn refuse_taken(path: &Path) -> Result<(), Failure> {
    match run_file::taken(path) {
        Some(there) => Err(run_file::Error::Exists { path: there }.into()),
        None => Ok(()),
    }
}

/// Writes a run that the file at `taken` could not take as a whole into another folder: the state directory, else the
/// one for temporary files. `None`: neither took it.
pub fn second_run_file(taken: &Path, host: &str, unix_ns: u64, record: &RunRecord) -> Option<PathBuf> {
    let is_other = |folder: &PathBuf| taken.parent() != Some(folder);
    let folders = [state_folder().ok(), Some(std::env::temp_dir())].into_iter().flatten().filter(is_other);
    folders.into_iter().find_map(|folder| {
        // The next folder is the answer to whatever is wrong with this one.
        std::fs::create_dir_all(&folder).ok()?;
        let path = folder.join(name(host, unix_ns).ok()?);
        run_file::write(&path, record).ok()?;
        Some(path)
    })
}

/// `2026-11-21-032042-127.0.0.1-a3f9.plim`. The last four keep two runs of one second apart.
pub fn name(host: &str, unix_ns: u64) -> Result<String, Failure> {
    let host: String = host
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' })
        .take(60)
        .collect();
    let random = wall::hex(&wall::random::<2>()?);
    Ok(format!("{}-{host}-{random}.plim", wall::stamp(unix_ns)))
}

/// `$XDG_STATE_HOME/plimsoll/runs`, by default below `~/.local/state` (XDG base directory specification).
pub fn state_folder() -> Result<PathBuf, Failure> {
    let set = |name| say::variable(name).filter(|value| value.starts_with('/')).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("plimsoll/runs")).ok_or_else(|| {
        Failure::machine(
            "neither `XDG_STATE_HOME` nor `HOME` names a folder for the run file",
            Some("say where it goes: `--out run.plim`".into()),
        )
    })
}
