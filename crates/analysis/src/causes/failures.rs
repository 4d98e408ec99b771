//! What failures say of their cause. The classes are facts; why a server closes or refuses is another question, and is
//! answered only where the rest of the run excludes the other answers.

use super::Case;
use crate::cause::{Cause, Claim, Kind};
use crate::cells::Cells;
use crate::stale::{self, Ended};
use crate::summary::{ErrorRow, SeriesRow};
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_plan::phrase::{count, counted, duration_ns, ratio};

/// A class is told from this share of all failures on.
const TOLD: f64 = 0.05;
/// A request fails altogether from this share on, and others do not below that.
const FAILS: f64 = 0.9;
const FAILS_NOT: f64 = 0.1;
/// Fewer failures of one request are chance.
const MIN_FAILURES: u64 = 3;

/// Causes of the failures, the class of most of them first.
pub(super) fn failures(case: &Case) -> Vec<Cause> {
    let s = case.s;
    let failed = s.totals.errors;
    let mut out: Vec<Cause> = one_request(case).into_iter().collect();
    let mut rows: Vec<&ErrorRow> = s.errors.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows.retain(|row| row.count as f64 >= failed as f64 * TOLD);
    for row in rows {
        out.extend(of_class(case, row));
    }
    out
}

/// Whether a service that is only overloaded fails like that.
pub(super) fn may_be_load(cause: &Cause) -> bool {
    const LOAD: [Kind; 8] = [
        Kind::NoResponse,
        Kind::ListenQueueFull,
        Kind::Overloaded,
        Kind::UpstreamFailed,
        Kind::ServerErrors,
        Kind::ConnectionsClosed,
        Kind::ConnectionLimit,
        Kind::ConnectionsRefused,
    ];
    LOAD.iter().any(|kind| cause.is(*kind))
}

/// One request of several that fails while the others do not.
fn one_request(case: &Case) -> Option<Cause> {
    let rows = &case.s.requests;
    let share = |row: &SeriesRow| row.errors as f64 / row.requests.max(1) as f64;
    let worst = rows.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let others = || rows.iter().filter(|row| !std::ptr::eq(*row, worst));
    let (failed, all): (u64, u64) =
        others().fold((0, 0), |(failed, all), row| (failed + row.errors, all + row.requests));
    let is_one = rows.len() > 1 && all > 0 && failed as f64 <= all as f64 * FAILS_NOT;
    if !is_one || worst.errors < MIN_FAILURES || share(worst) < FAILS {
        return None;
    }
    let name = worst.name.replace('`', "'");
    let class = worst.errors_by_class.iter().max_by_key(|(_, n)| **n).map(|(class, _)| *class);
    let how = class.map_or(String::new(), |class| format!(" (`{class}`)"));
    let evidence = format!(
        "{} of {} failed{how}; of the others {} of {}",
        count(worst.errors),
        count(worst.requests),
        count(failed),
        count(all)
    );
    Some(Kind::RequestFails.claim(Claim::Certain, evidence).saying(format!("request `{name}` fails")))
}

fn of_class(case: &Case, row: &ErrorRow) -> Option<Cause> {
    let evidence = share_of(case, row.count);
    match row.class {
        "http_status" => status(case, row),
        "check_failed" => Some(Kind::CheckFailed.claim(Claim::Certain, check(case).unwrap_or(evidence))),
        "malformed_response" | "dangerous_response" | "undecodable_body" => {
            Some(Kind::InvalidResponses.claim(Claim::Certain, format!("{evidence}: {}", row.sentence)))
        }
        "closed_mid_response" => {
            let claim = if case.is_local() { Claim::Certain } else { Claim::Likely };
            Some(Kind::ResponsesCutShort.claim(claim, evidence))
        }
        "tls_failed" | "tls_timeout" | "certificate_refused" => {
            Some(Kind::TlsRefused.claim(Claim::Certain, format!("{evidence}: {}", row.sentence)))
        }
        "stale_connection" => match stale::ended(case.facts)? {
            Ended::Idle => Some(idle(case, evidence)),
            Ended::InUse | Ended::Gone => Some(closed(case, evidence)),
        },
        "reset" | "closed_before_response" => {
            limited(case, row, &evidence).or_else(|| Some(closed(case, evidence)))
        }
        "connect_refused" => {
            // A listener whose queue is full drops; only one that is not there refuses.
            Some(Kind::ConnectionsRefused.claim(Claim::Likely, evidence))
        }
        "unreachable" => Some(Kind::Unreachable.claim(Claim::Certain, evidence)),
        "connect_timeout" => Some(match case.is_local() {
            true => Kind::ListenQueueFull.claim(Claim::Likely, format!("{evidence}, while connecting")),
            false => Kind::Unreachable.claim(Claim::Possible, format!("{evidence}, while connecting")),
        }),
        "timeout" => limited(case, row, &evidence).or_else(|| Some(unanswered(case, row))),
        _ => None,
    }
}

/// `1,204 of 30,000 requests (4.01 %)`
fn share_of(case: &Case, n: u64) -> String {
    let all = case.s.totals.requests;
    format!("{} of {} ({})", count(n), counted(all, "request"), ratio(n as f64 / all.max(1) as f64))
}

/// What statuses say: some of them name their cause themselves.
fn status(case: &Case, row: &ErrorRow) -> Option<Cause> {
    // A status that is more frequent than failures is one that the plan expects.
    let is_failing = |status: &str, n: u64| status.starts_with(['4', '5']) && n <= row.count;
    let failing = case.s.statuses.iter().filter(|(status, n)| is_failing(status, **n));
    let (status, n) = failing.max_by_key(|(_, n)| **n)?;
    let evidence = format!("{} with status {status}", share_of(case, *n));
    let certain = |kind: Kind| kind.claim(Claim::Certain, evidence.clone());
    Some(match status.as_str() {
        "429" => certain(Kind::RateLimited),
        "401" | "403" | "407" => certain(Kind::CredentialsRefused)
            .saying(format!("the server refuses the credentials (status {status})")),
        "404" | "410" => certain(Kind::NotFound),
        // Gateways say so of themselves; a service may say it, too.
        "502" | "504" => Kind::UpstreamFailed.claim(Claim::Likely, evidence),
        "503" => certain(Kind::Overloaded),
        s if s.starts_with('5') => certain(Kind::ServerErrors)
            .saying(format!("the server fails to process requests (status {status})")),
        _ => {
            certain(Kind::RequestRefused).saying(format!("the server refuses the request (status {status})"))
        }
    })
}

fn check(case: &Case) -> Option<String> {
    let row = case.s.checks.iter().max_by_key(|row| row.failed).filter(|row| row.failed > 0)?;
    let (name, request) = (row.name.replace('`', "'"), row.request.replace('`', "'"));
    Some(format!(
        "check `{name}` of request `{request}` failed {} of {}",
        count(row.failed),
        counted(row.made, "time")
    ))
}

/// Ends of connections that had been idle, while the server went on serving others.
fn idle(case: &Case, evidence: String) -> Cause {
    let idle = case.facts.run.spread(RunHist::Stale);
    let (min, max) = (idle.min().unwrap_or(0), idle.max().unwrap_or(0));
    let evidence = format!(
        "{evidence} on connections idle for {} to {}; the server kept serving the others",
        duration_ns(min),
        duration_ns(max)
    );
    Kind::IdleTimeout.claim(Claim::Certain, evidence)
}

/// The ends of connections are a fact; where no machine lies between, it is the server that made them.
fn closed(case: &Case, evidence: String) -> Cause {
    let claim = if case.is_local() { Claim::Certain } else { Claim::Likely };
    Kind::ConnectionsClosed.claim(claim, evidence)
}

/// Failures only on connections that never served anything, while the others serve without one: the server takes so
/// many connections and no more.
fn limited(case: &Case, row: &ErrorRow, evidence: &str) -> Option<Cause> {
    let s = case.s;
    let connections = &s.client.connections;
    let served = case.facts.run.spread(RunHist::ConnRequests);
    let stale = s.errors.iter().any(|row| row.class == "stale_connection");
    // One that failed under its first request counts it.
    let unopened = if row.class == "reset" { reset_unopened(case) } else { 0 };
    let fresh = served.count_at_most(1).saturating_add(unopened);
    let others = s.totals.requests.saturating_sub(s.totals.errors);
    let is_fresh = fresh as f64 >= row.count as f64 * FAILS && !stale;
    let used = served.count_above(1);
    if !is_fresh
        || others == 0
        || connections.reused_requests == 0
        || used == 0
        || !case.facts.plan.keep_alive
    {
        return None;
    }
    Some(Kind::ConnectionLimit.claim(
        Claim::Likely,
        format!(
            "{evidence} failed, all on fresh connections; {} carried the {} that succeeded",
            counted(used, "connection"),
            count(others)
        ),
    ))
}

/// Connections of the measured part that were reset before we saw them open (over TLS: before the handshake ended):
/// they served nothing. What else keeps one from opening has a class of its own, and some were still opening at the
/// stop.
fn reset_unopened(case: &Case) -> u64 {
    const CONNECTING: [&str; 3] = ["connect_refused", "connect_timeout", "unreachable"];
    const HANDSHAKING: [&str; 3] = ["tls_failed", "tls_timeout", "certificate_refused"];
    let s = case.s;
    let is_tls = case.facts.plan.tls().is_some();
    let runs = || case.facts.machines.iter().map(|machine| &machine.origin.totals.run);
    let sum = |id: RunSum| runs().fold(0u64, |sum, run| sum.saturating_add(run.of(id)));
    let opened = sum(if is_tls { RunSum::Handshakes } else { RunSum::ConnOpened });
    let is_known =
        |row: &&ErrorRow| CONNECTING.contains(&row.class) || is_tls && HANDSHAKING.contains(&row.class);
    let known = s.errors.iter().filter(is_known).chain(&s.client.faults);
    let known = known.fold(opened, |sum, row| sum.saturating_add(row.count));
    sum(RunSum::ConnAttempts).saturating_sub(known).saturating_sub(s.totals.in_flight_at_stop)
}

fn unanswered(case: &Case, row: &ErrorRow) -> Cause {
    let s = case.s;
    let after = duration_ns(case.facts.plan.timeout_ns);
    let others = match s.service_time.p50_ns {
        Some(p50) if s.totals.errors < s.totals.requests => {
            format!("; the others took {} (p50)", duration_ns(p50))
        }
        _ => String::new(),
    };
    let evidence = format!("{} timed out after {after}{others}", share_of(case, row.count));
    Kind::NoResponse.claim(Claim::Certain, evidence)
}
