//! Messages written as YAML or JSON: each field by its name in the schema or in JSON.

use super::Schemas;
use crate::own::reader::{Reader, is_null};
use crate::own::yaml::{Entry, Node, Scalar as Written, Value, one_or_more};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_build::draft::{PieceDraft, TextDraft};
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::{alternatives, short};
use plimsoll_plan::grpc::{MessageForm, Scalar};
use plimsoll_plan::value::Escape;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

/// Numbers of the members of `google.protobuf.Value`.
mod value {
    pub const NULL: u32 = 1;
    pub const NUMBER: u32 = 2;
    pub const STRING: u32 = 3;
    pub const BOOL: u32 = 4;
    pub const STRUCT: u32 = 5;
    pub const LIST: u32 = 6;
}

/// Reads a message of a type. What is wrong is reported at its place.
pub fn message(
    of: &MessageDescriptor,
    node: &Node,
    schemas: &Schemas,
    r: &mut Reader<'_>,
) -> Vec<PieceDraft> {
    let mut builder = Builder { schemas, r, path: String::new() };
    builder.object(of, node).unwrap_or_default()
}

struct Builder<'b, 'a> {
    schemas: &'b Schemas,
    r: &'b mut Reader<'a>,
    /// The path of the current field.
    path: String,
}

impl Builder<'_, '_> {
    fn complain(&mut self, node: &Node, expects: &str) {
        let what = match self.path.is_empty() {
            true => "message".to_owned(),
            false => format!("value of `{}`", self.path),
        };
        let found = match &node.value {
            Value::Scalar(scalar) => format!("`{}`", short(&scalar.text)),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
        };
        self.r.complain("F043", node.pos, format!("invalid {what}: expected {expects}, found {found}"), "");
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

    /// Reads a message that is written as a mapping of its fields.
    fn object(&mut self, of: &MessageDescriptor, node: &Node) -> Option<Vec<PieceDraft>> {
        let entries = match &node.value {
            Value::Map(entries) => entries,
            Value::Scalar(scalar) if is_absent(scalar) => return Some(Vec::new()),
            Value::Scalar(Written { spoiled: true, .. }) => return None,
            _ => {
                self.complain(node, &format!("a mapping of the fields of `{}`", of.full_name()));
                return None;
            }
        };
        self.members(of, node, entries)
    }

    fn members(&mut self, of: &MessageDescriptor, node: &Node, entries: &[Entry]) -> Option<Vec<PieceDraft>> {
        let before = self.r.wrong.len();
        let mut pieces = Vec::new();
        let mut given: Vec<FieldDescriptor> = Vec::new();
        for entry in entries {
            let field = of.get_field_by_name(&entry.key).or_else(|| of.get_field_by_json_name(&entry.key));
            let Some(field) = field else {
                self.unknown(of, entry);
                continue;
            };
            if let Value::Scalar(scalar) = &entry.value.value
                && is_absent(scalar)
            {
                continue;
            }
            let choice = |field: &FieldDescriptor| field.containing_oneof().filter(|one| !one.is_synthetic());
            let is_rival = |other: &&FieldDescriptor| {
                other.number() == field.number() || choice(other).is_some() && choice(other) == choice(&field)
            };
            if let Some(other) = given.iter().find(is_rival) {
                let message = match other.number() == field.number() {
                    true => format!("duplicate field `{}`", field.name()),
                    false => format!("`{}` and `{}` exclude each other (oneof)", other.name(), field.name()),
                };
                self.r.complain("F043", entry.pos, message, "keep one of them");
            }
            self.at(field.name(), |own| own.field(&field, &entry.value, &mut pieces));
            given.push(field);
        }
        let missing = of
            .fields()
            .find(|field| field.is_required() && !given.iter().any(|given| given.number() == field.number()));
        if let Some(missing) = missing {
            let message = format!("missing required field `{}` of `{}`", missing.name(), of.full_name());
            self.r.complain("F043", node.pos, message, "add the field");
        }
        (self.r.wrong.len() == before).then_some(pieces)
    }

    fn unknown(&mut self, of: &MessageDescriptor, entry: &Entry) {
        let names: Vec<String> = of.fields().map(|field| field.name().to_owned()).collect();
        let all = || names.iter().map(String::as_str);
        let hint = match nearest(&entry.key, all()) {
            Some(right) => format!("did you mean `{right}`?"),
            None if names.is_empty() => "the message has no fields".into(),
            None => format!("use {}", alternatives(all().take(8))),
        };
        let message = format!("message `{}` has no field `{}`", of.full_name(), short(&entry.key));
        self.r.complain("F042", entry.pos, message, hint);
    }

    fn field(&mut self, of: &FieldDescriptor, node: &Node, out: &mut Vec<PieceDraft>) {
        let number = of.number();
        if let (true, Kind::Message(entry)) = (of.is_map(), of.kind()) {
            let Value::Map(entries) = &node.value else {
                return self.complain(node, "a mapping");
            };
            for item in entries {
                self.at(&item.key, |own| own.entry(number, &entry, item, out));
            }
        } else if of.is_list() {
            // A list value is itself a list, so only a list of them has items.
            let items = match (&node.value, of.kind()) {
                (Value::List(items), _) => &items[..],
                (_, Kind::Message(_)) => return self.complain(node, "a list"),
                _ => one_or_more(node),
            };
            for (at, item) in items.iter().enumerate() {
                self.at(&format!("[{at}]"), |own| own.single(number, &of.kind(), of.is_group(), item, out));
            }
        } else {
            self.single(number, &of.kind(), of.is_group(), node, out);
        }
    }

    fn entry(&mut self, number: u32, of: &MessageDescriptor, item: &Entry, out: &mut Vec<PieceDraft>) {
        let (key, value) = (of.map_entry_key_field().kind(), of.map_entry_value_field());
        let written = Written { text: item.key.clone(), ..Written::default() };
        let name = Node { pos: item.pos, value: Value::Scalar(written) };
        let mut pieces = Vec::new();
        self.single(1, &key, false, &name, &mut pieces);
        self.single(2, &value.kind(), value.is_group(), &item.value, &mut pieces);
        out.push(PieceDraft::Message { number, is_group: false, pieces });
    }

    /// Reads one value.
    fn single(&mut self, number: u32, kind: &Kind, is_group: bool, node: &Node, out: &mut Vec<PieceDraft>) {
        match kind {
            Kind::Message(of) => {
                if let Some(piece) = self.nested(number, of, is_group, node) {
                    out.push(piece);
                }
            }
            other => {
                if let Some(scalar) = self.schemas.shapes.scalar(other) {
                    out.extend(self.scalar(number, scalar, node));
                }
            }
        }
    }

    fn scalar(&mut self, number: u32, scalar: Scalar, node: &Node) -> Option<PieceDraft> {
        let written = match &node.value {
            Value::Scalar(Written { spoiled: true, .. }) => return None,
            Value::Scalar(written) => written,
            _ => {
                self.complain(node, &scalar.expects());
                return None;
            }
        };
        if written.pieces.is_empty() {
            let text = written.text.as_bytes();
            let is_bytes = scalar == Scalar::Bytes;
            let is_base64 = || STANDARD.decode(text.trim_ascii()).is_ok();
            if scalar.read(text).is_err() || is_bytes && !is_base64() {
                self.complain(node, &scalar.expects());
                return None;
            }
        }
        let text = self.r.filled(written, node.pos, Escape::None, &str::to_owned);
        Some(PieceDraft::Field { number, path: self.path.clone(), scalar, text })
    }

    /// Reads a message in a field.
    fn nested(
        &mut self,
        number: u32,
        of: &MessageDescriptor,
        is_group: bool,
        node: &Node,
    ) -> Option<PieceDraft> {
        let is_single = matches!(node.value, Value::Scalar(_));
        let pieces = match MessageForm::of(of.full_name()) {
            MessageForm::Timestamp if is_single => return self.scalar(number, Scalar::Timestamp, node),
            MessageForm::Duration if is_single => return self.scalar(number, Scalar::Duration, node),
            MessageForm::Wrapper if is_single => {
                let mut pieces = Vec::new();
                let inner = of.get_field(1)?;
                self.single(1, &inner.kind(), false, node, &mut pieces);
                pieces
            }
            MessageForm::FieldMask if is_single => self.field_mask(node)?,
            MessageForm::Any => self.any(node)?,
            MessageForm::Struct => self.members_of_struct(node)?,
            MessageForm::Value => self.any_value(node)?,
            MessageForm::List => self.items_of_list(node)?,
            MessageForm::Object
            | MessageForm::Timestamp
            | MessageForm::Duration
            | MessageForm::Wrapper
            | MessageForm::FieldMask => self.object(of, node)?,
        };
        Some(PieceDraft::Message { number, is_group, pieces })
    }

    // ---- well-known types -----------------------------------------------------------------------------------

    fn text(&self, number: u32, text: &str) -> PieceDraft {
        let (path, scalar) = (self.path.clone(), Scalar::String);
        PieceDraft::Field { number, path, scalar, text: TextDraft::of(text) }
    }

    fn field_mask(&mut self, node: &Node) -> Option<Vec<PieceDraft>> {
        let Value::Scalar(written) = &node.value else { return None };
        if !written.pieces.is_empty() {
            return self.scalar(1, Scalar::String, node).map(|piece| vec![piece]);
        }
        let paths = written.text.split(',').map(str::trim).filter(|path| !path.is_empty());
        Some(paths.map(|path| self.text(1, path)).collect())
    }

    /// Reads `{ "@type": type.googleapis.com/NAME, ... }`.
    fn any(&mut self, node: &Node) -> Option<Vec<PieceDraft>> {
        const TYPE: &str = "@type";
        const EXPECTS: &str =
            "a mapping with `@type`, such as `{ \"@type\": type.googleapis.com/a.B, id: 1 }`";
        let Value::Map(entries) = &node.value else {
            self.complain(node, EXPECTS);
            return None;
        };
        let (kind, rest): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.key == TYPE);
        let url = match kind.as_slice() {
            [Entry { value: Node { value: Value::Scalar(url), .. }, .. }] if url.pieces.is_empty() => {
                &url.text
            }
            _ => {
                self.complain(node, EXPECTS);
                return None;
            }
        };
        let name = url.rsplit('/').next().unwrap_or_default();
        let Some(of) = self.schemas.pool.get_message_by_name(name) else {
            let message = format!("unknown message type `{}`", short(name));
            self.r.complain(
                "F042",
                kind[0].value.pos,
                message,
                "write the full name of a message of the schemas",
            );
            return None;
        };
        let rest: Vec<Entry> = rest.into_iter().cloned().collect();
        let pieces = match (MessageForm::of(name), rest.as_slice()) {
            (MessageForm::Object, _) => self.members(&of, node, &rest)?,
            (_, [only]) if only.key == "value" => {
                // The number is that of the field below.
                match self.nested(2, &of, false, &only.value)? {
                    piece @ PieceDraft::Field { .. } => {
                        return Some(vec![self.text(1, url), piece]);
                    }
                    PieceDraft::Message { pieces, .. } => pieces,
                }
            }
            _ => {
                self.complain(node, EXPECTS);
                return None;
            }
        };
        Some(vec![self.text(1, url), PieceDraft::Message { number: 2, is_group: false, pieces }])
    }

    fn members_of_struct(&mut self, node: &Node) -> Option<Vec<PieceDraft>> {
        let Value::Map(entries) = &node.value else {
            self.complain(node, "a mapping");
            return None;
        };
        let all = entries.iter().map(|entry| {
            let pieces = self.at(&entry.key, |own| own.any_value(&entry.value))?;
            let value = PieceDraft::Message { number: 2, is_group: false, pieces };
            let pieces = vec![self.text(1, &entry.key), value];
            Some(PieceDraft::Message { number: 1, is_group: false, pieces })
        });
        all.collect()
    }

    fn items_of_list(&mut self, node: &Node) -> Option<Vec<PieceDraft>> {
        let Value::List(items) = &node.value else {
            self.complain(node, "a list");
            return None;
        };
        let all = items.iter().enumerate().map(|(at, item)| {
            let pieces = self.at(&format!("[{at}]"), |own| own.any_value(item))?;
            Some(PieceDraft::Message { number: 1, is_group: false, pieces })
        });
        all.collect()
    }

    /// Reads any value of YAML as a `google.protobuf.Value`.
    fn any_value(&mut self, node: &Node) -> Option<Vec<PieceDraft>> {
        let nested = |number, pieces| vec![PieceDraft::Message { number, is_group: false, pieces }];
        match &node.value {
            Value::Map(_) => self.members_of_struct(node).map(|pieces| nested(value::STRUCT, pieces)),
            Value::List(_) => self.items_of_list(node).map(|pieces| nested(value::LIST, pieces)),
            Value::Scalar(written) => {
                let is_plain = written.plain && written.pieces.is_empty();
                let text = written.text.as_bytes();
                let piece = if is_plain && is_null(&written.text) {
                    let zero = TextDraft::of("0");
                    let path = self.path.clone();
                    PieceDraft::Field { number: value::NULL, path, scalar: Scalar::Int32, text: zero }
                } else if is_plain && Scalar::Bool.read(text).is_ok() {
                    self.scalar(value::BOOL, Scalar::Bool, node)?
                } else if is_plain && Scalar::Double.read(text).is_ok() {
                    self.scalar(value::NUMBER, Scalar::Double, node)?
                } else {
                    self.scalar(value::STRING, Scalar::String, node)?
                };
                Some(vec![piece])
            }
        }
    }
}

/// Returns whether a value is null, which leaves its field out.
fn is_absent(scalar: &Written) -> bool {
    scalar.plain && scalar.pieces.is_empty() && !scalar.spoiled && is_null(&scalar.text)
}
