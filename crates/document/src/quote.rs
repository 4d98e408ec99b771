//! The line that a finding quotes, with its values underlined as compilers do.

use crate::line::{Line, width, wrap};
use crate::style::{Look, TextStyle};

/// One line of one file, and its relevant parts.
pub struct Quote {
    pub file: String,
    pub line: u32,
    /// The whole line, if it was kept; otherwise, nothing is underlined.
    pub source: Option<String>,
    pub figures: Vec<String>,
}

/// Returns `report.md:210, 222 and 230`, with each file named once.
pub fn names(quotes: &[Quote]) -> String {
    const SHOWN: usize = 8;
    let mut out = String::new();
    let mut file = "";
    for quote in quotes.iter().take(SHOWN) {
        let between = if out.is_empty() { "" } else { ", " };
        let name = if quote.file == file { quote.line.to_string() } else { quote.name() };
        out.push_str(&format!("{between}{name}"));
        file = &quote.file;
    }
    let more = quotes.len().saturating_sub(SHOWN);
    if more > 0 { format!("{out} and {more} more") } else { out }
}

impl Quote {
    /// Returns `report.md:210`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Returns name, line, and underlines. The line is truncated around the values if there is little room.
    pub fn show(&self, ink: TextStyle, look: &Look, lines: &mut Vec<Line>) {
        let signs = look.signs();
        let name = self.name();
        lines.push(Line::new().text("  ").ink(TextStyle::Dim, "--> ").text(&name).cut(look.columns(), look));
        let side = || Line::new().text("    ").ink(TextStyle::Dim, signs.side).text(" ");
        let room = look.columns().saturating_sub(6);
        let Some(source) = &self.source else {
            let text = self.figures.join(", ");
            if !text.trim().is_empty() {
                lines.push(side().text(&text).cut(look.columns(), look));
            }
            return;
        };
        let marks = self.marks(source);
        if is_whole(source, &marks) {
            let parts = wrap(source, room);
            let more = parts.len() > SENTENCE;
            for (at, part) in parts.iter().take(SENTENCE).enumerate() {
                let line = side().text(part);
                let cut = if more && at + 1 == SENTENCE { signs.cut } else { "" };
                lines.push(line.ink(TextStyle::Dim, cut).cut(look.columns(), look));
            }
            return;
        }
        let (text, marks) = window(source, &marks, room, signs.cut);
        lines.push(side().text(&text));
        if marks.iter().any(|m| *m) {
            lines.push(side().ink(ink, &underline(&text, &marks)));
        }
    }

    /// Returns the same without color and width, for a code block.
    pub fn plain(&self) -> Vec<String> {
        let mut out = vec![format!("--> {}", self.name())];
        match &self.source {
            None => out.push(format!("  {}", self.figures.join(", "))),
            Some(source) => {
                let marks = self.marks(source);
                let whole = is_whole(source, &marks);
                let (text, marks) = window(source, &marks, 110, "~");
                out.push(format!("  {text}"));
                if !whole && marks.iter().any(|m| *m) {
                    out.push(format!("  {}", underline(&text, &marks)));
                }
            }
        }
        out
    }

    /// Returns the line in pieces, each relevant or not; a sentence that is relevant as a whole is one piece. Without
    /// the line, returns the values.
    pub fn stretches(&self) -> Vec<(bool, String)> {
        let Some(source) = &self.source else { return vec![(true, self.figures.join(", "))] };
        let marks = self.marks(source);
        if is_whole(source, &marks) {
            return vec![(true, source.clone())];
        }
        let mut out: Vec<(bool, String)> = Vec::new();
        for (c, mark) in source.chars().zip(marks) {
            match out.last_mut() {
                Some((last, text)) if *last == mark => text.push(c),
                _ => out.push((mark, c.into())),
            }
        }
        out
    }

    /// Returns which characters of the line belong to a relevant value.
    fn marks(&self, source: &str) -> Vec<bool> {
        let chars: Vec<char> = source.chars().collect();
        let mut marks = vec![false; chars.len()];
        for figure in &self.figures {
            let wanted: Vec<char> = figure.trim().chars().collect();
            if wanted.is_empty() || wanted.len() > chars.len() {
                continue;
            }
            // `1.5` does not match in `21.5` or `1.52`, and `0` does not match in `0.00`.
            let digit = |at: Option<usize>| at.and_then(|i| chars.get(i)).is_some_and(char::is_ascii_digit);
            let point =
                |at: Option<usize>| at.and_then(|i| chars.get(i)).is_some_and(|c| matches!(c, '.' | ','));
            let goes_on = |end: usize| digit(Some(end)) || point(Some(end)) && digit(Some(end + 1));
            let began = |at: usize| {
                let before = at.checked_sub(1);
                digit(before) || point(before) && digit(at.checked_sub(2))
            };
            let found = (0..=chars.len() - wanted.len()).find(|&at| {
                let end = at + wanted.len();
                let (first, last) = (wanted[0], wanted[wanted.len() - 1]);
                let longer_before = first.is_ascii_digit() && began(at);
                let longer_after = last.is_ascii_digit() && goes_on(end);
                chars[at..end] == wanted && !(marks[at] || longer_before || longer_after)
            });
            if let Some(at) = found {
                marks[at..at + wanted.len()].fill(true);
            }
        }
        marks
    }
}

/// Returns the lines of a sentence that is relevant as a whole.
const SENTENCE: usize = 3;

/// Returns whether nearly the whole line is relevant: then it is a sentence, and underlining it would be useless.
fn is_whole(source: &str, marks: &[bool]) -> bool {
    let letters = source.chars().zip(marks).filter(|(c, _)| c.is_alphanumeric());
    let (all, meant) = letters.fold((0, 0), |(all, meant), (_, mark)| (all + 1, meant + usize::from(*mark)));
    all > 12 && meant * 10 >= all * 9
}

/// Returns at most `room` columns of the line, starting shortly before the first mark.
fn window(source: &str, marks: &[bool], room: usize, cut: &str) -> (String, Vec<bool>) {
    const BEFORE: usize = 8;
    if width(source) <= room {
        return (source.to_owned(), marks.to_vec());
    }
    let chars: Vec<char> = source.chars().collect();
    let first = marks.iter().position(|m| *m).unwrap_or(0);
    let last = marks.iter().rposition(|m| *m).map_or(0, |i| i + 1);
    // From the beginning if that includes the values, otherwise around the first of them.
    let start = if last < room { 0 } else { first.saturating_sub(BEFORE) };
    let mut text = String::new();
    let mut kept = Vec::new();
    if start > 0 {
        text.push_str(cut);
        kept.push(false);
    }
    for (at, c) in chars.iter().enumerate().skip(start) {
        if width(&text) + width(c.encode_utf8(&mut [0; 4])) + width(cut) > room {
            text.push_str(cut);
            kept.push(false);
            break;
        }
        text.push(*c);
        kept.push(marks.get(at).copied().unwrap_or(false));
    }
    (text, kept)
}

fn underline(text: &str, marks: &[bool]) -> String {
    let mut out = String::new();
    for (c, mark) in text.chars().zip(marks) {
        let sign = if *mark { "^" } else { " " };
        out.push_str(&sign.repeat(width(c.encode_utf8(&mut [0; 4]))));
    }
    out.trim_end().to_owned()
}
