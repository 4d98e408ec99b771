//! Schemas of gRPC services for people: what there is, definitions in the language of Protocol Buffers, and example
//! messages.

mod example;
mod text;

use crate::own::{ReadSource, compiled, compiled_sources, schemas};
use plimsoll_build::nearest::nearest;
use plimsoll_plan::grpc::Schemas;
use plimsoll_plan::{Diagnostic, Problem};
use prost_reflect::{DescriptorPool, MethodDescriptor, ServiceDescriptor};
use std::path::PathBuf;
use std::sync::Arc;

/// All schemas of a server, or of files.
pub struct Proto {
    pool: DescriptorPool,
}

impl Proto {
    /// Reads a compiled set of schemas (`google.protobuf.FileDescriptorSet`).
    ///
    /// # Errors
    /// Returns an error if it is invalid.
    pub fn of_set(set: &[u8]) -> Result<Proto, Problem> {
        let invalid = |error| Problem::plain(format!("invalid schemas: {error}"));
        DescriptorPool::decode(set).map(|pool| Proto { pool }).map_err(invalid)
    }

    /// Compiles `.proto` files. Imports are looked up in `folders`, and then in the directories of the files.
    ///
    /// # Errors
    /// Returns every mistake with its place.
    pub fn of_files(files: &[String], folders: &[String]) -> Result<Proto, Vec<Diagnostic>> {
        compiled(files, folders).map(|pool| Proto { pool })
    }

    /// Compiles `.proto` files that `read` reads, by their names below one of the folders, as imports have them.
    ///
    /// # Errors
    /// Returns the first mistake in one line, with its place.
    pub fn of_sources(
        names: &[String],
        folders: &[PathBuf],
        read: &Arc<ReadSource>,
    ) -> Result<Proto, String> {
        compiled_sources(names, folders, read).map(|pool| Proto { pool })
    }

    /// Returns all types and methods, for programs.
    pub fn schemas(&self) -> Schemas {
        schemas(&self.pool)
    }

    /// Returns the schemas as a compiled set, which `descriptor_sets` may name.
    pub fn set(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    /// Returns the methods of each service, in full names.
    pub fn services(&self) -> Vec<(String, Vec<String>)> {
        let methods = |service: &ServiceDescriptor| service.methods().map(|one| path_of(&one)).collect();
        self.pool.services().map(|service| (service.full_name().to_owned(), methods(&service))).collect()
    }

    /// Describes a service, a method, a message, or an enumeration as text; a method with its messages and an example.
    ///
    /// # Errors
    /// Returns an error if there is no such name.
    pub fn describe(&self, name: &str) -> Result<String, Problem> {
        let name = name.trim_start_matches('/');
        if let Some(service) = self.pool.get_service_by_name(name) {
            return Ok(text::service(&service));
        }
        let dotted = name.replace('/', ".");
        let method = dotted.rsplit_once('.').and_then(|(service, method)| {
            self.pool.get_service_by_name(service)?.methods().find(|known| known.name() == method)
        });
        if let Some(method) = method {
            return Ok(described(&method));
        }
        if let Some(message) = self.pool.get_message_by_name(name) {
            let example = example::of(&message);
            return Ok(format!("{}\n# an example as JSON\n{example}\n", text::message(&message)));
        }
        if let Some(of) = self.pool.get_enum_by_name(name) {
            return Ok(text::enumeration(&of));
        }
        let services = self.pool.services().flat_map(|service| {
            let methods: Vec<String> = service.methods().map(|method| path_of(&method)).collect();
            std::iter::once(service.full_name().to_owned()).chain(methods)
        });
        let messages = self.pool.all_messages().map(|message| message.full_name().to_owned());
        let all: Vec<String> = services.chain(messages).collect();
        let hint = match nearest(name, all.iter().map(String::as_str)) {
            Some(right) => format!("did you mean `{right}`?"),
            None => "list all names with `plimsoll grpc list`".into(),
        };
        Err(Problem::new(format!("unknown service, method, or type `{name}`"), hint))
    }
}

fn path_of(method: &MethodDescriptor) -> String {
    format!("{}/{}", method.parent_service().full_name(), method.name())
}

fn described(method: &MethodDescriptor) -> String {
    let mut parts = vec![text::method(method, 0)];
    let mut shown = Vec::new();
    for message in [method.input(), method.output()] {
        if !shown.contains(&message) {
            parts.push(text::message(&message));
            shown.push(message);
        }
    }
    let example = example::of(&method.input());
    parts.push(format!("# a message of {} as JSON\n{example}\n", path_of(method)));
    parts.join("\n")
}
