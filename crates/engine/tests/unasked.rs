//! Unrequested responses: after another one, on an idle connection, before the request. None of them counts as a
//! response, and each makes the run fail.

use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Server, Then};
use plimsoll_engine::{Next, Scene, start};
use plimsoll_plan::Fault;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{RunSum, SeriesSum, fault_id, status_id};
use plimsoll_plan::seal::{Machine, seal};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Runs one user for 1 s; `answer` responds to each request.
fn each(answer: impl FnMut(&SimRequest<'_>) -> Answer + 'static) -> Outcome {
    let out = Lab::new(closed(1, 1.0)).latency(MS).run(answer);
    out.check();
    out
}

#[test]
fn bytes_after_a_response_make_it_unsafe() {
    for more in [&b" GARBAGE"[..], b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"] {
        let whole = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", more].concat();
        let out = each(move |_| Answer::silence().piece(10 * MS, &whole));
        assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (0, 71));
        assert_eq!((out.fault(Fault::UnsafeResponse), out.sum(RunSum::UnexpectedBytes)), (71, 71));
        assert_eq!(out.sum(RunSum::ConnOpened), out.count(SeriesSum::Sent));
    }
}

#[test]
fn an_empty_line_and_a_closing_notice_after_a_response_are_not_unsafe() {
    let leave = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
    for more in [&b"\r\n"[..], leave] {
        let whole = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", more].concat();
        let out = each(move |_| Answer::silence().piece(10 * MS, &whole));
        assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (71, 0));
        assert_eq!(out.sum(RunSum::UnexpectedBytes), 71, "the connection is closed and counted");
    }
}

/// Ten arrivals per second on one connection: it is idle for 80 ms between two of them.
fn idle(second: &'static [u8], then: Then) -> Outcome {
    let draft =
        Draft { load: LoadDraft { max_connections: Some(1), ..open(10.0, 2.0).load }, ..open(10.0, 2.0) };
    let out = Lab::new(draft).latency(MS).run(move |a: &SimRequest<'_>| {
        // On every other connection, bytes follow the first response 20 ms later.
        let whole = Answer::ok(10 * MS);
        if a.total.is_multiple_of(2) { whole.piece(20 * MS, second).then(then) } else { whole }
    });
    out.check_arrivals();
    out
}

#[test]
fn a_response_on_an_idle_connection_fails_the_previous_request() {
    let out = idle(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Then::Stay);
    assert_eq!((out.status(200), out.count(SeriesSum::Finished)), (20, 20));
    assert_eq!((out.fault(Fault::UnsafeResponse), out.count(SeriesSum::Failed)), (10, 10));
    assert_eq!((out.sum(RunSum::UnexpectedBytes), out.sum(RunSum::ClosedAfterError)), (10, 10));
}

#[test]
fn a_closing_notice_on_an_idle_connection_is_a_close() {
    for (notice, then) in [
        (&b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"[..], Then::Stay),
        (b"HTTP/1.0 408 Request Timeout\r\n\r\n<html>too slow</html>", Then::Close),
        (b"HTTP/1.1 503 Going\r\nConnection: close\r\n\r\n", Then::Close),
        (b"", Then::Close),
    ] {
        let out = idle(notice, then);
        assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (20, 0));
        assert_eq!((out.sum(RunSum::UnexpectedBytes), out.sum(RunSum::ClosedByServer)), (0, 10));
    }
}

#[test]
fn a_response_sent_before_its_request_could_be_read_is_unsafe() {
    let run = |unacknowledged: u32, whole: &'static [u8]| {
        let mut lab = Lab::new(closed(1, 1.0)).latency(MS);
        (lab.nature.facts.unacknowledged, lab.nature.facts.segment_bytes) = (unacknowledged, 1_460);
        let out = lab.run(move |_: &SimRequest<'_>| Answer::silence().piece(10 * MS, whole));
        out.check();
        out
    };
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let early = run(1, ok);
    assert_eq!((early.status(200), early.fault(Fault::UnsafeResponse)), (0, 71));
    let in_time = run(0, ok);
    assert_eq!((in_time.status(200), in_time.count(SeriesSum::Failed)), (83, 0));
    // A refusal is valid whether or not it has waited; its connection is not reused.
    let refused = run(1, b"HTTP/1.1 503 Full\r\nContent-Length: 0\r\n\r\n");
    assert_eq!((refused.status(503), refused.fault(Fault::UnsafeResponse)), (71, 0));
    assert_eq!(refused.sum(RunSum::ConnReusedRequests), 0);
}

#[test]
fn a_response_on_accept_is_unsafe() {
    struct Eager;
    impl Server for Eager {
        fn connect(&mut self, _: u64, _: u64) -> Connect {
            Connect::Greet { bytes: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", close: false }
        }
        fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
            Answer::ok(10 * MS)
        }
    }
    let out = Lab::new(closed(1, 1.0)).latency(MS).run(Eager);
    out.check();
    assert_eq!((out.status(200), out.fault(Fault::UnsafeResponse)), (0, out.count(SeriesSum::Finished)));
    assert!(out.count(SeriesSum::Finished) > 100);
}

// ---- over real sockets ------------------------------------------------------------------------------------------

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Serves each connection on a thread; counts the requests that it has read.
fn serving(
    serve: impl Fn(&mut TcpStream, &AtomicU64) + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let read = Arc::new(AtomicU64::new(0));
    let (counter, serve) = (Arc::clone(&read), Arc::new(serve));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            let (counter, serve) = (Arc::clone(&counter), Arc::clone(&serve));
            std::thread::spawn(move || serve(&mut stream, &counter));
        }
    });
    (address, read)
}

/// Reads the next request of a connection, which arrives in one piece.
fn has_read(stream: &mut TcpStream, read: &AtomicU64) -> bool {
    let mut request = [0; 2_048];
    let came = stream.read(&mut request).is_ok_and(|n| n > 0);
    read.fetch_add(u64::from(came), Ordering::Relaxed);
    came
}

/// Returns (responses with 200, unsafe ones, all failures) of 2,000 requests by four users.
fn load(address: SocketAddr) -> (u64, u64, u64) {
    let mut draft =
        Draft { load: LoadDraft { requests_total: Some(2_000), ..closed(4, 20.0).load }, ..closed(4, 20.0) };
    draft.target.as_mut().unwrap().port = address.port();
    let plan = seal(draft, Machine { cpus: 1, seed: 1 }).unwrap();
    let mut all = plimsoll_engine::tally::blank(&plan.outline, 0);
    let mut running = start(Arc::new(plan), Scene::at(address)).unwrap();
    loop {
        match running.next(Duration::from_secs(30)) {
            Next::Report(report) => all.merge(&report.interval),
            Next::Quiet => panic!("the engine sent no report"),
            Next::Ended => break,
        }
    }
    running.finish();
    let sums = &all.series[0].sums;
    (sums[status_id(200)], sums[fault_id(Fault::UnsafeResponse)], sums[SeriesSum::Failed.id()])
}

#[test]
fn a_server_that_answers_on_accept_or_twice_never_passes() {
    let (on_accept, _) = serving(|stream, read| {
        let mut go_on = stream.write_all(OK).is_ok();
        while go_on && has_read(stream, read) {
            go_on = stream.write_all(OK).is_ok();
        }
    });
    let (twice, _) = serving(|stream, read| {
        while has_read(stream, read) && stream.write_all(OK).is_ok() {
            // Half a millisecond by the clock, as for real work.
            let begun = std::time::Instant::now();
            while begun.elapsed() < Duration::from_micros(500) {
                std::thread::yield_now();
            }
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    for address in [on_accept, twice] {
        let (answered, dangerous, failed) = load(address);
        assert!(dangerous > 0, "none of {answered} responses was detected");
        assert_eq!(failed, dangerous);
    }
}

#[test]
fn a_server_that_answers_at_once_is_never_suspected() {
    let (honest, read) =
        serving(|stream, read| while has_read(stream, read) && stream.write_all(OK).is_ok() {});
    assert_eq!(load(honest), (2_000, 0, 0));
    assert_eq!(read.load(Ordering::Relaxed), 2_000);
    // The same with a connection for each request: the first response of every connection is checked.
    let (closing, _) = serving(|stream, read| {
        if has_read(stream, read) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    assert_eq!(load(closing), (2_000, 0, 0));
}
