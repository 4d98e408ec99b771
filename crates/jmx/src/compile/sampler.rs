//! Samplers with their scopes.

use super::Compiler;
use super::level::{Level, scope};
use crate::plan::{Action, JavaClass, Node, NodeKind, Sampler, SamplerKind, Target};
use crate::text::Text;
use crate::tree::Raw;

impl Compiler<'_> {
    /// Returns a sampler; `None` if it is a script that is left out.
    pub(super) fn sampler(&mut self, raw: &Raw, levels: &mut Vec<Level>) -> Option<Node> {
        let info = self.info(raw);
        self.path.push(raw.name.clone());
        let mut own = self.level(&raw.children);
        // Elements that change with iterations belong to the nearest controller.
        if let Some(around) = levels.last_mut() {
            around.at_iteration.append(&mut own.at_iteration);
        }
        levels.push(own);
        let kind = self.sampler_kind(raw, levels);
        let scope = scope(levels);
        levels.pop();
        for child in &raw.children {
            if matches!(
                super::role::role(&child.class),
                super::role::Role::Controller | super::role::Role::Sampler
            ) {
                self.refuse(child, "below a sampler never runs");
            }
        }
        self.path.pop();
        Some(Node { info, kind: NodeKind::Sampler(Box::new(Sampler { kind: kind?, scope })) })
    }

    fn sampler_kind(&mut self, raw: &Raw, levels: &[Level]) -> Option<SamplerKind> {
        Some(match raw.class.as_str() {
            "DebugSampler" => SamplerKind::Debug {
                variables: self.flag(raw, "displayJMeterVariables", true),
                properties: self.flag(raw, "displayJMeterProperties", false),
            },
            "TestAction" => self.action(raw),
            "JSR223Sampler" | "BSFSampler" => SamplerKind::Script(self.script(raw)?),
            "BeanShellSampler" => SamplerKind::Script(self.beanshell(raw, "BeanShellSampler")?),
            "JavaSampler" => self.java(raw)?,
            "DummySampler" => self.dummy(raw),
            "SetVariablesAction" => SamplerKind::Set(self.pairs(raw, "SetVariablesAction")),
            class if super::socket::SOCKETS.contains(&class) => self.socket(raw),
            _ => SamplerKind::Http(Box::new(self.http(raw, levels))),
        })
    }

    fn action(&mut self, raw: &Raw) -> SamplerKind {
        let action = match self.choice(raw, "ActionProcessor.action").as_str() {
            "0" => Action::Stop,
            "1" | "" => Action::Pause,
            "2" => Action::StopNow,
            "3" => Action::RestartLoop,
            "4" => Action::StartNextLoop,
            "5" => Action::BreakLoop,
            other => {
                self.unsupported(raw, format!("action `{other}`"), "select an action in JMeter");
                Action::Pause
            }
        };
        let target = match self.choice(raw, "ActionProcessor.target").as_str() {
            "2" => Target::Test,
            _ => Target::Thread,
        };
        SamplerKind::Action { action, target, pause_ms: self.text(raw, "ActionProcessor.duration") }
    }

    fn java(&mut self, raw: &Raw) -> Option<SamplerKind> {
        let class = match raw.text("classname").rsplit('.').next() {
            Some("SleepTest") => JavaClass::SleepTest,
            Some("JavaTest") => JavaClass::JavaTest,
            _ => {
                let class = raw.text("classname").to_owned();
                self.refuse(raw, &format!("with the class `{class}` is not supported"));
                return None;
            }
        };
        let arguments = self.pairs(raw, "arguments");
        Some(SamplerKind::Java { class, arguments })
    }

    /// Returns names and values of arguments.
    fn pairs(&mut self, raw: &Raw, property: &str) -> Vec<(Text, Text)> {
        let items = raw.find(property).and_then(|all| all.find("Arguments.arguments")).cloned();
        let all = items.iter().flat_map(|all| all.items());
        all.map(|item| (self.text(item, "Argument.name"), self.text(item, "Argument.value"))).collect()
    }

    fn dummy(&mut self, raw: &Raw) -> SamplerKind {
        let class = JavaClass::Dummy {
            is_success: self.flag(raw, "SUCCESFULL", false),
            waits: self.flag(raw, "WAITING", false),
        };
        let names = [
            "RESPONSE_CODE",
            "RESPONSE_MESSAGE",
            "REQUEST_DATA",
            "RESPONSE_DATA",
            "RESPONSE_TIME",
            "LATENCY",
            "CONNECT",
            "URL",
        ];
        let argument = |name: &&str| (Text::literal(name, raw.pos), self.text(raw, name));
        SamplerKind::Java { class, arguments: names.iter().map(argument).collect() }
    }
}
