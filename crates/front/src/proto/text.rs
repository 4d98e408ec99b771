//! Definitions in the language of Protocol Buffers.

use prost_reflect::{
    Cardinality, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
    ServiceDescriptor,
};
use std::fmt::Write;

const INDENT: &str = "  ";

/// Returns the definition of a service.
pub fn service(of: &ServiceDescriptor) -> String {
    let mut text = format!("service {} {{\n", of.full_name());
    of.methods().for_each(|one| text.push_str(&method(&one, 1)));
    text.push_str("}\n");
    text
}

/// Returns the line that defines a method.
pub fn method(of: &MethodDescriptor, depth: usize) -> String {
    let stream = |is_stream: bool| if is_stream { "stream " } else { "" };
    let (input, output) = (of.input(), of.output());
    format!(
        "{}rpc {} ({}{}) returns ({}{});\n",
        INDENT.repeat(depth),
        of.name(),
        stream(of.is_client_streaming()),
        input.full_name(),
        stream(of.is_server_streaming()),
        output.full_name()
    )
}

/// Returns the definition of a message, without those of the messages in it.
pub fn message(of: &MessageDescriptor) -> String {
    let mut text = format!("message {} {{\n", of.full_name());
    let mut written: Vec<String> = Vec::new();
    for one in of.fields() {
        let choice = one.containing_oneof().filter(|choice| !choice.is_synthetic());
        let Some(choice) = choice else {
            field(&one, 1, &mut text);
            continue;
        };
        if written.iter().any(|name| name == choice.name()) {
            continue;
        }
        written.push(choice.name().to_owned());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{INDENT}oneof {} {{", choice.name());
        choice.fields().for_each(|member| field(&member, 2, &mut text));
        let _ = writeln!(text, "{INDENT}}}");
    }
    text.push_str("}\n");
    text
}

fn field(of: &FieldDescriptor, depth: usize, text: &mut String) {
    let label = match of.cardinality() {
        _ if of.is_map() => "",
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if of.containing_oneof().is_some_and(|one| one.is_synthetic()) => "optional ",
        Cardinality::Optional => "",
    };
    let kind = match of.kind() {
        Kind::Message(entry) if of.is_map() => {
            let (key, value) = (entry.map_entry_key_field(), entry.map_entry_value_field());
            format!("map<{}, {}>", kind_name(&key.kind()), kind_name(&value.kind()))
        }
        kind => kind_name(&kind),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{label}{kind} {} = {};", INDENT.repeat(depth), of.name(), of.number());
}

fn kind_name(kind: &Kind) -> String {
    match kind {
        Kind::Message(of) => of.full_name().to_owned(),
        Kind::Enum(of) => of.full_name().to_owned(),
        Kind::Double => "double".into(),
        Kind::Float => "float".into(),
        Kind::Int32 => "int32".into(),
        Kind::Int64 => "int64".into(),
        Kind::Uint32 => "uint32".into(),
        Kind::Uint64 => "uint64".into(),
        Kind::Sint32 => "sint32".into(),
        Kind::Sint64 => "sint64".into(),
        Kind::Fixed32 => "fixed32".into(),
        Kind::Fixed64 => "fixed64".into(),
        Kind::Sfixed32 => "sfixed32".into(),
        Kind::Sfixed64 => "sfixed64".into(),
        Kind::Bool => "bool".into(),
        Kind::String => "string".into(),
        Kind::Bytes => "bytes".into(),
    }
}

/// Returns the definition of an enumeration.
pub fn enumeration(of: &EnumDescriptor) -> String {
    let mut text = format!("enum {} {{\n", of.full_name());
    for value in of.values() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{INDENT}{} = {};", value.name(), value.number());
    }
    text.push_str("}\n");
    text
}
