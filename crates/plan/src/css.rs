//! CSS selectors as XPath 1.0, so that both are evaluated by the same code on the same tree.
//!
//! A type selector ignores namespaces, as in a style sheet without `@namespace`. States of a browser (`:hover`), and
//! what needs a style sheet, have no meaning for a response and are rejected by name.

use crate::Problem;

const HINT: &str = "write a selector such as `ul.items > li:first-child a[href]`";

/// Pseudo-classes that are translated, for messages.
const PSEUDO: &str = "`:first-child`, `:last-child`, `:only-child`, `:first-of-type`, `:last-of-type`, `:nth-child()`, \
                      `:nth-last-child()`, `:nth-of-type()`, `:nth-last-of-type()`, `:empty`, `:root`, `:not()`";

/// Translates a selector, or several of them separated by commas.
///
/// # Errors
/// Returns an error that names the first part that is invalid or unsupported.
pub fn xpath(selector: &str) -> Result<String, Problem> {
    let mut reader = Reader { whole: selector, rest: selector.trim() };
    if reader.rest.is_empty() {
        return Err(Problem::new("empty selector", HINT));
    }
    let mut all = Vec::new();
    loop {
        all.push(reader.complex()?);
        match reader.next() {
            None => return Ok(all.join(" | ")),
            Some(',') => {
                reader.skip(1);
                reader.blank();
            }
            Some(_) => return Err(reader.wrong()),
        }
    }
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
}

/// One element: its type, if any, and all conditions as XPath.
#[derive(Default)]
struct Compound {
    name: Option<String>,
    conditions: Vec<String>,
}

impl Compound {
    /// Returns all conditions as one, for a predicate.
    fn joined(&self) -> String {
        let name = self.name.iter().map(|name| format!("local-name() = {}", literal(name)));
        name.chain(self.conditions.iter().cloned()).collect::<Vec<_>>().join(" and ")
    }

    fn step(&self, axis: &str) -> String {
        match self.joined() {
            all if all.is_empty() => format!("{axis}::*"),
            all => format!("{axis}::*[{all}]"),
        }
    }
}

impl Reader<'_> {
    fn next(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn wrong(&self) -> Problem {
        let at = self.whole.len() - self.rest.len();
        match self.next() {
            Some(sign) => {
                let column = self.whole[..at].chars().count() + 1;
                let message = format!("invalid selector: unexpected `{sign}` at character {column}");
                Problem::new(message, HINT)
            }
            None => Problem::new("incomplete selector", HINT),
        }
    }

    /// Reads compounds with their combinators.
    fn complex(&mut self) -> Result<String, Problem> {
        let mut path = self.compound()?.step("/descendant");
        loop {
            let before = self.rest;
            self.blank();
            let combinator = match self.next() {
                None | Some(',' | ')') => return Ok(path),
                Some(sign @ ('>' | '+' | '~')) => {
                    self.skip(1);
                    self.blank();
                    sign
                }
                Some(_) if self.rest.len() < before.len() => ' ',
                Some(_) => return Err(self.wrong()),
            };
            let compound = self.compound()?;
            path.push('/');
            path.push_str(&match combinator {
                '>' => compound.step("child"),
                '~' => compound.step("following-sibling"),
                '+' => match compound.joined() {
                    all if all.is_empty() => "following-sibling::*[1]".to_owned(),
                    all => format!("following-sibling::*[1][{all}]"),
                },
                _ => compound.step("descendant"),
            });
        }
    }

    fn compound(&mut self) -> Result<Compound, Problem> {
        let mut compound = Compound::default();
        let before = self.rest;
        match self.next() {
            Some('*') => self.skip(1),
            Some(sign) if is_name_start(sign) => compound.name = Some(self.name()?),
            _ => {}
        }
        if self.next() == Some('|') {
            return Err(Problem::new(
                "unsupported namespace prefix in a selector",
                "use XPath for namespaces",
            ));
        }
        loop {
            let condition = match self.next() {
                Some('#') => {
                    self.skip(1);
                    format!("@id = {}", literal(&self.name()?))
                }
                Some('.') => {
                    self.skip(1);
                    has_word("@class", &self.name()?)
                }
                Some('[') => self.attribute()?,
                Some(':') => self.pseudo(compound.name.as_deref())?,
                _ if self.rest.len() == before.len() => return Err(self.wrong()),
                _ => return Ok(compound),
            };
            compound.conditions.push(condition);
        }
    }

    fn name(&mut self) -> Result<String, Problem> {
        let mut name = String::new();
        while let Some(sign) = self.next() {
            match sign {
                '\\' => {
                    let escaped = self.rest[1..].chars().next().filter(|sign| !sign.is_ascii_hexdigit());
                    let Some(sign) = escaped else { return Err(self.wrong()) };
                    name.push(sign);
                    self.skip(1 + sign.len_utf8());
                }
                _ if is_name_start(sign) || sign.is_ascii_digit() && !name.is_empty() => {
                    name.push(sign);
                    self.skip(sign.len_utf8());
                }
                _ => break,
            }
        }
        if name.is_empty() { Err(self.wrong()) } else { Ok(name) }
    }

    /// Reads `[name]`, `[name=value]`, and the other operators.
    fn attribute(&mut self) -> Result<String, Problem> {
        self.skip(1);
        self.blank();
        let name = format!("@{}", self.name()?);
        self.blank();
        let operator =
            ["~=", "|=", "^=", "$=", "*=", "="].into_iter().find(|operator| self.rest.starts_with(operator));
        let Some(operator) = operator else {
            return self.close(']').map(|()| name);
        };
        self.skip(operator.len());
        self.blank();
        let value = match self.next() {
            Some(quote @ ('"' | '\'')) => {
                let Some(end) = self.rest[1..].find(quote) else {
                    return Err(Problem::new("unclosed quote in a selector", HINT));
                };
                let value = self.rest[1..=end].to_owned();
                self.skip(end + 2);
                value
            }
            _ => self.name()?,
        };
        self.blank();
        self.close(']')?;
        let text = literal(&value);
        // An empty value matches nothing, by the standard.
        let nothing = value.is_empty().then(|| "false()".to_owned());
        Ok(match operator {
            "=" => format!("{name} = {text}"),
            "~=" => has_word(&name, &value),
            "|=" => format!("({name} = {text} or starts-with({name}, concat({text}, '-')))"),
            "^=" => nothing.unwrap_or_else(|| format!("starts-with({name}, {text})")),
            "*=" => nothing.unwrap_or_else(|| format!("contains({name}, {text})")),
            _ => nothing.unwrap_or_else(|| {
                let length = value.chars().count();
                format!("substring({name}, string-length({name}) - {}) = {text}", length.saturating_sub(1))
            }),
        })
    }

    fn close(&mut self, sign: char) -> Result<(), Problem> {
        if self.next() != Some(sign) {
            return Err(self.wrong());
        }
        self.skip(sign.len_utf8());
        Ok(())
    }

    fn pseudo(&mut self, name: Option<&str>) -> Result<String, Problem> {
        self.skip(1);
        if self.next() == Some(':') {
            let message = "a pseudo-element such as `::before` is not part of a response";
            return Err(Problem::new(message, "select the element itself"));
        }
        let class = self.name()?;
        let (before, after) = ("count(preceding-sibling::*)", "count(following-sibling::*)");
        let same = |axis: &str| match name {
            Some(name) => Ok(format!("count({axis}-sibling::*[local-name() = {}])", literal(name))),
            None => Err(Problem::new(
                format!("`:{class}` requires an element name"),
                "write one, such as `li:first-of-type`",
            )),
        };
        match class.as_str() {
            "first-child" => Ok(format!("{before} = 0")),
            "last-child" => Ok(format!("{after} = 0")),
            "only-child" => Ok(format!("{before} = 0 and {after} = 0")),
            "first-of-type" => Ok(format!("{} = 0", same("preceding")?)),
            "last-of-type" => Ok(format!("{} = 0", same("following")?)),
            "empty" => Ok("not(*) and not(text())".into()),
            "root" => Ok("not(parent::*)".into()),
            "nth-child" => self.nth(before),
            "nth-last-child" => self.nth(after),
            "nth-of-type" => {
                let count = same("preceding")?;
                self.nth(&count)
            }
            "nth-last-of-type" => {
                let count = same("following")?;
                self.nth(&count)
            }
            "not" => {
                self.close('(')?;
                self.blank();
                let inner = self.compound()?.joined();
                self.blank();
                self.close(')')?;
                Ok(if inner.is_empty() { "false()".into() } else { format!("not({inner})") })
            }
            _ => Err(Problem::new(format!("unsupported pseudo-class `:{class}`"), format!("use {PSEUDO}"))),
        }
    }

    /// Reads `(2n+1)`. `count` is the number of siblings on the side that counting begins at.
    fn nth(&mut self, count: &str) -> Result<String, Problem> {
        self.close('(')?;
        let Some(end) = self.rest.find(')') else {
            return Err(Problem::new("unclosed `(` in a selector", HINT));
        };
        let text: String = self.rest[..end].chars().filter(|c| !c.is_whitespace()).collect();
        let (step, first) = match text.as_str() {
            "odd" => (2, 1),
            "even" => (2, 0),
            _ => {
                let number = |text: &str| text.strip_prefix('+').unwrap_or(text).parse::<i32>().ok();
                let parsed = match text.split_once('n') {
                    None => number(&text).map(|first| (0, first)),
                    Some((step, first)) => {
                        let step = match step {
                            "" | "+" => Some(1),
                            "-" => Some(-1),
                            _ => number(step),
                        };
                        step.zip(if first.is_empty() { Some(0) } else { number(first) })
                    }
                };
                let wrong = || {
                    Problem::new(
                        format!("invalid position `{text}` in a selector"),
                        "write `3`, `odd`, or `2n+1`",
                    )
                };
                parsed.ok_or_else(wrong)?
            }
        };
        self.skip(end + 1);
        let place = format!("({count} + 1)");
        Ok(match step {
            0 => format!("{place} = {first}"),
            _ => {
                let side = if step > 0 { ">=" } else { "<=" };
                format!("{place} {side} {first} and ({place} - {first}) mod {} = 0", step.abs())
            }
        })
    }
}

fn is_name_start(sign: char) -> bool {
    sign.is_ascii_alphabetic() || sign == '_' || sign == '-' || !sign.is_ascii()
}

fn has_word(name: &str, word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) {
        return "false()".into();
    }
    format!("contains(concat(' ', normalize-space({name}), ' '), {})", literal(&format!(" {word} ")))
}

/// Returns a string of XPath 1.0, which has no escapes.
fn literal(text: &str) -> String {
    match (text.contains('\''), text.contains('"')) {
        (false, _) => format!("'{text}'"),
        (true, false) => format!("\"{text}\""),
        (true, true) => {
            let parts: Vec<String> = text.split('\'').map(|part| format!("'{part}'")).collect();
            format!("concat({})", parts.join(", \"'\", "))
        }
    }
}
