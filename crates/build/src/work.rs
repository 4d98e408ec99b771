//! State for building a script: what all parts share, and the scopes of names.

use crate::draft::{AuthDraft, FeederDraft, HeaderDraft, NameDraft, StepDraft};
use crate::expression::is_name;
use crate::sentence::short;
use crate::site::Site;
use crate::source::{Complaints, Pos};
use plimsoll_plan::data::Format;
use plimsoll_plan::script::{AskId, Node, Script, Slot, TimingPart};
use plimsoll_plan::value::Function;
use std::collections::{BTreeMap, HashMap};

/// The phase of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    Setup,
    #[default]
    Load,
    Teardown,
}

/// State that all parts of the build share.
pub struct Work {
    pub wrong: Complaints,
    pub site: Site,
    pub script: Script,
    pub constants: Vec<String>,
    pub secrets: BTreeMap<String, String>,
    /// Data files by name.
    pub feeders: BTreeMap<String, FeederDraft>,
    /// Default headers of all requests.
    pub headers: Vec<HeaderDraft>,
    pub auth: Option<AuthDraft>,
    pub scope: Scope,
    /// Names of requests, and how often each was used.
    pub taken: HashMap<String, u32>,
    /// The number of the next counter.
    pub counters: u16,
    /// The timings of texts by slot: the name of a request, which may come later, and the place of its use.
    pub timings: Vec<(String, TimingPart, Pos)>,
    /// The requests that count challenges, and the numbers of the sources of tokens, by the text of their credentials.
    pub logins: Vec<(String, u32)>,
    /// The steps that setup begins with.
    pub token_steps: Vec<Node>,
    /// A step has a mistake that its reader has reported, so that it is missing.
    pub is_incomplete: bool,
    /// The current text is a header, which may contain parts of its request.
    pub in_headers: bool,
}

/// The names of one scenario, of setup, or of teardown.
#[derive(Debug, Default)]
pub struct Scope {
    pub phase: Phase,
    pub scenario: Option<u16>,
    pub group: Option<u16>,
    /// Names that an earlier step may have set.
    pub set: Vec<String>,
    /// All names that the steps of this scope set, with their places.
    pub coming: Vec<NameDraft>,
    /// The requests that open WebSockets so far, by name.
    pub sockets: Vec<(String, AskId)>,
}

impl Scope {
    pub fn new(phase: Phase, scenario: Option<u16>, steps: &[StepDraft]) -> Scope {
        Scope { phase, scenario, group: None, set: Vec::new(), coming: names_set(steps), sockets: Vec::new() }
    }

    pub fn add(&mut self, name: &str) {
        if !self.set.iter().any(|known| known == name) {
            self.set.push(name.to_owned());
        }
    }

    /// Adds all names that steps set: in a loop, a later step may have set one in the previous iteration; parallel
    /// branches set theirs in any order.
    pub fn add_all_of(&mut self, steps: &[StepDraft]) {
        names_set(steps).iter().for_each(|name| self.add(&name.name));
    }
}

/// Returns the names that steps set, including those of nested steps.
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
            if let Some(socket) = &request.websocket {
                out.extend(names_set(&socket.beside));
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
        StepDraft::Expect(wanted) => out.extend(wanted.extracts.iter().map(|extract| extract.into.clone())),
        StepDraft::Think(_) | StepDraft::Append(_) | StepDraft::Generate { .. } => {}
        StepDraft::Send(_) | StepDraft::Ping(_) | StepDraft::Close(_) => {}
        StepDraft::SendMessage(_) | StepDraft::Complete { .. } => {}
    }
}

impl FeederDraft {
    /// Returns whether a column is available; for JSON Lines also a path below a key.
    pub fn has(&self, column: &str) -> bool {
        let front = match self.feeder.format {
            Format::JsonLines => column.split('.').next().unwrap_or_default(),
            Format::Csv { .. } => column,
        };
        self.columns.as_ref().is_none_or(|all| all.iter().any(|known| known == column || known == front))
    }
}

/// Returns the message and the help line for an invalid name.
pub fn wrong_name(name: &str) -> Option<(String, &'static str)> {
    if !is_name(name) {
        let message = format!("invalid name `{}`", short(name));
        return Some((message, "begin with a letter, followed by letters, digits, `_`, and `-`"));
    }
    if Function::NAMES.contains(&name) || matches!(name, "env" | "secret") {
        return Some((format!("reserved name `{name}`"), "choose another name"));
    }
    None
}

impl Work {
    /// Returns the slot of a name that a step sets; `None` if it reported an invalid name.
    pub fn slot(&mut self, NameDraft { name, pos }: &NameDraft) -> Option<Slot> {
        if let Some((message, hint)) = wrong_name(name) {
            self.wrong.complain("F015", *pos, message, hint);
            return None;
        }
        let taken = match (self.constants.contains(name), self.feeders.contains_key(name)) {
            (true, _) => Some("`vars`"),
            (_, true) => Some("`data`"),
            (false, false) => None,
        };
        if let Some(taken) = taken {
            let message = format!("duplicate name `{name}`: it is already defined under {taken}");
            self.wrong.complain("F013", *pos, message, "rename one of them");
            return None;
        }
        self.scope.add(name);
        match self.scope.phase {
            Phase::Setup => self.number(name, true, *pos).map(Slot::Global),
            Phase::Load | Phase::Teardown => self.number(name, false, *pos).map(Slot::Var),
        }
    }

    /// Returns the number of a variable, which gets one at its first use.
    pub fn number(&mut self, name: &str, global: bool, pos: Pos) -> Option<u16> {
        let names = if global { &mut self.script.globals } else { &mut self.script.vars };
        if let Some(at) = names.iter().position(|known| known == name) {
            return u16::try_from(at).ok();
        }
        let Ok(number) = u16::try_from(names.len()) else {
            let hint = "reuse names where you can";
            self.wrong.complain("F015", pos, "more than 65,536 names", hint);
            return None;
        };
        names.push(name.to_owned());
        Some(number)
    }
}
