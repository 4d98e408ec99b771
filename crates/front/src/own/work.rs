//! State that the readers of steps share.

use super::grpc::Schemas;
use super::reader::Reader;
use super::yaml::{Node, Value};
use plimsoll_build::draft::NameDraft;
use plimsoll_build::source::Pos;
use prost_reflect::MethodDescriptor;
use std::rc::Rc;

/// The reader, and what it has found outside of steps.
pub struct Work<'a> {
    pub r: Reader<'a>,
    /// The current steps belong to `setup`.
    pub in_setup: bool,
    /// The method of the closest request above the current step, in the same list.
    pub method_above: Option<&'static str>,
    /// Default number of redirects that a request follows.
    pub redirects: u8,
    /// The schemas of gRPC services.
    pub schemas: Option<Rc<Schemas>>,
    /// The place of the first gRPC call.
    pub calls: Option<Pos>,
    /// The calls with streams of messages to send that contain the current step, by name, the innermost last.
    pub open_calls: Vec<(Option<String>, MethodDescriptor)>,
    /// The file needs the interpreter for a reason that its requests do not show.
    pub is_scripted: bool,
}

/// Returns the names that unreadable steps set, so that their uses are not reported as unknown.
pub fn names_set(steps: &Node) -> Vec<NameDraft> {
    let mut all = Vec::new();
    collect(steps, &mut all);
    all
}

fn collect(steps: &Node, out: &mut Vec<NameDraft>) {
    match &steps.value {
        Value::List(list) => list.iter().for_each(|step| collect(step, out)),
        Value::Map(entries) => {
            for entry in entries {
                match (entry.key.as_str(), &entry.value.value) {
                    ("set" | "extract", Value::Map(names)) => {
                        out.extend(
                            names.iter().map(|name| NameDraft { name: name.key.clone(), pos: name.pos }),
                        );
                    }
                    (
                        "steps" | "then" | "else" | "once" | "choose" | "parallel" | "stream" | "while_open",
                        _,
                    )
                    | ("generate", Value::Map(_)) => collect(&entry.value, out),
                    _ => {}
                }
            }
        }
        Value::Scalar(_) => {}
    }
}
