//! Bodies of requests: one file, the values of arguments, a form, or several parts.

use super::{Failure, FileContents, Given, Request};
use crate::function::{url_decoded, url_encoded, url_encoded_bytes};
use crate::plan::Http;
use crate::scope::Scope;
use std::rc::Rc;

/// Returns whether the body is one file: a file without a name, and no argument.
pub fn is_file(http: &Http, arguments: &[Given], scope: &mut Scope<'_>) -> bool {
    match http.files.as_slice() {
        [file] if arguments.is_empty() && !http.is_multipart => {
            !file.path.value(scope).is_empty() && file.parameter.value(scope).is_empty()
        }
        _ => false,
    }
}

/// Adds the body of a request, and the headers that it needs.
///
/// # Errors
/// Returns why JMeter would fail the sample without a request.
pub fn add(
    http: &Http,
    arguments: &[Given],
    is_raw: bool,
    files: &FileContents,
    request: &mut Request,
    scope: &mut Scope<'_>,
) -> Result<(), Failure> {
    let encoding = http.encoding.value(scope);
    let encoding = if encoding.trim().is_empty() { "UTF-8" } else { encoding.trim() };
    let mut sent = Vec::new();
    for file in &http.files {
        let (path, name, media) =
            (file.path.value(scope), file.parameter.value(scope), file.media_type.value(scope));
        if !path.is_empty() {
            sent.push((path, name, media));
        }
    }
    let is_one_file = matches!(sent.as_slice(), [(_, name, _)] if name.is_empty());
    if http.is_multipart || (!sent.is_empty() && !is_one_file) {
        return multipart(http, arguments, &sent, encoding, files, request, scope);
    }
    let has_type = request.header("content-type").is_some_and(|value| !value.is_empty());
    let mut add_type = |media: &str| {
        if !has_type && !media.is_empty() {
            request.body_headers.push(("Content-Type".to_owned(), media.to_owned()));
        }
    };
    if let ([(path, _, media)], true) = (sent.as_slice(), arguments.is_empty()) {
        add_type(media);
        request.body = Some(files.read(path, scope)?.to_vec());
        return Ok(());
    }
    if is_raw {
        match sent.first().filter(|(_, _, media)| !media.is_empty()) {
            Some((_, _, media)) => add_type(media),
            None => add_type(&format!("text/plain; charset={encoding}")),
        }
        let mut body = String::new();
        for one in arguments {
            match one.is_encoded_always {
                true => body.push_str(&url_encoded(&one.value)),
                false => body.push_str(&one.value),
            }
        }
        request.body = Some(encoded(&body, encoding));
        return Ok(());
    }
    add_type(&format!("application/x-www-form-urlencoded; charset={encoding}"));
    let mut body = String::new();
    for one in arguments.iter().filter(|one| !one.name.trim().is_empty()) {
        if !body.is_empty() {
            body.push('&');
        }
        // Values that are encoded already are decoded, and encoded again.
        let (name, value) = match one.is_encoded_always {
            true => (one.name.clone(), one.value.clone()),
            false => (url_decoded(&one.name), url_decoded(&one.value)),
        };
        body.push_str(&url_encoded_bytes(&encoded(&name, encoding)));
        body.push('=');
        body.push_str(&url_encoded_bytes(&encoded(&value, encoding)));
    }
    request.body = Some(body.into_bytes());
    Ok(())
}

/// Encodes a text; characters that ISO-8859-1 lacks become `?`, as in Java.
fn encoded(text: &str, encoding: &str) -> Vec<u8> {
    match encoding.to_ascii_lowercase().as_str() {
        "iso-8859-1" | "latin1" | "us-ascii" => {
            text.chars().map(|sign| u8::try_from(u32::from(sign)).unwrap_or(b'?')).collect()
        }
        _ => text.as_bytes().to_vec(),
    }
}

/// Signs of a boundary.
const SIGNS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

fn multipart(
    http: &Http,
    arguments: &[Given],
    sent: &[(String, String, String)],
    encoding: &str,
    files: &FileContents,
    request: &mut Request,
    scope: &mut Scope<'_>,
) -> Result<(), Failure> {
    let boundary: String =
        (0..30).map(|_| char::from(SIGNS[scope.between(0, SIGNS.len() as i64 - 1) as usize])).collect();
    let is_plain = http.is_browser_compatible;
    let mut body = Vec::new();
    let field = |body: &mut Vec<u8>, text: &str| body.extend_from_slice(text.as_bytes());
    for one in arguments.iter().filter(|one| !one.name.trim().is_empty()) {
        field(
            &mut body,
            &format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n", one.name),
        );
        if !is_plain {
            let media = if one.content_type.is_empty() { "text/plain" } else { &one.content_type };
            let charset = if media.contains(';') { String::new() } else { format!("; charset={encoding}") };
            field(
                &mut body,
                &format!("Content-Type: {media}{charset}\r\nContent-Transfer-Encoding: 8bit\r\n"),
            );
        }
        field(&mut body, "\r\n");
        body.extend_from_slice(&encoded(&one.value, encoding));
        field(&mut body, "\r\n");
    }
    for (path, name, media) in sent {
        let file = path.rsplit('/').next().unwrap_or_default();
        let media = if media.is_empty() { "application/octet-stream" } else { media };
        let place = format!("form-data; name=\"{name}\"; filename=\"{file}\"");
        let begin = format!("--{boundary}\r\nContent-Disposition: {place}\r\nContent-Type: {media}\r\n");
        field(&mut body, &begin);
        if !is_plain {
            field(&mut body, "Content-Transfer-Encoding: binary\r\n");
        }
        field(&mut body, "\r\n");
        body.extend_from_slice(&files.read(path, scope)?);
        field(&mut body, "\r\n");
    }
    field(&mut body, &format!("--{boundary}--\r\n"));
    // The type of several parts replaces any other.
    Rc::make_mut(&mut request.headers).retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    let media = format!("multipart/form-data; boundary={boundary}; charset={encoding}");
    request.body_headers.push(("Content-Type".to_owned(), media));
    request.body = Some(body);
    Ok(())
}
