//! A line of text that knows its width: pieces with a style, colored only when written.
//!
//! Names come from the user and reasons from the network, so characters that could move the cursor or reverse the text
//! are replaced here, in the only place that every line passes through.

use crate::style::{Look, Palette, TextStyle};
use plimsoll_plan::phrase::is_harmful;

/// A line of styled pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(TextStyle, String)>,
}

impl Line {
    pub fn new() -> Line {
        Line::default()
    }

    pub fn of(ink: TextStyle, text: &str) -> Line {
        Line::new().ink(ink, text)
    }

    /// Appends text in the default style.
    pub fn text(self, text: &str) -> Line {
        self.ink(TextStyle::Plain, text)
    }

    /// Appends text in a style.
    pub fn ink(mut self, ink: TextStyle, text: &str) -> Line {
        if !text.is_empty() {
            self.pieces.push((ink, clean(text)));
        }
        self
    }

    /// Appends another line's pieces.
    pub fn line(mut self, other: Line) -> Line {
        self.pieces.extend(other.pieces);
        self
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }

    /// Appends blanks up to column `columns`.
    pub fn pad(self, columns: usize) -> Line {
        let missing = columns.saturating_sub(self.width());
        self.text(&" ".repeat(missing))
    }

    /// Inserts blanks in front, so that the line ends at column `columns`.
    pub fn pad_left(self, columns: usize) -> Line {
        let missing = columns.saturating_sub(self.width());
        Line::new().text(&" ".repeat(missing)).line(self)
    }

    /// Truncates the line to `columns`, with a mark.
    pub fn cut(self, columns: usize, look: &Look) -> Line {
        if self.width() <= columns {
            return self;
        }
        let mut room = columns.saturating_sub(1);
        let mut out = Line::new();
        for (ink, text) in self.pieces {
            let kept = prefix(&text, room);
            room -= width(kept);
            let whole = kept.len() == text.len();
            out = out.ink(ink, kept);
            if !whole {
                break;
            }
        }
        if columns > 0 { out.ink(TextStyle::Dim, look.signs().cut) } else { out }
    }

    /// Appends the line to `out`, without trailing blanks or a line break.
    pub fn write(&self, look: &Look, out: &mut String) {
        let palette = Palette::of(look);
        let used = self.pieces.iter().rposition(|(_, text)| !text.trim_end().is_empty()).map_or(0, |i| i + 1);
        for (at, (ink, text)) in self.pieces[..used].iter().enumerate() {
            let text = if at + 1 == used { text.trim_end() } else { text };
            if look.unicode {
                palette.paint(*ink, text, out);
            } else {
                palette.paint(*ink, &ascii(text), out);
            }
        }
    }
}

/// Returns lines as text, each with its line break.
pub fn write_all(lines: &[Line], look: &Look) -> String {
    let mut out = String::new();
    for line in lines {
        line.write(look, &mut out);
        out.push('\n');
    }
    out
}

/// A blank at which lines are not broken.
const KEPT: char = '\u{e000}';

/// Wraps text between words into lines of at most `columns`; a longer word is broken inside.
///
/// Text in backticks is meant for copying, so it stays on one line if possible. A longer command gets its own lines,
/// each but the last with a trailing `\`, which a shell skips, and its words are never broken, even if one is wider
/// than the window.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let text = kept(&clean(text));
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        if width(word) > columns && word.contains(KEPT) {
            match command(word, columns) {
                Some(pieces) => {
                    if lines.last().is_some_and(String::is_empty) {
                        lines.pop();
                    }
                    lines.extend(pieces);
                }
                None => word.split(KEPT).for_each(|part| put(&mut lines, part, columns)),
            }
        } else {
            put(&mut lines, word, columns);
        }
    }
    lines.into_iter().map(|line| line.replace(KEPT, " ")).collect()
}

/// Appends a word to the last line, or to a new one.
fn put(lines: &mut Vec<String>, mut word: &str, columns: usize) {
    let last = lines.len() - 1;
    let blank = usize::from(!lines[last].is_empty());
    if width(&lines[last]) + blank + width(word) <= columns {
        if blank == 1 {
            lines[last].push(' ');
        }
        lines[last].push_str(word);
        return;
    }
    if blank == 1 {
        lines.push(String::new());
    }
    while width(word) > columns {
        // A wide letter never fits into a one-column line, so it is accepted.
        let fits = prefix(word, columns).len();
        let head = if fits > 0 { fits } else { word.chars().next().map_or(word.len(), char::len_utf8) };
        let last = lines.len() - 1;
        lines[last].push_str(&word[..head]);
        lines.push(String::new());
        word = &word[head..];
    }
    let last = lines.len() - 1;
    lines[last].push_str(word);
}

/// Replaces blanks that must hold together with [`KEPT`].
fn kept(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick makes their number odd: then none of them is markup.
    let has_code = !parts.len().is_multiple_of(2);
    let part = |(at, part): (usize, &&str)| match has_code && at % 2 == 1 {
        true => part.replace(' ', &KEPT.to_string()),
        false => (*part).to_owned(),
    };
    parts.iter().enumerate().map(part).collect::<Vec<String>>().join("`")
}

/// First words of shell commands.
const COMMANDS: [&str; 7] = ["plimsoll", "curl", "sysctl", "ulimit", "iptables", "ss", "taskset"];

/// Returns a command that is wider than a line as lines of whole shell words; `None` if it is not a command.
fn command(word: &str, columns: usize) -> Option<Vec<String>> {
    let (front, rest) = word.split_once('`')?;
    let (body, after) = rest.split_once('`')?;
    let words = shell_words(body);
    let first = *words.first()?;
    if !COMMANDS.contains(&first) && !first.starts_with("--") {
        return None;
    }
    let mut lines = vec![format!("{front}`{first}")];
    for (at, word) in words.iter().enumerate().skip(1) {
        let word = if at + 1 == words.len() { format!("{word}`{after}") } else { (*word).to_owned() };
        let last = lines.len() - 1;
        // The sign at the end of the line needs two columns.
        if width(&lines[last]) + 1 + width(&word) + 2 <= columns {
            lines[last] = format!("{} {word}", lines[last]);
        } else {
            lines[last].push_str(" \\");
            lines.push(word);
        }
    }
    if words.len() == 1 {
        lines[0].push_str(&format!("`{after}"));
    }
    Some(lines)
}

/// Returns a command as lines of whole shell words, each but the last with a trailing `\`, if it does not fit on one.
pub fn command_lines(text: &str, columns: usize) -> Vec<String> {
    let text = clean(text);
    let lines = match width(&text) > columns {
        false => None,
        true => command(&format!("`{}`", text.replace(' ', &KEPT.to_string())), columns),
    };
    let bare = |line: String| line.replace('`', "").replace(KEPT, " ");
    lines.map_or_else(|| vec![text], |lines| lines.into_iter().map(bare).collect())
}

/// Returns the words of a command: blanks in quotes do not separate them.
fn shell_words(text: &str) -> Vec<&str> {
    let (mut words, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == KEPT => {
                words.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            None => {}
        }
    }
    words.push(&text[from..]);
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Joins facts with the separator `between`, and starts a new line if the next one would not fit.
pub fn flow(facts: Vec<Line>, columns: usize, look: &Look) -> Vec<Line> {
    let between = look.signs().between;
    let mut lines: Vec<Line> = Vec::new();
    for fact in facts {
        // A fact of one style is prose and may be broken between words; others are values and are truncated.
        if let (true, [(ink, text)]) = (fact.width() > columns, fact.pieces.as_slice()) {
            lines.extend(wrap(text, columns).iter().map(|part| Line::of(*ink, part)));
            continue;
        }
        let fact = fact.cut(columns, look);
        match lines.last_mut() {
            Some(last) if last.width() + width(between) + fact.width() <= columns => {
                *last = std::mem::take(last).ink(TextStyle::Dim, between).line(fact);
            }
            _ => lines.push(fact),
        }
    }
    lines
}

/// Returns the number of columns of a text on a terminal.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns 0 for combining marks and 2 for East Asian wide letters and emoji (Unicode Standard Annex 11, large blocks).
fn char_width(c: char) -> usize {
    match u32::from(c) {
        ..0x300 => 1,
        0x300..=0x36f | 0x1ab0..=0x1aff | 0x200b..=0x200d | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

fn prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += char_width(c);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// Makes foreign text (from a file, a server, or a run file) safe for every form of report: replaces control characters
/// and those that reverse the direction of text.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Returns the same number of columns in ASCII.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'µ' => out.push('u'),
            '–' => out.push('-'),
            '×' => out.push('x'),
            c if c.is_ascii() => out.push(c),
            c => out.extend(std::iter::repeat_n('?', char_width(c))),
        }
    }
    out
}
