//! Causes: each is claimed if its evidence excludes the others, and only then.

use crate::analysis::fixture::*;
use plimsoll_analysis::cause::evidence::Failures;
use plimsoll_analysis::cause::{Claim, Evidence, Kind};
use plimsoll_analysis::summary::Summary;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist};
use plimsoll_plan::watch::Unit;

fn codes(summary: &Summary) -> Vec<(&'static str, Claim)> {
    summary.causes.iter().map(|cause| (cause.code(), cause.certainty)).collect()
}

fn claims(summary: &Summary, kind: Kind) -> Option<Claim> {
    summary.causes.iter().find(|cause| cause.is(kind)).map(|cause| cause.certainty)
}

fn some() -> Evidence {
    Evidence::Failed(Failures { failed_count: 30, requests_count: 400 })
}

#[test]
fn a_healthy_run_has_no_causes() {
    for run in [Run::closed(15), Run::open(15), Run::closed(3), Run::open(3)] {
        let summary = run.summary();
        assert_eq!(codes(&summary), [], "{:#?}", summary.causes);
    }
}

#[test]
fn an_uncertain_cause_names_a_way_to_confirm_it_and_a_certain_one_does_not() {
    for kind in Kind::ALL {
        assert!(kind.claim(Claim::Certain, some()).confirmation().is_empty(), "{kind:?}");
        for claim in [Claim::Likely, Claim::Possible] {
            let cause = kind.claim(claim, some());
            assert!(!cause.confirmation().is_empty() && !cause.confirmation().ends_with('.'), "{cause:?}");
        }
    }
}

#[test]
fn the_page_of_causes_lists_all_of_them() {
    let page = include_str!("../../../../docs/explanation/causes.md");
    for kind in Kind::ALL {
        let row = format!(
            "| `{}` | {} | {} |",
            kind.code(),
            kind.sentence(),
            kind.claim(Claim::Likely, some()).confirmation()
        );
        assert!(page.contains(&row), "{row}");
    }
}

/// A server that closes idle connections and continues has an idle timeout. If the connections were in use, or if the
/// server then refuses connections, the cause is different.
#[test]
fn an_idle_timeout_is_claimed_only_for_idle_connections_of_a_running_server() {
    let ended = |idle_ns: u64| {
        Run::closed(15).at(7, move |t| {
            fail(t, Fault::StaleConnection, 20);
            (0..20).for_each(|_| t.run.record(RunHist::IdleBeforeClose.id(), idle_ns));
        })
    };
    let summary = ended(5 * S).summary();
    assert_eq!(claims(&summary, Kind::IdleTimeout), Some(Claim::Certain));
    assert!(caution(&summary, "stale_connections").unwrap().title().contains("idle"));

    let summary = ended(50_000).summary();
    assert_eq!(claims(&summary, Kind::IdleTimeout), None);
    assert!(claims(&summary, Kind::ConnectionsClosed).is_some());
    assert!(caution(&summary, "stale_connections").unwrap().title().contains("in use"));

    let mut run = Run::planned(|draft| {
        draft.load.users = Some(10);
        draft.load.duration_ns = Some(15 * S);
    });
    run.fill(|tick| {
        tick.run.add(RunSum::UsersNs.id(), 10 * S);
        if tick.tick < 7 {
            answers(tick, 0, 2_000, 5 * MS);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
        }
        match tick.tick {
            7 => {
                answers(tick, 0, 900, 5 * MS);
                fail(tick, Fault::StaleConnection, 10);
                (0..10).for_each(|_| tick.run.record(RunHist::IdleBeforeClose.id(), S));
                fail(tick, Fault::ConnectionRefused, 5);
            }
            8.. => fail(tick, Fault::ConnectionRefused, 10),
            _ => {}
        }
    });
    let summary = run.summary();
    assert_eq!(
        codes(&summary).first(),
        Some(&(Kind::ServiceOutage.code(), Claim::Certain)),
        "{:#?}",
        summary.causes
    );
    assert_eq!(claims(&summary, Kind::IdleTimeout), None);
    assert!(caution(&summary, "stale_connections").is_none());
}

#[test]
fn loopback_never_loses_packets() {
    let lossy = || Run::closed(15).all_ticks(|t| t.run.add(RunSum::Retransmits.id(), 40));
    let far = lossy().thresholds(&["response_time p50 < 1ms"]).summary();
    assert_eq!(claims(&far, Kind::PacketLoss), Some(Claim::Possible));
    let near =
        lossy().thresholds(&["response_time p50 < 1ms"]).with(|run| run.environment.is_same_machine = true);
    let near = near.summary();
    assert_eq!(claims(&near, Kind::PacketLoss), None);
    assert_ne!(claims(&near, Kind::ListenQueueFull), Some(Claim::Certain));
    let told = caution(&near, "retransmits").unwrap();
    assert!(
        told.title().contains("loopback") && told.impact().contains("loopback itself loses no packets"),
        "{told:?}"
    );
}

#[test]
fn the_round_trip_is_the_lowest_and_at_most_the_fastest_handshake() {
    let run = Run::closed(15).at(1, |t| {
        t.run.floor(plimsoll_plan::metric::RunFloor::RttNs.id(), 7 * MS);
        t.run.floor(plimsoll_plan::metric::RunFloor::ConnectNs.id(), 40_000);
    });
    assert_eq!(run.summary().client.rtt_min_ns, Some(40_000));
}

#[test]
fn a_saturated_thread_is_named_even_in_a_passing_run() {
    let busy = |cores: f64| {
        Run::closed(15).watch("api", "process").sees("busiest_thread", Unit::Cores, Some(1.0), move |_| cores)
    };
    let full = busy(0.93).summary();
    assert_eq!(codes(&full), [(Kind::ThreadSaturated.code(), Claim::Certain)]);
    assert!(full.causes[0].evidence_text().contains("0.93"), "{:?}", full.causes);
    assert!(
        full.verdict.sentence.ends_with("; saturated: api: the busiest thread"),
        "{}",
        full.verdict.sentence
    );
    assert_eq!(codes(&busy(0.6).summary()), []);
}

/// 10 KB for each of 2,000 requests per second, or a heap that fills to its usual size in the first seconds.
#[test]
fn memory_that_grows_with_each_request_is_reported_and_a_heap_that_fills_up_is_not() {
    let watched = |bytes: fn(u64) -> f64| {
        Run::closed(10).watch("api", "process").sees("rss", Unit::Bytes, None, bytes).summary()
    };
    let leak = watched(|second| 50e6 + 20e6 * second as f64);
    let cause = leak.causes.iter().find(|cause| cause.is(Kind::MemoryLeak)).expect("it grew by 180 MB");
    assert_eq!(cause.certainty, Claim::Possible, "ten seconds prove nothing");
    assert!(cause.evidence_text().contains("10.0 kB per request"), "{}", cause.evidence_text());
    for level in [
        watched(|second| if second < 4 { 50e6 + 30e6 * second as f64 } else { 150e6 }),
        watched(|second| 50e6 + (second % 3) as f64 * 40e6),
        watched(|second| 50e6 + 1e6 * second as f64),
    ] {
        assert_eq!(codes(&level), []);
    }
}

#[test]
fn the_only_failing_request_is_named() {
    let of = |others: u64| {
        let mut run = Run::planned(|draft| {
            draft.requests = vec![request("list", "/list"), request("pay", "/pay")];
            draft.load.users = Some(10);
            draft.load.duration_ns = Some(12 * S);
        });
        run.fill(|tick| {
            answers(tick, 0, 900, 5 * MS);
            (0..others).for_each(|_| answer(tick, 0, 5 * MS, 500));
            if tick.tick < 7 {
                answer(tick, 1, 5 * MS, 500);
            }
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
            tick.run.add(RunSum::InFlightNs.id(), 5 * S);
        });
        run.summary()
    };
    let one = of(0);
    assert_eq!(
        codes(&one).first(),
        Some(&(Kind::FailingRequest.code(), Claim::Certain)),
        "{:#?}",
        one.causes
    );
    let cause = &one.causes[0];
    assert!(cause.sentence().contains("`pay`") && cause.evidence_text().contains("7 of 7"), "{cause:?}");
    assert_eq!(claims(&of(900), Kind::FailingRequest), None);
}

/// If all users of a worker wait at once, it is a pause. The same times one by one are two speeds.
#[test]
fn pauses_and_two_speeds_are_distinguished() {
    let slow = |silent: bool| {
        let run = Run::closed(15).all_ticks(move |t| {
            (0..100).for_each(|_| answer(t, 0, 300 * MS, 200));
            (0..if silent { 10 } else { 0 }).for_each(|_| t.run.record(RunHist::ServiceStall.id(), 30 * MS));
        });
        run.thresholds(&["response_time p99 < 50ms"]).summary()
    };
    let apart = slow(false);
    assert_eq!(claims(&apart, Kind::BimodalLatency), Some(Claim::Certain), "{:#?}", apart.causes);
    assert_eq!(claims(&apart, Kind::ServiceStalls), None);
    let paused = |same_machine: bool, busy_ns: u64| {
        let run = Run::closed(15).all_ticks(|t| {
            (0..10).for_each(|_| answer(t, 0, 300 * MS, 200));
            t.run.record(RunHist::ServiceStall.id(), 300 * MS);
            t.run.add(RunSum::HostBusyNs.id(), busy_ns);
        });
        let run = run.with(|run| run.environment.is_same_machine = same_machine);
        run.thresholds(&["response_time p99.9 < 50ms"]).summary()
    };
    // The machine has two CPUs.
    let of = |summary: &Summary| claims(summary, Kind::ServiceStalls);
    assert_eq!(of(&paused(true, S)), Some(Claim::Certain));
    assert_eq!(of(&paused(true, 2 * S)), Some(Claim::Possible), "others may have had the service's CPU");
    assert_eq!(of(&paused(false, 2 * S)), Some(Claim::Certain), "it has its own CPUs");
    let paused = paused(false, S);
    assert_eq!(
        codes(&paused).first(),
        Some(&(Kind::ServiceStalls.code(), Claim::Certain)),
        "{:#?}",
        paused.causes
    );
    assert_eq!(claims(&paused, Kind::BimodalLatency), None);
}

/// A saturated thread that serves one worker's connections first delays the other, but does not pause.
#[test]
fn a_pause_of_the_service_affects_all_workers() {
    let silent = |lengths_ms: &'static [u64]| {
        let run = Run::closed_with(15, |draft| draft.workers = Some(2)).all_ticks(|t| {
            (0..10).for_each(|_| answer(t, 0, 300 * MS, 200));
            lengths_ms.iter().for_each(|ms| t.run.record(RunHist::ServiceStall.id(), ms * MS));
        });
        claims(&run.thresholds(&["response_time p99.9 < 50ms"]).summary(), Kind::ServiceStalls)
    };
    assert_eq!(silent(&[300, 301]), Some(Claim::Certain));
    let once = Run::closed_with(15, |draft| draft.workers = Some(2)).all_ticks(|t| {
        (0..10).for_each(|_| answer(t, 0, 300 * MS, 200));
        if t.tick == 3 {
            t.run.record(RunHist::ServiceStall.id(), 900 * MS);
        }
    });
    let once = once.thresholds(&["response_time p99.9 < 50ms"]).summary();
    assert_ne!(claims(&once, Kind::ServiceStalls), Some(Claim::Certain), "{:#?}", once.causes);
}

/// The same numbers prove less on a load generator that waited for a CPU.
#[test]
fn a_load_generator_without_cpu_makes_a_cause_possible_at_most() {
    let slow = |cpu_wait_ns: u64| {
        let run = Run::closed(15).all_ticks(|t| {
            (0..2_000).for_each(|_| t.series[0].record(SeriesHist::FirstByte.id(), 5 * MS));
        });
        let run = run.with(|run| run.pulse.cpu_wait_ns = cpu_wait_ns);
        run.thresholds(&["response_time p99 < 2ms"]).summary()
    };
    assert_eq!(claims(&slow(0), Kind::ServerProcessing), Some(Claim::Likely));
    let short_of_cpu = slow(S / 2);
    assert!(
        [None, Some(Claim::Possible)].contains(&claims(&short_of_cpu, Kind::ServerProcessing)),
        "{:#?}",
        short_of_cpu.causes
    );
}

/// Users in lockstep wait together for a request that is always slow. Only a much longer silence is a pause.
#[test]
fn a_request_that_always_takes_long_is_not_a_pause_and_hides_none() {
    let of = |pauses: bool| {
        let mut run = Run::planned(|draft| {
            draft.requests = vec![request("list", "/list"), request("order", "/order")];
            draft.load.users = Some(10);
            draft.load.duration_ns = Some(12 * S);
        });
        run.fill(|tick| {
            answers(tick, 0, 60, 2 * MS);
            answers(tick, 1, 50, 150 * MS);
            (0..5).for_each(|_| tick.run.record(RunHist::ServiceStall.id(), 148 * MS));
            if pauses && tick.tick % 4 == 2 {
                (0..10).for_each(|_| answer(tick, 1, 900 * MS, 200));
                tick.run.record(RunHist::ServiceStall.id(), 890 * MS);
            }
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
        });
        run.thresholds(&["response_time p95 < 60ms"]).summary()
    };
    let slow = of(false);
    assert_eq!(codes(&slow).first(), Some(&(Kind::SlowRequest.code(), Claim::Certain)), "{:#?}", slow.causes);
    assert_eq!(claims(&slow, Kind::ServiceStalls), None);
    let paused = of(true);
    assert_eq!(claims(&paused, Kind::ServiceStalls), Some(Claim::Certain), "{:#?}", paused.causes);
}

/// Only connections that were reset before they served a request show a limit. Failures during the warm-up, and
/// connections that ended in use, do not.
#[test]
fn a_connection_limit_is_claimed_only_for_fresh_connections() {
    let of = |opened: u64, requests_of_each: u64, refused_before: u64| {
        let run = Run::closed(15).with(|run| run.outline.warmup_ns = 3 * S).at(1, move |t| {
            t.run.add(RunSum::ConnAttempts.id(), refused_before);
            fail(t, Fault::ConnectionRefused, refused_before);
        });
        let run = run.at(7, move |t| {
            fail(t, Fault::ConnectionReset, 250);
            t.run.add(RunSum::ConnAttempts.id(), 255);
            t.run.add(RunSum::ConnOpened.id(), 5 + opened);
            t.run.add(RunSum::ConnReusedRequests.id(), 20_000);
            (0..opened).for_each(|_| t.run.record(RunHist::ConnRequests.id(), requests_of_each));
            (0..5).for_each(|_| t.run.record(RunHist::ConnRequests.id(), 4_000));
        });
        run.summary()
    };
    for (summary, expected) in [
        (of(250, 1, 0), Some(Claim::Likely)),
        (of(100, 1, 0), Some(Claim::Likely)),
        (of(250, 40, 0), None),
        (of(250, 40, 900), None),
    ] {
        assert_eq!(claims(&summary, Kind::ConnectionLimit), expected, "{:#?}", summary.causes);
        assert_eq!(claims(&summary, Kind::ConnectionsClosed).is_some(), expected.is_none());
    }
}
