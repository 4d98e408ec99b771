//! HTTP/2: requests counted exactly, users that share connections, and the server's limits.

use crate::support::frames::{self, Record, peer, says, settings};
use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Then};
use plimsoll_engine::{Command, Stopped};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::{Link, Reuse};
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::{Draft, Fault};
use std::collections::BTreeMap;

/// A draft of this many requests by users that each wait for their responses.
pub fn total(requests: u64, users: u32) -> Draft {
    let draft = closed(users, 100.0);
    Draft { load: LoadDraft { requests_total: Some(requests), ..draft.load }, ..draft }
}

pub fn reuse(reuse: Reuse, draft: Draft) -> Draft {
    Draft { link: Link { reuse, ..draft.link }, ..draft }
}

pub fn timeout(timeout_ns: u64, mut draft: Draft) -> Draft {
    draft.timeout_ns = Some(timeout_ns);
    draft
}

/// Returns how many requests each connection carried.
pub fn by_connection(record: &Record) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    record.asked.iter().for_each(|asked| *counts.entry(asked.connection).or_default() += 1);
    counts
}

#[test]
fn one_user_sends_its_requests_one_by_one_on_one_connection() {
    let server = peer(|asked| asked.ok(10 * MS));
    let record = server.record();
    let out = Lab::http2(total(100, 1), 1).latency(MS).run(server);
    out.check();
    assert_eq!(out.stopped, Stopped::Requests);
    assert_eq!(
        (out.count(SeriesSum::Sent), out.count(SeriesSum::Finished), out.status(200)),
        (100, 100, 100)
    );
    assert_eq!((out.sum(RunSum::ConnAttempts), out.sum(RunSum::ConnOpened)), (1, 1));
    assert_eq!((out.sum(RunSum::ConnReusedRequests), out.sum(RunSum::OpenAtEnd)), (99, 1));
    let (least, most) = (out.shortest(SeriesHist::Service), out.longest(SeriesHist::Service));
    assert_eq!((least / MS, most / MS), (12, 12));
    let record = record.borrow();
    assert_eq!((record.asked.len(), record.most), (100, 1));
    assert_eq!(record.asked[99].stream, 199);
    assert_eq!(record.asked[0].get(":scheme"), "http");
    assert_eq!(record.asked[0].get(":authority"), "127.0.0.1:8080");
    assert_eq!(out.peak(RunPeak::InFlight), 1);
}

#[test]
fn users_share_connections_and_their_number_is_exact() {
    for (users, streams, links) in [(10, 10, 1), (11, 10, 2), (100, 10, 10), (30, 100, 1), (7, 1, 7)] {
        let server = peer(|asked| asked.ok((1 + asked.total % 7) * MS));
        let record = server.record();
        let out = Lab::http2(total(1_000, users), streams).latency(100 * US).run(server);
        out.check();
        assert_eq!((out.count(SeriesSum::Sent), out.status(200)), (1_000, 1_000), "{users} x {streams}");
        assert_eq!(out.sum(RunSum::ConnOpened), links);
        let record = record.borrow();
        assert_eq!(by_connection(&record).len() as u64, links);
        assert!(record.most as u32 <= streams, "{} streams", record.most);
        assert_eq!(out.peak(RunPeak::InFlight), u64::from(users));
        let bytes: usize = record.asked.len();
        assert_eq!((bytes, out.count(SeriesSum::BodyBytes)), (1_000, 2_000));
        assert_eq!(out.client_faults(), 0);
    }
}

#[test]
fn until_the_settings_arrive_one_request_is_on_a_connection() {
    let greeting = says().at(50 * MS, settings(&[]));
    let server = peer(|asked| asked.ok(200 * MS)).greeting(greeting);
    let record = server.record();
    let out = Lab::http2(total(10, 10), 10).run(server);
    out.check();
    let record = record.borrow();
    assert_eq!(record.asked[0].now_ns, BEGIN_NS);
    let others: Vec<u64> = record.asked[1..].iter().map(|asked| asked.now_ns - BEGIN_NS).collect();
    assert_eq!(others, [50 * MS; 9]);
    // They wait from their intended start.
    assert_eq!(out.longest(SeriesHist::Response) / MS, 250);
    assert_eq!(out.longest(SeriesHist::Service) / MS, 200);
    assert_eq!(out.sum(RunSum::StreamWaits), 0, "the server has set no limit");
}

#[test]
fn a_server_with_fewer_streams_makes_requests_wait_and_refuses_none() {
    let server = peer(|asked| asked.ok(10 * MS)).streams(3);
    let record = server.record();
    let out = Lab::http2(total(100, 10), 10).latency(MS).run(server);
    out.check();
    assert_eq!((out.status(200), record.borrow().most), (100, 3));
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::RequestsUnprocessed)), (1, 0));
    // One went before the settings and two with them; each of the other 97 waited for the end of another.
    assert_eq!(out.sum(RunSum::StreamWaits), 97);
    // 33 rounds of three, and the first request.
    assert_eq!(out.count(SeriesSum::Finished), 100);
}

#[test]
fn a_limit_that_grows_and_shrinks_is_kept_at_every_moment() {
    let server = peer(|asked| match asked.total {
        // A shrinking limit holds for what begins later.
        20 => asked.ok(5 * MS).at(0, settings(&[(3, 1)])),
        40 => asked.ok(5 * MS).at(0, settings(&[(3, 8)])),
        _ => asked.ok(5 * MS),
    });
    let record = server.record();
    let out = Lab::http2(total(100, 8), 8).run(server.streams(4));
    out.check();
    assert_eq!(out.status(200), 100);
    let record = record.borrow();
    let most = |range: std::ops::Range<usize>| record.asked[range].iter().map(|a| a.others + 1).max();
    assert_eq!(most(0..20), Some(4));
    assert_eq!(most(26..40), Some(1));
    assert_eq!(most(60..100), Some(8));
}

#[test]
fn the_open_model_sends_each_arrival_at_its_time_on_the_streams_of_its_connections() {
    let draft = open(1_000.0, 1.9995);
    let draft = Draft { load: LoadDraft { max_connections: Some(4), ..draft.load }, ..draft };
    let server = peer(|asked| asked.ok(20 * MS));
    let record = server.record();
    let out = Lab::http2(draft, 25).latency(100 * US).run(server);
    out.check_arrivals();
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::ArrivalsNotStarted)), (2_000, 0));
    assert!(out.sum(RunSum::ConnOpened) <= 4, "{}", out.sum(RunSum::ConnOpened));
    assert!(
        out.hist(RunHist::ScheduleLag).max().unwrap_or(0) < 2,
        "{}",
        out.hist(RunHist::ScheduleLag).max().unwrap_or(0)
    );
    assert_eq!(out.sum(RunSum::InFlightAtEnd) + out.status(200), 2_000);
    assert!(out.longest(SeriesHist::Response) < 22 * MS, "no arrival waited after the first");
    assert!(record.borrow().most <= 25);
}

#[test]
fn arrivals_that_find_no_stream_wait_with_their_intended_start() {
    // Two streams of 100 ms serve 20/s of 100/s.
    let draft = open(100.0, 0.995);
    let draft = Draft { load: LoadDraft { max_connections: Some(1), ..draft.load }, ..draft };
    let out = Lab::http2(draft, 2).run(peer(|asked| asked.ok(100 * MS)));
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::Arrivals), 100);
    assert_eq!(out.count(SeriesSum::Sent), 20);
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 80);
    assert!(out.longest(SeriesHist::Response) > 700 * MS);
    assert_eq!(out.longest(SeriesHist::Service) / MS, 100);
}

#[test]
fn at_the_end_the_streams_in_flight_are_lower_bounds() {
    let draft = closed(10, 1.0);
    let out =
        Lab::http2(draft, 10).run(peer(|asked| asked.ok(if asked.total < 30 { 100 * MS } else { 10 * S })));
    out.check();
    assert_eq!((out.sum(RunSum::InFlightAtEnd), out.status(200)), (10, 30));
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 10);
    assert_eq!(out.shortest(SeriesHist::ServiceCensored) / MS, 700);
    assert_eq!(out.calls.open_now, 0);
}

#[test]
fn a_graceful_stop_waits_for_the_streams_in_flight() {
    let mut draft = closed(10, 1.0);
    draft.graceful_stop_ns = Some(5 * S);
    let out = Lab::http2(draft, 10).run(peer(|asked| asked.ok(300 * MS)));
    out.check();
    assert_eq!((out.sum(RunSum::InFlightAtEnd), out.status(200)), (0, 40));
    assert_eq!(out.elapsed_ns / MS, 1_200);
}

#[test]
fn a_pause_stops_the_streams_and_a_resume_continues_them() {
    let server = peer(|asked| asked.ok(10 * MS));
    let record = server.record();
    let lab = Lab::http2(closed(10, 1.0), 10);
    let out = lab.command(200 * MS, Command::Pause).command(700 * MS, Command::Resume).run(server);
    out.check();
    let at: Vec<u64> = record.borrow().asked.iter().map(|asked| (asked.now_ns - BEGIN_NS) / MS).collect();
    assert!(at.iter().all(|at| *at <= 201 || *at >= 700), "{at:?}");
    assert!(at.iter().any(|at| *at >= 700));
    assert_eq!(out.sum(RunSum::ConnOpened), 1, "the connection outlives the pause");
}

#[test]
fn a_reply_that_splits_frames_anywhere_means_the_same() {
    let server = peer(|asked| {
        let bytes = [
            frames::head(asked.stream, 103, &[("link", "</a>")], false),
            frames::head(asked.stream, 200, &[("content-length", "6")], false),
            frames::data(asked.stream, b"abc", false),
            frames::data(asked.stream, b"def", false),
            frames::trailers(asked.stream, &[("x-sum", "1")]),
        ]
        .concat();
        bytes.iter().fold(says(), |says, byte| says.at(0, vec![*byte]))
    });
    let out = Lab::http2(total(20, 2), 1).run(server);
    out.check();
    assert_eq!((out.status(200), out.count(SeriesSum::BodyBytes)), (20, 120));
}

#[test]
fn connections_serve_as_many_requests_as_the_plan_allows() {
    for (users, streams, most) in [(1, 1, 5), (10, 10, 5), (10, 10, 1), (4, 2, 7)] {
        let mut draft = total(100, users);
        draft.link.requests_per_connection = Some(most);
        let server = peer(|asked| asked.ok(10 * MS));
        let record = server.record();
        let out = Lab::http2(draft, streams).latency(MS).run(server);
        out.check();
        assert_eq!(out.status(200), 100);
        let record = record.borrow();
        let counts = by_connection(&record);
        assert!(counts.values().all(|count| *count <= most as usize), "{counts:?}");
        assert!(counts.len() <= 100 / most as usize + (users / streams) as usize, "{counts:?}");
        let gone = out.sum(RunSum::ClosedByClient);
        assert!(gone >= 100 / u64::from(most) - u64::from(users / streams), "{gone}");
        // The server hears of each planned close.
        let heard = record.count(frames::GOAWAY) as u64;
        assert!((gone - 1..=gone).contains(&heard), "{heard} of {gone}: the last is on its way at the end");
    }
}

#[test]
fn without_reuse_each_request_has_its_connection() {
    let draft = reuse(Reuse::Request, total(50, 3));
    let server = peer(|asked| asked.ok(10 * MS));
    let record = server.record();
    let out = Lab::http2(draft, 1).run(server);
    out.check();
    assert_eq!((out.status(200), out.sum(RunSum::ConnOpened)), (50, 50));
    assert!(by_connection(&record.borrow()).values().all(|count| *count == 1));
    assert_eq!(out.calls.open_max, 3, "no more at once than users");
}

#[test]
fn a_pool_shares_connections_up_to_their_streams() {
    let draft = open(100.0, 0.995);
    let draft = Draft { load: LoadDraft { max_connections: Some(10), ..draft.load }, ..draft };
    // Six at once: two connections of four.
    let server = peer(|asked| asked.ok(55 * MS));
    let record = server.record();
    let out = Lab::http2(reuse(Reuse::Pool, draft), 4).run(server);
    out.check_arrivals();
    assert_eq!((out.count(SeriesSum::Sent), out.sum(RunSum::ConnOpened)), (100, 2));
    assert!(record.borrow().most <= 4);
}

#[test]
fn a_pool_of_connections_that_come_and_go_loses_and_repeats_nothing() {
    for streams in [1, 3] {
        let draft = open(500.0, 1.999);
        let draft = Draft { load: LoadDraft { max_connections: Some(50), ..draft.load }, ..draft };
        let server = peer(|asked| match asked.total % 7 {
            0 => asked.ok(MS).at(MS, frames::goaway(asked.stream, frames::NO_ERROR)),
            1 => asked.ok(40 * MS),
            2 => says().then(Then::Reset),
            3 => says().at(MS, frames::rst(asked.stream, frames::REFUSED)),
            4 => asked.ok(2 * MS).then(Then::Close),
            _ => asked.ok(3 * MS),
        });
        let record = server.record();
        let out = Lab::http2(reuse(Reuse::Pool, draft), streams).latency(100 * US).run(server);
        out.check_arrivals();
        assert_eq!(out.sum(RunSum::Arrivals), 1_000);
        // Each was sent once, or again because it was not processed.
        let again = out.sum(RunSum::RequestsUnprocessed);
        assert!(again > 0);
        assert!(record.borrow().asked.len() as u64 <= 1_000 + again, "{}", record.borrow().asked.len());
        assert_eq!(out.fault(Fault::Timeout), 0, "nothing waits forever");
        assert_eq!(out.sum(RunSum::ArrivalsQueued), 0);
    }
}

#[test]
fn a_connection_that_is_slow_to_open_delays_all_its_users_and_opens_once() {
    let server = peer(|asked| asked.ok(10 * MS)).connects(|_| Connect::Accept { after_ns: 500 * MS });
    let out = Lab::http2(total(40, 20), 20).run(server);
    out.check();
    assert_eq!((out.sum(RunSum::ConnAttempts), out.status(200)), (1, 40));
    assert_eq!(out.longest(SeriesHist::Response) / MS, 510);
    assert_eq!(out.longest(SeriesHist::Service) / MS, 10);
}
