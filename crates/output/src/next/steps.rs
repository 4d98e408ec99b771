//! What one does with a result, as sentences.

use super::{
    CHECKS, COURSE, ERRORS, FINDINGS, Hint, METHOD, SYSTEM, THRESHOLDS, capital, outage, quoted, reasons,
    sentence, shell, step,
};
use crate::anchor::Anchor;
use crate::format::{bytes_f64, chosen_s};
use plimsoll_analysis::next::{Relief, Slow, Step};
use plimsoll_analysis::summary::{SaturatedResource, Summary};

/// `run_file` is what the command to compare names; `None`: the command is told in words.
pub(super) fn hint(s: &Summary, one: &Step<'_>, run_file: Option<&str>) -> Hint {
    let compare = run_file.map(|file| format!("`plimsoll compare {} AFTER.plim`", shell(file)));
    match one {
        Step::LookAtOutage(gone) => step(outage::look(s, gone), COURSE),
        Step::RunAgainAndCompare => {
            let text = match &compare {
                Some(compare) => {
                    format!("Then run the same load again with `--out AFTER.plim` and compare: {compare}.")
                }
                None => "Then run the same load again; `plimsoll compare` holds two run files (`--out`) against each \
                         other."
                    .into(),
            };
            step(text, METHOD)
        }
        Step::RunToTheEnd => {
            let text = "Run it to its end: what was met so far proves nothing of the rest. Where stopping early is an \
                        ordinary end, `--stop-early-ok` says so.";
            step(text.into(), METHOD)
        }
        Step::FollowAdvice { row, .. } => step(capital(&sentence(&named(s, &row.advice()))), FINDINGS),
        Step::ReadGeneratorHealth => {
            step("Read what the load generator says of itself, then run again.".into(), &[Anchor::Generator])
        }
        Step::Relieve { resource: what, relief } => {
            step(format!("Relieve {}: {}.", quoted(what), relief_words(*relief)), SYSTEM)
        }
        Step::FollowCause { row, .. } => step(sentence(&capital(row.advice())), reasons::describe(row)),
        Step::MendFailures { class, status } => step(mend(s, class, status.unwrap_or_default()), ERRORS),
        Step::HoldAnswerAgainstCheck => {
            step("Hold an answer that failed the check against what the check expects.".into(), CHECKS)
        }
        Step::FindWhatIsSlow(slow) => step(find_slow(slow), COURSE),
        Step::FindRate(slow) => {
            step(format!("Look for the rate that it holds: `plimsoll find`. {}", find_slow(slow)), COURSE)
        }
        Step::SeeThreshold => {
            step("See which threshold was missed, by how much and when.".into(), THRESHOLDS)
        }
        Step::HeedCaution { row, .. } => {
            step(format!("{} ({}).", capital(&row.advice()), row.title()), FINDINGS)
        }
        Step::FindCapacity => {
            let find = "`plimsoll find` looks for the highest load that still passes";
            let later = match compare {
                Some(compare) => format!("; {compare} holds a later run against this one"),
                None => "; `plimsoll compare` holds a later run against this one (`--out` keeps it)".into(),
            };
            step(format!("{find}{later}."), METHOD)
        }
    }
}

/// With the address of the first request in the place of a command's `URL`.
fn named(s: &Summary, advice: &str) -> String {
    let url = match s.plan.requests.iter().find(|request| !request.is_outside_load) {
        Some(request) => s.plan.url_of(request),
        None => s.plan.all_origins().first().map_or_else(String::new, |origin| format!("{}/", origin.url())),
    };
    advice.replace("curl -v URL", &format!("curl -v {}", shell(&url)))
}

/// What to do about a kind of failure: where one looks first, no guess at the cause.
fn mend(s: &Summary, class: &str, status: &str) -> String {
    let target = quoted(&s.target);
    match class {
        "http_status" => match status {
            "401" | "403" => format!("Check the credentials that the requests carry: status {status}."),
            "404" => "Check the paths of the requests: the server does not know them (status 404).".into(),
            "429" => {
                "The server refuses so many requests (status 429): raise its limit, or load less.".into()
            }
            "502" | "503" | "504" => format!(
                "Look in the log of the server and of any proxy before it for status {status}: too few workers or \
                 connections behind it, a queue that is full, a service that is down."
            ),
            _ if status.starts_with('5') => {
                format!(
                    "Look in the server's log for the first answer with status {status}, and mend its cause."
                )
            }
            _ if status.is_empty() => "See which statuses came, and which of them the plan expects.".into(),
            _ => format!("Check what the requests send: the server refuses it with status {status}."),
        },
        "connect_refused" => format!("See that the server runs and listens on {target}."),
        "connect_timeout" | "unreachable" => format!("Check the way to {target}: address, route, firewall."),
        "timeout" => {
            "See in the server's log or monitors what it waits for; with a longer `--timeout` the run \
                      shows how long such an answer takes."
                .into()
        }
        "reset" | "closed_before_response" | "closed_mid_response" | "stale_connection" => {
            "Look in the log of the server, or of the proxy before it, why it closes connections.".into()
        }
        "check_failed" => "Hold an answer among the errors against what the check expects.".into(),
        "tls_failed" | "tls_timeout" | "certificate_refused" => {
            format!("Check certificate and TLS versions of {target}.")
        }
        _ => "Read the examples of failures and the server's log.".into(),
    }
}

/// Where to look when it was slow and nothing stood at its limit.
fn find_slow(slow: &Slow) -> String {
    let large = match slow.large_body_bytes {
        Some(bytes) => format!(" Bodies are {} on the average.", bytes_f64(bytes)),
        None => String::new(),
    };
    if let Some(pace_s) = slow.pace_s {
        return format!(
            "Look for what runs every {} on the server or beside it (a collection of garbage, a checkpoint, a timer): \
             its log and its monitors at those moments.{large}",
            chosen_s(pace_s)
        );
    }
    match slow.is_watched {
        false => format!(
            "See when it was slow and what else happened then. To see what the server lacks, watch it in the next \
             run: `--monitor host` or `--monitor process=:PORT` on its machine.{large}"
        ),
        true => format!(
            "See when it was slow and what else happened then. Nothing that was watched stood at its limit: look for \
             locks, waits for another service, or a limit that nobody watched.{large}"
        ),
    }
}

/// For something that stood at its limit, by what it is.
pub(crate) fn relief(p: &SaturatedResource) -> &'static str {
    relief_words(Relief::of(p))
}

fn relief_words(relief: Relief) -> &'static str {
    match relief {
        Relief::Cpu => {
            "profile what it computes, or give it more processors; if one thread is full, more processors do not help"
        }
        Relief::Connections => "see what holds them for so long, then raise the limit",
        Relief::Memory => "give it more memory, or find what it keeps",
        Relief::Device => "see what reads and writes, or give it a faster device",
        Relief::Other => "raise the limit or take work from it, then run the same load again",
    }
}
