//! Why the result is what it is, as sentences. A certain cause is a fact, any other stands with its strength and with
//! what would tell.

use super::{
    CHECKS, COURSE, ERRORS, FINDINGS, Hint, METHOD, REQUESTS, SYSTEM, THRESHOLDS, capital, instant, outage,
    quoted, sentence, why,
};
use crate::anchor::Anchor;
use crate::format::{chosen_s, count, counted, duration_ns, quantile_name, quantity, ratio};
use crate::words;
use plimsoll_analysis::cause::{Cause, Claim, Evidence, Kind};
use plimsoll_analysis::next::{
    Burst, Closest, Failed, Failures, LoadRise, Phase, Reason, SlowSinceRise, SlowSpikes, load_rise,
};
use plimsoll_analysis::summary::{Spike, Summary};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::phrase::is_harmful;

pub(super) fn hint(reason: &Reason<'_>) -> Hint {
    match reason {
        Reason::Outage(gone) => why(outage::describe(gone), COURSE),
        Reason::Doubt { row, .. } => {
            why(format!("{}: {}", capital(&row.title()), sentence(&row.evidence_text())), FINDINGS)
        }
        Reason::GeneratorInDoubt => why("The load generator or its record is unreliable.".into(), FINDINGS),
        Reason::Cause { row, .. } => why(cause(row), describe(row)),
        Reason::LittleEvidence { requests, measured_s, has_few_requests } => {
            let (n, length) = (counted(*requests, "request"), chosen_s(*measured_s));
            let text = match has_few_requests {
                true => format!("Based on only {n} in {length}. Run longer before you rely on it."),
                false => format!(
                    "The run was short ({length}). Run for at least 10 s, ideally 60 s, before you rely on it."
                ),
            };
            why(text, METHOD)
        }
        Reason::Failures(all) => why(failures(all), ERRORS),
        Reason::SlowSinceRise(slow) => why(slow_since_rise(slow), COURSE),
        Reason::Spikes(slow) => why(spikes(slow), COURSE),
        Reason::ClosestThreshold(one) => why(closest(one), THRESHOLDS),
        Reason::Answer { sample, .. } => why(answer(sample), ERRORS),
        Reason::FailingRequest { request, failed_requests: failed, requests, error_ratio } => {
            let (failed, all, share) = (count(*failed), counted(*requests, "request"), ratio(*error_ratio));
            let name = quoted(request);
            why(format!("Most failures: request {name}, {failed} of its {all} ({share})."), REQUESTS)
        }
        Reason::FailedCheck { check, request, failures: failed, evaluations: made, is_judged } => {
            let (failed, made) = (count(*failed), counted(*made, "time"));
            let name = quoted(check);
            // A check of a program belongs to no request.
            let of =
                if request.is_empty() { String::new() } else { format!(" of request {}", quoted(request)) };
            let judged = if *is_judged {
                ""
            } else {
                "; no threshold is on checks, so it has no effect on the verdict"
            };
            why(format!("The check {name}{of} failed {failed} of {made}{judged}."), CHECKS)
        }
        Reason::NotKeptUp {
            arrivals,
            arrivals_queued,
            arrivals_not_started,
            no_response,
            in_flight_at_end,
        } => {
            let all = [
                (*arrivals_queued, "waited for a connection"),
                (*arrivals_not_started, "never started"),
                (*no_response, "got no response"),
                // Of a queue, the end shows only a part.
                (if *arrivals_queued > 0 { 0 } else { *in_flight_at_end }, "were still in flight at the end"),
            ];
            let told: Vec<String> =
                all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
            let (arrivals, how) = (counted(*arrivals, "arrival"), told.join(", "));
            // Failed requests do not show a queue.
            if *arrivals_queued + *arrivals_not_started == 0 && *no_response > 0 {
                return why(format!("`achieved` counts responses: of {arrivals}, {how}."), COURSE);
            }
            why(format!("The offered rate was not achieved: of {arrivals}, {how}."), COURSE)
        }
        Reason::SlowestRequest { request, p99_ns, samples } => {
            let (name, p99) = (quoted(request), duration_ns(*p99_ns));
            let (q, samples) = (quantile_name(0.99), counted(*samples, "sample"));
            let text = format!("The slowest request is {name}: {q} response time {p99} ({samples}).");
            why(text, REQUESTS)
        }
        Reason::LongestPhase { phase, p99_ns, samples } => {
            let what = match phase {
                Phase::ConnectionWait => ("waiting for a free connection", ""),
                Phase::TimeToFirstByte => ("time to first byte", ": the server was processing or queuing"),
                Phase::Download => ("download of the response body", ""),
            };
            let (p99, samples) = (duration_ns(*p99_ns), counted(*samples, "sample"));
            let text = format!("Most of the response time is {} (p99 {p99}, {samples}){}.", what.0, what.1);
            why(text, &[Anchor::Phases, Anchor::Times])
        }
    }
}

/// What a page shows of them.
const FAILING: &[Kind] = &[
    Kind::FailingRequest,
    Kind::RateLimited,
    Kind::CredentialsRejected,
    Kind::NotFound,
    Kind::RequestRejected,
    Kind::CheckFailed,
    Kind::InvalidResponses,
    Kind::TruncatedResponses,
    Kind::TlsFailed,
    Kind::StreamsReset,
    Kind::IdleTimeout,
    Kind::ConnectionLimit,
    Kind::UpstreamFailed,
    Kind::ServerOverloaded,
    Kind::ServerErrors,
    Kind::ConnectionsClosed,
    Kind::ConnectionsRefused,
    Kind::HostUnreachable,
    Kind::NoResponse,
];

/// Where a page shows what a cause is about.
pub(super) fn describe(cause: &Cause) -> &'static [Anchor] {
    let is_any = |kinds: &[Kind]| kinds.iter().any(|kind| cause.is(*kind));
    if is_any(FAILING) {
        ERRORS
    } else if is_any(&[Kind::ThreadSaturated, Kind::ResourceSaturated, Kind::MemoryLeak]) {
        SYSTEM
    } else {
        COURSE
    }
}

/// `The server's listen queue is full: 12 of 40 connections ...`
fn cause(cause: &Cause) -> String {
    let (mut what, evidence, confirmation) = (cause.sentence(), cause.evidence_text(), cause.confirmation());
    // The evidence names the status.
    if let (Evidence::Status { .. }, Some(at)) = (&cause.evidence, what.find(" (status ")) {
        what.truncate(at);
    }
    match cause.certainty {
        // That it returned errors says all of it.
        Claim::Certain if cause.is(Kind::ServerErrors) => sentence(&capital(&evidence)),
        Claim::Certain => sentence(&format!("{}: {evidence}", capital(&what))),
        Claim::Likely => {
            format!("Probably {what}: {} To confirm, {}", sentence(&evidence), sentence(confirmation))
        }
        Claim::Possible => {
            format!("Possibly {what}: {} To find out, {}", sentence(&evidence), sentence(confirmation))
        }
    }
}

fn closest(one: &Closest<'_>) -> String {
    let all = one.thresholds_count;
    // The defaults leave no distance from their limits that would say anything.
    if one.explicit_count == 0 {
        let met = match all {
            1 => "The default threshold was met".to_owned(),
            2 => "Both default thresholds were met".to_owned(),
            _ => format!("All {all} default thresholds were met"),
        };
        return format!("{met}; set a latency threshold to judge response times.");
    }
    let met = match (all, one.explicit_count) {
        (1, _) => "The threshold was met".to_owned(),
        (_, 1) if all > 1 => format!("All {all} thresholds were met; yours"),
        (_, n) if n < all => format!("All {all} thresholds were met; the closest of your {n}"),
        _ => format!("All {all} thresholds were met; the closest"),
    };
    let margin = match words::margin(one.row) {
        none if none.is_empty() => none,
        margin => format!(", {margin}"),
    };
    let observed = words::observed(one.row);
    format!("{met}: {} is {observed}{margin}.", quoted(one.threshold))
}

/// How much failed, of which kinds, and when where it came together.
fn failures(all: &Failures<'_>) -> String {
    let (n, of) = (count(all.first.count), counted(all.failed_requests, "failure"));
    let front = match (all.is_pass, all.first.count == all.failed_requests) {
        (true, true) => format!("{n} of {} failed", counted(all.requests, "request")),
        (true, false) => {
            format!(
                "{} of {} failed; {n} times",
                count(all.failed_requests),
                counted(all.requests, "request")
            )
        }
        (false, true) => format!("All {of}"),
        (false, false) => format!("{n} of {of}"),
    };
    let second = all.second.as_ref().map_or(String::new(), |second| {
        let more = match all.more_kinds {
            0 => String::new(),
            kinds => format!(", and {}", counted(kinds as u64, "more kind")),
        };
        format!("; {}: {}{more}", counted(second.count, "time"), kind(second))
    });
    let when = all.burst.as_ref().map_or(String::new(), |burst| format!("; {}", came_together(burst)));
    format!("{front}: {}{second}{when}.", kind(&all.first))
}

/// A kind of failure in words.
fn kind(failed: &Failed<'_>) -> String {
    let what = match failed.status {
        Some(most) if most.is_nearly_all => format!("status {}", most.status),
        Some(most) => format!(
            "{}; most often status {} ({})",
            failed.row.sentence,
            most.status,
            counted(most.count, "time")
        ),
        None => failed.row.sentence.to_owned(),
    };
    format!("{what} (`{}`)", failed.class.name())
}

/// `of all failures 700 came between 2m 30s and 2m 36s`
fn came_together(burst: &Burst) -> String {
    let [from, to] = [burst.from_s, burst.to_s].map(instant);
    match burst.is_all {
        true => format!("all between {from} and {to}"),
        false => format!("{} of all failures between {from} and {to}", count(burst.failed_requests)),
    }
}

/// What an example of these failures said.
fn answer(sample: &FailureExample) -> String {
    const LONGEST: usize = 100;
    let clean: String = sample.excerpt.trim().chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
    let mut told: String = clean.chars().take(LONGEST).collect();
    if told.len() < clean.len() {
        told.push_str("...");
    }
    let request = quoted(&sample.request);
    format!("A response with status {} to {request}: {}", sample.status, quoted(&told))
}

/// `as the load rose to 320 arrivals/s`, where it did within two seconds of the beginning.
pub(crate) fn with_load(s: &Summary, spike: &Spike) -> Option<String> {
    load_rise(s, spike).map(rose)
}

fn rose(load: LoadRise) -> String {
    let what = if load.is_open { "arrivals/s" } else { "users" };
    format!("as the load rose to {} {what}", quantity(load.to))
}

fn slow_since_rise(slow: &SlowSinceRise) -> String {
    let (peak, rest) = (duration_ns(slow.peak_p95_ns), duration_ns(slow.baseline_p95_ns));
    let (from, length, whole) = (instant(slow.from_s), chosen_s(slow.slow_s), chosen_s(slow.measured_s));
    let rose = rose(slow.load);
    let others = match slow.others_from_s.as_slice() {
        [] => String::new(),
        [one] => format!(" Another spike started at {}.", instant(*one)),
        [first, ..] => {
            format!(" {} more spikes followed, the first at {}.", slow.others_from_s.len(), instant(*first))
        }
    };
    format!("p95 rose from {rest} to {peak} at {from}, {rose} (slow for {length} of {whole}).{others}")
}

fn spikes(slow: &SlowSpikes) -> String {
    let (peak, rest) = (duration_ns(slow.peak_p95_ns), duration_ns(slow.baseline_p95_ns));
    let spikes = counted(slow.spikes as u64, "spike");
    let first = instant(slow.first_from_s);
    let when = match (slow.spikes, slow.pace_s) {
        (1, _) => format!("in 1 spike at {first}"),
        (_, Some(pace_s)) => format!("in {spikes}, about one every {}", chosen_s(pace_s)),
        (_, None) => format!("in {spikes}, the first at {first}"),
    };
    let (length, whole) = (chosen_s(slow.slow_s), chosen_s(slow.measured_s));
    format!("p95 rose from {rest} to {peak} {when} ({length} of {whole}).")
}
