//! Cautions about the load generator have a size, and one metric decides the whole result.

use crate::compare::rules::{codes, compared, each, light, pair};
use crate::compare::sim::{Random, Service, sides};
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::digest::Digest;
use plimsoll_analysis::summary::Outcome;
use plimsoll_experiment::compare::gate::{Gate, Passage, Rule, gate};
use plimsoll_experiment::compare::{Overall, Side};

/// Both sides with the cautions of a busy machine, and their sizes.
fn alongside(a: &mut Side, b: &mut Side, kind: Kind, change: impl Fn(&mut Digest)) {
    for side in [a, b] {
        each(side, |run| {
            run.outcome = Outcome::Inconclusive;
            run.cautions.push(kind.example().raise());
            change(run);
        });
    }
}

#[test]
fn a_difference_beyond_the_possible_effect_of_the_generator_counts() {
    // Ten times slower, while a worker waited for a CPU for a fifth of the time.
    let slow = Service { mean_ns: light().mean_ns * 10.0, rate: light().rate / 5.0, ..light() };
    let quick = Service { rate: light().rate / 5.0, ..light() };
    let (mut a, mut b) = sides(&quick, &slow, 4, &mut Random::new(9));
    alongside(&mut a, &mut b, Kind::LateSends, |run| run.generator.schedule_lag_p99_ns = Some(300_000));
    alongside(&mut a, &mut b, Kind::ClientCpuWait, |run| run.generator.cpu_wait_ratio = 0.2);
    let c = compared(&a, &b);
    assert_eq!((c.verdict, codes(&c)), (Overall::Slower, vec!["generator_bound"]), "{}", c.sentence);
    assert_eq!(gate(&c, &Gate::default()).result, Passage::Fail);
    let row = c.figure("response_time p50").unwrap();
    assert!(row.widened_low.unwrap() < row.low.unwrap() && row.widened_low.unwrap() > 0.0, "{row:?}");
    assert_eq!(compared(&b, &a).verdict, Overall::Faster);
}

#[test]
fn a_difference_within_the_possible_effect_of_the_generator_is_undecided() {
    // 30% slower, while a worker waited for half of the time.
    let (mut a, mut b) = pair(9);
    assert_eq!(compared(&a, &b).verdict, Overall::Slower);
    alongside(&mut a, &mut b, Kind::ClientCpuWait, |run| run.generator.cpu_wait_ratio = 0.3);
    let c = compared(&a, &b);
    assert_eq!((c.verdict, codes(&c)), (Overall::Inconclusive, vec!["generator_bound"]), "{}", c.sentence);
    assert!(c.sentence.contains("including possible effects of the load generator"), "{}", c.sentence);
    assert!(c.blocking().is_none() && c.figures.iter().any(|row| row.is_doubtful));
    assert_eq!(gate(&c, &Gate::default()).result, Passage::Inconclusive);
    // Late sends increase response times but not service times.
    let (mut a, mut b) = pair(9);
    let late = |run: &mut Digest| run.generator.schedule_lag_p99_ns = Some(run.response_time.p99_ns.unwrap());
    alongside(&mut a, &mut b, Kind::LateSends, late);
    let c = compared(&a, &b);
    let of = |name: &str| c.figure(name).unwrap();
    assert_eq!(of("service_time p50").widened_low, of("service_time p50").low);
    assert_eq!(of("throughput").widened_low, of("throughput").low);
}

/// Cautions only widen intervals: no busy machine reverses a difference, and the widened intervals contain the truth of
/// the simulated services at least as often as the original ones.
#[test]
fn cautions_widen_intervals_and_never_reverse_a_difference() {
    for seed in 0..20u64 {
        let (a, b) = pair(seed);
        let bare = compared(&a, &b);
        for (kind, share) in [(Kind::ClientCpuWait, 0.1), (Kind::ClientStalled, 0.02), (Kind::LateSends, 0.0)]
        {
            let (mut x, mut y) = (a.clone(), b.clone());
            alongside(&mut x, &mut y, kind, |run| {
                run.generator.cpu_wait_ratio = share;
                run.generator.stalled_ns = (share * run.measured_s * 1e9) as u64;
                run.generator.schedule_lag_p99_ns = Some(200_000);
            });
            let c = compared(&x, &y);
            for (row, before) in c.figures.iter().zip(&bare.figures) {
                assert!(row.widened_low <= row.low && row.widened_high >= row.high, "{row:?}");
                assert_eq!((row.low, row.high), (before.low, before.high));
                let turned = row.verdict.is_worse() && before.verdict.is_better()
                    || row.verdict.is_better() && before.verdict.is_worse();
                assert!(!turned, "{row:?}");
            }
        }
    }
}

#[test]
fn scheduled_rates_do_not_differ_by_rounding() {
    let (a, mut b) = sides(&light(), &light(), 4, &mut Random::new(30));
    b.runs.clone_from(&a.runs);
    let c = compared(&a, &b);
    let rate = c.figure("throughput").unwrap();
    assert_eq!(rate.difference, Some(0.0), "{rate:?}");
    assert!(rate.difference_bound.is_none_or(|most| most >= 1e-4), "{rate:?}");
}

#[test]
fn the_sentence_its_reasons_and_the_gate_use_one_metric() {
    let (a, b) = pair(31);
    let c = compared(&a, &b);
    let headline = c.headline().expect("a slower service has one");
    assert!(
        c.sentence.contains(": p99 response time is ")
            && headline.figure == "response_time p99"
            && headline.verdict.is_worse()
    );
    // A metric that the table reports as undecided breaks no rule, despite its own interval.
    for row in &c.figures {
        let limit = row.low.unwrap_or(0.0) * 99.0;
        let Ok(rule) = Rule::parse(&format!("{} < {limit:+.3}%", row.figure)) else { continue };
        let passage = gate(&c, &Gate { allow: vec![rule] }).result;
        assert!(passage != Passage::Fail || row.verdict.is_worse(), "{row:?}");
    }
}
