//! The keys of experiment files: the section of each key, what its value must be, and words that users try instead.
//!
//! The reader, its diagnostics, the reference page, and the JSON Schema all use one table, so they know the same keys.

mod row;
mod table;
mod words;

use plimsoll_build::nearest::nearest;
pub use row::{Key, Kind, Row, Section};
pub use table::{TABLE, of};
pub use words::{FIXES, LATER, SYNONYMS};

/// Top-level keys that apply to the whole experiment, so that a variant cannot set them.
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

/// Top-level keys that apply to the whole file, so that a part cannot set them.
pub const OF_THE_FILE: &[&str] = &["name", "parts"];

/// Single values that apply to all runs, so that a list of them spans no axis.
const ONE_FOR_ALL: &[(Section, &str)] = &[
    (Section::Top, "shard"),
    (Section::Load, "step"),
    (Section::Load, "step_duration"),
    (Section::Load, "stop_when"),
    // These two files belong together: most cells of a matrix of both would be wrong.
    (Section::Tls, "certificate"),
    (Section::Tls, "key"),
];

impl Row {
    /// Returns whether a list in place of the single value spans an axis of the matrix.
    pub fn spans(&self) -> bool {
        let has_axes =
            matches!(self.section, Section::Top | Section::Load | Section::Connection | Section::Tls);
        let is_one = ONE_FOR_ALL.contains(&(self.section, self.name))
            || self.section == Section::Top && OF_THE_WHOLE.contains(&self.name);
        has_axes && !is_one && is_single(&self.kind)
    }
}

/// Returns whether no form of the value is a list or a mapping, so that a list has no other meaning.
fn is_single(kind: &Kind) -> bool {
    match kind {
        Kind::Text | Kind::Written | Kind::Whole | Kind::Truth | Kind::Time | Kind::Rate => true,
        Kind::Words(_) | Kind::Only(_) => true,
        Kind::Either(kinds) => kinds.iter().all(is_single),
        _ => false,
    }
}

/// The request keys that are methods.
pub const METHODS: &[&str] = &["get", "post", "put", "patch", "delete", "head", "options"];

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Request,
    Grpc,
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
    Connect,
    Send,
    Expect,
    Ping,
    Close,
}

impl Step {
    /// Returns the section of its keys.
    pub const fn section(self) -> Section {
        match self {
            Step::Request => Section::Request,
            Step::Grpc => Section::GrpcCall,
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
            Step::Connect => Section::Connect,
            Step::Send => Section::Send,
            Step::Expect => Section::Expect,
            Step::Ping => Section::Ping,
            Step::Close => Section::Close,
        }
    }
}

/// The kinds of steps, by the key that identifies each. `think` comes last because it is also a key of a request.
pub const STEPS: &[(&str, Step)] = &[
    ("get", Step::Request),
    ("post", Step::Request),
    ("put", Step::Request),
    ("patch", Step::Request),
    ("delete", Step::Request),
    ("head", Step::Request),
    ("options", Step::Request),
    ("request", Step::Request),
    ("grpc", Step::Grpc),
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
    ("connect", Step::Connect),
    ("send", Step::Send),
    ("expect", Step::Expect),
    ("ping", Step::Ping),
    ("close", Step::Close),
    ("think", Step::Think),
];

/// Returns the row of a key.
pub fn find(section: Section, name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.section == section && row.name == name)
}

/// Guesses the key that an unknown one was meant to be.
pub fn meant(section: Section, wrong: &str) -> Option<&'static str> {
    if section == Section::Top && wrong == "requests" {
        return Some("scenarios");
    }
    match SYNONYMS.iter().find(|(s, name, _)| *s == section && *name == wrong) {
        Some((_, _, ours)) => Some(ours),
        None => nearest(wrong, names(section)),
    }
}

/// Returns the names of all keys of a section.
pub fn names(section: Section) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |row| row.section == section).map(|row| row.name)
}
