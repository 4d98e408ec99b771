//! Generated runs of scripts: they open all of their series during the load, and the plan names no target.

use super::metrics::{opened, tick_with};
use super::{ending, opening as plain};
use plimsoll_plan::load::{Load, Profile, Stop, Workload};
use plimsoll_plan::metric::{
    CheckSum, CounterSum, GroupHist, GroupSum, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, TrendHist,
    fault_id, status_id,
};
use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_plan::{Fault, threshold};
use plimsoll_record::event::{Opening, RunEvent};
use plimsoll_record::record::RUN_LAYOUT;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};
use std::sync::Arc;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// Returns the opening of a run with two scenarios, `browse` and `buy`, of ten users each.
pub fn opening(origin: &str, seconds: u32) -> Opening {
    let mut opening = plain(origin, 0);
    let outline = &mut opening.outline;
    outline.name = "shop.js".into();
    (outline.target, outline.host, outline.port) = (String::new(), String::new(), 0);
    outline.thresholds = threshold::with_defaults(Vec::new(), false, true);
    outline.warmup_ns = 0;
    outline.stop = Stop { duration_ns: Some(u64::from(seconds) * S), requests: None };
    outline.load = Load::Closed { users: Profile::constant(20.0) };
    let workload = |name: &str| Workload {
        name: name.into(),
        load: Load::Closed { users: Profile::constant(10.0) },
        connections: 10,
        iterations: None,
        loops: None,
        rules: Default::default(),
    };
    outline.workloads = vec![workload("browse"), workload("buy")];
    opening.environment.addresses.clear();
    opening
}

/// Returns all events of such a run. In each second, 100 lists (2 status 500, 2 refused) and 50 payments are requested,
/// 100 lists and 100 payments are checked (3 and 1 failed), and 50 iterations complete, of which `exceptions` threw.
/// The order of the series depends on the origin.
pub fn events(opening: &Opening, seconds: u32, exceptions: u64) -> Vec<RunEvent> {
    let mut all = series();
    if opening.origin != "a" {
        all.reverse();
    }
    let keys: Vec<SeriesKey> = all.iter().map(|(key, _)| key.clone()).collect();
    let mut events = vec![RunEvent::Opened(Arc::new(opening.clone()))];
    events.extend((0..).zip(&keys).map(|(number, key)| opened(number, key)));
    for number in 0..seconds {
        let interval = Interval { tick: number, run: run(exceptions), series: Vec::new() };
        events.push(tick_with(interval, &keys, all.iter().map(|(_, cells)| cells.clone()).collect()));
    }
    events.push(ending(u64::from(seconds)));
    events
}

fn run(exceptions: u64) -> Tally {
    let mut run = Tally::on_demand(RUN_LAYOUT);
    for (sum, n) in [
        (RunSum::Iterations, 50),
        (RunSum::IterationsFailed, exceptions),
        (RunSum::ConnAttempts, 4),
        (RunSum::ConnOpened, 2),
        (RunSum::ConnReusedRequests, 146),
        (RunSum::BusyNs, S / 5),
        (RunSum::IdleNs, S * 4 / 5),
        (RunSum::WallNs, S),
        (RunSum::InFlightNs, S),
        (RunSum::UsersNs, 20 * S),
    ] {
        run.add(sum.id(), n);
    }
    run.peak(RunPeak::InFlight.id(), 20);
    run.hists[RunHist::Connect.id()].record_n(MS, 2);
    run.hists[RunHist::ScheduleLag.id()].record_n(1_000, 150);
    run
}

/// Returns the series with their numbers of a second.
fn series() -> Vec<(SeriesKey, Tally)> {
    let (browse, buy) = (("scenario", "browse"), ("scenario", "buy"));
    let (shop, till) = (("group", "::shop"), ("group", "::shop::till"));
    let list = SeriesKey::new(Family::Request, "http://shop.test/list", &[browse, shop, ("method", "GET")]);
    let pay = SeriesKey::new(Family::Request, "pay", &[buy, till, ("method", "POST"), ("kind", "write")]);
    let check = |name: &str, labels: &[(&str, &str)]| SeriesKey::new(Family::Check, name, labels);
    let mut cart = cells(Family::Trend);
    cart.hists[TrendHist::Values.id()].record_n(2_500, 10);
    let mut orders = cells(Family::Counter);
    orders.add(CounterSum::Whole.id(), 7);
    vec![
        (list, requests(96, 20 * MS, 2, 2)),
        (pay, requests(50, 40 * MS, 0, 0)),
        (check("status is 200", &[browse, shop]), evaluations(100, 3)),
        (check("is paid", &[buy, till, ("kind", "write")]), evaluations(50, 1)),
        (check("is paid", &[buy, till, ("kind", "read")]), evaluations(50, 0)),
        (SeriesKey::new(Family::Group, "::shop", &[browse]), passes(40, 300 * MS)),
        (SeriesKey::new(Family::Group, "::shop", &[buy]), passes(10, 500 * MS)),
        (SeriesKey::new(Family::Group, "::shop::till", &[buy]), passes(10, 100 * MS)),
        (SeriesKey::new(Family::Trend, "cart_size", &[buy, till]), cart),
        (SeriesKey::new(Family::Counter, "orders", &[buy, till]), orders),
    ]
}

fn cells(family: Family) -> Tally {
    Tally::on_demand(Layout::of(family.cells()))
}

fn evaluations(made: u64, failed: u64) -> Tally {
    let mut check = cells(Family::Check);
    check.add(CheckSum::Made.id(), made);
    check.add(CheckSum::Failed.id(), failed);
    check
}

fn passes(n: u64, time_ns: u64) -> Tally {
    let mut group = cells(Family::Group);
    group.add(GroupSum::Passages.id(), n);
    group.hists[GroupHist::Time.id()].record_n(time_ns, n);
    group
}

/// Responses within `time_ns`, of which the first byte takes three quarters, and failures with a status and without a
/// response.
fn requests(good: u64, time_ns: u64, errors: u64, refused: u64) -> Tally {
    let mut series = cells(Family::Request);
    let responses = good + errors;
    for (sum, n) in [
        (SeriesSum::Sent.id(), responses + refused),
        (SeriesSum::Ended.id(), responses + refused),
        (SeriesSum::Finished.id(), responses + refused),
        (SeriesSum::Failed.id(), errors + refused),
        (SeriesSum::BytesIn.id(), responses * 1_000),
        (SeriesSum::BytesOut.id(), responses * 100),
        (SeriesSum::BodyBytes.id(), responses * 800),
        (status_id(200), good),
        (status_id(500), errors),
        (fault_id(Fault::Status), errors),
        (fault_id(Fault::ConnectionRefused), refused),
    ] {
        series.add(sum, n);
    }
    for (hist, ns) in [
        (SeriesHist::Response, time_ns),
        (SeriesHist::Service, time_ns),
        (SeriesHist::FirstByte, time_ns * 3 / 4),
        (SeriesHist::Body, time_ns / 4),
    ] {
        series.hists[hist.id()].record_n(ns, responses);
    }
    series.hists[SeriesHist::FailedService.id()].record_n(MS, refused);
    series
}
