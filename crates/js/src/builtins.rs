//! Which specifiers of imports are modules that come with the program.

use crate::modules;
use plimsoll_bundle::{Builtin, Builtins};
use plimsoll_plan::Problem;

/// The modules of k6, and libraries.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

impl Builtins for BuiltIn {
    fn resolve(&self, specifier: &str) -> Builtin {
        if modules::text(specifier).is_some() {
            return Builtin::Known(specifier.to_owned());
        }
        match specifier == "k6" || specifier.starts_with("k6/") {
            true => Builtin::Refused(Problem::new(
                format!("module `{specifier}` is not supported"),
                "remove the import, or run this script with k6",
            )),
            false => Builtin::Unknown,
        }
    }
}
