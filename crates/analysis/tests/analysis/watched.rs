//! Results of monitors: values of the measurement period, saturated resources, memory, and correlations with p99.

use crate::analysis::cautions::cases;
use crate::analysis::fixture::*;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest;
use plimsoll_analysis::summary::{MetricRow, Severity, SlopeVerdict, Summary};
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_plan::watch::Unit;

const MB: f64 = 1e6;

fn row<'a>(summary: &'a Summary, metric: &str) -> &'a MetricRow {
    let mut rows = summary.monitors.iter().flat_map(|monitor| &monitor.rows);
    rows.find(|row| row.metric == metric).unwrap()
}

/// Noise between -1 and 1 that no test can be tuned to.
fn noise(second: u64, seed: u64) -> f64 {
    let mixed = (second + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

#[test]
fn values_cover_the_measurement_period_and_peaks_have_their_second() {
    let run = Run::closed_with(15, |d| d.warmup_ns = Some(5 * S)).watch("api", "process").sees(
        "cpu",
        Unit::Cores,
        Some(2.0),
        |second| if second < 5 { 100.0 } else { second as f64 / 10.0 },
    );
    let summary = run.summary();
    let row = row(&summary, "cpu");
    assert_eq!((row.samples, row.min, row.max, row.last, row.max_at_s), (10, 0.5, 1.4, 1.4, 15.0));
    assert!(close(row.mean, 0.95, 1e-9) && close(row.usage_peak_ratio.unwrap(), 0.7, 1e-9));
    assert_eq!(summary.monitors[0].samples, 10);
    assert_eq!(summary.courses[0].points.len(), 15, "charts show the warm-up, too");
    let window = summary.time_range.unwrap();
    assert_eq!((window.from_s, window.to_s), (5.0, 15.0));
    assert_eq!(
        window.sentence,
        "measurement period: 5 s to 15 s of the run, 2023-11-14 22:13:25 UTC to 2023-11-14 22:13:35 UTC"
    );
    let seen = digest(&run.record()).watched.seen;
    assert_eq!((seen[0].monitor.as_str(), seen[0].metric.as_str(), seen[0].peak), ("api", "cpu", 1.4));
}

#[test]
fn facts_of_the_file_precede_those_of_monitors() {
    let run = Run::closed(15)
        .with(|run| run.outline.system_under_test = vec![("server".into(), "Node 20".into())])
        .watch("db", "postgres")
        .learns("server_version", "15.1")
        .sees("connections", Unit::Count, Some(100.0), |_| 12.0);
    let system_under_test = run.summary().system_under_test;
    assert_eq!(
        (system_under_test[0].name.as_str(), system_under_test[0].monitor.as_deref()),
        ("server", None)
    );
    assert_eq!(
        (system_under_test[1].value.as_str(), system_under_test[1].monitor.as_deref()),
        ("15.1", Some("db"))
    );
}

#[test]
fn a_saturated_thread_is_named_before_a_host_with_capacity() {
    let run = Run::closed(15)
        .watch("host", "host")
        .sees("cpu", Unit::Cores, Some(4.0), |_| 1.3)
        .watch("api", "process")
        .sees("cpu", Unit::Cores, Some(4.0), |_| 1.02)
        .sees("busiest_thread", Unit::Cores, Some(1.0), |_| 0.98)
        .sees("fds", Unit::Count, Some(1024.0), |_| 112.0);
    let summary = run.summary();
    assert_eq!(summary.saturated_resources.len(), 1, "{:#?}", summary.saturated_resources);
    let said = summary.bottleneck.unwrap();
    assert_eq!(
        said,
        "api: the busiest thread (mean 0.980 cores of 1 core (98%), at least 90% of it in 15 of 15 s)"
    );
    let failed = run.clone().thresholds(&["response_time p99 < 1ms"]).summary();
    assert!(
        failed.verdict.sentence.contains("; bottleneck: api: the busiest thread"),
        "{}",
        failed.verdict.sentence
    );
}

#[test]
fn no_saturated_resource_and_no_monitor_are_both_reported() {
    let calm = Run::closed(15).watch("api", "process").sees("cpu", Unit::Cores, Some(2.0), |_| 0.5);
    assert_eq!(calm.summary().bottleneck.as_deref(), Some("no monitored resource was saturated"));
    assert_eq!(Run::closed(15).summary().bottleneck, None);
    let blind = Run::closed(15).watch("api", "process").lapses(0, "no process listens on port 4110");
    assert_eq!(blind.summary().bottleneck.as_deref(), Some("unknown: the monitors have no data"));
}

#[test]
fn a_resource_that_is_saturated_for_a_few_seconds_is_not_the_bottleneck() {
    let at = |second: u64| if second.is_multiple_of(3) { 1.0 } else { 0.3 };
    let run = Run::closed(30).watch("host", "host").sees("sda/busy", Unit::Share, Some(1.0), at);
    assert!(run.summary().saturated_resources.is_empty());
}

#[test]
fn a_part_is_not_named_in_addition_to_its_whole() {
    let full = |_| 1.0;
    let run = Run::closed(15)
        .watch("api", "process")
        .sees("busiest_thread", Unit::Cores, Some(1.0), full)
        .sees("node 12/busiest_thread", Unit::Cores, Some(1.0), full);
    assert_eq!(run.summary().saturated_resources.len(), 1);
}

#[test]
fn a_resource_that_was_saturated_before_the_load_is_not_the_bottleneck() {
    let seen = |metric: &str, value: fn(u64) -> f64| {
        let run = Run::closed(15).watch("host", "host").sees(metric, Unit::Bytes, Some(100.0 * MB), value);
        let summary = run.thresholds(&["response_time p99 < 1ms"]).summary();
        (summary.saturated_resources.len(), summary.verdict.sentence)
    };
    let (told, sentence) = seen("memory_used", |_| 97.0 * MB);
    assert!(told == 0 && !sentence.contains("bottleneck"), "{sentence}");
    assert_eq!(seen("swap_used", |s| (10 + 40 * s).min(99) as f64 * MB).0, 0);
    let (told, sentence) = seen("memory_used", |s| (60 + 10 * s).min(98) as f64 * MB);
    assert!(told == 1 && sentence.contains("bottleneck: host: memory"), "{sentence}");
    let run = Run::closed(15)
        .watch("host", "host")
        .sees("memory_used", Unit::Bytes, Some(100.0 * MB), |s| (60 + 10 * s).min(98) as f64 * MB)
        .sees("cpu", Unit::Cores, Some(2.0), |_| 1.95);
    assert!(run.summary().bottleneck.unwrap().contains("the host's CPUs"));
}

#[test]
fn overflows_without_slow_connections_may_come_from_another_program() {
    let run = Run::closed(15)
        .watch("host", "host")
        .sees("listen_overflows", Unit::PerS, None, |s| if s == 0 { 472.0 } else { 0.0 })
        .thresholds(&["response_time p99 < 1ms"]);
    let summary = run.summary();
    assert!(summary.saturated_resources.is_empty() && !summary.verdict.sentence.contains("bottleneck"));
    let told = caution(&summary, "listen_queue_overflow").unwrap().evidence_text();
    assert!(told.contains("possibly of another program"), "{told}");
    // With a connection that was slow and attempted during the overflow, it came from this one.
    let run = run.at(0, |t| t.run.add(RunSum::ConnAttempts.id(), 1));
    let summary = run.at(1, |t| t.run.record(RunHist::Connect.id(), S)).summary();
    let said = &summary.verdict.sentence;
    assert!(said.contains("bottleneck: the listen backlog"), "{said}");
}

#[test]
fn a_rate_after_a_gap_covers_one_second_and_a_count_its_increase() {
    let refused = |unit: Unit, value: fn(u64) -> f64| {
        let run = Run::closed(30).watch("cache", "redis").sees("rejected_connections", unit, None, value);
        run.summary().saturated_resources.len()
    };
    // Six in the one known second, after twenty without a sample.
    assert_eq!(refused(Unit::PerS, |s| if s < 20 { f64::NAN } else { 6.0 * f64::from(s == 20) }), 0);
    assert_eq!(refused(Unit::PerS, |s| if s == 20 { 12.0 } else { 0.0 }), 1);
    assert_eq!(refused(Unit::Count, |_| 500.0), 0);
    assert_eq!(refused(Unit::Count, |s| 500.0 + s as f64), 1);
}

fn memory(seconds: u64, bytes: impl Fn(u64) -> f64) -> Summary {
    Run::closed(seconds).watch("api", "process").sees("rss", Unit::Bytes, None, bytes).summary()
}

fn verdict(summary: &Summary) -> SlopeVerdict {
    row(summary, "rss").slope.as_ref().unwrap().verdict
}

#[test]
fn a_leak_has_a_slope_with_an_interval() {
    let summary = memory(600, |s| 100.0 * MB + 0.1 * MB * s as f64 + 0.5 * MB * noise(s, 1));
    let slope = row(&summary, "rss").slope.as_ref().unwrap();
    assert_eq!(slope.verdict, SlopeVerdict::Grows, "{slope:?}");
    assert!(slope.low_bytes_per_h <= 360.0 * MB && slope.high_bytes_per_h >= 360.0 * MB, "{slope:?}");
    assert!(close(slope.bytes_per_h, 360.0 * MB, 0.05), "{slope:?}");
    assert!(slope.sentence.starts_with("grows by 36"), "{}", slope.sentence);
}

#[test]
fn a_leak_below_a_garbage_collector_sawtooth_is_found() {
    let summary = memory(900, |s| 100.0 * MB + 0.1 * MB * s as f64 + 2.0 * MB * (s % 20) as f64);
    assert_eq!(verdict(&summary), SlopeVerdict::Grows);
}

#[test]
fn a_sawtooth_spikes_and_initial_growth_are_not_leaks() {
    let flat = |name: &str, seconds: u64, bytes: &dyn Fn(u64) -> f64| {
        let summary = memory(seconds, bytes);
        assert_ne!(verdict(&summary), SlopeVerdict::Grows, "{name}: {:?}", row(&summary, "rss").slope);
        assert!(caution(&summary, "memory_growth").is_none(), "{name}");
    };
    // Reported from a real service: linear growth for 45% of the run, then flat.
    flat("filled", 600, &|s| 100.0 * MB + MB * s.min(270) as f64 + 0.3 * MB * noise(s, 2));
    flat("one spike", 600, &|s| {
        if (410..425).contains(&s) { 400.0 * MB } else { 100.0 * MB + MB * noise(s, 3) }
    });
    flat("a late spike", 600, &|s| if s >= 580 { 400.0 * MB } else { 100.0 * MB + MB * noise(s, 4) });
    flat("noise", 600, &|s| 100.0 * MB + 5.0 * MB * noise(s, 5));
    for tooth in [7, 20, 50, 101, 150, 200, 299, 301] {
        for phase in [0, 3, 40, 90, 149] {
            let bytes = |s: u64| 100.0 * MB + MB * ((s + phase) % tooth) as f64 + 0.5 * MB * noise(s, tooth);
            flat(&format!("teeth of {tooth} s, {phase} s on"), 600, &bytes);
        }
    }
}

#[test]
fn memory_is_judged_only_after_a_minute() {
    let summary = memory(59, |s| 100.0 * MB + MB * s as f64);
    assert!(row(&summary, "rss").slope.is_none());
    let summary = Run::closed(90)
        .watch("db", "postgres")
        .sees("database_size", Unit::Bytes, None, |s| s as f64)
        .summary();
    assert!(row(&summary, "database_size").slope.is_none(), "a database grows by design");
}

/// Ten users whose responses take longer in some seconds.
fn slow_in(seconds: u64, ms: impl Fn(u64) -> f64) -> Run {
    let mut run = Run::closed(seconds);
    for number in 0..run.ticks.len() {
        let second = run.outline.tick_bounds_ns(number as u32).0 / S;
        let mut tick = run.blank(number as u32);
        answers(&mut tick, 0, 500, (ms(second) * 1e6) as u64);
        tick.run.add(RunSum::InFlightNs.id(), 10 * S - 5 * MS);
        tick.run.add(RunSum::UsersNs.id(), 10 * S);
        run.ticks[number] = tick;
    }
    run
}

#[test]
fn correlations_with_p99_are_reported_with_their_lag_and_never_as_a_cause() {
    let run = slow_in(200, |s| 5.0 + 2.0 * noise(s, 7))
        .watch("db", "postgres")
        .sees("waiting", Unit::Count, None, |s| 10.0 + 4.0 * noise(s + 2, 7) + 0.5 * noise(s, 8))
        .sees("commits", Unit::PerS, None, |s| 100.0 + 10.0 * noise(s, 9));
    let summary = run.summary();
    let with = row(&summary, "waiting").p99_correlation.as_ref().unwrap();
    assert_eq!(with.lag_s, 2, "{with:?}");
    assert!(with.rho > 0.9 && with.low > 0.85 && with.high < 1.0, "{with:?}");
    assert_eq!(
        with.sentence,
        format!("correlated with p99 (rho {:.2}, lag 2 s; not necessarily the cause)", with.rho)
    );
    assert!(row(&summary, "commits").p99_correlation.is_none());
}

#[test]
fn two_slopes_or_two_random_walks_are_not_correlated() {
    let slopes = slow_in(200, |s| 5.0 + s as f64 / 50.0 + 0.05 * noise(s, 1)).watch("db", "postgres").sees(
        "rows",
        Unit::Count,
        None,
        |s| s as f64 + noise(s, 2),
    );
    assert!(row(&slopes.summary(), "rows").p99_correlation.is_none());
    let walk = |s: u64, seed: u64| (0..=s).map(|at| noise(at, seed)).sum::<f64>();
    let told = (0..40u64)
        .filter(|seed| {
            let run = slow_in(120, |s| 30.0 + 0.5 * walk(s, 2 * seed + 1).clamp(-40.0, 40.0))
                .watch("db", "postgres")
                .sees("walk", Unit::Count, None, |s| walk(s, 2 * seed + 100));
            row(&run.summary(), "walk").p99_correlation.is_some()
        })
        .count();
    assert!(told <= 4, "{told} of 40 independent walks");
}

#[test]
fn of_many_unrelated_metrics_hardly_one_is_reported() {
    let told: usize = (0..20u64)
        .map(|seed| {
            let mut run = slow_in(90, |s| 5.0 + noise(s, 1_000 + seed)).watch("all", "prometheus");
            for k in 0..20u64 {
                run = run.sees(&format!("m{k}"), Unit::Count, None, |s| noise(s, seed * 100 + k));
            }
            run.summary().monitors[0].rows.iter().filter(|row| row.p99_correlation.is_some()).count()
        })
        .sum();
    assert!(told <= 3, "{told} of 400");
}

cases! {
    a_monitor_that_brings_nothing_is_named_with_its_reason: MonitorFailed, Note,
        Run::closed(15).watch("api", "process").lapses(0, "no process listens on port `4110`").lapses(S, "still not"),
        Run::closed(15).watch("api", "process").sees("cpu", Unit::Cores, None, |_| 0.2),
        ["api returned nothing in 15 s", "before the load: no process listens on port `4110`"];

    a_monitor_with_many_lapses_is_named: MonitorFailed, Note,
        Run::closed(30).watch("db", "postgres")
            .sees("connections", Unit::Count, None, |s| if s > 14 { f64::NAN } else { 1.0 })
            .lapses(16 * S, "no answer within 800 ms"),
        Run::closed(30).watch("db", "postgres")
            .sees("connections", Unit::Count, None, |s| if s == 14 { f64::NAN } else { 1.0 })
            .lapses(15 * S, "no answer within 800 ms"),
        ["db returned 15 samples in 30 s", "first at 16 s: no answer within 800 ms"];

    memory_that_grows_to_the_end_is_noted: MemoryGrowth, Note,
        Run::closed(120).watch("api", "process")
            .sees("rss", Unit::Bytes, None, |s| 100.0 * MB + 0.2 * MB * s as f64 + 0.1 * MB * noise(s, 1)),
        Run::closed(120).watch("api", "process").sees("rss", Unit::Bytes, None, |s| 100.0 * MB + 0.01 * MB * s as f64),
        ["api: rss grows by 7", "/h", "124 MB at its end", "over the run"];

    a_backlog_that_overflows_is_the_servers: ListenQueueOverflow, Warning,
        Run::closed(15)
            .watch("host", "host")
            .sees("listen_overflows", Unit::PerS, None, |s| if s == 0 { 472.0 } else { 0.0 })
            .sees("listen_drops", Unit::PerS, None, |s| if s == 0 { 472.0 } else { 0.0 }),
        Run::closed(15).watch("host", "host")
            .sees("listen_overflows", Unit::PerS, None, |s| if s == 7 { 4.0 } else { 0.0 }),
        ["host: 472 listen overflows", "net.core.somaxconn"];

    descriptors_at_their_limit_are_told_once: ProcessFdLimit, Warning,
        Run::closed(15).watch("api", "process").sees("fds", Unit::Count, Some(256.0), |s| (200 + 10 * s.min(5)) as f64)
            .sees("node 7/fds", Unit::Count, Some(256.0), |s| (200 + 10 * s.min(5)) as f64),
        Run::closed(15).watch("api", "process").sees("fds", Unit::Count, Some(256.0), |_| 200.0),
        ["api: file descriptors: 250 of 256 in use at 6 s"];

    a_group_that_is_held_back_is_told: CpuThrottled, Warning,
        Run::closed(15).watch("box", "cgroup").sees("throttled_share", Unit::Share, None, |_| 0.4),
        Run::closed(15).watch("box", "cgroup").sees("throttled_share", Unit::Share, None, |_| 0.01),
        ["box: throttled in 40% of its periods"];

    users_that_all_come_at_once_are_told_where_connections_were_lost: ThunderingHerd, Warning,
        Run::closed_with(15, |d| d.load.users = Some(600))
            .at(0, |t| t.run.add(RunSum::ConnAttempts.id(), 20))
            .at(1, |t| (0..20).for_each(|_| t.run.record(RunHist::Connect.id(), S)))
            .watch("host", "host").sees("listen_overflows", Unit::PerS, None, |s| if s == 0 { 20.0 } else { 0.0 }),
        Run::closed_with(15, |d| d.load.users = Some(600))
            .watch("host", "host").sees("listen_overflows", Unit::PerS, None, |_| 0.0),
        ["600 users started within 10 ms", "20 of 20 connections took longer than 500 ms", "ramp_up"];
}
