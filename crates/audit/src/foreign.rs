//! What other tools and other people published, read into one shape that the audit understands.

pub mod model;
pub mod table;

pub use model::{Document, Figure, Measure, Row, Tool};

/// Reads one text by what it contains: the output of a tool, a table, or a report with both. `name` is shown in places
/// and may help where the content says little (`.jtl`, `.csv`).
pub fn read(name: &str, text: &str) -> Document {
    let mut document = Document { name: name.to_owned(), text: text.to_owned(), ..Document::default() };
    // A tool's output in a report is read where it stands; what is left is prose and tables.
    crate::tools::read(name, text, &mut document);
    table::read(name, text, &mut document);
    document
}
