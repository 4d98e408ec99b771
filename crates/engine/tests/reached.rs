//! Origins that programs ask for during the load: found once for all users, used over separate connections, or
//! refused with a reason.

use crate::http2_programs::ByAddress;
use crate::support::actors::{Scene, diary, lines, step};
use crate::support::finder::{AskedOrigins, SimFinder};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_engine::driver::sim::SimRequest;
use plimsoll_plan::code::Code;
use plimsoll_plan::link::{Addresses, Link, Reuse};
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::program::{Behavior, BodyUse, Step, Wake};
use plimsoll_plan::{Draft, Fault, Plan, Problem, Target};
use std::net::SocketAddr;
use std::sync::Arc;

const FOUND: u16 = 9_001;

fn at(host: &str, port: u16) -> Target {
    Target { host: host.into(), port, tls: false }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 9], port))
}

fn finder(after_ns: u64) -> (SimFinder, AskedOrigins) {
    SimFinder::new(1, after_ns, &[("found", Ok(address(FOUND))), ("dead", Err(Fault::ConnectionRefused))])
}

fn ask_at(scene: &mut Scene<'_>, id: u32, origin: u16) {
    scene.render(Step { origin, ..step(id, 0, BodyUse::Discard) }, "/");
}

/// Asks for an origin in each iteration, and sends one request there.
fn to_found(scene: &mut Scene<'_>, wake: &Wake<'_>) {
    match wake {
        Wake::Begin { .. } => scene.out.reach(7, at("Found", 80)),
        Wake::Reached { id: 7, result: Ok(origin) } => ask_at(scene, 1, *origin),
        _ => {}
    }
}

fn run(
    base: Draft,
    finder: SimFinder,
    act: impl Fn(&mut Scene<'_>, &Wake<'_>) + Send + Sync + 'static,
) -> (Outcome, Vec<String>) {
    let (programs, log) = diary(act);
    let mut lab = Lab::new(base).factory(programs);
    lab.finder = Some(finder);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check();
    (out, lines(&log))
}

/// Returns the number of connections to a port.
fn opened(out: &Outcome, port: u16) -> usize {
    out.opened.iter().filter(|(to, _)| to.port() == port).count()
}

#[test]
fn a_program_gets_the_number_of_an_origin_and_sends_requests_there() {
    let (finder, asked) = finder(5 * MS);
    let mut base = closed(1, 10.0);
    base.load.requests_total = Some(2);
    let (out, log) = run(base, finder, to_found);
    assert_eq!(log[..3], ["0 begin 0", "5 reached 7 origin 1", "6 reply 1 200"]);
    // The second iteration needs no finder.
    assert_eq!(log[3..6], ["6 begin 1", "6 reached 7 origin 1", "7 reply 1 200"]);
    assert_eq!((asked.borrow().len(), opened(&out, FOUND), opened(&out, 8080)), (1, 1, 0));
}

#[test]
fn many_users_that_ask_for_one_origin_share_one_search_and_keep_their_own_connections() {
    for (reuse, connections) in [(Reuse::User, 50), (Reuse::Pool, 50), (Reuse::Iteration, 1_000)] {
        let (finder, asked) = finder(5 * MS);
        let mut base = Draft { link: Link { reuse, ..Link::default() }, ..closed(50, 10.0) };
        base.load.requests_total = Some(1_000);
        let (out, _) = run(base, finder, to_found);
        assert_eq!((out.status(200), asked.borrow().len()), (1_000, 1), "{reuse:?}");
        assert_eq!(opened(&out, FOUND), connections, "{reuse:?}");
    }
}

#[test]
fn the_target_of_the_plan_is_known_without_a_search() {
    let (finder, asked) = finder(5 * MS);
    let mut base = closed(1, 10.0);
    base.load.requests_total = Some(1);
    let (out, log) = run(base, finder, |scene, wake| match wake {
        Wake::Begin { .. } => scene.out.reach(7, at("127.0.0.1", 8080)),
        Wake::Reached { id: 7, result: Ok(origin) } => ask_at(scene, 1, *origin),
        _ => {}
    });
    assert_eq!(log[1], "0 reached 7 origin 0");
    assert_eq!((asked.borrow().len(), opened(&out, 8080)), (0, 1));
}

#[test]
fn an_origin_that_cannot_be_used_wakes_the_program_with_the_reason() {
    let (finder, _) = finder(2 * MS);
    let (out, log) = run(closed(1, 0.1), finder, |scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.out.reach(7, at("dead", 80));
        }
    });
    assert_eq!(log[..2], ["0 begin 0", "2 reached 7 ConnectionRefused `dead` is not there"]);
    // 2 ms for the search, and at least 1 ms so that an iteration without a request does not loop.
    assert!((20..=34).contains(&out.sum(RunSum::Iterations)), "{}", out.sum(RunSum::Iterations));
}

#[test]
fn several_origins_may_be_asked_for_at_once_and_two_names_of_one_program_wait_together() {
    let (finder, asked) = finder(3 * MS);
    let mut base = closed(1, 10.0);
    base.load.iterations_per_user = Some(1);
    base.load.duration_ns = None;
    let (_, log) = run(code(base), finder, |scene, wake| {
        if let Wake::Begin { .. } = wake {
            for (id, host) in [(1, "found"), (2, "dead"), (3, "FOUND")] {
                scene.out.reach(id, at(host, 80));
            }
        }
    });
    let reached = ["3 reached 1 origin 1", "3 reached 3 origin 1"];
    assert!(reached.iter().all(|line| log.iter().any(|one| one == line)), "{log:?}");
    assert!(log.iter().any(|line| line.starts_with("3 reached 2 ConnectionRefused")), "{log:?}");
    assert_eq!(*asked.borrow(), ["found", "dead"]);
}

#[test]
fn a_wait_for_an_origin_keeps_its_iteration_open_until_the_run_ends() {
    let (finder, _) = finder(MS);
    let (out, log) = run(closed(1, 0.5), finder, |scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.out.reach(7, at("silent", 80));
        }
    });
    assert_eq!((out.stopped, log.len()), (Stopped::Duration, 1));
    assert_eq!((out.sum(RunSum::Iterations), out.sum(RunSum::IterationsInterrupted)), (0, 1));
}

#[test]
fn a_cancelled_wait_ends_without_a_wake() {
    for (host, is_found) in [("silent", false), ("found", true)] {
        let (finder, asked) = finder(25 * MS);
        let (out, log) = run(closed(1, 0.1), finder, move |scene, wake| match wake {
            Wake::Begin { .. } => {
                scene.out.reach(7, at(host, 80));
                scene.out.sleep(1, 10 * MS);
            }
            Wake::Slept { id: 1 } => scene.out.cancel(7),
            _ => {}
        });
        // Two iterations give up; the third waits for the same search, which ends in it.
        let wakes: Vec<&str> = log[..5].iter().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(wakes, ["begin", "slept", "begin", "slept", "begin"], "{host}");
        assert_eq!(log.iter().any(|line| line.contains("reached")), is_found, "{host}: {log:?}");
        assert!(out.sum(RunSum::Iterations) >= 9, "{host}");
        assert_eq!(asked.borrow().len(), 1, "{host}");
    }
}

#[test]
fn a_run_without_a_finder_refuses_other_origins() {
    let (programs, log) = diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            scene.out.reach(7, at("found", 80));
        }
    });
    let out = Lab::new(closed(1, 0.01)).factory(programs).run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check();
    let refused = "0 reached 7 OriginRefused this run loads only the origins of its plan";
    assert_eq!(lines(&log)[1], refused);
}

#[test]
fn a_program_may_use_a_number_that_another_worker_has_found() {
    let (mut finder, asked) = finder(MS);
    assert_eq!(finder.find("found", 80), Ok(1));
    let mut base = closed(1, 10.0);
    base.load.requests_total = Some(3);
    let (out, _) = run(base, finder, |scene, wake| {
        if let Wake::Begin { .. } = wake {
            ask_at(scene, 1, 1);
        }
    });
    assert_eq!((out.status(200), opened(&out, FOUND), asked.borrow().len()), (3, 1, 0));
}

#[test]
fn an_origin_that_chose_http2_gets_frames() {
    for reuse in [Reuse::User, Reuse::Pool, Reuse::Iteration] {
        let (mut finder, _) = finder(5 * MS);
        finder.is_http2 = true;
        let mut base = Draft { link: Link { reuse, ..Link::default() }, ..closed(3, 10.0) };
        base.load.requests_total = Some(60);
        let (programs, log) = diary(to_found);
        let mut lab = Lab::new(base).factory(programs);
        lab.finder = Some(finder);
        let out = lab.run(ByAddress::new(vec![0, 1]));
        out.check();
        assert_eq!(out.status(200), 60, "{reuse:?}: {:?}", lines(&log).last());
        let most = if reuse == Reuse::Iteration { 60 } else { 3 };
        assert!((1..=most).contains(&opened(&out, FOUND)), "{reuse:?}: {}", opened(&out, FOUND));
    }
}

#[test]
fn addresses_of_a_found_origin_have_no_series() {
    let (finder, _) = finder(MS);
    let link = Link { addresses: Addresses::All, ..Link::default() };
    let mut base = Draft { link, ..closed(4, 10.0) };
    base.load.requests_total = Some(80);
    let (programs, _) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => ask_at(scene, 1, 0),
        Wake::Reply(reply) if reply.id == 1 => scene.out.reach(7, at("found", 80)),
        Wake::Reached { result: Ok(origin), .. } => ask_at(scene, 2, *origin),
        _ => {}
    });
    let mut lab = Lab::new(base).factory(programs);
    lab.addresses.push(SocketAddr::from(([127, 0, 0, 2], 8080)));
    lab.finder = Some(finder);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check();
    let sent: Vec<u64> = out.addresses.iter().map(|one| one.sums[SeriesSum::Sent.id()]).collect();
    assert_eq!((sent.len(), sent.iter().sum::<u64>(), out.status(200)), (2, 40, 80));
}

/// Code that a test replaces by its own programs.
#[derive(Debug)]
struct NoCode;

impl Code for NoCode {
    fn behavior(&self, _: &Plan) -> Result<Arc<dyn Behavior>, Problem> {
        Err(Problem::plain("the test has its own programs"))
    }
}

/// The same draft with users as code.
fn code(draft: Draft) -> Draft {
    Draft { code: Some(Arc::new(NoCode)), requests: vec![], ..draft }
}

#[test]
fn a_plan_without_a_target_gets_all_its_origins_from_its_programs() {
    for (reuse, connections) in [(Reuse::User, 3), (Reuse::Pool, 3), (Reuse::Iteration, 60)] {
        let (finder, _) = SimFinder::new(0, MS, &[("found", Ok(address(FOUND)))]);
        let link = Link { reuse, ..Link::default() };
        let mut base = code(Draft { target: None, link, ..closed(3, 10.0) });
        base.load.iterations = Some(60);
        let (programs, _) = diary(|scene, wake| match wake {
            Wake::Begin { .. } => scene.out.reach(7, at("found", 80)),
            Wake::Reached { result: Ok(origin), .. } => {
                assert_eq!(*origin, 0);
                let request = scene.out.open(plimsoll_plan::series::Family::Request, "one", &[]).unwrap();
                scene.render(Step { origin: *origin, ..step(1, request, BodyUse::Discard) }, "/");
            }
            _ => {}
        });
        let mut lab = Lab::new(base).factory(programs);
        lab.finder = Some(finder);
        let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS));
        assert_eq!(out.sum(RunSum::Iterations), 60);
        assert_eq!(opened(&out, FOUND), connections, "{reuse:?}");
    }
}
