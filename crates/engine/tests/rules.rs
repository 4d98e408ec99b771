//! Rules of load models beyond their profiles, in virtual time: arrivals that are dropped, users in whole steps,
//! numbers of users and iterations, and iterations that never start.

use crate::support;
use crate::support::actors::{Diary, Log, diary, lines};
use crate::support::*;
use plimsoll_engine::driver::sim::{Network, SimConditions};
use plimsoll_engine::{Command, Job, Place, Scene, Stopped};
use plimsoll_plan::draft::{LoadDraft, WorkloadDraft};
use plimsoll_plan::load::{FirstArrival, OnBusy, Rules, UserSteps};
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};
use std::sync::{Arc, Mutex};

/// Each iteration sleeps this long.
fn sleeping(ns: u64) -> (Diary, Log) {
    diary(move |scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.out.sleep(1, ns);
        }
    })
}

/// Each iteration sends one request.
fn asking() -> (Diary, Log) {
    diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.ask(1, 0, BodyUse::Discard);
        }
    })
}

fn load(load: LoadDraft) -> WorkloadDraft {
    WorkloadDraft { load, ..workload("load") }
}

fn run(workloads: Vec<WorkloadDraft>, factory: Diary, service_ns: u64) -> Outcome {
    let out = Lab::new(support::workloads(workloads, &["/"]))
        .factory(factory)
        .run(move |_: &SimRequest<'_>| Answer::ok(service_ns));
    out.check();
    out
}

/// Returns the times of the begins, in ms, with the numbers of their users.
fn begins(log: &Log) -> Vec<(u32, f64)> {
    let of = |line: &String| {
        let mut words: Vec<&str> = line.split(' ').collect();
        let user = match words[0].strip_prefix('u') {
            Some(user) => user.parse().unwrap(),
            None => {
                words.insert(0, "u0");
                0
            }
        };
        (words[2] == "begin").then(|| (user, words[1].parse().unwrap()))
    };
    lines(log).iter().filter_map(of).collect()
}

#[test]
fn an_arrival_without_a_free_user_is_dropped_and_adds_one_up_to_the_limit() {
    let (factory, log) = asking();
    let rules = Rules { on_busy: OnBusy::Drop, initial_users: Some(1), ..Rules::default() };
    let open = load(LoadDraft {
        rate_per_s: Some(10.0),
        duration_ns: Some(S),
        max_connections: Some(2),
        rules,
        ..LoadDraft::default()
    });
    let out = run(vec![open], factory, 450 * MS);
    // 0 starts; 100 is dropped and adds the second user, which takes 200. 300 and 400 are dropped; the first user is
    // free at 450, the second at 650.
    assert_eq!(begins(&log), [(0, 0.0), (1, 200.0), (0, 500.0), (1, 700.0)]);
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::ArrivalsQueued)), (10, 0));
    assert_eq!((out.sum(RunSum::ArrivalsNotStarted), out.sum(RunSum::IterationsDropped)), (6, 6));
}

#[test]
fn a_small_number_of_users_is_not_divided_among_workers() {
    let rules = Rules { on_busy: OnBusy::Drop, ..Rules::default() };
    let arrivals = |users, worker| {
        let open = load(LoadDraft {
            rate_per_s: Some(1_000.0),
            duration_ns: Some(S),
            max_connections: Some(users),
            rules,
            ..LoadDraft::default()
        });
        let mut lab = Lab::new(support::workloads(vec![open], &["/"])).factory(asking().0);
        (lab.draft.workers, lab.worker) = (Some(2), worker);
        let out = lab.run(|_: &SimRequest<'_>| Answer::ok(100 * MS));
        out.check();
        (out.sum(RunSum::Arrivals), out.sum(RunSum::Iterations) + out.sum(RunSum::IterationsInterrupted))
    };
    // 31 users begin 31 iterations every 100 ms.
    assert_eq!([arrivals(31, 0), arrivals(31, 1)], [(1_000, 310), (0, 0)]);
    assert_eq!([arrivals(32, 0), arrivals(32, 1)], [(500, 160), (500, 160)]);
}

#[test]
fn without_the_rule_an_arrival_waits_for_a_user() {
    let (factory, log) = asking();
    let open = load(LoadDraft {
        rate_per_s: Some(10.0),
        duration_ns: Some(S),
        max_connections: Some(1),
        ..LoadDraft::default()
    });
    let out = run(vec![open], factory, 450 * MS);
    assert_eq!(begins(&log), [(0, 0.0), (0, 450.0), (0, 900.0)]);
    assert_eq!((out.sum(RunSum::IterationsDropped), out.sum(RunSum::ArrivalsNotStarted)), (0, 7));
}

#[test]
fn no_arrival_of_a_pause_is_dropped() {
    let (factory, log) = asking();
    let rules = Rules { on_busy: OnBusy::Drop, ..Rules::default() };
    let open = load(LoadDraft {
        rate_per_s: Some(10.0),
        duration_ns: Some(S),
        max_connections: Some(1),
        rules,
        ..LoadDraft::default()
    });
    let out = Lab::new(support::workloads(vec![open], &["/"]))
        .factory(factory)
        .command(250 * MS, Command::Pause)
        .command(650 * MS, Command::Resume)
        .run(|_: &SimRequest<'_>| Answer::ok(150 * MS));
    out.check();
    // 0, 200, 700, 900 start; 100 and 800 are dropped; 300 to 600 were not offered.
    assert_eq!(begins(&log).iter().map(|(_, ms)| *ms).collect::<Vec<_>>(), [0.0, 200.0, 700.0, 900.0]);
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::IterationsDropped)), (6, 2));
}

#[test]
fn due_arrivals_begin_iterations_at_the_instants_of_the_formula() {
    let (factory, log) = asking();
    let rules = Rules { first_arrival: FirstArrival::WhenDue, on_busy: OnBusy::Drop, ..Rules::default() };
    let open = load(LoadDraft {
        stages: stages(true, &[(1.0, 5.0), (0.5, 5.0)]),
        max_connections: Some(5),
        rules,
        ..LoadDraft::default()
    });
    let out = run(vec![open], factory, MS);
    let times: Vec<f64> = begins(&log).iter().map(|(_, ms)| ms.round()).collect();
    assert_eq!(times, [632.0, 894.0, 1_100.0, 1_300.0]);
    assert_eq!(out.sum(RunSum::Arrivals), 4);
}

#[test]
fn users_start_in_whole_steps() {
    let (factory, log) = sleeping(100 * S);
    let rules = Rules { user_steps: UserSteps::Reached, graceful_stop_ns: Some(0), ..Rules::default() };
    let ramp =
        load(LoadDraft { stages: stages(false, &[(3.0, 3.0), (1.0, 3.0)]), rules, ..LoadDraft::default() });
    let out = run(vec![ramp], factory, MS);
    assert_eq!(begins(&log), [(0, 1_000.0), (1, 2_000.0), (2, 3_000.0)]);
    assert_eq!(out.sum(RunSum::UsersNs), (3 + 2 + 1) * S);
    assert_eq!((out.sum(RunSum::IterationsInterrupted), out.sum(RunSum::Iterations)), (3, 0));
}

#[test]
fn the_rest_of_a_common_number_of_iterations_is_counted_at_its_time_limit() {
    let (factory, log) = asking();
    let rules = Rules { counts_iterations: true, graceful_stop_ns: Some(30 * S), ..Rules::default() };
    let shared = load(LoadDraft {
        users: Some(3),
        iterations: Some(10),
        duration_ns: Some(S),
        rules,
        ..LoadDraft::default()
    });
    let out = run(vec![shared], factory, 400 * MS);
    assert_eq!((begins(&log).len(), out.sum(RunSum::Iterations)), (9, 9));
    assert_eq!((out.sum(RunSum::IterationsDropped), out.sum(RunSum::IterationsInterrupted)), (1, 0));
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Duration, 1_200 * MS));
}

#[test]
fn the_rest_of_each_users_iterations_is_counted_at_its_time_limit() {
    let (factory, _) = asking();
    let rules = Rules { counts_iterations: true, graceful_stop_ns: Some(0), ..Rules::default() };
    let own = load(LoadDraft {
        users: Some(2),
        iterations_per_user: Some(5),
        duration_ns: Some(S),
        rules,
        ..LoadDraft::default()
    });
    let out = run(vec![own.clone()], factory, 400 * MS);
    // Each user has started 3: two are complete, and the third is interrupted.
    assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsInterrupted)), (4, 2));
    assert_eq!(out.sum(RunSum::IterationsDropped), 4);
    let (factory, _) = asking();
    let out = run(vec![own], factory, 100 * MS);
    assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsDropped)), (10, 0));
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Retired, 500 * MS));
}

#[test]
fn users_and_iterations_have_numbers_over_all_workloads_and_workers() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let (factory, _) = diary(move |scene, wake| {
        if let Wake::Begin { number, .. } = wake {
            note.lock().unwrap().push((scene.slot.workload, scene.slot.id, *number));
            scene.ask(1, 0, BodyUse::Discard);
        }
    });
    let counted = Rules { counts_iterations: true, ..Rules::default() };
    let own = |rules| {
        load(LoadDraft { users: Some(4), iterations_per_user: Some(5), rules, ..LoadDraft::default() })
    };
    let mut plan = plan(support::workloads(vec![own(counted), own(Rules::default())], &["/", "/"]));
    plan.outline.workers = 2;
    let places = vec![Place::new(vec!["127.0.0.1:8080".parse().unwrap()], None)];
    let job =
        Job::new(&plan, Scene { places, factory: Some(Arc::new(factory)), finder: None, gate: None }, 0);
    for worker in 0..2 {
        let server = |_: &SimRequest<'_>| Answer::ok(MS);
        let network = Network::new(BEGIN_NS, SimConditions::default(), server);
        let post = Collector {
            finder: None,
            network: network.clone(),
            handed: Default::default(),
            samples: Default::default(),
            opened: Default::default(),
            commands: Default::default(),
            looked: (0, 0),
        };
        job.seating(worker).run(BEGIN_NS, network.door(), post);
    }
    let seen = seen.lock().unwrap().clone();
    let mut numbers: Vec<u64> = seen.iter().filter_map(|(_, _, number)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<u64>>(), "each number once, over both workers");
    assert!(seen.iter().all(|(workload, _, number)| number.is_some() == (*workload == 0)));
    let ids = |of: u16| {
        let mut ids: Vec<u32> = seen.iter().filter(|(own, ..)| *own == of).map(|(_, id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    assert_eq!((ids(0), ids(1)), (vec![0, 1, 2, 3], vec![4, 5, 6, 7]));
}

#[test]
fn a_run_ends_when_each_workload_is_over_by_its_time_or_by_its_number() {
    let (factory, _) = asking();
    let rules = Rules { graceful_stop_ns: Some(0), ..Rules::default() };
    let counted = load(LoadDraft {
        users: Some(1),
        iterations_per_user: Some(2),
        duration_ns: Some(600 * S),
        rules,
        ..LoadDraft::default()
    });
    let timed = load(LoadDraft { users: Some(1), duration_ns: Some(S), rules, ..LoadDraft::default() });
    let out = run(vec![counted, timed], factory, 400 * MS);
    assert_eq!((out.elapsed_ns, out.count(SeriesSum::Finished)), (S, 4));
}

#[test]
fn the_controlled_workload_may_rise_to_its_capacity() {
    let (factory, log) = sleeping(10 * S);
    let rules = Rules { capacity: Some(3), graceful_stop_ns: Some(0), ..Rules::default() };
    let other = load(LoadDraft { users: Some(1), duration_ns: Some(S), ..LoadDraft::default() });
    let steered = load(LoadDraft { users: Some(1), duration_ns: Some(S), rules, ..LoadDraft::default() });
    Lab::new(support::workloads(vec![other, steered], &["/"]))
        .factory(factory)
        .command(300 * MS, Command::SetLevel(9.0))
        .run(|_: &SimRequest<'_>| Answer::ok(MS))
        .check();
    assert_eq!(begins(&log).len(), 4, "one of the other workload, and three of this one");
}

#[test]
fn a_workload_with_a_new_level_still_ends_at_its_end() {
    let (factory, log) = sleeping(400 * MS);
    let rules = Rules { capacity: Some(2), graceful_stop_ns: Some(S), ..Rules::default() };
    let steered = load(LoadDraft { users: Some(1), duration_ns: Some(S), rules, ..LoadDraft::default() });
    let other = load(LoadDraft { users: Some(1), duration_ns: Some(2 * S), ..LoadDraft::default() });
    Lab::new(support::workloads(vec![steered, other], &["/"]))
        .factory(factory)
        .command(500 * MS, Command::SetLevel(2.0))
        .run(|_: &SimRequest<'_>| Answer::ok(MS))
        .check();
    // Three iterations of the first user, and two of the one that was added; the other workload begins its own.
    let before = begins(&log).iter().filter(|(_, ms)| *ms < 1_000.0).count();
    let after = begins(&log).iter().filter(|(_, ms)| *ms >= 1_000.0).count();
    assert_eq!((before, after), (3 + 2 + 3, 2));
}
