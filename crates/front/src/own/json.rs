//! Writes a YAML value as compact JSON, for `json:` bodies.
//!
//! Numbers keep their digits as written. A number that JSON would write differently is rejected instead of silently
//! changed, because `01234` is more often a postal code than the number 1234.

use super::yaml::{Node, Scalar, Value};
use plimsoll_build::escape;
use plimsoll_build::expression::{Expression, Piece};

use plimsoll_build::source::Pos;

/// A receiver for a body: literal bytes, and texts with expressions.
pub trait Sink {
    fn literal(&mut self, text: &str);
    /// Receives a text with expressions: `quoted` if it needs quotes, otherwise a number that a function returns.
    fn open(&mut self, node: &Node, quoted: bool);
}

/// Writes `node` as JSON without white space, keys in the order written.
///
/// # Errors
/// Returns an error at the first value that JSON cannot represent, with a message and a help line.
pub fn render(node: &Node, out: &mut impl Sink) -> Result<(), (Pos, String, String)> {
    match &node.value {
        Value::Scalar(scalar) => return value(node, scalar, out),
        Value::List(list) => {
            out.literal("[");
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.literal(",");
                }
                render(item, out)?;
            }
            out.literal("]");
        }
        Value::Map(entries) => {
            out.literal("{");
            for (i, entry) in entries.iter().enumerate() {
                if i > 0 {
                    out.literal(",");
                }
                out.literal(&format!("{}:", string(&entry.key)));
                render(&entry.value, out)?;
            }
            out.literal("}");
        }
    }
    Ok(())
}

fn value(node: &Node, scalar: &Scalar, out: &mut impl Sink) -> Result<(), (Pos, String, String)> {
    let Scalar { text, plain, pieces, .. } = scalar;
    if !pieces.is_empty() {
        let is_number = *plain && matches!(pieces.as_slice(), [piece] if makes_number(piece));
        out.open(node, !is_number);
        return Ok(());
    }
    if !plain {
        out.literal(&string(text));
        return Ok(());
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => out.literal("null"),
        "true" | "True" | "TRUE" => out.literal("true"),
        "false" | "False" | "FALSE" => out.literal("false"),
        _ if is_json_number(text) => out.literal(text),
        _ if is_yaml_number(text) => {
            let message = format!("invalid JSON number `{text}`");
            let hint = format!("write `\"{text}\"` if it is text, or write a plain decimal number");
            return Err((node.pos, message, hint));
        }
        _ => out.literal(&string(text)),
    }
    Ok(())
}

/// Returns whether an expression without quotes can only be a number. A value from data or a response may be text,
/// which would break the body without quotes.
fn makes_number(piece: &Piece) -> bool {
    let Piece::Expression { means, .. } = piece else { return false };
    match means {
        Expression::Name(name) => matches!(name.as_str(), "counter" | "user" | "iteration"),
        Expression::Call(name, arguments) => match name.as_str() {
            "counter" | "random_int" | "user" | "iteration" | "service_time" | "ttfb" => true,
            "now" => arguments.first().is_some_and(|format| format.starts_with("unix")),
            _ => false,
        },
        Expression::Field(..) | Expression::Apply(..) => false,
    }
}

/// Returns whether an unquoted scalar is a number in the core schema of YAML 1.2.
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
    // Rust parses the same decimal forms, and also the words `inf` and `nan`, which begin with a letter.
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && unsigned.parse::<f64>().is_ok()
}

/// Returns whether a text matches the number grammar of RFC 8259 section 6.
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

/// Returns `text` as a JSON string, in quotes.
pub fn string(text: &str) -> String {
    format!("\"{}\"", escape::json(text))
}
