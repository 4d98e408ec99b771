//! Audits published results: what cannot be true, what is doubtful, what is missing, each by its own arithmetic.
//!
//! [`foreign`] reads what other tools and people published into rows of figures, each with its line and with the range
//! that its rounding leaves open; the rules of [`row`] and [`across`] hold arithmetic against them.

#![forbid(unsafe_code)]

pub mod across;
mod cause;
mod fold;
pub mod row;

pub use plimsoll_foreign as foreign;

use crate::foreign::Document;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What an audit found, in the order in which it should be read.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Audit {
    pub files: Vec<String>,
    /// Rows that were read, over all files.
    pub rows_count: usize,
    /// Figures that were read.
    pub figures_count: usize,
    pub findings: Vec<Finding>,
    /// What could not be read: file, line, reason. What occurs on several lines is listed once.
    pub unread: Vec<String>,
    /// What was read of each file, in their order.
    pub reads: Vec<FileRead>,
    /// The lines that findings quote, by file and number: a finding is read beside its text.
    pub sources: BTreeMap<String, BTreeMap<u32, String>>,
}

impl Audit {
    /// The gravest grade of all findings; none: nothing was found.
    pub fn worst(&self) -> Option<Grade> {
        self.findings.iter().map(|f| f.grade).min()
    }
}

/// What was read of one file.
#[derive(Debug, Clone, Serialize)]
pub struct FileRead {
    pub file: String,
    /// Lines of text; none: a file of samples, whose text is not kept.
    pub lines_count: Option<usize>,
    pub figures_count: usize,
    /// Passages that look like a result and could not be read.
    pub unread_count: usize,
}

/// One finding.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The rule, stable: `more_in_flight_than_users`.
    pub rule: &'static str,
    pub grade: Grade,
    pub certainty: Certainty,
    /// One sentence that may be quoted.
    pub sentence: String,
    /// The calculation, line by line: `521.24/s x 207.71 ms = 108 in flight > 80 connections`.
    pub arithmetic: Vec<String>,
    /// What would explain it, if something usually does; empty: nothing known.
    pub explanation: String,
    /// What to measure or to write instead.
    pub advice: String,
    pub quotes: Vec<Quote>,
    /// Other rules that speak of the same figures: one cause is one finding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<&'static str>,
}

/// Where it stands: `text` is the figure as written (or the sentence); its whole line is in [`Audit::sources`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quote {
    pub file: String,
    pub line: u32,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    Impossible,
    Implausible,
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Arithmetic alone, beyond what rounding allows.
    Proved,
    /// Holds for every usual set-up.
    Likely,
    /// Worth a look.
    Possible,
}

/// What has to be certain before a rule says that something cannot be true. Without it, the same is a doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Premise {
    /// The figures alone, of any origin.
    Figures,
    /// What a tool counts and times: its output by a known version, with every line that this version prints.
    WholeOutput,
}

/// A rule looks at all documents that were given together.
pub struct Rule {
    pub code: &'static str,
    pub grade: Grade,
    /// What it needs to call something impossible.
    pub premise: Premise,
    /// One line: what it checks, with the formula.
    pub title: &'static str,
    pub check: fn(&[Document], &mut Vec<Finding>),
}

/// All rules in the order of the report.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    row::RULES.iter().chain(across::RULES)
}

/// Judges documents that were read before.
pub fn audit(documents: &[Document]) -> Audit {
    let mut findings = cause::join(fold::fold(check(documents)));
    findings.sort_by_key(|f| (f.grade, f.certainty));
    let sources = sources(documents, &findings);
    let figures = |d: &Document| d.rows.iter().map(|r| r.figures.len() + r.others.len()).sum::<usize>();
    Audit {
        files: documents.iter().map(|d| d.name.clone()).collect(),
        rows_count: documents.iter().map(|d| d.rows.len()).sum(),
        figures_count: documents.iter().map(figures).sum(),
        findings,
        unread: documents.iter().flat_map(unread).collect(),
        reads: documents
            .iter()
            .map(|d| FileRead {
                file: d.name.clone(),
                lines_count: (!d.text.is_empty()).then(|| d.text.lines().count()),
                figures_count: figures(d),
                unread_count: d.unread.len(),
            })
            .collect(),
        sources,
    }
}

/// Passages that were not read, each with its line. One reason that holds for several lines is one entry.
fn unread(document: &Document) -> Vec<String> {
    let mut first: BTreeMap<(&str, &str), (u32, usize)> = BTreeMap::new();
    let mut order: Vec<(&str, &str)> = Vec::new();
    for passage in &document.unread {
        let key = (passage.what.as_str(), passage.why.as_str());
        match first.get_mut(&key) {
            Some((_, times)) => *times += 1,
            None => {
                first.insert(key, (passage.line, 1));
                order.push(key);
            }
        }
    }
    let entry = |key: (&str, &str)| {
        let (line, times) = first.get(&key).copied().unwrap_or_default();
        let more = if times > 1 { format!(" ({times} times)") } else { String::new() };
        format!("{}:{line}: {}: {}{more}", document.name, key.0, key.1)
    };
    order.into_iter().map(entry).collect()
}

/// What all rules say, in their order. Rules do not know each other, so those of large texts share the cores.
fn check(documents: &[Document]) -> Vec<Finding> {
    const LARGE_ROWS: usize = 2_000;
    const THREADS_MAX: usize = 4;
    let rules: Vec<&Rule> = rules().collect();
    let rows: usize = documents.iter().map(|d| d.rows.len()).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if rows < LARGE_ROWS { 1 } else { cores.min(THREADS_MAX) };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, rule)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            rules.get(at).map(|rule| (at, rule))
        } {
            let mut found = Vec::new();
            (rule.check)(documents, &mut found);
            done.push((at, found));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().flat_map(|(_, found)| found).collect()
}

/// One pass over each text, since a file of samples has a million lines and a finding quotes two of them.
fn sources(documents: &[Document], findings: &[Finding]) -> BTreeMap<String, BTreeMap<u32, String>> {
    /// A line that is longer is no line for reading.
    const LONGEST: usize = 400;
    let mut all = BTreeMap::new();
    for document in documents {
        let quotes = findings.iter().flat_map(|f| &f.quotes).filter(|q| q.file == document.name);
        let wanted: std::collections::BTreeSet<u32> = quotes.map(|q| q.line).collect();
        let Some(last) = wanted.last() else { continue };
        if document.text.is_empty() && !document.kept.is_empty() {
            let kept = document.kept.iter().filter(|(line, _)| wanted.contains(line));
            all.insert(document.name.clone(), kept.map(|(line, text)| (*line, text.clone())).collect());
            continue;
        }
        let lines = document.text.lines().zip(1_u32..).take_while(|(_, n)| n <= last);
        let found = lines.filter(|(_, n)| wanted.contains(n));
        let kept: BTreeMap<u32, String> =
            found.map(|(l, n)| (n, l.chars().take(LONGEST).collect())).collect();
        if !kept.is_empty() {
            all.insert(document.name.clone(), kept);
        }
    }
    all
}
