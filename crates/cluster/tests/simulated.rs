//! A run over several agents: exact, started together, and ended together.

use crate::simulator::{Conditions, MS, S, run};
use plimsoll_cluster::coordinator::{Done, Failure, News};

#[test]
fn the_coordinator_receives_every_event_once_and_in_order() {
    let outcome = run(Conditions::new(5, 20, 1));
    assert_eq!(outcome.done, Some(Done::Ran));
    assert_eq!(outcome.reported, outcome.received);
    assert!(outcome.received.iter().all(|events| events.len() == 21), "20 seconds and an end each");
    assert_eq!(outcome.free, 5, "all agents are free afterwards");
}

#[test]
fn all_loads_begin_at_the_same_time() {
    let outcome = run(Conditions::new(8, 3, 2));
    let begun: Vec<u64> = outcome.begun_ns.iter().map(|begun| begun.unwrap()).collect();
    let spread = begun.iter().max().unwrap() - begun.iter().min().unwrap();
    assert!(spread < MS, "{begun:?}");
    let is_begun = |(_, news): &&(u64, News)| matches!(news, News::Begun { late_ns, .. } if *late_ns < MS);
    assert_eq!(outcome.news.iter().filter(is_begun).count(), 8);
}

#[test]
fn a_thousand_agents_are_started_within_three_seconds() {
    let outcome = run(Conditions::new(1_000, 2, 3));
    assert_eq!(outcome.done, Some(Done::Ran));
    assert_eq!(outcome.reported, outcome.received);
    let begins = outcome.news.iter().find(|(_, news)| matches!(news, News::Begins { .. })).unwrap();
    assert!(begins.0 < 3 * S, "after {} ms", begins.0 / MS);
}

#[test]
fn an_interrupt_ends_all_loads_within_two_seconds() {
    let mut conditions = Conditions::new(6, 60, 4);
    conditions.stop_ns = Some(10 * S);
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(outcome.end_ns < 12 * S, "after {} ms", outcome.end_ns / MS);
    assert_eq!(outcome.reported, outcome.received);
    assert!(outcome.received.iter().all(|events| events.last().unwrap() == "ended"));
}

#[test]
fn an_interrupt_before_the_load_leaves_no_load() {
    let mut conditions = Conditions::new(3, 60, 5);
    conditions.stop_ns = Some(10 * MS);
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Stopped));
    assert!(outcome.begun_ns.iter().all(Option::is_none));
    assert_eq!(outcome.free, 3);
}

#[test]
fn an_agent_without_a_load_stops_the_others_before_theirs() {
    let mut conditions = Conditions::new(4, 60, 6);
    conditions.failing = Some(2);
    let outcome = run(conditions);
    let Some(Done::Failed(Failure { part, sentence, hint, .. })) = outcome.done else {
        panic!("{:?}", outcome.done)
    };
    assert_eq!((part, sentence.as_str(), hint.as_str()), (2, "connection refused", "start it"));
    assert!(outcome.begun_ns.iter().all(Option::is_none));
    assert_eq!(outcome.free, 4);
}

#[test]
fn lines_reach_every_load_once_and_in_order() {
    let mut conditions = Conditions::new(3, 20, 7);
    conditions.weather.lost = 20;
    conditions.weather.repeated = 20;
    let lines: Vec<String> = (0..5).map(|n| format!(r#"{{"do":"note","text":"{n}"}}"#)).collect();
    conditions.lines = lines.iter().zip(4..).map(|(line, s)| (s * S, line.clone())).collect();
    let outcome = run(conditions);
    assert_eq!(outcome.lines, vec![lines; 3]);
}
