//! What a text says that users do, as plain data: names are still names, paths are not joined to a target yet, and
//! everything that may turn out wrong knows its place.
//!
//! A front reads its texts into these and complains of what it cannot read. `None`, and [`StepDraft::Spoiled`], stand
//! for what is wrong and was complained of: nothing is made of it, but what stands beside it is still judged.

mod text;

use crate::source::{Complaint, Pos};
use plimsoll_plan::answer::{Pick, Source, Statuses, Subject};
use plimsoll_plan::data::Feeder;
use plimsoll_plan::origin::NamedTarget;
use plimsoll_plan::request::Url;
use plimsoll_plan::script::{Delay, Order};
use plimsoll_plan::stream::Stream;
use std::collections::BTreeMap;
use std::path::PathBuf;
pub use text::{Open, PartDraft, TextDraft};

/// Everything that users do.
#[derive(Debug, Default)]
pub struct ScriptDraft {
    /// Where requests go that do not say it themselves.
    pub target: Option<Url>,
    /// Whether the text names a target, right or wrong.
    pub has_target: bool,
    /// The origins besides the target that have a name.
    pub origins: Vec<OriginDraft>,
    /// Names of fixed values: filled in by the front, so that nothing else may be called so.
    pub constants: Vec<String>,
    /// Values of `${secret.X}` by X.
    pub secrets: BTreeMap<String, String>,
    /// Data files by name.
    pub feeders: BTreeMap<String, FeederDraft>,
    /// Of every request that has none of the same name.
    pub headers: Vec<HeaderDraft>,
    /// Of every request that says nothing of its own.
    pub auth: Option<AuthDraft>,
    pub cookies: bool,
    pub setup: Vec<StepDraft>,
    pub scenarios: Vec<ScenarioDraft>,
    pub teardown: Vec<StepDraft>,
}

/// An origin besides the target.
#[derive(Debug)]
pub struct OriginDraft {
    /// Empty: it has none.
    pub name: String,
    /// What its paths are joined to.
    pub base: Url,
}

impl OriginDraft {
    /// As the plan's draft has it.
    pub fn named_target(&self) -> NamedTarget {
        NamedTarget { name: self.name.clone(), target: self.base.target.clone() }
    }
}

/// One way of using the service.
#[derive(Debug)]
pub struct ScenarioDraft {
    pub name: String,
    pub steps: Vec<StepDraft>,
    /// Least time between the begins of two iterations of a user.
    pub pace: Option<Delay>,
}

/// A data file, used or not.
#[derive(Debug)]
pub struct FeederDraft {
    /// Its columns are those that are used: none yet.
    pub feeder: Feeder,
    /// The columns that it has; `None`: nobody knows before the set-up has written it.
    pub columns: Option<Vec<String>>,
    /// Its mistakes are reported: nobody complains of its columns.
    pub spoiled: bool,
}

/// One thing to do.
#[derive(Debug)]
pub enum StepDraft {
    Request(Box<RequestDraft>),
    Think(Delay),
    Group {
        name: String,
        pos: Pos,
        steps: Vec<StepDraft>,
    },
    Repeat {
        times: Option<TextDraft>,
        steps: Vec<StepDraft>,
    },
    While {
        condition: Option<ConditionDraft>,
        most: Option<u32>,
        steps: Vec<StepDraft>,
    },
    If {
        condition: Option<ConditionDraft>,
        then: Vec<StepDraft>,
        otherwise: Vec<StepDraft>,
    },
    Once(Vec<StepDraft>),
    /// Ways with their weights.
    Choose {
        ways: Vec<(Option<f64>, Vec<StepDraft>)>,
        order: Order,
    },
    /// One after the other: a later value may use an earlier one.
    Set(Vec<(NameDraft, Option<TextDraft>)>),
    Append(AppendDraft),
    /// Rows of a file that the load reads; only in the set-up.
    Generate {
        pos: Pos,
        times: Option<TextDraft>,
        rows: Option<AppendDraft>,
    },
    Parallel(Vec<Vec<StepDraft>>),
    /// Wrong as a whole; these names it would have set.
    Spoiled(Vec<NameDraft>),
}

/// A name that a step gives a value to.
#[derive(Debug, Clone)]
pub struct NameDraft {
    pub name: String,
    pub pos: Pos,
}

/// A request with everything that belongs to it.
#[derive(Debug)]
pub struct RequestDraft {
    pub pos: Pos,
    pub method: String,
    pub path: Option<PathDraft>,
    /// Whose path it is; `None`: the target's, unless it is a whole URL.
    pub origin: Option<NameDraft>,
    pub query: Vec<QueryDraft>,
    pub headers: Vec<HeaderDraft>,
    pub auth: Option<AuthDraft>,
    pub body: Option<BodyDraft>,
    /// As its author chose it; `None`: method and path.
    pub name: Option<NameDraft>,
    pub tags: Vec<(String, String)>,
    /// From the send; `None`: the plan's.
    pub timeout_ns: Option<u64>,
    pub redirects: u8,
    pub go_on_after_failure: bool,
    pub expect: Option<Statuses>,
    pub checks: Vec<CheckDraft>,
    pub extracts: Vec<ExtractDraft>,
    pub stream: Option<StreamDraft>,
    /// Something in it is wrong, and that is reported.
    pub spoiled: bool,
}

/// Where a request goes: a path that is joined to the target, or a whole URL.
#[derive(Debug)]
pub struct PathDraft {
    /// As written: nothing is escaped yet.
    pub text: TextDraft,
    /// Blanks and values are percent-encoded.
    pub encode: bool,
    pub pos: Pos,
}

/// A field of the query.
#[derive(Debug)]
pub struct QueryDraft {
    pub key: String,
    /// Escaped as it is sent.
    pub value: TextDraft,
    pub pos: Pos,
}

/// A header in the order sent.
#[derive(Debug)]
pub struct HeaderDraft {
    pub name: String,
    pub value: TextDraft,
    pub pos: Pos,
}

/// Who asks.
#[derive(Debug)]
pub enum AuthDraft {
    /// Nobody: neither the file nor a URL says it for this request.
    None,
    /// The value of the header `Authorization`.
    Header(TextDraft),
    Basic {
        user: TextDraft,
        password: TextDraft,
        pos: Pos,
    },
}

/// A body with the media type that it implies.
#[derive(Debug)]
pub struct BodyDraft {
    pub text: TextDraft,
    pub media_type: Option<String>,
}

/// What an answer must be.
#[derive(Debug)]
pub struct CheckDraft {
    pub name: Option<NameDraft>,
    pub subjects: Vec<SubjectDraft>,
}

/// What a check looks at, and how its name begins if it has none; a rule ends it.
#[derive(Debug)]
pub struct SubjectDraft {
    pub words: String,
    pub on: On,
}

/// See [`Subject`].
#[derive(Debug)]
pub enum On {
    /// Nothing in it can be filled in.
    Fixed(Subject),
    Header {
        name: String,
        rule: RuleDraft,
    },
    Body(RuleDraft),
    Json {
        path: String,
        rule: RuleDraft,
    },
}

/// See [`plimsoll_plan::answer::Rule`].
#[derive(Debug)]
pub enum RuleDraft {
    /// Nothing in it can be filled in.
    Fixed(plimsoll_plan::answer::Rule),
    Equals(TextDraft),
    Differs(TextDraft),
    Contains(TextDraft),
    Lacks(TextDraft),
    OneOf(Vec<TextDraft>),
}

/// A value taken from an answer.
#[derive(Debug)]
pub struct ExtractDraft {
    pub into: NameDraft,
    pub from: Option<(Source, Pick)>,
    pub default: Option<TextDraft>,
}

/// A stream of events, which begins with the answer.
#[derive(Debug)]
pub struct StreamDraft {
    pub pos: Pos,
    /// Its own `while_open` is empty.
    pub stream: Stream,
    pub beside: Vec<StepDraft>,
}

/// A question about a value.
#[derive(Debug)]
pub struct ConditionDraft {
    pub pos: Pos,
    pub left: TextDraft,
    /// The left side was fixed text from the beginning, in front of this operator: it would be decided before the load,
    /// and mostly somebody forgot the `${}`.
    pub is_fixed_before: Option<&'static str>,
    /// Whether there is a value is what is asked: its name may be used in front of the step that sets it.
    pub asks_for_being: bool,
    /// What is wrong with the rest, told behind what is wrong on the left.
    pub wrong: Vec<Complaint>,
    pub rule: Option<RuleDraft>,
}

/// One row behind the others of a file.
#[derive(Debug)]
pub struct AppendDraft {
    /// As written, for diagnostics.
    pub file: String,
    pub pos: Pos,
    /// Where it lies; or why it may not be written, told once its columns are judged.
    pub path: Result<PathBuf, Complaint>,
    pub columns: Vec<(String, TextDraft)>,
    /// A run begins the file anew, whoever else writes to it.
    pub anew: bool,
}
