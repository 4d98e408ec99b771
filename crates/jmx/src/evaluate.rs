//! The values of texts that are known before the load: those of properties and user-defined variables.

use crate::plan::Variable;
use crate::text::{Call, Part, Text};
use std::collections::BTreeMap;

/// What texts may refer to before the load.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub properties: BTreeMap<String, String>,
    /// Variables, with their values if these do not depend on the load.
    pub variables: BTreeMap<String, Option<String>>,
}

/// Why a text has no value before the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// A function, or a variable that depends on one.
    Later(String),
}

impl Known {
    /// Returns the properties and variables of a plan. Variables of one element do not see each other.
    pub fn new(properties: BTreeMap<String, String>, variables: &[Variable]) -> Known {
        let mut known = Known { properties, variables: BTreeMap::new() };
        for element in variables.chunk_by(|a, b| a.owner == b.owner) {
            let values: Vec<(Option<String>, Option<String>)> = element
                .iter()
                .map(|variable| (known.value(&variable.name).ok(), known.value(&variable.value).ok()))
                .collect();
            for (name, value) in values {
                if let Some(name) = name {
                    known.variables.insert(name, value);
                }
            }
        }
        known
    }

    /// Returns the value of a text. As in JMeter, an undefined variable stays as it is written.
    ///
    /// # Errors
    /// Returns what the text depends on if its value is not known before the load.
    pub fn value(&self, text: &Text) -> Result<String, Unknown> {
        let mut value = String::new();
        for part in &text.parts {
            match part {
                Part::Literal(text) => value.push_str(text),
                Part::Variable(name) => match self.variables.get(name) {
                    Some(Some(known)) => value.push_str(known),
                    Some(None) => return Err(Unknown::Later(format!("${{{name}}}"))),
                    None => {
                        value.push_str("${");
                        value.push_str(name);
                        value.push('}');
                    }
                },
                Part::Call(call) => value.push_str(&self.call(call)?),
            }
        }
        Ok(value)
    }

    fn call(&self, call: &Call) -> Result<String, Unknown> {
        let later = || Unknown::Later(call.source.clone());
        let arguments: Vec<String> =
            call.arguments.iter().map(|argument| self.value(argument)).collect::<Result<_, _>>()?;
        let argument = |at: usize| arguments.get(at).map(|text| text.trim());
        let sum = || {
            // A last argument that is not a number names a variable.
            let numbers = arguments.iter().map_while(|text| text.trim().parse::<i64>().ok());
            numbers.fold(0i64, i64::wrapping_add).to_string()
        };
        Ok(match call.name.as_str() {
            "__P" => {
                let name = argument(0).unwrap_or_default();
                self.properties.get(name).cloned().unwrap_or_else(|| argument(1).unwrap_or("1").to_owned())
            }
            "__property" => {
                let name = argument(0).unwrap_or_default();
                let default = arguments.get(2).map_or(name, |text| text);
                self.properties.get(name).map_or(default, |value| value).to_owned()
            }
            "__V" => {
                let name = argument(0).unwrap_or_default();
                match self.variables.get(name) {
                    Some(Some(value)) => value.clone(),
                    Some(None) => return Err(later()),
                    None => argument(1).unwrap_or(name).to_owned(),
                }
            }
            "__intSum" | "__longSum" => sum(),
            "__eval" => arguments.first().cloned().unwrap_or_default(),
            _ => return Err(later()),
        })
    }
}
