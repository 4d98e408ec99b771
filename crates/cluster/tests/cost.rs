//! What a coordinator does for one agent does not depend on how many others there are.

use crate::fixture::{identity, task};
use plimsoll_cluster::coordinator::{Coordinator, Input, OnLoss, Output};
use plimsoll_cluster::envelope::Envelope;
use plimsoll_cluster::event_codec::Encoder;
use plimsoll_cluster::message::{Beat, ClockOffset, Stage};
use plimsoll_testkit::made_up::note;
use std::time::Instant;

const MS: u64 = 1_000_000;

fn beat(at: usize, number: u64) -> Beat {
    Beat {
        identity: identity(at),
        number,
        run: Some("run".into()),
        stage: Stage::Running,
        clock: Some(ClockOffset { offset_ns: 0, bound_ns: 1 }),
        begin_ns: Some(1),
        has_ended_test: false,
        steered: 0,
        backlog: 0,
        refusal: None,
    }
}

/// Returns the time of an envelope and a sign of life, ns: the smallest of several turns, which no other process made
/// longer.
fn cost_ns(agents: usize) -> f64 {
    let tasks = (0..agents).map(|at| (identity(at), task(at + 1, agents))).collect();
    let mut coordinator = Coordinator::resumed("run", tasks, OnLoss::Continue, 0, 1);
    let event = Encoder::default().encode(&note(1, "a second"));
    let envelope = |at: usize, number: u64| {
        let envelope = Envelope { instance: format!("i{at}"), number, events: vec![event.clone()] };
        Input::Envelope(envelope.encode().unwrap())
    };
    let mut least = f64::INFINITY;
    for turn in 0..40 {
        let asked: Vec<usize> = (0..50).map(|at| at * agents / 50).map(|at| at % agents).collect();
        let inputs: Vec<Input> = asked
            .iter()
            .enumerate()
            .filter(|(n, at)| !asked[..*n].contains(at))
            .flat_map(|(_, at)| [envelope(*at, turn), Input::Beat(Box::new(beat(*at, turn + 1)))])
            .collect();
        let count = inputs.len();
        let now_ns = (turn + 1) * 100 * MS;
        // The look at all agents, which is due every 20 ms, is not part of it.
        coordinator.step(now_ns, Input::Tick).unwrap();
        let begin = Instant::now();
        let events = inputs.into_iter().map(|input| coordinator.step(now_ns, input).unwrap());
        let events = events.flatten().filter(|output| matches!(output, Output::Event { .. })).count();
        least = least.min(begin.elapsed().as_nanos() as f64 / count as f64);
        assert_eq!(events, count / 2, "each envelope has an event");
    }
    least
}

#[test]
fn an_envelope_costs_the_same_with_ten_and_with_a_thousand_agents() {
    let (few, many) = (cost_ns(10), cost_ns(1_000));
    // Looking at all agents each time made it 30 times as much.
    assert!(many < 4.0 * few, "{many} ns with 1,000 agents, {few} ns with 10");
}
