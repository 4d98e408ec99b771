//! Conditions of loops and branches, written as text: `${n} < 5`.

use super::rule;
use crate::own::key::Row;
use crate::own::reader::Reader;
use crate::own::yaml::{Node, Scalar, Value};
use plimsoll_build::draft::{ConditionDraft, RuleDraft, TextDraft};
use plimsoll_build::expression::Piece;
use plimsoll_build::sentence::short;
use plimsoll_build::source::{Complaint, Pos};
use plimsoll_plan::answer::Rule;
use plimsoll_plan::value::Escape;

macro_rules! operators {
    ($($name:ident = $text:literal;)*) => {
        /// The operator between the two sides of a condition.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Operator { $($name,)* }

        impl Operator {
            const ALL: &[Operator] = &[$(Operator::$name,)*];

            /// The text to search for, with spaces around words.
            const fn text(self) -> &'static str { match self { $(Operator::$name => $text,)* } }
        }
    };
}

// Longer operators first: `<=` begins with `<`.
operators! {
    Equals = "==";
    Differs = "!=";
    AtMost = "<=";
    AtLeast = ">=";
    Below = "<";
    Above = ">";
    Contains = " contains ";
    Lacks = " lacks ";
    Matches = " matches ";
    Exists = " exists";
    Absent = " absent";
    In = " in ";
    Assigns = "=";
}

const EXPECTED: &str = "write a condition such as `${n} < 5`, `${state} == done`, `${body} contains ok`, \
                        `${id} matches /^[0-9]+$/`, `${token} exists`, `${token} absent`, or `${x} in [a, b]`";

const ONE_COMPARISON: &str =
    "nest two `if`s, or quote text that contains such a word: `${x} == 'this and that'`";

/// Reads a condition.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<ConditionDraft> {
    let scalar = match &node.value {
        Value::Scalar(scalar) if !scalar.spoiled => scalar,
        Value::Scalar(_) => return None,
        Value::List(_) | Value::Map(_) => {
            r.expected(node, row, "");
            return None;
        }
    };
    // The text may consist of a constant only.
    let pieces = match scalar.pieces.is_empty() {
        true => vec![Piece::Literal(scalar.text.clone())],
        false => scalar.pieces.clone(),
    };
    let Some((left, operator, right)) = split(&pieces) else {
        let message = format!("invalid condition `{}`: it has no operator", short(&scalar.text));
        r.complain("F031", node.pos, message, EXPECTED);
        return None;
    };
    if operator == Operator::Assigns {
        r.take(assigns(scalar, node.pos));
        return None;
    }
    let is_fixed = is_fixed(&left, scalar);
    let mut wrong = Vec::new();
    let rule = rule_of(operator, &right, scalar, node.pos, r).map_err(|complaint| wrong.push(complaint)).ok();
    let left = match left.as_slice() {
        // Reported as written, with its quotes.
        [Piece::Literal(text)] if is_fixed => TextDraft::of(text),
        left => text(left, node.pos, r),
    };
    if left.is_empty() {
        let message = format!("missing value before `{}`", operator.text().trim());
        wrong.push(Complaint::new("F031", node.pos, message, EXPECTED));
    }
    Some(ConditionDraft {
        pos: node.pos,
        left,
        is_fixed_before: is_fixed.then_some(operator.text().trim()),
        asks_for_being: matches!(operator, Operator::Exists | Operator::Absent),
        wrong,
        rule,
    })
}

fn rule_of(
    operator: Operator,
    right: &[Piece],
    scalar: &Scalar,
    pos: Pos,
    r: &Reader<'_>,
) -> Result<RuleDraft, Complaint> {
    let written = operator.text().trim();
    let complaint = |message: String, hint: &str| Complaint::new("F031", pos, message, hint);
    if let Some(word) = connective(right) {
        return Err(complaint(
            format!("unsupported `{word}` in `{}`: a condition has one comparison", short(&scalar.text)),
            ONE_COMPARISON,
        ));
    }
    let is_empty = right.iter().all(|piece| matches!(piece, Piece::Literal(text) if text.trim().is_empty()));
    let is_being = matches!(operator, Operator::Exists | Operator::Absent);
    if is_being != is_empty {
        return Err(match is_being {
            true => complaint(format!("unexpected text after `{written}`"), EXPECTED),
            false => {
                complaint(format!("missing value after `{written}` in `{}`", short(&scalar.text)), EXPECTED)
            }
        });
    }
    let literal = || match right {
        [Piece::Literal(text)] => Some(text.trim().to_owned()),
        _ => None,
    };
    // `===` or `!==` from another language: read as `==`, it would compare with `= 5`, which is never true.
    let is_doubled = matches!(right, [Piece::Literal(text), ..] if text.starts_with('='));
    if matches!(operator, Operator::Equals | Operator::Differs) && is_doubled {
        let message = format!("unknown operator `{written}=` in `{}`", short(&scalar.text));
        return Err(complaint(message, &format!("write `{written}`")));
    }
    let number = || match literal().and_then(|t| t.parse::<f64>().ok()).filter(|n| n.is_finite()) {
        Some(number) => Ok(number),
        None => {
            let shown: String = right.iter().map(self::written).collect();
            let message = format!("invalid number `{}` after `{written}`", short(shown.trim()));
            Err(complaint(message, "write a fixed number after `<`, `<=`, `>`, or `>=`"))
        }
    };
    Ok(match operator {
        Operator::Equals => RuleDraft::Equals(text(right, pos, r)),
        Operator::Differs => RuleDraft::Differs(text(right, pos, r)),
        Operator::Contains => RuleDraft::Contains(text(right, pos, r)),
        Operator::Lacks => RuleDraft::Lacks(text(right, pos, r)),
        Operator::Matches => {
            let pattern = literal().and_then(|t| Some(t.strip_prefix('/')?.strip_suffix('/')?.to_owned()));
            let pattern = pattern.ok_or_else(|| {
                complaint("`matches` requires a fixed pattern between slashes".into(), "write `matches /^a/`")
            })?;
            rule::tried(&pattern, pos)?;
            RuleDraft::Fixed(Rule::Matches(pattern))
        }
        Operator::In => {
            let list = literal().and_then(|t| Some(t.strip_prefix('[')?.strip_suffix(']')?.to_owned()));
            let list = list.filter(|list| !list.trim().is_empty()).ok_or_else(|| {
                complaint("`in` requires a fixed list in brackets".into(), "write `in [a, b]`")
            })?;
            RuleDraft::OneOf(list.split(',').map(|item| TextDraft::of(unquoted(item.trim()))).collect())
        }
        Operator::Exists => RuleDraft::Fixed(Rule::Exists),
        Operator::Absent => RuleDraft::Fixed(Rule::Absent),
        // Rejected above.
        Operator::Assigns => return Err(assigns(scalar, pos)),
        Operator::Below => RuleDraft::Fixed(Rule::Below(number()?)),
        Operator::AtMost => RuleDraft::Fixed(Rule::AtMost(number()?)),
        Operator::Above => RuleDraft::Fixed(Rule::Above(number()?)),
        Operator::AtLeast => RuleDraft::Fixed(Rule::AtLeast(number()?)),
    })
}

fn assigns(scalar: &Scalar, pos: Pos) -> Complaint {
    let message = format!("unknown operator `=` in `{}`", short(&scalar.text));
    Complaint::new("F031", pos, message, "write `==`")
}

/// Returns whether the left side was written as fixed text. A constant does not count, because `--set` can change it.
fn is_fixed(left: &[Piece], scalar: &Scalar) -> bool {
    let [Piece::Literal(text)] = left else { return false };
    scalar.first.is_none_or(|first| first >= text.len()) && !text.trim().is_empty()
}

/// Finds the word or sign that joins two comparisons in other languages, outside of quotes, slashes, and brackets. Read
/// as text to compare with, it would make a condition that is never true.
fn connective(right: &[Piece]) -> Option<&'static str> {
    if let [Piece::Literal(text)] = right {
        let text = text.trim();
        let is_enclosed = |open, close| text.len() > 1 && text.starts_with(open) && text.ends_with(close);
        if [('"', '"'), ('\'', '\''), ('/', '/'), ('[', ']')].iter().any(|(a, b)| is_enclosed(*a, *b)) {
            return None;
        }
    }
    right.iter().find_map(|piece| {
        let Piece::Literal(text) = piece else { return None };
        let text = text.to_ascii_lowercase();
        [" and ", " or ", "&&", "||"].into_iter().find(|word| text.contains(word)).map(str::trim)
    })
}

/// Splits at the first operator outside of expressions.
fn split(pieces: &[Piece]) -> Option<(Vec<Piece>, Operator, Vec<Piece>)> {
    for (i, piece) in pieces.iter().enumerate() {
        let Piece::Literal(text) = piece else { continue };
        let found = Operator::ALL.iter().filter_map(|sign| {
            let operator = sign.text();
            let at = text.find(operator)?;
            // `exists` must end the text or be followed by a space: `existsnot` is another word.
            let ends =
                text[at + operator.len()..].chars().next().is_none_or(|c| c == ' ' || !c.is_alphanumeric());
            (operator.ends_with(' ') || !operator.starts_with(' ') || ends).then_some((at, *sign))
        });
        // At the same place, the longer operator wins.
        let Some((at, operator)) =
            found.min_by_key(|(at, operator)| (*at, usize::MAX - operator.text().len()))
        else {
            continue;
        };
        let mut left = pieces[..i].to_vec();
        left.push(Piece::Literal(text[..at].to_owned()));
        let mut right = vec![Piece::Literal(text[at + operator.text().len()..].to_owned())];
        right.extend_from_slice(&pieces[i + 1..]);
        let is_filled = |piece: &Piece| !matches!(piece, Piece::Literal(text) if text.trim().is_empty());
        left.retain(is_filled);
        right.retain(is_filled);
        return Some((left, operator, right));
    }
    None
}

/// Returns one side, without the spaces around it and without the quotes around a literal.
fn text(pieces: &[Piece], pos: Pos, r: &Reader<'_>) -> TextDraft {
    let last = pieces.len().saturating_sub(1);
    let trimmed = pieces.iter().enumerate().map(|(i, piece)| match piece {
        Piece::Literal(text) => {
            let text = if i == 0 { text.trim_start() } else { text };
            let text = if i == last { text.trim_end() } else { text };
            Piece::Literal(if last == 0 { unquoted(text) } else { text }.to_owned())
        }
        Piece::Expression { .. } => piece.clone(),
    });
    r.pieces(&trimmed.collect::<Vec<_>>(), pos, Escape::None, &str::to_owned)
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

fn written(piece: &Piece) -> &str {
    match piece {
        Piece::Literal(text) => text,
        Piece::Expression { written, .. } => written,
    }
}
