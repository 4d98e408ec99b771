//! An experiment file as a whole: one cell, or a matrix of them, and what is asked of it.
//!
//! Every cell is read completely, as a file of its own would be. That costs a fraction of a millisecond a cell, and no
//! rule of a file needs to know that there are cells.

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
/// Every mistake found, in the order of the text, each once. Broken YAML is reported alone.
pub fn study(text: &str, file: &str, folder: &Path, given: &Overrides) -> Result<Study, Vec<Diagnostic>> {
    whole(text, file, folder, given).map(|(study, _)| study)
}

/// As [`study`], for a text that is one run.
///
/// # Errors
/// As [`study`]; and which key asks for more than one run.
pub fn one(text: &str, file: &str, folder: &Path, given: &Overrides) -> Result<Located, Vec<Diagnostic>> {
    let (mut study, several) = whole(text, file, folder, given)?;
    match (several, study.cells.pop()) {
        (None, Some(cell)) => Ok(cell.located),
        (several, _) => Err(several.into_iter().collect()),
    }
}

/// The study, and what makes it more than one run.
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
