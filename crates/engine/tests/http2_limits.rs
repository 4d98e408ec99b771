//! HTTP/2: the load generator's own limits, requests that wait for a stream of a server with few, and redirects.

use crate::http2::{timeout, total};
use crate::support::actors::diary;
use crate::support::frames::{data, head, peer, says, settings, trailers};
use crate::support::*;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::failure_example::REDIRECT;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Step, Wake};
use plimsoll_plan::{Draft, Fault};

#[test]
fn a_limit_below_its_default_is_the_load_generators_own() {
    for limit in ["head_bytes=20", "headers=1", "informational=0", "trailer_bytes=2"] {
        let run = |is_lowered: bool| {
            let mut draft = total(5, 1);
            if is_lowered {
                let (name, value) = limit.split_once('=').unwrap();
                draft.limits.set(name, value).unwrap();
            }
            let server = peer(|asked| {
                let stream = asked.stream;
                let all = [
                    head(stream, 103, &[], false),
                    head(stream, 200, &[("a", "1"), ("b", "2")], false),
                    data(stream, b"ok", false),
                    trailers(stream, &[("sum", "long enough")]),
                ];
                says().at(MS, all.concat())
            });
            Lab::http2(draft, 1).run(server)
        };
        let out = run(true);
        assert_eq!(
            (out.faults(), out.count(SeriesSum::Failed)),
            (vec![(Fault::ClientLimit, 5)], 0),
            "{limit}"
        );
        let (name, _) = limit.split_once('=').unwrap();
        assert!(out.samples[0].observed.contains(&format!("`{name}`")), "{}", out.samples[0].observed);
        assert_eq!(out.sum(RunSum::ConnOpened), 1, "{limit}: the connection lives on");
        assert_eq!((run(false).status(200), run(false).faults()), (5, vec![]), "{limit}");
    }
}

/// Four users on one connection keep a body of 1 MB each.
fn keeping(total_bytes: u64, body_bytes: u64) -> Outcome {
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => {
            scene.out.push(Step { id: 1, body: BodyUse::Keep, judged: true, ..Step::default() });
        }
        Wake::Reply(reply) => {
            assert!(reply.body.iter().all(|b| *b == b'x'), "no holes");
            if (reply.body.len() as u64) < reply.body_bytes {
                scene.out.fail(Fault::ClientLimit);
            }
        }
        other => unreachable!("{other:?}"),
    });
    let mut draft = total(40, 4);
    draft.limits.kept_total_bytes = total_bytes;
    draft.limits.kept_body_bytes = body_bytes;
    let out = Lab::http2(draft, 4).factory(factory).run(peer(|asked| {
        let first = says().at(MS, head(asked.stream, 200, &[], false));
        (1..=10).fold(first, |says, n| says.at((1 + n) * MS, data(asked.stream, &[b'x'; 100_000], n == 10)))
    }));
    assert_eq!((out.status(200), out.count(SeriesSum::Failed)), (40, 0), "the responses were complete");
    out
}

#[test]
fn kept_bodies_are_bounded_alone_and_together() {
    assert_eq!(keeping(16_000_000, 16_000_000).client_faults(), 0);
    let short = keeping(2_500_000, 16_000_000);
    assert!((1..=40).contains(&short.fault(Fault::ClientOutOfMemory)), "{:?}", short.faults());
    assert_eq!(keeping(0, 500_000).faults(), vec![(Fault::ClientLimit, 40)]);
}

#[test]
fn the_target_of_redirects_is_noted_once() {
    let server =
        peer(|asked| says().at(MS, head(asked.stream, 302, &[("location", "/login?token=secret")], true)));
    let out = Lab::http2(total(20, 4), 4).run(server);
    out.check();
    let noted: Vec<&String> =
        out.samples.iter().filter(|sample| sample.check == REDIRECT).map(|sample| &sample.observed).collect();
    assert_eq!((out.status(302), noted.len()), (20, 1), "{noted:?}");
    assert!(noted[0].starts_with("/login"), "{noted:?}");
}

#[test]
fn a_head_request_has_no_body_for_any_length() {
    let draft = Draft { requests: vec![request("HEAD", "/", None)], ..total(20, 2) };
    let server = peer(|asked| says().at(MS, head(asked.stream, 200, &[("content-length", "1000")], true)));
    let out = Lab::http2(draft, 2).run(server);
    out.check();
    assert_eq!((out.status(200), out.count(SeriesSum::BodyBytes)), (20, 0));
}

#[test]
fn arrivals_that_wait_for_a_stream_of_a_server_with_few_are_accounted_for() {
    // Two streams of 100 ms serve 20/s of 200/s; ten users wait on the connection, all others in the queue.
    let draft = open(200.0, 0.9975);
    let draft = Draft { load: LoadDraft { max_connections: Some(1), ..draft.load }, ..draft };
    let out = Lab::http2(draft, 10).run(peer(|asked| asked.ok(100 * MS)).streams(2));
    out.check_arrivals();
    assert_eq!((out.sum(RunSum::Arrivals), out.count(SeriesSum::Sent)), (200, 20));
    assert_eq!((out.sum(RunSum::ArrivalsNotStarted), out.sum(RunSum::InFlightAtEnd)), (180, 2));
    // Each of those that did not go out at once.
    assert_eq!(out.sum(RunSum::StreamWaits), out.status(200) + 8);
    assert!(out.longest(SeriesHist::Response) > 800 * MS);
    assert_eq!(out.longest(SeriesHist::Service) / MS, 100);
}

#[test]
fn timeouts_free_their_streams_for_those_that_wait() {
    let server = peer(|asked| if asked.total < 4 { says() } else { asked.ok(MS) }).streams(2);
    let out = Lab::http2(timeout(50 * MS, total(30, 6)), 6).run(server);
    out.check();
    assert_eq!((out.fault(Fault::Timeout), out.status(200), out.sum(RunSum::ConnOpened)), (4, 26, 1));
    assert!(out.elapsed_ns < 150 * MS, "{}", out.elapsed_ns);
}

#[test]
fn a_server_that_allows_no_stream_for_a_while_gets_its_requests_later() {
    let greeting = says().at(0, settings(&[(3, 0)])).at(300 * MS, settings(&[(3, 4)]));
    let out = Lab::http2(total(40, 4), 4).run(peer(|asked| asked.ok(MS)).greeting(greeting));
    out.check();
    assert_eq!((out.status(200), out.faults()), (40, vec![]));
    // The first request was sent before the settings.
    assert_eq!(out.between(SeriesHist::Response, 299 * MS, 302 * MS), 3 + 1);
}
