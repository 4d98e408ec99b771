//! Several machines as one: exact sums, percentiles from merged histograms, a row for each.

use crate::analysis::fixture::*;
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Outcome, Severity, Summary};
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_record::RunRecord;
use plimsoll_record::event::AgentOutline;
use serde_json::Value;
use std::sync::Arc;

/// A run whose answers differ from second to second, and the same in two halves with a machine for each.
fn whole_and_halves() -> (Run, Run, Run) {
    let plan = |p, of| {
        Run::planned(|d| {
            d.load.rate_per_s = Some(2_000.0);
            d.load.duration_ns = Some(12 * S);
            d.shard = Some(part(p, of));
        })
    };
    let (mut whole, mut one, mut two) = (plan(1, 1), plan(1, 2), plan(2, 2));
    one.origin = "one".into();
    two.origin = "two".into();
    two.environment.host = "laptop-b".into();
    for number in 0..12u64 {
        let mut both = whole.blank(number as u32);
        for (half, run) in [&mut one, &mut two].into_iter().enumerate() {
            let mut tick = run.blank(number as u32);
            tick.run.add(RunSum::Arrivals.id(), 1_000);
            tick.run.add(RunSum::InFlightNs.id(), 5 * S);
            answers(&mut tick, 0, 1_000, (5 + number + 20 * half as u64) * MS);
            both.merge(&tick);
            run.ticks.push(tick);
        }
        whole.ticks.push(both);
    }
    (whole, one, two)
}

fn merged(runs: &[&Run]) -> RunRecord {
    runs.iter().fold(RunRecord::default(), |sum, run| RunRecord::merge(sum, run.record()).unwrap())
}

fn json(summary: &Summary) -> Value {
    serde_json::to_value(summary).unwrap()
}

#[test]
fn two_halves_are_the_whole_to_the_last_digit() {
    let (whole, one, two) = whole_and_halves();
    let (whole, halves) = (json(&whole.summary()), json(&summarise(&merged(&[&one, &two]))));
    for part in [
        "verdict",
        "thresholds",
        "totals",
        "offered",
        "achieved",
        "response_time",
        "service_time",
        "phases",
        "buckets",
        "errors",
        "status_codes",
        "requests",
        "spikes",
        "timeline",
        "is_complete",
        "gaps",
        "stopped_by",
    ] {
        assert_eq!(whole[part], halves[part], "{part}");
    }
}

#[test]
fn the_order_of_machines_makes_no_difference() {
    let (_, one, two) = whole_and_halves();
    assert_eq!(json(&summarise(&merged(&[&one, &two]))), json(&summarise(&merged(&[&two, &one]))));
}

#[test]
fn the_same_machine_twice_counts_once() {
    let (_, one, two) = whole_and_halves();
    assert_eq!(json(&summarise(&merged(&[&one, &two, &one]))), json(&summarise(&merged(&[&one, &two]))));
}

#[test]
fn each_machine_keeps_its_row() {
    let (_, one, two) = whole_and_halves();
    let summary = summarise(&merged(&[&one, &two]));
    let rows: Vec<_> = summary
        .generators
        .iter()
        .map(|o| (o.id.as_str(), o.host.as_str(), o.share.as_str(), o.requests))
        .collect();
    assert_eq!(rows, [("one", "laptop-a", "1/2", 12_000), ("two", "laptop-b", "2/2", 12_000)]);
    let (slow, fast) = (summary.generators[1].p99_ns.unwrap(), summary.generators[0].p99_ns.unwrap());
    assert!(slow > fast + 15 * MS);
    assert_eq!(summary.client.workers.iter().map(|w| w.generator).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(summary.environments.len(), 2);
}

#[test]
fn a_machine_that_is_not_there_makes_the_merge_inconclusive() {
    let (_, one, two) = whole_and_halves();
    let of_three = |run: &Run, p| {
        run.clone().with(|r| {
            r.outline.share = part(p, 3);
            r.outline.load = plimsoll_plan::load::Load::Open {
                rate_per_s: profile(3_000.0, &[]),
                arrivals: Default::default(),
            };
        })
    };
    let (a, c) = (of_three(&one, 1), of_three(&two, 3));
    let summary = summarise(&merged(&[&a, &c]));
    assert_eq!(summary.verdict.result, Outcome::Inconclusive);
    let missing = caution(&summary, "incomplete_record").unwrap();
    assert!(missing.evidence_text().contains("shard 2/3"), "{missing:#?}");
    // One alone is that machine's own report.
    assert!(caution(&a.summary(), "incomplete_record").is_none());
}

#[test]
fn all_shards_of_any_number_are_a_complete_record() {
    let (_, one, _) = whole_and_halves();
    for of in 2..=40 {
        let shards: Vec<Run> = (1..=of)
            .map(|number| {
                one.clone().with(|r| (r.outline.share, r.origin) = (part(number, of), format!("{number}")))
            })
            .collect();
        let summary = summarise(&merged(&shards.iter().collect::<Vec<_>>()));
        assert!(caution(&summary, "incomplete_record").is_none(), "{of}: {}", summary.verdict.sentence);
        let but_one = summarise(&merged(&shards.iter().skip(1).collect::<Vec<_>>()));
        assert_eq!(caution(&but_one, "incomplete_record").is_some(), of > 2, "{of}");
    }
}

#[test]
fn one_machine_that_was_cut_off_is_enough() {
    let (_, one, two) = whole_and_halves();
    let cut = two.with(|r| {
        r.ending = None;
        r.ticks.truncate(7);
    });
    let summary = summarise(&merged(&[&one, &cut]));
    assert!(!summary.is_complete);
    assert_eq!((summary.generators[0].is_complete, summary.generators[1].is_complete), (true, false));
    assert_eq!(summary.stopped_by, None);
    assert_eq!(
        (summary.gaps[0].generator.as_str(), summary.gaps[0].from_s, summary.gaps[0].to_s),
        ("two", 7.0, 12.0)
    );
    assert_eq!(caution(&summary, "incomplete_record").unwrap().severity, Severity::Inconclusive);
}

#[test]
fn different_targets_are_added_up_with_a_warning() {
    let (_, one, two) = whole_and_halves();
    let elsewhere = two.clone().with(|r| r.outline.target = "10.0.0.9:8080".into());
    let summary = summarise(&merged(&[&one, &elsewhere]));
    let found = caution(&summary, "merged_targets_differ").unwrap();
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.evidence_text().contains("10.0.0.7:8080 and 10.0.0.9:8080"), "{found:#?}");
    assert!(caution(&summarise(&merged(&[&one, &two])), "merged_targets_differ").is_none());
}

#[test]
fn requests_of_different_plans_are_not_mixed_up() {
    let run = |origin: &str, names: [&str; 2]| {
        let mut run = Run::planned(|d| {
            d.load.duration_ns = Some(S);
            d.requests = names.iter().map(|n| request(n, "/")).collect();
        });
        run.origin = origin.into();
        run.fill(|tick| {
            answers(tick, 0, 100, 5 * MS);
            answers(tick, 1, 300, 5 * MS);
        });
        run
    };
    let summary = summarise(&merged(&[&run("a", ["list", "pick"]), &run("b", ["pick", "list"])]));
    let rows: Vec<_> = summary.requests.iter().map(|r| (r.name.as_str(), r.requests)).collect();
    assert_eq!(rows, [("list", 400), ("pick", 400)]);
    assert!(caution(&summary, "merged_targets_differ").is_some());
}

#[test]
fn a_name_used_twice_in_one_plan_stays_two_rows() {
    let mut run = Run::planned(|d| {
        d.load.duration_ns = Some(S);
        d.requests = vec![request("pick", "/a"), request("pick", "/b")];
    });
    run.fill(|tick| {
        answers(tick, 0, 100, 5 * MS);
        answers(tick, 1, 50, 5 * MS);
    });
    assert_eq!(run.summary().requests.iter().map(|r| r.requests).collect::<Vec<_>>(), [100, 50]);
}

#[test]
fn runs_one_after_the_other_do_not_add_up() {
    let (_, one, mut two) = whole_and_halves();
    let code = "merged_runs_not_concurrent";
    let together = summarise(&merged(&[&one, &two]));
    assert!(caution(&together, code).is_none());
    two.started_unix_ns += 6 * S;
    let apart = summarise(&merged(&[&one, &two]));
    assert_eq!(caution(&apart, code).map(|c| c.severity), Some(Severity::Inconclusive));
    assert_eq!(apart.verdict.result, Outcome::Inconclusive);
}

#[test]
fn an_agent_that_was_lost_makes_the_whole_result_inconclusive() {
    let (_, one, mut two) = whole_and_halves();
    let agent = |name: &str| AgentOutline { name: name.into(), ..AgentOutline::default() };
    let mut record = merged(&[&one, &two]);
    let name_all = |record: &mut RunRecord| {
        for (one, name) in record.generators.values_mut().zip(["eu-1", "eu-2"]) {
            Arc::make_mut(&mut one.opening).environment.agent = Some(agent(name));
        }
    };
    name_all(&mut record);
    assert!(caution(&summarise(&record), "incomplete_record").is_none());
    // Also one that was lost just before its end.
    for ticks in [4, two.ticks.len() - 1] {
        two = two.with(|r| r.ticks.truncate(ticks));
        let mut record = merged(&[&one, &two]);
        name_all(&mut record);
        record.generators.values_mut().last().unwrap().ending = None;
        let summary = summarise(&record);
        let found = caution(&summary, "incomplete_record").unwrap();
        assert_eq!(found.severity, Severity::Inconclusive);
        let text = found.evidence_text();
        assert!(text.starts_with("`eu-2`, one of 2, after "), "{text}");
        assert!(caution(&summary, "merged_runs_not_concurrent").is_none());
        assert_eq!(summary.verdict.result, Outcome::Inconclusive);
        let said = &summary.verdict.sentence;
        assert!(said.starts_with("INCONCLUSIVE: agents were lost during the load (`eu-2`"), "{said}");
    }
}

#[test]
fn the_rates_of_machines_add_up_though_one_stops_before_the_other() {
    let (_, one, mut two) = whole_and_halves();
    two = two.with(|r| r.ticks.truncate(6)).ends(plimsoll_record::event::StoppedBy::Duration, 6 * S);
    let summary = summarise(&merged(&[&one, &two]));
    assert!((summary.achieved.rate_per_s - 2_000.0).abs() < 1.0, "{}", summary.achieved.rate_per_s);
}

/// Their users have equal numbers of iterations, and some are faster.
#[test]
fn agents_of_one_load_may_end_apart_and_their_counts_become_rates_over_the_whole_time() {
    let (_, mut one, mut two) = whole_and_halves();
    for (run, part) in [(&mut one, 1), (&mut two, 2)] {
        run.origin = format!("17d97136-{part:04}");
        let name = format!("eu-{part}");
        run.environment.agent = Some(AgentOutline { name, ..AgentOutline::default() });
    }
    two = two.with(|r| r.ticks.truncate(6)).ends(plimsoll_record::event::StoppedBy::Requests, 6 * S);
    let summary = summarise(&merged(&[&one, &two]));
    assert!(caution(&summary, "merged_runs_not_concurrent").is_none());
    // 12,000 and 6,000 in 12 s.
    assert!((summary.achieved.rate_per_s - 1_500.0).abs() < 1.0, "{}", summary.achieved.rate_per_s);
    assert!((summary.generators[1].rate_per_s - 1_000.0).abs() < 1.0, "its own, while it loaded");
    // Loads of two commands have two names.
    two.origin = "5f0c1a2b-0002".into();
    let summary = summarise(&merged(&[&one, &two]));
    assert!(caution(&summary, "merged_runs_not_concurrent").is_some());
    assert!((summary.achieved.rate_per_s - 2_000.0).abs() < 1.0, "{}", summary.achieved.rate_per_s);
}

#[test]
fn a_part_that_is_there_twice_is_told() {
    let (_, one, two) = whole_and_halves();
    let twice = two.with(|r| r.outline.share = part(1, 2));
    let summary = summarise(&merged(&[&one, &twice]));
    let found = caution(&summary, "merged_targets_differ").unwrap();
    assert!(found.evidence_text().contains("shard 1/2 appears more than once"), "{found:#?}");
    assert!(caution(&summary, "incomplete_record").unwrap().evidence_text().contains("shard 2/2"));
}

#[test]
fn parts_of_different_wholes_are_told() {
    let (_, one, two) = whole_and_halves();
    let third = two.with(|r| r.outline.share = part(2, 3));
    let summary = summarise(&merged(&[&one, &third]));
    let found = caution(&summary, "merged_targets_differ").unwrap();
    assert!(found.evidence_text().contains("different divisions (1/2, 1/3)"), "{found:#?}");
    let missing = caution(&summary, "incomplete_record").unwrap();
    assert!(missing.evidence_text().contains("2/2, 1/3, 3/3"), "{missing:#?}");
}

#[test]
fn everything_that_shapes_the_load_is_compared() {
    let (_, one, two) = whole_and_halves();
    let evidence = |change: &dyn Fn(&mut plimsoll_plan::Outline)| {
        let other = two.clone().with(|r| change(&mut r.outline));
        let summary = summarise(&merged(&[&one, &other]));
        caution(&summary, "merged_targets_differ").map_or(String::new(), |c| c.evidence_text())
    };
    assert_eq!(evidence(&|p| p.timeout_ns = 2 * S), "different timeouts (10 s and 2 s)");
    assert_eq!(
        evidence(&|p| p.keep_alive = false),
        "different keep-alives (enabled in one, disabled in the other)"
    );
    assert_eq!(evidence(&|p| p.stop.requests = Some(9)), "different lengths (12 s and 12 s or 9 requests)");
    assert_eq!(evidence(&|p| p.connections = 7), "different connections (1,000 and 7)");
    assert_eq!(evidence(&|p| (p.name, p.seed) = ("b".into(), 9)), "");
}

#[test]
fn little_holds_for_machines_of_which_one_stops_before_the_other() {
    let (_, one, mut two) = whole_and_halves();
    two = two.with(|r| r.ticks.truncate(6)).ends(plimsoll_record::event::StoppedBy::Duration, 6 * S);
    let alone = [&one, &two].map(|run| run.summary().client.littles_law.in_flight_computed);
    let law = summarise(&merged(&[&one, &two])).client.littles_law;
    assert!(close(law.in_flight_computed, alone[0] + alone[1], 1e-9), "{law:?}");
}

/// Two machines for 60 s, whose service is slower in each second than in the one before; the times of the second are
/// `percent` of those of the first.
fn hogged_run(percent: u64) -> Summary {
    let plan = |p| {
        Run::planned(|d| {
            d.load.rate_per_s = Some(4_000.0);
            d.load.duration_ns = Some(60 * S);
            d.shard = Some(part(p, 2));
        })
    };
    let (mut one, mut two) = (plan(1), plan(2));
    one.origin = "one".into();
    two.origin = "two".into();
    for number in 0..60u64 {
        for (run, percent) in [(&mut one, 100), (&mut two, percent)] {
            let mut tick = run.blank(number as u32);
            tick.run.add(RunSum::Arrivals.id(), 2_000);
            tick.run.record(RunHist::ScheduleLag.id(), percent * 1_000);
            answers(&mut tick, 0, 2_000, (5 + number) * MS * percent / 100);
            run.ticks.push(tick);
        }
    }
    summarise(&merged(&[&one, &two]))
}

#[test]
fn a_machine_that_measures_other_times_is_found_and_one_that_does_not_is_not() {
    let slow = hogged_run(130);
    let told = slow.generators[1].divergence.as_ref().expect("there are stretches enough");
    assert!(told.is_different && told.sentence.starts_with("p50 is 1.3"), "{told:?}");
    assert!(told.ratios.iter().all(|r| r.low <= 1.31 && r.high >= 1.29 && r.windows == 30), "{told:?}");
    // Of two each differs from the other.
    assert!(slow.generators[0].divergence.as_ref().is_some_and(|apart| apart.is_different));
    for percent in [100, 102] {
        let alike = hogged_run(percent);
        let told = alike.generators[1].divergence.as_ref().expect("there are stretches enough");
        assert!(!told.is_different && told.sentence.is_empty(), "{percent}%: {told:?}");
    }
    assert!(Run::closed(15).summary().generators[0].divergence.is_none(), "one machine has no others");
}

#[test]
fn each_machine_has_its_own_schedule_lag_and_its_own_offer() {
    let summary = hogged_run(130);
    let late = |at: usize| summary.generators[at].schedule_lag.max_ns;
    assert_eq!((late(0), late(1)), (Some(100_000), Some(130_000)));
    assert_eq!(summary.generators[0].schedule_lag.count, 60);
    assert_eq!(summary.generators[1].offered_rate_per_s, Some(2_000.0));
    assert_eq!(Run::closed(15).summary().generators[0].offered_rate_per_s, None);
}
