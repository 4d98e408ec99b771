//! Readers for the output of other load generators, as whole files or as passages of a report. Each reader is asked at
//! each line whether its output begins there; the one that says yes reads to the end of it.

mod ab;
mod ab_files;
mod entry;
mod hey;
mod hey_csv;
mod jmeter;
mod json;
mod k6;
mod k6_json;
mod k6_points;
mod loadtest;
pub mod number;
mod oha_json;
mod text;
mod vegeta;
mod vegeta_json;
mod wrk;

use super::model::Document;
use text::Text;

/// Reads an output that begins at this line, and gives the line after it.
type Reader = fn(&Text, usize, &mut Document) -> Option<usize>;

const READERS: [Reader; 9] = [
    wrk::read,
    ab::read,
    ab_files::read,
    k6::read,
    json::read,
    jmeter::summariser::read,
    loadtest::read,
    hey::read,
    vegeta::read,
];

/// Adds what tools wrote in `text` to the document, and marks their lines as taken.
pub fn read(_name: &str, text: &str, document: &mut Document) {
    // Files of single samples can be large; they are read line by line, and are nothing but themselves.
    const WHOLE: [fn(&str, &mut Document) -> bool; 4] =
        [jmeter::csv::read, jmeter::xml::read, k6_points::read, hey_csv::read];
    if WHOLE.iter().any(|read| read(text, document)) {
        return;
    }
    let text = Text::new(text);
    let mut at = 0;
    while at < text.len() {
        let next = READERS.iter().find_map(|read| read(&text, at, document));
        at = next.unwrap_or(0).max(at + 1);
    }
}
