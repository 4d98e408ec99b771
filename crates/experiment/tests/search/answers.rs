//! The document that a search ends with.

use crate::search::machine::{cheap, quest};
use crate::search::servers::{Limits, Server, Service, drive, search};
use plimsoll_experiment::search::CapacitySearch;

#[test]
fn the_answer_is_a_document_with_all_its_steps() {
    let server = Server { service: Service::Exponential, mean_s: 0.001, servers: 1, room: None };
    let limits = Limits { p99_s: Some(0.02), errors: Some(0.001) };
    let quest = CapacitySearch { longest_limit_ns: Some(20_000_000), ..CapacitySearch::default() };
    let (answer, history) = search(&server, &quest, limits, 4);
    let json = serde_json::to_value(&answer).expect("plain data");
    let text = json["sentence"].as_str().expect("a sentence");
    assert!(text.contains("95% CI") && text.contains("response_time p99 < 0.020000s"), "{text}");
    assert_eq!(json["steps"].as_array().expect("steps").len(), history.len());
    assert_eq!(json["steps"][0]["purpose"], "baseline");
    assert_eq!(json["style"], "search");
    let levels: Vec<f64> = answer.curve.iter().map(|p| p.level).collect();
    assert!(levels.windows(2).all(|pair| pair[0] < pair[1]), "{levels:?}");
    let runs: u32 = answer.curve.iter().map(|p| p.runs).sum();
    assert_eq!(runs as usize, history.len() - 1, "all but the run of one user");
    for point in &answer.curve {
        assert!(point.error_interval[0] <= point.error_ratio && point.error_ratio <= point.error_interval[1]);
        let p99 = point.p99.expect("there were answers");
        assert!(
            p99.low_ns.is_none_or(|low| low <= p99.value_ns)
                && p99.high_ns.is_none_or(|high| high >= p99.value_ns)
        );
    }
    let knee = answer.knee.expect("the median doubles on the way");
    assert!(knee.level < answer.capacity.expect("found").level() * 1.2);
}

#[test]
fn a_search_can_be_taken_up_again_at_any_step() {
    let quest = CapacitySearch { longest_limit_ns: Some(250_000_000), ..CapacitySearch::default() };
    let (answer, history) = drive(&quest, |probe| cheap(probe, 800.0));
    let again = match plimsoll_experiment::search::next(&quest, &history) {
        plimsoll_experiment::search::Move::Done(answer) => answer,
        plimsoll_experiment::search::Move::Try(probe) => panic!("it had ended: {probe:?}"),
    };
    assert_eq!(serde_json::to_string(&answer).ok(), serde_json::to_string(&*again).ok());
}

/// Nothing is said of a level but what was seen there.
#[test]
fn each_end_of_a_search_says_what_was_measured() {
    let ended = |budget_s: u64, capacity: f64| {
        let quest =
            CapacitySearch { max_time_ns: Some(budget_s * 1_000_000_000), from: Some(100.0), ..quest(1e6) };
        drive(&quest, |probe| cheap(probe, capacity)).0
    };
    // Climbing when the time was over: a lower bound, and no level that was not run.
    let climbing = ended(20, 1e9);
    assert!(climbing.capacity.as_ref().is_some_and(|found| found.is_lower_bound), "{}", climbing.sentence);
    assert!(
        climbing.sentence.starts_with("capacity is at least")
            && climbing.sentence.ends_with("before a level was missed"),
        "{}",
        climbing.sentence
    );
    let sinking = ended(8, 1.0);
    assert!(
        sinking.capacity.is_none() && sinking.sentence.contains("before a level was met"),
        "{}",
        sinking.sentence
    );
    // Not a second was left that could have told more.
    let enclosed = ended(25, 300.0);
    assert!(
        enclosed.sentence.contains("capacity is between 238 arrivals/s (met) and 283 arrivals/s (missed)"),
        "{}",
        enclosed.sentence
    );
    assert!(enclosed.elapsed_s > 21.0 && enclosed.elapsed_s <= 25.0, "{}", enclosed.elapsed_s);
    let (nothing, _) = drive(&quest(1e4), |probe| cheap(probe, 0.01));
    assert!(nothing.sentence.contains("lowest tested level"), "{}", nothing.sentence);
    let (capped, _) = drive(&quest(200.0), |probe| cheap(probe, 1e6));
    assert!(capped.sentence.ends_with("the highest allowed rate was met"), "{}", capped.sentence);
    for said in [climbing, sinking, enclosed, nothing, capped] {
        assert!(!said.sentence.contains("no longer"), "{}", said.sentence);
    }
}
