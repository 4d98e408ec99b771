//! Methods of texts, numbers, lists, and JSON, and static methods of classes.

use super::Language;
use super::operator::equal;
use super::value::{Object, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns whether a class has a static method that scripts can call.
pub fn is_static(class: &str, name: &str) -> bool {
    matches!(
        (class, name),
        ("Integer" | "Long" | "Double" | "Float" | "String" | "Boolean", "valueOf" | "toString")
            | ("Integer", "parseInt")
            | ("Long", "parseLong")
            | ("Double", "parseDouble")
            | ("Float", "parseFloat")
            | ("Boolean", "parseBoolean")
            | ("String", "format" | "join")
            | ("Math", "random" | "abs" | "floor" | "ceil" | "round" | "max" | "min" | "pow" | "sqrt")
            | ("System", "currentTimeMillis" | "nanoTime" | "getProperty" | "getenv" | "lineSeparator")
            | ("UUID", "randomUUID")
            | ("Thread", "currentThread")
            | ("Instant", "now")
            | ("Base64", "getEncoder" | "encodeBase64String")
            | ("DigestUtils", "md5Hex" | "sha1Hex" | "sha256Hex" | "sha512Hex")
            | ("URLEncoder", "encode")
            | ("URLDecoder", "decode")
            | (
                "StringUtils",
                "isEmpty"
                    | "isBlank"
                    | "isNotEmpty"
                    | "isNotBlank"
                    | "substringBetween"
                    | "substringAfter"
                    | "substringBefore"
            )
            | ("JMeterUtils", "getProperty" | "getPropDefault")
            | ("ThreadLocalRandom", "current")
    )
}

/// Calls a method of a text.
///
/// # Errors
/// Returns why the method cannot be called so.
pub fn of_text(text: &str, name: &str, arguments: &[Value], language: Language) -> Result<Value, String> {
    let shown = |number: usize| arguments.get(number).map(|one| one.to_text(language)).unwrap_or_default();
    let whole = |number: usize| arguments.get(number).and_then(Value::integer);
    let flag = |is: bool| Ok(Value::Bool(is));
    let new = |text: &str| Ok(Value::text(text));
    let spells = |what: &str| Err(format!("`{text}` is not {what}"));
    Ok(match name {
        "equals" | "contentEquals" => {
            return flag(arguments.first().is_some_and(|other| {
                matches!(other, Value::Text(other) if **other == *text)
                    || matches!(other.clone().plain(), Value::Text(other) if *other == *text)
            }));
        }
        "equalsIgnoreCase" => return flag(text.to_lowercase() == shown(0).to_lowercase()),
        "contains" => return flag(text.contains(&shown(0))),
        "startsWith" => return flag(text.starts_with(&shown(0))),
        "endsWith" => return flag(text.ends_with(&shown(0))),
        "isEmpty" => return flag(text.is_empty()),
        "isBlank" => return flag(text.trim().is_empty()),
        "isNumber" => return flag(text.trim().parse::<f64>().is_ok()),
        "isInteger" | "isLong" => return flag(text.trim().parse::<i64>().is_ok()),
        "matches" => {
            let pattern = crate::pattern::compile_whole(&shown(0))?;
            return flag(pattern.is_match(text));
        }
        "length" | "size" => Value::Int(text.chars().count() as i64),
        "toLowerCase" => return new(&text.to_lowercase()),
        "toUpperCase" => return new(&text.to_uppercase()),
        "trim" | "strip" => return new(text.trim()),
        "toString" | "getText" | "text" | "getMessage" => return new(text),
        "concat" => return new(&format!("{text}{}", shown(0))),
        "capitalize" => {
            let mut signs = text.chars();
            let first: String = signs.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
            return new(&(first + signs.as_str()));
        }
        "reverse" => return new(&text.chars().rev().collect::<String>()),
        "substring" => {
            let signs: Vec<char> = text.chars().collect();
            let begin = whole(0).unwrap_or(0);
            let end = whole(1).unwrap_or(signs.len() as i64);
            if begin < 0 || end < begin || end > signs.len() as i64 {
                return Err(format!(
                    "the range {begin} to {end} is not within a text of {} characters",
                    signs.len()
                ));
            }
            return new(&signs[begin as usize..end as usize].iter().collect::<String>());
        }
        "charAt" => {
            let at = whole(0).unwrap_or(0);
            let sign = usize::try_from(at).ok().and_then(|at| text.chars().nth(at));
            return match sign {
                Some(sign) => new(&sign.to_string()),
                None => Err(format!("the text has no character {at}")),
            };
        }
        "replace" => return new(&text.replace(&shown(0), &shown(1))),
        "replaceAll" | "replaceFirst" => {
            let pattern = crate::pattern::compile(&shown(0))?;
            let with = java_replacement(&shown(1));
            let limit = usize::from(name == "replaceFirst");
            return new(&pattern.replacen(text, limit, with.as_str()));
        }
        "indexOf" => index(text, text.find(&shown(0))),
        "lastIndexOf" => index(text, text.rfind(&shown(0))),
        "compareTo" => Value::Int(text.cmp(&shown(0)) as i64),
        "split" => {
            let by = shown(0);
            let mut parts: Vec<Value> = match crate::pattern::compile(&by) {
                Ok(pattern) if language != Language::JavaScript => {
                    pattern.split(text).map(Value::text).collect()
                }
                _ => text.split(&by).map(Value::text).collect(),
            };
            // As in Java, empty texts at the end are left out.
            while parts.len() > 1 && matches!(parts.last(), Some(Value::Text(text)) if text.is_empty()) {
                parts.pop();
            }
            Value::List(parts.into())
        }
        "tokenize" => {
            let by = if arguments.is_empty() { " \t\n\r".to_owned() } else { shown(0) };
            let parts = text.split(|sign| by.contains(sign)).filter(|part| !part.is_empty());
            Value::List(parts.map(Value::text).collect::<Vec<_>>().into())
        }
        "padLeft" | "padRight" => {
            let width = whole(0).unwrap_or(0).clamp(0, 100_000) as usize;
            let with = if arguments.len() > 1 { shown(1) } else { " ".to_owned() };
            let missing = width.saturating_sub(text.chars().count());
            let pad: String = with.chars().cycle().take(missing).collect();
            return new(&if name == "padLeft" { pad + text } else { format!("{text}{pad}") });
        }
        "toInteger" | "toLong" | "intValue" | "longValue" => match text.trim().parse() {
            Ok(number) => Value::Int(number),
            Err(_) => return spells("an integer"),
        },
        "toDouble" | "toFloat" | "doubleValue" => match text.trim().parse() {
            Ok(number) => Value::Number(number),
            Err(_) => return spells("a number"),
        },
        "toBoolean" => return flag(["true", "y", "1"].contains(&text.trim().to_lowercase().as_str())),
        "getBytes" => Value::Bytes(text.as_bytes().into()),
        "md5" => return new(&crate::function::digest("md5", text.as_bytes()).unwrap_or_default()),
        "decodeBase64" => match STANDARD.decode(text.trim()) {
            Ok(bytes) => Value::Bytes(bytes.into()),
            Err(_) => return spells("Base64"),
        },
        _ => return Err(format!("a text has no method `{name}`")),
    })
}

/// Calls a method of another plain value.
///
/// # Errors
/// Returns why the method cannot be called so.
pub fn of_plain(value: &Value, name: &str, arguments: &[Value], language: Language) -> Result<Value, String> {
    let index = |number: usize| arguments.get(number).and_then(Value::integer);
    match (value, name) {
        (_, "toString") => Ok(Value::Text(value.to_text(language).into())),
        (_, "equals") => {
            Ok(Value::Bool(arguments.first().is_some_and(|other| equal(value, other, language))))
        }
        (Value::Int(_) | Value::Number(_), "intValue" | "longValue" | "toInteger" | "toLong") => {
            Ok(Value::Int(value.integer().unwrap_or_default()))
        }
        (Value::Int(_) | Value::Number(_), "doubleValue" | "toDouble" | "toFloat") => {
            Ok(Value::Number(value.number().unwrap_or_default()))
        }
        (Value::Int(_) | Value::Number(_), "compareTo") => {
            let other = arguments.first().and_then(Value::number).unwrap_or_default();
            let order = value.number().unwrap_or_default().total_cmp(&other);
            Ok(Value::Int(order as i64))
        }
        (Value::List(all), "size" | "length") => Ok(Value::Int(all.len() as i64)),
        (Value::List(all), "isEmpty") => Ok(Value::Bool(all.is_empty())),
        (Value::List(all), "get") => {
            let at = index(0).and_then(|at| usize::try_from(at).ok());
            at.and_then(|at| all.get(at)).cloned().ok_or_else(|| "the list has no such element".to_owned())
        }
        (Value::List(all), "first") => all.first().cloned().ok_or_else(|| "the list is empty".to_owned()),
        (Value::List(all), "last") => all.last().cloned().ok_or_else(|| "the list is empty".to_owned()),
        (Value::List(all), "contains") => Ok(Value::Bool(
            arguments.first().is_some_and(|one| all.iter().any(|other| equal(one, other, language))),
        )),
        (Value::List(all), "join") => {
            let by = arguments.first().map(|by| by.to_text(language)).unwrap_or_default();
            let all: Vec<String> = all.iter().map(|one| one.to_text(language)).collect();
            Ok(Value::Text(all.join(&by).into()))
        }
        (Value::Bytes(all), "size" | "length") => Ok(Value::Int(all.len() as i64)),
        (Value::Bytes(all), "encodeBase64") => Ok(Value::text(&STANDARD.encode(all))),
        (Value::Bytes(all), "encodeHex") => {
            Ok(Value::Text(all.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()))
        }
        (Value::Json(json), "size" | "length") => match &**json {
            serde_json::Value::Array(all) => Ok(Value::Int(all.len() as i64)),
            serde_json::Value::Object(all) => Ok(Value::Int(all.len() as i64)),
            _ => Err("this JSON value has no size".to_owned()),
        },
        (Value::Json(json), "get" | "containsKey") => {
            let key = arguments.first().cloned().unwrap_or(Value::Null);
            let found = member(json, &key, language);
            Ok(match name {
                "get" => found,
                _ => Value::Bool(json.get(key.to_text(language)).is_some()),
            })
        }
        (Value::Json(json), "isEmpty") => Ok(Value::Bool(!Value::Json(json.clone()).is_true())),
        (Value::Null, _) => Err(format!("cannot call `{name}` on null")),
        _ => Err(format!("`{}` has no method `{name}`", value.to_text(language))),
    }
}

/// Returns a member of a JSON value by name or index; null if there is none.
pub fn member(json: &serde_json::Value, key: &Value, language: Language) -> Value {
    let found = match (json, key.integer()) {
        (serde_json::Value::Array(all), Some(at)) => {
            let at = if at < 0 { all.len() as i64 + at } else { at };
            usize::try_from(at).ok().and_then(|at| all.get(at))
        }
        _ => json.get(key.to_text(language)),
    };
    found.map_or(Value::Null, |found| Value::Json(found.clone().into()).plain())
}

fn index(text: &str, byte: Option<usize>) -> Value {
    Value::Int(byte.map_or(-1, |byte| text[..byte].chars().count() as i64))
}

/// Writes `$1` of Java as `${1}`, and `\$` as `$$`.
pub fn java_replacement(text: &str) -> String {
    let mut out = String::new();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => {}
            },
            '$' if signs.peek().is_some_and(char::is_ascii_digit) => {
                let digit = signs.next().unwrap_or('0');
                out.push_str(&format!("${{{digit}}}"));
            }
            '$' => out.push_str("$$"),
            other => out.push(other),
        }
    }
    out
}

/// Converts a value to a type.
///
/// # Errors
/// Returns why the value does not suit the type.
pub fn converted(value: Value, to: &str, language: Language) -> Result<Value, String> {
    let wrong = || format!("`{}` is not of the type `{to}`", value.to_text(language));
    Ok(match to {
        "int" | "long" | "Integer" | "Long" | "BigInteger" => Value::Int(value.integer().ok_or_else(wrong)?),
        "double" | "float" | "Double" | "Float" | "BigDecimal" => {
            Value::Number(value.number().ok_or_else(wrong)?)
        }
        "boolean" | "Boolean" => Value::Bool(value.is_true()),
        "File" => Value::Object(Object::File(value.to_text(language).into())),
        "String" => match value {
            Value::Null => Value::Null,
            other => Value::Text(other.to_text(language).into()),
        },
        _ => value,
    })
}
