//! A request that ends because of the load generator's own limits, memory, or bugs never counts as the server's
//! failure, and never ends the recording.

use crate::support::actors::diary;
use crate::support::*;
use plimsoll_engine::{Next, Scene, Stopped, start};
use plimsoll_plan::Fault;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::program::{BodyUse, Step, Wake};
use plimsoll_plan::seal::{Machine, seal};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_limit_below_its_default_is_the_load_generators_own() {
    let head = b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nContent-Length: 2\r\n\r\nok";
    let chunk =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;extension\r\nok\r\n0\r\nA: 1\r\n\r\n";
    let interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let rows: [(&str, &'static [u8]); 6] = [
        ("head_bytes=0", head),
        ("head_bytes=30", head),
        ("headers=2", head),
        ("chunk_line_bytes=4", chunk),
        ("trailer_bytes=2", chunk),
        ("informational=0", interim),
    ];
    for (limit, whole) in rows {
        let mut draft =
            Draft { load: LoadDraft { requests_total: Some(5), ..closed(1, 10.0).load }, ..closed(1, 10.0) };
        let (name, value) = limit.split_once('=').unwrap();
        draft.limits.set(name, value).unwrap();
        let out = Lab::new(draft).run(move |_: &SimRequest<'_>| Answer::silence().piece(MS, whole));
        assert_eq!((out.fault(Fault::ClientLimit), out.client_faults()), (5, 5), "{limit}");
        assert_eq!((out.count(SeriesSum::Failed), out.fault(Fault::UnsafeResponse)), (0, 0), "{limit}");
        assert!(out.samples[0].observed.contains(&format!("`{name}`")), "{}", out.samples[0].observed);
        // The counterpart: with the default limit, the response is complete.
        let draft =
            Draft { load: LoadDraft { requests_total: Some(5), ..closed(1, 10.0).load }, ..closed(1, 10.0) };
        let out = Lab::new(draft).run(move |_: &SimRequest<'_>| Answer::silence().piece(MS, whole));
        assert_eq!((out.status(200), out.client_faults()), (5, 0), "{limit}");
    }
}

/// Four users keep a body of 1 MB each; those that get all of it accept it, the others cannot judge it.
fn keeping(total_bytes: u64) -> Outcome {
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
    let mut draft =
        Draft { load: LoadDraft { requests_total: Some(40), ..closed(4, 10.0).load }, ..closed(4, 10.0) };
    draft.limits.kept_total_bytes = total_bytes;
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| {
        // In chunks, so that the bodies arrive in parallel: a body of known length is awaited and read as a whole.
        let chunk = [b"186a0\r\n", &[b'x'; 100_000][..], b"\r\n"].concat();
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let whole = (0..10).fold(Answer::silence().piece(MS, head), |answer, _| answer.piece(MS, &chunk));
        whole.piece(0, b"0\r\n\r\n")
    });
    assert_eq!(
        (out.status(200), out.count(SeriesSum::Failed)),
        (40, 0),
        "the responses themselves were complete"
    );
    out
}

#[test]
fn all_kept_bodies_together_are_bounded_and_what_does_not_fit_is_nobodys_failure_but_ours() {
    let out = keeping(2_500_000);
    let short = out.fault(Fault::ClientOutOfMemory);
    // All four grow at the same rate, so possibly none of them fits.
    assert!((1..=40).contains(&short), "{short}");
    assert_eq!(out.client_faults(), short);
    assert_eq!(keeping(16_000_000).client_faults(), 0);
    // Without a value, there is no limit here; the real engine derives one.
    assert_eq!(keeping(0).client_faults(), 0);
}

#[test]
fn a_worker_that_dies_of_a_bug_is_named_and_the_others_hand_over_what_they_have() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut request = [0; 1_024];
                while stream.read(&mut request).is_ok_and(|n| n > 0) {
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                        return;
                    }
                }
            });
        }
    });
    // The program of the first user, which runs in the first worker, has a bug.
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { iteration, .. } if scene.slot.user == 0 && *iteration == 30 => panic!("a bug"),
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Discard),
        _ => {}
    });
    let mut draft = Draft { workers: Some(2), ..closed(2, 60.0) };
    draft.target.as_mut().unwrap().port = address.port();
    let plan = seal(draft, Machine { cpus: 2, seed: 1 }).unwrap();
    let scene = Scene { factory: Some(Arc::new(factory)), ..Scene::at(address) };
    let mut running = start(Arc::new(plan), scene).unwrap();
    let (mut lasts, mut finished) = (0, 0);
    loop {
        match running.next(Duration::from_secs(20)) {
            Next::Report(report) => {
                lasts += u32::from(report.last);
                finished += report.interval.series[0].sums[SeriesSum::Finished.id()];
            }
            Next::Quiet => panic!("the engine sent no report"),
            Next::Ended => break,
        }
    }
    let finish = running.finish();
    assert_eq!(finish.stopped, Stopped::Command, "long before its end");
    assert_eq!(finish.lost_workers, ["worker 0 panicked because of a bug in the load generator"]);
    assert_eq!(lasts, 1, "the other one has handed over its last interval");
    assert!(finished >= 3);
}
