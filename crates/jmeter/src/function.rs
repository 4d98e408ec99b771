//! JMeter's functions.
//!
//! As in JMeter, a function whose arguments make no sense yields an empty text and a line in the log, and the sample
//! continues.

mod code;
mod file;
mod number;
mod text;
mod time;

pub use code::evaluate as evaluate_code;
pub use text::{digest, unescaped_html, url_decoded, url_encoded, url_encoded_bytes};
pub use time::now;

use crate::log::Level;
use crate::scope::Scope;
use crate::template::Call;

/// The code of a function.
pub type Body = fn(&Call, &mut Scope<'_>) -> String;

/// Returns the code of the function with a name.
pub fn named(name: &str) -> Option<Body> {
    Some(match name {
        "__CSVRead" => file::csv_read,
        "__FileToString" => file::file_to_string,
        "__StringFromFile" => file::string_from_file,
        "__StringToFile" => file::string_to_file,
        "__P" => property_or_default,
        "__property" => property,
        "__setProperty" => set_property,
        "__isPropDefined" => is_property_defined,
        "__isVarDefined" => is_variable_defined,
        "__V" => variable,
        "__eval" => evaluated,
        "__evalVar" => evaluated_variable,
        "__env" => environment,
        "__Random" => number::random,
        "__RandomString" => number::random_string,
        "__RandomFromMultipleVars" => number::random_from_variables,
        "__RandomDate" => time::random_date,
        "__counter" => number::counter,
        "__intSum" | "__longSum" => number::sum,
        "__time" => time::time,
        "__timeShift" => time::shifted,
        "__dateTimeConvert" => time::converted,
        "__UUID" => |_, scope| uuid(scope),
        "__threadNum" => |_, scope| scope.thread.number.to_string(),
        "__threadGroupName" => |_, scope| scope.run.group_title(scope.thread.group).to_owned(),
        "__samplerName" => sampler_name,
        "__TestPlanName" => |_, scope| scope.run.plan_name.clone(),
        "__machineIP" => machine_address,
        "__machineName" => machine_name,
        "__urlencode" => |call, scope| url_encoded(&call.argument(0, scope)),
        "__urldecode" => |call, scope| url_decoded(&call.argument(0, scope)),
        "__base64Encode" => text::base64_encoded,
        "__base64Decode" => text::base64_decoded,
        "__digest" => text::digested,
        "__changeCase" => text::cased,
        "__char" => text::characters,
        "__split" => text::split,
        "__escapeHtml" => |call, scope| text::escaped_html(&call.argument(0, scope)),
        "__escapeXml" => |call, scope| text::escaped_xml(&call.argument(0, scope)),
        "__unescapeHtml" => |call, scope| text::unescaped_html(&call.argument(0, scope)),
        "__unescape" => |call, scope| text::unescaped(&call.argument(0, scope)),
        "__escapeOroRegexpChars" => text::escaped_pattern,
        "__regexFunction" => text::matched,
        "__log" => logged,
        "__logn" => logged_silently,
        "__groovy" => code::groovy,
        "__javaScript" => code::javascript,
        "__jexl2" | "__jexl3" => code::jexl,
        _ => return None,
    })
}

/// Logs why a function has no value, and returns the empty text.
fn without_value(scope: &Scope<'_>, function: &str, why: &str) -> String {
    scope.run.warn_once(&format!("{function}: {why}"));
    String::new()
}

/// Returns a random UUID of version 4 (RFC 9562).
pub fn uuid(scope: &mut Scope<'_>) -> String {
    let (high, low) = (scope.random.next_u64(), scope.random.next_u64());
    let high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000;
    let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}

fn property_or_default(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    scope.run.property(&name).unwrap_or_else(|| call.optional(1, scope).unwrap_or_else(|| "1".to_owned()))
}

fn property(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    let value = scope.run.property(&name).unwrap_or_else(|| call.optional(2, scope).unwrap_or(name));
    call.store(1, &value, scope);
    value
}

fn set_property(call: &Call, scope: &mut Scope<'_>) -> String {
    let (name, value) = (call.argument(0, scope), call.argument(1, scope));
    let old = scope.run.property(&name);
    scope.run.set_property(&name, &value);
    // With a third argument `true`, the value is the former one.
    match call.argument(2, scope).trim().eq_ignore_ascii_case("true") {
        true => old.unwrap_or_default(),
        false => String::new(),
    }
}

fn is_property_defined(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    scope.run.property(&name).is_some().to_string()
}

fn is_variable_defined(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    scope.vars.get(&name).is_some().to_string()
}

fn variable(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    match scope.vars.get(&name) {
        Some(value) => value.to_owned(),
        None => call.optional(1, scope).unwrap_or(name),
    }
}

fn evaluated(call: &Call, scope: &mut Scope<'_>) -> String {
    let text = call.argument(0, scope);
    scope.evaluate(&text)
}

fn evaluated_variable(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    match scope.vars.get(&name).map(str::to_owned) {
        Some(text) => scope.evaluate(&text),
        None => name,
    }
}

fn environment(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    let value = std::env::var(name.trim()).ok().or_else(|| call.optional(2, scope)).unwrap_or(name);
    call.store(1, &value, scope);
    value
}

fn sampler_name(call: &Call, scope: &mut Scope<'_>) -> String {
    let value = scope.sampler.to_owned();
    call.store(0, &value, scope);
    value
}

fn machine_address(call: &Call, scope: &mut Scope<'_>) -> String {
    let value = scope.run.machine.1.clone();
    call.store(0, &value, scope);
    value
}

fn machine_name(call: &Call, scope: &mut Scope<'_>) -> String {
    let value = scope.run.machine.0.clone();
    call.store(0, &value, scope);
    value
}

fn logged(call: &Call, scope: &mut Scope<'_>) -> String {
    let text = call.argument(0, scope);
    write_log(call, &text, scope);
    text
}

fn logged_silently(call: &Call, scope: &mut Scope<'_>) -> String {
    let text = call.argument(0, scope);
    write_log(call, &text, scope);
    String::new()
}

fn write_log(call: &Call, text: &str, scope: &mut Scope<'_>) {
    let level = match call.argument(1, scope).trim().to_ascii_uppercase().as_str() {
        "DEBUG" | "TRACE" => Level::Debug,
        "WARN" => Level::Warning,
        "ERROR" => Level::Error,
        _ => Level::Info,
    };
    let comment = call.argument(3, scope);
    let comment = if comment.is_empty() { String::new() } else { format!("{comment} ") };
    scope.run.log.write(level, &format!("{} {comment}{text}", scope.thread.name));
}
