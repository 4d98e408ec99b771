//! What a search found, as people and programs read it.

use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Generator;
use plimsoll_analysis::summary::Severity;
use plimsoll_experiment::search::{
    Answer, Capacity, Deciding, Knee, Limited, Point, Raised, Reading, Refusal, RefusalKind, Shape, Standing,
    StepRow, Style,
};
use plimsoll_output::figure;
use plimsoll_output::find::{COLUMNS, csv, json, markdown, step_line, terminal};
use plimsoll_output::line::width;
use plimsoll_output::style::Look;
use plimsoll_plan::experiment::Purpose;

fn check(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the golden directory can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "tests/golden/{name} differs; look at it with UPDATE_GOLDEN=1 and `git diff`");
}

fn look(width: u16, unicode: bool) -> Look {
    Look { color: false, width, unicode }
}

fn reading(ms: f64, spread: f64) -> Option<Reading> {
    let ns = ms * 1e6;
    let (low_ns, high_ns) = (Some((ns / spread) as u64), Some((ns * spread) as u64));
    Some(Reading { value_ns: ns as u64, low_ns, high_ns, has_enough_samples: true })
}

fn point(level: f64, p50: f64, p99: f64, met: u32, error_ratio: f64) -> Point {
    Point {
        level,
        runs: 3,
        met_runs: met,
        undecided_runs: 0,
        standing: if met > 1 { Standing::Met } else { Standing::Missed },
        offered_rate_per_s: Some(level),
        achieved_rate_per_s: level * (1.0 - error_ratio),
        p50: reading(p50, 1.05),
        p99: reading(p99, 1.2),
        error_ratio,
        error_interval: [error_ratio * 0.9, (error_ratio * 1.1).max(0.001)],
    }
}

fn step(turn: u32, level: f64, purpose: Purpose, met: bool) -> StepRow {
    StepRow {
        run_index: turn,
        level,
        purpose,
        cooldown_s: 0.0,
        warmup_s: 1.0,
        length_s: 12.0,
        offered_rate_per_s: Some(level),
        achieved_rate_per_s: level,
        p50: reading(4.0, 1.1),
        p99: reading(if met { 40.0 } else { 900.0 }, 1.3),
        requests: 12_000,
        errors: 0,
        error_ratio: 0.0,
        error_interval: [0.0, 0.0003],
        is_met: met,
        standing: if met { Standing::Met } else { Standing::Missed },
        undecided_thresholds: Vec::new(),
        missed_thresholds: if met {
            Vec::new()
        } else {
            vec!["response_time p99 < 50ms (observed 900 ms)".into()]
        },
        margin: Some(if met { 0.7 } else { -0.7 }),
        is_unstable: !met,
        cautions: vec![Kind::ShortRun],
        limited_by: None,
    }
}

fn answer() -> Answer {
    Answer {
        style: Style::Search,
        is_users: false,
        capacity: Some(Capacity {
            interval_kind: plimsoll_experiment::search::IntervalKind::Confidence95,
            rate_per_s: Some(9_480.0),
            users: None,
            interval: [9_390.0, 9_560.0],
            is_lower_bound: false,
            basis: "a line through 15 runs near the crossing".into(),
            limiting_threshold: Some("response_time{request: a|b} p99 < 250ms".into()),
        }),
        refusal: None,
        sentence:
            "capacity is 9,480 arrivals/s (95% CI 9,390–9,560, ±0.9%) with response_time p99 < 250ms; above it, \
                   latency rises gradually"
                .into(),
        shape: Shape::Gradual,
        rise: None,
        knee: Some(Knee { level: 8_000.0, p50_ns: 4_100_000, method: "last level with a calm median" }),
        unloaded_p50_ns: Some(2_100_000),
        precision_ratio: 0.02,
        thresholds: vec!["response_time p99 < 250ms".into()],
        skipped_thresholds: vec!["throughput > 100/s".into()],
        missed_thresholds: Vec::new(),
        bottleneck: None,
        deciding_runs: Some(Deciding {
            runs: 9,
            generator: Generator {
                schedule_lag_p99_ns: Some(1_200_000),
                cpu_wait_ratio: 0.034,
                busy_ratio: 0.41,
                stalled_ns: 0,
                retransmits: 3,
            },
            cautions: vec![Raised {
                kind: Kind::LateSends,
                severity: Severity::Inconclusive,
                title: "requests were sent late".into(),
                evidence: "schedule lag p99 1.20 ms".into(),
                runs: 3,
            }],
        }),
        curve: vec![
            point(1_000.0, 2.2, 8.0, 3, 0.0),
            point(8_000.0, 4.1, 60.0, 3, 0.0),
            point(9_480.0, 30.0, 248.0, 2, 0.0),
            point(16_000.0, 2_000.0, 9_800.0, 0, 0.12),
        ],
        steps: vec![
            step(0, 1.0, Purpose::Baseline, true),
            step(1, 8_000.0, Purpose::Bracket, true),
            step(2, 16_000.0, Purpose::Bracket, false),
        ],
        elapsed_s: 212.0,
    }
}

#[test]
fn the_sentence_stands_first_and_no_line_is_too_wide() {
    for columns in [60u16, 80, 100, 120] {
        for unicode in [true, false] {
            let text = terminal(&answer(), &look(columns, unicode));
            if unicode {
                println!("{text}");
            }
            assert!(text.starts_with("capacity is 9,480 arrivals/s"), "{text}");
            for line in text.lines() {
                assert!(width(line) <= usize::from(columns), "{} columns: `{line}`", width(line));
            }
            assert!(unicode || text.is_ascii());
            assert!(
                text.contains("16,000/s") && text.contains("12%") && text.contains("2 of 3 met"),
                "{text}"
            );
            assert!(text.contains("knee") && text.contains("8,000/s") && text.contains("ignored"), "{text}");
        }
    }
}

#[test]
fn bars_grow_with_the_times_where_there_is_room() {
    let text = terminal(&answer(), &look(100, false));
    let bar = |level: &str| {
        let line =
            text.lines().find(|line| line.trim_start().starts_with(level)).expect("a row of the curve");
        line.matches('#').count()
    };
    assert!(
        bar("1,000/s") < bar("8,000/s")
            && bar("8,000/s") < bar("9,480/s")
            && bar("9,480/s") < bar("16,000/s"),
        "{text}"
    );
}

#[test]
fn a_refusal_is_said_first_and_in_full() {
    let mut refused = answer();
    refused.capacity = None;
    refused.sentence =
        "no answer: the load generator was the limit, not the service: requests were sent late".into();
    refused.refusal = Some(Refusal {
        kind: RefusalKind::GeneratorLimited,
        sentence: "the load generator was the limit".into(),
    });
    for text in [terminal(&refused, &look(80, true)), markdown(&refused)] {
        assert!(text.trim_start_matches("## ").starts_with("no answer"), "{text}");
        assert!(text.contains("generator_limited") || text.contains("generator\\_limited"), "{text}");
        assert!(!text.contains("capacity:") && !text.contains("  capacity "), "{text}");
    }
}

#[test]
fn a_ladder_is_told_as_one() {
    let mut ladder = answer();
    ladder.style = Style::Ladder;
    ladder.capacity.as_mut().expect("found").interval_kind =
        plimsoll_experiment::search::IntervalKind::Bracket;
    let text = terminal(&ladder, &look(80, true));
    assert!(text.contains("between 9,390 (met) and 9,560 arrivals/s (missed)"), "{text}");
}

#[test]
fn the_generator_and_the_cautions_of_the_runs_that_decided_are_told() {
    let text = terminal(&answer(), &look(120, false));
    assert!(text.contains("schedule lag p99 1.2 ms, workers busy 41%, waiting for CPU 3.4%"), "{text}");
    assert!(text.contains("3 of 9 runs near the capacity, first: schedule lag p99 1.20 ms"), "{text}");
    assert!(markdown(&answer()).contains("3 of 9 runs"));
    let mut calm = answer();
    calm.deciding_runs = None;
    assert!(!terminal(&calm, &look(120, false)).contains("late_sends"));
}

#[test]
fn more_answers_than_arrivals_are_explained() {
    let mut odd = answer();
    let text = terminal(&odd, &look(120, false));
    assert!(!text.contains("exceeded the offered rate"), "{text}");
    odd.steps[1].achieved_rate_per_s = 8_100.0;
    let text = terminal(&odd, &look(160, false));
    assert!(
        text.contains("At 8,000 arrivals/s, throughput (8,100/s) exceeded the offered rate (8,000/s)"),
        "{text}"
    );
}

#[test]
fn a_step_whose_limit_lies_within_what_was_seen_is_undecided() {
    let mut near = step(3, 640.0, Purpose::Bisect, false);
    (near.standing, near.is_unstable) = (Standing::Undecided, false);
    let line = step_line(&near, false, &look(120, true));
    assert!(line.contains("undecided") && !line.contains("missed"), "{line}");
}

#[test]
fn a_step_is_one_line() {
    for columns in [60u16, 80, 120] {
        for (met, users) in [(true, false), (false, true)] {
            let line = step_line(&step(3, 640.0, Purpose::Confirm, met), users, &look(columns, true));
            println!("{line}");
            assert!(width(&line) <= usize::from(columns) && !line.contains('\n'), "{line}");
            assert!(line.contains(if users { "640 users" } else { "640/s" }), "{line}");
        }
    }
    let mut limited = step(3, 640.0, Purpose::Confirm, false);
    limited.limited_by = Some(Limited {
        kind: Kind::LateSends,
        title: "requests were sent late".into(),
        evidence: String::new(),
    });
    let line = step_line(&limited, false, &look(120, true));
    assert!(line.contains("excluded: requests were sent late"), "{line}");
    let floor = step_line(&step(0, 1.0, Purpose::Baseline, true), false, &look(120, true));
    assert!(floor.contains("1 user") && floor.contains("baseline"), "{floor}");
}

#[test]
fn the_csv_has_a_row_a_level_and_a_field_a_column() {
    let text = csv(&answer());
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.len() == COLUMNS.len()), "{text}");
    assert_eq!(rows[0][0..3], ["level", "runs", "runs_met"]);
    let column = |name: &str| rows[0].iter().position(|n| *n == name).expect("a column");
    assert_eq!(rows[3][column("level")], "9480");
    assert_eq!(rows[3][column("p99_ns")], "248000000");
    assert_eq!(rows[4][column("error_ratio")], "0.12");
    let mut unknown = answer();
    unknown.curve[0].p99 = None;
    unknown.curve[0].achieved_rate_per_s = f64::NAN;
    let text = csv(&unknown);
    let row: Vec<&str> = text.lines().nth(1).expect("a row").split(',').collect();
    assert_eq!((row[column("p99_ns")], row[column("achieved_rate_per_s")]), ("", ""));
}

#[test]
fn markdown_cannot_be_broken_by_a_name() {
    let text = markdown(&answer());
    println!("{text}");
    assert!(text.starts_with("## capacity is 9,480 arrivals/s"), "{text}");
    assert!(text.contains("request: a\\|b"), "{text}");
    let tables = text.lines().filter(|line| line.starts_with('|'));
    let counts: Vec<usize> = tables.map(|line| line.replace("\\|", "").matches('|').count()).collect();
    assert!(counts.iter().all(|n| *n == 8 || *n == 10), "{counts:?}");
}

#[test]
fn json_is_the_answer_itself_and_what_follows_from_it() {
    let text = json(&answer()).expect("plain data");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["capacity"]["rate_per_s"], 9_480.0);
    assert_eq!(value["capacity"]["interval"][1], 9_560.0);
    assert_eq!(value["shape"], "gradual");
    assert_eq!(value["curve"][3]["error_ratio"], 0.12);
    assert!(value["refusal"].is_null() && value["bottleneck"].is_null());
    let next = &value["next"];
    assert_eq!(next["reasons"][0]["kind"], "first_missed");
    assert_eq!(next["reasons"][0]["evidence"]["level"], 16_000.0);
    assert_eq!(next["steps"][0]["kind"], "watch");
    assert_eq!(next["steps"][1]["evidence"]["level"], 8_000.0);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = flat(&terminal(&answer(), &look(300, true)));
    for row in ["reasons", "steps"].into_iter().filter_map(|part| next[part].as_array()).flatten() {
        let text = row["text"].as_str().expect("a sentence");
        assert!(shown.contains(&flat(text).replace('`', "")), "{text} in {shown}");
    }
}

#[test]
fn json_says_what_to_do_about_a_refusal() {
    let mut short = answer();
    short.refusal = Some(Refusal { kind: RefusalKind::MaxTimeReached, sentence: "the time was over".into() });
    let step = |answer: &Answer| {
        let value: serde_json::Value =
            serde_json::from_str(&json(answer).expect("plain data")).expect("JSON");
        assert_eq!(value["refusal"]["code"], "max_time_reached");
        value["next"]["steps"][0].clone()
    };
    assert_eq!(
        (&step(&short)["kind"], &step(&short)["evidence"]["from"]),
        (&"give_more_time".into(), &9_390.0.into())
    );
    short.capacity.as_mut().expect("found").interval_kind =
        plimsoll_experiment::search::IntervalKind::Bracket;
    assert_eq!(
        (&step(&short)["kind"], &step(&short)["evidence"]["to"]),
        (&"search_between".into(), &9_560.0.into())
    );
}

#[test]
fn an_empty_answer_is_no_panic() {
    let mut empty = answer();
    (empty.curve, empty.steps, empty.capacity, empty.knee) = (Vec::new(), Vec::new(), None, None);
    assert!(!terminal(&empty, &look(60, true)).is_empty());
    assert_eq!(csv(&empty).lines().count(), 1);
    assert!(!markdown(&empty).is_empty());
}

#[test]
fn a_search_is_drawn_step_by_step_with_its_interval() {
    let mut one = answer();
    one.steps.extend(
        (3..18u32).map(|turn| step(turn, 9_300.0 + 20.0 * f64::from(turn), Purpose::Confirm, turn % 3 > 0)),
    );
    let drawn = |name: &str, settings: &str, answer: &Answer| {
        plimsoll_chart::draw(&figure::of_answer(name, settings, answer), plimsoll_chart::Skin::File)
    };
    let svg = drawn("node & go", "variant node", &one);
    assert!(svg.len() < 60_000 && svg.ends_with("</svg>\n"), "{svg}");
    for text in [
        "node &amp; go: variant node",
        "arrivals per second",
        "met<",
        "missed<",
        "95% interval 9,390 to 9,560",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(!svg.contains("does not count") && !svg.contains("NaN"));
    check("figures/search.svg", &svg);
    one.steps.clear();
    one.capacity = None;
    assert!(!drawn("nothing", "", &one).contains("NaN"));
}
