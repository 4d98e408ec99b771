//! Readers for tables (Markdown, HTML, CSV) with recognisable columns, and for figures in sentences. They read what the
//! readers of tools' outputs have left: most published results are a few tables, and what was tested stands in the
//! sentences around them.

mod blocks;
mod cell;
mod column;
mod delimited;
mod grid;
pub(crate) mod markup;
pub(crate) mod number;
mod sentence;
pub(crate) mod unit;

use super::model::{Claim, Document, Said};
use blocks::Block;

/// Longest text that is searched for sentences: reports are shorter, logs are longer.
const PROSE_LIMIT: usize = 4 << 20;

/// Adds the tables and sentences of `text` to the document; lines that a tool's reader took are left alone.
pub fn read(_name: &str, text: &str, document: &mut Document) {
    if document.taken.is_empty()
        && let Some(grid) = delimited::read(text)
    {
        grid::take(&grid, document);
        return;
    }
    if text.len() > PROSE_LIMIT {
        return;
    }
    let first_table = document.tables.len();
    let mut said_here: Vec<String> = Vec::new();
    for block in blocks::split(text, &document.taken) {
        match block {
            Block::Table(mut grid) => {
                grid.said = said_here.clone();
                grid::take(&grid, document);
            }
            Block::Said(said) => {
                if !said.code {
                    said_here.push(said.text.clone());
                    let claim = sentence::claim(&said);
                    if !claim.figures.is_empty() {
                        document.claims.push(claim);
                    }
                }
                document.prose.push(said);
            }
            Block::Heading(said) => {
                let claim = sentence::claim(&said);
                if !claim.figures.is_empty() {
                    document.claims.push(claim);
                }
                document.prose.push(said);
            }
        }
    }
    surround(document, first_table);
}

/// Gives each table the sentences of its section: before it back to the heading, and behind it up to the next table.
fn surround(document: &mut Document, first: usize) {
    for at in first..document.tables.len() {
        let table = &document.tables[at];
        let end = document.tables.get(at + 1).map_or(u32::MAX, |next| next.lines.0);
        let section = section_of(&table.headings);
        let belongs = |c: &&Claim| c.line < end && c.headings.starts_with(section);
        let caption = Said { text: table.caption.clone(), line: table.lines.0, ..Said::default() };
        let mut around: Vec<Claim> = document.claims.iter().filter(belongs).cloned().collect();
        if !table.caption.is_empty() && !around.iter().any(|c| c.text == table.caption) {
            around.push(sentence::claim(&caption));
        }
        document.tables[at].around = around;
    }
}

/// The headings without a caption that stands alone above a table: `Part one (8 machines)` is no section of its own.
fn section_of(headings: &[String]) -> &[String] {
    let own = headings.iter().rposition(|h| h.starts_with(|c: char| c.is_ascii_digit())).map(|i| i + 1);
    &headings[..own.unwrap_or(headings.len())]
}
