//! User annotations of a run: tags and a note in a small file next to it, so that they travel with the run and the
//! run file itself is never changed.

use crate::hash::hash;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Version of the file.
const VERSION: u32 = 1;
/// Maximum size of a file; larger ones are not annotations.
const BYTES_MAX: u64 = 65_536;
const TAGS_MAX: usize = 32;
const TAG_CHARS_MAX: usize = 64;
const NOTE_CHARS_MAX: usize = 8_000;
/// Maximum length of a text in a sentence.
const SAID_CHARS: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    pub tags: Vec<String>,
    pub note: String,
}

impl Annotations {
    /// Returns a version that differs for different annotations: FNV-1a of both. It identifies content and is not a
    /// secret.
    pub fn version(&self) -> String {
        let text = self.tags.iter().chain([&self.note]).map(|text| format!("{}:{text}", text.len()));
        hash(text.collect::<String>().as_bytes())
    }

    /// Describes the annotations in a sentence.
    pub fn describe(&self) -> String {
        let cut = |text: &str| match text.char_indices().nth(SAID_CHARS) {
            Some((end, _)) => format!("{} …", &text[..end]),
            None => text.to_owned(),
        };
        let tags = match self.tags.is_empty() {
            true => "no tags".to_owned(),
            false => format!("the tags `{}`", cut(&self.tags.join(", "))),
        };
        let note = match self.note.is_empty() {
            true => "no note".to_owned(),
            false => format!("the note `{}`", cut(&self.note)),
        };
        format!("{tags} and {note}")
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    tags: Vec<String>,
    note: String,
}

/// Returns `run.plim.annotations.json` next to a run, or `annotations.json` in the folder of an experiment.
pub fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join("annotations.json");
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".annotations.json");
    PathBuf::from(name)
}

/// Returns the file's name in older builds, which is read if there is no other file and never written.
fn old_file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join("remarks.json");
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".remarks.json");
    PathBuf::from(name)
}

/// Reads the annotations of a run.
///
/// # Errors
/// Returns a sentence if the file exists but contains no annotations.
pub fn read(path: &Path) -> Result<Annotations, String> {
    Ok(match read_file(&file_of(path))? {
        Some(found) => found,
        None => read_file(&old_file_of(path))?.unwrap_or_default(),
    })
}

/// Returns `None` if the file does not exist.
fn read_file(file: &Path) -> Result<Option<Annotations>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("`{}` contains no annotations: {why}", file.display());
    // A link might lead reads and writes somewhere else.
    match std::fs::symlink_metadata(file) {
        // A name of maximum length leaves no room for the suffix.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
            return Ok(None);
        }
        Err(e) => return Err(wrong(&e)),
        Ok(meta) if !meta.is_file() || meta.len() > BYTES_MAX => {
            return Err(wrong(&format!("not a file of at most {BYTES_MAX} bytes")));
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(file).map_err(|e| wrong(&e))?;
    let stored: Stored = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
    if stored.version != VERSION {
        return Err(wrong(&format!("unsupported version {}, expected {VERSION}", stored.version)));
    }
    checked(Annotations { tags: stored.tags, note: stored.note }).map(Some).map_err(|e| wrong(&e))
}

/// Why annotations were not saved.
pub enum Unwritten {
    /// They were changed meanwhile, to these.
    Changed(Annotations),
    /// The existing file contains no annotations, or the disk failed.
    Failed(String),
}

/// Replaces the annotations if they still have this version. A kill leaves either the old or the new ones.
///
/// # Errors
/// Returns [`Unwritten`].
pub fn write(path: &Path, was: &str, annotations: &Annotations) -> Result<(), Unwritten> {
    // A file that cannot be read belongs to someone else and is not overwritten.
    let now = read(path).map_err(Unwritten::Failed)?;
    match now.version() == was {
        true => put(path, annotations).map_err(Unwritten::Failed),
        false => Err(Unwritten::Changed(now)),
    }
}

fn put(path: &Path, annotations: &Annotations) -> Result<(), String> {
    let file = file_of(path);
    let stored = Stored { version: VERSION, tags: annotations.tags.clone(), note: annotations.note.clone() };
    let failed = |why: &dyn std::fmt::Display| format!("cannot write `{}`: {why}", file.display());
    let text = serde_json::to_string_pretty(&stored).map_err(|e| failed(&e))?;
    replace(&file, &format!("{text}\n")).map_err(|e| failed(&e))
}

/// Writes a temporary file and renames it. Replaces what a kill left there, and follows no link.
pub fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    match std::fs::remove_file(&new) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    new_file(Path::new(&new), text)?;
    std::fs::rename(&new, file)
}

/// Creates a file for its owner only, like run files. Returns an error if anything exists at the path.
pub fn new_file(file: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}

/// Creates a folder for its owner only; an existing one stays as it is.
pub fn own_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Replaces characters that move the cursor or change the text direction, because annotations are shown among other
/// texts.
fn harmless(text: &str) -> String {
    let is_harmful = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(u32::from(c), 0x061c | 0x200e..=0x200f | 0x2028..=0x202e | 0x2066..=0x2069)
    };
    text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Trims the annotations, removes duplicates, and checks limits.
///
/// # Errors
/// Returns a sentence with the exceeded limit.
pub fn checked(annotations: Annotations) -> Result<Annotations, String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in annotations.tags {
        let tag = harmless(&tag.split_whitespace().collect::<Vec<_>>().join(" "));
        if tag.chars().count() > TAG_CHARS_MAX {
            return Err(format!("a tag can have at most {TAG_CHARS_MAX} characters"));
        }
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > TAGS_MAX {
        return Err(format!("a run can have at most {TAGS_MAX} tags"));
    }
    if annotations.note.chars().count() > NOTE_CHARS_MAX {
        return Err(format!("a note can have at most {NOTE_CHARS_MAX} characters"));
    }
    Ok(Annotations { tags, note: harmless(&annotations.note.replace("\r\n", "\n")).trim().to_owned() })
}
