//! Browser scripts: the report's script and the console. Building this crate creates both from `web/` if Node and npm
//! are available; without them everything else works, and [`missing`] says why.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/made.rs"));

/// A file of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Path in the address without a leading slash: `assets/index.js`.
    pub path: &'static str,
    /// MIME type such as `text/javascript; charset=utf-8`.
    pub mime: &'static str,
    pub bytes: &'static [u8],
}

/// Returns the script that makes a static report interactive: one file without dependencies.
pub fn report_script() -> Option<&'static str> {
    REPORT_SCRIPT
}

/// Returns the files of the console, including `index.html`; empty if the console was not built.
pub fn console_files() -> &'static [File] {
    CONSOLE_FILES
}

/// Why the build could not create the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    pub why: &'static str,
    /// How to get them; may be empty.
    pub fix: &'static str,
}

/// Returns why the scripts are missing and how to get them, or `None` if they exist.
pub fn missing() -> Option<Missing> {
    MISSING
}
