//! The properties of a response. Those that take work are computed once, and then properties of the object itself.

use crate::host::Host;
use crate::http::{BodyType, Response};
use crate::native::Row;
use plimsoll_body::json::{NotJson, Selected, Tree, without_mark};
use plimsoll_plan::Fault;
use plimsoll_plan::code::OriginFacts;
use plimsoll_plan::request::Target;
use plimsoll_quickjs::{Call, Native, Realm, Thrown, Value};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::PoisonError;

pub(in crate::native) const ROWS: &[Row] = &[
    ("responseStatusText", 0, status_text),
    ("responseProto", 0, proto),
    ("responseUrl", 0, url),
    ("responseBody", 0, body),
    ("responseHeaders", 0, headers),
    ("responseCookies", 0, cookies),
    ("responseTimings", 0, timings),
    ("responseError", 0, error),
    ("responseErrorCode", 0, error_code),
    ("responseRequest", 0, request),
    ("responseRemoteIp", 0, remote_ip),
    ("responseRemotePort", 0, remote_port),
    ("responseTlsVersion", 0, tls_version),
    ("responseTlsCipherSuite", 0, tls_cipher_suite),
    ("responseOcsp", 0, ocsp),
    ("responseJson", 1, json),
    ("responseJsonAt", 2, json_at),
    ("responseText", 0, text),
];

/// Name of the prototype of responses until the realm is ready.
const PROTOTYPE: &str = "__plimsoll_response";
/// Hidden property of the global object.
const LAYOUTS: &str = "__plimsoll_layouts";
/// Layouts kept in a realm.
const LAYOUTS_MOST: u32 = 100;

/// Properties of responses, with their getters.
const GETTERS: &[(&str, Native)] = &[
    ("status_text", status_text),
    ("proto", proto),
    ("url", url),
    ("body", body),
    ("headers", headers),
    ("cookies", cookies),
    ("timings", timings),
    ("error", error),
    ("error_code", error_code),
    ("request", request),
    ("remote_ip", remote_ip),
    ("remote_port", remote_port),
    ("tls_version", tls_version),
    ("tls_cipher_suite", tls_cipher_suite),
    ("ocsp", ocsp),
];

pub(in crate::native) fn install(realm: &Realm, host: &Rc<Host>) -> Result<(), Thrown> {
    let prototype = realm.object();
    for (name, native) in GETTERS {
        prototype.define_getter(name, realm.function(name, 0, *native))?;
    }
    // `boot.js` adds the methods, and removes this name.
    realm.global().define(PROTOTYPE, prototype.clone(), true, false)?;
    host.responses.set_prototype(realm, prototype);
    let nothing = || Response::never(Rc::default(), Fault::InvalidRequest, String::new());
    let with_body = object(realm, host, nothing())?;
    with_body.put(host.names(realm).body, realm.null())?;
    let bare = host.responses.object(realm, nothing());
    let layouts = realm.array();
    for (at, one) in (0..).zip([realm.object(), bare, object(realm, host, nothing())?, with_body]) {
        layouts.set_index(at, one)?;
    }
    realm.global().define(LAYOUTS, layouts, false, false)
}

/// Keeps an object with the properties of objects that each iteration makes: objects of the same properties share
/// their layout as long as one of them lives.
///
/// # Errors
/// Returns an error if memory has run out.
pub fn keep_layout(realm: &Realm, one: Value) -> Result<(), Thrown> {
    let layouts = realm.global().get_str(LAYOUTS)?;
    let count = layouts.length()?;
    if count < LAYOUTS_MOST { layouts.set_index(count, one) } else { Ok(()) }
}

/// Returns a response as an object. The property that nearly every script reads is one from the start.
///
/// # Errors
/// Returns an error if memory has run out.
pub fn object(realm: &Realm, host: &Host, response: Response) -> Result<Value, Thrown> {
    let status = f64::from(response.status);
    let object = host.responses.object(realm, response);
    object.put(host.names(realm).status, realm.number(status))?;
    Ok(object)
}

/// Passes the response to a function.
fn with<R>(call: &Call<'_>, read: impl FnOnce(&Response) -> R) -> Result<R, Thrown> {
    let host = Host::of(call)?;
    let this = call.this();
    match host.responses.get(&this) {
        Some(response) => Ok(read(response)),
        None => Err(call.realm().error("TypeError", "this property belongs to a response")),
    }
}

/// Makes a computed value a property of the object.
fn kept(call: &Call<'_>, name: &str, value: Value) -> Result<Value, Thrown> {
    call.this().define(name, value.clone(), true, true)?;
    Ok(value)
}

fn status_text(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = with(call, Response::status_text)?;
    Ok(call.realm().text(&text))
}

fn proto(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = with(call, Response::protocol)?;
    Ok(call.realm().text(text))
}

fn url(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = with(call, |response| Rc::clone(&response.request.url))?;
    Ok(call.realm().text(&text))
}

fn error(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = with(call, Response::error)?;
    Ok(call.realm().text(&text))
}

fn error_code(call: &Call<'_>) -> Result<Value, Thrown> {
    let code = with(call, Response::error_code)?;
    Ok(call.realm().number(f64::from(code)))
}

fn body(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let value = with(call, |response| match response.body_type {
        BodyType::None => realm.null(),
        BodyType::Text => realm.text(&response.text()),
        BodyType::Binary => realm.buffer(&response.body),
    })?;
    call.this().put(Host::of(call)?.names(realm).body, value.clone())?;
    Ok(value)
}

/// The body as text, also if it is binary; `undefined` if there is none.
fn text(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    with(call, |response| match response.body_type {
        BodyType::None => realm.undefined(),
        _ => realm.text(&response.text()),
    })
}

fn headers(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let object = with(call, |response| {
        let mut fields: Vec<(&[u8], Cow<'_, str>)> = Vec::with_capacity(16);
        for (name, value) in response.fields() {
            // Invalid UTF-8 is replaced.
            let value = String::from_utf8_lossy(value);
            match fields.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((_, known)) => known.to_mut().push_str(&format!(", {value}")),
                None => fields.push((name, value)),
            }
        }
        let object = realm.object();
        for (name, value) in fields {
            host.set_header(realm, &object, name, &value)?;
        }
        Ok(object)
    })??;
    kept(call, "headers", object)
}

/// The cookies that the response sets: lists by name.
fn cookies(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let fields: Vec<String> = with(call, |response| {
        let fields = response.head().fields("set-cookie");
        fields.map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    })?;
    let object = realm.object();
    for field in fields {
        let mut parts = field.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
        let cookie = realm.object();
        cookie.set_str("name", realm.text(name.trim()))?;
        cookie.set_str("value", realm.text(value))?;
        for (key, default) in [("domain", ""), ("path", "")] {
            cookie.set_str(key, realm.text(default))?;
        }
        cookie.set_str("http_only", realm.bool(false))?;
        cookie.set_str("secure", realm.bool(false))?;
        cookie.set_str("max_age", realm.number(0.0))?;
        cookie.set_str("expires", realm.number(0.0))?;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" => cookie.set_str("domain", realm.text(value.trim_start_matches('.')))?,
                "path" => cookie.set_str("path", realm.text(value))?,
                "httponly" => cookie.set_str("http_only", realm.bool(true))?,
                "secure" => cookie.set_str("secure", realm.bool(true))?,
                "max-age" => cookie.set_str("max_age", realm.number(value.parse().unwrap_or(0.0)))?,
                "expires" => {
                    let seconds = plimsoll_script::ask::cookie_date(value.as_bytes()).unwrap_or(0);
                    cookie.set_str("expires", realm.number(seconds as f64 * 1e3))?;
                }
                _ => {}
            }
        }
        let mut list = object.get_str(name.trim())?;
        if !list.is_array() {
            list = realm.array();
            object.set_str(name.trim(), list.clone())?;
        }
        list.set_index(list.length()?, cookie)?;
    }
    kept(call, "cookies", object)
}

/// Times of the request in milliseconds, by k6's definitions: `duration` excludes the connection.
fn timings(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let phases = with(call, |response| response.phases)?;
    let ms = |ns: u64| ns as f64 / 1e6;
    let object = realm.object();
    for (name, value) in [
        ("duration", ms(phases.service_ns())),
        ("blocked", ms(phases.wait_ns)),
        ("looking_up", 0.0),
        ("connecting", ms(phases.connect_ns.saturating_sub(phases.tls_ns))),
        ("tls_handshaking", ms(phases.tls_ns)),
        ("sending", 0.0),
        ("waiting", ms(phases.first_byte_ns)),
        ("receiving", ms(phases.body_ns)),
    ] {
        object.set_str(name, realm.number(value))?;
    }
    kept(call, "timings", object)
}

fn request(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let sent = with(call, |response| Rc::clone(&response.request))?;
    let object = realm.object();
    object.set_str("method", realm.text(&sent.method))?;
    object.set_str("url", realm.text(&sent.url))?;
    let headers = realm.object();
    for (name, value) in &sent.headers {
        let list = realm.array();
        list.set_index(0, realm.text(value))?;
        headers.set_str(&crate::http::canonical(name), list)?;
    }
    if headers.get_str("User-Agent")?.is_undefined() {
        let list = realm.array();
        list.set_index(0, realm.text(&Host::of(call)?.shared.settings.user_agent))?;
        headers.set_str("User-Agent", list)?;
    }
    object.set_str("headers", headers)?;
    object.set_str("body", realm.text(&String::from_utf8_lossy(sent.body.as_deref().unwrap_or_default())))?;
    let cookies = realm.object();
    for (name, value) in &sent.cookies {
        let list = realm.array();
        let cookie = realm.object();
        cookie.set_str("name", realm.text(name))?;
        cookie.set_str("value", realm.text(value))?;
        cookie.set_str("replace", realm.bool(false))?;
        list.set_index(0, cookie)?;
        cookies.set_str(name, list)?;
    }
    object.set_str("cookies", cookies)?;
    kept(call, "request", object)
}

/// Returns what a selector of plain names selects in the body: `user.name`. Any other selector, and a text that Rust
/// cannot hold, results in the second argument.
fn json_at(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let (selector, other) = (call.argument(0), call.argument(1));
    let Some(path) = selector.with_text(|text| host.json_path(text))? else { return Ok(other) };
    with(call, |response| {
        if response.body_type == BodyType::None {
            return Ok(other);
        }
        let body = without_mark(&response.body);
        let span = match path.select(body, &mut Tree::Unread, |_| 0) {
            Ok(Selected { span: Some(span), .. }) => span,
            Ok(_) => return Ok(realm.undefined()),
            // Invalid JSON, or nesting that is too deep for this reader.
            Err(NotJson) => return Ok(other),
        };
        let is_text = span.begin > 0 && body[span.begin - 1] == b'"' && body.get(span.end) == Some(&b'"');
        let piece = &body[span.begin..span.end];
        match (std::str::from_utf8(piece), is_text) {
            (Ok(_), true) if span.escaped => Ok(other),
            (Ok(text), true) => Ok(realm.text(text)),
            (Ok("true"), _) => Ok(realm.bool(true)),
            (Ok("false"), _) => Ok(realm.bool(false)),
            (Ok("null"), _) => Ok(realm.null()),
            (Ok(text), _) => match text.parse() {
                Ok(number) => Ok(realm.number(number)),
                Err(_) => realm.parse_json(text, "response.json"),
            },
            (Err(_), _) => Ok(other),
        }
    })?
}

/// Returns where a request went, unless it was never answered.
fn target(call: &Call<'_>) -> Result<Option<Target>, Thrown> {
    let host = Host::of(call)?;
    let url = with(call, |response| (response.status > 0).then(|| Rc::clone(&response.request.url)))?;
    Ok(url.and_then(|url| host.address(&url).ok()?.way.mapped.clone().ok()))
}

/// Returns what is known of the origin of a request, unless it was never answered.
fn facts(call: &Call<'_>) -> Result<Option<OriginFacts>, Thrown> {
    let Some(mut target) = target(call)? else { return Ok(None) };
    target.host.make_ascii_lowercase();
    let known = Host::of(call)?.shared.facts.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(known.get(&target).cloned())
}

/// The address of the server; unknown if its name has several.
fn remote_ip(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let Some(target) = target(call)? else { return Ok(realm.text("")) };
    let literal = target.host.trim_matches(['[', ']']).parse().ok();
    let address = literal.or(facts(call)?.and_then(|facts| facts.address));
    Ok(address.map_or_else(|| realm.undefined(), |address| realm.text(&address.to_string())))
}

fn remote_port(call: &Call<'_>) -> Result<Value, Thrown> {
    let port = target(call)?.map_or(0, |target| target.port);
    Ok(call.realm().number(f64::from(port)))
}

/// The version of TLS that the server has chosen before the load.
fn tls_version(call: &Call<'_>) -> Result<Value, Thrown> {
    of_tls(call, |version, _| format!("tls1.{}", version.saturating_sub(10)))
}

/// The cipher suite that the server has chosen before the load.
fn tls_cipher_suite(call: &Call<'_>) -> Result<Value, Thrown> {
    of_tls(call, |_, suite| suite.replacen("TLS13_", "TLS_", 1))
}

fn of_tls(call: &Call<'_>, text: impl Fn(u8, &str) -> String) -> Result<Value, Thrown> {
    let realm = call.realm();
    if !with(call, |response| response.request.url.starts_with("https:"))? {
        return Ok(realm.text(""));
    }
    let chosen = facts(call)?.and_then(|facts| facts.tls);
    Ok(chosen.map_or_else(|| realm.undefined(), |(version, suite)| realm.text(&text(version, suite))))
}

/// The revocation status of a certificate: none without TLS, and unknown with it, because it is not asked for.
fn ocsp(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let is_tls = with(call, |response| response.status > 0 && response.request.url.starts_with("https:"))?;
    let object = realm.object();
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set_str(name, realm.number(0.0))?;
    }
    object.set_str("revocation_reason", realm.text(""))?;
    object.set_str("status", realm.text(if is_tls { "unknown" } else { "" }))?;
    kept(call, "ocsp", object)
}

/// Parses the body as JSON.
fn json(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let text = with(call, |response| match response.body_type {
        BodyType::None => None,
        _ => Some(response.text().into_owned()),
    })?;
    let Some(text) = text else {
        return Err(realm.error("Error", "the body of this response was not kept, so that it has no JSON"));
    };
    realm.parse_json(&text, "response.json")
}
