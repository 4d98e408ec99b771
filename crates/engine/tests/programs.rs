//! Programs: several steps at once, bodies handed over, and iterations that end when everything has ended.

use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Server, Then};
use plimsoll_engine::{Command, Stopped};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{At, BodyUse, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake};
use std::sync::{Arc, Mutex};

/// The wakes of a program, as text.
type Log = Arc<Mutex<Vec<String>>>;

/// Creates programs from a function of (log, user, wake, outbox).
#[derive(Clone)]
struct Script {
    log: Log,
    body: fn(&Log, u32, Wake<'_>, &mut Outbox),
}

struct Actor {
    log: Log,
    user: u32,
    body: fn(&Log, u32, Wake<'_>, &mut Outbox),
}

impl ProgramFactory for Script {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Script {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program> {
        Box::new(Actor { log: Arc::clone(&self.log), user: slot.user, body: self.body })
    }
}

impl Program for Actor {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        (self.body)(&self.log, self.user, wake, out);
    }
}

fn script(body: fn(&Log, u32, Wake<'_>, &mut Outbox)) -> (Script, Log) {
    let log = Log::default();
    (Script { log: Arc::clone(&log), body }, log)
}

fn step(id: u32, request: u32, body: BodyUse) -> Step {
    Step { id, request, body, ..Step::default() }
}

/// Responds with the path as the body: `/c` after 30 ms, `/b` after 20 ms, `/a` after 10 ms.
fn echo(a: &SimRequest<'_>) -> Answer {
    let path = a.bytes[5] as char;
    let delay = (path as u64 - 'a' as u64 + 1) * 10 * MS;
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nbody-{path}-{path}");
    Answer::silence().piece(delay, text.as_bytes())
}

fn three(mut draft: plimsoll_plan::Draft) -> plimsoll_plan::Draft {
    draft.requests = vec![get("/a"), get("/b"), get("/c")];
    draft
}

#[test]
fn three_steps_at_once_come_back_with_their_own_ids_and_bodies() {
    let (factory, log) = script(|log, user, wake, out| match wake {
        Wake::Begin { user: said, iteration, .. } => {
            assert_eq!(said, user);
            log.lock().unwrap().push(format!("{user} begins {iteration}"));
            // Ids that the program chooses, the slowest first; the body of /b is not requested.
            out.push(step(700, 2, BodyUse::Keep));
            out.push(step(500, 0, BodyUse::Keep));
            out.push(step(600, 1, BodyUse::Discard));
        }
        Wake::Reply(r) => {
            let body = String::from_utf8_lossy(r.body);
            let service = r.phases.service_ns() / MS;
            log.lock().unwrap().push(format!("{user}: {} {} {body} {service} ms", r.id, r.status));
        }
        other => unreachable!("{other:?}"),
    });
    let out = Lab::new(three(closed(2, 0.1))).factory(factory).run(echo);
    out.check();
    let lines = log.lock().unwrap().clone();
    let of = |user: &str| lines.iter().filter(|l| l.starts_with(user)).cloned().collect::<Vec<_>>();
    for user in ["0", "1"] {
        let expected = [
            format!("{user} begins 0"),
            format!("{user}: 500 200 body-a-a 10 ms"),
            format!("{user}: 600 200  20 ms"),
            format!("{user}: 700 200 body-c-c 30 ms"),
            format!("{user} begins 1"),
        ];
        assert_eq!(of(user)[..5], expected);
    }
    // Iterations of 30 ms: three complete ones in 100 ms for each user, the fourth cut off with three requests each.
    assert_eq!(out.sum(RunSum::Iterations), 6);
    assert_eq!(out.calls.open_max, 6, "one connection for each step outstanding");
    assert_eq!(out.sum(RunSum::ConnOpened), 6, "and they are reused");
    assert_eq!(out.count(SeriesSum::Finished), 2 * (3 * 3 + 1));
}

#[test]
fn a_body_in_many_pieces_is_kept_whole_and_an_older_longer_one_does_not_show_through() {
    let (factory, log) = script(|log, _, wake, out| match wake {
        Wake::Begin { .. } => out.push(step(1, 0, BodyUse::Keep)),
        Wake::Reply(r) => log.lock().unwrap().push(String::from_utf8_lossy(r.body).into_owned()),
        other => unreachable!("{other:?}"),
    });
    let out = Lab::new(closed(1, 1.0)).factory(factory).run(|a: &SimRequest<'_>| match a.total % 3 {
        0 => Answer::silence()
            .piece(MS, b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nab")
            .piece(MS, b"cdefgh")
            .piece(MS, b"ijkl"),
        1 => Answer::silence()
            .piece(MS, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n")
            .piece(MS, b"0\r\n\r\n"),
        _ => Answer::silence().piece(MS, b"HTTP/1.1 204 No Content\r\n\r\n"),
    });
    out.check();
    assert_eq!(log.lock().unwrap()[..6], ["abcdefghijkl", "xyz", "", "abcdefghijkl", "xyz", ""]);
}

#[test]
fn a_large_body_that_is_kept_is_not_thrown_away() {
    let (factory, log) = script(|log, _, wake, out| match wake {
        Wake::Begin { .. } => out.push(step(1, 0, BodyUse::Keep)),
        Wake::Reply(r) => {
            log.lock().unwrap().push(format!("{}", r.body.iter().filter(|b| **b == b'x').count()))
        }
        other => unreachable!("{other:?}"),
    });
    let mut draft = closed(1, 1.0);
    draft.load.requests_total = Some(3);
    draft.limits.kept_body_bytes = 900_000;
    let out = Lab::new(draft).factory(factory).run(|a: &SimRequest<'_>| {
        let bytes = if a.total == 2 { 1_000_000 } else { 800_000 };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
        Answer::silence().piece(MS, head.as_bytes()).piece(MS, &vec![b'x'; bytes])
    });
    out.check();
    // The third is longer than the limit on kept bodies.
    assert_eq!(log.lock().unwrap()[..], ["800000", "800000", "900000"]);
    assert_eq!(out.count(SeriesSum::BodyBytes), 2_600_000);
}

#[test]
fn a_reply_may_ask_for_more_and_the_iteration_ends_when_nothing_is_outstanding() {
    let (factory, log) = script(|log, _, wake, out| match wake {
        Wake::Begin { iteration, .. } => {
            log.lock().unwrap().push(format!("begin {iteration}"));
            out.push(step(0, 0, BodyUse::Discard));
        }
        Wake::Reply(r) if r.id < 3 => {
            log.lock().unwrap().push(format!("reply {}", r.id));
            out.push(step(r.id + 1, (r.id + 1) % 3, BodyUse::Discard));
        }
        Wake::Reply(r) => {
            log.lock().unwrap().push(format!("reply {}", r.id));
        }
        other => unreachable!("{other:?}"),
    });
    let out = Lab::new(three(closed(1, 1.0))).factory(factory).run(echo);
    out.check();
    assert_eq!(log.lock().unwrap()[..6], ["begin 0", "reply 0", "reply 1", "reply 2", "reply 3", "begin 1"]);
    assert_eq!(out.sum(RunSum::ConnOpened), 1, "one step at a time needs one connection");
    // a, b, c, a: 70 ms.
    assert_eq!(out.sum(RunSum::Iterations), 14);
}

#[test]
fn users_of_several_workers_have_different_numbers() {
    let (_, log) = script(|_, _, _, _| {});
    for worker in 0..3 {
        let factory = Script {
            log: Arc::clone(&log),
            body: |log, user, wake, out| {
                if let Wake::Begin { iteration: 0, .. } = wake {
                    log.lock().unwrap().push(user.to_string());
                }
                if let Wake::Begin { .. } = wake {
                    out.push(step(0, 0, BodyUse::Discard));
                }
            },
        };
        let mut draft = closed(8, 1.0);
        draft.workers = Some(3);
        let mut lab = Lab::new(draft).factory(factory);
        lab.worker = worker;
        lab.run(|_: &SimRequest<'_>| Answer::ok(10 * MS)).check();
    }
    let mut users: Vec<u32> = log.lock().unwrap().iter().map(|l| l.parse().unwrap()).collect();
    users.sort_unstable();
    assert_eq!(users, (0..8).collect::<Vec<_>>());
}

#[test]
fn a_program_that_sends_nothing_does_not_spin() {
    let (factory, _) = script(|_, _, _, _| {});
    let out = Lab::new(closed(1, 10.0)).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(0));
    out.check();
    assert_eq!(out.count(SeriesSum::Sent), 0);
    // A rest of 1 ms in between, plus or minus a slot of the wheel.
    assert!(out.sum(RunSum::Iterations) <= 10_000, "{}", out.sum(RunSum::Iterations));
    assert!(out.calls.wait < 25_000, "{}", out.calls.wait);
}

#[test]
fn in_the_open_model_a_program_that_sends_nothing_uses_its_arrivals_and_no_stack() {
    let (factory, _) = script(|_, _, _, _| {});
    let mut lab = Lab::new(open(100_000.0, 3.0)).factory(factory);
    lab.nature.stalls = vec![(BEGIN_NS + S, S)];
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(0));
    out.check();
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::Iterations)), (300_000, 300_000));
}

#[test]
fn arrivals_run_programs_with_several_steps_each() {
    let (factory, _) = script(|_, _, wake, out| {
        if let Wake::Begin { .. } = wake {
            (0..3).for_each(|i| out.push(step(i, i, BodyUse::Discard)));
        }
    });
    let out = Lab::new(three(open(100.0, 1.995))).factory(factory).run(echo);
    out.check();
    assert_eq!(out.sum(RunSum::Arrivals), 200);
    assert_eq!(out.count(SeriesSum::Sent), 600);
    // 30 ms per iteration: three users at once, and the last three arrivals are cut off.
    assert_eq!(out.sum(RunSum::Iterations), 197);
    assert_eq!(out.hist(plimsoll_plan::metric::RunHist::ScheduleLag).max(), Some(0));
}

#[test]
fn n_counts_the_steps_of_programs_in_both_models() {
    for n in [1, 2, 3, 4, 5, 6, 7, 100] {
        for open_model in [false, true] {
            let (factory, _) = script(|_, _, wake, out| {
                if let Wake::Begin { .. } = wake {
                    (0..3).for_each(|i| out.push(step(i, i, BodyUse::Discard)));
                }
            });
            let mut draft = three(if open_model { open(100.0, 1.0) } else { closed(1, 1.0) });
            (draft.load.duration_ns, draft.load.requests_total) = (None, Some(n));
            let out = Lab::new(draft).factory(factory).run(echo);
            out.check();
            assert_eq!((out.stopped, out.count(SeriesSum::Finished)), (Stopped::Requests, n));
            assert_eq!(out.sum(RunSum::Iterations), n / 3, "an interrupted iteration does not count");
        }
    }
}

// ---- failures ---------------------------------------------------------------------------------------------------

/// Connects as instructed; the first request on a connection gets a response, and the second finds the connection
/// reset.
struct Fragile<F>(F);
impl<F: FnMut(u64, u64) -> Connect> Server for Fragile<F> {
    fn connect(&mut self, connection: u64, now_ns: u64) -> Connect {
        (self.0)(connection, now_ns - BEGIN_NS)
    }
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::ok(5 * MS)
    }
}

fn one_step(log: &Log, user: u32, wake: Wake<'_>, out: &mut Outbox) {
    match wake {
        Wake::Begin { .. } => {
            out.push(step(9, 0, BodyUse::Discard));
        }
        Wake::Reply(r) => {
            log.lock().unwrap().push(format!(
                "{user} {} {:?} {}",
                r.status,
                r.fault,
                r.phases.service_ns() / MS
            ));
        }
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_program_hears_of_failures_with_status_0_and_no_service_time_if_nothing_was_sent() {
    let (factory, log) = script(one_step);
    let out = Lab::new(closed(1, 1.0)).factory(factory).run(Fragile(|c, _| match c {
        0 => Connect::Refuse,
        1 => Connect::Errno(libc::EMFILE),
        _ => Connect::Accept { after_ns: 0 },
    }));
    out.check();
    let lines = log.lock().unwrap().clone();
    assert_eq!(lines[..3], ["0 0 Some(ConnectionRefused) 0", "0 0 Some(FdLimit) 0", "0 200 None 5"]);
    assert_eq!((out.fault(Fault::FdLimit), out.count(SeriesSum::Failed)), (1, 1));
}

#[test]
fn a_step_that_fails_at_once_ends_its_iteration_once() {
    // The error occurs within the call that starts the step.
    let (factory, log) = script(one_step);
    let mut draft = open(100.0, 2.0);
    draft.load.max_connections = Some(4);
    let out = Lab::new(draft).factory(factory).run(Fragile(|_, t| match t {
        0..S => Connect::Errno(libc::ENETUNREACH),
        _ => Connect::Accept { after_ns: 0 },
    }));
    out.check_arrivals();
    assert_eq!(out.fault(Fault::HostUnreachable), 100);
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::Iterations)), (200, 200));
    assert_eq!(log.lock().unwrap().len(), 200);
    assert_eq!(out.calls.open_max, 1, "no user was used twice");
}

#[test]
fn idle_connections_that_died_under_a_program_end_its_steps_once() {
    // Connections are reset 5 ms after each response; a stall lets the next sends meet the reset first.
    let (factory, log) = script(one_step);
    let mut lab = Lab::new(open(1_000.0, 1.0)).factory(factory).latency(100 * US);
    lab.nature.stalls = (1..9).map(|k| (BEGIN_NS + k * 100 * MS, 40 * MS)).collect();
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS).piece(20 * MS, b"").then(Then::Reset));
    out.check_arrivals();
    assert!(out.fault(Fault::StaleConnection) > 0);
    assert_eq!(out.sum(RunSum::Iterations), out.count(SeriesSum::Finished));
    assert_eq!(log.lock().unwrap().len() as u64, out.count(SeriesSum::Finished));
    assert_eq!(out.sum(RunSum::Arrivals), 1_000);
}

#[test]
fn a_time_out_reaches_the_program_beside_its_other_steps() {
    let (factory, log) = script(|log, _, wake, out| match wake {
        Wake::Begin { .. } => (0..2).for_each(|i| out.push(step(i, i, BodyUse::Keep))),
        Wake::Reply(r) => log.lock().unwrap().push(format!("{} {:?}", r.id, r.fault)),
        other => unreachable!("{other:?}"),
    });
    let mut draft = three(closed(1, 1.0));
    draft.timeout_ns = Some(100 * MS);
    let out = Lab::new(draft).factory(factory).run(|a: &SimRequest<'_>| match a.bytes[5] {
        b'a' => Answer::silence(),
        _ => Answer::ok(10 * MS),
    });
    out.check();
    assert_eq!(log.lock().unwrap()[..3], ["1 None", "0 Some(Timeout)", "1 None"]);
    assert_eq!(out.series_hist(SeriesHist::ServiceCensored).count(), out.fault(Fault::Timeout) + 1);
}

#[test]
fn a_pause_lets_iterations_end_and_starts_none() {
    let (factory, log) = script(|log, _, wake, out| match wake {
        Wake::Begin { iteration, .. } => {
            log.lock().unwrap().push(format!("begin {iteration}"));
            out.push(step(0, 0, BodyUse::Discard));
        }
        Wake::Reply(r) if r.id == 0 => out.push(step(1, 1, BodyUse::Discard)),
        Wake::Reply(_) => log.lock().unwrap().push("end".into()),
        other => unreachable!("{other:?}"),
    });
    let lab = Lab::new(three(closed(1, 1.0))).factory(factory);
    let out = lab.command(5 * MS, Command::Pause).command(900 * MS, Command::Resume).run(echo);
    out.check();
    // Paused in its first step: the iteration continues to its end at 30 ms; the next one begins at 900 ms.
    let lines = log.lock().unwrap().clone();
    assert_eq!(lines[..3], ["begin 0", "end", "begin 1"]);
    assert_eq!(out.sum(RunSum::Iterations), 1 + 3);
}
