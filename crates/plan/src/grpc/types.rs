//! The types of a schema, as much of them as reading a message requires.

use super::scalar::Scalar;
use std::collections::HashMap;

/// All types of a schema. Messages and enumerations refer to each other by index.
#[derive(Debug, Clone, Default)]
pub struct Types {
    pub messages: Vec<Message>,
    /// Messages by full name.
    pub by_name: HashMap<String, usize>,
}

/// A message type.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// The full name, such as `shop.v1.Item`.
    pub name: String,
    /// Sorted by number.
    pub fields: Vec<Field>,
    pub form: MessageForm,
}

/// How a message is written as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageForm {
    /// As an object with a member for each field.
    #[default]
    Object,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Duration`
    Duration,
    /// One of the wrappers, such as `google.protobuf.Int32Value`: as its only field.
    Wrapper,
    /// `google.protobuf.Any`
    Any,
    /// `google.protobuf.Struct`
    Struct,
    /// `google.protobuf.Value`
    Value,
    /// `google.protobuf.ListValue`
    List,
    /// `google.protobuf.FieldMask`
    FieldMask,
}

impl MessageForm {
    /// Returns the form of a message with this full name.
    pub fn of(name: &str) -> MessageForm {
        let Some(name) = name.strip_prefix("google.protobuf.") else { return MessageForm::Object };
        match name {
            "Timestamp" => MessageForm::Timestamp,
            "Duration" => MessageForm::Duration,
            "Any" => MessageForm::Any,
            "Struct" => MessageForm::Struct,
            "Value" => MessageForm::Value,
            "ListValue" => MessageForm::List,
            "FieldMask" => MessageForm::FieldMask,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => MessageForm::Wrapper,
            _ => MessageForm::Object,
        }
    }
}

/// A field of a message type.
#[derive(Debug, Clone)]
pub struct Field {
    pub number: u32,
    /// The name in the schema.
    pub name: String,
    /// The name in the JSON form of Protocol Buffers.
    pub json_name: String,
    pub kind: Kind,
    pub label: Label,
    /// Whether it belongs to a `oneof`, or is marked `optional` in proto3, which counts as one.
    pub is_choice: bool,
}

/// The type of a field.
#[derive(Debug, Clone)]
pub enum Kind {
    Scalar(Scalar),
    /// A message by index, with its length.
    Message(usize),
    /// A message by index, between two keys.
    Group(usize),
}

/// How many values a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// One; if it is missing, it has the default of its type.
    Implicit,
    /// One or none.
    Optional,
    List,
    /// Entries with a key (field 1) and a value (field 2).
    Map,
}

/// An enumeration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnumType {
    /// The full name.
    pub name: String,
    /// Names and numbers in the order of the schema; the first is the default.
    pub values: Vec<(String, i32)>,
}

impl EnumType {
    pub fn number(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
    }

    /// Returns the first name of a number.
    pub fn name_of(&self, number: i32) -> Option<&str> {
        self.values.iter().find(|(_, known)| *known == number).map(|(name, _)| name.as_str())
    }
}

impl Message {
    /// Returns the field with a number.
    pub fn field(&self, number: u32) -> Option<(usize, &Field)> {
        // Most messages number their fields from 1 without gaps.
        let guess = (number as usize).wrapping_sub(1);
        if let Some(field) = self.fields.get(guess)
            && field.number == number
        {
            return Some((guess, field));
        }
        let at = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        Some((at, &self.fields[at]))
    }
}
