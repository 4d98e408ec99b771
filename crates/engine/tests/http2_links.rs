//! HTTP/2: connections that several users wait for and that cannot be opened, addresses, and users that leave.

use crate::http2::{by_connection, reuse, timeout, total};
use crate::support::actors::{diary, step};
use crate::support::frames::{self, goaway, peer, rst, says};
use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Then};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::Reuse;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};
use plimsoll_plan::{Draft, Fault};
use std::net::SocketAddr;

const OPEN: Connect = Connect::Accept { after_ns: 0 };

#[test]
fn a_refused_connection_fails_each_waiting_request_once_and_pauses_once() {
    let server = peer(|asked| asked.ok(10 * MS)).connects(|n| if n < 2 { Connect::Refuse } else { OPEN });
    let out = Lab::http2(total(100, 20), 20).latency(MS).run(server);
    out.check();
    assert_eq!((out.faults(), out.status(200)), (vec![(Fault::ConnectionRefused, 40)], 60));
    // Pauses of 50 and 100 ms, for all users together, however many of them have waited.
    assert_eq!(out.sum(RunSum::ConnAttempts), 3);
    assert!((150 * MS..250 * MS).contains(&out.elapsed_ns), "{}", out.elapsed_ns);
}

#[test]
fn a_server_that_never_accepts_fails_each_user_at_the_connect_timeout() {
    let server = peer(|asked| asked.ok(10 * MS)).connects(|_| Connect::Never);
    let mut draft = closed(10, 5.0);
    draft.limits.connect_timeout_ns = S;
    let out = Lab::http2(draft, 5).run(server);
    out.check();
    let attempts = out.sum(RunSum::ConnAttempts);
    assert!((6..=10).contains(&attempts), "{attempts}");
    // The last attempts are still in progress at the end.
    assert_eq!(out.faults(), vec![(Fault::ConnectTimeout, 5 * (attempts - 2))]);
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 10);
}

#[test]
fn arrivals_at_a_server_that_refuses_fail_without_a_tight_loop() {
    for requests in [vec![get("/")], vec![get("/a"), get("/b")]] {
        for connect in
            [Connect::Refuse, Connect::Errno(libc::ECONNREFUSED), Connect::Errno(libc::ENETUNREACH)]
        {
            let draft = open(100.0, 0.995);
            let load = LoadDraft { max_connections: Some(2), ..draft.load };
            let draft = Draft { load, requests: requests.clone(), ..draft };
            let server = peer(|asked| asked.ok(10 * MS)).connects(move |_| connect);
            let out = Lab::http2(draft, 10).latency(MS).run(server);
            out.check();
            let failed = out.fault(Fault::ConnectionRefused) + out.fault(Fault::HostUnreachable);
            assert_eq!((out.sum(RunSum::Arrivals), out.count(SeriesSum::Sent)), (100, 0));
            assert_eq!(failed, 100 * requests.len() as u64, "{connect:?}");
            assert!(out.calls.open <= failed);
        }
    }
}

#[test]
fn a_full_descriptor_table_sends_requests_back_with_their_intended_start() {
    for requests in [vec![get("/")], vec![get("/a"), get("/b"), get("/c")]] {
        let count = |n| if n < 2 { Connect::Errno(libc::EMFILE) } else { OPEN };
        let draft = Draft { requests: requests.clone(), ..total(60, 10) };
        let out = Lab::http2(draft, 10).run(peer(|asked| asked.ok(10 * MS)).connects(count));
        out.check();
        // The first two users try and pause for 50 and 100 ms; the third one opens the connection for all.
        assert_eq!((out.status(200), out.faults()), (60, vec![(Fault::FdLimit, 2)]));
        assert_eq!((out.sum(RunSum::ConnAttempts), out.sum(RunSum::ConnOpened)), (3, 1));
        assert_eq!(out.longest(SeriesHist::Service) / MS, 10);
        if requests.len() == 1 {
            // The second user's, after its pause.
            assert!((110 * MS..115 * MS).contains(&out.longest(SeriesHist::Response)));
        }

        let draft = open(100.0, 0.995);
        let draft = Draft { load: LoadDraft { max_connections: Some(1), ..draft.load }, requests, ..draft };
        let server = peer(|asked| asked.ok(MS)).connects(count);
        let out = Lab::http2(draft, 10).run(server);
        out.check();
        let each = out.status(200) / out.all.series.len() as u64;
        assert_eq!((each, out.sum(RunSum::Arrivals)), (100, 100));
        assert_eq!(out.sum(RunSum::ConnOpened), 1);
    }
}

#[test]
fn requests_sent_again_that_find_no_connection_fail_once() {
    // The first connection processes one of four requests; then the server is gone.
    let server = peer(|asked| match asked.number {
        0 => asked.ok(10 * MS),
        3 => says().at(MS, goaway(1, 0)),
        _ => says(),
    });
    let server = server.connects(|n| if n == 0 { OPEN } else { Connect::Refuse });
    let out = Lab::http2(total(4, 4), 4).run(server);
    assert_eq!((out.status(200), out.faults()), (1, vec![(Fault::ConnectionRefused, 3)]));
    assert_eq!((out.count(SeriesSum::Sent), out.count(SeriesSum::Ended)), (4, 4));
    assert_eq!((out.count(SeriesSum::Finished), out.sum(RunSum::InFlightAtEnd)), (4, 0));
}

#[test]
fn requests_sent_again_that_wait_at_the_end_are_in_flight() {
    let server = peer(|asked| match asked.number {
        3 => says().at(MS, goaway(1, 0)),
        _ => says(),
    });
    let server = server.connects(|n| if n == 0 { OPEN } else { Connect::Never });
    let out = Lab::http2(closed(4, 0.5), 4).run(server);
    out.check();
    assert_eq!((out.count(SeriesSum::Sent), out.sum(RunSum::InFlightAtEnd)), (4, 4));
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 0);
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 4);
}

#[test]
fn a_connection_that_hangs_is_noticed_while_others_are_refused_and_opened_again() {
    // Of three connections, two are refused again and again without a pause: arrivals do not pause.
    let server =
        peer(|asked| asked.ok(MS)).connects(|n| if n == 2 { Connect::Never } else { Connect::Refuse });
    let draft = open(300.0, 2.0);
    let load = LoadDraft { max_connections: Some(3), ..draft.load };
    let mut draft = Draft { load, requests: vec![get("/a"), get("/b"), get("/c")], ..draft };
    draft.limits.connect_timeout_ns = 500 * MS;
    let out = Lab::http2(draft, 4).latency(MS).run(server);
    out.check();
    let hung = out.fault(Fault::ConnectTimeout);
    assert!(hung > 0);
    assert!(out.longest(SeriesHist::ResponseCensored) < 520 * MS || out.sum(RunSum::ArrivalsNotStarted) > 0);
}

fn addresses() -> Vec<SocketAddr> {
    (1..4).map(|i| SocketAddr::from(([127, 0, 0, i], 8080))).collect()
}

#[test]
fn each_address_counts_what_was_sent_to_it() {
    let server = peer(|asked| match (asked.connection, asked.number % 20) {
        (0, 19) => says().at(MS, goaway(asked.stream - 4, 0)),
        (0, 18) => says(),
        _ => asked.ok(10 * MS),
    });
    let record = server.record();
    let mut lab = Lab::http2(total(300, 9), 3);
    lab.addresses = addresses();
    let out = lab.latency(MS).run(server);
    out.check();
    let again = out.sum(RunSum::RequestsUnprocessed);
    assert_eq!((out.status(200), again >= 2), (300, true));
    let counts = by_connection(&record.borrow());
    let sums = |id: SeriesSum| -> Vec<u64> { out.addresses.iter().map(|a| a.sums[id.id()]).collect() };
    assert_eq!(sums(SeriesSum::Sent), sums(SeriesSum::Ended));
    assert_eq!(sums(SeriesSum::Sent).iter().sum::<u64>(), 300 + again);
    assert_eq!(counts.values().sum::<usize>() as u64, 300 + again);
    assert_eq!(sums(SeriesSum::Finished).iter().sum::<u64>(), 300);
}

#[test]
fn users_that_leave_close_a_connection_only_if_no_other_needs_it() {
    // Users rest about 50 ms after each request; half of them leave after 1 s.
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Discard),
        Wake::Reply(_) => scene.out.rest(50 * MS + u64::from(scene.slot.user) * 3 * MS),
        _ => {}
    });
    let mut draft = draft();
    draft.load.stages = stages(false, &[(0.0, 8.0), (1.0, 8.0), (0.0, 4.0), (1.0, 4.0)]);
    let server = peer(|asked| asked.ok(MS));
    let out = Lab::http2(draft, 4).factory(factory).run(server);
    out.check();
    // Adjacent users have different connections, so both are still in use.
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByClient)), (2, 0));

    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Discard),
        Wake::Reply(_) => scene.out.rest(50 * MS + u64::from(scene.slot.user) * 3 * MS),
        _ => {}
    });
    let mut draft = self::draft();
    draft.load.stages = stages(false, &[(0.0, 8.0), (1.0, 8.0), (0.0, 1.0), (1.0, 1.0)]);
    let out = Lab::http2(draft, 4).factory(factory).run(peer(|asked| asked.ok(MS)));
    out.check();
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByClient)), (2, 1));
}

#[test]
fn links_that_were_replaced_are_used_again_by_one_user_group_each() {
    // Each connection goes away after 30 requests, some streams are refused, some connections die or cannot be opened:
    // after a long time, there are no more connections at once than the plan has, or those that drain.
    for (reused, streams) in [(Reuse::User, 5), (Reuse::Pool, 5)] {
        let server = peer(|asked| match asked.number {
            20 => says().at(MS, rst(asked.stream, frames::REFUSED)),
            25 if asked.connection % 5 == 3 => says().then(Then::Reset),
            30 => asked.ok(3 * MS).at(MS, goaway(asked.stream, 0)),
            _ => asked.ok((1 + asked.total % 9) * MS),
        });
        let server = server.connects(|n| if n % 7 == 6 { Connect::Refuse } else { OPEN });
        let out =
            Lab::http2(timeout(S, reuse(reused, closed(20, 20.0))), streams).latency(100 * US).run(server);
        // Some were sent, not processed, and then found no connection: `check` would count them as not sent.
        assert_eq!(out.count(SeriesSum::Sent), out.count(SeriesSum::Ended) + out.sum(RunSum::InFlightAtEnd));
        let faults: u64 = out.faults().iter().map(|(_, n)| n).sum();
        assert_eq!(out.count(SeriesSum::Finished), out.status(200) + faults);
        assert_eq!(out.calls.open_now, 0);
        assert_eq!(out.fault(Fault::Timeout), 0, "{reused:?}: nothing is forgotten");
        assert!(out.calls.open_max <= 9, "{reused:?}: {} connections at once", out.calls.open_max);
        assert!(out.status(200) > 30_000, "{reused:?}: {}", out.status(200));
        assert!(out.sum(RunSum::InFlightAtEnd) <= 20);
    }
}

#[test]
fn a_pool_of_connections_with_one_stream_each_keeps_count_of_them() {
    // A response and an end in one segment: the next request is begun and must move.
    let server =
        peer(|asked| asked.ok(2 * MS).then(if asked.number % 3 == 2 { Then::Close } else { Then::Stay }));
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            (0..3).for_each(|id| scene.render(step(id, 0, BodyUse::Discard), "/"));
        }
    });
    let out = Lab::http2(reuse(Reuse::Pool, closed(2, 5.0)), 1).factory(factory).run(server);
    out.check();
    assert_eq!(out.count(SeriesSum::Failed), 0, "{:?}", out.faults());
    assert!(out.calls.open_max <= 7, "{}", out.calls.open_max);
}
