//! A source text and the places in it.

use plimsoll_plan::diag::Place;

/// Lines that are longer are not shown in diagnostics: they are generated.
const LONGEST_EXCERPT: usize = 240;

/// The source of one module, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The name of the file in diagnostics.
    pub file: String,
    pub source: String,
    /// The byte at which each line begins.
    lines: Vec<u32>,
}

impl Text {
    /// Returns the text without its byte order mark.
    pub fn new(file: String, source: &str) -> Self {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source).to_owned();
        Self { file, lines: line_starts(&source), source }
    }

    /// Returns the line and the column of a byte. Both start at 1, and columns count characters.
    pub fn position(&self, at: u32) -> (u32, u32) {
        let mut at = (at as usize).min(self.source.len());
        while !self.source.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.lines.partition_point(|start| *start as usize <= at).max(1);
        let start = self.lines[line - 1] as usize;
        (line as u32, self.source[start..at].chars().count() as u32 + 1)
    }

    /// Returns the place of a byte for a diagnostic.
    pub fn place(&self, at: u32) -> Place {
        let (line, column) = self.position(at);
        let start = self.lines[line as usize - 1] as usize;
        let whole = self.source[start..].lines().next().unwrap_or_default();
        let excerpt = if whole.len() > LONGEST_EXCERPT { "" } else { whole };
        Place::Text { file: self.file.clone(), line, column, excerpt: excerpt.to_owned() }
    }
}

/// Returns the byte at which each line begins; there is always a first line.
pub fn line_starts(text: &str) -> Vec<u32> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect()
}
