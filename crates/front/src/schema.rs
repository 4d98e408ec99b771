//! The JSON Schema of experiment files (draft 2020-12), generated from the key table, so that editors and the reader
//! know the same keys.

use crate::own::key::{self, Kind, METHODS, Row, STEPS, Section, TABLE};
use plimsoll_plan::limit;
use serde_json::{Map, Value, json};

/// Returns the whole schema.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for section in Section::ALL {
        definitions.insert(section.id().to_owned(), section_schema(*section));
    }
    definitions.insert("step".into(), step_schema());
    definitions.insert("limits".into(), limits_schema());
    definitions.insert("generated_request".into(), generated_request());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plimsoll experiment",
        "$ref": format!("#/$defs/{}", Section::Top.id()),
        "$defs": definitions,
    })
}

fn section_schema(section: Section) -> Value {
    let rows: Vec<&Row> = TABLE.iter().filter(|row| row.section == section).collect();
    let mut properties = Map::new();
    for row in &rows {
        let mut value = kind_schema(&row.kind);
        if row.spans() {
            let list = kind_schema(&Kind::List(&row.kind));
            value = json!({ "anyOf": [value, list] });
        }
        if let Value::Object(object) = &mut value {
            object.insert("description".into(), json!(format!("Expects {}.", row.expects)));
        }
        properties.insert(row.name.to_owned(), value);
    }
    let mut schema = json!({
        "type": "object",
        "description": format!("Keys {}.", section.name()),
        "properties": properties,
        "additionalProperties": false,
    });
    if let Value::Object(object) = &mut schema {
        let required = required(section);
        if !required.is_empty() {
            object.insert("required".into(), json!(required));
        }
        if section == Section::Top {
            // Each part may have its own scenarios.
            object.insert("anyOf".into(), json!([{ "required": ["scenarios"] }, { "required": ["parts"] }]));
        }
        if section == Section::Request {
            let lines: Vec<Value> =
                METHODS.iter().chain(&["request"]).map(|method| json!({ "required": [method] })).collect();
            object.insert("oneOf".into(), json!(lines));
        }
    }
    schema
}

/// Returns the required keys of a section.
fn required(section: Section) -> &'static [&'static str] {
    match section {
        Section::Think => &["think"],
        Section::GrpcCall => &["grpc"],
        Section::Group => &["group", "steps"],
        Section::Repeat => &["repeat", "steps"],
        Section::While => &["while", "steps"],
        Section::If => &["if", "then"],
        Section::OncePerUser => &["once_per_user"],
        Section::Choose => &["choose"],
        Section::Way | Section::Scenario => &["steps"],
        Section::Set => &["set"],
        Section::Append => &["append"],
        Section::AppendTo => &["file", "columns"],
        Section::Generate => &["generate"],
        Section::GenerateRows => &["rows", "file", "columns"],
        Section::Parallel => &["parallel"],
        Section::Line => &["method", "path"],
        Section::Basic => &["user", "password"],
        Section::Jwt => &["algorithm", "claims"],
        Section::JwtCheck => &["token", "algorithm"],
        Section::OAuth2 => &["grant", "token_url", "client_id"],
        Section::AwsSigV4 => &["access_key", "secret_key", "region", "service"],
        Section::Boundary => &["left", "right"],
        Section::BoundaryCheck => &["left", "right", "value"],
        Section::OpenApi => &["file"],
        Section::HeaderSnapshot => &["file", "headers"],
        Section::Normal => &["mean", "deviation"],
        Section::Timestamp => &["unit"],
        Section::Feeder | Section::Replay => &["file"],
        Section::ScheduleRow => &["users"],
        Section::Spike => &["base", "peak", "at", "hold", "duration"],
        Section::Staircase => &["from", "by", "hold", "to"],
        Section::Stage => &["duration"],
        Section::Threshold => &["threshold"],
        _ => &[],
    }
}

/// Returns the schema of a request under `generate`, with the number of times to send it.
fn generated_request() -> Value {
    let mut schema = section_schema(Section::Request);
    schema["properties"]["rows"] = kind_schema(&Kind::Written);
    schema["required"] = json!(["rows"]);
    schema
}

/// Returns the schema of a variant or a part. A name without a value means the unchanged file. Properties refer to
/// those of the top level, so that each key is described once.
fn variant(without: &[&str]) -> Value {
    let names = key::names(Section::Top).filter(|name| !without.contains(name));
    let top = Section::Top.id();
    let properties: Map<String, Value> = names
        .map(|name| (name.to_owned(), json!({ "$ref": format!("#/$defs/{top}/properties/{name}") })))
        .collect();
    json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false })
}

fn step_schema() -> Value {
    let mut sections: Vec<Section> = Vec::new();
    for (_, step) in STEPS {
        if !sections.contains(&step.section()) {
            sections.push(step.section());
        }
    }
    let all: Vec<Value> = sections.iter().map(|section| reference(section.id())).collect();
    json!({ "description": "One step.", "anyOf": all })
}

fn limits_schema() -> Value {
    let mut properties = Map::new();
    for row in limit::TABLE {
        properties.insert(
            row.name.to_owned(),
            json!({ "type": ["integer", "string"], "description": format!("{}; default {}.", row.help, row.default) }),
        );
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn reference(id: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{id}") })
}

/// Any value may come from `vars` or the environment.
fn expression() -> Value {
    json!({ "type": "string", "pattern": "\\$\\{" })
}

fn kind_schema(kind: &Kind) -> Value {
    let or_expression = |value: Value| json!({ "anyOf": [value, expression()] });
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Written => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Whole => or_expression(json!({ "type": "integer", "minimum": 0 })),
        Kind::Truth => or_expression(json!({ "type": "boolean" })),
        Kind::Time => or_expression(json!({
            "type": "string",
            "pattern": "^\\s*([0-9]*\\.?[0-9]+\\.?(ns|us|µs|ms|s|sec|m|min|h|d))+\\s*$",
        })),
        Kind::Rate => json!({ "type": ["string", "number"] }),
        Kind::Any => json!({}),
        Kind::Words(words) => or_expression(json!({ "enum": words })),
        Kind::Only(word) => match word.parse::<f64>() {
            // YAML reads it as a number if it has no quotes.
            Ok(number) => json!({ "enum": [word, number] }),
            Err(_) => json!({ "const": word }),
        },
        Kind::Keys(section) => reference(section.id()),
        Kind::Named(value) => json!({ "type": "object", "additionalProperties": kind_schema(value) }),
        Kind::List(item) => json!({ "type": "array", "items": kind_schema(item), "minItems": 1 }),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(kind_schema).collect::<Vec<_>>() }),
        Kind::Steps => json!({ "type": "array", "items": reference("step"), "minItems": 1 }),
        Kind::Limits => reference("limits"),
        Kind::GeneratedRequest => reference("generated_request"),
        Kind::Variant => variant(key::OF_THE_WHOLE),
        Kind::Part => variant(key::OF_THE_FILE),
    }
}
