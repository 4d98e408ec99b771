//! `scenarios:`, with the set-up before and the tear-down behind them: what users do, and under which load.

use super::key::{Row, Section, find};
use super::load::{self, Load};
use super::steps;
use super::work::{Phase, Scope, Work};
use super::yaml::{Entry, Node, Pos, Value};
use plimsoll_plan::draft::Draft;
use plimsoll_plan::script::{self, Order, Scenario};
use plimsoll_plan::unit;

/// The pieces of the script as the file gives them, in whatever order.
#[derive(Default)]
pub struct Parts<'n> {
    pub setup: Option<&'n Node>,
    pub scenarios: Option<&'n Node>,
    pub teardown: Option<&'n Node>,
    pub mix: Option<(Order, Pos)>,
    pub load: Option<(Load, Pos)>,
    /// Keys that a misspelt one was meant for: that they are missing is said already.
    pub misspelt: Vec<&'static str>,
}

/// A scenario beside its steps.
#[derive(Default)]
struct Terms {
    weight: Option<(f64, Pos)>,
    start: Option<(u64, Pos)>,
    load: Option<(Load, Pos)>,
}

impl Parts<'_> {
    /// Makes the script and the load models of the draft. Set-up first: what it extracts, all others may use.
    pub fn assemble(self, draft: &mut Draft, w: &mut Work<'_>) {
        if let (Some(node), Some(row)) = (self.setup, find(Section::Top, "setup")) {
            w.scope = Scope::new(Phase::Setup, None, node);
            w.script.setup = steps::list(node, row, w);
        }
        let all = match self.scenarios {
            Some(node) => scenarios(node, w),
            None => {
                if !self.misspelt.contains(&"scenarios") {
                    w.r.complain(
                        "F016",
                        Pos::TOP,
                        "there is no key `scenarios`: nothing to send",
                        "add one, such as `scenarios: { browse: [ { get: /pick } ] }`",
                    );
                }
                Vec::new()
            }
        };
        if let (Some(node), Some(row)) = (self.teardown, find(Section::Top, "teardown")) {
            w.scope = Scope::new(Phase::Teardown, None, node);
            w.script.teardown = steps::list(node, row, w);
        }
        let mut ways = Vec::new();
        for (number, terms) in all.into_iter().enumerate() {
            let name = w.script.scenarios.get(number).map(|s| s.name.clone()).unwrap_or_default();
            let number = number as u16;
            if let (Some((_, pos)), None) = (&terms.start, &terms.load) {
                let message =
                    format!("`{name}` has a `start`, and no `load` of its own that could begin then");
                w.r.complain(
                    "F016",
                    *pos,
                    message,
                    "add its load, such as `load: { users: 10, duration: 30s }`",
                );
            }
            match (terms.load, terms.weight) {
                (Some((_, _)), Some((_, pos))) => {
                    let message = format!("`{name}` has a load of its own, which no weight shares out");
                    w.r.complain("F017", pos, message, "keep `weight` or `load`");
                }
                (Some((load, _)), None) => {
                    let start_ns = terms.start.map_or(0, |(ns, _)| ns);
                    draft.lanes.push(load.into_lane(&name, number, start_ns));
                }
                (None, weight) => ways.push((number, weight.map_or(1.0, |(weight, _)| weight))),
            }
        }
        if let (Some((_, pos)), true, false) = (&self.load, ways.is_empty(), draft.lanes.is_empty()) {
            let message = "every scenario has a load of its own: nobody would run under this one";
            w.r.complain("F017", *pos, message, "leave it out, or take one of the others out");
        }
        if let (Some((_, pos)), true) = (&self.mix, ways.len() < 2) {
            let message = "`mix` says how weights are kept, and there are no two scenarios to share a load";
            w.r.complain("F017", *pos, message, "leave it out");
        }
        draft.entry = match ways.as_slice() {
            [] => None,
            [(one, _)] => Some(script::Entry::Scenario(*one)),
            _ => {
                Some(script::Entry::Mix { ways, order: self.mix.map(|(order, _)| order).unwrap_or_default() })
            }
        };
        if let Some((load, _)) = self.load {
            load.into_draft(draft);
        }
    }
}

fn scenarios(node: &Node, w: &mut Work<'_>) -> Vec<Terms> {
    let Some(row) = find(Section::Top, "scenarios") else { return Vec::new() };
    let Some(entries) = w.r.map(node, row) else { return Vec::new() };
    if entries.is_empty() {
        w.r.complain("F016", node.pos, "there is no scenario", format!("expected {}", row.expects));
    }
    if entries.len() > usize::from(u16::MAX) {
        w.r.complain("F015", node.pos, "more than 65,535 scenarios", "use fewer");
        return Vec::new();
    }
    entries.iter().map(|entry| scenario(entry, w)).collect()
}

fn scenario(entry: &Entry, w: &mut Work<'_>) -> Terms {
    let mut terms = Terms::default();
    let mut made = Scenario { name: entry.key.clone(), nodes: Vec::new(), pace: None };
    let number = w.script.scenarios.len() as u16;
    match &entry.value.value {
        Value::List(list) => {
            if list.is_empty() {
                let message = format!("the scenario `{}` has no requests", entry.key);
                let hint = "name at least one, such as `- get: /pick`";
                w.r.complain("F016", entry.value.pos, message, hint);
            }
            w.scope = Scope::new(Phase::Load, Some(number), &entry.value);
            made.nodes = list.iter().flat_map(|item| steps::step(item, w)).collect();
        }
        Value::Map(fields) => {
            w.scripted = true;
            let before = w.r.wrong.len();
            let mut has_steps = false;
            for field in fields {
                let (node, Some(row)) = (&field.value, w.r.row(Section::Scenario, field)) else { continue };
                match row.name {
                    "steps" => {
                        has_steps = true;
                        w.scope = Scope::new(Phase::Load, Some(number), node);
                        made.nodes = steps::list(node, row, w);
                    }
                    "weight" => terms.weight = steps::weight(node, row, w).map(|weight| (weight, field.pos)),
                    "pace" => made.pace = steps::delay(node, row, w),
                    "start" => {
                        terms.start = w.r.parsed(node, row, unit::duration_ns).map(|ns| (ns, field.pos));
                    }
                    _ => terms.load = own_load(field, row, w),
                }
            }
            if !has_steps && w.r.wrong.len() == before {
                let message = format!("the scenario `{}` has no `steps`", entry.key);
                w.r.complain("F016", entry.pos, message, "add them, such as `steps: [ { get: /pick } ]`");
            }
        }
        Value::Scalar(scalar) if scalar.spoiled => {}
        Value::Scalar(_) => {
            w.r.complain(
                "F014",
                entry.value.pos,
                format!("the scenario `{}` is no list of requests", entry.key),
                "write its requests below it, each behind a `-`, such as `- get: /pick`",
            );
        }
    }
    w.script.scenarios.push(made);
    terms
}

fn own_load(field: &Entry, row: &Row, w: &mut Work<'_>) -> Option<(Load, Pos)> {
    // The places of the file's own load stay where they are.
    let places = w.r.places.clone();
    let load = load::read(&field.value, row, Section::ScenarioLoad, &mut w.r);
    for (field, place) in places {
        w.r.places.insert(field, place);
    }
    Some((load, field.pos))
}
