//! `stack` of errors: the message, and the places in the files of the script, when a script reads it.

use super::Row;
use crate::host::Host;
use plimsoll_quickjs::{Call, Thrown, Value};
use std::cell::Cell;

pub(super) const ROWS: &[Row] = &[("stack", 2, stack)];

thread_local! {
    /// Whether the host reads it, which finds the places itself.
    static IS_RAW: Cell<bool> = const { Cell::new(false) };
}

/// Returns the stack of an error as the engine has it: without the message, with places in factories.
pub fn raw(error: &Value) -> String {
    let outer = IS_RAW.replace(true);
    let stack = error.get_str("stack").ok().and_then(|stack| stack.as_text()).unwrap_or_default();
    IS_RAW.set(outer);
    stack
}

/// Returns the stack of an error for its script. The arguments are the error, and what the engine has.
fn stack(call: &Call<'_>) -> Result<Value, Thrown> {
    let (error, raw) = (call.argument(0), call.argument(1));
    let text = match raw.as_text() {
        Some(text) if !IS_RAW.get() => text,
        _ => return Ok(raw),
    };
    let frames = Host::of(call)?.shared.script.with_places(&text);
    let all = format!("{}\n{frames}", error.describe());
    Ok(call.realm().text(all.trim_end()))
}
