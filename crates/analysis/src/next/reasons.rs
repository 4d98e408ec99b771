//! The reasons for each verdict, and the search for those about thresholds and times.

use super::failures::{Failures, answer, check, failing, failures};
use super::when::spikes;
use super::{Closest, Phase, Reason, decisive, missed, outage};
use crate::cause::{Evidence, Kind as CauseKind};
use crate::caution;
use crate::caution::Kind;
use crate::summary::{Caution, Outcome, SeriesRow, Summary, ThresholdResult, Times};
use plimsoll_plan::fault::{Fault, Side};
use plimsoll_stats::samples_needed;

/// More causes confuse.
const CAUSES: usize = 2;

pub(super) fn reasons(s: &Summary) -> Vec<Reason<'_>> {
    // Where the service was gone, all else follows from it.
    let mut out: Vec<Reason<'_>> = outage::gone(s).map(Reason::Outage).collect();
    match s.verdict.result {
        Outcome::Inconclusive => {
            out.extend(decisive(s).map(|row| Reason::Doubt {
                caution: row.kind,
                severity: row.severity,
                row,
            }));
            if out.is_empty() {
                out.push(Reason::GeneratorInDoubt);
            }
            out.extend(causes(s));
            out.extend(failures(s).map(Reason::Failures));
        }
        Outcome::Pass | Outcome::Interrupted => {
            out.extend(little(s));
            out.extend(slower(s));
            out.extend(causes(s));
            let all = [failures(s).map(Reason::Failures), check(s), spikes(s), closest(s)];
            out.extend(all.into_iter().flatten());
        }
        Outcome::Fail => {
            out.extend(causes(s));
            out.extend(spikes(s));
            out.extend(failures(s).filter(|all| !is_told(s, all)).map(Reason::Failures));
            out.extend(
                [answer(s), failing(s), check(s), low_samples(s), slowest(s), phase(s)].into_iter().flatten(),
            );
        }
    }
    out
}

fn causes(s: &Summary) -> impl Iterator<Item = Reason<'_>> {
    // The outage is a reason itself.
    let is_told = outage::gone(s).next().is_some();
    let told = s.causes.iter().filter(move |cause| !(is_told && cause.is(CauseKind::ServiceOutage)));
    told.take(CAUSES).map(|row| Reason::Cause { cause: row.code(), certainty: row.certainty, row })
}

/// Whether an outage or a status as a cause has said all that the failures say.
fn is_told(s: &Summary, all: &Failures<'_>) -> bool {
    let in_outage = outage::gone(s).any(|gone| gone.outage.failed_requests >= all.failed_requests);
    let is_one_kind = all.first.count == all.failed_requests && all.burst.is_none();
    let is_cause = s.causes.iter().take(CAUSES).any(|cause| match &cause.evidence {
        Evidence::Status { failures, .. } => failures.failed_count == all.failed_requests,
        _ => false,
    });
    in_outage || is_one_kind && is_cause
}

/// The service became slower during the run, which no threshold noticed.
fn slower(s: &Summary) -> Option<Reason<'_>> {
    let is_slower = |row: &&Caution| match row.evidence {
        caution::Evidence::LevelShift { before_ns, after_ns, .. } => after_ns > before_ns,
        _ => false,
    };
    let row = s.cautions.iter().find(is_slower)?;
    Some(Reason::Doubt { caution: row.kind, severity: row.severity, row })
}

/// A pass with little evidence.
fn little(s: &Summary) -> Option<Reason<'_>> {
    let is_few = s.totals.requests < samples_needed(0.5) && s.streams.is_empty();
    let is_short = s.cautions.iter().any(|c| c.kind == Kind::ShortRun);
    let (requests, measured_s) = (s.totals.requests, s.totals.measured_s);
    (is_few || is_short).then_some(Reason::LittleEvidence { requests, measured_s, has_few_requests: is_few })
}

/// The threshold that was closest to being missed, among those that the user set, if any: a default limit of 99%
/// leaves no room for a margin.
fn closest(s: &Summary) -> Option<Reason<'_>> {
    let written = s.thresholds.iter().filter(|t| !t.is_default).count();
    // Of `error_rate == 0%` there is no margin.
    // Nor is an outage that there was not far away from anything.
    let is_of_outages = |t: &ThresholdResult| t.subject == "longest_outage" && t.is_default;
    let far = |t: &ThresholdResult| t.margin.filter(|_| !is_of_outages(t)).unwrap_or(f64::INFINITY).abs();
    let told = s.thresholds.iter().filter(|t| !(written > 0 && t.is_default));
    let row = told.min_by(|a, b| far(a).total_cmp(&far(b)))?;
    Some(Reason::ClosestThreshold(Closest {
        threshold: &row.text,
        observed: row.observed,
        limit: row.limit,
        margin: row.margin,
        thresholds_count: s.thresholds.len(),
        explicit_count: written,
        row,
    }))
}

/// The gap between the offered and the achieved rate, if that threshold was missed.
fn low_samples(s: &Summary) -> Option<Reason<'_>> {
    let offered = s.offered.as_ref().filter(|_| missed(s, "achieved"))?;
    let (arrivals_queued, arrivals_not_started) = (offered.arrivals_queued, s.totals.arrivals_not_started);
    let in_flight_at_end = s.totals.in_flight_at_end;
    let is_unanswered = |class: Fault| class.is_below_http() && class.side() != Side::Client;
    let no_response = s.errors.iter().filter(|row| is_unanswered(row.class)).map(|row| row.count).sum();
    let is_known = arrivals_queued > 0 || arrivals_not_started > 0 || no_response > 0 || in_flight_at_end > 0;
    is_known.then_some(Reason::NotKeptUp {
        arrivals: offered.arrivals,
        arrivals_queued,
        arrivals_not_started,
        no_response,
        in_flight_at_end,
    })
}

/// `None` where it has too few samples.
fn p99_ns(times: &Times) -> Option<u64> {
    let p99 = times.percentiles.iter().find(|p| (p.q - 0.99).abs() < 1e-9)?;
    times.quantile(0.99).value_ns().map(|_| p99.value_ns)
}

/// The request with the longest p99 of those that a missed threshold on times is about.
fn slowest(s: &Summary) -> Option<Reason<'_>> {
    let of = |row: &SeriesRow| p99_ns(&row.response_time);
    let about: Vec<&str> = s
        .thresholds
        .iter()
        .filter(|t| t.is_beyond())
        .filter_map(|t| t.subject.strip_prefix("response_time"))
        .collect();
    let is_asked = |row: &SeriesRow| {
        let own = format!("{{request: {}}}", row.name);
        about.iter().any(|scope| !scope.starts_with('{') || scope.starts_with(&own))
    };
    let rows = s.requests.iter().filter(|row| !row.is_stream && is_asked(row));
    let row = rows.max_by_key(|row| of(row).unwrap_or(0))?;
    let p99_ns = of(row).filter(|_| missed(s, "response_time") && s.requests.len() > 1)?;
    Some(Reason::SlowestRequest { request: &row.name, p99_ns, samples: row.response_time.count })
}

/// Which part of the time is the longest, where a threshold on times was missed.
fn phase(s: &Summary) -> Option<Reason<'_>> {
    const TOLD: u64 = 1_000;
    let p = &s.phases;
    let all = [
        (&p.connection_wait, Phase::ConnectionWait),
        (&p.time_to_first_byte, Phase::TimeToFirstByte),
        (&p.download, Phase::Download),
    ];
    let known = all.into_iter().filter(|(short, _)| short.count >= TOLD);
    let (short, phase) = known.max_by_key(|(short, _)| short.p99_ns.unwrap_or(0))?;
    let p99_ns = short.p99_ns.filter(|_| missed(s, "response_time"))?;
    Some(Reason::LongestPhase { phase, p99_ns, samples: short.count })
}
