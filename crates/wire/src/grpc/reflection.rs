//! gRPC server reflection (`grpc.reflection.v1` and `v1alpha`): which calls to make, and what their responses say.

use crate::proto::{Value, put_key, put_varint, take_field, wire_type};
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

/// A call to make: all of its messages are sent together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The method, as in a request.
    pub path: String,
    pub messages: Vec<Vec<u8>>,
}

/// The response to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response<'a> {
    /// The status was OK.
    Messages(&'a [Vec<u8>]),
    /// The server does not have the method.
    Unimplemented,
}

/// Why there are no schemas, as a lower-case fragment after "it".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// No version of reflection is offered.
    NotOffered,
    Other(String),
}

/// A conversation about the schemas of a server.
#[derive(Debug, Default)]
pub struct Reflection {
    version: usize,
    services: Vec<String>,
    stage: Stage,
    files: BTreeMap<String, File>,
    rounds: usize,
    missing: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Services,
    Files,
}

#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    imports: Vec<String>,
}

impl Reflection {
    /// Returns the first call.
    pub fn begin(&self) -> Question {
        self.question(field::LIST_SERVICES, ["*"].into_iter())
    }

    fn question<'n>(&self, number: u32, names: impl Iterator<Item = &'n str>) -> Question {
        let path = format!("/{}/ServerReflectionInfo", VERSIONS[self.version]);
        Question { path, messages: names.map(|name| text_field(number, name)).collect() }
    }

    /// Takes a response; returns the next call, or what the server knows.
    ///
    /// # Errors
    /// Returns an error if the server does not offer reflection, or answers with something else.
    pub fn answered(&mut self, response: Response<'_>) -> Result<Result<Question, Reflected>, Failed> {
        let messages = match (response, self.stage) {
            (Response::Messages(messages), _) => messages,
            (Response::Unimplemented, Stage::Services) if self.version + 1 < VERSIONS.len() => {
                self.version += 1;
                return Ok(Ok(self.begin()));
            }
            (Response::Unimplemented, _) => return Err(Failed::NotOffered),
        };
        match self.stage {
            Stage::Services => {
                messages.iter().try_for_each(|message| self.take_services(message))?;
                self.stage = Stage::Files;
                let names = self.services.iter().map(String::as_str);
                Ok(Ok(self.question(field::FILE_CONTAINING_SYMBOL, names)))
            }
            Stage::Files => {
                messages.iter().try_for_each(|message| self.take_files(message))?;
                self.next_files()
            }
        }
    }

    /// Asks for the files that others import, or ends.
    fn next_files(&mut self) -> Result<Result<Question, Reflected>, Failed> {
        if let Some(name) = self.missing.iter().find(|name| !self.files.contains_key(*name)) {
            return Err(Failed::Other(format!("its schemas import `{name}`, which it does not have")));
        }
        let imported: BTreeSet<&str> =
            self.files.values().flat_map(|file| &file.imports).map(String::as_str).collect();
        let missing = imported.into_iter().filter(|name| !self.files.contains_key(*name));
        self.missing = missing.map(str::to_owned).collect();
        if self.missing.is_empty() {
            let services = std::mem::take(&mut self.services);
            return Ok(Err(Reflected { services, set: self.set() }));
        }
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            return Err(Failed::Other("its schemas import too many files".to_owned()));
        }
        Ok(Ok(self.question(field::FILE_BY_FILENAME, self.missing.iter().map(String::as_str))))
    }

    fn take_services(&mut self, message: &[u8]) -> Result<(), Failed> {
        each(message, |number, value| match (number, value) {
            (field::SERVICES, Value::Bytes(list)) => each(list, |number, value| match (number, value) {
                (1, Value::Bytes(service)) => each(service, |number, value| {
                    if let (1, Value::Bytes(name)) = (number, value) {
                        self.services.push(String::from_utf8_lossy(name).into_owned());
                    }
                    Ok(())
                }),
                _ => Ok(()),
            }),
            (field::ERROR, Value::Bytes(error)) => Err(refusal(error)),
            _ => Ok(()),
        })
    }

    /// Takes the files of a message. One that was not found is left out: a service without a schema is listed, and
    /// cannot be called.
    fn take_files(&mut self, message: &[u8]) -> Result<(), Failed> {
        each(message, |number, value| match (number, value) {
            (field::FILES, Value::Bytes(files)) => each(files, |number, value| match (number, value) {
                (1, Value::Bytes(file)) => self.take_file(file),
                _ => Ok(()),
            }),
            _ => Ok(()),
        })
    }

    /// Takes a `FileDescriptorProto`, of which only the name and the imports matter here.
    fn take_file(&mut self, bytes: &[u8]) -> Result<(), Failed> {
        let (mut own, mut imports) = (String::new(), Vec::new());
        each(bytes, |number, value| {
            match (number, value) {
                (1, Value::Bytes(name)) => own = String::from_utf8_lossy(name).into_owned(),
                (3, Value::Bytes(name)) => imports.push(String::from_utf8_lossy(name).into_owned()),
                _ => {}
            }
            Ok(())
        })?;
        self.files.insert(own, File { bytes: bytes.to_vec(), imports });
        Ok(())
    }

    /// Returns all files as a set, each after those that it imports.
    fn set(&self) -> Vec<u8> {
        let (mut set, mut done) = (Vec::new(), BTreeSet::new());
        self.files.keys().for_each(|name| self.put(name, &mut done, &mut set));
        set
    }

    fn put<'f>(&'f self, name: &'f str, done: &mut BTreeSet<&'f str>, set: &mut Vec<u8>) {
        let Some(file) = self.files.get(name) else { return };
        if !done.insert(name) {
            return;
        }
        file.imports.iter().for_each(|import| self.put(import, done, set));
        put_key(1, wire_type::BYTES, set);
        put_varint(file.bytes.len() as u64, set);
        set.extend_from_slice(&file.bytes);
    }
}

/// Returns a message with one text.
pub fn text_field(number: u32, value: &str) -> Vec<u8> {
    let mut message = Vec::new();
    put_key(number, wire_type::BYTES, &mut message);
    put_varint(value.len() as u64, &mut message);
    message.extend_from_slice(value.as_bytes());
    message
}

fn refusal(error: &[u8]) -> Failed {
    let mut text = String::from("an unknown error");
    let found = each(error, |number, value| {
        if let (2, Value::Bytes(found)) = (number, value) {
            text = String::from_utf8_lossy(found).into_owned();
        }
        Ok(())
    });
    match found {
        Ok(()) => Failed::Other(format!("it rejected server reflection: {text}")),
        Err(invalid) => invalid,
    }
}

/// Calls `of` for each field of a message.
fn each(mut message: &[u8], mut of: impl FnMut(u32, Value<'_>) -> Result<(), Failed>) -> Result<(), Failed> {
    let invalid = |_| Failed::Other("its response is not a valid message of server reflection".to_owned());
    while let Some((number, value)) = take_field(&mut message).map_err(invalid)? {
        of(number, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::put_nested;

    fn nested(number: u32, inner: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put_key(number, wire_type::BYTES, &mut out);
        let Ok(()) = put_nested(&mut out, |out| {
            out.extend_from_slice(inner);
            Ok::<(), std::convert::Infallible>(())
        });
        out
    }

    fn file(name: &str, imports: &[&str]) -> Vec<u8> {
        let mut file = text_field(1, name);
        imports.iter().for_each(|import| file.extend(text_field(3, import)));
        file
    }

    fn files(all: &[Vec<u8>]) -> Vec<u8> {
        nested(4, &all.iter().flat_map(|file| nested(1, file)).collect::<Vec<u8>>())
    }

    fn services(names: &[&str]) -> Vec<u8> {
        let all: Vec<u8> = names.iter().flat_map(|name| nested(1, &text_field(1, name))).collect();
        nested(6, &all)
    }

    #[test]
    fn all_files_are_asked_for_with_what_they_import() {
        let mut reflection = Reflection::default();
        assert_eq!(reflection.begin().path, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
        let next = reflection.answered(Response::Unimplemented).unwrap().unwrap();
        assert_eq!(next.path, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
        let next = reflection.answered(Response::Messages(&[services(&["a.A", "b.B"])])).unwrap().unwrap();
        assert_eq!(next.messages, [text_field(4, "a.A"), text_field(4, "b.B")]);
        let (one, two) = (file("a.proto", &["c.proto"]), file("c.proto", &[]));
        let next =
            reflection.answered(Response::Messages(&[files(std::slice::from_ref(&one))])).unwrap().unwrap();
        assert_eq!(next.messages, [text_field(3, "c.proto")]);
        let end = reflection
            .answered(Response::Messages(&[files(std::slice::from_ref(&two))]))
            .unwrap()
            .unwrap_err();
        assert_eq!(end.services, ["a.A", "b.B"]);
        assert_eq!(end.set, [nested(1, &two), nested(1, &one)].concat());
    }

    #[test]
    fn a_server_that_lacks_something_is_refused() {
        let mut reflection = Reflection::default();
        assert!(reflection.answered(Response::Unimplemented).is_ok());
        assert_eq!(reflection.answered(Response::Unimplemented), Err(Failed::NotOffered));
        let mut reflection = Reflection::default();
        let error = nested(7, &text_field(2, "no"));
        assert_eq!(
            reflection.answered(Response::Messages(&[error])),
            Err(Failed::Other("it rejected server reflection: no".into()))
        );
        let mut reflection = Reflection::default();
        reflection.answered(Response::Messages(&[services(&["a.A"])])).unwrap().unwrap();
        let one = files(&[file("a.proto", &["c.proto"])]);
        reflection.answered(Response::Messages(&[one])).unwrap().unwrap();
        let lacks = Failed::Other("its schemas import `c.proto`, which it does not have".into());
        assert_eq!(reflection.answered(Response::Messages(&[])), Err(lacks));
        assert!(Reflection::default().answered(Response::Messages(&[vec![0xff]])).is_err());
    }
}
