//! What a loader asks its host: the bytes of files, and the modules that the engine has built in.

use plimsoll_plan::Problem;
use std::io;
use std::path::Path;

/// Where files come from: the disk, an archive, or a test.
pub trait Files {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Returns the bytes at an address, or why they cannot be used; `None` if this source has no remote modules.
    fn remote(&self, _address: &str) -> Option<Result<Vec<u8>, Problem>> {
        None
    }
}

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        plimsoll_plan::inputs::note(path);
        std::fs::read(path)
    }
}

/// The engine's answer about one specifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Builtin {
    /// A built-in module, with the name under which the engine knows it.
    Known(String),
    /// A module that the engine recognizes but does not have.
    Refused(Problem),
    /// A specifier that means nothing to the engine.
    Unknown,
}

/// The modules that the engine has built in: `k6/http`, and addresses of bundled libraries.
pub trait Builtins {
    /// Returns what the engine knows about a specifier. It is asked about every specifier that is not a path.
    fn resolve(&self, specifier: &str) -> Builtin;
}
