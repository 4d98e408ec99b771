//! The methods of a schema, for programs that choose one by its name.

use super::types::Types;
use std::sync::Arc;

/// All methods and types of a schema.
#[derive(Debug, Clone, Default)]
pub struct Schemas {
    pub types: Arc<Types>,
    pub methods: Vec<Method>,
}

/// A method of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// The package; may be empty.
    pub package: String,
    /// The name of the service without the package.
    pub service: String,
    pub name: String,
    /// As in a request, such as `/shop.v1.Shop/GetItem`.
    pub path: String,
    /// The type of its messages, an index into the messages of the types.
    pub request: usize,
    /// The type of its responses, likewise.
    pub response: usize,
    /// Whether the client sends a stream of messages.
    pub has_request_stream: bool,
    /// Whether the server sends a stream of messages.
    pub has_response_stream: bool,
}

impl Schemas {
    /// Returns a method by its path, with or without the leading slash.
    pub fn method(&self, path: &str) -> Option<&Method> {
        let path = path.strip_prefix('/').unwrap_or(path);
        self.methods.iter().find(|method| method.path[1..] == *path)
    }
}
