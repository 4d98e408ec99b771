//! Each kind of node acts as documented, in order and on time.

use super::engine::{Engine, MS, Served};
use super::plans::*;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::script::{Delay, Node, Order, Slot};
use plimsoll_plan::value::{Function, Placeholder};

/// Requests `/0`, `/1`, ... under a tree of nodes.
fn walk(count: u32, nodes: Vec<Node>) -> Engine {
    play(script((0..count).map(|i| ask(&format!("/{i}"))).collect(), nodes), always(200, ""))
}

fn set(id: u16, value: &str) -> Node {
    Node::Set(vec![(Slot::Var(id), text(value))])
}

#[test]
fn requests_and_pauses_keep_their_order() {
    let mut engine = walk(2, vec![Node::Ask(0), think(5 * MS), Node::Ask(1)]);
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /0", "GET /1"]);
    assert_eq!(engine.sent[1].0, 6 * MS, "1 ms of service and 5 ms of think time");
    assert!(
        engine.sent[0].1.starts_with("GET /0 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"),
        "{}",
        engine.sent[0].1
    );
    assert!(engine.failures.is_empty() && engine.counts.is_empty());
}

#[test]
fn a_loop_runs_its_number_of_rounds_even_if_that_is_0() {
    let rounds = |times| Node::Repeat { times, nodes: vec![Node::Ask(0)] };
    for (times, expected) in [("3", 3), (" 2 ", 2), ("0", 0)] {
        let mut engine = walk(1, vec![rounds(text(times))]);
        engine.iterate();
        assert_eq!(engine.sent.len(), expected, "`{times}`");
    }
    let mut engine = walk(1, vec![set(0, "4"), rounds(var(0))]);
    engine.iterate();
    assert_eq!(engine.sent.len(), 4, "evaluated when the loop begins");
}

#[test]
fn an_invalid_number_of_rounds_ends_the_iteration_with_an_error() {
    let rounds = Node::Repeat { times: var(0), nodes: vec![Node::Ask(0)] };
    let mut engine = walk(1, vec![set(0, "many"), rounds, Node::Ask(0)]);
    engine.iterate();
    assert_eq!((engine.sent.len(), engine.run_sum(RunSum::IterationsAbandoned)), (0, 1));
    assert!(
        engine.samples[0].observed.contains("invalid number of iterations `many`"),
        "{:?}",
        engine.samples
    );
    let fixed = Node::Repeat { times: text("many"), nodes: Vec::new() };
    assert!(refused(script(Vec::new(), vec![fixed])).contains("invalid number of iterations `many`"));
}

#[test]
fn a_conditional_loop_ends_with_its_condition_or_at_its_limit() {
    let until = |most| Node::While {
        condition: is(around("", Placeholder::Call(Function::Counter { id: 0, start: 1, step: 1 }), ""), "1"),
        most,
        nodes: vec![Node::Ask(0)],
    };
    let mut engine = walk(1, vec![until(100)]);
    engine.iterate();
    assert_eq!(engine.sent.len(), 1, "the counter is 1 once");
    let forever = Node::While { condition: is(text("x"), "x"), most: 7, nodes: vec![Node::Ask(0)] };
    let mut engine = walk(1, vec![forever]);
    engine.iterate();
    assert_eq!(engine.sent.len(), 7);
}

#[test]
fn a_condition_selects_its_branch() {
    let side = |value: &str| {
        let fork =
            Node::If { condition: is(var(0), "7"), then: vec![Node::Ask(0)], otherwise: vec![Node::Ask(1)] };
        let mut engine = walk(3, vec![set(0, value), fork, Node::Ask(2)]);
        engine.iterate();
        engine.lines().join(" ")
    };
    assert_eq!(side("7"), "GET /0 GET /2");
    assert_eq!(side("7.0"), "GET /0 GET /2", "numbers are compared as numbers");
    assert_eq!(side("8"), "GET /1 GET /2");
    let alone = Node::If { condition: is(var(0), "7"), then: vec![Node::Ask(0)], otherwise: Vec::new() };
    let mut engine = walk(2, vec![alone, Node::Ask(1)]);
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /1"], "a variable that was never set equals nothing");
}

#[test]
fn once_runs_once_per_user_and_variables_persist() {
    let asks = vec![ask("/login"), {
        let mut ask = ask("/");
        ask.path = around("/", Placeholder::Var(0), "");
        ask
    }];
    let nodes = vec![Node::Once(vec![Node::Ask(0), set(0, "me")]), Node::Ask(1)];
    let mut engine = play(script(asks, nodes), always(200, ""));
    engine.iterations(3);
    assert_eq!(engine.lines(), ["GET /login", "GET /me", "GET /me", "GET /me"]);
}

#[test]
fn once_runs_when_first_reached_and_again_after_a_failure() {
    let ways = vec![(1.0, vec![Node::Ask(0)]), (1.0, vec![Node::Once(vec![Node::Ask(1)]), Node::Ask(2)])];
    let asks = vec![ask("/other"), ask("/login"), ask("/page")];
    let mut tries = 0;
    let service = move |line: &str| {
        tries += u32::from(line.contains("login"));
        // The first login is rejected.
        Served::status(if line.contains("login") && tries == 1 { 503 } else { 200 })
    };
    let mut engine = play(script(asks, vec![one_of(ways, Order::Exact)]), service);
    engine.iterations(8);
    let of = |what: &str| engine.lines().iter().filter(|line| line.contains(what)).count();
    // Of four passes, the first ended at the failed login, and the second logged in.
    assert_eq!((of("other"), of("login"), of("page")), (4, 2, 3));
}

#[test]
fn choices_run_their_own_nodes_and_rejoin() {
    let ways = vec![(1.0, vec![Node::Ask(0)]), (1.0, vec![Node::Ask(1)]), (0.0, vec![Node::Ask(3)])];
    let mut engine = walk(4, vec![one_of(ways, Order::Exact), Node::Ask(2)]);
    engine.iterations(2);
    let mut lines = engine.lines();
    assert_eq!((lines[1], lines[3]), ("GET /2", "GET /2"));
    lines.sort_unstable();
    assert_eq!(lines, ["GET /0", "GET /1", "GET /2", "GET /2"]);
}

#[test]
fn groups_are_timed_as_a_whole_and_nest() {
    let inner = Node::Group { group: 1, nodes: vec![Node::Ask(0)] };
    let outer = Node::Group { group: 0, nodes: vec![inner, think(2 * MS), Node::Ask(0)] };
    let mut script = script(vec![ask("/0")], vec![think(9 * MS), outer]);
    script.groups = vec!["outer".into(), "outer / inner".into()];
    let mut engine = play(script, always(200, ""));
    engine.iterate();
    // One request and no check precede them.
    assert_eq!(engine.hist(1, SeriesHist::Response), [4 * MS]);
    assert_eq!(engine.hist(2, SeriesHist::Response), [MS]);
    assert_eq!((engine.sum(1, SeriesSum::Finished), engine.sum(2, SeriesSum::Finished)), (1, 1));
}

#[test]
fn branches_run_concurrently_until_the_slowest_ends() {
    let branches =
        vec![vec![think(10 * MS), Node::Ask(0)], vec![Node::Ask(1), think(MS), Node::Ask(2)], Vec::new()];
    let mut engine = walk(4, vec![Node::Parallel(branches), Node::Ask(3)]);
    engine.iterations(2);
    assert_eq!(engine.lines()[..4], ["GET /1", "GET /2", "GET /0", "GET /3"]);
    assert_eq!(engine.sent[..4].iter().map(|s| s.0 / MS).collect::<Vec<_>>(), [0, 2, 10, 11]);
    assert_eq!(engine.sent.len(), 8, "and once more");
}

#[test]
fn branches_do_not_share_their_counts() {
    // Each branch has nested loops that interleave with those of the other branches.
    let inner = |ask, pause| {
        let body = vec![Node::Ask(ask), think(pause)];
        Node::Group { group: 0, nodes: vec![Node::Repeat { times: text("3"), nodes: body }] }
    };
    let branch = |ask, pause| {
        let nested = Node::Parallel(vec![vec![inner(ask, pause)], vec![inner(ask, pause + 1)]]);
        vec![Node::Repeat { times: text("2"), nodes: vec![nested] }, Node::Ask(ask)]
    };
    let fork = Node::Parallel(vec![branch(0, 3), branch(1, 5), branch(2, 7)]);
    let outer = Node::Repeat { times: text("2"), nodes: vec![fork] };
    let mut script = script((0..3).map(|i| ask(&format!("/{i}"))).collect(), vec![outer]);
    script.groups = vec!["g".into()];
    let mut engine = play(script, always(200, ""));
    engine.iterate();
    for line in ["GET /0", "GET /1", "GET /2"] {
        // 2 × (2 rounds × 2 branches × 3, plus 1)
        assert_eq!(engine.lines().iter().filter(|l| **l == line).count(), 2 * (2 * 2 * 3 + 1));
    }
    assert_eq!(engine.sum(3, SeriesSum::Finished), 2 * 3 * 2 * 2);
}

#[test]
fn a_failure_in_one_branch_ends_the_pauses_of_the_others() {
    let branches =
        vec![vec![think(50 * MS), Node::Ask(1)], vec![Node::Ask(0), Node::Ask(1)], vec![Node::Ask(2)]];
    let service = |request: &str| match request.split(' ').nth(1) {
        Some("/0") => Served::status(500),
        _ => Served::ok("").after(20 * MS),
    };
    let asks = (0..4).map(|i| ask(&format!("/{i}"))).collect();
    let mut engine = play(script(asks, vec![Node::Parallel(branches), Node::Ask(3)]), service);
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /0", "GET /2"]);
    assert_eq!(engine.now_ns, 20 * MS, "requests in flight are awaited");
    assert_eq!(engine.run_sum(RunSum::IterationsAbandoned), 1);
}

#[test]
fn steps_emitted_in_the_same_wake_as_a_failure_are_withdrawn() {
    // The last branch fails before the engine has received the pause and the request.
    let mut broken = ask("/");
    broken.path = around("/", Placeholder::Var(0), "");
    let branches = vec![vec![think(MS), Node::Ask(0)], vec![Node::Ask(0)], vec![Node::Ask(1)]];
    let mut engine = play(script(vec![ask("/0"), broken], vec![Node::Parallel(branches)]), always(200, ""));
    engine.iterations(2);
    assert_eq!((engine.sent.len(), engine.now_ns), (0, 0));
    assert_eq!(engine.run_sum(RunSum::IterationsAbandoned), 2);
    assert!(engine.samples[0].observed.contains("`a` has no value"), "{:?}", engine.samples);
}

#[test]
fn pacing_extends_an_iteration_and_never_shortens_it() {
    for (pace_ms, period_ms) in [(10, 10), (1, 3)] {
        let mut script = script(vec![ask("/")], vec![Node::Ask(0), think(2 * MS)]);
        script.scenarios[0].pace = Some(Delay::Constant { ns: pace_ms * MS });
        let mut engine = play(script, always(200, ""));
        engine.iterations(3);
        let begins: Vec<u64> = engine.sent.iter().map(|(at, _)| at / MS).collect();
        assert_eq!(begins, [0, period_ms, 2 * period_ms]);
    }
}

#[test]
fn pacing_also_applies_after_a_failure() {
    let mut script = script(vec![ask("/")], vec![Node::Ask(0), think(5 * MS)]);
    script.scenarios[0].pace = Some(Delay::Constant { ns: 10 * MS });
    let mut engine = play(script, always(503, ""));
    engine.iterations(2);
    assert_eq!(engine.sent[1].0, 10 * MS, "a broken service is not flooded");
}

#[test]
fn a_failure_ends_the_iteration_unless_the_step_continues() {
    for (goes_on, sent) in [(false, 1), (true, 2)] {
        let mut first = ask("/0");
        first.go_on_after_failure = goes_on;
        let mut engine =
            play(script(vec![first, ask("/1")], vec![Node::Ask(0), Node::Ask(1)]), |request: &str| {
                Served::status(if request.starts_with("GET /0") { 500 } else { 200 })
            });
        engine.iterate();
        assert_eq!(engine.sent.len(), sent);
        assert_eq!(engine.failures, [(0, plimsoll_plan::Fault::Status)]);
        assert_eq!(engine.run_sum(RunSum::IterationsAbandoned), u64::from(!goes_on));
    }
}

#[test]
fn a_long_loop_that_sends_nothing_lets_others_run() {
    let body = vec![Node::Set(vec![(Slot::Var(0), text("x"))])];
    let mut engine = walk(1, vec![Node::Repeat { times: text("20000"), nodes: body }, Node::Ask(0)]);
    engine.begin();
    assert!(engine.sent.is_empty(), "it does not finish in one wake");
    while engine.step() {}
    assert_eq!((engine.sent.len(), engine.sent[0].0), (1, 0), "and it lost no time");
}

#[test]
fn delays_follow_their_distribution() {
    let laws = [
        (Delay::Uniform { low_ns: 2 * MS, high_ns: 4 * MS }, 3.0, 0.577),
        (Delay::Normal { mean_ns: 10 * MS, deviation_ns: 2 * MS }, 10.0, 2.0),
        (Delay::Exponential { mean_ns: 5 * MS }, 5.0, 5.0),
    ];
    for (law, mean_ms, deviation_ms) in laws {
        let mut engine = walk(0, vec![Node::Think(law)]);
        let mut lengths_ms = Vec::new();
        for _ in 0..4_000 {
            let begin_ns = engine.now_ns;
            engine.iterate();
            lengths_ms.push((engine.now_ns - begin_ns) as f64 / MS as f64);
        }
        let count = lengths_ms.len() as f64;
        let mean = lengths_ms.iter().sum::<f64>() / count;
        let deviation = (lengths_ms.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        // Five standard errors of the mean; for these distributions, the error of the deviation is similar.
        let error = 5.0 * deviation_ms / count.sqrt();
        assert!((mean - mean_ms).abs() < error, "{law:?}: mean {mean}");
        assert!((deviation - deviation_ms).abs() < 2.0 * error, "{law:?}: deviation {deviation}");
        if let Delay::Uniform { .. } = law {
            assert!(lengths_ms.iter().all(|ms| (2.0..=4.0).contains(ms)));
        }
    }
    let mut engine = walk(0, vec![Node::Think(Delay::Normal { mean_ns: 0, deviation_ns: MS })]);
    engine.iterations(100);
    let below_zero_is_zero = engine.now_ns;
    assert!(below_zero_is_zero > 10 * MS && below_zero_is_zero < 100 * MS, "{below_zero_is_zero}");
}

#[test]
fn an_interrupted_iteration_does_nothing_more_and_the_next_one_begins_anew() {
    let mut engine = walk(3, vec![Node::Ask(0), think(5 * MS), Node::Ask(1), Node::Ask(2)]);
    engine.begin();
    engine.run_until(3 * MS);
    engine.interrupt();
    assert!(!engine.step(), "it was asleep");
    assert_eq!(engine.lines(), ["GET /0"]);
    engine.begin();
    engine.run_until(9 * MS + MS / 2);
    engine.interrupt();
    assert_eq!(engine.lines(), ["GET /0", "GET /0", "GET /1"], "it waited for a response");
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /0", "GET /0", "GET /1", "GET /0", "GET /1", "GET /2"]);
    assert_eq!(engine.run_sum(RunSum::IterationsAbandoned), 0);
}
