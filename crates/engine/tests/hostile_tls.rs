//! TLS sessions in the simulated network: handshakes and records split at every byte, ends in the middle, refusals, and
//! the messages about them.

use crate::link_support::{Authority, BOTH, server, server_of, setup, wanted};
use crate::support::actors::{diary, lines, step};
use crate::support::*;
use plimsoll_engine::driver::sim::{Server, Then};
use plimsoll_engine::link::tls::{Setup, Versions};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};
use plimsoll_plan::{Draft, Fault, Target};
use rustls::version;
use rustls::{ServerConfig, ServerConnection};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

/// Converts a flight of the server to its response on the wire: its bytes, and the number of the flight on its
/// connection.
type Shape = Box<dyn FnMut(Vec<u8>, usize) -> Answer>;
/// Handles a complete request.
type Serve = Box<dyn FnMut(&str, &mut ServerConnection)>;

struct Peer {
    tls: ServerConnection,
    heard: Vec<u8>,
    flights: usize,
}

struct TlsServer {
    config: Arc<ServerConfig>,
    peers: BTreeMap<u64, Peer>,
    shape: Shape,
    serve: Serve,
}

impl Server for TlsServer {
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        unreachable!("`heard` takes all bytes")
    }

    fn heard(&mut self, connection: u64, _: u64, mut bytes: &[u8]) -> Option<Answer> {
        let config = &self.config;
        let peer = self.peers.entry(connection).or_insert_with(|| Peer {
            tls: ServerConnection::new(Arc::clone(config)).expect("the configuration is valid"),
            heard: Vec::new(),
            flights: 0,
        });
        while !bytes.is_empty() {
            peer.tls.read_tls(&mut bytes).expect("memory can be read");
            if peer.tls.process_new_packets().is_err() {
                break;
            }
            let mut buffer = [0; 4_096];
            while let Ok(n @ 1..) = peer.tls.reader().read(&mut buffer) {
                peer.heard.extend_from_slice(&buffer[..n]);
            }
        }
        // Requests here have no `Content-Length`, or end with an exclamation mark.
        while let Some(head) = peer.heard.windows(4).position(|w| w == b"\r\n\r\n") {
            let has_body = peer.heard[..head].windows(15).any(|w| w == b"Content-Length:");
            let end = match has_body {
                false => head + 4,
                true => match peer.heard.iter().position(|b| *b == b'!') {
                    Some(dot) => dot + 1,
                    None => break,
                },
            };
            let request: Vec<u8> = peer.heard.drain(..end).collect();
            (self.serve)(&String::from_utf8_lossy(&request), &mut peer.tls);
        }
        let mut flight = Vec::new();
        while peer.tls.wants_write() {
            peer.tls.write_tls(&mut flight).expect("memory can be written");
        }
        if flight.is_empty() {
            return Some(Answer::silence());
        }
        peer.flights += 1;
        Some((self.shape)(flight, peer.flights - 1))
    }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn whole() -> Shape {
    Box::new(|flight, _| Answer::silence().piece(0, &flight))
}

fn say(text: &'static [u8]) -> Serve {
    Box::new(move |_, tls| tls.writer().write_all(text).expect("less than its buffer"))
}

/// A client's setup and a matching server.
fn fitting(versions: Versions, shape: Shape, serve: Serve) -> (Setup, TlsServer) {
    let authority = Authority::new();
    let config = Arc::new(server(&authority.issue(&["localhost"]), None));
    let setup = setup(&wanted(&authority, versions));
    (setup, TlsServer { config, peers: BTreeMap::new(), shape, serve })
}

fn secured(draft: Draft) -> Draft {
    Draft { target: Some(Target { host: "localhost".into(), port: 8443, tls: true }), ..draft }
}

fn lab(draft: Draft, setup: Setup) -> Lab {
    Lab { tls: Some(setup), ..Lab::new(secured(draft)) }
}

/// A draft with this many requests of one user.
fn some(requests: u64) -> Draft {
    Draft { load: LoadDraft { requests_total: Some(requests), ..closed(1, 100.0).load }, ..closed(1, 100.0) }
}

#[test]
fn a_handshake_takes_its_round_trips_and_the_connection_is_used_again() {
    for (versions, round_trips) in [(Versions::Tls12, 2), (Versions::Tls13, 1)] {
        let (setup, server) = fitting(versions, whole(), say(OK));
        let out = lab(some(50), setup).latency(5 * MS).run(server);
        out.check();
        assert_eq!((out.status(200), out.sum(RunSum::Handshakes), out.sum(RunSum::ConnOpened)), (50, 1, 1));
        assert_eq!(out.hist(RunHist::Handshake).max(), Some(round_trips * 10 * MS));
        assert_eq!(out.hist(RunHist::Connect).max(), Some(10 * MS));
        assert_eq!(
            out.series_hist(SeriesHist::Service).max(),
            Some(10 * MS),
            "a handshake is not part of the service time"
        );
        assert!(out.samples.is_empty());
    }
}

#[test]
fn handshake_and_answer_may_be_cut_at_any_byte() {
    for versions in BOTH {
        for flight_cut in 0..3 {
            for at in (1..2_000).step_by(if flight_cut == 0 { 11 } else { 1 }) {
                // The flights after the first are short: the round ends with them.
                let longest = std::rc::Rc::new(std::cell::Cell::new(0));
                let seen = std::rc::Rc::clone(&longest);
                let shape: Shape = Box::new(move |flight, number| {
                    if number != flight_cut || at >= flight.len() {
                        return Answer::silence().piece(0, &flight);
                    }
                    seen.set(flight.len());
                    Answer::silence().piece(0, &flight[..at]).piece(MS, &flight[at..])
                });
                let (setup, server) = fitting(versions, shape, say(OK));
                let out = lab(some(2), setup).run(server);
                out.check();
                assert_eq!(
                    (out.status(200), out.sum(RunSum::ConnOpened)),
                    (2, 1),
                    "{versions:?} {flight_cut} {at}"
                );
                if longest.get() == 0 {
                    assert!(at > 20, "there was something to cut");
                    break;
                }
            }
        }
    }
}

#[test]
fn bytes_may_come_one_by_one_and_go_out_one_by_one() {
    for versions in BOTH {
        for window in [1, 3, 1_000] {
            let shape: Shape =
                Box::new(|flight, _| flight.iter().fold(Answer::silence(), |a, b| a.piece(US, &[*b])));
            let (setup, server) = fitting(versions, shape, say(OK));
            let (factory, _) = diary(|scene, wake| {
                if let Wake::Begin { .. } = wake {
                    let body = format!("{}!", "x".repeat(3_000));
                    let head =
                        format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
                    scene.out.push_rendered(step(0, 0, BodyUse::Discard), |bytes| {
                        bytes.extend_from_slice(head.as_bytes());
                        bytes.extend_from_slice(body.as_bytes());
                    });
                }
            });
            let mut lab = lab(some(3), setup).factory(factory).latency(10 * US);
            lab.nature.send_window = window;
            let out = lab.run(server);
            out.check();
            assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (3, 1), "{versions:?} {window}");
            assert_eq!(out.hist(RunHist::SendBlocked).count(), 3, "none fits at once");
        }
    }
}

#[test]
fn an_answer_in_many_records_is_one_and_a_stream_in_many_is_shown_as_it_comes() {
    let (setup, mut server) = fitting(
        Versions::Tls13,
        whole(),
        Box::new(|request, tls| {
            if request.starts_with("GET /s ") {
                tls.writer().write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
                tls.writer().write_all(b"b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n0\r\n\r\n").unwrap();
            } else {
                tls.writer().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n").unwrap();
                tls.writer().write_all(&[b'z'; 50_000]).unwrap();
            }
        }),
    );
    let mut config = ServerConfig::clone(&server.config);
    config.max_fragment_size = Some(64);
    server.config = Arc::new(config);
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 1, .. } => scene.out.retire(),
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Stream),
        Wake::Reply(r) if r.id == 1 => scene.ask(2, 1, BodyUse::Keep),
        Wake::Reply(r) => assert!(r.body.len() == 50_000 && r.body.iter().all(|b| *b == b'z')),
        _ => {}
    });
    let draft = Draft { requests: vec![get("/s"), get("/large")], ..closed(1, 1.0) };
    let out = lab(draft, setup).factory(factory).run(server);
    out.check();
    assert_eq!(
        lines(&log)[1..5],
        ["0 head 1 200", "0 event 1 one", "0 event 1 two", "0 reply 1 200 by Server"]
    );
    assert_eq!((out.sum(RunSum::ConnOpened), out.status(200)), (1, 2));
}

// ---- ends -------------------------------------------------------------------------------------------------------

#[test]
fn a_server_that_leaves_in_the_middle_of_a_handshake_is_said_to_have_at_whatever_byte() {
    for versions in BOTH {
        for (then, fault) in [(Then::Close, Fault::Tls), (Then::Reset, Fault::ConnectionReset)] {
            for at in (0..900).step_by(13) {
                let shape: Shape = Box::new(move |flight, number| match number {
                    0 => Answer::silence().piece(0, &flight[..at.min(flight.len() - 1)]).then(then),
                    _ => Answer::silence().piece(0, &flight),
                });
                let (setup, server) = fitting(versions, shape, say(OK));
                let out = lab(closed(1, 0.01), setup).run(server);
                out.check();
                let told = (out.fault(fault), out.count(SeriesSum::Sent), out.count(SeriesSum::Failed));
                // TLS 1.2 needs the whole flight, and so does TLS 1.3: none of these is the last byte.
                assert_eq!(told, (1, 0, 1), "{versions:?} {then:?} {at}");
                assert_eq!(out.samples.len(), usize::from(fault == Fault::Tls));
            }
        }
    }
}

#[test]
fn a_handshake_without_an_end_is_given_up_in_time() {
    let (setup, server) = fitting(Versions::Both, Box::new(|_, _| Answer::silence()), say(OK));
    let mut draft = closed(1, 1.0);
    draft.limits.connect_timeout_ns = 300 * MS;
    let out = lab(draft, setup).latency(MS).run(server);
    out.check();
    // 300 ms, a pause of 50 ms, 300 ms, a pause of 100 ms, and an attempt that is open at the end.
    assert_eq!((out.fault(Fault::TlsTimeout), out.sum(RunSum::ConnOpened)), (2, 3));
    assert_eq!((out.sum(RunSum::Handshakes), out.sum(RunSum::ArrivalsNotStarted)), (0, 1));
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 3);
}

#[test]
fn a_refused_certificate_is_named_with_a_few_samples() {
    // The server's certificate is for another name; the server may even be gone before the client's alert is written.
    for then in [Then::Stay, Then::Close, Then::Reset] {
        let authority = Authority::new();
        let config = Arc::new(server(&authority.issue(&["elsewhere.example"]), None));
        let setup = setup(&wanted(&authority, Versions::Both));
        let shape: Shape = Box::new(move |flight, _| Answer::silence().piece(0, &flight).then(then));
        let server = TlsServer { config, peers: BTreeMap::new(), shape, serve: say(OK) };
        let out = lab(closed(8, 1.0), setup).run(server);
        out.check();
        assert!(out.fault(Fault::CertificateRejected) >= 8, "{then:?} {}", out.fault(Fault::ConnectionReset));
        assert_eq!(
            (out.fault(Fault::CertificateRejected), out.count(SeriesSum::Sent)),
            (out.count(SeriesSum::Failed), 0)
        );
        assert_eq!(out.samples.len(), 3, "not one for each");
        let sample = &out.samples[0];
        assert_eq!(
            (sample.check.as_str(), sample.request.as_str(), sample.status),
            ("certificate_rejected", "/", 0)
        );
        assert!(sample.observed.contains("elsewhere.example"), "{}", sample.observed);
    }
}

#[test]
fn an_alert_of_the_server_is_a_failed_handshake_with_its_reason() {
    let authority = Authority::new();
    let config = Arc::new(server_of(&authority.issue(&["localhost"]), None, &[&version::TLS12]));
    let setup = setup(&wanted(&authority, Versions::Tls13));
    let server = TlsServer { config, peers: BTreeMap::new(), shape: whole(), serve: say(OK) };
    let out = lab(closed(1, 0.01), setup).run(server);
    out.check();
    assert_eq!((out.fault(Fault::Tls), out.count(SeriesSum::Failed)), (1, 1));
    assert!(out.samples[0].observed.contains("version"), "{}", out.samples[0].observed);
}

#[test]
fn behind_a_close_notify_nothing_is_asked_any_more() {
    // It arrives with the response, and the end of TCP only much later.
    let (setup, server) = fitting(
        Versions::Tls13,
        whole(),
        Box::new(|_, tls| {
            tls.writer().write_all(OK).unwrap();
            tls.send_close_notify();
        }),
    );
    let out = lab(some(20), setup).run(server);
    out.check();
    assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (20, 0));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByServer)), (20, 20));

    // A response without a length ends with it.
    let (setup, server) = fitting(
        Versions::Tls12,
        whole(),
        Box::new(|_, tls| {
            tls.writer().write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the end").unwrap();
            tls.send_close_notify();
        }),
    );
    let out = lab(some(5), setup).run(server);
    assert_eq!((out.status(200), out.count(SeriesSum::BodyBytes)), (5, 65));
}

#[test]
fn an_answer_in_front_of_a_damaged_record_counts_wherever_the_bytes_are_cut() {
    for apart in [false, true] {
        let shape: Shape = Box::new(move |flight, number| {
            let garbage = [0x17, 3, 3, 0, 20].into_iter().chain([7; 20]).collect::<Vec<u8>>();
            let answer = Answer::silence();
            match (number, apart) {
                // The server's hello, then its tickets.
                (0 | 1, _) => answer.piece(0, &flight),
                (_, true) => answer.piece(0, &flight).piece(US, &garbage),
                (_, false) => answer.piece(0, &[flight, garbage].concat()),
            }
        });
        let (setup, server) = fitting(
            Versions::Tls13,
            shape,
            Box::new(|_, tls| {
                tls.writer().write_all(OK).unwrap();
            }),
        );
        let (factory, log) = diary(|scene, wake| match wake {
            Wake::Begin { iteration: 1, .. } => scene.out.sleep(1, 50 * MS),
            Wake::Begin { iteration: 2, .. } => scene.out.retire(),
            Wake::Begin { .. } => scene.ask(0, 0, BodyUse::Keep),
            _ => {}
        });
        let out = lab(closed(1, 1.0), setup).factory(factory).run(server);
        out.check();
        assert!(
            lines(&log).iter().any(|l| l.ends_with("reply 0 200 ok")),
            "apart {apart}: {:?}",
            lines(&log)
        );
        assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (1, 0), "apart {apart}");
    }
}

/// A body without a length is complete if the server ends TLS; the end of TCP alone may be caused by any party on the
/// path.
#[test]
fn a_body_that_ends_with_the_connection_is_whole_only_behind_a_close_notify() {
    let ending = |from: usize| -> Shape {
        Box::new(move |flight, n| {
            let then = if n >= from { Then::Close } else { Then::Stay };
            Answer::silence().piece(0, &flight).then(then)
        })
    };
    const UNTIL_CLOSE: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsome body";
    const CHUNKED: &str =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    const COUNTED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    for (text, notified, whole) in [
        (UNTIL_CLOSE, false, false),
        (UNTIL_CLOSE, true, true),
        (CHUNKED, false, true),
        (COUNTED, false, true),
        (COUNTED, true, true),
    ] {
        for (versions, flights) in [(Versions::Tls12, 2), (Versions::Tls13, 2)] {
            let serve: Serve = Box::new(move |_, tls| {
                tls.writer().write_all(text.as_bytes()).expect("less than its buffer");
                if notified {
                    tls.send_close_notify();
                }
            });
            let (setup, server) = fitting(versions, ending(flights), serve);
            let out = lab(some(6), setup).run(server);
            out.check();
            let expected = if whole { (6, 0) } else { (0, 6) };
            let found = (out.status(200), out.fault(Fault::ClosedMidResponse));
            assert_eq!(found, expected, "{versions:?}, close_notify: {notified}: {text}");
        }
    }
}
