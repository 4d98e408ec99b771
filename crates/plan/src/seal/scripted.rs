//! The series of a script, for reports.

use super::names::describe;
use crate::answer::{Source, Statuses, Subject};
use crate::outline::{CheckOutline, RequestOutline};
use crate::request::{redacted_header, redacted_path};
use crate::script::{Ask, Script};

/// Returns requests, checks, and groups, in the order of their series.
pub(super) fn series_of(script: &Script) -> (Vec<RequestOutline>, Vec<CheckOutline>, Vec<String>) {
    let requests = script.asks.iter().map(|ask| outline_of(ask, script)).collect();
    let checks = script.asks.iter().enumerate().flat_map(|(request, ask)| {
        names_of(ask).map(move |name| CheckOutline { name, request: request as u32 })
    });
    (requests, checks.collect(), script.groups.clone())
}

/// Returns the names of what can fail a request: its checks, its extractions, and the messages that it expects.
fn names_of(ask: &Ask) -> impl Iterator<Item = String> {
    let checks = ask.checks.iter().map(|check| check.name.clone());
    let extracts = ask.extracts.iter().map(|extract| format!("extract {}", extract.name));
    let expected = ask.websocket.iter().flat_map(|socket| &socket.expectations);
    checks.chain(extracts).chain(expected.map(|expectation| expectation.name.clone()))
}

fn is_location(header: &str) -> bool {
    header.eq_ignore_ascii_case("location")
}

/// Returns whether a request expects a redirect. The default status codes include redirects, but do not count.
fn expects_redirect(ask: &Ask) -> bool {
    let holds = |statuses: &Statuses| (300..400).any(|status| statuses.holds(status));
    let checked = ask.checks.iter().any(|check| match &check.on {
        Subject::Status(statuses) => holds(statuses),
        // A check of the redirect's destination expects one.
        Subject::Header { name, .. } => is_location(name),
        Subject::Value { from: Source::Header(name), .. } => is_location(name),
        Subject::HeaderSnapshot(headers) => headers.iter().any(|(name, _)| is_location(name)),
        Subject::Body(_)
        | Subject::Json { .. }
        | Subject::Value { .. }
        | Subject::Schema(_)
        | Subject::Jwt(_)
        | Subject::NoGraphqlErrors
        | Subject::OpenApi(_)
        | Subject::Length { .. }
        | Subject::Hash { .. }
        | Subject::Duration { .. }
        | Subject::GrpcStatus(_)
        | Subject::GrpcMessage(_) => false,
    });
    let extracted =
        ask.extracts.iter().any(|extract| matches!(&extract.from, Source::Header(name) if is_location(name)));
    checked || extracted || ask.expect.as_ref().is_some_and(holds)
}

fn outline_of(ask: &Ask, script: &Script) -> RequestOutline {
    let scenario = ask.scenario.and_then(|s| script.scenarios.get(usize::from(s)));
    RequestOutline {
        name: ask.name.clone(),
        method: ask.method.clone(),
        path: redacted_path(&describe(&ask.path, script)),
        headers: ask
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), redacted_header(name, &describe(value, script)).to_owned()))
            .collect(),
        body_bytes: ask.body.as_ref().and_then(|body| body.fixed()).map_or(0, |bytes| bytes.len() as u64),
        scenario: scenario.map(|s| s.name.clone()),
        group: ask.group.and_then(|g| script.groups.get(usize::from(g)).cloned()),
        tags: ask.tags.clone(),
        origin: ask.origin,
        is_stream: ask.stream.is_some() || ask.websocket.is_some(),
        is_websocket: ask.websocket.is_some(),
        is_grpc: ask.grpc.is_some(),
        is_outside_load: ask.scenario.is_none(),
        is_redirect_expected: expects_redirect(ask),
    }
}
