//! The parser of texts.

use super::{Call, Part, Pos, Text};
use crate::function;

/// Compiles the text of a property.
pub(super) fn property(source: &str, pos: Pos) -> Result<Text, String> {
    let (compiled, pieces) = pieces(source, pos)?;
    // Of one literal, JMeter uses the property itself: its backslashes stay.
    if pieces < 2 && compiled.fixed().is_some() { Ok(Text::literal(source, pos)) } else { Ok(compiled) }
}

/// Compiles the argument of a function.
fn argument(source: &str, pos: Pos) -> Result<Text, String> {
    Ok(pieces(source, pos)?.0)
}

/// Compiles a text; also returns the number of its parts as JMeter counts them, before neighbors are merged.
fn pieces(source: &str, pos: Pos) -> Result<(Text, usize), String> {
    let mut count = 0;
    let mut cursor = Cursor { text: source, at: 0 };
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut is_after_dollar = false;
    loop {
        let begin = cursor.at;
        let Some(c) = cursor.next() else { break };
        match c {
            '\\' => {
                is_after_dollar = false;
                let Some(escaped) = cursor.next() else { break };
                if !matches!(escaped, '$' | ',' | '\\') {
                    literal.push('\\');
                }
                literal.push(escaped);
            }
            '{' if is_after_dollar => {
                is_after_dollar = false;
                literal.pop();
                count += 1 + usize::from(!literal.is_empty());
                match reference(&mut cursor, begin - 1, pos)? {
                    // It does not end: its text remains, without `${`.
                    Part::Literal(rest) => literal.push_str(&rest),
                    part => {
                        if !literal.is_empty() {
                            parts.push(Part::Literal(std::mem::take(&mut literal)));
                        }
                        parts.push(part);
                    }
                }
            }
            c => {
                is_after_dollar = c == '$';
                literal.push(c);
            }
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok((Text { source: source.into(), parts, pos }, count))
}

/// Reads what follows `${`, which is at `begin`.
fn reference(cursor: &mut Cursor<'_>, begin: usize, pos: Pos) -> Result<Part, String> {
    let mut name = String::new();
    let mut is_after_text = false;
    while let Some(c) = cursor.next() {
        match c {
            '\\' => {
                let Some(escaped) = cursor.next() else { break };
                is_after_text = false;
                name.push(escaped);
            }
            '(' if is_after_text && function::is_known(name.trim()) => {
                let arguments = arguments(cursor, pos)?;
                let end = loop {
                    match cursor.next() {
                        Some(c) if c.is_whitespace() => {}
                        other => break other,
                    }
                };
                if end != Some('}') {
                    return Err(format!("expected `}}` after the call of `{}`", name.trim()));
                }
                let source = cursor.text[begin..cursor.at].to_owned();
                return Ok(Part::Call(Call { name: name.trim().to_owned(), arguments, source }));
            }
            '}' if function::is_known(&name) => {
                let source = cursor.text[begin..cursor.at].to_owned();
                return Ok(Part::Call(Call { name, arguments: Vec::new(), source }));
            }
            '}' => return Ok(Part::Variable(name)),
            c => {
                is_after_text = c != ' ';
                name.push(c);
            }
        }
    }
    Ok(Part::Literal(name))
}

/// Reads the arguments of a function, after `(`.
fn arguments(cursor: &mut Cursor<'_>, pos: Pos) -> Result<Vec<Text>, String> {
    let mut all = Vec::new();
    let mut buffer = String::new();
    let (mut braces, mut parentheses) = (0u32, 0u32);
    let mut is_after_dollar = false;
    while let Some(c) = cursor.next() {
        let was_after_dollar = std::mem::take(&mut is_after_dollar);
        match c {
            '\\' => {
                buffer.push('\\');
                let Some(escaped) = cursor.next() else { break };
                buffer.push(escaped);
                continue;
            }
            ',' if braces == 0 => {
                all.push(argument(&buffer, pos)?);
                buffer.clear();
                continue;
            }
            ')' if braces == 0 && parentheses == 0 => {
                if !(buffer.is_empty() && all.is_empty()) {
                    all.push(argument(&buffer, pos)?);
                }
                return Ok(all);
            }
            '{' if was_after_dollar => braces += 1,
            '}' if braces > 0 => braces -= 1,
            ')' if braces == 0 => parentheses -= 1,
            '(' if braces == 0 => parentheses += 1,
            '$' => is_after_dollar = true,
            _ => {}
        }
        buffer.push(c);
    }
    all.push(argument(&buffer, pos)?);
    Ok(all)
}

/// A position in a text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }
}
