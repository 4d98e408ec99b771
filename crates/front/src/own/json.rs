//! A YAML value as compact JSON, for `json:` bodies.
//!
//! Numbers go out digit for digit as written; a number that JSON would write differently is refused instead of being
//! changed in silence (`01234` is a postcode more often than it is 1234).

use super::yaml::{Node, Pos, Value};

/// Appends `node` as JSON without white space, keys in the order written.
///
/// # Errors
/// The place of the first value that JSON cannot say, with a message and a hint.
pub fn render(node: &Node, out: &mut String) -> Result<(), (Pos, String, String)> {
    match &node.value {
        Value::Scalar { text, plain } => return scalar(node.pos, text, *plain, out),
        Value::List(list) => {
            out.push('[');
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                render(item, out)?;
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (i, entry) in entries.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(&entry.key, out);
                out.push(':');
                render(&entry.value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn scalar(pos: Pos, text: &str, plain: bool, out: &mut String) -> Result<(), (Pos, String, String)> {
    if !plain {
        string(text, out);
        return Ok(());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => out.push_str("null"),
        "true" | "True" | "TRUE" => out.push_str("true"),
        "false" | "False" | "FALSE" => out.push_str("false"),
        _ if is_json_number(text) => out.push_str(text),
        _ if is_yaml_number(text) => {
            let message = format!("`{text}` is a number that JSON cannot write this way");
            let hint = format!(
                "put it in quotes if it is text (`\"{text}\"`), or write it as a plain decimal number"
            );
            return Err((pos, message, hint));
        }
        _ => string(text, out),
    }
    Ok(())
}

/// Whether an unquoted scalar is a number in YAML 1.2 (its core schema).
pub fn is_yaml_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let all = |rest: Option<&str>, radix| {
        rest.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)))
    };
    if all(text.strip_prefix("0x"), 16) || all(text.strip_prefix("0o"), 8) {
        return true;
    }
    // Rust reads the same decimal forms, and the words `inf` and `nan` on top, which begin with a letter.
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && unsigned.parse::<f64>().is_ok()
}

/// The grammar of RFC 8259 section 6.
fn is_json_number(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((m, e)) => (m, Some(e)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((w, f)) => (w, Some(f)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
