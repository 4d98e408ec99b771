//! The values of scripts.

use super::Language;
use std::rc::Rc;

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(Rc<str>),
    List(Rc<Vec<Value>>),
    Bytes(Rc<[u8]>),
    /// A part of a JSON text.
    Json(Rc<serde_json::Value>),
    Object(Object),
}

/// An object that scripts know.
#[derive(Debug, Clone)]
pub enum Object {
    /// The variables of the thread.
    Vars,
    /// The properties of the run.
    Props,
    Context,
    Log,
    /// The sample: `prev`, `SampleResult`.
    Sample,
    /// The result of an assertion.
    Assertion,
    Sampler,
    Group,
    Thread,
    /// Standard output.
    Out,
    This,
    Interpreter,
    Random,
    JsonSlurper,
    /// ms since 1970.
    Date(i64),
    /// A format of dates, by its pattern.
    DateFormat(Rc<str>),
    File(Rc<str>),
    /// A file that texts are appended to, and whether it was empty at first.
    Writer(Rc<str>),
}

impl Value {
    pub fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    pub fn is_null(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Json(json) => json.is_null(),
            _ => false,
        }
    }

    /// Whether a condition holds: empty texts, 0, and null are false.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(is) => *is,
            Value::Int(number) => *number != 0,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(all) => !all.is_empty(),
            Value::Bytes(all) => !all.is_empty(),
            Value::Json(json) => match &**json {
                serde_json::Value::Null => false,
                serde_json::Value::Bool(is) => *is,
                serde_json::Value::String(text) => !text.is_empty(),
                serde_json::Value::Array(all) => !all.is_empty(),
                serde_json::Value::Object(all) => !all.is_empty(),
                serde_json::Value::Number(number) => number.as_f64() != Some(0.0),
            },
            Value::Object(_) => true,
        }
    }

    /// Returns the text of a value, as the language writes it.
    pub fn to_text(&self, language: Language) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(is) => is.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Number(number) => shown_number(*number, language),
            Value::Text(text) => text.to_string(),
            Value::List(all) => {
                let all: Vec<String> = all.iter().map(|one| one.to_text(language)).collect();
                format!("[{}]", all.join(", "))
            }
            Value::Bytes(all) => String::from_utf8_lossy(all).into_owned(),
            Value::Json(json) => match &**json {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            },
            Value::Object(Object::Date(ms)) => ms.to_string(),
            Value::Object(Object::File(path) | Object::Writer(path)) => path.to_string(),
            Value::Object(_) => String::new(),
        }
    }

    /// Returns the number of a value, or that a text spells.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Bool(is) => Some(f64::from(u8::from(*is))),
            Value::Json(json) => match &**json {
                serde_json::Value::Number(number) => number.as_f64(),
                serde_json::Value::String(text) => text.trim().parse().ok(),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn is_number(&self) -> bool {
        match self {
            Value::Int(_) | Value::Number(_) => true,
            Value::Json(json) => json.is_number(),
            _ => false,
        }
    }

    /// Returns the integer of a value, or that a text spells.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            Value::Number(number) => Some(*number as i64),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Json(json) => match &**json {
                serde_json::Value::Number(number) => number.as_i64(),
                serde_json::Value::String(text) => text.trim().parse().ok(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Replaces a text or a number of JSON by a plain one.
    pub fn plain(self) -> Value {
        let Value::Json(json) = &self else { return self };
        match &**json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(is) => Value::Bool(*is),
            serde_json::Value::String(text) => Value::text(text),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(number) => Value::Int(number),
                None => Value::Number(number.as_f64().unwrap_or_default()),
            },
            _ => self,
        }
    }
}

fn shown_number(number: f64, language: Language) -> String {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    match language {
        Language::JavaScript if is_whole => format!("{number:.0}"),
        _ if is_whole => format!("{number:.1}"),
        _ => number.to_string(),
    }
}
