//! Our own experiment files: YAML in which everything that a flag can say can be said, and every mistake has its
//! line and column.
//!
//! ```yaml
//! target: http://127.0.0.1:8080
//! scenarios: { browse: [ { get: /pick } ] }
//! load: { users: 100, duration: 15s }
//! ```

mod braces;
mod cell;
mod connection;
mod constants;
mod data;
mod json;
pub mod key;
mod load;
mod monitor;
mod origins;
mod reader;
mod scenario;
mod search;
mod steps;
mod study;
mod syntax;
mod template;
mod threshold;
mod work;
mod yaml;

use crate::located::Located;
use crate::overrides::Overrides;
use plimsoll_plan::Diagnostic;
use std::path::Path;
pub use study::parts::parts;
pub use study::study;

/// As [`parse_with`], with nothing set and the environment of this process.
///
/// # Errors
/// As [`parse_with`].
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Located, Vec<Diagnostic>> {
    parse_with(text, file, folder, &Overrides::default())
}

/// Reads an experiment. `file` is the name that diagnostics show; relative file names in the text start at `folder`.
///
/// # Errors
/// Every mistake found, in the order of the text. Broken YAML is reported alone: what follows it cannot be judged. A
/// text of more than one run is refused; [`study`] reads it.
pub fn parse_with(
    text: &str,
    file: &str,
    folder: &Path,
    given: &Overrides,
) -> Result<Located, Vec<Diagnostic>> {
    study::one(text, file, folder, given)
}
