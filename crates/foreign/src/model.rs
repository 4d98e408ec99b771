//! The shape into which every published result is read: rows of figures, each with the place where it stands and the
//! range that its rounding leaves open. A finding is only as good as that range: what rounding explains is no mistake.

use super::times::Times;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One text, read.
#[derive(Debug, Clone, Default)]
pub struct Document {
    pub name: String,
    pub rows: Vec<Row>,
    pub tables: Vec<Table>,
    /// Figures in sentences that are about no single row: hardware, formulas, conclusions.
    pub claims: Vec<Claim>,
    /// Everything that is said in words or code, with figures or without: what a report leaves out is found here.
    pub prose: Vec<Statement>,
    /// Lines (from 1) that a reader understood.
    pub taken: BTreeSet<u32>,
    /// Passages that look like a result and could not be read, with the reason: said, never dropped.
    pub unread: Vec<Unread>,
    /// The text itself, for quotes. Empty in documents that were made by hand, and of large files of samples.
    pub text: String,
    /// Lines that may be quoted where the text is not kept.
    pub kept: BTreeMap<u32, String>,
}

/// One measured configuration: a tool's output, a row of a table, a label of a summary.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// `/pick, 300 connections`; short, for sentences.
    pub label: String,
    /// What wrote it, where that is known: definitions differ from tool to tool.
    pub tool: Option<Tool>,
    /// First and last line.
    pub lines: (u32, u32),
    /// Canonical units: seconds, bytes, per second, ratios 0..1, counts.
    pub figures: BTreeMap<Measure, Figure>,
    /// What is said in words: `keep_alive` = `on`, `url`, `version`, `gc`, `instance`; keys in lower case.
    pub words: BTreeMap<String, Word>,
    /// Headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its table in the document, if it stands in one.
    pub table: Option<usize>,
    /// Other quantities by the column's (or line's) name, as written in lower case, with the unit if one is known.
    pub others: BTreeMap<String, Figure>,
    /// Upper edges of buckets with the number of times in each, lowest first.
    pub histogram: Vec<(Figure, Figure)>,
    /// Every line that its tool always prints is there, in the words of a version whose definitions are known, and
    /// nothing else is between them. Never of tables, sentences, and unknown programs.
    pub is_whole: bool,
    /// A label within a run whose other labels are other rows: no run by itself, and no repeat of its neighbors.
    pub is_part: bool,
    /// The distribution behind it when the file holds single samples (JTL, `ab -g`): whole-run figures to check by.
    pub samples: Option<Samples>,
}

/// Rows of one table in order.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub caption: String,
    pub columns: Vec<String>,
    /// Indices into [`Document::rows`].
    pub rows: Vec<usize>,
    pub lines: (u32, u32),
    pub headings: Vec<String>,
    /// The sentences directly above and below, up to the next heading or table: `600 threads`, `3 servers`.
    pub around: Vec<Claim>,
}

/// A sentence with figures.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    pub text: String,
    pub line: u32,
    pub headings: Vec<String>,
    /// What it names, in the order of the sentence: `(Some(Measure::Users), 600)`, `(None, 15)` with its unit in
    /// [`Figure::unit`].
    pub figures: Vec<(Option<Measure>, Figure)>,
}

/// A sentence, a heading or a line of code that no tool's reader took.
#[derive(Debug, Clone, Default)]
pub struct Statement {
    pub text: String,
    pub line: u32,
    pub headings: Vec<String>,
    /// It stands in a code block: a formula perhaps, but never a statement about a row.
    pub code: bool,
    /// It is an item of a numbered list.
    pub numbered: bool,
}

#[derive(Debug, Clone)]
pub struct Unread {
    pub line: u32,
    pub what: String,
    pub why: String,
}

#[derive(Debug, Clone, Default)]
pub struct Word {
    pub text: String,
    pub line: u32,
}

/// A published number.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Figure {
    /// In the canonical unit.
    pub value: f64,
    /// The rounding of what is written leaves this much open: 1.36 s is 1.355..1.365. Truncating tools (JMeter's mean)
    /// have all of it above. Inclusive.
    pub low: f64,
    pub high: f64,
    /// As written, with its unit.
    pub written: String,
    /// The unit as far as it was said (`ms`, `req/s`, `%`); empty: none.
    pub unit: String,
    /// From 1.
    pub line: u32,
}

impl Figure {
    /// A number as written, in units of `unit` (the canonical size of one): the last digit is uncertain by half.
    pub fn rounded(value: f64, digits: i32, unit: f64, written: impl Into<String>, line: u32) -> Self {
        let half = 0.5 * 10f64.powi(-digits) * unit;
        let value = value * unit;
        Self {
            value,
            low: value - half,
            high: value + half,
            written: written.into(),
            unit: String::new(),
            line,
        }
    }

    /// A count, or anything else that is exact.
    pub fn exact(value: f64, written: impl Into<String>, line: u32) -> Self {
        Self { value, low: value, high: value, written: written.into(), unit: String::new(), line }
    }

    /// Whether the two can be the same number.
    pub fn meets(&self, low: f64, high: f64) -> bool {
        self.low <= high && low <= self.high
    }
}

/// What a figure is of. Times in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Requests that can be in flight at once: connections, virtual users, JMeter's threads.
    Users,
    /// Threads of the load generator itself (`wrk -t`).
    GeneratorThreads,
    /// Servers, replicas, instances behind the result.
    Servers,
    Generators,
    /// Loops of each user.
    Loops,
    RampUp,
    Duration,
    Requests,
    /// Failed, however the tool counts them.
    Errors,
    ErrorRatio,
    ConnectErrors,
    ReadErrors,
    WriteErrors,
    TimeoutErrors,
    /// `ab`: answers of another length than the first.
    LengthErrors,
    ExceptionErrors,
    Non2xx,
    KeepAliveRequests,
    /// Requests per second as stated for the whole.
    Rate,
    /// What was asked for.
    OfferedRate,
    /// Per client thread: mean, deviation, max (wrk).
    ThreadRateMean,
    ThreadRateStdDev,
    ThreadRateMax,
    BytesPerS,
    BytesSentPerS,
    BytesTotal,
    BytesSentTotal,
    /// Of one answer's body.
    BodyBytes,
    Mean,
    StdDev,
    Min,
    Max,
    /// In ten-thousandths: 9_500 is p95.
    Percentile(u16),
    /// Share of samples within one deviation of the mean (wrk).
    WithinStdDev,
    /// Phases.
    ConnectMean,
    ConnectMin,
    ConnectMax,
    ConnectMedian,
    ConnectPercentile(u16),
    FirstByteMean,
    FirstByteMedian,
    ProcessingMean,
    ProcessingMedian,
    /// `ab`: `Time per request (mean)`, which is no measured mean: users x duration / requests.
    TimePerRequestUsers,
    /// `ab`: mean time per request over all concurrent requests (duration / requests).
    TimePerRequestAll,
    /// Share of a CPU, 1.0 = one core.
    Cpu,
    MemoryBytes,
    Iterations,
    ChecksPassed,
    ChecksFailed,
}

/// Who wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    Wrk,
    Ab,
    K6,
    Loadtest,
    Jmeter,
    Hey,
    Oha,
    Vegeta,
    Wrk2,
    Artillery,
    Autocannon,
    Bombardier,
    Fortio,
    Gatling,
    Ghz,
    H2load,
    Locust,
    Rewrk,
    Siege,
    Taurus,
}

/// Single samples, reduced.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    pub count: u64,
    pub errors: u64,
    pub times: Times,
    /// The last of them in the order of the file, in seconds, if a tool computes its percentiles from those.
    pub recent_s: Vec<f64>,
    /// First begin and last end, s on the file's own clock.
    pub first_s: f64,
    pub last_s: f64,
    /// Most samples under way at once.
    pub concurrent_max: u64,
    /// Sum of all elapsed times, s.
    pub elapsed_sum_s: f64,
    /// Failures by kind (status, message).
    pub kinds: BTreeMap<String, u64>,
    /// Gaps of the start times that split the file into runs that were appended to each other.
    pub runs: u32,
}
