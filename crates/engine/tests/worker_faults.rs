//! Failures of requests, and the forms of responses: one closed-model user in virtual time.

use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_engine::driver::sim::{Connect, Server, Then};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};

// ---- failures: timeouts ------------------------------------------------------------------------------------------

#[test]
fn a_time_out_cuts_the_measurement_off_and_the_user_goes_on_with_a_new_connection() {
    let mut draft = closed(1, 10.0);
    draft.timeout_ns = Some(100 * MS);
    // Every tenth request gets no response.
    let lab = Lab::new(draft);
    let out =
        lab.run(|a: &SimRequest<'_>| if a.total % 10 == 9 { Answer::silence() } else { Answer::ok(10 * MS) });
    out.check();
    let timeouts = out.fault(Fault::Timeout);
    // Nine responses of 10 ms and a timeout of 100 ms, noticed up to two slots of 1.05 ms late: 190 to 192.2 ms.
    assert!((52..=53).contains(&timeouts), "{timeouts}");
    let censored = out.series_hist(SeriesHist::ServiceCensored);
    assert_eq!(censored.count(), timeouts + out.sum(RunSum::InFlightAtEnd));
    assert!(censored.max().unwrap() <= 102_200_000, "{:?}", censored.max());
    assert_eq!(out.series_hist(SeriesHist::Service).count(), out.status(200), "and in no other histogram");
    assert_eq!(out.series_hist(SeriesHist::Service).max(), Some(10 * MS));
    assert_eq!(out.sum(RunSum::ConnOpened), timeouts + 1);
    assert_eq!(out.sum(RunSum::ClosedAfterError), timeouts);
    assert_eq!(out.count(SeriesSum::Failed), timeouts);
}

#[test]
fn a_time_out_is_never_early() {
    for timeout_ns in [MS, 1_500 * US, 20 * MS, 700 * MS, 11 * S] {
        let mut draft = closed(1, 30.0);
        draft.timeout_ns = Some(timeout_ns);
        let out = Lab::new(draft).run(|_: &SimRequest<'_>| Answer::silence());
        out.check();
        let n = out.fault(Fault::Timeout);
        assert!(
            n * timeout_ns <= 30 * S && (n + 1) * (timeout_ns + 2_200 * US) >= 30 * S,
            "{n} x {timeout_ns}"
        );
    }
}

#[test]
fn an_answer_just_before_its_time_out_counts() {
    let mut draft = closed(1, 5.0);
    draft.timeout_ns = Some(50 * MS);
    let out = run_fixed(draft, 50 * MS - 1);
    out.check();
    assert_eq!((out.fault(Fault::Timeout), out.count(SeriesSum::Finished)), (0, 100));
}

#[test]
fn a_late_answer_to_a_request_given_up_does_not_answer_the_next() {
    let mut draft = closed(1, 5.0);
    draft.timeout_ns = Some(50 * MS);
    let out = Lab::new(draft)
        .run(|a: &SimRequest<'_>| Answer::ok(if a.total.is_multiple_of(2) { 70 * MS } else { 20 * MS }));
    out.check();
    assert_eq!(out.fault(Fault::MalformedResponse) + out.fault(Fault::UnsafeResponse), 0);
    assert_eq!(out.series_hist(SeriesHist::Service).max(), Some(20 * MS));
}

// ---- failures: no connection ------------------------------------------------------------------------------------

/// Connects as instructed, responds after 10 ms.
struct Gate<F>(F);
impl<F: FnMut(u64) -> Connect> Server for Gate<F> {
    fn connect(&mut self, connection: u64, _now_ns: u64) -> Connect {
        (self.0)(connection)
    }
    fn answer(&mut self, _asked: &SimRequest<'_>) -> Answer {
        Answer::ok(10 * MS)
    }
}

#[test]
fn a_refused_user_pauses_and_doubles_the_pause_up_to_a_second() {
    let out = Lab::new(closed(1, 10.0)).run(Gate(|_| Connect::Refuse));
    out.check();
    // 50, 100, 200, 400, 800, 1000, 1000 ... ms: attempts at 0, .05, .15, .35, .75, 1.55, 2.55, ..., 9.55 s.
    assert_eq!(out.sum(RunSum::ConnAttempts), 14);
    assert_eq!(out.fault(Fault::ConnectionRefused), 14);
    assert_eq!(out.count(SeriesSum::Failed), 14);
    assert_eq!(out.count(SeriesSum::Sent), 0);
    assert_eq!(out.sum(RunSum::ConnOpened), 0);
}

#[test]
fn the_pause_starts_from_the_beginning_after_a_success() {
    // Refused twice, then accepted; the server closes after each response.
    struct Moody;
    impl Server for Moody {
        fn connect(&mut self, connection: u64, _now_ns: u64) -> Connect {
            if connection % 3 == 2 { Connect::Accept { after_ns: 0 } } else { Connect::Refuse }
        }
        fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
            Answer::ok(0).then(Then::Close)
        }
    }
    let out = Lab::new(closed(1, 3.0)).run(Moody);
    out.check();
    // A round takes 50 + 100 ms of pauses and no more (two slots of the wheel each).
    let rounds = out.status(200);
    assert!((19..=20).contains(&rounds), "{rounds}");
}

#[test]
fn a_refused_request_still_counts_towards_n() {
    let mut draft = closed(2, 1.0);
    (draft.load.duration_ns, draft.load.requests_total) = (None, Some(6));
    let out = Lab::new(draft).run(Gate(|_| Connect::Refuse));
    out.check();
    assert_eq!((out.stopped, out.count(SeriesSum::Finished)), (Stopped::Requests, 6));
}

#[test]
fn users_that_wait_for_a_connection_at_the_stop_leave_a_trace() {
    // The first of three connections is open; the attempts of the others are still pending after a second.
    let out = Lab::new(closed(3, 1.0))
        .run(Gate(|c| if c == 0 { Connect::Accept { after_ns: 0 } } else { Connect::Never }));
    out.check();
    assert_eq!((out.sum(RunSum::ArrivalsNotStarted), out.sum(RunSum::OpenAtEnd)), (2, 1));
    let censored = out.series_hist(SeriesHist::ResponseCensored);
    assert_eq!((censored.count(), censored.max()), (2 + out.sum(RunSum::InFlightAtEnd), Some(S)));
}

#[test]
fn no_answer_to_a_connection_attempt_is_a_connect_time_out() {
    let mut draft = closed(1, 5.0);
    draft.limits.connect_timeout_ns = 200 * MS;
    let out = Lab::new(draft)
        .run(Gate(|c| if c % 2 == 0 { Connect::Never } else { Connect::Accept { after_ns: 0 } }));
    out.check();
    assert_eq!(out.fault(Fault::ConnectTimeout), 1, "then the second connection serves the rest");
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 1 + out.sum(RunSum::InFlightAtEnd));
    assert_eq!(out.series_hist(SeriesHist::ServiceCensored).count(), out.sum(RunSum::InFlightAtEnd));
}

#[test]
fn a_full_descriptor_table_is_this_machines_fault_and_the_request_keeps_its_stamp() {
    for (errno, fault) in [
        (libc::EMFILE, Fault::FdLimit),
        (libc::ENFILE, Fault::FdLimit),
        (libc::EADDRNOTAVAIL, Fault::PortsExhausted),
        (libc::ENOBUFS, Fault::ClientOutOfMemory),
        (libc::EPERM, Fault::ClientSendRefused),
    ] {
        let mut draft = closed(1, 1.0);
        (draft.load.duration_ns, draft.load.requests_total) = (None, Some(5));
        let out = Lab::new(draft)
            .run(Gate(move |c| if c < 2 { Connect::Errno(errno) } else { Connect::Accept { after_ns: 0 } }));
        out.check();
        assert_eq!((out.fault(fault), out.client_faults()), (2, 2));
        // Neither finished nor failed: retried until it was sent.
        assert_eq!((out.count(SeriesSum::Finished), out.count(SeriesSum::Failed)), (5, 0));
        // 50 and 100 ms of pauses are in the first response time, not in its service time.
        let first = out.series_hist(SeriesHist::Response).max().unwrap();
        assert!((160 * MS..165 * MS).contains(&first), "{first}");
        assert_eq!(out.series_hist(SeriesHist::Service).max(), Some(10 * MS));
    }
}

#[test]
fn n_stays_exact_when_the_last_request_waits_for_a_descriptor() {
    // Connections close after every response; every third socket is denied.
    struct Scarce;
    impl Server for Scarce {
        fn connect(&mut self, connection: u64, _now_ns: u64) -> Connect {
            if connection % 3 == 2 { Connect::Errno(libc::EMFILE) } else { Connect::Accept { after_ns: 0 } }
        }
        fn answer(&mut self, a: &SimRequest<'_>) -> Answer {
            Answer::ok((1 + a.total % 5) * MS).then(Then::Close)
        }
    }
    for n in 10..40 {
        for requests in [vec![get("/")], vec![get("/a"), get("/b"), get("/c")]] {
            let mut draft = closed(4, 1.0);
            (draft.load.duration_ns, draft.load.requests_total) = (None, Some(n));
            draft.requests = requests;
            let out = Lab::new(draft).run(Scarce);
            out.check();
            assert_eq!(out.count(SeriesSum::Finished), n);
        }
    }
}

// ---- failures: bad responses ------------------------------------------------------------------------------------

/// Runs one user for 1 s; `answer` responds to each request.
fn each(answer: impl FnMut(&SimRequest<'_>) -> Answer + 'static) -> Outcome {
    let out = Lab::new(closed(1, 1.0)).latency(MS).run(answer);
    out.check();
    out
}

#[test]
fn a_server_that_closes_without_an_answer() {
    let out = each(|_| Answer::silence().piece(10 * MS, b"").then(Then::Close));
    // Connect 2 ms, request and end 12 ms.
    assert_eq!(out.fault(Fault::ClosedBeforeResponse), 71);
    assert_eq!(out.sum(RunSum::ConnOpened), out.count(SeriesSum::Sent));
    assert_eq!(out.count(SeriesSum::Failed), 71);
    assert_eq!(out.series_hist(SeriesHist::Service).count(), 0);
}

#[test]
fn a_server_that_closes_in_the_middle() {
    for part in [&b"HTTP/1.1 200 OK\r\nConte"[..], b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"] {
        let out = each(move |_| Answer::silence().piece(10 * MS, part).then(Then::Close));
        assert_eq!(out.fault(Fault::ClosedMidResponse), 71);
        assert_eq!(out.count(SeriesSum::Failed), 71);
    }
}

#[test]
fn a_reset_on_a_fresh_connection() {
    let out = each(|_| Answer::silence().piece(10 * MS, b"").then(Then::Reset));
    assert_eq!(out.fault(Fault::ConnectionReset), 71);
    let out = each(|_| {
        Answer::silence().piece(10 * MS, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").then(Then::Reset)
    });
    assert_eq!(out.fault(Fault::ConnectionReset), 71);
}

#[test]
fn a_reused_connection_that_ends_before_the_first_byte_is_stale() {
    for then in [Then::Close, Then::Reset] {
        let out = each(move |a| match a.number {
            0 => Answer::ok(10 * MS),
            _ => Answer::silence().then(then),
        });
        assert!(out.fault(Fault::StaleConnection) >= 60);
        assert_eq!(out.fault(Fault::ClosedBeforeResponse) + out.fault(Fault::ConnectionReset), 0);
        assert_eq!(out.hist(RunHist::IdleBeforeClose).count(), out.fault(Fault::StaleConnection));
        assert_eq!(
            out.sum(RunSum::ConnReusedRequests),
            out.count(SeriesSum::Sent) - out.sum(RunSum::ConnOpened)
        );
    }
}

#[test]
fn a_close_after_the_answer_that_crosses_the_next_request_is_stale_too() {
    // The server responds and closes 1 ms later without announcing it; the next request has been sent by then.
    let out = each(|_| Answer::ok(10 * MS).piece(MS, b"").then(Then::Close));
    assert!(out.fault(Fault::StaleConnection) > 30, "{}", out.fault(Fault::StaleConnection));
    assert_eq!(out.count(SeriesSum::Failed), out.fault(Fault::StaleConnection));
}

#[test]
fn answers_that_are_no_http() {
    for bad in [
        &b"SSH-2.0-OpenSSH_9.6\r\n"[..],
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header: 1\r\n\r\n",
    ] {
        let out = each(move |_| Answer::silence().piece(10 * MS, bad));
        assert_eq!(out.fault(Fault::MalformedResponse), 71, "{}", String::from_utf8_lossy(bad));
        assert_eq!(out.sum(RunSum::ClosedAfterError), 71);
    }
}

#[test]
fn unsafe_responses_are_faults() {
    let endless = [&b"HTTP/1.1 200 OK\r\nX: "[..], &[b'x'; 70_000]].concat();
    let lengths = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na".to_vec();
    let both =
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_vec();
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(17);
    for bad in [endless, lengths, both, interim] {
        let out = each(move |_| Answer::silence().piece(10 * MS, &bad));
        assert_eq!(out.fault(Fault::UnsafeResponse), 71);
    }
}

#[test]
fn interim_answers_are_passed_over() {
    let out = each(|_| {
        Answer::silence()
            .piece(2 * MS, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            .piece(8 * MS, b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    assert_eq!((out.status(204), out.count(SeriesSum::Failed)), (83, 0));
    assert_eq!(out.sum(RunSum::ConnOpened), 1);
}

#[test]
fn statuses_outside_200_to_399_are_failed_requests_with_measured_times() {
    let out = each(|a| {
        let line = ["200 OK", "404 Not Found", "302 Found", "500 Oops"][(a.total % 4) as usize];
        Answer::silence().piece(10 * MS, format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n").as_bytes())
    });
    assert_eq!(out.fault(Fault::Status), out.status(404) + out.status(500));
    assert_eq!(out.count(SeriesSum::Failed), out.fault(Fault::Status));
    assert_eq!(out.series_hist(SeriesHist::Service).count(), out.count(SeriesSum::Finished));
    assert_eq!(out.sum(RunSum::ConnOpened), 1);
}

// ---- connections come and go ------------------------------------------------------------------------------------

#[test]
fn connection_close_is_obeyed_without_a_fault() {
    let out = each(|_| {
        Answer::silence()
            .piece(10 * MS, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
            .then(Then::Close)
    });
    assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (71, 0));
    assert_eq!(out.sum(RunSum::ClosedByServer), 71);
    assert_eq!(out.hist(RunHist::ConnRequests).max(), Some(1));
}

#[test]
fn http_10_closes_unless_it_says_otherwise() {
    let out = each(|_| {
        Answer::silence().piece(10 * MS, b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok").then(Then::Close)
    });
    assert_eq!((out.status(200), out.sum(RunSum::ClosedByServer)), (71, 71));
    let out = each(|_| {
        Answer::silence()
            .piece(10 * MS, b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
    });
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (83, 1));
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let out = each(|_| {
        Answer::silence()
            .piece(5 * MS, b"HTTP/1.1 200 OK\r\n\r\nsome")
            .piece(5 * MS, b" body")
            .then(Then::Close)
    });
    assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (71, 0));
    assert_eq!(out.count(SeriesSum::BodyBytes), 71 * 9);
}

#[test]
fn an_answer_and_its_end_in_one_event_are_taken_together() {
    // Data and FIN at the same time, with a length: there will be no later edge for the FIN.
    let out = each(|_| Answer::ok(10 * MS).then(Then::Close));
    assert_eq!(out.fault(Fault::StaleConnection), 0);
    assert_eq!((out.status(200), out.sum(RunSum::ClosedByServer)), (71, 71));
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let mut draft = closed(3, 1.0);
    draft.keep_alive = Some(false);
    let out = Lab::new(draft).latency(MS).run(|a: &SimRequest<'_>| {
        assert!(String::from_utf8_lossy(a.bytes).to_ascii_lowercase().contains("connection: close"));
        Answer::ok(10 * MS)
    });
    out.check();
    assert_eq!(out.status(200), 3 * 71);
    assert_eq!(out.sum(RunSum::ClosedByClient), 3 * 71);
    assert_eq!(out.sum(RunSum::ConnReusedRequests), 0);
    assert_eq!(out.calls.open_max, 3);
}

#[test]
fn a_server_that_speaks_first_and_stays_is_heard() {
    // It responds on every connection before any request: the greeting is the response to the request just sent.
    struct Eager(bool);
    impl Server for Eager {
        fn connect(&mut self, _: u64, _: u64) -> Connect {
            Connect::Greet {
                bytes: b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                close: self.0,
            }
        }
        fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
            Answer::silence()
        }
    }
    for close in [false, true] {
        let out = Lab::new(closed(1, 1.0)).latency(MS).run(Eager(close));
        out.check();
        assert!(out.status(503) >= 400, "{} responses received", out.status(503));
        assert_eq!(out.fault(Fault::Timeout), 0);
    }
}

#[test]
fn a_server_that_closes_at_once_is_noticed_at_once() {
    struct Slam;
    impl Server for Slam {
        fn connect(&mut self, _: u64, _: u64) -> Connect {
            Connect::Greet { bytes: b"", close: true }
        }
        fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
            Answer::silence()
        }
    }
    let out = Lab::new(closed(1, 1.0)).latency(MS).run(Slam);
    out.check();
    assert_eq!(out.fault(Fault::ClosedBeforeResponse), out.count(SeriesSum::Finished));
    assert!(out.count(SeriesSum::Finished) >= 400, "{}", out.count(SeriesSum::Finished));
}

// ---- bodies -----------------------------------------------------------------------------------------------------

/// A body of `bytes` in pieces of `piece`, each 1 ms after the previous one.
fn body(bytes: usize, piece: usize) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
    let mut answer = Answer::silence().piece(5 * MS, head.as_bytes());
    let mut left = bytes;
    while left > 0 {
        let n = left.min(piece);
        answer = answer.piece(MS, &vec![b'x'; n]);
        left -= n;
    }
    answer
}

#[test]
fn a_large_body_is_thrown_away_unseen_and_counted_whole() {
    for bytes in [1usize, 2_000, 131_071, 131_072, 700_000, 5_000_000] {
        for read in [false, true] {
            let mut draft = closed(1, 3.0);
            draft.read_bodies = Some(read);
            (draft.load.duration_ns, draft.load.requests_total) = (None, Some(20));
            let out = Lab::new(draft).latency(MS).run(move |_: &SimRequest<'_>| body(bytes, 100_000));
            out.check();
            assert_eq!(out.status(200), 20);
            assert_eq!(out.count(SeriesSum::BodyBytes), 20 * bytes as u64);
            assert_eq!(out.series_hist(SeriesHist::BodySize).max(), Some(bytes as u64));
            assert_eq!(out.sum(RunSum::ConnOpened), 1);
            let pieces = bytes.div_ceil(100_000) as u64;
            assert_eq!(out.series_hist(SeriesHist::Service).max(), Some((7 + pieces) * MS));
            if read {
                assert_eq!(out.calls.discard, 0);
            } else if bytes >= 700_000 {
                // Fewer times than there are pieces: the low-water mark lets them accumulate.
                assert!(out.calls.discard <= 20 * (2 + bytes as u64 / 1_000_000), "{:?}", out.calls);
            }
        }
    }
}

#[test]
fn a_large_body_that_is_cut_off_is_a_fault_and_not_a_hang() {
    let out = each(|_| {
        Answer::silence()
            .piece(5 * MS, b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
            .piece(MS, &[b'x'; 300_000])
            .then(Then::Close)
    });
    assert_eq!(out.fault(Fault::ClosedMidResponse), 1_000 / 10);
}

#[test]
fn chunked_bodies_count_their_payload() {
    let out = each(|_| {
        Answer::silence()
            .piece(5 * MS, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
            .piece(5 * MS, b"lo\r\n0\r\n\r\n")
    });
    assert_eq!(out.status(200), 83);
    assert_eq!(out.count(SeriesSum::BodyBytes), 83 * 5);
}

#[test]
fn an_answer_to_head_has_no_body_whatever_its_length_says() {
    let mut draft = closed(1, 1.0);
    draft.requests = vec![request("HEAD", "/", None)];
    let out = Lab::new(draft).run(|_: &SimRequest<'_>| {
        Answer::silence().piece(10 * MS, b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
    });
    out.check();
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (100, 1));
    assert_eq!(out.count(SeriesSum::BodyBytes), 0);
}

#[test]
fn a_request_that_the_kernel_takes_in_pieces_arrives_whole_and_its_stall_is_known() {
    let mut draft = closed(1, 1.0);
    let post: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
    draft.requests = vec![request("POST", "/", Some(post.clone()))];
    let mut lab = Lab::new(draft).latency(MS);
    lab.nature.send_window = 30_000;
    let out = lab.run(move |a: &SimRequest<'_>| {
        assert!(a.bytes.ends_with(&post));
        Answer::ok(MS)
    });
    out.check();
    assert_eq!(out.fault(Fault::Timeout), 0);
    assert!(out.status(200) >= 100);
    // Three more round trips of 2 ms each until the last byte was taken.
    let stall = out.hist(RunHist::SendBlocked);
    assert_eq!((stall.count(), stall.max()), (out.count(SeriesSum::Sent), Some(6 * MS)));
}

#[test]
fn an_answer_before_the_whole_request_was_taken_ends_it_and_the_connection() {
    // The server refuses a large upload at its head and stays open: the rest of the body must not be sent.
    let mut draft = closed(1, 1.0);
    draft.requests = vec![request("POST", "/", Some(vec![b'x'; 100_000]))];
    let mut lab = Lab::new(draft).latency(MS);
    lab.nature.send_window = 30_000;
    struct TooLarge;
    impl Server for TooLarge {
        fn connect(&mut self, _: u64, _: u64) -> Connect {
            Connect::Greet { bytes: b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", close: false }
        }
        fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
            Answer::ok(0)
        }
    }
    let out = lab.run(TooLarge);
    out.check();
    assert_eq!(out.status(413), out.count(SeriesSum::Finished));
    assert_eq!(out.sum(RunSum::ConnOpened), out.count(SeriesSum::Sent));
}
