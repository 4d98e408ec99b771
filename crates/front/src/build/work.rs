//! A script in the making: what all its parts share, and which names mean something where.

use super::draft::{AuthDraft, FeederDraft, HeaderDraft, NameDraft, StepDraft};
use super::expression::is_name;
use super::site::Site;
use crate::sentence::short;
use crate::source::{Complaints, Pos};
use plimsoll_plan::data::Format;
use plimsoll_plan::script::{Script, Slot};
use plimsoll_plan::value::Function;
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
pub struct Work {
    pub wrong: Complaints,
    pub site: Site,
    pub script: Script,
    pub constants: Vec<String>,
    pub secrets: BTreeMap<String, String>,
    /// Data files by name.
    pub feeders: BTreeMap<String, FeederDraft>,
    /// What requests have in common unless they say otherwise.
    pub headers: Vec<HeaderDraft>,
    pub auth: Option<AuthDraft>,
    pub scope: Scope,
    /// Names of requests, and how often each was asked for.
    pub taken: HashMap<String, u32>,
    /// The number of the next counter.
    pub counters: u16,
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
    pub coming: Vec<NameDraft>,
}

impl Scope {
    pub fn new(phase: Phase, scenario: Option<u16>, steps: &[StepDraft]) -> Scope {
        Scope { phase, scenario, group: None, set: Vec::new(), coming: names_set(steps) }
    }

    pub fn add(&mut self, name: &str) {
        if !self.set.iter().any(|known| known == name) {
            self.set.push(name.to_owned());
        }
    }

    /// In a loop a later step may have set a value in the round before; branches that run at once may have in any
    /// order.
    pub fn add_all_of(&mut self, steps: &[StepDraft]) {
        names_set(steps).iter().for_each(|name| self.add(&name.name));
    }
}

/// The names that steps set, those of nested steps included.
fn names_set(steps: &[StepDraft]) -> Vec<NameDraft> {
    let mut all = Vec::new();
    steps.iter().for_each(|step| collect(step, &mut all));
    all
}

fn collect(step: &StepDraft, out: &mut Vec<NameDraft>) {
    match step {
        StepDraft::Request(request) => {
            out.extend(request.extracts.iter().map(|extract| extract.into.clone()));
            if let Some(stream) = &request.stream {
                out.extend(names_set(&stream.beside));
            }
        }
        StepDraft::Group { steps, .. }
        | StepDraft::Repeat { steps, .. }
        | StepDraft::While { steps, .. }
        | StepDraft::Once(steps) => out.extend(names_set(steps)),
        StepDraft::If { then, otherwise, .. } => {
            out.extend(names_set(then));
            out.extend(names_set(otherwise));
        }
        StepDraft::Choose { ways, .. } => ways.iter().for_each(|(_, steps)| out.extend(names_set(steps))),
        StepDraft::Parallel(branches) => branches.iter().for_each(|steps| out.extend(names_set(steps))),
        StepDraft::Set(pairs) => out.extend(pairs.iter().map(|(name, _)| name.clone())),
        StepDraft::Spoiled(names) => out.extend(names.iter().cloned()),
        StepDraft::Think(_) | StepDraft::Append(_) | StepDraft::Generate { .. } => {}
    }
}

impl FeederDraft {
    /// Whether a column can be asked for; of JSON Lines also a path below a key.
    pub fn has(&self, column: &str) -> bool {
        let front = match self.feeder.format {
            Format::JsonLines => column.split('.').next().unwrap_or_default(),
            Format::Csv { .. } => column,
        };
        self.columns.as_ref().is_none_or(|all| all.iter().any(|known| known == column || known == front))
    }
}

/// Why nothing may be called so, and what to do.
pub fn wrong_name(name: &str) -> Option<(String, &'static str)> {
    if !is_name(name) {
        let message = format!("`{}` is no name for a value", short(name));
        return Some((message, "begin with a letter and go on with letters, digits, `_` and `-`"));
    }
    if Function::NAMES.contains(&name) || matches!(name, "env" | "secret") {
        return Some((format!("`{name}` means something else already"), "choose another name"));
    }
    None
}

impl Work {
    /// The slot behind a name that a step gives a value to; `None` when nothing may be called so.
    pub fn slot(&mut self, NameDraft { name, pos }: &NameDraft) -> Option<Slot> {
        if let Some((message, hint)) = wrong_name(name) {
            self.wrong.complain("F015", *pos, message, hint);
            return None;
        }
        let taken = match (self.constants.contains(name), self.feeders.contains_key(name)) {
            (true, _) => Some("a fixed value under `vars`"),
            (_, true) => Some("a file under `data`"),
            (false, false) => None,
        };
        if let Some(taken) = taken {
            let message = format!("`{name}` is {taken} already");
            self.wrong.complain("F013", *pos, message, "give one of them another name");
            return None;
        }
        self.scope.add(name);
        match self.scope.phase {
            Phase::Setup => self.number(name, true, *pos).map(Slot::Global),
            Phase::Load | Phase::Teardown => self.number(name, false, *pos).map(Slot::Var),
        }
    }

    /// The number of a variable, a new one at its first use.
    pub fn number(&mut self, name: &str, global: bool, pos: Pos) -> Option<u16> {
        let names = if global { &mut self.script.globals } else { &mut self.script.vars };
        if let Some(at) = names.iter().position(|known| known == name) {
            return u16::try_from(at).ok();
        }
        let Ok(number) = u16::try_from(names.len()) else {
            let hint = "use the same name again where you can";
            self.wrong.complain("F015", pos, "more than 65,536 names", hint);
            return None;
        };
        names.push(name.to_owned());
        Some(number)
    }
}
