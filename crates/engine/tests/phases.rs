//! The latency breakdown of requests, recorded by their response times: with a server of known timing, in virtual time.

use crate::support::actors::diary;
use crate::support::*;
use plimsoll_engine::Command;
use plimsoll_engine::driver::sim::{Connect, Server};
use plimsoll_plan::metric::{PHASE_UNIT_NS, RunHist, RunSum, SeriesHist};
use plimsoll_plan::program::{BodyUse, Phases, Wake};
use std::sync::{Arc, Mutex};

const PHASES: [RunHist; 3] = [RunHist::WaitByResponse, RunHist::FirstByteByResponse, RunHist::BodyByResponse];

/// Returns the total of each phase, ns.
fn sums_ns(out: &Outcome) -> [u64; 3] {
    PHASES.map(|id| out.hist(id).count() * PHASE_UNIT_NS)
}

/// No time is counted twice or omitted: the phases of all requests add up to their response times, including those that
/// were cut off.
#[track_caller]
fn adds_up(out: &Outcome) {
    let times = [SeriesHist::Response, SeriesHist::ResponseCensored].map(|id| out.series_hist(id));
    let (sum_ns, count) = (times[0].sum() + times[1].sum(), times[0].count() + times[1].count());
    let phases_ns: u64 = sums_ns(out).iter().sum();
    // Each of three phases is rounded to the nearest unit.
    let slack_ns = u128::from(count * 3 * PHASE_UNIT_NS / 2);
    assert!(u128::from(phases_ns).abs_diff(sum_ns) <= slack_ns, "{phases_ns} ns of {sum_ns} ns");
    assert!(count > 0);
}

/// A response that takes `first` until the head, then sends half of the body, and the rest after `body`.
fn slow(first_ns: u64, body_ns: u64) -> Answer {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok";
    Answer::silence().piece(first_ns, head).piece(body_ns, b"ay")
}

fn close(found_ns: u64, wanted_ns: u64) -> bool {
    found_ns.abs_diff(wanted_ns) * 100 <= wanted_ns
}

#[test]
fn a_late_head_and_a_slow_body_are_two_things() {
    let out = Lab::new(closed(2, 3.0)).run(|_: &SimRequest<'_>| slow(5 * MS, 20 * MS));
    let n = out.series_hist(SeriesHist::Response).count();
    let cut = out.sum(RunSum::InFlightAtEnd);
    let [wait, first, body] = sums_ns(&out);
    assert_eq!(wait, 0, "users of the closed model send immediately");
    assert!(close(first, (n + cut) * 5 * MS) && first >= n * 5 * MS, "{first} ns of {n} requests");
    assert!(body >= n * 20 * MS * 99 / 100 && body <= (n + cut) * 20 * MS, "{body} ns of {n} requests");
    adds_up(&out);
}

#[test]
fn arrivals_that_wait_for_a_connection_wait_before_the_send() {
    let mut draft = open(100.0, 2.0);
    draft.load.max_connections = Some(1);
    // 100/s times 15 ms on one connection: each waits 5 ms longer than the previous one.
    let out = Lab::new(draft).run(|_: &SimRequest<'_>| slow(10 * MS, 5 * MS));
    let [wait, first, body] = sums_ns(&out);
    assert!(wait > 10 * (first + body), "{wait} ns, {first} ns, {body} ns");
    adds_up(&out);
    // By response time: the slowest ones waited in the queue, and no response became slower.
    let half_ns = out.series_hist(SeriesHist::Response).quantile(0.5).unwrap();
    let above = |id| out.hist(id).count_above(half_ns) * PHASE_UNIT_NS;
    assert!(above(RunHist::WaitByResponse) > wait / 2);
    assert!(above(RunHist::FirstByteByResponse) <= first * 6 / 10);
}

#[test]
fn what_never_answered_waited_for_its_first_byte() {
    let mut draft = closed(3, 2.0);
    draft.timeout_ns = Some(300 * MS);
    let out = Lab::new(draft).run(|_: &SimRequest<'_>| Answer::silence());
    let [wait, first, body] = sums_ns(&out);
    assert_eq!((wait, body), (0, 0));
    assert!(first > 0);
    adds_up(&out);
}

#[test]
fn an_answer_that_stops_in_the_middle_waited_for_its_body() {
    let mut draft = closed(1, 2.0);
    draft.timeout_ns = Some(500 * MS);
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok";
    let out = Lab::new(draft).run(|_: &SimRequest<'_>| Answer::silence().piece(100 * MS, head));
    let [_, first, body] = sums_ns(&out);
    assert!(close(body, 4 * first), "100 ms, then 400 ms: {first} ns, {body} ns");
    adds_up(&out);
}

#[test]
fn nobody_is_active_in_a_pause() {
    let pause = |lab: Lab| lab.command(S, Command::Pause).command(3 * S, Command::Resume);
    let out = pause(Lab::new(closed(10, 5.0))).run(|_: &SimRequest<'_>| Answer::ok(2 * MS));
    let users_ns = out.sum(RunSum::UsersNs);
    assert!(close(users_ns, 10 * 3 * S), "ten users for three of five seconds: {users_ns} ns");
}

/// Accepts connections 5 ms after the TCP handshake, and responds in two pieces.
struct Slow;

impl Server for Slow {
    fn connect(&mut self, _: u64, _: u64) -> Connect {
        Connect::Accept { after_ns: 5 * MS }
    }
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::silence().piece(3 * MS, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n").piece(4 * MS, b"ok")
    }
}

#[test]
fn a_program_is_told_where_the_time_of_each_request_went() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&told);
    let (factory, _) = diary(move |scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Discard),
        Wake::Reply(reply) => {
            noted.lock().expect("no program has panicked").push((reply.phases, reply.phases.service_ns()));
            match reply.id {
                1 => scene.ask(2, 0, BodyUse::Discard),
                _ => scene.out.retire(),
            }
        }
        _ => {}
    });
    Lab::new(closed(1, 10.0)).latency(MS).factory(factory).run(Slow).check();
    let told = told.lock().expect("no program has panicked");
    let phases = |wait_ns, connect_ns| Phases {
        wait_ns,
        connect_ns,
        tls_ns: 0,
        first_byte_ns: 5 * MS,
        body_ns: 4 * MS,
    };
    assert_eq!(
        told[..],
        [(phases(7 * MS, 7 * MS), 9 * MS), (phases(0, 0), 9 * MS)],
        "the second found a connection"
    );
}
