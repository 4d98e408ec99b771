//! Other load generators, a folder for each: `grammar` reads what it prints, whole or as a passage of a report, and
//! `definitions` states what its words mean. Rules ask the definitions, never the name.
//!
//! Each reader is asked at each line whether its output begins there; the one that says yes reads to the end of it.

pub mod definitions;
pub mod entry;
pub mod json;
pub mod lines;
pub mod number;
pub mod overlap;
pub mod samples;
pub mod text;
mod whole;

pub mod ab {
    pub mod definitions;
    pub mod files;
    pub mod grammar;
}
pub mod artillery {
    pub mod definitions;
    pub mod first;
    pub mod grammar;
    pub mod json;
}
pub mod autocannon {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
}
pub mod bombardier {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
}
pub mod fortio {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
}
pub mod gatling {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
    pub mod page;
}
pub mod ghz {
    pub mod definitions;
    pub mod json;
}
pub mod h2load {
    pub mod definitions;
    pub mod grammar;
}
pub mod hey {
    pub mod csv;
    pub mod definitions;
    pub mod grammar;
}
pub mod jmeter {
    pub mod csv;
    pub mod definitions;
    pub mod statistics;
    pub mod summariser;
    pub mod xml;
}
pub mod k6 {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
    pub mod points;
}
pub mod loadtest {
    pub mod definitions;
    pub mod grammar;
    pub mod object;
}
pub mod locust {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
}
pub mod oha {
    pub mod definitions;
    pub mod json;
}
pub mod rewrk {
    pub mod definitions;
    pub mod grammar;
}
pub mod siege {
    pub mod definitions;
    pub mod grammar;
    pub mod log;
}
pub mod taurus {
    pub mod csv;
    pub mod definitions;
    pub mod grammar;
}
pub mod vegeta {
    pub mod definitions;
    pub mod grammar;
    pub mod json;
}
pub mod wrk {
    pub mod definitions;
    pub mod grammar;
}

use crate::model::{Document, Tool};
use definitions::Definitions;
use std::io::BufRead;
use text::Text;

/// Reads an output that begins at this line, and gives the line after it.
type Reader = fn(&Text, usize, &mut Document) -> Option<usize>;

const READERS: [Reader; 25] = [
    // Its first line is that of wrk.
    autocannon::grammar::read,
    wrk::grammar::read,
    ab::grammar::read,
    ab::files::read,
    k6::grammar::read,
    json::read,
    jmeter::summariser::read,
    loadtest::grammar::read,
    hey::grammar::read,
    vegeta::grammar::read,
    siege::grammar::read,
    siege::log::read,
    h2load::grammar::read,
    bombardier::grammar::read,
    gatling::grammar::read,
    locust::grammar::read,
    artillery::first::read,
    artillery::grammar::read,
    taurus::grammar::read,
    taurus::csv::read,
    loadtest::object::read,
    gatling::page::read,
    rewrk::grammar::read,
    fortio::grammar::read,
    // Last: what an object of another reader has, it names as well.
    json::read_unknown,
];

/// Reads a file of single samples, if the stream is one. What was looked at to decide is still in the stream if not: a
/// format is recognized by the beginning alone, and nothing is consumed before.
///
/// # Errors
/// Returns an error if the stream cannot be read.
pub fn samples_of(input: &mut dyn BufRead, document: &mut Document) -> std::io::Result<bool> {
    type Samples = (fn(&str) -> bool, fn(&mut dyn BufRead, &mut Document) -> std::io::Result<()>);
    const FORMATS: [Samples; 4] = [
        (jmeter::csv::is_one, jmeter::csv::read),
        (jmeter::xml::is_one, jmeter::xml::read),
        (k6::points::is_one, k6::points::read),
        (hey::csv::is_one, hey::csv::read),
    ];
    let head = input.fill_buf()?;
    let head = String::from_utf8_lossy(&head[..head.len().min(lines::HEAD)]).into_owned();
    let Some((_, read)) = FORMATS.iter().find(|(is_one, _)| is_one(&head)) else { return Ok(false) };
    read(input, document)?;
    Ok(true)
}

/// Adds what tools wrote in `text` to the document, and marks their lines as taken.
pub fn read(_name: &str, text: &str, document: &mut Document) {
    let text = Text::new(text);
    let mut at = 0;
    while at < text.line_count() {
        let first = document.rows.len();
        let next = READERS.iter().find_map(|read| read(&text, at, document));
        let from = at;
        at = next.unwrap_or(0).max(at + 1);
        whole::mark(&text, from..at, document, first);
    }
}

/// Reads reports of parts of a run and ends of outputs, for a text in which nothing else was found.
pub fn read_parts(text: &str, document: &mut Document) {
    const READERS: [Reader; 3] =
        [artillery::first::read_period, artillery::grammar::read_period, wrk::grammar::read_end];
    let text = Text::new(text);
    let mut at = 0;
    while at < text.line_count() {
        let next = READERS.iter().find_map(|read| read(&text, at, document));
        at = next.unwrap_or(0).max(at + 1);
    }
}

impl Tool {
    /// What its words mean.
    pub fn definitions(self) -> &'static Definitions {
        match self {
            Self::Wrk => &wrk::definitions::WRK,
            Self::Wrk2 => &wrk::definitions::WRK2,
            Self::Artillery => &artillery::definitions::ARTILLERY,
            Self::Autocannon => &autocannon::definitions::AUTOCANNON,
            Self::Bombardier => &bombardier::definitions::BOMBARDIER,
            Self::Fortio => &fortio::definitions::FORTIO,
            Self::Gatling => &gatling::definitions::GATLING,
            Self::Ghz => &ghz::definitions::GHZ,
            Self::H2load => &h2load::definitions::H2LOAD,
            Self::Locust => &locust::definitions::LOCUST,
            Self::Rewrk => &rewrk::definitions::REWRK,
            Self::Siege => &siege::definitions::SIEGE,
            Self::Taurus => &taurus::definitions::TAURUS,
            Self::Ab => &ab::definitions::AB,
            Self::K6 => &k6::definitions::K6,
            Self::Loadtest => &loadtest::definitions::LOADTEST,
            Self::Jmeter => &jmeter::definitions::JMETER,
            Self::Hey => &hey::definitions::HEY,
            Self::Oha => &oha::definitions::OHA,
            Self::Vegeta => &vegeta::definitions::VEGETA,
        }
    }
}
