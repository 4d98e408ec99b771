//! The codes of mistakes in scripts, each with the function that makes its diagnostic.

use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

/// A file that cannot be read, or whose text is not UTF-8.
pub const UNREADABLE: &str = "K001";
/// Invalid JavaScript or TypeScript.
pub const SYNTAX: &str = "K002";
/// A specifier of a package, or one that means nothing.
pub const PACKAGE: &str = "K003";
/// An address of a module that is not built in.
pub const REMOTE: &str = "K004";
/// A built-in module that does not exist or is not supported.
pub const BUILTIN: &str = "K005";
/// An import of a name that the module does not export.
pub const MISSING_EXPORT: &str = "K006";
/// An assignment to an imported name.
pub const ASSIGNED_IMPORT: &str = "K007";
/// A specifier that is computed at run time.
pub const COMPUTED: &str = "K008";
/// `await` outside of a function.
pub const TOP_LEVEL_AWAIT: &str = "K009";
/// Syntax that plimsoll does not support: JSX, decorators, other kinds of imports.
pub const UNSUPPORTED: &str = "K010";
/// A JSON module that is not JSON.
pub const JSON: &str = "K011";
/// An archive that is not one.
pub const ARCHIVE: &str = "K012";

/// Message and help line for JSX.
pub const JSX: (&str, &str) = ("JSX is not supported", "compile it to JavaScript with a bundler");

/// Returns a diagnostic.
pub fn at(
    code: &'static str,
    place: Place,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(code, place, message, hint)
}
