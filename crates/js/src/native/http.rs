//! `k6/http`: requests.

pub mod response;

use super::Row;
use crate::host::Host;
use crate::http::params::{Params, expected, wrong};
use crate::http::send::{Flow, Started, settle, settle_promise};
use crate::http::{Prepared, Response, send};
use crate::vu::{Awaited, Vu};
use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};
use plimsoll_plan::program::StepId;
use plimsoll_quickjs::{Call, Kind, Thrown, Value};
use std::borrow::Cow;
use std::io::Read;
use std::rc::Rc;

pub(super) const ROWS: &[Row] = &[
    ("httpGet", 2, get),
    ("httpHead", 2, head),
    ("httpPost", 3, post),
    ("httpPut", 3, put),
    ("httpPatch", 3, patch),
    ("httpDelete", 3, delete),
    ("httpOptions", 3, options),
    ("httpRequest", 4, request),
    ("httpAsync", 4, request_async),
    ("httpBatch", 1, batch),
    ("setResponseCallback", 1, set_response_callback),
];

fn get(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "GET", None, 1)
}

fn head(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "HEAD", None, 1)
}

fn post(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "POST", Some(1), 2)
}

fn put(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "PUT", Some(1), 2)
}

fn patch(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "PATCH", Some(1), 2)
}

fn delete(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "DELETE", Some(1), 2)
}

fn options(call: &Call<'_>) -> Result<Value, Thrown> {
    at_once(call, "OPTIONS", Some(1), 2)
}

/// Sends a request whose URL is the first argument.
fn at_once(
    call: &Call<'_>,
    method: &'static str,
    body: Option<usize>,
    params: usize,
) -> Result<Value, Thrown> {
    let body = body.map(|at| call.argument(at));
    let (url, params) = (call.argument(0), call.argument(params));
    let prepared = prepare(Cow::Borrowed(method), &url, body.as_ref(), &params)?;
    sent(call, prepared)
}

fn request(call: &Call<'_>) -> Result<Value, Thrown> {
    let prepared = of_arguments(call)?;
    sent(call, prepared)
}

fn of_arguments(call: &Call<'_>) -> Result<Prepared, Thrown> {
    let method = call.argument(0).to_text()?;
    prepare(Cow::Owned(method), &call.argument(1), Some(&call.argument(2)), &call.argument(3))
}

fn sent(call: &Call<'_>, prepared: Prepared) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "http requests")?;
    let response = send(call, host, &vu, prepared)?;
    response::object(realm, host, response)
}

/// Sends a request and returns a promise of its response.
fn request_async(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "http.asyncRequest()")?;
    let prepared = of_arguments(call)?;
    let (promise, resolve, reject) = realm.promise()?;
    let mut flow = Box::new(Flow::new(host, &vu, prepared));
    match flow.start(host, &vu) {
        Started::Waiting(id) => vu.promise(id, resolve, reject, Awaited::Request(flow)),
        Started::Failed(response) => settle_promise(realm, host, response, (&resolve, &reject))?,
    }
    Ok(promise)
}

/// Reads a request from its parts.
fn prepare(
    method: Cow<'static, str>,
    url: &Value,
    body: Option<&Value>,
    given: &Value,
) -> Result<Prepared, Thrown> {
    let (url, name) = match url.is_object() {
        // `http.url` gives a text and a name.
        true => {
            let text = url.get_str("url")?;
            match text.kind() {
                Kind::String => (text.with_text(|text| Rc::from(text))?, url.get_str("name")?.as_text()),
                _ => (url.with_text(|text| Rc::from(text))?, None),
            }
        }
        false if url.is_nullish() => return Err(wrong(given, "a request requires a URL")),
        false => (url.with_text(|text| Rc::from(text))?, None),
    };
    let mut params = Params::read(given)?;
    let mut body = match body {
        Some(body) if !body.is_nullish() => Some(body_of(body, &mut params)?),
        _ => None,
    };
    if let Some(bytes) = body.as_mut().filter(|_| !params.compression.is_empty()) {
        *bytes = compressed(bytes, &mut params).map_err(|why| given.realm().error("Error", &why))?;
    }
    Ok(Prepared { method, url, name, body: body.map(Rc::from), params })
}

/// Renders a body: text, bytes, or an object as a form.
fn body_of(body: &Value, params: &mut Params) -> Result<Vec<u8>, Thrown> {
    if let Some(bytes) = body.bytes() {
        return Ok(bytes);
    }
    if !body.is_object() {
        return body.with_text(|text| text.as_bytes().to_vec());
    }
    let keys = body.keys()?;
    let mut fields = Vec::with_capacity(keys.len());
    for key in keys {
        let value = body.get_str(&key)?;
        fields.push((key, value));
    }
    let is_file = |value: &Value| value.is_object() && value.get_str("__file").is_ok_and(|mark| mark.truth());
    if fields.iter().any(|(_, value)| is_file(value)) {
        return multipart(&fields, params);
    }
    // k6 sorts them.
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut out = String::new();
    for (key, value) in fields {
        let values = match value.is_array() {
            true => (0..value.length()?).map(|at| value.get_index(at)).collect::<Result<Vec<_>, _>>()?,
            false => vec![value],
        };
        for value in values {
            if !out.is_empty() {
                out.push('&');
            }
            form_encoded(&key, &mut out);
            out.push('=');
            let text = if value.is_nullish() { String::new() } else { value.to_text()? };
            form_encoded(&text, &mut out);
        }
    }
    content_type(params, "application/x-www-form-urlencoded");
    Ok(out.into_bytes())
}

/// The defaults of Brotli's own tool are for files; these are usual for bodies that are made on demand.
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW: u32 = 22;
const BROTLI_BUFFER: usize = 4096;

/// Compresses a body with the algorithms that `params.compression` names, in their order.
///
/// Its encoders take 9 KiB of the stack. Inlined, each user would have touched these pages and kept them, also without
/// compression.
#[cold]
#[inline(never)]
fn compressed(body: &[u8], params: &mut Params) -> Result<Vec<u8>, String> {
    let mut bytes = body.to_vec();
    for name in &params.compression {
        let level = Compression::default();
        let mut out = Vec::new();
        let done = match name.as_str() {
            "gzip" => GzEncoder::new(bytes.as_slice(), level).read_to_end(&mut out),
            "deflate" => ZlibEncoder::new(bytes.as_slice(), level).read_to_end(&mut out),
            "br" => {
                brotli::CompressorReader::new(bytes.as_slice(), BROTLI_BUFFER, BROTLI_QUALITY, BROTLI_WINDOW)
                    .read_to_end(&mut out)
            }
            "zstd" => zstd::bulk::compress(&bytes, 0).map(|packed| {
                out = packed;
                out.len()
            }),
            other => {
                return Err(format!(
                    "compression `{other}` of requests is not supported: use `gzip`, `deflate`, `br`, or `zstd`"
                ));
            }
        };
        done.map_err(|e| format!("the body cannot be compressed: {e}"))?;
        bytes = out;
    }
    let value = params.compression.join(", ");
    params.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-encoding"));
    params.headers.push(("Content-Encoding".to_owned(), value));
    Ok(bytes)
}

fn content_type(params: &mut Params, value: &str) {
    if !params.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        params.headers.push(("Content-Type".to_owned(), value.to_owned()));
    }
}

/// Appends a text in `application/x-www-form-urlencoded` (WHATWG URL section 5.2).
fn form_encoded(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// Renders a form with files (RFC 7578).
fn multipart(fields: &[(String, Value)], params: &mut Params) -> Result<Vec<u8>, Thrown> {
    let mut parts = Vec::new();
    for (key, value) in fields {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let key = quoted(key);
        if value.is_object() && value.get_str("__file")?.truth() {
            let data = value.get_str("data")?;
            let content = match data.bytes() {
                Some(bytes) => bytes,
                None => data.to_text()?.into_bytes(),
            };
            let name = quoted(&value.get_str("filename")?.to_text()?);
            let kind = value.get_str("content_type")?.to_text()?;
            let head = format!(
                "Content-Disposition: form-data; name=\"{key}\"; filename=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n"
            );
            parts.push((head, content));
        } else {
            let head = format!("Content-Disposition: form-data; name=\"{key}\"\r\n\r\n");
            parts.push((head, value.to_text()?.into_bytes()));
        }
    }
    let boundary = boundary_for(&parts);
    let mut out = Vec::new();
    for (head, content) in &parts {
        out.extend_from_slice(format!("--{boundary}\r\n{head}").as_bytes());
        out.extend_from_slice(content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    params.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    content_type(params, &format!("multipart/form-data; boundary={boundary}"));
    Ok(out)
}

/// Returns a boundary that no part contains.
fn boundary_for(parts: &[(String, Vec<u8>)]) -> String {
    let contains =
        |content: &[u8], text: &str| content.windows(text.len()).any(|window| window == text.as_bytes());
    let candidates = (0u64..).map(|number| format!("plimsoll-boundary-{number:016x}"));
    let mut free = candidates.filter(|text| !parts.iter().any(|(_, content)| contains(content, text)));
    free.next().unwrap_or_default()
}

fn set_response_callback(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let ranges = expected(&call.argument(0))?;
    match &*host.vu.borrow() {
        Some(vu) => drop(vu.expected.replace(ranges)),
        None => drop(host.expected.replace(Some(ranges))),
    }
    Ok(realm.undefined())
}

// ---- several requests at once ------------------------------------------------------------------------------------

/// Sends several requests at the same time, some of them after others have ended; returns an array or an object of
/// responses, as given.
fn batch(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "http.batch()")?;
    let all = call.argument(0);
    if !all.is_object() {
        return Err(realm.error("TypeError", "http.batch() requires an array or an object of requests"));
    }
    let mut keys = Vec::new();
    let mut flows = Vec::new();
    for key in all.keys()? {
        flows.push(Some(Flow::new(host, &vu, of_entry(&all.get_str(&key)?)?)));
        keys.push(key);
    }
    let responses = run_batch(call, host, &vu, flows)?;
    let results = if all.is_array() { realm.array() } else { realm.object() };
    for (key, response) in keys.iter().zip(responses) {
        let Some(response) = response else { continue };
        let response = settle(realm, host, response)?;
        results.set_str(key, response::object(realm, host, response)?)?;
    }
    Ok(results)
}

/// Reads an entry of a batch: a URL, `[method, url, body, params]`, or an object with these names.
fn of_entry(entry: &Value) -> Result<Prepared, Thrown> {
    if entry.is_array() {
        let method = entry.get_index(0)?.to_text()?.to_ascii_uppercase();
        return prepare(
            Cow::Owned(method),
            &entry.get_index(1)?,
            Some(&entry.get_index(2)?),
            &entry.get_index(3)?,
        );
    }
    let is_url = !entry.is_object()
        || entry.get_str("name")?.kind() == Kind::String
            && !entry.get_str("url")?.is_nullish()
            && entry.get_str("method")?.is_nullish()
            && entry.get_str("params")?.is_nullish();
    if is_url {
        return prepare(Cow::Borrowed("GET"), entry, None, &entry.realm().undefined());
    }
    let method = entry.get_str("method")?;
    let method = if method.is_nullish() { "GET".to_owned() } else { method.to_text()?.to_ascii_uppercase() };
    let (url, body) = (entry.get_str("url")?, entry.get_str("body")?);
    prepare(Cow::Owned(method), &url, Some(&body), &entry.get_str("params")?)
}

/// Runs requests within the limits of a batch.
fn run_batch(
    call: &Call<'_>,
    host: &Host,
    vu: &Rc<Vu>,
    mut flows: Vec<Option<Flow>>,
) -> Result<Vec<Option<Response>>, Thrown> {
    let most = host.shared.settings.batch.max(1) as usize;
    let per_host = host.shared.settings.batch_per_host as usize;
    let mut results: Vec<Option<Response>> = flows.iter().map(|_| None).collect();
    let mut running: Vec<(StepId, usize)> = Vec::new();
    let mut waiting: Vec<usize> = (0..flows.len()).collect();
    let hosts: Vec<String> = flows.iter().flatten().map(Flow::authority).collect();
    loop {
        while running.len() < most {
            let of_host = |at: usize| running.iter().filter(|(_, other)| hosts[*other] == hosts[at]).count();
            let is_free = |at: &usize| per_host == 0 || of_host(*at) < per_host;
            let Some(next) = waiting.iter().position(is_free) else { break };
            let at = waiting.remove(next);
            let Some(flow) = &mut flows[at] else { continue };
            match flow.start(host, vu) {
                Started::Waiting(id) => running.push((id, at)),
                Started::Failed(response) => results[at] = Some(response),
            }
        }
        if running.is_empty() {
            return Ok(results);
        }
        let (id, arrived) = host.wait_for_one(call, vu, running.iter().map(|(id, _)| *id))?;
        let Some(at) = running.iter().position(|(one, _)| *one == id) else { continue };
        let (_, number) = running.swap_remove(at);
        let Some(flow) = &mut flows[number] else { continue };
        match flow.arrived(host, vu, arrived) {
            Some(response) => results[number] = Some(response),
            None => match flow.start(host, vu) {
                Started::Waiting(id) => running.push((id, number)),
                Started::Failed(response) => results[number] = Some(response),
            },
        }
    }
}
