//! Connections that do not belong to the server at once: proxies that answer late, in pieces, never, or with refusals,
//! and the header of the PROXY protocol.

use crate::support::*;
use plimsoll_engine::driver::sim::{Server, Then};
use plimsoll_engine::route::{Forward, Preface, Route, Secret, Tunnel};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_wire::proxy::{Destination, SocksRequest, Version, connect};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a proxy answers to each message of a connection, in pieces, 1 ms apart; then the bytes go to the server.
type Answers = fn(connection: u64, number: usize) -> Option<(Vec<&'static [u8]>, Then)>;

/// A server behind a proxy.
struct Proxied {
    answers: Answers,
    /// Messages of each connection.
    seen: Rc<RefCell<BTreeMap<u64, Vec<Vec<u8>>>>>,
}

impl Server for Proxied {
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::ok(MS)
    }

    fn heard(&mut self, connection: u64, _: u64, bytes: &[u8]) -> Option<Answer> {
        let mut seen = self.seen.borrow_mut();
        let messages = seen.entry(connection).or_default();
        let (pieces, then) = (self.answers)(connection, messages.len())?;
        messages.push(bytes.to_vec());
        Some(pieces.iter().fold(Answer::silence(), |answer, piece| answer.piece(MS, piece)).then(then))
    }
}

fn by_connect() -> Route {
    let request = Secret(connect("h:80", None, "t"));
    Route { tunnel: Some(Tunnel::Connect(request)), ..Route::default() }
}

fn by_socks() -> Route {
    let request = SocksRequest::new(&Destination::Name("h".into()), 80, Some(("me", "pass")));
    Route { tunnel: Some(Tunnel::Socks(request)), ..Route::default() }
}

type Seen = BTreeMap<u64, Vec<Vec<u8>>>;

/// Ten requests of one user by a route.
fn run(route: Route, answers: Answers) -> (Outcome, Seen) {
    let seen = Rc::new(RefCell::new(Seen::new()));
    let proxied = Proxied { answers, seen: Rc::clone(&seen) };
    let mut draft = closed(1, 100.0);
    draft.load.requests_total = Some(10);
    let out = Lab { route: Some(route), ..Lab::new(draft).latency(MS) }.run(proxied);
    out.check();
    (out, seen.take())
}

#[test]
fn a_tunnel_is_opened_once_per_connection_and_belongs_to_the_time_of_connecting() {
    let (out, seen) = run(by_connect(), |_, number| match number {
        0 => Some((vec![b"HTTP/1.1 2", b"00 OK\r\n\r\n"], Then::Stay)),
        _ => None,
    });
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (10, 1));
    assert!(seen[&0][0].starts_with(b"CONNECT h:80 HTTP/1.1\r\n"));
    // A round trip of 2 ms for TCP, another for the request, and the pieces after 1 ms and 2 ms.
    assert_eq!(out.hist(RunHist::Connect).max(), Some(6 * MS));
}

#[test]
fn a_socks_proxy_is_answered_message_by_message() {
    let (out, seen) = run(by_socks(), |_, number| match number {
        0 => Some((vec![&[5], &[2]], Then::Stay)),
        1 => Some((vec![&[1, 0]], Then::Stay)),
        2 => Some((vec![&[5, 0, 0, 1, 0], &[0, 0, 0, 0, 0]], Then::Stay)),
        _ => None,
    });
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (10, 1));
    assert_eq!(seen[&0], [&[5, 2, 0, 2][..], b"\x01\x02me\x04pass", b"\x05\x01\x00\x03\x01h\x00\x50"]);
}

#[test]
fn each_failure_of_a_proxy_is_counted_as_itself_and_the_next_connection_is_tried() {
    let cases: [(Route, Answers, Fault); 6] = [
        (by_connect(), |_, _| Some((vec![b"HTTP/1.1 502 No\r\n\r\n"], Then::Stay)), Fault::ProxyRefused),
        (
            by_connect(),
            |_, _| Some((vec![b"HTTP/1.1 407 Who\r\n\r\n"], Then::Close)),
            Fault::ProxyCredentials,
        ),
        (by_connect(), |_, _| Some((vec![b"nonsense\r\n\r\n"], Then::Stay)), Fault::ProxyFailed),
        (by_socks(), |_, _| Some((vec![&[5, 0xff]], Then::Close)), Fault::ProxyCredentials),
        (by_socks(), |_, _| Some((vec![], Then::Close)), Fault::ProxyFailed),
        (by_socks(), |_, _| Some((vec![], Then::Reset)), Fault::ConnectionReset),
    ];
    for (route, answers, fault) in cases {
        let (out, seen) = run(route, answers);
        assert_eq!((out.fault(fault), out.status(200)), (10, 0), "{fault:?}");
        assert_eq!((seen.len(), out.calls.open_now), (10, 0), "{fault:?}: all of its sockets are closed");
    }
}

#[test]
fn a_silent_proxy_is_given_up_after_the_connect_timeout() {
    let (out, _) = run(by_connect(), |_, _| Some((vec![], Then::Stay)));
    assert!(out.fault(Fault::ProxyTimeout) > 0 && out.status(200) == 0);
    assert_eq!(out.fault(Fault::ConnectTimeout), 0);
}

#[test]
fn bytes_of_the_server_after_the_handshake_are_its_response() {
    // The proxy's answer and the server's come in one segment, before the request was sent: as on a direct connection,
    // that is a response without a request.
    let (out, _) = run(by_connect(), |_, number| match number {
        0 => Some((
            vec![b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n"],
            Then::Close,
        )),
        _ => Some((vec![], Then::Close)),
    });
    assert_eq!(out.status(200), 0);
    assert_eq!(out.calls.open_now, 0);
}

#[test]
fn the_header_of_the_proxy_protocol_is_the_first_of_each_connection() {
    let preface = Preface { version: Version::V1, sources: vec!["198.51.100.7".parse().unwrap()] };
    let route = Route { preface: Some(preface), ..Route::default() };
    let (out, seen) = run(route, |_, number| (number == 0).then(|| (vec![], Then::Stay)));
    assert_eq!(out.status(200), 10);
    let line = String::from_utf8_lossy(&seen[&0][0]).into_owned();
    assert!(line.starts_with("PROXY TCP4 198.51.100.7 127.0.0.1 ") && line.ends_with(" 8080\r\n"), "{line}");
}

#[test]
fn requests_to_a_forwarding_proxy_are_made_once_before_the_load() {
    let requests = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&requests);
    let forward =
        Forward { prefix: "http://h".into(), fields: Secret(b"Proxy-Authorization: x\r\n"[..].into()) };
    let mut draft = closed(1, 100.0);
    draft.load.requests_total = Some(3);
    let lab = Lab { route: Some(Route { forward: Some(forward), ..Route::default() }), ..Lab::new(draft) };
    let out = lab.run(move |asked: &SimRequest<'_>| {
        kept.borrow_mut().push(String::from_utf8_lossy(asked.bytes).into_owned());
        Answer::ok(MS)
    });
    assert_eq!(out.status(200), 3);
    for request in requests.borrow().iter() {
        assert!(
            request.starts_with("GET http://h/") && request.contains("\r\nProxy-Authorization: x\r\n"),
            "{request}"
        );
    }
}
