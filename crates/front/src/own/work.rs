//! What the readers of steps share.

use super::reader::Reader;
use super::yaml::{Node, Value};
use crate::build::draft::NameDraft;

/// The reader, and what it has seen on the way that is not part of a step.
pub struct Work<'a> {
    pub r: Reader<'a>,
    /// The steps that are read are those of the set-up.
    pub in_setup: bool,
    /// Redirects that requests follow unless they say otherwise.
    pub redirects: u8,
    /// Something asks for the interpreter that the requests themselves do not show.
    pub is_scripted: bool,
}

/// The names that steps set which cannot be read as a whole: that they are set is known all the same.
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
                    ("steps" | "then" | "else" | "once" | "choose" | "parallel" | "stream" | "beside", _)
                    | ("generate", Value::Map(_)) => collect(&entry.value, out),
                    _ => {}
                }
            }
        }
        Value::Scalar(_) => {}
    }
}
