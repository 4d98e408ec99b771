//! The data of `-d` and related options.

use super::options::Data;
use plimsoll_build::body::from_file;
use plimsoll_plan::Problem;
use std::path::Path;

/// The data of one command line.
#[derive(Default)]
pub struct Collected {
    /// `None` until the first piece, because `-d ''` is a body too.
    pub bytes: Option<Vec<u8>>,
    /// Whether `--json` was among them.
    pub json: bool,
}

impl Collected {
    /// Adds one piece. Pieces are joined with `&`, except that `--json` appends without it.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn add(&mut self, kind: Data, value: &str) -> Result<(), Problem> {
        let piece = match kind {
            Data::Raw => value.as_bytes().to_vec(),
            Data::Text => {
                let mut bytes = or_file(value)?;
                // curl removes line ends and zero bytes, but only from files.
                if value.starts_with('@') {
                    bytes.retain(|b| !matches!(b, b'\r' | b'\n' | 0));
                }
                bytes
            }
            Data::Binary | Data::Json => or_file(value)?,
            Data::UrlEncode => url_encoded(value)?,
        };
        self.json |= kind == Data::Json;
        let bytes = self.bytes.get_or_insert_default();
        if !bytes.is_empty() && kind != Data::Json {
            bytes.push(b'&');
        }
        bytes.extend(piece);
        Ok(())
    }
}

fn or_file(value: &str) -> Result<Vec<u8>, Problem> {
    match value.strip_prefix('@') {
        None => Ok(value.as_bytes().to_vec()),
        Some(name) => file(name),
    }
}

fn file(name: &str) -> Result<Vec<u8>, Problem> {
    match name {
        "-" => Err(Problem::new("`@-` (standard input) is not supported yet", "write a file name after `@`")),
        "" => Err(Problem::new(
            "missing file name after `@`",
            "write a file name, or send an `@` with `--data-raw`",
        )),
        _ => from_file(Path::new(name)),
    }
}

/// Reads `content`, `=content`, `name=content`, `@file`, or `name@file`. The content is encoded, the name is not.
fn url_encoded(value: &str) -> Result<Vec<u8>, Problem> {
    let (name, content) = match value.find(['=', '@']) {
        None => ("", value.as_bytes().to_vec()),
        Some(at) if value[at..].starts_with('=') => (&value[..at], value.as_bytes()[at + 1..].to_vec()),
        Some(at) => (&value[..at], file(&value[at + 1..])?),
    };
    let mut out = name.to_owned();
    if !name.is_empty() {
        out.push('=');
    }
    for byte in content {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else if byte == b' ' {
            // As in a form, and as in curl.
            out.push('+');
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(out.into_bytes())
}
