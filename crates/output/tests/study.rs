//! Sweeps on the terminal, as Markdown, and as CSV: the output is committed, respects its width, and adds nothing to
//! the study.

use plimsoll_analysis::Seen;
use plimsoll_analysis::digest::{Block, Digest, Level};
use plimsoll_analysis::saturation::Saturation;
use plimsoll_analysis::summary::{Bottleneck, Outcome, Percentile, SaturatedResource, Times};
use plimsoll_chart::{Skin, draw};
use plimsoll_experiment::study::{Study, StudyAsked, UslFit, UslPeak, UslPoint, study};
use plimsoll_output::study::{COLUMNS, csv, markdown, terminal};
use plimsoll_output::{Look, figure};
use plimsoll_plan::experiment::{CellOutline, Setting};
use plimsoll_plan::watch::Unit;
use plimsoll_stats::Hist;
use std::path::Path;

const S: u64 = 1_000_000_000;

/// Twenty seconds of `users` in a closed loop at `rate`, slightly different in each repeat.
fn run(settings: &[(&str, &str)], users: f64, rate: f64, bytes: f64, repeat: u32) -> Digest {
    let wave = |at: u64| 1.0 + 0.01 * ((at * 7 + u64::from(repeat) * 3) % 5) as f64;
    let mean_ns = users / rate * 1e9;
    let blocks: Vec<Block> = (0..20)
        .map(|at| {
            let n = (rate * wave(at)) as u64;
            let mut response = Hist::on_demand();
            for place in 0..40 {
                let share = n * (place + 1) / 40 - n * place / 40;
                response.record_n((mean_ns / wave(at) * (0.5 + place as f64 / 40.0)) as u64, share);
            }
            Block {
                from_ns: at * S,
                length_ns: S,
                requests: n,
                bytes_in: (n as f64 * bytes) as u64,
                in_flight: users,
                service: response.clone(),
                response,
                ..Block::default()
            }
        })
        .collect();
    let mut all = Hist::on_demand();
    blocks.iter().for_each(|b| all.merge(&b.response));
    let requests: u64 = blocks.iter().map(|b| b.requests).sum();
    let settings: Vec<Setting> = settings
        .iter()
        .map(|(axis, value)| Setting { parameter: (*axis).into(), value: (*value).into() })
        .collect();
    Digest {
        name: "compare".into(),
        target: "http://10.0.0.7:8080".into(),
        cell: Some(CellOutline {
            experiment: "node | go".into(),
            settings,
            repeat,
            run_index: repeat,
            seed: 1,
            purpose: None,
        }),
        level: Level::Users(users),
        outcome: Outcome::Pass,
        thresholds: Vec::new(),
        cautions: Vec::new(),
        complete: true,
        measured_s: 20.0,
        requests,
        errors: 0,
        error_ratio: 0.0,
        socket_errors: 0,
        client_faults: 0,
        offered_rate_per_s: None,
        rate_per_s: requests as f64 / 20.0,
        iterations_per_s: requests as f64 / 20.0,
        response_time: times(&all),
        service_time: times(&all),
        in_flight_mean: users,
        bytes_in_per_s: blocks.iter().map(|b| b.bytes_in).sum::<u64>() as f64 / 20.0,
        rtt_min_ns: Some(80_000),
        connect_p50_ns: None,
        first_byte_mean_ns: all.mean().map(|m| m * 0.9),
        body_mean_ns: all.mean().map(|m| m * 0.1),
        stopped_by: Some(plimsoll_record::event::StoppedBy::Duration),
        started_unix_ns: 0,
        blocks,
        by_request: Vec::new(),
        generator: Default::default(),
        watched: Default::default(),
    }
}

fn times(hist: &Hist) -> Times {
    let at = |q: f64| hist.quantile(q);
    let percentile = |q: f64| {
        let value_ns = hist.quantile(q)?;
        Some(Percentile {
            q,
            value_ns,
            is_lower_bound: false,
            low_ns: None,
            high_ns: None,
            has_enough_samples: true,
        })
    };
    Times {
        count: hist.count(),
        censored: 0,
        min_ns: hist.min(),
        mean_ns: hist.mean(),
        mean_is_lower_bound: false,
        std_dev_ns: hist.std_dev(),
        p50_ns: at(0.5),
        p75_ns: at(0.75),
        p90_ns: at(0.9),
        p95_ns: at(0.95),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: hist.max(),
        max_is_lower_bound: false,
        percentiles: [0.5, 0.9, 0.99].into_iter().filter_map(percentile).collect(),
    }
}

/// Two services on one link, eight levels, three repeats; one run is incomplete, and one combination is missing.
fn ranked() -> Study {
    let mut runs = Vec::new();
    for (variant, able, bytes) in [("node", 4_800.0f64, 353.0), ("go", 5_900.0, 284.0)] {
        for users in [1.0f64, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0] {
            for repeat in 0..3 {
                let rate = (able / 40.0 * users).min(390_000.0 / bytes) * (1.0 + 0.004 * f64::from(repeat));
                let settings = [("variant", variant), ("users", &users.to_string())];
                runs.push(run(&settings, users, rate, bytes, repeat));
            }
        }
    }
    runs[4].complete = false;
    runs.iter_mut().rev().take(3).for_each(|run| run.outcome = Outcome::Inconclusive);
    study(&runs, &StudyAsked::default())
}

/// One service over five levels of users, with a monitor: its only thread is saturated from 16 users up.
fn watched() -> Study {
    let mut runs = Vec::new();
    for users in [1.0f64, 4.0, 16.0, 64.0, 256.0] {
        for repeat in 0..3 {
            let busy = (0.07 * users).min(0.99) - 0.002 * f64::from(repeat);
            let mut run = run(&[("users", &users.to_string())], users, 4_000.0 * busy, 300.0, repeat);
            let seen = |metric: &str, unit: Unit, mean: f64, limit: Option<f64>| Seen {
                monitor: "api".into(),
                kind: "process".into(),
                part: String::new(),
                metric: metric.into(),
                unit,
                mean,
                peak: mean * 1.01,
                limit,
                usage_ratio: limit.map(|limit| mean / limit),
            };
            run.watched.seen = vec![
                seen("cpu", Unit::Cores, busy * 1.05, Some(2.0)),
                seen("busiest_thread", Unit::Cores, busy, Some(1.0)),
                seen("rss", Unit::Bytes, 60e6 + users * 1e5, None),
            ];
            let is_full = busy >= 0.9;
            run.watched.bottleneck = Some(Bottleneck::NoneWatched);
            if is_full {
                let evidence = Saturation::Usage {
                    unit: Unit::Cores,
                    mean: busy,
                    limit: 1.0,
                    reached_from_ratio: 0.9,
                    held_s: 15,
                    measured_s: 15,
                    load_generator_cores: None,
                };
                run.watched.bottleneck = Some(Bottleneck::Saturated {
                    what: "api: the busiest thread".into(),
                    evidence: evidence.clone(),
                });
                run.watched.saturated = vec![SaturatedResource {
                    monitor: "api".into(),
                    kind: "process".into(),
                    part: String::new(),
                    metric: "busiest_thread".into(),
                    resource: "api: the busiest thread".into(),
                    saturated_ratio: 1.0,
                    usage_mean_ratio: Some(busy),
                    usage_peak_ratio: Some(busy),
                    evidence,
                }];
            }
            runs.push(run);
        }
    }
    study(&runs, &StudyAsked::default())
}

fn scaled() -> Study {
    let mut runs = Vec::new();
    for (servers, rate) in [("1", 443.8), ("2", 449.1), ("3", 448.0)] {
        for repeat in 0..3 {
            runs.push(run(&[("servers", servers)], 200.0, rate + 2.0 * f64::from(repeat), 300.0, repeat));
        }
    }
    study(&runs, &StudyAsked::default())
}

fn look(width: u16, unicode: bool) -> Look {
    Look { color: false, width, unicode }
}

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the golden directory is writable");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "tests/golden/{name} differs; look at it with UPDATE_GOLDEN=1 and `git diff`");
}

#[test]
fn studies_are_printed_as_committed() {
    let (ranked, scaled) = (ranked(), scaled());
    check("study-60.txt", &terminal(&ranked, &look(60, true)));
    check("study-80-ascii.txt", &terminal(&ranked, &look(80, false)));
    check("study-120.txt", &terminal(&ranked, &look(120, true)));
    check("study-servers.txt", &terminal(&scaled, &look(80, true)));
    check("study.md", &markdown(&ranked));
    check("study-watched.txt", &terminal(&watched(), &look(100, true)));
    check("study-watched.md", &markdown(&watched()));
    check("study-watched.csv", &csv(&watched()));
    check("study.csv", &csv(&scaled));
}

#[test]
fn every_width_is_respected() {
    for study in [ranked(), scaled(), watched(), study(&[], &StudyAsked::default())] {
        for width in [60u16, 61, 79, 80, 103, 104, 120] {
            for unicode in [true, false] {
                let text = terminal(&study, &look(width, unicode));
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
                assert!(widest <= usize::from(width), "{widest} > {width}:\n{text}");
                assert!(unicode || text.is_ascii(), "{text}");
            }
        }
    }
}

#[test]
fn values_are_never_truncated_and_excluded_runs_are_reported() {
    let text = terminal(&ranked(), &look(60, true));
    assert!(!text.contains('…'), "{text}");
    assert!(text.contains("1 left out: the record is incomplete"), "{text}");
    assert!(text.contains("users 128: not valid: inconclusive"), "{text}");
    for code in ["cannot_be_ranked", "runs_left_out"] {
        assert!(text.contains(code), "{code} in {text}");
    }
}

#[test]
fn the_csv_contains_every_value_of_every_combination_exactly() {
    let study = ranked();
    let text = csv(&study);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a header").split(',').collect();
    assert_eq!(head[..COLUMNS.len()], COLUMNS);
    assert_eq!(head[COLUMNS.len()..], ["set_variant", "set_users"]);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), study.table.len() * 11);
    for row in &rows {
        assert_eq!(row.len(), head.len());
    }
    let rates = rows.iter().filter(|row| row[5] == "rate");
    for (row, cell) in rates.zip(&study.table) {
        assert_eq!(row[7].parse().ok(), cell.rate_per_s.value);
        assert_eq!(row[8].parse().ok(), cell.rate_per_s.low);
        assert_eq!(Some(row[COLUMNS.len() + 1]), cell.setting("users"));
    }
}

#[test]
fn names_cannot_break_a_table() {
    let text = markdown(&ranked());
    assert!(text.starts_with("## node \\| go\n"), "{text}");
    let tables = text.lines().filter(|line| line.starts_with('|'));
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let all: Vec<usize> = tables.map(bars).collect();
    assert!(all.len() == 20 && all.iter().all(|n| *n == all[0]), "{all:?}");
}

#[test]
fn peaks_are_in_the_tables_and_the_bottleneck_at_the_knee_is_named() {
    let study = watched();
    let curve = &study.curves[0];
    assert!(curve.knee.level.is_some(), "{:?}", curve.knee);
    assert!(
        curve.bottleneck.as_ref().is_some_and(|one| one.to_string().starts_with("api: the busiest thread"))
    );
    let told = study.findings.iter().find(|f| f.code == "bottleneck").expect("it was monitored");
    assert!(told.sentence.contains("api: the busiest thread, saturated"), "{}", told.sentence);
    assert_eq!(study.table[0].bottleneck, Some(Bottleneck::NoneWatched));
    let text = terminal(&study, &look(100, true));
    assert!(text.contains("api cpu peak") && text.contains("api rss peak"), "{text}");
    assert!(csv(&study).contains("api.rss peak,bytes,"), "{}", csv(&study));
}

/// Checks every chart: complete, small, self-contained, and without invalid numbers.
fn assert_is_a_picture(stem: &str, svg: &str) {
    assert!(stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{stem}");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    for bad in ["NaN", "inf", "<script", "href", "url(", "@import", "-0\""] {
        assert!(!svg.contains(bad), "`{bad}` in {svg}");
    }
    assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
}

#[test]
fn a_sweep_is_drawn_over_its_axis_with_units_and_intervals() {
    let charts = figure::of_study(&ranked());
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids, ["capacity-users", "latency-users", "over-users"]);
    for chart in &charts {
        let svg = draw(chart, Skin::File);
        assert_is_a_picture(&chart.id, &svg);
        check(&format!("figures/{}.svg", chart.id), &svg);
    }
    let svg = draw(&charts[2], Skin::File);
    for text in [
        "requests per second",
        "response time p50, ms",
        "response time p99, ms",
        ">users (logarithmic)<",
        "variant node",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(svg.contains("95% intervals"));
    let watched = figure::of_study(&watched());
    let over = watched.iter().find(|chart| chart.id.starts_with("over-")).expect("every axis has a chart");
    let svg = draw(over, Skin::File);
    assert_is_a_picture(&over.id, &svg);
    check("figures/over-watched.svg", &svg);
    assert!(figure::of_study(&scaled()).is_empty(), "servers have their own table");
    assert!(figure::of_study(&study(&[], &StudyAsked::default())).is_empty());
}

#[test]
fn a_capacity_is_drawn_with_its_law_its_knee_and_the_range_above_its_peak() {
    let mut study = ranked();
    study.curves.truncate(1);
    let curve = &mut study.curves[0];
    curve.knee.level = Some(8.0);
    let law = |n: f64| 128.0 * n / (1.0 + 0.035 * (n - 1.0) + 0.0006 * n * (n - 1.0));
    curve.points.iter_mut().for_each(|point| point.usl_rate_per_s = Some(law(point.parameter_value)));
    curve.retrograde_from = Some(16.0);
    let (first, last) =
        (curve.points[0].parameter_value, curve.points[curve.points.len() - 1].parameter_value);
    let line = (0..=60).map(|k| first + (last - first) * f64::from(k) / 60.0).map(|users| UslPoint {
        users,
        rate_per_s: law(users),
        low: 0.94 * law(users),
        high: 1.06 * law(users),
    });
    let peak = UslPeak { users: 40.0, users_band: [31.0, 52.0], rate_per_s: 1_180.0, is_extrapolated: false };
    curve.usl = UslFit::Fit {
        line: line.collect(),
        lambda: 128.0,
        lambda_band: [120.0, 136.0],
        sigma: 0.035,
        sigma_band: [0.03, 0.04],
        kappa: 0.0006,
        kappa_band: [0.0005, 0.0007],
        r2: 0.991,
        residual_ratio: 0.03,
        peak: Some(peak),
        sentence: String::new(),
    };
    let charts = figure::of_study(&study);
    let chart = charts.iter().find(|chart| chart.id == "capacity-users").expect("an axis of load");
    let svg = draw(chart, Skin::File);
    assert_is_a_picture(&chart.id, &svg);
    check("figures/capacity-law.svg", &svg);
    for text in [
        "knee at 8",
        "fitted law (USL)",
        "95% band of the law",
        "difference from the law",
        "throughput falls",
        "95% band 31.0 to 52.0",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    // The fall of the law is not a measurement.
    study.curves[0].retrograde_from = None;
    let charts = figure::of_study(&study);
    let told: Vec<&str> =
        charts.iter().flat_map(|chart| &chart.stretches).map(|one| one.word.as_str()).collect();
    assert_eq!(told, ["above the peak of the law"]);
}

#[test]
fn an_invalid_value_is_left_out_of_a_chart_and_names_cannot_break_it() {
    let mut study = ranked();
    study.name = "a<b & \"c\" \u{1}".into();
    study.curves[0].settings[0].value = "<script>".into();
    study.table[0].p99_ns.value = Some(f64::NAN);
    study.table[1].p99_ns.high = Some(f64::INFINITY);
    study.table[2].rate_per_s.value = None;
    for chart in figure::of_study(&study) {
        assert_is_a_picture(&chart.id, &draw(&chart, Skin::File));
    }
}
