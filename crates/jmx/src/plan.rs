//! A test plan: everything that runs, in the order in which JMeter runs it.
//!
//! Disabled elements are gone, and Include and Module Controllers are replaced by what they refer to. Each sampler has
//! its scope: the effective elements in JMeter's order (`TestCompiler`). Elements of the plan itself belong to each
//! thread group, after its own.
//!
//! Several samplers share an element ([`std::sync::Arc`]). State that an element keeps is identified by its [`Id`].

mod config;
mod control;
mod http;
mod listen;
mod process;
mod socket;
mod verify;

pub use config::{
    AuthManager, Authorization, CacheManager, Config, Cookie, CookieManager, Counter, Csv, DnsManager,
    HostEntry, Mechanism, RandomVariable, ShareMode, UserParameters,
};
pub use control::{Controller, Node, NodeKind, Quota};
pub use http::{Argument, Encoding, FilePart, Http, Proxy, Resources};
pub use listen::{Columns, ResultFile, ResultSaver};
pub use process::{
    Extractor, Field, Match, PostProcessor, PreProcessor, Replacement, Rewriting, Script, Subject,
    ThroughputMode, Timer,
};
pub use socket::{Socket, SocketAction, SocketMessage, SocketUrl};
pub use verify::{Assertion, Comparison, Pattern, ResponseField, SizeField};

use crate::text::{Pos, Text};
use plimsoll_plan::link::TlsFiles;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Number of an element in the plan. An element that an Include or Module Controller repeats has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Id(pub u32);

/// What every element has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    pub id: Id,
    /// Its name, with variables: the label of a sampler.
    pub name: Text,
    /// Names from the test plan to the element, as written, separated by ` > `.
    pub path: Arc<str>,
    pub pos: Pos,
}

/// An element with its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Element<T> {
    pub info: Info,
    pub kind: T,
}

/// Shared elements.
pub type Elements<T> = Vec<Arc<Element<T>>>;

/// A test plan.
#[derive(Debug, Clone, Default)]
pub struct TestPlan {
    pub name: String,
    /// Names of the files that it was read from, for messages.
    pub files: Vec<String>,
    /// The folder of the plan: relative names of data files begin here.
    pub folder: PathBuf,
    /// Properties of the run, from `-J`, `-G`, and property files: what `__P` and `__property` read.
    pub properties: BTreeMap<String, String>,
    /// Whether a function or a script may change them during the run.
    pub changes_properties: bool,
    /// User-defined variables of the plan and of all `User Defined Variables` elements, in their order. JMeter
    /// evaluates them once, before the first thread: a later one sees earlier ones, except within one element.
    pub variables: Vec<Variable>,
    /// Whether thread groups run one after another.
    pub is_serial: bool,
    /// Whether tearDown groups also run after the test was stopped.
    pub tears_down_on_stop: bool,
    /// The client certificates of its key store.
    pub tls_files: TlsFiles,
    /// Thread groups in their order.
    pub groups: Vec<Group>,
}

/// A user-defined variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The element that defines it.
    pub owner: Id,
    pub name: Text,
    pub value: Text,
}

/// When a thread group runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Before all others, to its end.
    SetUp,
    #[default]
    Main,
    /// After all others.
    TearDown,
}

/// What a failed sample does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    #[default]
    Continue,
    StartNextLoop,
    StopThread,
    StopTest,
    StopTestNow,
    /// Start the next iteration of the innermost loop; only of a Result Status Action Handler, as the next.
    StartNextIteration,
    BreakLoop,
}

/// A thread group.
#[derive(Debug, Clone)]
pub struct Group {
    pub info: Info,
    /// Its name with variables replaced: part of each thread's name, `NAME 1-1`.
    pub title: String,
    pub phase: Phase,
    /// Number among the groups of its phase, starting at 1, as in names of threads.
    pub number: u32,
    pub on_error: OnError,
    /// Whether cookies, cached responses, and connections stay from one iteration to the next.
    pub is_same_user: bool,
    pub load: GroupLoad,
    pub nodes: Vec<Node>,
    /// Elements whose state moves on at the start of each iteration.
    pub at_iteration: Elements<Config>,
}

/// The load of a thread group, as numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupLoad {
    /// A plain thread group.
    Threads(Threads),
    /// The number of threads over time: Ultimate, Stepping, and Concurrency Thread Groups. Threads repeat until they
    /// are stopped, or until their loops are done.
    Profile {
        /// Threads over time.
        users: plimsoll_plan::load::Profile,
        loops: Option<u64>,
    },
    /// Iterations that begin at a rate: Arrivals, Free-Form Arrivals, and Open Model Thread Groups.
    Arrivals {
        /// Per second, over time.
        rate_per_s: plimsoll_plan::load::Profile,
        /// Whether arrivals are random, as those of the Open Model Thread Group.
        is_random: bool,
        /// The largest number of concurrent threads.
        limit: Option<u32>,
    },
}

/// The numbers of a plain thread group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Threads {
    pub threads: u32,
    /// Thread k (from 0) begins after k times ramp / threads.
    pub ramp_up_ns: u64,
    /// `None`: until the end.
    pub loops: Option<u64>,
    pub delay_ns: u64,
    /// From the end of the delay; `None`: until the loops are done.
    pub duration_ns: Option<u64>,
}

/// A sampler with its scope.
#[derive(Debug, Clone)]
pub struct Sampler {
    pub kind: SamplerKind,
    pub scope: Scope,
}

/// What a sampler does.
#[derive(Debug, Clone)]
pub enum SamplerKind {
    Http(Box<Http>),
    /// A sample without a request, whose response lists variables and properties.
    Debug {
        variables: bool,
        properties: bool,
    },
    /// Flow Control Action: no sample.
    Action {
        action: Action,
        target: Target,
        pause_ms: Text,
    },
    /// JSR223 and BeanShell: only what [`Script`] recognizes.
    Script(Script),
    /// The Java samplers `SleepTest` and `JavaTest`: a sample that only waits.
    Java {
        class: JavaClass,
        arguments: Vec<(Text, Text)>,
    },
    Socket(Box<Socket>),
    /// Sets variables, without a sample (a plugin).
    Set(Vec<(Text, Text)>),
}

/// A known class of the Java Request sampler, or something like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JavaClass {
    /// Its sample ends after `Sleep_Time` plus a part of `Sleep_Mask`, in ms, and always passes.
    SleepTest,
    /// The Dummy Sampler of a plugin: code, message, contents, and times of its sample are arguments.
    Dummy {
        is_success: bool,
        /// Whether it lasts as long as its sample says.
        waits: bool,
    },
    /// As `SleepTest`; its label, code, message, and success are also arguments.
    JavaTest,
}

/// The action of a Flow Control Action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Stop,
    Pause,
    StopNow,
    /// Start the next iteration of the thread.
    RestartLoop,
    StartNextLoop,
    BreakLoop,
}

/// What `Stop` and `StopNow` apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Thread,
    Test,
}

/// The elements in scope of a sampler, in the order in which they run.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Merged from the inside: an inner header hides outer ones of the same name, regardless of case.
    pub headers: Vec<Header>,
    /// The outermost manager applies, as in JMeter.
    pub cookies: Option<Arc<Element<CookieManager>>>,
    pub auth: Option<Arc<Element<AuthManager>>>,
    pub cache: Option<Arc<Element<CacheManager>>>,
    pub dns: Option<Arc<Element<DnsManager>>>,
    /// From the outside to the inside.
    pub pre: Elements<PreProcessor>,
    /// From the inside to the outside; each of them delays every sampler in its scope.
    pub timers: Elements<Timer>,
    /// From the outside to the inside.
    pub post: Elements<PostProcessor>,
    /// From the outside to the inside.
    pub assertions: Elements<Assertion>,
    /// Result Status Action Handlers: after the assertions, what a failed sample does besides the action of the group.
    pub actions: Elements<OnError>,
    /// From the inside to the outside.
    pub savers: Elements<ResultSaver>,
    pub result_files: Elements<ResultFile>,
}

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub name: Text,
    pub value: Text,
}
