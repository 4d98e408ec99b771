//! The table of types of a schema, as a script reads responses by it.

use plimsoll_plan::grpc::{
    EnumType, Field, Kind, Label, Message, MessageForm, Method, Scalar, Schemas, Types,
};
use prost_reflect::{DescriptorPool, EnumDescriptor, FieldDescriptor, Kind as Described, MessageDescriptor};
use std::collections::HashMap;
use std::sync::Arc;

/// The enumerations of a schema by full name, so that equal ones are shared.
#[derive(Default)]
pub struct Shapes {
    enums: HashMap<String, Arc<EnumType>>,
}

impl Shapes {
    /// Returns the type of single values; `None` for messages.
    pub fn scalar(&self, kind: &Described) -> Option<Scalar> {
        Some(match kind {
            Described::Double => Scalar::Double,
            Described::Float => Scalar::Float,
            Described::Int32 => Scalar::Int32,
            Described::Int64 => Scalar::Int64,
            Described::Uint32 => Scalar::Uint32,
            Described::Uint64 => Scalar::Uint64,
            Described::Sint32 => Scalar::Sint32,
            Described::Sint64 => Scalar::Sint64,
            Described::Fixed32 => Scalar::Fixed32,
            Described::Fixed64 => Scalar::Fixed64,
            Described::Sfixed32 => Scalar::Sfixed32,
            Described::Sfixed64 => Scalar::Sfixed64,
            Described::Bool => Scalar::Bool,
            Described::String => Scalar::String,
            Described::Bytes => Scalar::Bytes,
            Described::Enum(of) => Scalar::Enum(self.enums.get(of.full_name())?.clone()),
            Described::Message(_) => return None,
        })
    }
}

/// Returns the table of all types of a pool.
pub fn of(pool: &DescriptorPool) -> (Shapes, Types) {
    let mut shapes = Shapes::default();
    for one in pool.all_enums() {
        shapes.enums.insert(one.full_name().to_owned(), Arc::new(enumeration(&one)));
    }
    let by_name: HashMap<String, usize> = pool
        .all_messages()
        .enumerate()
        .map(|(number, message)| (message.full_name().to_owned(), number))
        .collect();
    let messages = pool.all_messages().map(|one| message(&one, &shapes, &by_name)).collect();
    (shapes, Types { messages, by_name })
}

/// Returns all types and methods of a pool.
pub fn schemas(pool: &DescriptorPool) -> Schemas {
    let (_, types) = of(pool);
    let mut methods = Vec::new();
    for service in pool.services() {
        for method in service.methods() {
            let number = |message: MessageDescriptor| types.by_name.get(message.full_name()).copied();
            // Every message of a pool has a number.
            let (Some(request), Some(response)) = (number(method.input()), number(method.output())) else {
                continue;
            };
            methods.push(Method {
                package: service.package_name().to_owned(),
                service: service.name().to_owned(),
                name: method.name().to_owned(),
                path: format!("/{}/{}", service.full_name(), method.name()),
                request,
                response,
                has_request_stream: method.is_client_streaming(),
                has_response_stream: method.is_server_streaming(),
            });
        }
    }
    Schemas { types: Arc::new(types), methods }
}

fn enumeration(of: &EnumDescriptor) -> EnumType {
    let values = of.values().map(|value| (value.name().to_owned(), value.number())).collect::<Vec<_>>();
    // The default comes first: in proto3 it is 0, and aliases may be written before it.
    let default = of.default_value().number();
    let (first, rest): (Vec<_>, Vec<_>) = values.into_iter().partition(|(_, number)| *number == default);
    EnumType { name: of.full_name().to_owned(), values: first.into_iter().chain(rest).collect() }
}

fn message(of: &MessageDescriptor, shapes: &Shapes, numbers: &HashMap<String, usize>) -> Message {
    let mut fields: Vec<Field> = of.fields().filter_map(|one| field(&one, shapes, numbers)).collect();
    fields.sort_by_key(|field| field.number);
    let name = of.full_name().to_owned();
    Message { form: MessageForm::of(&name), name, fields }
}

fn field(of: &FieldDescriptor, shapes: &Shapes, numbers: &HashMap<String, usize>) -> Option<Field> {
    let kind = match of.kind() {
        Described::Message(message) => {
            let number = *numbers.get(message.full_name())?;
            if of.is_group() { Kind::Group(number) } else { Kind::Message(number) }
        }
        other => Kind::Scalar(shapes.scalar(&other)?),
    };
    let label = if of.is_map() {
        Label::Map
    } else if of.is_list() {
        Label::List
    } else if of.supports_presence() {
        Label::Optional
    } else {
        Label::Implicit
    };
    let (name, json_name) = (of.name().to_owned(), of.json_name().to_owned());
    let is_choice = of.containing_oneof().is_some();
    Some(Field { number: of.number(), name, json_name, kind, label, is_choice })
}
