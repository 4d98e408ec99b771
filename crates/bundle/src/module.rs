//! The result of loading: modules, what they import, and their factories.

use crate::archive::Archive;
use crate::isolation::{Isolation, Reason};
use crate::map::Map;
use crate::text::Text;
use crate::usage::Usage;
use plimsoll_plan::diag::Place;
use std::path::PathBuf;

/// A script with everything that it imports.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// Each module once, the entry first.
    pub modules: Vec<Module>,
    /// The index of the entry in [`Bundle::modules`].
    pub entry: usize,
    /// JSON files that modules import, each once.
    pub json: Vec<Json>,
    /// How much of an engine each virtual user needs.
    pub isolation: Isolation,
    /// Why users must not run each other's jobs; `None` if the script has none.
    pub asynchronous: Option<Reason>,
    /// What the script needs of its host.
    pub usage: Usage,
    /// The archive that the script comes from: its options, its environment, and the files that it may open.
    pub archive: Option<Archive>,
}

/// The module format of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A module with `import` or `export`. Its code is strict.
    Es,
    /// A module with `require` and `module.exports`, or a plain script.
    CommonJs,
}

/// One module.
#[derive(Debug, Clone)]
pub struct Module {
    /// The name for stack traces: the path relative to the entry's folder, or the address.
    pub name: String,
    /// The path, or the address of a remote module.
    pub path: PathBuf,
    pub format: Format,
    /// Whether its evaluation waits for promises, so that the factory returns a promise.
    pub is_async: bool,
    /// The source of a function of `exports`, `require`, `module`, and `meta`.
    pub factory: String,
    /// What `require(i)` returns, by `i`.
    pub imports: Vec<Import>,
    /// Names of the exports, as far as the source shows them.
    pub exports: Vec<String>,
    pub(crate) text: Text,
    pub(crate) map: Map,
}

impl Module {
    /// Returns line and column (from 1, in characters) in the user's source. The arguments are a position in the
    /// factory, both from 1; the column counts bytes, as QuickJS does.
    pub fn original(&self, line: u32, column: u32) -> (u32, u32) {
        self.map.original(&self.text, line, column)
    }

    /// Returns the place of a position in the factory for a diagnostic.
    pub fn place(&self, line: u32, column: u32) -> Place {
        self.text.place(self.map.original_byte(line, column))
    }

    /// Returns whether a position in the factory belongs to the user's source, and not to what precedes it.
    pub fn is_of_user(&self, line: u32, column: u32) -> bool {
        self.map.is_of_user(line, column)
    }

    /// Returns the place of a byte of the user's source for a diagnostic.
    pub fn place_of_byte(&self, at: usize) -> Place {
        self.text.place(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// Returns the user's source.
    pub fn source(&self) -> &str {
        &self.text.source
    }
}

/// One specifier of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The specifier as written.
    pub specifier: String,
    /// The place of its first use.
    pub place: Place,
    pub target: Target,
}

/// What a specifier leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A module of the bundle.
    Module(usize),
    /// A module that the engine has built in, by its name there.
    Builtin(String),
    /// A JSON file of the bundle.
    Json(usize),
    /// Nothing. CommonJS code asks for it in a branch that may never run; if it does, `require` throws this message.
    Unavailable(String),
}

/// A JSON file that modules import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    /// The path relative to the entry's folder.
    pub name: String,
    pub path: PathBuf,
    /// Valid JSON.
    pub text: String,
}
