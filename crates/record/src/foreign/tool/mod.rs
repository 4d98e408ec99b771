//! Readers for the output of other load generators, as whole files or as passages of a report. Each reader is asked at
//! each line whether its output begins there; the one that says yes reads to the end of it.

mod ab;
mod entry;
mod k6;
pub mod number;
mod text;
mod wrk;

use super::model::Document;
use text::Text;

/// Reads an output that begins at this line, and gives the line after it.
type Reader = fn(&Text, usize, &mut Document) -> Option<usize>;

const READERS: [Reader; 3] = [wrk::read, ab::read, k6::read];

/// Adds what tools wrote in `text` to the document, and marks their lines as taken.
pub fn read(_name: &str, text: &str, document: &mut Document) {
    let text = Text::new(text);
    let mut at = 0;
    while at < text.len() {
        let next = READERS.iter().find_map(|read| read(&text, at, document));
        at = next.unwrap_or(0).max(at + 1);
    }
}
