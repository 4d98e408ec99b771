//! One gRPC call: its method, message, and metadata, and the checks and extractions of its response.

use super::rule::{self, Bare};
use super::{auth, extract, headers, known, pause, stream};
use crate::build::draft::{
    CallDraft, CheckDraft, ExtractDraft, HeaderDraft, NameDraft, On, PathDraft, RequestDraft, StepDraft,
    StreamDraft, SubjectDraft, TextDraft,
};
use crate::own::grpc::{self, Schemas};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value, one_or_more};
use crate::sentence::short;
use crate::source::Pos;
use plimsoll_plan::answer::{Source, Subject};
use plimsoll_plan::grpc::Codes;
use plimsoll_plan::stream::{Place, Stream};
use plimsoll_plan::unit;
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
    if method.is_client_streaming() {
        let kind = if method.is_server_streaming() { "bidirectional" } else { "client" };
        let message = format!("{kind} streaming is not supported yet: `{}`", method.full_name());
        w.r.complain("F012", entry.value.pos, message, "choose a method that takes one message");
        return None;
    }
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut call = CallDraft {
        message: Vec::new(),
        is_compressed: false,
        types: schemas.types.clone(),
        response: schemas.number(method.output().full_name()),
        expect: Codes::OK,
    };
    let mut draft = RequestDraft::new(
        item.pos,
        "POST",
        Some(PathDraft { text: TextDraft::of(&path), encode: true, pos: entry.value.pos }),
    );
    let mut think = None;
    let mut has_message = false;
    for (row, key, entry) in &all {
        let node = &entry.value;
        let r = &mut w.r;
        match key {
            of::GrpcCall::Grpc | of::GrpcCall::Stream => {}
            of::GrpcCall::Message => {
                has_message = true;
                call.message = grpc::message(&method.input(), node, &schemas, r);
            }
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
    // Without `message`, the message is empty, which lacks required fields.
    if !has_message {
        let empty = Node { pos: item.pos, value: Value::Map(Vec::new()) };
        call.message = grpc::message(&method.input(), &empty, &schemas, &mut w.r);
    }
    draft.stream = stream_of(given(of::GrpcCall::Stream), &method, entry.pos, &schemas, call.response, w);
    draft.grpc = Some(Box::new(call));
    draft.spoiled = w.r.wrong.len() > before;
    let mut steps = vec![StepDraft::Request(Box::new(draft))];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

/// Reads the stream of a server streaming method, which `stream` describes; other methods have none.
fn stream_of(
    given: Option<(&'static Row, &Entry)>,
    method: &MethodDescriptor,
    pos: Pos,
    schemas: &Schemas,
    response: usize,
    w: &mut Work<'_>,
) -> Option<StreamDraft> {
    let plain = || StreamDraft { pos, stream: Stream::default(), beside: Vec::new() };
    match (given, method.is_server_streaming()) {
        (None, true) => Some(plain()),
        (None, false) => None,
        (Some((_, entry)), false) => {
            let message =
                format!("`stream` does not apply to `{}`, which returns one message", method.name());
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
        if name.starts_with("grpc-") || matches!(name.as_str(), "te" | "content-type" | "content-length") {
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
