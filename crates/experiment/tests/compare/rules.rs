//! The result of a comparison: cautions, gates, baselines, sweeps.

use crate::compare::sim::{Random, Service, USUAL, digest, place, run, side, sides};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::{Block, Digest, Level};
use plimsoll_analysis::summary::{Outcome, Standing, ThresholdResult};
use plimsoll_experiment::compare::baseline::Baseline;
use plimsoll_experiment::compare::gate::{Gate, Passage, Rule, gate};
use plimsoll_experiment::compare::{
    Basis, CompareOptions, Comparison, Overall, Side, Verdict, compare, compare_cells, variants,
};
use plimsoll_plan::experiment::Setting;
use plimsoll_plan::threshold::FigureUnit;
use plimsoll_stats::Hist;

/// Two steady services, 30% apart.
pub fn light() -> Service {
    Service { seconds: 10, rate: 300.0, between: 0.002, drift: 0.005, ..USUAL }
}

pub fn pair(seed: u64) -> (Side, Side) {
    let slow = Service { mean_ns: light().mean_ns * 1.3, ..light() };
    sides(&light(), &slow, 4, &mut Random::new(seed))
}

pub fn compared(a: &Side, b: &Side) -> Comparison {
    compare(a, b, &CompareOptions::default())
}

pub fn codes(c: &Comparison) -> Vec<&'static str> {
    c.doubts.iter().map(|doubt| doubt.code).collect()
}

/// Changes every run of a side.
pub fn each(side: &mut Side, change: impl Fn(&mut Digest)) {
    side.runs.iter_mut().for_each(change);
}

#[test]
fn a_clean_comparison_has_no_cautions_and_states_its_result() {
    let (a, b) = pair(1);
    let c = compared(&a, &b);
    assert_eq!((c.verdict, codes(&c)), (Overall::Slower, vec![]), "{:?}", c.doubts);
    assert!(c.sentence.starts_with("`b` is slower than `a`: p99 response time is "), "{}", c.sentence);
    assert!(c.sentence.contains("95% CI +"), "{}", c.sentence);
    assert_eq!(c.figures.len(), 9);
    assert_eq!(c.p_values_count, 9);
    let same = compare(&a, &b, &CompareOptions::default());
    assert_eq!(serde_json::to_string(&c).unwrap(), serde_json::to_string(&same).unwrap());
}

#[test]
fn values_of_single_runs_equal_those_of_their_reports() {
    let (mut a, mut b) = pair(2);
    a.runs.truncate(1);
    b.runs.truncate(1);
    let c = compared(&a, &b);
    let of = |name: &str| c.figure(name).and_then(|row| row.a).expect("it was measured");
    assert_eq!(of("throughput"), a.runs[0].rate_per_s);
    assert_eq!(of("response_time mean"), a.runs[0].response_time.mean_ns.unwrap());
    assert_eq!(of("response_time p99"), a.runs[0].response_time.p99_ns.unwrap() as f64);
    assert!(codes(&c).contains(&"one_run"));
    assert_eq!(c.figure("response_time p50").unwrap().basis, Basis::Assumed);
}

#[test]
fn percentiles_come_from_all_runs_merged() {
    let (a, b) = pair(3);
    let c = compared(&a, &b);
    let mut merged = Hist::on_demand();
    a.runs.iter().flat_map(|run| &run.blocks).for_each(|block| merged.merge(&block.response));
    let row = c.figure("response_time p99").unwrap();
    assert_eq!(row.a, merged.quantile(0.99).map(|v| v as f64));
}

#[test]
fn an_inconclusive_run_prevents_a_verdict() {
    let (a, mut b) = pair(4);
    b.runs[1].outcome = Outcome::Inconclusive;
    b.runs[1].cautions.push(Kind::IncompleteRecord.example().raise());
    let c = compared(&a, &b);
    assert_eq!(c.verdict, Overall::Inconclusive);
    assert_eq!(codes(&c), ["inconclusive_side"]);
    assert!(c.sentence.ends_with("cannot be compared with `a`: runs are inconclusive"), "{}", c.sentence);
}

#[test]
fn different_loads_and_a_second_axis_prevent_a_verdict() {
    let (a, mut b) = pair(5);
    each(&mut b, |run| run.level = Level::Rate(400.0));
    let c = compared(&a, &b);
    assert_eq!((c.verdict, codes(&c)), (Overall::Inconclusive, vec!["levels_differ"]));

    let (mut a, mut b) = pair(5);
    let set = |axis: &str, value: &str| Setting { parameter: axis.into(), value: value.into() };
    each(&mut a, |run| run.cell.as_mut().unwrap().settings.push(set("payload", "small")));
    each(&mut b, |run| run.cell.as_mut().unwrap().settings.push(set("payload", "big")));
    let c = compared(&a, &b);
    assert_eq!((c.verdict, codes(&c)), (Overall::Inconclusive, vec!["settings_differ"]));
}

#[test]
fn different_targets_are_reported_unless_they_are_variants() {
    let (mut a, mut b) = pair(6);
    each(&mut b, |run| run.target = "http://127.0.0.1:9090/".into());
    assert_eq!(codes(&compared(&a, &b)), [""; 0]);
    each(&mut a, |run| run.cell = None);
    each(&mut b, |run| run.cell = None);
    assert_eq!(codes(&compared(&a, &b)), ["targets_differ"]);
}

#[test]
fn runs_that_are_not_interleaved_are_reported_and_never_paired() {
    let (a, mut b) = pair(7);
    each(&mut b, |run| run.started_unix_ns += 1_000_000_000_000);
    let c = compared(&a, &b);
    assert_eq!(codes(&c), ["not_interleaved"]);
    assert!(c.figures.iter().all(|row| row.basis == Basis::Runs));
}

/// A run of closed users that transfers `bytes` per request at `rate`.
fn carried(rate: u64, bytes: u64, random: &mut Random) -> Digest {
    let service = Service { rate: rate as f64, seconds: 10, ..USUAL };
    let mut blocks = run(&service, 1.0, random).blocks;
    blocks.iter_mut().for_each(|block| {
        block.requests = rate;
        block.bytes_in = bytes * rate;
    });
    digest(blocks, Level::Users(100.0))
}

#[test]
fn equal_bytes_per_second_at_different_rates_prevent_a_ranking() {
    let mut random = Random::new(8);
    // Responses of 353 and 284 bytes over one link of 0.4 MB/s.
    let mut sides = [(1_108, 353), (1_380, 284)].map(|(rate, bytes)| {
        let runs = (0..4).map(|_| carried(rate, bytes, &mut random)).collect();
        side(if bytes == 353 { "node" } else { "go" }, runs)
    });
    for (variant, side) in sides.iter_mut().enumerate() {
        let name = side.name.clone();
        for (repeat, run) in side.runs.iter_mut().enumerate() {
            place(run, &name, repeat as u32, (2 * repeat + variant) as u32);
        }
    }
    let c = compared(&sides[0], &sides[1]);
    assert_eq!(c.figure("throughput").unwrap().verdict, Verdict::Higher);
    assert_eq!(
        (c.verdict, codes(&c)),
        (Overall::Inconclusive, vec!["network_saturated", "response_sizes_differ"])
    );
    assert!(
        c.sentence.contains("`go` cannot be compared with `node`: the network was saturated"),
        "{}",
        c.sentence
    );
    // The counterpart: both rates and bytes differ.
    each(&mut sides[1], |run| run.bytes_in_per_s *= 353.0 / 284.0);
    let c = compared(&sides[0], &sides[1]);
    assert!(c.blocking().is_none() && c.verdict != Overall::Inconclusive, "{}", c.sentence);
}

#[test]
fn responses_as_fast_as_the_round_trip_hide_the_services() {
    let steady = Service { rate: 200.0, between: 0.001, drift: 0.001, ..light() };
    let asked = CompareOptions {
        min_difference_ratio: 0.2,
        min_error_difference_ratio: 0.01,
        quantiles: vec![0.5],
        ..CompareOptions::default()
    };
    let (mut a, mut b) = sides(&steady, &steady, 4, &mut Random::new(10));
    assert_eq!(compare(&a, &b, &asked).verdict, Overall::Equivalent);
    for side in [&mut a, &mut b] {
        each(side, |run| run.rtt_min_ns = run.service_time.p50_ns);
    }
    let c = compare(&a, &b, &asked);
    assert_eq!((c.verdict, codes(&c)), (Overall::Inconclusive, vec!["rtt_bound"]), "{}", c.sentence);
}

#[test]
fn errors_are_compared_by_their_difference() {
    let (a, mut b) = sides(&light(), &light(), 4, &mut Random::new(11));
    for run in &mut b.runs {
        run.blocks.iter_mut().for_each(|block| block.errors = block.requests / 20);
        let cell = run.cell.clone();
        let started = run.started_unix_ns;
        *run = digest(run.blocks.clone(), run.level);
        (run.cell, run.started_unix_ns) = (cell, started);
    }
    let c = compared(&a, &b);
    let errors = c.figure("error_rate").unwrap();
    assert_eq!((errors.verdict, c.verdict), (Verdict::More, Overall::MoreErrors), "{}", c.sentence);
    assert!((errors.difference.unwrap() - 0.048).abs() < 0.003, "{errors:?}");
    assert_eq!(compared(&b, &a).verdict, Overall::FewerErrors);
}

#[test]
fn lower_bounds_do_not_make_a_side_faster() {
    let (mut a, mut b) = pair(12);
    let bound =
        |run: &mut Digest| run.response_time.percentiles.iter_mut().for_each(|p| p.is_lower_bound = true);
    each(&mut b, bound);
    let c = compared(&a, &b);
    // B is slower, and may be slower than its lower bounds.
    assert_eq!(c.figure("response_time p50").unwrap().verdict, Verdict::Slower);
    assert_eq!(compared(&b, &a).figure("response_time p50").unwrap().verdict, Verdict::Faster);
    each(&mut a, bound);
    assert_eq!(compared(&a, &b).figure("response_time p50").unwrap().verdict, Verdict::Inconclusive);
    let (mut a, b) = pair(12);
    each(&mut a, bound);
    let c = compared(&a, &b);
    assert_eq!(c.figure("response_time p50").unwrap().verdict, Verdict::Inconclusive);
    assert!(codes(&c).contains(&"times_cut_off"));
}

#[test]
fn odd_runs_cause_no_panic_and_no_invented_values() {
    let empty = |blocks: Vec<Block>| digest(blocks, Level::Rate(f64::NAN));
    let one = |value: u64| {
        let mut block =
            Block { length_ns: 1, requests: 1, errors: 1, bytes_in: u64::MAX, ..Block::default() };
        block.response.record(value);
        block.service.record(value);
        digest(vec![block], Level::Users(f64::INFINITY))
    };
    let mut odd = one(0);
    (odd.measured_s, odd.rate_per_s, odd.error_ratio) = (f64::NAN, f64::INFINITY, f64::NAN);
    let runs = [
        vec![],
        vec![empty(vec![])],
        vec![empty(vec![Block::default(); 3])],
        vec![one(0); 4],
        vec![one(u64::MAX)],
        vec![odd],
    ];
    for a in &runs {
        for b in &runs {
            for quantiles in [vec![0.5, 0.99], vec![], vec![f64::NAN, 7.0, 0.0]] {
                let asked = CompareOptions {
                    quantiles,
                    min_difference_ratio: f64::NAN,
                    confidence: 0.95,
                    ..CompareOptions::default()
                };
                let c = compare(&side("a", a.clone()), &side("b", b.clone()), &asked);
                assert_eq!(c.verdict, Overall::Inconclusive, "{}", c.sentence);
                assert!(!c.sentence.is_empty());
                gate(&c, &Gate::default());
            }
        }
    }
}

#[test]
fn rules_are_parsed_and_invalid_ones_are_rejected_with_an_example() {
    for (text, limit, below) in [
        ("response_time p99 < +5%", 0.05, true),
        ("throughput > -3%", -0.03, false),
        ("error_rate<+0.1%", 0.001, true),
    ] {
        let rule = Rule::parse(text).expect(text);
        assert!((rule.limit - limit).abs() < 1e-12 && rule.below == below, "{rule:?}");
    }
    let said = Rule::parse("rate > -3%").expect_err("another name");
    assert_eq!(said.message, "unknown metric `rate` in `rate > -3%`");
    assert_eq!(said.hint, "did you mean `throughput`?");
    for text in
        ["", "p99", "p99 < 5", "p99 < x%", "capacity < 5%", "p100 < 5%", "throughput > -100%", "latency < 5%"]
    {
        let said = Rule::parse(text).expect_err(text).to_string();
        assert!(
            said.contains("expected a rule such as") || said.contains("capacity") || said.contains("falls")
        );
    }
}

#[test]
fn no_errors_in_few_requests_prove_nothing() {
    let steady = Service { rate: 200.0, between: 0.001, drift: 0.001, ..light() };
    let (mut a, mut b) = sides(&steady, &steady, 1, &mut Random::new(14));
    let asked =
        CompareOptions { min_difference_ratio: 0.9, quantiles: vec![0.5], ..CompareOptions::default() };
    let few = |side: &mut Side| {
        each(side, |run| {
            run.blocks.truncate(4);
            run.errors = 0;
            run.error_ratio = 0.0;
            run.blocks.iter_mut().for_each(|block| block.errors = 0);
            run.requests = run.blocks.iter().map(|block| block.requests).sum();
        });
    };
    few(&mut a);
    few(&mut b);
    let c = compare(&a, &b, &asked);
    let errors = c.figure("error_rate").expect("errors are always compared");
    // The rule of three: without an error in n requests, the error rate may be up to 3 / n.
    let n = a.runs[0].requests.min(b.runs[0].requests) as f64;
    assert!((errors.difference_bound.unwrap() / (3.0 / n) - 1.0).abs() < 0.01, "{errors:?}");
    assert_eq!(errors.verdict, Verdict::Equivalent);
    let gated = gate(&c, &Gate::default());
    let rule = gated.rules.iter().find(|rule| rule.text.starts_with("error_rate")).expect("a rule for each");
    assert_eq!(rule.result, Passage::NotCompared);
    assert!(
        rule.evidence.starts_with("no errors in") && rule.evidence.contains("they differ by at most"),
        "{}",
        rule.evidence
    );
    // The other metrics are decided, and the sentence contains the caution.
    assert_eq!(c.verdict, Overall::Equivalent, "{}", c.sentence);
    assert!(c.sentence.ends_with("; each has one run, so run-to-run variation is unknown"), "{}", c.sentence);
}

#[test]
fn a_gate_passes_fails_or_is_undecided() {
    let (a, b) = pair(13);
    let gated = |a: &Side, b: &Side, text: &str| {
        let rule = Rule::parse(text).expect(text);
        gate(&compared(a, b), &Gate { allow: vec![rule] }).result
    };
    assert_eq!(gated(&a, &b, "response_time p50 < +5%"), Passage::Fail);
    assert_eq!(gated(&a, &b, "response_time p50 < +300%"), Passage::Pass);
    assert_eq!(gated(&b, &a, "response_time p50 < +5%"), Passage::Pass);
    let middle = compared(&a, &b).figure("response_time p50").unwrap().difference.unwrap() * 100.0;
    assert_eq!(gated(&a, &b, &format!("p50 < +{middle:.3}%")), Passage::Inconclusive);
    assert_eq!(gated(&a, &b, "p97 < +5%"), Passage::Inconclusive);
    // Without rules.
    assert_eq!(gate(&compared(&a, &b), &Gate::default()).result, Passage::Fail);
    // A metric that was never compared neither passes nor decides.
    let mut c = compared(&a, &b);
    c.figures.iter_mut().for_each(|row| {
        (row.basis, row.verdict, row.difference) = (Basis::Nothing, Verdict::Inconclusive, None);
    });
    let bare = gate(&c, &Gate::default());
    assert!(bare.rules.iter().all(|rule| rule.result == Passage::NotCompared), "{:?}", bare.rules);
    assert!(bare.rules.iter().all(|rule| rule.evidence.starts_with("not compared")), "{:?}", bare.rules);
    assert_eq!(bare.result, Passage::Inconclusive);
    let (mut first, second) = pair(13);
    each(&mut first, |run| run.cautions.push(Kind::IncompleteRecord.example().raise()));
    assert_eq!(gate(&compared(&first, &second), &Gate::default()).result, Passage::Inconclusive);
    let steady = Service { rate: 200.0, between: 0.001, drift: 0.001, ..light() };
    let (same, too) = sides(&steady, &steady, 6, &mut Random::new(14));
    let asked = CompareOptions {
        min_difference_ratio: 0.25,
        min_error_difference_ratio: 0.01,
        quantiles: vec![0.5],
        ..CompareOptions::default()
    };
    assert_eq!(gate(&compare(&same, &too, &asked), &Gate::default()).result, Passage::Pass);
}

#[test]
fn without_rules_only_a_change_for_the_worse_is_in_doubt() {
    let (a, b) = pair(13);
    let passage = |figure: &str, least: f64, most: f64| {
        let mut c = compared(&b, &a);
        let row = c.figures.iter_mut().find(|row| row.figure == figure).expect(figure);
        (row.verdict, row.difference) = (Verdict::Inconclusive, Some(f64::midpoint(least, most)));
        (row.widened_low, row.widened_high, row.difference_bound) =
            (Some(least), Some(most), Some(most.max(-least)));
        // This metric alone decides.
        c.figures.retain(|row| row.figure == figure);
        c.verdict = Overall::Inconclusive;
        let gated = gate(&c, &Gate::default());
        let rule = gated.rules.into_iter().find(|rule| rule.text.starts_with(figure)).expect(figure);
        assert_eq!(rule.result, gated.result, "{figure}");
        gated.result
    };
    // B may be much faster and is at most slightly slower, and vice versa: more requests are good, more time is bad.
    for (figure, is_rate) in [("response_time p99", false), ("throughput", true)] {
        let (falls, rises) = (passage(figure, -0.4, 0.01), passage(figure, -0.01, 0.4));
        let (better, worse) = if is_rate { (rises, falls) } else { (falls, rises) };
        assert_eq!((better, worse), (Passage::Pass, Passage::Inconclusive), "{figure}");
    }
    // Worse for certain, by at least 4% of a lower bound; the size is unknown.
    let mut c = compared(&a, &a);
    let row = c.figures.iter_mut().find(|row| row.figure == "response_time p99").expect("it has one");
    (row.verdict, row.difference, row.difference_bound) = (Verdict::Slower, Some(0.04), None);
    (row.widened_low, row.widened_high, row.b_is_lower_bound) = (Some(0.03), Some(0.045), true);
    assert_eq!(gate(&c, &Gate::default()).result, Passage::Inconclusive);
}

#[test]
fn a_tolerance_replaces_the_minimum_difference() {
    let (a, b) = pair(15);
    let tolerance = vec![Rule::parse("p50 < +400%").unwrap()];
    let c = compare(&a, &b, &CompareOptions { tolerance, ..CompareOptions::default() });
    assert_eq!(c.figure("response_time p50").unwrap().verdict, Verdict::Equivalent);
    assert_eq!(c.figure("service_time p50").unwrap().verdict, Verdict::Slower);
}

#[test]
fn a_baseline_keeps_its_values_and_rejects_bad_runs() {
    let (a, _) = pair(16);
    let runs: Vec<(String, &Digest)> =
        a.runs.iter().enumerate().map(|(at, run)| (format!("runs/{at}.plim"), run)).collect();
    let baseline = Baseline::of("main", "2026-11-21", &runs).expect("good runs");
    let text = baseline.to_json().unwrap();
    assert_eq!(Baseline::from_json(&text).unwrap(), baseline);
    assert!(baseline.check("runs/0.plim", &a.runs[0]).is_ok());
    assert!(baseline.check("runs/0.plim", &a.runs[1]).is_err());
    assert!(baseline.check("runs/9.plim", &a.runs[1]).is_err());
    assert!(Baseline::from_json(&text.replace("\"schema_version\": 1", "\"schema_version\": 2")).is_err());
    assert!(Baseline::from_json("{}").is_err() && Baseline::from_json("").is_err());
    let refused = |change: fn(&mut Digest)| {
        let mut run = a.runs[0].clone();
        change(&mut run);
        Baseline::of("main", "today", &[("x.plim".into(), &run)]).expect_err("it is rejected")
    };
    assert!(refused(|run| run.errors = 1).contains("must have no errors"));
    assert!(refused(|run| run.outcome = Outcome::Inconclusive).contains("INCONCLUSIVE"));
    assert!(refused(|run| run.complete = false).contains("incomplete"));
    assert!(refused(|run| run.requests = 0).contains("no completed request"));
    assert!(Baseline::of("main", "today", &[]).is_err() && Baseline::of(" ", "today", &runs).is_err());
}

/// Three variants at two levels: `go` is 1.3 times faster than `node`, and `rust` equals `go`.
pub fn sweep() -> Vec<Digest> {
    let mut random = Random::new(17);
    let mut runs = Vec::new();
    let mut turn = 0;
    for repeat in 0..4 {
        for level in [200.0, 300.0] {
            for (name, factor) in [("node", 1.3), ("go", 1.0), ("rust", 1.0)] {
                let service = Service { mean_ns: light().mean_ns * factor, rate: level, ..light() };
                let mut one = run(&service, 1.0, &mut random);
                place(&mut one, name, repeat, turn);
                let rate = Setting { parameter: "rate".into(), value: level.to_string() };
                one.cell.as_mut().unwrap().settings.push(rate);
                let limit = 300.0;
                one.thresholds.push(judged(name != "node" || level < limit));
                runs.push(one);
                turn += 1;
            }
        }
    }
    runs
}

fn judged(met: bool) -> ThresholdResult {
    ThresholdResult {
        text: "p99 < 5ms".into(),
        subject: "response_time p99".into(),
        is_default: false,
        observed: None,
        is_lower_bound: false,
        limit: 5e6,
        unit: FigureUnit::Nanoseconds,
        is_met: met,
        standing: Standing::of(met),
        best: None,
        worst: None,
        doubts: Vec::new(),
        margin: None,
        samples: 1,
        has_too_few_samples: false,
        window: None,
    }
}

#[test]
fn variants_are_compared_with_the_first_per_combination_and_adjusted_together() {
    let all = variants(&sweep(), None, &CompareOptions::default());
    let told: Vec<_> =
        all.iter().map(|c| (c.a.name.as_str(), c.b.name.as_str(), c.settings[0].value.as_str())).collect();
    assert_eq!(
        told,
        [("node", "go", "200"), ("node", "go", "300"), ("node", "rust", "200"), ("node", "rust", "300")]
    );
    assert!(
        all.iter().all(|c| c.verdict == Overall::Faster && c.p_values_count == 36),
        "{:?}",
        all[0].sentence
    );
    let against_go = variants(&sweep(), Some("go"), &CompareOptions::default());
    assert_eq!(against_go.len(), 4);
    assert!(against_go.iter().filter(|c| c.b.name == "node").all(|c| c.verdict == Overall::Slower));
    assert!(variants(&sweep(), Some("java"), &CompareOptions::default()).is_empty());
    assert!(variants(&[], None, &CompareOptions::default()).is_empty());
    // In a larger family, the same p-value counts less.
    let alone: Vec<Digest> =
        sweep().into_iter().filter(|run| run.cell.as_ref().unwrap().settings[1].value == "200").collect();
    let alone = variants(&alone, None, &CompareOptions::default());
    let p = |c: &Comparison| c.figure("response_time p99").and_then(|row| row.p_adjusted).unwrap();
    assert!(p(&alone[0]) <= p(&all[0]));
}

#[test]
fn combinations_of_two_sweeps_are_paired_by_their_settings() {
    let before: Vec<Digest> =
        sweep().into_iter().filter(|r| r.cell.as_ref().unwrap().settings[0].value == "go").collect();
    let after: Vec<Digest> =
        sweep().into_iter().filter(|r| r.cell.as_ref().unwrap().settings[0].value == "node").collect();
    let all = compare_cells(("v1", &before), ("v2", &after), &CompareOptions::default());
    assert_eq!(all.len(), 2);
    assert!(
        all.iter()
            .all(|c| c.verdict == Overall::Slower && c.a.runs == 4 && c.sentence.starts_with("at rate "))
    );
    assert!(compare_cells(("v1", &before[..1]), ("v2", &[]), &CompareOptions::default()).is_empty());
}
