//! Controllers, with what is below them.

use super::Compiler;
use super::level::{Level, inward};
use super::role::{Role, role};
use crate::code;
use crate::plan::{Controller, Node, NodeKind, Quota};
use crate::text::Text;
use crate::tree::Raw;

/// Levels of elements: beyond them, a plan is not one that a person made.
const MOST_LEVELS: usize = 400;

impl Compiler<'_> {
    /// Returns the controllers and samplers among children. `levels` ends with theirs.
    pub(super) fn nodes(&mut self, children: &[Raw], levels: &mut Vec<Level>) -> Vec<Node> {
        let mut nodes = Vec::new();
        if levels.len() > MOST_LEVELS {
            if let Some(child) = children.first() {
                let hint = "use fewer levels of controllers";
                self.wrong(code::REFERENCE, child.pos, "controllers are nested too deeply", hint);
            }
            return nodes;
        }
        for child in children {
            match role(&child.class) {
                Role::Controller => nodes.push(self.controller(child, levels)),
                Role::Sampler => nodes.extend(self.sampler(child, levels)),
                Role::Group => self.refuse(child, "is not allowed here"),
                _ => {}
            }
        }
        nodes
    }

    fn controller(&mut self, raw: &Raw, levels: &mut Vec<Level>) -> Node {
        let info = self.info(raw);
        self.path.push(raw.name.clone());
        let level = self.level(&raw.children);
        levels.push(level);
        let controller = self.controller_kind(raw, levels);
        let nodes = self.nodes(&raw.children, levels);
        let at_iteration = levels.pop().map(|level| level.at_iteration).unwrap_or_default();
        self.path.pop();
        Node { info, kind: NodeKind::Controller { controller, nodes, at_iteration } }
    }

    fn controller_kind(&mut self, raw: &Raw, levels: &[Level]) -> Controller {
        match raw.class.as_str() {
            "LoopController" => {
                let loops = match self.flag(raw, "LoopController.continue_forever", true) {
                    true if raw.text("LoopController.loops").is_empty() => Text::literal("-1", raw.pos),
                    _ => self.text(raw, "LoopController.loops"),
                };
                Controller::Loop { loops }
            }
            "IfController" => Controller::If {
                condition: self.text(raw, "IfController.condition"),
                is_expression: self.flag(raw, "IfController.useExpression", false),
                evaluates_all: self.flag(raw, "IfController.evaluateAll", false),
            },
            "WhileController" => Controller::While { condition: self.text(raw, "WhileController.condition") },
            "ForeachController" => Controller::ForEach {
                input: self.text(raw, "ForeachController.inputVal"),
                output: self.text(raw, "ForeachController.returnVal"),
                start: self.text(raw, "ForeachController.startIndex"),
                end: self.text(raw, "ForeachController.endIndex"),
                has_separator: self.flag(raw, "ForeachController.useSeparator", true),
            },
            "SwitchController" => Controller::Switch { value: self.text(raw, "SwitchController.value") },
            "OnceOnlyController" => Controller::OnceOnly,
            "InterleaveControl" => Controller::Interleave {
                ignores_subcontrollers: self.ignores_subcontrollers(raw),
                is_across_threads: self.flag(raw, "InterleaveControl.accrossThreads", false),
            },
            "RandomController" => {
                Controller::Random { ignores_subcontrollers: self.ignores_subcontrollers(raw) }
            }
            "RandomOrderController" => Controller::RandomOrder,
            "ThroughputController" => self.throughput(raw),
            "RunTime" => Controller::Runtime { seconds: self.text(raw, "RunTime.seconds") },
            "TransactionController" => Controller::Transaction {
                has_parent_sample: self.flag(raw, "TransactionController.parent", false),
                includes_timers: self.flag(raw, "TransactionController.includeTimers", true),
                assertions: inward(levels, |level| &level.assertions),
                result_files: inward(levels, |level| &level.result_files),
            },
            "CriticalSectionController" => {
                Controller::Critical { lock: self.text(raw, "CriticalSectionController.lockName") }
            }
            _ => Controller::Simple,
        }
    }

    fn ignores_subcontrollers(&mut self, raw: &Raw) -> bool {
        self.choice(raw, "InterleaveControl.style") != "1"
    }

    fn throughput(&mut self, raw: &Raw) -> Controller {
        let quota = match self.choice(raw, "ThroughputController.style").as_str() {
            "1" => Quota::Percent(self.number(raw, "ThroughputController.percentThroughput")),
            _ => Quota::Total(self.number(raw, "ThroughputController.maxThroughput")),
        };
        Controller::Throughput { quota, is_per_user: self.flag(raw, "ThroughputController.perThread", false) }
    }

    /// Returns a number, which older versions wrote as a property in a property.
    pub(super) fn number(&mut self, raw: &Raw, name: &str) -> Text {
        match raw.find(name) {
            Some(property) if !property.items().is_empty() => {
                let value = property.find("value").map(|value| (value.text().trim().to_owned(), value.pos));
                value.map(|(value, pos)| self.compiled(&value, pos)).unwrap_or_default()
            }
            _ => self.text(raw, name),
        }
    }
}
