//! The `params` object of a request.

use crate::host::Host;
use crate::http::response::{BodyType, Expected};
use crate::jar::Jar;
use crate::native::jars;
use plimsoll_quickjs::{Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// What a script says of one request besides its URL and body.
#[derive(Default)]
pub struct Params {
    pub headers: Vec<(String, String)>,
    pub tags: Vec<(String, String)>,
    /// The `name` tag: name of the series.
    pub name: Option<String>,
    /// ns; 0 means the default.
    pub timeout_ns: u64,
    pub redirects: Option<u32>,
    pub body_type: Option<BodyType>,
    /// Name, value, and whether it replaces the cookie of the jar.
    pub cookies: Vec<(String, String, bool)>,
    pub jar: Option<Rc<RefCell<Jar>>>,
    /// `basic` or `digest`.
    pub auth: Option<String>,
    pub compression: Vec<String>,
    /// `Some(None)`: every status is accepted.
    pub expected: Option<Expected>,
}

/// Default timeout of a request, ns.
pub const TIMEOUT_NS: u64 = 60_000_000_000;

/// The properties of the object that are read.
pub const KEYS: [&str; 10] = [
    "headers",
    "tags",
    "timeout",
    "redirects",
    "responseType",
    "cookies",
    "jar",
    "auth",
    "compression",
    "responseCallback",
];

impl Params {
    /// Reads the object; anything else means no parameters.
    ///
    /// # Errors
    /// Returns an error that names the parameter.
    pub fn read(value: &Value) -> Result<Params, Thrown> {
        let mut params = Params::default();
        if value.is_nullish() {
            return Ok(params);
        }
        if !value.is_object() {
            return Err(wrong(value, "the parameters of a request must be an object"));
        }
        let host = Host::of_runtime(value.realm().runtime());
        let Some(names) = host.map(|host| &host.names(value.realm()).params) else { return Ok(params) };
        let given = value.properties()?;
        for at in 0..given.count() {
            let known = names.iter().position(|name| given.is(at, *name));
            let Some(key) = known.map(|known| KEYS[known]) else { continue };
            let of = given.value(at)?;
            if of.is_nullish() && key != "responseCallback" {
                continue;
            }
            match key {
                "headers" => params.headers = pairs(&of)?,
                "tags" => {
                    for (name, text) in pairs(&of)? {
                        match name.as_str() {
                            "name" => params.name = Some(text),
                            _ => params.tags.push((name, text)),
                        }
                    }
                }
                "timeout" => params.timeout_ns = duration_ns(&of)?,
                "redirects" => params.redirects = Some(of.to_number()?.max(0.0) as u32),
                "responseType" => {
                    params.body_type = Some(match of.to_text()?.as_str() {
                        "text" => BodyType::Text,
                        "binary" => BodyType::Binary,
                        "none" => BodyType::None,
                        other => return Err(wrong(value, &format!("unknown response type `{other}`"))),
                    });
                }
                "cookies" => params.cookies = cookies(&of)?,
                "jar" => params.jar = jars::of(&of),
                "auth" => {
                    let kind = of.to_text()?;
                    if kind != "basic" && kind != "digest" {
                        return Err(wrong(value, &format!("unsupported authentication `{kind}`")));
                    }
                    params.auth = Some(kind);
                }
                "compression" => {
                    let text = of.to_text()?;
                    params.compression = text.split(',').map(|one| one.trim().to_ascii_lowercase()).collect();
                }
                "responseCallback" => params.expected = Some(expected(&of)?),
                _ => {}
            }
        }
        Ok(params)
    }
}

/// Returns an error for a mistake in an argument.
pub fn wrong(value: &Value, message: &str) -> Thrown {
    value.realm().error("TypeError", message)
}

/// Reads a response callback: `null`, or the ranges of `http.expectedStatuses()`.
///
/// # Errors
/// Returns an error for anything else.
pub fn expected(value: &Value) -> Result<Expected, Thrown> {
    if value.is_nullish() {
        return Ok(None);
    }
    let ranges = value.get_str("__statuses")?;
    if !ranges.is_array() {
        return Err(wrong(
            value,
            "a response callback must come from `http.expectedStatuses()`, or be `null`",
        ));
    }
    let mut all = Vec::new();
    for at in 0..ranges.length()? {
        let range = ranges.get_index(at)?;
        let number = |at| -> Result<u16, Thrown> { Ok(range.get_index(at)?.to_number()? as u16) };
        all.push((number(0)?, number(1)?));
    }
    Ok(Some(Rc::new(all)))
}

/// Returns names and values of an object as texts.
pub fn pairs(value: &Value) -> Result<Vec<(String, String)>, Thrown> {
    if !value.is_object() {
        return Err(wrong(value, "headers and tags must be objects"));
    }
    let mut all = Vec::new();
    let given = value.properties()?;
    for at in 0..given.count() {
        all.push((given.name(at)?, given.value(at)?.to_text()?));
    }
    Ok(all)
}

fn cookies(value: &Value) -> Result<Vec<(String, String, bool)>, Thrown> {
    let mut all = Vec::new();
    for name in value.keys()? {
        let of = value.get_str(&name)?;
        match of.is_object() {
            true => {
                let replaces = of.get_str("replace")?.truth();
                all.push((name, of.get_str("value")?.to_text()?, replaces));
            }
            false => all.push((name, of.to_text()?, false)),
        }
    }
    Ok(all)
}

/// Reads a duration: a number of milliseconds, or a text such as `1m30s`.
///
/// # Errors
/// Returns an error for an invalid text.
pub fn duration_ns(value: &Value) -> Result<u64, Thrown> {
    if let Some(ms) = value.as_number() {
        return Ok((ms.max(0.0) * 1e6) as u64);
    }
    let text = value.to_text()?;
    match text.parse::<f64>() {
        Ok(ms) => Ok((ms.max(0.0) * 1e6) as u64),
        Err(_) => duration_of(&text).ok_or_else(|| wrong(value, &format!("invalid duration `{text}`"))),
    }
}

/// Parses `1d2h3m4.5s6ms7us8ns`; every part is optional, at least one is present.
pub fn duration_of(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 8] = [
        ("ms", 1e6),
        ("us", 1e3),
        ("µs", 1e3),
        ("ns", 1.0),
        ("d", 86_400e9),
        ("h", 3_600e9),
        ("m", 60e9),
        ("s", 1e9),
    ];
    let (mut rest, mut total) = (text.trim(), 0.0);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, factor) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
        total += number * factor;
        rest = &rest[unit.len()..];
    }
    Some(total as u64)
}
