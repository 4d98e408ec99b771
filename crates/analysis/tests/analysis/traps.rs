//! Runs that measured something else than it seems: the link, the round trip, the length of the run, a cold start, or
//! the connections that happened to be served. Each has a similar counterpart.

use crate::analysis::cautions::cases;
use crate::analysis::fixture::*;
use plimsoll_analysis::caution::{Kind, page};
use plimsoll_analysis::next::Next;
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::Severity;
use plimsoll_plan::Draft;
use plimsoll_plan::link::{Addresses, Reuse};
use plimsoll_plan::load::Arrivals;
use plimsoll_plan::metric::{RunFloor, RunHist, RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum};
use plimsoll_record::event::{NoteKind, StoppedBy};
use plimsoll_stats::Interval;

cases! {
    times_that_rise_to_the_end_tell_the_length_of_the_run: BacklogGrew, Warning,
        open_course(|second| 10 + 400 * second),
        open_course(|_| 10),
        ["807 ms in the first third and 4.78 s in the last", "requests in flight", "lower the rate"];

    a_spike_that_is_over_is_no_backlog: BacklogGrew, Warning,
        open_course(|second| 10 + 100 * second),
        open_course(|second| if (7..11).contains(&second) { 3_000 } else { 10 + second % 3 }),
        ["in the first third"];

    one_step_is_no_backlog: BacklogGrew, Warning,
        open_course(|second| 10 + 100 * second),
        open_course(|second| if second < 7 { 10 + second * 7919 % 5 } else { 200 + second * 7919 % 90 }),
        ["in the first third"];

    a_queue_in_front_of_a_cap_on_connections_is_a_backlog: BacklogGrew, Warning,
        open_course(|second| 10 + 100 * second).all_ticks(|t| {
            t.run.sums[RunSum::InFlightNs.id()] = 5 * S;
            t.run.add(RunSum::ArrivalsQueued.id(), 1_000);
        }),
        // Nothing queues up: the times grow, but not because of a backlog.
        open_course(|second| 10 + 100 * second).all_ticks(|t| t.run.sums[RunSum::InFlightNs.id()] = 5 * S),
        ["with 5.00 and 5.00 requests in flight"];

    a_rate_that_rises_by_plan_may_have_rising_times: BacklogGrew, Warning,
        open_course(|second| 10 + 100 * second),
        open_course(|second| 10 + 100 * second).with(|r| r.outline.load = plimsoll_plan::load::Load::Open {
            rate_per_s: profile(900.0, &[(15, 1_100.0)]), arrivals: Arrivals::Constant,
        }),
        ["in the first third"];

    users_wait_for_answers_so_nothing_piles_up: BacklogGrew, Warning,
        open_course(|second| 10 + 100 * second),
        closed_course(|second| 10 + 100 * second),
        ["in the first third"];

    a_slow_beginning_is_not_the_service_in_its_stride: UnsteadyStart, Warning,
        closed_course(|second| if second < 4 { 20 } else { 5 }),
        closed_course(|second| 5 + second * 7919 % 3),
        ["19.9 ms until 4 s, then 4.9", "75% less", "throughput 500/s, then 2,000/s", "`--warmup 4s`"];

    a_fast_beginning_is_not_either: UnsteadyStart, Warning,
        open_course(|second| if second < 3 { 5 } else { 8 }),
        // One second is a spike; the timeline shows it.
        open_course(|second| if second < 1 { 500 } else { 5 }),
        ["until 3 s", "(6", "more"];

    what_a_median_does_not_see_the_rate_does: UnsteadyStart, Warning,
        beginning(900),
        beginning(1_900),
        ["mean service time 11.1 ms until 4 s", "throughput 900/s, then 2,000/s"];

    a_change_behind_the_middle_is_no_beginning: UnsteadyStart, Warning,
        closed_course(|second| if second < 5 { 20 } else { 5 }),
        closed_course(|second| if second < 10 { 20 } else { 5 }),
        ["until 5 s"];

    a_level_within_the_scatter_is_none: UnsteadyStart, Warning,
        closed_course(|second| if second < 5 { 40 } else { 20 + second * 7919 % 5 }),
        closed_course(|second| if second < 5 { 40 } else { 20 + second * 7919 % 40 }),
        ["until 5 s"];

    a_median_that_the_rate_contradicts_wandered: UnsteadyStart, Warning,
        closed_course(|second| if second < 4 { 20 } else { 15 }),
        closed_course(|second| if second < 4 { 20 } else { 15 })
            .all_ticks(|t| t.series[0].sums[SeriesSum::Finished.id()] = 600),
        ["until 4 s"];

    what_is_left_out_as_warm_up_does_not_count: UnsteadyStart, Warning,
        closed_course(|second| if second < 4 { 20 } else { 5 }),
        closed_course(|second| if second < 4 { 20 } else { 5 }).with(|r| r.outline.warmup_ns = 4 * S),
        ["until 4 s"];

    a_load_that_was_changed_may_change_the_times: UnsteadyStart, Warning,
        closed_course(|second| if second < 4 { 20 } else { 5 }),
        closed_course(|second| if second < 4 { 20 } else { 5 }).note(4 * S, NoteKind::Control, "5 users"),
        ["until 4 s"];

    whole_seconds_more_are_syn_retransmits: SynRetransmits, Warning,
        connects(&[(400, 30), (1_030, 40), (2_050, 3), (3_040, 7)], 60),
        // The kernel retransmitted nothing, so the target itself was slow.
        connects(&[(400, 30), (1_030, 40), (2_050, 3), (3_040, 7)], 0),
        ["50 of 480 connections (10%)", "40 by 1 s, 3 by 2 s, 7 by 3 s", "retransmitted 60 segments", "somaxconn"];

    long_times_that_are_no_whole_seconds_are_something_else: SynRetransmits, Warning,
        connects(&[(1, 900), (1_030, 5)], 5),
        connects(&[(1, 900), (1_030, 5), (1_500, 3), (600, 4)], 12),
        ["5 of 905 connections"];

    a_few_syn_retransmits_among_very_many_are_the_networks_usual: SynRetransmits, Warning,
        connects(&[(1, 2_000), (1_030, 3)], 3),
        connects(&[(1, 4_000), (1_030, 3)], 3),
        ["3 of 2,003"];

    even_bytes_and_segments_out_of_order_saturate_the_network: NetworkSaturated, Warning,
        bodies(95, |_| 0).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80)),
        // Nothing was lost: a server that generates its bodies slowly looks the same.
        bodies(95, |_| 0).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 9)),
        ["95% of the requests' time", "600,000 bytes/s (4.80 Mbit/s)", "80 segments"];

    a_service_that_is_slow_before_the_first_byte_is_no_full_link: NetworkSaturated, Warning,
        bodies(80, |_| 0).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80)),
        bodies(70, |_| 0).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80)),
        ["80% of the requests' time"];

    bytes_that_come_unevenly_are_not_bound_by_a_link: NetworkSaturated, Warning,
        bodies(95, |second| second % 3 * 100).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80)),
        bodies(95, |second| second * 10_000).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80)),
        ["every fifth"];

    a_worker_without_time_to_read_is_no_full_link: NetworkSaturated, Warning,
        bodies(95, |_| 0).at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80)),
        bodies(95, |_| 0)
            .at(14, |t| t.run.add(RunSum::SegmentsOutOfOrder.id(), 80))
            .with(|r| r.pulse.busy_ns = S * 95 / 100),
        ["arrived out of order"];

    two_connections_that_get_everything_are_unfair: ConnectionsUnfair, Warning,
        served(&[(2, 15_000), (18, 3)]),
        served(&[(10, 1_200), (10, 1_800)]),
        ["2 of 20 connections got 9", "the median connection 3", "Jain's index 0.1"];

    users_that_come_one_by_one_have_unequal_turns: ConnectionsUnfair, Warning,
        served(&[(2, 15_000), (18, 3)]),
        served(&[(2, 15_000), (18, 3)]).with(|r| r.outline.load = plimsoll_plan::load::Load::Closed {
            users: profile(0.0, &[(15, 20.0)]),
        }),
        ["Jain's index"];

    a_pool_uses_the_last_one_first_on_purpose: ConnectionsUnfair, Warning,
        served(&[(2, 15_000), (18, 3)]),
        served(&[(2, 15_000), (18, 3)]).with(|r| r.outline.link.reuse = Reuse::Pool),
        ["Jain's index"];

    connections_that_were_made_again_are_not_those_of_the_users: ConnectionsUnfair, Warning,
        served(&[(2, 15_000), (18, 3)]),
        served(&[(2, 15_000), (18, 3)]).at(7, |t| t.run.add(RunSum::ClosedAfterError.id(), 18)),
        ["Jain's index"];

    a_server_that_closes_behind_each_answer_is_said: ConnectionsNotReused, Warning,
        ended(1, RunSum::ClosedByServer, |_| {}),
        ended(1, RunSum::ClosedByServer, |d| d.keep_alive = Some(false)),
        ["closed 1,500 of 1,500 connections, after 1.00 requests each", "took 200 µs"];

    a_server_that_closes_too_soon_is_said_when_it_costs: ConnectionsNotReused, Warning,
        ended(8, RunSum::ClosedByServer, |_| {})
            .all_ticks(|t| (0..100).for_each(|_| t.run.record(RunHist::Handshake.id(), 9 * MS))),
        // 0.2 ms in 8 times 5 ms.
        ended(8, RunSum::ClosedByServer, |_| {}),
        ["after 8.00 requests each", "took 9.", "1"];

    a_plan_that_closes_gets_what_it_asked_for: ConnectionsNotReused, Warning,
        ended(1, RunSum::ClosedByServer, |_| {}),
        ended(1, RunSum::ClosedByClient, |_| {}),
        ["1.00 requests each"];

    a_minute_of_this_takes_more_ports_than_there_are: LowEphemeralPorts, Warning,
        closing(400),
        closing(370),
        ["400 connections/s closed", "24,000 of 28,232 ports", "1024 65535"];

    more_local_addresses_have_more_ports: LowEphemeralPorts, Warning,
        closing(400),
        closing(400).with(|r| r.outline.link.source_addresses =
            ["10.0.0.1", "10.0.0.2"].map(|a| a.parse().unwrap()).into()),
        ["28,232 ports"];

    more_targets_have_more_ports: LowEphemeralPorts, Warning,
        closing(400),
        closing(400).with(|r| {
            r.outline.link.addresses = Addresses::All;
            r.environment.addresses = vec!["10.0.0.7".into(), "10.0.0.8".into()];
        }),
        ["28,232 ports"];

    a_range_that_nobody_could_read_does_not_run_out: LowEphemeralPorts, Warning,
        closing(400),
        closing(400).with(|r| (r.environment.port_low, r.environment.port_high) = (0, 0)),
        ["28,232 ports"];

    within_one_machine_ports_are_taken_again: LowEphemeralPorts, Note,
        closing(400).with(|r| r.environment.is_same_machine = true),
        closing(300).with(|r| r.environment.is_same_machine = true),
        ["another network would run out", "after a second"];

    a_time_of_one_round_trip_is_the_distance: RttBound, Note,
        Run::closed(15).at(3, |t| t.run.floor(RunFloor::RttNs.id(), 4 * MS)),
        // At least a quarter of the time is the service's own.
        Run::closed(15).at(3, |t| t.run.floor(RunFloor::RttNs.id(), 3 * MS)),
        ["median request 4.9", "round trip 4.00 ms", "10 users cannot exceed 2,500/s"];

    arrivals_do_not_wait_for_a_round_trip: RttBound, Note,
        Run::closed(15).at(3, |t| t.run.floor(RunFloor::RttNs.id(), 4 * MS)),
        Run::open(15).at(3, |t| t.run.floor(RunFloor::RttNs.id(), 4 * MS)),
        ["round trip"];
}

/// 1,000 arrivals per second with times of about this many ms, by second. In flight follows Little's law.
fn open_course(ms: impl Fn(u64) -> u64) -> Run {
    course(Run::open(15), 1_000, ms)
}

/// Ten users who complete this many requests in each of the first four seconds, and 2,000 in each later one.
fn beginning(finished: u64) -> Run {
    let fewer = |t: &mut Interval| t.series[0].sums[SeriesSum::Finished.id()] = finished;
    Run::closed(15).with(|r| r.ticks[..4].iter_mut().for_each(fewer))
}

/// Ten users with responses of this many ms.
fn closed_course(ms: impl Fn(u64) -> u64) -> Run {
    course(Run::closed(15), 500, ms)
}

fn course(mut run: Run, each_second: u64, ms: impl Fn(u64) -> u64) -> Run {
    let is_open = run.outline.load.is_open();
    for number in 0..run.ticks.len() {
        let mut tick = run.blank(number as u32);
        let middle_ms = ms(number as u64);
        let n = if is_open { each_second } else { 10_000 / middle_ms };
        answers(&mut tick, 0, n, middle_ms * MS);
        if is_open {
            tick.run.add(RunSum::Arrivals.id(), n);
            tick.run.add(RunSum::InFlightNs.id(), n * middle_ms * MS);
        } else {
            tick.run.add(RunSum::InFlightNs.id(), 10 * S);
            tick.run.add(RunSum::UsersNs.id(), 10 * S);
        }
        run.ticks[number] = tick;
    }
    run
}

/// Connections that took this many ms, and this many retransmitted segments.
fn connects(times: &'static [(u64, u64)], retransmits: u64) -> Run {
    Run::closed(15).at(0, move |t| {
        // The fastest connection; others are a little slower.
        t.run.floor(RunFloor::ConnectNs.id(), MS);
        (0..if times[0].0 > 1 { 400 } else { 0 }).for_each(|_| t.run.record(RunHist::Connect.id(), 2 * MS));
        for (ms, n) in times {
            (0..*n).for_each(|_| t.run.record(RunHist::Connect.id(), ms * MS));
        }
        t.run.add(RunSum::Retransmits.id(), retransmits);
    })
}

/// Ten users whose responses spend this percentage of their time in their bodies, with 600,000 bytes per second and the
/// changes of `more`.
fn bodies(hundredths: u64, more: impl Fn(u64) -> u64) -> Run {
    let mut run = Run::closed(15);
    for (second, tick) in (0u64..).zip(&mut run.ticks) {
        let cells = &mut tick.series[0];
        cells.sums[SeriesSum::BytesIn.id()] = 600_000 + more(second);
        for (id, part) in [(SeriesHist::FirstByte, 100 - hundredths), (SeriesHist::Body, hundredths)] {
            cells.hists[id.id()].clear();
            (0..2_000).for_each(|_| cells.record(id.id(), part * 50_000));
        }
    }
    run
}

/// Users with one connection each until the end, by the number of requests that each has served.
fn served(connections: &'static [(u64, u64)]) -> Run {
    Run::closed_with(15, |d| d.load.users = Some(20)).at(14, |t| {
        for (n, requests) in connections {
            (0..*n).for_each(|_| t.run.record(RunHist::ConnRequests.id(), *requests));
            t.run.add(RunSum::OpenAtEnd.id(), *n);
        }
    })
}

/// 100 connections per second, each closed after this many requests.
fn ended(requests: u64, by: RunSum, change: impl FnOnce(&mut Draft)) -> Run {
    Run::closed_with(15, change).all_ticks(|t| {
        (0..100).for_each(|_| t.run.record(RunHist::ConnRequests.id(), requests));
        (0..100).for_each(|_| t.run.record(RunHist::Connect.id(), MS / 5));
        t.run.add(by.id(), 100);
    })
}

/// This many connections per second that are closed again.
fn closing(each_second: u64) -> Run {
    Run::closed_with(15, |d| d.keep_alive = Some(false))
        .all_ticks(|t| t.run.add(RunSum::ClosedByClient.id(), each_second))
}

#[test]
fn a_backlog_is_not_also_a_cold_start() {
    let summary = open_course(|second| 10 + 400 * second).summary();
    assert!(caution(&summary, "backlog_grew").is_some());
    assert!(caution(&summary, "unsteady_start").is_none(), "one cause, one caution");
}

#[test]
fn the_last_second_of_a_counted_run_is_ignored() {
    // Users find no work, so the count determines the time of the last responses.
    let run = closed_course(|second| if second < 3 { 20 } else { 5 });
    let counted = run.clone().with(|r| r.ticks.truncate(6)).ends(StoppedBy::Requests, 6 * S);
    assert!(caution(&counted.summary(), "unsteady_start").is_none(), "five seconds are too few");
    let longer = run.with(|r| r.ticks.truncate(10)).ends(StoppedBy::Requests, 10 * S);
    assert!(caution(&longer.summary(), "unsteady_start").is_some());
}

/// Files may come from others: with any content, these analyses end and do not panic.
#[test]
fn meaningless_numbers_cause_no_panic() {
    let mad = |value: u64| {
        move |tick: &mut Interval| {
            for id in RunSum::ALL {
                tick.run.sums[id.id()] = value;
            }
            for id in SeriesSum::ALL {
                tick.series[0].sums[id.id()] = value;
            }
            for id in RunHist::ALL {
                tick.run.record(id.id(), value);
            }
            for id in SeriesHist::ALL {
                tick.series[0].record(id.id(), value);
            }
            for id in StreamSum::ALL {
                tick.series[0].sums[id.id()] = value;
            }
            for id in StreamHist::ALL {
                tick.series[0].record(id.id(), value);
            }
            for id in RunFloor::ALL {
                tick.run.floors[id.id()] = value;
            }
        }
    };
    for run in [Run::closed(15), Run::open(15), Run::closed(1), Run::closed(15).with(|r| r.ticks.clear())] {
        for value in [0, 1, S, u64::MAX / 16, u64::MAX] {
            let summary = summarise(&run.clone().all_ticks(mad(value)).record());
            for one in &summary.cautions {
                assert!(
                    !one.evidence_text().contains("NaN") && !one.evidence_text().contains("inf"),
                    "{one:#?}"
                );
            }
        }
    }
}

/// Nine hours have 32,400 seconds, and the timeline of a run is compared in pairs.
#[test]
fn a_long_run_is_analyzed_in_longer_sections() {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(3_600 * S));
    run.fill(|tick| {
        let slow = if tick.tick < 900 { 40 * MS } else { 10 * MS };
        (0..6).for_each(|_| answer(tick, 0, slow, 200));
        tick.run.add(RunSum::InFlightNs.id(), 6 * slow);
        tick.run.add(RunSum::UsersNs.id(), S);
    });
    let summary = run.summary();
    let told = caution(&summary, "unsteady_start").expect("a quarter of an hour was slow").evidence_text();
    assert!(told.contains("until 15m"), "{told}");
}

/// `PLIMSOLL_BLESS=1 cargo test -p plimsoll-analysis --test surface page` rewrites the sections.
#[test]
fn every_caution_has_a_page_and_the_documents_show_it() {
    const BEGIN: &str = "## Every caution\n";
    let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explanation/cautions.md");
    let text = std::fs::read_to_string(&place).expect("the checkout is complete");
    let mut wanted = String::from(BEGIN);
    for kind in Kind::ALL {
        assert_eq!(page(kind.code()), Some(kind.page()));
        let paragraphs: Vec<&str> = kind.page().split("\n\n").collect();
        assert_eq!(paragraphs.len(), 3, "{}: what it means, how it is found, what to do", kind.code());
        wanted += &format!("\n### `{}`: {}\n", kind.code(), kind.title());
        for paragraph in paragraphs {
            assert!(!paragraph.contains('\n') && !paragraph.contains("  "), "{paragraph}");
            wanted += &format!("\n{}", wrapped(paragraph));
        }
    }
    let (head, found) = text.split_at(text.find(BEGIN).unwrap_or(text.len()));
    if std::env::var_os("PLIMSOLL_BLESS").is_some() {
        std::fs::write(&place, format!("{head}{wanted}")).expect("the checkout is writable");
    } else {
        assert!(found == wanted, "docs/explanation/cautions.md is not what the pages say; see this test");
    }
    assert_eq!(page("no_such_caution"), None);
}

/// Wraps lines to at most 120 characters.
fn wrapped(paragraph: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in paragraph.split(' ') {
        if !line.is_empty() && line.len() + 1 + word.len() > 120 {
            lines += &format!("{line}\n");
            line.clear();
        }
        line += &format!("{}{word}", if line.is_empty() { "" } else { " " });
    }
    lines + &line + "\n"
}

#[test]
fn a_service_that_becomes_slower_is_a_reason_even_if_the_run_passes() {
    let told = |run: &Run| {
        let summary = run.summary();
        let kinds = serde_json::to_value(Next::of(&summary)).unwrap();
        let advice = caution(&summary, "unsteady_start").expect("two levels").advice();
        (kinds["reasons"].to_string().contains("unsteady_start"), advice)
    };
    let (is_reason, advice) = told(&closed_course(|second| if second < 5 { 5 } else { 20 }));
    assert!(is_reason && advice.contains("changed on the server"), "{advice}");
    let (is_reason, advice) = told(&closed_course(|second| if second < 5 { 20 } else { 5 }));
    assert!(!is_reason && advice.contains("--warmup"), "a cold start: {advice}");
}
