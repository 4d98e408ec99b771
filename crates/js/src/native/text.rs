//! Texts and bytes: base64, hexadecimal digits, percent-encoding, UTF-8, and trees of HTML.

use super::Row;
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use plimsoll_quickjs::{Call, Thrown, Value};
use std::fmt::Write as _;

pub(super) const ROWS: &[Row] = &[
    ("base64", 2, base64),
    ("unbase64", 2, unbase64),
    ("hex", 1, hex),
    ("percentDecode", 1, percent_decode),
    ("utf8", 1, utf8),
    ("ofUtf8", 2, of_utf8),
    ("latin1", 1, latin1),
    ("htmlTree", 1, html_tree),
];

/// Returns the bytes of an argument: those of a buffer, or the UTF-8 of anything else.
pub(super) fn bytes(call: &Call<'_>, at: usize) -> Result<Vec<u8>, Thrown> {
    let value = call.argument(at);
    match value.bytes() {
        Some(bytes) => Ok(bytes),
        None => value.with_text(|text| text.as_bytes().to_vec()),
    }
}

/// Returns the encoding that an argument names, by the names of `k6/encoding`.
fn engine(call: &Call<'_>, at: usize) -> Result<&'static GeneralPurpose, Thrown> {
    let name = call.argument(at).to_text()?;
    match name.as_str() {
        "std" => Ok(&STANDARD),
        "rawstd" => Ok(&STANDARD_NO_PAD),
        "url" => Ok(&URL_SAFE),
        "rawurl" => Ok(&URL_SAFE_NO_PAD),
        _ => Err(call.realm().error("TypeError", &format!("unknown base64 encoding `{name}`"))),
    }
}

fn base64(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = engine(call, 1)?.encode(bytes(call, 0)?);
    Ok(call.realm().text(&text))
}

fn unbase64(call: &Call<'_>) -> Result<Value, Thrown> {
    let engine = engine(call, 1)?;
    let text = call.argument(0).to_text()?;
    let clean: String = text.chars().filter(|sign| !matches!(sign, '\r' | '\n')).collect();
    match engine.decode(clean) {
        Ok(bytes) => Ok(call.realm().buffer(&bytes)),
        Err(why) => Err(call.realm().error("Error", &format!("invalid base64: {why}"))),
    }
}

fn hex(call: &Call<'_>) -> Result<Value, Thrown> {
    let bytes = bytes(call, 0)?;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(call.realm().text(&text))
}

/// Decodes `%41`; invalid sequences stay, and invalid UTF-8 is replaced (WHATWG URL section 1.3).
fn percent_decode(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = call.argument(0).to_text()?;
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    Ok(call.realm().text(&String::from_utf8_lossy(&out)))
}

fn utf8(call: &Call<'_>) -> Result<Value, Thrown> {
    Ok(call.realm().buffer(&bytes(call, 0)?))
}

/// Decodes UTF-8; if the second argument is true, invalid text is an error.
fn of_utf8(call: &Call<'_>) -> Result<Value, Thrown> {
    let bytes = bytes(call, 0)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(call.realm().text(text)),
        Err(_) if call.argument(1).truth() => Err(call.realm().error("TypeError", "invalid UTF-8")),
        Err(_) => Ok(call.realm().text(&String::from_utf8_lossy(&bytes))),
    }
}

/// Returns a text whose characters are the bytes.
fn latin1(call: &Call<'_>) -> Result<Value, Thrown> {
    Ok(call.realm().latin1(&bytes(call, 0)?))
}

fn html_tree(call: &Call<'_>) -> Result<Value, Thrown> {
    let text = call.argument(0).to_text()?;
    match plimsoll_body::html_json(&text) {
        Ok(json) => Ok(call.realm().text(&json)),
        Err(why) => Err(call.realm().error("Error", &format!("the HTML cannot be read: {why}"))),
    }
}
