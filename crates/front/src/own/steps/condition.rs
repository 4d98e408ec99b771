//! `${n} < 5`: conditions of loops and branches, written as text.

use super::rule;
use crate::own::expression::{Expression, Piece, short};
use crate::own::key::Row;
use crate::own::template::Build;
use crate::own::work::Work;
use crate::own::yaml::{Node, Pos, Scalar, Value};
use plimsoll_plan::answer::Rule;
use plimsoll_plan::script::Condition;
use plimsoll_plan::value::{Escape, Function, Text};

/// Longer signs first: `<=` begins like `<`. Words stand between blanks.
const OPERATORS: [&str; 13] = [
    "==",
    "!=",
    "<=",
    ">=",
    "<",
    ">",
    " contains ",
    " lacks ",
    " matches ",
    " exists",
    " absent",
    " in ",
    "=",
];

const EXPECTED: &str = "expected something like `${n} < 5`, `${state} == done`, `${body} contains ok`, \
                        `${id} matches /^[0-9]+$/`, `${token} exists`, `${token} absent` or `${x} in [a, b]`";

const ONE_COMPARISON: &str = "one comparison per condition: nest `if`s; fixed text that holds such a word stands in \
                              quotes of its own, `${x} == 'this and that'`";

/// Reads a condition.
pub fn read(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Condition> {
    let scalar = match &node.value {
        Value::Scalar(scalar) if !scalar.spoiled => scalar,
        Value::Scalar(_) => return None,
        _ => {
            w.r.expected(node, row, "");
            return None;
        }
    };
    // A constant may have been all that there was.
    let pieces = match scalar.pieces.is_empty() {
        true => vec![Piece::Literal(scalar.text.clone())],
        false => scalar.pieces.clone(),
    };
    let Some((left, operator, right)) = split(&pieces) else {
        let message = format!("`{}` is no condition", short(&scalar.text));
        w.r.complain("F031", node.pos, message, EXPECTED);
        return None;
    };
    let operator = operator.trim();
    if operator == "=" {
        let message = format!("`=` compares nothing in `{}`", short(&scalar.text));
        w.r.complain("F031", node.pos, message, "write `==`");
        return None;
    }
    // Whether there is a value already may be asked in front of the step that sets it: in the first iteration there is
    // none, later there is. Who asks knows: the steps behind may use it.
    let asks_for_being = matches!(operator, "exists" | "absent");
    if asks_for_being {
        for piece in &left {
            if let Piece::Expression { means: Expression::Name(name), .. } = piece
                && w.scope.coming.iter().any(|(coming, _)| coming == name)
            {
                w.scope.add(name);
            }
        }
    }
    let is_fixed = refuse_fixed(&left, scalar, operator, node.pos, w);
    let left_text = text(&left, node.pos, w).filter(|_| !is_fixed);
    let rule = rule_of(operator, &right, scalar, node.pos, w);
    let left = left_text?;
    if left.is_empty() {
        let message = format!("nothing stands in front of `{operator}`");
        w.r.complain("F031", node.pos, message, EXPECTED);
        return None;
    }
    Some(Condition { left, rule: rule? })
}

fn rule_of(operator: &str, right: &[Piece], scalar: &Scalar, pos: Pos, w: &mut Work<'_>) -> Option<Rule> {
    let complain = |message: String, hint: &str, w: &mut Work<'_>| {
        w.r.complain("F031", pos, message, hint);
        None
    };
    if let Some(word) = connective(right) {
        let message = format!("`{word}` joins nothing in `{}`", short(&scalar.text));
        return complain(message, ONE_COMPARISON, w);
    }
    let is_empty = right.iter().all(|piece| matches!(piece, Piece::Literal(text) if text.trim().is_empty()));
    if matches!(operator, "exists" | "absent") {
        if !is_empty {
            return complain(format!("something stands behind `{operator}`"), EXPECTED, w);
        }
        return Some(if operator == "exists" { Rule::Exists } else { Rule::Absent });
    }
    if is_empty {
        return complain(
            format!("nothing stands behind `{operator}` in `{}`", short(&scalar.text)),
            EXPECTED,
            w,
        );
    }
    let literal = || match right {
        [Piece::Literal(text)] => Some(text.trim().to_owned()),
        _ => None,
    };
    // Another language's `===` or `!==`: read as `==` it would compare with `= 5` and never hold.
    if matches!(operator, "==" | "!=") && matches!(right, [Piece::Literal(text), ..] if text.starts_with('='))
    {
        return complain(
            format!("`{operator}=` is no comparison in `{}`", short(&scalar.text)),
            if operator == "==" { "write `==`" } else { "write `!=`" },
            w,
        );
    }
    match operator {
        "==" => text(right, pos, w).map(Rule::Equals),
        "!=" => text(right, pos, w).map(Rule::Differs),
        "contains" => text(right, pos, w).map(Rule::Contains),
        "lacks" => text(right, pos, w).map(Rule::Lacks),
        "matches" => {
            let pattern = literal().and_then(|t| Some(t.strip_prefix('/')?.strip_suffix('/')?.to_owned()));
            let Some(pattern) = pattern else {
                return complain(
                    "`matches` needs a fixed pattern between slashes".into(),
                    "write `matches /^a/`",
                    w,
                );
            };
            rule::regex(&pattern, pos, w)?;
            Some(Rule::Matches(pattern))
        }
        "in" => {
            let list = literal().and_then(|t| Some(t.strip_prefix('[')?.strip_suffix(']')?.to_owned()));
            let Some(list) = list.filter(|list| !list.trim().is_empty()) else {
                return complain("`in` needs a fixed list in brackets".into(), "write `in [a, b]`", w);
            };
            Some(Rule::OneOf(list.split(',').map(|item| Text::literal(unquoted(item.trim()))).collect()))
        }
        _ => {
            let Some(number) = literal().and_then(|t| t.parse::<f64>().ok()).filter(|n| n.is_finite()) else {
                let shown: String = right.iter().map(written).collect();
                let message = format!("`{}` is no number to compare with", short(shown.trim()));
                return complain(message, "behind `<`, `<=`, `>` and `>=` stands a fixed number", w);
            };
            Some(match operator {
                "<" => Rule::Below(number),
                "<=" => Rule::AtMost(number),
                ">" => Rule::Above(number),
                _ => Rule::AtLeast(number),
            })
        }
    }
}

/// Refuses a left side that was fixed text from the beginning: the comparison would be decided before the load, and
/// mostly somebody forgot the `${}`. A constant is no such text: `--set` changes it.
fn refuse_fixed(left: &[Piece], scalar: &Scalar, operator: &str, pos: Pos, w: &mut Work<'_>) -> bool {
    let [Piece::Literal(text)] = left else { return false };
    if scalar.first.is_some_and(|first| first < text.len()) || text.trim().is_empty() {
        return false;
    }
    let word = text.trim();
    let message = format!("`{}` is fixed text in front of `{operator}`", short(word));
    let hint = match is_known(word, w) {
        true => format!("did you mean `${{{word}}}`?"),
        false => "in front stands what changes, such as `${n}`".to_owned(),
    };
    w.r.complain("F031", pos, message, hint);
    true
}

/// Whether `${word}` would mean something here, now or once a later step has set it.
fn is_known(word: &str, w: &Work<'_>) -> bool {
    if let Some((feeder, column)) = word.split_once('.') {
        return w.known.get(feeder).is_some_and(|known| known.columns.is_none() || known.has(column));
    }
    w.scope.set.iter().chain(&w.script.globals).any(|name| name == word)
        || w.scope.coming.iter().any(|(name, _)| name == word)
        || w.r.constants.contains_key(word)
        || Function::NAMES.contains(&word)
}

/// The word or sign with which other languages join two comparisons, outside of quotes, slashes and brackets. Read as
/// text to compare with, the rest of the condition would make it one that never holds.
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

/// Splits at the first operator that stands outside of expressions.
fn split(pieces: &[Piece]) -> Option<(Vec<Piece>, &'static str, Vec<Piece>)> {
    for (i, piece) in pieces.iter().enumerate() {
        let Piece::Literal(text) = piece else { continue };
        let found = OPERATORS.iter().filter_map(|operator| {
            let at = text.find(operator)?;
            // `exists` ends its text or stands in front of a blank: `existsnot` is another word.
            let ends =
                text[at + operator.len()..].chars().next().is_none_or(|c| c == ' ' || !c.is_alphanumeric());
            (operator.ends_with(' ') || !operator.starts_with(' ') || ends).then_some((at, *operator))
        });
        // At the same place the longer one is meant.
        let Some((at, operator)) = found.min_by_key(|(at, operator)| (*at, usize::MAX - operator.len()))
        else {
            continue;
        };
        let mut left = pieces[..i].to_vec();
        left.push(Piece::Literal(text[..at].to_owned()));
        let mut right = vec![Piece::Literal(text[at + operator.len()..].to_owned())];
        right.extend_from_slice(&pieces[i + 1..]);
        let is_filled = |piece: &Piece| !matches!(piece, Piece::Literal(text) if text.trim().is_empty());
        left.retain(is_filled);
        right.retain(is_filled);
        return Some((left, operator, right));
    }
    None
}

/// One side: blanks around it do not belong to it, nor do quotes around a literal.
fn text(pieces: &[Piece], pos: Pos, w: &mut Work<'_>) -> Option<Text> {
    let mut build = Build::default();
    let mut whole = true;
    for (i, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(text) => {
                let text = if i == 0 { text.trim_start() } else { text };
                let text = if i + 1 == pieces.len() { text.trim_end() } else { text };
                build.literal(if pieces.len() == 1 { unquoted(text) } else { text });
            }
            Piece::Expression { written, means } => match w.part(means, written, pos, Escape::None) {
                Some(part) => build.part(part),
                None => whole = false,
            },
        }
    }
    whole.then(|| build.finish())
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
