//! Words and signs of a script.

use super::{Language, Refused};

/// A token with its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: Kind,
    pub line: u32,
    /// Whether a line ends before it: statements may end there.
    pub begins_line: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Word(String),
    Int(i64),
    Number(f64),
    Text(String),
    /// A text with `${expression}` or `$name`: literals and sources, in turn.
    Template(Vec<(bool, String)>),
    Sign(&'static str),
    End,
}

/// Signs, the longest first.
const SIGNS: [&str; 45] = [
    "===", "!==", "<=>", "==~", ">>>", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=",
    "/=", "%=", "=~", "!~", "?:", "?.", "<<", "->", "::", "??", "+", "-", "*", "/", "%", "<", ">", "=", "!",
    "?", ":", ".", ",", ";", "(", ")", "[", "]", "{",
];

pub fn tokens(text: &str, language: Language) -> Result<Vec<Token>, Refused> {
    let signs: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let (mut at, mut line, mut begins_line) = (0, 1u32, true);
    let refuse = |line: u32, what: &str| Refused { line, what: what.to_owned() };
    while at < signs.len() {
        let sign = signs[at];
        let rest = |text: &str| text.chars().enumerate().all(|(n, c)| signs.get(at + n) == Some(&c));
        if sign == '\n' {
            (line, begins_line, at) = (line + 1, true, at + 1);
            continue;
        }
        if sign.is_whitespace() {
            at += 1;
            continue;
        }
        if rest("//") || (at == 0 && rest("#!")) {
            while at < signs.len() && signs[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if rest("/*") {
            let begin = line;
            at += 2;
            while at < signs.len() && !(signs[at] == '*' && signs.get(at + 1) == Some(&'/')) {
                line += u32::from(signs[at] == '\n');
                at += 1;
            }
            if at >= signs.len() {
                return Err(refuse(begin, "a comment that does not end"));
            }
            at += 2;
            continue;
        }
        let started = line;
        let kind = if sign.is_ascii_digit()
            || (sign == '.' && signs.get(at + 1).is_some_and(char::is_ascii_digit))
        {
            number(&signs, &mut at).ok_or_else(|| refuse(line, "a number of this form"))?
        } else if sign.is_alphabetic() || sign == '_' || sign == '$' {
            let begin = at;
            while signs.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_' || *c == '$') {
                at += 1;
            }
            Kind::Word(signs[begin..at].iter().collect())
        } else if matches!(sign, '"' | '\'') {
            let is_template = language == Language::Groovy && sign == '"';
            string(&signs, &mut at, &mut line, is_template)
                .ok_or_else(|| refuse(started, "a text that does not end"))?
        } else if sign == '`' || sign == '@' || sign == '#' || sign == '\\' {
            return Err(refuse(line, &format!("`{sign}`")));
        } else if sign == '}' {
            at += 1;
            Kind::Sign("}")
        } else {
            let found = SIGNS.iter().find(|text| rest(text));
            let found = found.ok_or_else(|| refuse(line, &format!("`{sign}`")))?;
            at += found.len();
            Kind::Sign(found)
        };
        all.push(Token { kind, line: started, begins_line });
        begins_line = false;
    }
    all.push(Token { kind: Kind::End, line, begins_line: true });
    Ok(all)
}

fn number(signs: &[char], at: &mut usize) -> Option<Kind> {
    let begin = *at;
    let is_hex = signs[begin] == '0' && matches!(signs.get(begin + 1), Some('x' | 'X'));
    let (mut has_point, mut text) = (false, String::new());
    if is_hex {
        *at += 2;
        while signs.get(*at).is_some_and(char::is_ascii_hexdigit) {
            text.push(signs[*at]);
            *at += 1;
        }
    } else {
        while let Some(sign) = signs.get(*at) {
            match sign {
                '_' => {}
                '.' if !has_point && signs.get(*at + 1).is_some_and(char::is_ascii_digit) => {
                    has_point = true;
                    text.push('.');
                }
                'e' | 'E' if signs.get(*at + 1).is_some_and(|c| c.is_ascii_digit() || *c == '-') => {
                    has_point = true;
                    text.push('e');
                    if signs.get(*at + 1) == Some(&'-') {
                        text.push('-');
                        *at += 1;
                    }
                }
                digit if digit.is_ascii_digit() => text.push(*digit),
                _ => break,
            }
            *at += 1;
        }
    }
    // `5L`, `5d`
    if matches!(signs.get(*at), Some('L' | 'l' | 'g' | 'G')) {
        *at += 1;
    } else if !is_hex && matches!(signs.get(*at), Some('d' | 'D' | 'f' | 'F')) {
        *at += 1;
        has_point = true;
    }
    if signs.get(*at).is_some_and(|c| c.is_alphanumeric()) {
        return None;
    }
    match (is_hex, has_point) {
        (true, _) => i64::from_str_radix(&text, 16).ok().map(Kind::Int),
        (false, true) => text.parse().ok().map(Kind::Number),
        (false, false) => text.parse().ok().map(Kind::Int),
    }
}

fn string(signs: &[char], at: &mut usize, line: &mut u32, is_template: bool) -> Option<Kind> {
    let quote = signs[*at];
    let is_long = signs.get(*at + 1) == Some(&quote) && signs.get(*at + 2) == Some(&quote);
    *at += if is_long { 3 } else { 1 };
    let mut parts: Vec<(bool, String)> = Vec::new();
    let mut text = String::new();
    loop {
        let sign = *signs.get(*at)?;
        if sign == quote
            && (!is_long || (signs.get(*at + 1) == Some(&quote) && signs.get(*at + 2) == Some(&quote)))
        {
            *at += if is_long { 3 } else { 1 };
            break;
        }
        match sign {
            '\\' => {
                let escaped = *signs.get(*at + 1)?;
                *at += 2;
                match escaped {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        let digits: String = signs.get(*at..*at + 4)?.iter().collect();
                        text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                        *at += 4;
                    }
                    '\n' => *line += 1,
                    other => text.push(other),
                }
                continue;
            }
            '$' if is_template && signs.get(*at + 1) == Some(&'{') => {
                let mut depth = 0;
                let begin = *at + 2;
                *at += 1;
                loop {
                    match signs.get(*at)? {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    *at += 1;
                }
                parts.push((false, std::mem::take(&mut text)));
                parts.push((true, signs[begin..*at].iter().collect()));
            }
            '$' if is_template && signs.get(*at + 1).is_some_and(|c| c.is_alphabetic() || *c == '_') => {
                let begin = *at + 1;
                while signs.get(*at + 1).is_some_and(|c| c.is_alphanumeric() || *c == '_' || *c == '.') {
                    *at += 1;
                }
                parts.push((false, std::mem::take(&mut text)));
                parts.push((true, signs[begin..=*at].iter().collect()));
            }
            '\n' => {
                *line += 1;
                text.push('\n');
            }
            other => text.push(other),
        }
        *at += 1;
    }
    if parts.is_empty() {
        return Some(Kind::Text(text));
    }
    parts.push((false, text));
    Some(Kind::Template(parts))
}
