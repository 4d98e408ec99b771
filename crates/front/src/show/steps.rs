//! Shows steps as an indented tree.

use super::answer;
use super::words::{Lines, bytes, count, delay, level, short, time};
use plimsoll_plan::delivery::Delivery;
use plimsoll_plan::request::{redacted_header, redacted_path};
use plimsoll_plan::script::{Ask, Condition, Node, Order, Script, Slot};
use plimsoll_plan::seal::names::describe;
use plimsoll_plan::stream::{Closer, Place, Stream};
use plimsoll_plan::websocket::{Compression, Content, Correlation, Expectation, WebSocket};
use std::ptr;

pub fn show(nodes: &[Node], depth: usize, script: &Script, out: &mut Lines) {
    for node in nodes {
        step(node, depth, script, out);
    }
}

fn step(node: &Node, depth: usize, script: &Script, out: &mut Lines) {
    let mut below = |title: &str, nodes: &[Node]| {
        out.line(depth, title);
        show(nodes, depth + 1, script, out);
    };
    match node {
        Node::Ask(id) => {
            if let Some(ask) = script.asks.get(*id as usize) {
                request(ask, depth, script, out);
            }
        }
        Node::Think(pause) => out.line(depth, &format!("think {}", delay(pause))),
        Node::Group { group, nodes } => {
            let name = script.groups.get(usize::from(*group)).map_or("", String::as_str);
            below(&format!("group `{name}`"), nodes);
        }
        Node::Repeat { times, nodes } => match describe(times, script).as_str() {
            "1" => below("repeat 1 time", nodes),
            times => below(&format!("repeat {times} times"), nodes),
        },
        Node::While { condition, most, nodes } => {
            let most = count(u64::from(*most), "iteration");
            below(&format!("while {}, at most {most}", condition_words(condition, script)), nodes);
        }
        Node::If { condition, then, otherwise } => {
            below(&format!("if {}", condition_words(condition, script)), then);
            if !otherwise.is_empty() {
                below("else", otherwise);
            }
        }
        Node::Once(nodes) => below("once per user", nodes),
        Node::Choose { ways, order } => {
            let mix = match order {
                Order::Random => "random",
                Order::Exact => "exact",
            };
            out.line(depth, &format!("choose one, {mix} mix"));
            let total: f64 = ways.iter().map(|(weight, _)| weight).sum();
            for (weight, nodes) in ways {
                out.line(depth + 1, &format!("weight {} of {}", level(*weight), level(total)));
                show(nodes, depth + 2, script, out);
            }
        }
        Node::Set(pairs) => {
            for (slot, text) in pairs {
                out.line(
                    depth,
                    &format!("set `{}` to `{}`", slot_name(*slot, script), short(&describe(text, script))),
                );
            }
        }
        Node::Append { file, columns } => {
            let path = script.files.get(usize::from(*file)).map(|file| file.path.display().to_string());
            let values: Vec<String> = columns.iter().map(|text| describe(text, script)).collect();
            let line = format!("append to `{}`: {}", path.unwrap_or_default(), values.join(", "));
            out.line(depth, &line);
        }
        Node::Send { socket, content, text } => {
            let kind = match content {
                Content::Text => "message",
                Content::Binary => "binary message",
            };
            let words = match text.fixed() {
                Some(fixed) if *content == Content::Binary => format!("of {}", bytes(fixed.len() as u64)),
                _ => format!("`{}`", short(&describe(text, script))),
            };
            out.line(depth, &format!("send {kind} {words} over `{}`", socket_name(*socket, script)));
        }
        Node::Expect { socket, expectation } => {
            let plan = script.asks.get(*socket as usize).and_then(|ask| ask.websocket.as_ref());
            if let Some(wanted) = plan.and_then(|plan| plan.expectations.get(usize::from(*expectation))) {
                expected(wanted, socket_name(*socket, script), depth, script, out);
            }
        }
        Node::Ping { socket, expectation, .. } => {
            let plan = script.asks.get(*socket as usize).and_then(|ask| ask.websocket.as_ref());
            if let Some(wanted) = plan.and_then(|plan| plan.expectations.get(usize::from(*expectation))) {
                let within = wanted.within_ns.map_or(String::new(), |ns| format!(" within {}", time(ns)));
                let socket = socket_name(*socket, script);
                out.line(depth, &format!("ping `{socket}`, and expect its pong{within}"));
                if wanted.go_on_after_failure {
                    out.line(depth + 2, "continues after a failure");
                }
            }
        }
        Node::Close { socket, code, .. } => {
            out.line(depth, &format!("close `{}` with code {code}", socket_name(*socket, script)));
        }
        Node::SendMessage { call, .. } => {
            out.line(depth, &format!("send a message over `{}`", socket_name(*call, script)));
        }
        Node::Complete { call } => {
            out.line(depth, &format!("send no more messages over `{}`", socket_name(*call, script)));
        }
        Node::Parallel(branches) => {
            for (number, branch) in branches.iter().enumerate() {
                let title = if number == 0 { "in parallel" } else { "and" };
                out.line(depth, title);
                show(branch, depth + 1, script, out);
            }
        }
    }
}

fn socket_name(ask: u32, script: &Script) -> &str {
    script.asks.get(ask as usize).map_or("", |ask| ask.name.as_str())
}

fn expected(wanted: &Expectation, socket: &str, depth: usize, script: &Script, out: &mut Lines) {
    let within = wanted.within_ns.map_or(String::new(), |ns| format!(" within {}", time(ns)));
    out.line(depth, &format!("expect `{}` from `{socket}`{within}", wanted.name));
    for check in &wanted.checks {
        out.line(depth + 2, &answer::check(check, script));
    }
    for extract in &wanted.extracts {
        out.line(depth + 2, &answer::extract(extract, script));
    }
    if wanted.go_on_after_failure {
        out.line(depth + 2, "continues after a failure");
    }
}

fn slot_name(slot: Slot, script: &Script) -> &str {
    let (names, number) = match slot {
        Slot::Var(number) => (&script.vars, number),
        Slot::Global(number) => (&script.globals, number),
    };
    names.get(usize::from(number)).map_or("", String::as_str)
}

fn condition_words(condition: &Condition, script: &Script) -> String {
    format!("`{}` {}", describe(&condition.left, script), answer::rule_words(&condition.rule, script))
}

fn request(ask: &Ask, depth: usize, script: &Script, out: &mut Lines) {
    let line = format!("{} {}", ask.method, redacted_path(&describe(&ask.path, script)));
    let named = if ask.name == line { String::new() } else { format!("  `{}`", ask.name) };
    out.line(depth, &format!("{line}{named}"));
    let depth = depth + 2;
    for (name, value) in &ask.headers {
        out.line(depth, &format!("{name}: {}", redacted_header(name, &describe(value, script))));
    }
    if let Some(body) = &ask.body {
        let line = match body.fixed() {
            Some(fixed) => format!("body of {}", bytes(fixed.len() as u64)),
            None => "body, filled in for each request".to_owned(),
        };
        out.line(depth, &line);
    }
    if let Some(call) = &ask.grpc {
        let response = call.types.messages.get(call.response).map_or("", |message| &message.name);
        let compression = if call.is_compressed { ", compressed" } else { "" };
        let sent = match call.messages.len() as u64 * u64::from(call.rounds) {
            1 if call.protocol.is_web() => "gRPC-Web message".to_owned(),
            1 if ask.websocket.is_none() => "gRPC message".to_owned(),
            n => format!("gRPC call with {}", count(n, "message")),
        };
        out.line(depth, &format!("{sent}{compression}; the response is a `{response}`"));
    }
    if let Some(ns) = ask.timeout_ns {
        out.line(depth, &format!("timeout {}", time(ns)));
    }
    if let Some((_, delivery)) = script
        .deliveries
        .iter()
        .find(|(of, _)| script.asks.get(*of as usize).is_some_and(|of| ptr::eq(of, ask)))
    {
        delivery_words(delivery, depth, out);
    }
    if ask.redirects > 0 {
        out.line(depth, &format!("follows at most {}", count(u64::from(ask.redirects), "redirect")));
    }
    for (name, value) in &ask.tags {
        out.line(depth, &format!("tag {name}: {value}"));
    }
    for check in &ask.checks {
        out.line(depth, &answer::check(check, script));
    }
    for extract in &ask.extracts {
        out.line(depth, &answer::extract(extract, script));
    }
    if ask.go_on_after_failure {
        out.line(depth, "continues after a failure");
    }
    if let Some(stream) = &ask.stream {
        stream_words(stream, ("event stream", "event"), depth, script, out);
    }
    if let Some(socket) = &ask.websocket {
        let what = if ask.grpc.is_some() { "gRPC stream" } else { "WebSocket" };
        socket_words(socket, what, depth, script, out);
    }
}

fn delivery_words(delivery: &Delivery, depth: usize, out: &mut Lines) {
    if let Some(ns) = delivery.continue_ns {
        out.line(depth, &format!("its body waits for `100 Continue`, at most {}", time(ns)));
    }
    match delivery.chunk_bytes {
        Some(size) => out.line(depth, &format!("its body is sent in chunks of {}", bytes(u64::from(size)))),
        None if delivery.is_chunked => out.line(depth, "its body is sent in chunks"),
        None => {}
    }
    let rates = [
        ("head sent", delivery.head_bytes_per_s),
        ("body sent", delivery.body_bytes_per_s),
        ("response read", delivery.read_bytes_per_s),
    ];
    for (what, rate) in rates {
        if let Some(rate) = rate {
            out.line(depth, &format!("{what} at {} per second", bytes(rate)));
        }
    }
}

fn socket_words(socket: &WebSocket, what: &str, depth: usize, script: &Script, out: &mut Lines) {
    match socket.is_awaited {
        true => stream_words(&socket.stream, (what, "message"), depth, script, out),
        false => out.line(depth, "WebSocket, until it is closed or the iteration ends"),
    }
    if !socket.subprotocols.is_empty() {
        out.line(depth + 1, &format!("subprotocols {}", socket.subprotocols.join(", ")));
    }
    match socket.compression {
        None => {}
        Some(Compression { context_takeover: true }) => {
            out.line(depth + 1, "compressed if the server agrees")
        }
        Some(Compression { context_takeover: false }) => {
            out.line(depth + 1, "compressed without context if the server agrees");
        }
    }
    match &socket.correlation {
        None => {}
        Some(Correlation::Next) => out.line(depth + 1, "each message responds to the oldest one sent"),
        Some(Correlation::Id(place)) => {
            out.line(depth + 1, &format!("a response has the ID of its message in {}", place_words(place)));
        }
    }
}

fn stream_words(
    stream: &Stream,
    (what, event): (&str, &str),
    depth: usize,
    script: &Script,
    out: &mut Lines,
) {
    let mut ends = Vec::new();
    ends.extend(stream.for_ns.map(|ns| format!("for {}", time(ns))));
    ends.extend(stream.events.map(|events| format!("for {}", count(events, event))));
    let end = if ends.is_empty() { "until the server closes it".to_owned() } else { ends.join(" or ") };
    out.line(depth, &format!("{what}, {end}"));
    let mut facts = Vec::new();
    facts.extend(stream.every_ns.map(|ns| format!("one {event} every {}", time(ns))));
    facts.extend(stream.idle_ns.map(|ns| format!("fails after {} of silence", time(ns))));
    facts.extend(stream.sequence.as_ref().map(|place| format!("sequence number in {}", place_words(place))));
    facts.extend(stream.made_at.as_ref().map(|(place, _)| format!("timestamp in {}", place_words(place))));
    if stream.reconnects > 0 {
        facts.push(format!("reconnects at most {}", count(u64::from(stream.reconnects), "time")));
    }
    facts.extend(stream.closed_by.map(|closer| match closer {
        Closer::Server => "the server must close it".to_owned(),
        Closer::Client => "the client must close it".to_owned(),
    }));
    for fact in facts {
        out.line(depth + 1, &fact);
    }
    if !stream.beside.is_empty() {
        out.line(depth, "while it is open");
        show(&stream.beside, depth + 1, script, out);
    }
}

fn place_words(place: &Place) -> String {
    match place {
        Place::Id => "the event ID".into(),
        Place::Json(path) => path.clone(),
        Place::Regex(pattern) => format!("/{pattern}/"),
    }
}
