//! Requests that take turns: each iteration, or each arrival of a rate, sends the next one.

use plimsoll_plan::script::{Ask, Entry, Node, Order, Scenario, Script};
use plimsoll_plan::value::{Part, Text};
use plimsoll_plan::{Draft, Request};

/// Turns the requests of a draft into scenarios that take turns, if there are several. A draft with several requests
/// sends all of them in each iteration.
pub fn rotate(draft: &mut Draft) {
    plimsoll_build::requests::name_apart(&mut draft.requests);
    if draft.requests.len() < 2 {
        return;
    }
    let requests = std::mem::take(&mut draft.requests);
    let redirects = draft.redirects.unwrap_or(0);
    let scenario = |(number, request): (usize, &Request)| Scenario {
        name: request.name.clone(),
        nodes: vec![Node::Ask(number as u32)],
        pace: None,
    };
    let script = Script {
        asks: requests.iter().enumerate().map(|(number, one)| ask(number, one, redirects)).collect(),
        scenarios: requests.iter().enumerate().map(scenario).collect(),
        ..Script::default()
    };
    let ways = (0..requests.len()).map(|number| (number as u16, 1.0)).collect();
    draft.entry = Some(Entry::Mix { ways, order: Order::Exact });
    draft.script = Some(script);
}

fn ask(number: usize, request: &Request, redirects: u8) -> Ask {
    // The sender computes the length.
    let headers = request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
    Ask {
        name: request.name.clone(),
        scenario: Some(number as u16),
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
        go_on_after_failure: true,
        stream: None,
        websocket: None,
        grpc: None,
    }
}
