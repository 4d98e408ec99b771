//! What the samples cannot say: too few, cut off, or bent by the network.

use super::Evidence;
use crate::caution::Kind;
use crate::cells::Cells;
use crate::rows::statuses;
use crate::stale::{self, Ended};
use crate::summary::{Caution, Severity};
use crate::times::PRINTED;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesSum};
use plimsoll_plan::origin::Origin;
use plimsoll_plan::phrase::{chosen_ns, count, counted, duration_f64_ns, duration_ns, quantile_name, ratio};
use plimsoll_plan::request::url;
use plimsoll_plan::sample::REDIRECT;
use plimsoll_plan::threshold::{Statistic, Subject, Threshold};
use plimsoll_plan::{Fault, Outline, Target};
use plimsoll_stats::samples_needed;

pub(super) fn samples(e: &Evidence, into: &mut Vec<Caution>) {
    // Without a single finished request everything else is beside the point.
    if e.facts.has_measured() {
        into.extend(too_few(e));
    }
    into.extend(timeouts(e));
    into.extend(in_flight(e));
    into.extend(mean(e));
    into.extend(surplus(e));
    into.extend(redirects(e));
}

/// Nothing but redirects: the pages behind them were not measured.
fn redirects(e: &Evidence) -> Option<Caution> {
    let statuses = statuses(&e.facts.all);
    let answered: u64 = statuses.range("200".to_owned().."400".to_owned()).map(|(_, n)| n).sum();
    let redirects: Vec<(&str, u64)> = statuses
        .iter()
        .filter(|(status, _)| matches!(status.as_str(), "301" | "302" | "303" | "307" | "308"))
        .map(|(status, n)| (status.as_str(), *n))
        .collect();
    let all: u64 = redirects.iter().map(|(_, n)| n).sum();
    let is_meant = e.facts.series.iter().any(|one| one.request.redirect_expected);
    let followed = e.facts.all.sum(SeriesSum::Redirects) + e.facts.all.fault(Fault::Redirects);
    if all == 0 || all < answered || is_meant || followed > 0 {
        return None;
    }
    let counts: Vec<String> =
        redirects.iter().map(|(status, n)| format!("{status} x {}", count(*n))).collect();
    let mut samples = e.facts.machines.iter().flat_map(|machine| &machine.origin.samples);
    let location = samples.find(|sample| sample.check == REDIRECT).map(|sample| sample.found.as_str());
    let led = location.map_or(String::new(), |location| format!("; the first led to {location}"));
    let mut caution = Kind::RedirectsNotFollowed.raise(format!("{}, not followed{led}", counts.join(", ")));
    if let Some(elsewhere) = location.filter(|location| is_elsewhere(location, &e.facts.plan)) {
        caution.advice =
            format!("load {elsewhere} itself: redirects to another host, port or scheme are never followed");
    }
    Some(caution)
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

fn surplus(e: &Evidence) -> Option<Caution> {
    let n = e.facts.run.of(RunSum::Surplus);
    (n > 0).then(|| {
        let evidence =
            format!("behind {}; each cost its connection, the answers count", counted(n, "answer"));
        Kind::SurplusBytes.raise(evidence)
    })
}

/// A warning for a percentile that decides, a note for one that is only shown. Whether more samples could turn the
/// answer is for the threshold's own bounds to say.
fn too_few(e: &Evidence) -> Option<Caution> {
    let deciding = e.facts.plan.thresholds.iter().zip(e.thresholds).filter(|(_, j)| j.too_few_samples);
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
    let (samples, subject, first) = thin.first()?.clone();
    let names: Vec<String> = thin
        .iter()
        .map(
            |(_, of, q)| {
                if *of == subject { quantile_name(*q) } else { format!("{of} {}", quantile_name(*q)) }
            },
        )
        .collect();
    let mut caution = Kind::TooFewSamples.raise(format!(
        "{} for {subject} {}; {} needs {}",
        counted(samples, "sample"),
        names.join(", "),
        quantile_name(first),
        count(samples_needed(first))
    ));
    caution.weight = weight;
    // All of one subject are a range.
    if let (Some((_, _, low)), Some((_, _, high))) = (thin.first(), thin.last()) {
        let [low, high] = [low, high].map(|q| quantile_name(*q));
        caution.title =
            format!("too few samples for {}", if low == high { low } else { format!("{low} to {high}") });
    }
    Some(caution)
}

/// As it is written in a threshold.
fn subject(threshold: &Threshold) -> String {
    let scope = threshold.scope.as_ref().map_or(String::new(), |scope| scope.to_string());
    format!("{}{scope}", threshold.subject.name())
}

/// From which printed percentile on the values are lower bounds.
fn bounded_from(e: &Evidence) -> Option<f64> {
    e.response.percentiles.iter().find(|p| p.at_least).map(|p| p.q)
}

fn timeouts(e: &Evidence) -> Option<Caution> {
    let late = e.facts.all.fault(Fault::Timeout);
    let unconnected = e.facts.all.fault(Fault::ConnectTimeout);
    let all = late.saturating_add(unconnected);
    if all == 0 {
        return None;
    }
    let share = ratio(all as f64 / e.facts.finished().max(1) as f64);
    let bounds = match bounded_from(e) {
        Some(q) => format!("percentiles from {} on are lower bounds", quantile_name(q)),
        None => "the printed percentiles lie below them; the maximum is a lower bound".into(),
    };
    let connecting = match unconnected {
        0 => String::new(),
        n => format!(", {} of them while connecting", count(n)),
    };
    let plan = &e.facts.plan;
    let after_ns = if late > 0 { plan.timeout_ns } else { plan.limits.connect_timeout_ns };
    Some(Kind::TimeoutsCensor.raise(format!(
        "{} ({share} of the requests{connecting}) after {}: {bounds}",
        counted(all, "time-out"),
        chosen_ns(after_ns)
    )))
}

/// A few requests are always under way at the stop of a closed model; they matter when they are many.
fn in_flight(e: &Evidence) -> Option<Caution> {
    let run = &e.facts.run;
    let (sent, waiting) = (run.of(RunSum::InFlightAtStop), run.of(RunSum::NeverStarted));
    let open = sent.saturating_add(waiting);
    let timed_out = e.facts.all.fault(Fault::Timeout) > 0 || e.facts.all.fault(Fault::ConnectTimeout) > 0;
    let bounded = bounded_from(e).filter(|_| !timed_out);
    let many = open as f64 > e.limits.in_flight * (e.response.count as f64 + e.response.censored as f64);
    if open == 0 || !(many || bounded.is_some()) {
        return None;
    }
    let bounds = match bounded {
        Some(q) => format!("; percentiles from {} on are lower bounds", quantile_name(q)),
        None => String::new(),
    };
    let waiting = match waiting {
        0 => String::new(),
        n => format!(" and {} that had not been sent", count(n)),
    };
    Some(Kind::InFlightCensors.raise(format!(
        "{} without an answer{waiting}, against {} finished{bounds}",
        counted(sent, "request"),
        count(e.facts.finished())
    )))
}

/// Relative width of a histogram's bucket: 128 of them to an octave, and the first is the widest.
const BUCKET_WIDTH: f64 = 1.0 / 128.0;

fn mean(e: &Evidence) -> Option<Caution> {
    let mean_ns = e.response.mean_ns?;
    // A p95 that is only a lower bound may as well lie above the mean.
    let p95_ns = e.response.percentiles.iter().find(|p| p.q == 0.95 && !p.at_least)?.value_ns;
    let samples =
        e.response.count.saturating_add(if e.response.mean_at_least { e.response.censored } else { 0 });
    let at_least = if e.response.mean_at_least { "at least " } else { "" };
    // The mean is exact, the percentile is its bucket's: of times that are all alike one may lie a hair above the
    // other.
    (samples >= e.limits.mean_samples && mean_ns > p95_ns as f64 * (1.0 + BUCKET_WIDTH)).then(|| {
        Kind::MeanAboveP95.raise(format!(
            "mean {at_least}{}, p95 {}: more than 95 of 100 requests were faster than the mean",
            duration_f64_ns(mean_ns),
            duration_ns(p95_ns)
        ))
    })
}

/// The way to the target.
pub(super) fn network(e: &Evidence, into: &mut Vec<Caution>) {
    let (again, sent) = (e.client.retransmits, e.facts.all.sum(SeriesSum::Sent));
    let share = again as f64 / sent.max(1) as f64;
    if again >= e.limits.retransmits_least && share > e.limits.retransmits {
        let mut caution = Kind::Retransmits.raise(format!(
            "{} sent again in {} ({})",
            counted(again, "segment"),
            counted(sent, "request"),
            ratio(share)
        ));
        if e.facts.is_same_machine() {
            caution.title = "TCP segments were retransmitted on loopback".into();
            caution.advice =
                "loopback loses nothing: look for a full listen queue (`nstat -az TcpExtListenDrops`), a \
                              process that had stopped or got no CPU, or a firewall rule that drops"
                    .into();
        }
        into.push(caution);
    }
    into.extend(stale(e));
}

/// Reused connections that ended under a request; where the server itself went away they are no news of their own.
fn stale(e: &Evidence) -> Option<Caution> {
    let ended = stale::ended(e.facts).filter(|ended| *ended != Ended::Gone)?;
    let idle = e.facts.run.spread(RunHist::Stale);
    let after = match (idle.min(), idle.max()) {
        (Some(min), Some(max)) if max > 0 => {
            format!(", idle for {} to {} before", duration_ns(min), duration_ns(max))
        }
        _ => String::new(),
    };
    let mut caution = Kind::StaleConnections.raise(format!(
        "{} on a reused connection that the server closed before the first byte{after}",
        counted(e.facts.all.fault(Fault::StaleConnection), "request")
    ));
    if ended == Ended::InUse {
        caution.title = "the server closed connections in use".into();
        caution.advice = "these connections were not idle, so no idle timeout closed them: look in the log of the \
                          server or its proxy for a worker that ended, a restart, or a limit on requests per connection"
            .into();
    }
    Some(caution)
}
