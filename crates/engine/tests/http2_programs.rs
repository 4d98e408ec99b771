//! HTTP/2: programs with several requests at once, kept bodies, decisions, streams of events, and several origins.

use crate::http2::{reuse, total};
use crate::support::actors::{diary, lines, step};
use crate::support::frames::{self, data, goaway, head, ok, peer, rst, says, trailers};
use crate::support::*;
use plimsoll_engine::driver::sim::{Server, SimRequest, Then};
use plimsoll_plan::link::Reuse;
use plimsoll_plan::metric::{RunSum, SeriesSum, StreamHist, StreamSum};
use plimsoll_plan::origin::NamedTarget;
use plimsoll_plan::program::{BodyUse, Step, Wake};
use plimsoll_plan::{Draft, Fault, Target};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// Answers with the path as the body: `/c` after 30 ms, `/b` after 20 ms, `/a` after 10 ms.
fn echo() -> frames::Peer {
    peer(|asked| {
        let path = asked.path().as_bytes()[1];
        let body = format!("body-{}", path as char);
        says().at(u64::from(path - b'a' + 1) * 10 * MS, ok(asked.stream, body.as_bytes()))
    })
}

#[test]
fn requests_of_one_program_share_its_connection_and_end_in_any_order() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            scene.render(step(1, 0, BodyUse::Keep), "/c");
            scene.render(step(2, 0, BodyUse::Keep), "/b");
            scene.render(step(3, 0, BodyUse::HeadOnly), "/a");
        }
        Wake::Reply(reply) if reply.id == 2 => scene.render(step(4, 0, BodyUse::Discard), "/a"),
        Wake::Begin { .. } => scene.out.retire(),
        _ => {}
    });
    let server = echo();
    let record = server.record();
    let out = Lab::http2(closed(1, 1.0), 1).factory(factory).run(server);
    out.check();
    let expected = [
        "0 begin 0",
        "10 reply 3 200",
        "20 reply 2 200 body-b",
        "30 reply 1 200 body-c",
        "30 reply 4 200",
        "30 begin 1",
    ];
    assert_eq!(lines(&log), expected);
    assert_eq!((out.sum(RunSum::ConnOpened), record.borrow().most), (1, 3));
    assert_eq!(record.borrow().asked[0].get(":authority"), "127.0.0.1:8080");
}

#[test]
fn prepared_and_rendered_requests_have_their_bodies_and_fields() {
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { iteration: 0..3, .. } = wake {
            scene.ask(1, 0, BodyUse::Discard);
            scene.out.push_rendered(step(2, 0, BodyUse::Discard), |bytes| {
                bytes.extend_from_slice(
                    b"PUT /r?q=1 HTTP/1.1\r\nHost: other\r\nContent-Length: 4\r\n\
                      X-One: 1\r\nConnection: close\r\n\r\nbody",
                );
            });
        } else if let Wake::Begin { .. } = wake {
            scene.out.retire();
        }
    });
    let draft = Draft { requests: vec![request("POST", "/p", Some(vec![b'x'; 20_000]))], ..closed(1, 1.0) };
    let server = peer(|asked| asked.ok(MS));
    let record = server.record();
    let out = Lab::http2(draft, 1).factory(factory).run(server);
    out.check();
    assert_eq!(out.status(200), 6);
    for asked in &record.borrow().asked {
        if asked.path() == "/p" {
            assert_eq!((asked.get(":method"), asked.body.len()), ("POST", 20_000));
        } else {
            assert_eq!(
                (asked.path(), asked.get(":method"), &asked.body[..]),
                ("/r?q=1", "PUT", &b"body"[..])
            );
            assert_eq!(
                (asked.get(":authority"), asked.get("x-one"), asked.get("connection")),
                ("other", "1", "")
            );
        }
    }
}

#[test]
fn a_program_decides_at_the_head_to_keep_the_body_or_not() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            (1..=3).for_each(|id| scene.render(step(id, 0, BodyUse::Decide), "/x"));
        }
        Wake::Begin { .. } => scene.out.retire(),
        Wake::Head { id: 1 | 3, head, .. } => {
            assert_eq!(head.field("x-kind"), Some(&b"text"[..]));
            scene.out.decide(BodyUse::Keep);
        }
        Wake::Head { .. } => scene.out.decide(BodyUse::Discard),
        _ => {}
    });
    let server = peer(|asked| {
        let is_empty = asked.number == 2;
        let first = head(asked.stream, 201, &[("x-kind", "text")], is_empty);
        if is_empty {
            return says().at(3 * MS, first);
        }
        // The first part of the body comes with the head.
        says()
            .at(MS, [first, data(asked.stream, b"one ", false)].concat())
            .at(2 * MS, data(asked.stream, b"two", true))
    });
    let out = Lab::http2(closed(1, 1.0), 1).factory(factory).run(server);
    out.check();
    let expected = [
        "0 begin 0",
        "1 head 1 201",
        "1 head 2 201",
        "2 reply 1 201 one two",
        "2 reply 2 201",
        "3 head 3 201",
        "3 reply 3 201",
        "3 begin 1",
    ];
    assert_eq!(lines(&log), expected);
}

#[test]
fn a_program_sees_the_trailers_of_its_own_response() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let (factory, _) = diary(move |scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            for (id, body) in
                [(1, BodyUse::Keep), (2, BodyUse::HeadOnly), (3, BodyUse::Keep), (4, BodyUse::Keep)]
            {
                scene.render(step(id, 0, body), "/x");
            }
        }
        Wake::Begin { .. } => scene.out.retire(),
        Wake::Reply(reply) => {
            let text = |value: Option<&[u8]>| value.map(|value| String::from_utf8_lossy(value).into_owned());
            let fields = [text(reply.head.field("grpc-status")), text(reply.trailers.field("grpc-status"))];
            told.lock().expect("no program has panicked").push((reply.id, reply.body.to_vec(), fields));
        }
        _ => {}
    });
    let server = peer(|asked| {
        let stream = asked.stream;
        let status = asked.number.to_string();
        let fields = [("x-other", "a"), ("grpc-status", status.as_str())];
        // The third has its status in its only head; the fourth has none.
        let bytes = match asked.number {
            2 => head(stream, 200, &fields, true),
            3 => ok(stream, b"plain"),
            _ => [head(stream, 200, &[], false), data(stream, b"body", false), trailers(stream, &fields)]
                .concat(),
        };
        says().at(MS, bytes)
    });
    let out = Lab::http2(closed(1, 1.0), 1).factory(factory).run(server);
    out.check();
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        (1, b"body".to_vec(), [None, some("0")]),
        (2, Vec::new(), [None, some("1")]),
        (3, Vec::new(), [some("2"), None]),
        (4, b"plain".to_vec(), [None, None]),
    ];
    assert_eq!(*seen.lock().expect("no program has panicked"), expected);
}

#[test]
fn a_request_sent_again_shows_its_program_one_response() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            scene.render(step(1, 0, BodyUse::Keep), "/a");
            scene.render(step(2, 0, BodyUse::Stream), "/s");
        }
        Wake::Begin { .. } => scene.out.retire(),
        _ => {}
    });
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 1) => says().at(MS, goaway(0, 0)),
        (0, _) => says(),
        (_, 0) => says().at(MS, rst(asked.stream, frames::REFUSED)),
        _ => asked.ok(2 * MS),
    });
    let out = Lab::http2(closed(1, 1.0), 1).factory(factory).run(server);
    out.check();
    let log = lines(&log);
    // One of the two is unlucky twice.
    assert!(log.iter().filter(|line| line.contains("StreamRefused")).count() == 1, "{log:?}");
    assert_eq!(log.iter().filter(|line| line.contains("reply")).count(), 2, "{log:?}");
    assert_eq!(out.sum(RunSum::RequestsUnprocessed), 2);
}

fn event(stream: u32, text: &str) -> Vec<u8> {
    data(stream, format!("data: {text}\n\n").as_bytes(), false)
}

const EVENTS: &[(&str, &str)] = &[("content-type", "text/event-stream")];

#[test]
fn streams_of_events_are_shown_as_they_come_beside_other_requests() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            scene.render(step(1, 0, BodyUse::Stream), "/s");
            scene.render(step(2, 0, BodyUse::Stream), "/t");
            scene.render(step(3, 0, BodyUse::Keep), "/a");
        }
        Wake::Begin { .. } => scene.out.retire(),
        Wake::Event(event) if event.data == b"three" => scene.out.cancel(1),
        _ => {}
    });
    let server = peer(|asked| match asked.path() {
        "/s" => says()
            .at(MS, head(asked.stream, 200, EVENTS, false))
            .at(2 * MS, [event(asked.stream, "one"), event(asked.stream, "two")].concat())
            .at(5 * MS, [event(asked.stream, "three"), event(asked.stream, "four")].concat())
            .at(6 * MS, event(asked.stream, "five")),
        "/t" => says()
            .at(MS, [head(asked.stream, 200, EVENTS, false), event(asked.stream, "alpha")].concat())
            .at(4 * MS, data(asked.stream, b"data: be", false))
            .at(7 * MS, data(asked.stream, b"ta\n\n", true)),
        _ => asked.ok(3 * MS),
    });
    let record = server.record();
    let out = Lab::http2(closed(1, 1.0), 1).factory(factory).run(server);
    out.check();
    let expected = [
        "0 begin 0",
        "1 head 1 200",
        "1 head 2 200",
        "1 event 2 alpha",
        "2 event 1 one",
        "2 event 1 two",
        "3 reply 3 200 ok",
        "5 event 1 three",
        "5 reply 1 200 by Client",
        "7 event 2 beta",
        "7 reply 2 200 by Server",
        "7 begin 1",
    ];
    assert_eq!(lines(&log), expected);
    use StreamSum::{ClosedByClient, ClosedByServer, Events, OpenAtEnd, Streams};
    let sums = [Streams, Events, ClosedByClient, ClosedByServer, OpenAtEnd].map(|sum| out.count(sum));
    assert_eq!(sums, [2, 5, 1, 1, 0]);
    assert_eq!(record.borrow().count(frames::RST_STREAM), 1);
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::StreamsReset)), (1, 1));
    assert_eq!(out.all.series[0].hists[StreamHist::FirstEvent.id()].count(), 2);
}

#[test]
fn a_stream_of_events_that_ends_badly_leaves_nothing_to_the_next_one() {
    // A body that ends too early: its bytes are shown, and the next stream begins with its own.
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0..2, .. } => scene.render(step(1, 0, BodyUse::Stream), "/s"),
        Wake::Begin { .. } => scene.out.retire(),
        _ => {}
    });
    let server = peer(|asked| match asked.total {
        0 => says()
            .at(
                MS,
                head(
                    asked.stream,
                    200,
                    &[("content-type", "text/event-stream"), ("content-length", "99")],
                    false,
                ),
            )
            .at(2 * MS, data(asked.stream, b"data: early\n\ndata: left", true)),
        _ => says()
            .at(MS, head(asked.stream, 200, EVENTS, false))
            .at(2 * MS, data(asked.stream, b"data: own\n\n", true)),
    });
    let out = Lab::http2(closed(1, 1.0), 1).factory(factory).run(server);
    out.check();
    let expected = [
        "0 begin 0",
        "1 head 1 200",
        "2 event 1 early",
        "2 reply 1 0 UnsafeResponse",
        "2 begin 1",
        "3 head 1 200",
        "4 event 1 own",
        "4 reply 1 200 by Server",
        "4 begin 2",
    ];
    assert_eq!(lines(&log), expected);
    assert_eq!(out.sum(RunSum::ConnOpened), 1);
}

#[test]
fn streams_that_are_open_at_the_end_are_counted_and_their_connection_may_be_lost() {
    let listen = |end: Option<Then>| {
        let (factory, log) = diary(|scene, wake| {
            if let Wake::Begin { iteration: 0, .. } = wake {
                (0..3).for_each(|id| scene.render(step(id, 0, BodyUse::Stream), "/s"));
            } else if let Wake::Begin { .. } = wake {
                scene.out.retire();
            }
        });
        let server = peer(move |asked| {
            let reply =
                says().at(MS, [head(asked.stream, 200, EVENTS, false), event(asked.stream, "x")].concat());
            match end {
                Some(then) if asked.number == 2 => reply.at(50 * MS, vec![]).then(then),
                _ => reply,
            }
        });
        let out = Lab::http2(closed(1, 0.1), 1).factory(factory).run(server);
        out.check();
        (out, lines(&log))
    };
    let (out, _) = listen(None);
    assert_eq!((out.count(StreamSum::OpenAtEnd), out.count(StreamSum::Events)), (3, 3));
    let (out, log) = listen(Some(Then::Reset));
    assert_eq!(out.faults(), vec![(Fault::ConnectionReset, 3)], "{log:?}");
    let (out, _) = listen(Some(Then::Close));
    assert_eq!((out.faults(), out.count(StreamSum::Events)), (vec![(Fault::ClosedMidResponse, 3)], 3));
}

fn two_origins(base: Draft) -> Draft {
    let target = Target { host: "127.0.0.2".into(), port: 8081, tls: false };
    let to = |path: &str, origin| plimsoll_plan::Request { origin, ..get(path) };
    Draft {
        more_origins: vec![NamedTarget { name: "other".into(), target }],
        requests: vec![to("/a", 0), to("/b", 1)],
        ..base
    }
}

#[test]
fn origins_with_http1_and_http2_mix_and_requests_of_one_begin_in_responses_of_the_other() {
    for reused in [Reuse::User, Reuse::Pool, Reuse::Iteration, Reuse::Request] {
        for http2 in [vec![0], vec![1], vec![0, 1]] {
            let (factory, _) = diary(|scene, wake| match wake {
                Wake::Begin { .. } => {
                    let at = |id, origin| Step { origin, ..step(id, u32::from(origin), BodyUse::Keep) };
                    (0..4).for_each(|id| scene.out.push(at(id, (id % 2) as u16)));
                }
                Wake::Reply(reply) if reply.id < 4 => {
                    assert_eq!(reply.body, b"ok");
                    let origin = 1 - (reply.id % 2) as u16;
                    scene
                        .out
                        .push(Step { origin, ..step(reply.id + 4, u32::from(origin), BodyUse::Discard) });
                }
                _ => {}
            });
            let mut draft = reuse(reused, two_origins(total(800, 5)));
            draft.workers = Some(1);
            let mut lab = Lab::http2(draft, 1).factory(factory).latency(100 * US);
            lab.more_addresses = vec![SocketAddr::from(([127, 0, 0, 2], 8081))];
            lab.http2.clone_from(&http2);
            let out = lab.run(ByAddress::new(http2.clone()));
            out.check();
            assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (800, 0), "{reused:?} {http2:?}");
            let to = |port| out.opened.iter().filter(|(to, _)| to.port() == port).count();
            match reused {
                Reuse::Request => assert_eq!(to(8080) + to(8081), 800),
                Reuse::Iteration => {}
                // A user's requests to the target are streams of its connection.
                Reuse::User if http2.contains(&0) => assert_eq!(to(8080), 5),
                _ => assert!(to(8080) <= 20 && to(8081) <= 20, "{} {}", to(8080), to(8081)),
            }
        }
    }
}

/// Tells the protocols of the origins apart by the first bytes, as only the client knows the address.
pub struct ByAddress {
    h2: frames::Peer,
    first: std::collections::BTreeMap<u64, bool>,
    is_all: bool,
}

impl ByAddress {
    pub fn new(http2: Vec<u16>) -> ByAddress {
        ByAddress { h2: peer(|asked| asked.ok(2 * MS)), first: Default::default(), is_all: http2.len() == 2 }
    }
}

impl Server for ByAddress {
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        assert!(!self.is_all, "no HTTP/1 at all");
        Answer::ok(2 * MS)
    }

    fn heard(&mut self, connection: u64, now_ns: u64, bytes: &[u8]) -> Option<Answer> {
        let is_h2 = *self.first.entry(connection).or_insert_with(|| bytes.starts_with(b"PRI "));
        if is_h2 { self.h2.heard(connection, now_ns, bytes) } else { None }
    }
}

#[test]
fn an_iteration_begins_without_connections_if_the_plan_says_so() {
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            (0..3).for_each(|id| scene.render(step(id, 0, BodyUse::Discard), "/a"));
        }
    });
    let server = echo();
    let record = server.record();
    let out = Lab::http2(reuse(Reuse::Iteration, total(60, 2)), 1).factory(factory).run(server);
    out.check();
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (60, 20));
    assert!(record.borrow().asked.iter().all(|asked| asked.number < 3));
    assert_eq!(out.sum(RunSum::ClosedByClient), 20);
}
