//! Explains the errors of the YAML parser.
//!
//! The parser names what it expected, but a user needs the usual cause. Rare errors share one sentence.

use super::braces;
use super::key::{METHODS, Section, find};
use granit_parser::ErrorKind as K;
use plimsoll_build::source::{Pos, Source};

/// Returns the place, the message, and the help line of a parser error. `pos` is where the parser gave up.
pub fn explain(kind: &K, pos: Pos, source: &Source<'_>) -> (Pos, String, String) {
    if matches!(
        kind,
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar
    ) && let Some(opened) = open_quote(pos, source)
    {
        return (opened, "unclosed quote".into(), "add the same kind of quote at the end of the text".into());
    }
    if matches!(
        kind,
        K::ExpectedFlowSequenceSeparator
            | K::ExpectedFlowMappingSeparator
            | K::UnexpectedEofFlowSequence
            | K::UnexpectedEofFlowMapping
            | K::UnexpectedEofImplicitFlowMapping
            | K::MismatchedFlowCollectionEnd { .. }
    ) && let Some(meant) = braces::meant_as_text(pos, source)
    {
        return meant;
    }
    let is_shallow = matches!(kind, K::ExpectedBlockSequenceEntry);
    if (is_shallow || matches!(kind, K::MappingValueNotAllowed))
        && let Some((message, hint)) = part_of_a_request(pos, is_shallow, source)
    {
        return (pos, message, hint);
    }
    let (message, hint) = sentences(kind, pos, source);
    (pos, message, hint)
}

/// Explains a line such as `check:` that is not indented like the method of its request. `is_shallow`: it has too few
/// spaces, otherwise too many.
fn part_of_a_request(pos: Pos, is_shallow: bool, source: &Source<'_>) -> Option<(String, String)> {
    let key_of = |text: &str| text.split_once(':').map(|(key, _)| key.trim().to_owned());
    let (key, indent) = (key_of(source.line(pos.line))?, column_of(source.line(pos.line)));
    if METHODS.contains(&key.as_str()) || find(Section::Request, &key).is_none() {
        return None;
    }
    // A later colon is a mistake in the value.
    if !is_shallow && pos.column as usize > indent + key.chars().count() + 1 {
        return None;
    }
    let above = (1..pos.line).rev().find_map(|line| {
        let text = source.line(line);
        let bare = text.trim_start_matches([' ', '-']);
        let method = key_of(bare).filter(|key| METHODS.contains(&key.as_str()))?;
        Some((method, line, text.chars().count() - bare.chars().count()))
    });
    let (method, line, right) =
        above.filter(|(_, _, right)| (indent < *right) == is_shallow && indent != *right)?;
    Some((
        format!("the indentation of `{key}` differs from that of `{method}`"),
        format!("indent `{key}` by {right} spaces, like `{method}` on line {line}"),
    ))
}

/// Returns the number of spaces before a line.
fn column_of(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// Finds the quote that opened the text in which the parser gave up: the nearest one above that begins a value and
/// has no partner in its line.
fn open_quote(pos: Pos, source: &Source<'_>) -> Option<Pos> {
    (1..=pos.line).rev().find_map(|line| {
        let text: Vec<char> = source.line(line).chars().collect();
        ['"', '\''].into_iter().find_map(|quote| {
            let all: Vec<usize> = (0..text.len()).filter(|i| text[*i] == quote).collect();
            let last = *all.last().filter(|_| all.len() % 2 == 1)?;
            let begins = last == 0 || matches!(text[last - 1], ' ' | '[' | '{' | ',');
            begins.then_some(Pos { line, column: last as u32 + 1 })
        })
    })
}

fn sentences(kind: &K, pos: Pos, source: &Source<'_>) -> (String, String) {
    let pair = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
    match kind {
        K::TabInBlockIndentation | K::TabInIndentation | K::TabNotAllowed | K::TabAtBlockScalarStart => {
            pair("YAML does not allow tabs for indentation", "indent with spaces")
        }
        K::UnclosedFlowCollection { open } => {
            let close = if *open == '{' { '}' } else { ']' };
            (format!("unclosed `{open}`"), format!("add a `{close}`"))
        }
        K::MismatchedFlowCollectionEnd { open, close } => (
            format!("mismatched brackets: `{open}` is closed by `{close}`"),
            "close `[` with `]` and `{` with `}`".to_owned(),
        ),
        K::MisplacedFlowCollectionEnd => {
            pair("unmatched closing bracket", "remove it, or quote the text around it")
        }
        K::UnexpectedEofFlowSequence | K::ExpectedFlowSequenceSeparator => {
            pair("missing `,` or `]` in a list in brackets", "separate items with `,` and close with `]`")
        }
        K::UnexpectedEofFlowMapping
        | K::ExpectedFlowMappingSeparator
        | K::UnexpectedEofImplicitFlowMapping => {
            pair("missing `,` or `}` in a mapping in braces", "separate pairs with `,` and close with `}`")
        }
        K::InvalidColonPlacement => pair(
            "unexpected `key: value` pair inside an open list in brackets",
            "close the list with `]` on a line above, or put braces around the pair",
        ),
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar => {
            pair("unclosed quote on this line or above", "add the same kind of quote at the end of the text")
        }
        K::InvalidTrailingDoubleQuotedScalar | K::InvalidTrailingSingleQuotedScalar => {
            pair("unexpected text after a closing quote", "put a `,` between items, or quote the whole text")
        }
        K::UnknownQuotedScalarEscape => pair(
            "unknown escape sequence in a double-quoted text",
            "write `\\\\` for a backslash, or use single quotes",
        ),
        K::MappingValueNotAllowed => value_not_allowed(pos, source),
        K::ExpectedBlockMappingKey | K::InvalidIndentation => pair(
            "the indentation of this line matches neither the lines above nor their parents",
            "indent all keys of a mapping equally",
        ),
        K::ExpectedBlockSequenceEntry if source.line(pos.line).trim_start().starts_with('-') => {
            pair("missing space after the `-` of a list item", "write `- ` before the key: `- get: /pick`")
        }
        K::ExpectedBlockSequenceEntry => {
            pair("missing `-` in a list", "begin each item with `- `, or indent this line differently")
        }
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection | K::InvalidBlockEntryWhitespace => {
            pair("unexpected `-`", "begin each list item on a separate line, with a space after the `-`")
        }
        K::SimpleKeyExpected | K::InvalidSimpleKey => {
            pair("missing colon", "write `key: value`, with a space after the colon")
        }
        K::UnexpectedCharacter { character } => {
            (format!("a YAML value must not begin with {character:?}"), "put the value in quotes".to_owned())
        }
        K::UnknownAnchor => pair(
            "unknown anchor",
            "put text that begins with `*` in quotes, or define the anchor above with `&`",
        ),
        K::RecursionLimitExceeded => {
            pair("values are nested too deeply", "move large bodies into files: `body_file: name`")
        }
        K::CommentNotSeparated | K::CommentInterceptedScalar => {
            pair("comment inside a value", "move the comment to its own line above")
        }
        _ => pair("invalid YAML", "check quotes, brackets, and indentation on this line and the one above"),
    }
}

/// Explains one colon too many: usually in a text without quotes, or because the line above lacks its colon.
fn value_not_allowed(pos: Pos, source: &Source<'_>) -> (String, String) {
    let before: String =
        source.line(pos.line).chars().take((pos.column as usize).saturating_sub(1)).collect();
    if let Some((_, _, hint)) = braces::meant_as_text(pos, source)
        && before.contains(": ")
    {
        return ("unexpected second `: ` in one value".to_owned(), hint);
    }
    if before.contains(": ") {
        return (
            "unexpected second `: ` in one value".to_owned(),
            "put text that contains a colon and a space in quotes".to_owned(),
        );
    }
    (
        "unexpected value".to_owned(),
        "check the line above: a key ends with a colon and a space, and the indentation stays the same"
            .to_owned(),
    )
}
