//! HTTP/2: requests that the server has not processed are retried, and each other end is a fault with a side.

use crate::http2::{timeout, total};
use crate::support::frames::{self, goaway, head, ok, peer, rst, says};
use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Then};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};

#[test]
fn requests_that_a_goaway_leaves_unprocessed_are_sent_again_with_their_intended_start() {
    // Ten at once every 10 ms: the third round finds a server that processes only the first three of it.
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 0..20) => asked.ok(10 * MS),
        (0, 20..22) => asked.ok(100 * MS),
        (0, 22) => asked.ok(100 * MS).at(2 * MS, goaway(asked.stream, frames::NO_ERROR)),
        (0, _) => says(),
        _ => asked.ok(10 * MS),
    });
    let record = server.record();
    let out = Lab::http2(total(50, 10), 10).latency(MS).run(server);
    out.check();
    assert_eq!((out.count(SeriesSum::Sent), out.status(200), out.count(SeriesSum::Failed)), (50, 50, 0));
    assert_eq!((out.sum(RunSum::GoAways), out.sum(RunSum::RequestsUnprocessed)), (1, 7));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByServer)), (2, 1));
    // The first connection stays until its last stream has ended.
    let record = record.borrow();
    assert_eq!(record.asked.iter().filter(|asked| asked.connection == 0).count(), 30);
    assert_eq!(record.asked.len(), 57);
    // Sent, 4 ms until the GOAWAY is here, 2 ms to connect, 12 ms for the response.
    let slow = out.between(SeriesHist::Response, 17 * MS, 20 * MS);
    assert_eq!(slow, 7);
    assert_eq!(out.between(SeriesHist::Service, 17 * MS, 20 * MS), 0);
    assert_eq!(out.hist(RunHist::ConnRequests).max().unwrap_or(0), 30);
}

#[test]
fn requests_begun_in_the_batch_that_brings_a_goaway_go_to_the_new_connection() {
    // The responses of a round and the GOAWAY are in one segment: the next round is begun before it is read.
    let server = peer(|asked| match asked.connection {
        0 => {
            let mut bytes = ok(asked.stream, b"ok");
            if asked.number == 9 {
                bytes.extend(goaway(asked.stream, frames::NO_ERROR));
            }
            says().at(5 * MS, bytes)
        }
        _ => asked.ok(5 * MS),
    });
    let record = server.record();
    let out = Lab::http2(total(30, 10), 10).run(server);
    out.check();
    assert_eq!((out.count(SeriesSum::Sent), out.status(200)), (30, 30));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByServer)), (2, 1));
    assert_eq!(out.sum(RunSum::GoAways), 1);
    let record = record.borrow();
    let again = record.asked.iter().filter(|asked| asked.connection == 1).count();
    assert_eq!(again, 20);
}

#[test]
fn a_graceful_goaway_comes_twice_and_costs_nothing() {
    let server = peer(|asked| {
        let reply = asked.ok(20 * MS);
        match (asked.connection, asked.number) {
            (0, 5) => reply.at(0, goaway(0x7fff_ffff, 0)).at(10 * MS, goaway(asked.stream + 8, 0)),
            _ => reply,
        }
    });
    let out = Lab::http2(total(60, 6), 6).latency(MS).run(server);
    out.check();
    assert_eq!((out.status(200), out.sum(RunSum::GoAways)), (60, 2));
    assert_eq!((out.sum(RunSum::RequestsUnprocessed), out.sum(RunSum::ConnOpened)), (0, 2));
    assert_eq!(out.sum(RunSum::ClosedByServer), 1);
}

#[test]
fn a_goaway_on_an_idle_connection_closes_it() {
    let draft = open(10.0, 0.95);
    let server = peer(|asked| asked.ok(MS).at(20 * MS, goaway(asked.stream, 0)));
    let out = Lab::http2(draft, 1).run(server);
    out.check_arrivals();
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByServer)), (10, 10, 10));
}

#[test]
fn a_server_that_processes_nothing_fails_each_request_the_second_time() {
    let server = peer(|_| says().at(MS, goaway(0, 0)));
    let out = Lab::http2(total(20, 4), 4).run(server);
    out.check();
    assert_eq!((out.count(SeriesSum::Sent), out.fault(Fault::StreamRefused)), (20, 20));
    assert_eq!(out.sum(RunSum::RequestsUnprocessed), 20);
}

#[test]
fn a_goaway_with_an_error_fails_all_open_streams_as_refused() {
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 14) => says().at(0, goaway(asked.stream, frames::CALM)),
        (0, 10..) => says(),
        _ => asked.ok(5 * MS),
    });
    let out = Lab::http2(total(50, 10), 10).run(server);
    out.check();
    assert_eq!((out.fault(Fault::StreamRefused), out.status(200)), (10, 40));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedAfterError)), (2, 1));
    assert_eq!(out.sum(RunSum::RequestsUnprocessed), 0);
    assert!(
        out.samples.iter().any(|sample| sample.observed.contains("ENHANCE_YOUR_CALM")),
        "{:?}",
        out.samples
    );
}

#[test]
fn a_refused_stream_is_sent_again_once() {
    // Odd requests are refused the first time.
    let server = peer(|asked| match asked.total % 2 {
        1 => says().at(0, rst(asked.stream, frames::REFUSED)),
        _ => asked.ok(MS),
    });
    let out = Lab::http2(total(100, 1), 1).latency(MS).run(server);
    out.check();
    assert_eq!((out.count(SeriesSum::Sent), out.status(200), out.count(SeriesSum::Failed)), (100, 100, 0));
    assert_eq!(out.sum(RunSum::RequestsUnprocessed), 99);
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::StreamsReset)), (1, 0));
    // Two round trips and the response.
    assert_eq!(out.longest(SeriesHist::Response) / MS, 5);
    assert_eq!(out.longest(SeriesHist::Service) / MS, 3);

    let server = peer(|asked| says().at(0, rst(asked.stream, frames::REFUSED)));
    let out = Lab::http2(total(50, 5), 5).latency(MS).run(server);
    out.check();
    assert_eq!((out.count(SeriesSum::Sent), out.fault(Fault::StreamRefused)), (50, 50));
    assert_eq!(out.sum(RunSum::RequestsUnprocessed), 50);
}

#[test]
fn a_stream_refused_on_a_connection_that_drains_moves_and_the_connection_closes() {
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 0) => says().at(0, goaway(asked.stream, 0)).at(5 * MS, rst(asked.stream, frames::REFUSED)),
        _ => asked.ok(5 * MS),
    });
    let out = Lab::http2(total(3, 1), 1).run(server);
    out.check();
    assert_eq!((out.status(200), out.sum(RunSum::RequestsUnprocessed)), (3, 1));
    assert_eq!((out.sum(RunSum::ClosedByServer), out.sum(RunSum::OpenAtEnd)), (1, 1));
}

#[test]
fn a_stream_refused_after_its_head_has_failed() {
    // What has arrived of a response contradicts that the request was not processed.
    let server = peer(|asked| {
        let code = if asked.total % 2 == 0 { frames::REFUSED } else { frames::INTERNAL_ERROR };
        says().at(MS, head(asked.stream, 200, &[], false)).at(2 * MS, rst(asked.stream, code))
    });
    let out = Lab::http2(total(10, 1), 1).run(server);
    out.check();
    assert_eq!((out.fault(Fault::StreamRefused), out.fault(Fault::StreamReset)), (5, 5));
    assert_eq!(out.sum(RunSum::RequestsUnprocessed), 0);
}

#[test]
fn a_reset_stream_fails_alone() {
    let server = peer(|asked| match asked.total % 10 {
        3 => says().at(MS, rst(asked.stream, frames::INTERNAL_ERROR)),
        _ => asked.ok(5 * MS),
    });
    let out = Lab::http2(total(100, 10), 10).run(server);
    out.check();
    assert_eq!((out.fault(Fault::StreamReset), out.status(200)), (10, 90));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedAfterError)), (1, 0));
    assert!(out.samples.iter().any(|sample| sample.observed.contains("INTERNAL_ERROR")));
}

#[test]
fn a_timeout_resets_its_stream_and_the_connection_lives_on() {
    // The late responses come to streams that are closed.
    let server = peer(|asked| asked.ok(if asked.total % 5 == 0 { 400 * MS } else { 10 * MS }));
    let record = server.record();
    let out = Lab::http2(timeout(100 * MS, total(100, 10)), 10).latency(MS).run(server);
    out.check();
    assert_eq!((out.fault(Fault::Timeout), out.status(200)), (20, 80));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::StreamsReset)), (1, 20));
    let record = record.borrow();
    // The last one is sent as the run ends.
    assert!(record.count(frames::RST_STREAM) >= 19);
    assert!(record.frames.iter().all(|frame| frame.payload == frames::CANCEL.to_be_bytes()));
    assert_eq!(out.shortest(SeriesHist::ServiceCensored) / MS, 100);
    assert!(out.longest(SeriesHist::ServiceCensored) < 103 * MS);
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 20);
}

#[test]
fn a_request_times_out_only_after_its_own_time() {
    // Exchanges and their timers are used again and again: a timer of an earlier request ends just as a later one
    // begins, because the calls take some time.
    let draft = timeout(50 * MS, open(2_000.0, 2.999));
    let mut lab = Lab::http2(draft, 20);
    (lab.nature.call_cost_ns, lab.nature.clock_cost_ns) = (50 * US, 10 * US);
    let out = lab.run(peer(|asked| asked.ok((asked.total % 45) * MS)));
    out.check_arrivals();
    assert_eq!(out.faults(), []);

    // Timers that end together begin requests in places whose timers have ended, too.
    let server = peer(|asked| if asked.total % 3 == 0 { says() } else { asked.ok(10 * MS) });
    let out = Lab::http2(timeout(50 * MS, closed(30, 3.0)), 30).run(server);
    out.check();
    assert!(out.fault(Fault::Timeout) > 100);
    assert!(out.longest(SeriesHist::ServiceCensored) < 3 * S);
    let took = out.shortest(SeriesHist::ServiceCensored);
    assert!(took >= 50 * MS || out.sum(RunSum::InFlightAtEnd) > 0, "{took}");
    assert_eq!(
        out.fault(Fault::Timeout) + out.sum(RunSum::InFlightAtEnd) + out.status(200),
        out.count(SeriesSum::Sent)
    );
}

#[test]
fn a_timeout_of_a_request_sent_again_counts_from_the_last_send() {
    let server = peer(|asked| match asked.number {
        0 => says().at(80 * MS, rst(asked.stream, frames::REFUSED)),
        _ => says(),
    });
    let out = Lab::http2(timeout(100 * MS, total(1, 1)), 1).run(server);
    out.check();
    assert_eq!((out.fault(Fault::Timeout), out.sum(RunSum::RequestsUnprocessed)), (1, 1));
    assert_eq!(out.shortest(SeriesHist::ServiceCensored) / MS, 100);
    assert_eq!(out.shortest(SeriesHist::ResponseCensored) / MS, 180);
}

#[test]
fn an_end_of_the_connection_is_told_by_what_had_arrived() {
    // (connection, what the server does with the last of ten requests, the fault of all ten)
    let heads = |asked: &frames::ServerRequest| {
        let all = (asked.stream - 18..=asked.stream).step_by(2);
        all.fold(says(), |says, stream| says.at(0, head(stream, 200, &[], false)))
    };
    let ends: [(bool, bool, Then, Fault); 6] = [
        (true, false, Then::Close, Fault::StaleConnection),
        (true, false, Then::Reset, Fault::StaleConnection),
        (true, true, Then::Close, Fault::ClosedMidResponse),
        (true, true, Then::Reset, Fault::ConnectionReset),
        (false, false, Then::Close, Fault::ClosedBeforeResponse),
        (false, false, Then::Reset, Fault::ConnectionReset),
    ];
    for (is_reused, has_head, then, fault) in ends {
        let first = if is_reused { 10 } else { 0 };
        let server = peer(move |asked| match (asked.connection, asked.number) {
            (0, number) if number >= first => match number - first {
                9 if has_head => heads(asked).then(then),
                9 => says().then(then),
                _ => says(),
            },
            _ => asked.ok(5 * MS),
        });
        let out = Lab::http2(total(30 + first, 10), 10).latency(MS).run(server);
        out.check();
        assert_eq!((out.fault(fault), out.status(200)), (10, 20 + first), "{is_reused} {has_head} {then:?}");
        assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedAfterError)), (2, 1));
        assert_eq!(out.sum(RunSum::RequestsUnprocessed), 0);
    }
}

#[test]
fn an_end_although_goaway_promised_the_responses_is_no_stale_connection() {
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 3) => says().at(0, goaway(asked.stream, 0)).at(MS, vec![]).then(Then::Close),
        (0, 2..) => says(),
        _ => asked.ok(MS),
    });
    let out = Lab::http2(total(20, 2), 2).run(server);
    out.check();
    assert_eq!((out.faults(), out.status(200)), (vec![(Fault::ClosedBeforeResponse, 2)], 18));
}

#[test]
fn a_server_that_closes_before_its_settings_fails_one_request_a_connection() {
    let server = peer(|_| says()).greeting(says().then(Then::Close));
    let out = Lab::http2(total(20, 4), 4).latency(MS).run(server);
    out.check();
    assert_eq!((out.faults(), out.sum(RunSum::ConnOpened)), (vec![(Fault::ClosedBeforeResponse, 20)], 20));
}

#[test]
fn a_server_that_closes_as_it_accepts_fails_requests() {
    // The end is there with the connection: the request goes out all the same, and fails.
    let server = peer(|_| says()).connects(|_| Connect::Greet { bytes: b"", close: true });
    let out = Lab::http2(total(20, 4), 4).latency(MS).run(server);
    out.check();
    assert_eq!((out.faults(), out.count(SeriesSum::Sent)), (vec![(Fault::ClosedBeforeResponse, 20)], 20));
}

#[test]
fn an_answer_in_http1_means_that_the_protocol_has_changed() {
    const HTTP1: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let server = peer(|_| says()).greeting(says().at(0, HTTP1.to_vec()).then(Then::Close));
    let out = Lab::http2(total(12, 3), 3).run(server);
    out.check();
    assert_eq!((out.fault(Fault::ProtocolChanged), out.sum(RunSum::ClosedAfterError)), (12, 12));
}

#[test]
fn frames_that_no_server_may_send_fail_all_streams_once_and_close_the_connection() {
    let wrong: [(Vec<u8>, Fault); 4] = [
        (frames::frame(frames::PING, 0, 0, b"short"), Fault::MalformedResponse),
        (frames::data(99, b"idle", true), Fault::MalformedResponse),
        (frames::frame(frames::HEADERS, 4, 1, &[0x80]), Fault::MalformedResponse),
        (frames::update(0, 0x7fff_ffff), Fault::MalformedResponse),
    ];
    for (bytes, fault) in wrong {
        let server = peer(move |asked| match (asked.connection, asked.number) {
            (0, 9) => says().at(MS, bytes.clone()),
            (0, _) => says(),
            _ => asked.ok(MS),
        });
        let record = server.record();
        let out = Lab::http2(total(30, 10), 10).run(server);
        out.check();
        assert_eq!((out.fault(fault), out.status(200)), (10, 20));
        assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedAfterError)), (2, 1));
        let record = record.borrow();
        assert_eq!(record.count(frames::GOAWAY), 1, "the server hears why");
        assert_eq!(record.asked.len(), 30, "none is sent twice");
    }
}

#[test]
fn nothing_is_sent_twice_when_a_connection_breaks_between_begin_and_send() {
    // One segment brings ten responses, so that ten requests are begun, and then nonsense.
    let server = peer(|asked| match (asked.connection, asked.number) {
        (0, 9) => {
            let mut bytes: Vec<u8> = (1..=19).step_by(2).flat_map(|stream| ok(stream, b"ok")).collect();
            bytes.extend(frames::frame(frames::PING, 0, 0, b"short"));
            says().at(0, bytes)
        }
        (0, _) => says(),
        _ => asked.ok(MS),
    });
    let record = server.record();
    let out = Lab::http2(total(30, 10), 10).run(server);
    out.check();
    assert_eq!((out.status(200), out.count(SeriesSum::Sent), out.sum(RunSum::ConnOpened)), (30, 30, 2));
    assert_eq!(record.borrow().asked.len(), 30);
    assert_eq!(out.sum(RunSum::ClosedAfterError), 1, "the client closed because of an error");
}

#[test]
fn a_response_before_its_request_was_sent_counts_for_nothing() {
    // The number of the next stream can be guessed: the response of the first request brings that of the next.
    for (then, what) in [
        (ok(3, b"ok"), "response"),
        (rst(3, frames::INTERNAL_ERROR), "reset"),
        (head(3, 200, &[], false), "head"),
    ] {
        let server = peer(move |asked| match (asked.connection, asked.number) {
            (0, 0) => says().at(MS, [ok(1, b"ok"), then.clone()].concat()),
            _ => asked.ok(MS),
        });
        let out = Lab::http2(total(10, 1), 1).run(server);
        out.check();
        assert_eq!((out.count(SeriesSum::Sent), out.status(200)), (10, 10), "{what}");
        assert!(out.longest(SeriesHist::Service) < 2 * MS, "{what}");
        assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::UnexpectedBytes)), (2, 1), "{what}");
    }
}

#[test]
fn an_invalid_response_fails_its_stream_alone() {
    let server = peer(|asked| match asked.total % 10 {
        3 => says().at(MS, head(asked.stream, 200, &[("Upper", "x")], true)),
        4 => says().at(
            MS,
            [
                head(asked.stream, 200, &[("content-length", "9")], false),
                frames::data(asked.stream, b"short", true),
            ]
            .concat(),
        ),
        _ => asked.ok(5 * MS),
    });
    let out = Lab::http2(total(100, 10), 10).run(server);
    out.check();
    assert_eq!((out.fault(Fault::MalformedResponse), out.fault(Fault::UnsafeResponse)), (10, 10));
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (80, 1));
}

#[test]
fn a_flood_of_frames_ends_the_connection_and_costs_bounded_memory() {
    let pings: Vec<u8> =
        (0..12_000u64).flat_map(|n| frames::frame(frames::PING, 0, 0, &n.to_be_bytes())).collect();
    let server = peer(move |asked| match asked.connection {
        0 => says().at(MS, pings.clone()),
        _ => asked.ok(MS),
    });
    let out = Lab::http2(total(10, 2), 2).run(server);
    out.check();
    assert_eq!((out.fault(Fault::UnsafeResponse), out.status(200)), (2, 8));
}
