//! The document that a search ends with.

use crate::machine::cheap;
use crate::servers::{Limits, Server, Service, drive, search};
use plimsoll_record::analysis::search::Quest;

#[test]
fn the_answer_is_a_document_with_all_its_steps() {
    let server = Server { service: Service::Exponential, mean_s: 0.001, servers: 1, room: None };
    let limits = Limits { p99_s: Some(0.02), errors: Some(0.001) };
    let quest = Quest { longest_limit_ns: Some(20_000_000), ..Quest::default() };
    let (answer, history) = search(&server, &quest, limits, 4);
    let json = serde_json::to_value(&answer).expect("plain data");
    let text = json["sentence"].as_str().expect("a sentence");
    assert!(text.contains("95 % interval") && text.contains("response_time p99 < 0.020000s"), "{text}");
    assert_eq!(json["steps"].as_array().expect("steps").len(), history.len());
    assert_eq!(json["steps"][0]["purpose"], "floor");
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
    let quest = Quest { longest_limit_ns: Some(250_000_000), ..Quest::default() };
    let (answer, history) = drive(&quest, |probe| cheap(probe, 800.0));
    let again = match plimsoll_record::analysis::search::next(&quest, &history) {
        plimsoll_record::analysis::search::Move::Done(answer) => answer,
        plimsoll_record::analysis::search::Move::Try(probe) => panic!("it had ended: {probe:?}"),
    };
    assert_eq!(serde_json::to_string(&answer).ok(), serde_json::to_string(&*again).ok());
}
