//! Reasons for the verdict and next steps, in sentences for readers who see such a report for the first time: the page,
//! the terminal, Markdown, and `--json` have the same ones.
//!
//! [`plimsoll_analysis::next`] decides which are reported, and in which order. Commands are in backticks, as in the
//! advice of cautions.

mod json;
mod outage;
mod reasons;
mod steps;

pub(crate) use json::NextRows;
pub(crate) use reasons::with_load;
pub(crate) use steps::relief;

use crate::anchor::Anchor;
use crate::document::{self, Block, Section};
use crate::format::chosen_s;
use plimsoll_analysis::next::Next;
use plimsoll_analysis::summary::Summary;

/// A reason or a next step, in one or two sentences.
pub(crate) struct Hint {
    /// With code in backticks.
    pub text: String,
    /// The command of a step, which follows its text.
    pub command: Option<String>,
    /// Places of the page that show it; the first one that exists is linked.
    pub shown: &'static [Anchor],
}

impl Hint {
    /// Converts it for a document.
    pub fn into_block(self, link: Option<(String, &'static str)>) -> document::Hint {
        document::Hint { text: self.text, command: self.command, link }
    }

    pub fn with_command(self, command: impl Into<String>) -> Hint {
        Hint { command: Some(command.into()), ..self }
    }

    /// The text with its command in backticks, for programs.
    pub fn whole_text(&self) -> String {
        match &self.command {
            Some(command) => format!("{} `{command}`", self.text),
            None => self.text.clone(),
        }
    }
}

/// Places that show when it was slow.
const COURSE: &[Anchor] = &[Anchor::Timeline, Anchor::Times];
const SYSTEM: &[Anchor] = &[Anchor::System];
const ERRORS: &[Anchor] = &[Anchor::Errors];
const CHECKS: &[Anchor] = &[Anchor::Checks, Anchor::Errors];
const REQUESTS: &[Anchor] = &[Anchor::Requests];
const THRESHOLDS: &[Anchor] = &[Anchor::Thresholds];
const FINDINGS: &[Anchor] = &[Anchor::Findings];
const METHOD: &[Anchor] = &[Anchor::Method];

/// Returns reasons and steps. `run_file` is the file in the command that compares; without it, the command names an
/// example.
pub(crate) fn hints(s: &Summary, run_file: Option<&str>) -> (Vec<Hint>, Vec<Hint>) {
    let Next { reasons, steps } = Next::of(s);
    let reasons = reasons.iter().map(|reason| reasons::hint(reason)).collect();
    (reasons, steps.iter().map(|step| steps::hint(s, step, run_file)).collect())
}

/// The sections `Why` and `Next steps` of a report without links.
pub(crate) fn sections(hints: (Vec<Hint>, Vec<Hint>)) -> [Section; 2] {
    let [why, next] = blocks(hints);
    linked_sections(why, next)
}

/// Reasons and steps without links.
pub(crate) fn blocks((reasons, steps): (Vec<Hint>, Vec<Hint>)) -> [Block; 2] {
    let plain = |all: Vec<Hint>| all.into_iter().map(|hint| hint.into_block(None)).collect();
    [Block::Reasons(plain(reasons)), Block::Steps(plain(steps))]
}

/// The sections `Why` and `Next steps` of any reasons and steps.
pub(crate) fn linked_sections(why: Block, next: Block) -> [Section; 2] {
    let section = |id, title, block| Section::new(id, title, vec![block]).indented();
    [section("why", "Why", why), section("next", "Next steps", next)]
}

pub(crate) fn why(text: String, shown: &'static [Anchor]) -> Hint {
    Hint { text, command: None, shown }
}

pub(crate) fn step(text: String, shown: &'static [Anchor]) -> Hint {
    Hint { text, command: None, shown }
}

/// A point in time; the start is `0 s`, because other points are in seconds.
fn instant(at_s: f64) -> String {
    if at_s <= 0.0 { "0 s".into() } else { chosen_s(at_s) }
}

/// A name in backticks; its own backticks would end the code.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// Quoted as one word for a POSIX shell, without backticks, which would end the code.
pub(crate) fn shell(path: &str) -> String {
    crate::words::shell_word(path).replace('`', "?")
}

/// With a period.
pub(crate) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.into() } else { format!("{text}.") }
}

/// With a capital first letter; code stays unchanged.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
