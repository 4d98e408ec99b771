//! Requests that hang while others succeed.

use super::availability::{of, silent};
use crate::analysis::fixture::{MS, Run, S, answer, answers, request};
use plimsoll_analysis::summary::{Outcome, PartKind};
use plimsoll_plan::metric::{RunSum, SeriesFloor, SeriesPeak, SeriesSum};
use plimsoll_stats::Interval;

const SECONDS: u32 = 10;

/// The behavior of `pay` in a tick; the four others always respond.
fn shop(pay: impl Fn(&mut Interval)) -> Run {
    let mut run = Run::planned(|draft| {
        draft.load.rate_per_s = Some(500.0);
        draft.load.duration_ns = Some(u64::from(SECONDS) * S);
        draft.requests = ["a", "b", "c", "d", "pay"].iter().map(|name| request(name, "/")).collect();
    });
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 500);
        tick.run.add(RunSum::InFlightNs.id(), 3 * S);
        (0..4).for_each(|series| answers(tick, series, 100, 5 * MS));
        pay(tick);
    });
    run
}

/// `waiting` requests hang in tick `from` and later, until `back` or to the end.
fn hung(waiting: u64, from: u32, back: Option<u32>) -> Run {
    shop(|tick| {
        match back {
            _ if tick.tick < from => answers(tick, 4, 100, 5 * MS),
            _ if tick.tick == from => tick.series[4].add(SeriesSum::Sent.id(), waiting),
            Some(back) if tick.tick == back => late(tick, waiting, 4 * S),
            Some(back) if tick.tick > back => answers(tick, 4, 100, 5 * MS),
            _ => {}
        }
        if back.is_none() && tick.tick == SECONDS - 1 {
            tick.run.add(RunSum::InFlightAtEnd.id(), waiting);
        }
    })
}

/// Responses to requests that were sent in an earlier tick.
fn late(tick: &mut Interval, n: u64, after_ns: u64) {
    (0..n).for_each(|_| answer(tick, 4, after_ns, 200));
    tick.series[4].sums[SeriesSum::Sent.id()] -= n;
}

#[test]
fn a_request_that_hangs_without_a_failure_is_down_and_a_single_late_one_is_not() {
    let all = of(&hung(40, 4, None));
    assert!(all.outages.is_empty(), "{all:?}");
    let [part] = &all.parts[..] else { panic!("{all:?}") };
    assert_eq!((part.kind, part.name.as_str()), (PartKind::Request, "pay"));
    let outage = &part.outages[0];
    assert_eq!((outage.from_s, outage.is_open_ended, outage.failed_requests), (4.0, true, 0));
    assert_eq!(hung(40, 4, None).summary().verdict.result, Outcome::Fail);
    // The same for 4 s in the middle, for any number of hanging requests: they are the slowest tenth, or half of all.
    for waiting in [6, 100, 500] {
        let all = of(&hung(waiting, 3, Some(7)));
        let [part] = &all.parts[..] else { panic!("{waiting}: {all:?}") };
        assert!(!part.outages[0].is_open_ended, "{part:?}");
    }
    silent(&hung(1, 4, None), "a single late one at the end");
    silent(&hung(3, 3, Some(7)), "three late ones in the middle");
    silent(&hung(40, 9, None), "the stop's edge");
    silent(&hung(0, 4, None), "no more requests");
    // Early versions did not count completed sends.
    let early = hung(40, 4, None).all_ticks(|tick| {
        tick.series.iter_mut().for_each(|cells| cells.sums[SeriesSum::Ended.id()] = 0);
    });
    silent(&early, "an early version");
}

#[test]
fn requests_that_always_take_long_are_in_flight() {
    // Every twentieth request always takes 3 s, and occasionally only these are sent.
    let rare = |is_open_ended: bool| {
        shop(move |tick| match (tick.tick, is_open_ended) {
            (0..4, _) => {
                answers(tick, 4, 95, 5 * MS);
                (0..5).for_each(|_| answer(tick, 4, 3 * S, 200));
            }
            (4, _) => tick.series[4].add(SeriesSum::Sent.id(), 5),
            (7, false) => late(tick, 5, 3 * S),
            (9, true) => tick.run.add(RunSum::InFlightAtEnd.id(), 5),
            _ => {}
        })
    };
    silent(&rare(false), "slow requests that completed");
    silent(&rare(true), "slow requests in flight at the end");
}

#[test]
fn a_slow_request_does_not_hide_a_hanging_fast_one() {
    let run = hung(40, 4, None).all_ticks(|tick| (0..20).for_each(|_| answer(tick, 0, 3 * S, 200)));
    let all = of(&run);
    assert!(matches!(&all.parts[..], [part] if part.name == "pay"), "{all:?}");
}

#[test]
fn one_address_of_two_that_hangs_is_down() {
    // Of ten users, five continue at the first address, and five wait at the second after the fourth second.
    let both = |dead: bool| {
        Run::closed(8).with(|run| {
            run.outline.link.addresses = plimsoll_plan::link::Addresses::All;
            run.environment.addresses = vec!["10.0.0.7".into(), "10.0.0.8".into()];
            for tick in &mut run.ticks {
                // Placed after the one request; the engine counts addresses separately.
                let one = tick.series[0].clone();
                let mut second = one.clone();
                second.clear();
                tick.series = vec![one.clone(), one, second];
                match (dead, tick.tick) {
                    (true, 3) => {
                        (0..3).step_by(2).for_each(|at| tick.series[at].add(SeriesSum::Sent.id(), 5))
                    }
                    (true, 4..) => {}
                    _ => (0..3).step_by(2).for_each(|at| answers(tick, at, 1_000, 5 * MS)),
                }
            }
            if dead {
                run.ticks[7].run.add(RunSum::InFlightAtEnd.id(), 5);
            }
        })
    };
    let all = of(&both(true));
    let [part] = &all.parts[..] else { panic!("{all:?}") };
    assert_eq!((part.kind, part.name.as_str()), (PartKind::Address, "10.0.0.8"));
    assert_eq!((part.outages[0].failed_requests, part.outages[0].is_open_ended), (0, true));
    silent(&both(false), "both alive");
}

#[test]
fn availability_of_a_request_counts_the_time_in_which_nothing_succeeded() {
    // All ten users wait, but none of them for `pay`.
    let run = Run::planned(|draft| {
        draft.load.users = Some(10);
        draft.load.duration_ns = Some(8 * S);
        draft.requests = ["a", "pay"].iter().map(|name| request(name, "/")).collect();
    });
    let dead = |from: u32, brief: bool, rule: &str| {
        let mut run = run.clone();
        run.fill(|tick| {
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
            let at_ns = u64::from(tick.tick) * S;
            match tick.tick {
                n if n < from => (0..2).for_each(|series| answers(tick, series, 100, 5 * MS)),
                n if n == from => tick.series[0].add(SeriesSum::Sent.id(), 10),
                7 => tick.run.add(RunSum::InFlightAtEnd.id(), 10),
                _ => {}
            }
            // Its own outage is a short one at the start of the other.
            if brief && tick.tick == from {
                let cells = &mut tick.series[1];
                cells.add(SeriesSum::Finished.id(), 40);
                cells.add(SeriesSum::Failed.id(), 40);
                cells.floor(SeriesFloor::FirstFailure.id(), at_ns + 10 * MS);
                cells.peak(SeriesPeak::LastFailure.id(), at_ns + 900 * MS);
            }
        });
        run.thresholds(&[rule]).summary()
    };
    let rule = "availability{request: pay} > 90%";
    for brief in [false, true] {
        let (down, up) = (dead(4, brief, rule), dead(8, brief, rule));
        assert_eq!((down.thresholds[0].is_met, up.thresholds[0].is_met), (false, true), "{brief}");
        assert_eq!(down.thresholds[0].observed, Some(0.5), "{brief}: {:?}", down.availability);
    }
    // A part cannot be worse than the whole.
    assert_eq!(dead(4, true, "availability > 90%").thresholds[0].observed, Some(0.5));
}
