//! One gRPC call: its method, message, and metadata, and the checks and extractions of its response.

use super::rule::{self, Bare};
use super::{auth, extract, headers, known, pause, stream};
use crate::own::grpc::{self, Schemas};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value, one_or_more};
use plimsoll_build::draft::{
    CallDraft, CheckDraft, ExpectDraft, ExtractDraft, HeaderDraft, NameDraft, On, PathDraft, PieceDraft,
    RequestDraft, SendMessageDraft, StepDraft, StreamDraft, SubjectDraft, TextDraft, WebSocketDraft,
};
use plimsoll_build::sentence::short;
use plimsoll_build::source::Pos;
use plimsoll_plan::answer::{Source, Subject};
use plimsoll_plan::grpc::Codes;
use plimsoll_plan::script::Delay;
use plimsoll_plan::stream::{Place, Stream};
use plimsoll_plan::unit;
use plimsoll_plan::websocket::WebSocket;
use prost_reflect::MethodDescriptor;
use std::rc::Rc;

/// Reads one call and the pause after it. Returns `None` if its method is missing or unknown.
pub fn read(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    w.is_scripted = true;
    w.calls.get_or_insert(item.pos);
    let before = w.r.wrong.len();
    let all = known::<of::GrpcCall>(entries, &mut w.r);
    let given = |wanted: of::GrpcCall| {
        all.iter().find(|(_, key, _)| *key == wanted).map(|(row, _, entry)| (*row, *entry))
    };
    let (row, entry) = given(of::GrpcCall::Grpc)?;
    let text = w.r.text(&entry.value, row)?.to_owned();
    let Some(schemas) = w.schemas.clone() else {
        let message = "missing key `grpc` at the top level: a call requires the schema of its service";
        let hint = "add the schema, such as `grpc: { protos: shop.proto }`";
        w.r.complain("F016", entry.pos, message, hint);
        return None;
    };
    let method = schemas.method(&text, entry.value.pos, &mut w.r)?;
    if schemas.protocol.is_web() && (method.is_client_streaming() || method.is_server_streaming()) {
        let message = format!("`{}` streams messages, which is not supported over gRPC-Web", method.name());
        let hint = "remove `protocol`, or call a method that takes and returns one message";
        w.r.complain("F017", entry.value.pos, message, hint);
        return None;
    }
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut call = CallDraft {
        protocol: schemas.protocol,
        messages: Vec::new(),
        rounds: 1,
        is_compressed: false,
        types: schemas.types.clone(),
        request: schemas.number(method.input().full_name()),
        response: schemas.number(method.output().full_name()),
        has_one_response: !method.is_server_streaming(),
        expect: Codes::OK,
    };
    let mut draft = RequestDraft::new(
        item.pos,
        "POST",
        Some(PathDraft { text: TextDraft::of(&path), encode: true, pos: entry.value.pos }),
    );
    let (mut think, mut interval) = (None, None);
    for (row, key, entry) in &all {
        let node = &entry.value;
        let r = &mut w.r;
        match key {
            of::GrpcCall::Grpc | of::GrpcCall::Stream => {}
            of::GrpcCall::Message => call.messages = vec![grpc::message(&method.input(), node, &schemas, r)],
            of::GrpcCall::Messages => {
                let items = r.list(node, row).unwrap_or_default();
                call.messages =
                    items.iter().map(|item| grpc::message(&method.input(), item, &schemas, r)).collect();
            }
            of::GrpcCall::Rounds => {
                call.rounds = r.whole(node, row).map_or(1, |rounds| rounds_of(rounds, node, r));
            }
            of::GrpcCall::Interval => interval = stream::length(node, row, r),
            of::GrpcCall::Metadata => {
                draft.headers = r.map(node, row).map(|entries| metadata(entries, r)).unwrap_or_default();
            }
            of::GrpcCall::Deadline => draft.timeout_ns = deadline(node, row, r),
            of::GrpcCall::Compression => {
                let words = [("none", false), ("gzip", true)];
                call.is_compressed = r.choice(node, row, &words).unwrap_or_default();
            }
            of::GrpcCall::Name => {
                let name = r.text(node, row).map(str::to_owned);
                draft.name = name.map(|name| NameDraft { name, pos: node.pos });
            }
            of::GrpcCall::Origin => {
                let name = r.text(node, row).map(str::to_owned);
                draft.origin = name.map(|name| NameDraft { name, pos: node.pos });
            }
            of::GrpcCall::Auth => draft.auth = auth::auth(node, row, r),
            of::GrpcCall::Tags => {
                for tag in r.map(node, row).unwrap_or_default() {
                    let value = r.written(&tag.value, row).map(str::to_owned);
                    draft.tags.extend(value.map(|value| (tag.key.clone(), value)));
                }
            }
            of::GrpcCall::OnFailure => {
                let words = [("stop", false), ("continue", true)];
                draft.go_on_after_failure = r.choice(node, row, &words).unwrap_or_default();
            }
            of::GrpcCall::Check => {
                draft.checks = checks(node, row, &schemas, &mut call, r);
            }
            of::GrpcCall::Extract => draft.extracts = extracts(node, row, &schemas, call.response, r),
            of::GrpcCall::Think => think = pause::delay(node, row, r),
        }
    }
    let one_of = [of::GrpcCall::Message, of::GrpcCall::Messages];
    let is_given = |key: of::GrpcCall| given(key).is_some();
    if method.is_client_streaming() {
        if let (true, Some((_, entry))) = (is_given(of::GrpcCall::Message), given(of::GrpcCall::Messages)) {
            w.r.complain(
                "F017",
                entry.pos,
                "`message` and `messages` exclude each other",
                "keep one of them",
            );
        }
        let of_list = [of::GrpcCall::Rounds, of::GrpcCall::Interval];
        for (row, entry) in of_list.into_iter().filter_map(given) {
            if !one_of.into_iter().any(is_given) {
                let message = format!("missing key `messages`: `{}` applies to a list of messages", row.name);
                w.r.complain("F016", entry.pos, message, "add the list, such as `messages: [ { id: 1 } ]`");
            }
        }
    } else {
        let several = [of::GrpcCall::Messages, of::GrpcCall::Rounds, of::GrpcCall::Interval];
        for (row, entry) in several.into_iter().filter_map(given) {
            let message =
                format!("`{}` does not apply to `{}`, which takes one message", row.name, method.name());
            w.r.complain("F017", entry.pos, message, "write its fields under `message`");
        }
    }
    // Without `message`, the message is empty, which lacks required fields.
    if !method.is_client_streaming() && !one_of.into_iter().any(is_given) {
        let empty = Node { pos: item.pos, value: Value::Map(Vec::new()) };
        call.messages = vec![grpc::message(&method.input(), &empty, &schemas, &mut w.r)];
    }
    w.open_calls.extend(
        method
            .is_client_streaming()
            .then(|| (draft.name.as_ref().map(|name| name.name.clone()), method.clone())),
    );
    let depth = w.open_calls.len();
    let stream = stream_of(given(of::GrpcCall::Stream), &method, entry.pos, &schemas, call.response, w);
    if method.is_client_streaming() {
        w.open_calls.truncate(depth - 1);
        let stream = stream.unwrap_or_else(|| plain_stream(entry.pos));
        let is_listed = one_of.into_iter().any(is_given);
        draft.websocket = Some(Box::new(open(stream, is_listed, interval, &mut call, w)));
    } else {
        draft.stream = stream;
    }
    draft.grpc = Some(Box::new(call));
    draft.spoiled = w.r.wrong.len() > before;
    let mut steps = vec![StepDraft::Request(Box::new(draft))];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

fn rounds_of(rounds: u64, node: &Node, r: &mut Reader<'_>) -> u32 {
    const MOST: u64 = 100_000;
    if !(1..=MOST).contains(&rounds) {
        let message = format!("`rounds` must be between 1 and {MOST}");
        r.complain("F015", node.pos, message, "write a whole number such as `10`");
    }
    rounds.clamp(1, MOST) as u32
}

fn plain_stream(pos: Pos) -> StreamDraft {
    StreamDraft { pos, stream: Stream::default(), beside: Vec::new(), correlation: None }
}

/// Returns how a call with a stream of messages to send is open. Messages that are sent one by one become its steps.
fn open(
    stream: StreamDraft,
    is_listed: bool,
    interval: Option<u64>,
    call: &mut CallDraft,
    w: &mut Work<'_>,
) -> WebSocketDraft {
    let StreamDraft { pos, stream, mut beside, correlation } = stream;
    if is_listed && !beside.is_empty() {
        let message = "`while_open` and a list of messages exclude each other";
        w.r.complain("F017", pos, message, "send the messages with `send` steps under `while_open`");
    } else if is_listed && (interval.is_some() || correlation.is_some()) {
        for message in std::mem::take(&mut call.messages) {
            beside.push(StepDraft::SendMessage(Box::new(SendMessageDraft { pos, call: None, message })));
            beside.extend(interval.map(|ns| StepDraft::Think(Delay::Constant { ns })));
        }
        let rounds = std::mem::replace(&mut call.rounds, 1);
        if rounds > 1 {
            let times = Some(TextDraft::of(rounds.to_string()));
            beside = vec![StepDraft::Repeat { times, steps: beside }];
        }
    }
    let correlation = correlation.map(|(correlation, _)| correlation);
    let socket = WebSocket { stream, is_awaited: true, correlation, ..WebSocket::default() };
    WebSocketDraft { pos, socket, beside }
}

/// Returns the method of the call that a step uses: the innermost one that contains it, or the one with this name.
pub fn open_call(chosen: Option<&NameDraft>, w: &Work<'_>) -> Option<MethodDescriptor> {
    let is_chosen = |name: &Option<String>| chosen.is_none_or(|chosen| name.as_ref() == Some(&chosen.name));
    w.open_calls.iter().rev().find(|(name, _)| is_chosen(name)).map(|(_, method)| method.clone())
}

/// Reads the message of a `send` step.
pub fn sent(
    node: &Node,
    row: &'static Row,
    method: &MethodDescriptor,
    w: &mut Work<'_>,
) -> Option<Vec<PieceDraft>> {
    let schemas = w.schemas.clone()?;
    if let Value::Map(entries) = &node.value
        && let [entry] = entries.as_slice()
        && let Some((_, of::Message::Message)) = w.r.key(entry)
    {
        return Some(grpc::message(&method.input(), &entry.value, &schemas, &mut w.r));
    }
    w.r.expected(node, row, "a gRPC call takes `{ message: { ... } }`");
    None
}

/// Checks what a step expects of the messages of a call, which are read as JSON.
pub fn check_expected(draft: &ExpectDraft, node: &Node, method: &MethodDescriptor, w: &mut Work<'_>) {
    let Some(schemas) = w.schemas.clone() else { return };
    let response = schemas.number(method.output().full_name());
    for subject in &draft.subjects {
        match &subject.on {
            On::Json { path, .. } => {
                if let Err(problem) = grpc::check_path(&schemas.types, response, path) {
                    w.r.complain("F042", node.pos, problem.message, problem.hint);
                }
            }
            On::Fixed(Subject::Length { .. }) => {
                let message = "`length` does not apply to a gRPC message, which is read as JSON";
                w.r.complain("F017", node.pos, message, "remove `length`");
            }
            _ => {}
        }
    }
    if draft.content.is_some() {
        let message = "`kind` does not apply to a gRPC message";
        w.r.complain("F017", node.pos, message, "remove `kind`");
    }
    for extract in &draft.extracts {
        if let Some((Source::Json(path), _)) = &extract.from
            && let Err(problem) = grpc::check_path(&schemas.types, response, path)
        {
            w.r.complain("F042", extract.into.pos, problem.message, problem.hint);
        }
    }
}

/// Reads the stream of a method that streams, which `stream` describes; other methods have none.
fn stream_of(
    given: Option<(&'static Row, &Entry)>,
    method: &MethodDescriptor,
    pos: Pos,
    schemas: &Schemas,
    response: usize,
    w: &mut Work<'_>,
) -> Option<StreamDraft> {
    let plain = || plain_stream(pos);
    match (given, method.is_server_streaming() || method.is_client_streaming()) {
        (None, true) => Some(plain()),
        (None, false) => None,
        (Some((_, entry)), false) => {
            let message = format!(
                "`stream` does not apply to `{}`, which takes and returns one message",
                method.name()
            );
            w.r.complain("F017", entry.pos, message, "remove `stream`");
            None
        }
        (Some((row, entry)), true) => {
            let draft = stream::read(&entry.value, row, entry.pos, w).unwrap_or_else(plain);
            let of = &draft.stream;
            for place in of.sequence.iter().chain(of.made_at.iter().map(|(place, _)| place)) {
                match place {
                    Place::Json(path) => {
                        if let Err(problem) = grpc::check_path(&schemas.types, response, path) {
                            w.r.complain("F042", entry.pos, problem.message, problem.hint);
                        }
                    }
                    Place::Id => {
                        let message = "gRPC messages have no `id`";
                        w.r.complain("F017", entry.pos, message, "write a JSONPath such as `$.seq`");
                    }
                    Place::Regex(_) => {}
                }
            }
            if let (Some((_, pos)), false) =
                (&draft.correlation, method.is_client_streaming() && method.is_server_streaming())
            {
                let message = format!(
                    "`correlation` does not apply to `{}`, which does not stream in both directions",
                    method.name()
                );
                w.r.complain("F017", *pos, message, "remove `correlation`");
            }
            if of.reconnects > 0 {
                let message = "`reconnect` does not apply to a gRPC call";
                w.r.complain("F017", entry.pos, message, "remove `reconnect`, and repeat the call");
            }
            Some(draft)
        }
    }
}

/// Reads metadata, without the names that gRPC itself uses.
fn metadata(entries: &[Entry], r: &mut Reader<'_>) -> Vec<HeaderDraft> {
    for entry in entries {
        let name = entry.key.to_ascii_lowercase();
        if name.starts_with("grpc-")
            || matches!(name.as_str(), "te" | "content-type" | "content-length" | "x-grpc-web")
        {
            let message = format!("reserved name `{}` in `metadata`", entry.key);
            let hint = match name.as_str() {
                "grpc-timeout" => "set the `deadline` of the call",
                "grpc-encoding" => "set the `compression` of the call",
                _ => "remove it: plimsoll sends it as gRPC requires",
            };
            r.complain("F017", entry.pos, message, hint);
        }
    }
    headers::read(entries, r)
}

fn deadline(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u64> {
    let ns = r.parsed(node, row, unit::duration_ns)?;
    if ns == 0 {
        let hint = "write a duration such as `2s`, or remove `deadline`";
        r.complain("F015", node.pos, "`deadline` must be longer than 0", hint);
        return None;
    }
    Some(ns)
}

fn checks(
    node: &Node,
    row: &Row,
    schemas: &Rc<Schemas>,
    call: &mut CallDraft,
    r: &mut Reader<'_>,
) -> Vec<CheckDraft> {
    let mut expect = None;
    let mut all = Vec::new();
    for item in one_or_more(node) {
        let Some(entries) = r.map(item, row) else { continue };
        let mut found = Vec::new();
        let mut name = None;
        for entry in entries {
            let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
            match key {
                of::GrpcCheck::Name => {
                    name = r.text(node, row).map(|text| NameDraft { name: text.to_owned(), pos: node.pos });
                }
                of::GrpcCheck::Status => {
                    let Some(codes) = r.parsed(node, row, Codes::parse) else { continue };
                    if expect.replace(codes).is_some() {
                        r.complain("F017", entry.pos, "`status` is checked twice", "keep one of them");
                        continue;
                    }
                    let on = On::Fixed(Subject::GrpcStatus(codes));
                    found.push(SubjectDraft { words: format!("status is {codes}"), on });
                }
                of::GrpcCheck::Message => {
                    for rule in rule::read(node, row, Bare::Equals, r) {
                        found
                            .push(SubjectDraft { words: "status message".into(), on: On::GrpcMessage(rule) });
                    }
                }
                of::GrpcCheck::Metadata => {
                    for field in r.map(node, row).unwrap_or_default() {
                        for rule in rule::read(&field.value, row, Bare::Equals, r) {
                            let words = format!("metadata {}", field.key);
                            found.push(SubjectDraft {
                                words,
                                on: On::Header { name: field.key.clone(), rule },
                            });
                        }
                    }
                }
                of::GrpcCheck::Json => {
                    for path in r.map(node, row).unwrap_or_default() {
                        if !is_path(&path.key, path.pos, schemas, call.response, r) {
                            continue;
                        }
                        for rule in rule::read(&path.value, row, Bare::Equals, r) {
                            let words = short(&path.key);
                            found.push(SubjectDraft { words, on: On::Json { path: path.key.clone(), rule } });
                        }
                    }
                }
                of::GrpcCheck::MaxDuration => {
                    if let Some(below_ns) = r.parsed(node, row, unit::duration_ns) {
                        let words = format!("below {}", r.written(node, row).unwrap_or_default());
                        found.push(SubjectDraft { words, on: On::Fixed(Subject::Duration { below_ns }) });
                    }
                }
            }
        }
        all.push(CheckDraft { name, subjects: found });
    }
    if matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
        r.expected(node, row, "write what the response must be, such as `status: OK`");
    }
    call.expect = expect.unwrap_or(call.expect);
    all
}

/// Returns whether a JSONPath is valid, and names fields that the response has.
fn is_path(path: &str, pos: Pos, schemas: &Schemas, response: usize, r: &mut Reader<'_>) -> bool {
    if rule::json_path(path, pos, r).is_none() {
        return false;
    }
    match grpc::check_path(&schemas.types, response, path) {
        Ok(()) => true,
        Err(problem) => {
            r.complain("F042", pos, problem.message, problem.hint);
            false
        }
    }
}

fn extracts(
    node: &Node,
    row: &Row,
    schemas: &Schemas,
    response: usize,
    r: &mut Reader<'_>,
) -> Vec<ExtractDraft> {
    let all = extract::read(node, row, r);
    for draft in &all {
        match &draft.from {
            Some((Source::Json(path), _)) => {
                if let Err(problem) = grpc::check_path(&schemas.types, response, path) {
                    r.complain("F042", draft.into.pos, problem.message, problem.hint);
                }
            }
            Some((Source::Cookie(_), _)) => {
                let message = "`cookie` does not apply to a gRPC call";
                r.complain("F017", draft.into.pos, message, "use `header`, which also finds trailers");
            }
            _ => {}
        }
    }
    all
}
