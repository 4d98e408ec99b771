//! What controllers need of a thread.

use super::{Thread, scope};
use crate::controller::{Host, State};
use crate::plan::{Group, NodeId};
use crate::scope::Wish;
use crate::script::Language;
use crate::template::Template;
use plimsoll_plan::program::At;

/// A thread at a moment.
pub struct Controllers<'t> {
    pub thread: &'t mut Thread,
    pub at: At,
}

impl Host for Controllers<'_> {
    fn group(&self) -> &Group {
        self.thread.group()
    }

    fn state(&mut self, node: NodeId) -> &mut State {
        // proof: there is a state for each node of the group.
        &mut self.thread.states[node as usize]
    }

    fn text(&mut self, template: &Template) -> String {
        let (thread, mut wish) = (&mut *self.thread, Wish::default());
        let mut scope = scope!(thread, self.at, &mut wish);
        template.value(&mut scope)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.thread.vars.get(name).map(str::to_owned)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.thread.vars.set(name, value);
    }

    fn set_index(&mut self, node: NodeId, count: i64) {
        if let Some(variable) = self.thread.group().nodes[node as usize].index_variable {
            self.thread.vars.set_at(variable, &count.to_string());
        }
    }

    fn condition(&mut self, code: &str) -> bool {
        let (thread, mut wish) = (&mut *self.thread, Wish::default());
        let mut scope = scope!(thread, self.at, &mut wish);
        match crate::function::evaluate_code(code, Language::JavaScript, &mut scope) {
            Ok(value) => value == "true",
            Err(why) => {
                thread.worker.run.warn_once(&format!("the condition `{code}` has no value: {why}"));
                false
            }
        }
    }

    fn draw(&mut self, count: u32) -> u32 {
        // The bias of the high half of the product is 2^-32 of the count.
        ((u128::from(self.thread.random.next_u64()) * u128::from(count)) >> 64) as u32
    }

    fn run_ns(&self) -> u64 {
        self.at.run_ns
    }

    fn lock(&mut self, name: &str) -> bool {
        self.thread.worker.run.locks.take(name, self.thread.key)
    }

    fn unlock(&mut self, name: &str) {
        self.thread.worker.run.locks.free(name, self.thread.key);
    }

    fn is_last_ok(&self) -> bool {
        self.thread.is_last_ok
    }

    fn thread_number(&self) -> u32 {
        self.thread.identity.number.saturating_sub(1)
    }
}
