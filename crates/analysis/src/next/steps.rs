//! Which steps follow from which verdict.

use super::failures::{decided, worst};
use super::when::pace_s;
use super::{Relief, Slow, Step, decisive, missed, outage};
use crate::cause::{Cause, Kind};
use crate::caution::{self, Set};
use crate::summary::{Caution, Outcome, SaturatedResource, Severity, Summary};
use plimsoll_plan::threshold::FigureUnit;

/// Number of cautions with a next step.
const DOUBTS: usize = 2;
/// Mean size above which bodies are mentioned, bytes.
const LARGE_BYTES: f64 = 1e6;

/// The steps on the target, the status, or monitors cover these.
const TOLD_BETTER: &[Kind] = &[
    Kind::RateLimited,
    Kind::CredentialsRejected,
    Kind::NotFound,
    Kind::RequestRejected,
    Kind::CheckFailed,
    Kind::TlsFailed,
    Kind::UpstreamFailed,
    Kind::ServerOverloaded,
    Kind::ServerErrors,
    Kind::ConnectionsRefused,
    Kind::HostUnreachable,
    Kind::NoResponse,
    Kind::ServerProcessing,
];

pub(super) fn steps(s: &Summary) -> Vec<Step<'_>> {
    if let Some(gone) = outage::first(s) {
        return vec![Step::LookAtOutage(gone), Step::RunAgainAndCompare];
    }
    match s.verdict.result {
        Outcome::Interrupted => vec![Step::RunToTheEnd],
        Outcome::Inconclusive => {
            // Late sends and waiting for CPU ask for the same.
            let is_late = decisive(s).any(|c| c.kind == caution::Kind::LateSends);
            let is_said = |c: &&Caution| is_late && c.kind == caution::Kind::ClientCpuWait;
            let all = decisive(s).filter(|c| !c.advice().is_empty() && !is_said(c));
            let steps: Vec<Step<'_>> =
                all.take(DOUBTS).map(|row| Step::FollowAdvice { caution: row.kind, row }).collect();
            if steps.is_empty() { vec![Step::ReadGeneratorHealth] } else { steps }
        }
        Outcome::Fail => vec![failed(s), Step::RunAgainAndCompare],
        Outcome::Pass => passed(s),
    }
}

fn failed(s: &Summary) -> Step<'_> {
    if let Some(first) = of_cause(s) {
        first
    } else if let Some(row) = decided(s).filter(|_| missed(s, "error_rate")) {
        Step::FixFailures { class: row.class, status: worst(s).map(|(status, _)| status) }
    } else if missed(s, "checks") {
        Step::HoldAnswerAgainstCheck
    } else if s.thresholds.iter().any(|t| t.is_beyond() && t.unit == FigureUnit::Nanoseconds) {
        Step::FindWhatIsSlow(slow(s))
    } else if missed(s, "achieved") {
        Step::FindRate(slow(s))
    } else if let Some(pressure) = s.saturated_resources.first() {
        relieve(pressure)
    } else {
        Step::SeeThreshold
    }
}

fn passed(s: &Summary) -> Vec<Step<'_>> {
    let mut out: Vec<Step<'_>> = of_cause(s).into_iter().collect();
    // A note on how to measure stands with the load generator.
    let is_news = |c: &&Caution| c.severity != Severity::Note;
    let told = s.cautions.iter().filter(|c| !c.advice().is_empty()).filter(is_news);
    // What the service did is news before what the load generator did.
    let first = told
        .min_by_key(|c| (c.severity, c.kind.set() == Set::Generator))
        .map(|row| Step::HeedCaution { caution: row.kind, row });
    out.extend(first);
    out.push(Step::FindCapacity);
    out
}

fn relieve(pressure: &SaturatedResource) -> Step<'_> {
    Step::Relieve { resource: &pressure.resource, relief: Relief::of(pressure) }
}

/// What the first cause asks for. `None`: there is none, or what failed tells it better.
fn of_cause(s: &Summary) -> Option<Step<'_>> {
    let is_any = |cause: &Cause, kinds: &[Kind]| kinds.iter().any(|kind| cause.is(*kind));
    let row = s.causes.first().filter(|cause| !is_any(cause, TOLD_BETTER))?;
    let is_saturated = is_any(row, &[Kind::ThreadSaturated, Kind::ResourceSaturated]);
    match s.saturated_resources.first().filter(|_| is_saturated) {
        Some(pressure) => Some(relieve(pressure)),
        None => Some(Step::FollowCause { cause: row.code(), row }),
    }
}

/// No monitored resource was saturated, or there was no monitor.
fn slow(s: &Summary) -> Slow {
    let body = s.requests.iter().filter_map(|row| row.body_mean_bytes).fold(0.0, f64::max);
    Slow {
        large_body_bytes: (body >= LARGE_BYTES).then_some(body),
        pace_s: pace_s(s),
        is_watched: !s.monitors.is_empty(),
    }
}
