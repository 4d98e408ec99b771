//! Requests that hang while others are answered.

use super::availability::{of, silent};
use crate::analysis::fixture::{MS, Run, S, answer, answers, request};
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_record::summary::{Outcome, PartKind};

/// Four requests that answer and one, `pay`, of which `waiting` hang from `from` on until `back` comes, or to the end.
fn hung(waiting: u64, from: u32, back: Option<u32>) -> Run {
    let mut run = Run::planned(|draft| {
        draft.rate_per_s = Some(500.0);
        draft.duration_ns = Some(10 * S);
        draft.requests = ["a", "b", "c", "d", "pay"].iter().map(|name| request(name, "/")).collect();
    });
    run.fill(|tick| {
        tick.run.add(RunSum::Arrivals.id(), 500);
        tick.run.add(RunSum::InFlightNs.id(), 3 * S);
        (0..4).for_each(|series| answers(tick, series, 100, 5 * MS));
        match back {
            _ if tick.tick < from => answers(tick, 4, 100, 5 * MS),
            _ if tick.tick == from => tick.series[4].add(SeriesSum::Sent.id(), waiting),
            Some(back) if tick.tick == back => {
                (0..waiting).for_each(|_| answer(tick, 4, 4 * S, 200));
                tick.series[4].sums[SeriesSum::Sent.id()] = 0;
            }
            Some(back) if tick.tick > back => answers(tick, 4, 100, 5 * MS),
            _ => {}
        }
    });
    run
}

#[test]
fn one_request_that_hangs_without_a_failure_is_down_and_one_that_waits_alone_is_late() {
    let all = of(&hung(40, 4, None));
    assert!(all.outages.is_empty(), "{all:?}");
    let [part] = &all.parts[..] else { panic!("{all:?}") };
    assert_eq!((part.kind, part.name.as_str()), (PartKind::Request, "pay"));
    assert!(part.outages[0].open_ended && part.outages[0].failures.is_empty(), "{part:?}");
    assert!((4.0..=5.0).contains(&part.outages[0].from_s), "{part:?}");
    assert_eq!(hung(40, 4, None).summary().verdict.result, Outcome::Fail);
    // The same for 4 s in the middle.
    let all = of(&hung(6, 3, Some(7)));
    let [part] = &all.parts[..] else { panic!("{all:?}") };
    assert!(!part.outages[0].open_ended, "{part:?}");
    silent(&hung(1, 4, None), "a single late one at the end");
    silent(&hung(3, 3, Some(7)), "three late ones in the middle");
    silent(&hung(40, 9, None), "the stop's edge");
    silent(&hung(0, 4, None), "nobody asked for it any more");
    // What always takes as long is on its way.
    let slow = hung(40, 4, None).all_ticks(|tick| {
        if tick.tick < 4 {
            (0..10).for_each(|_| answer(tick, 4, 3 * S, 200));
        }
    });
    silent(&slow, "every tenth takes 3 s");
    // Rows of early versions say nothing of what was sent.
    let early = hung(40, 4, None).all_ticks(|tick| {
        for cells in &mut tick.series {
            cells.sums[SeriesSum::Sent.id()] = 0;
            cells.sums[SeriesSum::Landed.id()] = 0;
        }
    });
    silent(&early, "an early version");
}

#[test]
fn availability_of_a_request_counts_the_time_in_which_nothing_succeeded() {
    // All ten users wait; of `pay` none of them does.
    let run = Run::planned(|draft| {
        draft.connections = Some(10);
        draft.duration_ns = Some(8 * S);
        draft.requests = ["a", "pay"].iter().map(|name| request(name, "/")).collect();
    });
    let dead = |from: u32| {
        let mut run = run.clone();
        run.fill(|tick| {
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
            match tick.tick {
                n if n < from => (0..2).for_each(|series| answers(tick, series, 100, 5 * MS)),
                n if n == from => tick.series[0].add(SeriesSum::Sent.id(), 10),
                _ => {}
            }
        });
        run.thresholds(&["availability{request: pay} > 90%"]).summary()
    };
    assert_eq!((dead(4).thresholds[0].met, dead(8).thresholds[0].met), (false, true));
    assert_eq!(dead(4).thresholds[0].observed, dead(4).availability.ratio_time, "half of the time");
}
