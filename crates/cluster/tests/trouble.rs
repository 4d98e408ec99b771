//! What goes wrong between machines: nothing is counted twice or lost, and what is missing is named.

use crate::simulator::{Conditions, MS, Outcome, S, Weather, run};
use plimsoll_cluster::agent::{Agent, Input, Output};
use plimsoll_cluster::coordinator::{Done, Failure, News, OnLoss};
use plimsoll_cluster::envelope::MemorySpool;
use plimsoll_cluster::message::{Identity, Order, PROTOCOL, Stage, Task, Variables, Wish};
use plimsoll_testkit::made_up::Random;
use std::collections::BTreeMap;

/// What the coordinator has of each agent is what its load generator reported, or the beginning of it.
fn is_exact(outcome: &Outcome, gone: &[usize]) -> bool {
    let pairs = outcome.reported.iter().zip(&outcome.received).enumerate();
    pairs.into_iter().all(|(at, (sent, received))| match gone.contains(&at) {
        true => sent.starts_with(received),
        false => sent == received,
    })
}

fn named(outcome: &Outcome, wanted: impl Fn(&News) -> bool) -> Option<u64> {
    outcome.news.iter().find(|(_, news)| wanted(news)).map(|(at_ns, _)| *at_ns)
}

#[test]
fn lost_repeated_and_reordered_messages_change_nothing() {
    for seed in 0..40 {
        let mut conditions = Conditions::new(4, 15, seed);
        conditions.weather = Weather {
            lost: 5 + seed % 30,
            repeated: seed % 40,
            delay_max_ns: (1 + seed % 7) * 100 * MS,
            ..Weather::default()
        };
        let outcome = run(conditions);
        assert_eq!(outcome.done, Some(Done::Ran), "seed {seed}");
        assert!(is_exact(&outcome, &[]), "seed {seed}");
    }
}

#[test]
fn a_server_that_is_stopped_for_ten_seconds_costs_nothing() {
    let mut conditions = Conditions::new(3, 40, 1);
    conditions.weather.stalls.push(10 * S..19 * S + 900 * MS);
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(is_exact(&outcome, &[]));
    assert!(named(&outcome, |news| matches!(news, News::Silent { .. })).is_some());
    assert!(named(&outcome, |news| matches!(news, News::Back { .. })).is_some());
}

#[test]
fn an_agent_that_is_cut_off_for_a_minute_is_lost_and_comes_back_complete() {
    let mut conditions = Conditions::new(3, 120, 2);
    conditions.weather.cuts = vec![(1, 20 * S..80 * S)];
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(is_exact(&outcome, &[]));
    let silent_ns = named(&outcome, |news| *news == News::Silent { part: 1 }).unwrap();
    assert!((22 * S..24 * S + 200 * MS).contains(&silent_ns), "named after {} ms", silent_ns / MS);
    assert!(named(&outcome, |news| *news == News::Lost { part: 1 }).is_some());
    assert!(named(&outcome, |news| *news == News::Back { part: 1 }).is_some());
}

#[test]
fn a_killed_agent_is_named_within_three_seconds_and_the_others_continue() {
    let mut conditions = Conditions::new(3, 30, 3);
    conditions.weather.kills = vec![(2, 10 * S)];
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(is_exact(&outcome, &[2]));
    let silent_ns = named(&outcome, |news| *news == News::Silent { part: 2 }).unwrap();
    assert!(silent_ns <= 13 * S + 100 * MS, "named after {} ms", silent_ns / MS);
    for at in [0, 1] {
        assert_eq!(outcome.received[at].len(), 31);
    }
    assert!((5..=10).contains(&outcome.received[2].len()), "{}", outcome.received[2].len());
}

#[test]
fn a_lost_agent_stops_the_load_if_asked_for() {
    let mut conditions = Conditions::new(3, 60, 4);
    conditions.weather.kills = vec![(1, 10 * S)];
    conditions.on_loss = OnLoss::Stop;
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(outcome.end_ns < 31 * S, "after {} ms", outcome.end_ns / MS);
    assert!(outcome.received[0].len() < 25);
}

#[test]
fn the_others_take_over_the_share_of_a_lost_agent_if_asked_for() {
    let mut conditions = Conditions::new(3, 40, 5);
    conditions.weather.kills = vec![(1, 10 * S)];
    conditions.on_loss = OnLoss::Rebalance;
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    let line = vec![r#"{"do":"rebalance","factor":1.5,"left":2,"lost":"agent-1"}"#.to_owned()];
    assert_eq!((&outcome.lines[0], &outcome.lines[2]), (&line, &line));
}

#[test]
fn an_agent_that_misses_the_common_start_does_not_begin_later() {
    let mut conditions = Conditions::new(3, 20, 8);
    // From the moment at which all are ready (it depends on the seed), past the common start.
    conditions.weather.cuts = vec![(1, 55 * MS..8 * S)];
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert_eq!(outcome.begun_ns[1], None, "{:?}", outcome.news);
    assert!(named(&outcome, |news| matches!(news, News::Failed { part: 1, .. })).is_some());
    assert_eq!((outcome.received[0].len(), outcome.received[1].len()), (21, 0));
}

#[test]
fn an_agent_that_is_lost_before_the_load_fails_the_run() {
    let mut conditions = Conditions::new(3, 30, 6);
    conditions.weather.kills = vec![(1, 20 * MS)];
    let outcome = run(conditions);
    let Some(Done::Failed(Failure { part, sentence, .. })) = outcome.done else {
        panic!("{:?}", outcome.done)
    };
    assert_eq!((part, sentence.as_str()), (1, "it has not been heard for 10 s"));
    assert!(outcome.begun_ns.iter().all(Option::is_none));
}

pub fn identity(version: &str) -> Identity {
    Identity {
        name: "a".into(),
        instance: "i".into(),
        protocol: PROTOCOL,
        version: version.into(),
        host: "h".into(),
        cpus: 1,
        open_files: 1,
        labels: Default::default(),
        turn: 0,
    }
}

/// Returns the first order of the run `r` to an instance.
pub fn order(instance: &str) -> Order {
    let task = Task {
        protocol: PROTOCOL,
        version: "1.0".into(),
        words: vec!["run".into()],
        part: 1,
        of: 1,
        folder: "/".into(),
        files: Vec::new(),
        folders: Vec::new(),
        variables: Variables(BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())])),
    };
    Order { run: "r".into(), instance: instance.into(), turn: 0, wish: Wish::Prepare(Box::new(task)) }
}

#[test]
fn a_task_of_another_version_and_an_order_for_another_instance_start_nothing() {
    let shown = format!("{:?}", order("i"));
    assert!(shown.contains("TOKEN") && !shown.contains("s3cret"), "{shown}");
    let starts = |outputs: &[Output]| outputs.iter().any(|output| matches!(output, Output::Fetch { .. }));
    let mut agent: Agent<MemorySpool> = Agent::new(identity("0.9"));
    let outputs = agent.step(S, Input::Ordered(order("i")));
    assert!(!starts(&outputs));
    let failed = outputs.iter().any(|output| match output {
        Output::Beat(beat) => matches!(&beat.stage, Stage::Failed { sentence, .. }
            if sentence == "it has version 0.9, and the coordinator 1.0"),
        _ => false,
    });
    assert!(failed, "{outputs:?}");
    let mut agent: Agent<MemorySpool> = Agent::new(identity("1.0"));
    assert!(!starts(&agent.step(S, Input::Ordered(order("another")))));
    assert!(starts(&agent.step(S, Input::Ordered(order("i")))));
    assert!(!starts(&agent.step(S, Input::Ordered(order("i")))), "a repetition");
    // After the end of the run, the same order is one that was delivered late.
    agent.step(2 * S, Input::Ordered(Order { wish: Wish::Release, ..order("i") }));
    assert!(!starts(&agent.step(3 * S, Input::Ordered(order("i")))));
}

#[test]
fn a_coordinator_that_is_killed_and_started_again_has_everything() {
    for seed in 0..30 {
        let mut conditions = Conditions::new(3, 40, seed);
        conditions.weather.lost = seed % 20;
        conditions.weather.repeated = seed % 10;
        conditions.weather.delay_max_ns = (1 + seed % 5) * 50 * MS;
        // Also after the end of the load, when agents only keep what is left.
        let from_ns = (3 + 2 * seed) * S;
        conditions.down = Some(from_ns..from_ns + (1 + seed % 12) * S);
        let outcome = run(conditions);
        assert_eq!(outcome.done, Some(Done::Ran), "seed {seed}");
        assert!(is_exact(&outcome, &[]), "seed {seed}");
    }
}

#[test]
fn an_agent_that_was_killed_meanwhile_does_not_hold_up_a_coordinator_that_was_started_again() {
    let mut conditions = Conditions::new(3, 40, 7);
    conditions.down = Some(10 * S..15 * S);
    conditions.weather.kills = vec![(2, 12 * S)];
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(is_exact(&outcome, &[2]));
    assert!(outcome.end_ns < 60 * S, "ended after {} ms", outcome.end_ns / MS);
}

#[test]
fn a_script_that_ends_the_test_ends_it_on_all_agents() {
    let mut conditions = Conditions::new(3, 60, 5);
    conditions.ends_test = Some((1, 10));
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    assert!(is_exact(&outcome, &[]));
    let ended_ns = named(&outcome, |news| *news == News::EndedTest { part: 1 }).unwrap();
    assert!(ended_ns < 13 * S && outcome.end_ns < 14 * S, "ended after {} ms", outcome.end_ns / MS);
    let again = run(Conditions::new(3, 60, 5));
    assert!(named(&again, |news| matches!(news, News::EndedTest { .. })).is_none() && again.end_ns > 60 * S);
}

#[test]
fn results_that_no_message_can_carry_end_the_load_with_a_sentence() {
    let mut conditions = Conditions::new(2, 30, 9);
    conditions.too_large_at = Some((1, 5));
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    let said = outcome.news.iter().find_map(|(_, news)| match news {
        News::Failed { part: 1, sentence, .. } => Some(sentence.clone()),
        _ => None,
    });
    assert_eq!(
        said.unwrap(),
        "its results of one second have 2000000 bytes, and the NATS server accepts 1048576"
    );
    assert_eq!(outcome.received[0].len(), 31);
}

/// Ten thousand faults in one run of a thousand agents, some of which are cut off or killed, and a coordinator that is
/// killed and started again.
#[test]
fn a_thousand_agents_with_ten_thousand_faults_are_merged_exactly() {
    let mut random = Random::new(77);
    let (agents, seconds) = (1_000, 15);
    let mut conditions = Conditions::new(agents, seconds, 78);
    let weather = &mut conditions.weather;
    (weather.lost, weather.repeated, weather.delay_max_ns) = (10, 10, 300 * MS);
    // Messages are lost from the start, so the load begins after some seconds. What follows happens during the load.
    weather.stalls.push(14 * S..16 * S);
    for _ in 0..100 {
        let from_ns = (12 + random.below(8)) * S;
        weather.cuts.push((random.below(agents as u64) as usize, from_ns..from_ns + random.below(9 * S)));
    }
    let mut gone = Vec::new();
    for _ in 0..20 {
        let at = random.below(agents as u64) as usize;
        weather.kills.push((at, 12 * S + random.below(8 * S)));
        gone.push(at);
    }
    conditions.down = Some(18 * S..21 * S);
    let outcome = run(conditions);
    assert_eq!(outcome.done, Some(Done::Ran));
    let begin_ns = named(&outcome, |news| matches!(news, News::Begins { .. })).unwrap();
    assert!(begin_ns < 12 * S, "the load began after {} ms", begin_ns / MS);
    assert!(is_exact(&outcome, &gone));
    assert!(outcome.faults > 10_000, "{}", outcome.faults);
    let whole = outcome.received.iter().filter(|events| events.len() as u64 == seconds + 1).count();
    // An agent that misses the common start has no load.
    let begun = outcome.begun_ns.iter().flatten().count();
    assert!(begun >= agents - 5 && whole >= begun - gone.len(), "{begun} have begun, {whole} are complete");
}

/// Ten thousand faults of all kinds, at random, over a few hundred runs.
#[test]
fn whatever_happens_each_record_is_exact_or_the_beginning_of_the_truth() {
    let mut faults = 0;
    for seed in 0..200 {
        let mut random = Random::new(1_000 + seed);
        let (agents, seconds) = (2 + random.below(4) as usize, 20 + random.below(40));
        let mut conditions = Conditions::new(agents, seconds, seed);
        let weather = &mut conditions.weather;
        weather.lost = random.below(25);
        weather.repeated = random.below(25);
        weather.delay_max_ns = (1 + random.below(800)) * MS;
        let mut gone = Vec::new();
        for _ in 0..random.below(3) {
            let from_ns = random.below(seconds * S);
            weather.stalls.push(from_ns..from_ns + random.below(8 * S));
        }
        for _ in 0..random.below(4) {
            // From the third second on, when the load has begun.
            let from_ns = 3 * S + random.below(seconds * S);
            let length_ns = random.below(25 * S);
            let at = random.below(agents as u64) as usize;
            weather.cuts.push((at, from_ns..from_ns + length_ns));
            // One that is cut off at the end may never come back in time.
            gone.push(at);
        }
        if random.below(3) == 0 {
            let at = random.below(agents as u64) as usize;
            weather.kills.push((at, 4 * S + random.below(seconds * S)));
            gone.push(at);
        }
        if random.below(5) == 0 {
            conditions.stop_ns = Some(random.below(seconds * S));
        }
        let outcome = run(conditions);
        assert!(outcome.done.is_some(), "seed {seed} never ended: {:?}", outcome.news);
        assert!(is_exact(&outcome, &gone), "seed {seed}");
        faults += outcome.faults;
    }
    assert!(faults > 10_000, "{faults}");
}
