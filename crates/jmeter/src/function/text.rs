//! Functions of texts.

use super::without_value;
use crate::scope::Scope;
use crate::template::Call;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Digest as _;

/// Encodes a text as the query of a form does.
pub fn url_encoded(text: &str) -> String {
    url_encoded_bytes(text.as_bytes())
}

/// Encodes the bytes of a text in any encoding, as `url_encoded` does.
pub fn url_encoded_bytes(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.iter().copied() {
        match byte {
            b' ' => out.push('+'),
            b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Decodes a text of the query of a form.
pub fn url_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        let code =
            (bytes[at] == b'%').then(|| pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())).flatten();
        match (bytes[at], code) {
            (_, Some(code)) => {
                out.push(code);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns a digest in hexadecimal digits; `None` for an unknown algorithm.
pub fn digest(algorithm: &str, bytes: &[u8]) -> Option<String> {
    let hash = match algorithm.to_ascii_uppercase().replace('-', "").as_str() {
        "MD5" => md5::Md5::digest(bytes).to_vec(),
        "SHA1" | "SHA" => sha1::Sha1::digest(bytes).to_vec(),
        "SHA224" => sha2::Sha224::digest(bytes).to_vec(),
        "SHA256" => sha2::Sha256::digest(bytes).to_vec(),
        "SHA384" => sha2::Sha384::digest(bytes).to_vec(),
        "SHA512" => sha2::Sha512::digest(bytes).to_vec(),
        _ => return None,
    };
    Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub fn digested(call: &Call, scope: &mut Scope<'_>) -> String {
    let (algorithm, text) = (call.argument(0, scope), call.argument(1, scope));
    let salt = call.argument(2, scope);
    let Some(mut value) = digest(algorithm.trim(), format!("{text}{salt}").as_bytes()) else {
        return without_value(scope, "__digest", &format!("unknown algorithm `{algorithm}`"));
    };
    if call.argument(3, scope).trim().eq_ignore_ascii_case("true") {
        value = value.to_uppercase();
    }
    call.store(4, &value, scope);
    value
}

pub fn base64_encoded(call: &Call, scope: &mut Scope<'_>) -> String {
    let value = STANDARD.encode(call.argument(0, scope));
    call.store(1, &value, scope);
    value
}

pub fn base64_decoded(call: &Call, scope: &mut Scope<'_>) -> String {
    let text = call.argument(0, scope);
    let Ok(bytes) = STANDARD.decode(text.trim()) else {
        return without_value(scope, "__base64Decode", &format!("`{text}` is not Base64"));
    };
    let value = String::from_utf8_lossy(&bytes).into_owned();
    call.store(1, &value, scope);
    value
}

pub fn cased(call: &Call, scope: &mut Scope<'_>) -> String {
    let text = call.argument(0, scope);
    let value = match call.argument(1, scope).trim().to_ascii_uppercase().as_str() {
        "" | "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut signs = text.chars();
            let first: String = signs.next().map(|sign| sign.to_uppercase().collect()).unwrap_or_default();
            first + signs.as_str()
        }
        _ => text,
    };
    call.store(2, &value, scope);
    value
}

/// Numbers, decimal or with `0x`, as characters.
pub fn characters(call: &Call, scope: &mut Scope<'_>) -> String {
    let mut value = String::new();
    for number in 0..call.arguments.len() {
        let text = call.argument(number, scope);
        let text = text.trim();
        let hex =
            text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).or_else(|| text.strip_prefix('#'));
        let code = match hex {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
            None => text.parse().ok(),
        };
        value.extend(code.and_then(char::from_u32));
    }
    value
}

/// Sets `NAME_1` and so on, `NAME_n`, and `NAME` itself. An empty part becomes `?`.
pub fn split(call: &Call, scope: &mut Scope<'_>) -> String {
    let (text, prefix) = (call.argument(0, scope), call.argument(1, scope));
    let prefix = prefix.trim();
    let by = call.optional(2, scope).filter(|by| !by.is_empty()).unwrap_or_else(|| ",".to_owned());
    let parts: Vec<&str> = if text.is_empty() { Vec::new() } else { text.split(&by).collect() };
    scope.vars.set(prefix, &text);
    scope.vars.set(&format!("{prefix}_n"), &parts.len().to_string());
    for (at, part) in parts.iter().enumerate() {
        let part = if part.is_empty() { "?" } else { part };
        scope.vars.set(&format!("{prefix}_{}", at + 1), part);
    }
    scope.vars.remove(&format!("{prefix}_{}", parts.len() + 1));
    text
}

pub fn escaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

pub fn escaped_xml(text: &str) -> String {
    escaped_html(text).replace('\'', "&apos;")
}

/// Replaces character references and the most frequent names of HTML.
pub fn unescaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').filter(|end| *end <= 10);
        let named = end.and_then(|end| reference(&rest[1..end]).map(|sign| (sign, end)));
        match named {
            Some((sign, end)) => {
                out.push(sign);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "copy" => '©',
        "reg" => '®',
        "euro" => '€',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "eacute" => 'é',
        "egrave" => 'è',
        "agrave" => 'à',
        "ccedil" => 'ç',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        _ => return None,
    })
}

/// Replaces the escapes of Java texts.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            out.push(sign);
            continue;
        }
        match signs.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = signs.by_ref().take(4).collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

pub fn escaped_pattern(call: &Call, scope: &mut Scope<'_>) -> String {
    let value = regex::escape(&call.argument(0, scope));
    call.store(1, &value, scope);
    value
}

/// `__regexFunction(pattern, template, number, between, default, name, input)`
pub fn matched(call: &Call, scope: &mut Scope<'_>) -> String {
    let (pattern, template) = (call.argument(0, scope), call.argument(1, scope));
    let number = call.optional(2, scope).filter(|text| !text.is_empty()).unwrap_or_else(|| "1".to_owned());
    let (between, default) = (call.argument(3, scope), call.argument(4, scope));
    let (name, input) = (call.argument(5, scope), call.argument(6, scope));
    if !name.is_empty() {
        scope.vars.set(&name, &default);
    }
    let text = match input.is_empty() {
        true => scope.previous.map(|sample| sample.text().into_owned()),
        false => scope.vars.get(&input).map(str::to_owned),
    };
    let text = text.unwrap_or_default();
    let compiled = scope.caches.pattern(&pattern);
    let found: Vec<String> = match &*compiled {
        Ok(pattern) => {
            pattern.captures_iter(&text).map(|found| crate::extract::filled(&template, &found)).collect()
        }
        Err(why) => return without_value(scope, "__regexFunction", why),
    };
    if !name.is_empty() {
        scope.vars.set(&format!("{name}_matchNr"), &found.len().to_string());
    }
    if found.is_empty() {
        return default;
    }
    let last = found.len() as i64;
    let value = match number.trim() {
        "ALL" => found.join(&between),
        "RAND" => found[scope.between(0, last - 1) as usize].clone(),
        text => {
            let at = match text.parse::<f64>() {
                // A part of the number of matches, such as `0.5`.
                Ok(part) if text.contains('.') => (part * last as f64 + 0.5) as i64,
                Ok(at) => at as i64,
                Err(_) => 1,
            };
            match usize::try_from(at - 1).ok().and_then(|at| found.get(at)) {
                Some(value) => value.clone(),
                None => return default,
            }
        }
    };
    if !name.is_empty() {
        scope.vars.set(&name, &value);
    }
    value
}
