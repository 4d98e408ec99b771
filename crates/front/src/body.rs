//! A body as a flag gives it: text, or `@file`.

use plimsoll_plan::Problem;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The bytes that `text` means: itself, the content of the file behind `@`, or, behind `@@`, the text with one `@`.
/// Relative paths start at `folder`.
///
/// # Errors
/// A sentence when the file is not named or cannot be read.
pub fn from_flag(text: &str, folder: &Path) -> Result<Vec<u8>, Problem> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(rest) if rest.starts_with('@') => Ok(rest.as_bytes().to_vec()),
        Some("") => {
            Err(Problem::new("no file name behind `@`", "expected `@body.json`, or `@@` for a literal `@`"))
        }
        Some("-") => {
            Err(Problem::new("`@-` would read standard input, which is not supported yet", "name a file"))
        }
        Some(name) => from_file(&folder.join(name)),
    }
}

/// The content of a file.
pub(crate) fn from_file(path: &Path) -> Result<Vec<u8>, Problem> {
    content(path, LONGEST_BYTES).map_err(|error| {
        let shown = path.display();
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                Problem::new(format!("there is no file `{shown}`"), "check its name and folder")
            }
            std::io::ErrorKind::IsADirectory => Problem::new(format!("`{shown}` is a folder"), "name a file"),
            _ => Problem::plain(format!("`{shown}` cannot be read: {}", lower(&error))),
        }
    })
}

/// No body is longer: each connection may hold one.
const LONGEST_BYTES: u64 = 1 << 30;

/// The content of a regular file of at most so many bytes. A pipe may have nobody at its other end and a device no end:
/// neither is waited for.
///
/// # Errors
/// Those of the file system; and that it is no such file.
pub fn content(path: &Path, longest_bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular(path)?.take(longest_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > longest_bytes {
        true => Err(refused(format!("it is longer than {} MiB", longest_bytes >> 20))),
        false => Ok(bytes),
    }
}

/// Opens a regular file.
pub(crate) fn regular(path: &Path) -> std::io::Result<File> {
    // A folder opens like a file, and a pipe only when somebody writes into it.
    match path.metadata()? {
        about if about.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        about if !about.is_file() => {
            Err(refused("it is a pipe, a socket or a device, not a regular file".into()))
        }
        _ => File::open(path),
    }
}

fn refused(why: String) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, why)
}

/// What the system says, in the case of a fragment and without its number.
pub(crate) fn lower(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
