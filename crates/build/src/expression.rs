//! Parses `${...}`: names, columns, and functions. Reports placeholders of other tools, which would be sent literally.

use crate::functions;
use crate::sentence::short;
use plimsoll_plan::value::{Shift, TEXT_FUNCTIONS};

/// Literal text, or an expression between two of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Literal(String),
    Expression { written: String, means: Expression },
}

/// The content of the braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// `${token}`; also functions without arguments.
    Name(String),
    /// `${users.email}`, `${env.HOME}`: the text before the first dot, and the rest.
    Field(String, String),
    /// `${random_int(1, 6)}`, with arguments trimmed.
    Call(String, Vec<String>),
    /// `${sha256("${token}")}`: a function of texts.
    Apply(String, Vec<Operand>),
}

/// An argument of a function of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// In quotes, with its own expressions.
    Text(Vec<Piece>),
    /// An expression without its `${}`.
    Value { written: String, means: Box<Expression> },
}

/// A mistake in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub code: &'static str,
    /// The piece that is wrong, as written.
    pub written: String,
    pub message: String,
    pub hint: String,
}

/// Splits a text into its pieces; `$${` is a literal `${`.
///
/// # Errors
/// Returns every mistake in the text.
pub fn pieces(text: &str) -> Result<Vec<Piece>, Vec<Mistake>> {
    let mut wrong: Vec<Mistake> = foreign(text).into_iter().collect();
    let mut all = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        // The first of two dollar signs escapes the second.
        if rest[..at].ends_with('$') {
            literal.push_str(&rest[..at]);
            literal.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        literal.push_str(&rest[..at]);
        let Some(end) = closing(&rest[at..]).map(|end| at + end + 1) else {
            wrong.push(Mistake {
                code: "F020",
                written: "${".into(),
                message: format!("unclosed expression `{}`", short(&rest[at..])),
                hint: "close it with `}`, or write `$${` for a literal `${`".into(),
            });
            rest = "";
            break;
        };
        let written = &rest[at..end];
        match expression(&written[2..written.len() - 1], written) {
            Ok(means) => {
                if !literal.is_empty() {
                    all.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                all.push(Piece::Expression { written: written.to_owned(), means });
            }
            Err(mistake) => wrong.push(mistake),
        }
        rest = &rest[end..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        all.push(Piece::Literal(literal));
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

/// Returns the place of the brace that closes the first one. Braces in arguments come in pairs; if they do not, the
/// first closing brace counts.
fn closing(text: &str) -> Option<usize> {
    let first = text.find('}')?;
    let mut depth = 0_u32;
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth <= 1 => return Some(at),
            '}' => depth -= 1,
            '\n' => break,
            _ => {}
        }
    }
    Some(first)
}

/// Returns whether a text is a valid name in an expression.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn expression(inner: &str, written: &str) -> Result<Expression, Mistake> {
    let inner = inner.trim();
    let wrong =
        |message: String, hint: String| Mistake { code: "F020", written: written.into(), message, hint };
    if inner.is_empty() {
        return Err(wrong(
            format!("empty expression `{written}`"),
            "write a name, such as `${token}`, or `$${` for a literal `${`".into(),
        ));
    }
    if inner.starts_with("__") {
        return Err(Mistake {
            code: "F023",
            written: written.into(),
            message: format!("`{}` is a function of JMeter", short(written)),
            hint: jmeter(inner),
        });
    }
    if let Some(call) = shifted(inner) {
        return Ok(call);
    }
    if let Some((name, arguments)) = inner.split_once('(') {
        let is_known = |name: &str| is_name(name) || name.strip_prefix("fake.").is_some_and(is_name);
        let Some(arguments) = arguments.strip_suffix(')').filter(|_| is_known(name.trim())) else {
            return Err(wrong(
                format!("invalid function call `{}`", short(written)),
                "write a call such as `${random_int(1, 6)}`".into(),
            ));
        };
        let name = name.trim().to_owned();
        if arguments.trim().is_empty() {
            return Ok(Expression::Call(name, Vec::new()));
        }
        if TEXT_FUNCTIONS.contains(&name.as_str()) {
            return operands(arguments, written).map(|all| Expression::Apply(name, all));
        }
        return Ok(Expression::Call(name, split(arguments)));
    }
    if let Some((front, rest)) = inner.split_once('.')
        && is_name(front)
        && !rest.is_empty()
        && !rest.contains(['{', '$', ':', '('])
    {
        return Ok(Expression::Field(front.to_owned(), rest.to_owned()));
    }
    if is_name(inner) {
        return Ok(Expression::Name(inner.to_owned()));
    }
    Err(wrong(
        format!("invalid expression `{}`", short(written)),
        "write a name (`${token}`), a column (`${users.email}`), a function (`${uuid}`), or `${env.NAME}`"
            .into(),
    ))
}

/// Reads `now + 3d` and `now(unix) - 1h`, in which the distance is the last argument.
fn shifted(inner: &str) -> Option<Expression> {
    let at = inner.rfind(['+', '-'])?;
    let distance: String = inner[at..].chars().filter(|c| !c.is_whitespace()).collect();
    if !Shift::is_meant(&distance) {
        return None;
    }
    let mut arguments = match inner[..at].trim() {
        "now" => Vec::new(),
        call => split(call.strip_prefix("now(")?.strip_suffix(')')?),
    };
    arguments.retain(|argument| !argument.is_empty());
    arguments.push(distance);
    Some(Expression::Call("now".to_owned(), arguments))
}

/// Reads the arguments of a function of texts. Commas inside quotes and parentheses do not separate them.
fn operands(arguments: &str, written: &str) -> Result<Vec<Operand>, Mistake> {
    let (mut depth, mut quote, mut begin) = (0_i32, None, 0);
    let mut all = Vec::new();
    for (at, sign) in arguments.char_indices() {
        match (sign, quote) {
            (_, Some(open)) if sign == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(sign),
            ('(' | '{', None) => depth += 1,
            (')' | '}', None) => depth -= 1,
            (',', None) if depth == 0 => {
                all.push(operand(&arguments[begin..at], written)?);
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(operand(&arguments[begin..], written)?);
    Ok(all)
}

fn operand(text: &str, written: &str) -> Result<Operand, Mistake> {
    let text = text.trim();
    let within = |mistake: Mistake| Mistake { written: written.to_owned(), ..mistake };
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            let pieces = pieces(inner).map_err(|mut all| within(all.remove(0)))?;
            return Ok(Operand::Text(pieces));
        }
    }
    // `${token}` without quotes is the same as `token`.
    let inner = match text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => inner,
        None => text,
    };
    let means = expression(inner, text).map_err(within)?;
    Ok(Operand::Value { written: format!("${{{inner}}}"), means: Box::new(means) })
}

/// Splits arguments at commas, and removes the quotes around them.
fn split(text: &str) -> Vec<String> {
    text.split(',').map(|a| a.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// Finds the first placeholder of another tool outside of `${...}`.
fn foreign(text: &str) -> Option<Mistake> {
    let mistake = |written: &str, whose: &str, hint: String| {
        let message = format!("`{}` is a placeholder of {whose} and would be sent literally", short(written));
        Some(Mistake { code: "F023", written: written.to_owned(), message, hint })
    };
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let behind = &rest[at + 2..];
        if let Some(end) = behind.find("}}") {
            let name = behind[..end].trim();
            let is_word = |c: char| c.is_ascii_alphanumeric() || "_.$-".contains(c);
            if !name.is_empty() && name.chars().all(is_word) {
                let name = name.trim_start_matches(['$', '.']).rsplit('.').next().unwrap_or(name);
                let written = &rest[at..at + end + 4];
                return mistake(written, "Artillery, Postman, or a template", format!("write `${{{name}}}`"));
            }
        }
        rest = behind;
    }
    let outside = |word: &str| {
        let at = text.find(word)?;
        (!text[..at].ends_with("${")).then_some(at)
    };
    for (word, hint) in [("__ENV.", "`${env.NAME}`"), ("__VU", "`${user}`"), ("__ITER", "`${iteration}`")] {
        if outside(word).is_some() {
            return mistake(word.trim_end_matches('.'), "k6", format!("write {hint}"));
        }
    }
    for word in ["__P(", "__property("] {
        if let Some(at) = outside(word) {
            let end = text[at..].find(')').map_or(text.len(), |end| at + end + 1);
            return mistake(&text[at..end], "JMeter", jmeter(&text[at..]));
        }
    }
    None
}

/// Returns plimsoll's equivalent of a JMeter function.
fn jmeter(inner: &str) -> String {
    let name = inner.split(['(', '}']).next().unwrap_or_default();
    let arguments = inner.split_once('(').map(|(_, rest)| split(rest.split(')').next().unwrap_or_default()));
    if name == "__Random"
        && let Some(call) = arguments.as_deref().and_then(functions::random_int)
    {
        return format!("write `{call}`");
    }
    let ours = match name {
        "__P" | "__property" => {
            "define it under `vars`, write `${name}`, and override it with `--set NAME=VALUE`, or write `${env.NAME}`"
        }
        "__UUID" => "write `${uuid}`",
        "__time" => "write `${now(unix_ms)}`, or `${now(%Y-%m-%d)}` for a pattern",
        "__timeShift" => "write `${now(%Y-%m-%d, +3d)}`",
        "__digest" => "write `${sha256(text)}`, with `md5`, `sha1`, or `sha512` for other hashes",
        "__base64Encode" => "write `${base64(text)}`",
        "__urlencode" => "write `${url(text)}`",
        "__Random" => "write `${random_int(1, 6)}`",
        "__RandomString" => "write `${random_string(12)}`",
        "__threadNum" => "write `${user}`",
        "__counter" => "write `${counter}`",
        "__CSVRead" | "__StringFromFile" => "name the file under `data` and write `${name.column}`",
        _ => "use `${uuid}`, `${now}`, `${counter}`, `${random_int(1, 6)}`, or `${random_string(12)}`",
    };
    ours.to_owned()
}
