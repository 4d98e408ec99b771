//! Asks a server about itself before any load: its schemas by gRPC server reflection, and its health.

use plimsoll_engine::probe::grpc::{CallEnd, Caller};
use plimsoll_plan::Problem;
use plimsoll_plan::grpc::Status;
use plimsoll_wire::proto::{Value, put_key, put_varint, take_field, wire_type};
use std::collections::{BTreeMap, BTreeSet};

/// The services of reflection, the newest first. Their messages are the same.
const VERSIONS: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
/// Most rounds of requests for imported files: each round asks for all that are known to be missing.
const ROUNDS_MAX: usize = 100;

/// Numbers of the fields of `ServerReflectionRequest` and `ServerReflectionResponse`.
mod field {
    pub const FILE_BY_FILENAME: u32 = 3;
    pub const FILE_CONTAINING_SYMBOL: u32 = 4;
    pub const LIST_SERVICES: u32 = 7;
    pub const FILES: u32 = 4;
    pub const SERVICES: u32 = 6;
    pub const ERROR: u32 = 7;
}

/// What a server knows about its schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reflected {
    /// The full names of its services, in its order.
    pub services: Vec<String>,
    /// The files that define them and all that these import, as a `google.protobuf.FileDescriptorSet`.
    pub set: Vec<u8>,
}

/// Asks a server for the schemas of all its services.
///
/// # Errors
/// Returns an error if the server does not offer reflection, or answers with something else.
pub fn schemas(caller: &mut Caller) -> Result<Reflected, Problem> {
    let (path, listed) = list(caller)?;
    let mut services = Vec::new();
    for message in &listed.messages {
        each(message, |number, value| match (number, value) {
            (field::SERVICES, Value::Bytes(list)) => each(list, |number, value| match (number, value) {
                (1, Value::Bytes(service)) => each(service, |number, value| {
                    if let (1, Value::Bytes(name)) = (number, value) {
                        services.push(String::from_utf8_lossy(name).into_owned());
                    }
                    Ok(())
                }),
                _ => Ok(()),
            }),
            (field::ERROR, Value::Bytes(error)) => Err(refusal(error)),
            _ => Ok(()),
        })?;
    }
    let mut files = Files::default();
    let symbols = services.iter().map(|name| request(field::FILE_CONTAINING_SYMBOL, name));
    // A service without a schema is listed, and cannot be called.
    files.add(&caller.call(&path, &symbols.collect::<Vec<_>>())?)?;
    for _ in 0..ROUNDS_MAX {
        let missing: Vec<String> = files.missing().map(str::to_owned).collect();
        if missing.is_empty() {
            return Ok(Reflected { services, set: files.set() });
        }
        let names = missing.iter().map(|name| request(field::FILE_BY_FILENAME, name));
        files.add(&caller.call(&path, &names.collect::<Vec<_>>())?)?;
        if let Some(name) = missing.iter().find(|name| !files.all.contains_key(*name)) {
            return Err(Problem::plain(format!("its schemas import `{name}`, which it does not have")));
        }
    }
    Err(Problem::plain("its schemas import too many files"))
}

/// Returns the method that answers, and the list of services.
fn list(caller: &mut Caller) -> Result<(String, CallEnd), Problem> {
    for version in VERSIONS {
        let path = format!("/{version}/ServerReflectionInfo");
        let end = caller.call(&path, &[request(field::LIST_SERVICES, "*")])?;
        match end.status {
            Status::Ok => return Ok((path, end)),
            Status::Unimplemented => {}
            _ => {
                return Err(Problem::plain(format!("it rejected server reflection with {}", end.describe())));
            }
        }
    }
    Err(Problem::new(
        "it does not offer server reflection (UNIMPLEMENTED)",
        "enable reflection in the server, or name the schemas as files",
    ))
}

/// Returns a request for reflection with one field.
fn request(number: u32, value: &str) -> Vec<u8> {
    let mut message = Vec::new();
    put_key(number, wire_type::BYTES, &mut message);
    put_varint(value.len() as u64, &mut message);
    message.extend_from_slice(value.as_bytes());
    message
}

fn refusal(error: &[u8]) -> Problem {
    let mut text = String::from("an unknown error");
    let _ = each(error, |number, value| {
        if let (2, Value::Bytes(found)) = (number, value) {
            text = String::from_utf8_lossy(found).into_owned();
        }
        Ok(())
    });
    Problem::plain(format!("it rejected server reflection: {text}"))
}

/// Calls `of` for each field of a message.
fn each(
    mut message: &[u8],
    mut of: impl FnMut(u32, Value<'_>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let invalid = |_| Problem::plain("its response is not a valid message of server reflection");
    while let Some((number, value)) = take_field(&mut message).map_err(invalid)? {
        of(number, value)?;
    }
    Ok(())
}

/// Files by name.
#[derive(Default)]
struct Files {
    all: BTreeMap<String, File>,
}

struct File {
    bytes: Vec<u8>,
    imports: Vec<String>,
}

impl Files {
    /// Adds the files of a response. One that was not found is left out.
    fn add(&mut self, end: &CallEnd) -> Result<(), Problem> {
        if end.status != Status::Ok {
            return Err(Problem::plain(format!("it rejected server reflection with {}", end.describe())));
        }
        for message in &end.messages {
            each(message, |number, value| match (number, value) {
                (field::FILES, Value::Bytes(files)) => each(files, |number, value| match (number, value) {
                    (1, Value::Bytes(file)) => self.add_file(file),
                    _ => Ok(()),
                }),
                _ => Ok(()),
            })?;
        }
        Ok(())
    }

    /// Adds a `FileDescriptorProto`, of which only the name and the imports matter here.
    fn add_file(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let (mut own, mut imports) = (String::new(), Vec::new());
        each(bytes, |number, value| {
            match (number, value) {
                (1, Value::Bytes(name)) => own = String::from_utf8_lossy(name).into_owned(),
                (3, Value::Bytes(name)) => imports.push(String::from_utf8_lossy(name).into_owned()),
                _ => {}
            }
            Ok(())
        })?;
        self.all.insert(own, File { bytes: bytes.to_vec(), imports });
        Ok(())
    }

    fn missing(&self) -> impl Iterator<Item = &str> {
        let imported: BTreeSet<&str> =
            self.all.values().flat_map(|file| &file.imports).map(String::as_str).collect();
        imported.into_iter().filter(move |name| !self.all.contains_key(*name))
    }

    /// Returns all files as a set, each after those that it imports.
    fn set(&self) -> Vec<u8> {
        let (mut set, mut done) = (Vec::new(), BTreeSet::new());
        self.all.keys().for_each(|name| self.put(name, &mut done, &mut set));
        set
    }

    fn put<'f>(&'f self, name: &'f str, done: &mut BTreeSet<&'f str>, set: &mut Vec<u8>) {
        let Some(file) = self.all.get(name) else { return };
        if !done.insert(name) {
            return;
        }
        file.imports.iter().for_each(|import| self.put(import, done, set));
        put_key(1, wire_type::BYTES, set);
        put_varint(file.bytes.len() as u64, set);
        set.extend_from_slice(&file.bytes);
    }
}

/// Asks a server whether one of its services is ready to serve; an empty name means the server as a whole
/// (`grpc.health.v1.Health/Check`).
///
/// # Errors
/// Returns an error that says what it is instead.
pub fn check_health(caller: &mut Caller, service: &str) -> Result<(), Problem> {
    const SERVING: u64 = 1;
    let end = caller.call("/grpc.health.v1.Health/Check", &[request(1, service)])?;
    match end.status {
        Status::Ok => {}
        Status::Unimplemented => {
            return Err(Problem::new(
                "it has no health service (UNIMPLEMENTED)",
                "register `grpc.health.v1.Health` in the server, or remove `health`",
            ));
        }
        _ => return Err(Problem::plain(format!("its health check ended with {}", end.describe()))),
    }
    let mut found = 0;
    for message in &end.messages {
        each(message, |number, value| {
            if let (1, Value::Varint(status)) = (number, value) {
                found = status;
            }
            Ok(())
        })?;
    }
    match found {
        SERVING => Ok(()),
        2 => Err(Problem::plain("its health is NOT_SERVING")),
        3 => Err(Problem::plain("its health is SERVICE_UNKNOWN")),
        _ => Err(Problem::plain("its health is UNKNOWN")),
    }
}
