//! Results: totals, rates, buckets, failures, load generator health, the timeline, the JSON document.

use crate::analysis::fixture::*;
use plimsoll_analysis::summarise;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesSum, status_id};
use plimsoll_record::event::{StoppedBy, WorkerTimes};
use plimsoll_stats::{Layout, Tally};
use serde_json::Value;

#[test]
fn the_warm_up_is_in_the_timeline_and_not_in_the_totals() {
    let summary = Run::closed_with(15, |d| d.warmup_ns = Some(2_500 * MS)).summary();
    // Tick 0 is half a second long, so that the warm-up ends at an edge: 3 of 16 ticks are left out.
    assert_eq!(summary.timeline.len(), 16);
    let warm: Vec<bool> = summary.timeline.iter().map(|s| s.is_warmup).collect();
    assert_eq!(warm.iter().filter(|w| **w).count(), 3);
    assert!(warm[..3].iter().all(|w| *w));
    assert_eq!((summary.timeline[0].length_s, summary.timeline[1].from_s), (0.5, 0.5));
    assert_eq!(summary.totals.requests, 13 * 2_000);
    assert_eq!((summary.totals.measured_s, summary.totals.warmup_s), (12.5, 2.5));
    assert_eq!(summary.achieved.rate_per_s, 13.0 * 2_000.0 / 12.5);
}

#[test]
fn a_partial_last_second_has_its_exact_length() {
    let summary =
        Run::closed(15).with(|r| r.ticks.truncate(5)).ends(StoppedBy::Requests, 4 * S + 250 * MS).summary();
    assert_eq!(summary.timeline[4].length_s, 0.25);
    assert_eq!(summary.timeline[4].achieved_rate_per_s, 8_000.0);
    assert_eq!(summary.totals.measured_s, 4.25);
    assert!(summary.is_complete, "{:?}", summary.gaps);
}

#[test]
fn a_run_that_ends_at_an_edge_is_complete() {
    for elapsed_ns in [5 * S - 1, 5 * S] {
        let summary =
            Run::closed(15).with(|r| r.ticks.truncate(5)).ends(StoppedBy::Requests, elapsed_ns).summary();
        assert!(summary.is_complete, "{:?}", summary.gaps);
    }
    let summary =
        Run::closed(15).with(|r| r.ticks.truncate(5)).ends(StoppedBy::Requests, 5 * S + 1).summary();
    assert!(!summary.is_complete);
}

#[test]
fn buckets_count_every_response_once_and_no_timed_out_request() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(20 * S));
    run.fill(|_| {});
    let summary = run
        .at(0, |t| {
            for (n, ms) in [(70, 20), (20, 500), (7, 4_000)] {
                (0..n).for_each(|_| answer(t, 0, ms * MS, 200));
            }
        })
        .at(12, |t| time_out(t, 3, 10_100 * MS))
        .summary();
    let buckets: Vec<_> = summary.buckets.iter().map(|b| (b.up_to_ns, b.count)).collect();
    assert_eq!(buckets, [(Some(100 * MS), 70), (Some(S), 20), (Some(10 * S), 7), (None, 0)]);
    assert_eq!(summary.buckets.iter().map(|b| b.ratio).sum::<f64>(), 1.0);
    assert_eq!(summary.buckets_censored, 3);
}

#[test]
fn failures_are_listed_by_class_with_their_side() {
    let summary = Run::closed(15)
        .at(3, |t| fail(t, Fault::ConnectionReset, 5))
        .at(4, |t| fail(t, Fault::MalformedResponse, 9))
        .at(5, |t| fail(t, Fault::PortsExhausted, 2))
        .at(6, |t| answer(t, 0, 5 * MS, 503))
        .at(6, |t| t.series[0].add(status_id(999), 4))
        .summary();
    let rows: Vec<_> = summary.errors.iter().map(|e| (e.class, e.count)).collect();
    assert_eq!(rows, [(Fault::MalformedResponse, 9), (Fault::ConnectionReset, 5), (Fault::Status, 1)]);
    assert_eq!(summary.totals.errors, 15);
    assert_eq!(
        summary.client.faults.iter().map(|e| (e.class, e.count)).collect::<Vec<_>>(),
        [(Fault::PortsExhausted, 2)]
    );
    assert_eq!(
        summary.status_codes.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>(),
        [("200", 30_000), ("503", 1), ("other", 4)]
    );
    assert_eq!(summary.timeline[5].client_faults, 2);
    assert_eq!((summary.timeline[5].errors, summary.timeline[4].errors), (0, 9));
}

#[test]
fn littles_law_adds_up() {
    let law = Run::closed(15).summary().client.littles_law;
    assert!(close(law.in_flight_mean, 10.0, 0.001), "{law:?}");
    assert!(close(law.in_flight_computed, 10.0, 0.01), "{law:?}");
    assert_eq!(law.users_mean, Some(10.0));
    assert!(law.users_outside_ratio.unwrap() < 0.001);
    let open = Run::open(15).summary().client.littles_law;
    assert!(close(open.in_flight_mean, 5.0, 0.001) && close(open.in_flight_computed, 5.0, 0.01));
    assert_eq!((open.users_mean, open.users_outside_ratio), (None, None));
}

#[test]
fn load_generator_health_repeats_the_counts_of_the_workers() {
    let summary = Run::closed(10)
        .with(|r| {
            r.pulse = WorkerTimes {
                wall_ns: S,
                busy_ns: S / 4,
                busy_poll_ns: S / 10,
                idle_ns: S * 6 / 10,
                cpu_wait_ns: S / 20,
            }
        })
        .all_ticks(|t| {
            t.run.add(RunSum::StealNs.id(), S / 50);
            t.run.add(RunSum::HostBusyNs.id(), S);
            t.run.floor(RunFloor::RttNs.id(), 30_000 + u64::from(t.tick));
            t.run.record(RunHist::LoopTime.id(), 90_000);
        })
        .summary();
    let worker = &summary.client.workers[0];
    assert_eq!((worker.busy_ratio, worker.busy_poll_ratio, worker.cpu_wait_ratio), (0.25, 0.1, 0.05));
    // Two CPUs: 1% of their time was stolen, and 50% was used.
    assert_eq!((summary.client.steal_ratio, summary.client.host_busy_ratio), (0.01, 0.5));
    assert_eq!(summary.client.rtt_min_ns, Some(30_000));
    assert_eq!((summary.client.loop_time.count, summary.client.loop_time.max_ns), (10, Some(90_000)));
    assert_eq!(summary.phases.dns_ns, 3 * MS);
}

#[test]
fn peak_connections_are_those_of_all_workers_at_one_edge() {
    let summary = Run::closed(10)
        .at(0, |t| t.run.add(RunSum::ConnOpened.id(), 239))
        .at(3, |t| t.run.add(RunSum::ClosedByServer.id(), 100))
        .at(3, |t| t.run.record(RunHist::ConnRequests.id(), 1_000))
        .at(5, |t| t.run.add(RunSum::ConnOpened.id(), 50))
        .all_ticks(|t| t.run.peak(RunPeak::Connections.id(), 120))
        .summary();
    let c = &summary.client.connections;
    assert_eq!((c.opened, c.closed_by_server, c.peak), (289, 100, 239));
    assert_eq!((c.requests_per_connection_p50, c.requests_per_connection_max), (Some(1_000), Some(1_000)));
}

#[test]
fn peak_in_flight_is_limited_by_workers_and_connections() {
    let two = |peak: u64| {
        Run::closed(10)
            .with(|r| r.outline.workers = 2)
            .all_ticks(|t| t.run.peak(RunPeak::InFlight.id(), peak))
            .summary()
            .client
            .in_flight_peak
    };
    assert_eq!((two(4), two(5), two(6)), (8, 10, 10));
}

#[test]
fn a_timeline_second_has_its_own_percentiles() {
    let summary = Run::open(5).at(2, |t| (0..1_000).for_each(|_| answer(t, 0, 80 * MS, 200))).summary();
    let (slow, fast) = (&summary.timeline[2], &summary.timeline[1]);
    assert!(close(slow.p99_ns.unwrap() as f64, 80.0 * MS as f64, 0.004));
    assert!(fast.p99_ns.unwrap() < 7 * MS);
    assert_eq!((slow.requests, slow.offered_rate_per_s), (2_000, Some(1_000.0)));
    assert_eq!(slow.max_ns, Some(80 * MS));
    assert_eq!(fast.in_flight, 5.0);
}

#[test]
fn a_truncated_run_is_measured_up_to_its_last_second() {
    let summary = Run::closed(60)
        .with(|r| {
            r.ending = None;
            r.ticks.truncate(12);
        })
        .summary();
    assert_eq!((summary.totals.measured_s, summary.achieved.rate_per_s), (12.0, 2_000.0));
    assert_eq!((summary.is_complete, summary.stopped_by), (false, None));
}

#[test]
fn missing_rows_do_not_change_the_totals() {
    let whole = Run::closed(15).record();
    let mut holey = whole.clone();
    holey.generators.get_mut("a").unwrap().ticks.retain(|tick, _| !(4..9).contains(tick));
    let (whole, holey) = (summarise(&whole), summarise(&holey));
    assert_eq!(whole.totals.requests, holey.totals.requests);
    assert_eq!(whole.response_time.p99_ns, holey.response_time.p99_ns);
    assert_eq!((holey.gaps[0].from_s, holey.gaps[0].to_s), (4.0, 9.0));
    assert_eq!(holey.timeline.len(), 10);
}

#[test]
fn a_record_of_an_older_version_has_fewer_numbers_and_can_be_read() {
    let mut record = Run::closed(15).record();
    let origin = record.generators.get_mut("a").unwrap();
    // As if only sums had been counted, without any fault.
    let keep = Layout { sums: SeriesSum::COUNT, peaks: 0, floors: 0, hists: 0, lasts: 0 };
    for tally in origin.totals.series.iter_mut().chain([&mut origin.totals.run]) {
        let mut old = Tally::on_demand(keep);
        old.sums.copy_from_slice(&tally.sums[..keep.sums]);
        *tally = old;
    }
    let summary = summarise(&record);
    assert_eq!(summary.totals.requests, 30_000);
    assert_eq!(summary.response_time.count, 0);
}

#[test]
fn connections_and_retransmits_are_counted_from_the_start() {
    let summary = Run::closed_with(15, |d| d.warmup_ns = Some(5 * S))
        .at(0, |t| t.run.add(RunSum::ConnAttempts.id(), 10))
        .at(0, |t| t.run.add(RunSum::ConnOpened.id(), 10))
        .at(0, |t| t.run.floor(RunFloor::ConnectNs.id(), 38_000))
        .at(1, |t| t.run.add(RunSum::ClosedByServer.id(), 3))
        .at(1, |t| t.run.add(RunSum::Retransmits.id(), 2))
        .at(1, |t| t.run.record(RunHist::ConnRequests.id(), 500))
        .at(2, |t| t.run.add(RunSum::IntervalsLate.id(), 1))
        .at(9, |t| t.run.add(RunSum::ConnOpened.id(), 3))
        .at(2, |t| fail(t, Fault::ClientOutOfMemory, 4))
        .summary();
    let c = &summary.client.connections;
    assert_eq!((c.attempts, c.opened, c.closed_by_server), (10, 13, 3));
    assert_eq!((c.requests_per_connection_max, c.connect_min_ns), (Some(500), Some(38_000)));
    assert_eq!((summary.client.retransmits, summary.client.intervals_late), (2, 1));
    assert_eq!(summary.client.faults[0].count, 4);
    assert_eq!(summary.totals.requests, 10 * 2_000, "requests exclude the warm-up");
}

/// The documented fields of `--json`.
#[test]
fn the_document_has_the_promised_fields() {
    let json = serde_json::to_value(Run::open(15).summary()).unwrap();
    for path in [
        "/schema_version",
        "/verdict/result",
        "/verdict/sentence",
        "/totals/requests",
        "/totals/errors",
        "/response_time/p50_ns",
        "/response_time/p99_ns",
        "/response_time/p999_ns",
        "/response_time/max_ns",
        "/service_time/p50_ns",
        "/service_time/max_ns",
        "/offered/rate_per_s",
        "/offered/arrivals",
        "/achieved/rate_per_s",
        "/achieved/ratio",
        "/client/schedule_lag/p99_ns",
        "/client/workers/0/busy_ratio",
        "/client/littles_law/in_flight_mean",
        "/plan/target",
        "/environments/0/host",
        "/generators/0/rate_per_s",
    ] {
        assert!(json.pointer(path).is_some_and(|v| !v.is_null()), "{path}");
    }
    assert_eq!(json["verdict"]["result"], "PASS");
    assert_eq!(json["schema_version"], 2);
}

/// A small random generator, so that failures are repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        // xorshift64* (Vigna 2016)
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % n.max(1)
    }

    /// Usually small, occasionally absurd.
    fn wild(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX >> self.below(64),
            _ => 1 << self.below(34),
        }
    }
}

#[test]
fn no_record_makes_an_invalid_number() {
    for seed in 1..=200u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut run = if seed % 2 == 0 { Run::open(3) } else { Run::closed(3) };
        for tick in &mut run.ticks {
            if random.below(3) == 0 {
                *tick = Run::planned(|_| {}).blank(tick.tick);
            }
            for _ in 0..20 {
                let (cell, value) = (random.below(RunSum::COUNT as u64) as usize, random.wild());
                tick.run.add(cell, value);
                let cell = random.below(120) as usize;
                tick.series[0].add(cell, random.wild());
                tick.series[0].record(random.below(7) as usize, random.wild());
                tick.run.record(random.below(8) as usize, random.wild());
            }
        }
        run.ticks.retain(|_| random.below(5) > 0);
        if random.below(2) == 0 {
            run.ending = None;
        } else {
            run = run.ends(StoppedBy::Requests, random.wild() >> 8);
        }
        run.outline.warmup_ns = random.below(4) * S / 2;
        let json = serde_json::to_value(run.summary()).unwrap();
        check_finite(&json, &format!("seed {seed}"));
    }
}

/// Serde writes NaN and infinity as null; these fields are never empty.
fn check_finite(value: &Value, path: &str) {
    const MAY_BE_NULL: &[&str] = &[
        "offered",
        "ratio",
        "uptime_ratio",
        "users",
        "users_without_success",
        "status",
        "users_mean",
        "users_outside_ratio",
        "stopped_by",
        "observed",
        "best",
        "worst",
        "size",
        "margin",
        "up_to_ns",
        "recovered_after_s",
        "offered_rate_per_s",
        "rtt_min_ns",
        "scenario",
        "group",
        "window",
        "tls",
        "bottleneck",
    ];
    match value {
        Value::Null => {
            let name = path.rsplit('/').next().unwrap();
            // Names of options in times and bytes end with their unit; a plan's stop may have no duration or number.
            let is_option =
                name.ends_with("_ns") || name.ends_with("_bytes") || name.contains("per_connection");
            assert!(
                is_option || MAY_BE_NULL.contains(&name) || path.contains("/plan/"),
                "{path} is not a number"
            );
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| check_finite(v, &format!("{path}/{i}")));
        }
        Value::Object(fields) => fields.iter().for_each(|(k, v)| check_finite(v, &format!("{path}/{k}"))),
        _ => {}
    }
}
