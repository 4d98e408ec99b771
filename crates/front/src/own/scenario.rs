//! `scenarios:`, `setup:`, and `teardown:`: what users do, and under which load.

use super::key::{Row, Section, find, of};
use super::load::{self, Load};
use super::steps;
use super::work::Work;
use super::yaml::{Entry, Node, Value};
use plimsoll_build::draft::{ScenarioDraft, ScriptDraft};
use plimsoll_build::source::Pos;
use plimsoll_plan::draft::{Draft, WorkloadDraft};
use plimsoll_plan::script::{Entry as Entered, Order};
use plimsoll_plan::unit;

/// The pieces of the script, in any order of the file.
#[derive(Default)]
pub struct Parts<'n> {
    pub setup: Option<&'n Node>,
    pub scenarios: Option<&'n Node>,
    pub teardown: Option<&'n Node>,
    pub mix: Option<(Order, Pos)>,
    pub load: Option<(Load, Pos)>,
    /// Keys that a misspelled one was meant to be, so that they are not reported as missing.
    pub misspelt: Vec<&'static str>,
}

/// The settings of a scenario, without its steps.
#[derive(Default)]
struct Terms {
    weight: Option<(f64, Pos)>,
    start: Option<(u64, Pos)>,
    load: Option<(Load, Pos)>,
}

impl Parts<'_> {
    /// Reads the steps into `script`, and the load models into the draft.
    pub fn assemble(self, script: &mut ScriptDraft, draft: &mut Draft, w: &mut Work<'_>) {
        if let (Some(node), Some(row)) = (self.setup, find(Section::Top, "setup")) {
            w.in_setup = true;
            script.setup = steps::list(node, row, w);
            w.in_setup = false;
        }
        let all = match self.scenarios {
            Some(node) => scenarios(node, script, w),
            None => {
                if !self.misspelt.contains(&"scenarios") {
                    w.r.complain(
                        "F016",
                        Pos::TOP,
                        "missing key `scenarios`",
                        "add scenarios, such as `scenarios: { browse: [ { get: /pick } ] }`",
                    );
                }
                Vec::new()
            }
        };
        if let (Some(node), Some(row)) = (self.teardown, find(Section::Top, "teardown")) {
            script.teardown = steps::list(node, row, w);
        }
        let mut ways = Vec::new();
        for (number, terms) in all.into_iter().enumerate() {
            let name = script.scenarios.get(number).map(|s| s.name.clone()).unwrap_or_default();
            let number = number as u16;
            if let (Some((_, pos)), None) = (&terms.start, &terms.load) {
                let message = format!("missing `load` in `{name}`: `start_delay` requires it");
                w.r.complain(
                    "F016",
                    *pos,
                    message,
                    "add a load, such as `load: { users: 10, duration: 30s }`",
                );
            }
            match (terms.load, terms.weight) {
                (Some((_, _)), Some((_, pos))) => {
                    let message = format!("`weight` and `load` of `{name}` contradict each other");
                    let hint = "keep `weight` to share the top-level load, or `load` for a separate one";
                    w.r.complain("F017", pos, message, hint);
                }
                (Some((load, _)), None) => {
                    let start_ns = terms.start.map_or(0, |(ns, _)| ns);
                    let entry = Entered::Scenario(number);
                    draft.workloads.push(WorkloadDraft { name, entry, load: load.draft, start_ns });
                }
                (None, weight) => ways.push((number, weight.map_or(1.0, |(weight, _)| weight))),
            }
        }
        if let (Some((_, pos)), true, false) = (&self.load, ways.is_empty(), draft.workloads.is_empty()) {
            let message = "unused `load`: every scenario has its own";
            w.r.complain("F017", *pos, message, "remove it, or remove the `load` of a scenario");
        }
        if let (Some((_, pos)), true) = (&self.mix, ways.len() < 2) {
            let message = "`mix` requires at least two scenarios that share a load";
            w.r.complain("F017", *pos, message, "remove `mix`");
        }
        draft.entry = match ways.as_slice() {
            [] => None,
            [(one, _)] => Some(Entered::Scenario(*one)),
            _ => Some(Entered::Mix { ways, order: self.mix.map(|(order, _)| order).unwrap_or_default() }),
        };
        if let Some((load, _)) = self.load {
            draft.load = load.draft;
            draft.graceful_stop_ns = draft.graceful_stop_ns.or(load.graceful_stop_ns);
        }
    }
}

fn scenarios(node: &Node, script: &mut ScriptDraft, w: &mut Work<'_>) -> Vec<Terms> {
    let Some(row) = find(Section::Top, "scenarios") else { return Vec::new() };
    let Some(entries) = w.r.map(node, row) else { return Vec::new() };
    if entries.is_empty() {
        w.r.complain("F016", node.pos, "`scenarios` is empty", format!("write {}", row.expects));
    }
    if entries.len() > usize::from(u16::MAX) {
        w.r.complain("F015", node.pos, "more than 65,535 scenarios", "write fewer scenarios");
        return Vec::new();
    }
    entries.iter().map(|entry| scenario(entry, script, w)).collect()
}

fn scenario(entry: &Entry, script: &mut ScriptDraft, w: &mut Work<'_>) -> Terms {
    let mut terms = Terms::default();
    let mut made = ScenarioDraft { name: entry.key.clone(), steps: Vec::new(), pace: None };
    match &entry.value.value {
        Value::List(list) => {
            if list.is_empty() {
                let message = format!("scenario `{}` has no requests", entry.key);
                let hint = "add at least one request, such as `- get: /pick`";
                w.r.complain("F016", entry.value.pos, message, hint);
            }
            made.steps = steps::all(list, w);
        }
        Value::Map(fields)
            if matches!(entry.key.as_str(), "check" | "extract")
                && !fields.iter().any(|field| find(Section::Scenario, &field.key).is_some()) =>
        {
            let message = format!("`{}` belongs to a request, not directly under `scenarios`", entry.key);
            w.r.complain(
                "F018",
                entry.pos,
                message,
                "indent it like the method of its request, such as `get`",
            );
        }
        Value::Map(fields) => {
            w.is_scripted = true;
            let before = w.r.wrong.len();
            let mut has_steps = false;
            for field in fields {
                let (node, Some((row, key))) = (&field.value, w.r.key(field)) else { continue };
                match key {
                    of::Scenario::Steps => {
                        has_steps = true;
                        made.steps = steps::list(node, row, w);
                    }
                    of::Scenario::Weight => {
                        terms.weight = steps::weight(node, row, &mut w.r).map(|weight| (weight, field.pos))
                    }
                    of::Scenario::Pace => made.pace = steps::delay(node, row, &mut w.r),
                    of::Scenario::StartDelay => {
                        terms.start = w.r.parsed(node, row, unit::duration_ns).map(|ns| (ns, field.pos));
                    }
                    of::Scenario::Load => terms.load = own_load(field, row, w),
                }
            }
            if !has_steps && w.r.wrong.len() == before {
                let message = format!("missing `steps` in scenario `{}`", entry.key);
                w.r.complain("F016", entry.pos, message, "add steps, such as `steps: [ { get: /pick } ]`");
            }
        }
        Value::Scalar(scalar) if scalar.spoiled => {}
        Value::Scalar(_) => {
            w.r.complain(
                "F014",
                entry.value.pos,
                format!("invalid scenario `{}`: expected a list of requests", entry.key),
                "write each request on its own line after a `-`, such as `- get: /pick`",
            );
        }
    }
    script.scenarios.push(made);
    terms
}

fn own_load(field: &Entry, row: &Row, w: &mut Work<'_>) -> Option<(Load, Pos)> {
    // The places of the top-level load take precedence.
    let places = w.r.places.clone();
    let load = load::read(&field.value, row, Section::ScenarioLoad, &mut w.r);
    for (field, place) in places {
        w.r.places.insert(field, place);
    }
    Some((load, field.pos))
}
