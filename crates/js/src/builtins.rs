//! Which specifiers of imports are modules that come with the program.

use crate::modules;
use plimsoll_bundle::{Builtin, Builtins};
use plimsoll_plan::Problem;

/// The modules of k6, and libraries.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

/// The same, where an address that is not a known library is fetched.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltInOrRemote;

impl Builtins for BuiltInOrRemote {
    fn resolve(&self, specifier: &str) -> Builtin {
        match BuiltIn.resolve(specifier) {
            Builtin::Refused(_) if specifier.starts_with("https://") => Builtin::Unknown,
            other => other,
        }
    }
}

impl Builtins for BuiltIn {
    fn resolve(&self, specifier: &str) -> Builtin {
        match modules::resolve(specifier) {
            modules::Builtin::Known(name) => Builtin::Known(name.into()),
            modules::Builtin::Refused { reason, hint } => Builtin::Refused(Problem::new(reason, hint)),
            modules::Builtin::Unknown => Builtin::Unknown,
        }
    }
}
