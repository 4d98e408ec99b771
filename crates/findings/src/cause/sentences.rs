//! Causes in words: what each is, what speaks for it and what to do, made here and nowhere else.

use super::Kind;
use super::evidence::{Absence, Evidence, Failures, ResourceKind, ServicePart, Stretch};
use plimsoll_plan::phrase::{
    bytes_f64, bytes_per_s, chosen_ns, count, counted, duration_f64_ns, duration_ns, rate_per_s, ratio,
};

/// One clause, as it would be said if it were certain.
pub(super) fn sentence(kind: Kind, evidence: &Evidence) -> String {
    let usual = || kind.sentence().to_owned();
    match evidence {
        Evidence::OneRequest { request, .. } => format!("request `{}` fails", quoted(request)),
        Evidence::Status { status, is_in_sentence: true, .. } => format!("{} (status {status})", usual()),
        Evidence::PartGone { part: ServicePart::Request, name, .. } => {
            format!("the service stopped responding to request `{}`", quoted(name))
        }
        Evidence::PartGone { part: ServicePart::Address, name, .. } => {
            format!("the service stopped responding at address `{}`", quoted(name))
        }
        Evidence::Gone { absence, .. } => match absence {
            Absence::NothingListens => "the service stopped: nothing listens on its port",
            Absence::OnlyErrors => "the service responds only with errors",
            Absence::WentAway => "the service stopped",
            Absence::NoAnswer => "the service stopped responding",
        }
        .to_owned(),
        Evidence::SlowRequest { request, .. } => format!("request `{}` is slow", quoted(request)),
        Evidence::Saturated { resource_kind: bottleneck, resource, .. } => match bottleneck {
            ResourceKind::ListenQueue => usual(),
            ResourceKind::Thread => {
                format!("one thread of the service is saturated (`{}`)", quoted(resource))
            }
            ResourceKind::Resource => format!("`{}` is saturated", quoted(resource)),
        },
        Evidence::Refusals { .. }
        | Evidence::Failed(_)
        | Evidence::FailedAs { .. }
        | Evidence::FailedConnecting(_)
        | Evidence::Status { is_in_sentence: false, .. }
        | Evidence::Check { .. }
        | Evidence::Idle { .. }
        | Evidence::Fresh { .. }
        | Evidence::TimedOut { .. }
        | Evidence::Pauses { .. }
        | Evidence::Bodies { .. }
        | Evidence::TwoSpeeds { .. }
        | Evidence::Offered { .. }
        | Evidence::Dropped { .. }
        | Evidence::Threw { .. }
        | Evidence::Queue { .. }
        | Evidence::FirstByte { .. }
        | Evidence::Resent { .. }
        | Evidence::Memory { .. }
        | Evidence::Caution(_) => usual(),
    }
}

/// What to do about it, as an imperative.
pub(super) fn advice(kind: Kind, evidence: &Evidence) -> &'static str {
    if let Evidence::FirstByte { is_unexplained: true, .. } = evidence {
        return "look for locks, waits for another service, or a limit without a monitor";
    }
    kind.advice()
}

/// What would make it certain, as an imperative.
pub(super) fn confirmation(kind: Kind, evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Pauses { spikes_from_s, .. } if !spikes_from_s.is_empty() => {
            "compare these times with the server's log (garbage collection, checkpoints, locks, timers)"
        }
        _ => kind.confirmation(),
    }
}

/// The numbers that speak for it.
pub(super) fn text(kind: Kind, evidence: &Evidence) -> String {
    match evidence {
        Evidence::Refusals { attempts_count, failure } => {
            format!("{}: {}", counted(*attempts_count, "attempt"), failure.sentence())
        }
        Evidence::OneRequest {
            request: _,
            failures,
            failure,
            others_failed_count,
            others_requests_count,
        } => {
            let how = failure.map_or(String::new(), |class| format!(" (`{}`)", class.name()));
            format!(
                "{} of {} failed{how}; of the others {} of {}",
                count(failures.failed_count),
                count(failures.requests_count),
                count(*others_failed_count),
                count(*others_requests_count)
            )
        }
        Evidence::Failed(failures) => share(*failures),
        Evidence::FailedAs { failures, failure } => format!("{}: {}", share(*failures), failure.sentence()),
        Evidence::FailedConnecting(failures) => format!("{}, while connecting", share(*failures)),
        Evidence::Status { failures, status, is_in_sentence: _ } => {
            let subject = if kind == Kind::ServerErrors { "the server" } else { "it" };
            format!("{subject} returned status {status} for {}", share(*failures))
        }
        Evidence::Check { check, request, failed_count, evaluations_count: made_count } => format!(
            "check `{}`{} failed {} of {}",
            quoted(check),
            // A check of a program belongs to no request.
            if request.is_empty() { String::new() } else { format!(" of request `{}`", quoted(request)) },
            count(*failed_count),
            counted(*made_count, "time")
        ),
        Evidence::Idle { failures, idle_min_ns, idle_max_ns } => format!(
            "{} on connections idle for {} to {}; the server kept serving the others",
            share(*failures),
            duration_ns(*idle_min_ns),
            duration_ns(*idle_max_ns)
        ),
        Evidence::Fresh { failures, serving_connections_count, succeeded_count } => format!(
            "{} failed, all on fresh connections; {} carried the {} that succeeded",
            share(*failures),
            counted(*serving_connections_count, "connection"),
            count(*succeeded_count)
        ),
        Evidence::TimedOut { failures, after_ns, others_p50_ns } => {
            let others = others_p50_ns
                .map_or(String::new(), |p50| format!("; the others took {} (p50)", duration_ns(p50)));
            format!("{} timed out after {}{others}", share(*failures), duration_ns(*after_ns))
        }
        Evidence::PartGone { part, name, stretch } => {
            let what = match part {
                ServicePart::Request => format!("no request {name} succeeded"),
                ServicePart::Address => format!("no request to address {name} succeeded"),
            };
            format!("{what} {}; they waited for a response", span(*stretch))
        }
        Evidence::Gone { absence: _, stretch, failed_count, waiting_count } => format!(
            "no request succeeded {}; {} failed then, {} were waiting",
            span(*stretch),
            count(*failed_count),
            count(*waiting_count)
        ),
        Evidence::Pauses { longest_ns, silent_ratio, arrivals_p99_ns, spikes_from_s } => {
            let began = match began(spikes_from_s) {
                Some(times) => format!("slow seconds began at {times} of the run; "),
                None => String::new(),
            };
            format!(
                "no response for up to {} while requests waited, {} of the time; {began}with arrivals at random \
                 times, p99 would be at least {}",
                duration_ns(*longest_ns),
                ratio(*silent_ratio),
                duration_ns(*arrivals_p99_ns)
            )
        }
        Evidence::SlowRequest { request: _, p50_ns, requests_count, others_p50_ns } => format!(
            "p50 {} ({}), {} at most for the others",
            duration_ns(*p50_ns),
            counted(*requests_count, "request"),
            duration_ns(*others_p50_ns)
        ),
        Evidence::Bodies { body_ratio, body_bytes, body_ns, body_bytes_per_s } => format!(
            "{} of the time passes after the first byte: {} of body take {} ({})",
            ratio(*body_ratio),
            bytes_f64(*body_bytes),
            duration_f64_ns(*body_ns),
            bytes_per_s(*body_bytes_per_s)
        ),
        Evidence::TwoSpeeds { slow_ratio, slow_ns, fast_ns } => format!(
            "{} take about {}, the others about {}",
            ratio(*slow_ratio),
            duration_ns(*slow_ns),
            duration_ns(*fast_ns)
        ),
        Evidence::Offered { offered_per_s, achieved_per_s, service_min_ns, service_p50_ns, queued_count } => {
            let queued = match queued_count {
                0 => String::new(),
                n => format!("; {} waited for a connection", counted(*n, "arrival")),
            };
            format!(
                "offered {}, achieved {}; service time min {}, p50 {}{queued}",
                rate_per_s(*offered_per_s),
                rate_per_s(*achieved_per_s),
                duration_f64_ns(*service_min_ns),
                duration_f64_ns(*service_p50_ns),
            )
        }
        Evidence::Dropped {
            dropped_count,
            arrivals_count,
            initial_users_count,
            users_max_count,
            service_min_ns,
            service_p50_ns,
        } => format!(
            "{} of {} found no free user (`preAllocatedVUs` {}, `maxVUs` {}); service time min {}, p50 {}",
            count(*dropped_count),
            counted(*arrivals_count, "arrival"),
            count(*initial_users_count),
            count(*users_max_count),
            duration_f64_ns(*service_min_ns),
            duration_f64_ns(*service_p50_ns),
        ),
        Evidence::Threw { failed_count, iterations_count } => {
            format!("{} of {}", count(*failed_count), counted(*iterations_count, "iteration"))
        }
        Evidence::Queue { users_count, p50_ns, p90_ns, min_ns, rate_per_s: rate } => format!(
            "with {} users p50 is {} and p90 {}, and the fastest took {}; {} at all times",
            count(*users_count),
            duration_f64_ns(*p50_ns),
            duration_f64_ns(*p90_ns),
            duration_f64_ns(*min_ns),
            rate_per_s(*rate)
        ),
        Evidence::FirstByte { p50_ns, p99_ns, round_trip_ns, is_unexplained: _ } => format!(
            "time to first byte p50 {}, p99 {}; one round trip takes {}",
            duration_ns(*p50_ns),
            duration_ns(*p99_ns),
            duration_ns(*round_trip_ns)
        ),
        Evidence::Resent { segments_count, requests_count, slowest_connect_ns } => format!(
            "{} retransmitted in {}; slowest connection {}",
            counted(*segments_count, "segment"),
            counted(*requests_count, "request"),
            duration_ns(*slowest_connect_ns)
        ),
        Evidence::Memory { resource, growth_bytes, requests_count } => format!(
            "{resource}: {} more over {}, {} per request",
            bytes_f64(*growth_bytes),
            counted(*requests_count, "request"),
            bytes_f64(growth_bytes / (*requests_count).max(1) as f64)
        ),
        Evidence::Saturated { saturation, .. } => saturation.text(),
        Evidence::Caution(evidence) => evidence.text(),
    }
}

/// The first of these instants: `1.2 s, 5.2 s, and 9.2 s`.
fn began(at_s: &[f64]) -> Option<String> {
    const TOLD: usize = 3;
    let told: Vec<String> = at_s.iter().take(TOLD).map(|at_s| instant(*at_s)).collect();
    match told.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [one, two] => Some(format!("{one} and {two}")),
        [others @ .., last] => Some(format!("{}, and {last}", others.join(", "))),
    }
}

/// A name between backticks.
fn quoted(name: &str) -> String {
    name.replace('`', "'")
}

/// `1,204 of 30,000 requests (4.01%)`
fn share(of: Failures) -> String {
    let (n, all) = (of.failed_count, of.requests_count);
    format!("{} of {} ({})", count(n), counted(all, "request"), ratio(n as f64 / all.max(1) as f64))
}

/// `from 3.1 s to the end`
pub fn span(of: Stretch) -> String {
    let from = instant(of.from_s);
    match of.is_open_ended {
        true => format!("from {from} to the end"),
        false => format!("from {from} to {}", instant(of.to_s)),
    }
}

/// An instant with the digits that it is known with: the nearest 0.1 s.
pub fn instant(at_s: f64) -> String {
    match (at_s.max(0.0) * 10.0).round() as u64 {
        0 => "0 s".into(),
        tenths => chosen_ns(tenths * 100_000_000),
    }
}
