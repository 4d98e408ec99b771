//! What failed most, of which kind, and whether it came together.

use super::when::{Burst, burst};
use super::{Reason, missed};
use crate::summary::{ErrorRow, Outcome, Summary};
use plimsoll_plan::Fault;
use serde::Serialize;

/// How much failed and how. A run that passed tells it as well.
#[derive(Debug, Clone, Serialize)]
pub struct Failures<'a> {
    pub failed_requests: u64,
    pub requests: u64,
    pub first: Failed<'a>,
    /// The next kind, as far as it is worth a word.
    pub second: Option<Failed<'a>>,
    /// Kinds beyond these two; 0 where there is no second.
    pub more_kinds: usize,
    /// When most of them came, where they came together.
    pub burst: Option<Burst>,
    #[serde(skip)]
    pub is_pass: bool,
}

/// One kind of failure.
#[derive(Debug, Clone, Serialize)]
pub struct Failed<'a> {
    pub class: Fault,
    pub count: u64,
    /// Of a kind that is about statuses.
    pub status: Option<MostFrequent<'a>>,
    #[serde(skip)]
    pub row: &'a ErrorRow,
}

/// The most frequent status that says that something failed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MostFrequent<'a> {
    pub status: &'a str,
    pub count: u64,
    /// It is nearly all of its kind, and says more than what statuses are errors.
    pub is_nearly_all: bool,
}

/// A second kind of failures is reported if it is at least one in this many.
const SECOND: u64 = 20;

/// The kind of most failures, where they decided.
pub(super) fn decided(s: &Summary) -> Option<&ErrorRow> {
    let row = s.errors.iter().max_by_key(|row| row.count).filter(|row| row.count > 0)?;
    let is_telling = missed(s, "error_rate") || s.totals.errors * 100 > s.totals.requests;
    is_telling.then_some(row)
}

pub(super) fn failures(s: &Summary) -> Option<Failures<'_>> {
    let failed = s.totals.errors;
    let mut rows: Vec<&ErrorRow> = s.errors.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    let (first, rest) = rows.split_first()?;
    let is_pass = s.verdict.result == Outcome::Pass;
    if decided(s).is_none() && !is_pass {
        return None;
    }
    let second = rest.first().filter(|row| row.count.saturating_mul(SECOND) >= failed);
    Some(Failures {
        failed_requests: failed,
        requests: s.totals.requests,
        first: kind(s, first),
        second: second.map(|row| kind(s, row)),
        more_kinds: if second.is_some() { rest.len() - 1 } else { 0 },
        burst: burst(s),
        is_pass,
    })
}

fn kind<'a>(s: &'a Summary, row: &'a ErrorRow) -> Failed<'a> {
    // More answers than failures: the plan expects some of them.
    let worst = worst(s).filter(|(_, n)| row.class == Fault::Status && *n <= row.count);
    let status = worst.map(|(status, count)| MostFrequent {
        status,
        count,
        is_nearly_all: count * 10 >= row.count * 9,
    });
    Failed { class: row.class, count: row.count, status, row }
}

/// The most frequent status that says that something failed, and how often it came.
pub(super) fn worst(s: &Summary) -> Option<(&str, u64)> {
    let failing = s.status_codes.iter().filter(|(status, _)| status.starts_with(['4', '5']));
    failing.max_by_key(|(_, n)| **n).map(|(status, n)| (status.as_str(), *n))
}

/// What an example of these failures said.
pub(super) fn answer(s: &Summary) -> Option<Reason<'_>> {
    let row = decided(s)?;
    let status = worst(s).map_or("", |(status, _)| status);
    let describe = |wanted: &str| {
        s.failure_examples.iter().map(|row| &row.sample).find(|sample| {
            let is_status = wanted.is_empty() || sample.status.to_string() == wanted;
            sample.check == row.class.name() && is_status && !sample.excerpt.trim().is_empty()
        })
    };
    let sample = describe(status).or_else(|| describe(""))?;
    Some(Reason::Answer { status: sample.status, request: &sample.request, sample })
}

/// Factor over the share of the whole run.
const STANDS_OUT: f64 = 1.25;

/// The request that failed most, where it failed more often than the others.
pub(super) fn failing(s: &Summary) -> Option<Reason<'_>> {
    let row = s.requests.iter().max_by_key(|row| row.errors)?;
    let error_ratio = row.errors as f64 / row.requests.max(1) as f64;
    // If all requests fail equally often, the one that was sent most is not noteworthy.
    let stands_out = error_ratio > STANDS_OUT * s.totals.error_ratio;
    let is_telling = s.requests.len() > 1 && row.errors > 0 && stands_out && missed(s, "error_rate");
    is_telling.then_some(Reason::FailingRequest {
        request: &row.name,
        failed_requests: row.errors,
        requests: row.requests,
        error_ratio,
    })
}

/// The check that failed most, where a threshold on checks was missed, or where it is one of a script, whose failures
/// are those of no request, and no threshold is on checks.
pub(super) fn check(s: &Summary) -> Option<Reason<'_>> {
    let is_judged = s.thresholds.iter().any(|threshold| threshold.subject.starts_with("checks"));
    let is_told = missed(s, "checks");
    let row = s
        .checks
        .iter()
        .max_by_key(|row| row.failures)
        .filter(|row| row.failures > 0 && (is_told || !is_judged && row.request.is_empty()))?;
    Some(Reason::FailedCheck {
        check: &row.name,
        request: &row.request,
        failures: row.failures,
        evaluations: row.evaluations,
        is_judged,
    })
}
