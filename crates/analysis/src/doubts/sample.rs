//! What the samples cannot say: too few, cut off, or bent by the network.

use super::Inputs;
use crate::caution::Evidence;
use crate::caution::evidence::{StatusCount, ThinQuantile};
use crate::cells::Cells;
use crate::rows::statuses;
use crate::stale::{self, Ended};
use crate::summary::{Caution, Severity};
use crate::times::PRINTED;
use plimsoll_plan::failure_example::REDIRECT;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesSum};
use plimsoll_plan::origin::Origin;
use plimsoll_plan::request::url;
use plimsoll_plan::threshold::{Statistic, Subject, Threshold};
use plimsoll_plan::{Fault, Outline, Target};
use plimsoll_stats::samples_needed;

pub(super) fn samples(e: &Inputs, into: &mut Vec<Caution>) {
    // Without a completed request, no other caution matters.
    if e.facts.has_measured() {
        into.extend(too_few(e));
    }
    into.extend(timeouts(e));
    into.extend(in_flight(e));
    into.extend(mean(e));
    into.extend(unexpected_bytes(e));
    into.extend(redirects(e));
}

/// Only redirects: the pages that they lead to were not measured.
fn redirects(e: &Inputs) -> Option<Caution> {
    let statuses = statuses(&e.facts.all);
    let answered: u64 = statuses.range("200".to_owned().."400".to_owned()).map(|(_, n)| n).sum();
    let redirects: Vec<StatusCount> = statuses
        .iter()
        .filter(|(status, _)| matches!(status.as_str(), "301" | "302" | "303" | "307" | "308"))
        .filter_map(|(status, n)| Some(StatusCount { status: status.parse().ok()?, responses_count: *n }))
        .collect();
    let all: u64 = redirects.iter().map(|one| one.responses_count).sum();
    let is_meant = e.facts.series.iter().any(|one| one.request.is_redirect_expected);
    let followed = e.facts.all.sum(SeriesSum::Redirects) + e.facts.all.fault(Fault::Redirects);
    if all == 0 || all < answered || is_meant || followed > 0 {
        return None;
    }
    let mut samples = e.facts.machines.iter().flat_map(|machine| &machine.origin.failure_examples);
    let location = samples.find(|sample| sample.check == REDIRECT).map(|sample| sample.observed.clone());
    let leads_elsewhere = location.as_ref().is_some_and(|location| is_elsewhere(location, &e.facts.plan));
    Some(Evidence::RedirectsOnly { redirects, location, leads_elsewhere }.raise())
}

/// A whole URL of an origin that the plan does not load.
fn is_elsewhere(location: &str, plan: &Outline) -> bool {
    let target = match location.strip_prefix("//") {
        Some(rest) => url(&format!("{}://{rest}", if plan.link.tls.is_some() { "https" } else { "http" })),
        None if location.contains("://") => url(location),
        None => return false,
    };
    let is = |target: &Target, origin: &Origin| {
        target.host.eq_ignore_ascii_case(&origin.host)
            && target.port == origin.port
            && target.tls == origin.tls.is_some()
    };
    target.is_ok_and(|url| !plan.all_origins().iter().any(|origin| is(&url.target, origin)))
}

fn unexpected_bytes(e: &Inputs) -> Option<Caution> {
    let n = e.facts.run.of(RunSum::UnexpectedBytes);
    (n > 0).then(|| Evidence::UnexpectedBytes { responses_count: n }.raise())
}

/// A warning for a percentile that decides, a note for one that is only shown. Whether more samples could turn the
/// answer is for the threshold's own bounds to say.
fn too_few(e: &Inputs) -> Option<Caution> {
    let deciding = e.facts.plan.thresholds.iter().zip(e.thresholds).filter(|(_, j)| j.has_too_few_samples);
    let deciding: Vec<(u64, String, f64)> = deciding
        .filter_map(|(threshold, judged)| match threshold.statistic {
            Statistic::Quantile(q) => Some((judged.samples, subject(threshold), q)),
            Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Value => None,
        })
        .collect();
    let printed = || {
        let samples = e.response.count.saturating_add(e.response.censored);
        // With nothing but streams there are no response times to print.
        let shown =
            PRINTED.into_iter().filter(|_| samples > 0 || e.facts.finished() > 0 && !e.facts.has_streams());
        shown
            .filter(|q| samples < samples_needed(*q))
            .map(|q| (samples, Subject::ResponseTime.name().to_owned(), q))
            .collect()
    };
    let (mut thin, weight) = match deciding.is_empty() {
        false => (deciding, Severity::Warning),
        true => (printed(), Severity::Note),
    };
    thin.sort_by(|a, b| a.2.total_cmp(&b.2));
    thin.dedup();
    let &(samples_count, _, first) = thin.first()?;
    let quantiles = thin.into_iter().map(|(_, subject, quantile)| ThinQuantile { subject, quantile });
    let evidence = Evidence::ThinQuantiles {
        samples_count,
        needed_count: samples_needed(first),
        quantiles: quantiles.collect(),
    };
    Some(Caution { severity: weight, ..evidence.raise() })
}

/// As it is written in a threshold.
fn subject(threshold: &Threshold) -> String {
    let scope = threshold.scope.as_ref().map_or(String::new(), |scope| scope.to_string());
    format!("{}{scope}", threshold.subject.name())
}

/// From which printed percentile on the values are lower bounds.
fn bounded_from(e: &Inputs) -> Option<f64> {
    e.response.percentiles.iter().find(|p| p.is_lower_bound).map(|p| p.q)
}

fn timeouts(e: &Inputs) -> Option<Caution> {
    let late = e.facts.all.fault(Fault::Timeout);
    let unconnected = e.facts.all.fault(Fault::ConnectTimeout);
    let all = late.saturating_add(unconnected);
    if all == 0 {
        return None;
    }
    let plan = &e.facts.plan;
    let evidence = Evidence::TimedOut {
        timeouts_count: all,
        connecting_count: unconnected,
        timeouts_ratio: all as f64 / e.facts.finished().max(1) as f64,
        after_ns: if late > 0 { plan.timeout_ns } else { plan.limits.connect_timeout_ns },
        bounded_from: bounded_from(e),
    };
    Some(evidence.raise())
}

/// A closed model always ends with a few requests in flight; only many of them matter.
fn in_flight(e: &Inputs) -> Option<Caution> {
    let run = &e.facts.run;
    let (sent, waiting) = (run.of(RunSum::InFlightAtEnd), run.of(RunSum::ArrivalsNotStarted));
    let open = sent.saturating_add(waiting);
    let timed_out = e.facts.all.fault(Fault::Timeout) > 0 || e.facts.all.fault(Fault::ConnectTimeout) > 0;
    let bounded = bounded_from(e).filter(|_| !timed_out);
    let many = open as f64 > e.limits.in_flight * (e.response.count as f64 + e.response.censored as f64);
    if open == 0 || !(many || bounded.is_some()) {
        return None;
    }
    let evidence = Evidence::InFlightAtStop {
        unanswered_count: sent,
        unsent_count: waiting,
        finished_count: e.facts.finished(),
        bounded_from: bounded,
    };
    Some(evidence.raise())
}

/// Relative width of a histogram's bucket: 128 of them to an octave, and the first is the widest.
const BUCKET_WIDTH: f64 = 1.0 / 128.0;

fn mean(e: &Inputs) -> Option<Caution> {
    let mean_ns = e.response.mean_ns?;
    // A p95 that is only a lower bound may as well lie above the mean.
    let p95_ns = e.response.percentiles.iter().find(|p| p.q == 0.95 && !p.is_lower_bound)?.value_ns;
    let samples =
        e.response.count.saturating_add(if e.response.mean_is_lower_bound { e.response.censored } else { 0 });
    let is_lower_bound = e.response.mean_is_lower_bound;
    // The mean is exact, the percentile is its bucket's: of times that are all alike one may lie a hair above the
    // other.
    (samples >= e.limits.mean_samples && mean_ns > p95_ns as f64 * (1.0 + BUCKET_WIDTH))
        .then(|| Evidence::MeanAboveP95 { mean_ns, is_lower_bound, p95_ns }.raise())
}

/// The way to the target.
pub(super) fn network(e: &Inputs, into: &mut Vec<Caution>) {
    let (again, sent) = (e.client.retransmits, e.facts.all.sum(SeriesSum::Sent));
    let share = again as f64 / sent.max(1) as f64;
    if again >= e.limits.retransmits_least && share > e.limits.retransmits {
        let evidence = Evidence::SegmentsResent {
            segments_count: again,
            requests_count: sent,
            resent_ratio: share,
            is_same_machine: e.facts.is_same_machine(),
        };
        into.push(evidence.raise());
    }
    into.extend(stale(e));
}

/// Reused connections that ended during a request. If the server itself went away, they add nothing.
fn stale(e: &Inputs) -> Option<Caution> {
    let ended = stale::ended(e.facts).filter(|ended| *ended != Ended::Gone)?;
    let idle = e.facts.run.spread(RunHist::IdleBeforeClose);
    let evidence = Evidence::ConnectionsStale {
        requests_count: e.facts.all.fault(Fault::StaleConnection),
        idle_min_ns: idle.min(),
        idle_max_ns: idle.max(),
        is_in_use: ended == Ended::InUse,
    };
    Some(evidence.raise())
}
