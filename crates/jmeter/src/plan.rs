//! The plan, compiled for its threads: flat lists with numbers, and the state that elements share over all threads.

mod compile;
mod compile_element;
mod socket;

pub use compile::compile;
pub use socket::{Socket, SocketAction, SocketMessage};

use crate::template::Template;
use crate::vars::VarId;
use plimsoll_jmx::plan::{self, GroupLoad, OnError, Phase};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

/// Number of a node in its group.
pub type NodeId = u32;
/// Number of a sampler in its group.
pub type SamplerId = u32;
/// Number of a value that each thread keeps for an element.
pub type SlotId = u32;

/// A compiled plan.
#[derive(Debug, Default)]
pub struct Plan {
    pub groups: Vec<Group>,
    /// Values that each thread keeps for elements, such as counters.
    pub slots: usize,
    pub csv_count: usize,
    pub cookie_managers: Vec<CookieManager>,
    pub cache_managers: Vec<CacheManager>,
    /// Whether a pre-processor or a function reads the last sample.
    pub keeps_previous: bool,
    /// Whether samples keep their requests and responses, because something may read them.
    pub keeps_content: bool,
    /// Whether samples are written to a file.
    pub writes_results: bool,
    /// Whether samples keep the results of their assertions.
    pub keeps_checks: bool,
    pub is_serial: bool,
    pub tears_down_on_stop: bool,
}

/// A compiled thread group.
#[derive(Debug)]
pub struct Group {
    pub title: Arc<str>,
    pub phase: Phase,
    /// As in names of threads.
    pub number: u32,
    pub on_error: OnError,
    pub is_same_user: bool,
    pub load: GroupLoad,
    /// The first one is the group itself.
    pub nodes: Vec<Node>,
    pub samplers: Vec<Sampler>,
}

/// A controller.
#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    pub children: Vec<Child>,
    pub parent: Option<NodeId>,
    /// In the order in which they run.
    pub at_iteration: Vec<Arc<Config>>,
    pub name: Template,
    /// The variable `__jm__NAME__idx`, if the plan reads it.
    pub index_variable: Option<VarId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    Node(NodeId),
    Sampler(SamplerId),
}

/// What a controller does.
#[derive(Debug)]
pub enum Kind {
    /// A thread group: its iterations are those of the engine.
    Group,
    Simple,
    Loop(Template),
    If {
        condition: Template,
        is_expression: bool,
        evaluates_all: bool,
    },
    While(Template),
    ForEach {
        input: Template,
        output: Template,
        start: Template,
        end: Template,
        separator: &'static str,
    },
    Switch(Template),
    OnceOnly,
    Interleave {
        takes_samplers: bool,
        is_across_threads: bool,
        next: AtomicI64,
    },
    Random {
        takes_samplers: bool,
    },
    RandomOrder,
    Throughput {
        limit: Template,
        is_total: bool,
        is_per_user: bool,
        shared: Mutex<(i64, i64)>,
    },
    Runtime(Template),
    Transaction(Box<Transaction>),
    Critical(Template),
}

/// A Transaction Controller.
#[derive(Debug)]
pub struct Transaction {
    pub has_parent_sample: bool,
    pub includes_timers: bool,
    pub assertions: Vec<Arc<Assertion>>,
    pub result_files: Vec<Arc<ResultFile>>,
}

/// An element that runs at the start of iterations.
#[derive(Debug)]
pub enum Config {
    Csv(Box<Csv>),
    Counter(Box<Counter>),
    Random(Box<RandomVariable>),
    Parameters(Parameters),
}

/// A CSV Data Set.
#[derive(Debug)]
pub struct Csv {
    /// Number among all of the plan.
    pub number: usize,
    pub file: Template,
    pub encoding: Template,
    pub variables: Template,
    pub ignores_first_line: bool,
    pub delimiter: Template,
    pub is_quoted: bool,
    pub recycles: bool,
    pub stops_thread: bool,
    pub share: Share,
    pub name: String,
}

/// Which threads share the rows of a file.
#[derive(Debug)]
pub enum Share {
    All,
    Group,
    Thread,
    Named(Template),
}

/// A counter.
#[derive(Debug)]
pub struct Counter {
    pub variable: Template,
    pub start: Template,
    pub end: Template,
    pub step: Template,
    pub format: Template,
    pub is_per_user: bool,
    pub resets_per_iteration: bool,
    pub shared: Mutex<Option<i64>>,
    /// Of a thread: the next number, and the iteration of the last one.
    pub slots: [SlotId; 2],
}

/// A random variable.
#[derive(Debug)]
pub struct RandomVariable {
    pub variable: Template,
    pub least: Template,
    pub most: Template,
    pub format: Template,
    pub seed: Template,
    pub is_per_thread: bool,
    /// The state of its generator, if it has a seed.
    pub shared: Mutex<Option<u64>>,
    pub slot: SlotId,
}

/// User Parameters.
#[derive(Debug)]
pub struct Parameters {
    pub names: Vec<Template>,
    pub sets: Vec<Vec<Template>>,
}

/// A cookie manager.
#[derive(Debug)]
pub struct CookieManager {
    pub cookies: Vec<[Template; 4]>,
    pub secure: Vec<bool>,
    pub clears_each_iteration: bool,
    pub follows_group: bool,
    pub ignores_cookies: bool,
}

/// An HTTP Cache Manager.
#[derive(Debug)]
pub struct CacheManager {
    pub clears_each_iteration: bool,
    pub follows_group: bool,
    pub uses_expires: bool,
    /// Largest number of entries of a thread.
    pub max_entries: Template,
}

/// A sampler with its scope.
#[derive(Debug)]
pub struct Sampler {
    pub kind: SamplerKind,
    pub label: Template,
    pub parent: NodeId,
    pub headers: Vec<(Template, Template)>,
    /// Number among the cookie managers of the plan.
    pub cookies: Option<usize>,
    /// Number among the cache managers of the plan.
    pub cache: Option<usize>,
    pub auth: Option<Arc<AuthManager>>,
    pub pre: Vec<Arc<PreProcessor>>,
    pub timers: Vec<Arc<Timer>>,
    pub post: Vec<Arc<PostProcessor>>,
    pub assertions: Vec<Arc<Assertion>>,
    pub actions: Vec<OnError>,
    pub savers: Vec<Arc<ResultSaver>>,
    pub result_files: Vec<Arc<ResultFile>>,
    /// Whether anything in scope reads the body of its response.
    pub reads_body: bool,
    /// Whether anything in scope reads the head of its response, but not the body.
    pub reads_head: bool,
    /// Whether anything in scope reads the request.
    pub reads_request: bool,
    /// Whether it sends the same request each time, except for cookies and credentials.
    pub is_fixed: bool,
    /// Whether at most path, arguments, and body of its request change.
    pub has_fixed_base: bool,
}

#[derive(Debug)]
pub enum SamplerKind {
    Http(Box<Http>),
    Debug { variables: bool, properties: bool },
    Action { action: plan::Action, target: plan::Target, pause_ms: Template },
    Script(Code),
    Java { class: plan::JavaClass, arguments: Vec<(Template, Template)> },
    Set(Vec<(Template, Template)>),
    Socket(Box<Socket>),
}

/// An HTTP request.
#[derive(Debug)]
pub struct Http {
    pub protocol: Template,
    pub domain: Template,
    pub port: Template,
    pub method: Template,
    pub path: Template,
    pub encoding: Template,
    pub has_raw_body: bool,
    pub arguments: Vec<Argument>,
    pub files: Vec<FilePart>,
    pub is_multipart: bool,
    pub is_browser_compatible: bool,
    pub follows_redirects: bool,
    pub redirects_automatically: bool,
    pub keeps_alive: bool,
    pub response_timeout_ms: Template,
    pub stores_md5: bool,
    pub resources: Option<Resources>,
}

/// The download of what a page embeds.
#[derive(Debug)]
pub struct Resources {
    /// A pattern that a URL must match; empty: all.
    pub must_match: Template,
    /// A pattern of URLs to skip; empty: none.
    pub must_not_match: Template,
    /// Most downloads at the same time; without it, one after another.
    pub concurrent: Option<Template>,
}

impl Http {
    /// Returns whether protocol, host, port, method, and timeout are fixed.
    pub fn has_fixed_base(&self) -> bool {
        [&self.protocol, &self.domain, &self.port, &self.method, &self.response_timeout_ms]
            .into_iter()
            .all(|text| text.fixed().is_some())
    }

    /// Returns whether nothing in it depends on a variable, a function, or a file.
    pub fn is_fixed(&self) -> bool {
        let texts = [&self.path, &self.encoding];
        let arguments = self.arguments.iter().flat_map(|one| [&one.name, &one.value, &one.content_type]);
        // The boundary between several parts is a random text.
        !self.is_multipart
            && self.files.is_empty()
            && self.has_fixed_base()
            && texts.into_iter().chain(arguments).all(|text| text.fixed().is_some())
    }
}

#[derive(Debug)]
pub struct Argument {
    pub name: Template,
    pub value: Template,
    pub is_encoded_always: bool,
    pub has_equals: bool,
    pub content_type: Template,
}

#[derive(Debug)]
pub struct FilePart {
    pub path: Template,
    pub parameter: Template,
    pub media_type: Template,
}

/// An authorization manager.
#[derive(Debug)]
pub struct AuthManager {
    pub entries: Vec<Authorization>,
}

#[derive(Debug)]
pub struct Authorization {
    pub url: Template,
    pub user: Template,
    pub password: Template,
    pub mechanism: plan::Mechanism,
}

#[derive(Debug)]
pub enum PreProcessor {
    Parameters(Parameters),
    Script(Code),
    Rewriting(Box<Rewriting>),
    /// The variable of an extractor, and the groups of names and values of arguments.
    Replacement(Box<[Template; 3]>),
    Timeout(Template),
}

/// An HTTP URL Re-writing Modifier.
#[derive(Debug)]
pub struct Rewriting {
    pub argument: Template,
    pub is_path_extension: bool,
    pub has_no_equals: bool,
    pub has_no_question_mark: bool,
    pub caches_value: bool,
    pub encodes: bool,
    /// The variable that keeps the value of a thread.
    pub kept: String,
}

#[derive(Debug)]
pub enum Timer {
    Constant(Template),
    Uniform(Template, Template),
    Gaussian(Template, Template),
    Poisson(Template, Template),
    Throughput(Box<ThroughputTimer>),
    Precise(Box<PreciseTimer>),
    Shaping(Box<ShapingTimer>),
    Synchronizing(Box<Barrier>),
    Script(Code),
}

/// A Constant Throughput Timer.
#[derive(Debug)]
pub struct ThroughputTimer {
    pub per_minute: Template,
    pub mode: plan::ThroughputMode,
    /// The last time of a thread, ms.
    pub slot: SlotId,
    /// The last time over all threads, by group, ms; the last one is that of all groups.
    pub shared: Mutex<Vec<i64>>,
}

/// A Precise Throughput Timer.
#[derive(Debug)]
pub struct PreciseTimer {
    pub throughput: Template,
    pub period_s: Template,
    pub duration_s: Template,
    pub batch: Template,
    pub batch_delay_ms: Template,
    pub seed: Template,
    pub shared: Mutex<crate::timer::Schedule>,
}

/// A Throughput Shaping Timer.
#[derive(Debug)]
pub struct ShapingTimer {
    /// Rates at begin and end, and seconds.
    pub rows: Vec<[Template; 3]>,
    pub shared: Mutex<crate::timer::Shape>,
}

/// A Synchronizing Timer.
#[derive(Debug)]
pub struct Barrier {
    pub group: Template,
    pub timeout_ms: Template,
    /// How often it was released, and how many threads wait.
    pub shared: Mutex<(u64, u32)>,
}

#[derive(Debug)]
pub enum PostProcessor {
    Extract(Box<Extractor>),
    Script(Code),
    Debug,
}

/// An extractor.
#[derive(Debug)]
pub struct Extractor {
    pub subject: Subject,
    pub variable: Template,
    pub number: Template,
    pub default: Template,
    pub sets_empty_default: bool,
    pub matcher: Match,
}

/// The samples or the variable that an element reads.
#[derive(Debug)]
pub enum Subject {
    Main,
    Children,
    All,
    Variable(Template),
}

/// How an extractor finds its values.
#[derive(Debug)]
pub enum Match {
    Regex { field: plan::Field, pattern: Template, template: Template },
    Boundary { field: plan::Field, left: Template, right: Template },
    JsonPath { paths: Template, joins: bool },
    JsonArray { path: Template },
    JmesPath { path: Template },
    XPath { query: Template },
    Css { selector: Template, attribute: Template },
}

/// A script of an element.
#[derive(Debug)]
pub struct Code {
    pub language: crate::script::Language,
    pub text: Template,
    pub parameters: Template,
    pub name: String,
}

/// An assertion with its name.
#[derive(Debug)]
pub struct Assertion {
    pub name: Template,
    pub kind: AssertionKind,
}

#[derive(Debug)]
pub enum AssertionKind {
    Response {
        subject: Subject,
        field: plan::ResponseField,
        pattern: plan::Pattern,
        is_negated: bool,
        is_any: bool,
        patterns: Vec<Template>,
        ignores_status: bool,
        message: Template,
    },
    Size {
        subject: Subject,
        field: plan::SizeField,
        size: Template,
        comparison: plan::Comparison,
    },
    Duration {
        limit_ms: Template,
        subject: Subject,
    },
    Json {
        subject: Subject,
        path: Template,
        value: Option<Template>,
        is_regex: bool,
        expects_null: bool,
        is_inverted: bool,
        is_jmespath: bool,
    },
    XPath {
        subject: Subject,
        query: Template,
        is_negated: bool,
        is_second: bool,
    },
    Md5 {
        digest: Template,
    },
    Xml,
    Script(Code),
}

/// Save Responses to a file.
#[derive(Debug)]
pub struct ResultSaver {
    pub prefix: Template,
    pub variable: Template,
    pub only_failed: bool,
    pub only_passed: bool,
    pub has_no_number: bool,
    pub has_no_ending: bool,
    pub has_timestamp: bool,
    pub number_width: Template,
    pub count: AtomicI64,
}

/// A listener that writes samples.
#[derive(Debug)]
pub struct ResultFile {
    pub file: Template,
    pub only_failed: bool,
    pub only_passed: bool,
    pub columns: plan::Columns,
}
