//! Specifiers and where they lead. Nothing is guessed: a path is used as written, with its extension.

use std::path::{Component, Path, PathBuf};

/// Where a module is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    File(PathBuf),
    /// An `https://` address.
    Remote(String),
}

/// What a specifier is, before anything is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Specifier {
    /// A path, relative to the module or absolute.
    Path(Location),
    /// A `file://` address of another host, or one that is not a path.
    BadFile,
    /// Anything else: a built-in module, an address, or a package.
    Named,
}

impl Location {
    /// Returns what a specifier in this module means.
    pub fn specifier(&self, text: &str) -> Specifier {
        if let Some(rest) = text.strip_prefix("file://") {
            return match rest.strip_prefix("localhost").unwrap_or(rest) {
                path if path.starts_with('/') => {
                    Specifier::Path(Location::File(normalize(Path::new(&unescape(path)))))
                }
                _ => Specifier::BadFile,
            };
        }
        let is_relative = text == "." || text == ".." || text.starts_with("./") || text.starts_with("../");
        if !is_relative && !text.starts_with('/') {
            return Specifier::Named;
        }
        Specifier::Path(match self {
            Location::File(path) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                Location::File(normalize(&folder.join(text)))
            }
            Location::Remote(address) => Location::Remote(join_address(address, text)),
        })
    }

    /// Returns the extension in lower case, without the dot.
    pub fn extension(&self) -> String {
        let path = match self {
            Location::File(path) => path.as_path(),
            Location::Remote(address) => Path::new(address.split(['?', '#']).next().unwrap_or_default()),
        };
        path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
    }

    /// Returns the location as a user writes it.
    pub fn display(&self) -> String {
        match self {
            Location::File(path) => path.display().to_string(),
            Location::Remote(address) => address.clone(),
        }
    }

    /// Returns the name for stack traces: a path relative to the entry's folder if it is below it.
    pub fn name(&self, folder: &Path) -> String {
        match self {
            Location::File(path) => relative(path, folder).display().to_string(),
            Location::Remote(address) => address.clone(),
        }
    }
}

/// Removes `.` and `..` without asking the file system.
pub fn normalize(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            (Component::ParentDir, Some(Component::RootDir)) => {}
            _ => parts.push(part),
        }
    }
    parts.iter().collect()
}

fn relative(path: &Path, folder: &Path) -> PathBuf {
    let same = path.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
    if same == 0 && path.is_absolute() != folder.is_absolute() {
        return path.to_owned();
    }
    let up = folder.components().count() - same;
    // A path that shares nothing but the root with the entry is clearer in full.
    if up > 0 && path.is_absolute() && same <= 1 {
        return path.to_owned();
    }
    let ups = std::iter::repeat_n(Component::ParentDir, up);
    ups.chain(path.components().skip(same)).collect()
}

/// Joins a relative reference to an address.
fn join_address(address: &str, reference: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").unwrap_or(("https", address));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let joined =
        if reference.starts_with('/') { reference.to_owned() } else { format!("/{folder}/{reference}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("{scheme}://{host}/{}", parts.join("/"))
}

/// Decodes `%20` and the like; an invalid escape stays as it is.
pub fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}
