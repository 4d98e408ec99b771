//! What the YAML parser stumbled over, in plain words.
//!
//! The parser names what it expected; people need the usual cause. Rare kinds share one sentence.

use super::braces;
use crate::source::{Pos, Source};
use granit_parser::ErrorKind as K;

/// What is wrong, where (`pos` is where the parser gave up) and how to mend it.
pub fn explain(kind: &K, pos: Pos, source: &Source<'_>) -> (Pos, String, String) {
    if matches!(
        kind,
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar
    ) && let Some(opened) = open_quote(pos, source)
    {
        return (opened, "this quote is never closed".into(), "close it with the same kind of quote".into());
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
    let (message, hint) = sentences(kind, pos, source);
    (pos, message, hint)
}

/// The quote that opened the text in which the parser gave up: the nearest above that begins a value and has no
/// partner in its line.
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
            pair("a tab stands where YAML allows only spaces", "indent with spaces")
        }
        K::UnclosedFlowCollection { open } => {
            let close = if *open == '{' { '}' } else { ']' };
            (format!("this `{open}` is never closed"), format!("add a `{close}`"))
        }
        K::MismatchedFlowCollectionEnd { open, close } => (
            format!("this `{open}` is closed by a `{close}`"),
            "give every bracket its own kind of closing bracket".to_owned(),
        ),
        K::MisplacedFlowCollectionEnd => {
            pair("a closing bracket that nothing opened", "take it out, or put the text around it in quotes")
        }
        K::UnexpectedEofFlowSequence | K::ExpectedFlowSequenceSeparator => {
            pair("this list in brackets lacks a `,` or its `]`", "separate items with `,` and close with `]`")
        }
        K::UnexpectedEofFlowMapping
        | K::ExpectedFlowMappingSeparator
        | K::UnexpectedEofImplicitFlowMapping => pair(
            "this mapping in braces lacks a `,` or its `}`",
            "separate pairs with `,` and close with `}`",
        ),
        K::InvalidColonPlacement => pair(
            "a `key: value` pair begins inside a list in brackets that is still open",
            "close the list with `]` in a line above, or put braces around the pair",
        ),
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar => {
            pair("a quote in or above this line is never closed", "close it with the same kind of quote")
        }
        K::InvalidTrailingDoubleQuotedScalar | K::InvalidTrailingSingleQuotedScalar => pair(
            "something follows behind a closing quote",
            "put a `,` between items, or the whole text inside the quotes",
        ),
        K::UnknownQuotedScalarEscape => pair(
            "this text in double quotes holds an escape that YAML does not know",
            "write `\\\\` for a backslash, or use single quotes",
        ),
        K::MappingValueNotAllowed => value_not_allowed(pos, source),
        K::ExpectedBlockMappingKey | K::InvalidIndentation => pair(
            "this line is indented neither like the lines above nor like any of their parents",
            "give keys of one mapping the same indentation",
        ),
        K::ExpectedBlockSequenceEntry if source.line(pos.line).trim_start().starts_with('-') => pair(
            "the `-` of this item has no blank behind it",
            "write `- `, and then the key: `- get: /pick`",
        ),
        K::ExpectedBlockSequenceEntry => pair(
            "a list goes on here without a `-`",
            "begin each item with `- `, or indent this line differently",
        ),
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection | K::InvalidBlockEntryWhitespace => {
            pair(
                "a `-` cannot stand here",
                "begin each item of a list in a line of its own, with a space behind the `-`",
            )
        }
        K::SimpleKeyExpected | K::InvalidSimpleKey => pair(
            "this line has no colon where one is expected",
            "write `key: value`, with a space behind the colon",
        ),
        K::UnexpectedCharacter { character } => {
            (format!("no value begins with {character:?} in YAML"), "put the value in quotes".to_owned())
        }
        K::UnknownAnchor => pair(
            "no anchor of this name stands above",
            "put text that begins with `*` in quotes, or name the value above with `&`",
        ),
        K::RecursionLimitExceeded => {
            pair("values stand too many levels deep here", "move large bodies into files: `body_file: name`")
        }
        K::CommentNotSeparated | K::CommentInterceptedScalar => {
            pair("a comment stands in the middle of a value", "move it to a line of its own above")
        }
        _ => pair(
            "this is no YAML from here on",
            "check quotes, brackets and indentation in this line and the one above",
        ),
    }
}

/// A colon too many: mostly in a text without quotes, or because the line above lacks its own.
fn value_not_allowed(pos: Pos, source: &Source<'_>) -> (String, String) {
    let before: String =
        source.line(pos.line).chars().take((pos.column as usize).saturating_sub(1)).collect();
    if let Some((_, _, hint)) = braces::meant_as_text(pos, source)
        && before.contains(": ")
    {
        return ("a second `: ` in one value".to_owned(), hint);
    }
    if before.contains(": ") {
        return (
            "a second `: ` in one value".to_owned(),
            "put text that holds a colon and a space in quotes".to_owned(),
        );
    }
    (
        "a value cannot begin here".to_owned(),
        "check the line above: a key ends in a colon and a space, and indentation stays the same".to_owned(),
    )
}
