//! Parses singular paths (RFC 9535 section 2.3.5.1): only names and indexes, so they select at most one node.
//!
//! It accepts exactly the grammar of the RFC. The general parser handles everything else, including error messages.

use super::scan::Step;
use super::text;
use std::borrow::Cow;

/// Largest index: I-JSON has no larger integers (RFC 9535 section 2.1).
const INDEX_MAX: i64 = (1 << 53) - 1;

/// Returns `None` for a path that is not singular, or invalid.
pub(super) fn parse(path: &str) -> Option<Vec<Step<'static>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        // Space is allowed before a segment, but not after the last one.
        let segment = blank(rest);
        let step;
        (step, rest) = match segment.strip_prefix('[') {
            Some(inside) => {
                let (step, behind) = selector(blank(inside))?;
                (step, blank(behind).strip_prefix(']')?)
            }
            None => shorthand(segment.strip_prefix('.')?)?,
        };
        steps.push(step);
    }
    Some(steps)
}

fn blank(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

fn shorthand(text: &str) -> Option<(Step<'static>, &str)> {
    let first = |sign: char| sign.is_ascii_alphabetic() || sign == '_' || !sign.is_ascii();
    if !text.starts_with(first) {
        return None;
    }
    let end = text.find(|sign: char| !first(sign) && !sign.is_ascii_digit()).unwrap_or(text.len());
    Some((Step::Name(Cow::Owned(text[..end].to_owned())), &text[end..]))
}

fn selector(text: &str) -> Option<(Step<'static>, &str)> {
    let quote = match text.chars().next()? {
        quote @ ('\'' | '"') => quote,
        _ => return index(text),
    };
    let mut name = String::new();
    let mut rest = &text[1..];
    loop {
        let sign = rest.chars().next()?;
        let mut length = sign.len_utf8();
        match sign {
            _ if sign == quote => return Some((Step::Name(Cow::Owned(name)), &rest[1..])),
            '\\' if rest[1..].starts_with(quote) => {
                name.push(quote);
                length = 2;
            }
            // The other kind of quote has no escape (productions `double-quoted` and `single-quoted`).
            '\\' if rest[1..].starts_with(['\'', '"']) => return None,
            '\\' => {
                let (meant, long) = text::escape(rest.as_bytes())?;
                name.push(meant);
                length = long;
            }
            '\0'..='\x1f' => return None,
            _ => name.push(sign),
        }
        rest = &rest[length..];
    }
}

fn index(text: &str) -> Option<(Step<'static>, &str)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    let (number, rest) = digits.split_at(end);
    // The grammar does not allow `-0` and leading zeros.
    if number.starts_with('0') && (number.len() > 1 || digits.len() != text.len()) {
        return None;
    }
    let size = number.parse::<i64>().ok().filter(|size| *size <= INDEX_MAX)?;
    Some((Step::Index(if digits.len() == text.len() { size } else { -size }), rest))
}
