//! Connections that several users share: by the streams of HTTP/2, or by pipelining; and gRPC, which requires HTTP/2
//! unless it is gRPC-Web.

use super::{DEFAULT_OPEN_CONNECTIONS, workloads};
use crate::diag::Diagnostic;
use crate::draft::{Draft, key};
use crate::link::{Http, Reuse};

/// Most users of one machine, as for connections.
const USERS_MAX: u64 = 1_000_000;

/// Reports shared connections and gRPC calls that the plan rules out.
pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    let link = &draft.link;
    let calls = || draft.script.iter().flat_map(|script| &script.asks).filter_map(|ask| ask.grpc.as_deref());
    let message = match link.http {
        Http::V10 | Http::V11 if calls().any(|call| !call.protocol.is_web()) => {
            Some("gRPC requires HTTP/2, but the plan asks for HTTP/1")
        }
        Http::V10 if calls().any(|_| true) => {
            Some("gRPC-Web requires HTTP/1.1 or HTTP/2, but the plan asks for HTTP/1.0")
        }
        _ => None,
    };
    if let Some(message) = message {
        wrong.push(Diagnostic::field("P033", key::HTTP, message, "remove `--http1.1` (in a file, `http`)"));
    }
    if link.streams <= 1 {
        return;
    }
    let most = u64::from(draft.load.max_connections.unwrap_or(DEFAULT_OPEN_CONNECTIONS));
    if workloads::is_open(&draft.load) && most * u64::from(link.streams) > USERS_MAX {
        wrong.push(Diagnostic::field(
            "P007",
            key::STREAMS,
            "more than 1,000,000 streams on one machine",
            "use fewer streams or connections, or split the load over several machines with `--shard`",
        ));
    }
    if link.is_pipelined {
        return check_pipeline(draft, wrong);
    }
    let is_plain = draft.target.as_ref().is_some_and(|target| !target.tls);
    let reuse = if draft.keep_alive == Some(false) { Reuse::Request } else { link.reuse };
    let (message, hint) = match (link.http, reuse) {
        (Http::V10 | Http::V11, _) => {
            ("several users on one connection require HTTP/2", "use `http: 2`, or remove `streams`")
        }
        (Http::Auto, _) if is_plain => (
            "several users on one connection require HTTP/2, and over plain text it must be requested",
            "add `--http2` (in a file, `http: 2`)",
        ),
        (_, Reuse::Iteration | Reuse::Request) => (
            "several users cannot share a connection that is opened for each iteration or request",
            "remove `streams`, or keep connections (`reuse: user` or `reuse: pool`)",
        ),
        _ => return,
    };
    wrong.push(Diagnostic::field("P029", key::STREAMS, message, hint));
}

/// Reports what must not be pipelined. A request whose connection ends before its response may or may not have been
/// processed, so it must be harmless to repeat (RFC 9112 section 9.3.2).
fn check_pipeline(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    let is_idempotent =
        |method: &str| matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE");
    let unsafe_one = draft.requests.iter().find(|request| !is_idempotent(&request.method));
    let reuse = if draft.keep_alive == Some(false) { Reuse::Request } else { draft.link.reuse };
    let is_script = draft.script.is_some()
        || draft.code.is_some()
        || draft.redirects.is_some_and(|n| n > 0)
        || draft.continue_ns.is_some();
    let (message, hint) = if matches!(draft.link.http, Http::V10 | Http::V2) {
        ("pipelining requires HTTP/1.1".to_owned(), "use `http: 1.1`, or `streams` for HTTP/2")
    } else if is_script {
        let message =
            "only fixed requests can be pipelined: a step of a scenario depends on the one before it";
        (
            message.to_owned(),
            "remove `--pipeline` (in a file, `pipeline`), or what makes the requests a scenario",
        )
    } else if let Some(request) = unsafe_one {
        let message = format!("`{}` is not idempotent, so it cannot be pipelined", request.method);
        (message, "pipeline only `GET`, `HEAD`, `PUT`, `DELETE`, `OPTIONS`, and `TRACE`")
    } else if matches!(reuse, Reuse::Iteration | Reuse::Request) {
        let message = "a connection that is opened for each iteration or request has no pipeline";
        (message.to_owned(), "remove `pipeline`, or keep connections (`reuse: user` or `reuse: pool`)")
    } else {
        return;
    };
    wrong.push(Diagnostic::field("P044", key::PIPELINE, message, hint));
}

/// Returns the number of workers for `users` with `streams` on each connection. A connection belongs to one worker, and
/// workers divide the users: if the connections do not divide evenly, as many more are opened as there are workers. So
/// a few workers less are better, if that makes the number exact.
pub(super) fn workers(cpus: u32, users: u32, streams: u32) -> u32 {
    let cpus = cpus.max(1);
    if streams <= 1 {
        return cpus;
    }
    let connections = users.div_ceil(streams).max(1);
    (cpus.div_ceil(2)..=cpus)
        .rev()
        .find(|workers| connections.is_multiple_of(*workers))
        .unwrap_or(cpus)
        .min(connections)
}

#[cfg(test)]
mod tests {
    use super::workers;

    #[test]
    fn connections_are_divided_evenly_among_workers_if_few_less_will_do() {
        assert_eq!(workers(2, 100, 10), 2, "10 connections");
        assert_eq!(workers(2, 10, 10), 1, "1 connection");
        assert_eq!(workers(2, 30, 10), 1, "3 connections");
        assert_eq!(workers(8, 600, 10), 6, "60 connections");
        assert_eq!(workers(8, 1_010, 10), 8, "101 connections: 8 workers open 104");
        assert_eq!(workers(8, 20, 10), 2, "2 connections");
        assert_eq!(workers(8, 20, 1), 8, "no shared connections");
    }
}
