//! Places of values in markup, JSON, and text, tried before the load by the libraries that run them.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::Node;
use plimsoll_build::sentence::{alternatives, short};
use plimsoll_build::source::Pos;
use plimsoll_plan::answer::Source;
use plimsoll_plan::css;

/// The functions of XPath 1.0 (section 4) and its node tests, which look like functions.
const XPATH_FUNCTIONS: &[&str] = &[
    "last",
    "position",
    "count",
    "id",
    "local-name",
    "namespace-uri",
    "name",
    "string",
    "concat",
    "starts-with",
    "contains",
    "substring-before",
    "substring-after",
    "substring",
    "string-length",
    "normalize-space",
    "translate",
    "boolean",
    "not",
    "true",
    "false",
    "lang",
    "number",
    "sum",
    "floor",
    "ceiling",
    "round",
];
const XPATH_NODES: &[&str] = &["text", "node", "comment", "processing-instruction"];
const XPATH_WORDS: &[&str] = &["and", "or", "div", "mod"];

/// The functions of JMESPath.
const JMESPATH_FUNCTIONS: &[&str] = &[
    "abs",
    "avg",
    "ceil",
    "contains",
    "ends_with",
    "floor",
    "join",
    "keys",
    "length",
    "map",
    "max",
    "max_by",
    "merge",
    "min",
    "min_by",
    "not_null",
    "reverse",
    "sort",
    "sort_by",
    "starts_with",
    "sum",
    "to_array",
    "to_number",
    "to_string",
    "type",
    "values",
];

/// Validates an XPath.
pub fn xpath(text: &str, pos: Pos, r: &mut Reader<'_>) -> Option<Source> {
    const HINT: &str = "write it in the syntax of XPath 1.0, such as `//a[@class='next']/@href`";
    if let Err(error) = xpath_eval::parse(text) {
        let column = text.get(..error.position).unwrap_or(text).chars().count() + 1;
        let message =
            format!("invalid XPath `{}`: {} at character {column}", short(text), lower(&error.message));
        r.complain("F028", pos, message, HINT);
        return None;
    }
    let known =
        |name: &str| [XPATH_FUNCTIONS, XPATH_NODES, XPATH_WORDS].iter().any(|all| all.contains(&name));
    if let Some(name) = calls(text).into_iter().find(|name| !known(name)) {
        let hint = format!("use one of {}", alternatives(XPATH_FUNCTIONS.iter().copied()));
        let message = format!("invalid XPath `{}`: unknown function `{name}`", short(text));
        r.complain("F028", pos, message, hint);
        return None;
    }
    if unquoted(text).contains('$') {
        let message = format!("invalid XPath `{}`: it contains a variable", short(text));
        r.complain("F028", pos, message, "write the value itself");
        return None;
    }
    Some(Source::XPath(text.to_owned()))
}

/// Validates a CSS selector. `a.next @href` is an attribute of the element.
pub fn css(text: &str, attribute: Option<&str>, pos: Pos, r: &mut Reader<'_>) -> Option<Source> {
    let (selector, attribute) = match (attribute, text.rsplit_once('@')) {
        (None, Some((selector, name))) if selector.ends_with(' ') && is_attribute(name) => {
            (selector.trim(), Some(name))
        }
        _ => (text.trim(), attribute),
    };
    if let Some(name) = attribute.filter(|name| !is_attribute(name)) {
        let message = format!("invalid attribute name `{}`", short(name));
        r.complain("F028", pos, message, "write a name such as `href`");
        return None;
    }
    match css::xpath(selector) {
        Ok(_) => Some(Source::Css { selector: selector.to_owned(), attribute: attribute.map(str::to_owned) }),
        Err(problem) => {
            let message = format!("invalid CSS selector `{}`: {}", short(text), problem.message);
            r.complain("F028", pos, message, problem.hint);
            None
        }
    }
}

fn is_attribute(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:".contains(c))
}

/// Validates a JMESPath.
pub fn jmespath(text: &str, pos: Pos, r: &mut Reader<'_>) -> Option<Source> {
    const HINT: &str = "write it in the syntax of JMESPath, such as `items[0].id` or `length(items)`";
    if let Err(error) = jmespath::compile(text) {
        let reason = error.reason.to_string();
        let column = error.column + 1;
        let message = format!("invalid JMESPath `{}`: {} at character {column}", short(text), lower(&reason));
        r.complain("F028", pos, message, HINT);
        return None;
    }
    if let Some(name) = calls(text).into_iter().find(|name| !JMESPATH_FUNCTIONS.contains(name)) {
        let hint = format!("use one of {}", alternatives(JMESPATH_FUNCTIONS.iter().copied()));
        let message = format!("invalid JMESPath `{}`: unknown function `{name}`", short(text));
        r.complain("F028", pos, message, hint);
        return None;
    }
    Some(Source::JmesPath(text.to_owned()))
}

/// Reads `{ left: "id=", right: "&" }`.
pub fn boundary(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Source> {
    let (mut left, mut right) = (None, None);
    let before = r.wrong.len();
    for entry in r.map(node, row)? {
        match r.key(entry) {
            Some((row, of::Boundary::Left)) => left = text(&entry.value, row, r),
            Some((row, of::Boundary::Right)) => right = text(&entry.value, row, r),
            None => {}
        }
    }
    between(left, right, node, row, before, r)
}

/// Returns a boundary of two texts that are not both empty.
pub fn between(
    left: Option<String>,
    right: Option<String>,
    node: &Node,
    row: &Row,
    before: usize,
    r: &mut Reader<'_>,
) -> Option<Source> {
    match (left, right) {
        (Some(left), Some(right)) if !(left.is_empty() && right.is_empty()) => {
            Some(Source::Boundary { left, right })
        }
        _ => {
            if r.wrong.len() == before {
                r.expected(node, row, "write both `left` and `right`, of which one may be empty");
            }
            None
        }
    }
}

/// Reads one side of a boundary, which may be empty.
pub fn text(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<String> {
    match &node.value {
        crate::own::yaml::Value::Scalar(scalar) if scalar.text.is_empty() && !scalar.plain => {
            Some(String::new())
        }
        _ => r.written(node, row).map(str::to_owned),
    }
}

/// Returns a text with everything in quotes replaced by blanks.
fn unquoted(text: &str) -> String {
    let mut open = None;
    let blank = |sign: char| match (open, sign) {
        (None, '\'' | '"' | '`') => {
            open = Some(sign);
            ' '
        }
        (Some(quote), _) => {
            if sign == quote {
                open = None;
            }
            ' '
        }
        (None, _) => sign,
    };
    text.chars().map(blank).collect()
}

/// Returns the names before parentheses.
fn calls(text: &str) -> Vec<&str> {
    let plain = unquoted(text);
    // Quoted characters may be longer than the blanks in their place, so places are counted in characters.
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let signs: Vec<char> = plain.chars().collect();
    let mut all = Vec::new();
    for (at, sign) in signs.iter().enumerate() {
        if *sign != '(' {
            continue;
        }
        let end = (0..at).rev().find(|i| !signs[*i].is_whitespace()).map_or(0, |i| i + 1);
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let begin = (0..end).rev().find(|i| !is_word(signs[*i])).map_or(0, |i| i + 1);
        if begin < end && !signs[begin].is_ascii_digit() {
            let stop = ends.get(end).copied().unwrap_or(text.len());
            all.push(&text[ends[begin]..stop]);
        }
    }
    all
}

/// Returns a message of a library as a fragment.
fn lower(message: &str) -> String {
    let message = message.trim().trim_end_matches('.');
    let mut signs = message.chars();
    match signs.next() {
        Some(first) => first.to_lowercase().chain(signs).collect(),
        None => String::new(),
    }
}
