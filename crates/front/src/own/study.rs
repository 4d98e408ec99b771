//! A whole experiment file: one cell, or a matrix of cells.
//!
//! Every cell is read completely, like a separate file. That costs a fraction of a millisecond per cell, and no rule
//! for files needs to know about cells.

mod axes;
mod cells;
mod matrix;
pub mod parts;

use crate::located::{Located, Study};
use crate::overrides::Overrides;
use cells::{File, of_tree};
use plimsoll_plan::Diagnostic;
use std::path::Path;

/// Reads an experiment of one or more cells. `file` is the name that diagnostics show; relative file names in the text
/// start at `folder`.
///
/// # Errors
/// Returns every mistake found, in the order of the text, each once. Invalid YAML is reported alone.
pub fn study(text: &str, file: &str, folder: &Path, given: &Overrides) -> Result<Study, Vec<Diagnostic>> {
    whole(text, file, folder, given).map(|(study, _)| study)
}

/// Reads an experiment as [`study`] does, for a text that is one run.
///
/// # Errors
/// Returns an error if [`study`] does, or if a key makes more than one run.
pub fn one(text: &str, file: &str, folder: &Path, given: &Overrides) -> Result<Located, Vec<Diagnostic>> {
    let (mut study, several) = whole(text, file, folder, given)?;
    match (several, study.cells.pop()) {
        (None, Some(cell)) => Ok(cell.located),
        (several, _) => Err(several.into_iter().collect()),
    }
}

/// Reads the study, and what makes it more than one run.
fn whole(
    text: &str,
    file: &str,
    folder: &Path,
    given: &Overrides,
) -> Result<(Study, Option<Diagnostic>), Vec<Diagnostic>> {
    let file = File { text, name: file, folder, keep_to: given.keep_to.as_deref() };
    let mut r = file.reader();
    let tree = file.tree(&mut r.wrong)?;
    if let Some(several) = parts::refused(&tree, &r) {
        return Err(vec![several]);
    }
    of_tree(tree, file, given, r, &[])
}
