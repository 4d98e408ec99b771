//! Delays between samples.

use crate::simulator::{run, text};
use crate::xml::{element, get, group, plan};

fn times(threads: u32, loops: u32, below: &str) -> Vec<u64> {
    run(&plan(&[], &group(threads, loops, below)), |_| text(200, "")).times_ms
}

fn constant(ms: &str) -> String {
    element("ConstantTimer", "wait", &[("s", "ConstantTimer.delay", ms)], "")
}

#[test]
fn every_timer_in_scope_delays_every_sampler() {
    let below = constant("100") + &get("A", "/", &constant("20")) + &get("B", "/", "");
    // A response takes 10 ms.
    assert_eq!(times(1, 2, &below), [120, 230, 360, 470]);
}

#[test]
fn random_timers_are_within_their_ranges() {
    let uniform = element(
        "UniformRandomTimer",
        "u",
        &[("s", "ConstantTimer.delay", "100"), ("s", "RandomTimer.range", "50.0")],
        "",
    );
    let all = times(1, 50, &(uniform + &get("A", "/", "")));
    for pair in all.windows(2) {
        assert!((110..=160).contains(&(pair[1] - pair[0])), "{pair:?}");
    }
    let gaussian = element(
        "GaussianRandomTimer",
        "g",
        &[("s", "ConstantTimer.delay", "300"), ("s", "RandomTimer.range", "100.0")],
        "",
    );
    let all = times(1, 400, &(gaussian + &get("A", "/", "")));
    let mean = all.last().unwrap() / 400;
    // The standard error of the mean is 5 ms.
    assert!((285..=335).contains(&mean), "{mean}");
}

#[test]
fn a_throughput_timer_spaces_samples() {
    let timer = |mode: &str| {
        let rate = "<doubleProp><name>throughput</name><value>600.0</value><savedValue>0.0</savedValue></doubleProp>";
        element("ConstantThroughputTimer", "t", &[("i", "calcMode", mode), ("x", "", rate)], "")
    };
    // 600 per minute is one in 100 ms.
    assert_eq!(times(1, 4, &(timer("0") + &get("A", "/", ""))), [0, 100, 200, 300]);
    let mut all = times(2, 3, &(timer("4") + &get("A", "/", "")));
    all.sort_unstable();
    assert_eq!(all, [0, 100, 200, 300, 400, 500]);
}

#[test]
fn a_synchronizing_timer_gathers_threads() {
    let barrier = element("SyncTimer", "gather", &[("i", "groupSize", "3"), ("s", "timeoutInMs", "0")], "");
    let stagger = element(
        "TestAction",
        "Go",
        &[
            ("i", "ActionProcessor.action", "1"),
            ("i", "ActionProcessor.target", "0"),
            ("s", "ActionProcessor.duration", "${__intSum(${__threadNum},0)}0"),
        ],
        "",
    );
    let all = times(3, 1, &(stagger + &get("A", "/", &barrier)));
    assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1, "{all:?}");
    assert!(*all.iter().min().unwrap() >= 30);
}

#[test]
fn a_pause_is_no_sample() {
    let pause = element(
        "TestAction",
        "Pause",
        &[
            ("i", "ActionProcessor.action", "1"),
            ("i", "ActionProcessor.target", "0"),
            ("s", "ActionProcessor.duration", "250"),
        ],
        "",
    );
    let trace = run(&plan(&[], &group(1, 2, &(pause + &get("A", "/", "")))), |_| text(200, ""));
    assert_eq!(trace.times_ms, [250, 510]);
    assert_eq!(trace.labels(), ["A", "A"]);
}

#[test]
fn a_shaping_timer_spreads_samples_over_each_second_and_then_stops_the_test() {
    let row = |from: &str, to: &str, seconds: &str| crate::xml::texts("row", &[from, to, seconds]);
    let rows = row("2", "2", "1") + &row("4", "4", "1");
    let rows = format!("<collectionProp name=\"load_profile\">{rows}</collectionProp>");
    let timer = element("kg.apc.jmeter.timers.VariableThroughputTimer", "t", &[("x", "", &rows)], "");
    assert_eq!(times(1, 100, &(timer + &get("A", "/", ""))), [0, 500, 1_000, 1_250, 1_500, 1_750]);
}
