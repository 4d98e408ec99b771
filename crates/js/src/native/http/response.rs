//! The properties of a response. Those that take work are computed once, and then properties of the object itself.

use crate::host::Host;
use crate::http::{BodyType, Response};
use crate::native::Row;
use plimsoll_plan::request::Target;
use plimsoll_quickjs::{Call, Native, Realm, Thrown, Value};
use std::rc::Rc;

pub(in crate::native) const ROWS: &[Row] = &[
    ("responseStatus", 0, status),
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
    ("responseTlsVersion", 0, of_tls),
    ("responseOcsp", 0, ocsp),
    ("responseJson", 1, json),
    ("responseText", 0, text),
];

/// Name of the prototype of responses until the realm is ready.
const PROTOTYPE: &str = "__plimsoll_response";

/// Properties of responses, with their getters.
const GETTERS: &[(&str, Native)] = &[
    ("status", status),
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
    ("tls_version", of_tls),
    ("tls_cipher_suite", of_tls),
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
    Ok(())
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

fn status(call: &Call<'_>) -> Result<Value, Thrown> {
    let status = with(call, |response| response.status)?;
    Ok(call.realm().number(f64::from(status)))
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
    let text = with(call, |response| response.url.clone())?;
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
    kept(call, "body", value)
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
    let realm = call.realm();
    let fields = with(call, Response::fields)?;
    let object = realm.object();
    let mut all: Vec<(String, String)> = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => {
                values.push_str(", ");
                values.push_str(&value);
            }
            None => all.push((name, value)),
        }
    }
    for (name, value) in all {
        object.set_str(&name, realm.text(&value))?;
    }
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
    object.set_str("body", realm.text(&String::from_utf8_lossy(&sent.body)))?;
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

/// Returns where a request went, unless it was never answered.
fn target(call: &Call<'_>) -> Result<Option<Target>, Thrown> {
    let settings = &Host::of(call)?.shared.settings;
    let url = with(call, |response| (response.status > 0).then(|| response.url.clone()))?;
    let target = url.and_then(|url| crate::http::url::parse(&url).ok()).map(|url| url.target);
    Ok(target.and_then(|target| settings.mapped(&target).ok()))
}

/// The address, if the host is one; plimsoll does not pass on what a name was resolved to.
fn remote_ip(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    Ok(match target(call)? {
        None => realm.text(""),
        Some(target) => match target.host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
            Ok(address) => realm.text(&address.to_string()),
            Err(_) => realm.undefined(),
        },
    })
}

fn remote_port(call: &Call<'_>) -> Result<Value, Thrown> {
    let port = target(call)?.map_or(0, |target| target.port);
    Ok(call.realm().number(f64::from(port)))
}

/// Version and ciphers of TLS: none without it, and unknown with it.
fn of_tls(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let is_tls = with(call, |response| response.url.starts_with("https:"))?;
    Ok(if is_tls { realm.undefined() } else { realm.text("") })
}

/// The revocation status of a certificate: none without TLS, and unknown with it.
fn ocsp(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    if with(call, |response| response.url.starts_with("https:"))? {
        return Ok(realm.undefined());
    }
    let object = realm.object();
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set_str(name, realm.number(0.0))?;
    }
    for name in ["revocation_reason", "status"] {
        object.set_str(name, realm.text(""))?;
    }
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
