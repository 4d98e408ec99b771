//! Splits a report into headings, sentences, code and tables, each with its line and the headings above it.

use super::drawn;
use super::grid::Grid;
use super::markup;
use crate::model::Statement;
use std::collections::BTreeSet;

/// One piece of a report in order.
#[derive(Debug)]
pub enum Block {
    Heading(Statement),
    Statement(Statement),
    Table(Grid),
}

/// A paragraph line that stands alone in bold letters serves as a heading below the real ones; a numbered one holds
/// those without a number.
const BOLD_NUMBERED: usize = 7;
const BOLD: usize = 8;

/// Bytes after which a sentence without an end is cut.
const LONG: usize = 2_000;

struct Splitter<'a> {
    lines: Vec<&'a str>,
    taken: &'a BTreeSet<u32>,
    headings: Vec<(usize, String)>,
    /// Lines of the paragraph or list item that is open, already without marks.
    open: Vec<(u32, String)>,
    numbered: bool,
    out: Vec<Block>,
}

/// All pieces; lines in `taken` only end what is open.
pub fn split(text: &str, taken: &BTreeSet<u32>) -> Vec<Block> {
    let mut splitter = Splitter {
        lines: text.lines().collect(),
        taken,
        headings: Vec::new(),
        open: Vec::new(),
        numbered: false,
        out: Vec::new(),
    };
    let mut at = splitter.front_matter();
    while at < splitter.lines.len() {
        at = splitter.step(at).max(at + 1);
    }
    splitter.close();
    splitter.out
}

impl Splitter<'_> {
    /// `---` at the top begins the page's own description, which is no text.
    fn front_matter(&self) -> usize {
        if self.lines.first().is_none_or(|l| l.trim_end() != "---") {
            return 0;
        }
        self.lines.iter().skip(1).take(40).position(|l| l.trim_end() == "---").map_or(0, |i| i + 2)
    }

    /// Handles what begins at line `at` (from 0); gives the next line.
    fn step(&mut self, at: usize) -> usize {
        let number = at as u32 + 1;
        let raw = self.lines[at];
        let line = raw.trim().trim_start_matches('>').trim_start();
        let next = self.lines.get(at + 1).copied().unwrap_or("");
        if matches!(line, "" | "-" | "*") || self.taken.contains(&number) && !line.starts_with("```") {
            self.close();
            return at + 1;
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            self.close();
            return self.code(at, &line[..3]);
        }
        if let Some(end) = self.drawn_table(at) {
            return end;
        }
        if line.contains('|') && markup::is_delimiter_row(next) {
            self.close();
            return self.pipe_table(at);
        }
        if line.to_ascii_lowercase().starts_with("<table") {
            self.close();
            return self.html_table(at);
        }
        if let Some(title) = line.strip_prefix('#') {
            let level = 1 + title.len() - title.trim_start_matches('#').len();
            self.close();
            self.heading(level.min(6), number, title.trim_matches(['#', ' ']));
            return at + 1;
        }
        let underline = next.trim();
        let ruled = |mark: char| underline.len() >= 3 && underline.chars().all(|c| c == mark);
        if self.open.is_empty() && (ruled('=') || ruled('-')) && !line.starts_with(['-', '*']) {
            self.heading(if ruled('=') { 1 } else { 2 }, number, line);
            return at + 2;
        }
        self.text(number, raw, line);
        at + 1
    }

    fn text(&mut self, number: u32, raw: &str, line: &str) {
        let (item, numbered) = list_item(line);
        if let Some(content) = item {
            self.close();
            self.numbered = numbered;
            self.open.push((number, content.to_owned()));
            return;
        }
        let bold = line.len() > 4 && line.starts_with("**") && line.ends_with("**");
        if bold && self.open.is_empty() {
            let title = markup::plain(line);
            let level = if title.starts_with(|c: char| c.is_ascii_digit()) { BOLD_NUMBERED } else { BOLD };
            self.heading(level, number, line);
            return;
        }
        self.open.push((number, line.to_owned()));
        // Two spaces at the end break the line.
        if raw.ends_with("  ") {
            self.close();
        }
    }

    fn heading(&mut self, level: usize, line: u32, title: &str) {
        let text = markup::plain(title);
        self.headings.retain(|(l, _)| *l < level);
        let above = self.titles();
        self.headings.push((level, text.clone()));
        // A heading is also a statement about what stands below it.
        let mut headings = above;
        headings.push(text.clone());
        self.out.push(Block::Heading(Statement { text, line, headings, code: false, numbered: false }));
    }

    fn titles(&self) -> Vec<String> {
        self.headings.iter().map(|(_, t)| t.clone()).collect()
    }

    /// Ends the open paragraph: its sentences go out, each with the line on which it begins.
    fn close(&mut self) {
        let lines = std::mem::take(&mut self.open);
        let numbered = std::mem::take(&mut self.numbered);
        let Some((first, _)) = lines.first() else { return };
        let headings = self.titles();
        // Pictures disappear from the plain text, and are what a report without figures consists of.
        for (line, text) in lines.iter().filter(|(_, t)| t.contains("![")) {
            let said = Statement {
                text: text.clone(),
                line: *line,
                headings: headings.clone(),
                code: true,
                numbered,
            };
            self.out.push(Block::Statement(said));
        }
        let mut line_at = vec![(0usize, *first)];
        let mut text = String::new();
        for (line, part) in &lines {
            if !text.is_empty() {
                text.push(' ');
            }
            line_at.push((text.len(), *line));
            text.push_str(&markup::plain(part));
        }
        for (start, sentence) in sentences(&text) {
            let line = line_at.iter().rfind(|(offset, _)| *offset <= start).map_or(*first, |(_, line)| *line);
            let said = Statement {
                text: sentence.to_owned(),
                line,
                headings: headings.clone(),
                code: false,
                numbered,
            };
            self.out.push(Block::Statement(said));
        }
    }

    fn code(&mut self, at: usize, fence: &str) -> usize {
        let headings = self.titles();
        let mut end = at + 1;
        while end < self.lines.len()
            && !self.lines[end].trim().trim_start_matches(['>', ' ']).starts_with(fence)
        {
            let line = end as u32 + 1;
            if !self.taken.contains(&line)
                && let Some(next) = self.drawn_table(end)
            {
                end = next;
                continue;
            }
            if !self.taken.contains(&line) && !self.lines[end].trim().is_empty() {
                let text = self.lines[end].to_owned();
                self.out.push(Block::Statement(Statement {
                    text,
                    line,
                    headings: headings.clone(),
                    code: true,
                    numbered: false,
                }));
            }
            end += 1;
        }
        end + 1
    }

    /// A table drawn with lines, as programs print it: also in a block of code.
    fn drawn_table(&mut self, at: usize) -> Option<usize> {
        let drawn = drawn::read(&self.lines, at)?;
        let taken = |line: &u32| self.taken.contains(line);
        if drawn.rows.iter().any(|(line, _)| taken(line)) {
            return None;
        }
        self.close();
        self.push_table(drawn.header, drawn.header_line, drawn.rows);
        Some(drawn.next)
    }

    fn pipe_table(&mut self, at: usize) -> usize {
        let unquoted = |l: &str| l.trim().trim_start_matches('>').trim().to_owned();
        let header = markup::pipe_cells(&unquoted(self.lines[at]));
        let mut end = at + 2;
        let mut rows = Vec::new();
        while end < self.lines.len() && self.lines[end].contains('|') {
            rows.push((end as u32 + 1, markup::pipe_cells(&unquoted(self.lines[end]))));
            end += 1;
        }
        self.push_table(header, at as u32 + 1, rows);
        end
    }

    fn html_table(&mut self, at: usize) -> usize {
        let ends = |l: &str| l.to_ascii_lowercase().contains("</table");
        let end = self.lines[at..].iter().position(|l| ends(l)).map_or(self.lines.len(), |i| at + i + 1);
        let html = self.lines[at..end].join("\n");
        let mut rows = markup::html_rows(&html, at as u32 + 1);
        if !rows.is_empty() {
            let (line, header) = rows.remove(0);
            self.push_table(header, line, rows);
        }
        end
    }

    fn push_table(&mut self, header: Vec<String>, header_line: u32, rows: Vec<(u32, Vec<String>)>) {
        let headings = self.titles();
        let caption = headings.last().cloned().unwrap_or_default();
        let grid =
            Grid { header, header_line, rows, caption, headings, said: Vec::new(), cell_lines: Vec::new() };
        self.out.push(Block::Table(grid));
    }
}

/// Content of a list item, and whether it is numbered.
fn list_item(line: &str) -> (Option<&str>, bool) {
    if let Some(rest) = ["- ", "* ", "+ ", "*\t", "-\t"].iter().find_map(|m| line.strip_prefix(m)) {
        return (Some(rest.trim_start_matches(['-', '*', ' '])), false);
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &line[digits..];
    let marked = digits > 0 && digits <= 3;
    (rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).filter(|_| marked), true)
}

/// Sentences with their offsets. A point between digits or behind a short word (`e.g.`) ends none.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = 0;
    for (i, c) in text.char_indices() {
        let behind = &text[i + c.len_utf8()..];
        let ends = match c {
            '.' => {
                let word = text[start..i].rsplit(' ').next().unwrap_or("");
                let short = word.contains('.')
                    || matches!(word, "vs" | "approx" | "ca" | "resp" | "max" | "min" | "avg");
                behind.starts_with(' ') && !short
            }
            '!' | '?' => behind.starts_with(' '),
            // A list of figures without any stop is no sentence; what it costs to read must not grow with its square.
            ' ' => i - start > LONG,
            _ => false,
        };
        if ends {
            found.push((start, text[start..=i].trim()));
            start = i + 1;
        }
    }
    if !text[start..].trim().is_empty() {
        found.push((start, text[start..].trim()));
    }
    found
}
