//! `--scale`: which values it multiplies, which it leaves alone, and their minimums.

use plimsoll_plan::Draft;
use plimsoll_plan::draft::{LoadDraft, WorkloadDraft};
use plimsoll_plan::experiment::{Experiment, Find};
use plimsoll_plan::load::{Profile, stages};
use plimsoll_plan::scale::Scale;
use plimsoll_plan::script::Entry;
use plimsoll_plan::unit::SECOND_NS as S;

fn scale(text: &str) -> Scale {
    Scale::parse(text).unwrap()
}

fn scaled(text: &str, mut draft: Draft) -> Draft {
    scale(text).draft(&mut draft);
    draft
}

#[test]
fn a_scale_is_a_number_above_0() {
    assert_eq!(scale(" 0.05 ").factor(), 0.05);
    assert!(Scale::default().is_whole() && scale("1").is_whole());
    for text in ["0", "-1", "NaN", "inf", "1001", "5%", ""] {
        let why = Scale::parse(text).expect_err(text).to_string();
        assert!(why.contains("must be above 0"), "{why}");
    }
}

#[test]
fn scaled_lengths_are_at_least_1_s_and_counts_at_least_1() {
    let small = scale("0.05");
    for (before, after) in [(60 * S, 3 * S), (20 * S, S), (10 * S, S), (S, S), (S / 2, S / 2), (0, 0)] {
        assert_eq!(small.time_ns(before), after, "{before}");
    }
    for (before, after) in [(1_000, 50), (30, 2), (5, 1), (1, 1), (0, 0)] {
        assert_eq!(small.count(before), after, "{before}");
    }
    assert_eq!((scale("2").time_ns(S / 2), scale("2").count(3)), (S, 6), "no minimum when scaling up");
}

#[test]
fn a_scale_shortens_a_load_and_keeps_its_level() {
    let draft = scaled(
        "0.1",
        Draft {
            load: LoadDraft {
                users: Some(50),
                duration_ns: Some(60 * S),
                requests_total: Some(10_000),
                iterations_per_user: Some(40),
                iterations: Some(900),
                ..LoadDraft::default()
            },
            timeout_ns: Some(5 * S),
            graceful_stop_ns: Some(30 * S),
            ..Draft::default()
        },
    );
    assert_eq!((draft.load.duration_ns, draft.load.requests_total), (Some(6 * S), Some(1_000)));
    assert_eq!(
        (draft.load.iterations_per_user, draft.load.iterations, draft.load.users),
        (Some(4), Some(90), Some(50))
    );
    assert_eq!((draft.timeout_ns, draft.graceful_stop_ns), (Some(5 * S), Some(30 * S)));
    assert_eq!(draft.scale, Some(0.1));
}

#[test]
fn a_scaled_load_has_at_least_one_request_per_user() {
    let few = |users| Draft {
        load: LoadDraft { users: Some(users), requests_total: Some(100), ..LoadDraft::default() },
        ..Draft::default()
    };
    assert_eq!(scaled("0.01", few(20)).load.requests_total, Some(20));
    assert_eq!(scaled("0.5", few(20)).load.requests_total, Some(50));
}

#[test]
fn stages_keep_their_levels_and_their_jumps() {
    let profile = stages("60s:100,0s:500,20s:500,5s:0").unwrap();
    let draft = scaled(
        "0.1",
        Draft { load: LoadDraft { stages: Some(profile), ..LoadDraft::default() }, ..Draft::default() },
    );
    let (profile, _) = draft.load.stages.unwrap();
    let legs: Vec<(u64, f64)> = profile.stages.iter().map(|stage| (stage.duration_ns, stage.to)).collect();
    assert_eq!(legs, [(6 * S, 100.0), (0, 500.0), (2 * S, 500.0), (S, 0.0)]);
}

#[test]
fn a_number_of_arrivals_over_a_duration_keeps_its_rate() {
    let over = |number: u64, s: u64| Draft {
        load: LoadDraft {
            rate_per_s: Some(number as f64 / s as f64),
            iterations: Some(number),
            duration_ns: Some(s * S),
            ..LoadDraft::default()
        },
        ..Draft::default()
    };
    let draft = scaled("0.5", over(10_000, 15));
    assert_eq!((draft.load.iterations, draft.load.duration_ns), (Some(5_000), Some(7_500_000_000)));
    // 0.75 s becomes 1 s, so 500 arrivals become 667, and the rate stays the same.
    let draft = scaled("0.05", over(10_000, 15));
    assert_eq!((draft.load.iterations, draft.load.duration_ns), (Some(667), Some(S)));
    assert_eq!(draft.load.rate_per_s, Some(10_000.0 / 15.0));
}

#[test]
fn the_warm_up_keeps_its_share_of_the_run() {
    let draft = |s| Draft {
        load: LoadDraft { duration_ns: Some(s * S), ..LoadDraft::default() },
        warmup_ns: Some(10 * S),
        ..Draft::default()
    };
    assert_eq!(scaled("0.1", draft(60)).warmup_ns, Some(S));
    // The run lasts at least 1 s. If the warm-up had the same minimum, nothing of the run would be measured.
    let short = scaled("0.001", draft(60));
    assert_eq!((short.load.duration_ns, short.warmup_ns), (Some(S), Some(S / 6 + 1)));
    let staged = Draft {
        load: LoadDraft { stages: Some(stages("40s:5").unwrap()), ..LoadDraft::default() },
        warmup_ns: Some(10 * S),
        ..Draft::default()
    };
    assert_eq!(scaled("0.1", staged).warmup_ns, Some(S));
    let counted = Draft {
        load: LoadDraft { requests_total: Some(9), ..LoadDraft::default() },
        warmup_ns: Some(10 * S),
        ..Draft::default()
    };
    assert_eq!(scaled("0.01", counted).warmup_ns, Some(S), "the length of the run is unknown");
}

#[test]
fn workloads_are_scaled_with_their_start_delay() {
    let workload = WorkloadDraft {
        name: "feed".into(),
        entry: Entry::Scenario(0),
        load: LoadDraft {
            users: Some(5),
            stages: Some((Profile::trapezoid(0, 20 * S, 40 * S, 0, 5.0), false)),
            duration_ns: Some(100 * S),
            iterations: Some(30),
            iterations_per_user: Some(20),
            ..LoadDraft::default()
        },
        start_ns: 30 * S,
    };
    let draft =
        scaled("0.1", Draft { workloads: vec![workload], warmup_ns: Some(13 * S), ..Draft::default() });
    let workload = &draft.workloads[0];
    assert_eq!((workload.start_ns, workload.load.duration_ns), (3 * S, Some(10 * S)));
    assert_eq!((workload.load.iterations, workload.load.iterations_per_user), (Some(3), Some(2)));
    assert_eq!(workload.load.stages.as_ref().unwrap().0.total_ns(), 6 * S);
    assert_eq!(draft.warmup_ns, Some(1_300_000_000), "a tenth of the longest workload, as before");
}

#[test]
fn a_scale_shortens_cooldowns_and_searches() {
    let find = Find {
        step_duration_ns: Some(60 * S),
        max_time_ns: Some(600 * S),
        to: Some(500.0),
        ..Find::default()
    };
    let mut experiment = Experiment {
        cooldown_ns: 5 * S,
        min_duration_ns: 4 * S,
        repeat: 3,
        find: Some(find),
        ..Experiment::default()
    };
    scale("0.1").experiment(&mut experiment);
    let find = experiment.find.unwrap();
    assert_eq!((experiment.cooldown_ns, experiment.repeat), (S, 3));
    assert_eq!(experiment.min_duration_ns, 400_000_000, "a minimum here could exceed the runs themselves");
    assert_eq!((find.step_duration_ns, find.max_time_ns, find.to), (Some(6 * S), Some(60 * S), Some(500.0)));
}

#[test]
fn a_scale_of_1_changes_nothing() {
    let draft = scaled(
        "1",
        Draft {
            load: LoadDraft { duration_ns: Some(7), iterations_per_user: Some(3), ..LoadDraft::default() },
            ..Draft::default()
        },
    );
    assert_eq!(
        (draft.load.duration_ns, draft.load.iterations_per_user, draft.scale),
        (Some(7), Some(3), None)
    );
}
