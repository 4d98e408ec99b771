//! Several experiments of one file on disk: a folder for each, and `parts.json`, which lists them in the order of the
//! file. Each folder is a normal experiment and can be read without this list.

use super::{Error, write_json};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of the list's file.
pub const PARTS: &str = "parts.json";

/// Version of the list.
pub const PARTS_VERSION: u32 = 1;

/// The content of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    pub version: u32,
    /// The name of the file.
    pub name: String,
    /// In the order of the file.
    pub parts: Vec<Part>,
}

/// One of the experiments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    /// Relative to the folder, such as `02-line`. It is created when the part first runs.
    pub folder: String,
}

/// Returns the folder name of a part by its position in the file, from 1.
pub fn folder_name(number: usize, name: &str) -> String {
    format!("{number:02}-{name}")
}

/// Reads the list; returns `None` if there is none.
///
/// # Errors
/// Returns an error if it exists but cannot be read.
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
        newer => Err(wrong(format!("it has version {newer}; this plimsoll reads version {PARTS_VERSION}"))),
    }
}

/// Writes the list of the current parts. Parts of earlier invocations stay in the list, because their runs still
/// exist.
///
/// # Errors
/// Returns an error if the folder or the file cannot be written.
pub fn write(path: &Path, name: &str, now: Vec<Part>) -> Result<(), Error> {
    let before = read(path)?.map_or_else(Vec::new, |parts| parts.parts);
    let mut parts = now;
    let is_gone = |old: &Part| parts.iter().any(|part| part.name == old.name || part.folder == old.folder);
    let kept: Vec<Part> = before.into_iter().filter(|old| !is_gone(old)).collect();
    parts.extend(kept);
    // Each name starts with two digits, so this is the order of the file.
    parts.sort_by(|a, b| a.folder.cmp(&b.folder));
    write_json(path, PARTS, &Parts { version: PARTS_VERSION, name: name.to_owned(), parts })
}
