//! HTTP/2: bodies of requests under flow control, servers that do not read, and the same over TLS.

use crate::http2::{timeout, total};
use crate::link_support::{Authority, server, setup, wanted};
use crate::support::frames::{self, Peer, Says, data, goaway, head, peer, rst, says, settings, update};
use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Server, SimRequest, Then};
use plimsoll_engine::link::tls::{Setup, Versions};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::{Draft, Fault, Target};
use rustls::server::{ServerConfig, ServerConnection};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

fn posts(bytes: usize, draft: Draft) -> Draft {
    let body: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
    Draft { requests: vec![request("POST", "/up", Some(body))], ..draft }
}

fn assert_bodies(record: &frames::Record, bytes: usize) {
    for asked in &record.asked {
        assert_eq!((asked.body.len(), asked.is_complete), (bytes, true));
        assert!(asked.body.iter().enumerate().all(|(i, byte)| *byte == (i % 251) as u8));
        assert_eq!(asked.get("content-length"), bytes.to_string());
    }
}

#[test]
fn bodies_larger_than_windows_and_buffers_arrive_whole() {
    // The windows begin with 65,535 bytes; a link holds 131,072 bytes of frames at most.
    for (bytes, users) in [(1, 1), (65_535, 1), (65_536, 3), (131_072, 2), (1_000_000, 4)] {
        let server = peer(|asked| asked.ok(MS));
        let record = server.record();
        let out = Lab::http2(posts(bytes, total(12, users)), users).latency(MS).run(server);
        out.check();
        assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (12, 1), "{bytes}");
        assert_bodies(&record.borrow(), bytes);
        assert!(out.count(SeriesSum::BytesOut) > 12 * bytes as u64);
        // Frame heads every 16 KiB, and a few fields.
        let most = 12 * (bytes as u64 + bytes as u64 / 100 + 200);
        assert!(out.count(SeriesSum::BytesOut) < most, "{bytes}: {} {most}", out.count(SeriesSum::BytesOut));
    }
}

#[test]
fn a_kernel_that_takes_little_at_a_time_delays_bodies_and_mixes_none() {
    let server = peer(|asked| asked.ok(MS));
    let record = server.record();
    let mut lab = Lab::http2(posts(300_000, total(10, 5)), 5).latency(MS);
    lab.nature.send_window = 10_000;
    let out = lab.run(server);
    out.check();
    assert_eq!(out.status(200), 10);
    assert_bodies(&record.borrow(), 300_000);
    assert_eq!(out.hist(RunHist::SendBlocked).count(), 10);
    // 10 kB every 2 ms.
    assert!(out.longest(SeriesHist::Service) > 200 * MS);
}

#[test]
fn a_window_that_stays_shut_ends_in_a_timeout_and_others_go_on() {
    // The window of the second stream is used up; the other requests have no bodies.
    let mut server = peer(|asked| asked.ok(10 * MS));
    server.widens = false;
    let draft = Draft {
        requests: vec![request("POST", "/up", Some(vec![b'x'; 60_000])), get("/b"), get("/c")],
        ..timeout(100 * MS, total(30, 3))
    };
    let record = server.record();
    let out = Lab::http2(draft, 3).run(server);
    out.check();
    // 65,535 bytes for the whole connection: one body fits, and the rest of the second is reset.
    assert_eq!((out.fault(Fault::Timeout), out.status(200)), (11, 19));
    assert_eq!((out.sum(RunSum::StreamsReset), out.sum(RunSum::ConnOpened)), (11, 1));
    assert_eq!(record.borrow().asked.iter().filter(|asked| asked.is_complete).count(), 19);
}

#[test]
fn a_response_before_the_body_is_complete_ends_the_request() {
    let mut server = peer(|asked| says().at(0, head(asked.stream, 413, &[], true)));
    (server.answers_heads, server.widens) = (true, false);
    let record = server.record();
    let out = Lab::http2(posts(200_000, total(20, 2)), 2).latency(MS).run(server);
    // The connection's window is used up by the first ones: the others have only heads.
    out.check();
    assert_eq!((out.status(413), out.count(SeriesSum::Failed)), (20, 20));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::StreamsReset)), (1, 20));
    let record = record.borrow();
    assert!(record.asked.iter().all(|asked| !asked.is_complete));
    assert!(record.asked.iter().map(|asked| asked.body.len()).sum::<usize>() <= 65_535);
    assert!(record.count(frames::RST_STREAM) >= 18);
}

#[test]
fn an_unprocessed_body_is_sent_again_from_its_beginning() {
    let mut server = peer(|asked| match (asked.connection, asked.number) {
        (0, 1) => says().at(MS, goaway(1, 0)),
        (0, 0) => says(),
        (_, 0) => says().at(MS, rst(asked.stream, frames::REFUSED)),
        _ => says(),
    });
    server.answers_heads = true;
    let record = server.record();
    let draft = timeout(50 * MS, posts(100_000, total(3, 3)));
    let out = Lab::http2(draft, 3).latency(MS).run(server);
    out.check();
    let record = record.borrow();
    let whole = record.asked.iter().filter(|asked| asked.is_complete).count();
    assert!(whole >= 2, "{whole} of {}", record.asked.len());
    assert!(record.asked.iter().all(|a| a.body.iter().enumerate().all(|(i, byte)| *byte == (i % 251) as u8)));
    assert!(out.sum(RunSum::RequestsUnprocessed) >= 2);
}

#[test]
fn new_initial_windows_apply_to_bodies_under_way() {
    let server = peer(|asked| asked.ok(MS));
    // The first 65,535 bytes are sent before the settings, which allow less; then they allow much.
    let greeting = says()
        .at(0, settings(&[(4, 1)]))
        .at(20 * MS, [settings(&[(4, 1 << 20)]), update(0, 1 << 20)].concat());
    let mut server = server.greeting(greeting);
    (server.first_window, server.window, server.widens) = (1 << 20, 1 << 20, false);
    let record = server.record();
    let out = Lab::http2(posts(100_000, total(1, 1)), 1).run(server);
    out.check();
    assert_eq!((out.status(200), out.longest(SeriesHist::Service) / MS), (1, 21));
    assert_bodies(&record.borrow(), 100_000);
}

#[test]
fn a_server_that_floods_and_does_not_read_is_cut_off() {
    // 100 pings at a time do not flood a client that can reply. The kernel takes 700 bytes and, as the other side is
    // far away, no more for 40 s.
    let pings =
        || (0..100u64).flat_map(|n| frames::frame(frames::PING, 0, 0, &n.to_be_bytes())).collect::<Vec<u8>>();
    let (chatty, quiet) = (Rc::new(Cell::new(0u64)), 30_000);
    let sent = Rc::clone(&chatty);
    let server = peer(move |_| {
        sent.set(sent.get() + 1);
        (1..quiet).fold(says(), |says, ms| says.at(ms * MS, pings()))
    });
    let mut lab = Lab::http2(timeout(1_000 * S, closed(1, 100.0)), 1).latency(20 * S);
    lab.draft.limits.connect_timeout_ns = 100 * S;
    lab.nature.send_window = 700;
    let out = lab.run(server);
    assert_eq!((chatty.get() > 0, out.fault(Fault::UnsafeResponse) > 0), (true, true), "{:?}", out.faults());
}

// ---- TLS ----------------------------------------------------------------------------------------------------------

/// What a server says to bytes of a connection at a time.
type Hears = Box<dyn FnMut(u64, u64, &[u8]) -> Says>;

/// The same server over TLS. Its pieces are sealed at once and sent in the order of their times.
struct Sealed {
    config: Arc<ServerConfig>,
    tls: BTreeMap<u64, ServerConnection>,
    inner: Hears,
}

fn sealed(mut peer: Peer) -> (Setup, Sealed) {
    let authority = Authority::new();
    let mut config = server(&authority.issue(&["localhost"]), None);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let mut wanted = wanted(&authority, Versions::Both);
    wanted.alpn = vec![b"h2".to_vec()];
    let inner = Box::new(move |connection, now_ns, bytes: &[u8]| peer.hear(connection, now_ns, bytes));
    let sealed = Sealed { config: Arc::new(config), tls: BTreeMap::new(), inner };
    (setup(&wanted), sealed)
}

impl Server for Sealed {
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        unreachable!("`heard` takes all bytes")
    }

    fn heard(&mut self, connection: u64, now_ns: u64, mut bytes: &[u8]) -> Option<Answer> {
        let config = &self.config;
        let tls = self.tls.entry(connection).or_insert_with(|| {
            ServerConnection::new(Arc::clone(config)).expect("the configuration is valid")
        });
        tls.set_buffer_limit(None);
        let mut plain = Vec::new();
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).expect("memory can be read");
            if tls.process_new_packets().is_err() {
                return Some(Answer::silence());
            }
            let mut buffer = [0; 4_096];
            while let Ok(n @ 1..) = tls.reader().read(&mut buffer) {
                plain.extend_from_slice(&buffer[..n]);
            }
        }
        let mut answer = Answer::silence();
        let flush = |tls: &mut ServerConnection, answer: Answer, after_ns: u64| {
            let mut flight = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut flight).expect("memory can be written");
            }
            if flight.is_empty() { answer } else { answer.piece(after_ns, &flight) }
        };
        answer = flush(tls, answer, 0);
        if plain.is_empty() {
            return Some(answer);
        }
        let says = (self.inner)(connection, now_ns, &plain);
        let mut before_ns = 0;
        for (at_ns, piece) in says.pieces {
            tls.writer().write_all(&piece).expect("there is no limit");
            answer = flush(tls, answer, at_ns.saturating_sub(before_ns));
            before_ns = at_ns.max(before_ns);
        }
        if let Some(Then::Close) = says.then {
            tls.send_close_notify();
            answer = flush(tls, answer, 0);
        }
        Some(answer.then(says.then.unwrap_or(Then::Stay)))
    }
}

fn over_tls(draft: Draft, streams: u32, peer: Peer) -> (Lab, Sealed) {
    let target = Some(Target { host: "localhost".into(), port: 8443, tls: true });
    let (setup, server) = sealed(peer);
    (Lab { tls: Some(setup), ..Lab::http2(Draft { target, ..draft }, streams) }, server)
}

#[test]
fn over_tls_users_share_a_connection_and_bodies_arrive_whole() {
    for (bytes, send_window) in [(10, usize::MAX), (300_000, usize::MAX), (300_000, 20_000)] {
        let server = peer(|asked| asked.ok(MS));
        let record = server.record();
        let (mut lab, server) = over_tls(posts(bytes, total(20, 5)), 5, server);
        lab.nature.send_window = send_window;
        let out = lab.latency(MS).run(server);
        out.check();
        assert_eq!((out.status(200), out.sum(RunSum::ConnOpened), out.sum(RunSum::Handshakes)), (20, 1, 1));
        let record = record.borrow();
        assert_bodies(&record, bytes);
        assert_eq!((record.asked.len(), record.asked[0].get(":scheme")), (20, "https"));
    }
}

#[test]
fn over_tls_a_goaway_costs_no_request() {
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 12) => says().at(0, goaway(asked.stream - 4, 0)),
        (0, 11..) => says(),
        (0, 10) => asked.ok(5 * MS),
        _ => asked.ok(MS),
    });
    let (lab, server) = over_tls(total(40, 4), 4, server);
    let out = lab.latency(MS).run(server);
    assert_eq!((out.count(SeriesSum::Sent), out.status(200), out.faults()), (40, 40, vec![]));
    assert!(out.sum(RunSum::RequestsUnprocessed) >= 2);
    assert_eq!(out.sum(RunSum::ConnOpened), 2);
}

#[test]
fn over_tls_what_the_server_said_before_a_reset_is_read() {
    // The server processes nothing, says so, and resets the connection while a body is being sent.
    for is_sealed in [false, true] {
        let script = |asked: &frames::ServerRequest| match asked.connection {
            0 => says().at(0, goaway(0, 0)).then(Then::Reset),
            _ => asked.ok(MS),
        };
        let mut server = peer(script);
        server.answers_heads = true;
        let draft = posts(400_000, total(4, 2));
        let limited = |mut lab: Lab| {
            lab.nature.send_window = 30_000;
            lab.latency(MS)
        };
        let out = if is_sealed {
            let (lab, server) = over_tls(draft, 2, server);
            limited(lab).run(server)
        } else {
            limited(Lab::http2(draft, 2)).run(server)
        };
        assert_eq!((out.status(200), out.faults()), (4, vec![]), "sealed: {is_sealed}");
    }
}

#[test]
fn over_tls_a_server_that_closes_after_the_handshake_fails_requests() {
    let server = peer(|_| says()).greeting(says().then(Then::Close));
    let (lab, server) = over_tls(total(8, 4), 4, server);
    let out = lab.latency(MS).run(server);
    assert_eq!((out.faults(), out.count(SeriesSum::Sent)), (vec![(Fault::ClosedBeforeResponse, 8)], 8));
}

#[test]
fn over_tls_a_server_that_does_not_choose_http2_has_changed_its_protocol() {
    let (lab, mut server) = over_tls(total(6, 3), 3, peer(|asked| asked.ok(MS)));
    let mut config = (*server.config).clone();
    config.alpn_protocols.clear();
    server.config = Arc::new(config);
    let out = lab.run(server);
    assert_eq!((out.fault(Fault::ProtocolChanged), out.count(SeriesSum::Sent)), (6, 0));
    assert_eq!(out.sum(RunSum::ConnAttempts), 2, "one for three waiting requests");
}

#[test]
fn large_responses_keep_to_the_windows_of_the_client() {
    let mut draft = total(8, 4);
    draft.link.window = plimsoll_plan::link::Window::Bytes(100_000);
    let server = peer(|asked| {
        // Less than half a window before each update.
        let part = vec![b'x'; 40_000];
        let first =
            says().at(0, [head(asked.stream, 200, &[], false), data(asked.stream, &part, false)].concat());
        first.at(5 * MS, data(asked.stream, &[], true))
    });
    let server = server.connects(|_| Connect::Accept { after_ns: 0 });
    let out = Lab::http2(draft, 2).latency(MS).run(server);
    out.check();
    assert_eq!((out.status(200), out.count(SeriesSum::BodyBytes)), (8, 320_000));
    // More than the window is the server's fault, on its connection.
    let mut draft = total(4, 2);
    draft.link.window = plimsoll_plan::link::Window::Bytes(70_000);
    let server = peer(|asked| {
        says().at(0, [head(asked.stream, 200, &[], false), data(asked.stream, &[0; 90_000], true)].concat())
    });
    let out = Lab::http2(draft, 2).run(server);
    out.check();
    assert_eq!(out.faults(), vec![(Fault::UnsafeResponse, 4)]);
}
