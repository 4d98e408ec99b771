//! What browsers get besides pages: the script of the report, and the console. Both are made from `web/` when this
//! crate is built, if Node and npm are there; without them everything else works, and [`missing`] says why.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/made.rs"));

/// One file of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// As in the address, without a slash in front: `assets/index.js`.
    pub path: &'static str,
    /// Such as `text/javascript; charset=utf-8`.
    pub mime: &'static str,
    pub bytes: &'static [u8],
}

/// The script that makes a report's static page come alive: one file that asks for nothing else.
pub fn report_script() -> Option<&'static str> {
    REPORT_SCRIPT
}

/// The files of the console, `index.html` among them; empty when it was not built.
pub fn console_files() -> &'static [File] {
    CONSOLE_FILES
}

/// Why the build could not make the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    pub why: &'static str,
    /// How to get them; may be empty.
    pub mend: &'static str,
}

/// Why the two are not there, and how to get them; `None`: they are.
pub fn missing() -> Option<Missing> {
    MISSING
}
