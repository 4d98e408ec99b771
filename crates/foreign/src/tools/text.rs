//! A text by lines, as the readers of tools' outputs walk it: where code blocks end and which headings stand above.
//! A report is not a log: the same output may be quoted, indented, fenced, coloured, or cut in the middle.

use crate::model::{Document, Unread};
use std::borrow::Cow;

/// One line.
pub struct Line<'a> {
    /// From 1.
    pub number: u32,
    /// Offset of its first byte in the source.
    start: usize,
    /// Without indentation, quote marks of Markdown, and colours.
    pub text: Cow<'a, str>,
    /// Its code block: lines of one block have the same number.
    fence: Option<u32>,
    /// The line is a heading or a fence itself.
    border: bool,
    headings: usize,
}

/// The whole text.
pub struct Text<'a> {
    pub source: &'a str,
    lines: Vec<Line<'a>>,
    headings: Vec<Vec<String>>,
    /// Of each line, where an output that begins there must end. Each output asks, so that looking it up by walking
    /// would take the square of the lines of a long log.
    ends: Vec<usize>,
}

impl<'a> Text<'a> {
    pub fn new(source: &'a str) -> Self {
        let mut text = Self { source, lines: Vec::new(), headings: vec![Vec::new()], ends: Vec::new() };
        let (mut open, mut blocks, mut start) = (None::<&str>, 0u32, 0usize);
        let mut above: Vec<(usize, String)> = Vec::new();
        for (index, with_end) in source.split_inclusive('\n').enumerate() {
            let raw = with_end.trim_end_matches(['\n', '\r']);
            let clean = clean(raw);
            let mark = ["```", "~~~"].into_iter().find(|mark| clean.starts_with(mark));
            let mut border = false;
            match (open, mark) {
                (Some(opened), Some(mark)) if opened == mark => (open, border) = (None, true),
                (None, Some(mark)) => {
                    (open, border) = (Some(mark), true);
                    blocks += 1;
                }
                (None, None) => {
                    if let Some((level, title)) = heading(&clean) {
                        above.retain(|(other, _)| *other < level);
                        above.push((level, title));
                        text.headings.push(above.iter().map(|(_, title)| title.clone()).collect());
                        border = true;
                    }
                }
                _ => {}
            }
            text.lines.push(Line {
                number: u32::try_from(index + 1).unwrap_or(u32::MAX),
                start,
                text: clean,
                fence: open.filter(|_| !border).map(|_| blocks),
                border,
                headings: text.headings.len() - 1,
            });
            start += with_end.len();
        }
        text.ends = ends(&text.lines);
        text
    }

    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The trimmed line; beyond the end: empty.
    pub fn at(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", |line| line.text.as_ref())
    }

    /// Line number from 1.
    pub fn number(&self, at: usize) -> u32 {
        self.lines.get(at).map_or(0, |line| line.number)
    }

    pub fn headings(&self, at: usize) -> Vec<String> {
        self.lines.get(at).and_then(|line| self.headings.get(line.headings)).cloned().unwrap_or_default()
    }

    /// Where an output that begins here must end: its code block's end, or the next heading or code block.
    pub fn end(&self, at: usize) -> usize {
        self.ends.get(at).copied().unwrap_or(at)
    }

    /// The offset of the line's first byte.
    pub fn start(&self, at: usize) -> usize {
        self.lines.get(at).map_or(self.source.len(), |line| line.start)
    }

    /// The index of the line that holds this byte.
    pub fn index_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    /// The command that was typed for the output that begins here, if it is quoted directly above.
    pub fn command(&self, at: usize, name: &str) -> Option<(String, u32)> {
        (at.saturating_sub(4)..at).rev().find_map(|i| {
            let line = self.at(i);
            // A prompt may begin with user, host, and folder.
            let line =
                line.split_once("$ ").filter(|(from, _)| from.contains('@')).map_or(line, |(_, to)| to);
            // A sentence may quote it: the command is `ab -n 100 ...`.
            let quoted = line.split('`').skip(1).step_by(2).find(|code| code.starts_with(name));
            let line = quoted.unwrap_or(line);
            let typed = line.trim_start_matches(['$', '>', '#', '%', ' ']);
            let program = |word: &str| {
                let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
                // `bombardier-windows-amd64.exe`, `wrk.exe`.
                let rest = file.strip_prefix(name).unwrap_or("-");
                let of_platform = ["-windows", "-linux", "-darwin", "_windows", "_linux", "_darwin"];
                file == name || rest == ".exe" || of_platform.iter().any(|system| rest.starts_with(system))
            };
            // `docker run --rm image -c 10`: the image is named as the tool.
            let image = ["docker run", "podman run"].iter().any(|run| typed.starts_with(run));
            let image = typed
                .split_whitespace()
                .position(|word| image && program(word.split(':').next().unwrap_or(word)));
            let typed = match image {
                Some(at) => typed.split_whitespace().skip(at).collect::<Vec<_>>().join(" "),
                None => typed.to_owned(),
            };
            let found = program(typed.split_whitespace().next()?);
            // A sentence can begin with the tool's name as well: a command has options or an address.
            (found && (typed.contains(" -") || typed.contains("://"))).then(|| (typed, self.number(i)))
        })
    }
}

/// Notes what looks like a result and is none.
pub fn unread(document: &mut Document, line: u32, what: impl Into<String>, why: impl Into<String>) {
    let what: String = what.into().chars().take(120).collect();
    document.unread.push(Unread { line, what, why: why.into() });
}

/// From the last line upwards: a line of a code block ends with its block, another one at the next border.
fn ends(lines: &[Line]) -> Vec<usize> {
    let mut ends = vec![lines.len(); lines.len()];
    let mut border = lines.len();
    for at in (0..lines.len().saturating_sub(1)).rev() {
        let (own, next) = (&lines[at], &lines[at + 1]);
        if next.border {
            border = at + 1;
        }
        ends[at] = match own.fence {
            Some(_) if next.fence == own.fence => ends[at + 1],
            Some(_) => at + 1,
            None => border,
        };
    }
    ends
}

fn clean(raw: &str) -> Cow<'_, str> {
    let trimmed = raw.trim_matches([' ', '\t', '>', '\u{feff}', '\u{a0}']).trim_end();
    if !trimmed.contains('\u{1b}') {
        return Cow::Borrowed(trimmed);
    }
    // CSI sequences (ECMA-48): ESC [ parameters, then one letter.
    let mut plain = String::with_capacity(trimmed.len());
    let mut rest = trimmed;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.strip_prefix('[').map_or(after, |code| {
            code.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| code.get(end + 1..).unwrap_or(""))
        });
    }
    plain.push_str(rest);
    Cow::Owned(plain.trim().to_owned())
}

fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?;
    // `# of samples: 3` of autocannon, `# occurrences` of Locust, and `# target 99%` of fortio are figures.
    const COUNTS: [&str; 7] = [
        " of samples:",
        " occurrences",
        " reqs",
        " fails",
        " target ",
        " range, mid point",
        " Socket and IP",
    ];
    if COUNTS.iter().any(|count| title.starts_with(count)) {
        return None;
    }
    let is_one = (1..=6).contains(&level) && title.starts_with([' ', '\t']);
    is_one.then(|| (level, title.trim().trim_end_matches('#').trim_matches([' ', '*', '_']).to_owned()))
}
