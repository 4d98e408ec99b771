//! `--follow`: redirects are followed by the program of a script, so a plain list of requests becomes one.

use crate::draft::Draft;
use crate::request::Request;
use crate::script::{Ask, Entry, Node, Scenario, Script};
use crate::value::{Part, Text};

/// The draft with its `redirects` in every request. A plain list that is to follow some becomes a scenario that says
/// the same.
pub(super) fn applied(mut draft: Draft) -> Draft {
    let Some(redirects) = draft.redirects else { return draft };
    if let Some(script) = &mut draft.script {
        script.asks.iter_mut().for_each(|ask| ask.redirects = redirects);
    } else if redirects > 0 {
        draft.script = Some(script(&draft.requests, redirects));
        draft.entry = Some(Entry::Scenario(0));
        draft.requests.clear();
    }
    draft
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
    // Compared with the body already; whoever sends it knows the length.
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
        // As in a plain list, where a failed request is followed by the next one.
        go_on_after_failure: true,
        stream: None,
    }
}
