//! Thread groups.

use super::Compiler;
use super::level::Level;
use super::role::{Role, role};
use crate::code;
use crate::plan::{Group, OnError, Phase};
use crate::tree::Raw;

impl Compiler<'_> {
    /// Returns all thread groups of a plan.
    pub(super) fn groups(&mut self, plan: &Raw) -> Vec<Group> {
        let everywhere = self.level(&plan.children);
        let mut groups = Vec::new();
        let mut numbers = [0u32; 3];
        for child in &plan.children {
            match role(&child.class) {
                Role::Group => {
                    let group = self.group(child, &everywhere, &mut numbers);
                    groups.push(group);
                }
                Role::Controller | Role::Sampler => {
                    self.note(
                        code::note::UNUSED,
                        child.pos,
                        format!("`{}` does not run: it is not in a thread group", child.name),
                        "",
                    );
                }
                _ => {}
            }
        }
        // A plan without main groups runs its only others as such.
        let is_of = |phase: Phase| groups.iter().all(|group: &Group| group.phase == phase);
        if is_of(Phase::SetUp) || is_of(Phase::TearDown) {
            groups.iter_mut().for_each(|group| group.phase = Phase::Main);
        }
        if groups.is_empty() && self.wrong.is_empty() {
            self.wrong(
                code::EMPTY,
                plan.pos,
                "the plan has no enabled thread group",
                "enable one in JMeter, or pass another file",
            );
        }
        groups
    }

    fn group(&mut self, raw: &Raw, everywhere: &Level, numbers: &mut [u32; 3]) -> Group {
        let info = self.info(raw);
        let (phase, number) = match raw.class.as_str() {
            "SetupThreadGroup" => (Phase::SetUp, &mut numbers[0]),
            "PostThreadGroup" => (Phase::TearDown, &mut numbers[2]),
            _ => (Phase::Main, &mut numbers[1]),
        };
        *number += 1;
        let number = *number;
        let title = self.known.value(&info.name).unwrap_or_else(|_| raw.name.clone());
        let on_error = self.on_error(raw);
        let is_same_user = self.flag(raw, "ThreadGroup.same_user_on_next_iteration", true);
        let load = self.load(raw);
        self.path.push(raw.name.clone());
        // Elements of the plan belong to each group, after its own.
        let mut level = self.level(&raw.children);
        level.extend(everywhere);
        let mut levels = vec![level];
        let nodes = self.nodes(&raw.children, &mut levels);
        let at_iteration = levels.pop().map(|level| level.at_iteration).unwrap_or_default();
        self.path.pop();
        if nodes.is_empty() && self.wrong.is_empty() {
            self.note(code::note::UNUSED, raw.pos, format!("`{}` has no enabled sampler", raw.name), "");
        }
        Group { info, title, phase, number, on_error, is_same_user, load, nodes, at_iteration }
    }

    fn on_error(&mut self, raw: &Raw) -> OnError {
        match self.choice(raw, "ThreadGroup.on_sample_error").as_str() {
            "" | "continue" => OnError::Continue,
            "startnextloop" => OnError::StartNextLoop,
            "stopthread" => OnError::StopThread,
            "stoptest" => OnError::StopTest,
            "stoptestnow" => OnError::StopTestNow,
            other => {
                self.unsupported(raw, format!("`{other}` after an error"), "select an action in JMeter");
                OnError::Continue
            }
        }
    }
}
