//! Rejects methods and headers that would break a message, from every source.

use crate::Request;
use crate::diag::Diagnostic;
use crate::draft::{Draft, key};
use crate::link::Http;
use crate::phrase::counted;
use crate::request::check_header;
use crate::script::{Entry, Node, Script};

pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    match &draft.script {
        Some(script) => check_script(script, draft, wrong),
        None if draft.code.is_some() => {}
        None => check_requests(&draft.requests, wrong),
    }
}

fn nothing_to_send(wrong: &mut Vec<Diagnostic>) {
    wrong.push(Diagnostic::field(
        "P012",
        key::REQUESTS,
        "no requests to send",
        "add at least one request, such as `- get: /`",
    ));
}

fn check_requests(requests: &[Request], wrong: &mut Vec<Diagnostic>) {
    if requests.is_empty() {
        nothing_to_send(wrong);
    }
    for request in requests {
        check_method(&request.method, wrong);
        for (name, value) in &request.headers {
            check_line(name, value, wrong);
            let body_bytes = request.body.as_ref().map_or(0, Vec::len);
            if name.eq_ignore_ascii_case("content-length") && value.trim().parse() != Ok(body_bytes) {
                wrong.push(Diagnostic::field(
                    "P017",
                    key::REQUESTS,
                    format!(
                        "`{name}: {value}` contradicts the body of {}",
                        counted(body_bytes as u64, "byte")
                    ),
                    "remove the header (plimsoll adds it with the right length)",
                ));
            }
        }
    }
}

fn check_script(script: &Script, draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    if !script.asks.iter().any(|ask| ask.scenario.is_some()) {
        nothing_to_send(wrong);
    }
    if draft.link.http == Http::V10
        && let Some(ask) = script.asks.iter().find(|ask| ask.websocket.is_some() && ask.grpc.is_none())
    {
        wrong.push(Diagnostic::field(
            "P032",
            key::REQUESTS,
            format!("the WebSocket `{}` cannot be opened over HTTP/1.0", ask.name),
            "use `http: auto`, `http: 1.1`, or `http: 2`",
        ));
    }
    for ask in &script.asks {
        check_method(&ask.method, wrong);
        for (name, value) in &ask.headers {
            // Values of placeholders are checked when they are sent.
            let value = value.fixed().map_or_else(String::new, |v| String::from_utf8_lossy(&v).into_owned());
            check_line(name, &value, wrong);
            if name.eq_ignore_ascii_case("content-length") {
                wrong.push(Diagnostic::field(
                    "P017",
                    key::REQUESTS,
                    format!("header `{name}` of `{}` cannot be set: its body may change", ask.name),
                    "remove the header (plimsoll adds it with the right length)",
                ));
            }
        }
    }
    let all = script.scenarios.iter().map(|scenario| &scenario.nodes);
    if all.chain([&script.setup, &script.teardown]).any(|nodes| nodes.iter().any(has_weightless_way)) {
        weightless(wrong);
    }
    for entry in draft.entry.iter().chain(draft.workloads.iter().map(|workload| &workload.entry)) {
        let ways = match entry {
            Entry::Scenario(number) => vec![(*number, 1.0)],
            Entry::Mix { ways, .. } => ways.clone(),
        };
        if ways.iter().any(|(_, weight)| !is_weight(*weight)) {
            weightless(wrong);
        }
        if ways.is_empty() || ways.iter().any(|(number, _)| usize::from(*number) >= script.scenarios.len()) {
            wrong.push(Diagnostic::field(
                "P022",
                key::REQUESTS,
                "a load model refers to an unknown scenario",
                format!("use one of the {}", counted(script.scenarios.len() as u64, "scenario")),
            ));
        }
    }
}

/// Returns whether a weight is above 0 and small enough that sums of weights stay finite.
fn is_weight(weight: f64) -> bool {
    weight > 0.0 && weight <= 1e9
}

fn weightless(wrong: &mut Vec<Diagnostic>) {
    wrong.push(Diagnostic::field(
        "P023",
        key::REQUESTS,
        "a weight must be above 0 and at most 1e9",
        "write a number such as `3`, or remove what should never run",
    ));
}

fn has_weightless_way(node: &Node) -> bool {
    let any = |nodes: &[Node]| nodes.iter().any(has_weightless_way);
    match node {
        Node::Choose { ways, .. } => {
            ways.is_empty() || ways.iter().any(|(weight, nodes)| !is_weight(*weight) || any(nodes))
        }
        Node::Group { nodes, .. }
        | Node::Repeat { nodes, .. }
        | Node::While { nodes, .. }
        | Node::Once(nodes) => any(nodes),
        Node::If { then, otherwise, .. } => any(then) || any(otherwise),
        Node::Parallel(branches) => branches.iter().any(|branch| any(branch)),
        Node::Ask(_) | Node::Think(_) | Node::Set(_) | Node::Append { .. } => false,
        Node::Send { .. } | Node::Expect { .. } | Node::Ping { .. } | Node::Close { .. } => false,
        Node::SendMessage { .. } | Node::Complete { .. } => false,
    }
}

fn check_method(method: &str, wrong: &mut Vec<Diagnostic>) {
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
        wrong.push(Diagnostic::field(
            "P013",
            key::REQUESTS,
            format!("invalid method `{method}`"),
            "write a method such as `GET` or `POST`",
        ));
    }
    // The result of CONNECT is a tunnel, not a response.
    if method.eq_ignore_ascii_case("CONNECT") {
        wrong.push(Diagnostic::field(
            "P013",
            key::REQUESTS,
            "unsupported method `CONNECT`: it opens a tunnel",
            "use another method, such as `GET`",
        ));
    }
}

fn check_line(name: &str, value: &str, wrong: &mut Vec<Diagnostic>) {
    if let Err(problem) = check_header(name, value) {
        wrong.push(Diagnostic::field("P014", key::REQUESTS, problem.message, problem.hint));
    }
    if name.eq_ignore_ascii_case("transfer-encoding") {
        wrong.push(Diagnostic::field(
            "P018",
            key::REQUESTS,
            "header `Transfer-Encoding` cannot be set: plimsoll sends the chunks of a body itself",
            "remove the header, and write `chunked: true` in the request of an experiment file",
        ));
    }
}
