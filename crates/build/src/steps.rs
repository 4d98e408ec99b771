//! Builds steps: what a user does, in sequence.

use crate::draft::{AppendDraft, FeederDraft, StepDraft, TextDraft};
use crate::source::Pos;
use crate::work::{Phase, Work};
use plimsoll_plan::data::OutFile;
use plimsoll_plan::script::Node;
use plimsoll_plan::value::Text;

impl Work {
    /// Builds the nodes of steps, in their order.
    pub fn steps(&mut self, drafts: &[StepDraft]) -> Vec<Node> {
        drafts.iter().filter_map(|draft| self.step(draft)).collect()
    }

    /// Builds one step. Returns `None` if it reported a mistake.
    fn step(&mut self, draft: &StepDraft) -> Option<Node> {
        match draft {
            StepDraft::Request(request) => self.request(request).map(Node::Ask),
            StepDraft::Think(delay) => Some(Node::Think(*delay)),
            StepDraft::Group { name, pos, steps } => self.group(name, *pos, steps),
            StepDraft::Repeat { times, steps } => {
                let times = times.as_ref().and_then(|times| self.text(times));
                let nodes = self.round(steps);
                Some(Node::Repeat { times: times?, nodes })
            }
            StepDraft::While { condition, most, steps } => {
                let condition = condition.as_ref().and_then(|condition| self.condition(condition));
                let nodes = self.round(steps);
                Some(Node::While { condition: condition?, most: (*most)?, nodes })
            }
            StepDraft::If { condition, then, otherwise } => {
                let condition = condition.as_ref().and_then(|condition| self.condition(condition));
                let (then, otherwise) = (self.steps(then), self.steps(otherwise));
                Some(Node::If { condition: condition?, then, otherwise })
            }
            StepDraft::Once(steps) => Some(Node::Once(self.steps(steps))),
            StepDraft::Choose { ways, order } => {
                let ways = ways.iter().filter_map(|(weight, steps)| {
                    let nodes = self.steps(steps);
                    weight.map(|weight| (weight, nodes))
                });
                Some(Node::Choose { ways: ways.collect(), order: *order })
            }
            StepDraft::Set(pairs) => {
                let mut all = Vec::new();
                for (name, value) in pairs {
                    let text = value.as_ref().and_then(|value| self.text(value));
                    let slot = self.slot(name);
                    all.extend(slot.zip(text));
                }
                (!all.is_empty()).then_some(Node::Set(all))
            }
            StepDraft::Append(rows) => self.append(rows),
            StepDraft::Generate { pos, times, rows } => self.generate(*pos, times.as_ref(), rows.as_ref()),
            StepDraft::Parallel(branches) => {
                branches.iter().for_each(|branch| self.scope.add_all_of(branch));
                Some(Node::Parallel(branches.iter().map(|branch| self.steps(branch)).collect()))
            }
            StepDraft::Send(draft) => self.send(draft),
            StepDraft::SendMessage(draft) => self.send_message(draft),
            StepDraft::Complete { pos, call } => self.complete(call.as_ref(), *pos),
            StepDraft::Expect(draft) => self.expectation(draft),
            StepDraft::Ping(draft) => self.ping(draft),
            StepDraft::Close(draft) => self.close(draft),
            // Its mistake is already reported, so uses of its names are valid.
            StepDraft::Spoiled(names) => {
                for name in names {
                    self.scope.add(&name.name);
                    self.number(&name.name, self.scope.phase == Phase::Setup, name.pos);
                }
                self.is_incomplete = true;
                None
            }
        }
    }

    /// Builds the steps of a loop: an iteration may use what the end of the previous one set.
    fn round(&mut self, steps: &[StepDraft]) -> Vec<Node> {
        self.scope.add_all_of(steps);
        self.steps(steps)
    }

    fn group(&mut self, name: &str, pos: Pos, steps: &[StepDraft]) -> Option<Node> {
        let outer = self.scope.group;
        let whole = match outer.and_then(|group| self.script.groups.get(usize::from(group))) {
            Some(outer) => format!("{outer} / {name}"),
            None => name.to_owned(),
        };
        if self.script.groups.contains(&whole) {
            let message = format!("duplicate group name `{whole}`");
            let hint = "give each group its own name, because reports distinguish groups by name";
            self.wrong.complain("F013", pos, message, hint);
        }
        let Ok(group) = u16::try_from(self.script.groups.len()) else {
            self.wrong.complain("F015", pos, "more than 65,536 groups", "write fewer groups");
            return None;
        };
        self.script.groups.push(whole);
        self.scope.group = Some(group);
        let nodes = self.steps(steps);
        self.scope.group = outer;
        Some(Node::Group { group, nodes })
    }

    fn generate(&mut self, pos: Pos, times: Option<&TextDraft>, rows: Option<&AppendDraft>) -> Option<Node> {
        let times = times.and_then(|times| self.text(times));
        if self.scope.phase != Phase::Setup {
            if let Some(rows) = rows {
                self.columns(rows);
            }
            let message = "`generate` belongs under `setup`: it writes a file before the load";
            let hint = "move it under `setup`, or write rows during the load with `append`";
            self.wrong.complain("F018", pos, message, hint);
            return None;
        }
        let nodes = rows.and_then(|rows| self.append(rows)).into_iter().collect();
        Some(Node::Repeat { times: times?, nodes })
    }

    fn columns(&mut self, draft: &AppendDraft) -> Option<Vec<Text>> {
        let texts: Vec<Option<Text>> = draft.columns.iter().map(|(_, text)| self.text(text)).collect();
        texts.into_iter().collect()
    }

    /// Builds the step that appends a row. All steps that write a file must write the same columns.
    fn append(&mut self, draft: &AppendDraft) -> Option<Node> {
        let texts = self.columns(draft)?;
        let (file, pos) = (&draft.file, draft.pos);
        let path = match &draft.path {
            Ok(path) => path.clone(),
            Err(complaint) => {
                self.wrong.all.push(complaint.clone());
                return None;
            }
        };
        let names: Vec<String> = draft.columns.iter().map(|(name, _)| name.clone()).collect();
        let number = match self.script.files.iter().position(|known| known.path == path) {
            Some(number) if self.script.files[number].columns == names => number,
            Some(number) => {
                let message = format!("the columns of `{file}` differ from those of another step");
                let columns = self.script.files[number].columns.join("`, `");
                let hint = format!("write the same columns as the other step: `{columns}`");
                self.wrong.complain("F017", pos, message, hint);
                return None;
            }
            None => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if let Some(folder) = folder
                    && !folder.is_dir()
                {
                    let message = format!("no such directory: `{}`", folder.display());
                    let hint = format!("create it with `mkdir -p {}`, or name another", folder.display());
                    self.wrong.complain("F026", pos, message, hint);
                    return None;
                }
                let feeds = |known: &FeederDraft| known.feeder.path == path && !known.feeder.made_by_setup;
                if self.feeders.values().any(feeds) {
                    let message = format!("`{file}` cannot be written: users read it as data");
                    let hint = "write to another file, or write this one only in `setup`";
                    self.wrong.complain("F017", pos, message, hint);
                    return None;
                }
                self.script.files.push(OutFile { path, columns: names, anew: draft.anew });
                self.script.files.len() - 1
            }
        };
        self.script.files[number].anew |= draft.anew;
        Some(Node::Append { file: u16::try_from(number).ok()?, columns: texts })
    }
}
