//! The document as the template engine sees it. Its objects are custom, so that a failed lookup is known with its name
//! and with the existing names.

use crate::Picture;
use crate::names::Missed;
use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr};
use plimsoll_plan::phrase::is_harmful;
use serde_json::Value as Json;
use std::sync::Arc;

/// A named part of the document.
#[derive(Debug)]
struct Node {
    /// Its place: `totals`, `requests[]`; empty for the whole document.
    path: String,
    /// In the order of the document.
    fields: Vec<(Arc<str>, Value)>,
    /// Names that readers look for here and that are elsewhere, with their place.
    elsewhere: Vec<String>,
    missed: Arc<Missed>,
}

impl Object for Node {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        let found = self.fields.iter().find(|(name, _)| &**name == key);
        if found.is_none() && !self.elsewhere.iter().any(|name| name == key) {
            self.missed.note(key, &self.path, self.fields.iter().map(|(name, _)| name.to_string()));
        }
        found.map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.fields.iter().map(|(name, _)| Value::from(Arc::clone(name))).collect())
    }
}

/// Returns the document with the additional fields `charts` and `kind`.
pub fn root(
    kind: &str,
    document: &Json,
    pictures: &[Picture],
    missed: &Arc<Missed>,
    elsewhere: Vec<String>,
) -> Value {
    let mut fields = match document {
        Json::Object(map) => {
            map.iter().map(|(name, value)| (Arc::from(clean(name)), of(value, name, missed))).collect()
        }
        other => vec![(Arc::from("document"), of(other, "document", missed))],
    };
    let node = |path: &str, fields| Node {
        path: path.to_owned(),
        fields,
        elsewhere: Vec::new(),
        missed: Arc::clone(missed),
    };
    let chart = |picture: &Picture| {
        let texts = [("id", &picture.id), ("title", &picture.title), ("subtitle", &picture.subtitle)];
        let mut all: Vec<(Arc<str>, Value)> =
            texts.into_iter().map(|(name, text)| (Arc::from(name), Value::from(clean(text)))).collect();
        all.push((Arc::from("svg"), Value::from_safe_string(picture.svg.clone())));
        (Arc::from(picture.id.as_str()), Value::from_object(node("charts[]", all)))
    };
    let charts: Vec<(Arc<str>, Value)> = pictures.iter().map(chart).collect();
    fields.push((Arc::from("charts"), Value::from_object(node("charts", charts))));
    // A document that has such a field keeps it.
    if fields.iter().all(|(name, _)| &**name != "kind") {
        fields.push((Arc::from("kind"), Value::from(kind)));
    }
    Value::from_object(Node { elsewhere, ..node("", fields) })
}

fn of(json: &Json, path: &str, missed: &Arc<Missed>) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(yes) => Value::from(*yes),
        Json::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Value::from(n),
            (None, Some(n)) => Value::from(n),
            (None, None) => Value::from(n.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(clean(text)),
        Json::Array(all) => {
            let path = format!("{path}[]");
            Value::from(all.iter().map(|one| of(one, &path, missed)).collect::<Vec<Value>>())
        }
        Json::Object(map) => {
            let field = |(name, value): (&String, &Json)| {
                (Arc::from(clean(name)), of(value, &format!("{path}.{name}"), missed))
            };
            let fields: Vec<(Arc<str>, Value)> = map.iter().map(field).collect();
            let node =
                Node { path: path.to_owned(), fields, elsewhere: Vec::new(), missed: Arc::clone(missed) };
            Value::from_object(node)
        }
    }
}

/// Replaces control characters: text from a server must not move the cursor of a terminal.
fn clean(text: &str) -> String {
    let describe = |c: char| if is_harmful(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    text.chars().map(describe).collect()
}
