//! Steps of WebSockets: one opens them, others send, expect messages, and close them.

use super::body::{self, Shape};
use super::graphql::{self, Over};
use super::{auth, check, extract, grpc, headers, known, path, pause, rule, stream};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value, one_or_more};
use plimsoll_build::draft::{
    CloseDraft, ExpectDraft, NameDraft, On, PartDraft, PathDraft, PingDraft, RequestDraft, SendDraft,
    SendMessageDraft, StepDraft, SubjectDraft, TextDraft, WebSocketDraft,
};
use plimsoll_build::sentence::short;
use plimsoll_plan::answer::Subject;
use plimsoll_plan::stream::{Closer, Place};
use plimsoll_plan::value::Escape;
use plimsoll_plan::websocket::{
    Compression, Content, Correlation, NORMAL_CLOSE, PING_BYTES_MAX, REASON_BYTES_MAX, WebSocket,
};

/// Reads a `connect` step, and the pause after it.
pub fn connect(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let before = w.r.wrong.len();
    let all = known::<of::Connect>(entries, &mut w.r);
    let given = |wanted: of::Connect| {
        all.iter().find(|(_, key, _)| *key == wanted).map(|(row, _, entry)| (*row, *entry))
    };
    let (path_row, line) = given(of::Connect::Connect)?;
    let encode =
        given(of::Connect::Encode).is_none_or(|(row, entry)| w.r.truth(&entry.value, row) != Some(false));
    let path = path::read(&line.value, path_row, encode, w).map(over_http);
    let query = given(of::Connect::Query)
        .map(|(row, entry)| path::query(&entry.value, row, encode, w))
        .unwrap_or_default();
    let mut draft = RequestDraft { query, ..RequestDraft::new(item.pos, "GET", path) };
    let mut socket = WebSocket::default();
    let (mut beside, mut think) = (Vec::new(), None);
    for (row, key, entry) in &all {
        let node = &entry.value;
        let r = &mut w.r;
        let plan = &mut socket.stream;
        match key {
            of::Connect::Name => draft.name = name(node, row, r),
            of::Connect::Origin => draft.origin = name(node, row, r),
            of::Connect::Headers => {
                draft.headers = r.map(node, row).map(|entries| headers::read(entries, r)).unwrap_or_default()
            }
            of::Connect::Auth => draft.auth = auth::auth(node, row, r),
            of::Connect::Timeout => draft.timeout_ns = stream::length(node, row, r),
            of::Connect::Tags => {
                for tag in r.map(node, row).unwrap_or_default() {
                    let value = r.written(&tag.value, row).map(str::to_owned);
                    draft.tags.extend(value.map(|value| (tag.key.clone(), value)));
                }
            }
            of::Connect::OnFailure => draft.go_on_after_failure = on_failure(node, row, r),
            of::Connect::Check => (draft.checks, draft.expect) = check::read(node, row, r),
            of::Connect::Extract => draft.extracts = extract::read(node, row, r),
            of::Connect::GraphQl => {
                draft.graphql = graphql::read(node, row, Over::WebSocket, r).map(|graphql| graphql.draft)
            }
            of::Connect::Subprotocols => socket.subprotocols = subprotocols(node, row, r),
            of::Connect::Compression => socket.compression = compression(node, row, r),
            of::Connect::Correlation => socket.correlation = correlation(node, row, r),
            of::Connect::Duration => plan.for_ns = stream::length(node, row, r),
            of::Connect::Messages => {
                plan.events =
                    r.whole(node, row).filter(|messages| stream::above_zero(*messages, node, row, r))
            }
            of::Connect::IdleTimeout => plan.idle_ns = stream::length(node, row, r),
            of::Connect::ExpectedInterval => plan.every_ns = stream::length(node, row, r),
            of::Connect::Sequence => {
                plan.sequence = stream::sequence(node, row, r).filter(|place| has_place(place, node, r))
            }
            of::Connect::Timestamp => {
                plan.made_at = stream::timestamp(node, row, r).filter(|(place, _)| has_place(place, node, r))
            }
            of::Connect::ClosedBy => {
                let words = [("server", Closer::Server), ("client", Closer::Client)];
                plan.closed_by = r.choice(node, row, &words);
            }
            of::Connect::WhileOpen => beside = super::list(node, row, w),
            of::Connect::Think => think = pause::delay(node, row, r),
            // Read before this loop.
            of::Connect::Connect | of::Connect::Query | of::Connect::Encode => {}
        }
    }
    if let (Some((_, entry)), is_own) = (given(of::Connect::GraphQl), socket.subprotocols.is_empty()) {
        if !is_own && !socket.subprotocols.iter().any(|name| name == graphql::PROTOCOL) {
            let message = format!("`graphql` speaks the subprotocol `{}`", graphql::PROTOCOL);
            w.r.complain("F017", entry.pos, message, "remove `subprotocols`");
        }
        socket.subprotocols = vec![graphql::PROTOCOL.to_owned()];
    }
    socket.is_awaited = all.iter().any(|(_, key, _)| is_awaited(*key));
    draft.spoiled = w.r.wrong.len() > before;
    draft.websocket = Some(Box::new(WebSocketDraft { pos: line.pos, socket, beside }));
    let mut steps = vec![StepDraft::Request(Box::new(draft))];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

/// Returns whether a step with this key lasts until its WebSocket closes.
fn is_awaited(key: of::Connect) -> bool {
    matches!(
        key,
        of::Connect::Duration
            | of::Connect::Messages
            | of::Connect::ClosedBy
            | of::Connect::WhileOpen
            | of::Connect::GraphQl
    )
}

/// Replaces `ws` and `wss`, which name the same origins as `http` and `https`.
fn over_http(mut path: PathDraft) -> PathDraft {
    if let Some(PartDraft::Literal(text)) = path.text.parts.first_mut() {
        let plain = String::from_utf8_lossy(text).into_owned();
        *text = plimsoll_build::without_ws(&plain).into_owned().into_bytes();
    }
    path
}

fn name(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<NameDraft> {
    let name = r.text(node, row).map(str::to_owned);
    name.map(|name| NameDraft { name, pos: node.pos })
}

fn on_failure(node: &Node, row: &Row, r: &mut Reader<'_>) -> bool {
    r.choice(node, row, &[("stop", false), ("continue", true)]).unwrap_or_default()
}

/// Rejects the ID of an event, which messages do not have.
fn has_place(place: &Place, node: &Node, r: &mut Reader<'_>) -> bool {
    if *place == Place::Id {
        let message = "a message has no `id` field: only events have one";
        r.complain("F015", node.pos, message, "write a JSONPath such as `$.seq`, or a `regex`");
    }
    *place != Place::Id
}

fn subprotocols(node: &Node, row: &Row, r: &mut Reader<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for item in one_or_more(node) {
        let Some(text) = r.text(item, row) else { continue };
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if text.is_empty() || !text.chars().all(is_token) {
            let message = format!("invalid subprotocol `{}`", short(text));
            r.complain("F015", item.pos, message, "write a name such as `graphql-transport-ws`");
        } else if all.iter().any(|known| known == text) {
            r.complain("F013", item.pos, format!("duplicate subprotocol `{text}`"), "remove one of them");
        } else {
            all.push(text.to_owned());
        }
    }
    all
}

fn compression(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Compression> {
    let Value::Map(entries) = &node.value else {
        return r.truth(node, row)?.then_some(Compression { context_takeover: true });
    };
    let mut context_takeover = true;
    for entry in entries {
        let (row, of::Compression::ContextTakeover) = r.key(entry)?;
        context_takeover = r.truth(&entry.value, row)?;
    }
    Some(Compression { context_takeover })
}

pub fn correlation(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Correlation> {
    if let Value::Scalar(scalar) = &node.value
        && scalar.text == "next"
    {
        return Some(Correlation::Next);
    }
    let place = stream::sequence(node, row, r)?;
    has_place(&place, node, r).then_some(Correlation::Id(place))
}

/// Reads a `send` step, and the pause after it.
pub fn send(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let all = known::<of::Send>(entries, &mut w.r);
    let chosen = all.iter().find(|(_, key, _)| *key == of::Send::Socket);
    let socket = chosen.and_then(|(row, _, entry)| name(&entry.value, row, &mut w.r));
    let (mut sent, mut think) = (None, None);
    for (row, key, entry) in &all {
        let node = &entry.value;
        match key {
            of::Send::Send => {
                let pos = entry.pos;
                sent = match grpc::open_call(socket.as_ref(), w) {
                    Some(method) => grpc::sent(node, row, &method, w).map(|message| {
                        let call = socket.clone();
                        StepDraft::SendMessage(Box::new(SendMessageDraft { pos, call, message }))
                    }),
                    None => message(node, row, w).map(|(content, text)| {
                        let socket = socket.clone();
                        StepDraft::Send(Box::new(SendDraft { pos, socket, content, text }))
                    }),
                };
            }
            // Read before this loop.
            of::Send::Socket => {}
            of::Send::Think => think = pause::delay(node, row, &mut w.r),
        }
    }
    let mut steps = Vec::new();
    steps.extend(sent);
    steps.extend(think.map(StepDraft::Think));
    (!steps.is_empty()).then_some(steps)
}

fn message(node: &Node, row: &'static Row, w: &mut Work<'_>) -> Option<(Content, TextDraft)> {
    let Value::Map(entries) = &node.value else {
        return w.r.template(node, row, Escape::None).map(|text| (Content::Text, text));
    };
    let [entry] = entries.as_slice() else {
        w.r.expected(node, row, "write one of `text`, `json`, `binary`, and `binary_file`");
        return None;
    };
    let node = &entry.value;
    Some(match w.r.key(entry)? {
        (row, of::Message::Text) => (Content::Text, w.r.template(node, row, Escape::None)?),
        (row, of::Message::Json) => (Content::Text, body::read(node, row, Shape::Json, w)?.text),
        (_, of::Message::Message) => {
            let message = "no gRPC call is open at this step";
            let hint = "move it under `stream: { while_open: [ ... ] }` of a call that streams";
            w.r.complain("F021", entry.pos, message, hint);
            return None;
        }
        (row, of::Message::Binary) => (Content::Binary, w.r.template(node, row, Escape::None)?),
        (row, of::Message::BinaryFile) => (Content::Binary, body::read(node, row, Shape::File, w)?.text),
    })
}

/// Reads an `expect` step, and the pause after it.
pub fn expect(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let all = known::<of::Expect>(entries, &mut w.r);
    let mut draft = ExpectDraft {
        pos: entries.first()?.pos,
        socket: None,
        name: None,
        content: None,
        subjects: Vec::new(),
        extracts: Vec::new(),
        within_ns: None,
        go_on_after_failure: false,
    };
    let (mut think, mut place) = (None, None);
    for (row, key, entry) in &all {
        let (node, r) = (&entry.value, &mut w.r);
        match key {
            of::Expect::Expect => {
                draft.pos = entry.pos;
                (draft.content, draft.subjects) = wanted(node, row, r);
                place = Some(node);
            }
            of::Expect::Name => draft.name = name(node, row, r),
            of::Expect::Within => draft.within_ns = stream::length(node, row, r),
            of::Expect::Extract => draft.extracts = extract::read(node, row, r),
            of::Expect::OnFailure => draft.go_on_after_failure = on_failure(node, row, r),
            of::Expect::Socket => draft.socket = name(node, row, r),
            of::Expect::Think => think = pause::delay(node, row, r),
        }
    }
    if let (Some(method), Some(node)) = (grpc::open_call(draft.socket.as_ref(), w), place) {
        grpc::check_expected(&draft, node, &method, w);
    }
    let mut steps = vec![StepDraft::Expect(Box::new(draft))];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

/// Reads what a message must be. An empty mapping accepts any message.
fn wanted(node: &Node, row: &'static Row, r: &mut Reader<'_>) -> (Option<Content>, Vec<SubjectDraft>) {
    let (mut content, mut found) = (None, Vec::new());
    let text = |node: &Node, row: &Row, found: &mut Vec<SubjectDraft>, r: &mut Reader<'_>| {
        for item in one_or_more(node) {
            for rule in rule::read(item, row, rule::Bare::Contains, r) {
                found.push(SubjectDraft { words: "message".into(), on: On::Body(rule) });
            }
        }
    };
    let Value::Map(entries) = &node.value else {
        text(node, row, &mut found, r);
        return (content, found);
    };
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::ExpectedMessage::Kind => {
                content = r.choice(node, row, &[("text", Content::Text), ("binary", Content::Binary)]);
            }
            of::ExpectedMessage::Text => text(node, row, &mut found, r),
            of::ExpectedMessage::Json => check::json(node, row, &mut found, r),
            of::ExpectedMessage::Length => {
                if let Some((least_bytes, most_bytes)) = r.parsed(node, row, check::lengths) {
                    let words = format!("length is {}", r.written(node, row).unwrap_or_default());
                    let on = On::Fixed(Subject::Length { least_bytes, most_bytes });
                    found.push(SubjectDraft { words, on });
                }
            }
        }
    }
    (content, found)
}

/// Reads a `ping` step, and the pause after it.
pub fn ping(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let all = known::<of::Ping>(entries, &mut w.r);
    let mut draft = PingDraft {
        pos: entries.first()?.pos,
        socket: None,
        name: None,
        text: TextDraft::default(),
        within_ns: None,
        go_on_after_failure: false,
    };
    let mut think = None;
    for (row, key, entry) in &all {
        let (node, r) = (&entry.value, &mut w.r);
        match key {
            of::Ping::Ping => {
                draft.pos = entry.pos;
                draft.text = r.template(node, row, Escape::None)?;
                if draft.text.literals().len() > PING_BYTES_MAX {
                    let message = format!("the payload of a ping is longer than {PING_BYTES_MAX} bytes");
                    r.complain("F015", node.pos, message, "write a shorter text");
                }
            }
            of::Ping::Within => draft.within_ns = stream::length(node, row, r),
            of::Ping::Name => draft.name = name(node, row, r),
            of::Ping::OnFailure => draft.go_on_after_failure = on_failure(node, row, r),
            of::Ping::Socket => draft.socket = name(node, row, r),
            of::Ping::Think => think = pause::delay(node, row, r),
        }
    }
    if grpc::open_call(draft.socket.as_ref(), w).is_some() {
        let message = "`ping` does not apply to a gRPC call";
        w.r.complain("F017", draft.pos, message, "remove `ping`, or send a message");
        return None;
    }
    let mut steps = vec![StepDraft::Ping(Box::new(draft))];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

/// Reads a `close` step, and the pause after it.
pub fn close(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let all = known::<of::Close>(entries, &mut w.r);
    let mut draft = CloseDraft {
        pos: entries.first()?.pos,
        socket: None,
        code: NORMAL_CLOSE,
        reason: TextDraft::default(),
    };
    let chosen = all.iter().find(|(_, key, _)| *key == of::Close::Socket);
    let named = chosen.and_then(|(row, _, entry)| name(&entry.value, row, &mut w.r));
    let is_call = grpc::open_call(named.as_ref(), w).is_some();
    let mut think = None;
    for (row, key, entry) in &all {
        let (node, r) = (&entry.value, &mut w.r);
        match key {
            of::Close::Close if is_call => {
                draft.pos = entry.pos;
                if !matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
                    let message = "a gRPC call is closed without a code";
                    r.complain("F017", node.pos, message, "write `close: {}`: no more messages are sent");
                }
            }
            of::Close::Close => {
                draft.pos = entry.pos;
                close_frame(node, row, &mut draft, r);
            }
            of::Close::Socket => draft.socket = name(node, row, r),
            of::Close::Think => think = pause::delay(node, row, r),
        }
    }
    let mut steps = vec![match is_call {
        true => StepDraft::Complete { pos: draft.pos, call: draft.socket },
        false => StepDraft::Close(Box::new(draft)),
    }];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

fn close_frame(node: &Node, row: &'static Row, draft: &mut CloseDraft, r: &mut Reader<'_>) {
    let Value::Map(entries) = &node.value else {
        draft.code = code(node, row, r).unwrap_or(NORMAL_CLOSE);
        return;
    };
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::CloseFrame::Code => draft.code = code(node, row, r).unwrap_or(NORMAL_CLOSE),
            of::CloseFrame::Reason => {
                draft.reason = r.template(node, row, Escape::None).unwrap_or_default();
                if draft.reason.literals().len() > REASON_BYTES_MAX {
                    let message = format!("the reason is longer than {REASON_BYTES_MAX} bytes");
                    r.complain("F015", node.pos, message, "write a shorter reason");
                }
            }
        }
    }
}

/// Reads a close code that a client may send (RFC 6455 section 7.4).
fn code(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u16> {
    let number = r.whole(node, row)?;
    let code =
        u16::try_from(number).ok().filter(|code| matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999));
    if code.is_none() {
        let message = format!("invalid close code `{number}`");
        r.complain(
            "F015",
            node.pos,
            message,
            "write 1000 (normal), 1001 (going away), or a code from 3000 to 4999",
        );
    }
    code
}
