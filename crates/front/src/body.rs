//! A body as a flag gives it: text, or `@file`.

use std::path::Path;

/// The bytes that `text` means: itself, the content of the file behind `@`, or, behind `@@`, the text with one `@`.
/// Relative paths start at `folder`.
///
/// # Errors
/// A sentence when the file is not named or cannot be read.
pub fn from_flag(text: &str, folder: &Path) -> Result<Vec<u8>, String> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(rest) if rest.starts_with('@') => Ok(rest.as_bytes().to_vec()),
        Some("") => Err("no file name behind `@`; expected `@body.json`, or `@@` for a literal `@`".into()),
        Some("-") => Err("`@-` would read standard input, which is not supported yet; name a file".into()),
        Some(name) => from_file(name, folder),
    }
}

/// The content of a file; a relative path starts at `folder`.
pub(crate) fn from_file(name: &str, folder: &Path) -> Result<Vec<u8>, String> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| {
        let shown = path.display();
        match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file `{shown}`; check its name and folder"),
            std::io::ErrorKind::IsADirectory => format!("`{shown}` is a folder; name a file"),
            _ => format!("`{shown}` cannot be read: {}", lower(&error)),
        }
    })
}

/// What the system says, in the case of a fragment and without its number.
pub(crate) fn lower(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
