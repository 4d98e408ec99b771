//! Reads the body that a flag gives: text, or `@file`.

use plimsoll_plan::Problem;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns the bytes of `text`: the content of the file after `@`, the text with one `@` after `@@`, or the text
/// itself. Relative paths start at `folder`.
///
/// # Errors
/// Returns an error if the file name is missing, or if the file cannot be read.
pub fn from_flag(text: &str, folder: &Path) -> Result<Vec<u8>, Problem> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(rest) if rest.starts_with('@') => Ok(rest.as_bytes().to_vec()),
        Some("") => {
            let hint = "write a file name, such as `@body.json`, or `@@` for a literal `@`";
            Err(Problem::new("missing file name after `@`", hint))
        }
        Some("-") => {
            Err(Problem::new("`@-` (standard input) is not supported yet", "write a file name after `@`"))
        }
        Some(name) => from_file(&folder.join(name)),
    }
}

/// Returns the content of a file.
pub fn from_file(path: &Path) -> Result<Vec<u8>, Problem> {
    content(path, LONGEST_BYTES).map_err(|error| {
        let shown = path.display();
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                Problem::new(format!("no such file: `{shown}`"), "check the path")
            }
            std::io::ErrorKind::IsADirectory => {
                Problem::new(format!("`{shown}` is a directory"), "name a file in it")
            }
            _ => Problem::plain(format!("cannot read `{shown}`: {}", lower(&error))),
        }
    })
}

/// Longest body: each connection may hold one.
const LONGEST_BYTES: u64 = 1 << 30;

/// Returns the content of a regular file of at most `longest_bytes`. Pipes and devices are rejected, because a pipe may
/// have no writer and a device no end.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a regular file, or is too long.
pub fn content(path: &Path, longest_bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular(path)?.take(longest_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > longest_bytes {
        true => Err(refused(format!("it is longer than {} MiB", longest_bytes >> 20))),
        false => Ok(bytes),
    }
}

/// Opens a regular file.
pub fn regular(path: &Path) -> std::io::Result<File> {
    // A directory opens like a file, and opening a pipe blocks until it has a writer.
    match path.metadata()? {
        about if about.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        about if !about.is_file() => {
            Err(refused("it is a pipe, a socket, or a device, not a regular file".into()))
        }
        _ => {
            plimsoll_plan::inputs::note(path);
            File::open(path)
        }
    }
}

fn refused(why: String) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, why)
}

/// Returns the system's error text in lower case, without its number.
pub fn lower(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
