//! What made the verdict so, and what to do next, in sentences for somebody who sees such a report for the first time:
//! a page, the terminal, Markdown and `--json` have the same ones.
//!
//! What is told and in which order is decided in [`plimsoll_analysis::next`]. Commands stand between backticks, as in
//! the advice of cautions.

mod json;
mod outage;
mod reasons;
mod steps;

pub(crate) use json::NextRows;
pub(crate) use reasons::with_load;
pub(crate) use steps::relief;

use crate::anchor::Anchor;
use crate::document;
use crate::format::chosen_s;
use plimsoll_analysis::next::Next;
use plimsoll_analysis::summary::Summary;

/// One sentence or two.
pub(crate) struct Hint {
    /// What to do; otherwise why it is so.
    pub is_next: bool,
    /// With code between backticks.
    pub text: String,
    /// The command of a step, which follows its text.
    pub command: Option<String>,
    /// What of a page shows it: the first of these anchors that the page has.
    pub shown: &'static [Anchor],
}

impl Hint {
    /// As a document has it.
    pub fn into_block(self, link: Option<(String, &'static str)>) -> document::Hint {
        document::Hint { is_next: self.is_next, text: self.text, command: self.command, link }
    }

    fn with_command(self, command: impl Into<String>) -> Hint {
        Hint { command: Some(command.into()), ..self }
    }

    /// The command between backticks, for programs.
    fn whole_text(&self) -> String {
        match &self.command {
            Some(command) => format!("{} `{command}`", self.text),
            None => self.text.clone(),
        }
    }
}

/// What shows when it was slow.
const COURSE: &[Anchor] = &[Anchor::Timeline, Anchor::Times];
const SYSTEM: &[Anchor] = &[Anchor::System];
const ERRORS: &[Anchor] = &[Anchor::Errors];
const CHECKS: &[Anchor] = &[Anchor::Checks, Anchor::Errors];
const REQUESTS: &[Anchor] = &[Anchor::Requests];
const THRESHOLDS: &[Anchor] = &[Anchor::Thresholds];
const FINDINGS: &[Anchor] = &[Anchor::Findings];
const METHOD: &[Anchor] = &[Anchor::Method];

/// Reasons and steps. `run_file` is what the command to compare names; `None`: the command names an example.
pub(crate) fn hints(s: &Summary, run_file: Option<&str>) -> (Vec<Hint>, Vec<Hint>) {
    let Next { reasons, steps } = Next::of(s);
    let reasons = reasons.iter().map(|reason| reasons::hint(reason)).collect();
    (reasons, steps.iter().map(|step| steps::hint(s, step, run_file)).collect())
}

fn why(text: String, shown: &'static [Anchor]) -> Hint {
    Hint { is_next: false, text, command: None, shown }
}

fn step(text: String, shown: &'static [Anchor]) -> Hint {
    Hint { is_next: true, text, command: None, shown }
}

/// A point in time; the beginning is `0 s`, as other ends are in seconds.
fn instant(at_s: f64) -> String {
    if at_s <= 0.0 { "0 s".into() } else { chosen_s(at_s) }
}

/// A name between backticks: one of its own would end the code.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// As a POSIX shell takes it for one word, without a backtick, which would end the code.
pub(crate) fn shell(path: &str) -> String {
    crate::words::shell_word(path).replace('`', "?")
}

/// With a full stop.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.into() } else { format!("{text}.") }
}

/// With a capital at its beginning; code stays as it is.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
