//! Compiled schemas: JSON Schema, and the responses that an OpenAPI document describes.

use jsonschema::{Draft, Validator};
use plimsoll_plan::answer::{Described, Dialect, Schema};
use serde_json::Value;
use std::fmt;

/// Maximum number of characters of a reason.
const REASON_CHARS_MAX: usize = 320;

/// A compiled [`Schema`].
pub struct CompiledSchema(Box<Validator>);

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompiledSchema")
    }
}

impl CompiledSchema {
    /// # Errors
    /// Returns an error if the text is not a schema, or if it refers to another document.
    pub fn compile(schema: &Schema) -> Result<CompiledSchema, String> {
        let value: Value =
            serde_json::from_str(&schema.text).map_err(|e| format!("the schema is not JSON: {e}"))?;
        let options = match schema.dialect {
            Dialect::Own => jsonschema::options(),
            Dialect::Draft4 => jsonschema::options().with_draft(Draft::Draft4),
            Dialect::Draft202012 => jsonschema::options().with_draft(Draft::Draft202012),
        };
        let built =
            options.build(&value).map_err(|e| format!("invalid schema at `{}`: {e}", e.instance_path()))?;
        Ok(CompiledSchema(Box::new(built)))
    }

    /// Returns the place of the first mistake in a value, and what is wrong there, without the value itself.
    pub fn mistake(&self, value: &Value) -> Option<String> {
        let error = self.0.iter_errors(value).next()?;
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the body".to_owned() } else { format!("`{place}`") };
        let reason: String = error.masked().to_string().chars().take(REASON_CHARS_MAX).collect();
        Some(format!("{place} does not fit the schema: {reason}"))
    }

    pub fn accepts(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }
}

/// Compiled [`Described`].
#[derive(Debug)]
pub struct Responses {
    operation: String,
    all: Vec<Response>,
}

#[derive(Debug)]
struct Response {
    statuses: (u16, u16),
    schema: Option<CompiledSchema>,
}

impl Responses {
    /// # Errors
    /// Returns an error if a schema is invalid.
    pub fn compile(described: &Described) -> Result<Responses, String> {
        let mut all = Vec::new();
        for response in &described.responses {
            let schema = response.schema.as_deref().map(CompiledSchema::compile).transpose();
            let schema = schema
                .map_err(|e| format!("{}, status {}: {e}", described.operation, response.statuses.0))?;
            all.push(Response { statuses: response.statuses, schema });
        }
        Ok(Responses { operation: described.operation.clone(), all })
    }

    /// Returns the schema of a status.
    ///
    /// # Errors
    /// Returns an error if the document does not describe this status.
    pub fn of(&self, status: u16) -> Result<Option<&CompiledSchema>, String> {
        let holds = |(low, high): (u16, u16)| (low..=high).contains(&status);
        match self.all.iter().find(|response| holds(response.statuses)) {
            Some(response) => Ok(response.schema.as_ref()),
            None => Err(format!("the document describes no status `{status}` for `{}`", self.operation)),
        }
    }
}

/// A schema for scripts that validate their own values.
pub struct ValueSchema(Box<Validator>);

impl fmt::Debug for ValueSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ValueSchema")
    }
}

impl ValueSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Returns an error if the text is not a schema, or if it refers to another document.
    pub fn compile(text: &str) -> Result<ValueSchema, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| format!("the schema is not JSON: {e}"))?;
        let built = jsonschema::options().build(&value);
        let built = built.map_err(|e| format!("invalid schema at `{}`: {e}", e.instance_path()))?;
        Ok(ValueSchema(Box::new(built)))
    }

    /// Returns all mistakes of a JSON text: place as a JSON pointer, message, and the keyword of the schema.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn mistakes(&self, json: &str) -> Result<Vec<[String; 3]>, String> {
        let value: Value = serde_json::from_str(json).map_err(|e| format!("the value is not JSON: {e}"))?;
        let errors = self.0.iter_errors(&value);
        let described = errors.map(|error| {
            let path = error.schema_path().to_string();
            let keyword = path.rsplit('/').next().unwrap_or_default().to_owned();
            [error.instance_path().to_string(), error.to_string(), keyword]
        });
        Ok(described.collect())
    }
}
