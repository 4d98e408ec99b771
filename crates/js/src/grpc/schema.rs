//! Schemas that scripts load in their init part. All users share them.

use crate::host::Host;
use crate::source::ReadFile;
use plimsoll_plan::grpc::Schemas;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// What schemas are made from.
#[derive(Clone, Copy)]
pub enum SchemaSource<'a> {
    /// `.proto` files, by their names below one of the folders.
    Files { names: &'a [String], folders: &'a [PathBuf], read: &'a Arc<ReadFile> },
    /// A compiled set (`google.protobuf.FileDescriptorSet`).
    Set(&'a [u8]),
}

/// Compiles schemas; returns the reason why it cannot in one line.
pub type CompileSchemas = dyn Fn(SchemaSource<'_>) -> Result<Schemas, String> + Send + Sync;

impl Host {
    /// Compiles `.proto` files, once for all users; returns their number in this runtime.
    ///
    /// # Errors
    /// Returns the first mistake in one line.
    pub fn load_schemas(&self, names: &[String], folders: &[PathBuf]) -> Result<usize, String> {
        let key = format!("{names:?} {folders:?}");
        let read = &self.shared.script.read_file;
        self.schemas_of(key, || Ok(SchemaSource::Files { names, folders, read }))
    }

    /// Reads a compiled set from a file, once for all users; returns its number in this runtime.
    ///
    /// # Errors
    /// Returns the reason in one line.
    pub fn load_schema_set(&self, path: PathBuf) -> Result<usize, String> {
        let bytes = self.file(&path)?;
        self.schemas_of(path.display().to_string(), || Ok(SchemaSource::Set(&bytes)))
    }

    /// Returns the number of the schemas of the health service in this runtime.
    ///
    /// # Errors
    /// Returns the reason in one line.
    pub fn health_schemas(&self) -> Result<usize, String> {
        let read: Arc<ReadFile> = Arc::new(|_: &Path| Ok(HEALTH.as_bytes().to_vec()));
        let (names, folders) = (["health.proto".to_owned()], [PathBuf::new()]);
        let source = SchemaSource::Files { names: &names, folders: &folders, read: &read };
        self.schemas_of("grpc.health.v1".to_owned(), || Ok(source))
    }

    /// Returns the number of schemas that are known by a key.
    pub fn known_schemas(&self, key: &str) -> Option<usize> {
        let known = self.shared.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        let schemas = known.get(key).map(Arc::clone);
        drop(known);
        schemas.map(|schemas| self.number_schemas(schemas))
    }

    /// Returns the number of schemas in this runtime.
    fn number_schemas(&self, schemas: Arc<Schemas>) -> usize {
        let mut own = self.schemas.borrow_mut();
        let number = own.iter().position(|one| Arc::ptr_eq(one, &schemas)).unwrap_or(own.len());
        if number == own.len() {
            own.push(schemas);
        }
        number
    }

    /// Returns the number of schemas with a key, and compiles them if no user has done so.
    ///
    /// # Errors
    /// Returns the reason in one line.
    pub fn schemas_of<'a>(
        &self,
        key: String,
        source: impl FnOnce() -> Result<SchemaSource<'a>, String>,
    ) -> Result<usize, String> {
        let mut known = self.shared.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        let schemas = match known.get(&key) {
            Some(schemas) => Arc::clone(schemas),
            None => {
                let schemas = Arc::new((self.shared.script.compile_schemas)(source()?)?);
                known.insert(key, Arc::clone(&schemas));
                schemas
            }
        };
        drop(known);
        Ok(self.number_schemas(schemas))
    }
}

/// The schema of the health service, whose messages gRPC defines (`grpc.health.v1`).
const HEALTH: &str = r#"
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
"#;
