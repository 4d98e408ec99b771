//! How a module uses what it imports: the members that it names, and the places that hide them.

use super::tree::End;
use super::{NeedAt, Origin, Scanner, Use};
use crate::isolation::Need;
use oxc_ast::AstKind;
use oxc_semantic::{NodeId, SymbolId};
use oxc_span::GetSpan;

impl<'a> Scanner<'a, '_> {
    /// Visits each reference to an imported name.
    pub fn visit_uses(&mut self) {
        let mut symbols: Vec<(SymbolId, Origin)> =
            self.origins.iter().map(|(symbol, origin)| (*symbol, origin.clone())).collect();
        symbols.sort_by_key(|(symbol, _)| *symbol);
        for (symbol, origin) in symbols {
            // The import itself is a use of its name.
            if !origin.path.is_empty() {
                let at = self.semantic.scoping().symbol_span(symbol).start;
                self.use_of(origin.request, &origin.path, false, at);
            }
            let references = self.semantic.scoping().get_resolved_references(symbol);
            let nodes: Vec<NodeId> = references.map(|reference| reference.node_id()).collect();
            for node in nodes {
                self.visit_use(node, &origin);
            }
        }
    }

    fn visit_use(&mut self, node: NodeId, origin: &Origin) {
        let at = self.kind(node).span().start;
        if matches!(self.semantic.nodes().parent_kind(node), AstKind::ExportSpecifier(_)) {
            return self.use_computed(origin.request, at);
        }
        let chain = self.chain(node);
        let mut path = origin.path.clone();
        path.extend(chain.path.iter().cloned());
        if path.first().is_some_and(|first| first == "default") {
            path.remove(0);
        }
        if chain.end == End::Written || self.is_changed(chain.last) {
            self.out.needs.push(NeedAt {
                need: Need::Context,
                why: format!("it changes `{}`, which all users share", self.shown(node, &chain.path)),
                at: self.at(at),
                if_builtin: Some(origin.request),
            });
        }
        if path.is_empty() {
            match self.destructured(node) {
                Some(names) => {
                    for (name, _, at) in names {
                        self.use_of(origin.request, &[name], false, at);
                    }
                }
                None if chain.end == End::Called => {
                    self.use_of(origin.request, &["default".into()], true, at)
                }
                None => self.use_computed(origin.request, at),
            }
            return;
        }
        self.use_of(origin.request, &path, chain.end == End::Called, at);
        if chain.end == End::Read && chain.last == node && path.len() == origin.path.len() {
            return;
        }
        for (name, _, at) in self.destructured(chain.last).unwrap_or_default() {
            let mut path = path.clone();
            path.push(name);
            self.use_of(origin.request, &path, false, at);
        }
    }

    /// Returns a name with its members.
    pub fn shown(&self, node: NodeId, path: &[String]) -> String {
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
