//! Availability of the service: times of success and failure, users that were never served, and each of several
//! addresses separately.

use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Server};
use plimsoll_plan::metric::{RunSum, SeriesFloor, SeriesPeak, SeriesSum};
use plimsoll_stats::Tally;

fn failed() -> Answer {
    Answer::silence().piece(MS, b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
}

/// Responds within 1 ms with 200, but with 500 between two points in time.
fn down_between(from_ns: u64, to_ns: u64) -> impl Server {
    move |asked: &SimRequest<'_>| {
        let at_ns = asked.now_ns - BEGIN_NS;
        if (from_ns..to_ns).contains(&at_ns) { failed() } else { Answer::ok(MS) }
    }
}

fn last_success(tally: &Tally) -> u64 {
    tally.peaks[SeriesPeak::LastSuccess.id()]
}

fn first_success(tally: &Tally) -> u64 {
    tally.floors[SeriesFloor::FirstSuccess.id()]
}

#[test]
fn the_instants_around_an_outage_are_those_of_the_answers() {
    let out = Lab::new(closed(10, 8.0)).run(down_between(3_100 * MS, 4_600 * MS));
    out.check();
    let tick = |number: usize| &out.ticks[number].0.series[0];
    // A request that reached the server just before 3.1 s gets its response 1 ms later; the last failed one was sent
    // before 4.6 s, and the first success follows at most a round later.
    assert_eq!(last_success(tick(3)), 3_100 * MS);
    assert_eq!(first_success(tick(3)), 3_000 * MS);
    assert_eq!(tick(3).floors[SeriesFloor::FirstFailure.id()], 3_101 * MS);
    assert_eq!(tick(4).peaks[SeriesPeak::LastFailure.id()], 4_600 * MS);
    assert_eq!(first_success(tick(4)), 4_601 * MS);
    // Only failures, and a tick without any.
    let out = Lab::new(closed(10, 8.0)).run(down_between(3_000 * MS, 5_500 * MS));
    let tick = |number: usize| &out.ticks[number].0.series[0];
    assert_eq!((last_success(tick(4)), first_success(tick(4))), (0, u64::MAX));
    assert_eq!(tick(6).peaks[SeriesPeak::LastFailure.id()], 0);
    assert_eq!(tick(6).floors[SeriesFloor::FirstFailure.id()], u64::MAX);
}

#[test]
fn users_that_were_never_served_are_counted_at_the_end() {
    // Connections are numbered in the order of their attempts, and each user keeps its own.
    let out = Lab::new(closed(10, 3.0)).run(|asked: &SimRequest<'_>| match asked.connection {
        0..3 => failed(),
        _ => Answer::ok(MS),
    });
    out.check();
    assert_eq!((out.sum(RunSum::UsersActive), out.sum(RunSum::UsersWithoutSuccess)), (10, 3));
    let healthy = run_fixed(closed(10, 3.0), MS);
    assert_eq!((healthy.sum(RunSum::UsersActive), healthy.sum(RunSum::UsersWithoutSuccess)), (10, 0));
    // Users that a ramp never started do not count as users without success; arrivals have no users.
    let ramp = run_fixed(
        plimsoll_plan::Draft {
            load: plimsoll_plan::draft::LoadDraft { stages: stages(false, &[(3.0, 4.0)]), ..draft().load },
            ..draft()
        },
        MS,
    );
    assert_eq!((ramp.sum(RunSum::UsersActive), ramp.sum(RunSum::UsersWithoutSuccess)), (4, 0));
    let open = run_fixed(open(100.0, 3.0), MS);
    assert_eq!((open.sum(RunSum::UsersActive), open.sum(RunSum::UsersWithoutSuccess)), (0, 0));
}

/// Refuses every second connection: the second of two addresses.
struct HalfDead;

impl Server for HalfDead {
    fn connect(&mut self, number: u64, _now_ns: u64) -> Connect {
        if number % 2 == 1 { Connect::Refuse } else { Connect::Accept { after_ns: 0 } }
    }

    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::ok(MS)
    }
}

#[test]
fn each_of_several_addresses_is_counted_by_itself() {
    let mut lab = Lab::new(closed(1, 4.0));
    lab.draft.link.reuse = plimsoll_plan::link::Reuse::Request;
    lab.addresses = ["10.0.0.1:80", "10.0.0.2:80"].map(|a| a.parse().unwrap()).into();
    let out = lab.run(HalfDead);
    out.check();
    let of = |tally: &Tally| (tally.sums[SeriesSum::Finished.id()], tally.sums[SeriesSum::Failed.id()]);
    let (alive, dead) = (of(&out.addresses[0]), of(&out.addresses[1]));
    assert_eq!((alive.1, dead.0), (0, dead.1), "{alive:?} {dead:?}");
    assert!(alive.0 > 10 && dead.0 > 10, "{alive:?} {dead:?}");
    // A refused user pauses before its request ends, and may still pause at the stop.
    let finished = out.count(SeriesSum::Finished);
    assert!((finished - 1..=finished).contains(&(alive.0 + dead.0)), "{alive:?} {dead:?} {finished}");
    assert!(last_success(&out.addresses[0]) > 3 * S);
    assert_eq!(last_success(&out.addresses[1]), 0);
    // A single address is the same as the run: it has no series.
    assert!(run_fixed(closed(1, 2.0), MS).addresses.is_empty());
}
