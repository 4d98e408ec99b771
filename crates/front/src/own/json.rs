//! A YAML value as compact JSON, for `json:` bodies.
//!
//! Numbers go out digit for digit as written; a number that JSON would write differently is refused instead of being
//! changed in silence (`01234` is a postcode more often than it is 1234).

use super::yaml::{Node, Scalar, Value};
use crate::build::escape;
use crate::build::expression::{Expression, Piece};

use crate::source::Pos;

/// Receives a body as it is written: literal bytes, and texts with expressions in them.
pub trait Sink {
    fn literal(&mut self, text: &str);
    /// A text with expressions; `quoted` when it stands in quotes, else it is a number that a function makes.
    fn open(&mut self, node: &Node, quoted: bool);
}

/// Writes `node` as JSON without white space, keys in the order written.
///
/// # Errors
/// The place of the first value that JSON cannot say, with a message and a hint.
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
            let message = format!("`{text}` is a number that JSON cannot write this way");
            let hint = format!(
                "put it in quotes if it is text (`\"{text}\"`), or write it as a plain decimal number"
            );
            return Err((node.pos, message, hint));
        }
        _ => out.literal(&string(text)),
    }
    Ok(())
}

/// Whether an expression without quotes can only be a number: what comes out of data or answers may be text, and a text
/// without quotes would break the body.
fn makes_number(piece: &Piece) -> bool {
    let Piece::Expression { means, .. } = piece else { return false };
    match means {
        Expression::Name(name) => matches!(name.as_str(), "counter" | "user" | "iteration"),
        Expression::Call(name, arguments) => match name.as_str() {
            "counter" | "random_int" | "user" | "iteration" => true,
            "now" => arguments.first().is_some_and(|format| format.starts_with("unix")),
            _ => false,
        },
        Expression::Field(..) => false,
    }
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

/// `text` in quotes.
pub fn string(text: &str) -> String {
    format!("\"{}\"", escape::json(text))
}
