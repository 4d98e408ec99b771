//! Next steps as sentences.

use super::{
    CHECKS, COURSE, ERRORS, FINDINGS, Hint, METHOD, SYSTEM, THRESHOLDS, capital, outage, quoted, reasons,
    sentence, shell, step,
};
use crate::anchor::Anchor;
use crate::format::{bytes_f64, chosen_s};
use plimsoll_analysis::next::{Relief, Slow, Step};
use plimsoll_analysis::summary::{SaturatedResource, Summary};
use plimsoll_plan::Fault;

/// `run_file` is the file in the command to compare; with `None`, the command is described in words.
pub(super) fn hint(s: &Summary, one: &Step<'_>, run_file: Option<&str>) -> Hint {
    let compare = || format!("plimsoll compare {} after.plim", run_file.map_or("before.plim".into(), shell));
    match one {
        Step::LookAtOutage(gone) => step(outage::look(s, gone), COURSE),
        Step::RunAgainAndCompare => {
            step("After a fix, rerun the same load with `--out after.plim`, then compare:".into(), METHOD)
                .with_command(compare())
        }
        Step::RunToTheEnd => {
            let text = "Run the test to its end: the part that passed does not prove the rest. If you stop tests \
                        early on purpose, add `--stop-early-ok`.";
            step(text.into(), METHOD)
        }
        Step::FollowAdvice { row, .. } => step(capital(&sentence(&named(s, &row.advice()))), FINDINGS),
        Step::ReadGeneratorHealth => {
            step("Check the load generator's health, fix it, then rerun.".into(), &[Anchor::Generator])
        }
        Step::Relieve { resource: what, relief } => {
            step(format!("Relieve {}: {}.", quoted(what), relief_words(*relief)), SYSTEM)
        }
        Step::FollowCause { row, .. } => step(sentence(&capital(row.advice())), reasons::describe(row)),
        Step::FixFailures { class, status } => step(fix(s, *class, status.unwrap_or_default()), ERRORS),
        Step::HoldAnswerAgainstCheck => {
            step("Compare a failed response with what the check expects.".into(), CHECKS)
        }
        Step::FindWhatIsSlow(slow) => find_slow(slow),
        Step::FindRate(slow) => {
            let hint = find_slow(slow);
            let text = format!("Find the highest rate that passes with `plimsoll find`. {}", hint.text);
            Hint { text, ..hint }
        }
        Step::SeeThreshold => {
            step("Check which threshold was missed, by how much, and when.".into(), THRESHOLDS)
        }
        Step::HeedCaution { row, .. } => {
            step(format!("{} ({}).", capital(&row.advice()), row.title()), FINDINGS)
        }
        Step::FindCapacity => {
            let text = "Find the highest load that passes with `plimsoll find`, or compare a later run with this one:";
            step(text.into(), METHOD).with_command(compare())
        }
    }
}

/// Replaces a command's `URL` with the address of the first request.
fn named(s: &Summary, advice: &str) -> String {
    let url = match s.plan.requests.iter().find(|request| !request.is_outside_load) {
        Some(request) => s.plan.url_of(request),
        None => s.plan.all_origins().first().map_or_else(String::new, |origin| format!("{}/", origin.url())),
    };
    match url.is_empty() {
        true => advice.to_owned(),
        false => advice.replace("curl -v URL", &format!("curl -v {}", shell(&url))),
    }
}

/// Returns what to do about a kind of failure: where to look first, without guessing the cause.
fn fix(s: &Summary, class: Fault, status: &str) -> String {
    // Scripts and test plans name their targets only while they run.
    let target = if s.target.is_empty() { "the target".to_owned() } else { quoted(&s.target) };
    match class {
        Fault::Status => match status {
            "401" | "403" => format!("Check the credentials that the requests send (status {status})."),
            "404" => "Check the paths of the requests: the server does not know them (status 404).".into(),
            "429" => "Raise the server's rate limit, or lower the load (status 429).".into(),
            "502" | "503" | "504" => format!(
                "Search the logs of the server and of any proxy in front of it for status {status}: too few workers or \
                 upstream connections, a full queue, or a service that is down."
            ),
            _ if status.starts_with('5') => {
                format!("Find the first response with status {status} in the server's log, and fix its cause.")
            }
            _ if status.is_empty() => "Check which status codes came back, and which the plan expects.".into(),
            _ => format!("Check what the requests send: the server rejects them with status {status}."),
        },
        Fault::ConnectionRefused => format!("Check that the server runs and listens on {target}."),
        Fault::ConnectTimeout | Fault::HostUnreachable => {
            format!("Check the network path to {target}: address, route, firewall.")
        }
        Fault::DnsFailed | Fault::DnsTimeout => {
            format!("Check the resolver of the load generator: look up the host of {target} there.")
        }
        Fault::Timeout => {
            "Check in the server's log or monitors what it waits for. A longer `--timeout` shows how long such a \
             response takes."
                .into()
        }
        Fault::ConnectionReset | Fault::ClosedBeforeResponse | Fault::ClosedMidResponse | Fault::StaleConnection => {
            "Check the log of the server, or of the proxy in front of it, for why it closes connections.".into()
        }
        Fault::ProxyRefused | Fault::ProxyFailed | Fault::ProxyTimeout => {
            format!("Search the log of the proxy for why it opens no connections to {target}.")
        }
        Fault::ProxyCredentials => "Check the user name and the password in the URL of the proxy.".into(),
        Fault::AcceptQueueFull => {
            "Raise the backlog of the socket on which the server listens, or let it accept connections faster.".into()
        }
        Fault::GraphqlErrors => "Read the `errors` of a failed response: they name the field and the reason.".into(),
        Fault::Check => "Compare a failed response with what the check expects.".into(),
        Fault::Tls | Fault::TlsTimeout | Fault::CertificateRejected => {
            format!("Check the certificate and the TLS versions of {target}.")
        }
        Fault::ProtocolChanged => {
            format!(
                "Check whether every server at {target} offers HTTP/2, and WebSocket over it if the plan opens \
                 sockets; or use `--http1.1`."
            )
        }
        Fault::StreamReset | Fault::StreamRefused => {
            "Read the server's log for why it resets streams, and compare its limits with the load.".into()
        }
        Fault::GrpcUnauthenticated | Fault::GrpcPermissionDenied => {
            "Check the credentials in the metadata of the calls.".into()
        }
        Fault::GrpcUnimplemented => {
            "Check that the server has the methods: compare its schema with that of the experiment.".into()
        }
        Fault::GrpcInvalidArgument
        | Fault::GrpcNotFound
        | Fault::GrpcAlreadyExists
        | Fault::GrpcFailedPrecondition
        | Fault::GrpcOutOfRange => {
            "Check what the calls send: a failure example shows why the server rejects it.".into()
        }
        Fault::GrpcContentType | Fault::GrpcNoStatus => {
            format!("Check that {target} is a gRPC server, and that proxies in front of it pass on trailers.")
        }
        Fault::GrpcInvalidMessage => {
            "Compare the schema of the experiment with that of the server.".into()
        }
        Fault::GrpcCancelled
        | Fault::GrpcUnknown
        | Fault::GrpcDeadlineExceeded
        | Fault::GrpcResourceExhausted
        | Fault::GrpcAborted
        | Fault::GrpcInternal
        | Fault::GrpcUnavailable
        | Fault::GrpcDataLoss => format!(
            "Find the first call that failed with `{}` in the server's log, and fix its cause.",
            class.name()
        ),
        Fault::OriginRefused => "Add `--allow HOST` for the hosts of the script that you may load.".into(),
        Fault::InvalidRequest => "Correct the requests that the messages of the run name.".into(),
        Fault::MalformedResponse
        | Fault::UnsafeResponse
        | Fault::DecodeFailed
        | Fault::StreamIdleTimeout
        | Fault::StreamFailed
        | Fault::WebSocketHandshake
        | Fault::WebSocketClosed
        | Fault::MessageTimeout
        | Fault::Redirects
        | Fault::FdLimit
        | Fault::PortsExhausted
        | Fault::ClientOutOfMemory
        | Fault::ClientSendRefused
        | Fault::ClientLimit => "Read the failure examples and the server's log.".into(),
    }
}

/// Returns where to look if the service was slow without a saturated resource.
fn find_slow(slow: &Slow) -> Hint {
    let large = match slow.large_body_bytes {
        Some(bytes) => format!(" Response bodies average {}.", bytes_f64(bytes)),
        None => String::new(),
    };
    let what = match slow.pace_s {
        Some(pace_s) => format!(
            "Find what runs every {} on the server: garbage collection, a checkpoint, or a timer.",
            chosen_s(pace_s)
        ),
        None => "Check what else happened while it was slow.".into(),
    };
    match (slow.is_watched, slow.pace_s) {
        (true, None) => step(
            format!(
                "{what} Nothing that was monitored was saturated: look for locks, waits for another service, or a \
                 limit without a monitor.{large}"
            ),
            COURSE,
        ),
        (true, Some(_)) => {
            step(format!("{what} Check its log and its monitors at those times.{large}"), COURSE)
        }
        (false, _) => step(format!("{what}{large} To find the bottleneck, add server metrics:"), COURSE)
            .with_command("--monitor host --monitor process=:PORT"),
    }
}

/// Returns advice for a saturated resource, by its kind.
pub(crate) fn relief(p: &SaturatedResource) -> &'static str {
    relief_words(Relief::of(p))
}

fn relief_words(relief: Relief) -> &'static str {
    match relief {
        Relief::Cpu => {
            "profile what it computes, or add CPUs; if one thread is saturated, more CPUs do not help"
        }
        Relief::Connections => "find out what holds them for that long, then raise the limit",
        Relief::Memory => "add memory, or find what it retains",
        Relief::Device => "find out what reads and writes, or use a faster device",
        Relief::Other => "raise the limit or reduce its work, then rerun the same load",
    }
}
