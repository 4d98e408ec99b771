//! Handmade results, and the page of each.

use crate::compare::fixtures as compared;
use crate::html::dom::Dom;
use plimsoll_analysis::saturation::Saturation;
use plimsoll_analysis::summary::{Bottleneck, Outcome};
use plimsoll_audit::foreign::{Document, read};
use plimsoll_audit::{Audit, audit};
use plimsoll_experiment::compare::expect::{Answer as Expected, Borne};
use plimsoll_experiment::compare::gate::{Gate, Gated, gate};
use plimsoll_experiment::conclusion::{Conclusion, SCHEMA_VERSION, Searched};
use plimsoll_experiment::search::{
    Answer, Capacity, IntervalKind, Knee as Bend, Point, Reading, Shape, Standing, StepRow, Style,
};
use plimsoll_experiment::study::{
    AxisKind, Basis, CellRow, Curve, CurvePoint, Estimate, Finding, Knee, LittleRow, Study, UslFit,
};
use plimsoll_output::audit as audits;
use plimsoll_output::experiment::RunFile;
use plimsoll_output::experiment::parts::Row;
use plimsoll_output::figure;
use plimsoll_output::html::parts::Part;
use plimsoll_output::html::{Page, parts};
use plimsoll_output::{compare as comparison, experiment};
use plimsoll_plan::experiment::{Axis, Purpose, Setting};
use plimsoll_plan::watch::Unit;

/// Text that contains markup.
pub const EVIL: &str =
    "</script></style><script>alert(1)</script><img src=x onerror=alert(2)>\"' \u{202e}gnp\u{7}&amp;";

/// One published output of a tool and a table, with impossible values.
pub const REPORT: &str = include_str!("report.md");

fn setting(axis: &str, value: &str) -> Setting {
    Setting { parameter: axis.into(), value: value.into() }
}

fn estimate(value: f64) -> Estimate {
    Estimate { value: Some(value), low: Some(value * 0.95), high: Some(value * 1.05), ..Estimate::default() }
}

fn cell(users: f64, rate: f64, axis: &str) -> CellRow {
    let mean_ns = users / rate * 1e9;
    CellRow {
        settings: vec![setting(axis, &users.to_string())],
        level: users,
        is_users: true,
        repeats: 3,
        excluded_runs: Vec::new(),
        is_valid: true,
        basis: Basis::Runs,
        measured_s: 60.0,
        requests: (rate * 60.0) as u64,
        errors: 0,
        offered_rate_per_s: None,
        iterations_per_s: rate,
        rate_per_s: estimate(rate),
        error_ratio: Estimate { value: Some(0.0), ..Estimate::default() },
        mean_ns: estimate(mean_ns),
        p50_ns: estimate(mean_ns * 0.9),
        p90_ns: estimate(mean_ns * 1.8),
        p95_ns: estimate(mean_ns * 2.0),
        p99_ns: estimate(mean_ns * 2.5),
        in_flight: users,
        bytes_in_per_s: rate * 200.0,
        rtt_min_ns: Some(20_000),
        service_p50_ns: None,
        first_byte_mean_ns: None,
        body_mean_ns: None,
        little: LittleRow {
            in_flight_mean: users,
            in_flight_computed: users,
            missing_ratio: 0.0,
            missing_per_request_ns: 0.0,
            is_unexplained: false,
        },
        clusters: Vec::new(),
        monitor_metrics: Vec::new(),
        bottleneck: None,
        thresholds: Vec::new(),
    }
}

pub const LEVELS: [(f64, f64); 4] = [(1.0, 495.123), (4.0, 1_902.5), (16.0, 2_010.25), (64.0, 1_998.75)];

/// A sweep over users, with this name of the axis.
pub fn sweep(axis: &str) -> Conclusion {
    let table: Vec<CellRow> = LEVELS.iter().map(|(users, rate)| cell(*users, *rate, axis)).collect();
    let point = |(cell, (x, rate)): (usize, &(f64, f64))| CurvePoint {
        parameter_value: *x,
        row: cell,
        rate_per_s: *rate,
        mean_ns: table[cell].mean_ns.value,
        p99_ns: table[cell].p99_ns.value,
        usl_rate_per_s: None,
    };
    let curve = Curve {
        settings: Vec::new(),
        parameter: axis.into(),
        kind: AxisKind::Concurrency,
        points: LEVELS.iter().enumerate().map(point).collect(),
        usl: UslFit::Unfit { reason: "too few levels".into() },
        knee: Knee { level: Some(4.2), method: "asymptotes", sentence: "knee at 4.2 users".into() },
        saturation: None,
        retrograde_from: None,
        bottleneck: None,
    };
    let finding = Finding {
        code: "no_further",
        sentence: "throughput is flat from 16 users up".into(),
        evidence: "2,010/s and 2,000/s".into(),
        advice: "look at the service".into(),
    };
    let study = Study {
        name: "four workers".into(),
        sentence: "highest rate 2,010/s at 16 users".into(),
        runs: 12,
        parameters: vec![axis.into()],
        table,
        curves: vec![curve],
        scaling: Vec::new(),
        stability: Vec::new(),
        findings: vec![finding],
    };
    let mut c = conclusion();
    c.parameters = vec![Axis {
        name: axis.into(),
        values: LEVELS.iter().map(|(n, _)| n.to_string()).collect(),
        is_numeric: true,
    }];
    (c.combinations, c.runs, c.repeat, c.study) = (4, 12, 3, Some(study));
    c.expectations = vec![Expected {
        text: "more users raise throughput".into(),
        verdict: Borne::Refuted,
        sentence: "`more users raise throughput` is refuted".into(),
        evidence: vec!["2,010/s against 2,000/s".into()],
    }];
    c
}

fn conclusion() -> Conclusion {
    Conclusion {
        schema_version: SCHEMA_VERSION,
        name: "four workers".into(),
        question: "Where does the rate stop rising?".into(),
        parameters: Vec::new(),
        combinations: 1,
        repeat: 1,
        runs: 1,
        missing_runs: 0,
        missed_combinations: 0,
        inconclusive_combinations: 0,
        thresholds: Vec::new(),
        explicit_thresholds: Vec::new(),
        excluded_runs: vec!["`a.plim`: of another experiment".into()],
        result: Outcome::Fail,
        sentence: "12 runs, 4 combinations; 1 expectation is refuted".into(),
        study: None,
        searches: Vec::new(),
        comparisons: Vec::new(),
        expectations: Vec::new(),
    }
}

fn reading(ms: f64) -> Option<Reading> {
    let ns = ms * 1e6;
    Some(Reading {
        value_ns: ns as u64,
        low_ns: Some((ns * 0.9) as u64),
        high_ns: Some((ns * 1.1) as u64),
        has_enough_samples: true,
    })
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
        p50: reading(4.0),
        p99: reading(if met { 40.0 } else { 900.0 }),
        requests: 12_000,
        errors: 0,
        error_ratio: 0.0,
        error_interval: [0.0, 0.0003],
        is_met: met,
        standing: Standing::of(met),
        undecided_thresholds: Vec::new(),
        missed_thresholds: if met {
            Vec::new()
        } else {
            vec!["response_time p99 < 50ms (observed 900 ms)".into()]
        },
        margin: Some(0.7),
        is_unstable: !met,
        cautions: vec![plimsoll_analysis::caution::Kind::ShortRun],
        limited_by: None,
    }
}

/// One finished search.
pub fn search() -> Conclusion {
    let capacity = Capacity {
        rate_per_s: Some(1_000.0),
        users: None,
        interval: [980.0, 1_020.0],
        interval_kind: IntervalKind::Confidence95,
        is_lower_bound: false,
        basis: "a line through 12 runs".into(),
        limiting_threshold: Some("response_time p99 < 50ms".into()),
    };
    let point = |level: f64, met: u32| Point {
        level,
        runs: 3,
        met_runs: met,
        undecided_runs: 0,
        standing: Standing::of(met > 1),
        offered_rate_per_s: Some(level),
        achieved_rate_per_s: level,
        p50: reading(4.0),
        p99: reading(if met == 0 { 900.0 } else { 40.0 }),
        error_ratio: 0.0,
        error_interval: [0.0, 0.001],
    };
    let answer = Answer {
        style: Style::Search,
        is_users: false,
        capacity: Some(capacity),
        refusal: None,
        sentence: "capacity is 1,000 arrivals/s with `response_time p99 < 50ms`".into(),
        shape: Shape::Cliff,
        rise: None,
        knee: Some(Bend { level: 900.0, p50_ns: 8_000_000, method: "twice the unloaded median" }),
        unloaded_p50_ns: Some(4_000_000),
        precision_ratio: 0.02,
        thresholds: vec!["response_time p99 < 50ms".into()],
        skipped_thresholds: Vec::new(),
        missed_thresholds: Vec::new(),
        bottleneck: Some(Bottleneck::Saturated {
            what: "api cpu".into(),
            evidence: Saturation::Usage {
                unit: Unit::Cores,
                mean: 1.0,
                limit: 1.0,
                reached_from_ratio: 0.9,
                held_s: 60,
                measured_s: 60,
                load_generator_cores: None,
            },
        }),
        deciding_runs: None,
        curve: vec![point(500.0, 3), point(1_000.0, 2), point(1_100.0, 0)],
        steps: vec![
            step(0, 1.0, Purpose::Baseline, true),
            step(1, 500.0, Purpose::Bracket, true),
            step(2, 1_000.0, Purpose::Confirm, true),
            step(3, 1_000.0, Purpose::Confirm, false),
        ],
        elapsed_s: 60.0,
    };
    let mut c = conclusion();
    (c.result, c.sentence) = (Outcome::Pass, answer.sentence.clone());
    c.searches = vec![Searched { settings: Vec::new(), steps: 4, answer: Some(Box::new(answer)) }];
    c
}

pub fn files(axis: &str) -> Vec<RunFile> {
    let file = |(at, (users, _)): (usize, &(f64, f64))| RunFile {
        settings: vec![setting(axis, &users.to_string())],
        repeat: 0,
        name: format!("{at}-{users}.plim"),
        href: (at > 0).then(|| format!("./runs/{at}.plim")),
    };
    LEVELS.iter().enumerate().map(file).collect()
}

pub fn of_experiment(c: &Conclusion, files: &[RunFile]) -> Page {
    let document = serde_json::to_value(c).unwrap();
    experiment::page(c, files, figure::of_conclusion(c), document)
}

pub fn gates(all: &[plimsoll_experiment::compare::Comparison]) -> Vec<Gated> {
    all.iter().map(|one| gate(one, &Gate::default())).collect()
}

pub fn of_comparisons(all: &[plimsoll_experiment::compare::Comparison]) -> Page {
    let mut charts = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let mut own = figure::of_comparison(one);
        if all.len() > 1 {
            own.iter_mut().for_each(|chart| chart.id = format!("{}-{}", chart.id, at + 1));
        }
        charts.extend(own);
    }
    comparison::page(all, &gates(all), charts, serde_json::to_value(all).unwrap())
}

pub fn audited(text: &str) -> (Audit, Vec<Document>) {
    let documents = vec![read("report.md", text)];
    (audit(&documents), documents)
}

pub fn of_audit(text: &str) -> Page {
    let (found, documents) = audited(text);
    audits::page(&found, &documents).unwrap()
}

pub fn of_parts() -> Page {
    let part = |name: &str, conclusion: Option<Conclusion>| Part {
        row: Row {
            name: name.into(),
            result: conclusion.as_ref().map(|c| c.result),
            begun: conclusion.is_some(),
            judged: true,
            sentence: conclusion.as_ref().map_or("not run yet".into(), |c| c.sentence.clone()),
        },
        question: "How much?".into(),
        files: files("users"),
        charts: conclusion.as_ref().map(figure::of_conclusion).unwrap_or_default(),
        conclusion,
    };
    let mut compared = sweep("users");
    compared.comparisons = vec![compared::slower(), compared::mixed()];
    let all = vec![
        part("sweep", Some(sweep("users"))),
        part("again", Some(compared)),
        part("line", Some(search())),
        part("later", None),
    ];
    parts::page("the shop", all, serde_json::json!({"parts": 4}))
}

/// Every page, by name.
pub fn all() -> Vec<(&'static str, Page)> {
    let hostile = RunFile { settings: vec![setting(EVIL, "1")], repeat: 0, name: EVIL.into(), href: None };
    let mut evil = sweep(EVIL);
    for text in [&mut evil.name, &mut evil.question, &mut evil.sentence, &mut evil.excluded_runs[0]] {
        *text = EVIL.into();
    }
    evil.comparisons = vec![compared::hostile()];
    let report = REPORT.replace("Baskets", EVIL).replace("| 20 |", &format!("| 20 {EVIL} |"));
    let every: Vec<_> = compared::all().into_iter().map(|(_, one)| one).collect();
    vec![
        ("sweep", of_experiment(&sweep("users"), &files("users"))),
        ("search", of_experiment(&search(), &[])),
        ("evil sweep", of_experiment(&evil, &[hostile])),
        ("slower", of_comparisons(&[compared::slower()])),
        ("cannot tell", of_comparisons(&[compared::inconclusive()])),
        ("evil comparison", of_comparisons(&[compared::hostile()])),
        ("many comparisons", of_comparisons(&every)),
        ("audit", of_audit(REPORT)),
        ("evil audit", of_audit(&report)),
        ("empty audit", of_audit("Nothing here.\n")),
        ("parts", of_parts()),
    ]
}

pub fn dom(page: &Page) -> Dom {
    Dom::parse(&page.render_with(Some("'use strict';")).unwrap())
}
