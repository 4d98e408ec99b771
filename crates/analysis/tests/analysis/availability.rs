//! Outages: when they must be found, and when they must not.

use crate::analysis::fixture::{MS, Run, S, answers, fail, profile, request};
use plimsoll_analysis::next::Next;
use plimsoll_analysis::summary::{Availability, Outage, Outcome, PartKind};
use plimsoll_plan::Fault;
use plimsoll_plan::load::{Load, Profile, Workload};
use plimsoll_plan::metric::{
    RunSum, SeriesFloor, SeriesHist, SeriesPeak, SeriesSum, StreamHist, StreamSum, fault_id,
};
use plimsoll_record::event::StoppedBy;
use plimsoll_record::steered::Steered;
use plimsoll_stats::Interval;

pub(super) fn of(run: &Run) -> Availability {
    run.summary().availability
}

/// Returns the only outage.
fn only(all: &Availability) -> &Outage {
    assert_eq!(all.outages.len(), 1, "{all:?}");
    &all.outages[0]
}

pub(super) fn silent(run: &Run, why: &str) {
    let all = of(run);
    assert!(all.outages.is_empty() && all.parts.is_empty(), "{why}: {all:?}");
    assert_eq!((all.uptime_ratio, all.longest_outage_ns), (Some(1.0), 0), "{why}");
}

/// Nothing completes in it, but all users wait.
fn nothing(run: &Run, number: usize) -> Interval {
    let mut tick = run.blank(number as u32);
    tick.run.add(RunSum::UsersNs.id(), 10 * S);
    tick
}

fn success(tick: &mut Interval, series: usize, first_ns: u64, last_ns: u64) {
    tick.series[series].floor(SeriesFloor::FirstSuccess.id(), first_ns);
    tick.series[series].peak(SeriesPeak::LastSuccess.id(), last_ns);
}

fn failure(tick: &mut Interval, series: usize, first_ns: u64, last_ns: u64) {
    tick.series[series].floor(SeriesFloor::FirstFailure.id(), first_ns);
    tick.series[series].peak(SeriesPeak::LastFailure.id(), last_ns);
}

/// Ten users for 8 s; after 3.1 s the service refuses them, each once per second.
fn killed() -> Run {
    Run::closed(8).with(|run| {
        success(&mut run.ticks[3], 0, 3_000 * MS, 3_100 * MS);
        fail(&mut run.ticks[3], Fault::ConnectionRefused, 40);
        failure(&mut run.ticks[3], 0, 3_101 * MS, 3_990 * MS);
        for number in 4..8 {
            run.ticks[number] = nothing(run, number);
            fail(&mut run.ticks[number], Fault::ConnectionRefused, 10);
        }
    })
}

#[test]
fn a_server_that_dies_is_down_from_its_last_response_to_the_end() {
    let all = of(&killed());
    let outage = only(&all);
    assert_eq!((outage.from_s, outage.to_s, outage.is_open_ended), (3.1, 8.0, true));
    assert_eq!((outage.length_ns, all.longest_outage_ns), (4_900 * MS, 4_900 * MS));
    assert!((all.uptime_ratio.unwrap() - 3.1 / 8.0).abs() < 1e-9);
    assert_eq!((all.intervals, all.intervals_without_success), (8, 4));
    assert_eq!((outage.failures[0].class, outage.failures[0].count), (Fault::ConnectionRefused, 80));
    silent(&Run::closed(8), "the same service, alive");
    silent(&Run::open(8), "an open model, alive");
}

#[test]
fn a_restart_in_the_middle_has_its_exact_length() {
    let run = Run::closed(8).with(|run| {
        success(&mut run.ticks[3], 0, 3_000 * MS, 3_100 * MS);
        fail(&mut run.ticks[3], Fault::ConnectionReset, 40);
        failure(&mut run.ticks[3], 0, 3_101 * MS, 3_990 * MS);
        fail(&mut run.ticks[4], Fault::ConnectionRefused, 60);
        failure(&mut run.ticks[4], 0, 4_010 * MS, 4_500 * MS);
        success(&mut run.ticks[4], 0, 4_600 * MS, 4_999 * MS);
    });
    let all = of(&run);
    let outage = only(&all);
    assert_eq!((outage.from_s, outage.to_s, outage.is_open_ended), (3.1, 4.6, false));
    assert!((all.uptime_ratio.unwrap() - 6.5 / 8.0).abs() < 1e-9);
    let told: Vec<_> = outage.failures.iter().map(|one| (one.class, one.count)).collect();
    assert_eq!(told, [(Fault::ConnectionRefused, 60), (Fault::ConnectionReset, 40)]);
    // 0.9 s are too short for an outage.
    let short = run.at(4, |tick| {
        tick.series[0].floors[SeriesFloor::FirstSuccess.id()] = 4_000 * MS;
    });
    silent(&short, "0.9 s");
}

#[test]
fn responses_that_are_all_errors_are_an_outage() {
    let run = Run::open(8).with(|run| {
        success(&mut run.ticks[2], 0, 2_000 * MS, 2_999 * MS);
        for number in 3..8 {
            run.ticks[number] = run.blank(number as u32);
            run.ticks[number].run.add(RunSum::Arrivals.id(), 1_000);
            (0..1_000).for_each(|_| crate::analysis::fixture::answer(&mut run.ticks[number], 0, 5 * MS, 503));
        }
    });
    let all = of(&run);
    let outage = only(&all);
    assert_eq!((outage.from_s, outage.to_s, outage.is_open_ended), (2.999, 8.0, true));
    let first = &outage.failures[0];
    assert_eq!((first.class, first.status, first.count), (Fault::Status, Some(503), 5_000));
}

#[test]
fn a_server_that_hangs_to_the_end_is_down_without_a_single_failure() {
    let hang = |from: usize| {
        Run::closed(8).with(|run| {
            for number in from..8 {
                run.ticks[number] = nothing(run, number);
                run.ticks[number].run.add(RunSum::InFlightNs.id(), 10 * S);
            }
        })
    };
    let all = of(&hang(4));
    let outage = only(&all);
    assert_eq!((outage.from_s, outage.to_s, outage.is_open_ended), (4.0, 8.0, true));
    assert!(outage.failures.is_empty());
    // After one second of waiting at the end, the next response may still be in flight.
    silent(&hang(7), "the stop's edge");
    // Before the first response, it is unknown how long a response takes.
    let slow = Run::closed(3).all_ticks(|tick| {
        *tick = Interval { series: vec![Run::closed(1).blank(0).series[0].clone()], ..tick.clone() };
    });
    assert!(of(&slow).outages.is_empty());
}

#[test]
fn a_stall_of_all_users_is_an_outage_and_one_slow_response_is_not() {
    let stall = |users: u64, ticks: std::ops::Range<usize>| {
        Run::closed(10).with(|run| {
            for number in ticks {
                run.ticks[number] = run.blank(number as u32);
                run.ticks[number].run.add(RunSum::UsersNs.id(), users * S);
                run.ticks[number].run.add(RunSum::InFlightNs.id(), users * S);
            }
        })
    };
    let all = of(&stall(10, 4..7));
    assert_eq!((only(&all).from_s, only(&all).to_s, only(&all).is_open_ended), (4.0, 7.0, false));
    silent(&stall(1, 4..7), "one slow request");
    // Requests that waited for the end of the first stall must not hide the second.
    let twice = stall(10, 3..5).with(|run| {
        run.ticks[5].series[0].record(SeriesHist::Service.id(), 2_000 * MS);
        run.ticks[5].series[0].record(SeriesHist::Response.id(), 2_000 * MS);
        for number in 7..9 {
            run.ticks[number] = run.blank(number as u32);
            run.ticks[number].run.add(RunSum::UsersNs.id(), 10 * S);
            run.ticks[number].run.add(RunSum::InFlightNs.id(), 10 * S);
        }
    });
    assert_eq!(of(&twice).outages.len(), 2, "{:?}", of(&twice).outages);
    silent(&stall(10, 4..5), "a pause of one second, after which all requests completed");
}

#[test]
fn a_slow_service_a_slow_load_and_an_idle_service_are_not_down() {
    // One user, a response every 3 s.
    let slow = Run::closed(12).with(|run| {
        for number in 0..12 {
            run.ticks[number] = run.blank(number as u32);
            run.ticks[number].run.add(RunSum::UsersNs.id(), S);
            run.ticks[number].run.add(RunSum::InFlightNs.id(), S);
            if number % 3 == 2 {
                answers(&mut run.ticks[number], 0, 1, 3 * S);
            }
        }
    });
    silent(&slow, "a response every 3 s");
    let all = of(&slow);
    assert_eq!((all.intervals, all.intervals_without_success), (12, 8), "but it is reported");
    // A request every 4 s; one of them fails.
    let rare = |failed: usize| {
        Run::open_with(20, |draft| draft.load.rate_per_s = Some(0.25)).with(|run| {
            for number in 0..20 {
                run.ticks[number] = run.blank(number as u32);
                match number % 4 {
                    0 if number == failed => fail(&mut run.ticks[number], Fault::ConnectionRefused, 1),
                    0 => answers(&mut run.ticks[number], 0, 1, 5 * MS),
                    _ => {}
                }
            }
        })
    };
    silent(&rare(99), "seconds without requests");
    silent(&rare(8), "one failed request");
    // A ramp from 0.
    let mut ramp = Run::planned(|draft| draft.load.stages = Some((profile(0.0, &[(8, 10.0)]), false)));
    ramp.fill(|tick| answers(tick, 0, if tick.tick < 3 { 0 } else { 200 }, 5 * MS));
    silent(&ramp, "before the first user came");
}

#[test]
fn five_requests_are_too_few_for_an_outage() {
    let run = Run::closed(5).with(|run| {
        for number in 0..5 {
            run.ticks[number] = nothing(run, number);
            fail(&mut run.ticks[number], Fault::ConnectionRefused, 1);
        }
    });
    let all = of(&run);
    assert!(all.outages.is_empty(), "{all:?}");
}

#[test]
fn random_failures_are_errors_and_not_an_outage() {
    // One request per second; every second one fails, and once three consecutive ones do.
    let run = Run::open_with(60, |draft| draft.load.rate_per_s = Some(1.0)).with(|run| {
        for number in 0..60 {
            run.ticks[number] = run.blank(number as u32);
            run.ticks[number].run.add(RunSum::Arrivals.id(), 1);
            match number % 2 == 0 || number == 31 {
                true => fail(&mut run.ticks[number], Fault::ConnectionReset, 1),
                false => answers(&mut run.ticks[number], 0, 1, 5 * MS),
            }
        }
    });
    silent(&run, "three of 31");
    // If all others succeed, ten consecutive failures are not random.
    let run = Run::open_with(60, |draft| draft.load.rate_per_s = Some(1.0)).with(|run| {
        for number in 0..60 {
            run.ticks[number] = run.blank(number as u32);
            run.ticks[number].run.add(RunSum::Arrivals.id(), 1);
            match (30..40).contains(&number) {
                true => fail(&mut run.ticks[number], Fault::ConnectionReset, 1),
                false => answers(&mut run.ticks[number], 0, 1, 5 * MS),
            }
        }
    });
    assert_eq!((only(&of(&run)).from_s, only(&of(&run)).to_s), (30.0, 40.0));
}

#[test]
fn a_pause_of_the_load_generator_is_not_an_outage_of_the_service() {
    let gap = || {
        Run::closed(10).with(|run| {
            for number in 4..7 {
                run.ticks[number] = nothing(run, number);
                run.ticks[number].run.add(RunSum::InFlightNs.id(), 10 * S);
            }
            fail(&mut run.ticks[6], Fault::ConnectionReset, 10);
        })
    };
    assert_eq!(of(&gap()).outages.len(), 1);
    let stalled = gap().at(6, |tick| tick.run.add(RunSum::StalledNs.id(), 2_500 * MS));
    silent(&stalled, "it stalled itself");
    let paused = gap().with(|run| {
        run.notes.push(Steered::Paused.note(4 * S));
        run.notes.push(Steered::Resumed.note(6_500 * MS));
    });
    silent(&paused, "it was paused");
    let own = Run::closed(10).with(|run| {
        for number in 4..7 {
            run.ticks[number] = nothing(run, number);
            run.ticks[number].run.sums[RunSum::UsersNs.id()] = 0;
            fail(&mut run.ticks[number], Fault::FdLimit, 100);
        }
    });
    silent(&own, "it had no file descriptors");
}

#[test]
fn an_outage_in_the_warm_up_is_ignored_and_a_longer_one_starts_with_the_measurement() {
    let down = |ticks: std::ops::Range<usize>| {
        Run::closed_with(10, |draft| draft.warmup_ns = Some(3 * S)).with(|run| {
            for number in ticks {
                run.ticks[number] = nothing(run, number);
                fail(&mut run.ticks[number], Fault::ConnectionRefused, 20);
            }
        })
    };
    silent(&down(0..3), "entirely in the warm-up");
    let all = of(&down(1..6));
    assert_eq!((only(&all).from_s, only(&all).to_s), (3.0, 6.0));
    assert!((all.uptime_ratio.unwrap() - 4.0 / 7.0).abs() < 1e-9);
}

#[test]
fn one_dead_request_of_five_is_named_with_its_time() {
    let names = ["a", "b", "c", "d", "pay"];
    let shop = |dead: bool| {
        let mut run = Run::planned(|draft| {
            draft.load.users = Some(10);
            draft.load.duration_ns = Some(8 * S);
            draft.requests = names.iter().map(|name| request(name, "/")).collect();
        });
        run.fill(|tick| {
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
            for series in 0..4 {
                answers(tick, series, 100, 5 * MS);
            }
            match dead && tick.tick >= 2 {
                true => (0..100).for_each(|_| crate::analysis::fixture::answer(tick, 4, 5 * MS, 500)),
                false => answers(tick, 4, 100, 5 * MS),
            }
        });
        run
    };
    let all = of(&shop(true));
    assert!(all.outages.is_empty());
    let [part] = &all.parts[..] else { panic!("{all:?}") };
    assert_eq!((part.kind, part.name.as_str()), (PartKind::Request, "pay"));
    assert_eq!(
        (part.outages[0].from_s, part.outages[0].to_s, part.outages[0].is_open_ended),
        (2.0, 8.0, true)
    );
    silent(&shop(false), "all five alive");
}

#[test]
fn one_dead_address_of_two_is_named_with_its_time() {
    let both = |dead: bool| {
        Run::closed(6).with(|run| {
            run.outline.link.addresses = plimsoll_plan::link::Addresses::All;
            run.environment.addresses = vec!["10.0.0.7".into(), "10.0.0.8".into()];
            for tick in &mut run.ticks {
                // Placed after the one request; the engine counts addresses separately.
                let one = tick.series[0].clone();
                let mut second = one.clone();
                second.clear();
                tick.series = vec![one.clone(), one, second];
                match dead && tick.tick >= 3 {
                    true => {
                        tick.series[2].add(fault_id(Fault::ConnectionRefused), 40);
                        tick.series[2].add(SeriesSum::Finished.id(), 40);
                        tick.series[2].add(SeriesSum::Failed.id(), 40);
                    }
                    false => answers(tick, 2, 1_000, 5 * MS),
                }
            }
        })
    };
    let run = both(true);
    let all = of(&run);
    assert!(all.outages.is_empty(), "{all:?}");
    let [part] = &all.parts[..] else { panic!("{all:?}") };
    assert_eq!((part.kind, part.name.as_str()), (PartKind::Address, "10.0.0.8"));
    assert_eq!((part.outages[0].from_s, part.outages[0].is_open_ended), (3.0, true));
    let sentence = run.summary().verdict.sentence;
    assert!(
        sentence.starts_with("FAIL: no request to address 10.0.0.8 succeeded from 3 s to the end"),
        "{sentence}"
    );
    silent(&both(false), "both alive");
}

#[test]
fn silent_streams_are_not_an_outage_and_streams_that_stop_sending_are() {
    let streams = |until: usize| {
        Run::closed(10).with(|run| {
            run.outline.requests[0].is_stream = true;
            for number in 0..10 {
                run.ticks[number] = nothing(run, number);
                run.ticks[number].run.add(RunSum::InFlightNs.id(), 10 * S);
                if number < until {
                    let cells = &mut run.ticks[number].series[0];
                    cells.add(StreamSum::Events.id(), 100);
                    (0..100).for_each(|_| cells.record(StreamHist::EventGap.id(), 100 * MS));
                }
            }
            run.ticks[0].series[0].add(StreamSum::Streams.id(), 10);
        })
    };
    silent(&streams(10), "events throughout");
    silent(&streams(0), "streams without any event");
    assert_eq!((only(&of(&streams(5))).from_s, only(&of(&streams(5))).is_open_ended), (5.0, true));
}

#[test]
fn an_outage_fails_the_run_unless_a_threshold_allows_it_and_is_always_reported() {
    let summary = killed().summary();
    assert_eq!(summary.verdict.result, Outcome::Fail);
    let sentence = &summary.verdict.sentence;
    assert!(
        sentence.starts_with("FAIL: no request succeeded from 3.1 s to the end (4.9 s of 8 s). "),
        "{sentence}"
    );
    assert!(summary.verdict.reasons.contains(&"longest_outage < 1s".into()), "{:?}", summary.verdict.reasons);
    let allowed = |rules: &[&str]| killed().thresholds(rules).summary();
    let summary = allowed(&["longest_outage < 5s", "error_rate < 5%"]);
    assert_eq!(summary.verdict.result, Outcome::Pass, "{}", summary.verdict.sentence);
    assert!(
        summary.verdict.sentence.ends_with("; no request succeeded from 3.1 s to the end (4.9 s of 8 s)")
    );
    for (rule, met) in [
        ("availability >= 38%", true),
        ("availability >= 39%", false),
        ("longest_outage <= 4900ms", true),
        ("longest_outage < 4900ms", false),
        ("availability{request: pick} > 99%", false),
    ] {
        assert_eq!(allowed(&[rule]).thresholds[0].is_met, met, "{rule}");
    }
    // An outage is not a spike.
    assert!(allowed(&["error_rate < 5%"]).spikes.iter().all(|spike| spike.to_s <= 3.1));
    let events: Vec<String> = summary.events.iter().map(|event| event.text.clone()).collect();
    assert!(events.contains(&"no request succeeded until the end, for 4.9 s".into()), "{events:?}");
}

#[test]
fn an_early_end_is_an_interruption_unless_a_threshold_is_missed() {
    let cut = |run: Run| {
        run.ends(StoppedBy::Interrupt, 8 * S).with(|run| run.outline.stop.duration_ns = Some(15 * S))
    };
    let summary = cut(Run::closed(8).thresholds(&["error_rate < 1%", "requests > 1000000"])).summary();
    assert_eq!(summary.verdict.result, Outcome::Interrupted);
    let sentence = &summary.verdict.sentence;
    assert!(sentence.starts_with("INTERRUPTED: after 8 s of 15 s: 2,000 req/s"), "{sentence}");
    assert!(sentence.ends_with("; 1 of 2 thresholds met so far"), "{sentence}");
    let summary = cut(killed()).summary();
    assert_eq!(summary.verdict.result, Outcome::Fail, "a proven miss");
    assert!(
        summary.verdict.sentence.contains("(interrupted after 8 s of 15 s"),
        "{}",
        summary.verdict.sentence
    );
    // The run reached its end, was allowed to end early, or was ended by something else.
    for run in [
        Run::closed(8).ends(StoppedBy::Interrupt, 8 * S),
        Run::closed(8).ends(StoppedBy::Requests, 7 * S),
        cut(Run::closed(8)).ends(StoppedBy::InterruptAllowed, 8 * S),
        cut(Run::closed(8)).ends(StoppedBy::Command, 8 * S),
    ] {
        assert_eq!(run.summary().verdict.result, Outcome::Pass);
    }
}

/// Twenty users of a script who succeed at the very beginning, think for a second, and then fail a few times.
fn thinking(in_flight: u64) -> Run {
    Run::closed(4).with(|run| {
        let users = Load::Closed { users: Profile::constant(20.0) };
        let (name, connections) = ("buyer".into(), 20);
        run.outline.workloads = vec![Workload {
            name,
            load: users,
            connections,
            iterations: None,
            loops: None,
            rules: Default::default(),
        }];
        for (number, tick) in run.ticks.iter_mut().enumerate() {
            let from_ns = number as u64 * S;
            tick.run.add(RunSum::UsersNs.id(), 20 * S);
            tick.run.sums[RunSum::InFlightNs.id()] = in_flight * S;
            success(tick, 0, from_ns + 100 * MS, from_ns + 990 * MS);
        }
        success(&mut run.ticks[0], 0, MS, 40 * MS);
        run.ticks[0].series[0].peaks[SeriesPeak::LastSuccess.id()] = 40 * MS;
        fail(&mut run.ticks[1], Fault::Check, 12);
        failure(&mut run.ticks[1], 0, 1_050 * MS, 1_090 * MS);
    })
}

#[test]
fn users_who_think_are_not_an_outage_and_users_who_wait_are() {
    silent(&thinking(0), "no request was sent in that second");
    let all = of(&thinking(20));
    assert_eq!((only(&all).from_s, only(&all).to_s), (0.04, 1.1));
}

#[test]
fn a_service_that_responds_as_nobody_expects_is_not_reported_as_down() {
    let failing = |fault: Fault| {
        Run::closed(8).with(|run| {
            for number in 0..8 {
                run.ticks[number] = nothing(run, number);
                fail(&mut run.ticks[number], fault, 100);
            }
        })
    };
    let first_reason = |run: &Run| {
        let summary = run.summary();
        assert_eq!(summary.availability.outages.len(), 1);
        let next = serde_json::to_value(Next::of(&summary)).unwrap();
        let kind = |of: &str| next[of][0]["kind"].as_str().unwrap_or_default().to_owned();
        (kind("reasons"), kind("steps"))
    };
    for fault in [Fault::Check, Fault::GraphqlErrors, Fault::GrpcNotFound, Fault::MalformedResponse] {
        let (reason, step) = first_reason(&failing(fault));
        assert_ne!(
            (reason.as_str(), step.as_str()),
            ("outage", "look_at_outage"),
            "{fault:?} is what is wrong"
        );
    }
    let (reason, step) = first_reason(&failing(Fault::ConnectionRefused));
    assert_eq!((reason.as_str(), step.as_str()), ("outage", "look_at_outage"));
}
