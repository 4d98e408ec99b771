//! Names of exports across modules: which variable an import means, and whether its value can still change.

use crate::graph::Graph;
use crate::load::Node;
use crate::module::Target;
use crate::problem;
use crate::scan::Value;
use plimsoll_plan::Diagnostic;
use std::collections::BTreeSet;

/// What a name of a module means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A variable: an entry of the exports of an ES module.
    Variable {
        module: usize,
        export: usize,
    },
    /// A namespace, or a value that only the run knows.
    Other,
    /// Two `export *` export different variables under this name.
    Ambiguous,
    Missing,
}

/// All modules, linked.
pub struct Linker<'n> {
    pub nodes: &'n [Node],
    pub graph: Graph,
    /// Modules that wait for something while they are evaluated.
    asynchronous: Vec<bool>,
}

impl<'n> Linker<'n> {
    pub fn new(nodes: &'n [Node]) -> Self {
        let edges: Vec<Vec<usize>> = nodes.iter().map(edges).collect();
        let (graph, asynchronous) = (Graph::new(&edges), asynchronous(nodes));
        Self { nodes, graph, asynchronous }
    }

    /// Returns whether a module, or one that it imports, awaits at its top level.
    pub fn is_async(&self, module: usize) -> bool {
        self.asynchronous[module]
    }

    /// Returns whether a module must wait for the module of a request.
    pub fn is_waiting(&self, module: usize, request: usize) -> bool {
        matches!(self.nodes[module].targets[request], Target::Module(target) if self.is_async(target))
    }

    /// Returns what a request with a name means; `None` is the namespace.
    pub fn import(&self, module: usize, request: usize, name: Option<&str>) -> Meaning {
        self.followed(module, request, name, &mut Vec::new())
    }

    fn followed(
        &self,
        module: usize,
        request: usize,
        name: Option<&str>,
        seen: &mut Vec<(usize, String)>,
    ) -> Meaning {
        match (&self.nodes[module].targets[request], name) {
            (Target::Module(target), Some(name)) if self.nodes[*target].scan.is_es => {
                self.export(*target, name, seen)
            }
            (Target::Json(_), Some(name)) if name != "default" => Meaning::Missing,
            _ => Meaning::Other,
        }
    }

    fn export(&self, module: usize, name: &str, seen: &mut Vec<(usize, String)>) -> Meaning {
        if seen.iter().any(|one| one.0 == module && one.1 == name) {
            return Meaning::Missing;
        }
        seen.push((module, name.to_owned()));
        let scan = &self.nodes[module].scan;
        if let Some(export) = scan.exports.iter().position(|one| one.name == name) {
            return match &scan.exports[export].value {
                Value::Local { .. } => Meaning::Variable { module, export },
                Value::Import { request, imported } => {
                    self.followed(module, *request, imported.as_deref(), seen)
                }
            };
        }
        if name == "default" {
            return Meaning::Missing;
        }
        let mut found = Meaning::Missing;
        for (request, _) in &scan.stars {
            let next = self.followed(module, *request, Some(name), seen);
            found = match (found, next) {
                (found, Meaning::Missing) => found,
                (Meaning::Missing | Meaning::Other, next) => next,
                (found, Meaning::Other) => found,
                (found, next) if found == next => found,
                _ => Meaning::Ambiguous,
            };
        }
        found
    }

    /// Returns whether an imported name has its final value as soon as its module has been evaluated, and whether that
    /// is before the importing module.
    pub fn is_constant(&self, module: usize, request: usize, name: Option<&str>) -> bool {
        if let Target::Module(target) = self.nodes[module].targets[request]
            && self.graph.share_cycle(module, target)
        {
            return false;
        }
        match self.import(module, request, name) {
            Meaning::Variable { module, export } => match self.nodes[module].scan.exports[export].value {
                Value::Local { is_reassigned, .. } => !is_reassigned,
                Value::Import { .. } => true,
            },
            _ => true,
        }
    }

    /// Returns the names that a module exports, as far as its source shows them.
    pub fn names(&self, module: usize) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.collect(module, &mut names, &mut BTreeSet::new());
        let scan = &self.nodes[module].scan;
        names.retain(|name| {
            let meaning = self.export(module, name, &mut Vec::new());
            let is_visible = scan.visible.iter().any(|one| one.0 == *name);
            is_visible || !matches!(meaning, Meaning::Missing | Meaning::Ambiguous)
        });
        names
    }

    fn collect(&self, module: usize, names: &mut BTreeSet<String>, seen: &mut BTreeSet<usize>) {
        if !seen.insert(module) {
            return;
        }
        let scan = &self.nodes[module].scan;
        names.extend(scan.exports.iter().map(|export| export.name.clone()));
        names.extend(scan.visible.iter().map(|one| one.0.clone()));
        for (_, target) in self.star_modules(module) {
            let mut more = BTreeSet::new();
            self.collect(target, &mut more, seen);
            more.remove("default");
            names.append(&mut more);
        }
    }

    /// Returns the ES modules of `export *`, with their requests.
    fn star_modules(&self, module: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let node = &self.nodes[module];
        node.scan.stars.iter().filter_map(|(request, _)| match node.targets[*request] {
            Target::Module(target) if self.nodes[target].scan.is_es => Some((*request, target)),
            _ => None,
        })
    }

    /// Returns the names that `export *` adds to a module, with the request of each.
    pub fn star_names(&self, module: usize) -> Vec<(String, usize)> {
        let mut added: Vec<(String, usize)> = Vec::new();
        for (request, target) in self.star_modules(module) {
            for name in self.names(target) {
                let is_own = self.nodes[module].scan.exports.iter().any(|export| export.name == name);
                let is_known = added.iter().any(|one| one.0 == name);
                let meaning = self.export(module, &name, &mut Vec::new());
                let is_exported = !matches!(meaning, Meaning::Missing | Meaning::Ambiguous);
                if name != "default" && !is_own && !is_known && is_exported {
                    added.push((name, request));
                }
            }
        }
        added
    }

    /// Returns whether a module of `export *` shows its names only at run time.
    pub fn is_opaque_star(&self, module: usize, request: usize) -> bool {
        match self.nodes[module].targets[request] {
            Target::Module(target) => !self.nodes[target].scan.is_es,
            Target::Builtin(_) => true,
            Target::Json(_) | Target::Unavailable(_) => false,
        }
    }

    /// Returns whether any module asks for this one with `require`.
    pub fn is_required(&self, module: usize) -> bool {
        self.nodes.iter().any(|node| {
            let mut together = node.scan.requests.iter().zip(&node.targets);
            together.any(|(request, target)| request.is_required && *target == Target::Module(module))
        })
    }

    /// Returns every import of a name that does not exist.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut wrong = self.check_waiting();
        for (module, node) in self.nodes.iter().enumerate() {
            // TypeScript may import a type, and export it again, without saying that it is one.
            let bindings =
                node.scan.bindings.iter().filter(|one| !node.is_typescript || !one.references.is_empty());
            let bindings = bindings.map(|one| (one.request, &one.imported, one.at));
            let exports = node.scan.exports.iter().filter_map(|one| match &one.value {
                Value::Import { request, imported } if !node.is_typescript => {
                    Some((*request, imported, one.at))
                }
                _ => None,
            });
            for (request, imported, at) in bindings.chain(exports) {
                let Some(name) = imported else { continue };
                let message = match self.import(module, request, Some(name)) {
                    Meaning::Missing => "has no export",
                    Meaning::Ambiguous => "has two different exports",
                    _ => continue,
                };
                let specifier = &node.scan.requests[request].specifier;
                let next = problem::at(
                    problem::MISSING_EXPORT,
                    node.text.place(at),
                    format!("`{specifier}` {message} `{name}`"),
                    self.exports_hint(&node.targets[request]),
                );
                if !wrong.contains(&next) {
                    wrong.push(next);
                }
            }
        }
        wrong
    }

    /// Returns every module that waits where nothing can wait for it.
    fn check_waiting(&self) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        for (module, node) in self.nodes.iter().enumerate() {
            if let Some(at) = node.scan.top_level_await
                && self.graph.is_in_cycle(module)
            {
                let message = "`await` outside of a function in a module that imports itself through others";
                let hint = "move it into a function, or remove the cycle of imports";
                wrong.push(problem::at(problem::TOP_LEVEL_AWAIT, node.text.place(at), message, hint));
            }
            for (request, target) in node.scan.requests.iter().zip(&node.targets) {
                if request.is_required
                    && let Target::Module(target) = target
                    && self.is_async(*target)
                {
                    let message = format!("`require` cannot wait for `{}`, which awaits", request.specifier);
                    let place = node.text.place(request.at);
                    wrong.push(problem::at(problem::TOP_LEVEL_AWAIT, place, message, "use `import`"));
                }
            }
        }
        wrong
    }

    fn exports_hint(&self, target: &Target) -> String {
        let names = match target {
            Target::Module(target) => self.names(*target),
            Target::Json(_) => return "import the whole file: `import data from …`".into(),
            _ => BTreeSet::new(),
        };
        if names.is_empty() {
            return "export it in that module".into();
        }
        let shown: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
        let more = if names.len() > shown.len() { ", and others" } else { "" };
        format!("it exports {}{more}", shown.join(", "))
    }
}

fn edges(node: &Node) -> Vec<usize> {
    let together = node.scan.requests.iter().zip(&node.targets);
    let modules = together.filter(|(request, _)| request.is_static || request.is_required);
    modules
        .filter_map(|(_, target)| match target {
            Target::Module(target) => Some(*target),
            _ => None,
        })
        .collect()
}

/// Returns for each module whether it awaits at its top level, or imports one that does.
fn asynchronous(nodes: &[Node]) -> Vec<bool> {
    let mut out: Vec<bool> = nodes.iter().map(|node| node.scan.top_level_await.is_some()).collect();
    loop {
        let mut has_changed = false;
        for (module, node) in nodes.iter().enumerate() {
            let mut together = node.scan.requests.iter().zip(&node.targets);
            let waits = together.any(|(request, target)| {
                request.is_static && matches!(target, Target::Module(target) if out[*target])
            });
            if waits && !std::mem::replace(&mut out[module], true) {
                has_changed = true;
            }
        }
        if !has_changed {
            return out;
        }
    }
}
