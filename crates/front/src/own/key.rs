//! The vocabulary of experiment files: where each key stands, what it expects, and the words that people try instead.
//!
//! One table feeds the reader, its diagnostics, the reference page and the JSON Schema: none of them can know a key
//! that the others do not.

mod table;
mod words;

use crate::nearest::nearest;
pub use table::TABLE;
pub use words::{LATER, MENDS, SYNONYMS};

macro_rules! sections {
    ($($variant:ident = $id:literal, $name:literal;)*) => {
        /// Where a key may stand.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Section { $(#[doc = $name] $variant,)* }

        impl Section {
            /// All of them, in the order in which a manual tells them.
            pub const ALL: &'static [Section] = &[$(Section::$variant,)*];

            /// How a sentence names the place.
            pub const fn name(self) -> &'static str { match self { $(Section::$variant => $name,)* } }

            /// The name of its definition in the JSON Schema.
            pub const fn id(self) -> &'static str { match self { $(Section::$variant => $id,)* } }
        }
    };
}

sections! {
    Top = "experiment", "at the top level";
    Load = "load", "under `load`";
    Stage = "stage", "in a stage";
    LoadRow = "load_row", "in a row of `rows`";
    Spike = "spike", "under `spike`";
    Ladder = "load_steps", "under `steps` of `load`";
    Find = "find", "under `find`";
    Recorded = "recorded", "under `recorded`";
    ScenarioLoad = "scenario_load", "under the `load` of a scenario";
    Scenario = "scenario", "in a scenario";
    Request = "request", "in a request";
    Line = "request_line", "under `request`";
    Part = "part", "in a part of `multipart`";
    Auth = "auth", "under `auth`";
    Basic = "basic", "under `basic`";
    Check = "check", "in a check";
    Rule = "rule", "in a rule";
    Hash = "hash", "under `hash`";
    Extract = "extraction", "in an extraction";
    Stream = "stream", "under `stream`";
    Sequence = "sequence", "under `sequence`";
    MadeAt = "made_at", "under `made_at`";
    Pause = "pause", "in a pause";
    Normal = "normal", "under `normal`";
    Think = "think", "in a step `think`";
    Group = "group", "in a group";
    Repeat = "repeat", "in a loop";
    While = "while", "in a loop";
    If = "if", "in a condition";
    Once = "once", "in a step `once`";
    Choose = "choose", "in a choice";
    Way = "way", "in a way of a choice";
    Set = "set", "in a step `set`";
    Append = "append", "in a step `append`";
    AppendTo = "append_to", "under `append`";
    Generate = "generate", "in a step `generate`";
    GenerateRows = "generate_rows", "under `generate`";
    Parallel = "parallel", "in a step `parallel`";
    Feeder = "feeder", "in a data file";
    Connection = "connection", "under `connection`";
    Tls = "tls", "under `tls`";
    Threshold = "threshold", "in a threshold";
    Monitor = "monitor", "in a monitor";
    MonitorProcess = "monitor_process", "under `process` of a monitor";
    MonitorCgroup = "monitor_cgroup", "under `cgroup` of a monitor";
    MonitorNginx = "monitor_nginx", "under `nginx` of a monitor";
    MonitorPrometheus = "monitor_prometheus", "under `prometheus` of a monitor";
}

/// What a value may be, for the JSON Schema; the reader judges more closely.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text; a number needs quotes.
    Text,
    /// Text, a number or a truth value, taken as written.
    Written,
    Whole,
    Truth,
    /// `250ms`
    Time,
    /// `100/s` or a number
    Rate,
    /// Anything at all.
    Any,
    /// One of these words.
    Words(&'static [&'static str]),
    /// This text or number, and no other.
    Only(&'static str),
    /// A mapping with the keys of a section.
    Keys(Section),
    /// A mapping whose keys are names of the author's choice.
    Named(&'static Kind),
    /// At least one.
    List(&'static Kind),
    Either(&'static [Kind]),
    /// A list of steps.
    Steps,
    /// A mapping of the limits of [`plimsoll_plan::limit::TABLE`].
    Limits,
    /// The keys of a request, and how often it is sent.
    GeneratedRequest,
    /// The keys of the top level that a variant may set anew.
    Variant,
    /// The keys of the top level that a part may set anew.
    Part,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub section: Section,
    pub name: &'static str,
    /// What its value is, with an example, as it follows behind the word "expected".
    pub expects: &'static str,
    pub kind: Kind,
}

/// Keys of the top level that are about an experiment as a whole: no variant has its own.
pub const OF_THE_WHOLE: &[&str] = &[
    "name",
    "question",
    "parts",
    "variants",
    "scale",
    "generators",
    "repeat",
    "cool_down",
    "least",
    "steady",
    "end_rows",
    "expect",
    "find",
    "seed",
];

/// Keys of the top level that are about a file as a whole: no part has its own.
pub const OF_THE_FILE: &[&str] = &["name", "parts"];

/// Single values that are one for all runs, so that a list in their place spans nothing.
const ONE_FOR_ALL: &[(Section, &str)] = &[
    (Section::Top, "share"),
    (Section::Load, "step"),
    (Section::Load, "every"),
    (Section::Load, "until"),
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

/// What a step can be, by the key that says so. `think` comes last: it is also a key of a request.
pub const STEPS: &[(&str, Section)] = &[
    ("get", Section::Request),
    ("post", Section::Request),
    ("put", Section::Request),
    ("patch", Section::Request),
    ("delete", Section::Request),
    ("head", Section::Request),
    ("options", Section::Request),
    ("request", Section::Request),
    ("group", Section::Group),
    ("repeat", Section::Repeat),
    ("while", Section::While),
    ("if", Section::If),
    ("once", Section::Once),
    ("choose", Section::Choose),
    ("set", Section::Set),
    ("append", Section::Append),
    ("generate", Section::Generate),
    ("parallel", Section::Parallel),
    ("think", Section::Think),
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
