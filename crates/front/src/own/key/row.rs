//! What a row of the table says: where its key stands, and what it expects.

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
    ScheduleRow = "schedule_row", "in a row of `schedule`";
    Spike = "spike", "under `spike`";
    Staircase = "staircase", "under `staircase`";
    Find = "find", "under `find`";
    Replay = "replay", "under `replay`";
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
    Timestamp = "timestamp", "under `timestamp`";
    Pause = "pause", "in a pause";
    Normal = "normal", "under `normal`";
    Think = "think", "in a step `think`";
    Group = "group", "in a group";
    Repeat = "repeat", "in a loop";
    While = "while", "in a loop";
    If = "if", "in a condition";
    OncePerUser = "once_per_user", "in a step `once_per_user`";
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

/// A key of one section, as the reader matches it.
pub trait Key: Sized {
    const SECTION: Section;

    /// The key of this name.
    fn of(name: &str) -> Option<Self>;

    fn name(self) -> &'static str;
}
