//! What no request may hold, whoever wrote it: methods and headers that would break the message.

use crate::Request;
use crate::diag::Diagnostic;
use crate::draft::{Draft, key};
use crate::request::check_header;
use crate::script::{Entry, Node, Script};

pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    match &draft.script {
        Some(script) => check_script(script, draft, wrong),
        None => check_requests(&draft.requests, wrong),
    }
}

fn nothing_to_send(wrong: &mut Vec<Diagnostic>) {
    wrong.push(Diagnostic::field(
        "P012",
        key::REQUESTS,
        "there is no request to send",
        "name at least one, such as `- get: /`",
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
                    format!("the header says `Content-Length: {value}`, but the body has {body_bytes} bytes"),
                    "leave the header out: it is set from the body",
                ));
            }
        }
    }
}

fn check_script(script: &Script, draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    if !script.asks.iter().any(|ask| ask.scenario.is_some()) {
        nothing_to_send(wrong);
    }
    for ask in &script.asks {
        check_method(&ask.method, wrong);
        for (name, value) in &ask.headers {
            // What fills the holes is looked at when it is sent.
            let value = value.fixed().map_or_else(String::new, |v| String::from_utf8_lossy(&v).into_owned());
            check_line(name, &value, wrong);
            if name.eq_ignore_ascii_case("content-length") {
                wrong.push(Diagnostic::field(
                    "P017",
                    key::REQUESTS,
                    format!("`{}` gives `Content-Length` by hand, and its body may change", ask.name),
                    "leave the header out: it is set from the body",
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
                "a load model runs a scenario that is not there",
                format!("there are {}", script.scenarios.len()),
            ));
        }
    }
}

/// Above 0 and not beyond all reason: the sum of weights must be a number too.
fn is_weight(weight: f64) -> bool {
    weight > 0.0 && weight <= 1e9
}

fn weightless(wrong: &mut Vec<Diagnostic>) {
    wrong.push(Diagnostic::field(
        "P023",
        key::REQUESTS,
        "a weight is not above 0",
        "give a number above 0, or leave out what is never to be done",
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
    }
}

fn check_method(method: &str, wrong: &mut Vec<Diagnostic>) {
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
        wrong.push(Diagnostic::field(
            "P013",
            key::REQUESTS,
            format!("`{method}` is no method"),
            "expected a word such as `GET` or `POST`",
        ));
    }
    // An answer to CONNECT is a tunnel, not a response.
    if method.eq_ignore_ascii_case("CONNECT") {
        wrong.push(Diagnostic::field(
            "P013",
            key::REQUESTS,
            "the method `CONNECT` opens a tunnel and cannot be loaded",
            "use another method",
        ));
    }
}

fn check_line(name: &str, value: &str, wrong: &mut Vec<Diagnostic>) {
    if let Err(problem) = check_header(name, value) {
        wrong.push(Diagnostic::field("P014", key::REQUESTS, problem.message, "expected `Name: value`"));
    }
    if name.eq_ignore_ascii_case("transfer-encoding") {
        wrong.push(Diagnostic::field(
            "P018",
            key::REQUESTS,
            "a request body is always sent with its length: `Transfer-Encoding` would contradict it",
            "leave the header out",
        ));
    }
}
