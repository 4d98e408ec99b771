//! Iterations that end before they are complete, in virtual time: at the end of a workload's graceful stop, and when
//! the level has stopped their user.

use crate::support;
use crate::support::actors::{Diary, Log, diary, lines};
use crate::support::frames::{RST_STREAM, peer};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_plan::draft::{LoadDraft, WorkloadDraft};
use plimsoll_plan::load::{Profile, Rules, Stage, UserSteps};
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};

fn users(users: u32, seconds: f64, graceful_stop_ns: u64) -> WorkloadDraft {
    let rules = Rules { graceful_stop_ns: Some(graceful_stop_ns), ..Rules::default() };
    let duration_ns = Some((seconds * 1e9) as u64);
    WorkloadDraft {
        load: LoadDraft { users: Some(users), duration_ns, rules, ..LoadDraft::default() },
        ..workload("users")
    }
}

/// Each iteration sends the request of its workload, and a second one.
fn asking_twice() -> (Diary, Log) {
    diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, scene.slot.workload.into(), BodyUse::Keep),
        Wake::Reply(reply) if reply.id == 1 => scene.ask(2, scene.slot.workload.into(), BodyUse::Keep),
        _ => {}
    })
}

#[test]
fn iterations_may_continue_for_their_own_graceful_stop_and_are_then_interrupted() {
    let (factory, log) = asking_twice();
    let draft = support::workloads(vec![users(1, 1.0, 200 * MS), users(1, 2.0, 0)], &["/slow", "/quick"]);
    let out = Lab::new(draft).factory(factory).run(|asked: &SimRequest<'_>| {
        let is_slow = asked.bytes.starts_with(b"GET /slow");
        Answer::ok(if is_slow { 450 * MS } else { 100 * MS })
    });
    out.check();
    // The slow workload: an iteration of 900 ms, then one that sends at 900 ms and would send again at 1,350 ms.
    let of_slow: Vec<String> = lines(&log).into_iter().filter(|line| line.contains("interrupted")).collect();
    assert_eq!(of_slow, ["1200 interrupted"]);
    let sent = |series: usize| out.all.series[series].sums[SeriesSum::Sent.id()];
    let finished = |series: usize| out.all.series[series].sums[SeriesSum::Finished.id()];
    assert_eq!((sent(0), finished(0)), (3, 2));
    assert_eq!(out.sum(RunSum::IterationsInterrupted), 1);
    assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::InFlightAtEnd)), (1 + 10, 1));
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Duration, 2 * S));
    // Its true response time is longer than the 300 ms until the interruption.
    assert_eq!(out.longest(SeriesHist::ResponseCensored), 300 * MS);
}

#[test]
fn an_iteration_that_ends_within_the_graceful_stop_is_complete() {
    let (factory, log) = asking_twice();
    let draft = support::workloads(vec![users(1, 1.0, 800 * MS), users(1, 3.0, 0)], &["/slow", "/quick"]);
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(450 * MS));
    out.check();
    assert!(!lines(&log).iter().any(|line| line.starts_with("18") && line.ends_with("interrupted")));
    // 900 ms each: two of the first; three of the second, whose fourth is interrupted at its end.
    assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsInterrupted)), (5, 1));
}

#[test]
fn sleeps_connection_attempts_and_streams_are_interrupted() {
    let sleeping = |scene: &mut support::actors::Scene<'_>| scene.out.sleep(7, 100 * S);
    let streaming = |scene: &mut support::actors::Scene<'_>| scene.ask(7, 0, BodyUse::Stream);
    for kind in 0..3 {
        let (factory, log) = diary(move |scene, wake| {
            if let (Wake::Begin { .. }, 0) = (wake, scene.slot.workload) {
                if kind == 0 { sleeping(scene) } else { streaming(scene) }
            } else if let Wake::Begin { .. } = wake {
                scene.out.sleep(1, 100 * S);
            }
        });
        let draft = support::workloads(vec![users(2, 1.0, 500 * MS), users(1, 3.0, 0)], &["/"]);
        struct Side(u32);
        impl plimsoll_engine::driver::sim::Server for Side {
            fn connect(&mut self, _: u64, _: u64) -> plimsoll_engine::driver::sim::Connect {
                use plimsoll_engine::driver::sim::Connect;
                if self.0 == 2 { Connect::Never } else { Connect::Accept { after_ns: 0 } }
            }

            fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
                let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
                Answer::silence().piece(MS, head)
            }
        }
        let out = Lab::new(draft).factory(factory).run(Side(kind));
        let interrupted: Vec<String> =
            lines(&log).into_iter().filter(|line| line.contains("interrupted")).collect();
        assert_eq!(interrupted, ["u0 1500 interrupted", "u1 1500 interrupted", "3000 interrupted"], "{kind}");
        assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsInterrupted)), (0, 3), "{kind}");
        assert_eq!(out.elapsed_ns, 3 * S);
    }
}

#[test]
fn over_http2_the_stream_of_an_interrupted_request_is_reset_and_others_continue() {
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.ask(1, scene.slot.workload.into(), BodyUse::Discard);
        }
    });
    let draft = support::workloads(vec![users(1, 1.0, 0), users(1, 2.0, 0)], &["/slow", "/quick"]);
    let server = peer(|asked| asked.ok(if asked.path() == "/slow" { 5 * S } else { 100 * MS }));
    let record = server.record();
    let out = Lab::http2(draft, 2).factory(factory).run(server);
    out.check();
    assert_eq!(record.borrow().count(RST_STREAM), 1);
    assert_eq!(out.sum(RunSum::ConnOpened), 1, "the connection is kept for the other user");
    assert_eq!(out.sum(RunSum::StreamsReset), 1);
    assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsInterrupted)), (20, 1));
}

/// A ramp in whole steps.
fn ramp(start: f64, legs: &[(f64, f64)], ramp_down_ns: u64, graceful_stop_ns: u64) -> WorkloadDraft {
    let stages = legs.iter().map(|(s, to)| Stage { duration_ns: (s * 1e9) as u64, to: *to }).collect();
    let rules = Rules {
        user_steps: UserSteps::Reached,
        graceful_ramp_down_ns: Some(ramp_down_ns),
        graceful_stop_ns: Some(graceful_stop_ns),
        ..Rules::default()
    };
    let stages = Some((Profile { start, stages }, false));
    WorkloadDraft { load: LoadDraft { stages, rules, ..LoadDraft::default() }, ..workload("ramp") }
}

fn sleepers(legs: &[(f64, f64)], ramp_down_ns: u64, graceful_stop_ns: u64) -> (Vec<String>, Outcome) {
    let (factory, log) = diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.out.sleep(1, 100 * S);
        }
    });
    let draft = support::workloads(vec![ramp(4.0, legs, ramp_down_ns, graceful_stop_ns)], &["/"]);
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::silence());
    let ends = lines(&log).into_iter().filter(|line| line.contains("interrupted")).collect();
    (ends, out)
}

#[test]
fn a_falling_level_stops_the_highest_users_first_and_gives_each_its_time() {
    let (ends, out) = sleepers(&[(4.0, 0.0), (2.0, 0.0)], 1_500 * MS, 30 * S);
    assert_eq!(
        ends,
        ["u3 2500 interrupted", "u2 3500 interrupted", "u1 4500 interrupted", "u0 5500 interrupted"]
    );
    assert_eq!(out.elapsed_ns, 6 * S);
}

#[test]
fn without_time_a_user_stops_with_the_level() {
    let (ends, _) = sleepers(&[(2.0, 2.0), (1.0, 2.0)], 0, 0);
    assert_eq!(ends[..2], ["u3 1000 interrupted", "u2 2000 interrupted"]);
}

#[test]
fn no_user_continues_longer_than_the_graceful_stop_of_its_workload() {
    let (ends, out) = sleepers(&[(2.0, 2.0)], 30 * S, S);
    assert_eq!(ends.len(), 4, "{ends:?}");
    assert!(ends.iter().all(|line| line.contains(" 3000 ")), "{ends:?}");
    assert_eq!(out.elapsed_ns, 3 * S);
}

#[test]
fn a_user_that_the_level_starts_again_in_time_continues_its_iteration() {
    // Down from 4 to 3 at 1 s, up to 4 at 2 s, down to 3 at 4 s: the last user has until 4 s + 1.5 s.
    let (ends, out) = sleepers(&[(1.0, 3.0), (1.0, 4.0), (1.0, 4.0), (1.0, 3.0), (3.0, 3.0)], 1_500 * MS, 0);
    assert_eq!(ends[0], "u3 5500 interrupted");
    assert_eq!((ends.len(), out.sum(RunSum::IterationsInterrupted)), (4, 4));
}

#[test]
fn the_last_stop_of_a_user_decides_how_long_it_may_continue() {
    // Down at 1 s, up at 1.5 s, down at 2 s: the time of the first stop would be over at 2.5 s.
    let (ends, _) = sleepers(&[(1.0, 3.0), (0.5, 4.0), (0.5, 3.0), (3.0, 3.0)], 1_500 * MS, 0);
    assert_eq!(ends[0], "u3 3500 interrupted");
}
