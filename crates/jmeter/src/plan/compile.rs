//! Compiles the tree of a plan into flat lists.

use super::compile_element::Elements;
use super::{Child, Group, Kind, Node, NodeId, Plan, Sampler, SamplerKind, Transaction};
use crate::template::{Compiler, Template};
use plimsoll_jmx::plan::{self as jmx, Controller, NodeKind, TestPlan};
use plimsoll_jmx::text::{Part, Text};
use std::sync::Mutex;
use std::sync::atomic::AtomicI64;

/// Compiles a plan. The compiler then has the names of all variables.
pub fn compile(plan: &TestPlan) -> (Plan, Compiler) {
    let mut elements = Elements::default();
    elements.compiler.properties = (!plan.changes_properties).then(|| plan.properties.clone());
    let groups = plan.groups.iter().map(|group| of_group(group, &mut elements)).collect();
    let mut compiled = Plan {
        groups,
        slots: elements.slots as usize,
        csv_count: elements.csv_count,
        cookie_managers: std::mem::take(&mut elements.cookie_managers),
        cache_managers: std::mem::take(&mut elements.cache_managers),
        keeps_previous: elements.reads_previous,
        keeps_content: elements.reads_previous || elements.writes_content,
        writes_results: elements.writes_results,
        keeps_checks: elements.writes_checks,
        is_serial: plan.is_serial,
        tears_down_on_stop: plan.tears_down_on_stop,
    };
    let mut compiler = elements.compiler;
    let is_debug = |sampler: &Sampler| matches!(sampler.kind, SamplerKind::Debug { variables: true, .. });
    let lists_variables = compiled.groups.iter().flat_map(|group| &group.samplers).any(is_debug);
    // Only a plan that reads the index of a controller pays for setting it.
    for group in &mut compiled.groups {
        for node in &mut group.nodes {
            let name = format!("__jm__{}__idx", node.name.fixed().unwrap_or_default());
            let is_loop =
                matches!(node.kind, Kind::Group | Kind::Loop(_) | Kind::While(_) | Kind::ForEach { .. });
            // A Debug Sampler lists them all.
            node.index_variable = match lists_variables && is_loop {
                true => Some(compiler.names.intern(&name)),
                false => compiler.names.find(&name),
            };
        }
    }
    compiler.names.intern("JMeterThread.last_sample_ok");
    (compiled, compiler)
}

fn of_group(group: &jmx::Group, elements: &mut Elements) -> Group {
    let mut tree = Tree { nodes: Vec::new(), samplers: Vec::new(), elements };
    let root = tree.node(Kind::Group, Template::literal(&group.title), None, &group.at_iteration);
    tree.children(root, &group.nodes);
    let Tree { nodes, samplers, .. } = tree;
    Group {
        title: group.title.as_str().into(),
        phase: group.phase,
        number: group.number,
        on_error: group.on_error,
        is_same_user: group.is_same_user,
        load: group.load.clone(),
        nodes,
        samplers,
    }
}

struct Tree<'e> {
    nodes: Vec<Node>,
    samplers: Vec<Sampler>,
    elements: &'e mut Elements,
}

impl Tree<'_> {
    fn node(
        &mut self,
        kind: Kind,
        name: Template,
        parent: Option<NodeId>,
        configs: &jmx::Elements<jmx::Config>,
    ) -> NodeId {
        // JMeter adds listeners of iterations at the front, so that the last one runs first.
        let at_iteration = configs.iter().rev().map(|config| self.elements.config(config)).collect();
        self.nodes.push(Node {
            kind,
            children: Vec::new(),
            parent,
            at_iteration,
            name,
            index_variable: None,
        });
        (self.nodes.len() - 1) as NodeId
    }

    fn children(&mut self, parent: NodeId, nodes: &[jmx::Node]) {
        for node in nodes {
            let child = match &node.kind {
                NodeKind::Sampler(sampler) => {
                    let sampler = self.sampler(&node.info, sampler, parent);
                    self.samplers.push(sampler);
                    Child::Sampler((self.samplers.len() - 1) as u32)
                }
                NodeKind::Controller { controller, nodes, at_iteration } => {
                    let kind = self.kind(controller);
                    let name = self.elements.compiler.text(&node.info.name);
                    let id = self.node(kind, name, Some(parent), at_iteration);
                    self.children(id, nodes);
                    Child::Node(id)
                }
            };
            self.nodes[parent as usize].children.push(child);
        }
    }

    fn kind(&mut self, controller: &Controller) -> Kind {
        let elements = &mut *self.elements;
        let mut text = |text: &Text| elements.compiler.text(text);
        match controller {
            Controller::Simple => Kind::Simple,
            Controller::Loop { loops } => Kind::Loop(text(loops)),
            Controller::If { condition, is_expression, evaluates_all } => Kind::If {
                condition: text(condition),
                is_expression: *is_expression,
                evaluates_all: *evaluates_all,
            },
            Controller::While { condition } => Kind::While(text(condition)),
            Controller::ForEach { input, output, start, end, has_separator } => Kind::ForEach {
                input: text(input),
                output: text(output),
                start: text(start),
                end: text(end),
                separator: if *has_separator { "_" } else { "" },
            },
            Controller::Switch { value } => Kind::Switch(text(value)),
            Controller::OnceOnly => Kind::OnceOnly,
            Controller::Interleave { ignores_subcontrollers, is_across_threads } => Kind::Interleave {
                takes_samplers: *ignores_subcontrollers,
                is_across_threads: *is_across_threads,
                next: AtomicI64::new(0),
            },
            Controller::Random { ignores_subcontrollers } => {
                Kind::Random { takes_samplers: *ignores_subcontrollers }
            }
            Controller::RandomOrder => Kind::RandomOrder,
            Controller::Throughput { quota, is_per_user } => {
                let (limit, is_total) = match quota {
                    jmx::Quota::Total(limit) => (text(limit), true),
                    jmx::Quota::Percent(limit) => (text(limit), false),
                };
                Kind::Throughput { limit, is_total, is_per_user: *is_per_user, shared: Mutex::new((0, -1)) }
            }
            Controller::Runtime { seconds } => Kind::Runtime(text(seconds)),
            Controller::Transaction { has_parent_sample, includes_timers, assertions, result_files } => {
                Kind::Transaction(Box::new(Transaction {
                    has_parent_sample: *has_parent_sample,
                    includes_timers: *includes_timers,
                    assertions: assertions.iter().map(|one| self.elements.assertion(one)).collect(),
                    result_files: result_files.iter().map(|one| self.elements.result_file(one)).collect(),
                }))
            }
            Controller::Critical { lock } => Kind::Critical(text(lock)),
        }
    }

    fn sampler(&mut self, info: &jmx::Info, sampler: &jmx::Sampler, parent: NodeId) -> Sampler {
        let elements = &mut *self.elements;
        let scope = &sampler.scope;
        let kind = match &sampler.kind {
            jmx::SamplerKind::Http(http) => SamplerKind::Http(Box::new(elements.http(http))),
            jmx::SamplerKind::Debug { variables, properties } => {
                SamplerKind::Debug { variables: *variables, properties: *properties }
            }
            jmx::SamplerKind::Action { action, target, pause_ms } => SamplerKind::Action {
                action: *action,
                target: *target,
                pause_ms: elements.compiler.text(pause_ms),
            },
            jmx::SamplerKind::Script(script) => SamplerKind::Script(elements.code(script, info)),
            jmx::SamplerKind::Java { class, arguments } => {
                SamplerKind::Java { class: *class, arguments: elements.pairs(arguments) }
            }
            jmx::SamplerKind::Socket(socket) => SamplerKind::Socket(Box::new(elements.socket(socket))),
            jmx::SamplerKind::Set(pairs) => SamplerKind::Set(elements.pairs(pairs)),
        };
        let mut reads = Reads::of(scope);
        reads.body |= matches!(&kind, SamplerKind::Http(http) if http.resources.is_some());
        elements.reads_previous |= scope
            .pre
            .iter()
            .any(|pre| matches!(pre.kind, jmx::PreProcessor::Rewriting(_) | jmx::PreProcessor::Script(_)));
        elements.reads_previous |= matches!(sampler.kind, jmx::SamplerKind::Script(_));
        elements.reads_previous |= reads_previous(&info.name);
        let headers: Vec<(Template, Template)> = scope
            .headers
            .iter()
            .map(|header| (elements.compiler.text(&header.name), elements.compiler.text(&header.value)))
            .collect();
        let has_fixed_headers =
            headers.iter().all(|(name, value)| name.fixed().is_some() && value.fixed().is_some());
        // Arguments that a pre-processor replaces change.
        let is_replaced = scope.pre.iter().any(|pre| matches!(pre.kind, jmx::PreProcessor::Replacement(_)));
        let is_fixed =
            has_fixed_headers && !is_replaced && matches!(&kind, SamplerKind::Http(http) if http.is_fixed());
        let has_fixed_base =
            has_fixed_headers && matches!(&kind, SamplerKind::Http(http) if http.has_fixed_base());
        Sampler {
            kind,
            is_fixed,
            has_fixed_base,
            label: elements.compiler.text(&info.name),
            parent,
            headers,
            cookies: scope.cookies.as_ref().map(|manager| elements.cookie_manager(manager)),
            cache: scope.cache.as_ref().map(|manager| elements.cache_manager(manager)),
            auth: scope.auth.as_ref().map(|manager| elements.auth_manager(manager)),
            pre: scope.pre.iter().map(|one| elements.pre_processor(one)).collect(),
            timers: scope.timers.iter().map(|one| elements.timer(one)).collect(),
            post: scope.post.iter().map(|one| elements.post_processor(one)).collect(),
            assertions: scope.assertions.iter().map(|one| elements.assertion(one)).collect(),
            actions: scope.actions.iter().map(|one| one.kind).collect(),
            savers: scope.savers.iter().map(|one| elements.result_saver(one)).collect(),
            result_files: scope.result_files.iter().map(|one| elements.result_file(one)).collect(),
            reads_body: reads.body,
            reads_head: reads.head,
            reads_request: reads.request,
        }
    }
}

/// Returns whether a text calls a function that reads the last sample.
pub fn reads_previous(text: &Text) -> bool {
    let mut reads = false;
    text.visit(&mut |part| {
        if let Part::Call(call) = part {
            reads |= matches!(call.name.as_str(), "__regexFunction" | "__jexl3" | "__jexl2" | "__groovy");
        }
    });
    reads
}

/// What the elements in scope read of a sample.
#[derive(Default)]
struct Reads {
    body: bool,
    head: bool,
    request: bool,
}

impl Reads {
    fn of(scope: &jmx::Scope) -> Reads {
        use jmx::{Assertion, Field, Match, PostProcessor, ResponseField, Subject};
        let mut reads = Reads { body: !scope.savers.is_empty(), head: false, request: false };
        for post in &scope.post {
            match &post.kind {
                PostProcessor::Script(_) => (reads.body, reads.request) = (true, true),
                PostProcessor::Debug => {}
                PostProcessor::Extract(extract) if matches!(extract.subject, Subject::Variable(_)) => {}
                PostProcessor::Extract(extract) => match &extract.matcher {
                    Match::Regex { field, .. } | Match::Boundary { field, .. } => {
                        reads.body |= matches!(field, Field::Body | Field::UnescapedBody | Field::Document);
                        reads.head |= matches!(field, Field::ResponseHeaders);
                        reads.request |= matches!(field, Field::RequestHeaders);
                    }
                    _ => reads.body = true,
                },
            }
        }
        for assertion in &scope.assertions {
            match &assertion.kind {
                Assertion::Response { field, subject, .. } if !matches!(subject, Subject::Variable(_)) => {
                    reads.body |= matches!(field, ResponseField::Body | ResponseField::Document);
                    reads.head |= matches!(field, ResponseField::ResponseHeaders);
                    reads.request |=
                        matches!(field, ResponseField::RequestHeaders | ResponseField::RequestData);
                }
                // Sizes are counted without the texts.
                Assertion::Response { .. } | Assertion::Duration { .. } | Assertion::Size { .. } => {}
                Assertion::Script(_) => (reads.body, reads.request) = (true, true),
                _ => reads.body = true,
            }
        }
        reads
    }
}
