//! Short constructors of plans.
#![allow(dead_code)]

use super::engine::{Engine, Served};
use plimsoll_plan::answer::{Check, Extract, Pick, Rule, Source, Subject};
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::program::{Behavior, Phase, Program, UserSlot};
use plimsoll_plan::script::{Ask, Condition, Delay, Entry, Node, Order, Scenario, Script, Slot};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::value::{ColumnId, Escape, FeederId, Part, Placeholder, Text, VarId};
use plimsoll_plan::{Plan, Target};
use plimsoll_script::program::Stage;
use std::sync::Arc;

pub fn text(literal: &str) -> Text {
    Text::literal(literal)
}

/// `before`, a hole, `after`.
pub fn around(before: &str, hole: Placeholder, after: &str) -> Text {
    let mut all = text(before);
    all.parts.push(Part::Placeholder(hole, Escape::None));
    all.push_literal(after.as_bytes());
    all
}

pub fn var(id: VarId) -> Text {
    around("", Placeholder::Var(id), "")
}

pub fn column(feeder: FeederId, column: ColumnId) -> Placeholder {
    Placeholder::Column { feeder, column }
}

pub fn ask(path: &str) -> Ask {
    Ask {
        origin: 0,
        name: path.into(),
        scenario: Some(0),
        group: None,
        tags: Vec::new(),
        method: "GET".into(),
        path: text(path),
        headers: Vec::new(),
        body: None,
        timeout_ns: None,
        redirects: 0,
        expect: None,
        checks: Vec::new(),
        extracts: Vec::new(),
        go_on_after_failure: false,
        stream: None,
        websocket: None,
        grpc: None,
    }
}

pub fn equals(path: &str, value: &str) -> Check {
    let on = Subject::Json { path: path.into(), rule: Rule::Equals(text(value)) };
    Check { name: format!("{path} is {value}"), on }
}

pub fn extract(name: &str, path: &str, into: Slot) -> Extract {
    Extract { into, name: name.into(), from: Source::Json(path.into()), pick: Pick::First, default: None }
}

pub fn is(left: Text, right: &str) -> Condition {
    Condition { left, rule: Rule::Equals(text(right)) }
}

pub fn think(ns: u64) -> Node {
    Node::Think(Delay::Constant { ns })
}

pub fn one_of(ways: Vec<(f64, Vec<Node>)>, order: Order) -> Node {
    Node::Choose { ways, order }
}

/// One scenario over the given requests.
pub fn script(asks: Vec<Ask>, nodes: Vec<Node>) -> Script {
    Script {
        asks,
        scenarios: vec![Scenario { name: "one".into(), nodes, pace: None }],
        vars: ["a", "b", "token"].map(str::to_owned).into(),
        ..Script::default()
    }
}

/// A plan around a script, even one that sealing would reject: the interpreter must not rely on earlier validation.
pub fn plan_of(mut script: Script, entry: Entry) -> Plan {
    if script.asks.is_empty() {
        script.asks.push(ask("/unused"));
    }
    let shell = |own: &Ask| Ask { checks: own.checks.clone(), extracts: own.extracts.clone(), ..ask("/") };
    let sound = Script {
        asks: script.asks.iter().map(shell).collect(),
        scenarios: vec![Scenario { name: "one".into(), nodes: vec![Node::Ask(0)], pace: None }],
        groups: script.groups.clone(),
        vars: script.vars.clone(),
        globals: script.globals.clone(),
        ..Script::default()
    };
    let draft = Draft {
        target: Some(Target { host: "127.0.0.1".into(), port: 8080, tls: false }),
        script: Some(sound),
        entry: Some(Entry::Scenario(0)),
        load: LoadDraft { users: Some(4), ..LoadDraft::default() },
        ..Draft::default()
    };
    let plan = seal(draft, Machine { cpus: 1, seed: 7 }).expect("the rest of the plan is valid");
    Plan { script: Some(Arc::new(script)), entries: vec![entry], ..plan }
}

pub fn stage_of(script: Script, entry: Entry) -> Arc<Stage> {
    Stage::new(&plan_of(script, entry)).expect("the script can be run")
}

pub fn stage(script: Script) -> Arc<Stage> {
    stage_of(script, Entry::Scenario(0))
}

/// Returns the message with which a script is rejected.
pub fn refused(script: Script) -> String {
    Stage::new(&plan_of(script, Entry::Scenario(0))).err().expect("the script cannot be run").to_string()
}

pub fn slot(user: u32) -> UserSlot {
    UserSlot { workload: 0, user, id: user, users: 4 }
}

pub fn user(stage: &Arc<Stage>, number: u32) -> Box<dyn Program> {
    stage.clone().factory(Phase::Load).expect("the feeders can be read").programs().make(slot(number))
}

/// User 0 of a script, with a service.
pub fn play(script: Script, service: impl FnMut(&str) -> Served + 'static) -> Engine {
    Engine::new(user(&stage(script), 0), service)
}

/// A service that always gives the same response.
pub fn always(status: u16, body: &str) -> impl FnMut(&str) -> Served + 'static {
    let served = Served { body: body.into(), ..Served::status(status) };
    move |_| served.clone()
}
