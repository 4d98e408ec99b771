//! Pre-processors, timers, post-processors, and the scripts among them.

use super::UserParameters;
use crate::text::Text;

/// Runs before a sampler.
#[derive(Debug, Clone, PartialEq)]
pub enum PreProcessor {
    /// Those that change for each sampler.
    Parameters(UserParameters),
    Script(Script),
    /// Replaces the values of arguments by groups of a regular expression's matches (RegEx User Parameters).
    Replacement(Replacement),
    /// Puts a session ID of the last response into the request.
    Rewriting(Rewriting),
    /// Interrupts the sample after this time, in ms.
    Timeout(Text),
}

/// RegEx User Parameters: the matches of an extractor as names and values of arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// The variable of the extractor.
    pub variable: Text,
    /// The group with the name.
    pub name_group: Text,
    pub value_group: Text,
}

/// An HTTP URL Re-writing Modifier.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewriting {
    pub argument: Text,
    pub is_path_extension: bool,
    pub has_no_equals: bool,
    pub has_no_question_mark: bool,
    /// Whether the last value is kept if a response has none.
    pub caches_value: bool,
    pub encodes: bool,
}

/// A delay before a sampler.
#[derive(Debug, Clone, PartialEq)]
pub enum Timer {
    /// In ms.
    Constant { delay_ms: Text },
    /// Up to `range_ms` more than `delay_ms`.
    Uniform { delay_ms: Text, range_ms: Text },
    /// `deviation_ms` times a normal random number, plus `delay_ms`; not below 0.
    Gaussian { delay_ms: Text, deviation_ms: Text },
    /// A Poisson random number of mean `lambda_ms`, plus `delay_ms`.
    Poisson { delay_ms: Text, lambda_ms: Text },
    /// Samples per minute, for each thread or for several.
    ConstantThroughput { per_minute: Text, mode: ThroughputMode },
    /// Random arrivals with an exact number per period.
    PreciseThroughput {
        throughput: Text,
        period_s: Text,
        /// Of the schedule, s.
        duration_s: Text,
        batch: Text,
        batch_delay_ms: Text,
        seed: Text,
    },
    /// A Throughput Shaping Timer of a plugin: samples of all its threads per second, as rows of the rates at begin and
    /// end, and the seconds between. After the last row, the test stops.
    Shaping { rows: Vec<[Text; 3]> },
    /// Waits for `group` threads, or `timeout_ms`. 0 threads: all of the thread group.
    Synchronizing { group: Text, timeout_ms: Text },
    /// A script whose result is the delay.
    Script(Script),
}

/// Which samples a Constant Throughput Timer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThroughputMode {
    #[default]
    ThisThread,
    AllThreads,
    ThisGroup,
    AllThreadsShared,
    ThisGroupShared,
}

/// The text that an extractor or an assertion reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Subject {
    /// The sample itself.
    #[default]
    Main,
    /// Its sub-samples.
    Children,
    All,
    /// A variable.
    Variable(Text),
}

/// The part of a sample that a regular expression or a boundary reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Field {
    #[default]
    Body,
    /// The body without the escapes of HTML.
    UnescapedBody,
    /// The text of a document of another format.
    Document,
    ResponseHeaders,
    RequestHeaders,
    Url,
    Code,
    Message,
}

/// Runs after a sampler.
#[derive(Debug, Clone, PartialEq)]
pub enum PostProcessor {
    Extract(Extractor),
    Script(Script),
    /// Adds a sub-sample with variables and properties.
    Debug,
}

/// The values that an extractor takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Extractor {
    pub subject: Subject,
    /// The variable to set; of JSONPath, several with semicolons between.
    pub variable: Text,
    /// The number of the match; 0: a random one; -1: all; empty: 0.
    pub number: Text,
    /// The value without a match; of JSONPath, several with semicolons between.
    pub default: Text,
    /// Whether an empty default is set as an empty text, and not ignored.
    pub sets_empty_default: bool,
    pub matcher: Match,
}

/// How an extractor finds its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    Regex {
        field: Field,
        pattern: Text,
        template: Text,
    },
    Boundary {
        field: Field,
        left: Text,
        right: Text,
    },
    /// Several paths with semicolons between; `joins`: also sets `NAME_ALL`.
    JsonPath {
        paths: Text,
        joins: bool,
    },
    /// The JSON Path Extractor of a plugin: one path, whose array is also set as numbered values.
    JsonArray {
        path: Text,
    },
    JmesPath {
        path: Text,
    },
    XPath {
        query: Text,
        is_tolerant: bool,
        returns_fragment: bool,
        namespaces: Text,
    },
    /// A CSS selector; an empty attribute means the text.
    Css {
        selector: Text,
        attribute: Text,
    },
}

/// A script of JSR223 or BeanShell.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// `beanshell`, `groovy`, `javascript`, `jexl3`, and others, in lower case.
    pub language: String,
    /// The code, after variables and functions in it are replaced.
    pub code: Text,
    /// The content of the file that it is read from, if any; `code` is then empty.
    pub file_code: Option<String>,
    pub parameters: Text,
}
