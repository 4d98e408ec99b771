//! The deliberate differences: rows of a table of the documentation, each with a key that scripts refer to.

use std::path::Path;

/// The page with the table.
pub const PAGE: &str = "docs/explanation/k6-compatibility.md";

/// The heading above the table.
const HEADING: &str = "## Differences";

/// Returns the keys of the table: the first cell of each row.
///
/// # Errors
/// Returns a sentence if the page cannot be read.
pub fn keys(root: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(root.join(PAGE)).map_err(|e| format!("cannot read `{PAGE}`: {e}"))?;
    let section = text.split_once(HEADING).map_or("", |(_, rest)| rest);
    // The first table of the section.
    let is_row = |line: &&str| line.starts_with('|');
    let rows = section.lines().skip_while(|line| !is_row(line)).take_while(is_row);
    let cells = rows.filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    Ok(cells.map(|(key, _)| key.to_owned()).collect())
}
