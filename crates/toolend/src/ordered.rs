//! JSON whose keys keep their order, as the tools write it.

use serde_json::Value;
use std::fmt::Write as _;

/// A JSON value.
pub enum Json {
    Plain(Value),
    Map(Vec<(String, Json)>),
}

impl<V: Into<Value>> From<V> for Json {
    fn from(value: V) -> Json {
        Json::Plain(value.into())
    }
}

/// Returns an object.
pub fn map<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl Json {
    /// Returns the text, on one line, or with an indent of two spaces for each level.
    pub fn text(&self, is_indented: bool) -> String {
        let mut out = String::new();
        self.write(is_indented.then_some(0), &mut out);
        out
    }

    fn write(&self, level: Option<usize>, out: &mut String) {
        match self {
            Json::Map(pairs) if !pairs.is_empty() => {
                let inner = level.map(|level| level + 1);
                let line = |level: Option<usize>, out: &mut String| {
                    if let Some(level) = level {
                        out.push('\n');
                        out.extend(std::iter::repeat_n("  ", level));
                    }
                };
                out.push('{');
                for (number, (key, value)) in pairs.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    line(inner, out);
                    let space = if level.is_some() { " " } else { "" };
                    // Writing to a string cannot fail, here and below.
                    let _ = write!(out, "{}:{space}", Value::from(key.as_str()));
                    value.write(inner, out);
                }
                line(level, out);
                out.push('}');
            }
            Json::Map(_) => out.push_str("{}"),
            Json::Plain(value) => {
                let _ = write!(out, "{value}");
            }
        }
    }
}
