//! `--follow` and `--expect-continue`: what only the program of a script can do, so a fixed list of requests becomes a
//! script.

use crate::draft::Draft;
use crate::request::Request;
use crate::script::{Ask, Entry, Node, Scenario, Script};
use crate::value::{Part, Text};

/// Applies `redirects` to every request of a draft. A fixed list that follows redirects becomes an equivalent
/// scenario.
pub(super) fn applied(mut draft: Draft) -> Draft {
    let Some(redirects) = draft.redirects else { return draft };
    if let Some(script) = &mut draft.script {
        script.asks.iter_mut().for_each(|ask| ask.redirects = redirects);
    } else if redirects > 0 {
        to_script(&mut draft, redirects);
    }
    draft
}

/// Turns a fixed list of requests into an equivalent scenario.
pub(super) fn to_script(draft: &mut Draft, redirects: u8) {
    draft.script = Some(script(&draft.requests, redirects));
    draft.entry = Some(Entry::Scenario(0));
    draft.requests.clear();
}

fn script(requests: &[Request], redirects: u8) -> Script {
    let asks: Vec<Ask> = requests.iter().map(|request| ask(request, redirects)).collect();
    let nodes = (0..asks.len()).map(|id| Node::Ask(id as u32)).collect();
    Script {
        asks,
        scenarios: vec![Scenario { name: "requests".into(), nodes, pace: None }],
        ..Script::default()
    }
}

fn ask(request: &Request, redirects: u8) -> Ask {
    // Already compared with the body; the sender computes the length.
    let headers = request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
    Ask {
        name: request.name.clone(),
        scenario: Some(0),
        group: None,
        tags: Vec::new(),
        origin: request.origin,
        method: request.method.clone(),
        path: Text::literal(&request.path),
        headers: headers.map(|(name, value)| (name.clone(), Text::literal(value))).collect(),
        body: request.body.as_ref().map(|body| Text { parts: vec![Part::Literal(body.as_slice().into())] }),
        timeout_ns: None,
        redirects,
        expect: None,
        checks: Vec::new(),
        extracts: Vec::new(),
        // As in a fixed list, which continues after a failed request.
        go_on_after_failure: true,
        stream: None,
        websocket: None,
        grpc: None,
    }
}
