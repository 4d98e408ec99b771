//! How a module uses what it imports: the members that it names, and the places that hide them.

use super::tree::End;
use super::{NeedAt, Origin, Scanner, Use};
use crate::isolation::Need;
use oxc_ast::AstKind;
use oxc_ast::ast::BindingPattern;
use oxc_semantic::{NodeId, SymbolId};
use oxc_span::GetSpan;

/// The variables that a value fills.
enum Filled {
    Variable(SymbolId),
    Members(Vec<(String, Option<SymbolId>, u32)>),
    Nothing,
}

impl<'a> Scanner<'a, '_> {
    /// Visits each reference to an imported name, and to the variables that are filled from one.
    pub fn visit_uses(&mut self) {
        let mut open: Vec<SymbolId> = self.origins.keys().copied().collect();
        open.sort();
        let mut next = 0;
        while let Some(symbol) = open.get(next).copied() {
            next += 1;
            let Some(origin) = self.origins.get(&symbol).cloned() else { continue };
            // The import itself is a use of its name.
            if !origin.path.is_empty() {
                let at = self.semantic.scoping().symbol_span(symbol).start;
                self.use_of(origin.request, &origin.path, false, at);
            }
            let references = self.semantic.scoping().get_resolved_references(symbol);
            let nodes: Vec<NodeId> = references.map(|reference| reference.node_id()).collect();
            for node in nodes {
                for (alias, origin) in self.visit_use(node, &origin) {
                    if self.origins.insert(alias, origin).is_none() {
                        open.push(alias);
                    }
                }
            }
        }
    }

    /// Notes one use, and returns the variables that it fills.
    fn visit_use(&mut self, node: NodeId, origin: &Origin) -> Vec<(SymbolId, Origin)> {
        let at = self.kind(node).span().start;
        let request = origin.request;
        if matches!(self.semantic.nodes().parent_kind(node), AstKind::ExportSpecifier(_)) {
            self.use_computed(request, at);
            return Vec::new();
        }
        let chain = self.chain(node);
        let mut path = origin.path.clone();
        path.extend(chain.path.iter().cloned());
        if path.first().is_some_and(|first| first == "default") {
            path.remove(0);
        }
        let is_changed = chain.end == End::Written || self.is_changed(chain.last);
        if is_changed && !self.is_own_state(request, &path) {
            self.out.needs.push(NeedAt {
                need: Need::Context,
                why: format!("it changes `{}`, which all users share", self.member_name(node, &chain.path)),
                at: self.at(at),
                if_builtin: Some(request),
            });
        }
        if !path.is_empty() {
            self.use_of(request, &path, chain.end == End::Called, at);
        }
        match self.filled(chain.last) {
            Filled::Variable(symbol) => vec![(symbol, Origin { request, path })],
            Filled::Members(names) => {
                let mut aliases = Vec::new();
                for (name, symbol, at) in names {
                    let path = [path.clone(), vec![name]].concat();
                    self.use_of(request, &path, false, at);
                    aliases.extend(symbol.map(|symbol| (symbol, Origin { request, path })));
                }
                aliases
            }
            Filled::Nothing => {
                if path.is_empty() && chain.end == End::Called {
                    self.use_of(request, &["default".into()], true, at);
                } else if path.is_empty() {
                    self.use_computed(request, at);
                }
                Vec::new()
            }
        }
    }

    /// Returns whether a member of a module belongs to one user: `exec.vu.tags.name = "value"`.
    fn is_own_state(&self, request: usize, path: &[String]) -> bool {
        let is_execution = self.out.requests[request].specifier == "k6/execution";
        is_execution && path.len() > 1 && path[0] == "vu"
    }

    /// Returns the variables that are declared with a value: `const a = value`, `const { a } = value`.
    fn filled(&self, value: NodeId) -> Filled {
        if let Some(names) = self.destructured(value) {
            return Filled::Members(names);
        }
        let span = self.kind(value).span();
        if let AstKind::VariableDeclarator(one) = self.kind(self.parent(value))
            && one.init.as_ref().is_some_and(|init| init.span() == span)
            && let BindingPattern::BindingIdentifier(id) = &one.id
            && let Some(symbol) = id.symbol_id.get()
            && !self.semantic.scoping().symbol_is_mutated(symbol)
        {
            return Filled::Variable(symbol);
        }
        Filled::Nothing
    }

    /// Returns a name with its members.
    pub fn member_name(&self, node: NodeId, path: &[String]) -> String {
        let name = match self.kind(node) {
            AstKind::IdentifierReference(name) => name.name.to_string(),
            _ => String::new(),
        };
        std::iter::once(name).chain(path.iter().cloned()).collect::<Vec<_>>().join(".")
    }

    pub fn use_of(&mut self, request: usize, path: &[String], is_called: bool, at: u32) {
        let path = path.join(".");
        let at = self.at(at);
        let known =
            self.out.uses.iter_mut().find(|one| one.request == request && one.path.as_ref() == Some(&path));
        match known {
            Some(known) => {
                known.is_called |= is_called;
                known.at = known.at.min(at);
            }
            None => self.out.uses.push(Use { request, path: Some(path), is_called, at }),
        }
    }

    pub fn use_computed(&mut self, request: usize, at: u32) {
        let at = self.at(at);
        self.out.uses.push(Use { request, path: None, is_called: false, at });
    }
}
