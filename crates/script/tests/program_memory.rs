//! What a waiting user costs in memory, and that an iteration in the steady state allocates nothing.
//!
//! All in one test, because the counters are the process's.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "program/engine.rs"]
mod engine;
#[path = "program/plans.rs"]
mod plans;

use plans::*;
use plimsoll_plan::answer::{Check, Rule, Subject};
use plimsoll_plan::grpc;
use plimsoll_plan::grpc::{Call, Codes, Field, Kind, Label, MessageForm, Piece, Scalar, Types};
use plimsoll_plan::head::Head;
use plimsoll_plan::program::{
    At, Behavior, BodyUse, Event, Message, MessageKind, Outbox, Phase, Phases, Program, Reply, UserSlot, Wake,
};
use plimsoll_plan::script::{Node, Order, Script, Slot};
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_plan::stream::{Place, Stream};
use plimsoll_plan::value::{Function, Placeholder};
use plimsoll_plan::websocket::WebSocket;
use plimsoll_wire::ws::accept_of;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    /// Bytes in use by this thread, and how often it has asked for some.
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn note(bytes: i64) {
    // A thread that is going away has no cells any more; nothing is measured then.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
    if bytes > 0 {
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counters touch no memory of theirs.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        // SAFETY: the caller's promises are the ones that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USERS: u32 = 1_000;

/// Users of a script, each brought to where it waits; bytes per user.
fn bytes_per_user(script: Script, bring: impl Fn(&mut dyn Program, &mut Outbox)) -> i64 {
    let stage = stage(script);
    let mut factory = stage.clone().factory(Phase::Load).expect("there are no files").programs();
    let mut out = Outbox::default();
    let mut users: Vec<Box<dyn Program>> = Vec::with_capacity(USERS as usize);
    let mut make = |user| {
        let mut program = factory.make(UserSlot { workload: 0, user, id: user, users: USERS });
        bring(&mut *program, &mut out);
        users.push(program);
    };
    // What belongs to the thread is made by the first.
    make(0);
    let before = LIVE.get();
    (1..USERS).for_each(make);
    (LIVE.get() - before) / i64::from(USERS - 1)
}

fn at(ms: u64) -> At {
    At { run_ns: ms * engine::MS, unix_ns: engine::UNIX_NS + ms * engine::MS }
}

fn wake(program: &mut dyn Program, ms: u64, wake: Wake<'_>, out: &mut Outbox) {
    out.clear();
    program.resume(at(ms), wake, out);
}

fn reply<'a>(id: u32, body: &'a [u8]) -> Wake<'a> {
    Wake::Reply(Reply {
        phases: Phases { first_byte_ns: 1_000, ..Phases::default() },
        id,
        status: 200,
        fault: None,
        head: Head::new(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
        body,
        body_bytes: body.len() as u64,
        trailers: Head::default(),
        ended: None,
    })
}

#[test]
fn users_are_small_and_their_iterations_allocate_nothing() {
    a_user_that_waits_for_an_answer_is_small();
    a_user_that_holds_a_stream_is_small();
    a_user_that_holds_a_websocket_is_small();
    an_iteration_allocates_nothing();
    a_grpc_call_allocates_nothing(false);
    a_grpc_call_allocates_nothing(true);
}

fn a_user_that_waits_for_an_answer_is_small() {
    let mut script = script(vec![ask("/")], vec![Node::Ask(0)]);
    script.vars.clear();
    let bytes = bytes_per_user(script, |program, out| {
        wake(program, 0, Wake::Begin { user: 0, iteration: 0, number: None }, out);
        assert_eq!(out.steps.len(), 1);
    });
    assert!(bytes <= 256, "{bytes} bytes");
}

fn a_user_that_holds_a_stream_is_small() {
    let mut open = ask("/events");
    open.stream = Some(Box::new(Stream {
        sequence: Some(Place::Id),
        idle_ns: Some(engine::MS),
        reconnects: 3,
        ..Stream::default()
    }));
    let mut script = script(vec![open], vec![Node::Ask(0)]);
    script.vars.clear();
    let bytes = bytes_per_user(script, |program, out| {
        wake(program, 0, Wake::Begin { user: 0, iteration: 0, number: None }, out);
        assert_eq!(out.steps[0].body, BodyUse::Stream);
        let id = out.steps[0].id;
        wake(program, 1, Wake::Head { id, status: 200, head: Head::new(b"HTTP/1.1 200 OK\r\n\r\n") }, out);
        for number in ["1", "2", "3"] {
            let event = Event { id, name: b"", data: b"{}", event_id: Some(number.as_bytes()) };
            wake(program, 2, Wake::Event(event), out);
        }
    });
    assert!(bytes <= 400, "{bytes} bytes");
}

fn a_user_that_holds_a_websocket_is_small() {
    let mut open = ask("/socket");
    open.websocket = Some(Box::new(WebSocket {
        stream: Stream { sequence: Some(Place::Json("$.n".into())), ..Stream::default() },
        is_awaited: true,
        ..WebSocket::default()
    }));
    let mut script = script(vec![open], vec![Node::Ask(0)]);
    script.vars.clear();
    let bytes = bytes_per_user(script, |program, out| {
        wake(program, 0, Wake::Begin { user: 0, iteration: 0, number: None }, out);
        assert_eq!(out.steps[0].body, BodyUse::WebSocket);
        let id = out.steps[0].id;
        let request = String::from_utf8(out.arena.clone()).expect("a request is text");
        let key = request.split("Sec-WebSocket-Key: ").nth(1).expect("it has a key");
        let accept = accept_of(key.trim_end().as_bytes());
        let head = [
            b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
            &accept[..],
            b"\r\n\r\n",
        ]
        .concat();
        wake(program, 1, Wake::Head { id, status: 101, head: Head::new(&head) }, out);
        assert!(out.cancels.is_empty(), "the handshake is accepted");
        for data in [b"{\"n\":1}", b"{\"n\":2}"] {
            wake(program, 2, Wake::Message(Message { id, kind: MessageKind::Text, data }), out);
        }
    });
    assert!(bytes <= 512, "{bytes} bytes");
}

fn an_iteration_allocates_nothing() {
    let mut first = ask("/first");
    first.path = around("/first/", Placeholder::Call(Function::Uuid), "");
    first.checks = vec![
        equals("$.state", "open"),
        Check { name: "there".into(), on: Subject::Body(Rule::Contains(text("open"))) },
    ];
    first.extracts = vec![extract("a", "$.id", Slot::Var(0))];
    first.redirects = 3;
    let mut second = ask("/second");
    second.path = around("/second/", Placeholder::Var(0), "");
    second.body = Some(around("{\"id\": \"", Placeholder::Var(0), "\"}"));
    let branches = vec![vec![Node::Ask(0)], vec![think(5)]];
    let nodes = vec![
        Node::Repeat { times: text("2"), nodes: vec![Node::Parallel(branches)] },
        Node::If { condition: is(var(0), "x7"), then: vec![Node::Ask(1)], otherwise: Vec::new() },
        one_of(vec![(1.0, vec![Node::Ask(1)]), (2.0, Vec::new())], Order::Random),
    ];
    let mut script = script(vec![first, second], vec![Node::Group { group: 0, nodes }]);
    script.groups = vec!["all".into()];
    script.cookies = true;
    let stage = stage(script);
    let mut program = user(&stage, 0);
    let mut out = Outbox::default();
    let mut ahead: Vec<Wake<'static>> = Vec::with_capacity(8);
    let mut requests = 0u64;
    let mut iterate = |program: &mut dyn Program| {
        wake(program, 0, Wake::Begin { user: 0, iteration: 0, number: None }, &mut out);
        loop {
            for step in &out.steps {
                requests += 1;
                ahead.push(reply(step.id, br#"{"state": "open", "id": "x7"}"#));
            }
            ahead.extend(out.sleeps.iter().map(|(id, _)| Wake::Slept { id: *id }));
            assert!(out.failure.is_none() && out.samples.is_empty());
            let Some(next) = ahead.pop() else { return };
            wake(program, 1, next, &mut out);
        }
    };
    (0..100).for_each(|_| iterate(&mut *program));
    let before = CALLS.get();
    (0..1_000).for_each(|_| iterate(&mut *program));
    let calls = CALLS.get() - before;
    assert_eq!(calls, 0);
    assert!(requests > 3_000, "{requests}: the scenario was played");
}

/// A message type with a number, a text, and a message of the same type.
fn types() -> Types {
    let field = |number, name: &str, kind, label| Field {
        number,
        name: name.into(),
        json_name: name.into(),
        kind,
        label,
        is_choice: false,
    };
    let fields = vec![
        field(1, "id", Kind::Scalar(Scalar::Int64), Label::Implicit),
        field(2, "name", Kind::Scalar(Scalar::String), Label::Implicit),
        field(3, "parts", Kind::Message(0), Label::List),
    ];
    let message = grpc::Message { name: "Item".into(), fields, form: MessageForm::Object };
    Types { messages: vec![message], by_name: [("Item".to_owned(), 0)].into() }
}

fn a_grpc_call_allocates_nothing(is_compressed: bool) {
    let field = |number, scalar, text| Piece::Field { number, path: "f".into(), scalar, text };
    let counter = || around("", Placeholder::Call(Function::Counter { id: 0, start: 7, step: 0 }), "");
    let part = vec![field(1, Scalar::Int64, counter()), field(2, Scalar::String, text("part"))];
    let message = vec![
        field(1, Scalar::Int64, counter()),
        field(2, Scalar::String, around("x", Placeholder::Call(Function::User), "")),
        Piece::Message { number: 3, is_group: false, pieces: part },
    ];
    let mut call = ask("/shop.Shop/Get");
    call.method = "POST".into();
    let types = Arc::new(types());
    call.grpc = Some(Box::new(Call {
        protocol: plimsoll_plan::grpc::Protocol::Grpc,
        messages: vec![message],
        rounds: 1,
        later: Vec::new(),
        is_compressed,
        types,
        request: 0,
        response: 0,
        has_one_response: true,
        expect: Codes::OK,
    }));
    call.checks = vec![equals("$.parts[0].id", "7"), equals("$.name", "x1")];
    call.extracts = vec![extract("a", "$.id", Slot::Var(0))];
    let stage = stage(script(vec![call], vec![Node::Ask(0)]));
    let mut program = user(&stage, 0);
    let mut out = Outbox { book: Box::new(SeriesBook::new(9, 9)), ..Outbox::default() };
    let mut sent = Vec::with_capacity(1_000);
    let head = b"HTTP/2 200\r\ncontent-type: application/grpc+proto\r\ngrpc-encoding: gzip\r\n\r\n";
    let mut iterate = |program: &mut dyn Program| {
        wake(program, 0, Wake::Begin { user: 0, iteration: 0, number: None }, &mut out);
        // The response is the message of the request.
        let end = out.arena.windows(4).position(|four| four == b"\r\n\r\n").expect("the head ends");
        sent.clear();
        sent.extend_from_slice(&out.arena[end + 4..]);
        let reply = Reply {
            id: out.steps[0].id,
            status: 200,
            fault: None,
            head: Head::new(head),
            body: &sent,
            body_bytes: sent.len() as u64,
            trailers: Head::new(b"\r\ngrpc-status: 0\r\n\r\n"),
            phases: Phases::default(),
            ended: None,
        };
        wake(program, 1, Wake::Reply(reply), &mut out);
        assert!(out.failure.is_none(), "{:?}", out.samples);
    };
    (0..100).for_each(|_| iterate(&mut *program));
    let before = CALLS.get();
    (0..1_000).for_each(|_| iterate(&mut *program));
    assert_eq!(CALLS.get() - before, 0);
    assert_eq!(sent[0], u8::from(is_compressed));
    assert!(is_compressed || sent.ends_with(b"\x12\x02x1\x1a\x08\x08\x07\x12\x04part"), "{sent:?}");
}
