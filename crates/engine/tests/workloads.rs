//! Several load models in one run, each with its own users; numbers of iterations; the graceful stop after the end.

use crate::support;
use crate::support::actors::{Diary, Log, diary, lines};
use crate::support::*;
use plimsoll_engine::{Command, Stopped};
use plimsoll_plan::Draft;
use plimsoll_plan::draft::{LoadDraft, WorkloadDraft};
use plimsoll_plan::load::Share;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};
use std::sync::Arc;

/// Each iteration sends one request, that of its workload.
fn by_workload() -> (Diary, Log) {
    diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.ask(0, scene.slot.workload.into(), BodyUse::Discard);
        }
    })
}

/// Each iteration sends this many requests in sequence.
fn in_a_row(requests: u32) -> (Diary, Log) {
    diary(move |scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Discard),
        Wake::Reply(r) if r.id < requests => scene.ask(r.id + 1, 0, BodyUse::Discard),
        _ => {}
    })
}

fn users(count: u32, seconds: f64) -> WorkloadDraft {
    WorkloadDraft {
        load: LoadDraft {
            users: Some(count),
            duration_ns: Some((seconds * 1e9) as u64),
            ..workload("users").load
        },
        ..workload("users")
    }
}

fn arrivals(per_s: f64, connections: u32, seconds: f64) -> WorkloadDraft {
    let duration_ns = Some((seconds * 1e9) as u64);
    WorkloadDraft {
        load: LoadDraft {
            rate_per_s: Some(per_s),
            max_connections: Some(connections),
            duration_ns,
            ..workload("arrivals").load
        },
        ..workload("arrivals")
    }
}

fn sent(out: &Outcome, series: usize) -> u64 {
    out.all.series[series].sums[SeriesSum::Sent.id()]
}

fn begins(log: &Log) -> Vec<String> {
    lines(log).into_iter().filter(|l| l.contains("begin")).collect()
}

#[test]
fn a_closed_and_an_open_lane_run_beside_each_other_each_with_its_own_users() {
    let (factory, log) = by_workload();
    let draft =
        workloads(vec![users(3, 1.0), arrivals(100.0, 5, 0.995), users(2, 0.495)], &["/a", "/b", "/c"]);
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(10 * MS));
    out.check();
    assert_eq!([sent(&out, 0), sent(&out, 1), sent(&out, 2)], [300, 100, 100]);
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::ArrivalsCompleted)), (100, 100));
    assert_eq!(out.sum(RunSum::Iterations), 500);
    assert_eq!(out.sum(RunSum::UsersNs), 3 * S + 990 * MS, "users of the open model do not count");
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Duration, S));
    // Workloads of 3, 5, and 2 users: 3 and 2 of the closed ones, 1 of the open one was enough (10 ms of service, and
    // the response arrives before the next arrival).
    let who = |user: u32| begins(&log).iter().filter(|l| l.starts_with(&format!("u{user} 0 "))).count();
    assert_eq!([who(0), who(1), who(2), who(3)], [3, 2, 1, 0]);
}

#[test]
fn a_lane_starts_late_and_ends_early_and_the_run_lasts_as_long_as_the_longest() {
    let (factory, log) = by_workload();
    let late = WorkloadDraft { start_ns: 300 * MS, ..users(2, 0.2) };
    let late_arrivals = WorkloadDraft { start_ns: 600 * MS, ..arrivals(100.0, 2, 0.2) };
    let draft = workloads(vec![late, late_arrivals, users(1, 1.0)], &["/a", "/b", "/c"]);
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(9_999 * US));
    out.check();
    // Twenty iterations of each of the two users begin within their 200 ms, and one more in its last 20 µs.
    assert_eq!([sent(&out, 0), sent(&out, 1), out.elapsed_ns / MS], [42, 20, 1_000]);
    assert!(begins(&log).contains(&"u0 300 begin 0".into()));
}

#[test]
fn shared_iterations_are_exactly_so_many_over_all_users_of_a_workload() {
    for (count, users) in [(1, 4), (10, 4), (1_001, 7)] {
        let (factory, log) = in_a_row(3);
        let shared = WorkloadDraft {
            load: LoadDraft { iterations: Some(count), users: Some(users), ..workload("shared").load },
            ..workload("shared")
        };
        let out = Lab::new(workloads(vec![shared], &["/"]))
            .factory(factory)
            .run(|_: &SimRequest<'_>| Answer::ok(MS));
        out.check();
        assert_eq!((out.stopped, out.sum(RunSum::Iterations)), (Stopped::Requests, count));
        assert_eq!((out.count(SeriesSum::Finished), begins(&log).len() as u64), (3 * count, count));
        assert_eq!(out.elapsed_ns, count.div_ceil(users.into()) * 3 * MS);
    }
}

#[test]
fn loops_are_counted_for_each_user_by_itself() {
    let (factory, _) = in_a_row(2);
    let own = WorkloadDraft {
        load: LoadDraft { iterations_per_user: Some(5), users: Some(4), ..workload("loops").load },
        ..workload("loops")
    };
    let out = Lab::new(workloads(vec![own], &["/"]))
        .factory(factory)
        .run(|a: &SimRequest<'_>| Answer::ok((a.connection + 1) * MS));
    out.check();
    assert_eq!((out.stopped, out.sum(RunSum::Iterations)), (Stopped::Retired, 20));
    assert_eq!(
        (out.sum(RunSum::UsersOutOfData), out.sum(RunSum::ClosedByClient)),
        (0, 4),
        "none ran out of data"
    );
    assert_eq!(out.elapsed_ns, 5 * 2 * 4 * MS);
}

#[test]
fn a_counted_lane_beside_a_timed_one_does_its_iterations_and_the_run_lasts_as_long_as_the_other() {
    for timed in [users(1, 2.0), arrivals(10.0, 5, 2.0)] {
        let (factory, _) = by_workload();
        let shared = WorkloadDraft {
            load: LoadDraft { iterations: Some(3), users: Some(1), ..workload("shared").load },
            ..workload("shared")
        };
        let draft = workloads(vec![shared, timed], &["/a", "/b"]);
        let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(MS));
        out.check();
        assert_eq!((sent(&out, 0), out.stopped, out.elapsed_ns), (3, Stopped::Duration, 2 * S));
    }
}

#[test]
fn recorded_arrivals_come_at_their_instants_and_to_one_worker_of_one_machine_each() {
    let mut instants: Vec<u64> = vec![0, MS, MS, 5 * MS + 7, 20 * MS, 2_500 * MS, 2_500 * MS + 1];
    instants.extend((1..=200).map(|k| 3 * S + k * k * 100 * US));
    for (machines, workers) in [(1, 1), (2, 2), (1, 3)] {
        let mut seen = Vec::new();
        for part in 1..=machines {
            for worker in 0..workers {
                let (factory, log) = by_workload();
                let recorded = WorkloadDraft {
                    load: LoadDraft {
                        recorded: Some(Arc::from(instants.as_slice())),
                        max_connections: Some(12),
                        ..workload("recorded").load
                    },
                    ..workload("recorded")
                };
                let draft = workloads(vec![recorded], &["/"]);
                let share = Some(Share { part, of: machines });
                let mut lab =
                    Lab::new(Draft { shard: share, workers: Some(workers), ..draft }).factory(factory);
                lab.worker = worker;
                let out = lab.run(|_: &SimRequest<'_>| Answer::ok(10 * US));
                out.check();
                assert!(out.hist(RunHist::ScheduleLag).max().is_none_or(|late| late == 0));
                seen.extend(
                    begins(&log)
                        .iter()
                        .map(|l| (l.split(' ').nth(1).unwrap().parse::<f64>().unwrap() * 1e6).round() as u64),
                );
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, instants, "{machines} machines, {workers} workers");
    }
}

#[test]
fn so_many_arrivals_are_so_many_also_when_programs_send_for_them() {
    let counted = WorkloadDraft {
        load: LoadDraft { iterations: Some(7), duration_ns: None, ..arrivals(100.0, 5, 1.0).load },
        ..arrivals(100.0, 5, 1.0)
    };
    let (factory, log) = in_a_row(2);
    let out =
        Lab::new(workloads(vec![counted], &["/"])).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check();
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::Iterations), begins(&log).len()), (7, 7, 7));
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Requests, 62 * MS));

    // The same if requests are counted: no arrival is begun that could not send.
    let (factory, log) = in_a_row(1);
    let draft = Draft {
        load: LoadDraft { requests_total: Some(9), duration_ns: None, ..open(100.0, 1.0).load },
        ..open(100.0, 1.0)
    };
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check_arrivals();
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::Iterations), begins(&log).len()), (9, 9, 9));
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Requests, 81 * MS));

    // The same with users: of two, one finds nothing left at 40 ms.
    let (factory, log) = in_a_row(1);
    let draft = Draft {
        load: LoadDraft { requests_total: Some(9), duration_ns: None, ..closed(2, 1.0).load },
        ..closed(2, 1.0)
    };
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(10 * MS));
    out.check();
    assert_eq!((out.sum(RunSum::Iterations), begins(&log).len(), out.elapsed_ns), (9, 9, 50 * MS));
}

// ---- graceful stop ------------------------------------------------------------------------------------------------

#[test]
fn an_iteration_under_way_at_the_end_is_finished_within_the_grace_and_none_begins() {
    // Three requests of 30 ms: the second iteration is from 90 to 180 ms, the end at 100 ms.
    for (grace_ms, end_ms, whole, cut) in
        [(0, 100, 1, 1), (50, 150, 1, 1), (80, 180, 2, 0), (5_000, 180, 2, 0)]
    {
        let (factory, log) = in_a_row(3);
        let draft = Draft { graceful_stop_ns: Some(grace_ms * MS), ..closed(1, 0.1) };
        let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(30 * MS));
        out.check();
        assert_eq!((out.stopped, out.elapsed_ns / MS), (Stopped::Duration, end_ms));
        assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsInterrupted)), (whole, cut));
        assert_eq!((out.sum(RunSum::InFlightAtEnd), begins(&log).len()), (cut, 2));
    }
}

#[test]
fn ticks_go_on_through_the_grace() {
    let (factory, _) = in_a_row(1);
    let draft = Draft { graceful_stop_ns: Some(10 * S), ..closed(2, 1.5) };
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(4 * S));
    out.check();
    // The last, which begins at the very end, is empty.
    assert_eq!((out.ticks.len(), out.elapsed_ns), (5, 4 * S));
    assert_eq!(out.sum(RunSum::InFlightNs), 8 * S);
}

#[test]
fn in_the_grace_arrivals_that_wait_are_left_and_the_worker_sleeps() {
    let (factory, log) = in_a_row(2);
    let workload = arrivals(100.0, 1, 0.095);
    let draft = Draft { graceful_stop_ns: Some(S), ..workloads(vec![workload, users(1, 0.095)], &["/"]) };
    // The first connection is that of the arrivals.
    let out =
        Lab::new(draft).factory(factory).run(|a: &SimRequest<'_>| Answer::ok((30 + 40 * a.connection) * MS));
    out.check();
    // Their one user begins at 0 and 60 ms and is free at 120 ms; of ten arrivals, eight have waited for it in vain.
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::ArrivalsNotStarted)), (10, 8));
    assert_eq!((out.elapsed_ns / MS, begins(&log).len()), (140, 3));
    assert!(out.calls.wait < 100, "{} waits", out.calls.wait);
}

#[test]
fn in_the_grace_a_change_of_level_is_not_waited_for_again_and_again() {
    let (factory, _) = in_a_row(1);
    let late = WorkloadDraft { start_ns: 10 * MS, ..users(2, 0.1) };
    let draft = Draft { graceful_stop_ns: Some(S), ..workloads(vec![users(1, 0.11), late], &["/"]) };
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(80 * MS));
    out.check();
    assert_eq!((out.elapsed_ns / MS, out.sum(RunSum::Iterations)), (170, 6));
    assert!(out.calls.wait < 100, "{} waits", out.calls.wait);

    // A level that rises at the very end does not start any user either.
    let (factory, log) = in_a_row(1);
    let stages = Some((profile(1.0, &[(0.1, 1.0), (0.0, 3.0)]), false));
    let draft = Draft {
        load: LoadDraft { stages, ..support::draft().load },
        graceful_stop_ns: Some(S),
        ..support::draft()
    };
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(80 * MS));
    out.check();
    assert_eq!((out.elapsed_ns / MS, begins(&log).len()), (160, 2));
}

#[test]
fn a_user_that_pauses_because_it_had_nothing_to_do_begins_nothing_in_the_grace() {
    let (factory, log) = diary(|scene, wake| {
        if let (Wake::Begin { .. }, 0) = (wake, scene.slot.workload) {
            scene.ask(0, 0, BodyUse::Discard);
        }
    });
    let draft =
        Draft { graceful_stop_ns: Some(5 * S), ..workloads(vec![users(1, 0.1), users(1, 0.1)], &["/"]) };
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(3 * S));
    out.check();
    let late: Vec<String> = begins(&log)
        .into_iter()
        .filter(|l| l.split(' ').next().unwrap().parse::<f64>().unwrap() >= 100.0)
        .collect();
    assert!(late.is_empty() && out.elapsed_ns == 3 * S, "{late:?}");
}

// ---- steering ---------------------------------------------------------------------------------------------------

#[test]
fn a_pause_holds_all_lanes_and_all_go_on_behind_it() {
    let (factory, log) = by_workload();
    let draft = workloads(vec![users(2, 1.0), arrivals(100.0, 4, 1.0)], &["/a", "/b"]);
    let lab =
        Lab::new(draft).factory(factory).command(205 * MS, Command::Pause).command(705 * MS, Command::Resume);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(20 * MS));
    out.check();
    let at = |l: &String| l.split(' ').nth(1).unwrap().parse::<f64>().unwrap();
    assert!(begins(&log).iter().map(at).all(|ms| !(205.0..705.0).contains(&ms)));
    // 11 iterations of each user before the pause and 15 after it, of which the last is cut off at 1,000 ms.
    assert_eq!((sent(&out, 0), sent(&out, 1)), (2 * (11 + 15), 21 + 29));
    assert_eq!(out.sum(RunSum::Arrivals), 50, "arrivals due during the pause were not offered");
}

#[test]
fn the_level_of_the_first_lane_can_be_set_and_the_others_stay() {
    let (factory, _) = by_workload();
    let draft = workloads(vec![arrivals(100.0, 20, 1.0), users(1, 1.0)], &["/a", "/b"]);
    let lab = Lab::new(draft).factory(factory).command(500 * MS, Command::SetLevel(1_000.0));
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(10 * MS));
    out.check();
    assert_eq!((sent(&out, 0), sent(&out, 1)), (50 + 500, 100));
}
