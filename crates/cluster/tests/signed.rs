//! Signed orders: an agent that knows the key of its coordinator executes no order of another one, none that was
//! changed, and no copy of an earlier one.

use crate::simulator::S;
use crate::trouble::{identity, order};
use plimsoll_cluster::agent::{Agent, Input, Output};
use plimsoll_cluster::coordinator::{self, Coordinator, Done, News, OnLoss};
use plimsoll_cluster::envelope::MemorySpool;
use plimsoll_cluster::message::{Beat, Order, Refusal, Task, Wish};
use plimsoll_cluster::signature::{CoordinatorKey, Opened, SigningKey, open, repeated, seal};

fn public(key: &SigningKey) -> CoordinatorKey {
    CoordinatorKey::parse(&format!("{}\n", key.public())).unwrap()
}

fn why(opened: Option<Opened>) -> String {
    match opened {
        Some(Opened::Refused(_, problem)) => problem.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_what_the_key_signed_for_this_agent_is_accepted() {
    let (own, other) = (SigningKey::random().unwrap(), SigningKey::random().unwrap());
    let key = public(&own);
    let bytes = seal(&order("i"), "a", Some(&own)).unwrap();
    assert_eq!(open(&bytes, "a", Some(&key)), Some(Opened::Accepted(order("i"))));
    // A file has the seed.
    let again = SigningKey::parse(&format!("{}\n", own.seed().unwrap())).unwrap();
    assert_eq!(seal(&order("i"), "a", Some(&again)).unwrap(), bytes);

    let unsigned = seal(&order("i"), "a", None).unwrap();
    assert_eq!(
        why(open(&unsigned, "a", Some(&key))),
        "it accepts only signed orders, and this one is not signed"
    );
    let foreign = seal(&order("i"), "a", Some(&other)).unwrap();
    let said = why(open(&foreign, "a", Some(&key)));
    assert!(said.contains(&own.public()) && said.ends_with(&other.public()), "{said}");
    let changed = "the order was changed after it was signed";
    assert_eq!(why(open(&bytes, "b", Some(&key))), changed, "it is for another agent");
    // The name of the right key above the signature of another one.
    let text = String::from_utf8(foreign).unwrap().replace(&other.public(), &own.public());
    assert_eq!(why(open(text.as_bytes(), "a", Some(&key))), changed);
    for other in [&unsigned, &bytes] {
        assert_eq!(open(other, "a", None), Some(Opened::Accepted(order("i"))), "without a key");
    }
    assert_eq!(open(b"unsigned\n{}", "a", None), None);
    assert_eq!(open(b"", "a", Some(&key)), None);
}

#[test]
fn no_byte_of_a_signed_order_can_be_changed() {
    let own = SigningKey::random().unwrap();
    let key = public(&own);
    let bytes = seal(&order("i"), "a", Some(&own)).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let opened = open(&changed, "a", Some(&key));
        assert!(!matches!(opened, Some(Opened::Accepted(_))), "byte {at}");
    }
}

#[test]
fn a_file_with_the_wrong_key_is_refused() {
    let key = SigningKey::random().unwrap();
    let message = |problem: Option<plimsoll_plan::Problem>| problem.map(|problem| problem.message);
    assert_eq!(
        message(CoordinatorKey::parse(&key.seed().unwrap()).err()).unwrap(),
        "a secret key, which only the coordinator may have"
    );
    assert_eq!(message(SigningKey::parse(&key.public()).err()).unwrap(), "a public key, which cannot sign");
    for text in ["", "UABC", "key"] {
        assert_eq!(message(CoordinatorKey::parse(text).err()).unwrap(), "no public key", "{text}");
    }
    assert_eq!(message(SigningKey::parse("SUABC").err()).unwrap(), "no secret key");
}

fn beat(outputs: &[Output]) -> Option<&Beat> {
    outputs.iter().find_map(|output| match output {
        Output::Beat(beat) => Some(&**beat),
        _ => None,
    })
}

fn refusal(outputs: &[Output]) -> Option<&Refusal> {
    beat(outputs)?.refusal.as_ref()
}

fn starts(outputs: &[Output]) -> bool {
    outputs.iter().any(|output| matches!(output, Output::Fetch { .. }))
}

#[test]
fn a_refused_order_starts_nothing_and_is_reported_at_once_and_for_some_seconds() {
    let mut agent: Agent<MemorySpool> = Agent::new(identity("1.0"));
    agent.step(S, Input::Tick);
    let forged = |instance: &str| Input::Forged(order(instance), Box::new(repeated()));
    let outputs = agent.step(S + 1, forged("i"));
    assert!(!starts(&outputs));
    assert_eq!(refusal(&outputs).unwrap().run, "r");
    // A flood of them costs one sign of life.
    assert!((2..500).all(|at| beat(&agent.step(S + at, forged("i"))).is_none()));
    assert!(refusal(&agent.step(2 * S + 1, Input::Tick)).is_some());
    assert!(refusal(&agent.step(5 * S, Input::Tick)).is_none());
    agent.step(5 * S, forged("another"));
    assert!(refusal(&agent.step(6 * S, Input::Tick)).is_none(), "it is for an earlier process of this name");
    // The right one still works.
    assert!(starts(&agent.step(7 * S, Input::Ordered(order("i")))));
}

#[test]
fn a_copy_of_an_earlier_order_starts_nothing_however_many_loads_came_after_it() {
    let mut agent: Agent<MemorySpool> = Agent::new(identity("1.0"));
    let of = |turn: u64, wish: Wish| Order { run: format!("r{turn}"), turn, wish, ..order("i") };
    for turn in 0..100 {
        assert!(starts(&agent.step(turn * S, Input::Ordered(of(turn, order("i").wish)))), "load {turn}");
        let old = agent.step(turn * S, Input::Ordered(of(0, Wish::Stop)));
        assert!(refusal(&old).is_none(), "an order that starts nothing may be late");
        agent.step(turn * S, Input::Ordered(of(turn, Wish::Release)));
    }
    let outputs = agent.step(200 * S, Input::Ordered(of(0, order("i").wish)));
    assert!(!starts(&outputs));
    assert_eq!(refusal(&outputs).unwrap().sentence, "the order is a copy of one for an earlier load");
    assert!(starts(&agent.step(201 * S, Input::Ordered(of(100, order("i").wish)))));
}

/// Runs a coordinator until an agent has refused an order of `run`, while it works for `works_for`.
fn refused(run: &str, works_for: Option<&str>) -> (Option<Done>, Vec<News>) {
    let Wish::Prepare(task) = order("i").wish else { panic!("a task") };
    let agents: Vec<(_, Task)> = vec![(identity("1.0"), *task)];
    let mut coordinator = Coordinator::new("r", agents, OnLoss::Continue, S);
    let mut agent: Agent<MemorySpool> = Agent::new(identity("1.0"));
    let outputs = agent.step(S, Input::Tick);
    let mut beat = beat(&outputs).unwrap().clone();
    beat.run = works_for.map(str::to_owned);
    beat.refusal = Some(Refusal { run: run.into(), sentence: "why".into(), hint: String::new() });
    let mut news = Vec::new();
    for number in 1..4 {
        if coordinator.done().is_some() {
            break;
        }
        let input = coordinator::Input::Beat(Box::new(Beat { number, ..beat.clone() }));
        for output in coordinator.step(S + number, input).unwrap() {
            if let coordinator::Output::News(one) = output {
                news.push(one);
            }
        }
    }
    (coordinator.done(), news)
}

#[test]
fn a_coordinator_whose_task_is_refused_ends_and_names_other_refused_orders_once() {
    let (done, news) = refused("r", None);
    let Some(Done::Failed(failure)) = done else { panic!("{done:?}") };
    assert_eq!((failure.part, failure.sentence.as_str()), (0, "why"));
    assert!(news.is_empty(), "{news:?}");
    for (run, works_for) in [("r", Some("r")), ("earlier", None), ("earlier", Some("r"))] {
        let (done, news) = refused(run, works_for);
        assert_eq!(done, None);
        assert!(matches!(&news[..], [News::Refused { part: 0, refusal }] if refusal.run == run), "{news:?}");
    }
}
