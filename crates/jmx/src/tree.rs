//! The elements of a `.jmx` file as they are written: classes, properties, and children.

mod parse;

pub(crate) use parse::parse;

use crate::text::Pos;

/// An element with its children.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    /// The last part of its class, such as `HTTPSamplerProxy`.
    pub class: String,
    /// The last part of the class of its form, such as `HttpDefaultsGui`.
    pub form: String,
    pub name: String,
    pub is_enabled: bool,
    pub properties: Vec<Property>,
    pub children: Vec<Raw>,
    pub pos: Pos,
}

/// A property.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub name: String,
    pub value: Value,
    pub pos: Pos,
}

/// The value of a property.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A text; whether its type is that of texts, and not of numbers or truth values.
    Text { text: String, is_string: bool },
    /// The properties of an element, or the items of a collection.
    Many(Vec<Property>),
}

impl Property {
    pub fn text(&self) -> &str {
        match &self.value {
            Value::Text { text, .. } => text,
            Value::Many(_) => "",
        }
    }

    pub fn items(&self) -> &[Property] {
        match &self.value {
            Value::Text { .. } => &[],
            Value::Many(items) => items,
        }
    }

    pub fn find(&self, name: &str) -> Option<&Property> {
        find(self.items(), name)
    }

    /// Returns whether a property of the same name from an outer element replaces this one: an empty text.
    pub fn is_unset(&self) -> bool {
        matches!(&self.value, Value::Text { text, is_string: true } if text.is_empty())
    }
}

pub(crate) fn find<'a>(properties: &'a [Property], name: &str) -> Option<&'a Property> {
    properties.iter().find(|property| property.name == name)
}

impl Raw {
    pub fn find(&self, name: &str) -> Option<&Property> {
        find(&self.properties, name)
    }

    /// Returns the text of a property; empty without it.
    pub fn text(&self, name: &str) -> &str {
        self.find(name).map_or("", Property::text)
    }
}
