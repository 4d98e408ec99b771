//! Several experiments of one file on disk: a folder with one folder for each, and `parts.json`, which names them in
//! the order of the file. Each of those folders is an experiment like any other, and reads without this list.

use super::{Error, write_json};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The list's file name.
pub const PARTS: &str = "parts.json";

/// Version of the list.
pub const PARTS_VERSION: u32 = 1;

/// What the folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    pub version: u32,
    /// Of the file.
    pub name: String,
    /// In the order of the file.
    pub parts: Vec<Part>,
}

/// One of the experiments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    /// Below the folder: `02-line`. It is made when the part is first run.
    pub folder: String,
}

/// The folder of the part with this place in the file, from 1.
pub fn folder_name(number: usize, name: &str) -> String {
    format!("{number:02}-{name}")
}

/// Reads the list; `None` where there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub fn read(path: &Path) -> Result<Option<Parts>, Error> {
    let file = path.join(PARTS);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { path: file, doing: "read", source }),
    };
    let wrong = |why: String| Error::Index { path: file.clone(), why };
    let parts: Parts = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    match parts.version {
        PARTS_VERSION => Ok(Some(parts)),
        newer => Err(wrong(format!("version {newer}, and {PARTS_VERSION} is the newest known here"))),
    }
}

/// Writes the list of those that are run now. Others that were run before stay in it: the runs of theirs are there.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write(path: &Path, name: &str, now: Vec<Part>) -> Result<(), Error> {
    let before = read(path)?.map_or_else(Vec::new, |parts| parts.parts);
    let mut parts = now;
    let is_gone = |old: &Part| parts.iter().any(|part| part.name == old.name || part.folder == old.folder);
    let kept: Vec<Part> = before.into_iter().filter(|old| !is_gone(old)).collect();
    parts.extend(kept);
    // Two digits lead each name: that is the order of the file.
    parts.sort_by(|a, b| a.folder.cmp(&b.folder));
    write_json(path, PARTS, &Parts { version: PARTS_VERSION, name: name.to_owned(), parts })
}
