//! From a position in a factory back to the position in the user's source.

use crate::text::{Text, line_starts};

/// A stretch of a factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    /// The byte of the factory at which it begins.
    factory: u32,
    /// The corresponding byte of the JavaScript code.
    code: u32,
    /// Whether it is copied, so that each byte has its own counterpart.
    is_copy: bool,
}

/// Writes a factory and remembers where its pieces come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Map {
    segments: Vec<Segment>,
    lines: Vec<u32>,
    /// For TypeScript: bytes of the printed JavaScript and the corresponding bytes of the source, ascending.
    tokens: Vec<(u32, u32)>,
}

impl Map {
    pub fn new(tokens: Vec<(u32, u32)>) -> Self {
        Self { tokens, ..Self::default() }
    }

    /// Notes that the factory continues at `factory` with a copy of the code from `code`.
    pub fn copy(&mut self, factory: usize, code: u32) {
        self.segments.push(Segment { factory: factory as u32, code, is_copy: true });
    }

    /// Notes that the factory continues at `factory` with text that replaces the code at `code`.
    pub fn replace(&mut self, factory: usize, code: u32) {
        self.segments.push(Segment { factory: factory as u32, code, is_copy: false });
    }

    /// Notes that the factory is complete.
    pub fn finish(&mut self, factory: &str) {
        self.lines = line_starts(factory);
    }

    /// Returns line and column in the source (from 1, in characters) of a position in the factory (from 1, in bytes).
    pub fn original(&self, text: &Text, line: u32, column: u32) -> (u32, u32) {
        text.position(self.original_byte(line, column))
    }

    /// Returns whether a position in the factory (from 1, in bytes) has a counterpart in the source.
    pub fn is_of_user(&self, line: u32, column: u32) -> bool {
        let at = self.factory_byte(line, column);
        // The first segment is what precedes the code of the user.
        self.segments.get(1).is_some_and(|first| first.factory <= at)
    }

    /// Returns the byte of a position in the factory.
    fn factory_byte(&self, line: u32, column: u32) -> u32 {
        let line = (line.max(1) as usize).min(self.lines.len().max(1));
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let end = self.lines.get(line).copied().unwrap_or(u32::MAX);
        start.saturating_add(column.max(1) - 1).min(end.saturating_sub(1).max(start))
    }

    /// Returns the byte of the source of a position in the factory (from 1, in bytes).
    pub fn original_byte(&self, line: u32, column: u32) -> u32 {
        let at = self.factory_byte(line, column);
        let code = match self.segments.partition_point(|one| one.factory <= at) {
            0 => 0,
            n => {
                let segment = self.segments[n - 1];
                if segment.is_copy { segment.code + (at - segment.factory) } else { segment.code }
            }
        };
        source_of(&self.tokens, code)
    }
}

/// Returns the byte of the source for a byte of the code.
pub fn source_of(tokens: &[(u32, u32)], code: u32) -> u32 {
    if tokens.is_empty() {
        return code;
    }
    match tokens.partition_point(|token| token.0 <= code) {
        0 => tokens[0].1,
        n => tokens[n - 1].1,
    }
}
