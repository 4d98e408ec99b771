//! Single features of programs: rendered requests, judgments, decisions at the head, counts, and the end of their data.

use crate::support::actors::{diary, lines, step};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_engine::driver::sim::{Connect, Server, Then};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{GroupHist, GroupSum, RunHist, RunSum, SeriesSum};
use plimsoll_plan::program::{BodyUse, Count, Step, Wake};
use plimsoll_plan::{Draft, Fault};
use std::cell::RefCell;
use std::rc::Rc;

/// The requests that a server saw.
type Seen = Rc<RefCell<Vec<String>>>;

fn watched(
    mut answer: impl FnMut(&SimRequest<'_>) -> Answer,
) -> (impl FnMut(&SimRequest<'_>) -> Answer, Seen) {
    let seen = Seen::default();
    let noted = Rc::clone(&seen);
    let server = move |a: &SimRequest<'_>| {
        noted.borrow_mut().push(String::from_utf8_lossy(a.bytes).into_owned());
        answer(a)
    };
    (server, seen)
}

fn post(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

// ---- rendered bytes ---------------------------------------------------------------------------------------------

#[test]
fn rendered_bytes_arrive_whole_however_little_the_kernel_takes_at_once() {
    for window in [1, 7, 1_000, 70_000, usize::MAX] {
        let (factory, _) = diary(|scene, wake| {
            if let Wake::Begin { iteration, .. } = wake {
                // Three at once, on connections that are not open yet in the first iteration and are in the second.
                for id in 0..3 {
                    let body = format!("{iteration}-{id}").repeat(1_000 * id as usize + 1);
                    scene.out.push_rendered(step(id, 0, BodyUse::Discard), |bytes| {
                        bytes.extend_from_slice(post("/x", &body).as_bytes());
                    });
                }
            }
        });
        let (server, seen) = watched(|_| Answer::ok(MS));
        let mut draft = closed(1, 100.0);
        (draft.load.duration_ns, draft.load.requests_total) = (None, Some(6));
        let mut lab = Lab::new(draft).factory(factory).latency(10 * US);
        lab.nature.send_window = window;
        let out = lab.run(server);
        out.check();
        let mut seen = seen.take();
        seen.sort();
        let bodies = ["0-0", "0-1", "0-2", "1-0", "1-1", "1-2"].map(|b| {
            b.repeat(match b.as_bytes()[2] {
                b'0' => 1,
                b'1' => 1_001,
                _ => 2_001,
            })
        });
        let mut expected = bodies.map(|body| post("/x", &body));
        expected.sort();
        assert_eq!(seen, expected, "window {window}");
        let bytes: usize = expected.iter().map(String::len).sum();
        assert_eq!(out.count(SeriesSum::BytesOut), bytes as u64);
        // Two per round do not fit if the window is small.
        let stalls = if window < 4_000 { 4 } else { 0 };
        let stalls = if window < post("/x", "0-0").len() { 6 } else { stalls };
        assert_eq!(out.hist(RunHist::SendBlocked).count(), stalls, "window {window}");
    }
}

/// Refuses the first connection.
struct RefusesOnce<F>(F);
impl<F: FnMut(&SimRequest<'_>) -> Answer> Server for RefusesOnce<F> {
    fn connect(&mut self, connection: u64, _: u64) -> Connect {
        if connection == 0 { Connect::Refuse } else { Connect::Accept { after_ns: 0 } }
    }
    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer {
        (self.0)(asked)
    }
}

#[test]
fn a_request_that_found_no_connection_is_not_sent_in_place_of_the_next() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.render(step(1, 0, BodyUse::Discard), "/rendered"),
        Wake::Reply(r) if r.id == 1 => scene.ask(2, 0, BodyUse::Discard),
        _ => {}
    });
    let (server, seen) = watched(|_| Answer::ok(MS));
    let mut draft = closed(1, 1.0);
    draft.load.requests_total = Some(2);
    let out = Lab::new(draft).factory(factory).run(RefusesOnce(server));
    out.check();
    let seen = seen.take();
    assert!(seen.len() == 1 && seen[0].starts_with("GET / "), "{seen:?} {:?}", lines(&log));
}

/// Responds with 413 to the first bytes of the first connection and closes.
struct Early<F>(F);
impl<F: FnMut(&SimRequest<'_>) -> Answer> Server for Early<F> {
    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer {
        (self.0)(asked)
    }
    fn heard(&mut self, connection: u64, _: u64, _: &[u8]) -> Option<Answer> {
        let refusal = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n";
        (connection == 0).then(|| Answer::silence().piece(0, refusal).then(Then::Close))
    }
}

#[test]
fn a_request_that_was_answered_before_it_was_sent_is_not_sent_on_in_place_of_the_next() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.out.push_rendered(step(1, 0, BodyUse::Discard), |bytes| {
            bytes.extend_from_slice(post("/large", &"x".repeat(5_000)).as_bytes());
        }),
        Wake::Reply(r) if r.id == 1 => scene.ask(2, 0, BodyUse::Discard),
        _ => {}
    });
    let (server, seen) = watched(|_| Answer::ok(MS));
    let mut draft = closed(1, 1.0);
    draft.load.requests_total = Some(2);
    let mut lab = Lab::new(draft).factory(factory).latency(MS);
    lab.nature.send_window = 1_000;
    let out = lab.run(Early(server));
    out.check();
    assert_eq!((out.status(413), out.status(200)), (1, 1), "{:?}", lines(&log));
    assert!(seen.take()[0].starts_with("GET / "));
}

// ---- judgments --------------------------------------------------------------------------------------------------

#[test]
fn of_a_judged_step_the_program_says_whether_it_failed_and_of_others_the_status() {
    // By series: judged and passed, judged and failed, not judged (the program's verdict is not used).
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 10, .. } => scene.out.retire(),
        Wake::Begin { .. } => {
            for id in 0..4 {
                scene.out.push(Step { judged: id < 3, ..step(id, id, BodyUse::Discard) });
            }
        }
        Wake::Reply(r) if r.id > 0 => scene.out.fail(Fault::Check),
        _ => {}
    });
    let draft = Draft { requests: ["/a", "/b", "/c", "/d"].map(get).into(), ..closed(1, 10.0) };
    let out = Lab::new(draft).factory(factory).run(|a: &SimRequest<'_>| match a.bytes[5] {
        b'a' | b'd' => Answer::silence().piece(MS, b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
        b'c' => Answer::silence().then(Then::Close),
        _ => Answer::ok(MS),
    });
    out.check();
    let of = |series: usize, cell: usize| out.all.series[series].sums[cell];
    use plimsoll_plan::metric::{fault_id, status_id};
    for series in 0..4 {
        assert_eq!(of(series, SeriesSum::Finished.id()), 10);
        assert_eq!(of(series, SeriesSum::Failed.id()), if series == 0 { 0 } else { 10 }, "{series}");
    }
    assert_eq!([of(0, status_id(500)), of(1, status_id(200)), of(3, status_id(500))], [10, 10, 10]);
    assert_eq!([of(0, fault_id(Fault::Status)), of(0, fault_id(Fault::Check))], [0, 0]);
    assert_eq!(of(1, fault_id(Fault::Check)), 10);
    // A response that failed in transit is not judged in addition.
    let broken = of(2, fault_id(Fault::ClosedBeforeResponse)) + of(2, fault_id(Fault::StaleConnection));
    assert_eq!((broken, of(2, fault_id(Fault::Check))), (10, 0));
    assert_eq!([of(3, fault_id(Fault::Status)), of(3, fault_id(Fault::Check))], [10, 0]);
}

// ---- decisions at the head --------------------------------------------------------------------------------------

#[test]
fn a_program_decides_at_the_head_whether_it_wants_the_body() {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n";
    let body = "b".repeat(300_000);
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 12, .. } => scene.out.retire(),
        Wake::Begin { iteration, .. } => {
            *scene.number = *iteration;
            scene.ask(1, 0, BodyUse::Decide);
        }
        Wake::Head { head, .. } => {
            assert_eq!(head.text(), HEAD);
            match *scene.number % 3 {
                0 => scene.out.decide(BodyUse::Keep),
                1 => scene.out.decide(BodyUse::Discard),
                _ => {}
            }
        }
        Wake::Reply(r) => {
            assert_eq!(
                (r.body.len(), r.head.text().len()),
                if *scene.number % 3 == 0 { (300_000, HEAD.len()) } else { (0, 0) }
            );
            assert!(r.body.iter().all(|b| *b == b'b') && r.body_bytes == 300_000);
        }
        _ => {}
    });
    let out = Lab::new(closed(1, 10.0)).factory(factory).run(move |a: &SimRequest<'_>| {
        let (answer, body) = (Answer::silence(), body.as_bytes());
        // Head in two pieces; head alone; all at once; the beginning of the body with the head.
        match a.total / 3 {
            0 => answer.piece(MS, &HEAD[..20]).piece(MS, &HEAD[20..]).piece(MS, body),
            1 => answer.piece(MS, HEAD).piece(MS, &body[..7]).piece(MS, &body[7..]),
            2 => answer.piece(MS, &[HEAD, body].concat()),
            _ => answer.piece(MS, &[HEAD, &body[..200_000]].concat()).piece(MS, &body[200_000..]),
        }
    });
    out.check();
    assert_eq!(
        lines(&log).iter().filter(|l| l.contains("head 1 200")).count(),
        12,
        "each head is shown once"
    );
    assert_eq!(lines(&log)[1], "2 head 1 200", "as soon as it is complete");
    assert_eq!(out.count(SeriesSum::BodyBytes), 12 * 300_000);
    assert!(out.calls.discard > 0, "an unwanted body is discarded in the kernel");
}

#[test]
fn of_a_head_only_step_the_body_is_counted_and_not_handed_over() {
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::HeadOnly),
        Wake::Reply(r) => {
            assert_eq!(r.head.text(), b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 200000\r\n\r\n");
            assert_eq!((r.body.len(), r.body_bytes), (0, 200_000));
        }
        other => unreachable!("{other:?}"),
    });
    let mut draft = closed(1, 10.0);
    draft.load.requests_total = Some(20);
    let out = Lab::new(draft).factory(factory).run(|a: &SimRequest<'_>| {
        let head = b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 200000\r\n\r\n";
        let cut = a.total as usize * 2;
        let rest = [&head[cut..], &vec![b'x'; 200_000]].concat();
        Answer::silence().piece(MS, &head[..cut]).piece(MS, &rest)
    });
    out.check();
    assert_eq!(out.count(SeriesSum::BodyBytes), 20 * 200_000);
}

// ---- the end of the data, counts, failures at once --------------------------------------------------------------

#[test]
fn a_run_ends_when_all_users_have_retired_in_both_models() {
    for open_model in [false, true] {
        let (factory, log) = diary(|scene, wake| {
            if let Wake::Begin { iteration, .. } = wake {
                match *iteration < 1 + u64::from(scene.slot.user) {
                    true => scene.ask(1, 0, BodyUse::Discard),
                    false => scene.out.retire(),
                }
            }
        });
        let draft = if open_model {
            Draft {
                load: LoadDraft { max_connections: Some(3), ..open(50.0, 100.0).load },
                ..open(50.0, 100.0)
            }
        } else {
            closed(3, 100.0)
        };
        let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(30 * MS));
        out.check();
        assert_eq!(
            (out.stopped, out.sum(RunSum::UsersOutOfData)),
            (Stopped::Retired, 3),
            "{:?}",
            lines(&log)
        );
        assert_eq!(out.count(SeriesSum::Finished), 1 + 2 + 3);
        assert!(out.elapsed_ns < S);
        assert_eq!(lines(&log).iter().filter(|l| l.contains("begin")).count(), 6 + 3, "none begins again");
    }
}

#[test]
fn counts_land_in_the_series_they_name_also_behind_those_of_the_requests() {
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 10, .. } => scene.out.retire(),
        Wake::Begin { .. } => {
            scene.ask(1, 1, BodyUse::Discard);
            scene.out.count(Count::sum(2, GroupSum::Passages, 3));
            scene.out.count(Count::hist(2, GroupHist::Time, 77));
            scene.out.count(Count::Run(RunSum::IterationsAbandoned, 2));
        }
        _ => {}
    });
    let mut draft = workloads(vec![], &["/a", "/b"]);
    draft.script.as_mut().unwrap().groups = vec!["checkout".into()];
    (draft.load.users, draft.load.duration_ns) = (Some(1), Some(S));
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(MS));
    let of = |series: usize, sum: SeriesSum| out.all.series[series].sums[sum.id()];
    assert_eq!(
        [of(0, SeriesSum::Finished), of(1, SeriesSum::Finished), of(2, SeriesSum::Finished)],
        [0, 10, 30]
    );
    let group = &out.all.series[2].hists[GroupHist::Time.id()];
    assert_eq!((group.count(), group.max(), out.sum(RunSum::IterationsAbandoned)), (10, Some(77), 20));
}

/// No connection is ever possible: the client's machine reports immediately that there is no route.
struct NoRoute;
impl Server for NoRoute {
    fn connect(&mut self, _: u64, _: u64) -> Connect {
        Connect::Errno(libc::ENETUNREACH)
    }
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::silence()
    }
}

#[test]
fn a_program_that_tries_again_whenever_it_fails_at_once_takes_no_stack_and_lets_time_pass() {
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(0, 0, BodyUse::Discard),
        Wake::Reply(r) if r.id < 50_000 => scene.render(step(r.id + 1, 0, BodyUse::Discard), "/again"),
        _ => {}
    });
    let draft =
        Draft { load: LoadDraft { max_connections: Some(2), ..open(1.0, 120.0).load }, ..open(1.0, 120.0) };
    let out = Lab::new(draft).factory(factory).run(NoRoute);
    out.check();
    assert!(out.fault(Fault::HostUnreachable) > 50_000 && out.sum(RunSum::Iterations) > 0);
}
