//! Example messages as JSON: every field with a value of its type, so that a user deletes what is not needed.

use plimsoll_plan::grpc::MessageForm;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

/// The deepest nesting that is shown.
const DEPTH_MAX: usize = 6;

/// Returns an example of a message.
pub fn of(message: &MessageDescriptor) -> String {
    let mut text = String::new();
    object(message, &mut Vec::new(), 0, &mut text);
    text
}

/// Appends a message; `above` are those that contain it. A message that contains itself is empty there.
fn object(of: &MessageDescriptor, above: &mut Vec<String>, depth: usize, text: &mut String) {
    let is_recursive = above.iter().any(|name| name == of.full_name());
    // Of the members of a oneof, only the first.
    let is_shown = |field: &FieldDescriptor| match field.containing_oneof() {
        Some(choice) if !choice.is_synthetic() => choice.fields().next().is_some_and(|first| first == *field),
        _ => true,
    };
    let fields: Vec<FieldDescriptor> = of.fields().filter(is_shown).collect();
    if is_recursive || fields.is_empty() || above.len() >= DEPTH_MAX {
        return text.push_str("{}");
    }
    above.push(of.full_name().to_owned());
    text.push_str("{\n");
    for (at, one) in fields.iter().enumerate() {
        indent(depth + 1, text);
        text.push_str(&format!("\"{}\": ", one.name()));
        field(one, above, depth + 1, text);
        text.push_str(if at + 1 < fields.len() { ",\n" } else { "\n" });
    }
    indent(depth, text);
    text.push('}');
    above.pop();
}

fn indent(depth: usize, text: &mut String) {
    text.push_str(&"  ".repeat(depth));
}

fn field(of: &FieldDescriptor, above: &mut Vec<String>, depth: usize, text: &mut String) {
    if let (true, Kind::Message(entry)) = (of.is_map(), of.kind()) {
        let key = match entry.map_entry_key_field().kind() {
            Kind::String => "key",
            Kind::Bool => "true",
            _ => "1",
        };
        text.push_str(&format!("{{ \"{key}\": "));
        value(&entry.map_entry_value_field().kind(), above, depth, text);
        return text.push_str(" }");
    }
    if of.is_list() {
        text.push('[');
        value(&of.kind(), above, depth, text);
        return text.push(']');
    }
    value(&of.kind(), above, depth, text);
}

fn value(kind: &Kind, above: &mut Vec<String>, depth: usize, text: &mut String) {
    let fixed = match kind {
        Kind::Message(of) => {
            return match MessageForm::of(of.full_name()) {
                MessageForm::Object => object(of, above, depth, text),
                MessageForm::Timestamp => text.push_str("\"2026-01-31T12:00:00Z\""),
                MessageForm::Duration => text.push_str("\"1.5s\""),
                MessageForm::FieldMask => text.push_str("\"name\""),
                MessageForm::Any => text.push_str("{ \"@type\": \"type.googleapis.com/package.Message\" }"),
                MessageForm::Struct => text.push_str("{}"),
                MessageForm::Value => text.push_str("null"),
                MessageForm::List => text.push_str("[]"),
                MessageForm::Wrapper => match of.get_field(1) {
                    Some(inner) => value(&inner.kind(), above, depth, text),
                    None => text.push_str("null"),
                },
            };
        }
        Kind::Enum(of) => {
            let first = of.values().next().map(|value| value.name().to_owned());
            return text.push_str(&format!("\"{}\"", first.unwrap_or_default()));
        }
        Kind::Double | Kind::Float => "0.5",
        Kind::Bool => "false",
        Kind::String | Kind::Bytes => "\"\"",
        Kind::Int32
        | Kind::Int64
        | Kind::Uint32
        | Kind::Uint64
        | Kind::Sint32
        | Kind::Sint64
        | Kind::Fixed32
        | Kind::Fixed64
        | Kind::Sfixed32
        | Kind::Sfixed64 => "0",
    };
    text.push_str(fixed);
}
