//! Builds fixed requests: from a URL, a curl line, or a list of URLs, and from a script that only sends its requests in
//! sequence. The engine runs them without an interpreter.

use crate::sentence::default_name;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::Problem;
use plimsoll_plan::origin::{FIRST, NamedTarget, OriginId};
use plimsoll_plan::request::{Url, url};
use plimsoll_plan::script::{Ask, Node, Script};
use plimsoll_plan::{Draft, Request, Target};

/// Builds a request to a URL. Its name is method and path, and the credentials of the URL apply unless a header sets
/// them.
pub fn request(
    method: String,
    url: Url,
    mut headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
) -> (Target, Request) {
    if let Some(pair) = &url.credentials
        && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Authorization"))
    {
        headers.push(("Authorization".to_owned(), basic(pair)));
    }
    let name = default_name(&method, &url.path);
    (url.target, Request { name, origin: FIRST, method, path: url.path, headers, body })
}

/// Returns the value of `Authorization` for `user:password` (RFC 7617).
pub fn basic(credentials: &str) -> String {
    format!("Basic {}", coded(credentials.as_bytes()))
}

/// Encodes credentials for basic authentication: standard Base64 with padding (RFC 4648 section 4).
pub fn coded(credentials: &[u8]) -> String {
    STANDARD.encode(credentials)
}

/// Adds the request of one URL to a draft.
///
/// # Errors
/// Returns an error if the text is not a valid URL.
pub fn add(draft: &mut Draft, method: &str, text: &str) -> Result<(), Problem> {
    let (target, mut request) = request(method.to_owned(), url(text)?, Vec::new(), None);
    request.origin = origin(draft, &target);
    request.name = own_name(&request, &draft.more_origins);
    draft.requests.push(request);
    Ok(())
}

/// Returns the number of a target in a draft, and adds the target if it is new.
fn origin(draft: &mut Draft, target: &Target) -> OriginId {
    let first = draft.target.get_or_insert_with(|| target.clone());
    if first == target {
        return FIRST;
    }
    let more = &mut draft.more_origins;
    let at = more.iter().position(|more| more.target == *target).unwrap_or_else(|| {
        more.push(NamedTarget { name: String::new(), target: target.clone() });
        more.len() - 1
    });
    at as OriginId + 1
}

/// Overrides the headers of a request: `given` replaces headers of the same name, and a name that it has twice is sent
/// twice.
pub fn set_headers(headers: &mut Vec<(String, String)>, given: &[(String, String)]) {
    headers.retain(|(name, _)| !given.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    headers.extend(given.iter().cloned());
}

/// Returns the default name of a request. It contains the origin, one of `more`, unless that is the target.
pub fn own_name(request: &Request, more: &[NamedTarget]) -> String {
    let more = usize::from(request.origin).checked_sub(1).and_then(|at| more.get(at));
    let front = more.map(NamedTarget::describe).unwrap_or_default();
    default_name(&request.method, &format!("{front}{}", request.path))
}

/// Makes the names of requests unique for reports: `GET /`, `GET / (2)`.
pub fn name_apart(requests: &mut [Request]) {
    for at in 1..requests.len() {
        let (before, rest) = requests.split_at_mut(at);
        let Some(request) = rest.first_mut() else { return };
        let taken = |name: &str| before.iter().any(|other| other.name == name);
        let mut name = request.name.clone();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{} ({number})", request.name);
        }
        request.name = name;
    }
}

/// Puts a script into a draft, as fixed requests if they are equivalent.
pub fn settle(mut script: Script, is_scripted: bool, draft: &mut Draft) {
    let counted = draft.load.iterations.is_some() || draft.load.iterations_per_user.is_some();
    if !is_scripted && !counted && draft.workloads.is_empty() && is_sequence(&script) {
        let requests: Option<Vec<Request>> = script.asks.iter().map(request_of).collect();
        if let Some(requests) = requests {
            draft.requests = requests;
            draft.entry = None;
            return;
        }
    }
    for ask in &mut script.asks {
        // Already compared with the body; the sender computes the length.
        ask.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("Content-Length"));
    }
    draft.script = Some(script);
}

fn is_sequence(script: &Script) -> bool {
    let [scenario] = script.scenarios.as_slice() else { return false };
    scenario.pace.is_none()
        && scenario.nodes.iter().all(|node| matches!(node, Node::Ask(_)))
        && script.setup.is_empty()
        && script.teardown.is_empty()
        && script.secrets.is_empty()
        && script.auths.is_empty()
        && script.deliveries.is_empty()
        && script.graphql.iter().all(|graphql| graphql.with_query.is_none())
        && !script.cookies
}

/// Returns the fixed request of a script request; `None` if the load decides anything about it.
fn request_of(ask: &Ask) -> Option<Request> {
    let more = ask.group.is_some()
        || !ask.tags.is_empty()
        || ask.timeout_ns.is_some()
        || ask.redirects > 0
        || ask.expect.is_some()
        || !ask.checks.is_empty()
        || !ask.extracts.is_empty()
        || ask.go_on_after_failure
        || ask.stream.is_some()
        || ask.websocket.is_some();
    if more {
        return None;
    }
    let headers: Option<Vec<(String, String)>> = ask
        .headers
        .iter()
        .map(|(name, value)| Some((name.clone(), String::from_utf8(value.fixed()?).ok()?)))
        .collect();
    let body = match &ask.body {
        None => None,
        Some(text) => Some(text.fixed()?),
    };
    let path = String::from_utf8(ask.path.fixed()?).ok()?;
    let (name, method) = (ask.name.clone(), ask.method.clone());
    Some(Request { name, origin: ask.origin, method, path, headers: headers?, body })
}
