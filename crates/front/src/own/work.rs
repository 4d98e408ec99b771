//! A script in the making: what all its parts share, and which names mean something where.

use super::data::Known;
use super::reader::Reader;
use super::site::Site;
use super::yaml::{Entry, Node, Pos, Value};
use plimsoll_plan::script::{Script, Slot};
use std::collections::{BTreeMap, HashMap};

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    Setup,
    #[default]
    Load,
    Teardown,
}

/// What all parts of the compilation share.
pub struct Work<'a> {
    pub r: Reader<'a>,
    pub site: Site,
    pub script: Script,
    /// Data files by name.
    pub known: BTreeMap<String, Known>,
    pub scope: Scope,
    pub common: Common,
    /// Names of requests, and how often each was asked for.
    pub taken: HashMap<String, u32>,
    pub counters: u16,
    /// Something asks for the interpreter that the requests themselves do not show.
    pub scripted: bool,
}

/// What the requests of a file have in common unless they say otherwise.
#[derive(Default)]
pub struct Common {
    pub headers: Vec<Entry>,
    pub auth: Option<Node>,
    pub redirects: u8,
}

/// The names of one scenario, or of the set-up.
#[derive(Debug, Default)]
pub struct Scope {
    pub phase: Phase,
    pub scenario: Option<u16>,
    pub group: Option<u16>,
    /// Names that a step before this one may have set.
    pub set: Vec<String>,
    /// All names that steps here set, with the first place of each.
    pub coming: Vec<(String, Pos)>,
}

impl Scope {
    pub fn new(phase: Phase, scenario: Option<u16>, steps: &Node) -> Scope {
        let mut coming = Vec::new();
        names_set(steps, &mut coming);
        Scope { phase, scenario, group: None, set: Vec::new(), coming }
    }

    pub fn add(&mut self, name: &str) {
        if !self.set.iter().any(|known| known == name) {
            self.set.push(name.to_owned());
        }
    }

    /// In a loop a later step may have set a value in the round before; branches that run at once may have in any
    /// order.
    pub fn add_all_of(&mut self, steps: &Node) {
        let mut names = Vec::new();
        names_set(steps, &mut names);
        names.iter().for_each(|(name, _)| self.add(name));
    }
}

/// The names that the steps of a list set, those of nested steps included.
pub fn names_set(steps: &Node, out: &mut Vec<(String, Pos)>) {
    match &steps.value {
        Value::List(list) => list.iter().for_each(|step| names_set(step, out)),
        Value::Map(entries) => {
            for entry in entries {
                match (entry.key.as_str(), &entry.value.value) {
                    ("set" | "extract", Value::Map(names)) => {
                        out.extend(names.iter().map(|name| (name.key.clone(), name.pos)));
                    }
                    ("steps" | "then" | "else" | "once" | "choose" | "parallel" | "stream" | "beside", _)
                    | ("generate", Value::Map(_)) => names_set(&entry.value, out),
                    _ => {}
                }
            }
        }
        Value::Scalar(_) => {}
    }
}

impl Work<'_> {
    /// The slot behind a name that a step gives a value to; `None` when nothing may be called so.
    pub fn slot(&mut self, name: &str, pos: Pos) -> Option<Slot> {
        if let Some((message, hint)) = super::constants::wrong_name(name) {
            self.r.complain("F015", pos, message, hint);
            return None;
        }
        let taken = match (self.r.constants.contains_key(name), self.known.contains_key(name)) {
            (true, _) => Some("a fixed value under `vars`"),
            (_, true) => Some("a file under `data`"),
            _ => None,
        };
        if let Some(taken) = taken {
            let message = format!("`{name}` is {taken} already");
            self.r.complain("F013", pos, message, "give one of them another name");
            return None;
        }
        self.scope.add(name);
        match self.scope.phase {
            Phase::Setup => self.number(name, true, pos).map(Slot::Global),
            Phase::Load | Phase::Teardown => self.number(name, false, pos).map(Slot::Var),
        }
    }

    /// The number of a variable, a new one at its first use.
    pub fn number(&mut self, name: &str, global: bool, pos: Pos) -> Option<u16> {
        let names = if global { &mut self.script.globals } else { &mut self.script.vars };
        if let Some(at) = names.iter().position(|known| known == name) {
            return u16::try_from(at).ok();
        }
        let Ok(number) = u16::try_from(names.len()) else {
            self.r.complain("F015", pos, "more than 65,536 names", "use the same name again where you can");
            return None;
        };
        names.push(name.to_owned());
        Some(number)
    }
}
