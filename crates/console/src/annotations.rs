//! What people write about a run: tags and a note, in a small file beside it, so that they travel with it and the run
//! file itself is never touched.

use crate::hash::hash;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Version of the file.
const VERSION: u32 = 1;
/// Nothing of ours is larger; a larger file is not read.
const BYTES_MAX: u64 = 65_536;
const TAGS_MAX: usize = 32;
const TAG_CHARS_MAX: usize = 64;
const NOTE_CHARS_MAX: usize = 8_000;
/// So much of a text fits into a sentence.
const SAID_CHARS: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    pub tags: Vec<String>,
    pub note: String,
}

impl Annotations {
    /// Another one for other annotations: FNV-1a of both (which one they are, not who may write them: no secret).
    pub fn version(&self) -> String {
        let text = self.tags.iter().chain([&self.note]).map(|text| format!("{}:{text}", text.len()));
        hash(text.collect::<String>().as_bytes())
    }

    /// In a sentence.
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

/// `run.plim.annotations.json` beside a run, `annotations.json` in the folder of an experiment.
pub fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join("annotations.json");
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".annotations.json");
    PathBuf::from(name)
}

/// Where builds that named them otherwise wrote them. Read where there is no other file, and never written.
fn old_file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join("remarks.json");
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".remarks.json");
    PathBuf::from(name)
}

/// # Errors
/// A sentence when there is a file and it holds no annotations.
pub fn read(path: &Path) -> Result<Annotations, String> {
    Ok(match read_file(&file_of(path))? {
        Some(found) => found,
        None => read_file(&old_file_of(path))?.unwrap_or_default(),
    })
}

/// `None`: there is no such file.
fn read_file(file: &Path) -> Result<Option<Annotations>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("`{}` holds no annotations: {why}", file.display());
    // A link is no file of ours: it would lead what is read and written to somewhere else.
    match std::fs::symlink_metadata(file) {
        // Beside a name that is as long as names can be nothing can lie.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
            return Ok(None);
        }
        Err(e) => return Err(wrong(&e)),
        Ok(meta) if !meta.is_file() || meta.len() > BYTES_MAX => {
            return Err(wrong(&format!("it is no file of at most {BYTES_MAX} bytes")));
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(file).map_err(|e| wrong(&e))?;
    let stored: Stored = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
    if stored.version != VERSION {
        return Err(wrong(&format!("version {}, and {VERSION} is the newest known here", stored.version)));
    }
    checked(Annotations { tags: stored.tags, note: stored.note }).map(Some).map_err(|e| wrong(&e))
}

/// Why annotations were not written.
pub enum Unwritten {
    /// These were written meanwhile.
    Changed(Annotations),
    /// What is there is no file of ours, or the disk refuses.
    Failed(String),
}

/// Replaces them as a whole, if they are still those of this version: a kill leaves the old ones or the new ones.
///
/// # Errors
/// See [`Unwritten`].
pub fn write(path: &Path, was: &str, annotations: &Annotations) -> Result<(), Unwritten> {
    // What cannot be read is somebody else's, and is not written over.
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

/// Writes beside the file and renames. What a kill left beside it is replaced; a link that somebody laid there is not
/// followed.
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

/// As run files are: for their owner alone. What is there already is an error, whatever it is.
pub fn new_file(file: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}

/// A folder for its owner alone; one that is there stays as it is.
pub fn own_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Characters that move a cursor or turn the text around them are replaced: annotations are shown among other texts.
fn harmless(text: &str) -> String {
    let is_harmful = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(u32::from(c), 0x061c | 0x200e..=0x200f | 0x2028..=0x202e | 0x2066..=0x2069)
    };
    text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Trimmed, without doubles, in bounds.
///
/// # Errors
/// A sentence with the bound that is exceeded.
pub fn checked(annotations: Annotations) -> Result<Annotations, String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in annotations.tags {
        let tag = harmless(&tag.split_whitespace().collect::<Vec<_>>().join(" "));
        if tag.chars().count() > TAG_CHARS_MAX {
            return Err(format!("a tag has at most {TAG_CHARS_MAX} characters"));
        }
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > TAGS_MAX {
        return Err(format!("a run has at most {TAGS_MAX} tags"));
    }
    if annotations.note.chars().count() > NOTE_CHARS_MAX {
        return Err(format!("a note has at most {NOTE_CHARS_MAX} characters"));
    }
    Ok(Annotations { tags, note: harmless(&annotations.note.replace("\r\n", "\n")).trim().to_owned() })
}
