//! Exports of CommonJS modules, as far as assignments show them.

use super::Scanner;
use super::tree::{key_name, literal_argument};
use oxc_ast::ast::{Argument, AssignmentExpression, AssignmentTarget, CallExpression, Expression};

impl<'a> Scanner<'a, '_> {
    /// Reads `exports.name = …` and `module.exports = { name, … }`.
    pub fn assignment(&mut self, assignment: &AssignmentExpression<'a>) {
        if self.out.is_es {
            return;
        }
        let AssignmentTarget::StaticMemberExpression(target) = &assignment.left else { return };
        if self.is_exports(&target.object) {
            self.visible_export(target.property.name.to_string(), target.span.start);
        } else if self.is_module_exports(&target.object, &target.property.name)
            && let Expression::ObjectExpression(object) = &assignment.right
        {
            for property in &object.properties {
                if let Some(property) = property.as_property()
                    && let Some(name) = key_name(&property.key, property.computed)
                {
                    self.visible_export(name, property.span.start);
                }
            }
        }
    }

    /// Reads `Object.defineProperty(exports, "name", …)`, as compilers write it.
    pub fn defined_export(&mut self, call: &CallExpression<'a>) {
        if self.out.is_es || !self.is_call_of(call, &[("Object", "defineProperty")]) {
            return;
        }
        let target = call.arguments.first().and_then(Argument::as_expression);
        if target.is_some_and(|target| self.is_exports(target))
            && let Some((name, span)) = literal_argument(call.arguments.get(1))
        {
            self.visible_export(name, span.start);
        }
    }

    fn is_exports(&self, object: &Expression<'a>) -> bool {
        match object {
            Expression::Identifier(name) => name.name == "exports" && self.is_free_reference(name),
            Expression::StaticMemberExpression(member) => {
                self.is_module_exports(&member.object, &member.property.name)
            }
            _ => false,
        }
    }

    fn is_module_exports(&self, object: &Expression<'a>, member: &str) -> bool {
        member == "exports"
            && matches!(object, Expression::Identifier(name) if name.name == "module" && self.is_free_reference(name))
    }

    fn visible_export(&mut self, name: String, at: u32) {
        if name != "__esModule" && !self.out.visible.iter().any(|one| one.0 == name) {
            let at = self.at(at);
            self.out.visible.push((name, at));
        }
    }
}
