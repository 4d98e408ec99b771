//! `console`.

use super::Row;
use crate::host::Host;
use crate::log::{Level, Source};
use plimsoll_quickjs::{Call, Kind, Realm, Thrown, Value};

pub(super) const ROWS: &[Row] = &[
    ("consoleDebug", 1, debug),
    ("consoleInfo", 1, info),
    ("consoleWarn", 1, warn),
    ("consoleError", 1, error),
];

pub(super) fn install(realm: &Realm) -> Result<(), Thrown> {
    let console = realm.object();
    for (name, native) in [
        ("log", info as plimsoll_quickjs::Native),
        ("info", info),
        ("debug", debug),
        ("warn", warn),
        ("error", error),
    ] {
        console.set_str(name, realm.function(name, 1, native))?;
    }
    realm.global().define("console", console, true, false)
}

fn debug(call: &Call<'_>) -> Result<Value, Thrown> {
    write(call, Level::Debug)
}

fn info(call: &Call<'_>) -> Result<Value, Thrown> {
    write(call, Level::Info)
}

fn warn(call: &Call<'_>) -> Result<Value, Thrown> {
    write(call, Level::Warning)
}

fn error(call: &Call<'_>) -> Result<Value, Thrown> {
    write(call, Level::Error)
}

fn write(call: &Call<'_>, level: Level) -> Result<Value, Thrown> {
    let mut text = String::new();
    for at in 0..call.count() {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(&describe(&call.argument(at))?);
    }
    Host::of(call)?.shared.script.log.write(level, Source::Console, &text);
    Ok(call.realm().undefined())
}

/// Returns a value as text, as k6 writes it.
fn describe(value: &Value) -> Result<String, Thrown> {
    if value.is_function() {
        return Ok(FUNCTION.to_owned());
    }
    if !value.is_object() || value.is_error() {
        return primitive(value);
    }
    let mut out = String::new();
    write_nested(value, &mut Vec::new(), &mut out)?;
    Ok(out)
}

/// Returns the text of a value that is not an object, or of an error. That of a symbol is its description, as in k6.
fn primitive(value: &Value) -> Result<String, Thrown> {
    match value.kind() {
        Kind::Symbol => {
            let description = value.get_str("description")?;
            if description.is_undefined() { Ok(String::new()) } else { description.to_text() }
        }
        _ => Ok(value.to_text().unwrap_or_else(|_| value.describe())),
    }
}

const FUNCTION: &str = "[object Function]";

/// Writes a value inside of an object: `{ a: 1, b: [ "x" ] }`. `around` are the objects that contain it.
fn write_nested(value: &Value, around: &mut Vec<Value>, out: &mut String) -> Result<(), Thrown> {
    match value.kind() {
        _ if value.is_nullish() => out.push_str("null"),
        Kind::Symbol => out.push_str(&format!("\"{}\"", primitive(value)?)),
        Kind::String => out.push_str(&format!("\"{}\"", value.to_text()?)),
        _ if value.is_function() => out.push_str(FUNCTION),
        _ if !value.is_object() || value.is_error() => {
            out.push_str(&primitive(value)?);
        }
        _ if around.iter().any(|outer| outer.is_same(value)) => out.push_str("[Circular]"),
        _ => {
            around.push(value.clone());
            write_object(value, around, out)?;
            around.pop();
        }
    }
    Ok(())
}

fn write_object(value: &Value, around: &mut Vec<Value>, out: &mut String) -> Result<(), Thrown> {
    let (open, close, keys) = match () {
        () if value.bytes().is_some() => return write_bytes(value, out),
        () if value.is_array() => ("[", "]", None),
        () => ("{", "}", Some(value.keys()?)),
    };
    let length = match &keys {
        Some(keys) => keys.len(),
        None => value.length()? as usize,
    };
    if length == 0 {
        match value.is_date() {
            true => out.push_str(&format!("\"{}\"", value.call_method("toISOString", &[])?.to_text()?)),
            false => out.push_str(&format!("{open}{close}")),
        }
        return Ok(());
    }
    out.push_str(open);
    for at in 0..length {
        out.push_str(if at == 0 { " " } else { ", " });
        let inner = match keys.as_ref().and_then(|keys| keys.get(at)) {
            Some(key) => {
                out.push_str(&format!("{key}: "));
                value.get_str(key)?
            }
            None => value.get_index(u32::try_from(at).unwrap_or(u32::MAX))?,
        };
        write_nested(&inner, around, out)?;
    }
    out.push_str(&format!(" {close}"));
    Ok(())
}

/// Writes a buffer, or a view of one.
fn write_bytes(value: &Value, out: &mut String) -> Result<(), Thrown> {
    let name = value.get_str("constructor")?.get_str("name")?.to_text()?;
    if name.ends_with("Buffer") {
        let bytes = value.bytes().unwrap_or_default();
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("{name} {{ [Uint8Contents]: <{}>, byteLength: {} }}", hex.join(" "), bytes.len());
        out.push_str(&text);
        return Ok(());
    }
    let length = value.length().unwrap_or(0);
    let items = (0..length).map(|at| value.get_index(at)?.to_text()).collect::<Result<Vec<_>, _>>()?;
    match items.is_empty() {
        true => out.push_str(&format!("{name}(0) []")),
        false => out.push_str(&format!("{name}({length}) [ {} ]", items.join(", "))),
    }
    Ok(())
}
