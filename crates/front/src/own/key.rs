//! The vocabulary of experiment files: where each key stands, what it expects, and the words that people try instead.
//!
//! One table feeds the reader, its diagnostics, the reference page and the JSON Schema: none of them can know a key
//! that the others do not.

mod row;
mod table;
mod words;

use crate::nearest::nearest;
pub use row::{Key, Kind, Row, Section};
pub use table::{TABLE, of};
pub use words::{LATER, MENDS, SYNONYMS};

/// Keys of the top level that are about an experiment as a whole: no variant has its own.
pub const OF_THE_WHOLE: &[&str] = &[
    "name",
    "question",
    "parts",
    "variants",
    "time_scale",
    "generators",
    "repeat",
    "cooldown",
    "min_duration",
    "trim_to_steady_state",
    "stop_on_miss",
    "expect",
    "find",
    "seed",
];

/// Keys of the top level that are about a file as a whole: no part has its own.
pub const OF_THE_FILE: &[&str] = &["name", "parts"];

/// Single values that are one for all runs, so that a list in their place spans nothing.
const ONE_FOR_ALL: &[(Section, &str)] = &[
    (Section::Top, "shard"),
    (Section::Load, "step"),
    (Section::Load, "step_duration"),
    (Section::Load, "stop_when"),
    // Two files that belong together: of a matrix of both, most cells would be wrong.
    (Section::Tls, "certificate"),
    (Section::Tls, "key"),
];

impl Row {
    /// Whether a list in place of its single value spans an axis of the matrix.
    pub fn spans(&self) -> bool {
        let has_axes =
            matches!(self.section, Section::Top | Section::Load | Section::Connection | Section::Tls);
        let is_one = ONE_FOR_ALL.contains(&(self.section, self.name))
            || self.section == Section::Top && OF_THE_WHOLE.contains(&self.name);
        has_axes && !is_one && is_single(&self.kind)
    }
}

/// Neither a list nor a mapping in any of its forms: there a list has no meaning of its own.
fn is_single(kind: &Kind) -> bool {
    match kind {
        Kind::Text | Kind::Written | Kind::Whole | Kind::Truth | Kind::Time | Kind::Rate => true,
        Kind::Words(_) | Kind::Only(_) => true,
        Kind::Either(kinds) => kinds.iter().all(is_single),
        _ => false,
    }
}

/// The methods among the keys of a request.
pub const METHODS: &[&str] = &["get", "post", "put", "patch", "delete", "head", "options"];

/// A step by what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Request,
    Group,
    Repeat,
    While,
    If,
    OncePerUser,
    Choose,
    Set,
    Append,
    Generate,
    Parallel,
    Think,
}

impl Step {
    /// Where its keys are.
    pub const fn section(self) -> Section {
        match self {
            Step::Request => Section::Request,
            Step::Group => Section::Group,
            Step::Repeat => Section::Repeat,
            Step::While => Section::While,
            Step::If => Section::If,
            Step::OncePerUser => Section::OncePerUser,
            Step::Choose => Section::Choose,
            Step::Set => Section::Set,
            Step::Append => Section::Append,
            Step::Generate => Section::Generate,
            Step::Parallel => Section::Parallel,
            Step::Think => Section::Think,
        }
    }
}

/// What a step can be, by the key that says so. `think` comes last: it is also a key of a request.
pub const STEPS: &[(&str, Step)] = &[
    ("get", Step::Request),
    ("post", Step::Request),
    ("put", Step::Request),
    ("patch", Step::Request),
    ("delete", Step::Request),
    ("head", Step::Request),
    ("options", Step::Request),
    ("request", Step::Request),
    ("group", Step::Group),
    ("repeat", Step::Repeat),
    ("while", Step::While),
    ("if", Step::If),
    ("once_per_user", Step::OncePerUser),
    ("choose", Step::Choose),
    ("set", Step::Set),
    ("append", Step::Append),
    ("generate", Step::Generate),
    ("parallel", Step::Parallel),
    ("think", Step::Think),
];

/// The row of a key.
pub fn find(section: Section, name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.section == section && row.name == name)
}

/// The key that a wrong one was meant for, as far as that can be guessed.
pub fn meant(section: Section, wrong: &str) -> Option<&'static str> {
    match SYNONYMS.iter().find(|(s, name, _)| *s == section && *name == wrong) {
        Some((_, _, ours)) => Some(ours),
        None => nearest(wrong, names(section)),
    }
}

/// All names of a section.
pub fn names(section: Section) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |row| row.section == section).map(|row| row.name)
}
