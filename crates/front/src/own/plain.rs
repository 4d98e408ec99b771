//! A script that does no more than send its requests in their order becomes a plain sequence, which the engine runs
//! without an interpreter.

use super::work::Work;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::script::{Ask, Node, Script};
use plimsoll_plan::{Request, request};

/// Puts the script into the draft, as requests if that says the same.
pub fn settle(w: Work<'_>, draft: &mut Draft) {
    let mut script = w.script;
    let counted = draft.iterations.is_some() || draft.loops.is_some();
    if !w.scripted && !counted && draft.lanes.is_empty() && is_sequence(&script) {
        let requests: Option<Vec<Request>> = script.asks.iter().map(request_of).collect();
        if let Some(requests) = requests {
            draft.requests = requests;
            draft.entry = None;
            return;
        }
    }
    for ask in &mut script.asks {
        // Compared with the body already; whoever sends it knows the length.
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
        && !script.cookies
}

/// The same request without anything that is decided during the load.
fn request_of(ask: &Ask) -> Option<Request> {
    let more = ask.group.is_some()
        || !ask.tags.is_empty()
        || ask.timeout_ns.is_some()
        || ask.redirects > 0
        || ask.expect.is_some()
        || !ask.checks.is_empty()
        || !ask.extracts.is_empty()
        || ask.go_on_after_failure
        || ask.stream.is_some();
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
    Some(request::Request {
        name: ask.name.clone(),
        method: ask.method.clone(),
        path,
        headers: headers?,
        body,
    })
}
