//! A message in the JSON form of Protocol Buffers as a tree of fields, by the table of its types.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::grpc::{Coded, Field, Kind, Label, Message, MessageForm, Piece, Scalar, Types};
use plimsoll_plan::value::Text;
use serde_json::{Map, Value};

/// Numbers of the members of `google.protobuf.Value`.
mod value {
    pub const NULL: u32 = 1;
    pub const NUMBER: u32 = 2;
    pub const STRING: u32 = 3;
    pub const BOOL: u32 = 4;
    pub const STRUCT: u32 = 5;
    pub const LIST: u32 = 6;
}

/// The key of an `Any` that names its type.
const TYPE: &str = "@type";

/// Returns the fields of a message. Fields have their names in the schema or in JSON, and `null` leaves a field out.
///
/// # Errors
/// Returns a lower-case fragment that names the field.
pub fn pieces(types: &Types, of: usize, json: &Value) -> Result<Vec<Piece>, String> {
    let message = types.messages.get(of).ok_or("unknown message type")?;
    Builder { types, path: String::new() }.message(message, json)
}

struct Builder<'a> {
    types: &'a Types,
    /// The path of the current field.
    path: String,
}

type Read = Result<Vec<Piece>, String>;

impl<'a> Builder<'a> {
    fn wrong<T>(&self, expects: &str, found: &Value) -> Result<T, String> {
        let what = match self.path.is_empty() {
            true => "message".to_owned(),
            false => format!("value of `{}`", self.path),
        };
        let text = found.to_string();
        let short: String = text.chars().take(40).collect();
        let dots = if short.len() < text.len() { "..." } else { "" };
        Err(format!("invalid {what}: expected {expects}, found `{short}{dots}`"))
    }

    /// Calls `read` with the path of a part.
    fn at<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.path.len();
        if len > 0 && !name.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(name);
        let result = read(self);
        self.path.truncate(len);
        result
    }

    /// Reads a message in the form of its type.
    fn message(&mut self, of: &'a Message, json: &Value) -> Read {
        match of.form {
            MessageForm::Object => match json {
                Value::Object(members) => self.members(of, members),
                other => self.wrong(&format!("an object with the fields of `{}`", of.name), other),
            },
            MessageForm::Timestamp => self.time(&Scalar::Timestamp, json),
            MessageForm::Duration => self.time(&Scalar::Duration, json),
            MessageForm::Wrapper => {
                let field = of.fields.first().ok_or("a wrapper without a field")?;
                let mut out = Vec::new();
                self.single(field.number, &field.kind, json, &mut out)?;
                Ok(out)
            }
            MessageForm::FieldMask => match json {
                Value::String(paths) => {
                    let paths = paths.split(',').map(str::trim).filter(|path| !path.is_empty());
                    Ok(paths.map(|path| self.piece(1, Scalar::String, &snake_case(path))).collect())
                }
                other => self.wrong("field names separated by commas", other),
            },
            MessageForm::Any => self.any(json),
            MessageForm::Struct => match json {
                Value::Object(members) => self.entries_of_struct(members),
                other => self.wrong("an object", other),
            },
            MessageForm::Value => self.any_value(json),
            MessageForm::List => match json {
                Value::Array(items) => self.items_of_list(items),
                other => self.wrong("an array", other),
            },
        }
    }

    fn members(&mut self, of: &'a Message, members: &Map<String, Value>) -> Read {
        let mut out = Vec::new();
        for (name, value) in members {
            let field = of.fields.iter().find(|field| field.json_name == *name || field.name == *name);
            let Some(field) = field else {
                return Err(format!("message `{}` has no field `{name}`", of.name));
            };
            if value.is_null() && !self.takes_null(field) {
                continue;
            }
            self.at(&field.name, |own| own.field(field, value, &mut out))?;
        }
        Ok(out)
    }

    /// Returns whether `null` is a value of a field.
    fn takes_null(&self, field: &Field) -> bool {
        match (&field.kind, field.label) {
            (Kind::Message(of), Label::Implicit | Label::Optional) => {
                self.types.messages.get(*of).is_some_and(|message| message.form == MessageForm::Value)
            }
            _ => false,
        }
    }

    fn field(&mut self, field: &'a Field, value: &Value, out: &mut Vec<Piece>) -> Result<(), String> {
        match (field.label, value) {
            (Label::Implicit | Label::Optional, _) => self.single(field.number, &field.kind, value, out),
            (Label::List, Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    self.at(&format!("[{at}]"), |own| own.single(field.number, &field.kind, item, out))?;
                }
                Ok(())
            }
            (Label::List, other) => self.wrong("an array", other),
            (Label::Map, Value::Object(entries)) => {
                let entry = self.type_of(&field.kind)?;
                let (Some((_, key)), Some((_, value))) = (entry.field(1), entry.field(2)) else {
                    return Err("a map without keys or values".to_owned());
                };
                for (name, item) in entries {
                    let mut pieces = Vec::new();
                    self.at(name, |own| {
                        own.key(key, name, &mut pieces)?;
                        own.single(2, &value.kind, item, &mut pieces)
                    })?;
                    out.push(Piece::Message { number: field.number, is_group: false, pieces });
                }
                Ok(())
            }
            (Label::Map, other) => self.wrong("an object", other),
        }
    }

    /// Reads the key of a map, which JSON has as a text.
    fn key(&mut self, of: &Field, name: &str, out: &mut Vec<Piece>) -> Result<(), String> {
        let Kind::Scalar(scalar) = &of.kind else { return Err("a map with messages as keys".to_owned()) };
        if scalar.read(name.as_bytes()).is_err() {
            return self.wrong(&format!("{} as its key", scalar.expects()), &name.into());
        }
        out.push(self.piece(1, scalar.clone(), name));
        Ok(())
    }

    fn type_of(&self, kind: &Kind) -> Result<&'a Message, String> {
        match kind {
            Kind::Message(of) | Kind::Group(of) => {
                self.types.messages.get(*of).ok_or_else(|| "unknown message type".to_owned())
            }
            Kind::Scalar(_) => Err("a value where a message is expected".to_owned()),
        }
    }

    /// Reads one value.
    fn single(&mut self, number: u32, kind: &Kind, json: &Value, out: &mut Vec<Piece>) -> Result<(), String> {
        let piece = match kind {
            Kind::Scalar(scalar) => self.scalar(number, scalar, json)?,
            Kind::Message(_) | Kind::Group(_) => {
                let pieces = self.message(self.type_of(kind)?, json)?;
                Piece::Message { number, is_group: matches!(kind, Kind::Group(_)), pieces }
            }
        };
        out.push(piece);
        Ok(())
    }

    fn piece(&self, number: u32, scalar: Scalar, text: &str) -> Piece {
        Piece::Field { number, path: self.path.clone(), scalar, text: Text::literal(text) }
    }

    fn scalar(&self, number: u32, scalar: &Scalar, json: &Value) -> Result<Piece, String> {
        let text = match (scalar, json) {
            (Scalar::Bytes, Value::String(text)) => match standard_base64(text) {
                Some(text) => text,
                None => return self.wrong(&scalar.expects(), json),
            },
            (Scalar::String | Scalar::Timestamp | Scalar::Duration, Value::String(text)) => text.clone(),
            (Scalar::Bool, Value::Bool(truth)) => truth.to_string(),
            (Scalar::String | Scalar::Bytes | Scalar::Timestamp | Scalar::Duration | Scalar::Bool, other) => {
                return self.wrong(&scalar.expects(), other);
            }
            (_, Value::String(text)) => text.clone(),
            (_, Value::Number(number)) => whole(number),
            (_, other) => return self.wrong(&scalar.expects(), other),
        };
        if scalar.read(text.as_bytes()).is_err() {
            return self.wrong(&scalar.expects(), json);
        }
        Ok(self.piece(number, scalar.clone(), &text))
    }

    // ---- well-known types -----------------------------------------------------------------------------------

    /// Reads a time as its seconds and nanoseconds.
    fn time(&self, scalar: &Scalar, json: &Value) -> Read {
        let Value::String(text) = json else { return self.wrong(&scalar.expects(), json) };
        let Ok(Coded::Time { s, ns }) = scalar.read(text.as_bytes()) else {
            return self.wrong(&scalar.expects(), json);
        };
        let mut out = Vec::new();
        if s != 0 {
            out.push(self.piece(1, Scalar::Int64, &s.to_string()));
        }
        if ns != 0 {
            out.push(self.piece(2, Scalar::Int32, &ns.to_string()));
        }
        Ok(out)
    }

    /// Reads `{ "@type": "type.googleapis.com/NAME", ... }`.
    fn any(&mut self, json: &Value) -> Read {
        const EXPECTS: &str = "an object with `@type`, such as `type.googleapis.com/a.B`";
        let Value::Object(members) = json else { return self.wrong(EXPECTS, json) };
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let Some(Value::String(url)) = members.get(TYPE) else { return self.wrong(EXPECTS, json) };
        let name = url.rsplit('/').next().unwrap_or_default();
        let found = self.types.by_name.get(name).and_then(|of| self.types.messages.get(*of));
        let Some(of) = found else { return Err(format!("unknown message type `{name}`")) };
        let pieces = match of.form {
            MessageForm::Object => {
                let rest: Map<String, Value> = members
                    .iter()
                    .filter(|(key, _)| *key != TYPE)
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                self.members(of, &rest)?
            }
            _ => self.message(of, members.get("value").unwrap_or(&Value::Null))?,
        };
        Ok(vec![self.piece(1, Scalar::String, url), Piece::Message { number: 2, is_group: false, pieces }])
    }

    fn entries_of_struct(&mut self, members: &Map<String, Value>) -> Read {
        let mut out = Vec::new();
        for (name, value) in members {
            let pieces = self.at(name, |own| own.any_value(value))?;
            let value = Piece::Message { number: 2, is_group: false, pieces };
            let pieces = vec![self.piece(1, Scalar::String, name), value];
            out.push(Piece::Message { number: 1, is_group: false, pieces });
        }
        Ok(out)
    }

    fn items_of_list(&mut self, items: &[Value]) -> Read {
        let mut out = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let pieces = self.at(&format!("[{at}]"), |own| own.any_value(item))?;
            out.push(Piece::Message { number: 1, is_group: false, pieces });
        }
        Ok(out)
    }

    /// Reads any value as a `google.protobuf.Value`.
    fn any_value(&mut self, json: &Value) -> Read {
        let nested = |number, pieces| Piece::Message { number, is_group: false, pieces };
        Ok(vec![match json {
            Value::Null => self.piece(value::NULL, Scalar::Int32, "0"),
            Value::Bool(truth) => self.piece(value::BOOL, Scalar::Bool, &truth.to_string()),
            Value::Number(number) => self.piece(value::NUMBER, Scalar::Double, &number.to_string()),
            Value::String(text) => self.piece(value::STRING, Scalar::String, text),
            Value::Object(members) => nested(value::STRUCT, self.entries_of_struct(members)?),
            Value::Array(items) => nested(value::LIST, self.items_of_list(items)?),
        }])
    }
}

/// Returns a number without a fraction of zeros and without an exponent, if it is whole.
fn whole(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(wide) if number.is_f64() && wide.fract() == 0.0 && wide.abs() < 1e18 => {
            format!("{}", wide as i64)
        }
        _ => number.to_string(),
    }
}

/// Returns Base64 in the standard alphabet with padding; both are optional in the JSON form of Protocol Buffers.
fn standard_base64(text: &str) -> Option<String> {
    let mut own: String = text
        .chars()
        .map(|sign| {
            if sign == '-' {
                '+'
            } else if sign == '_' {
                '/'
            } else {
                sign
            }
        })
        .collect();
    own.truncate(own.trim_end_matches('=').len());
    while !own.len().is_multiple_of(4) {
        own.push('=');
    }
    STANDARD.decode(&own).ok().map(|_| own)
}

fn snake_case(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 4);
    for sign in path.chars() {
        if sign.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(sign.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_script::call::{Encoder, Reader, Style};
    use std::sync::Arc;

    fn types() -> Types {
        let field = |number, name: &str, json_name: &str, kind, label| Field {
            number,
            name: name.into(),
            json_name: json_name.into(),
            kind,
            label,
            is_choice: false,
        };
        let color = plimsoll_plan::grpc::EnumType {
            name: "Color".into(),
            values: vec![("RED".into(), 0), ("BLUE".into(), 2)],
        };
        let item = Message {
            name: "Item".into(),
            form: MessageForm::Object,
            fields: vec![
                field(1, "item_id", "itemId", Kind::Scalar(Scalar::Int64), Label::Implicit),
                field(2, "raw", "raw", Kind::Scalar(Scalar::Bytes), Label::Implicit),
                field(3, "color", "color", Kind::Scalar(Scalar::Enum(Arc::new(color))), Label::Implicit),
                field(4, "inner_item", "innerItem", Kind::Message(0), Label::Optional),
                field(5, "counts", "counts", Kind::Message(1), Label::Map),
                field(6, "on", "on", Kind::Scalar(Scalar::Bool), Label::Implicit),
                field(7, "at", "at", Kind::Message(2), Label::Optional),
            ],
        };
        let entry = Message {
            name: "Item.CountsEntry".into(),
            form: MessageForm::Object,
            fields: vec![
                field(1, "key", "key", Kind::Scalar(Scalar::Int64), Label::Implicit),
                field(2, "value", "value", Kind::Scalar(Scalar::Int64), Label::Implicit),
            ],
        };
        let time = Message {
            name: "google.protobuf.Timestamp".into(),
            form: MessageForm::Timestamp,
            fields: vec![
                field(1, "seconds", "seconds", Kind::Scalar(Scalar::Int64), Label::Implicit),
                field(2, "nanos", "nanos", Kind::Scalar(Scalar::Int32), Label::Implicit),
            ],
        };
        let messages = vec![item, entry, time];
        let by_name = messages.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
        Types { messages, by_name }
    }

    #[track_caller]
    fn back(json: &str) -> String {
        let (types, value) = (types(), serde_json::from_str(json).expect("it is JSON"));
        let read = pieces(&types, 0, &value).expect("it is a message");
        let mut framed = Vec::new();
        Encoder::put_fixed(&read, &mut framed).expect("it can be encoded");
        let mut out = Vec::new();
        let done = Reader::default().read_as(Style::Canonical, (&types, 0), &framed[5..], 1 << 20, &mut out);
        done.expect("it can be read");
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn a_message_comes_back_in_the_json_form_of_protocol_buffers() {
        let rest = r#""counts":{},"on":false,"at":null"#;
        assert_eq!(back("{}"), format!(r#"{{"itemId":"0","raw":"","color":"RED","innerItem":null,{rest}}}"#));
        let text = r#"{"item_id":"-7","raw":"_-8","color":"BLUE","innerItem":{"itemId":1e3},
                       "counts":{"5":"6"},"on":true,"at":"1970-01-01T00:00:01.5Z"}"#;
        let inner = format!(r#"{{"itemId":"1000","raw":"","color":"RED","innerItem":null,{rest}}}"#);
        let own = r#""counts":{"5":"6"},"on":true,"at":"1970-01-01T00:00:01.500Z""#;
        assert_eq!(
            back(text),
            format!(r#"{{"itemId":"-7","raw":"/+8=","color":"BLUE","innerItem":{inner},{own}}}"#)
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let wrong = |json: &str| {
            let value = serde_json::from_str(json).expect("it is JSON");
            pieces(&types(), 0, &value).expect_err("it does not fit")
        };
        assert_eq!(wrong(r#"{"id":1}"#), "message `Item` has no field `id`");
        assert!(
            wrong(r#"{"innerItem":{"on":"true"}}"#).starts_with("invalid value of `inner_item.on`: expected")
        );
        assert!(wrong(r#"{"counts":{"x":1}}"#).contains("as its key, found `\"x\"`"));
        assert!(wrong(r#"{"raw":"?"}"#).contains("bytes in Base64"));
        assert!(wrong("[]").starts_with("invalid message: expected an object with the fields of `Item`"));
    }
}
