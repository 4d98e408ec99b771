//! Gathering: reports in any order make the same ticks, and nothing is counted twice or lost.

use plimsoll_control::gather::{Gather, PATIENCE_TICKS, Refused};
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesSum};
use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_record::event::Tick;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use std::sync::Arc;

/// One worker's report. The numbers differ for every worker and tick, so that a mix-up shows.
fn report(worker: u32, tick: u32) -> Interval {
    let run =
        Layout { sums: RunSum::COUNT, peaks: RunPeak::COUNT, floors: 2, hists: RunHist::COUNT, lasts: 0 };
    let series = Layout { sums: SeriesSum::COUNT, peaks: 0, floors: 0, hists: 1, lasts: 0 };
    let mut interval = Interval::new(run, series, 1);
    interval.tick = tick;
    let number = u64::from(worker) * 1_000 + u64::from(tick) + 1;
    interval.run.add(RunSum::WallNs.id(), number);
    interval.run.add(RunSum::BusyNs.id(), number / 2);
    interval.run.peak(RunPeak::InFlight.id(), number);
    interval.run.record(RunHist::ScheduleLag.id(), number);
    interval.series[0].add(SeriesSum::Finished.id(), number);
    interval
}

fn drain(gather: &mut Gather) -> Vec<Tick> {
    std::iter::from_fn(|| gather.ready()).collect()
}

fn numbers(ticks: &[Tick]) -> Vec<u32> {
    ticks.iter().map(|t| t.interval.tick).collect()
}

fn finished(ticks: &[Tick]) -> u64 {
    ticks.iter().map(|t| t.interval.series_total().sums[SeriesSum::Finished.id()]).sum()
}

/// A small seeded random generator (xorshift), so that failures are repeatable.
fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for i in (1..items.len()).rev() {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        items.swap(i, (seed % (i as u64 + 1)) as usize);
    }
}

#[test]
fn a_tick_is_complete_when_every_worker_has_reported_it() {
    let mut gather = Gather::new(2, 1, 10);
    gather.take(0, &report(0, 0), &[], false).unwrap();
    gather.take(0, &report(0, 1), &[], false).unwrap();
    assert!(gather.ready().is_none());
    gather.take(1, &report(1, 0), &[], false).unwrap();
    let ticks = drain(&mut gather);
    assert_eq!(numbers(&ticks), [0]);
    assert_eq!(finished(&ticks), 1 + 1_001);
    assert_eq!(ticks[0].pulses.iter().map(|p| p.wall_ns).collect::<Vec<_>>(), [1, 1_001]);
    assert_eq!(ticks[0].interval.run.peaks[RunPeak::InFlight.id()], 1_001);
}

#[test]
fn the_order_of_reports_changes_nothing() {
    let reports: Vec<(u32, u32)> = (0..3).flat_map(|w| (0..6).map(move |t| (w, t))).collect();
    let gathered = |seed: u64| {
        let mut order = reports.clone();
        shuffle(&mut order, seed);
        let mut gather = Gather::new(3, 1, 10);
        let mut ticks = Vec::new();
        for (worker, tick) in order {
            gather.take(worker, &report(worker, tick), &[], tick == 5).unwrap();
            ticks.extend(drain(&mut gather));
        }
        ticks
    };
    let reference = gathered(1);
    assert_eq!(numbers(&reference), [0, 1, 2, 3, 4, 5]);
    for seed in 2..200 {
        assert_eq!(gathered(seed), reference, "seed {seed}");
    }
}

#[test]
fn a_worker_that_ended_early_does_not_hold_up_the_others() {
    let mut gather = Gather::new(2, 1, 10);
    gather.take(1, &report(1, 0), &[], true).unwrap();
    for tick in 0..3 {
        gather.take(0, &report(0, tick), &[], tick == 2).unwrap();
    }
    let ticks = drain(&mut gather);
    assert_eq!(numbers(&ticks), [0, 1, 2]);
    assert_eq!(ticks[2].pulses[1].wall_ns, 0);
}

#[test]
fn a_duplicate_report_is_rejected_and_counted_once() {
    let mut gather = Gather::new(2, 1, 10);
    gather.take(0, &report(0, 0), &[], false).unwrap();
    assert_eq!(gather.take(0, &report(0, 0), &[], false), Err(Refused::Duplicate { worker: 0, tick: 0 }));
    gather.take(1, &report(1, 0), &[], false).unwrap();
    let ticks = drain(&mut gather);
    assert_eq!(finished(&ticks), 1_002);
    // The same holds after the tick was emitted.
    assert_eq!(gather.take(1, &report(1, 0), &[], false), Err(Refused::Duplicate { worker: 1, tick: 0 }));
    assert_eq!(gather.take(7, &report(7, 0), &[], false), Err(Refused::UnknownWorker { worker: 7 }));
}

#[test]
fn nothing_is_counted_after_a_workers_last_tick() {
    let mut gather = Gather::new(1, 1, 10);
    gather.take(0, &report(0, 0), &[], true).unwrap();
    assert_eq!(gather.take(0, &report(0, 1), &[], false), Err(Refused::AfterTheLast { worker: 0, tick: 1 }));
}

#[test]
fn a_dead_worker_delays_ticks_only_for_a_limited_time() {
    let mut gather = Gather::new(2, 1, 10);
    gather.take(1, &report(1, 0), &[], false).unwrap();
    for tick in 0..=PATIENCE_TICKS {
        gather.take(0, &report(0, tick), &[], false).unwrap();
    }
    assert_eq!(numbers(&drain(&mut gather)), [0]);
    gather.take(0, &report(0, PATIENCE_TICKS + 1), &[], false).unwrap();
    assert_eq!(numbers(&drain(&mut gather)), [1]);
    let rest = gather.rest();
    assert_eq!(numbers(&rest), (2..=PATIENCE_TICKS + 1).collect::<Vec<_>>());
}

#[test]
fn a_report_after_the_deadline_counts_in_a_later_tick() {
    let mut gather = Gather::new(2, 1, 10);
    let mut ticks = Vec::new();
    for tick in 0..=PATIENCE_TICKS {
        gather.take(0, &report(0, tick), &[], false).unwrap();
        ticks.extend(drain(&mut gather));
    }
    assert_eq!(numbers(&ticks), [0]);
    gather.take(1, &report(1, 0), &[], false).unwrap();
    ticks.extend(gather.rest());
    let expected: u64 = (0..=u64::from(PATIENCE_TICKS)).map(|t| t + 1).sum::<u64>() + 1_001;
    assert_eq!(finished(&ticks), expected);
}

#[test]
fn an_uncountable_report_is_reported_as_a_bug_and_not_as_a_lost_worker() {
    let error = plimsoll_control::Error::Uncountable(Refused::Duplicate { worker: 1, tick: 7 });
    let sentence = "the load was stopped: worker 1 reported tick 7 twice; the second report was ignored";
    assert_eq!(error.to_string(), sentence);
    assert!(error.hint().unwrap().contains("bug in the load generator"));
}

/// A report that counts in series that the worker has opened; `counts` are in its numbering.
fn with_opened(worker: u32, tick: u32, counts: &[u64]) -> Interval {
    let mut interval = report(worker, tick);
    let layout = Layout { sums: 1, ..Layout::default() };
    interval.series.extend(counts.iter().map(|n| {
        let mut tally = Tally::new(layout);
        tally.add(0, *n);
        tally
    }));
    interval
}

fn key(name: &str) -> Arc<SeriesKey> {
    Arc::new(SeriesKey::new(Family::Counter, name, &[]))
}

fn counts(tick: &Tick) -> Vec<u64> {
    tick.interval.series[1..].iter().map(|one| one.sums.first().copied().unwrap_or(0)).collect()
}

#[test]
fn series_get_one_number_for_the_run_despite_different_numbers_of_the_workers() {
    let mut gather = Gather::new(2, 1, 10);
    gather.take(0, &with_opened(0, 0, &[1, 2]), &[key("a"), key("b")], false).unwrap();
    gather.take(1, &with_opened(1, 0, &[30, 40]), &[key("b"), key("c")], false).unwrap();
    let opened: Vec<(u32, String)> =
        gather.opened().iter().map(|one| (one.series, one.key.name.clone())).collect();
    assert_eq!(opened, [(1, "a".into()), (2, "b".into()), (3, "c".into())]);
    let ticks = drain(&mut gather);
    assert_eq!((counts(&ticks[0]), ticks[0].opened.len()), (vec![1, 32, 40], 3));
    gather.take(0, &with_opened(0, 1, &[1, 2, 5]), &[key("c")], true).unwrap();
    gather.take(1, &with_opened(1, 1, &[30, 40]), &[], true).unwrap();
    assert!(gather.opened().is_empty(), "each is announced once");
    assert_eq!(counts(&drain(&mut gather)[0]), [1, 32, 45]);
}

#[test]
fn a_worker_may_count_only_in_opened_series() {
    let mut gather = Gather::new(1, 1, 10);
    let refused = gather.take(0, &with_opened(0, 0, &[1, 2]), &[key("a")], false);
    assert_eq!(refused, Err(Refused::UnknownSeries { worker: 0, tick: 0 }));
    assert!(gather.opened().is_empty(), "nothing is counted");
}

#[test]
fn workers_together_may_open_more_series_than_a_run_allows() {
    let mut gather = Gather::new(2, 1, 2);
    let labelled = |id: &str| Arc::new(SeriesKey::new(Family::Counter, "orders", &[("id", id)]));
    gather.take(0, &with_opened(0, 0, &[1, 1]), &[labelled("a"), labelled("b")], true).unwrap();
    gather.take(1, &with_opened(1, 0, &[10, 10]), &[labelled("c"), labelled("b")], true).unwrap();
    assert_eq!(gather.opened().len(), 3);
    let tick = &drain(&mut gather)[0];
    assert_eq!(counts(tick), [1, 11, 10], "a series above the limit is counted without its labels");
    assert_eq!(tick.interval.run.sums[RunSum::SeriesRejected.id()], 1);
}
