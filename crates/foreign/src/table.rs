//! Readers for tables (Markdown, HTML, CSV) with recognisable columns, and for figures in sentences. They read what the
//! readers of tools' outputs have left: most published results are a few tables, and what was tested stands in the
//! sentences around them.

mod blocks;
mod cell;
mod column;
mod delimited;
mod drawn;
mod grid;
mod list;
pub mod markup;
pub mod number;
pub mod records;
mod sentence;
pub mod several;
mod shape;
pub mod unit;

use super::model::{Claim, Document, Statement};
use blocks::Block;
use grid::Grid;

/// The unit of a time that nobody states and that was inferred from its size.
pub const GUESSED: &str = "ms, unless stated";

/// Longest text that is searched for sentences: reports are shorter, logs are longer.
const PROSE_LIMIT: usize = 64 << 20;

/// Adds the tables and sentences of `text` to the document; lines that a tool's reader took are left alone.
pub fn read(_name: &str, text: &str, document: &mut Document) {
    if document.taken.is_empty()
        && let Some(grid) = delimited::read(text)
    {
        let first_table = document.tables.len();
        grid::take(&grid, document);
        several::mark(document, first_table);
        return;
    }
    if text.len() > PROSE_LIMIT {
        return;
    }
    let first_table = document.tables.len();
    for list in list::read(text, &document.taken) {
        document.taken.extend(list.lines);
        grid::take(&list.grid, document);
    }
    let mut said_here: Vec<String> = Vec::new();
    let mut waiting: Option<Grid> = None;
    for block in blocks::split(text, &document.taken) {
        // A unit for all may also stand below, up to what begins next.
        let ends = !matches!(&block, Block::Statement(_));
        if ends && let Some(grid) = waiting.take() {
            grid::take(&grid, document);
        }
        match block {
            Block::Table(mut grid) => {
                grid.said = said_here.clone();
                waiting = Some(grid);
            }
            Block::Statement(said) => {
                if !said.code {
                    if let Some(grid) = &mut waiting {
                        // What stands above comes first: the last is looked at first.
                        grid.said.insert(0, said.text.clone());
                    }
                    remember(&mut said_here, &said.text);
                    let claim = sentence::claim(&said);
                    if !claim.figures.is_empty() {
                        document.claims.push(claim);
                    }
                }
                document.prose.push(said);
            }
            Block::Heading(said) => {
                remember(&mut said_here, &said.text);
                let claim = sentence::claim(&said);
                if !claim.figures.is_empty() {
                    document.claims.push(claim);
                }
                document.prose.push(said);
            }
        }
    }
    if let Some(grid) = waiting {
        grid::take(&grid, document);
    }
    surround(document, first_table);
    several::mark(document, first_table);
}

/// Sentences above a table that may be about it: the last of them.
fn remember(said: &mut Vec<String>, text: &str) {
    const KEPT: usize = 60;
    if said.len() == KEPT {
        said.remove(0);
    }
    said.push(text.to_owned());
}

/// Gives each table the sentences of its section: before it back to the heading, and behind it up to the next table.
fn surround(document: &mut Document, first: usize) {
    for at in first..document.tables.len() {
        let table = &document.tables[at];
        let end = document.tables.get(at + 1).map_or(u32::MAX, |next| next.lines.0);
        let section = section_of(&table.headings);
        let belongs = |c: &&Claim| {
            c.line < end
                && c.headings.starts_with(section)
                && (c.line < table.lines.0 || !is_command(&c.text))
        };
        let caption = Statement { text: table.caption.clone(), line: table.lines.0, ..Statement::default() };
        let mut around: Vec<Claim> = document.claims.iter().filter(belongs).cloned().collect();
        if !table.caption.is_empty() && !around.iter().any(|c| c.text == table.caption) {
            around.push(sentence::claim(&caption));
        }
        document.tables[at].around = around;
    }
}

/// `wrk -c400 URL` below a table is how to run it again, and not how its rows were made.
fn is_command(text: &str) -> bool {
    const TOOLS: [&str; 14] = [
        "wrk",
        "wrk2",
        "ab",
        "hey",
        "oha",
        "vegeta",
        "k6",
        "autocannon",
        "bombardier",
        "siege",
        "h2load",
        "loadtest",
        "locust",
        "rewrk",
    ];
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches('`')).collect();
    words.windows(2).any(|pair| {
        TOOLS.contains(&pair[0].rsplit('/').next().unwrap_or(""))
            && (pair[1].starts_with('-') || pair[1] == "run")
    })
}

/// The headings without a caption that stands alone above a table: `Part one (8 machines)` is no section of its own.
fn section_of(headings: &[String]) -> &[String] {
    let own = headings.iter().rposition(|h| h.starts_with(|c: char| c.is_ascii_digit())).map(|i| i + 1);
    &headings[..own.unwrap_or(headings.len())]
}
