//! Tries schemas before the load.

use crate::sentence::short;
use plimsoll_plan::Problem;
use plimsoll_plan::answer::Dialect;

/// Tries a schema with the library that will run it.
///
/// # Errors
/// Returns an error with the place in the schema.
pub fn compiles(value: &serde_json::Value, dialect: Dialect) -> Result<(), Problem> {
    let options = jsonschema::options();
    let options = match dialect {
        Dialect::Own => options,
        Dialect::Draft4 => options.with_draft(jsonschema::Draft::Draft4),
        Dialect::Draft202012 => options.with_draft(jsonschema::Draft::Draft202012),
    };
    options.build(value).map(drop).map_err(|error| {
        let place = error.instance_path().to_string();
        let at = if place.is_empty() { String::new() } else { format!(" at `{}`", short(&place)) };
        Problem::new(
            format!("invalid JSON Schema{at}: {}", short(&error.to_string())),
            "correct the schema; a `$ref` may only point into the same document",
        )
    })
}
