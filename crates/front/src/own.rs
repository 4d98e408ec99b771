//! plimsoll's experiment files: YAML that covers everything that flags can set, and diagnostics with line and column.
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
mod grpc;
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
pub use grpc::{ReadSource, compiled, compiled_sources, schemas};
use plimsoll_plan::Diagnostic;
use std::path::Path;
pub use study::parts::parts;
pub use study::study;

/// Reads an experiment as [`parse_with`] does, without overrides and with the environment of this process.
///
/// # Errors
/// Returns an error if [`parse_with`] does.
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Located, Vec<Diagnostic>> {
    parse_with(text, file, folder, &Overrides::default())
}

/// Reads an experiment. `file` is the name that diagnostics show; relative file names in the text start at `folder`.
///
/// # Errors
/// Returns every mistake found, in the order of the text. Invalid YAML is reported alone, because what follows it
/// cannot be checked. A text of more than one run is rejected; [`study`] reads it.
pub fn parse_with(
    text: &str,
    file: &str,
    folder: &Path,
    given: &Overrides,
) -> Result<Located, Vec<Diagnostic>> {
    study::one(text, file, folder, given)
}
