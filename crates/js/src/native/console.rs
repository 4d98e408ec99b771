//! `console`.

use super::Row;
use crate::host::Host;
use crate::log::Level;
use plimsoll_quickjs::{Call, Realm, Thrown, Value};

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
    Host::of(call)?.shared.script.log.write(level, &text);
    Ok(call.realm().undefined())
}

/// Returns a value as text: objects as JSON, where they have one.
fn describe(value: &Value) -> Result<String, Thrown> {
    if value.is_object()
        && !value.is_error()
        && !value.is_function()
        && let Ok(Some(json)) = value.to_json()
    {
        return Ok(json);
    }
    if value.is_error() {
        let stack = value.get_str("stack")?.as_text().unwrap_or_default();
        return Ok(format!("{}\n{}", value.to_text()?, stack.trim_end()).trim_end().to_owned());
    }
    value.to_text()
}
