//! Sleeps of programs, in virtual time: exact to the slot of the wheel, any number at once, canceled silently.

use crate::support::actors::{diary, lines};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};

/// Returns when a sleep until `due_ns` ends: at the end of its slot of the wheel (2^20 ns). Times are from the start.
fn slot_end_ns(due_ns: u64) -> u64 {
    ((((BEGIN_NS + due_ns) >> 20) + 1) << 20) - BEGIN_NS
}

#[test]
fn a_sleep_ends_with_the_slot_of_its_end_and_never_before() {
    let lengths = [0, 1, MS, 10 * MS + 1, 400 * MS, 536 * MS, 537 * MS, 5 * S, 61 * S];
    let (factory, log) = diary(move |scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            for (id, ns) in lengths.iter().enumerate() {
                scene.out.sleep(id as u32, *ns);
            }
        }
        Wake::Begin { .. } => scene.out.retire(),
        _ => {}
    });
    let out = Lab::new(closed(1, 100.0)).factory(factory).run(|_: &SimRequest<'_>| Answer::silence());
    out.check();
    let mut expected = vec!["0 begin 0".to_owned()];
    // Three of them end in one slot; the order within it is not guaranteed, and the wheel returns the last one first.
    for id in [1, 0, 2, 3, 4, 5, 6, 7, 8] {
        expected.push(format!("{} slept {id}", slot_end_ns(lengths[id]) as f64 / 1e6));
    }
    expected.push(format!("{} begin 1", slot_end_ns(61 * S) as f64 / 1e6));
    let (mut seen, mut wanted) = (lines(&log), expected);
    seen.sort();
    wanted.sort();
    assert_eq!(seen, wanted);
    assert_eq!((out.stopped, out.count(SeriesSum::Sent)), (Stopped::Retired, 0));
}

#[test]
fn thousands_of_sleeps_at_once_end_each_in_its_slot_and_half_of_them_are_cancelled() {
    const COUNT: u32 = 2_000;
    let length_ns = |id: u32| u64::from(id) * 370 * US + 3 * S;
    let (factory, log) = diary(move |scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            (0..COUNT).for_each(|id| scene.out.sleep(id, length_ns(id)));
            scene.out.sleep(COUNT, S);
        }
        Wake::Begin { .. } => scene.out.retire(),
        Wake::Slept { id: COUNT } => (0..COUNT).step_by(2).for_each(|id| scene.out.cancel(id)),
        _ => {}
    });
    let out = Lab::new(closed(3, 100.0)).factory(factory).run(|_: &SimRequest<'_>| Answer::silence());
    out.check();
    let seen = lines(&log);
    for user in 0..3 {
        for id in 0..COUNT {
            let line = format!("u{user} {} slept {id}", slot_end_ns(length_ns(id)) as f64 / 1e6);
            assert_eq!(seen.contains(&line), id % 2 == 1, "{line}");
        }
    }
    assert_eq!(seen.iter().filter(|l| l.contains("slept")).count() as u32, 3 * (COUNT / 2 + 1));
    assert_eq!(out.stopped, Stopped::Retired);
}

#[test]
fn sleeps_that_end_together_may_cancel_and_replace_one_another() {
    // All three are due in one slot: the first that wakes cancels the others and starts two new sleeps with their ids.
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => (0..3).for_each(|id| scene.out.sleep(id, 10 * MS)),
        Wake::Begin { .. } => scene.out.retire(),
        Wake::Slept { id } if *id < 3 => {
            (0..3).for_each(|other| scene.out.cancel(other));
            scene.out.sleep(10, 5 * MS);
            scene.out.sleep(11, 20 * MS);
        }
        _ => {}
    });
    let out = Lab::new(closed(1, 1.0)).factory(factory).run(|_: &SimRequest<'_>| Answer::silence());
    out.check();
    let seen = lines(&log);
    let first_ns = slot_end_ns(10 * MS);
    let at = |ns: u64| ns as f64 / 1e6;
    assert!(seen[1].starts_with(&format!("{} slept", at(first_ns))), "{seen:?}");
    let end_ns = slot_end_ns(first_ns + 20 * MS);
    assert_eq!(
        seen[2..],
        [
            format!("{} slept 10", at(slot_end_ns(first_ns + 5 * MS))),
            format!("{} slept 11", at(end_ns)),
            format!("{} begin 1", at(end_ns)),
        ]
    );
}

#[test]
fn a_sleep_beside_a_request_keeps_the_iteration_open_and_is_no_service_time() {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => {
            scene.ask(1, 0, BodyUse::Discard);
            scene.out.sleep(2, 50 * MS);
        }
        Wake::Slept { id: 2 } => scene.ask(3, 0, BodyUse::Discard),
        _ => {}
    });
    let out = Lab::new(closed(1, 0.2)).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(10 * MS));
    out.check();
    let woken = slot_end_ns(50 * MS) as f64 / 1e6;
    let expected = ["0 begin 0".into(), "10 reply 1 200".into(), format!("{woken} slept 2")];
    assert_eq!(lines(&log)[..3], expected);
    assert_eq!(
        lines(&log)[3..5],
        [format!("{} reply 3 200", woken + 10.0), format!("{} begin 1", woken + 10.0)]
    );
    assert_eq!(out.series_hist(SeriesHist::Response).max(), Some(10 * MS));
    assert_eq!(out.sum(RunSum::ConnOpened), 1);
}
