//! Rows, heat maps, and spectra of runs that a test wrote value by value.

use crate::analysis::fixture::{MS, Run, S, answer, answers, fail, part, time_out, under_way};
use crate::picture::check::{ticks, wrong};
use plimsoll_analysis::picture::{Picture, ROWS_MAX, SpansOf};
use plimsoll_analysis::{picture, summarise, summarise_with_picture};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunPeak, RunSum, SeriesHist};
use plimsoll_record::RunRecord;
use plimsoll_testkit::made_up::Random;

fn pictured(record: &RunRecord) -> Picture {
    picture(record, &summarise(record), &SpansOf::default())
}

/// A run of `seconds`, each with some responses and some failures.
fn random(seconds: u64, warmup_s: u64, seed: u64) -> Run {
    let mut random = Random::new(seed);
    let mut run = Run::planned(|draft| {
        draft.load.rate_per_s = Some(10.0);
        draft.load.duration_ns = Some(seconds * S);
        draft.warmup_ns = Some(warmup_s * S + if seed.is_multiple_of(3) { 300 * MS } else { 0 });
    });
    run.fill(|_| {});
    for tick in &mut run.ticks {
        let n = random.below(12);
        for _ in 0..n {
            let time_ns = random.time_ns(6e6, 0.9);
            answer(tick, 0, time_ns, if random.below(9) == 0 { 503 } else { 200 });
            // The service time is shorter than the response time.
            tick.series[0].hists[SeriesHist::Service.id()].clear();
        }
        for _ in 0..n {
            tick.series[0].record(SeriesHist::Service.id(), random.time_ns(1e6, 0.5));
        }
        tick.run.add(RunSum::Arrivals.id(), n);
        if random.below(6) == 0 {
            fail(tick, Fault::ConnectionReset, 1);
            fail(tick, Fault::FdLimit, 2);
        }
        if random.below(10) == 0 {
            time_out(tick, 1, 700 * MS);
        }
    }
    if random.below(2) == 0 {
        let last = run.ticks.len() - 1;
        under_way(run.tick(last), 2, 40 * MS);
    }
    // Some seconds are missing.
    run.ticks.retain(|tick| seed.is_multiple_of(2) || tick.tick % 97 > 4);
    run
}

#[test]
fn rows_of_one_tick_are_the_timeline() {
    let record = random(300, 20, 1).record();
    let (summary, picture) = (summarise(&record), pictured(&record));
    assert_eq!(picture.ticks_per_row, 1);
    let json = |rows| serde_json::to_string(rows).unwrap();
    assert_eq!(json(&picture.rows), json(&summary.timeline));
}

#[test]
fn a_picture_of_any_run_matches_the_run() {
    for seed in 0..24 {
        let seconds = [1, 2, 17, 240, 500, 1_799, 1_801, 3_700][seed as usize % 8];
        let record = random(seconds, [0, 1, 30][seed as usize % 3].min(seconds - 1), seed).record();
        assert_eq!(wrong(&record, &pictured(&record)), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn a_picture_with_a_mistake_is_detected() {
    let record = random(2_500, 30, 4).record();
    let good = pictured(&record);
    assert!(wrong(&record, &good).is_empty());
    let spoilt = |spoil: fn(&mut Picture)| {
        let mut picture = good.clone();
        spoil(&mut picture);
        !wrong(&record, &picture).is_empty()
    };
    assert!(spoilt(|p| p.response_heat.counts[3][7] += 1));
    assert!(spoilt(|p| std::mem::swap(&mut p.response_heat, &mut p.service_heat)));
    assert!(spoilt(|p| {
        let spectrum = &mut p.spectra[0];
        std::mem::swap(&mut spectrum.response, &mut spectrum.service);
    }));
    assert!(spoilt(|p| p.rows[5].p99_ns = p.rows[6].p99_ns));
    assert!(spoilt(|p| p.failures[5][0] += 1));
    assert!(spoilt(|p| p.classes.swap(0, 1)));
    assert!(spoilt(|p| p.rows.truncate(p.rows.len() - 1)));
    let mut fewer = record.clone();
    let ticks = &mut fewer.generators.get_mut("a").expect("the fixture's origin").ticks;
    ticks.remove(&1_000);
    assert!(!wrong(&record, &pictured(&fewer)).is_empty(), "a missing tick");
}

#[test]
fn percentiles_of_a_row_are_those_of_all_its_requests() {
    // 3,600 ticks make rows of two. In each pair, one second is fast with many responses, and one is slow with few.
    let mut run = Run::planned(|draft| {
        draft.load.rate_per_s = Some(10.0);
        draft.load.duration_ns = Some(3_600 * S);
    });
    run.fill(|tick| match tick.tick % 2 {
        0 => (0..99).for_each(|k| answer(tick, 0, (10 + k / 10) * MS, 200)),
        _ => answer(tick, 0, 900 * MS, 200),
    });
    let picture = pictured(&run.record());
    assert_eq!((picture.ticks_per_row, picture.rows.len()), (2, 1_800));
    for row in &picture.rows {
        // Of 100 responses, the 99th is fast. The mean of the seconds' p99 would be about 460 ms, and the highest
        // 900 ms.
        let mut times: Vec<u64> = (0..99).map(|k| (10 + k / 10) * MS).chain([900 * MS]).collect();
        times.sort_unstable();
        let near = |found: Option<u64>, truth: u64| found.unwrap().abs_diff(truth) <= truth / 128;
        assert!(near(row.p99_ns, times[98]), "{:?}", row.p99_ns);
        assert!(near(row.p50_ns, times[49]) && row.max_ns == Some(900 * MS));
        assert_eq!((row.requests, row.achieved_rate_per_s, row.length_s), (100, 50.0, 2.0));
    }
}

#[test]
fn nine_hours_fit_into_a_visible_number_of_rows_and_columns() {
    let run = random(32_400, 60, 2);
    let record = run.record();
    let (summary, picture) = summarise_with_picture(&record, &SpansOf::default());
    assert_eq!(summary.timeline.len(), 32_400);
    assert_eq!(picture.ticks_per_row, 20);
    assert!(picture.rows.len() <= ROWS_MAX && picture.rows.len() > ROWS_MAX / 2, "{}", picture.rows.len());
    assert!((120..=240).contains(&picture.response_heat.from_s.len()));
    assert_eq!(wrong(&record, &picture), Vec::<String>::new());
    assert!(serde_json::to_string(&picture).unwrap().len() < 2_000_000);
}

#[test]
fn computing_both_at_once_equals_computing_each() {
    let record = random(400, 10, 7).record();
    let (summary, both) = summarise_with_picture(&record, &SpansOf::default());
    let json = |picture: &Picture| serde_json::to_string(picture).unwrap();
    assert_eq!(serde_json::to_string(&summary).unwrap(), serde_json::to_string(&summarise(&record)).unwrap());
    assert_eq!(json(&both), json(&pictured(&record)));
}

#[test]
fn a_heat_map_has_the_occurring_range_in_rows_of_round_steps() {
    let mut run = Run::planned(|draft| draft.load.duration_ns = Some(20 * S));
    run.fill(|tick| answers(tick, 0, 100, 5 * MS));
    let heat = pictured(&run.record()).response_heat;
    let (low, high) = (heat.edges_ns[0], *heat.edges_ns.last().unwrap());
    assert!((3.8e6..=4e6).contains(&low) && (5.96e6..6.2e6).contains(&high), "{low} {high}");
    assert_eq!(heat.from_s, (0..20).map(f64::from).collect::<Vec<f64>>());
    assert_eq!(heat.to_s, 20.0);
    // From microseconds to seconds, there are still 40 to 60 rows.
    let wide = run.at(3, |tick| answer(tick, 0, 4_000, 200)).at(4, |tick| answer(tick, 0, 9 * S, 200));
    let rows = pictured(&wide.record()).response_heat.edges_ns.len() - 1;
    assert!((40..=60).contains(&rows), "{rows}");
}

#[test]
fn a_gap_is_an_empty_column_and_not_a_row() {
    let mut run = Run::closed(100);
    run.ticks.drain(40..60);
    let record = run.record();
    let picture = pictured(&record);
    assert!(picture.rows.iter().all(|row| !(40..60).contains(&row.tick)));
    let heat = &picture.response_heat;
    let at = heat.from_s.iter().position(|from_s| *from_s == 40.0).expect("the gap has a column");
    assert_eq!((heat.counts[at].iter().sum::<u64>(), heat.from_s[at + 1]), (0, 60.0));
    assert_eq!(wrong(&record, &picture), Vec::<String>::new());
    // In rows of several ticks, no row has ticks of both sides.
    let mut long = random(4_000, 0, 2);
    long.ticks.drain(1_001..1_050);
    let picture = pictured(&long.record());
    assert!(picture.ticks_per_row > 1);
    let spans =
        |row: &&plimsoll_analysis::summary::Second| row.tick < 1_001 && row.from_s + row.length_s > 1_001.0;
    assert!(picture.rows.iter().find(spans).is_none());
}

#[test]
fn two_machines_make_the_picture_of_one() {
    let half = |number: u32, of: u32, origin: &str| {
        let mut run = Run::planned(|draft| {
            draft.load.rate_per_s = Some(100.0);
            draft.load.duration_ns = Some(30 * S);
            draft.shard = Some(part(number, of));
        });
        run.origin = origin.into();
        run.fill(|tick| answers(tick, 0, 10 * u64::from(number), u64::from(number + tick.tick) * MS));
        run
    };
    let (one, two) = (half(1, 2, "one"), half(2, 2, "two"));
    let merged = RunRecord::merge(one.record(), two.record()).unwrap();
    let picture = pictured(&merged);
    assert_eq!(wrong(&merged, &picture), Vec::<String>::new());
    let mut whole = half(1, 1, "whole");
    for (tick, more) in whole.ticks.iter_mut().zip(&two.ticks) {
        tick.merge(more);
    }
    let whole = pictured(&whole.record());
    assert_eq!((picture.response_heat, picture.service_heat), (whole.response_heat, whole.service_heat));
    assert_eq!(picture.spectra, whole.spectra);
    assert_eq!(ticks(&merged).len(), 30);
}

#[test]
fn lower_bounds_start_at_the_first_percentile_that_is_one() {
    let run = Run::closed(10).all_ticks(|tick| time_out(tick, 100, 10 * S));
    let record = run.record();
    let all = &pictured(&record).spectra[0];
    // 2,000 responses and 100 timeouts per second: above 2,000 / 2,100, all percentiles are lower bounds of 10 s.
    let from = all.at_least_from.expect("the last ones are lower bounds");
    assert!(from > 2_000.0 / 2_100.0 && from < 0.97, "{from}");
    assert_eq!((all.response_count, all.censored), (20_000, 1_000));
    assert_eq!(pictured(&Run::closed(10).record()).spectra[0].at_least_from, None);
}

#[test]
fn the_values_of_a_second_are_counted_and_not_estimated() {
    let run = Run::open(12).at(5, |tick| {
        fail(tick, Fault::ConnectionReset, 40);
        tick.run.peak(RunPeak::ArrivalsQueued.id(), 17);
        tick.run.add(RunSum::BusyNs.id(), 300 * MS);
        tick.run.add(RunSum::WallNs.id(), S);
        tick.run.add(RunSum::ConnOpened.id(), 9);
    });
    let run = run.at(7, |tick| tick.run.add(RunSum::ClosedByServer.id(), 4));
    let seconds = run.summary().timeline;
    let of = |at: usize| (seconds[at].connections_open, seconds[at].waiting_peak, seconds[at].busy_ratio);
    assert_eq!(
        (of(4), of(5), of(6), of(7)),
        ((0, Some(0), None), (9, Some(17), Some(0.3)), (9, Some(0), None), (5, Some(0), None))
    );
    assert_eq!(
        (seconds[5].achieved_rate_per_s, seconds[5].good_rate_per_s),
        (1_000.0, 1_000.0),
        "a reset is not a response"
    );
    assert!(seconds[5].p95_ns > seconds[5].p90_ns && seconds[5].p95_ns < seconds[5].p99_ns);
    assert_eq!(Run::closed(12).summary().timeline[3].waiting_peak, None, "users never wait for a connection");
}
