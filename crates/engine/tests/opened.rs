//! Series that programs open during the load.

use crate::support::actors::{diary, step};
use crate::support::*;
use plimsoll_plan::metric::{
    CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, RateSum, RunSum, SeriesHist, SeriesSum, TrendHist,
};
use plimsoll_plan::program::{BodyUse, Wake};
use plimsoll_plan::series::{Family, SeriesKey, from_ordered};

#[test]
fn a_program_opens_series_under_load_and_they_count_from_then_on() {
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { iteration, .. } = wake {
            scene.ask(1, 0, BodyUse::Discard);
            if *iteration >= 2 {
                let odd = if iteration % 2 == 1 { "yes" } else { "no" };
                let counter = scene.out.open(Family::Counter, "orders", &[("odd", odd)]).unwrap();
                scene.out.add(counter, 1.5);
                let gauge = scene.out.open(Family::Gauge, "depth", &[]).unwrap();
                scene.out.add(gauge, 10.0 - *iteration as f64);
                let rate = scene.out.open(Family::Rate, "ok", &[]).unwrap();
                scene.out.add(rate, f64::from(u8::from(*iteration > 2)));
                let trend = scene.out.open(Family::Trend, "cart", &[]).unwrap();
                scene.out.add(trend, *iteration as f64 / 10.0);
                scene.out.add(trend, -1.0);
                scene.out.add(trend, f64::NAN);
                scene.out.add(7_777, 1.0);
            }
            if *iteration == 5 {
                scene.out.retire();
            }
        }
    });
    let (mut draft, path) = (workloads(vec![], &["/a"]), |_: &SimRequest<'_>| Answer::ok(MS));
    (draft.load.users, draft.load.duration_ns) = (Some(1), Some(S));
    let out = Lab::new(draft).factory(factory).run(path);
    let names: Vec<(Family, &str, usize)> =
        out.named.iter().map(|key| (key.family, key.name.as_str(), key.labels.len())).collect();
    let [counter, gauge, rate, trend] = Family::CUSTOM;
    assert_eq!(
        names,
        [
            (counter, "orders", 1),
            (gauge, "depth", 0),
            (rate, "ok", 0),
            (trend, "cart", 0),
            (counter, "orders", 1)
        ],
        "each reported once, in the order of their numbers"
    );
    assert_eq!(*out.named[4], SeriesKey::new(counter, "orders", &[("odd", "yes")]));
    let cells = &out.opened_series;
    let sums = |at: usize, whole: CounterSum, part: CounterSum| {
        (cells[at].sums[whole.id()], cells[at].sums[part.id()])
    };
    assert_eq!(sums(0, CounterSum::Whole, CounterSum::Billionths), (2, 1_000_000_000), "twice 1.5");
    assert_eq!(sums(4, CounterSum::Whole, CounterSum::Billionths), (2, 1_000_000_000));
    let depth = [
        cells[1].lasts[GaugeLast::Last.id()].value,
        cells[1].floors[GaugeFloor::Min.id()],
        cells[1].peaks[GaugePeak::Max.id()],
    ];
    assert_eq!(depth.map(from_ordered), [5.0, 5.0, 8.0]);
    assert_eq!(cells[1].sums[GaugeSum::Values.id()], 4);
    assert_eq!((cells[2].sums[RateSum::Values.id()], cells[2].sums[RateSum::True.id()]), (4, 3));
    let cart = &cells[3].hists[TrendHist::Values.id()];
    assert_eq!((cart.count(), cart.min(), cart.max()), (4, Some(200), Some(500)), "in thousandths");
    assert_eq!(out.sum(RunSum::ValuesRejected), 4 * 3, "negative, NaN, unknown series");
    assert_eq!(out.sum(RunSum::SeriesRejected), 0);
}

#[test]
fn requests_can_be_counted_under_a_name_that_nobody_had_planned() {
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 6, .. } => scene.out.retire(),
        Wake::Begin { iteration, .. } => {
            let name = if iteration % 2 == 0 { "even" } else { "odd" };
            let series = scene.out.open(Family::Request, name, &[("method", "GET")]).unwrap();
            scene.render(step(1, series, BodyUse::Keep), "/x");
        }
        _ => {}
    });
    let mut draft = workloads(vec![], &["/a"]);
    (draft.load.users, draft.load.duration_ns) = (Some(1), Some(S));
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(MS));
    let of = |at: usize| {
        (
            out.opened_series[at].sums[SeriesSum::Finished.id()],
            out.opened_series[at].hists[SeriesHist::Response.id()].count(),
        )
    };
    assert_eq!([of(0), of(1)], [(3, 3), (3, 3)]);
    assert_eq!(out.all.series[0].sums[SeriesSum::Sent.id()], 0, "the plan's own was never sent");
    assert_eq!(out.named[0].request().map(|one| (one.name, one.method)), Some(("even".into(), "GET".into())));
}

#[test]
fn what_finds_no_series_is_counted_without_its_labels_and_told() {
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 50, .. } => scene.out.retire(),
        Wake::Begin { iteration, .. } => {
            scene.ask(1, 0, BodyUse::Discard);
            let counter = scene.out.open(Family::Counter, "orders", &[("id", &iteration.to_string())]);
            scene.out.add(counter.unwrap(), 1.0);
        }
        _ => {}
    });
    let mut draft = workloads(vec![], &["/a"]);
    (draft.load.users, draft.load.duration_ns, draft.limits.open_series) = (Some(1), Some(S), 8);
    let out = Lab::new(draft).factory(factory).run(|_: &SimRequest<'_>| Answer::ok(MS));
    let whole: Vec<u64> = out.opened_series.iter().map(|one| one.sums[CounterSum::Whole.id()]).collect();
    assert_eq!(whole, [1, 1, 1, 1, 1, 1, 1, 1, 42]);
    assert_eq!(out.named[8].labels, []);
    assert_eq!(out.sum(RunSum::SeriesRejected), 42);
}
