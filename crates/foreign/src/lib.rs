//! What other tools and other people published, read into one shape: rows of figures, each with its line and with the
//! range that its rounding leaves open. `tools` has a folder for each load generator; `table` reads tables and
//! sentences.

#![forbid(unsafe_code)]

pub mod model;
mod prefix;
pub mod table;
pub mod times;
pub mod tools;

use std::io::BufRead;

pub use crate::model::{Document, Figure, Measure, Row, Tool};

/// Reads one text by what it contains: the output of a tool, a table, or a report with both. `name` is shown in places
/// and may help where the content says little (`.jtl`, `.csv`).
pub fn read(name: &str, text: &str) -> Document {
    let mut document = Document { name: name.to_owned(), text: text.to_owned(), ..Document::default() };
    // proof: bytes in memory can be read.
    if tools::samples_of(&mut text.as_bytes(), &mut document).unwrap_or(false) {
        return document;
    }
    // A tool's output in a report is read where it stands; what is left is prose and tables.
    tools::read(name, text, &mut document);
    table::read(name, text, &mut document);
    if document.rows.is_empty()
        && let Some(bare) = prefix::without(text)
    {
        tools::read(name, &bare, &mut document);
    }
    if document.rows.is_empty() {
        tools::read_parts(text, &mut document);
    }
    document
}

/// The same from a stream. Files of single samples are read line by line and never held in memory as a whole.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn read_from(name: &str, input: &mut dyn BufRead) -> std::io::Result<Document> {
    let mut document = Document { name: name.to_owned(), ..Document::default() };
    if tools::samples_of(input, &mut document)? {
        return Ok(document);
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    Ok(read(name, &String::from_utf8_lossy(&bytes)))
}
